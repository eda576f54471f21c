"""Consumers that are suspended: the command, and the end of their pulls."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from brief_timing import BRIEF
from command_log import CommandLog

from rocketmq_conformance.conformance.fakes.group_case import GroupCase
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.targets.client_program.given_access import GivenAccess
from rocketmq_conformance.conformance.targets.client_program.played_pauses import PlayedPauses
from rocketmq_conformance.models.outcome import Ok
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites import whole_pause as operations
from rocketmq_conformance.suites.declare.topologies import ORDINARY


class Group(PlayedPauses):
    """A case whose members run from the beginning, as the model has them."""

    def __init__(self, members: int = 2) -> None:
        super().__init__(
            *(operations.SUITE, Profile(), [""], BRIEF, threading.Event()),
            lambda _: GroupCase(Profile()),
            GivenAccess(),
        )
        self.logs = [CommandLog() for _ in range(members)]
        for member, program in enumerate(self.logs):
            self._expect(operations.Join(member))
            self.members.programs[member] = program  # type: ignore[assignment]
            self.members.ids[member] = ORDINARY.members[member]


@pytest.fixture
def group() -> Any:
    made = Group()
    yield made
    made.close()


@pytest.mark.parametrize("asks", [False, True])
def test_who_is_suspended_and_asks_where_a_queue_begins_is_noticed(group: Group, asks: bool) -> None:
    asked = ORDINARY.members[0], int(Request.QUERY_CONSUMER_OFFSET)
    sent = group.case.traffic.sent
    sent[asked] = 4
    seen = [group.do(operations.Look()), group.do(operations.Pause(0, True))]
    sent[asked] += asks
    seen += [group.do(operations.Crash(1)), group.do(operations.Pause(0, False))]
    values = [outcome.value for outcome in seen if isinstance(outcome, Ok)]
    assert [value[-1] for value in values if isinstance(value, tuple)] == [None, False, asks, None]


def test_a_command_goes_to_a_member_that_runs_unless_another_one_is_suspended(group: Group) -> None:
    for operation in (
        *(operations.Pause(0, True), operations.Pause(1, True), operations.Pause(2, True), operations.Pause(0, True)),
        *(operations.Pause(1, False), operations.Pause(0, False), operations.Pause(0, False)),
    ):
        group.do(operation)
    assert [one["pause"] for one in group.logs[0].commands] == [True, True, False, False]
    assert group.logs[1].commands == [{"pause": False}]


def test_while_one_is_suspended_no_member_joins_and_of_two_others_none_leaves(group: Group) -> None:
    group.do(operations.Pause(0, True))
    group.do(operations.Join(2))
    assert list(group.members.programs) == [0, 1]
    group.do(operations.Crash(1))
    assert list(group.members.programs) == [0]
    group.do(operations.Leave(0))
    assert not group.members.programs
    three = Group(members=3)
    for operation in (operations.Pause(0, True), operations.Crash(1), operations.Leave(2)):
        three.do(operation)
    assert list(three.members.programs) == [0, 1, 2]
    three.do(operations.Crash(0))
    assert list(three.members.programs) == [1, 2]
    three.close()
