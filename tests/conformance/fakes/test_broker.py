"""The fake broker, from a client's side of the socket."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.fakes.administration import Administration
from rocketmq_conformance.conformance.fakes.broker import PARTS, FakeBroker
from rocketmq_conformance.conformance.fakes.own_topics import own_topics
from rocketmq_conformance.conformance.proof.fake_broker import Conversation
from rocketmq_conformance.conformance.remoting import java_json
from rocketmq_conformance.conformance.remoting.client import Connection
from rocketmq_conformance.conformance.remoting.codes import Request, Response, response_name
from rocketmq_conformance.conformance.remoting.frame import Command, fields
from rocketmq_conformance.conformance.remoting.message import decode_all, join_batch
from rocketmq_conformance.models.broker.state import BrokerState, Topic
from rocketmq_conformance.models.java_text import string_hash
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.release import Release

PATIENCE = 30.0
START = 1_700_000_000_000


class Clock:
    """A clock that is set by hand (ms since the epoch)."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> int:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def broker(clock: Clock) -> Iterator[FakeBroker]:
    with FakeBroker(clock=clock) as running:
        running.create_topic("T", 2)
        yield running


@contextlib.contextmanager
def connected(broker: FakeBroker, binary: bool = False, timeout: float = PATIENCE) -> Iterator[Connection]:
    host, port = broker.address.split(":")
    with Connection(host, int(port), timeout, binary) as connection:
        yield connection


def sending(topic: str, queue: int = 0, tag: str = "", **more: Any) -> dict[str, str]:
    request: dict[str, Any] = {
        "a": "P",
        "b": topic,
        "c": "TBW102",
        "d": 4,
        "e": queue,
        "f": 0,
        "g": 5,
        "h": 0,
        "i": f"TAGS\x01{tag}\x02" if tag else "",
        "j": 0,
    }
    return fields(**(request | more))


#: The fields of a pull; ``changes`` replace some of them.
pulling = Conversation.pulling


def heartbeat(line: Connection, client: str, group: str = "G", expression: str = "*", **more: Any) -> Command:
    tags = [tag for tag in expression.split("||") if tag != "*"]
    subscription = {
        "topic": "T",
        "subString": expression,
        "tagsSet": tags,
        "codeSet": [string_hash(tag) for tag in tags],
        "subVersion": 1,
    }
    consumer = {"groupName": group, "messageModel": "CLUSTERING", "subscriptionDataSet": [subscription | more]}
    body = {"clientID": client, "consumerDataSet": [consumer], "producerDataSet": [{"groupName": "P"}]}
    return line.call(Request.HEART_BEAT, None, json.dumps(body).encode())


def place(queue: int = 0, **more: Any) -> dict[str, str]:
    return fields(topic="T", queueId=queue, **more)


