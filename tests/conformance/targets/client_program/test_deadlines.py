"""By when looks in whole suites are over: by the time that clients have for what a step leads to."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from places import ROOT

from rocketmq_conformance.conformance.targets.client_program.adapter import ClientProgram
from rocketmq_conformance.conformance.targets.client_program.played_group import PlayedGroup
from rocketmq_conformance.conformance.targets.client_program.timing import Timing
from rocketmq_conformance.conformance.targets.client_program.traffic_wait import Limits
from rocketmq_conformance.models.client.plan_words import EVERY
from rocketmq_conformance.models.outcome import Ok
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.release import Release
from rocketmq_conformance.suites import (
    whole_allocation,
    whole_assign,
    whole_broadcast,
    whole_broadcast_listener,
    whole_brokers,
    whole_clusters,
    whole_commit,
    whole_files,
    whole_groups,
    whole_listener,
    whole_lite,
    whole_load,
    whole_orderly,
    whole_orderly_listener,
    whole_pause,
    whole_push,
    whole_slaves,
    whole_subscriptions,
    whole_topologies,
)
from rocketmq_conformance.suites.declare.operation import Operation
from rocketmq_conformance.suites.declare.suite import Suite

PROGRAM = ROOT / "tests" / "helpers" / "paced_consumer.py"
#: The margin for the machine at standard timers, and how long offsets take to be stored for the first time.
MARGIN, FIRST = 10.0, 10.0


@contextmanager
def case_of(suite: Suite, timing: Timing | None = None, client: Release | None = None) -> Iterator[PlayedGroup]:
    """A case without programs."""
    program = ClientProgram("true", timing=timing)
    program.follow(Profile(client=client) if client else Profile())
    group = program.case(suite)
    try:
        yield group
    finally:
        group.close()
        program.close()


#: Seconds until offsets are stored, by suite.
STORED = [
    (whole_push, 5),
    (whole_listener, 5),
    (whole_allocation, 5),
    (whole_pause, 5),
    (whole_lite, 10),
    (whole_load, 5),
    (whole_assign, 10),
    (whole_commit, 0),
    (whole_broadcast, 0),
    (whole_broadcast_listener, 0),
    (whole_files, 0),
    (whole_orderly, 5),
    (whole_orderly_listener, 5),
    (whole_subscriptions, 5),
    (whole_brokers, 5),
    (whole_topologies, 5),
    (whole_slaves, 5),
    (whole_clusters, 5),
    (whole_groups, 5),
]


@pytest.mark.parametrize(("suite", "stored"), STORED, ids=[suite.SUITE.name for suite, _ in STORED])
def test_what_needs_no_timer_is_due_at_once_and_offsets_by_the_next_timer(suite: Any, stored: float) -> None:
    with case_of(suite.SUITE) as group:
        group.members.known_since[0] = group._clock.monotonic()
        group.members.programs[0] = Silent()  # type: ignore[assignment]
        before = group._state
        operation = suite.Send(EVERY) if hasattr(suite, "Send") else whole_push.Send(EVERY)
        _, why = group._expect(operation)
        limits = group._limits(before, operation, why)
        assert limits.owners == MARGIN
        assert limits.everything == pytest.approx(stored + FIRST + MARGIN, abs=0.5)


def limits_of(group: PlayedGroup, *operations: Operation) -> Limits:
    """The limits of the look after the last of these operations, which nobody does."""
    for operation in operations:
        before = group._state
        _, why = group._expect(operation)
    return group._limits(before, operation, why)


def test_an_orderly_member_whose_locks_were_lost_has_the_time_of_its_lock_timer() -> None:
    with case_of(whole_orderly.SUITE) as group:
        began = whole_push.Join(0), whole_orderly.TakeLocks()
        assert limits_of(group, *began, whole_orderly.ExpireLocks()).owners == 23.0 + MARGIN
        # once it has them, nothing is to be waited for
        assert limits_of(group, whole_push.Send(EVERY)).owners == MARGIN


def test_queues_that_change_hands_with_their_locks_have_a_round_up_to_4_9_8() -> None:
    joins = whole_push.Join(0), whole_push.Join(1)
    for client, owners in ((Release(5, 5, 0), 0.0), (Release(4, 9, 8), 20.0)):
        with case_of(whole_orderly.SUITE, client=client) as group:
            assert limits_of(group, *joins).owners == owners + 2 * MARGIN
            assert limits_of(group, whole_push.Crash(2)).owners == MARGIN


@pytest.mark.parametrize(
    ("pace", "operation", "shows"),
    [
        (1.0, whole_push.Crash(0), True),
        # a member that starts has twice the margin, in which every other one has a round
        (1.0, whole_push.Join(2), False),
        (2.9, whole_push.Crash(0), True),
        (3.0, whole_push.Crash(0), False),
    ],
)
def test_a_rule_does_not_show_where_a_timer_does_the_same_before_a_look_is_over(
    pace: float, operation: Operation, shows: bool
) -> None:
    with case_of(whole_push.SUITE, Timing.of(pace)) as group:
        limits = limits_of(group, whole_push.Join(0), whole_push.Join(1), operation)
        assert ("REB-SVC-WAKE" not in group._unshown(limits)) is shows
        assert limits.standard == (5.0 + MARGIN if pace > 1 else 0.0)


@pytest.mark.parametrize("suite", [whole_orderly, whole_orderly_listener])
def test_locks_that_expire_have_the_time_of_the_lock_timer_whatever_a_reason_names(suite: Any) -> None:
    for client in (Release(5, 5, 0), Release(4, 9, 8)):
        with case_of(suite.SUITE, client=client) as group:
            steps = suite.TakeLocks(), getattr(suite, "Join", whole_push.Join)(0), suite.ExpireLocks()
            assert limits_of(group, *steps).owners == 20.0 + MARGIN


def test_a_broadcasting_member_that_is_sent_elsewhere_has_a_correction_and_a_round() -> None:
    gone = whole_push.Prepare(1, "gone", 7, "CONSUME_FROM_FIRST_OFFSET"), whole_push.Join(0)
    with case_of(whole_broadcast.SUITE) as group:
        assert limits_of(group, *gone).owners == 30.0 + 2 * MARGIN
        assert limits_of(group, whole_broadcast.ComeBack(0, False)).owners == 2 * MARGIN


def test_a_topic_that_is_subscribed_to_is_learned_in_one_round_and_taken_in_the_next() -> None:
    with case_of(whole_subscriptions.SUITE) as group:
        assert limits_of(group, whole_subscriptions.Join(0)).owners == 2 * MARGIN
        assert limits_of(group, whole_subscriptions.Subscribe()).owners == 40.0 + MARGIN
        assert limits_of(group, whole_subscriptions.Join(1)).owners == 40.0 + 2 * MARGIN
        assert limits_of(group, whole_subscriptions.Send(EVERY)).owners == MARGIN
        assert limits_of(group, whole_subscriptions.Unsubscribe()).owners == MARGIN


def test_queues_of_two_brokers_change_hands_at_once_when_the_route_is_known() -> None:
    with case_of(whole_brokers.SUITE) as group:
        away = whole_brokers.Join(0), whole_brokers.GoAway()
        assert limits_of(group, *away).owners == MARGIN
        assert limits_of(group, whole_brokers.ComeBack()).owners == MARGIN


def test_a_member_that_asks_for_the_route_over_another_connection_has_the_time_of_its_timer_and_a_round() -> None:
    with case_of(whole_brokers.SUITE) as group:
        limits = limits_of(group, whole_brokers.Join(0))
        (first, _), timing = group._traffic(), group._timing
        for askers, joined, later in ({1}, "it", 0), ({1, 2}, None, 0), ({1, 2}, "it", timing.routes + timing.round):
            first.askers = askers
            assert group._later(joined, limits) == later
        group._expect(whole_brokers.Join(1))
        assert group._later("it", limits) == 0


def test_pulls_that_the_second_broker_refuses_give_a_look_more_time() -> None:
    with case_of(whole_brokers.SUITE) as group:
        first, second = group._traffic()
        second.outdated = True
        assert not first.outdated
        group._expect(whole_brokers.Send(EVERY))
        assert not second.outdated


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
    group = program.case(whole_lite.SUITE)
    try:
        group.do(whole_push.Prepare(1, "expired", -1, "CONSUME_FROM_FIRST_OFFSET"))
        outcome = group.do(whole_lite.Join(0))
    finally:
        group.close()
        program.close()
    assert isinstance(outcome, Ok)
    assert isinstance(outcome.value, tuple)
    assert outcome.value[2] == (stored,)


def test_a_pace_that_is_too_quick_for_a_rule_is_said_before_the_run() -> None:
    for pace, rules in (
        (1, []),
        (2, ["WHOLE-LATE"]),
        (3, ["REB-SVC-WAKE", "WHOLE-LATE"]),
        (20, ["REB-SVC-WAKE", "WHOLE-LATE"]),
    ):
        program = ClientProgram("true", pace)
        hello = program.hello()
        program.close()
        assert [*hello.cannot_show] == rules
        assert [note.split(",")[0] for note in hello.notes] == [f"too quick for {rule}" for rule in rules]


def test_a_late_answer_shows_nothing_where_it_is_less_than_a_second_late() -> None:
    for pace, unshown in ((1.0, False), (2.0, True)):
        with case_of(whole_push.SUITE, Timing.of(pace)) as group:
            group._points.begin(whole_push.Look(), {"WHOLE-LATE"}, {})
            assert ("WHOLE-LATE" in group._unshown(Limits(1.0, 1.0, 0.1))) == unshown
