"""A case of the suite of commits on demand: what its members are asked, and by when it is seen."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from command_log import CommandLog

from rocketmq_conformance.conformance.fakes.group_case import GroupCase
from rocketmq_conformance.conformance.targets.client_program.given_access import GivenAccess
from rocketmq_conformance.conformance.targets.client_program.played_commits import PlayedCommits
from rocketmq_conformance.conformance.targets.client_program.timing import Timing
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites import whole_commit as operations
from rocketmq_conformance.suites.declare.topologies import ORDINARY, TOPIC

BRIEF = Timing(connect=30.0, margin=0.3, look=30, quiet=0.05, round=0.1, write=0.1, routes=0.1, retry=0.05)


@pytest.fixture
def group() -> Iterator[PlayedCommits]:
    made = PlayedCommits(
        *(operations.SUITE, Profile(), [""], BRIEF, threading.Event(), lambda _: GroupCase(Profile()), GivenAccess())
    )
    made._expect(operations.Join(0))
    made.members.programs[0] = CommandLog()  # type: ignore[assignment]
    made.members.ids[0] = ORDINARY.members[0]
    yield made
    made.close()


def test_a_member_that_runs_is_asked_and_no_timer_is_waited_for(group: PlayedCommits) -> None:
    program: Any = group.members.programs[0]
    group.do(operations.Commit(1))
    assert program.commands == []
    began = time.monotonic()
    group.do(operations.Commit(0))
    # nobody commits here, and a look that waits for timers takes half a minute
    assert time.monotonic() - began < 10
    assert program.commands == [{"commit": TOPIC}]


def test_members_are_started_without_automatic_commits(group: PlayedCommits) -> None:
    assert group.variables(ORDINARY.members[0])["ROCKETMQ_COMMIT"] == "ON_DEMAND"
