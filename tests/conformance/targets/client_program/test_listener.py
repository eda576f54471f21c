"""A case of the suite of listeners: a message alone that is sent back to an unusual answer."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from brief_timing import BRIEF
from command_log import CommandLog

from rocketmq_conformance.conformance.fakes.group_case import GroupCase
from rocketmq_conformance.conformance.remoting.codes import Request, Response
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.targets.client_program.given_access import GivenAccess
from rocketmq_conformance.conformance.targets.client_program.played_listener import PlayedListener
from rocketmq_conformance.models.client.plan_words import FAILS
from rocketmq_conformance.models.client.whole_moves import CUT, LATE, SILENT, TWICE, UNKNOWN
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites import whole_listener as operations
from rocketmq_conformance.suites.declare.topologies import GROUP, ORDINARY, TOPIC


class Group(PlayedListener):
    """A case whose one member runs from the beginning, and whose listener fails; it sends messages back by itself."""

    def __init__(self) -> None:
        super().__init__(
            *(operations.SUITE, Profile(), [""], BRIEF, threading.Event()),
            lambda _: GroupCase(Profile(), lambda seconds, _: None),
            GivenAccess(),
        )
        self.program: Any = CommandLog()
        self.peer: Any = type("Line", (), {"number": 1, "address": "", "answer": lambda *_: None})()
        self._expect(operations.Join(0))
        self.members.programs[0], self.members.ids[0] = self.program, ORDINARY.members[0]
        self.case.traffic.clients[1] = ORDINARY.members[0]
        self._expect(operations.Listen(0, FAILS))

    def give_back(self, queue: int) -> Command | None:
        """The member sends the last message of a queue back: the answer."""
        case: Any = self.case
        found = case.broker.storage.retained(TOPIC, queue)[-1]
        ext = {"group": GROUP, "originTopic": TOPIC, "offset": str(found.physical), "delayLevel": "0"}
        answer: Command | None = case.handle(self.peer, Command(int(Request.CONSUMER_SEND_MSG_BACK), ext))
        return answer


@pytest.fixture
def group() -> Any:
    made = Group()
    yield made
    made.close()


@pytest.mark.parametrize("answer", [UNKNOWN, SILENT, CUT, LATE, TWICE])
def test_the_message_of_one_queue_alone_is_answered_in_that_way(group: Group, answer: str) -> None:
    case: Any = group.case
    for queue in (0, 3):
        case.send(queue)
    case.fail_alone(Request.CONSUMER_SEND_MSG_BACK, answer, 0)
    other = group.give_back(3)
    assert other is not None
    assert (other.code, case.met) == (0, 0)
    expected = {SILENT: TimeoutError, CUT: ConnectionError}.get(answer)
    if expected is not None:
        with pytest.raises(expected):
            group.give_back(0)
    else:
        one = group.give_back(0)
        # a late one comes by itself
        assert (one.code if one is not None else None) == {UNKNOWN: 9999, LATE: None, TWICE: 0}[answer]
        assert case.repeated_answer == (answer == TWICE)
    assert case.met == 1


def test_the_others_come_once_it_was_sent_back_and_are_taken(group: Group) -> None:
    case: Any = group.case
    sent: list[int] = []
    send = case.send

    def recorded(queue: int) -> None:
        send(queue)
        sent.append(queue)
        answered = group.give_back(queue)
        assert answered is not None
        assert answered.code == (Response.SYSTEM_ERROR if queue == 3 else 0)

    case.send = recorded
    group.do(operations.RefuseOne(3, "SYSTEM_ERROR"))
    assert sent == [3, 0, 1, 2]
    assert not case.fails(Request.CONSUMER_SEND_MSG_BACK)


def test_a_message_that_was_not_sent_back_decides_nothing(group: Group) -> None:
    group._expect(operations.RefuseOne(0, UNKNOWN))
    assert group._unseen() == "no member was seen to send back the message alone"
    group._expect(operations.Deliver())
    assert group._unseen() == ""
