"""Plays the suite ``rebalance-plain``: three real plain pull consumers, stepped operation by operation.

The consumers are never started, and never pull: a first pull matters to a rebalance only because it subscribes, which
is done by the same method. No rule of theirs asks for a clock; all process queues are made as
old as the case's clock says, so that one which expired would be seen.
"""

from __future__ import annotations

from typing import Any, ClassVar

import jpype

from rocketmq_conformance.conformance.adapter import Methods
from rocketmq_conformance.conformance.targets.java_client.group import ClientInstance, Consumer, JavaGroup
from rocketmq_conformance.conformance.targets.java_client.queue_names import positions
from rocketmq_conformance.models.outcome import Result
from rocketmq_conformance.suites.declare.topologies import ORDINARY, OTHER_TOPIC, TOPIC
from rocketmq_conformance.suites.rebalance import Leave, Persist
from rocketmq_conformance.suites.rebalance_plain import Join, Rebalance, Refresh, Subscribe, Tick, Unsubscribe, Update


class PlainConsumer(Consumer):
    """A plain pull consumer with a listener."""

    consumer_class = "client.consumer.DefaultMQPullConsumer"
    implementation = "defaultMQPullConsumerImpl"
    topics: ClassVar[dict[str, tuple[str, ...]]] = {"CLUSTERING": (), "BROADCASTING": ()}

    def __init__(
        self, group: JavaGroup[Any], instance: ClientInstance, mode: str, where: str, strategy: str, now: int
    ) -> None:
        super().__init__(group, instance, mode, where, strategy, now)
        for topic in (TOPIC, OTHER_TOPIC):
            self.inside.subscriptionAutomatically(topic)
        self.refresh()
        #: When each process queue was made, by queue, in ms of the case's clock.
        self.pulled = dict.fromkeys(range(len(ORDINARY.queues)), now)

    def prepare(self, consumer: Any) -> None:
        """Register topics and the listener."""
        self.fails = False
        #: Calls of the listener: (topic, all queues, its queues).
        self.notified: list[tuple[str, tuple[int, ...], tuple[int, ...]]] = []
        topics = jpype.JClass("java.util.HashSet")()
        for topic in (TOPIC, OTHER_TOPIC):
            topics.add(topic)
        consumer.setRegisterTopics(topics)
        listener = self.group.release.load("client.consumer.MessageQueueListener")
        consumer.setMessageQueueListener(jpype.JProxy(listener, inst=self))

    def messageQueueChanged(self, topic: Any, every: Any, mine: Any) -> None:  # noqa: N802 - Java's name
        """The listener."""
        all_queues, its_queues = [tuple(sorted(positions(queues))) for queues in (every, mine)]
        self.notified.append((str(topic), all_queues, its_queues))
        if self.fails:
            raise jpype.JClass("java.lang.IllegalStateException")("the listener fails")

    def turn(self, now: int, fails: bool) -> Result:
        """One round: (owned, balanced, calls of the listener)."""
        self.fails = fails
        self.notified.clear()
        before = positions(self.table.keySet())
        owned, balanced = self.run_round(now)
        for queue in set(owned).difference(before):
            self.pulled[queue] = now
        return owned, balanced, tuple(sorted(self.notified))


class JavaRebalancePlain(JavaGroup[PlainConsumer]):
    """A group of plain pull consumers."""

    member_class = PlainConsumer

    def rebalance(self, member: int, fails: bool) -> Result:
        """A member rebalances, and its listener may fail."""
        who = self.members[member]
        return None if who is None else who.turn(self.now, fails)

    def join(self, member: int, twin: bool, mode: str) -> Result:
        """Start a new member."""
        return self.start_member(member, twin, mode, "CONSUME_FROM_LAST_OFFSET", "AVG")

    def subscribe(self, member: int, topic: str) -> Result:
        """Subscribe to a topic, as its first pull does."""
        who = self.members[member]
        if who is not None:
            who.inside.subscriptionAutomatically(topic)
        return None

    def calls(self) -> Methods:
        """One callable per operation."""
        return {
            Rebalance: self.rebalance,
            Join: self.join,
            Leave: self.leave,
            Persist: self.persist,
            Subscribe: self.subscribe,
            Unsubscribe: self.unsubscribe,
            Refresh: self.refresh,
            Update: self.update,
            Tick: self.tick,
        }


PART = JavaRebalancePlain
