"""Reads the body of a heartbeat (HeartbeatData)."""

from __future__ import annotations

from typing import Any

from rocketmq_conformance.conformance.remoting import java_json
from rocketmq_conformance.models.broker.members import LAST, PASSIVELY, Consumer
from rocketmq_conformance.models.broker.subscription import RegisteredSubscription, TagCodes


def read(body: bytes) -> tuple[str, list[Consumer]]:
    """Client id and consumers; raises ValueError, KeyError or TypeError for what is no heartbeat."""
    data = java_json.loads(body.decode())
    return str(data["clientID"]), [_consumer(consumer) for consumer in data.get("consumerDataSet") or ()]


def versions(body: bytes) -> dict[str, int]:
    """The versions of a client's subscriptions, by topic."""
    consumers = java_json.loads(body.decode()).get("consumerDataSet") or ()
    subscriptions = [item for consumer in consumers for item in consumer.get("subscriptionDataSet") or ()]
    return {str(item["topic"]): int(item.get("subVersion") or 0) for item in subscriptions}


def brevity(body: bytes) -> tuple[bool, int]:
    """Does a heartbeat leave out the subscriptions, since they are those of the one before? And the fingerprint of
    these subscriptions; 0 for none."""
    data = java_json.loads(body.decode())
    return data.get("withoutSub") is True, int(data.get("heartbeatFingerprint") or 0)


def _consumer(data: dict[str, Any]) -> Consumer:
    subscriptions = {str(item["topic"]): _registered(item) for item in data.get("subscriptionDataSet") or ()}
    return Consumer(
        str(data["groupName"]),
        subscriptions,
        data.get("messageModel") == "BROADCASTING",
        str(data.get("consumeType") or PASSIVELY),
        str(data.get("consumeFromWhere") or LAST),
    )


def _registered(data: dict[str, Any]) -> RegisteredSubscription:
    kind = data.get("expressionType")
    return RegisteredSubscription(
        codes=_codes(data),
        version=int(data.get("subVersion") or 0),
        kind="TAG" if kind is None else str(kind),
        text=str(data["subString"]),
        tags=tuple(map(str, data.get("tagsSet") or ())),
        class_filter=bool(data.get("classFilterMode")),
    )


def _codes(data: dict[str, Any]) -> TagCodes:
    """The broker relies on the hashes that the client computed: without them no tag passes, as in a real one."""
    if data.get("classFilterMode") or data["subString"] == "*":
        return None
    return frozenset(int(code) for code in data.get("codeSet") or ())
