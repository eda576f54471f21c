"""One member of the port's group, and the queues that it owns; the rounds of rebalance change them."""

from __future__ import annotations

from rocketmq_conformance.conformance.targets.port.start import StartPosition
from rocketmq_conformance.suites.declare.topologies import GROUP

BROADCASTING = "BROADCASTING"
RETRY_TOPIC = f"%RETRY%{GROUP}"


class OwnedQueue:
    """A queue that a consumer owns, from gaining to dropping it."""

    __slots__ = ("dropped", "offset", "pulled")

    def __init__(self, offset: int, now: int) -> None:
        self.offset = offset
        self.pulled = now
        self.dropped = False


class Consumer:
    """One member of the group. Queues are given by their key in the topology."""

    def __init__(self, positions: StartPosition, client: str, mode: str, where: str, strategy: str) -> None:
        self.positions = positions
        self.store = positions.store
        self.client = client
        self.broadcasts = mode == BROADCASTING
        self.where = where
        self.strategy = strategy
        topology = positions.remote.topology
        self.topics = [topology.topic, topology.other_topic, *([] if self.broadcasts else [topology.retry_topic])]
        #: Was a topic unsubscribed since the last round?
        self.gave_up = False
        #: Readable queues by topic, as of the last route from the name server.
        self.routes: dict[str, tuple[int, ...]] = {}
        self.table: dict[int, OwnedQueue] = {}
        #: The process queue that the latest pull request of each queue belongs to.
        self.requests: dict[int, OwnedQueue] = {}
        #: The process queues whose listener is busy.
        self.taken: dict[int, OwnedQueue] = {}