# --- send, pull, commit, query --------------------------------------------------------------------------------


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("release", ["4.9.7", "5.5.0"])
def test_messages_go_in_and_out_and_offsets_are_kept(release: str, binary: bool, clock: Clock) -> None:
    with FakeBroker(Profile.of(broker=release), clock=clock) as broker, connected(broker, binary) as line:
        for at in range(10):
            clock.now = START + at * 1000
            answer = line.call(Request.SEND_MESSAGE_V2, sending("T", at % 2, "A"), b"body %d" % at)
            assert answer.code == 0
            assert (answer.ext["queueId"], answer.ext["queueOffset"]) == (str(at % 2), str(at // 2))
            assert answer.binary is (binary and release == "4.9.7")
        pulled = line.call(Request.PULL_MESSAGE, pulling(queueOffset=1))
        assert (pulled.code, pulled.remark, pulled.ext["nextBeginOffset"]) == (0, "FOUND", "5")
        messages = decode_all(pulled.body)
        assert [message.body for message in messages] == [b"body 2", b"body 4", b"body 6", b"body 8"]
        assert [message.store_time for message in messages] == [START + at * 1000 for at in (2, 4, 6, 8)]
        assert {(message.store_host, message.born_time, message.tag) for message in messages} == {
            (broker.address, 5, "A")
        }
        stored = fields(consumerGroup="G", topic="T", queueId=0)
        assert line.call(Request.UPDATE_CONSUMER_OFFSET, stored | {"commitOffset": "4"}).code == 0
        assert line.call(Request.QUERY_CONSUMER_OFFSET, stored).ext == {"offset": "4"}
        assert broker.state.stored == {("G", "T", 0): 4}
        assert line.call(Request.GET_MAX_OFFSET, place()).ext == {"offset": "5"}
        assert line.call(Request.GET_MIN_OFFSET, place()).ext == {"offset": "0"}
        assert line.call(Request.SEARCH_OFFSET_BY_TIMESTAMP, place(timestamp=START + 6000)).ext == {"offset": "3"}
        assert line.call(Request.GET_EARLIEST_MSG_STORETIME, place()).ext == {"timestamp": str(START)}
        assert line.call(Request.GET_EARLIEST_MSG_STORETIME, place(7)).ext == {"timestamp": "-1"}


def test_both_forms_of_a_send_mean_the_same(broker: FakeBroker) -> None:
    short = sending("T", 0, "A", h=3, j=1)
    names = {"a": "producerGroup", "b": "topic", "c": "defaultTopic", "d": "defaultTopicQueueNums", "e": "queueId"}
    names |= {"f": "sysFlag", "g": "bornTimestamp", "h": "flag", "i": "properties", "j": "reconsumeTimes"}
    with connected(broker) as line:
        line.call(Request.SEND_MESSAGE_V2, short, b"x")
        line.call(Request.SEND_MESSAGE, {names[name]: value for name, value in short.items()}, b"x")
    one, two = broker.messages("T")
    assert (one.offset, two.offset) == (0, 1)
    assert (one.tag, one.flag, one.reconsume_times) == ("A", 3, 1)
    assert (two.tag, two.flag, two.reconsume_times) == ("A", 3, 1)


def test_a_batch_is_stored_message_by_message(broker: FakeBroker) -> None:
    body = join_batch([(0, b"one", "TAGS\x01A\x02"), (0, b"two", "")])
    with connected(broker) as line:
        answer = line.call(Request.SEND_BATCH_MESSAGE, sending("T", 1, m=True), body)
        assert (answer.code, answer.ext["queueOffset"], len(answer.ext["msgId"].split(","))) == (0, "0", 2)
        assert line.call(Request.SEND_BATCH_MESSAGE, sending("T", 1), b"").code == Response.SYSTEM_ERROR
        assert line.call(Request.SEND_BATCH_MESSAGE, sending("T", 1), b"junk").code == Response.SYSTEM_ERROR
    assert [(message.body, message.tag) for message in broker.messages("T", 1)] == [(b"one", "A"), (b"two", None)]


def test_any_queue_is_one_of_the_topics(broker: FakeBroker) -> None:
    with connected(broker) as line:
        for _ in range(4):
            assert line.call(Request.SEND_MESSAGE_V2, sending("T", -1), b"x").ext["queueId"] in {"0", "1"}


@pytest.mark.parametrize(
    ("changes", "body", "code"),
    [
        ({"e": 2}, b"x", "INVALID_PARAMETER"),
        ({"b": "NEW", "c": "NOPE"}, b"x", "TOPIC_NOT_EXIST"),
        ({"f": 4}, b"x", "NO_PERMISSION"),
        ({}, bytes(4 * 1024 * 1024 + 1), "MESSAGE_ILLEGAL"),
        ({"i": "K\x01" + "p" * 32_700}, b"x", "MESSAGE_ILLEGAL"),
        ({"e": None}, b"x", "SYSTEM_ERROR"),
    ],
)
def test_a_send_can_be_refused(broker: FakeBroker, changes: dict[str, Any], body: bytes, code: str) -> None:
    with connected(broker) as line:
        assert response_name(line.call(Request.SEND_MESSAGE_V2, sending("T", **changes), body).code) == code
    assert broker.messages("T") == []


def test_properties_that_are_left_out_do_not_count(broker: FakeBroker) -> None:
    with connected(broker) as line:
        assert line.call(Request.SEND_MESSAGE_V2, sending("T", i="p" * 40_000), b"x").code == 0
    (message,) = broker.messages("T")
    assert "CLUSTER\x01" in message.properties


def test_store_times_never_go_back(broker: FakeBroker, clock: Clock) -> None:
    broker.send("T", b"one")
    clock.now -= 5000
    broker.send("T", b"two")
    assert [message.store_time for message in broker.messages("T")] == [START, START]


def test_expired_messages_move_min_and_pulls_along(broker: FakeBroker) -> None:
    for _ in range(5):
        broker.send("T", b"x")
    broker.expire("T", 0, 3)
    with connected(broker) as line:
        assert line.call(Request.GET_MIN_OFFSET, place()).ext == {"offset": "3"}
        moved = line.call(Request.PULL_MESSAGE, pulling(queueOffset=1))
        assert (response_name(moved.code), moved.ext["nextBeginOffset"]) == ("PULL_OFFSET_MOVED", "3")
        assert [m.offset for m in decode_all(line.call(Request.PULL_MESSAGE, pulling(queueOffset=3)).body)] == [3, 4]
    broker.expire("T", 1, 0)
    assert broker.send("T", b"x") == 5


# --- long polling ---------------------------------------------------------------------------------------------

WAITING = {"sysFlag": 6, "suspendTimeoutMillis": 60_000}


def test_a_pull_waits_for_the_next_message(broker: FakeBroker) -> None:
    with connected(broker) as line:
        line.post(Request.PULL_MESSAGE, pulling(**WAITING))
        broker.settle()
        assert broker.held_pulls == 1
        broker.send("T", b"other queue", queue=1)
        assert broker.held_pulls == 1
        broker.send("T", b"here it is")
        assert decode_all(line.collect().body)[0].body == b"here it is"
        assert broker.held_pulls == 0


def test_a_pull_ends_when_its_time_is_up(broker: FakeBroker) -> None:
    with connected(broker) as line:
        began = time.monotonic()
        line.post(Request.PULL_MESSAGE, pulling(sysFlag=6, suspendTimeoutMillis=200))
        line.post(Request.GET_MAX_OFFSET, place())
        assert line.collect().ext == {"offset": "0"}
        answer = line.collect()
        assert (response_name(answer.code), answer.ext["nextBeginOffset"]) == ("PULL_NOT_FOUND", "0")
        assert time.monotonic() - began >= 0.2


def test_a_held_pull_stores_its_offset_once(broker: FakeBroker) -> None:
    with connected(broker) as line:
        line.post(Request.PULL_MESSAGE, pulling(**WAITING | {"sysFlag": 7, "commitOffset": 42}))
        broker.settle()
        assert broker.state.stored == {("G", "T", 0): 42}
        other = fields(consumerGroup="G", topic="T", queueId=0, commitOffset=50)
        line.call(Request.UPDATE_CONSUMER_OFFSET, other)
        broker.send("T", b"x")
        line.collect()
    assert broker.state.stored == {("G", "T", 0): 50}


def test_a_held_pull_leaves_with_its_connection(broker: FakeBroker) -> None:
    with connected(broker) as line:
        line.post(Request.PULL_MESSAGE, pulling(**WAITING))
        line.post(Request.PULL_MESSAGE, pulling(**WAITING))
        broker.settle()
        assert broker.held_pulls == 2
    broker.settle()
    assert broker.held_pulls == 0
    assert broker.send("T", b"nobody waits") == 0


def test_a_message_that_no_filter_wants_wakes_no_pull_at_once(broker: FakeBroker) -> None:
    with connected(broker) as line:
        line.post(Request.PULL_MESSAGE, pulling(**WAITING | {"subscription": "A"}))
        broker.settle()
        broker.send("T", b"x", tag="B")
        broker.send("T", b"y", tag="B")
        assert broker.held_pulls == 1
        broker.send("T", b"z", tag="A")
        pulled = line.collect()
        assert [message.body for message in decode_all(pulled.body)] == [b"z"]
        assert pulled.ext["nextBeginOffset"] == "3"


def test_a_pull_is_held_for_a_topic_that_goes_away(broker: FakeBroker) -> None:
    with connected(broker) as line:
        line.post(Request.PULL_MESSAGE, pulling(**WAITING | {"suspendTimeoutMillis": 200}))
        line.send(Request.DELETE_TOPIC_IN_BROKER, {"topic": "T"})
        assert line.collect().code == Response.TOPIC_NOT_EXIST


# --- consumers ------------------------------------------------------------------------------------------------


def test_members_are_reported_before_the_heartbeat_is_answered(broker: FakeBroker) -> None:
    with connected(broker) as one, connected(broker) as two:
        assert heartbeat(one, "one").code == 0
        assert [notice.code for notice in one.requests()] == [Request.NOTIFY_CONSUMER_IDS_CHANGED]
        heartbeat(one, "one")
        assert one.requests() == []
        heartbeat(two, "two")
        notices = one.requests(PATIENCE)
        assert [(notice.ext, notice.is_one_way) for notice in notices] == [({"consumerGroup": "G"}, True)]
        listed = one.call(Request.GET_CONSUMER_LIST_BY_GROUP, {"consumerGroup": "G"})
        assert json.loads(listed.body) == {"consumerIdList": ["one", "two"]}
        assert broker.members("G") == ["one", "two"]
        two.close()
        assert len(one.requests(PATIENCE)) == 1
        assert broker.members("G") == ["one"]
        assert one.call(Request.UNREGISTER_CLIENT, {"clientID": "one", "consumerGroup": "G"}).code == 0
        assert one.call(Request.UNREGISTER_CLIENT, {"clientID": "one", "producerGroup": "P"}).code == 0
        nobody = one.call(Request.GET_CONSUMER_LIST_BY_GROUP, {"consumerGroup": "G"})
        assert (nobody.code, nobody.remark) == (Response.SYSTEM_ERROR, "no consumer for this group, G")
        assert broker.members("G") == []


def fingerprinted(line: Connection, client: str, fingerprint: int, *, brief: bool) -> dict[str, str]:
    """What is answered to a heartbeat of a client that may be brief."""
    subscription = {"topic": "T", "subString": "*", "subVersion": 1}
    consumer = {"groupName": "G", "messageModel": "CLUSTERING", "subscriptionDataSet": [] if brief else [subscription]}
    body = {"clientID": client, "consumerDataSet": [consumer], "heartbeatFingerprint": fingerprint, "withoutSub": brief}
    return line.call(Request.HEART_BEAT, None, json.dumps(body).encode()).ext


def test_a_brief_heartbeat_keeps_the_subscriptions_and_says_when_others_came(broker: FakeBroker) -> None:
    with connected(broker) as one, connected(broker) as other:
        results = [
            fingerprinted(one, "a", 7, brief=False),
            fingerprinted(one, "a", 7, brief=True),
            fingerprinted(other, "b", 8, brief=False),
            fingerprinted(one, "a", 7, brief=True),
        ]
        assert "T" in broker.consumers.groups["G"].subscriptions
    assert [fields["IS_SUB_CHANGE"] for fields in results] == ["false", "false", "true", "true"]
    assert {fields["IS_SUPPORT_HEART_BEAT_V2"] for fields in results} == {"true"}
    with FakeBroker(Profile.of(broker="5.1.2")) as old, connected(old) as line:
        assert heartbeat(line, "a").ext == {}


def test_a_heartbeat_creates_group_and_retry_topic(broker: FakeBroker) -> None:
    with connected(broker) as line:
        heartbeat(line, "one")
        assert "G" in broker.state.groups
        assert broker.state.topics["%RETRY%G"] == Topic.of(1)
        assert line.call(Request.GET_ROUTEINFO_BY_TOPIC, {"topic": "%RETRY%G"}).code == 0


def test_the_registered_subscription_filters_pulls_that_carry_none(broker: FakeBroker) -> None:
    for tag in ("A", "B", "A"):
        broker.send("T", tag.encode(), tag=tag)
    plain = pulling(sysFlag=0, subVersion=1)
    with connected(broker) as line:
        assert line.call(Request.PULL_MESSAGE, plain).code == Response.SUBSCRIPTION_NOT_EXIST
        heartbeat(line, "one", expression="A||C")
        assert [m.offset for m in decode_all(line.call(Request.PULL_MESSAGE, plain).body)] == [0, 2]
        newer = line.call(Request.PULL_MESSAGE, plain | {"subVersion": "2"})
        assert newer.code == Response.SUBSCRIPTION_NOT_LATEST
        heartbeat(line, "one", expression="A", subVersion=2, classFilterMode=True)
        assert len(decode_all(line.call(Request.PULL_MESSAGE, plain).body)) == 3
        heartbeat(line, "one", expression="B", subVersion=3, codeSet=None)
        assert line.call(Request.PULL_MESSAGE, plain).code == Response.PULL_RETRY_IMMEDIATELY


@pytest.mark.parametrize("body", [b"", b"junk", b"{}", b'{"clientID":"x","consumerDataSet":[{}]}', b"[]", b"\xff"])
def test_a_heartbeat_that_cannot_be_read_is_a_system_error(broker: FakeBroker, body: bytes) -> None:
    with connected(broker) as line:
        assert line.call(Request.HEART_BEAT, None, body).code == Response.SYSTEM_ERROR
        assert line.call(Request.GET_MAX_OFFSET, place()).code == 0


# --- locks ----------------------------------------------------------------------------------------------------


def lock(line: Connection, client: str, *queues: int, request: Request = Request.LOCK_BATCH_MQ) -> list[int] | int:
    asked = [{"topic": "T", "brokerName": "broker-a", "queueId": queue} for queue in queues]
    body = json.dumps({"consumerGroup": "G", "clientId": client, "mqSet": asked}).encode()
    answer = line.call(request, None, body)
    return [queue["queueId"] for queue in json.loads(answer.body)["lockOKMQSet"]] if answer.body else answer.code


def test_locks_are_exclusive_until_they_expire(broker: FakeBroker, clock: Clock) -> None:
    with connected(broker) as line:
        assert lock(line, "one", 0, 1) == [0, 1]
        clock.now += 60_000
        assert lock(line, "two", 0, 1, 2) == [2]
        assert lock(line, "one", 0) == [0]
        clock.now += 1
        assert lock(line, "two", 0, 1) == [1]
        assert lock(line, "two", 0, 1, request=Request.UNLOCK_BATCH_MQ) == 0
        assert lock(line, "three", 0, 1, 2) == [1]


def test_a_lock_without_client_fails_for_good(broker: FakeBroker) -> None:
    asked = {"consumerGroup": "G", "mqSet": [{"topic": "T", "brokerName": "b", "queueId": 0}]}
    with connected(broker) as line:
        for body in (asked, asked | {"clientId": "one"}):
            for request in (Request.LOCK_BATCH_MQ, Request.UNLOCK_BATCH_MQ):
                assert line.call(request, None, json.dumps(body).encode()).code == Response.SYSTEM_ERROR
        groupless = json.dumps(asked | {"clientId": "one", "consumerGroup": None}).encode()
        assert line.call(Request.LOCK_BATCH_MQ, None, groupless).code == Response.SYSTEM_ERROR


# --- administration -------------------------------------------------------------------------------------------


def test_topics_and_groups_come_and_go_with_their_offsets(broker: FakeBroker) -> None:
    created = fields(topic="NEW", readQueueNums=3, writeQueueNums=3, perm=6)
    committed = fields(consumerGroup="G2", topic="NEW", queueId=0, commitOffset=5)
    stored = fields(consumerGroup="G2", topic="NEW", queueId=0)
    with connected(broker) as line:
        assert line.call(Request.UPDATE_AND_CREATE_TOPIC, created).code == 0
        assert broker.state.topics["NEW"] == Topic.of(3)
        assert line.call(Request.UPDATE_CONSUMER_OFFSET, committed).code == Response.SUBSCRIPTION_GROUP_NOT_EXIST
        body = json.dumps({"groupName": "G2"}).encode()
        assert line.call(Request.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, None, body).code == 0
        assert line.call(Request.UPDATE_CONSUMER_OFFSET, committed).code == 0
        assert line.call(Request.DELETE_SUBSCRIPTIONGROUP, {"groupName": "G2", "removeOffset": "true"}).code == 0
        assert line.call(Request.QUERY_CONSUMER_OFFSET, stored).ext == {"offset": "5"}
        assert line.call(Request.DELETE_SUBSCRIPTIONGROUP, {"groupName": "G2", "cleanOffset": "true"}).code == 0
        assert line.call(Request.QUERY_CONSUMER_OFFSET, stored).code == Response.QUERY_NOT_FOUND
        broker.send("NEW", b"x")
        for request in (Request.DELETE_TOPIC_IN_BROKER, Request.DELETE_TOPIC_IN_NAMESRV):
            assert line.call(request, {"topic": "NEW"}).code == 0
        assert line.call(Request.GET_ROUTEINFO_BY_TOPIC, {"topic": "NEW"}).code == Response.TOPIC_NOT_EXIST
        assert line.call(Request.UPDATE_AND_CREATE_TOPIC, created | {"topic": " "}).code == Response.INVALID_PARAMETER
        assert line.call(Request.CHECK_CLIENT_CONFIG, None, b"{}").code == 0
    assert broker.messages("NEW") == []
    with pytest.raises(LookupError, match="NEW"):
        broker.send("NEW", b"x")


def test_read_and_written_queues_and_permissions_are_as_they_were_sent(broker: FakeBroker) -> None:
    created = fields(topic="NEW", readQueueNums=1, writeQueueNums=2, perm=4)
    group = json.dumps({"groupName": "G", "consumeEnable": False}).encode()
    with connected(broker) as line:
        assert line.call(Request.UPDATE_AND_CREATE_TOPIC, created).code == 0
        assert line.call(Request.SEND_MESSAGE_V2, sending("NEW", 1), b"x").code == 0
        assert line.call(Request.PULL_MESSAGE, pulling(topic="NEW", queueId=1)).code == Response.INVALID_PARAMETER
        route = json.loads(line.call(Request.GET_ROUTEINFO_BY_TOPIC, fields(topic="NEW")).body)["queueDatas"][0]
        assert {name: route[name] for name in created if name != "topic"} == {
            "readQueueNums": 1,
            "writeQueueNums": 2,
            "perm": 4,
        }
        broker.create_topic("NEW", Topic(2, 0, 2))
        assert line.call(Request.SEND_MESSAGE_V2, sending("NEW", -1), b"x").code == Response.SYSTEM_ERROR
        assert line.call(Request.PULL_MESSAGE, pulling(topic="NEW", queueId=1)).code == Response.NO_PERMISSION
        assert line.call(Request.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, None, group).code == 0
        assert line.call(Request.PULL_MESSAGE, pulling()).code == Response.NO_PERMISSION
        broker.create_group("G")
        assert line.call(Request.PULL_MESSAGE, pulling()).code == Response.PULL_NOT_FOUND


@pytest.mark.parametrize(("wanted", "queues"), [(1, 1), (4, 4), (16, 8)])
def test_topics_are_created_when_a_message_is_sent(broker: FakeBroker, wanted: int, queues: int) -> None:
    with connected(broker) as line:
        assert line.call(Request.SEND_MESSAGE_V2, sending("NEW", 0, d=wanted), b"x").code == 0
        assert line.call(Request.SEND_MESSAGE_V2, sending("%RETRY%X", 0, c="NOPE"), b"x").code == 0
    assert (broker.state.topics["NEW"], broker.state.topics["%RETRY%X"]) == (Topic.of(queues), Topic.of(1))


def test_nothing_is_created_when_it_is_not_wanted() -> None:
    with FakeBroker(auto_create=False) as broker, connected(broker) as line:
        assert line.call(Request.SEND_MESSAGE_V2, sending("NEW"), b"x").code == Response.TOPIC_NOT_EXIST
        assert line.call(Request.PULL_MESSAGE, pulling()).code == Response.SUBSCRIPTION_GROUP_NOT_EXIST
        assert heartbeat(line, "one").code == 0
        assert broker.members("G") == []
        broker.create_group("G")
        heartbeat(line, "one")
        assert broker.members("G") == ["one"]
        assert line.call(Request.PULL_MESSAGE, pulling()).code == Response.TOPIC_NOT_EXIST


@pytest.mark.parametrize(
    ("release", "version", "asked", "standard"),
    [
        ("5.5.0", 409, None, True),
        ("5.5.0", 300, None, False),
        ("5.5.0", 300, True, True),
        ("4.9.3", 409, True, False),
    ],
)
def test_routes_are_written_in_the_form_of_the_client(
    release: str, version: int, asked: bool | None, standard: bool
) -> None:
    with FakeBroker(Profile.of(broker=release), name="b-1", cluster="C") as broker, connected(broker) as line:
        for topic, queues in (("T", 3), ("U", 1)):
            broker.create_topic(topic, queues)
            line.version = version
            request = fields(topic=topic, acceptStandardJsonOnly=asked)
            body = line.call(Request.GET_ROUTEINFO_BY_TOPIC, request).body.decode()
            assert (f'{{"0":"{broker.address}"}}' in body) is standard
            assert (f'{{0:"{broker.address}"}}' in body) is not standard
            route = java_json.loads(body)
            assert route["queueDatas"][0]["readQueueNums"] == queues
            assert route["brokerDatas"][0]["brokerName"] == "b-1"


def test_the_default_topic_can_be_inherited_from(broker: FakeBroker) -> None:
    with connected(broker) as line:
        route = json.loads(line.call(Request.GET_ROUTEINFO_BY_TOPIC, {"topic": "TBW102"}).body)
        assert (route["queueDatas"][0]["perm"], route["queueDatas"][0]["readQueueNums"]) == (7, 8)


def test_the_cluster_is_described_in_javas_own_json(broker: FakeBroker) -> None:
    with connected(broker) as line:
        body = line.call(Request.GET_BROKER_CLUSTER_INFO).body.decode()
    assert f'{{0:"{broker.address}"}}' in body
    assert java_json.loads(body)["clusterAddrTable"] == {"DefaultCluster": ["broker-a"]}


ALWAYS = {"BenchmarkTest", "DefaultCluster", "OFFSET_MOVED_EVENT", "SELF_TEST_TOPIC", "TBW102", "broker-a"}


@pytest.mark.parametrize(
    ("release", "more"),
    [
        ("4.5.2", set()),
        ("4.6.0", {"DefaultCluster_REPLY_TOPIC"}),
        ("4.7.1", {"DefaultCluster_REPLY_TOPIC", "SCHEDULE_TOPIC_XXXX"}),
    ],
)
def test_a_broker_has_topics_of_its_own_by_its_release(release: str, more: set[str]) -> None:
    with FakeBroker(Profile.of(broker=release)) as broker, connected(broker) as line:
        listed = json.loads(line.call(Request.GET_ALL_TOPIC_LIST_FROM_NAMESERVER).body)["topicList"]
        assert set(listed) == ALWAYS | more
        routes = [line.call(Request.GET_ROUTEINFO_BY_TOPIC, {"topic": topic}) for topic in listed]
        assert all(route.code == 0 for route in routes)
        # whatever a case begins with
        broker.storage.begin(BrokerState(topics={"T": Topic.of(2)}))
        assert broker.state.topics.keys() == ALWAYS | more | {"T"}


def test_new_releases_have_more_of_them() -> None:
    def names(release: str) -> set[str]:
        return {*own_topics(Release.parse(release), "b", "c", creates=False)}

    popped = {"rmq_sys_REVIVE_LOG_c", "rmq_sys_SYNC_BROKER_MEMBER_b"}
    assert names("5.0.0") - names("4.9.7") == popped | {"RMQ_SYS_TRANS_HALF_TOPIC", "RMQ_SYS_TRANS_OP_HALF_TOPIC"}
    assert names("5.3.3") - names("5.2.0") == {"rmq_sys_wheel_timer"}
    rocksdb = {"RMQ_SYS_ROCKSDB_TRANS_HALF_TOPIC", "RMQ_SYS_ROCKSDB_TRANS_OP_HALF_TOPIC"}
    assert names("5.5.0") - names("5.3.3") == rocksdb


@pytest.mark.parametrize(
    ("release", "table"),
    [
        ("5.5.0", {"brokerVersionDesc": "V5_5_0"}),
        ("5.3.3", {"brokerVersionDesc": "V5_3_3", "brokerVersion": "479"}),
        ("5.0.0-ALPHA", {"brokerVersionDesc": "V5_0_0_ALPHA", "brokerVersion": "413"}),
    ],
)
def test_the_broker_says_which_release_it_plays(release: str, table: dict[str, str], clock: Clock) -> None:
    with FakeBroker(Profile.of(broker=release), clock=clock) as broker, connected(broker) as line:
        info = json.loads(line.call(Request.GET_BROKER_RUNTIME_INFO).body)
    empty = {"commitLogMinOffset": "0", "commitLogMaxOffset": "0", "earliestMessageTimeStamp": "-1"}
    assert info == {"table": table | empty | {"bootTimestamp": str(START)}}


def test_the_broker_says_where_its_messages_are(clock: Clock) -> None:
    with FakeBroker(clock=clock) as broker, connected(broker) as line:
        broker.create_topic("T", 1)
        for _ in range(2):
            broker.send("T", b"x")
        table = json.loads(line.call(Request.GET_BROKER_RUNTIME_INFO).body)["table"]
        assert int(table["commitLogMaxOffset"]) > int(table["commitLogMinOffset"]) == 0
        assert table["earliestMessageTimeStamp"] == str(START)
        broker.expire("T", 0, 1)
        table = json.loads(line.call(Request.GET_BROKER_RUNTIME_INFO).body)["table"]
        assert int(table["commitLogMinOffset"]) * 2 == int(table["commitLogMaxOffset"])


@pytest.mark.parametrize(("release", "answered"), [("4.9.0", False), ("4.9.1", True)])
def test_an_unknown_request_is_answered_as_the_release_does(release: str, answered: bool) -> None:
    with FakeBroker(Profile.of(broker=release)) as broker, connected(broker) as line:
        for code in (9999, Request.LITE_PULL_MESSAGE):
            if answered:
                assert line.call(code).code == Response.REQUEST_CODE_NOT_SUPPORTED
            else:
                with pytest.raises(TimeoutError):
                    line.call(code, timeout=0.2)
        broker.settle()
        assert broker.arrived(9999) == 1


def test_a_missing_queue_id_is_what_the_model_says(broker: FakeBroker) -> None:
    broker.create_group("G")
    without = {"consumerGroup": "G", "topic": "T"}
    with connected(broker) as line:
        assert line.call(Request.QUERY_CONSUMER_OFFSET, without).code == Response.SYSTEM_ERROR
        assert line.call(Request.UPDATE_CONSUMER_OFFSET, without).code == Response.INVALID_PARAMETER
        assert line.call(Request.GET_MAX_OFFSET, {"topic": "T"}).code == Response.SYSTEM_ERROR


# --- faults and life ------------------------------------------------------------------------------------------


def test_faults_play_requests_by_code(broker: FakeBroker) -> None:
    stored = fields(consumerGroup="G", topic="T", queueId=0)
    broker.faults.arm(Request.QUERY_CONSUMER_OFFSET, "SYSTEM_BUSY*1")
    broker.faults.arm(Request.PULL_MESSAGE, "no-field:nextBeginOffset*1")
    broker.faults.arm(Request.GET_MAX_OFFSET, "cut*1")
    broker.send("T", b"x")
    with connected(broker) as line:
        assert line.call(Request.QUERY_CONSUMER_OFFSET, stored).code == Response.SYSTEM_BUSY
        assert line.call(Request.QUERY_CONSUMER_OFFSET, stored).ext == {"offset": "0"}
        pulled = line.call(Request.PULL_MESSAGE, pulling())
        assert sorted(pulled.ext) == ["groupSysFlag", "maxOffset", "minOffset", "suggestWhichBrokerId", "topicSysFlag"]
        assert len(decode_all(pulled.body)) == 1
        with pytest.raises(ConnectionError):
            line.call(Request.GET_MAX_OFFSET, place())
    with connected(broker) as line:
        assert line.call(Request.GET_MAX_OFFSET, place()).ext == {"offset": "1"}


def test_a_restart_keeps_what_is_stored_and_loses_locks_and_members(broker: FakeBroker) -> None:
    broker.send("T", b"x")
    with connected(broker) as line:
        heartbeat(line, "one")
        lock(line, "one", 0)
        line.call(Request.UPDATE_CONSUMER_OFFSET, fields(consumerGroup="G", topic="T", queueId=0, commitOffset=1))
        before = broker.address
        broker.stop()
    assert broker.start() == before
    with connected(broker) as line:
        assert broker.members("G") == []
        assert lock(line, "two", 0) == [0]
        assert line.call(Request.GET_MAX_OFFSET, place()).ext == {"offset": "1"}
    assert broker.state.stored == {("G", "T", 0): 1}


def test_the_brokers_own_thread_may_ask_too(broker: FakeBroker) -> None:
    assert broker._listener.run(lambda: broker.send("T", b"x")) == 0
    with pytest.raises(ZeroDivisionError):
        broker._listener.run(lambda: 1 // 0)


def test_a_stopped_broker_refuses_questions() -> None:
    with pytest.raises(RuntimeError, match="not running"):
        FakeBroker().create_topic("T")


def test_a_taken_port_is_one_clear_sentence(broker: FakeBroker) -> None:
    with pytest.raises(CannotRunError, match="choose another port"):
        FakeBroker(port=int(broker.address.split(":")[1])).start()


def test_every_part_can_be_replaced() -> None:
    """Mutants are brokers with another part."""
    made = set[str]()

    def noted(name: str) -> type:
        class Noted(PARTS[name]):  # type: ignore[misc]
            def __init__(self, *given: Any, **named: Any) -> None:
                made.add(name)
                super().__init__(*given, **named)

        return Noted

    FakeBroker(parts={name: noted(name) for name in PARTS})
    assert made == {*PARTS}


def test_a_fault_of_routes_is_one_of_administration() -> None:
    class NoRoutes(Administration):
        def _routed(self, topic: str, standard: bool) -> Any:
            return super()._routed(f"not {topic}", standard)

    for parts, code in ({}, 0), ({"administration": NoRoutes}, Response.TOPIC_NOT_EXIST):
        broker = FakeBroker(parts=parts)
        broker.storage.create_topic("T", Topic(1, 1))
        assert broker.exchange("", Request.GET_ROUTEINFO_BY_TOPIC, {"topic": "T"}, b"", False)[0] == code
