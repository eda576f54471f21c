"""Where the broker is that is judged, and what may be done with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.remoting.client import Connection
from rocketmq_conformance.conformance.targets.broker.case_names import DEFAULT_LEASE
from rocketmq_conformance.conformance.targets.broker.pipeline import Pipeline
from rocketmq_conformance.models.release import Release


class ManagedBroker(Protocol):
    """A broker of the kit's own: it may be ended, frozen and started again, and its memory may be taken."""

    @property
    def java(self) -> int | None:
        """The feature release of its Java."""
        ...

    @property
    def port(self) -> int:
        """Where it listens, on this machine."""
        ...

    #: Seconds without an answer that show it to be frozen, and in which one that goes on has done what it was asked.
    silence: float
    settled: float

    @property
    def cold(self) -> str:
        """Why its messages cannot be put out of memory; "" when they can."""
        ...

    def start(self) -> None:
        """Start it after it was ended; CannotRunError when it does not come back."""
        ...

    def stop(self) -> None:
        """End it gently."""
        ...

    def kill(self) -> None:
        """End it at once."""
        ...

    def pause(self) -> None:
        """Freeze it."""
        ...

    def resume(self) -> None:
        """Let it go on."""
        ...

    def save(self, stored: Callable[[], bytes]) -> None:
        """Wait until the offsets on disk are those in memory (``stored``); AdapterError when that takes too long."""
        ...

    def evict(self) -> str:
        """Put its messages out of memory; why not, or ""."""
        ...

    def in_memory(self, topic: str, queue: int) -> bool | None:
        """Is message 0 of a queue in memory? None when there is no such message."""
        ...


class BrokerLocation(Protocol):
    """Where the broker is."""

    #: How long its locks live (s).
    lease: float

    #: May it acknowledge a topic before it is there, as releases before 4.7.1 do?
    late_topics: bool

    #: Is its name server the kit's, with the routes of ``broker-assignment``?
    routed: bool

    @property
    def own(self) -> ManagedBroker | None:
        """What may be done with a broker of the kit's own; None for one that the kit did not start."""
        ...

    def open(self) -> Connection:
        """Connect, starting the broker if need be; CannotRunError when it cannot be."""
        ...

    def accept(self, description: str, release: Release | None) -> None:
        """The broker says that it is this; CannotRunError when it must not be."""
        ...

    def shared_address(self) -> str:
        """Where others reach a broker of the kit's own; "" when they are to have one of theirs."""
        ...

    def describe_end(self) -> str:
        """Why a connection may have broken: the end of the broker, in a few words."""
        ...

    def close(self) -> None:
        """Release everything."""
        ...


class Running:
    """A broker that is already running."""

    own = None
    late_topics = True

    def __init__(self, host: str, port: int, lease: float = DEFAULT_LEASE, routed: bool = False) -> None:
        self.host, self.port = host, port
        self.lease = lease
        self.routed = routed

    def open(self) -> Connection:
        """Connect."""
        try:
            return Pipeline(self.host, self.port)
        except OSError as error:
            raise CannotRunError(
                f"No broker answers at {self.host}:{self.port} ({error}): start it, or name another address."
            ) from error

    def accept(self, description: str, release: Release | None) -> None:
        """Any will do."""

    def shared_address(self) -> str:
        return ""

    def describe_end(self) -> str:
        return f"the broker at {self.host}:{self.port} closed the connection"

    def close(self) -> None:
        """Nothing is ours."""
