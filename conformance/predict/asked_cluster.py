"""What a cluster answers whoever consumes: routes, brokers, releases, configurations, bounds; each is asked once.

Nothing is created or changed: these requests only read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple, TypeVar, cast

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.predict.answers import (
    ALL_GROUPS,
    document,
    first_slave,
    known_groups,
    lacks_master,
    master,
    number,
    offsets_version,
    stored_table,
)
from rocketmq_conformance.conformance.predict.facts import MOST_QUEUES, BrokerFacts
from rocketmq_conformance.conformance.predict.releases import of_description, of_ordinal
from rocketmq_conformance.conformance.predict.server import Server, UnreadableError
from rocketmq_conformance.conformance.properties.defaults import parse
from rocketmq_conformance.conformance.properties.found import MODELLED, off_default
from rocketmq_conformance.conformance.remoting.access import Access
from rocketmq_conformance.conformance.remoting.codes import Request, Response, response_name
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.targets.broker import requests
from rocketmq_conformance.conformance.targets.broker.missing_needs import KEEPS_POPS
from rocketmq_conformance.models.broker.state import READ
from rocketmq_conformance.models.release import Release

Kept = TypeVar("Kept")
#: Queues that are asked about together, or those of one topic.
_LOT = 2000


@dataclass(frozen=True, slots=True)
class TopicQueues:
    """The readable queues of a topic on one broker."""

    broker: str
    address: str
    count: int


#: A topic, and its readable queues on one broker.
Part = tuple[str, TopicQueues]


class Bounds(NamedTuple):
    """What is known of a queue, whoever consumes it."""

    min: int
    max: int
    earliest: int
    #: What a search finds, if there was one.
    found: int | None


def by_address(parts: Iterable[Part]) -> dict[str, list[Part]]:
    """Parts by their broker's address."""
    found: dict[str, list[Part]] = {}
    for topic, part in parts:
        found.setdefault(part.address, []).append((topic, part))
    return found


def together(parts: Iterable[Part]) -> Iterator[list[Part]]:
    """Parts in lots about which brokers are asked together."""
    lot: list[Part] = []
    queues = 0
    for each in parts:
        lot.append(each)
        queues += each[1].count
        if queues >= _LOT:
            yield lot
            lot, queues = [], 0
    if lot:
        yield lot


