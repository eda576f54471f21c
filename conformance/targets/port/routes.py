"""Reads routes and member lists, and puts topics into the order that Java's hash table has them in."""

from __future__ import annotations

import json
from functools import lru_cache

from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.suites.declare.topologies import ORDINARY


@lru_cache(maxsize=256)
def ids_of(body: bytes) -> tuple[str, ...]:
    """The client ids of a member list."""
    return tuple(json.loads(body).get("consumerIdList") or ())


@lru_cache(maxsize=256)
def readable(route: bytes) -> dict[str, int]:
    """The number of readable queues at each broker of a route."""
    return {data["brokerName"]: data["readQueueNums"] for data in json.loads(route)["queueDatas"] if data["perm"] & 4}


@lru_cache(maxsize=256)
def routed(topic: str, route: bytes, topology: Topology = ORDINARY) -> tuple[int, ...]:
    """The readable queues of a topic's route."""
    counts, queues = readable(route), topology.queues
    return tuple(at for at in of_topic(topic, topology) if queues[at].id < counts.get(queues[at].broker, 0))


@lru_cache(maxsize=256)
def of_topic(topic: str, topology: Topology = ORDINARY) -> tuple[int, ...]:
    """The queues of a topic, by their brokers and ids."""
    queues = topology.queues
    return tuple(sorted((at for at, queue in enumerate(queues) if queue.topic == topic), key=queues.__getitem__))


def place_of(topic: str) -> int:
    """The bin of a topic in Java's hash table of 16 bins."""
    value = 0
    for letter in topic.encode("latin-1"):
        value = 31 * value + letter & 0xFFFF_FFFF
    return (value ^ value >> 16) & 15
