"""Requests about one thing alone that fail, and answers to pulls of one queue that come once too often."""

from __future__ import annotations

from typing import Any

import pytest

from rocketmq_conformance.conformance.fakes.group_case import GroupCase
from rocketmq_conformance.conformance.remoting.codes import Request, Response
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.models.client.whole_moves import NO_BODY, NO_FIELD, SILENT, TOO_LATE, TWICE, UNKNOWN
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.topologies import GROUP, RETRY_TOPIC, TOPIC


class Line:
    """A connection that keeps what it is answered: the number of each request, and the code."""

    number, address = 1, ""

    def __init__(self) -> None:
        self.answered: list[tuple[int, int]] = []

    def answer(self, request: Command, response: Command) -> None:
        self.answered.append((request.opaque, response.code))


@pytest.fixture
def case() -> GroupCase:
    made = GroupCase(Profile(), lambda seconds, _: None)
    made.prepare(2, "young", 12)
    return made


def pull(queue: int, opaque: int = 1, **fields: str) -> Command:
    """A pull of a queue from behind its last message, which the broker may hold, and which commits 9."""
    ext = {"consumerGroup": GROUP, "topic": TOPIC, "queueId": str(queue), "queueOffset": "12", "maxMsgNums": "32"}
    more = {"sysFlag": "7", "commitOffset": "9", "suspendTimeoutMillis": "15000", "subscription": "*"}
    return Command(int(Request.PULL_MESSAGE), {**ext, **more, **fields}, opaque=opaque)


def test_pulls_of_one_queue_fail_those_that_are_held_too_and_of_others_do_not(case: GroupCase) -> None:
    line: Any = Line()
    for queue in (0, 1):
        assert case.handle(line, pull(queue, 10 + queue)) is None
    case.fail_alone(Request.PULL_MESSAGE, UNKNOWN, 0)
    assert line.answered == [(10, Response.SYSTEM_ERROR)]
    refused = case.handle(line, pull(0))
    assert refused is not None
    assert (refused.code, case.met, case.pullers()) == (9999, 1, {("", 1)})
    case.fail_alone(Request.PULL_MESSAGE, SILENT, 1)
    assert (case.pullers(), case.silent, case.loses_members) == (set(), True, False)
    assert len(line.answered) == 1


@pytest.mark.parametrize(
    ("fault", "code", "following"),
    [(NO_FIELD, 0, None), (NO_BODY, 0, "13"), ("PULL_OFFSET_MOVED", Response.PULL_OFFSET_MOVED, None)],
)
def test_an_answer_to_a_pull_lacks_where_to_go_on_or_messages(
    case: GroupCase, fault: str, code: int, following: str | None
) -> None:
    case.fail_alone(Request.PULL_MESSAGE, fault, 0)
    line: Any = Line()
    seen = case.handle(line, pull(0))
    assert seen is not None
    assert (seen.code, seen.ext.get("nextBeginOffset"), seen.body) == (code, following, b"")
    assert seen.ext["maxOffset"] == "13"


def test_commits_of_one_queue_fail_and_its_pulls_commit_nothing(case: GroupCase) -> None:
    case.fail_alone(Request.UPDATE_CONSUMER_OFFSET, "SYSTEM_BUSY", 0)
    commit = {"consumerGroup": GROUP, "topic": TOPIC, "queueId": "0", "commitOffset": "9"}
    line: Any = Line()
    codes = [
        case.handle(line, Command(int(Request.UPDATE_CONSUMER_OFFSET), {**commit, "queueId": queue}))
        for queue in ("0", "1")
    ]
    assert [answer and answer.code for answer in codes] == [Response.SYSTEM_BUSY, 0]
    case.handle(line, pull(0))
    assert (case.stored(), case.met) == ((12, 9), 2)


def test_the_route_of_the_topic_fails_and_that_of_the_retry_topic_does_not(case: GroupCase) -> None:
    case.add_retry_topic()
    case.fail_alone(Request.GET_ROUTEINFO_BY_TOPIC, "TOPIC_NOT_EXIST", None)
    line: Any = Line()
    asked = [
        case.handle(line, Command(int(Request.GET_ROUTEINFO_BY_TOPIC), {"topic": topic}))
        for topic in (TOPIC, RETRY_TOPIC)
    ]
    assert [answer and answer.code for answer in asked] == [Response.TOPIC_NOT_EXIST, 0]
    assert not case.loses_members


def test_an_answer_comes_twice(case: GroupCase) -> None:
    line: Any = Line()
    case.handle(line, pull(0))
    case.send_again(0, TWICE)
    assert line.answered == [(1, 0), (1, 0)]
    # the next message comes once, and so does one that no pull waits for
    case.handle(line, pull(0, 2, queueOffset="13"))
    case.send(0)
    case.send_again(1, TWICE)
    assert line.answered == [(1, 0), (1, 0), (2, 0)]
    answer = case.handle(line, pull(1, 3))
    assert answer is not None
    assert (answer.code, len(line.answered)) == (0, 3)


def test_an_answer_comes_once_its_pull_was_sent_again(case: GroupCase) -> None:
    line: Any = Line()
    case.handle(line, pull(0))
    case.send_again(0, TOO_LATE)
    assert (line.answered, case.pullers()) == ([], set())
    again = case.handle(line, pull(0, 2))
    assert again is not None
    assert (again.code, line.answered) == (0, [(1, 0)])


def test_a_pull_that_comes_after_a_late_answer_was_wanted_is_sent_again_too(case: GroupCase) -> None:
    line: Any = Line()
    case.repeated.arm(TOPIC, 0, TOO_LATE)
    case.send(0)
    assert case.handle(line, pull(0)) is None
    assert case.handle(line, pull(0, 2)) is not None
    assert line.answered == [(1, 0)]
    case.mend()
    assert not case.repeated.put_off
