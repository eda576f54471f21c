"""The fake broker as the broker that is judged: in this process, over a real socket, on the aged store.

It is the kit's own in all: its process is a thread, its disk and its memory are simulated, and its locks live short.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rocketmq_conformance.conformance.adapter import AdapterError
from rocketmq_conformance.conformance.fakes.broker import FakeBroker
from rocketmq_conformance.conformance.remoting.client import Connection
from rocketmq_conformance.conformance.targets.broker.broker_assignment import readable
from rocketmq_conformance.conformance.targets.broker.pipeline import Pipeline
from rocketmq_conformance.conformance.targets.broker.process import free_port
from rocketmq_conformance.models.broker import aged_store
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.release import Release

#: How long its locks live (s): it answers within a ms or so.
LEASE = 0.3


class FakeLocation:
    """Where a fake broker is; ``parts`` replaces classes of it by part name (``fakes.broker``).

    ``strict`` is its property lockInStrictMode.
    """

    lease = LEASE
    #: A topic that it acknowledges is there.
    late_topics = False
    #: Its routes are those of ``broker-assignment``.
    routed = True
    #: A frozen one cannot be late with an answer.
    silence = 0.01
    settled = 0.0
    #: Its messages can be put out of memory anywhere.
    cold = ""

    def __init__(self, profile: Profile, parts: Mapping[str, type] | None = None, *, strict: bool = False) -> None:
        # a port of those that the system gives to connections might be taken while the broker is down
        self._broker = FakeBroker(
            profile, port=free_port(), lease=int(LEASE * 1000), parts=parts, routes=readable, strict_locks=strict
        )
        offsets = {(aged_store.KEPT_GROUP, queue): offset for queue, offset in aged_store.STORED.items()}
        self._broker.load(aged_store.TOPIC, aged_store.QUEUES, offsets)
        self._started = False

    # --- where it is ------------------------------------------------------------------------------------------

    @property
    def own(self) -> FakeLocation:
        """Everything may be done with it."""
        return self

    def open(self) -> Connection:
        """Connect, starting the broker if need be."""
        if not self._started:
            self._broker.start()
            self._started = True
        try:
            return Pipeline("127.0.0.1", self.port)
        except OSError as error:
            raise AdapterError(f"The fake broker cannot be reached any more: {error}.") from error

    def accept(self, description: str, release: Release | None) -> None:
        """It is what was asked for."""

    def shared_address(self) -> str:
        """Everybody has one of their own."""
        return ""

    def describe_end(self) -> str:
        return "the fake broker closed the connection"

    def close(self) -> None:
        """Stop the broker."""
        self._broker.kill()

    # --- what is done with it ---------------------------------------------------------------------------------

    @property
    def java(self) -> int:
        """The feature release of the Java that it answers like."""
        return self._broker.profile.java

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self._broker.address.rpartition(":")[2])

    def start(self) -> None:
        """Start it after it was ended."""
        self._broker.start()

    def stop(self) -> None:
        """End it gently."""
        self._broker.stop()

    def kill(self) -> None:
        """End it at once."""
        self._broker.kill()

    def pause(self) -> None:
        """Freeze it."""
        self._broker.pause()

    def resume(self) -> None:
        """Let it go on."""
        self._broker.resume()

    def save(self, stored: Callable[[], bytes]) -> None:
        """Have the offsets written."""
        self._broker.save()

    def evict(self) -> str:
        """Put its messages out of memory."""
        self._broker.evict()
        return ""

    def in_memory(self, topic: str, queue: int) -> bool | None:
        """Is message 0 of a queue in memory? None when there is no such message."""
        return self._broker.in_memory(topic, queue)
