"""Reads what is known about a group from its cluster. Nothing is created or changed: these requests only read.

The name server is asked for routes and clusters; brokers for their release and configuration, for the members and
offsets of the group, and for min, max, the earliest time and searches of queues that routes name. Not sent are pulls,
heartbeats and unregistrations: a broker creates the group that they name (autoCreateSubscriptionGroup). A query for a
queue that no route names would make a broker open an empty queue, so none is sent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Self

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.predict.answers import (
    ALL_GROUPS,
    document,
    is_built_in,
    known_groups,
    master,
    members_of,
    number,
    offset,
    stored_table,
)
from rocketmq_conformance.conformance.predict.facts import LITE, BrokerFacts, GroupFacts, QueueFacts, retry_topic
from rocketmq_conformance.conformance.predict.releases import of_description, of_ordinal
from rocketmq_conformance.conformance.predict.server import Server
from rocketmq_conformance.conformance.properties.defaults import parse
from rocketmq_conformance.conformance.properties.found import MODELLED, off_default
from rocketmq_conformance.conformance.remoting.access import OPEN, Access
from rocketmq_conformance.conformance.remoting.codes import Request, Response, response_name
from rocketmq_conformance.conformance.targets.broker import requests
from rocketmq_conformance.models.broker.state import READ
from rocketmq_conformance.models.broker.switches import SET_ZERO
from rocketmq_conformance.models.release import Release

#: How a group's topics of messages that were popped are called after its retry topic.
_POPPED = ("_", "+")
_SYSTEM_TOPICS = ("rmq_sys_", "RMQ_SYS_", "SCHEDULE_TOPIC_XXXX", "%DLQ%")


@dataclass(frozen=True, slots=True)
class _Queues:
    """The readable queues of a topic on one broker."""

    broker: str
    address: str
    count: int


class ClusterReader:
    """Reads a cluster by its name servers, of which the first that answers is asked; a context manager."""

    def __init__(self, name_servers: str, access: Access = OPEN) -> None:
        self._access = access
        self._open = ExitStack()
        self._brokers: dict[str, Server] = {}
        self._names = self._connected(name_servers.replace(";", ",").split(","))

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
        brokers = self._cluster()
        releases = {name: self._release(name, address) for name, address in brokers.items()}
        members = members_of(self._broker(address).ask(requests.connection_list(group)) for address in brokers.values())
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
        used = {part.broker for each in routes.values() for part in each}
        return GroupFacts(
            group=group,
            brokers=tuple(
                self._facts(name, brokers[name], group, releases[name], stored[name] is None) for name in sorted(used)
            ),
            queues=tuple(
                queue
                for topic, parts in routes.items()
                for part in parts
                for queue in self._queues(group, topic, part, releases[part.broker], stored[part.broker], time)
            ),
            members=members.members,
            kind=members.kind,
            model=members.model,
            where=members.where,
            time=time,
            read=datetime.now(UTC).isoformat(timespec="seconds"),
        )

    def read_if_used(self, group: str, topics: Sequence[str] = ()) -> GroupFacts | None:
        """The same; None for a group that consumes nothing, or that cannot be predicted."""
        try:
            return self.read(group, topics)
        except CannotRunError:
            return None

    def groups(self) -> tuple[str, ...]:
        """The groups that any broker knows, or that stored offsets, without those of brokers and tools."""
        found: set[str] = set()
        for address in self._cluster().values():
            found |= set(known_groups(self._broker(address).ask(ALL_GROUPS)) or ())
            answer = self._broker(address).ask(requests.stored_offsets())
            found |= {group for _, group, _ in stored_table(answer) or ()}
        return tuple(sorted(group for group in found if not is_built_in(group)))

    # --- the name server ----------------------------------------------------------------------------------------

    def _connected(self, addresses: Sequence[str]) -> Server:
        failed: CannotRunError | None = None
        for address in addresses:
            try:
                server = Server(address.strip(), self._access, "name server")
            except CannotRunError as error:
                failed = error
                continue
            self._open.callback(server.close)
            return server
        assert failed is not None  # a text has at least one part
        raise failed

    def _cluster(self) -> dict[str, str]:
        """The address of each broker's master, by name."""
        answer = self._names.ask(requests.Ask(Request.GET_BROKER_CLUSTER_INFO, {}))
        if answer.code:
            raise CannotRunError(f"The name server names no brokers ({response_name(answer.code)} {answer.remark}).")
        table = document(answer, "the name server's brokers").get("brokerAddrTable") or {}
        found = {str(name): master(each) for name, each in dict(table).items()}
        masters = {name: address for name, address in found.items() if address}
        if not masters:
            raise CannotRunError("The name server knows no broker: name that of the cluster, and start its brokers.")
        return masters

    def _route(self, topic: str) -> tuple[_Queues, ...]:
        """The readable queues of a topic; CannotRunError when there is no such topic."""
        route = self._find_route(topic)
        if route is None:
            raise CannotRunError(f"The cluster has no topic {topic!r}: name another one with --topic.")
        if not route:
            raise CannotRunError(f"No queue of the topic {topic!r} can be read: no consumer starts in it.")
        return route

    def _find_route(self, topic: str) -> tuple[_Queues, ...] | None:
        answer = self._names.ask(requests.Ask(Request.GET_ROUTEINFO_BY_TOPIC, {"topic": topic}))
        if answer.code == Response.TOPIC_NOT_EXIST:
            return None
        if answer.code:
            raise CannotRunError(
                f"The name server refuses the route of {topic!r} ({response_name(answer.code)} {answer.remark})."
            )
        data = document(answer, f"the route of {topic!r}")
        masters = {str(each["brokerName"]): master(each) for each in data.get("brokerDatas") or ()}
        found = []
        for each in data.get("queueDatas") or ():
            name, count = str(each["brokerName"]), int(each["readQueueNums"])
            if int(each["perm"]) & READ and count and masters.get(name):
                found.append(_Queues(name, masters[name], count))
        return tuple(sorted(found, key=lambda part: part.broker))

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
        if not found:
            raise CannotRunError(
                f"The group {group!r} has no members and no stored offsets here: name the topic that it is to consume "
                "with --topic."
            )
        return tuple(found)

    def _refuse_popped(self, group: str, topics: Sequence[str]) -> None:
        for topic in topics:
            for between in _POPPED:
                name = f"{retry_topic(group)}{between}{topic}"
                if self._find_route(name):
                    raise CannotRunError(
                        f"The group {group!r} pops its messages ({name}), as clients behind the gRPC proxy do: only "
                        "consumers that pull are predicted."
                    )

    # --- brokers ------------------------------------------------------------------------------------------------

    def _broker(self, address: str) -> Server:
        if address not in self._brokers:
            self._brokers[address] = Server(address, self._access, "broker")
            self._open.callback(self._brokers[address].close)
        return self._brokers[address]

    def _release(self, name: str, address: str) -> Release:
        answer = self._broker(address).ask(requests.runtime_info())
        text = ""
        if not answer.code:
            text = str(dict(document(answer, "runtime information")["table"]).get("brokerVersionDesc", ""))
        release = of_description(text) or of_ordinal(answer.version)
        if release is None:
            raise CannotRunError(f"Broker {name} at {address} is of no known release ({text or answer.version}).")
        return release

    def _facts(self, name: str, address: str, group: str, release: Release, hides: bool) -> BrokerFacts:
        server = self._broker(address)
        known = known_groups(server.try_to_ask(ALL_GROUPS))
        answer = server.try_to_ask(requests.configuration())
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
            hides_offsets=hides and not SET_ZERO.on(release),
            knows_group=None if known is None else group in known,
        )

    def _stored(self, address: str, group: str) -> dict[tuple[str, int], int] | None:
        """The group's stored offsets by topic and queue; None when the broker does not show them."""
        table = stored_table(self._broker(address).try_to_ask(requests.stored_offsets()))
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
        asked: list[Callable[[int], requests.Ask]] = [
            lambda queue: requests.query(group, topic, queue, None),
            lambda queue: requests.min_offset(topic, queue),
            lambda queue: requests.max_offset(topic, queue),
            lambda queue: requests.earliest(topic, queue),
        ]
        if SET_ZERO.on(release):
            asked.append(lambda queue: requests.query(group, topic, queue, False))
        if time is not None:
            asked.append(lambda queue: requests.search(topic, queue, time, ""))
        server = self._broker(part.address)
        answers = list(server.ask_all([make(queue) for make in asked for queue in every]))
        rows = [answers[at * part.count : (at + 1) * part.count] for at in range(len(asked))]
        for queue in every:
            answer, least, most, earliest = (row[queue] for row in rows[:4])
            answered = offset(answer)
            if SET_ZERO.on(release):
                kept = offset(rows[4][queue])
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
