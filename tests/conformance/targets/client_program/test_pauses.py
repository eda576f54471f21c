"""Consumers that are suspended: the command, and the end of their pulls."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

import pytest
from brief_timing import BRIEF
from command_log import CommandLog

from rocketmq_conformance.conformance.fakes.group_case import GroupCase
from rocketmq_conformance.conformance.targets.client_program.given_access import GivenAccess
from rocketmq_conformance.conformance.targets.client_program.played_pauses import PlayedPauses
from rocketmq_conformance.models.client.fixtures import MEMBERS
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites import whole_pause as operations


class Pulled(GroupCase):
    """A broker that a member pulls again after its first so many pulls have ended."""

    again, ended = 0, 0

    def fail_held_pulls(self) -> None:
        self.ended += 1

    def pullers(self) -> set[tuple[str, int]]:
        return {("member-0", 0)} if self.ended <= self.again else set()


class Group(PlayedPauses):
    """A case whose members run from the beginning, as the model has them."""

    def __init__(self, again: int = 0, members: int = 2) -> None:
        case = Pulled(Profile())
        case.again = again
        super().__init__(
            operations.SUITE,
            Profile(),
            [""],
            replace(BRIEF, look=0.5),
            threading.Event(),
            lambda _: case,
            GivenAccess(),
        )
        self.logs = [CommandLog() for _ in range(members)]
        for member, program in enumerate(self.logs):
            self._expect(operations.Join(member))
            self.members.programs[member] = program  # type: ignore[assignment]
            self.members.ids[member] = MEMBERS[member]

    @property
    def ended(self) -> int:
        assert isinstance(self.case, Pulled)
        return self.case.ended


@pytest.fixture
def group() -> Any:
    made = Group()
    yield made
    made.close()


def test_pulls_are_ended_until_a_member_that_is_suspended_pulls_no_more() -> None:
    for again, ended in ((0, 1), (2, 3), (99, 10)):
        group = Group(again)
        group.do(operations.Pause(0, True))
        group.close()
        assert group.logs[0].commands == [{"pause": True}]
        # ten times at most: then it is seen that it pulls
        assert group.ended == ended


def test_a_command_goes_to_a_member_that_runs_unless_another_one_is_suspended(group: Group) -> None:
    for operation in (
        *(operations.Pause(0, True), operations.Pause(1, True), operations.Pause(2, True), operations.Pause(0, True)),
        *(operations.Pause(1, False), operations.Pause(0, False), operations.Pause(0, False)),
    ):
        group.do(operation)
    assert [one["pause"] for one in group.logs[0].commands] == [True, True, False, False]
    assert group.logs[1].commands == [{"pause": False}]
    assert group.ended == 1


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
