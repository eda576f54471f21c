"""Protocols of the judged broker's location, and of what may be done to a broker that the kit started."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType
from typing import Protocol

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.remoting.access import OPEN, Access
from rocketmq_conformance.conformance.remoting.client import Connection
from rocketmq_conformance.conformance.remoting.host_port import HostPort
from rocketmq_conformance.conformance.startup import phase
from rocketmq_conformance.conformance.targets.broker.case_names import (
    DEFAULT_DELAY,
    DEFAULT_HOLD_CHECK,
    DEFAULT_LATENESS,
    DEFAULT_LEASE,
)
from rocketmq_conformance.conformance.targets.broker.distribution import Distribution
from rocketmq_conformance.conformance.targets.broker.pipeline import Pipeline
from rocketmq_conformance.conformance.targets.broker.refusals import not_encrypted
from rocketmq_conformance.conformance.targets.broker.running_slave import RunningSlave
from rocketmq_conformance.models.release import Release


class ManagedTables(Protocol):
    """The files of topics, offsets and groups of a broker that the kit started."""

    #: Has any of them been damaged, and not been restored?
    damaged: bool

    def end(self, end: Callable[[], object], stop: bool, stored: Callable[[], bytes]) -> str:
        """``end`` the broker, gently if it is a ``stop``: had its timer written the offsets before that (EARLY, LATE)?

        ``stored`` asks it for its offsets. Another text when the files tell neither.
        """
        ...

    def damage(self, table: str, copy: str, how: str) -> None:
        """Damage one copy of a file while the broker is down."""
        ...

    def start(self) -> bool:
        """Start the broker again; False when it does not start."""
        ...

    def watch(self, stored: Callable[[], bytes]) -> str:
        """Wait until the timer writes: which write it was (FIRST, NEXT), or what was wrong with its time."""
        ...

    def restore(self) -> None:
        """Undo all damages, and what followed from them, while the broker is down."""
        ...


class ManagedSlave(Protocol):
    """The slave of a broker that the kit started, which asks its master when it is to."""

    #: For how long a message may be on its way to it (s).
    arrives: float

    def open(self) -> Connection:
        """Connect."""
        ...

    def synchronise(self) -> None:
        """Wait until it has asked its master for topics, offsets and groups; AdapterError when it does not."""
        ...

    def left(self) -> None:
        """Wait until it knows that its master was ended, where that matters to it."""
        ...

    def online(self) -> bool:
        """Wait until its master, which was started again, is named to clients; False when it stays offline."""
        ...


class ManagedBroker(Protocol):
    """A broker that the kit started: it may be stopped, killed, frozen and started, and paged out of memory."""

    #: Properties that its address sets.
    properties: Mapping[str, str]
    #: The release whose store it was upgraded with, None for a broker of one release; and whether that one runs.
    upgraded_from: Release | None
    older_runs: bool

    @property
    def tables(self) -> ManagedTables:
        """Its files."""
        ...

    @property
    def slave(self) -> ManagedSlave:
        """Its slave, started on first use; CannotRunError when it does not come up."""
        ...

    @property
    def unpaired(self) -> str:
        """Why it cannot have a slave; "" when it can."""
        ...

    @property
    def java(self) -> int | None:
        """The feature release of its Java."""
        ...

    @property
    def port(self) -> int:
        """Its port, on this machine."""
        ...

    #: How long it may take to end it and start it again (s).
    patience: float
    #: Timeout after which it counts as frozen, and within which a resumed one has handled its requests (s).
    silence: float
    settled: float

    @property
    def cold(self) -> str:
        """Why its messages cannot be paged out of memory; "" when they can."""
        ...

    def start(self) -> None:
        """Start it again; CannotRunError when it does not come up."""
        ...

    def stop(self) -> None:
        """End it gently."""
        ...

    def change_release(self) -> None:
        """While it is down: the next start is one of the other release."""
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
        """Page its messages out of memory; the reason when that fails, else ""."""
        ...

    def in_memory(self, topic: str, queue: int) -> bool | None:
        """Is message 0 of a queue in memory? None when there is no such message."""
        ...


class BrokerLocation(Protocol):
    """The location of the judged broker."""

    #: The lease of its locks, and the time of its first delay level (s).
    lease: float
    delay: float
    #: The time between the broker's checks of held pulls (s) with long polling, and by how much an answer that such a
    #: check leads to may be late (s).
    hold_check: float
    lateness: float

    #: May it acknowledge a topic before it exists, as releases before 4.7.1 do?
    late_topics: bool
    #: Are restarts and timers real?
    takes_time: bool

    #: Properties that its address sets.
    properties: Mapping[str, str]

    #: The names of those that the kit set, beside its own; None for a broker that it did not start.
    given: Collection[str] | None

    #: What it asks for before it answers.
    access: Access

    #: The distribution that it was started from; None for any other broker.
    unpacked: Distribution | None

    @property
    def notes(self) -> tuple[str, ...]:
        """What the first lines of a run say of it, each a sentence without its full stop."""
        ...

    @property
    def routed(self) -> bool:
        """Is its name server the kit's, with the routes of ``broker-assignment``?"""
        ...

    @property
    def own(self) -> ManagedBroker | None:
        """Control of a broker that the kit started; None for any other."""
        ...

    def open(self) -> Connection:
        """Connect, starting the broker if need be; CannotRunError when that fails."""
        ...

    def accept(self, description: str, release: Release | None) -> None:
        """Check the release that the broker reports; CannotRunError when it is the wrong one."""
        ...

    @property
    def beside(self) -> RunningSlave | None:
        """The slave of a broker that runs already, if its address names one."""
        ...

    def shared_addresses(self) -> tuple[str, ...]:
        """The addresses of brokers that the kit started, alike; none when others are to start their own."""
        ...

    def describe_end(self) -> str:
        """Why a connection may have broken: how the broker ended, in a few words."""
        ...

    def close(self) -> None:
        """Release everything."""
        ...


class RunningBroker:
    """A broker that is already running."""

    own = None
    given: Collection[str] | None = None
    notes: tuple[str, ...] = ()
    unpacked: Distribution | None = None
    late_topics = takes_time = True
    delay = DEFAULT_DELAY
    hold_check, lateness = DEFAULT_HOLD_CHECK, DEFAULT_LATENESS
    properties: Mapping[str, str] = MappingProxyType({})

    def __init__(
        self,
        host: str,
        port: int,
        lease: float = DEFAULT_LEASE,
        routed: bool = False,
        access: Access = OPEN,
        slave: HostPort | None = None,
    ) -> None:
        self.host, self.port = host, port
        self.access = access
        self.lease = lease
        self.routed = routed
        self.beside = None if slave is None else RunningSlave(slave, self.open, access)

    def open(self) -> Connection:
        """Connect."""
        try:
            with phase(f"connecting to {self.host}:{self.port}"):
                return Pipeline(self.host, self.port, access=self.access)
        except OSError as error:
            raise CannotRunError(
                not_encrypted(f"{self.host}:{self.port}", error)
                or f"No broker answers at {self.host}:{self.port} ({error}): start it, or name another address."
            ) from error

    def accept(self, description: str, release: Release | None) -> None:
        """Accept any release."""

    def shared_addresses(self) -> tuple[str, ...]:
        return ()

    def describe_end(self) -> str:
        return f"the broker at {self.host}:{self.port} closed the connection"

    def close(self) -> None:
        """The broker is not ours, nor is its slave: leave them running."""
        if self.beside is not None:
            self.beside.close()
