"""The real rebalance of one release, stepped by hand: three push consumers, each on a client instance of its own.

The consumers are never started: no threads, no timers, no sockets. What their threads would do next is done when the
plan says so, by the same methods: ``doRebalance``, ``pullMessage`` for a pull request, ``persistConsumerOffset``,
``updateTopicRouteInfoFromNameServer``. Pull requests that are dispatched are taken out of the queue of the pull
service; pulls are cut where they would reach the network, and never answered.

The classes read the clock of the machine, which nobody can set. A process queue's age is the time of its last pull,
and that can be set: before a round every process queue is made as old as the case's clock says, less half of the
smallest tick, so that no delay of this process makes it older than it should be. When the client's clock is to be
real, its timers are fast (``release``) and its ages are left alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jpype

from rocketmq_conformance.conformance.adapter import Case
from rocketmq_conformance.conformance.targets.java_client.release import JavaRelease
from rocketmq_conformance.conformance.targets.java_client.transport import RemotingCalls
from rocketmq_conformance.models.client.fixtures import CLIENTS, GROUP, OTHER_TOPIC, QUEUES, RETRY_TOPIC, TOPIC
from rocketmq_conformance.models.client.rebalance import client_id
from rocketmq_conformance.models.outcome import Result

#: Ms by which process queues are made younger than they are: less than the distance of any two ages.
SLACK = 5_000
_STRATEGIES = {"AVG": "AllocateMessageQueueAveragely", "AVG_BY_CIRCLE": "AllocateMessageQueueAveragelyByCircle"}
_TOPICS = {"CLUSTERING": (TOPIC, OTHER_TOPIC, RETRY_TOPIC), "BROADCASTING": (TOPIC, OTHER_TOPIC)}


class Remoting(RemotingCalls):
    """A RemotingClient that remembers what was asked without waiting for an answer."""

    def __init__(self, release: JavaRelease) -> None:
        super().__init__(release)
        self.pulls: list[dict[str, str]] = []

    def invokeAsync(self, address: Any, command: Any, millis: int, callback: Any) -> None:  # noqa: N802
        """A pull; nobody answers it."""
        command.makeCustomHeaderToNet()
        fields = command.getExtFields()
        self.pulls.append({str(entry.getKey()): str(entry.getValue()) for entry in fields.entrySet()})


class _Timers:
    """The executor of a pull service: what it is told to do later is done when asked for."""

    def __init__(self) -> None:
        self.tasks: list[Any] = []
        self.proxy = jpype.JProxy(jpype.JClass("java.util.concurrent.ScheduledExecutorService"), inst=self)

    def schedule(self, task: Any, *when: Any) -> None:
        """Do a task after some time."""
        self.tasks.append(task)

    def execute(self, task: Any) -> None:
        """Do a task soon."""
        self.tasks.append(task)

    def shutdown(self) -> None:
        """Nothing to stop."""


class Instance:
    """A client instance: what the consumers of one client id in one process share."""

    #: Its network.
    network = Remoting

    def __init__(self, release: JavaRelease, client: str) -> None:
        self.release = release
        config = release.load("client.ClientConfig")()
        config.setNamesrvAddr("127.0.0.1:1")
        self.factory = release.load("client.impl.factory.MQClientInstance")(config, 0, client)
        self.remoting = self.network(release)
        release.put(self.factory.getMQClientAPIImpl(), "remotingClient", self.remoting.proxy)
        service = self.factory.getPullMessageService()
        self.timers = _Timers()
        release.put(service, "scheduledExecutorService", self.timers.proxy)
        waiting = "pullRequestQueue" if release.has_field(service, "pullRequestQueue") else "messageRequestQueue"
        self._dispatched = release.get(service, waiting)

    def forget(self) -> None:
        """Be as a new instance."""
        for table in ("consumerTable", "topicRouteTable", "brokerAddrTable"):
            self.release.get(self.factory, table).clear()
        self.timers.tasks.clear()
        self._dispatched.clear()
        self.remoting.pulls.clear()

    def dispatched(self) -> list[Any]:
        """The pull requests that begin."""
        tasks, self.timers.tasks[:] = list(self.timers.tasks), []
        for task in tasks:
            task.run()
        return list(iter(self._dispatched.poll, None))


class Consumer:
    """A push consumer with a concurrent listener."""

    orderly = False
    #: The class, and the field of its implementation.
    made_of = "client.consumer.DefaultMQPushConsumer", "defaultMQPushConsumerImpl"
    topics = _TOPICS

    def __init__(self, group: JavaGroup, instance: Instance, mode: str, where: str, strategy: str, now: int) -> None:
        release, self.group, self.instance = group.release, group, instance
        name, field = self.made_of
        consumer = release.load(name)(GROUP)
        if hasattr(consumer, "setConsumeFromWhere"):  # the first lite pull consumers have none
            consumer.setConsumeFromWhere(getattr(release.load("common.consumer.ConsumeFromWhere"), where))
        model = getattr(release.load("remoting.protocol.heartbeat.MessageModel"), mode)
        consumer.setMessageModel(model)
        self.prepare(consumer)
        self.inside = release.get(consumer, field)
        self.store = release.load("client.consumer.store.RemoteBrokerOffsetStore")(instance.factory, GROUP)
        self.rebalancing = release.get(self.inside, "rebalanceImpl")
        self.rebalancing.setmQClientFactory(instance.factory)
        self.rebalancing.setConsumerGroup(GROUP)
        self.rebalancing.setMessageModel(model)
        chosen = release.load("client.consumer.rebalance." + _STRATEGIES[strategy])()
        self.rebalancing.setAllocateMessageQueueStrategy(chosen)
        puller = release.load("client.impl.consumer.PullAPIWrapper")(instance.factory, GROUP, False)
        for field, value in (
            ("mQClientFactory", instance.factory),
            ("offsetStore", self.store),
            ("pullAPIWrapper", puller),
            ("serviceState", release.load("common.ServiceState").RUNNING),
        ):
            release.put(self.inside, field, value)
        for topic in self.topics[mode]:
            self.inside.subscribe(topic, "*")
        instance.factory.registerConsumer(GROUP, self.inside)
        self.refresh()
        self.table = self.rebalancing.getProcessQueueTable()
        #: Pull requests by queue, the latest of each.
        self.requests: dict[int, Any] = {}
        #: When each process queue was pulled last, by queue, in ms of the case's clock.
        self.pulled: dict[int, int] = {}
        self._taken: dict[int, Any] = {}

    def prepare(self, consumer: Any) -> None:
        """What else is set before the consumer begins."""

    def set_pull_ages(self, now: int) -> None:
        """Make process queues as old as the case's clock says, unless that is the machine's."""
        if self.group.release.pace is not None:
            return
        machine = self.group.millis()
        for entry in self.table.entrySet():
            age = now - self.pulled[self.group.position(entry.getKey())]
            entry.getValue().setLastPullTimestamp(machine - age + SLACK)

    def rebalance(self, now: int) -> Result:
        """One round: (owned, dispatched, balanced)."""
        self.set_pull_ages(now)
        balanced = self.rebalancing.doRebalance(self.orderly)
        begun = []
        for request in self.instance.dispatched():
            queue = self.group.position(request.getMessageQueue())
            self.begun(queue, request, now)
            begun.append((queue, int(request.getNextOffset())))
        owned = sorted(self.group.position(queue) for queue in self.table.keySet())
        return tuple(owned), tuple(sorted(begun)), None if balanced is None else bool(balanced)

    def begun(self, queue: int, request: Any, now: int) -> None:
        """A pull request begins."""
        self.requests[queue] = request
        self.pulled[queue] = now

    def pull(self, queue: int, now: int) -> Result:
        """One turn of the pull loop."""
        request = self.requests.get(queue)
        if request is None:
            return None
        if not request.getProcessQueue().isDropped():
            self.pulled[queue] = now
        pulls = self.instance.remoting.pulls
        pulls.clear()
        self.inside.pullMessage(request)
        self.instance.timers.tasks.clear()
        return int(pulls[0]["queueOffset"]) if pulls else None

    def take(self, queue: int) -> Result:
        """A listener begins."""
        owned = self.table.get(self.group.queues[queue])
        if owned is not None:
            self._taken[queue] = owned
        return owned is not None

    def finish(self, queue: int, offset: int) -> Result:
        """The end of ``processConsumeResult``: a dropped process queue's result is ignored."""
        taken = self._taken.pop(queue, None)
        mine = self.group.queues[queue]
        if taken is not None and not taken.isDropped():
            self.store.updateOffset(mine, offset, True)
        return int(self.store.readOffset(mine, self.group.memory))

    def consume(self, queue: int, offset: int) -> Result:
        """A listener that is not slow; what another one has taken it keeps."""
        slow = self._taken.pop(queue, None)
        self.take(queue)
        held = self.finish(queue, offset)
        if slow is not None:
            self._taken[queue] = slow
        return held

    def refresh(self) -> None:
        """The route timer."""
        self.instance.factory.updateTopicRouteInfoFromNameServer()

    def leave(self) -> None:
        """A shutdown, as far as queues and offsets are concerned."""
        self.inside.persistConsumerOffset()
        self.instance.factory.unregisterConsumer(GROUP)
        self.rebalancing.destroy()


