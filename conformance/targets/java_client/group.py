"""A group of real consumers of one release, stepped operation by operation: the base of all rebalance suites.

Every member is on a client instance of its own. The consumers are never started: no threads, no timers, no sockets.
The plan decides when to call the methods that their threads would call: ``doRebalance``, ``pullMessage``
for a pull request, ``persistConsumerOffset``, ``updateTopicRouteInfoFromNameServer``. Dispatched pull requests
are taken out of the queue of the pull service; pulls are recorded instead of sent, and get no response.

The classes read the clock of the machine, which cannot be set. A process queue's age is the time of its last pull,
and that can be set: before a round every process queue is made as old as the case's clock says, if that has moved, less
half of the smallest tick, so that no delay of this process makes it older than it should be. When the client's clock is
real, its timers are fast (``release``) and its ages are left alone.
"""

from __future__ import annotations

import shutil
from typing import Any, ClassVar, Generic, TypeVar

import jpype

from rocketmq_conformance.conformance.adapter import Case
from rocketmq_conformance.conformance.targets.java_client.aging import SLACK, Aging
from rocketmq_conformance.conformance.targets.java_client.consumer_making import Making, making_for
from rocketmq_conformance.conformance.targets.java_client.offset_folder import offset_folder
from rocketmq_conformance.conformance.targets.java_client.part import Part
from rocketmq_conformance.conformance.targets.java_client.pull_service import Dispatched, dispatched
from rocketmq_conformance.conformance.targets.java_client.recording_executor import PostponedTasks
from rocketmq_conformance.conformance.targets.java_client.release import JavaRelease
from rocketmq_conformance.conformance.targets.java_client.transport import RemotingCalls
from rocketmq_conformance.models.allocation.nearby import room_of
from rocketmq_conformance.models.client.group_state import client_id
from rocketmq_conformance.models.client.member_settings import VIRTUAL_NODES
from rocketmq_conformance.models.client.pull_request import COMMIT
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.message_queue import Queue
from rocketmq_conformance.models.outcome import Result
from rocketmq_conformance.suites.declare.topologies import GROUP, ORDINARY, OTHER_TOPIC, RETRY_TOPIC, TOPIC

_STRATEGIES = {
    "AVG": "AllocateMessageQueueAveragely",
    "AVG_BY_CIRCLE": "AllocateMessageQueueAveragelyByCircle",
    "CONFIG": "AllocateMessageQueueByConfig",
    "MACHINE_ROOM": "AllocateMessageQueueByMachineRoom",
    "CONSISTENT_HASH": "AllocateMessageQueueConsistentHash",
    "MACHINE_ROOM_NEARBY": "AllocateMachineRoomNearby",
}
_TOPICS = {"CLUSTERING": (TOPIC, OTHER_TOPIC, RETRY_TOPIC), "BROADCASTING": (TOPIC, OTHER_TOPIC)}


class ClientInstance:
    """A client instance, shared by the consumers of one client id in a process."""

    network: type[RemotingCalls] = RemotingCalls

    def __init__(self, release: JavaRelease, client: str) -> None:
        self.release = release
        config = release.load("client.ClientConfig")()
        config.setNamesrvAddr("127.0.0.1:1")
        self.factory = release.load("client.impl.factory.MQClientInstance")(config, 0, client)
        self.remoting = self.network(release)
        release.put(self.factory.getMQClientAPIImpl(), "remotingClient", self.remoting.proxy)
        service = self.factory.getPullMessageService()
        self.timers = PostponedTasks()
        release.put(service, "scheduledExecutorService", self.timers.proxy)
        waiting = "pullRequestQueue" if release.has_field(service, "pullRequestQueue") else "messageRequestQueue"
        self._waiting = release.get(service, waiting)
        self._tables = [release.get(self.factory, f"{name}Table") for name in ("consumer", "topicRoute", "brokerAddr")]

    def forget(self) -> None:
        """Reset to the state of a new instance."""
        for table in self._tables:
            table.clear()
        self.timers.forget()
        self._waiting.clear()
        self.remoting.pulls.clear()

    def dispatched(self) -> list[Dispatched]:
        """The requests dispatched by the step."""
        self.timers.run()
        return dispatched(self._waiting)


