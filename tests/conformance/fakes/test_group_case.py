"""The fake broker of a case with whole consumers."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any, cast

import pytest

from rocketmq_conformance.conformance.fakes.broker import CLUSTER
from rocketmq_conformance.conformance.fakes.group_case import DELAY, GroupCase
from rocketmq_conformance.conformance.remoting.client import Connection
from rocketmq_conformance.conformance.remoting.client_requests import reset_body, reset_body_for_cpp
from rocketmq_conformance.conformance.remoting.codes import Request, Response
from rocketmq_conformance.conformance.remoting.frame import Command, MalformedFrame
from rocketmq_conformance.models.message_queue import MessageQueue
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.topologies import BROKER, GROUP, TOPIC

MEMBERS_ASKED = Command(int(Request.GET_CONSUMER_LIST_BY_GROUP), {"consumerGroup": GROUP})
PULL = {
    "consumerGroup": GROUP,
    "topic": TOPIC,
    "queueId": "0",
    "queueOffset": "12",
    "maxMsgNums": "32",
    "sysFlag": "6",
    "commitOffset": "0",
    "suspendTimeoutMillis": "20000",
    "subscription": "*",
    "subVersion": "1",
}


def peer() -> Any:
    return SimpleNamespace(number=1, address="", answer=lambda request, response: None)


@pytest.mark.parametrize("asked", [15_000, 300])
def test_pulls_are_held_as_long_as_they_ask(asked: int) -> None:
    waits: list[float] = []
    case = GroupCase(Profile(), lambda seconds, _: waits.append(seconds))
    case.prepare(1, "young", 12)
    pull = {**PULL, "suspendTimeoutMillis": str(asked)}
    assert case.handle(peer(), Command(int(Request.PULL_MESSAGE), pull)) is None
    assert waits == [asked / 1000]


def test_over_a_wire_pulls_that_find_nothing_are_answered_when_their_time_is_up_or_before() -> None:
    case = GroupCase(Profile())
    case.prepare(2, "young", 12)
    host, _, port = case.broker.open().rpartition(":")
    try:
        with Connection(host, int(port)) as connection:
            assert connection.call(int(Request.PULL_MESSAGE), {**PULL, "suspendTimeoutMillis": "50"}).code == (
                Response.PULL_NOT_FOUND
            )
            for queue in ("0", "1"):
                connection.post(int(Request.PULL_MESSAGE), {**PULL, "queueId": queue})
            case.settle()
            # in queue 1 it was not seen what the client does when it finds nothing
            assert case.traffic.unsettled() == {1}
            case.end_pulls([1])
            ended = connection.collect()
            assert (ended.code, ended.ext["nextBeginOffset"]) == (Response.PULL_NOT_FOUND, "12")
            connection.post(int(Request.PULL_MESSAGE), {**PULL, "queueId": "1"})
            case.settle()
            assert case.traffic.unsettled() == set()
            case.send(1)
            assert connection.collect().ext["nextBeginOffset"] == "13"
    finally:
        case.broker.stop()


@pytest.mark.parametrize(
    ("fault", "error"), [("silent", TimeoutError), ("cut", ConnectionError), ("garbage", ConnectionError)]
)
def test_without_a_wire_no_answer_is_an_error(fault: str, error: type[Exception]) -> None:
    case = GroupCase(Profile())
    case.fail(Request.GET_CONSUMER_LIST_BY_GROUP, fault)
    with pytest.raises(error):
        case.handle(peer(), MEMBERS_ASKED)
    assert (case.fails(Request.GET_CONSUMER_LIST_BY_GROUP), case.loses_members) == (True, True)
    case.mend()
    assert (case.fails(Request.GET_CONSUMER_LIST_BY_GROUP), case.loses_members) == (False, False)
    assert case.handle(peer(), MEMBERS_ASKED) is not None


def test_without_a_wire_a_late_answer_says_how_long_it_took() -> None:
    case = GroupCase(Profile())
    case.fail(Request.GET_CONSUMER_LIST_BY_GROUP, "late")
    assert (case.fails(Request.GET_CONSUMER_LIST_BY_GROUP), case.keeps_waiting) == (False, True)
    assert case.handle(peer(), MEMBERS_ASKED) is not None
    assert case.waited == DELAY
    case.mend()
    case.handle(peer(), MEMBERS_ASKED)
    assert case.waited == 0


def test_pulls_that_are_not_answered_wait_for_nothing() -> None:
    case = GroupCase(Profile(), later=lambda seconds, action: SimpleNamespace(cancel=lambda: None))
    case.prepare(1, "young", -1)
    pull = Command(int(Request.PULL_MESSAGE), {**PULL})
    assert case.handle(peer(), pull) is None
    assert case.traffic.waiting(0) == [("", 12)]
    case.fail(Request.PULL_MESSAGE, "silent")
    assert (case.traffic.waiting(0), case.silent, case.loses_members) == ([], True, False)
    case.send(0)
    assert case.take_brought() == []


@pytest.mark.parametrize(("language", "form"), [("JAVA", reset_body), ("GO", reset_body), ("CPP", reset_body_for_cpp)])
def test_a_reset_has_the_form_of_the_members_language(language: str, form: Any) -> None:
    told: list[Command] = []
    case = GroupCase(Profile())
    case.prepare(1, "young", 12)
    member = peer()
    member.send_request = told.append
    body = b'{"clientID":"a","consumerDataSet":[{"groupName":"%s","subscriptionDataSet":[]}]}' % GROUP.encode()
    case.handle(member, Command(int(Request.HEART_BEAT), body=body, language=language))
    case.reset(3)
    assert told[-1].body == form([(MessageQueue(TOPIC, BROKER, 0), 3)])


def test_a_member_is_listed_once_over_however_many_connections_its_heartbeats_come() -> None:
    case = GroupCase(Profile())
    beat = json.dumps({"clientID": "a", "consumerDataSet": [{"groupName": GROUP, "subscriptionDataSet": []}]}).encode()
    for number in (1, 2):
        client = SimpleNamespace(number=number, address="", send_request=lambda command: None)
        case.handle(cast(Any, client), Command(int(Request.HEART_BEAT), {}, beat))
    assert len(case.members()) == 2
    for others, listed in (((), ["a"]), ((0, 1), ["a", "z"])):
        if others:
            case.crowd(*others)
        answer = case.handle(peer(), MEMBERS_ASKED)
        assert answer is not None
        assert len(json.loads(answer.body)["consumerIdList"]) == len(listed)


@pytest.mark.parametrize(("topic", "queues"), [(BROKER, 1), (CLUSTER, 16), ("SELF_TEST_TOPIC", 1)])
def test_topics_that_a_broker_makes_of_its_own_have_routes(topic: str, queues: int) -> None:
    asked = Command(int(Request.GET_ROUTEINFO_BY_TOPIC), {"topic": topic, "acceptStandardJsonOnly": "true"})
    answer = GroupCase(Profile()).handle(peer(), asked)
    assert answer is not None
    assert [one["readQueueNums"] for one in json.loads(answer.body)["queueDatas"]] == [queues]


def test_over_a_wire_answers_are_late_or_no_frames_and_the_name_server_has_a_port_of_its_own() -> None:
    case = GroupCase(Profile())
    broker, name_server = case.broker.open(), case.broker.open_another()
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
