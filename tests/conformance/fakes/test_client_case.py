"""The broker of a client case: the same at both doors, the same as the one that ``serve`` serves, new in every case."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator, Sequence
from contextlib import suppress

import pytest
from every import every

from rocketmq_conformance.conformance.fakes.broker import FakeBroker
from rocketmq_conformance.conformance.fakes.client_case import ClientCase
from rocketmq_conformance.conformance.fakes.fault_script import KINDS
from rocketmq_conformance.conformance.remoting.client import Connection
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.remoting.frame import VERSION, Command, decode, encode, fields, frame_length
from rocketmq_conformance.conformance.targets.broker import requests
from rocketmq_conformance.models.client import plan_words
from rocketmq_conformance.models.client.initial_broker import initial_broker
from rocketmq_conformance.models.client.send_back import BACK_FAULTS
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.domain import Requests
from rocketmq_conformance.suites.declare.topologies import BROKER, GROUP, LOST_TOPIC, ORDINARY, TOPIC

Ask = tuple[int, dict[str, str], bytes]

STORED = fields(consumerGroup=GROUP, topic=TOPIC, queueId=0)
PULL = STORED | fields(
    queueOffset=3,
    maxMsgNums=4,
    sysFlag=4,
    commitOffset=0,
    suspendTimeoutMillis=1000,
    subscription="*",
    subVersion=0,
    expressionType="TAG",
)
QUEUE = {"topic": TOPIC, "brokerName": BROKER, "queueId": 0}
LOCK = json.dumps({"consumerGroup": GROUP, "clientId": ORDINARY.clients[0], "mqSet": [QUEUE]}).encode()
ASSIGNMENT = json.dumps({"topic": TOPIC, "consumerGroup": GROUP, "clientId": ORDINARY.clients[0]}).encode()
BACK = fields(offset=1001, originTopic=TOPIC, delayLevel=3, originMsgId="ID", maxReconsumeTimes=16)
HEARTBEAT = requests.heartbeat(ORDINARY.clients[0], GROUP, [TOPIC])
ASKED: tuple[Ask, ...] = (
    (Request.QUERY_CONSUMER_OFFSET, STORED, b""),
    (Request.UPDATE_CONSUMER_OFFSET, STORED | {"commitOffset": "5"}, b""),
    (Request.QUERY_CONSUMER_OFFSET, STORED, b""),
    (Request.GET_MAX_OFFSET, STORED, b""),
    (Request.GET_MIN_OFFSET, STORED, b""),
    (Request.SEARCH_OFFSET_BY_TIMESTAMP, STORED | {"timestamp": "1719792000000"}, b""),
    (Request.GET_CONSUMER_LIST_BY_GROUP, {"consumerGroup": GROUP}, b""),
    (Request.LOCK_BATCH_MQ, {}, LOCK),
    (Request.UNLOCK_BATCH_MQ, {}, LOCK),
    (Request.QUERY_ASSIGNMENT, {}, ASSIGNMENT),
    (Request.QUERY_ASSIGNMENT, {}, ASSIGNMENT),
    (Request.CONSUMER_SEND_MSG_BACK, BACK, b""),
    (Request.HEART_BEAT, {}, HEARTBEAT.body),
    (Request.GET_ROUTEINFO_BY_TOPIC, {"topic": TOPIC}, b""),
    (Request.GET_ROUTEINFO_BY_TOPIC, {"topic": LOST_TOPIC}, b""),
    (Request.GET_BROKER_CLUSTER_INFO, {}, b""),
    (Request.PULL_MESSAGE, PULL, b""),
    (Request.PULL_MESSAGE, PULL | {"queueOffset": "12"}, b""),
    (Request.UNREGISTER_CLIENT, {"consumerGroup": GROUP, "clientID": ORDINARY.clients[0]}, b""),
    (Request.QUERY_CONSUMER_OFFSET, {"topic": TOPIC}, b""),
    (4711, {}, b""),
)


@pytest.fixture
def case() -> Iterator[ClientCase]:
    made = ClientCase(Profile())
    yield made
    made.broker.stop()


def over_tcp(broker: FakeBroker, ask: Ask, version: int = VERSION) -> Command:
    """The response to one request on a connection of its own."""
    host, port = broker.address.split(":")
    with socket.create_connection((host, int(port)), 0.3) as line:
        line.sendall(encode(Command(*ask, opaque=1, version=version)))
        with line.makefile("rb") as answers:
            while size := answers.read(4):
                answer = decode(answers.read(frame_length(size)))
                if answer.is_response:
                    return answer
            raise ConnectionError("cut")


def seen(case: ClientCase, asked: Sequence[Ask], tcp: bool) -> list[object]:
    """What a client sees of responses, and what the case takes down."""
    return [*(_seen(case, ask, tcp) for ask in asked), case.take_commits()]


def _seen(case: ClientCase, ask: Ask, tcp: bool) -> object:
    code, ext, body = ask
    try:
        if not tcp:
            return case.exchange("", code, dict(ext), body, False)
        answer = over_tcp(case.broker, ask)
        return answer.code, answer.remark, answer.ext, answer.body
    except (TimeoutError, ConnectionError) as error:
        return isinstance(error, TimeoutError)


def test_both_doors_give_the_same_responses(case: ClientCase) -> None:
    case.broker.open()
    in_process = seen(case, ASKED, False)
    case.begin()
    assert seen(case, ASKED, True) == in_process


FAULTS = {
    Requests.OFFSETS: plan_words.FAULTS,
    Requests.BOUNDS: plan_words.BOUND_FAULTS,
    Requests.MEMBERS: plan_words.LIST_FAULTS,
    Requests.SEND_BACK: BACK_FAULTS,
    Requests.LOCKS: plan_words.LOCK_FAULTS,
    Requests.ASSIGNMENTS: plan_words.ASSIGN_FAULTS,
    Requests.HEARTBEATS: plan_words.BEAT_FAULTS,
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_fault_is_the_same_at_both_doors_and_over_after_it(case: ClientCase, kind: Requests) -> None:
    case.broker.open()
    asked = [ask for ask in ASKED if ask[0] in KINDS[kind]]
    honest = seen(case, asked, False)
    for fault in FAULTS[kind]:
        seen_by_door = []
        for tcp in (False, True):
            case.begin()
            case.broker.script.arm(kind, fault)
            assert case.broker.script.armed(kind) == fault
            seen_by_door.append(seen(case, asked, tcp))
        assert seen_by_door[0] == seen_by_door[1], fault
        assert (seen_by_door[0] == honest) is (fault == "answer"), fault
        case.begin()
        case.broker.script.arm(kind, fault)
        case.broker.script.calm()
        assert case.broker.script.armed(kind) == "answer"
        assert seen(case, asked, False) == honest


@pytest.mark.parametrize("version", [VERSION, 300])
def test_a_client_meets_the_broker_that_is_served(case: ClientCase, version: int) -> None:
    case.broker.open()
    with FakeBroker(Profile()) as served:
        served.stop()
        state = initial_broker(ORDINARY)
        for topic, settings in state.topics.items():
            served.load(topic, [state.logs[topic, queue] for queue in range(settings.read_queues)], {})
        served.start()
        for ask in (
            (Request.GET_ROUTEINFO_BY_TOPIC, {"topic": TOPIC}, b""),
            (Request.GET_BROKER_CLUSTER_INFO, {}, b""),
            (Request.HEART_BEAT, {}, HEARTBEAT.body),
            (Request.PULL_MESSAGE, PULL, b""),
        ):
            one, other = over_tcp(case.broker, ask, version), over_tcp(served, ask, version)
            assert (one.code, one.remark, one.ext.keys()) == (other.code, other.remark, other.ext.keys())
            assert one.body.replace(case.address.encode(), served.address.encode()) == other.body
            assert one.body or ask[0] == Request.HEART_BEAT


def test_phantom_members_are_listed_beside_those_that_send_heartbeats(case: ClientCase) -> None:
    case.broker.open()
    host, port = case.address.split(":")
    with Connection(host, int(port)) as connection:
        connection.call(*requests.heartbeat("another", GROUP, [TOPIC]))
        assert connection.requests(0.05) == []
        assert case.broker.members(GROUP) == ["another"]
        listed = connection.call(Request.GET_CONSUMER_LIST_BY_GROUP, {"consumerGroup": GROUP}).body
    assert json.loads(listed)["consumerIdList"] == list(ORDINARY.clients)


def test_a_case_begins_with_nothing_of_the_one_before(case: ClientCase) -> None:
    before = [case.exchange("", *ask, False) for ask in ASKED[:3] + ASKED[6:]]
    case.begin()
    case.commit_elsewhere(0, 7)
    case.shape(0, "gone")
    case.list_members(())
    case.assign(TOPIC, (0,), (), "")
    case.route(TOPIC, -1)
    case.lock_elsewhere(0, False)
    case.pass_time(1000)
    case.broker.script.arm(Requests.OFFSETS, "silent")
    with pytest.raises(TimeoutError):
        case.exchange("", *ASKED[0], False)
    case.begin()
    assert [case.exchange("", *ask, False) for ask in ASKED[:3] + ASKED[6:]] == before


def test_the_messages_of_a_queue_change_with_its_shape(case: ClientCase) -> None:
    ask = Request.PULL_MESSAGE, PULL, b""
    _, _, ext, body = case.exchange("", *ask, False)
    assert (ext["minOffset"], ext["maxOffset"], len(case.broker.storage.retained(TOPIC, 0))) == ("0", "12", 12)
    assert body
    case.shape(0, "expired")
    _, _, ext, body = case.exchange("", *ask, False)
    assert (ext["nextBeginOffset"], len(case.broker.storage.retained(TOPIC, 0))) == ("4", 8)
    case.shape(0, "gone")
    assert case.broker.storage.retained(TOPIC, 0) == []


def test_a_commit_of_a_queue_that_the_case_does_not_have_counts_as_none_of_its_queues() -> None:
    case = ClientCase(Profile.of(broker="4.9.7"))
    case.exchange("", Request.UPDATE_CONSUMER_OFFSET, STORED | {"queueId": "99", "commitOffset": "5"}, b"", True)
    assert case.take_commits() == ((plan_words.NO_QUEUE, 5),)


@every("fault", ["SYSTEM_BUSY", "silent", "answer"])
def test_a_commit_that_arrived_counts_whatever_becomes_of_it(fault: str) -> None:
    case = ClientCase(Profile())
    case.broker.script.arm(Requests.OFFSETS, fault)
    for one_way in (False, True):
        with suppress(TimeoutError):
            case.exchange("", Request.UPDATE_CONSUMER_OFFSET, STORED | {"commitOffset": "5"}, b"", one_way)
    assert case.take_commits() == ((0, 5), (0, 5, "awaited"))
    assert (case.state.stored.get((GROUP, TOPIC, 0)) == 5) is (fault == "answer")


def test_what_was_not_one_way_is_marked_once() -> None:
    case = ClientCase(Profile())
    for one_way in (False, True):
        case.exchange("", Request.UPDATE_CONSUMER_OFFSET, STORED | {"commitOffset": "5"}, b"", one_way)
        case.exchange("", Request.UNLOCK_BATCH_MQ, {}, LOCK, one_way)
    assert case.take_commits() == ((0, 5), (0, 5, "awaited"), ("unlock", "awaited"))
    assert case.take_commits() == ()


def test_a_request_that_an_old_release_does_not_know_is_not_answered() -> None:
    with pytest.raises(TimeoutError, match="4711"):
        ClientCase(Profile.of(broker="4.9.0")).exchange("", 4711, {}, b"", False)
