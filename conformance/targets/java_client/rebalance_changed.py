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
from rocketmq_conformance.conformance.targets.java_client.group import ClientInstance, Consumer, JavaGroup
from rocketmq_conformance.conformance.targets.java_client.queue_names import names, positions
from rocketmq_conformance.conformance.targets.java_client.release import JavaRelease
from rocketmq_conformance.conformance.targets.java_client.rows import rows, set_each
from rocketmq_conformance.conformance.targets.java_client.transport import RemotingCalls
from rocketmq_conformance.models.outcome import Result, Value
from rocketmq_conformance.suites.rebalance import Refresh, Unsubscribe
from rocketmq_conformance.suites.rebalance_changed import Beat, Join, Limit, Rebalance, Subscribe, Tick

_HEARTBEAT = int(Request.HEART_BEAT)


class _Remoting(RemotingCalls):
    """A RemotingClient that records heartbeats on their way."""

    def __init__(self, release: JavaRelease) -> None:
        super().__init__(release)
        #: Of each heartbeat: the versions of the subscriptions, by topic, or None of a brief one.
        self.heartbeats: list[dict[str, int] | None] = []

    def respond(self, address: str, code: int, ext: dict[str, str], body: bytes, one_way: bool) -> Answered:
        """Record a heartbeat."""
        if code == _HEARTBEAT:
            self.heartbeats.append(None if b'"withoutSub":true' in body else heartbeat.versions(body))
        return super().respond(address, code, ext, body, one_way)


class ChangedInstance(ClientInstance):
    """A client instance whose heartbeats are recorded."""

    network = _Remoting
    remoting: _Remoting

    def __init__(self, release: JavaRelease, client: str) -> None:
        super().__init__(release, client)
        fields = ("brokerSupportV2HeartbeatSet", "brokerAddrHeartbeatFingerprintTable")
        self._tables += [release.get(self.factory, name) for name in fields if release.has_field(self.factory, name)]

    def forget(self) -> None:
        """Reset to the state of a new instance."""
        super().forget()
        self.remoting.heartbeats.clear()


class _Strategy:
    """The release's strategy for a round in which the application unsubscribes from a topic as that is allocated."""

    def __init__(self, release: JavaRelease) -> None:
        self.real = release.load("client.consumer.rebalance.AllocateMessageQueueAveragely")()
        self.topic = ""
        #: The consumer's method.
        self.unsubscribe: Callable[[str], None]
        self.proxy = jpype.JProxy(release.load("client.consumer.AllocateMessageQueueStrategy"), inst=self)

    def getName(self) -> str:  # noqa: N802 - Java's name
        return "AVG"

    def allocate(self, group: Any, client: Any, queues: Any, clients: Any) -> Any:
        """The share of a client."""
        if self.topic in [topic for topic, _, _ in names(queues)[:1]]:
            self.unsubscribe(self.topic)
        return self.real.allocate(group, client, queues, clients)


class ChangedConsumer(Consumer):
    """A push consumer with a listener for changed queues, where the release has one."""

    group: JavaRebalanceChanged
    instance: ChangedInstance

    def prepare(self, consumer: Any) -> None:
        """Set the listener."""
        self.mine = consumer
        self.fails = False
        #: Calls of the listener: (topic, all queues, its queues, heartbeats until then).
        self.notified: list[tuple[str, tuple[int, ...], tuple[int, ...], int]] = []
        if self.group.listener is not None:
            consumer.setMessageQueueListener(jpype.JProxy(self.group.listener, inst=self))

    def messageQueueChanged(self, topic: Any, every: Any, mine: Any) -> None:  # noqa: N802 - Java's name
        """The listener."""
        all_queues, its_queues = [tuple(sorted(positions(queues))) for queues in (every, mine)]
        self.notified.append((str(topic), all_queues, its_queues, len(self.heartbeats())))
        if self.fails:
            raise jpype.JClass("java.lang.IllegalStateException")("the listener fails")

    def heartbeats(self) -> list[dict[str, int] | None]:
        """The heartbeats of the step, as the network took them."""
        return self.instance.remoting.heartbeats

    def turn(self, now: int, fails: bool, given_up: str) -> Result:
        """One round: (owned, balanced, thresholds, changes)."""
        self.fails = fails
        subscriptions = self.rebalancing.getSubscriptionInner().values()
        set_each(subscriptions, "setSubVersion", [0] * len(subscriptions))
        self.notified.clear()
        beats = self.heartbeats()
        beats.clear()
        result = self._rebalance_without(given_up, now) if given_up else self.rebalance(now)
        assert isinstance(result, tuple)
        owned, _, balanced = result
        versions = rows(subscriptions, "getTopic", "getSubVersion")
        announced = {topic: False for topic, version in versions if int(version)}
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

    def _rebalance_without(self, topic: str, now: int) -> Result:
        """One round, in the middle of which the application unsubscribes from a topic."""
        strategy = self.group.unsubscribing
        strategy.topic, strategy.unsubscribe = topic, self.inside.unsubscribe
        self.rebalancing.setAllocateMessageQueueStrategy(strategy.proxy)
        result = self.rebalance(now)
        self.rebalancing.setAllocateMessageQueueStrategy(strategy.real)
        return result

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
        self.unsubscribing = _Strategy(release)

    def start_member(self, member: int, twin: bool, mode: str, where: str, strategy: str) -> Result:
        """Start a new member, without brief heartbeats."""
        super().start_member(member, twin, mode, where, strategy)
        self._beat_briefly(self._member(member), False)
        return None

    def join(self, member: int, mode: str, brief: bool) -> Result:
        """Start a new member, with brief heartbeats or without."""
        self.start_member(member, False, mode, "CONSUME_FROM_LAST_OFFSET", "AVG")
        if brief:
            self._beat_briefly(self._member(member), True)
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
