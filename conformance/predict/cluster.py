"""Reads what is known about a group from its cluster. Nothing is created or changed: these requests only read.

The name server is asked for routes and clusters; brokers for their release and configuration, for the members and
offsets of the group, and for min, max, the earliest time and searches of queues that routes name. Not sent are pulls,
heartbeats and unregistrations: a broker creates the group that they name (autoCreateSubscriptionGroup). A query for a
queue that no route names would make a broker open an empty queue, so none is sent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Self, TypeVar, cast

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
    BrokerFacts,
    GroupFacts,
    QueueFacts,
    retry_topic,
)
from rocketmq_conformance.conformance.predict.releases import of_description, of_ordinal
from rocketmq_conformance.conformance.predict.server import PATIENCE, Server
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
_SYSTEM_TOPICS = ("rmq_sys_", "RMQ_SYS_", "SCHEDULE_TOPIC_XXXX", "%DLQ%")


@dataclass(frozen=True, slots=True)
class _Queues:
    """The readable queues of a topic on one broker."""

    broker: str
    address: str
    count: int


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

    def __init__(self, name_servers: str, access: Access = OPEN, patience: float = PATIENCE) -> None:
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
        return GroupFacts(
            group=group,
            brokers=tuple(
                self._facts(name, brokers[name], group, releases[name], stored[name] is None) for name in used
            ),
            queues=tuple(
                queue
                for topic, parts in routes.items()
                for part in sorted(parts, key=lambda part: part.broker)
                for queue in self._queues(group, topic, part, releases[part.broker], stored[part.broker], time)
            ),
            members=members.members,
            members_unread=members.unread,
            kind=members.kind,
            model=members.model,
            where=members.where,
            time=time,
            read=datetime.now(UTC).isoformat(timespec="seconds"),
            name_servers=self.name_servers,
            pops=tuple(topic for topic, parts in routes.items() if self._gives_to_pop(group, topic, parts, releases)),
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
        for address in self._masters().values():
            found |= set(self._known_groups(address) or ())
            found |= {group for _, group, _ in self._stored_table(address) or ()}
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
        return self._once(("route", topic), lambda: self._ask_route(topic))

    def _ask_route(self, topic: str) -> tuple[_Queues, ...] | None:
        answer = self._names.ask(requests.Ask(Request.GET_ROUTEINFO_BY_TOPIC, {"topic": topic}))
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
        for topic in topics:
            for between in _POPPED:
                name = f"{retry_topic(group)}{between}{topic}"
                if self._find_route(name):
                    raise PopsError(
                        f"The group {group!r} pops its messages ({name}), as clients behind the gRPC proxy do: only "
                        "consumers that pull are predicted."
                    )

    def _gives_to_pop(self, group: str, topic: str, parts: Sequence[_Queues], releases: Mapping[str, Release]) -> bool:
        """Is the mode of a group's requests POP? Brokers answer a broadcasting member, whether it is there or not."""
        for part in parts:
            if ASSIGNS.on(releases[part.broker]):
                asked = requests.assignment(topic, group, "predict", BROADCASTING, "AVG")
                listed = responses.assigned(self._broker(part.address).try_to_ask(asked), topic)
                if isinstance(listed, tuple) and any(isinstance(each, tuple) and each[-1] == POP for each in listed):
                    return True
        return False

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
        return self._once(("groups", address), lambda: known_groups(self._broker(address).try_to_ask(ALL_GROUPS)))

    def _stored_table(self, address: str) -> dict[tuple[str, str, int], int] | None:
        """All stored offsets of a broker; None when it does not show them."""
        ask = requests.stored_offsets()
        return self._once(("stored", address), lambda: stored_table(self._broker(address).try_to_ask(ask)))

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
        if table is None:
            return None
        return {(topic, queue): offset for (topic, other, queue), offset in table.items() if other == group}

    def _queues(
        self,
        group: str,
        topic: str,
        part: _Queues,
        release: Release,
        stored: Mapping[tuple[str, int], int] | None,
        time: int | None,
    ) -> Iterator[QueueFacts]:
        every = range(part.count)
        server = self._broker(part.address)

        def ask(*makes: Callable[[int], requests.Ask]) -> list[list[Command]]:
            answers = list(server.ask_all([make(queue) for make in makes for queue in every]))
            return [answers[at * part.count : (at + 1) * part.count] for at in range(len(makes))]

        shared: list[Callable[[int], requests.Ask]] = [
            lambda queue: requests.min_offset(topic, queue),
            lambda queue: requests.max_offset(topic, queue),
            lambda queue: requests.earliest(topic, queue),
        ]
        if time is not None:
            shared.append(lambda queue: requests.search(topic, queue, time, ""))
        own: list[Callable[[int], requests.Ask]] = [lambda queue: requests.query(group, topic, queue, None)]
        if SET_ZERO.on(release):
            own.append(lambda queue: requests.query(group, topic, queue, False))
        rows = self._once(("queues", part.broker, topic, time), lambda: ask(*shared))
        answers = ask(*own)
        for queue in every:
            least, most, earliest = (row[queue] for row in rows[:3])
            answered = offset(answers[0][queue])
            if SET_ZERO.on(release):
                kept = offset(answers[1][queue])
            elif stored is None:
                kept = answered  # a stored 0 and none at all look the same
            else:
                kept = stored.get((topic, queue))
            yield QueueFacts(
                topic=topic,
                broker=part.broker,
                queue=queue,
                min=number(least, "min"),
                max=number(most, "max"),
                earliest=number(earliest, "the earliest time", "timestamp"),
                answer=answered,
                stored=None if kept is None or kept < 0 else kept,
                found=None if time is None else number(rows[-1][queue], "a search"),
            )
