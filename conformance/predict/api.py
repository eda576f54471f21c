"""Predictions as library calls: read a group, and ask for its starts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.predict.cluster import ClusterReader
from rocketmq_conformance.conformance.predict.facts import CLUSTERING, GRPC, POP, POPPING, PUSH, GroupFacts, retry_topic
from rocketmq_conformance.conformance.predict.failover import PairFacts
from rocketmq_conformance.conformance.predict.server import PATIENCE
from rocketmq_conformance.conformance.predict.start import Consumer
from rocketmq_conformance.conformance.remoting.access import Access
from rocketmq_conformance.conformance.targets.broker.access_settings import access_of, settings_of
from rocketmq_conformance.models.client.start import LAST
from rocketmq_conformance.models.release import NEWEST, Release


def read_group(
    name_servers: str,
    group: str,
    topics: Sequence[str] = (),
    time: int | None = None,
    patience: float = PATIENCE,
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> GroupFacts:
    """What is known about a group of the cluster of these name servers ("host:port", several between commas).

    Without ``topics`` they are those that its members subscribe to or that it stored offsets of. With a ``time`` (ms
    since the epoch) starts by time are known, too. ``patience`` is the timeout of a request (s); ``progress`` is called
    with how many topics are done, and of how many. Nothing is created or changed. Credentials and TLS come from the
    environment (docs/guides/access.md). CannotRunError with a sentence when the group cannot be read.
    """
    with ClusterReader(name_servers, access(), patience, progress) as reader:
        return reader.read(group, topics, time)


def read_pair(
    name_servers: str,
    group: str,
    topics: Sequence[str] = (),
    patience: float = PATIENCE,
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> PairFacts:
    """The same, as masters show it and as their slaves do; CannotRunError, too, where no broker has a slave, or where a
    master is gone already."""
    with ClusterReader(name_servers, access(), patience, progress) as masters:
        known = masters.read(group, topics)
        refuse_pops(known)
        if gone := [broker.name for broker in known.brokers if broker.slave]:
            raise CannotRunError(
                f"The master of {gone[0]} is gone already, and with it the offsets that it comes back with: ask before "
                "a fail-over, or ask `predict start` what its slave does."
            )
        if wrong := masters.of_role((broker.name for broker in known.brokers), slaves=False):
            raise CannotRunError(
                f"Broker {wrong} has brokerId 0 and runs as a slave (brokerRole=SLAVE): a pair needs a master."
            )
        versions = masters.versions()
    with ClusterReader(name_servers, access(), patience, progress, slaves=True) as slaves:
        theirs = slaves.versions()
        paired = slaves.read(group, [topic for topic in known.topics if topic != retry_topic(group)])
        if wrong := slaves.of_role((broker.name for broker in paired.brokers), slaves=True):
            raise CannotRunError(
                f"Both brokers of the name {wrong} are masters: give one of them brokerRole=SLAVE, or another name."
            )
    newer = frozenset(name for name, version in theirs.items() if versions.get(name, version) > version)
    return PairFacts(master=known, slave=paired, newer=newer)


def usual_kind(facts: GroupFacts) -> str:
    """The kind of consumers that a group has, as its members and topics show it. What came back to pops shows that it
    pops: by a client behind the gRPC proxy, unless members or a mode that is set show another one."""
    if facts.came_back and facts.kind in {"", PUSH}:
        return POP if facts.kind or facts.pops else GRPC
    return facts.kind or PUSH


def refuse_pops(facts: GroupFacts) -> None:
    """CannotRunError with a sentence for a group that pops."""
    kind = usual_kind(facts)
    if kind in POPPING:
        raise CannotRunError(
            f"The group {facts.group!r} pops its messages: this is predicted of groups that pull. Ask `predict start` "
            "or `predict upgrade`."
        )


def access() -> Access:
    """The access that the environment describes; CannotRunError with a sentence when it cannot be used."""
    try:
        return access_of(settings_of())
    except ValueError as error:
        raise CannotRunError(str(error)) from error


def consumer_of(
    facts: GroupFacts,
    *,
    client: Release | None = None,
    kind: str = "",
    model: str = "",
    where: str = "",
    timestamp: str | None = None,
    zone: str = "UTC",
) -> Consumer:
    """The consumer that a group's members are, where nothing else is said; of the newest release without members."""
    known = [Release.parse(member.release) for member in facts.members if member.release]
    return Consumer(
        client=client or (min(known) if known else NEWEST),
        kind=kind or usual_kind(facts),
        model=model or facts.model or CLUSTERING,
        where=where or facts.where or LAST,
        timestamp=timestamp,
        zone=zone,
    )