class Consumer:
    """A member of a group: a push consumer with a concurrent listener, unless a subclass says otherwise."""

    orderly = False
    #: The class, and the field of its implementation.
    consumer_class = "client.consumer.DefaultMQPushConsumer"
    implementation = "defaultMQPushConsumerImpl"
    #: What it subscribes to, by message model.
    topics: ClassVar[dict[str, tuple[str, ...]]] = _TOPICS

    def __init__(
        self, group: JavaGroup[Any], instance: ClientInstance, mode: str, where: str, strategy: str, now: int
    ) -> None:
        self.group, self.instance = group, instance
        self.making = group.making_of(type(self))
        self.consumer = self.making.consumer(where, mode)
        self.prepare(self.consumer)
        self.assembled = self.making.assembled(
            self.consumer, instance.factory, group.strategy(strategy), mode, self.topics[mode]
        )
        self.inside, self.store, self.rebalancing, self.table = self.assembled
        self.refresh()
        #: Pull requests by queue, the latest of each.
        self.requests: dict[int, Any] = {}
        #: When each process queue was pulled last, by queue, in ms of the case's clock.
        self.pulled: dict[int, int] = {}
        self._aging = Aging(group.release)
        self._taken: dict[int, Any] = {}

    def prepare(self, consumer: Any) -> None:
        """Set what a subclass needs before the consumer begins."""

    def ages(self, now: int) -> list[int] | None:
        """How long ago each queue was pulled last by the case's clock (ms); a queue that never was is new.

        None leaves process queues alone.
        """
        return [now - self.pulled.get(queue, now) - SLACK for queue in range(len(self.group.queues))]

    def run_round(self, now: int) -> tuple[tuple[int, ...], bool | None]:
        """One round: (owned, balanced)."""
        ages = None
        if self._aging.are_due(now):
            ages = self.ages(now)
            self._aging.are_set(now)
        return self.making.round(self.assembled, self.group.positions, self.orderly, ages)

    def rebalance(self, now: int) -> Result:
        """One round: (owned, dispatched, balanced)."""
        owned, balanced = self.run_round(now)
        begun = []
        for one in self.instance.dispatched():
            queue = self.group.keys[one.queue]
            self.dispatch(queue, one.request, now)
            begun.append((queue, one.start))
        return owned, tuple(sorted(begun)), balanced

    def dispatch(self, queue: int, request: Any, now: int) -> None:
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
        self.instance.timers.forget()
        if not pulls:
            return None
        asked = pulls[0]
        return int(asked["queueOffset"]), int(asked["commitOffset"]), bool(int(asked["sysFlag"]) & COMMIT)

    def take(self, queue: int) -> Result:
        """A slow listener starts."""
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
        """A fast listener consumes messages; a slow one keeps those that it has taken."""
        return self.making.consume(self.assembled, self.group.queues[queue], offset, self.group.memory)

    def refresh(self) -> None:
        """The route timer runs."""
        self.instance.factory.updateTopicRouteInfoFromNameServer()

    def leave(self) -> None:
        """A shutdown, as far as queues and offsets are concerned."""
        self.inside.persistConsumerOffset()
        self.instance.factory.unregisterConsumer(GROUP)
        self.rebalancing.destroy()


M = TypeVar("M", bound=Consumer)


