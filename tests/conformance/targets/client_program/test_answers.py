"""A case of the suite of answers: what fails, and what must be seen before it means something that nothing happens."""

from __future__ import annotations

import threading
from collections import deque
from typing import Any

import pytest
from brief_timing import BRIEF
from command_log import CommandLog

from rocketmq_conformance.conformance.fakes.group_case import GroupCase
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.targets.client_program.given_access import GivenAccess
from rocketmq_conformance.conformance.targets.client_program.played_answers import PlayedAnswers
from rocketmq_conformance.models.client.whole_moves import NULL, QUERY, SILENT, TOO_LATE, TWICE, UNKNOWN
from rocketmq_conformance.models.outcome import Ok
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites import whole_answers as operations
from rocketmq_conformance.suites.declare.topologies import GROUP, ORDINARY, TOPIC

UNSEEN = "no member was seen to send the request that fails"


class Group(PlayedAnswers):
    """A case whose one member runs from the beginning, as the model has it."""

    def __init__(self) -> None:
        super().__init__(
            *(operations.SUITE, Profile(), [""], BRIEF, threading.Event()),
            lambda _: GroupCase(Profile(), lambda seconds, _: None),
            GivenAccess(),
        )
        program: Any = CommandLog()
        program.got = deque()
        self.program = program
        self.peer: Any = type("Line", (), {"number": 1, "address": "", "answer": lambda *_: None})()
        self._expect(operations.Join(0))
        self.members.programs[0], self.members.ids[0] = program, ORDINARY.members[0]
        self.case.traffic.clients[1] = ORDINARY.members[0]

    def pull(self, queue: int, offset: int = 12) -> None:
        """The member pulls a queue."""
        ext = {"consumerGroup": GROUP, "topic": TOPIC, "queueId": str(queue), "queueOffset": str(offset)}
        more = {"maxMsgNums": "32", "sysFlag": "6", "suspendTimeoutMillis": "15000", "subscription": "*"}
        request = Command(int(Request.PULL_MESSAGE), {**ext, **more, "commitOffset": "0"})
        case: Any = self.case
        case.handle(self.peer, request)


@pytest.fixture
def group() -> Any:
    made = Group()
    yield made
    made.close()


@pytest.mark.parametrize(
    ("operation", "request_", "about", "other"),
    [
        (operations.FailPulls(0, UNKNOWN), "PULL_MESSAGE", (TOPIC, "0"), (TOPIC, "1")),
        (operations.FailStart(3, QUERY, UNKNOWN), QUERY, (TOPIC, "3"), (TOPIC, "0")),
        (operations.FailCommits(1, UNKNOWN), "UPDATE_CONSUMER_OFFSET", (TOPIC, "1"), (TOPIC, "3")),
        (operations.FailRoute("TOPIC_NOT_EXIST"), "GET_ROUTEINFO_BY_TOPIC", (TOPIC, ""), ("U", "")),
        (operations.FailList(NULL), "GET_CONSUMER_LIST_BY_GROUP", (None, None), None),
    ],
)
def test_one_thing_alone_fails(
    group: Group, operation: Any, request_: str, about: tuple[str, str], other: tuple[str, str] | None
) -> None:
    group.do(operation)
    failing = group.case._failing  # type: ignore[attr-defined]
    assert failing.request is Request[request_] is Request[operations.request_of(operation)]

    def meets(place: tuple[str, str]) -> bool:
        ext = dict(zip(("topic", "queueId"), filter(None, place), strict=False))
        return bool(failing.meets(Command(int(Request[request_]), ext)))

    assert meets(about)
    assert other is None or not meets(other)


@pytest.mark.parametrize(("answer", "sends", "unseen"), [(UNKNOWN, 0, UNSEEN), (UNKNOWN, 1, ""), (SILENT, 0, "")])
def test_a_pull_that_fails_must_have_been_sent_unless_none_is_answered(
    group: Group, answer: str, sends: int, unseen: str
) -> None:
    group.do(operations.FailPulls(0, answer))
    group._expect(operations.Look())
    for queue in (3, *([0] * sends)):
        try:
            group.pull(queue)
        except TimeoutError:
            pytest.fail("no pull of queue 0 was sent")
    assert group._unseen() == unseen
    group._expect(operations.Mend())
    assert group._unseen() == ""


def test_commits_that_fail_show_their_rules_once_one_was_sent(group: Group) -> None:
    group.do(operations.FailCommits(0, UNKNOWN))
    group._expect(operations.Send(0))
    limits = group._limits(group._state, operations.Send(0), group._decided()[1])
    assert group._unseen() == ""
    assert {"WHOLE-ANS-ALONE", "WHOLE-LOST"} <= group._unshown(limits)
    commit = {"consumerGroup": GROUP, "topic": TOPIC, "queueId": "0", "commitOffset": "9"}
    case: Any = group.case
    case.handle(group.peer, Command(int(Request.UPDATE_CONSUMER_OFFSET), commit))
    assert not {"WHOLE-ANS-ALONE", "WHOLE-LOST"} & group._unshown(limits)


@pytest.mark.parametrize(("how", "rule"), [(TWICE, "WHOLE-ANS-TWICE"), (TOO_LATE, "WHOLE-ANS-LATE")])
def test_an_answer_too_many_shows_where_members_say_what_they_are_given(group: Group, how: str, rule: str) -> None:
    for queue in range(4):
        group.pull(queue)
    silent = group.do(operations.SendAgain(0, how))
    assert isinstance(silent, Ok)
    assert rule in silent.unshown
    group.program.got.extend([(TOPIC, 1, 12)] * 2)
    given = group.do(operations.SendAgain(1, TWICE))
    assert isinstance(given, Ok)
    assert given.unshown == frozenset()
    # it was given twice
    assert isinstance(given.value, tuple)
    assert (0, 1, 12, 1) in given.value[1]  # type: ignore[operator]
