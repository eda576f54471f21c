"""Starts and controls the kit's own broker on an aged store: a Java program on this machine, or in a container."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import MappingProxyType

from rocketmq_conformance.conformance.adapter import AdapterError, CannotRunError
from rocketmq_conformance.conformance.remoting import java_json
from rocketmq_conformance.conformance.remoting.client import Connection
from rocketmq_conformance.conformance.startup import start_limit
from rocketmq_conformance.conformance.targets.broker import page_cache
from rocketmq_conformance.conformance.targets.broker.acting_slave import PAIRING, ActingSlave, MemberServer
from rocketmq_conformance.conformance.targets.broker.aged_store import store_writer
from rocketmq_conformance.conformance.targets.broker.asked_access import NOTHING, AskedAccess
from rocketmq_conformance.conformance.targets.broker.case_names import (
    DEFAULT_DELAY,
    DEFAULT_HOLD_CHECK,
    DEFAULT_LATENESS,
)
from rocketmq_conformance.conformance.targets.broker.distribution import Distribution
from rocketmq_conformance.conformance.targets.broker.fake_name_server import RouteServer, routed
from rocketmq_conformance.conformance.targets.broker.launch_config import maven_version
from rocketmq_conformance.conformance.targets.broker.pipeline import Pipeline
from rocketmq_conformance.conformance.targets.broker.process import START_LIMIT, STOP_LIMIT, Program
from rocketmq_conformance.conformance.targets.broker.published_jars import broker_class_path, published_jars
from rocketmq_conformance.conformance.targets.broker.servers import Broker, BrokerHost, LocalJava
from rocketmq_conformance.conformance.targets.broker.started_slave import StartedSlave
from rocketmq_conformance.conformance.targets.broker.table_files import BrokerTableFiles
from rocketmq_conformance.conformance.waiting import wait_until
from rocketmq_conformance.models.broker.configuration import SLAVE_ACTS, are_in_files
from rocketmq_conformance.models.release import Release

#: The lease of the locks of such brokers (s): long compared to a request, short enough to wait for.
SHORT_LEASE = 1.0
#: Timeout until the broker has written stored offsets (s): first after 10 s, then every second.
_SAVE_LIMIT = 60.0
#: How long offsets that are in RocksDB are waited for (s): they are written every second, or at once.
_UNSEEN_SAVE = 3.0


class StartedBroker:
    """A broker that the kit starts and controls."""

    beside = None
    late_topics = takes_time = True
    silence = 0.5
    settled = 0.3
    hold_check, lateness = DEFAULT_HOLD_CHECK, DEFAULT_LATENESS

    def __init__(
        self,
        release: Release,
        make: Callable[[], Broker] | None = None,
        image: str = "",
        java: int = 0,
        *,
        containers: Callable[[], BrokerHost] | None = None,
        properties: Mapping[str, str] = MappingProxyType({}),
        asked: AskedAccess = NOTHING,
        unpacked: Distribution | None = None,
        upgraded_from: Release | None = None,
        others: Sequence[StartedBroker] = (),
    ) -> None:
        """``java`` is a feature release; ``containers`` are where it runs instead of this machine; ``properties`` are
        those that the user set, ``asked`` is what the broker asks for, and ``make`` has both in what it makes.

        ``image`` is one that the user named: its release must be checked. ``unpacked`` is the distribution that it is
        started from, instead of published jars; ``release`` is then the one that judges it. ``upgraded_from`` is a
        release that opens its store first; ``properties`` are those of the newer one. ``others`` are brokers like it,
        which only other processes use, each its own.
        """
        self.unpacked = unpacked
        self.release = release
        self.properties = properties
        self.given: Collection[str] | None = properties.keys()
        self.image = image
        self.access = asked.access
        self._asked, self._containers = asked, containers
        self.lease, self.delay = SHORT_LEASE, DEFAULT_DELAY
        self.patience = start_limit(START_LIMIT) + STOP_LIMIT
        self._make = make or self._made
        self._from_jars = unpacked is None and make is None and not image
        self._others = others
        self._java = java
        self.upgraded_from = upgraded_from
        self.older_runs = False
        self._broker: Broker | None = None
        self._routes: RouteServer | None = None
        self._slave: StartedSlave | None = None

        #: Its files.
        self.tables = BrokerTableFiles(lambda: self.broker)

    def _made(self) -> Broker:
        if not self.routed:
            return self._local("")
        if self._routes is None:
            self._routes = MemberServer(self.release) if self.pairing else RouteServer(self.release)
        return self._local(self._routes.start())

    def _local(self, name_server: str) -> Broker:
        return self._process(name_server, store_writer(self.properties), {**self.properties, **self.pairing})

    def _process(self, name_server: str, prepare: Callable[[Path], None], properties: Mapping[str, str]) -> Broker:
        return Broker(
            self.release,
            prepare,
            name_server,
            lease=self.lease,
            host=self._host,
            properties=properties,
            asked=self._asked,
            version=self.unpacked.version if self.unpacked else "",
        )

    @cached_property
    def _host(self) -> BrokerHost:
        """Where it runs."""
        if self._containers is not None:
            return self._containers()
        return LocalJava(self.unpacked.class_path if self.unpacked else broker_class_path, self._java)

    @property
    def _reaches_here(self) -> bool:
        """Does it reach servers of this machine?"""
        return self._containers is None or self._host.shares_ports

    # --- location ---------------------------------------------------------------------------------------------

    @property
    def routed(self) -> bool:
        """Does it fetch routes from the kit's name server?"""
        return routed(self.release) and self._reaches_here

    @property
    def own(self) -> StartedBroker:
        """Everything may be done to it."""
        return self

    @property
    def broker(self) -> Broker:
        """The process; started on first use."""
        if self._broker is None:
            made = self._make()
            try:
                if self.upgraded_from:
                    self._set_release(made, older=True)
                    made.start()
                    made.stop()
                    self._set_release(made, older=False)
                made.start()
            except CannotRunError as error:
                made.close()
                set_to = ", ".join(f"{name}={value}" for name, value in self.properties.items())
                about = [*self.notes, *([f"its address sets {set_to}"] if set_to else [])]
                raise CannotRunError(f"{error} ({'; '.join(about)})" if about else str(error)) from error
            except BaseException:
                made.close()
                raise
            self._broker = made
        return self._broker

    def open(self) -> Connection:
        """Connect."""
        try:
            return Pipeline("127.0.0.1", self.broker.port, access=self.access)
        except OSError as error:
            raise AdapterError(f"{self.describe_end()}: {error}.") from error

    def accept(self, description: str, release: Release | None) -> None:
        """An image must have the release of the address."""
        if self.image and release != self.release:
            raise CannotRunError(
                f"The broker in the image {self.image} says that it is {description}: write "
                f"broker:{release or 'RELEASE'}."
            )

    def shared_addresses(self) -> tuple[str, ...]:
        """The address at which others reach it, and those of the others, which are started."""
        routes = "&routes=kit" if self.routed else ""
        own = f"broker:127.0.0.1:{self.port}?lease={int(self.lease * 1000)}{routes}"
        return (own, *(address for other in self._others for address in other.shared_addresses()))

    def describe_end(self) -> str:
        process = self.broker.process
        if process.alive:
            return f"{process.name} closed the connection"
        return self.access.redacted(f"{process.name} died; its last line: {process.last_error()}")

    def close(self) -> None:
        """Kill the broker, its slave, and those beside it, and remove their folders."""
        if self._slave is not None:
            self._slave.close()
            self._slave = None
        for other in self._others:
            other.close()
        if self._broker is not None:
            self._broker.close()
            self._broker = None
        if self._routes is not None:
            self._routes.stop()
            self._routes = None

    @property
    def unpaired(self) -> str:
        """Why it cannot have a slave; "" when it can."""
        if not self._reaches_here:
            return "starts a slave beside the broker, which its engine keeps apart; judge it without via=container"
        if self._asked.properties:
            return "starts a slave beside the broker, which would need credentials of its own; judge it without them"
        return "" if are_in_files(self.properties) else "compares files of offsets, and the broker has none"

    @property
    def slave(self) -> StartedSlave:
        """Its slave; started on first use, with an empty store."""
        if self._slave is None:
            configured = {**self.properties, **self.pairing}

            def make(role: Mapping[str, str], names: str) -> Broker:
                return self._process(names, lambda home: None, {**configured, **role})

            master, names = self.broker, self._routes
            self._slave = (
                ActingSlave(master, names, make) if isinstance(names, MemberServer) else StartedSlave(master, make)
            )
        return self._slave

    @property
    def pairing(self) -> Mapping[str, str]:
        """What the kit gives both of a pair whose slave may act as master."""
        acts = self.properties.get(SLAVE_ACTS) == "true" and self.routed and not self.unpaired
        return PAIRING if acts else {}

    # --- control ----------------------------------------------------------------------------------------------

    @property
    def notes(self) -> tuple[str, ...]:
        """Which of its jars are those of another release."""
        if not self._from_jars:
            return ()
        releases = filter(None, (self.release, self.upgraded_from))
        return tuple(filter(None, (published_jars(one).note(one) for one in map(maven_version, releases))))

    @property
    def java(self) -> int:
        """The feature release of its Java."""
        return self.broker.java

    @property
    def port(self) -> int:
        """Its port."""
        return self.broker.port

    @property
    def cold(self) -> str:
        """Why its messages cannot be paged out of memory; "" when they can."""
        if not _is_here(self.broker.process):
            return "needs a broker whose process is seen here; judge it without via=container"
        return page_cache.missing()

    def start(self) -> None:
        """Start it again."""
        self.broker.start()

    def stop(self) -> None:
        """End it gently."""
        self.broker.stop()

    def change_release(self) -> None:
        """While it is down: the next start is one of the other release."""
        self.older_runs = not self.older_runs
        self._set_release(self.broker, self.older_runs)

    def _set_release(self, broker: Broker, older: bool) -> None:
        if older and self.upgraded_from:
            broker.become(self.upgraded_from, {}, "")
        else:
            name_server = self._routes.start() if self._routes else ""
            broker.become(self.release, {**self.properties, **self.pairing}, name_server)

    def kill(self) -> None:
        """End it at once."""
        self.broker.kill()

    def pause(self) -> None:
        """Freeze it."""
        self.broker.process.pause()

    def resume(self) -> None:
        """Resume it."""
        self.broker.process.resume()

    def save(self, stored: Callable[[], bytes]) -> None:
        """Wait until the offsets on disk are those in memory, or long enough where they are not in a file."""
        if not are_in_files(self.properties):
            time.sleep(_UNSEEN_SAVE)
            return

        def written() -> bool:
            wanted = _table(stored().decode())
            try:
                return _table(self.broker.offsets_file.read_text()) == wanted
            except (OSError, ValueError):  # just being written
                return False

        if not wait_until(written, _SAVE_LIMIT, 0.1):
            raise AdapterError(
                f"The broker did not write its offsets in {_SAVE_LIMIT:.0f} s: see whether its disk is full."
            )

    def evict(self) -> str:
        """Page its messages out of memory; the reason when that fails, else ""."""
        process = self.broker.process
        if not _is_here(process):
            return "a broker whose process is not seen here is left its memory"
        return page_cache.evict(process.pid, self.broker.store)

    def in_memory(self, topic: str, queue: int) -> bool | None:
        """Is message 0 of a queue in memory? None when there is no such message."""
        return page_cache.in_memory(self.broker.store, topic, queue)


def _is_here(program: object) -> bool:
    """Is it a process of this machine, as in a container of an engine that has no machine of its own?"""
    return isinstance(program, Program) and bool(program.pid)


def _table(text: str) -> object:
    return java_json.loads(text).get("offsetTable")
