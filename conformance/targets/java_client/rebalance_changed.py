"""Plays the suite ``rebalance-changed``: real consumers' listener calls, heartbeats and thresholds after a change.

The versions of subscriptions are set to 0 before a round; one that is not 0 afterwards was renewed by it. Heartbeats
are read where they would reach the network. The application unsubscribes from a topic inside of the strategy that
allocates its queues: that is in mid-round, where no release holds a lock or a copy of the subscriptions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jpype

from rocketmq_conformance.conformance.adapter import Answered, Methods
from rocketmq_conformance.conformance.remoting import heartbeat
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.targets.java_client.group import ClientInstance, Consumer, JavaGroup, Remoting
from rocketmq_conformance.conformance.targets.java_client.release import JavaRelease
from rocketmq_conformance.models.outcome import Result, Value
from rocketmq_conformance.suites.rebalance import Refresh, Unsubscribe
from rocketmq_conformance.suites.rebalance_changed import Beat, Join, Limit, Rebalance, Subscribe, Tick

_HEARTBEAT = int(Request.HEART_BEAT)


class _Remoting(Remoting):
    """A RemotingClient that records heartbeats on their way."""

    def __init__(self, release: JavaRelease) -> None:
        super().__init__(release)
        #: Of each heartbeat: the versions of the subscriptions, by topic, or None of a brief one.
        self.heartbeats: list[dict[str, int] | None] = []

    def respond(self, address: str, code: int, ext: dict[str, str], body: bytes, one_way: bool) -> Answered:
        """Record a heartbeat."""
        if code == _HEARTBEAT:
            _, (consumer,) = heartbeat.read(body)
            versions = {topic: subscribed.version for topic, subscribed in consumer.subscriptions.items()}
            self.heartbeats.append(None if b'"withoutSub":true' in body else versions)
        return super().respond(address, code, ext, body, one_way)


class ChangedInstance(ClientInstance):
    """A client instance whose heartbeats are recorded."""

    network = _Remoting
    remoting: _Remoting

    def forget(self) -> None:
        """Reset to the state of a new instance."""
        super().forget()
        for table in ("brokerSupportV2HeartbeatSet", "brokerAddrHeartbeatFingerprintTable"):
            if self.release.has_field(self.factory, table):
                self.release.get(self.factory, table).clear()
        self.remoting.heartbeats.clear()


class _Strategy:
    """A strategy of the release; the application may unsubscribe from a topic while it allocates."""

    def __init__(self, release: JavaRelease, given_up: Callable[[str], None]) -> None:
        self.real = release.load("client.consumer.rebalance.AllocateMessageQueueAveragely")()
        self.given_up = given_up
        self.proxy = jpype.JProxy(release.load("client.consumer.AllocateMessageQueueStrategy"), inst=self)

    def getName(self) -> str:  # noqa: N802 - Java's name
        return "AVG"

    def allocate(self, group: Any, client: Any, queues: Any, clients: Any) -> Any:
        """The share of a client."""
        for queue in queues:
            self.given_up(str(queue.getTopic()))
            break
        return self.real.allocate(group, client, queues, clients)


class ChangedConsumer(Consumer):
    """A push consumer with a listener for changed queues, where the release has one."""

    group: JavaRebalanceChanged
    instance: ChangedInstance

    def prepare(self, consumer: Any) -> None:
        """Set the listener."""
        self.mine = consumer
        self.fails = False
        self.gives_up = ""
        #: Calls of the listener: (topic, all queues, its queues, heartbeats until then).
        self.notified: list[tuple[str, tuple[int, ...], tuple[int, ...], int]] = []
        if self.group.listener is not None:
            consumer.setMessageQueueListener(jpype.JProxy(self.group.listener, inst=self))

    def messageQueueChanged(self, topic: Any, every: Any, mine: Any) -> None:  # noqa: N802 - Java's name
        """The listener."""
        all_queues, its_queues = [tuple(sorted(map(self.group.position, queues))) for queues in (every, mine)]
        self.notified.append((str(topic), all_queues, its_queues, len(self.heartbeats())))
        if self.fails:
            raise jpype.JClass("java.lang.IllegalStateException")("the listener fails")

    def heartbeats(self) -> list[dict[str, int] | None]:
        """The heartbeats of the step, as the network took them."""
        return self.instance.remoting.heartbeats

    def divide_by(self, strategy: Any) -> None:
        """Set the allocation strategy."""
        self.rebalancing.setAllocateMessageQueueStrategy(strategy)

    def give_up(self, topic: str) -> None:
        """The queues of a topic are being allocated."""
        if topic == self.gives_up:
            self.inside.unsubscribe(topic)

    def turn(self, now: int, fails: bool, given_up: str) -> Result:
        """One round: (owned, balanced, thresholds, changes)."""
        self.fails, self.gives_up = fails, given_up
        subscriptions = self.rebalancing.getSubscriptionInner()
        for data in subscriptions.values():
            data.setSubVersion(0)
        self.notified.clear()
        beats = self.heartbeats()
        beats.clear()
        result = self.rebalance(now)
        assert isinstance(result, tuple)
        owned, _, balanced = result
        announced = {str(data.getTopic()): False for data in subscriptions.values() if int(data.getSubVersion())}
        changes: dict[str, Value] = dict.fromkeys(announced)
        for topic, every, mine, until in self.notified:
            announced[topic] = _reached(beats[:until], topic)
            changes[topic] = every, mine
        if self.group.listener is None:
            announced = {topic: _reached(beats, topic) for topic in announced}
        thresholds = None
        if self.group.divides:
            thresholds = int(self.mine.getPullThresholdForQueue()), int(self.mine.getPullThresholdSizeForQueue())
        return (
            owned,
            balanced,
            thresholds,
            tuple(sorted((topic, announced[topic], changes[topic]) for topic in announced)),
        )

    def limit(self, messages: int, size: int) -> Result:
        """Set the thresholds of topics, where the release has them."""
        if self.group.divides:
            self.mine.setPullThresholdForTopic(messages)
            self.mine.setPullThresholdSizeForTopic(size)
        return None

    def beat(self, topic: str = "") -> Result:
        """Send a heartbeat, as the timer or a subscription does."""
        beats = self.heartbeats()
        beats.clear()
        if topic:
            self.inside.subscribe(topic, "*")
        else:
            self.instance.factory.sendHeartbeatToAllBrokerWithLock()
        if not beats:
            return None
        (versions,) = beats
        return versions is None, tuple(sorted(versions or ()))


def _reached(beats: list[dict[str, int] | None], topic: str) -> bool:
    """Did one of these heartbeats take the new version of a topic along?"""
    return any(versions is not None and versions.get(topic, 0) > 0 for versions in beats)


class JavaRebalanceChanged(JavaGroup[ChangedConsumer]):
    """A group whose members report changed queues."""

    member_class = ChangedConsumer
    instance_class = ChangedInstance

    def __init__(self, release: JavaRelease, via: str = "call") -> None:
        super().__init__(release, via)
        made = release.load("client.consumer.DefaultMQPushConsumer")
        methods = {str(method.getName()) for method in made.class_.getMethods()}
        self.divides = "setPullThresholdForTopic" in methods
        listens = "setMessageQueueListener" in methods
        self.listener = release.load("client.consumer.MessageQueueListener") if listens else None

    def start_member(self, member: int, twin: bool, mode: str, where: str, strategy: str) -> Result:
        """Start a new member with a recording strategy, without brief heartbeats."""
        super().start_member(member, twin, mode, where, strategy)
        who = self._member(member)
        who.divide_by(_Strategy(self.release, who.give_up).proxy)
        self._beat_briefly(who, False)
        return None

    def join(self, member: int, mode: str, brief: bool) -> Result:
        """Start a new member, with brief heartbeats or without."""
        self.start_member(member, False, mode, "CONSUME_FROM_LAST_OFFSET", "AVG")
        self._beat_briefly(self._member(member), brief)
        return None

    def rebalance(self, member: int, fails: bool, given_up: str) -> Result:
        """A member rebalances; its listener may fail, and a topic be unsubscribed meanwhile."""
        return self._member(member).turn(self.now, fails, given_up)

    def limit(self, member: int, messages: int, size: int) -> Result:
        """Set the thresholds of topics."""
        return self._member(member).limit(messages, size)

    def subscribe(self, member: int, topic: str) -> Result:
        """A member subscribes: the heartbeat that it sends."""
        return self._member(member).beat(topic)

    def beat(self, member: int) -> Result:
        """The heartbeat timer runs."""
        return self._member(member).beat()

    def calls(self) -> Methods:
        """One callable per operation."""
        return {
            Rebalance: self.rebalance,
            Join: self.join,
            Limit: self.limit,
            Beat: self.beat,
            Subscribe: self.subscribe,
            Unsubscribe: self.unsubscribe,
            Refresh: self.refresh,
            Tick: self.tick,
        }

    def _member(self, number: int) -> ChangedConsumer:
        """A member: in this suite none leaves."""
        who = self.members[number]
        assert who is not None
        return who

    def _beat_briefly(self, who: ChangedConsumer, brief: bool) -> None:
        config = self.release.get(who.instance.factory, "clientConfig")
        if hasattr(config, "setUseHeartbeatV2"):
            config.setUseHeartbeatV2(brief)


PART = JavaRebalanceChanged
