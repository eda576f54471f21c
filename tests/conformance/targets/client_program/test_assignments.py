"""A case of the suite of queues that are assigned by hand: what its program is given, and when it counts as started."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from command_log import CommandLog

from rocketmq_conformance.conformance.fakes.group_case import GroupCase
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.targets.client_program.given_access import GivenAccess
from rocketmq_conformance.conformance.targets.client_program.played_assignments import PlayedAssignments
from rocketmq_conformance.conformance.targets.client_program.timing import Timing
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites import whole_assign as operations
from rocketmq_conformance.suites.declare.topologies import ORDINARY, TOPIC

BRIEF = Timing(connect=30.0, margin=0.1, look=0.1, quiet=0.05, round=0.1, write=0.1, routes=0.1, retry=0.05)
CLIENT = ORDINARY.members[0]


@pytest.fixture
def group() -> Iterator[PlayedAssignments]:
    made = PlayedAssignments(
        *(operations.SUITE, Profile(), [""], BRIEF, threading.Event(), lambda _: GroupCase(Profile()), GivenAccess())
    )
    yield made
    made.close()


def test_it_is_given_what_it_is_to_do(group: PlayedAssignments) -> None:
    group._expect(operations.Join(0, (0, 3)))
    assert group._first_commands() == [{"assign": [[TOPIC, 0], [TOPIC, 3]]}]
    program: Any = CommandLog()
    group.members.programs[0] = program
    group.members.ids[0] = CLIENT
    # nothing follows here that a look could wait for
    group._look = lambda *_: None  # type: ignore[assignment, method-assign, return-value]
    for operation in (
        operations.Assign(0, (0, 1)),
        operations.Pause(0, (0,)),
        operations.Seek(0, 0, 9),
        operations.SeekToBegin(0, 0),
        operations.SeekToEnd(0, 1),
        operations.Resume(0, (0,)),
    ):
        group.do(operation)
    assert program.commands == [
        {"assign": [[TOPIC, 0], [TOPIC, 1]]},
        {"pause_queues": [[TOPIC, 0]]},
        {"seek": [TOPIC, 0, 9]},
        {"seek_to_begin": [TOPIC, 0]},
        {"seek_to_end": [TOPIC, 1]},
        {"resume_queues": [[TOPIC, 0]]},
    ]


def test_it_is_started_with_a_queue_to_see_what_it_takes(group: PlayedAssignments) -> None:
    assert group._first_commands() == [{"assign": [[TOPIC, 0]]}]
    assert group.variables(CLIENT)["ROCKETMQ_QUEUES"] == "ASSIGNED"


def test_it_counts_as_started_once_it_pulls(group: PlayedAssignments) -> None:
    assert not group._reached(CLIENT)
    group.case.traffic.sent[CLIENT, int(Request.LITE_PULL_MESSAGE)] = 1
    assert group._reached(CLIENT)
