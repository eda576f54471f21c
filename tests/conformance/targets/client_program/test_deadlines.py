"""By when looks in whole suites are over: by the time that clients have for what a step leads to."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from places import ROOT

from rocketmq_conformance.conformance.fakes.whole_case import WholeCase
from rocketmq_conformance.conformance.targets.client_program.adapter import ClientProgram
from rocketmq_conformance.conformance.targets.client_program.given_access import GivenAccess
from rocketmq_conformance.conformance.targets.client_program.played_group import PlayedGroup
from rocketmq_conformance.conformance.targets.client_program.timing import Timing
from rocketmq_conformance.models.client.fixtures import EVERY
from rocketmq_conformance.models.outcome import Ok
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites import (
    whole_allocation,
    whole_commit,
    whole_listener,
    whole_lite,
    whole_orderly,
    whole_pause,
    whole_push,
)
from rocketmq_conformance.suites.declare.suite import Suite

PROGRAM = ROOT / "tests" / "helpers" / "paced_consumer.py"
#: The margin for the machine at standard timers, and how long offsets take to be stored for the first time.
MARGIN, FIRST = 10.0, 10.0


@contextmanager
def case_of(suite: Suite, timing: Timing | None = None) -> Iterator[PlayedGroup]:
    """A case without programs."""
    group = PlayedGroup(
        *(suite, Profile(), [""], timing or Timing()),
        *(threading.Event(), lambda broadcasting: WholeCase(Profile(), broadcasting=broadcasting), GivenAccess()),
    )
    try:
        yield group
    finally:
        group.close()


#: Seconds until offsets are stored, by suite.
STORED = [
    (whole_push, 5),
    (whole_listener, 5),
    (whole_allocation, 5),
    (whole_pause, 5),
    (whole_lite, 10),
    (whole_commit, 0),
]


@pytest.mark.parametrize(("suite", "stored"), STORED, ids=[suite.SUITE.name for suite, _ in STORED])
def test_what_needs_no_timer_is_due_at_once_and_offsets_by_the_next_timer(suite: Any, stored: float) -> None:
    with case_of(suite.SUITE) as group:
        group.members.known_since[0] = group._clock.now()
        group.members.programs[0] = Silent()  # type: ignore[assignment]
        before = group._state
        operation = suite.Send(EVERY) if hasattr(suite, "Send") else whole_push.Send(EVERY)
        _, why = group._expect(operation)
        limits = group._limits(before, operation, why)
        assert limits.owners == MARGIN
        assert limits.everything == pytest.approx(stored + FIRST + MARGIN, abs=0.5)


def test_suites_whose_clients_have_locks_wait_up_to_one_limit() -> None:
    with case_of(whole_orderly.SUITE) as group:
        _, why = group._expect(whole_push.Send(EVERY))
        limits = group._limits(group._state, whole_push.Send(EVERY), why)
        assert (limits.owners, limits.everything) == (50.0, 50.0)


def test_a_crowd_has_the_time_of_members_that_come_and_go() -> None:
    with case_of(whole_allocation.SUITE, Timing(margin=0.1, look=0.1, quiet=0.01)) as group:
        assert isinstance(group.do(whole_allocation.Crowd(2, 1)), Ok)


class Silent:
    """A program that says nothing."""

    code, last_words = None, ""

    def kill(self) -> None:
        """There is nothing to end."""


@pytest.mark.paced
@pytest.mark.parametrize(("first", "stored"), [(10, 12), (46, -1)], ids=["in time", "late"])
def test_who_commits_later_than_timers_are_due_is_noticed(first: int, stored: int) -> None:
    # a look that waits up to one limit would see what is stored after 46 s; due is it after 40 s
    program = ClientProgram(f"{sys.executable} {PROGRAM} 1 {first}")
    group = program.group(whole_lite.SUITE)
    try:
        group.do(whole_push.Prepare(1, "expired", -1, "CONSUME_FROM_FIRST_OFFSET"))
        outcome = group.do(whole_lite.Join(0))
    finally:
        group.close()
        program.close()
    assert isinstance(outcome, Ok)
    assert isinstance(outcome.value, tuple)
    assert outcome.value[2] == (stored,)
