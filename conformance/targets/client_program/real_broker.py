"""The real broker that all cases of a run share, each with topics and a group of its own.

A broker that the kit starts begins on a store with topics in stock: their messages are as old as those of the fake
broker, or have expired, which no client can bring about. Topics of other shapes are made when they are wanted. When a
stock is used up, the next broker is started; one without cases ends.

Its locks outlive every case, so that they expire when the plan says so, and not when a case happens to take long.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cached_property, partial
from pathlib import Path
from typing import NamedTuple, Protocol

from rocketmq_conformance.conformance.adapter import AdapterError, CannotRunError, Hello
from rocketmq_conformance.conformance.properties import defaults
from rocketmq_conformance.conformance.remoting.host_port import HostPort, host_port, is_host_port
from rocketmq_conformance.conformance.startup import start_limit
from rocketmq_conformance.conformance.targets.address_kinds import RunningBrokerAddress, ThroughAddress
from rocketmq_conformance.conformance.targets.broker import requests
from rocketmq_conformance.conformance.targets.broker.adapter import BrokerAdapter
from rocketmq_conformance.conformance.targets.broker.aged_store import write_store
from rocketmq_conformance.conformance.targets.broker.broker_location import RunningBroker
from rocketmq_conformance.conformance.targets.broker.cluster import Cluster
from rocketmq_conformance.conformance.targets.broker.container import Containers
from rocketmq_conformance.conformance.targets.broker.process import HOST, START_LIMIT
from rocketmq_conformance.conformance.targets.broker.servers import BrokerHost
from rocketmq_conformance.conformance.targets.client_program.broker_in_use import Address, BrokerInUse
from rocketmq_conformance.models.broker.state import QueueLog
from rocketmq_conformance.models.client.initial_broker import log_of_shape
from rocketmq_conformance.models.client.start import TIMESTAMP
from rocketmq_conformance.models.client.whole_push import Setting
from rocketmq_conformance.models.release import Release
from rocketmq_conformance.suites import (
    whole_brokers,
    whole_clusters,
    whole_groups,
    whole_listener,
    whole_orderly,
    whole_orderly_listener,
    whole_slaves,
    whole_topologies,
)

#: Suites that need what no real broker does when a plan says so.
_FAKE_ALONE = {
    whole_listener.SUITE.name: "a real broker's delay levels cannot be made to pass when a plan says so",
    whole_orderly_listener.SUITE.name: "needs locks that expire when a plan says so, while a listener holds a message",
    **dict.fromkeys(
        (whole_brokers.SUITE.name, whole_topologies.SUITE.name, whole_clusters.SUITE.name),
        "needs two brokers, one of which comes or goes away",
    ),
    whole_groups.SUITE.name: "needs a broker that is watched for two groups",
    whole_slaves.SUITE.name: "needs a master and its slave, one of which goes away",
}
_ORDERLY = {whole_orderly.SUITE.name: "needs locks that outlive a case: go through broker:VERSION"}
_TOO_NEW = "a running broker has no messages that are old enough, or have expired: go through broker:VERSION"
#: The lease of the locks of a broker that the kit starts (s).
_LEASE = 86_400.0
#: Topics of each shape and number of queues that are in stock: all messages fit into one file of the commit log.
_COPIES = 20
#: A queue that no topic of a case has.
_NO_QUEUE = 1000
_SHAPES, _QUEUES = ("young", "expired", "gone"), (1, 2, 4, 5)


class CasePlace(NamedTuple):
    """A topic, a group, and for some cases another topic at a broker."""

    broker: BrokerInUse
    topic: str
    group: str
    other: str = ""


class RealBroker(Protocol):
    """A real broker that cases go through."""

    #: Its address, as the user wrote it.
    text: str
    #: The suites that cannot be played through it, with the reason.
    refuses: dict[str, str]

    def hello(self) -> Hello:
        """Start it if need be, and ask it what it is; CannotRunError when that fails."""
        ...

    def take(self, setting: Setting, other_queues: int = 0) -> CasePlace:
        """A topic and a group for a case that begins like this, which is not unsupported; and another topic of so many
        queues that begin alike."""
        ...

    def unsupported(self, setting: Setting) -> str:
        """Why no case can begin like this, or ""."""
        ...

    def give_back(self, place: CasePlace) -> None:
        """A case is over."""
        ...

    def close(self) -> None:
        """Release everything."""
        ...


def real_broker(address: ThroughAddress) -> RealBroker:
    """The broker of an address."""
    if isinstance(address, RunningBrokerAddress):
        return Running(str(address), address.at)
    containers = partial(Containers, address.release) if address.via == "container" else None
    return Started(str(address), address.release, containers)


def _is_old(setting: Setting) -> bool:
    """Does a case need messages that are old, or have expired? Others are sent when it begins."""
    return setting.shape in ("expired", "gone") or (setting.shape == "young" and setting.where == TIMESTAMP)


class _Names:
    """Names of topics and groups that no other run uses."""

    def __init__(self) -> None:
        self._run = secrets.token_hex(3)
        self._cases = 0

    def new(self, kind: str) -> str:
        self._cases += 1
        return f"{kind}-{self._run}-{self._cases}"


def _settings(setting: Setting, other_queues: int) -> list[Setting]:
    """The settings of the topics of a case."""
    return [setting, *([setting._replace(queues=other_queues)] if other_queues else [])]


def _begin(broker: BrokerInUse, names: _Names, topics: Sequence[tuple[str, Setting]]) -> CasePlace:
    """A group that has stored what the settings say, at topics that are there.

    Of the first commits of a group at a topic a broker may lose some that arrive together (D200), and who commits once
    does not send them again. So none of a member's is the first.
    """
    group = names.new("GROUP")
    broker.do(requests.create_group(group))
    for topic, setting in topics:
        broker.do(requests.commit(group, topic, _NO_QUEUE, 0))
        if setting.stored >= 0:
            for queue in range(setting.queues):
                broker.do(requests.commit(group, topic, queue, setting.stored))
    (topic, _), *others = topics
    return CasePlace(broker, topic, group, *(name for name, _ in others))


def _make_topic(broker: BrokerInUse, names: _Names, setting: Setting) -> str:
    """A topic that is made by sending messages."""
    topic = names.new("TOPIC")
    broker.create(topic, setting.queues)
    for queue in range(setting.queues):
        broker.fill(topic, queue, log_of_shape(setting.shape).max)
    return topic


def _clean(place: CasePlace) -> None:
    """Delete what a case made; what cannot be deleted stays."""
    with suppress(AdapterError):
        for topic in filter(None, (place.topic, place.other)):
            place.broker.ask(requests.delete_topic(topic))
        place.broker.ask(requests.delete_group(place.group, "cleanOffset", "removeOffset"))


class Running:
    """A broker that runs already, whose name server it names itself."""

    refuses = _FAKE_ALONE | _ORDERLY

    def __init__(self, text: str, address: Address) -> None:
        self.text = text
        self._address = address
        self._names = _Names()
        self._lock = threading.Lock()
        self._broker: BrokerInUse | None = None

    def hello(self) -> Hello:
        """Ask it what it is, and for its name server."""
        found = _ask_hello(self._address)
        host, port = self._address
        broker = BrokerInUse(self._address, self._address)
        read = defaults.parse(broker.ask(requests.configuration()).body.decode("utf-8", "replace"))
        first = read.get("namesrvAddr", "").split(";")[0]
        if not is_host_port(first):
            broker.close()
            raise CannotRunError(
                f"The broker at {host}:{port} does not say where its name server is (namesrvAddr is {first!r}): name "
                "one that does, or broker:VERSION."
            )
        broker.name_server = host_port(first)
        self._broker = broker
        return found

    def unsupported(self, setting: Setting) -> str:
        """Messages are new, and none has expired."""
        return _TOO_NEW if _is_old(setting) else ""

    def take(self, setting: Setting, other_queues: int = 0) -> CasePlace:
        """Topics that are made now."""
        with self._lock:
            broker = self._broker
            assert broker is not None  # hello() came first
            settings = _settings(setting, other_queues)
            return _begin(broker, self._names, [(_make_topic(broker, self._names, one), one) for one in settings])

    def give_back(self, place: CasePlace) -> None:
        """Delete them."""
        _clean(place)

    def close(self) -> None:
        """Leave it running."""
        if self._broker is not None:
            self._broker.close()


class _Stocked:
    """A broker that the kit started, and the topics that are left of its stock, by shape and number of queues."""

    def __init__(self, release: Release, names: _Names, limit: float, host: BrokerHost | None) -> None:
        self.topics = {
            (shape, queues): [names.new("STOCK") for _ in range(_COPIES)] for shape in _SHAPES for queues in _QUEUES
        }
        logs: dict[str, tuple[QueueLog, ...]] = {
            topic: (log_of_shape(shape),) * queues for (shape, queues), kept in self.topics.items() for topic in kept
        }

        def prepare(home: Path) -> None:
            write_store(home, logs, {})

        self.cluster = Cluster(release, prepare, lease=_LEASE, limit=limit, host=host)
        self.cluster.__enter__()
        self.broker = BrokerInUse(HostPort(HOST, self.cluster.broker.port), host_port(self.cluster.name_server))

    def has(self, setting: Setting) -> bool:
        """Is there a topic like this, or can one be made?"""
        return not _is_old(setting) or bool(self.topics[setting.shape, setting.queues])

    def take(self, setting: Setting, names: _Names) -> str:
        """A topic from the stock, or one that is made now."""
        if not _is_old(setting):
            return _make_topic(self.broker, names, setting)
        topic = self.topics[setting.shape, setting.queues].pop()
        self.broker.await_route(topic, setting.queues)
        return topic

    def close(self) -> None:
        self.broker.close()
        self.cluster.__exit__(None, None, None)


class Started:
    """Brokers of a release that the kit starts, one after the other."""

    refuses = _FAKE_ALONE

    def __init__(self, text: str, release: Release, containers: Callable[[], BrokerHost] | None = None) -> None:
        """``containers`` are where they run instead of this machine."""
        self.text = text
        self._release, self._containers = release, containers
        #: For each start (s): those of cases are in threads of their own, and part of no other.
        self._limit = start_limit(START_LIMIT)
        self._names = _Names()
        self._lock = threading.Lock()
        self._running: list[_Stocked] = []

    @cached_property
    def _host(self) -> BrokerHost | None:
        return self._containers and self._containers()

    def hello(self) -> Hello:
        """Start the first one."""
        with self._lock:
            if not self._running:
                self._running.append(self._stocked())
            first = self._running[-1]
        found = _ask_hello(first.broker.address)
        return Hello(
            found.name,
            found.version,
            broker=found.broker,
            java=first.cluster.broker.java,
            properties=found.properties,
            configuration_unread=found.configuration_unread,
            notes=found.notes,
        )

    def unsupported(self, setting: Setting) -> str:
        """Only some numbers of queues are in stock."""
        if _is_old(setting) and setting.queues not in _QUEUES:
            return f"no topic of {setting.queues} queues is in stock"
        return ""

    def take(self, setting: Setting, other_queues: int = 0) -> CasePlace:
        """Topics from the stock of one broker, or topics that are made now."""
        settings = _settings(setting, other_queues)
        with self._lock:
            stock = self._running[-1]
            if not all(stock.has(one) for one in settings):
                stock = self._stocked()
                self._running.append(stock)
                self._retire()
            topics = [(stock.take(one, self._names), one) for one in settings]
            stock.broker.cases += 1
            return _begin(stock.broker, self._names, topics)

    def give_back(self, place: CasePlace) -> None:
        """Delete the topics; a broker whose stock is used up ends with its last case."""
        _clean(place)
        with self._lock:
            place.broker.cases -= 1
            self._retire()

    def close(self) -> None:
        """End all of them."""
        with self._lock:
            for one in self._running:
                one.close()
            self._running.clear()

    def _stocked(self) -> _Stocked:
        return _Stocked(self._release, self._names, self._limit, self._host)

    def _retire(self) -> None:
        """End brokers that are no more in use, but the last."""
        for one in self._running[:-1]:
            if not one.broker.cases:
                one.close()
                self._running.remove(one)


def _ask_hello(address: Address) -> Hello:
    """What a broker says that it is."""
    adapter = BrokerAdapter(RunningBroker(*address))
    try:
        return adapter.hello()
    finally:
        adapter.disconnect()
