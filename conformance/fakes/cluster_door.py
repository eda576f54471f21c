"""The door of a cluster whose brokers have queues with the same ids: one fake broker stands for all of them.

As in the models, one state has all queues, by the numbers of their places (``Topology.places``). Each broker has an
address of its own, which says whose queue a request names.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from rocketmq_conformance.conformance.adapter import Answered
from rocketmq_conformance.conformance.fakes.dispatch import Dispatcher
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.remoting.host_port import HostPort, host_port
from rocketmq_conformance.conformance.remoting.server import Peer
from rocketmq_conformance.models.broker.state import Topic
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.java_text import parse_number

#: What is added to the id of a queue that the broker does not have: no place has such a number.
_UNKNOWN = 1 << 16
#: The port of the first broker in routes, as long as none is open, and how far those of the others are from it.
_FIRST_PORT, _APART = 10911, 10
#: A broker listens on a second port, so far below its own, to which clients before 4.5.1 send by default
#: (MixAll#brokerVIPChannel @ 4.0.0, 4.5.0).
_VIP = 2


class ClusterDoor:
    """Hands requests on to one dispatcher, with the number of its place for the id of a queue."""

    def __init__(self, dispatcher: Dispatcher, topology: Topology) -> None:
        self._dispatcher = dispatcher
        self._topology = topology
        self._numbers: Mapping[str, Mapping[tuple[str, int], int]] = {
            name: {
                (queue.topic, queue.id): topology.places[at][1]
                for at, queue in enumerate(topology.queues)
                if queue.broker == name
            }
            for name in topology.brokers
        }
        self.listen(tuple(f"127.0.0.1:{_FIRST_PORT + _APART * at}" for at in range(len(topology.brokers))))

    def listen(self, addresses: tuple[str, ...]) -> None:
        """The brokers are at these addresses from now on, in the order of their names in the topology."""
        #: The names of the brokers by the addresses in routes, and by all at which they are reached.
        self._routed = dict(zip(addresses, self._topology.brokers, strict=True))
        self._reached = {_vip(address): name for address, name in self._routed.items()} | self._routed

    def spread(self, topic: str, queues: int) -> list[tuple[str, str, Topic]]:
        """The name, the address and the topic's settings of each broker when so many of its queues can be read."""
        every = [self._topology.queues[at].broker for at in self._topology.topic_queues[topic]]
        counts = Counter(every[:queues])
        return [(name, address, Topic.of(counts[name])) for address, name in self._routed.items() if name in every]

    def exchange(self, address: str, code: int, ext: dict[str, str], body: bytes, one_way: bool) -> Answered:
        """Answer one request in process."""
        return self._dispatcher.exchange(address, code, self._placed(address, ext), body, one_way)

    def handle(self, peer: Peer, request: Command) -> Command | None:
        """Answer one request over TCP."""
        request.ext = self._placed(peer.reached, request.ext)
        return self._dispatcher.handle(peer, request)

    def closed(self, peer: Peer) -> None:
        """A connection was closed."""
        self._dispatcher.closed(peer)

    def _placed(self, address: str, ext: dict[str, str]) -> dict[str, str]:
        """Header fields with the number of a queue's place; ConnectionError where no broker is that would have it."""
        number = parse_number(ext.get("queueId"), 32)
        if number is None or "topic" not in ext:
            return ext
        name = self._reached.get(address)
        if name is None:
            raise ConnectionError(f"no broker of the case is at {address}")
        return {**ext, "queueId": str(self._numbers[name].get((ext["topic"], number), number + _UNKNOWN))}


def _vip(address: str) -> str:
    host, port = host_port(address)
    return str(HostPort(host, port - _VIP))
