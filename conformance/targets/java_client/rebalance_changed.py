"""What the real consumers tell when a round changed their queues, stepped by hand.

The versions of subscriptions are set to 0 before a round; whatever is not 0 afterwards was renewed by it. Heartbeats
are read where they would reach the network. The application gives a topic up inside of the strategy that divides its
queues: a round is under way there, and no release holds a lock or a copy of what is subscribed to.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jpype

from rocketmq_conformance.conformance.remoting import heartbeat
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.targets.java_client.rebalance import Consumer, Instance, JavaGroup, Remoting
from rocketmq_conformance.conformance.targets.java_client.release import JavaRelease
from rocketmq_conformance.models.outcome import Result, Value

_HEARTBEAT = int(Request.HEART_BEAT)
#: Operations that are those of any group.
_SHARED = ("unsubscribe", "refresh", "tick")


class _Remoting(Remoting):
    """A RemotingClient that reads heartbeats on their way."""

    def __init__(self, release: JavaRelease) -> None:
        super().__init__(release)
        #: Of each heartbeat: the versions of the subscriptions, by topic, or None of a brief one.
        self.heartbeats: list[dict[str, int] | None] = []

    def invokeSync(self, address: Any, command: Any, millis: int) -> Any:  # noqa: N802 - Java's name
        """One request and its answer."""
        if int(command.getCode()) == _HEARTBEAT:
            body = bytes(command.getBody())
            _, (consumer,) = heartbeat.read(body)
            versions = {topic: told.version for topic, told in consumer.subscriptions.items()}
            self.heartbeats.append(None if b'"withoutSub":true' in body else versions)
        return super().invokeSync(address, command, millis)


class ChangedInstance(Instance):
    """A client instance whose heartbeats are read."""

    network = _Remoting

    def forget(self) -> None:
        """Be as a new instance."""
        super().forget()
        for table in ("brokerSupportV2HeartbeatSet", "brokerAddrHeartbeatFingerprintTable"):
            if self.release.has_field(self.factory, table):
                self.release.get(self.factory, table).clear()
        assert isinstance(self.remoting, _Remoting)
        self.remoting.heartbeats.clear()


class _Strategy:
    """A strategy of the release; the application may give a topic up while it divides."""

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
    """A push consumer whose listener hears of changed queues, where there is such a listener."""

    def prepare(self, consumer: Any) -> None:
        """Set the listener."""
        self.mine = consumer
        self.fails = False
        self.gives_up = ""
        #: (topic, all queues, its queues, heartbeats until then) that the listener heard of.
        self.heard: list[tuple[str, tuple[int, ...], tuple[int, ...], int]] = []
        assert isinstance(self.group, JavaChangedGroup)
        if self.group.listener is not None:
            consumer.setMessageQueueListener(jpype.JProxy(self.group.listener, inst=self))

    def messageQueueChanged(self, topic: Any, every: Any, mine: Any) -> None:  # noqa: N802 - Java's name
        """The listener."""
        all_queues, its_queues = [tuple(sorted(map(self.group.position, queues))) for queues in (every, mine)]
        self.heard.append((str(topic), all_queues, its_queues, len(self.heartbeats())))
        if self.fails:
            raise jpype.JClass("java.lang.IllegalStateException")("the listener fails")

    def heartbeats(self) -> list[dict[str, int] | None]:
        """The heartbeats of the step, as the network took them."""
        remoting = self.instance.remoting
        assert isinstance(remoting, _Remoting)
        return remoting.heartbeats

    def divide_by(self, strategy: Any) -> None:
        """Divide queues so from now on."""
        self.rebalancing.setAllocateMessageQueueStrategy(strategy)

    def give_up(self, topic: str) -> None:
        """The queues of a topic are being divided."""
        if topic == self.gives_up:
            self.inside.unsubscribe(topic)

    def turn(self, now: int, fails: bool, given_up: str) -> Result:
        """One round: (owned, balanced, thresholds, changes)."""
        assert isinstance(self.group, JavaChangedGroup)
        self.fails, self.gives_up = fails, given_up
        subscriptions = self.rebalancing.getSubscriptionInner()
        for data in subscriptions.values():
            data.setSubVersion(0)
        self.heard.clear()
        beats = self.heartbeats()
        beats.clear()
        said = self.rebalance(now)
        assert isinstance(said, tuple)
        owned, _, balanced = said
        told = {str(data.getTopic()): False for data in subscriptions.values() if int(data.getSubVersion())}
        heard: dict[str, Value] = dict.fromkeys(told)
        for topic, every, mine, until in self.heard:
            told[topic] = _reached(beats[:until], topic)
            heard[topic] = every, mine
        if self.group.listener is None:
            told = {topic: _reached(beats, topic) for topic in told}
        thresholds = None
        if self.group.divides:
            thresholds = int(self.mine.getPullThresholdForQueue()), int(self.mine.getPullThresholdSizeForQueue())
        return owned, balanced, thresholds, tuple(sorted((topic, told[topic], heard[topic]) for topic in told))

    def limit(self, messages: int, size: int) -> Result:
        """Limit topics, where that can be done."""
        assert isinstance(self.group, JavaChangedGroup)
        if self.group.divides:
            self.mine.setPullThresholdForTopic(messages)
            self.mine.setPullThresholdSizeForTopic(size)
        return None

    def beat(self, topic: str = "") -> Result:
        """The timer of heartbeats, or a topic that is subscribed to."""
        beats = self.heartbeats()
        beats.clear()
        if topic:
            self.inside.subscribe(topic, "*")
        else:
            self.instance.factory.sendHeartbeatToAllBrokerWithLock()
        if not beats:
            return None
        (told,) = beats
        return told is None, tuple(sorted(told or ()))


def _reached(beats: list[dict[str, int] | None], topic: str) -> bool:
    """Did one of these heartbeats take the new version of a topic along?"""
    return any(told is not None and told.get(topic, 0) > 0 for told in beats)


class JavaChangedGroup(JavaGroup):
    """The members of such a group."""

    consumer = ChangedConsumer
    instance = ChangedInstance

    def __init__(self, release: JavaRelease) -> None:
        super().__init__(release)
        made = release.load("client.consumer.DefaultMQPushConsumer")
        methods = {str(method.getName()) for method in made.class_.getMethods()}
        self.divides = "setPullThresholdForTopic" in methods
        heard = "setMessageQueueListener" in methods
        self.listener = release.load("client.consumer.MessageQueueListener") if heard else None

    def begin_anew(self, member: int, mode: str, brief: bool) -> Result:
        """A member begins anew."""
        self.join(member, False, mode, "CONSUME_FROM_LAST_OFFSET", "AVG")
        who = self.members[member]
        assert who is not None
        config = self.release.get(who.instance.factory, "clientConfig")
        if hasattr(config, "setUseHeartbeatV2"):
            config.setUseHeartbeatV2(brief)
        return None

    def join(self, member: int, twin: bool, mode: str, where: str, strategy: str) -> Result:
        """A member begins anew, whose strategy can be looked into."""
        super().join(member, twin, mode, where, strategy)
        who = self.members[member]
        assert isinstance(who, ChangedConsumer)
        who.divide_by(_Strategy(self.release, who.give_up).proxy)
        config = self.release.get(who.instance.factory, "clientConfig")
        if hasattr(config, "setUseHeartbeatV2"):
            config.setUseHeartbeatV2(False)
        return None

    def calls(self) -> dict[str, Callable[..., Result]]:
        """One callable per operation, by name."""

        def of(do: Callable[..., Result]) -> Callable[..., Result]:
            def call(member: int, *args: Any) -> Result:
                who = self.members[member]
                assert isinstance(who, ChangedConsumer)
                return do(who, *args)

            return call

        group = super().calls()
        return {name: group[name] for name in _SHARED} | {
            "rebalance": of(
                lambda who, list_fault, fault, beat_fault, fails, given_up: who.turn(self.now, fails, given_up)
            ),
            "join": self.begin_anew,
            "limit": of(ChangedConsumer.limit),
            "subscribe": of(lambda who, topic, beat_fault: who.beat(topic)),
            "beat": of(lambda who, beat_fault: who.beat()),
        }
