"""Reads what is known about a group from its cluster. Nothing is created or changed: these requests only read.

The name server is asked for routes and clusters; brokers for their release and configuration, for the members and
offsets of the group, and for min, max, the earliest time and searches of queues that routes name. Not sent are pulls,
heartbeats and unregistrations: a broker creates the group that they name (autoCreateSubscriptionGroup). A query for a
queue that no route names would make a broker open an empty queue, so none is sent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Self

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.predict.answers import (
    is_built_in,
    members_of,
    offset,
)
from rocketmq_conformance.conformance.predict.asked_cluster import AskedCluster, Part, TopicQueues, by_address, together
from rocketmq_conformance.conformance.predict.facts import (
    LITE,
    MOST_TOPICS,
    BrokerFacts,
    GroupFacts,
    QueueFacts,
    pop_retry_topics,
    retry_topic,
)
from rocketmq_conformance.conformance.predict.server import PATIENCE
from rocketmq_conformance.conformance.remoting.access import OPEN, Access
from rocketmq_conformance.conformance.targets.broker import requests, responses
from rocketmq_conformance.models.broker.assignment import BROADCASTING, POP
from rocketmq_conformance.models.broker.switches import ASSIGNS, SET_ZERO
from rocketmq_conformance.models.release import Release

#: What a slave has off its default, which is known of it.
_OF_SLAVES = ("brokerId=", "brokerRole=")
SLAVE_ROLE = "brokerRole=SLAVE"
_SYSTEM_TOPICS = ("rmq_sys_", "RMQ_SYS_", "SCHEDULE_TOPIC_XXXX", "%DLQ%")


class NotUsedError(CannotRunError):
    """A group that consumes nothing, as far as its cluster knows."""


@dataclass(frozen=True, slots=True)
class ReadGroups:
    """The groups of a cluster."""

    known: tuple[GroupFacts, ...]
    #: How many consume nothing.
    unused: int = 0
    #: Those that could not be read: (group, why).
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
        slaves: bool = False,
    ) -> None:
        """With ``slaves`` it is as if every master that has a slave were gone."""
        #: Called with how many topics of a group are done, once for their routes and once for their queues.
        self._progress = progress
        self._cluster = AskedCluster(name_servers.replace(",", ";"), access, patience, progress, slaves)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._cluster.close()

    def read(self, group: str, topics: Sequence[str] = (), time: int | None = None) -> GroupFacts:
        """What is known about a group: in these topics, or in those that it subscribes to or stored offsets of.

        With a ``time`` (ms since the epoch) each queue is searched for it. CannotRunError with a sentence when that
        cannot be found out.
        """
        brokers = dict(self._cluster.masters())
        releases = {name: self._cluster.release(name, address) for name, address in brokers.items()}
        asked = requests.connection_list(group)
        members = members_of(self._cluster.broker(address).try_to_ask(asked) for address in brokers.values())
        stored = {name: self._stored(address, group) for name, address in brokers.items()}
        wanted = tuple(topics) or self._topics(group, members.topics, stored.values())
        self._cluster.find_routes(wanted)
        routes = {topic: self._route(topic) for topic in wanted}
        routes |= self._came_back(group, wanted)
        if not topics or members.kind != LITE:
            routes |= self._retry(group, routes)
        for each in routes.values():
            for part in each:
                if part.broker not in releases:
                    releases[part.broker] = self._cluster.release(part.broker, part.address)
                    brokers[part.broker] = part.address
                    stored[part.broker] = self._stored(part.address, group)
        used = dict.fromkeys(part.broker for each in routes.values() for part in each)
        parts = [(topic, part) for topic, each in routes.items() for part in sorted(each, key=lambda part: part.broker)]
        queues: list[QueueFacts] = []
        done = 0
        for some in together(parts):
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
            name_servers=self._cluster.name_servers,
            pops=self._given_to_pop(group, parts, releases),
        )

    def versions(self) -> dict[str, tuple[int, int, int]]:
        """The data version of stored offsets, by broker."""
        return {name: self._cluster.offsets_version(address) for name, address in self._cluster.masters().items()}

    def of_role(self, names: Iterable[str], slaves: bool) -> str:
        """The first of these brokers whose configuration says that it is no slave, or is one; "" where all are right,
        or do not show it."""
        for name in names:
            address = self._cluster.masters()[name]
            known = self._cluster.configured(name, address, self._cluster.release(name, address))
            if not known.unread and (SLAVE_ROLE in known.doubts) != slaves:
                return name
        return ""

    def read_all(
        self, topics: Sequence[str] = (), progress: Callable[[int, int], None] = lambda done, of: None
    ) -> ReadGroups:
        """Every group that any broker knows, or that stored offsets, without those of brokers and tools."""
        groups = self.groups()
        known: list[GroupFacts] = []
        failed: list[tuple[str, str]] = []
        for done, group in enumerate(groups):
            progress(done, len(groups))
            try:
                known.append(self.read(group, topics))
            except NotUsedError:
                pass
            except CannotRunError as error:
                failed.append((group, str(error)))
        progress(len(groups), len(groups))
        unused = len(groups) - len(known) - len(failed)
        return ReadGroups(tuple(known), unused, tuple(failed))

    def groups(self) -> tuple[str, ...]:
        """The groups that any broker knows, or that stored offsets, without those of brokers and tools."""
        found: set[str] = set()
        for name, address in self._cluster.masters().items():
            known, stored = self._cluster.known_groups(address), self._cluster.stored_table(address)
            if known is None and stored is None:
                raise CannotRunError(f"Broker {name} shows neither its groups nor stored offsets: name a group.")
            found.update(known or (), stored or ())
        return tuple(sorted(group for group in found if not is_built_in(group)))

    def _route(self, topic: str) -> tuple[TopicQueues, ...]:
        """The readable queues of a topic, in the order of the route; CannotRunError when there is no such topic."""
        route = self._cluster.find_route(topic)
        if route is None:
            raise CannotRunError(f"The cluster has no topic {topic!r}: name another one with --topic.")
        if not route:
            raise CannotRunError(f"No queue of the topic {topic!r} can be read: no consumer starts in it.")
        return route

    def _retry(self, group: str, known: Mapping[str, object]) -> dict[str, tuple[TopicQueues, ...]]:
        topic = retry_topic(group)
        route = None if topic in known else self._cluster.find_route(topic)
        return {topic: route} if route else {}

    def _topics(self, group: str, subscribed: Sequence[str], stored: Any) -> tuple[str, ...]:
        """The topics that a group consumes."""
        offsets = {topic for table in stored for topic, _ in table or ()}
        every = sorted({*subscribed, *offsets})
        back = {name for topic in every for name in (retry_topic(group), *pop_retry_topics(group, topic))}
        found = [topic for topic in every if topic not in back and not topic.startswith(_SYSTEM_TOPICS)]
        if len(found) > MOST_TOPICS:
            raise CannotRunError(
                f"The group {group!r} consumes {len(found):,} topics, and at most {MOST_TOPICS:,} are predicted at "
                "once: name some with --topic."
            )
        self._cluster.find_routes(found)
        found = [topic for topic in found if self._cluster.find_route(topic)]
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

    def _came_back(self, group: str, topics: Sequence[str]) -> dict[str, tuple[TopicQueues, ...]]:
        """The topics in which messages of these came back to pops of the group."""
        names = [name for topic in topics for name in pop_retry_topics(group, topic)]
        self._cluster.find_routes(names)
        return {name: route for name in names if (route := self._cluster.find_route(name))}

    def _given_to_pop(self, group: str, parts: Sequence[Part], releases: Mapping[str, Release]) -> tuple[str, ...]:
        """The topics for which the mode of a group's requests is POP. Brokers answer a broadcasting member, whether it
        is there or not."""
        asked = [(topic, part) for topic, part in parts if ASSIGNS.on(releases[part.broker])]
        found = set()
        for address, some in by_address(asked).items():
            asks = [requests.assignment(topic, group, "predict", BROADCASTING, "AVG") for topic, _ in some]
            for (topic, _), answer in zip(some, self._cluster.broker(address).try_to_ask_all(asks), strict=True):
                listed = responses.assigned(answer, topic)
                if isinstance(listed, tuple) and any(isinstance(each, tuple) and each[-1] == POP for each in listed):
                    found.add(topic)
        return tuple(dict.fromkeys(topic for topic, _ in parts if topic in found))

    def _facts(self, name: str, address: str, group: str, release: Release, hides: bool) -> BrokerFacts:
        known = self._cluster.known_groups(address)
        configured = self._cluster.configured(name, address, release)
        slave = name in self._cluster.without_master()
        return replace(
            configured,
            doubts=tuple(doubt for doubt in configured.doubts if not (slave and doubt.startswith(_OF_SLAVES))),
            slave=slave,
            hides_offsets=hides and not SET_ZERO.on(release),
            knows_group=None if known is None else group in known,
        )

    def _stored(self, address: str, group: str) -> dict[tuple[str, int], int] | None:
        """The group's stored offsets by topic and queue; None when the broker does not show them."""
        table = self._cluster.stored_table(address)
        return None if table is None else table.get(group, {})

    def _queues(
        self,
        group: str,
        parts: Sequence[Part],
        releases: Mapping[str, Release],
        stored: Mapping[str, Mapping[tuple[str, int], int] | None],
        time: int | None,
    ) -> Iterator[QueueFacts]:
        """The queues of these parts, about which brokers are asked together."""

        def own(topic: str, part: TopicQueues, queue: int) -> list[requests.Ask]:
            without = [requests.query(group, topic, queue, False)] if SET_ZERO.on(releases[part.broker]) else []
            return [requests.query(group, topic, queue, None), *without]

        found = self._cluster.bounds(parts, time)
        answers = dict(self._cluster.ask_about(parts, own))
        for topic, part in parts:
            table = stored[part.broker]
            for queue, bounds in enumerate(found[topic, part]):
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