class JavaGroup:
    """The members of a group."""

    #: What members, and the client instances that they are on, are.
    consumer = Consumer
    instance = Instance

    def __init__(self, release: JavaRelease) -> None:
        self.release = release
        message_queue = release.load("common.message.MessageQueue")
        self.queues = [message_queue(*queue) for queue in QUEUES]
        self._positions = {queue: at for at, queue in enumerate(QUEUES)}
        self.memory = release.load("client.consumer.store.ReadOffsetType").READ_FROM_MEMORY
        self.millis = jpype.JClass("java.lang.System").currentTimeMillis
        self._instances: dict[tuple[int, bool], Instance] = {}
        self.members: list[Consumer | None] = []
        self.now = 0
        self._case: Case | None = None

    def begin(self, case: Case) -> None:
        """Three new members."""
        self._case = case
        self.now = 0
        self.members = [None] * len(CLIENTS)
        for member in range(len(CLIENTS)):
            self.join(member, False, "CLUSTERING", "CONSUME_FROM_LAST_OFFSET", "AVG")

    def position(self, queue: Any) -> int:
        """The position of a Java queue in the layout."""
        return self._positions[str(queue.getTopic()), str(queue.getBrokerName()), int(queue.getQueueId())]  # type: ignore[index]

    def join(self, member: int, twin: bool, mode: str, where: str, strategy: str) -> Result:
        """A member begins anew."""
        assert self._case is not None
        if (member, twin) not in self._instances:
            self._instances[member, twin] = self.instance(self.release, client_id(member, twin))
        instance = self._instances[member, twin]
        instance.remoting.exchange = self._case.exchange
        instance.forget()
        self.members[member] = self.consumer(self, instance, mode, where, strategy, self.now)
        return None

    def close(self) -> None:
        """Nothing of it outlives a case."""

    def tick(self, millis: int) -> Result:
        """Time passes."""
        self.now += millis
        return None

    def of_member(self, do: Callable[..., Result]) -> Callable[..., Result]:
        """An operation of a member; one that is not there does nothing."""

        def call(member: int, *args: Any) -> Result:
            who = self.members[member]
            return None if who is None else do(who, *args)

        return call

    def calls(self) -> dict[str, Callable[..., Result]]:
        """One callable per operation, by name."""
        of = self.of_member

        def leave(member: int) -> Result:
            who = self.members[member]
            if who is not None:
                who.leave()
                self.members[member] = None
            return None

        return {
            "rebalance": of(lambda who, *faults: who.rebalance(self.now)),
            "join": self.join,
            "leave": leave,
            "persist": of(lambda who: who.inside.persistConsumerOffset()),
            "subscribe": of(lambda who, topic: who.inside.subscribe(topic, "*")),
            "unsubscribe": of(lambda who, topic: who.inside.unsubscribe(topic)),
            "refresh": of(lambda who: who.refresh()),
            "pull": of(lambda who, queue: who.pull(queue, self.now)),
            "consume": of(Consumer.consume),
            "take": of(Consumer.take),
            "finish": of(Consumer.finish),
            "update": of(lambda who, queue, offset: who.inside.updateConsumeOffset(self.queues[queue], offset)),
            "tick": self.tick,
        }
