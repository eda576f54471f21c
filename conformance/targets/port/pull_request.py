"""A pull loop of the port's consumer: its request, the cached messages of its queue, and why it waits."""

from __future__ import annotations

from rocketmq_conformance.conformance.targets.port.offset_table import NO_OFFSET
from rocketmq_conformance.conformance.targets.port.pull_settings import Subscription

#: Bytes of the message at this offset; the others are small.
SIZES = {14: 1 << 20}
MIB = 1 << 20


class NotNowError(Exception):
    """A pull must wait for so many ms."""

    def __init__(self, millis: int) -> None:
        super().__init__(millis)
        self.millis = millis


class PullCache:
    """The cached messages of an owned queue."""

    __slots__ = ("dropped", "latest", "offsets")

    def __init__(self) -> None:
        self.offsets: list[int] = []
        #: The offset that was cached last.
        self.latest = NO_OFFSET
        self.dropped = False

    def put(self, offset: int) -> None:
        """Cache a message."""
        if offset not in self.offsets:
            self.offsets.append(offset)
            self.offsets.sort()
            self.latest = offset

    def mib(self) -> int:
        """The cached MiB, rounded down."""
        return sum(SIZES.get(offset, 1) for offset in self.offsets) // MIB


class PullRequest:
    """One pull loop."""

    __slots__ = ("offset", "owned", "queue", "subscription")

    def __init__(self, queue: int, offset: int) -> None:
        self.queue = queue
        self.offset = offset
        self.owned = PullCache()
        #: The subscription of the in-flight pull.
        self.subscription = Subscription()
