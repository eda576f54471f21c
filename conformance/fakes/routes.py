"""Responses of a name server: routes and clusters, in standard JSON or in Java's own (WIRE-JSON-1, WIRE-ROUTE-1)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, Self

from rocketmq_conformance.models.broker.consumption import TopicStats
from rocketmq_conformance.models.broker.group_stats import QueueStats
from rocketmq_conformance.models.broker.state import Topic
from rocketmq_conformance.models.release import Release

_RENAMED, _ACTING = Release.parse("4.9.0"), Release.parse("5.0.0")


class RouteForm(NamedTuple):
    """What a release says of queues and brokers: the name of a topic's flags, and whether slaves may act as masters."""

    flags: str
    acting: bool

    @classmethod
    def of(cls, release: Release) -> Self:
        """That of a name server of this release (QueueData, BrokerData)."""
        return cls("topicSysFlag" if release >= _RENAMED else "topicSynFlag", release >= _ACTING)


def _addresses(nodes: Mapping[int, str], standard: bool) -> str:
    """The addresses by broker id; 0 is the master. Java leaves the quotes of a number away."""
    quote = '"' if standard else ""
    return f"{{{','.join(f'{quote}{node}{quote}:{json.dumps(address)}' for node, address in nodes.items())}}}"


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), sort_keys=True)


def _broker(name: str, cluster: str, nodes: Mapping[int, str], standard: bool, acting: bool) -> str:
    addresses = _addresses(nodes, standard)
    more = ',"enableActingMaster":false' if acting else ""
    return f'{{"brokerAddrs":{addresses},"brokerName":{json.dumps(name)},"cluster":{json.dumps(cluster)}{more}}}'


def _queue_data(name: str, settings: Topic, form: RouteForm) -> str:
    data = {
        "brokerName": name,
        "perm": settings.perm,
        "readQueueNums": settings.read_queues,
        form.flags: 0,
        "writeQueueNums": settings.write_queues,
    }
    return _compact(data)


@lru_cache(maxsize=256)
def route(name: str, cluster: str, address: str, settings: Topic, standard: bool, form: RouteForm) -> bytes:
    """TopicRouteData of a topic with these settings on one broker."""
    return route_of_many([(name, address, settings)], cluster, standard, form)


def route_of_many(brokers: Sequence[tuple[str, str, Topic]], cluster: str, standard: bool, form: RouteForm) -> bytes:
    """TopicRouteData of a topic on several brokers: the name, address, and settings of the topic of each."""
    entries = [_broker(name, cluster, {0: address}, standard, form.acting) for name, address, _ in brokers]
    return _topic_route(entries, [_queue_data(name, settings, form) for name, _, settings in brokers])


def route_of_nodes(
    name: str, cluster: str, nodes: Mapping[int, str], settings: Topic, standard: bool, form: RouteForm
) -> bytes:
    """TopicRouteData of a topic with these settings on one broker that has nodes: their addresses by number."""
    return _topic_route([_broker(name, cluster, nodes, standard, form.acting)], [_queue_data(name, settings, form)])


def _topic_route(brokers: Sequence[str], queues: Sequence[str]) -> bytes:
    return (
        f'{{"brokerDatas":[{",".join(brokers)}],"filterServerTable":{{}},"queueDatas":[{",".join(queues)}]}}'.encode()
    )


def topic_stats(name: str, topic: str, found: TopicStats) -> bytes:
    """TopicStatsTable of a topic: an object whose keys are queues (WIRE-JSON-2)."""
    entries = []
    for queue, low, high, time in found:
        bounds = {"lastUpdateTimestamp": time, "maxOffset": high, "minOffset": low}
        entries.append(_compact({"brokerName": name, "queueId": queue, "topic": topic}) + ":" + _compact(bounds))
    return f'{{"offsetTable":{{{",".join(entries)}}}}}'.encode()


def group_stats(name: str, found: Iterable[QueueStats]) -> bytes:
    """ConsumeStats of a group: such an object, too."""
    entries = []
    for topic, queue, high, offset, following, time in found:
        stats = {"brokerOffset": high, "consumerOffset": offset, "lastTimestamp": time}
        if following is not None:
            stats["pullOffset"] = following
        entries.append(_compact({"brokerName": name, "queueId": queue, "topic": topic}) + ":" + _compact(stats))
    return f'{{"consumeTps":0.0,"offsetTable":{{{",".join(entries)}}}}}'.encode()


def clusters(name: str, cluster: str, address: str, form: RouteForm) -> bytes:
    """ClusterInfo with one broker; always in Java's own JSON."""
    broker = _broker(name, cluster, {0: address}, False, form.acting)
    table = _compact({cluster: [name]})
    return f'{{"brokerAddrTable":{{{json.dumps(name)}:{broker}}},"clusterAddrTable":{table}}}'.encode()