class AskedCluster:
    """A cluster, by its name servers, of which the first that answers is asked; with ``slaves`` as if every master that
    has a slave were gone."""

    def __init__(
        self,
        name_servers: str,
        access: Access,
        patience: float,
        progress: Callable[[int, int], None],
        slaves: bool = False,
    ) -> None:
        self._address, self._slaves = (first_slave if slaves else master), slaves
        #: Called with how many routes of those that are asked for are known.
        self._progress = progress
        self._access, self._patience = access, patience
        self._open = ExitStack()
        self._brokers: dict[str, Server] = {}
        self._unreachable: dict[str, CannotRunError] = {}
        self._kept: dict[tuple[object, ...], Any] = {}
        self.name_servers = name_servers
        self._names = self._connected(name_servers.split(";"))

    def close(self) -> None:
        """Close all connections."""
        self._open.close()

    def _once(self, key: tuple[object, ...], ask: Callable[[], Kept]) -> Kept:
        """What was asked before, or is asked now."""
        if key not in self._kept:
            self._kept[key] = ask()
        return cast(Kept, self._kept[key])

    # --- the name server ----------------------------------------------------------------------------------------

    def _connected(self, addresses: Sequence[str]) -> Server:
        failed: CannotRunError | None = None
        for address in addresses:
            try:
                server = Server(address.strip(), self._access, "name server", self._patience)
            except CannotRunError as error:
                failed = error
                continue
            self._open.callback(server.close)
            return server
        assert failed is not None  # a text has at least one part
        raise failed

    def masters(self) -> dict[str, str]:
        """The address of each broker's master, by name."""
        return self._once(("cluster",), self._ask_cluster)[0]

    def cluster_of(self, broker: str) -> str:
        """The name of a broker's cluster; "" where the name server does not say."""
        return self._once(("cluster",), self._ask_cluster)[1].get(broker, "")

    def without_master(self) -> frozenset[str]:
        """The brokers whose master is gone."""
        return self._once(("cluster",), self._ask_cluster)[2]

    def _ask_cluster(self) -> tuple[dict[str, str], dict[str, str], frozenset[str]]:
        """The addresses of masters, and the names of clusters, by broker; and brokers whose master is gone."""
        answer = self._names.ask(requests.Ask(Request.GET_BROKER_CLUSTER_INFO, {}))
        if answer.code:
            raise CannotRunError(f"The name server names no brokers ({response_name(answer.code)} {answer.remark}).")
        with document(answer, "the name server's brokers") as body:
            table = body.get("brokerAddrTable") or {}
            names = dict(body.get("clusterAddrTable") or {}).items()
            clusters = {str(broker): str(name) for name, brokers in names for broker in brokers}
            found = {str(name): self._address(each) for name, each in dict(table).items()}
            slaves = frozenset(str(name) for name, each in dict(table).items() if self._slaves or lacks_master(each))
        masters = {name: address for name, address in found.items() if address}
        if not masters and self._slaves:
            raise CannotRunError(
                "The name server knows no slave: while a master is gone its queues are served by none."
            )
        if not masters:
            raise CannotRunError("The name server knows no broker: name that of the cluster, and start its brokers.")
        return masters, clusters, slaves

    def find_route(self, topic: str) -> tuple[TopicQueues, ...] | None:
        """The readable queues of a topic, in the order of the route; None when there is no such topic."""
        self.find_routes([topic])
        return cast("tuple[TopicQueues, ...] | None", self._kept["route", topic])

    def find_routes(self, topics: Sequence[str]) -> None:
        """Ask for the routes that are not known yet, many at a time."""
        missing = [topic for topic in dict.fromkeys(topics) if ("route", topic) not in self._kept]
        asks = [requests.Ask(Request.GET_ROUTEINFO_BY_TOPIC, {"topic": topic}) for topic in missing]
        for done, (topic, answer) in enumerate(zip(missing, self._names.ask_all(asks), strict=True), start=1):
            self._kept["route", topic] = self._read_route(topic, answer)
            self._progress(done, len(missing))

    def _read_route(self, topic: str, answer: Command) -> tuple[TopicQueues, ...] | None:
        if answer.code == Response.TOPIC_NOT_EXIST:
            return None
        if answer.code:
            raise CannotRunError(
                f"The name server refuses the route of {topic!r} ({response_name(answer.code)} {answer.remark})."
            )
        found = []
        with document(answer, f"the route of {topic!r}") as data:
            masters = {str(each["brokerName"]): self._address(each) for each in data.get("brokerDatas") or ()}
            order = list(masters)
            for each in data.get("queueDatas") or ():
                name, count = str(each["brokerName"]), int(each["readQueueNums"])
                if count not in range(MOST_QUEUES + 1):
                    raise ValueError(f"{name} has {count} queues")
                if int(each["perm"]) & READ and count and masters.get(name):
                    found.append(TopicQueues(name, masters[name], count))
        return tuple(sorted(found, key=lambda part: order.index(part.broker)))

    # --- brokers ------------------------------------------------------------------------------------------------

    def broker(self, address: str) -> Server:
        """The broker at an address; CannotRunError, each time, where it cannot be reached."""
        if address in self._unreachable:
            raise self._unreachable[address]
        if address not in self._brokers:
            try:
                self._brokers[address] = Server(address, self._access, "broker", self._patience)
            except CannotRunError as error:
                self._unreachable[address] = error
                raise
            self._open.callback(self._brokers[address].close)
        return self._brokers[address]

    def known_groups(self, address: str) -> tuple[str, ...] | None:
        """The groups that a broker knows; None when it does not show them."""
        return self._once(("groups", address), lambda: self._shown(address, ALL_GROUPS, known_groups))

    def stored_table(self, address: str) -> dict[str, dict[tuple[str, int], int]] | None:
        """All stored offsets of a broker, by group; None when it does not show them."""
        ask = requests.stored_offsets()
        return self._once(("stored", address), lambda: self._shown(address, ask, stored_table))

    def offsets_version(self, address: str) -> tuple[int, int, int]:
        """The data version of the offsets that a broker stored."""
        return offsets_version(self.broker(address).try_to_ask(requests.stored_offsets()))

    def _shown(self, address: str, ask: requests.Ask, read: Callable[[Command], Kept | None]) -> Kept | None:
        """What a broker's answer says; None, too, where it is longer than clients of RocketMQ take."""
        try:
            return read(self.broker(address).try_to_ask(ask))
        except UnreadableError:
            return None

    def release(self, name: str, address: str) -> Release:
        """The release of a broker."""
        return self._once(("release", address), lambda: self._ask_release(name, address))

    def _ask_release(self, name: str, address: str) -> Release:
        answer = self.broker(address).ask(requests.runtime_info())
        text = ""
        if not answer.code:
            with document(answer, "runtime information") as body:
                text = str(dict(body["table"]).get("brokerVersionDesc", ""))
        release = of_description(text) or of_ordinal(answer.version)
        if release is None:
            raise CannotRunError(f"Broker {name} at {address} is of no known release ({text or answer.version}).")
        return release

    def configured(self, name: str, address: str, release: Release) -> BrokerFacts:
        """What is known of a broker whatever the group."""
        return self._once(("configuration", address), lambda: self._ask_configuration(name, address, release))

    def _ask_configuration(self, name: str, address: str, release: Release) -> BrokerFacts:
        answer = self.broker(address).try_to_ask(requests.configuration())
        unread, configuration, doubts, keeps_pops = "", {}, [], ""
        if answer.code:
            unread = f"{response_name(answer.code)} {answer.remark}".strip()
        else:
            read = parse(self._access.redacted(answer.body.decode("utf-8", "replace")))
            for found in off_default(release, read):
                if found.kind == MODELLED:
                    configuration[found.name] = found.value
                else:
                    doubts.append(str(found))
            keeps_pops = next((f"{name}=true" for name in KEEPS_POPS if read.get(name) == "true"), "")
        return BrokerFacts(
            name=name,
            release=str(release),
            configuration=configuration,
            unread=unread,
            doubts=tuple(doubts),
            cluster=self.cluster_of(name),
            keeps_pops=keeps_pops,
        )

    def bounds(self, parts: Sequence[Part], time: int | None) -> dict[Part, list[Bounds]]:
        """What is known of each queue of these parts, with what a search for the time finds if there is one."""

        def shared(topic: str, part: TopicQueues, queue: int) -> list[requests.Ask]:
            searches = [] if time is None else [requests.search(topic, queue, time, "")]
            bounds = [requests.min_offset(topic, queue), requests.max_offset(topic, queue)]
            return [*bounds, requests.earliest(topic, queue), *searches]

        missing = [each for each in parts if ("queues", each[1].broker, each[0], time) not in self._kept]
        for (topic, part), rows in self.ask_about(missing, shared):
            self._kept["queues", part.broker, topic, time] = [
                Bounds(
                    number(least, "min"),
                    number(most, "max"),
                    number(earliest, "the earliest time", "timestamp"),
                    number(found[0], "a search") if found else None,
                )
                for least, most, earliest, *found in rows
            ]
        return {(topic, part): self._kept["queues", part.broker, topic, time] for topic, part in parts}

    def ask_about(
        self, parts: Sequence[Part], asks: Callable[[str, TopicQueues, int], list[requests.Ask]]
    ) -> Iterator[tuple[Part, list[list[Command]]]]:
        """The answers about each queue of these parts."""
        for address, some in by_address(parts).items():
            asked = [[asks(topic, part, queue) for queue in range(part.count)] for topic, part in some]
            answers = self.broker(address).ask_all([ask for each in asked for queue in each for ask in queue])
            for one, each in zip(some, asked, strict=True):
                yield one, [list(islice(answers, len(queue))) for queue in each]
