"""Builds the requests of broker operations."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.remoting.frame import fields
from rocketmq_conformance.conformance.remoting.message import format_properties
from rocketmq_conformance.models.broker.state import Topic
from rocketmq_conformance.models.message_queue import Queue

#: No broker has a topic of this name: a message for an unknown topic never creates it, with any settings of the broker.
NO_DEFAULT_TOPIC = "CONFORMANCE_NO_DEFAULT"
#: Pull flags: the request stores an offset; it carries its subscription. It never waits.
_COMMITS, _SUSPENDS, _SUBSCRIBED, _CLASS_FILTER = 1, 2, 4, 8
#: Most messages that one pull is asked for, unless an operation says how many.
_PULL_BATCH = 32


#: A number of a request, or the text that is sent for it; None is a field that is not sent.
Number = int | str | None


class Ask(NamedTuple):
    """One request: code, header fields, body."""

    code: int
    ext: dict[str, str]
    body: bytes = b""


def configuration() -> Ask:
    """GET_BROKER_CONFIG; the body is a properties file."""
    return Ask(Request.GET_BROKER_CONFIG, {})


def query(group: str | None, topic: str | None, queue: Number, set_zero: bool | str | None) -> Ask:
    """QUERY_CONSUMER_OFFSET; None is a field that is not sent."""
    return Ask(
        Request.QUERY_CONSUMER_OFFSET,
        fields(consumerGroup=group, topic=topic, queueId=queue, setZeroIfNotFound=set_zero),
    )


def commit(group: str | None, topic: str, queue: Number, offset: Number) -> Ask:
    """UPDATE_CONSUMER_OFFSET; None is a field that is not sent."""
    return Ask(
        Request.UPDATE_CONSUMER_OFFSET,
        fields(consumerGroup=group, topic=topic, queueId=queue, commitOffset=offset),
    )


def max_offset(topic: str | None, queue: Number) -> Ask:
    """GET_MAX_OFFSET."""
    return Ask(Request.GET_MAX_OFFSET, fields(topic=topic, queueId=queue, committed=True))


def min_offset(topic: str | None, queue: Number) -> Ask:
    """GET_MIN_OFFSET."""
    return Ask(Request.GET_MIN_OFFSET, fields(topic=topic, queueId=queue))


def earliest(topic: str, queue: int) -> Ask:
    """GET_EARLIEST_MSG_STORETIME; the result is in the field ``timestamp``."""
    return Ask(Request.GET_EARLIEST_MSG_STORETIME, fields(topic=topic, queueId=queue))


def search(topic: str | None, queue: Number, timestamp: Number, boundary: str) -> Ask:
    """SEARCH_OFFSET_BY_TIMESTAMP (ms since the epoch); an empty ``boundary`` is not sent."""
    ext = fields(topic=topic, queueId=queue, timestamp=timestamp, boundaryType=boundary or None)
    return Ask(Request.SEARCH_OFFSET_BY_TIMESTAMP, ext)


def send(topic: str, queue: int, born: int, body: bytes = b"x") -> Ask:
    """SEND_MESSAGE_V2, whose fields are letters (``born`` in ms since the epoch)."""
    ext = fields(
        a="CONFORMANCE_PRODUCER",
        b=topic,
        c=NO_DEFAULT_TOPIC,
        d=4,
        e=queue,
        f=0,
        g=born,
        h=0,
        i="",
        j=0,
        k=False,
        m=False,
    )
    return Ask(Request.SEND_MESSAGE_V2, ext, body)


def send_with(
    topic: str, born: int, properties: Mapping[str, str], times: int = 0, most: int | None = None, queue: int = 0
) -> Ask:
    """SEND_MESSAGE_V2 of a message with properties, that was consumed again so many ``times``; a limit of None is a
    field that is not sent."""
    code, ext, body = send(topic, queue, born)
    ext |= {"i": format_properties(dict(properties)), "j": str(times)}
    return Ask(code, ext if most is None else {**ext, "l": str(most)}, body)


def send_new(topic: str, default: str, queues: int, born: int) -> Ask:
    """SEND_MESSAGE_V2 to queue 0 of a topic; an unknown one is made from a default topic, with so many queues."""
    code, ext, body = send(topic, 0, born)
    return Ask(code, {**ext, "c": default, "d": str(queues)}, body)


def send_back(group: str, physical: int, level: int, most: int | None, origin: str | None) -> Ask:
    """CONSUMER_SEND_MSG_BACK of the message at a place of the log (bytes); None is a field that is not sent."""
    ext = fields(
        group=group, offset=physical, delayLevel=level, maxReconsumeTimes=most, originTopic=origin, unitMode=False
    )
    return Ask(Request.CONSUMER_SEND_MSG_BACK, ext)


def pull(
    group: str | None,
    topic: str | None,
    queue: Number,
    offset: Number,
    commit: Number = None,
    most: Number = _PULL_BATCH,
) -> Ask:
    """PULL_MESSAGE from an offset, without waiting for messages; ``commit`` is the offset to store, if any."""
    ext = fields(
        consumerGroup=group,
        topic=topic,
        queueId=queue,
        queueOffset=offset,
        maxMsgNums=most,
        sysFlag=_SUBSCRIBED if commit is None else _SUBSCRIBED | _COMMITS,
        commitOffset=commit or 0,
        suspendTimeoutMillis=0,
        subscription="*",
        subVersion=0,
        expressionType="TAG",
    )
    return Ask(Request.PULL_MESSAGE, ext)


def pull_by(
    group: str,
    topic: str,
    queue: int,
    offset: int,
    expression: str | None,
    kind: str | None,
    most: int = _PULL_BATCH,
    *,
    class_filter: bool = False,
    wait: int | None = None,
) -> Ask:
    """PULL_MESSAGE by an expression and its language, None for fields that are not sent. With ``wait`` (ms) the broker
    may hold it."""
    code, ext, body = pull(group, topic, queue, offset, None, most)
    del ext["subscription"], ext["expressionType"]
    flags = _SUBSCRIBED | (_CLASS_FILTER if class_filter else 0) | (0 if wait is None else _SUSPENDS)
    ext |= fields(sysFlag=flags, suspendTimeoutMillis=wait or 0, subscription=expression, expressionType=kind)
    return Ask(code, ext, body)


def pop(group: str, topic: str, queue: int, most: int, invisible: int, mode: int, expression: str | None = None) -> Ask:
    """POP_MESSAGE that does not wait for messages, which are invisible for so long (ms); the broker says when it was
    born."""
    ext = fields(
        consumerGroup=group,
        topic=topic,
        queueId=queue,
        maxMsgNums=most,
        invisibleTime=invisible,
        pollTime=0,
        bornTime=0,
        initMode=mode,
        expType="TAG",
        exp=expression,
        order=False,
    )
    return Ask(Request.POP_MESSAGE, ext)


def ack(group: str, topic: str, queue: int, offset: int, handle: str) -> Ask:
    """ACK_MESSAGE."""
    ext = fields(consumerGroup=group, topic=topic, queueId=queue, offset=offset, extraInfo=handle)
    return Ask(Request.ACK_MESSAGE, ext)


def change_invisible(group: str, topic: str, queue: int, offset: int, handle: str, invisible: int) -> Ask:
    """CHANGE_MESSAGE_INVISIBLETIME to so many ms from now on."""
    _, ext, _ = ack(group, topic, queue, offset, handle)
    return Ask(Request.CHANGE_MESSAGE_INVISIBLETIME, ext | fields(invisibleTime=invisible))


def ack_batch(broker: str, entries: Sequence[Mapping[str, object]]) -> Ask:
    """BATCH_ACK_MESSAGE of messages of these pops (``batch_entry``)."""
    return Ask(Request.BATCH_ACK_MESSAGE, {}, json.dumps({"brokerName": broker, "acks": entries}).encode())


def batch_entry(group: str, topic: str, handle: str, offsets: Sequence[int]) -> dict[str, object]:
    """The messages of one pop in a batch, by bits from its beginning; its handle is that of any of them."""
    start, popped, invisible, revive, kind, _, queue, _ = handle.split(" ")
    bits = sum(1 << offset - int(start) for offset in offsets)
    return {
        "c": group,
        "t": topic,
        "r": kind,
        "so": int(start),
        "q": int(queue),
        "rq": int(revive),
        "pt": int(popped),
        "it": int(invisible),
        "b": b64encode(bits.to_bytes(bits.bit_length() // 8 + 1, "little")).decode(),
    }


def check_client(client: str, group: str, topic: str, expression: str | None, kind: str | None) -> Ask:
    """CHECK_CLIENT_CONFIG: may a client subscribe by this expression and language? None is a field that is not sent."""
    subscribed = {"topic": topic, "subString": expression, "expressionType": kind, "subVersion": 0}
    body = {"clientId": client, "group": group, "subscriptionData": json.loads(_sent(subscribed))}
    return Ask(Request.CHECK_CLIENT_CONFIG, {}, json.dumps(body).encode())


def pull_registered(group: str, topic: str, queue: int, offset: int, version: int, *, wait: int | None = None) -> Ask:
    """PULL_MESSAGE without a subscription, by the one that the group registered, of which a ``version`` is known. With
    ``wait`` (ms) the broker may hold it."""
    code, ext, body = pull(group, topic, queue, offset)
    del ext["subscription"], ext["expressionType"]
    flags = 0 if wait is None else _SUSPENDS
    return Ask(code, ext | fields(sysFlag=flags, suspendTimeoutMillis=wait or 0, subVersion=version), body)


def heartbeat(client: str, group: str, topics: Sequence[str]) -> Ask:
    """HEART_BEAT of one push consumer, which subscribes to everything in these topics."""
    return heartbeat_of(client, [consumer(group, [subscription(topic, "*", 0) for topic in topics])])


def heartbeat_of(client: str, consumers: Sequence[Mapping[str, object]]) -> Ask:
    """HEART_BEAT of a client with these consumers."""
    body = {"clientID": client, "producerDataSet": [], "consumerDataSet": consumers}
    return Ask(Request.HEART_BEAT, {}, json.dumps(body).encode())


def consumer(
    group: str,
    subscriptions: Sequence[Mapping[str, object]],
    broadcasting: bool = False,
    consume_type: str = "CONSUME_PASSIVELY",
    start: str = "CONSUME_FROM_LAST_OFFSET",
) -> dict[str, object]:
    """A consumer in a heartbeat."""
    return {
        "groupName": group,
        "consumeType": consume_type,
        "messageModel": "BROADCASTING" if broadcasting else "CLUSTERING",
        "consumeFromWhere": start,
        "subscriptionDataSet": subscriptions,
        "unitMode": False,
    }


def subscription(
    topic: str,
    text: str,
    version: int,
    *,
    tags: Sequence[str] = (),
    codes: Sequence[int] = (),
    class_filter: bool = False,
    kind: str = "TAG",
) -> dict[str, object]:
    """A subscription of a consumer; ``codes`` are the hashes of its ``tags``, ``kind`` the language of its ``text``."""
    return {
        "topic": topic,
        "subString": text,
        "tagsSet": list(tags),
        "codeSet": list(codes),
        "subVersion": version,
        "classFilterMode": class_filter,
        "expressionType": kind,
    }


def member_list(group: str) -> Ask:
    """GET_CONSUMER_LIST_BY_GROUP."""
    return Ask(Request.GET_CONSUMER_LIST_BY_GROUP, {"consumerGroup": group})


def connection_list(group: str) -> Ask:
    """GET_CONSUMER_CONNECTION_LIST."""
    return Ask(Request.GET_CONSUMER_CONNECTION_LIST, {"consumerGroup": group})


def unregister(client: str, group: str) -> Ask:
    """UNREGISTER_CLIENT of a consumer."""
    return Ask(Request.UNREGISTER_CLIENT, {"clientID": client, "consumerGroup": group})


def reset(group: str, topic: str, timestamp: int, force: bool, queue: int | None, offset: int | None) -> Ask:
    """INVOKE_BROKER_TO_RESET_OFFSET (``timestamp`` in ms since the epoch); None is a field that is not sent."""
    ext = fields(group=group, topic=topic, timestamp=timestamp, isForce=force, queueId=queue, offset=offset)
    return Ask(Request.INVOKE_BROKER_TO_RESET_OFFSET, ext)


def clone(source: str, destination: str, topic: str | None, offline: bool) -> Ask:
    """CLONE_GROUP_OFFSET; None is a field that is not sent."""
    ext = fields(srcGroup=source, destGroup=destination, topic=topic, offline=offline)
    return Ask(Request.CLONE_GROUP_OFFSET, ext)


def correction(topic: str, left_out: Sequence[str], compared: str) -> Ask:
    """QUERY_CORRECTION_OFFSET; no groups to leave out is a field that is not sent."""
    ext = fields(topic=topic, filterGroups=",".join(left_out) or None, compareGroup=compared)
    return Ask(Request.QUERY_CORRECTION_OFFSET, ext)


def group_stats(group: str, topic: str | None) -> Ask:
    """GET_CONSUME_STATS; None is a field that is not sent."""
    return Ask(Request.GET_CONSUME_STATS, fields(consumerGroup=group, topic=topic))


def consumed_by(topic: str) -> Ask:
    """QUERY_TOPIC_CONSUME_BY_WHO."""
    return Ask(Request.QUERY_TOPIC_CONSUME_BY_WHO, {"topic": topic})


def topics_of(group: str) -> Ask:
    """QUERY_TOPICS_BY_CONSUMER."""
    return Ask(Request.QUERY_TOPICS_BY_CONSUMER, {"group": group})


def time_span(group: str, topic: str) -> Ask:
    """QUERY_CONSUME_TIME_SPAN."""
    return Ask(Request.QUERY_CONSUME_TIME_SPAN, {"group": group, "topic": topic})


def queue_index(topic: str, queue: int, position: int, count: int) -> Ask:
    """QUERY_CONSUME_QUEUE."""
    return Ask(Request.QUERY_CONSUME_QUEUE, fields(topic=topic, queueId=queue, index=position, count=count))


def lock(group: str, client: str | None, queues: Sequence[Queue]) -> Ask:
    """LOCK_BATCH_MQ; a client of None is a field that is not sent."""
    return Ask(Request.LOCK_BATCH_MQ, {}, _locks(group, client, queues))


def unlock(group: str, client: str | None, queues: Sequence[Queue]) -> Ask:
    """UNLOCK_BATCH_MQ; a client of None is a field that is not sent."""
    return Ask(Request.UNLOCK_BATCH_MQ, {}, _locks(group, client, queues))


def _locks(group: str, client: str | None, queues: Sequence[Queue]) -> bytes:
    asked = [{"topic": topic, "brokerName": broker, "queueId": number} for topic, broker, number in queues]
    body = {"consumerGroup": group, "mqSet": asked} | ({} if client is None else {"clientId": client})
    return json.dumps(body).encode()


def set_mode(topic: str, group: str, mode: str | None, share: int | None) -> Ask:
    """SET_MESSAGE_REQUEST_MODE; None is a field that is not sent."""
    body = {"topic": topic, "consumerGroup": group, "mode": mode, "popShareQueueNum": share}
    return Ask(Request.SET_MESSAGE_REQUEST_MODE, {}, _sent(body))


def assignment(topic: str, group: str, client: str | None, model: str | None, strategy: str | None) -> Ask:
    """QUERY_ASSIGNMENT; None is a field that is not sent."""
    body = {
        "topic": topic,
        "consumerGroup": group,
        "clientId": client,
        "messageModel": model,
        "strategyName": strategy,
    }
    return Ask(Request.QUERY_ASSIGNMENT, {}, _sent(body))


def _sent(body: Mapping[str, object]) -> bytes:
    return json.dumps({name: value for name, value in body.items() if value is not None}).encode()


def create_topic(topic: str, settings: Topic) -> Ask:
    """UPDATE_AND_CREATE_TOPIC."""
    ext = fields(
        topic=topic,
        defaultTopic=NO_DEFAULT_TOPIC,
        readQueueNums=settings.read_queues,
        writeQueueNums=settings.write_queues,
        perm=settings.perm,
        topicFilterType="SINGLE_TAG",
        topicSysFlag=0,
        order=False,
    )
    return Ask(Request.UPDATE_AND_CREATE_TOPIC, ext)


def topic_stats(topic: str) -> Ask:
    """GET_TOPIC_STATS_INFO: fails while there is no such topic."""
    return Ask(Request.GET_TOPIC_STATS_INFO, fields(topic=topic))


def topic_configs() -> Ask:
    """GET_ALL_TOPIC_CONFIG: the settings of every topic."""
    return Ask(Request.GET_ALL_TOPIC_CONFIG, {})


def delete_topic(topic: str) -> Ask:
    """DELETE_TOPIC_IN_BROKER."""
    return Ask(Request.DELETE_TOPIC_IN_BROKER, fields(topic=topic))


def create_group(
    group: str,
    enabled: bool = True,
    retry_queues: int = 1,
    retry_most: int = 16,
    *,
    broadcasts: bool = True,
    notifies: bool = True,
) -> Ask:
    """UPDATE_AND_CREATE_SUBSCRIPTIONGROUP with the default settings of a consumer group, but ``enabled`` if it may
    pull, with settings for messages that are sent back, and whether it may broadcast and is notified of changes."""
    body = {
        "groupName": group,
        "consumeEnable": enabled,
        "consumeFromMinEnable": True,
        "consumeBroadcastEnable": broadcasts,
        "retryQueueNums": retry_queues,
        "retryMaxTimes": retry_most,
        "brokerId": 0,
        "whichBrokerWhenConsumeSlowly": 1,
        "notifyConsumerIdsChangedEnable": notifies,
    }
    return Ask(Request.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, {}, json.dumps(body).encode())


def delete_group(group: str, *flags: str) -> Ask:
    """DELETE_SUBSCRIPTIONGROUP; ``flags`` are the fields that are set to true."""
    return Ask(Request.DELETE_SUBSCRIPTIONGROUP, {"groupName": group, **dict.fromkeys(flags, "true")})


def set_property(name: str, value: str) -> Ask:
    """UPDATE_BROKER_CONFIG of one property."""
    return Ask(Request.UPDATE_BROKER_CONFIG, {}, f"{name}={value}\n".encode())


def stored_offsets() -> Ask:
    """GET_ALL_CONSUMER_OFFSET: the body is what the broker writes to its offsets file."""
    return Ask(Request.GET_ALL_CONSUMER_OFFSET, {})


def topics() -> Ask:
    """GET_ALL_TOPIC_CONFIG: every topic with its settings."""
    return Ask(Request.GET_ALL_TOPIC_CONFIG, {})


def groups() -> Ask:
    """GET_ALL_SUBSCRIPTIONGROUP_CONFIG: every group with its settings."""
    return Ask(Request.GET_ALL_SUBSCRIPTIONGROUP_CONFIG, {})


def runtime_info() -> Ask:
    """GET_BROKER_RUNTIME_INFO."""
    return Ask(Request.GET_BROKER_RUNTIME_INFO, {})


def delete_expired_files() -> Ask:
    """DELETE_EXPIRED_COMMITLOG; brokers before 4.9.4 do not know it."""
    return Ask(Request.DELETE_EXPIRED_COMMITLOG, {})
