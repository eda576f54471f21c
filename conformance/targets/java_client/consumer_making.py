"""Makes consumers of a group and lets them rebalance: compiled, or call by call where Java has no compiler."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import jpype

from rocketmq_conformance.conformance.targets.java_client.java_source import compiled
from rocketmq_conformance.conformance.targets.java_client.release import JavaRelease
from rocketmq_conformance.models.client.member_settings import MEMBER_TIMESTAMP
from rocketmq_conformance.suites.declare.topologies import GROUP

#: The offset store that ``start`` of every release and kind of consumer makes, by message model.
STORES = {"CLUSTERING": "RemoteBrokerOffsetStore", "BROADCASTING": "LocalFileOffsetStore"}


class Assembled(NamedTuple):
    """What a consumer is made of."""

    inside: Any
    store: Any
    rebalancing: Any
    #: Its process queues, by queue.
    table: Any


class Making(Protocol):
    """Makes consumers of one class."""

    def consumer(self, where: str, mode: str) -> Any:
        """A new consumer; the first lite pull consumers cannot be set to begin anywhere."""
        ...

    def assembled(self, consumer: Any, factory: Any, strategy: Any, mode: str, topics: Sequence[str]) -> Assembled:
        """Put in what a start would."""
        ...

    def round(
        self, of: Assembled, positions: Any, orderly: bool, ages: Sequence[int] | None
    ) -> tuple[tuple[int, ...], bool | None]:
        """One round: its queues, and whether they are balanced, where the release says so.

        ``positions`` is a map of Java from queues to positions. ``ages`` says how long ago (ms) each of its queues was
        pulled last, by position; None leaves that to the machine.
        """
        ...

    def consume(self, of: Assembled, queue: Any, offset: int, memory: Any) -> int:
        """A listener is done with messages of a queue, as long as the consumer has it, and the next offset is this one:
        what the offset table then holds of the queue; ``memory`` is the read type that asks for that."""
        ...

    def close(self) -> None:
        """Make none any more."""
        ...


def making_for(release: JavaRelease, kind: str, implementation: str) -> Making:
    """The faster of the two that there is; a class, and the field of its implementation."""
    java = compiled("Consumers")
    if java is None:
        return CalledMaking(release, kind, implementation)
    return CompiledMaking(release, kind, implementation, java)


class CalledMaking:
    """By some thirty calls of Java: where it has no compiler."""

    def __init__(self, release: JavaRelease, kind: str, implementation: str) -> None:
        self._release = release
        self._class = release.load(kind)
        self._implementation = implementation
        self._models = release.load("remoting.protocol.heartbeat.MessageModel")
        self._running = release.load("common.ServiceState").RUNNING
        self._millis = jpype.JClass("java.lang.System").currentTimeMillis

    def consumer(self, where: str, mode: str) -> Any:
        """A new consumer; the first lite pull consumers cannot be set to begin anywhere."""
        consumer = self._class(GROUP)
        if hasattr(consumer, "setConsumeFromWhere"):
            consumer.setConsumeFromWhere(getattr(self._release.load("common.consumer.ConsumeFromWhere"), where))
            consumer.setConsumeTimestamp(MEMBER_TIMESTAMP)
        consumer.setMessageModel(getattr(self._models, mode))
        return consumer

    def assembled(self, consumer: Any, factory: Any, strategy: Any, mode: str, topics: Sequence[str]) -> Assembled:
        """Put in what a start would."""
        release = self._release
        inside = release.get(consumer, self._implementation)
        store = release.load(f"client.consumer.store.{STORES[mode]}")(factory, GROUP)
        store.load()
        rebalancing = release.get(inside, "rebalanceImpl")
        rebalancing.setmQClientFactory(factory)
        rebalancing.setConsumerGroup(GROUP)
        rebalancing.setMessageModel(getattr(self._models, mode))
        rebalancing.setAllocateMessageQueueStrategy(strategy)
        puller = release.load("client.impl.consumer.PullAPIWrapper")(factory, GROUP, False)
        for field, value in (
            ("mQClientFactory", factory),
            ("offsetStore", store),
            ("pullAPIWrapper", puller),
            ("serviceState", self._running),
        ):
            release.put(inside, field, value)
        for topic in topics:
            inside.subscribe(topic, "*")
        factory.registerConsumer(GROUP, inside)
        return Assembled(inside, store, rebalancing, rebalancing.getProcessQueueTable())

    def round(
        self, of: Assembled, positions: Any, orderly: bool, ages: Sequence[int] | None
    ) -> tuple[tuple[int, ...], bool | None]:
        """One round."""
        if ages is not None:
            now = self._millis()
            for entry in of.table.entrySet():
                entry.getValue().setLastPullTimestamp(now - ages[int(positions.get(entry.getKey()))])
        balanced = of.rebalancing.doRebalance(orderly)
        owned = sorted(int(positions.get(queue)) for queue in of.table.keySet())
        return tuple(owned), None if balanced is None else bool(balanced)

    def consume(self, of: Assembled, queue: Any, offset: int, memory: Any) -> int:
        """A listener is done with messages."""
        owned = of.table.get(queue)
        if owned is not None and not owned.isDropped():
            of.store.updateOffset(queue, offset, True)
        return int(of.store.readOffset(queue, memory))

    def close(self) -> None:
        """None is made ahead."""


class CompiledMaking:
    """The same by ``Consumers.java``, which makes a few consumers ahead where their clock is the machine's."""

    def __init__(self, release: JavaRelease, kind: str, implementation: str, java: Any) -> None:
        running = release.load("common.ServiceState").RUNNING
        self._java = java(GROUP, release.load(kind).class_, implementation, running, release.made_any_time)
        self._stores = {mode: release.load(f"client.consumer.store.{name}").class_ for mode, name in STORES.items()}
        self._wrapper = release.load("client.impl.consumer.PullAPIWrapper").class_

    def consumer(self, where: str, mode: str) -> Any:
        """A new consumer."""
        return self._java.consumer(where, MEMBER_TIMESTAMP, mode)

    def assembled(self, consumer: Any, factory: Any, strategy: Any, mode: str, topics: Sequence[str]) -> Assembled:
        """Put in what a start would."""
        made = self._java.assembled(consumer, factory, self._stores[mode], self._wrapper, strategy, mode, topics)
        return Assembled(made[0], made[1], made[2], made[3])

    def round(
        self, of: Assembled, positions: Any, orderly: bool, ages: Sequence[int] | None
    ) -> tuple[tuple[int, ...], bool | None]:
        """One round."""
        text = str(self._java.round(of.rebalancing, of.table, positions, orderly, ages))
        owned, balanced = text.split(",")
        return tuple(map(int, owned.split())), bool(int(balanced)) if balanced else None

    def consume(self, of: Assembled, queue: Any, offset: int, memory: Any) -> int:
        """A listener is done with messages."""
        return int(self._java.consume(of.table, of.store, queue, offset, memory))

    def close(self) -> None:
        """Make none ahead any more."""
        self._java.close()
