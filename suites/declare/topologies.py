"""Topologies of the client suites: who is where in their cases."""

from __future__ import annotations

from dataclasses import replace

from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.message_queue import MessageQueue

GROUP, OTHER_GROUP = "G", "G-pull"
TOPIC, OTHER_TOPIC, NEXT_TOPIC = "T", "U", "NEXT"
#: A topic without a route at the name server.
LOST_TOPIC = "LOST"
RETRY_TOPIC = f"%RETRY%{GROUP}"
BROKER = "broker-a"
#: The key of the queue whose broker has no address.
LOST_QUEUE = 4

#: The topology of most suites: one broker, and a topic whose broker has no address.
ORDINARY = Topology(
    name="ordinary",
    group=GROUP,
    other_group=OTHER_GROUP,
    topic=TOPIC,
    other_topic=OTHER_TOPIC,
    next_topic=NEXT_TOPIC,
    queues=(
        MessageQueue(TOPIC, BROKER, 0),
        MessageQueue(TOPIC, BROKER, 1),
        MessageQueue(OTHER_TOPIC, BROKER, 0),
        MessageQueue(RETRY_TOPIC, BROKER, 0),
        MessageQueue(LOST_TOPIC, "broker-lost", 0),
        # queues that only groups rebalance
        MessageQueue(TOPIC, BROKER, 2),
        MessageQueue(TOPIC, BROKER, 3),
        MessageQueue(TOPIC, BROKER, 4),
        MessageQueue(OTHER_TOPIC, BROKER, 1),
        # queues of groups whose broker assigns them
        MessageQueue(NEXT_TOPIC, BROKER, 0),
        *(MessageQueue(f"{RETRY_TOPIC}_{topic}", BROKER, 0) for topic in (TOPIC, OTHER_TOPIC, NEXT_TOPIC)),
    ),
    unrouted=frozenset({LOST_QUEUE}),
    expired=frozenset({5, 6, 8}),
    # Java sorts the second before the first: "0" comes before "@"
    clients=("10.0.0.1@a", "10.0.0.10@a", "10.0.0.2@a"),
    members=("member-0", "member-1", "member-2"),
    configured=(1, 2),
    allowed_rooms=("room",),
    # that of the first member, and one without a member
    queue_rooms=("10.0.0.1", "10.0.0.3"),
)

_SECOND = "broker-b"
#: Two brokers, whose queues of a topic have the same ids.
TWO_BROKERS = replace(
    ORDINARY,
    name="two-brokers",
    next_topic="",
    queues=(
        MessageQueue(TOPIC, BROKER, 0),
        MessageQueue(TOPIC, _SECOND, 0),
        MessageQueue(OTHER_TOPIC, _SECOND, 0),
        MessageQueue(RETRY_TOPIC, BROKER, 0),
        MessageQueue(LOST_TOPIC, "broker-lost", 0),
        MessageQueue(TOPIC, BROKER, 1),
        MessageQueue(TOPIC, _SECOND, 1),
        MessageQueue(TOPIC, _SECOND, 2),
        MessageQueue(OTHER_TOPIC, BROKER, 0),
    ),
)
