"""Responses of a name server: routes and clusters, in standard JSON or in Java's own (WIRE-JSON-1, WIRE-ROUTE-1)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from rocketmq_conformance.models.broker.state import ABSENT, QueueLog, Topic


def _addresses(address: str, standard: bool) -> str:
    """The addresses by broker id; 0 is the master. Java leaves the quotes of a number away."""
    key = '"0"' if standard else "0"
    return f"{{{key}:{json.dumps(address)}}}"


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), sort_keys=True)


def _broker(name: str, cluster: str, address: str, standard: bool) -> str:
    addresses = _addresses(address, standard)
    return f'{{"brokerAddrs":{addresses},"brokerName":{json.dumps(name)},"cluster":{json.dumps(cluster)}}}'


def _queue_data(name: str, settings: Topic) -> str:
    data = {
        "brokerName": name,
        "perm": settings.perm,
        "readQueueNums": settings.read_queues,
        "topicSysFlag": 0,
        "topicSynFlag": 0,
        "writeQueueNums": settings.write_queues,
    }
    return _compact(data)


@lru_cache(maxsize=256)
def route(name: str, cluster: str, address: str, settings: Topic, standard: bool) -> bytes:
    """TopicRouteData of a topic with these settings on one broker."""
    return route_of_many([(name, address, settings)], cluster, standard)


def route_of_many(brokers: Sequence[tuple[str, str, Topic]], cluster: str, standard: bool) -> bytes:
    """TopicRouteData of a topic on several brokers: the name, address, and settings of the topic of each."""
    entries = [_broker(name, cluster, address, standard) for name, address, _ in brokers]
    queues = [_queue_data(name, settings) for name, _, settings in brokers]
    return (
        f'{{"brokerDatas":[{",".join(entries)}],"filterServerTable":{{}},"queueDatas":[{",".join(queues)}]}}'.encode()
    )


def topic_stats(name: str, topic: str, queues: int, logs: Mapping[tuple[str, int], QueueLog]) -> bytes:
    """TopicStatsTable of a topic: an object whose keys are queues (WIRE-JSON-2)."""
    entries = []
    for queue in range(queues):
        log = logs.get((topic, queue), ABSENT)
        times = log.times[-1] if log.times else 0
        bounds = {"lastUpdateTimestamp": times, "maxOffset": log.max, "minOffset": log.min}
        entries.append(_compact({"brokerName": name, "queueId": queue, "topic": topic}) + ":" + _compact(bounds))
    return f'{{"offsetTable":{{{",".join(entries)}}}}}'.encode()


def clusters(name: str, cluster: str, address: str) -> bytes:
    """ClusterInfo with one broker; always in Java's own JSON."""
    broker = _broker(name, cluster, address, False)
    table = _compact({cluster: [name]})
    return f'{{"brokerAddrTable":{{{json.dumps(name)}:{broker}}},"clusterAddrTable":{table}}}'.encode()
