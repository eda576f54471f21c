"""Plays the suite ``rebalance-service``: the release's own rebalance service, on the clock of the case, in a thread.

``RebalanceService#run`` runs in a thread of its own, and stands still where it would wait (see ``stepped_service``).
The consumers are real ones that were not started; the strategies that they are given record which of them rebalances.
They are on a client instance whose request processor is given the notification of the broker.

The service reads the clock of the machine, and compares it with the time of its last round, which can be set. So that
no delay of this process counts, all its times are stretched: it waits 100,000 times as long as it would, and finds its
last round 100,000 times as long ago as the case says. The times that are stretched are those of the release: its
classes are loaded once more, without the setting that shortens them for consumers that were started.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import jpype

from rocketmq_conformance.conformance.adapter import Case, Methods
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.targets.java_client import jvm
from rocketmq_conformance.conformance.targets.java_client.group import ClientInstance, Consumer, JavaGroup
from rocketmq_conformance.conformance.targets.java_client.release import JavaRelease
from rocketmq_conformance.conformance.targets.java_client.stepped_service import stepped_service
from rocketmq_conformance.models.client.fixtures import CLIENTS, GROUP, OTHER_GROUP, OTHER_TOPIC, RETRY_TOPIC
from rocketmq_conformance.models.outcome import Result
from rocketmq_conformance.suites.rebalance_service import Elapse, Enable, Notify, Refuse, Resume, Suspend

#: The factor from times of the case to those of the service.
STRETCH = 100_000
#: Timeout of a round of the service (s).
PATIENCE = 60.0
_SETTING = "rocketmq.client.rebalance.waitInterval"
_SERVICE = "client.impl.consumer.RebalanceService"


class Loop:
    """A service that runs until it waits."""

    def __init__(self, release: JavaRelease, factory: Any, made: Any) -> None:
        self.release = release
        self.service = made(factory, jpype.JProxy("java.util.function.LongConsumer", inst=self))
        release.put(factory, "rebalanceService", self.service)
        self._waits = threading.Semaphore(0)
        self._goes_on = threading.Semaphore(0)
        #: How long the service waits, in ms of the case's clock.
        self.wait = 0
        # a daemon, so that a process that was interrupted can end
        self._thread = threading.Thread(target=self.service.run, name="rebalance service", daemon=True)
        self._thread.start()
        self._until_it_waits()

    def accept(self, millis: int) -> None:
        """The service is about to wait."""
        self.wait = -(-int(millis) // STRETCH)
        self._waits.release()
        self._goes_on.acquire()

    def go_on(self) -> None:
        """End the wait, and run to the next one."""
        self._goes_on.release()
        self._until_it_waits()

    def end(self) -> None:
        """Let the service end."""
        self.release.put(self.service, "stopped", True)
        self._goes_on.release()
        self._thread.join(PATIENCE)

    def _until_it_waits(self) -> None:
        if not self._waits.acquire(timeout=PATIENCE):
            raise TimeoutError(f"the rebalance service did not come to a wait within {PATIENCE:g} s")


class _Strategy:
    """A strategy of the release that records its calls, and may refuse."""

    def __init__(self, release: JavaRelease, asked: Callable[[], None]) -> None:
        self.real = release.load("client.consumer.rebalance.AllocateMessageQueueAveragely")()
        self.asked = asked
        self.refuses = False
        self.proxy = jpype.JProxy(release.load("client.consumer.AllocateMessageQueueStrategy"), inst=self)

    def getName(self) -> str:  # noqa: N802 - Java's name
        return "AVG"

    def allocate(self, group: Any, client: Any, queues: Any, clients: Any) -> Any:
        """The share of a client."""
        if not str(queues[0].getTopic()).startswith("%RETRY%"):
            self.asked()
        if self.refuses:
            raise jpype.JClass("java.lang.IllegalStateException")("the strategy refuses")
        return self.real.allocate(group, client, queues, clients)


class _Context:
    """The context of a request; only its channel is asked for."""

    def channel(self) -> None:
        return None


class JavaRebalanceService(JavaGroup[Consumer]):
    """A client instance with a push and a pull consumer, and its service."""

    member_class = Consumer

    def __init__(self, release: JavaRelease, via: str = "call") -> None:
        super().__init__(release := stretched(release.version), via)
        self.made = stepped_service(release)
        self.client = ClientInstance(release, CLIENTS[0])
        self.processor = release.load("client.impl.ClientRemotingProcessor")(self.client.factory)
        loader = release.load(_SERVICE).class_.getClassLoader()
        context = jpype.JClass(loader.loadClass("io.netty.channel.ChannelHandlerContext"))
        self.context = jpype.JProxy(context, inst=_Context())
        #: Does the service keep the time of its last round?
        self.keeps_time = release.has_field(release.load(_SERVICE)(self.client.factory), "lastRebalanceTimestamp")
        self.loop: Loop | None = None
        self.last = self.due = 0

    def begin(self, case: Case) -> None:
        """A new instance."""
        self.close()
        self.now = self.last = 0
        self.client.remoting.exchange = case.exchange
        self.client.forget()
        self.asked: list[str] = []
        self.push = Consumer(self, self.client, "CLUSTERING", "CONSUME_FROM_LAST_OFFSET", "AVG", 0)
        self.pull = self._pull_consumer()
        self.client.factory.updateTopicRouteInfoFromNameServer()
        self.strategies = {}
        for name, rebalancing in (("push", self.push.rebalancing), ("pull", self.pull_rebalancing)):
            strategy = _Strategy(self.release, lambda name=name: self.asked.append(name))  # type: ignore[misc]
            rebalancing.setAllocateMessageQueueStrategy(strategy.proxy)
            self.strategies[name] = strategy
        self.loop = Loop(self.release, self.client.factory, self.made)
        self.due = self.loop.wait

    def close(self) -> None:
        """Let the service end, without a round."""
        if self.loop is not None:
            self.release.get(self.client.factory, "consumerTable").clear()
            self.loop.end()
            self.loop = None

    def _pull_consumer(self) -> Any:
        """A pull consumer of another group, with a topic of its own."""
        release, group = self.release, OTHER_GROUP
        consumer = release.load("client.consumer.DefaultMQPullConsumer")(group)
        inside = release.get(consumer, "defaultMQPullConsumerImpl")
        rebalancing = self.pull_rebalancing = release.get(inside, "rebalanceImpl")
        rebalancing.setmQClientFactory(self.client.factory)
        rebalancing.setConsumerGroup(group)
        rebalancing.setMessageModel(release.load("remoting.protocol.heartbeat.MessageModel").CLUSTERING)
        store = release.load("client.consumer.store.RemoteBrokerOffsetStore")(self.client.factory, group)
        for field, value in (
            ("mQClientFactory", self.client.factory),
            ("offsetStore", store),
            ("serviceState", release.load("common.ServiceState").RUNNING),
        ):
            release.put(inside, field, value)
        topics = jpype.JClass("java.util.HashSet")()
        topics.add(OTHER_TOPIC)
        consumer.setRegisterTopics(topics)
        data = release.load("remoting.protocol.heartbeat.SubscriptionData")(OTHER_TOPIC, "*")
        rebalancing.getSubscriptionInner().put(OTHER_TOPIC, data)
        self.push.inside.unsubscribe(OTHER_TOPIC)
        self.push.inside.unsubscribe(RETRY_TOPIC)
        self.client.factory.registerConsumer(group, inside)
        return consumer

    # --- steps --------------------------------------------------------------------------------------------

    def _go_on(self) -> tuple[str, ...]:
        """End the service's wait: which consumers rebalance?"""
        assert self.loop is not None
        service = self.loop.service
        self.asked.clear()
        stamp = 0
        if self.keeps_time:
            stamp = int(self.millis()) - (self.now - self.last) * STRETCH
            self.release.put(service, "lastRebalanceTimestamp", stamp)
        self.loop.go_on()
        if self.keeps_time and int(self.release.get(service, "lastRebalanceTimestamp")) != stamp:
            self.last = self.now
        self.due = self.now + self.loop.wait
        return tuple(sorted(self.asked))

    def elapse(self, elapses: int) -> Result:
        """Time passes."""
        began, until = self.now, self.now + elapses
        rounds = []
        while self.due <= until:
            self.now = self.due
            took_part = self._go_on()
            if took_part:
                rounds.append((self.now - began, took_part))
        self.now = until
        return tuple(rounds)

    def notify(self) -> Result:
        """A broker's notification."""
        assert self.loop is not None
        header = self.release.load("remoting.protocol.header.NotifyConsumerIdsChangedRequestHeader")()
        header.setConsumerGroup(GROUP)
        command = self.release.load("remoting.protocol.RemotingCommand")
        request = command.createRequestCommand(int(Request.NOTIFY_CONSUMER_IDS_CHANGED), header)
        request.makeCustomHeaderToNet()
        self.processor.processRequest(self.context, request)
        if not self.release.get(self.loop.service, "hasNotified").get():
            return ()
        return self._go_on()

    def resume(self) -> Result:
        """The push consumer goes on."""
        self.asked.clear()
        self.push.inside.resume()
        return tuple(sorted(self.asked))

    def refuse(self, consumer: str, refuses: bool) -> Result:
        """A strategy refuses, or not."""
        self.strategies[consumer].refuses = refuses
        return None

    def enable(self, enabled: bool) -> Result:
        """The pull consumer may rebalance, or not, where the release has that setting."""
        if hasattr(self.pull, "setEnableRebalance"):
            self.pull.setEnableRebalance(enabled)
        return None

    def suspend(self) -> Result:
        """The push consumer stops consuming."""
        self.push.inside.suspend()
        return None

    def calls(self) -> Methods:
        """One callable per operation."""
        return {
            Elapse: self.elapse,
            Notify: self.notify,
            Suspend: self.suspend,
            Resume: self.resume,
            Refuse: self.refuse,
            Enable: self.enable,
        }


def stretched(version: str) -> JavaRelease:
    """A release whose rebalance service has its own times, stretched."""
    jvm.start()
    system = jpype.JClass("java.lang.System")
    hurried = system.clearProperty(_SETTING)
    try:
        release = JavaRelease(version)
        service = release.load(_SERVICE)
        jpype.JClass("java.lang.Class").forName(service.class_.getName(), True, service.class_.getClassLoader())
    finally:
        if hurried is not None:
            system.setProperty(_SETTING, hurried)
    for name in ("waitInterval", "minInterval"):
        try:
            field = service.class_.getDeclaredField(name)
        except jpype.JException:
            continue  # it has none
        field.setAccessible(True)
        field.set(None, jpype.JLong(int(field.get(None)) * STRETCH))
    return release


PART = JavaRebalanceService
