"""Consumers that subscribe to another topic: the commands, and what is waited for before the queues are let go."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from brief_timing import BRIEF
from command_log import CommandLog

from rocketmq_conformance.conformance.fakes.group_case import GroupCase
from rocketmq_conformance.conformance.targets.client_program.given_access import GivenAccess
from rocketmq_conformance.conformance.targets.client_program.played_subscriptions import PlayedSubscriptions
from rocketmq_conformance.models.client.plan_words import EVERY
from rocketmq_conformance.models.outcome import Ok
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites import whole_subscriptions as operations
from rocketmq_conformance.suites.declare.topologies import ORDINARY, OTHER_TOPIC, TOPIC

TO, FROM = {"subscribe": OTHER_TOPIC}, {"unsubscribe": OTHER_TOPIC}


class Group(PlayedSubscriptions):
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

    def messages(self) -> list[int]:
        """How many there are in queue 0 of the first topic, and in the queues of the other one."""
        assert isinstance(self.case, GroupCase)
        return [len(self.case.broker.messages(*place)) for place in ((TOPIC, 0), (OTHER_TOPIC, 0), (OTHER_TOPIC, 1))]


@pytest.fixture
def group() -> Any:
    made = Group()
    yield made
    made.close()


def test_commands_go_to_every_member_and_not_twice(group: Group) -> None:
    for operation in (
        *(operations.Unsubscribe(), operations.Subscribe(), operations.Subscribe()),
        *(operations.Unsubscribe(), operations.Unsubscribe()),
    ):
        group.do(operation)
    assert [log.commands for log in group.logs] == [[TO, FROM]] * 2


def test_who_starts_is_given_the_command_at_once_where_others_are_subscribed(group: Group) -> None:
    assert not group._first_commands()
    group.do(operations.Subscribe())
    assert group._first_commands() == [TO]
    group.do(operations.Unsubscribe())
    assert not group._first_commands()


def test_what_heartbeats_named_last_is_seen_of_members_that_run(group: Group) -> None:
    said = group.case.traffic.topics
    said.update(
        {
            ORDINARY.members[0]: (TOPIC, OTHER_TOPIC, "%RETRY%G"),
            ORDINARY.members[1]: (TOPIC,),
            ORDINARY.members[2]: (TOPIC,),
        }
    )
    outcome = group.do(operations.Look())
    assert isinstance(outcome, Ok)
    assert isinstance(outcome.value, tuple)
    assert outcome.value[3] == ((0, 1), (0,), ())
    assert not group._all_said()
    said[ORDINARY.members[0]] = (TOPIC,)
    assert group._all_said()


def test_messages_arrive_in_queues_of_both_topics(group: Group) -> None:
    before = group.messages()
    group.do(operations.Send(EVERY))
    group.do(operations.Send(5))
    assert [now - then for now, then in zip(group.messages(), before, strict=True)] == [1, 1, 2]


def test_a_case_begins_with_both_topics_alike() -> None:
    group = Group(members=0)
    assert group.do(operations.Prepare("expired", 7, "CONSUME_FROM_LAST_OFFSET")) == Ok()
    assert group.case.stored() == (7,) * 6
    assert list(group.case.seen) == [0, 1, 2, 3, 4, 5]
    group._begun = True
    group.do(operations.Prepare("young", -1, "CONSUME_FROM_LAST_OFFSET"))
    assert group.case.stored() == (7,) * 6
    group.close()