class JavaGroup(Part, Generic[M]):
    """The members of a group; operations of an absent member do nothing."""

    member_class: type[M]
    instance_class: type[ClientInstance] = ClientInstance

    def __init__(self, release: JavaRelease, via: str = "call", topology: Topology = ORDINARY) -> None:
        self.release = release
        self.topology = topology
        message_queue = release.load("common.message.MessageQueue")
        self.queues = [message_queue(*queue) for queue in topology.queues]
        #: The keys of the queues.
        self.keys: dict[Queue, int] = {queue: at for at, queue in enumerate(topology.queues)}
        self.positions = jpype.JClass("java.util.HashMap")()
        for at, queue in enumerate(self.queues):
            self.positions.put(queue, at)
        self.memory = release.load("client.consumer.store.ReadOffsetType").READ_FROM_MEMORY
        self.millis = jpype.JClass("java.lang.System").currentTimeMillis
        self._instances: dict[tuple[int, bool], ClientInstance] = {}
        self.members: list[M | None] = []
        self._strategies: dict[str, Any] = {}
        #: What makes consumers, by their class.
        self._making: dict[str, Making] = {}
        self.now = 0
        self._case: Case | None = None
        #: The arguments that each member began with.
        self._began: dict[int, tuple[bool, str, str, str]] = {}
        #: Where broadcasting members keep their offsets.
        self.files = [offset_folder(release) / client / GROUP for client in topology.clients]

    def begin(self, case: Case) -> None:
        """Three new members."""
        self._case = case
        self.now = 0
        for folder in self.files:
            shutil.rmtree(folder, ignore_errors=True)
        self.members = [None] * len(self.topology.clients)
        for member in range(len(self.topology.clients)):
            self.start_member(member, False, "CLUSTERING", "CONSUME_FROM_LAST_OFFSET", "AVG")

    def close(self) -> None:
        """No consumer is made any more."""
        for making in self._making.values():
            making.close()

    def making_of(self, member: type[Consumer]) -> Making:
        """What makes the members of a class."""
        key = member.consumer_class
        if key not in self._making:
            self._making[key] = making_for(self.release, key, member.implementation)
        return self._making[key]

    def position(self, queue: Any) -> int:
        """The key of a Java queue."""
        return int(self.positions.get(queue))

    def strategy(self, name: str) -> Any:
        """An allocation strategy, configured as the topology says; it has no state that members could share."""
        if name not in self._strategies:
            self._strategies[name] = self._new_strategy(name)
        return self._strategies[name]

    def _new_strategy(self, name: str) -> Any:
        kind = self.release.load("client.consumer.rebalance." + _STRATEGIES[name])
        if name == "CONSISTENT_HASH":
            return kind(VIRTUAL_NODES)
        if name == "MACHINE_ROOM_NEARBY":
            rooms = {
                "brokerDeployIn": lambda queue: self.topology.queue_rooms[int(queue.getQueueId()) % 2],
                "consumerDeployIn": lambda client: room_of(str(client)),
            }
            resolver = self.release.load("client.consumer.rebalance.AllocateMachineRoomNearby$MachineRoomResolver")
            return kind(self.strategy("AVG"), jpype.JProxy(resolver, dict=rooms))
        made = kind()
        if name == "CONFIG":
            made.setMessageQueueList(
                jpype.JClass("java.util.ArrayList")([self.queues[at] for at in self.topology.configured])
            )
        elif name == "MACHINE_ROOM":
            made.setConsumeridcs(jpype.JClass("java.util.HashSet")(list(self.topology.allowed_rooms)))
        return made

    # --- operations that suites share ---------------------------------------------------------------------

    def start_member(self, member: int, twin: bool, mode: str, where: str, strategy: str) -> Result:
        """Start a new member."""
        assert self._case is not None
        self._began[member] = twin, mode, where, strategy
        if (member, twin) not in self._instances:
            self._instances[member, twin] = self.instance_class(self.release, client_id(self.topology, member, twin))
        instance = self._instances[member, twin]
        instance.remoting.exchange = self._case.exchange
        instance.forget()
        self.members[member] = self.member_class(self, instance, mode, where, strategy, self.now)
        return None

    def restart(self, member: int) -> Result:
        """A member's process ends, and begins again."""
        return None if self.members[member] is None else self.start_member(member, *self._began[member])

    def run_round(self, member: int) -> Result:
        """A member rebalances."""
        who = self.members[member]
        return None if who is None else who.rebalance(self.now)

    def leave(self, member: int) -> Result:
        """A member shuts down."""
        who = self.members[member]
        if who is not None:
            who.leave()
            self.members[member] = None
        return None

    def persist(self, member: int) -> Result:
        """The timer that persists offsets runs."""
        who = self.members[member]
        if who is not None:
            who.inside.persistConsumerOffset()
        return None

    def subscribe(self, member: int, topic: str) -> Result:
        """A member subscribes."""
        who = self.members[member]
        if who is not None:
            who.inside.subscribe(topic, "*")
        return None

    def unsubscribe(self, member: int, topic: str) -> Result:
        """A member unsubscribes."""
        who = self.members[member]
        if who is not None:
            who.inside.unsubscribe(topic)
        return None

    def refresh(self, member: int) -> Result:
        """The timer that fetches routes runs."""
        who = self.members[member]
        if who is not None:
            who.refresh()
        return None

    def pull_queue(self, member: int, queue: int) -> Result:
        """A member's pull loop comes to a queue."""
        who = self.members[member]
        return None if who is None else who.pull(queue, self.now)

    def consume(self, member: int, queue: int, offset: int) -> Result:
        """A member's listener consumes messages."""
        who = self.members[member]
        return None if who is None else who.consume(queue, offset)

    def update(self, member: int, queue: int, offset: int) -> Result:
        """An application sets an offset."""
        who = self.members[member]
        if who is not None:
            who.inside.updateConsumeOffset(self.queues[queue], offset)
        return None

    def tick(self, millis: int) -> Result:
        """Time passes."""
        self.now += millis
        return None
