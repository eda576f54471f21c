"""Plays the suite ``rebalance-service``: the release's own rebalance service, on the clock of the case.

``RebalanceService#run`` stands still where it would wait (see ``stepped_service`` and ``service_loop``).
The consumers are real ones that were not started; the strategies that they are given record which of them rebalances.
They are on a client instance whose request processor is given the notification of the broker.

The service reads the clock of the machine, and compares it with the time of its last round, which can be set. So that
no delay of this process counts, all its times are stretched: it waits 100,000 times as long as it would, and finds its
last round 100,000 times as long ago as the case says. The times that are stretched are those of the release: its
classes are loaded once more, without the setting that shortens them for consumers that were started.
"""

from __future__ import annotations

from typing import Any

import jpype

from rocketmq_conformance.conformance.adapter import Case, Methods
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.targets.java_client import jvm
from rocketmq_conformance.conformance.targets.java_client.group import ClientInstance, Consumer, JavaGroup
from rocketmq_conformance.conformance.targets.java_client.release import JavaRelease
from rocketmq_conformance.conformance.targets.java_client.service_loop import SERVICE, STRETCH, Loop, service_loop
from rocketmq_conformance.conformance.targets.java_client.stepped_service import stepped_service
from rocketmq_conformance.models.outcome import Result
from rocketmq_conformance.suites.declare.topologies import GROUP, ORDINARY, OTHER_GROUP, OTHER_TOPIC, RETRY_TOPIC
from rocketmq_conformance.suites.rebalance_service import Elapse, Enable, Notify, Refuse, Resume, Suspend

_SETTING = "rocketmq.client.rebalance.waitInterval"


class _Context:
    """The context of a request; only its channel is asked for."""

    def channel(self) -> None:
        return None


class JavaRebalanceService(JavaGroup[Consumer]):
    """A client instance with a push and a pull consumer, and its service."""

    member_class = Consumer
    loop_maker = staticmethod(service_loop)

    def __init__(self, release: JavaRelease, via: str = "call") -> None:
        super().__init__(release := stretched(release.version), via)
        made = stepped_service(release)
        self.client = ClientInstance(release, ORDINARY.clients[0])
        self.processor = release.load("client.impl.ClientRemotingProcessor")(self.client.factory)
        loader = release.load(SERVICE).class_.getClassLoader()
        context = jpype.JClass(loader.loadClass("io.netty.channel.ChannelHandlerContext"))
        self.context = jpype.JProxy(context, inst=_Context())
        #: Does the service keep the time of its last round?
        keeps_time = release.has_field(release.load(SERVICE)(self.client.factory), "lastRebalanceTimestamp")
        self.loop: Loop = self.loop_maker(release, made, keeps_time)
        self.service: Any = None

    def begin(self, case: Case) -> None:
        """A new instance."""
        self._end()
        self.client.remoting.exchange = case.exchange
        self.client.forget()
        self.push = Consumer(self, self.client, "CLUSTERING", "CONSUME_FROM_LAST_OFFSET", "AVG", 0)
        self.pull = self._pull_consumer()
        self.client.factory.updateTopicRouteInfoFromNameServer()
        for name, rebalancing in (("push", self.push.rebalancing), ("pull", self.pull_rebalancing)):
            rebalancing.setAllocateMessageQueueStrategy(self.loop.strategy(name))
        self.service = self.loop.begin(self.client.factory)
        self.release.put(self.client.factory, "rebalanceService", self.service)

    def close(self) -> None:
        """Let the service end."""
        self._end()
        super().close()

    def _end(self) -> None:
        """Let the service end, without a round."""
        if self.service is not None:
            self.release.get(self.client.factory, "consumerTable").clear()
            self.loop.end()
            self.service = None

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

    def elapse(self, elapses: int) -> Result:
        """Time passes."""
        return self.loop.elapse(elapses)

    def notify(self) -> Result:
        """A broker's notification."""
        header = self.release.load("remoting.protocol.header.NotifyConsumerIdsChangedRequestHeader")()
        header.setConsumerGroup(GROUP)
        command = self.release.load("remoting.protocol.RemotingCommand")
        request = command.createRequestCommand(int(Request.NOTIFY_CONSUMER_IDS_CHANGED), header)
        request.makeCustomHeaderToNet()
        self.processor.processRequest(self.context, request)
        if not self.release.get(self.service, "hasNotified").get():
            return ()
        return self.loop.go_on()

    def resume(self) -> Result:
        """The push consumer goes on."""
        self.loop.forget()
        self.push.inside.resume()
        return self.loop.asked()

    def refuse(self, consumer: str, refuses: bool) -> Result:
        """A strategy refuses, or not."""
        self.loop.refuse(consumer, refuses)
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
        service = release.load(SERVICE)
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
