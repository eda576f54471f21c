"""Responses of a name server: routes and clusters, in standard JSON or in Java's own (WIRE-JSON-1, WIRE-ROUTE-1)."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

#: Permissions of a topic: read and write; the default topic may also be inherited from.
READ_WRITE, INHERIT = 6, 1


def _addresses(address: str, standard: bool) -> str:
    """The addresses by broker id; 0 is the master. Java leaves the quotes of a number away."""
    key = '"0"' if standard else "0"
    return f"{{{key}:{json.dumps(address)}}}"


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), sort_keys=True)


def _broker(name: str, cluster: str, address: str, standard: bool) -> str:
    addresses = _addresses(address, standard)
    return f'{{"brokerAddrs":{addresses},"brokerName":{json.dumps(name)},"cluster":{json.dumps(cluster)}}}'


@lru_cache(maxsize=256)
def route(name: str, cluster: str, address: str, queues: int, perm: int, standard: bool) -> bytes:
    """TopicRouteData of a topic with ``queues`` queues on one broker."""
    data = {
        "brokerName": name,
        "perm": perm,
        "readQueueNums": queues,
        "topicSysFlag": 0,
        "topicSynFlag": 0,
        "writeQueueNums": queues,
    }
    broker = _broker(name, cluster, address, standard)
    return f'{{"brokerDatas":[{broker}],"filterServerTable":{{}},"queueDatas":[{_compact(data)}]}}'.encode()


def clusters(name: str, cluster: str, address: str) -> bytes:
    """ClusterInfo with one broker; always in Java's own JSON."""
    broker = _broker(name, cluster, address, False)
    table = _compact({cluster: [name]})
    return f'{{"brokerAddrTable":{{{json.dumps(name)}:{broker}}},"clusterAddrTable":{table}}}'.encode()
