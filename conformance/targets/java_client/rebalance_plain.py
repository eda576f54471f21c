"""The real plain pull consumers of one release, stepped by hand: three of them, each on a client instance of its own.

The consumers are never started, and never pull: what a first pull does to the subscriptions, which is all that
matters to a rebalance, is done by the same method. No rule of theirs asks for a clock; all process queues are made as
old as the case's clock says, so that one which expired would be seen.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jpype

from rocketmq_conformance.conformance.targets.java_client.rebalance import Consumer, Instance, JavaGroup
from rocketmq_conformance.models.client.fixtures import OTHER_TOPIC, QUEUES, TOPIC
from rocketmq_conformance.models.outcome import Result

#: Operations that are those of any group.
_SHARED = ("leave", "persist", "unsubscribe", "refresh", "update", "tick")


class PlainConsumer(Consumer):
    """A plain pull consumer with a listener."""

    made_of = "client.consumer.DefaultMQPullConsumer", "defaultMQPullConsumerImpl"
    topics: dict[str, tuple[str, ...]] = {"CLUSTERING": (), "BROADCASTING": ()}  # noqa: RUF012 - as its base has it

    def __init__(self, group: JavaGroup, instance: Instance, mode: str, where: str, strategy: str, now: int) -> None:
        super().__init__(group, instance, mode, where, strategy, now)
        for topic in (TOPIC, OTHER_TOPIC):
            self.inside.subscriptionAutomatically(topic)
        self.refresh()
        #: When each process queue was made, by queue, in ms of the case's clock.
        self.pulled = dict.fromkeys(range(len(QUEUES)), now)

    def prepare(self, consumer: Any) -> None:
        """Register topics and the listener."""
        self.fails = False
        #: (topic, all queues, its queues) that the listener heard of.
        self.heard: list[tuple[str, tuple[int, ...], tuple[int, ...]]] = []
        topics = jpype.JClass("java.util.HashSet")()
        for topic in (TOPIC, OTHER_TOPIC):
            topics.add(topic)
        consumer.setRegisterTopics(topics)
        listener = self.group.release.load("client.consumer.MessageQueueListener")
        consumer.setMessageQueueListener(jpype.JProxy(listener, inst=self))

    def messageQueueChanged(self, topic: Any, every: Any, mine: Any) -> None:  # noqa: N802 - Java's name
        """The listener."""
        all_queues, its_queues = [tuple(sorted(map(self.group.position, queues))) for queues in (every, mine)]
        self.heard.append((str(topic), all_queues, its_queues))
        if self.fails:
            raise jpype.JClass("java.lang.IllegalStateException")("the listener fails")

    def turn(self, now: int, fails: bool) -> Result:
        """One round: (owned, balanced, heard)."""
        self.fails = fails
        self.heard.clear()
        before = set(map(self.group.position, self.table.keySet()))
        said = self.rebalance(now)
        assert isinstance(said, tuple)
        owned, _, balanced = said
        for queue in set(map(self.group.position, self.table.keySet())) - before:
            self.pulled[queue] = now
        return owned, balanced, tuple(sorted(self.heard))


class JavaPlainGroup(JavaGroup):
    """The members of a group of plain pull consumers."""

    consumer = PlainConsumer

    def calls(self) -> dict[str, Callable[..., Result]]:
        """One callable per operation, by name; a member that is not there does nothing."""

        def rebalance(member: int, list_fault: str, fault: str, fails: bool) -> Result:
            who = self.members[member]
            return who.turn(self.now, fails) if isinstance(who, PlainConsumer) else None

        def subscribe(member: int, topic: str) -> Result:
            who = self.members[member]
            return None if who is None else who.inside.subscriptionAutomatically(topic)

        group = super().calls()
        return {name: group[name] for name in _SHARED} | {
            "rebalance": rebalance,
            "join": lambda member, twin, mode: self.join(member, twin, mode, "CONSUME_FROM_LAST_OFFSET", "AVG"),
            "subscribe": subscribe,
        }
