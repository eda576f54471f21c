"""The fake broker as the judged broker: in this process, over a real socket, on the aged store.

Everything may be done to it: its process is a thread, disk and memory are simulated, and its locks have a short lease.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import partial
from types import MappingProxyType

from rocketmq_conformance.conformance.adapter import AdapterError
from rocketmq_conformance.conformance.fakes.broker import FakeBroker, now
from rocketmq_conformance.conformance.remoting.access import OPEN
from rocketmq_conformance.conformance.remoting.client import Connection
from rocketmq_conformance.conformance.remoting.host_port import host_port
from rocketmq_conformance.conformance.targets.broker.broker_assignment import readable
from rocketmq_conformance.conformance.targets.broker.distribution import Distribution
from rocketmq_conformance.conformance.targets.broker.pipeline import Pipeline
from rocketmq_conformance.conformance.targets.broker.ports import free_port
from rocketmq_conformance.conformance.waiting import SteadyClock
from rocketmq_conformance.models.broker import aged_store, filed_store
from rocketmq_conformance.models.broker.broker_retry import LEVELS
from rocketmq_conformance.models.broker.configuration import LIGHT, are_in_files
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.release import Release

#: The lease of its locks, and the time of its first delay level (s): it responds within a ms or so.
LEASE, DELAY = 0.3, 0.05
#: The time between its checks of held pulls (s), and how late one may be: it checks before it answers a request.
HOLD_CHECK, LATENESS = 0.1, 0.01


class FakeTables:
    """The files of a fake broker."""

    def __init__(self, broker: Callable[[], FakeBroker]) -> None:
        self._of = broker
        self.damaged = False

    @property
    def _broker(self) -> FakeBroker:
        return self._of()

    def end(self, end: Callable[[], object], stop: bool, stored: Callable[[], bytes]) -> str:
        """End the broker."""
        end()
        return self._broker.end

    def damage(self, table: str, copy: str, how: str) -> None:
        """Damage a copy."""
        self.damaged = True
        self._broker.damage(table, copy, how)

    def start(self) -> bool:
        """Start it, if it starts on its files."""
        if not self._broker.loads():
            return False
        self._broker.start()
        return True

    def watch(self, stored: Callable[[], bytes]) -> str:
        """Let the time pass."""
        return self._broker.watch()

    def restore(self) -> None:
        """Undo all damages."""
        self._broker.restore()
        self.damaged = False


class FakeSlave:
    """The slave of a fake broker."""

    #: Messages are there at once.
    arrives = 0.0

    def __init__(self, broker: FakeBroker, master: FakeBroker) -> None:
        self.broker, self.master = broker, master

    def open(self) -> Connection:
        """Connect."""
        return Pipeline("127.0.0.1", int(self.broker.address.rpartition(":")[2]))

    def synchronise(self) -> None:
        """Have it ask its master."""
        self.broker.synchronise()

    def left(self) -> None:
        """It knows at once that its master is gone."""

    def online(self) -> bool:
        """Did its master come online?"""
        return self.master.online


class FakeLocation:
    """The location of a fake broker; ``parts`` replaces classes of it by part name (``fakes.broker``).

    ``properties`` it only reports; ``clock`` gives store times and the age of locks.
    """

    lease = LEASE
    delay = DELAY
    hold_check, lateness = HOLD_CHECK, LATENESS
    #: It acknowledges topics only when they exist.
    late_topics = takes_time = False
    unpacked: Distribution | None = None
    notes: tuple[str, ...] = ()
    #: It reports properties as a broker that somebody else has started.
    given: Collection[str] | None = None
    #: Its routes are those of ``broker-assignment``.
    routed = True
    #: It asks for nothing.
    access = OPEN
    #: Its slave is its own.
    beside = None
    #: A frozen one never responds late.
    silence = 0.01
    settled = patience = 0.0
    #: Its messages can be paged out of memory on every machine.
    cold = ""

    def __init__(
        self,
        profile: Profile,
        parts: Mapping[str, type] | None = None,
        *,
        properties: Mapping[str, str] = MappingProxyType({}),
        clock: SteadyClock = time,
    ) -> None:
        self.properties: Mapping[str, str] = dict(profile.configuration)
        self.upgraded_from = profile.upgraded_from
        self.older_runs = False
        self._profile = profile
        began = now() - int(clock.monotonic() * 1000)
        # a port of those that the system gives to connections might be taken while the broker is down
        port = free_port()
        self._make: Callable[..., FakeBroker] = partial(
            FakeBroker,
            port=port,
            clock=lambda: began + int(clock.monotonic() * 1000),
            lease=int(LEASE * 1000),
            parts=parts,
            routes=readable,
            delay_levels=[int(DELAY * level) for level in LEVELS],
            timer_second=int(DELAY * 1000),
            properties=properties,
            hold_check=HOLD_CHECK,
        )
        self._broker = self._make(profile)
        if are_in_files(self.properties):
            self._load()
        self._started = False
        self._slave: FakeSlave | None = None
        #: Its files.
        self.tables = FakeTables(lambda: self._broker)

    def _load(self) -> None:
        """Load the aged store."""
        offsets = {(aged_store.KEPT_GROUP, queue): offset for queue, offset in aged_store.STORED.items()}
        if self.properties.get(LIGHT) == "true":
            offsets = {}
            self._broker.put_elsewhere(aged_store.kept())
        self._broker.load(aged_store.TOPIC, aged_store.QUEUES, offsets)
        self._broker.load(filed_store.TOPIC, filed_store.QUEUES, {})

    # --- location ---------------------------------------------------------------------------------------------

    @property
    def own(self) -> FakeLocation:
        """Everything may be done to it."""
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
        """It always has the release of the address."""

    def shared_addresses(self) -> tuple[str, ...]:
        """Others start their own: none is shared."""
        return ()

    def describe_end(self) -> str:
        return "the fake broker closed the connection"

    def close(self) -> None:
        """Stop the broker, and its slave."""
        self._broker.kill()
        if self._slave is not None:
            self._slave.broker.kill()

    def settle(self) -> None:
        """Wait until a running broker has handled everything that was written to it."""
        if self._broker.running:
            self._broker.settle()

    #: It can have a slave, however it is configured.
    unpaired = ""

    @property
    def slave(self) -> FakeSlave:
        """Its slave; started on first use."""
        if self._slave is None:
            broker = self._make(self._profile, port=free_port(), slave=True)
            broker.follow(self._broker)
            broker.start()
            self._slave = FakeSlave(broker, self._broker)
        return self._slave

    # --- control ----------------------------------------------------------------------------------------------

    @property
    def java(self) -> int:
        """The feature release of the Java that it answers like."""
        return self._broker.profile.java

    @property
    def port(self) -> int:
        """Its port."""
        return host_port(self._broker.address).port

    def start(self) -> None:
        """Start it again."""
        self._broker.start()

    def stop(self) -> None:
        """End it gently."""
        self._broker.stop()

    def change_release(self) -> None:
        """While it is down: the next start is one of the other release."""
        self.older_runs = not self.older_runs
        profile = replace(self._profile, upgraded_from=None)
        if self.older_runs and self.upgraded_from:
            profile = replace(profile, broker=self.upgraded_from, configuration=())
        before, self._broker = self._broker, self._make(profile)
        self._broker.take_over(before)

    def kill(self) -> None:
        """End it at once."""
        self._broker.kill()

    def pause(self) -> None:
        """Freeze it."""
        self._broker.pause()

    def resume(self) -> None:
        """Resume it."""
        self._broker.resume()

    def save(self, stored: Callable[[], bytes]) -> None:
        """Have the offsets written."""
        self._broker.save()

    def evict(self) -> str:
        """Page its messages out of memory."""
        self._broker.evict()
        return ""

    def in_memory(self, topic: str, queue: int) -> bool | None:
        """Is message 0 of a queue in memory? None when there is no such message."""
        return self._broker.in_memory(topic, queue)
