"""Reads what is known about a group from its cluster. Nothing is created or changed: these requests only read.

The name server is asked for routes and clusters; brokers for their release and configuration, for the members and
offsets of the group, and for min, max, the earliest time and searches of queues that routes name. Not sent are pulls,
heartbeats and unregistrations: a broker creates the group that they name (autoCreateSubscriptionGroup). A query for a
queue that no route names would make a broker open an empty queue, so none is sent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import islice
from types import TracebackType
from typing import Any, NamedTuple, Self, TypeVar, cast

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.predict.answers import (
    ALL_GROUPS,
    POPS,
    document,
    is_built_in,
    known_groups,
    lacks_master,
    master,
    members_of,
    number,
    offset,
    stored_table,
)
from rocketmq_conformance.conformance.predict.facts import (
    LITE,
    MOST_QUEUES,
    MOST_TOPICS,
    BrokerFacts,
    GroupFacts,
    QueueFacts,
    retry_topic,
)
from rocketmq_conformance.conformance.predict.releases import of_description, of_ordinal
from rocketmq_conformance.conformance.predict.server import PATIENCE, Server, UnreadableError
from rocketmq_conformance.conformance.properties.defaults import parse
from rocketmq_conformance.conformance.properties.found import MODELLED, off_default
from rocketmq_conformance.conformance.remoting.access import OPEN, Access
from rocketmq_conformance.conformance.remoting.codes import Request, Response, response_name
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.targets.broker import requests, responses
from rocketmq_conformance.models.broker.assignment import BROADCASTING, POP
from rocketmq_conformance.models.broker.state import READ
from rocketmq_conformance.models.broker.switches import ASSIGNS, SET_ZERO
from rocketmq_conformance.models.release import Release

#: How a group's topics of messages that were popped are called after its retry topic.
_POPPED = ("_", "+")
Kept = TypeVar("Kept")
#: What a slave has off its default, which is known of it.
_OF_SLAVES = ("brokerId=", "brokerRole=")
#: Queues that are asked about together, or those of one topic.
_LOT = 2000
_SYSTEM_TOPICS = ("rmq_sys_", "RMQ_SYS_", "SCHEDULE_TOPIC_XXXX", "%DLQ%")


@dataclass(frozen=True, slots=True)
class _Queues:
    """The readable queues of a topic on one broker."""

    broker: str
    address: str
    count: int


#: A topic, and its readable queues on one broker.
_Part = tuple[str, _Queues]


class _Bounds(NamedTuple):
    """What is known of a queue, whoever consumes it."""

    min: int
    max: int
    earliest: int
    #: What a search finds, if there was one.
    found: int | None


def _by_address(parts: Iterable[_Part]) -> dict[str, list[_Part]]:
    found: dict[str, list[_Part]] = {}
    for topic, part in parts:
        found.setdefault(part.address, []).append((topic, part))
    return found


def _together(parts: Iterable[_Part]) -> Iterator[list[_Part]]:
    """Parts in lots about which brokers are asked together."""
    lot: list[_Part] = []
    queues = 0
    for each in parts:
        lot.append(each)
        queues += each[1].count
        if queues >= _LOT:
            yield lot
            lot, queues = [], 0
    if lot:
        yield lot


class NotUsedError(CannotRunError):
    """A group that consumes nothing, as far as its cluster knows."""


class PopsError(CannotRunError):
    """A group that pops its messages."""


@dataclass(frozen=True, slots=True)
class ReadGroups:
    """The groups of a cluster."""

    known: tuple[GroupFacts, ...]
    #: How many consume nothing.
    unused: int = 0
    #: Those that pop, and those that could not be read: (group, why).
    popping: tuple[tuple[str, str], ...] = ()
    failed: tuple[tuple[str, str], ...] = ()


class ClusterReader:
    """Reads a cluster by its name servers, of which the first that answers is asked; a context manager.

    What does not depend on a group is asked once: a reader shows the cluster as it was when it was first asked.
    """

    def __init__(
        self,
        name_servers: str,
        access: Access = OPEN,
        patience: float = PATIENCE,
        progress: Callable[[int, int], None] = lambda done, of: None,
    ) -> None:
        #: Called with how many topics of a group are done, once for their routes and once for their queues.
        self._progress = progress
        self._access, self._patience = access, patience
        self._open = ExitStack()
        self._brokers: dict[str, Server] = {}
        self._unreachable: dict[str, CannotRunError] = {}
        self._kept: dict[tuple[object, ...], Any] = {}
        self.name_servers = name_servers.replace(",", ";")
        self._names = self._connected(self.name_servers.split(";"))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()

    def read(self, group: str, topics: Sequence[str] = (), time: int | None = None) -> GroupFacts:
        """What is known about a group: in these topics, or in those that it subscribes to or stored offsets of.

        With a ``time`` (ms since the epoch) each queue is searched for it. CannotRunError with a sentence when that
        cannot be found out.
        """
        brokers = dict(self._masters())
        releases = {name: self._release(name, address) for name, address in brokers.items()}
        asked = requests.connection_list(group)
        members = members_of(self._broker(address).try_to_ask(asked) for address in brokers.values())
        if members.kind == POPS:
            raise PopsError(f"Members of the group {group!r} pop its messages: only consumers that pull are predicted.")
        stored = {name: self._stored(address, group) for name, address in brokers.items()}
        wanted = tuple(topics) or self._topics(group, members.topics, stored.values())
        self._find_routes(wanted)
        routes = {topic: self._route(topic) for topic in wanted}
        self._refuse_popped(group, wanted)
        if not topics or members.kind != LITE:
            routes |= self._retry(group, routes)
        for each in routes.values():
            for part in each:
                if part.broker not in releases:
                    releases[part.broker] = self._release(part.broker, part.address)
                    brokers[part.broker] = part.address
                    stored[part.broker] = self._stored(part.address, group)
        used = dict.fromkeys(part.broker for each in routes.values() for part in each)
        parts = [(topic, part) for topic, each in routes.items() for part in sorted(each, key=lambda part: part.broker)]
        queues: list[QueueFacts] = []
        done = 0
        for some in _together(parts):
            queues += self._queues(group, some, releases, stored, time)
            done += len(some)
            self._progress(done, len(parts))
        return GroupFacts(
            group=group,
            brokers=tuple(
                self._facts(name, brokers[name], group, releases[name], stored[name] is None) for name in used
            ),
            queues=tuple(queues),
            members=members.members,
            members_unread=members.unread,
            kind=members.kind,
            model=members.model,
            where=members.where,
            time=time,
            read=datetime.now(UTC).isoformat(timespec="seconds"),
            name_servers=self.name_servers,
            pops=self._given_to_pop(group, parts, releases),
        )

    def read_all(
        self, topics: Sequence[str] = (), progress: Callable[[int, int], None] = lambda done, of: None
    ) -> ReadGroups:
        """Every group that any broker knows, or that stored offsets, without those of brokers and tools."""
        groups = self.groups()
        known: list[GroupFacts] = []
        popping: list[tuple[str, str]] = []
        failed: list[tuple[str, str]] = []
        for done, group in enumerate(groups):
            progress(done, len(groups))
            try:
                known.append(self.read(group, topics))
            except NotUsedError:
                pass
            except PopsError as error:
                popping.append((group, str(error)))
            except CannotRunError as error:
                failed.append((group, str(error)))
        progress(len(groups), len(groups))
        unused = len(groups) - len(known) - len(popping) - len(failed)
        return ReadGroups(tuple(known), unused, tuple(popping), tuple(failed))

    def groups(self) -> tuple[str, ...]:
        """The groups that any broker knows, or that stored offsets, without those of brokers and tools."""
        found: set[str] = set()
        for name, address in self._masters().items():
            known, stored = self._known_groups(address), self._stored_table(address)
            if known is None and stored is None:
                raise CannotRunError(f"Broker {name} shows neither its groups nor stored offsets: name a group.")
            found.update(known or (), stored or ())
        return tuple(sorted(group for group in found if not is_built_in(group)))

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

    def _masters(self) -> dict[str, str]:
        """The address of each broker's master, by name."""
        return self._once(("cluster",), self._ask_cluster)[0]

    def _cluster_of(self, broker: str) -> str:
        """The name of a broker's cluster; "" where the name server does not say."""
        return self._once(("cluster",), self._ask_cluster)[1].get(broker, "")

    def _ask_cluster(self) -> tuple[dict[str, str], dict[str, str], frozenset[str]]:
        """The addresses of masters, and the names of clusters, by broker; and brokers whose master is gone."""
        answer = self._names.ask(requests.Ask(Request.GET_BROKER_CLUSTER_INFO, {}))
        if answer.code:
            raise CannotRunError(f"The name server names no brokers ({response_name(answer.code)} {answer.remark}).")
        with document(answer, "the name server's brokers") as body:
            table = body.get("brokerAddrTable") or {}
            names = dict(body.get("clusterAddrTable") or {}).items()
            clusters = {str(broker): str(name) for name, brokers in names for broker in brokers}
            found = {str(name): master(each) for name, each in dict(table).items()}
            slaves = frozenset(str(name) for name, each in dict(table).items() if lacks_master(each))
        masters = {name: address for name, address in found.items() if address}
        if not masters:
            raise CannotRunError("The name server knows no broker: name that of the cluster, and start its brokers.")
        return masters, clusters, slaves

    def _route(self, topic: str) -> tuple[_Queues, ...]:
        """The readable queues of a topic, in the order of the route; CannotRunError when there is no such topic."""
        route = self._find_route(topic)
        if route is None:
            raise CannotRunError(f"The cluster has no topic {topic!r}: name another one with --topic.")
        if not route:
            raise CannotRunError(f"No queue of the topic {topic!r} can be read: no consumer starts in it.")
        return route

    def _find_route(self, topic: str) -> tuple[_Queues, ...] | None:
        self._find_routes([topic])
        return cast("tuple[_Queues, ...] | None", self._kept["route", topic])

    def _find_routes(self, topics: Sequence[str]) -> None:
        """Ask for the routes that are not known yet, many at a time."""
        missing = [topic for topic in dict.fromkeys(topics) if ("route", topic) not in self._kept]
        asks = [requests.Ask(Request.GET_ROUTEINFO_BY_TOPIC, {"topic": topic}) for topic in missing]
        for done, (topic, answer) in enumerate(zip(missing, self._names.ask_all(asks), strict=True), start=1):
            self._kept["route", topic] = self._read_route(topic, answer)
            self._progress(done, len(missing))

    def _read_route(self, topic: str, answer: Command) -> tuple[_Queues, ...] | None:
        if answer.code == Response.TOPIC_NOT_EXIST:
            return None
        if answer.code:
            raise CannotRunError(
                f"The name server refuses the route of {topic!r} ({response_name(answer.code)} {answer.remark})."
            )
        found = []
        with document(answer, f"the route of {topic!r}") as data:
            masters = {str(each["brokerName"]): master(each) for each in data.get("brokerDatas") or ()}
            order = list(masters)
            for each in data.get("queueDatas") or ():
                name, count = str(each["brokerName"]), int(each["readQueueNums"])
                if count not in range(MOST_QUEUES + 1):
                    raise ValueError(f"{name} has {count} queues")
                if int(each["perm"]) & READ and count and masters.get(name):
                    found.append(_Queues(name, masters[name], count))
        return tuple(sorted(found, key=lambda part: order.index(part.broker)))

    def _retry(self, group: str, known: Mapping[str, object]) -> dict[str, tuple[_Queues, ...]]:
        topic = retry_topic(group)
        route = None if topic in known else self._find_route(topic)
        return {topic: route} if route else {}

    def _topics(self, group: str, subscribed: Sequence[str], stored: Any) -> tuple[str, ...]:
        """The topics that a group consumes."""
        offsets = {topic for table in stored for topic, _ in table or ()}
        every = sorted({*subscribed, *offsets})
        found = [topic for topic in every if topic != retry_topic(group) and not topic.startswith(_SYSTEM_TOPICS)]
        if len(found) > MOST_TOPICS:
            raise CannotRunError(
                f"The group {group!r} consumes {len(found):,} topics, and at most {MOST_TOPICS:,} are predicted at "
                "once: name some with --topic."
            )
        self._find_routes(found)
        found = [topic for topic in found if self._find_route(topic)]
        if not found and any(table is None for table in stored):
            raise CannotRunError(
                f"What the group {group!r} consumes is not known, as a broker does not show stored offsets: name the "
                "topic with --topic."
            )
        if not found:
            raise NotUsedError(
                f"The group {group!r} has no members and no stored offsets here: name the topic that it is to consume "
                "with --topic."
            )
        return tuple(found)

    def _refuse_popped(self, group: str, topics: Sequence[str]) -> None:
        names = [f"{retry_topic(group)}{between}{topic}" for topic in topics for between in _POPPED]
        self._find_routes(names)
        for name in names:
            if self._find_route(name):
                raise PopsError(
                    f"The group {group!r} pops its messages ({name}), as clients behind the gRPC proxy do: only "
                    "consumers that pull are predicted."
                )

    def _given_to_pop(self, group: str, parts: Sequence[_Part], releases: Mapping[str, Release]) -> tuple[str, ...]:
        """The topics for which the mode of a group's requests is POP. Brokers answer a broadcasting member, whether it
        is there or not."""
        asked = [(topic, part) for topic, part in parts if ASSIGNS.on(releases[part.broker])]
        found = set()
        for address, some in _by_address(asked).items():
            asks = [requests.assignment(topic, group, "predict", BROADCASTING, "AVG") for topic, _ in some]
            for (topic, _), answer in zip(some, self._broker(address).try_to_ask_all(asks), strict=True):
                listed = responses.assigned(answer, topic)
                if isinstance(listed, tuple) and any(isinstance(each, tuple) and each[-1] == POP for each in listed):
                    found.add(topic)
        return tuple(dict.fromkeys(topic for topic, _ in parts if topic in found))

    # --- brokers ------------------------------------------------------------------------------------------------

    def _broker(self, address: str) -> Server:
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

    def _known_groups(self, address: str) -> tuple[str, ...] | None:
        """The groups that a broker knows; None when it does not show them."""
        return self._once(("groups", address), lambda: self._shown(address, ALL_GROUPS, known_groups))

    def _stored_table(self, address: str) -> dict[str, dict[tuple[str, int], int]] | None:
        """All stored offsets of a broker, by group; None when it does not show them."""
        ask = requests.stored_offsets()
        return self._once(("stored", address), lambda: self._shown(address, ask, stored_table))

    def _shown(self, address: str, ask: requests.Ask, read: Callable[[Command], Kept | None]) -> Kept | None:
        """What a broker's answer says; None, too, where it is longer than clients of RocketMQ take."""
        try:
            return read(self._broker(address).try_to_ask(ask))
        except UnreadableError:
            return None

    def _release(self, name: str, address: str) -> Release:
        return self._once(("release", address), lambda: self._ask_release(name, address))

    def _ask_release(self, name: str, address: str) -> Release:
        answer = self._broker(address).ask(requests.runtime_info())
        text = ""
        if not answer.code:
            with document(answer, "runtime information") as body:
                text = str(dict(body["table"]).get("brokerVersionDesc", ""))
        release = of_description(text) or of_ordinal(answer.version)
        if release is None:
            raise CannotRunError(f"Broker {name} at {address} is of no known release ({text or answer.version}).")
        return release

    def _facts(self, name: str, address: str, group: str, release: Release, hides: bool) -> BrokerFacts:
        known = self._known_groups(address)
        configured = self._once(("configuration", address), lambda: self._configured(name, address, release))
        slave = name in self._once(("cluster",), self._ask_cluster)[2]
        return replace(
            configured,
            doubts=tuple(doubt for doubt in configured.doubts if not (slave and doubt.startswith(_OF_SLAVES))),
            slave=slave,
            hides_offsets=hides and not SET_ZERO.on(release),
            knows_group=None if known is None else group in known,
        )

    def _configured(self, name: str, address: str, release: Release) -> BrokerFacts:
        """What does not depend on a group."""
        answer = self._broker(address).try_to_ask(requests.configuration())
        unread, configuration, doubts = "", {}, []
        if answer.code:
            unread = f"{response_name(answer.code)} {answer.remark}".strip()
        else:
            read = parse(self._access.redacted(answer.body.decode("utf-8", "replace")))
            for found in off_default(release, read):
                if found.kind == MODELLED:
                    configuration[found.name] = found.value
                else:
                    doubts.append(str(found))
        return BrokerFacts(
            name=name,
            release=str(release),
            configuration=configuration,
            unread=unread,
            doubts=tuple(doubts),
            cluster=self._cluster_of(name),
        )

    def _stored(self, address: str, group: str) -> dict[tuple[str, int], int] | None:
        """The group's stored offsets by topic and queue; None when the broker does not show them."""
        table = self._stored_table(address)
        return None if table is None else table.get(group, {})

    def _queues(
        self,
        group: str,
        parts: Sequence[_Part],
        releases: Mapping[str, Release],
        stored: Mapping[str, Mapping[tuple[str, int], int] | None],
        time: int | None,
    ) -> Iterator[QueueFacts]:
        """The queues of these parts, about which brokers are asked together."""

        def own(topic: str, part: _Queues, queue: int) -> list[requests.Ask]:
            without = [requests.query(group, topic, queue, False)] if SET_ZERO.on(releases[part.broker]) else []
            return [requests.query(group, topic, queue, None), *without]

        self._find_bounds(parts, time)
        answers = dict(self._ask_about(parts, own))
        for topic, part in parts:
            table = stored[part.broker]
            for queue, bounds in enumerate(self._kept["queues", part.broker, topic, time]):
                answered, *without = map(offset, answers[topic, part][queue])
                if without:
                    kept = without[0]
                elif table is None:
                    kept = answered  # a stored 0 and none at all look the same
                else:
                    kept = table.get((topic, queue))
                yield QueueFacts(
                    topic=topic,
                    broker=part.broker,
                    queue=queue,
                    min=bounds.min,
                    max=bounds.max,
                    earliest=bounds.earliest,
                    answer=answered,
                    stored=None if kept is None or kept < 0 else kept,
                    found=bounds.found,
                )

    def _find_bounds(self, parts: Sequence[_Part], time: int | None) -> None:
        """Ask what does not depend on a group, as far as it is not known."""

        def shared(topic: str, part: _Queues, queue: int) -> list[requests.Ask]:
            searches = [] if time is None else [requests.search(topic, queue, time, "")]
            bounds = [requests.min_offset(topic, queue), requests.max_offset(topic, queue)]
            return [*bounds, requests.earliest(topic, queue), *searches]

        missing = [each for each in parts if ("queues", each[1].broker, each[0], time) not in self._kept]
        for (topic, part), rows in self._ask_about(missing, shared):
            self._kept["queues", part.broker, topic, time] = [
                _Bounds(
                    number(least, "min"),
                    number(most, "max"),
                    number(earliest, "the earliest time", "timestamp"),
                    number(found[0], "a search") if found else None,
                )
                for least, most, earliest, *found in rows
            ]

    def _ask_about(
        self, parts: Sequence[_Part], asks: Callable[[str, _Queues, int], list[requests.Ask]]
    ) -> Iterator[tuple[_Part, list[list[Command]]]]:
        """The answers about each queue of these parts."""
        for address, some in _by_address(parts).items():
            asked = [[asks(topic, part, queue) for queue in range(part.count)] for topic, part in some]
            answers = self._broker(address).ask_all([ask for each in asked for queue in each for ask in queue])
            for one, each in zip(some, asked, strict=True):
                yield one, [list(islice(answers, len(queue))) for queue in each]
