"""What the traffic of whole consumers shows."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

import pytest

from rocketmq_conformance.conformance.fakes.whole_case import DELAY, Traffic, WholeCase
from rocketmq_conformance.conformance.remoting.client import Connection
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.remoting.frame import Command, MalformedFrame
from rocketmq_conformance.models.client.fixtures import GROUP, TOPIC
from rocketmq_conformance.models.profile import Profile

PEER: Any = SimpleNamespace(number=1)


def pulling(traffic: Traffic, offset: int) -> Command:
    """A pull from an offset that arrives, to be held for 20 s."""
    fields = {"topic": TOPIC, "queueId": "0", "queueOffset": str(offset), "suspendTimeoutMillis": "20000"}
    command = Command(int(Request.PULL_MESSAGE), fields)
    traffic.pull(PEER, command)
    return command


def answering(traffic: Traffic, pull: Command) -> None:
    """One message in the answer to a pull."""
    behind = str(int(pull.ext["queueOffset"]) + 1)
    traffic.answer(PEER, pull, Command(0, {"nextBeginOffset": behind}))


@pytest.mark.parametrize(("held", "late"), [(19, False), (25, True)])
def test_a_late_answer_counts_when_the_next_pull_shows_it(
    held: int, late: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    message = [("", 0, 12, 1)]
    traffic = Traffic()
    pull = pulling(traffic, 12)
    now += held
    answering(traffic, pull)
    assert traffic.brought == ([] if late else message)
    pulling(traffic, 13)
    assert traffic.brought == message


def test_an_answer_that_its_client_gave_up_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    traffic = Traffic()
    given_up = pulling(traffic, 12)
    now += 31
    answering(traffic, given_up)
    again = pulling(traffic, 12)
    answering(traffic, again)
    assert traffic.brought == [("", 0, 12, 1)]


@pytest.mark.parametrize(("topic", "counts"), [(TOPIC, False), ("other", True)])
def test_while_a_request_fails_the_next_pull_of_one_that_goes_on_shows_an_answer(topic: str, counts: bool) -> None:
    traffic = Traffic()
    traffic.confirmed = True
    answering(traffic, pulling(traffic, 12))
    assert traffic.brought == []
    # who asks where to begin does not go on behind what was brought
    traffic.request(PEER, Command(int(Request.QUERY_CONSUMER_OFFSET), {"topic": topic, "queueId": "0"}))
    pulling(traffic, 13)
    assert traffic.brought == ([("", 0, 12, 1)] if counts else [])


# --- requests that fail -------------------------------------------------------------------------------------------

MEMBERS_ASKED = Command(int(Request.GET_CONSUMER_LIST_BY_GROUP), {"consumerGroup": GROUP})


def lines() -> Any:
    return SimpleNamespace(number=1, address="", answer=lambda request, response: None)


@pytest.mark.parametrize(
    ("fault", "error"), [("silent", TimeoutError), ("cut", ConnectionError), ("garbage", ConnectionError)]
)
def test_without_a_wire_no_answer_is_an_error(fault: str, error: type[Exception]) -> None:
    case = WholeCase(Profile())
    case.fail(Request.GET_CONSUMER_LIST_BY_GROUP, fault)
    with pytest.raises(error):
        case.handle(lines(), MEMBERS_ASKED)
    assert (case.fails(Request.GET_CONSUMER_LIST_BY_GROUP), case.loses_members) == (True, True)
    case.mend()
    assert (case.fails(Request.GET_CONSUMER_LIST_BY_GROUP), case.loses_members) == (False, False)
    assert case.handle(lines(), MEMBERS_ASKED) is not None


def test_without_a_wire_a_late_answer_says_how_long_it_took() -> None:
    case = WholeCase(Profile())
    case.fail(Request.GET_CONSUMER_LIST_BY_GROUP, "late")
    assert (case.fails(Request.GET_CONSUMER_LIST_BY_GROUP), case.keeps_waiting) == (False, True)
    assert case.handle(lines(), MEMBERS_ASKED) is not None
    assert case.waited == DELAY
    case.mend()
    case.handle(lines(), MEMBERS_ASKED)
    assert case.waited == 0


def test_pulls_that_are_not_answered_wait_for_nothing() -> None:
    case = WholeCase(Profile(), later=lambda seconds, action: SimpleNamespace(cancel=lambda: None))
    case.prepare(1, "young", -1)
    fields = {"consumerGroup": GROUP, "topic": TOPIC, "queueId": "0", "queueOffset": "12", "maxMsgNums": "32"}
    fields |= {"sysFlag": "6", "commitOffset": "0", "suspendTimeoutMillis": "15000", "subscription": "*"}
    pull = Command(int(Request.PULL_MESSAGE), {**fields, "subVersion": "1"})
    assert case.handle(lines(), pull) is None
    assert case.traffic.waiting(0) == [("", 12)]
    case.fail(Request.PULL_MESSAGE, "silent")
    assert (case.traffic.waiting(0), case.silent, case.loses_members) == ([], True, False)
    case.send(0)
    assert case.take_brought() == []


def test_over_a_wire_answers_are_late_or_no_frames_and_the_name_server_has_a_port_of_its_own() -> None:
    case = WholeCase(Profile())
    broker, name_server = case.broker.open(), case.broker.open_name_server()
    try:
        assert broker != name_server
        for address in (broker, name_server):
            host, _, port = address.rpartition(":")
            with Connection(host, int(port)) as connection:
                case.fail(Request.HEART_BEAT, "late")
                assert connection.call(int(Request.HEART_BEAT), {}, b'{"clientID":"x","consumerDataSet":[]}').code == 0
                case.fail(Request.HEART_BEAT, "garbage")
                with pytest.raises((ConnectionError, MalformedFrame)):
                    connection.call(int(Request.HEART_BEAT), {}, b'{"clientID":"x","consumerDataSet":[]}')
    finally:
        case.broker.stop()
