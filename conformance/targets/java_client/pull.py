"""Plays the suite ``pull``: a real push consumer whose pull service, network and timers are driven by the plan.

The consumer is never started. ``pullMessage`` is called when the plan says so; the pull that it sends is recorded
where it would reach the network, and answered later by the callback that came with it. The tasks of the pull
service's executor are recorded, whenever they are due, and run when the plan says so. The listener's service only
records the messages that it is given.
"""

from __future__ import annotations

from typing import Any

import jpype

from rocketmq_conformance.conformance.adapter import Case, Methods
from rocketmq_conformance.conformance.remoting.codes import Response
from rocketmq_conformance.conformance.targets.java_client.part import Part
from rocketmq_conformance.conformance.targets.java_client.pull_network import (
    ListenerRecorder,
    PendingPull,
    PullRecorder,
    PullResponses,
)
from rocketmq_conformance.conformance.targets.java_client.queue_names import position
from rocketmq_conformance.conformance.targets.java_client.recording_executor import RecordingExecutor
from rocketmq_conformance.conformance.targets.java_client.release import JavaRelease
from rocketmq_conformance.models.client.pull_state import (
    FIRST_OFFSET,
    INITIALLY_OWNED,
    MAX_MESSAGES,
    MAX_MIB,
    MAX_SPAN,
)
from rocketmq_conformance.models.outcome import Err, Result
from rocketmq_conformance.suites.declare.topologies import BROKER, GROUP, ORDINARY
from rocketmq_conformance.suites.pull import (
    Consume,
    Fail,
    Fire,
    Found,
    Gain,
    Illegal,
    Learn,
    Lose,
    Nothing,
    Pause,
    Post,
    Pull,
    Run,
    Select,
    Space,
    Subscribe,
    Unsubscribe,
    Update,
)

_TOUCHED = 1
#: Addresses of the broker's nodes that a plan makes known; any other address is the master's.
_ADDRESSES = {number: f"10.0.1.{number}:10911" for number in range(4)}
#: The address of the fake broker.
MASTER = "127.0.0.1:10911"
_NUMBERS = {address: number for number, address in _ADDRESSES.items()}
#: Response codes of failures.
_CODES = {response.name: int(response) for response in Response}


def node_of(address: str) -> int:
    """The number of the broker's node at an address."""
    return _NUMBERS.get(address, 0)


def address_of(node: int) -> str:
    """The address of a node of the broker."""
    return _ADDRESSES[node]


class JavaPull(Part):
    """The consumer, its in-flight pulls and its pending tasks."""

    def __init__(self, release: JavaRelease, via: str = "call") -> None:
        self.release = release
        load = release.load
        config = load("client.ClientConfig")()
        config.setNamesrvAddr("127.0.0.1:1")
        self.factory = load("client.impl.factory.MQClientInstance")(config, 0, ORDINARY.clients[0])
        self.remoting = PullRecorder(release)
        release.put(self.factory.getMQClientAPIImpl(), "remotingClient", self.remoting.proxy)
        service = self.factory.getPullMessageService()
        self.timers = RecordingExecutor()
        release.put(service, "scheduledExecutorService", self.timers.proxy)
        waiting = "pullRequestQueue" if release.has_field(service, "pullRequestQueue") else "messageRequestQueue"
        self._waiting = release.get(service, waiting)
        message_queue = load("common.message.MessageQueue")
        self.queues = [message_queue(*queue) for queue in ORDINARY.queues]
        self._memory = load("client.consumer.store.ReadOffsetType").READ_FROM_MEMORY
        self._state = load("common.ServiceState")
        self._process_queue = load("client.impl.consumer.ProcessQueue")
        self._pull_request = load("client.impl.consumer.PullRequest")
        self._command = load("remoting.protocol.RemotingCommand")
        versions = load("common.MQVersion").Version
        #: The first version that has SQL92; the very first release does not know of it.
        first = int(versions.V4_1_0_SNAPSHOT.ordinal()) if hasattr(versions, "V4_1_0_SNAPSHOT") else 0
        self._old, self._new = first - 1, first
        self._map = jpype.JClass("java.util.HashMap")
        self._versions = self._version_map()
        self._integer, self._long = jpype.JClass("java.lang.Integer"), jpype.JClass("java.lang.Long")
        self._notified = release.get(release.get(self.factory, "rebalanceService"), "hasNotified")
        self._responses = PullResponses(release)
        self._ready: list[Any] = []
        self._asked: list[PendingPull] = []
        self._timed: list[tuple[Any, Any]] = []

    def _version_map(self) -> Any:
        """The map in which a release keeps the versions of a broker's nodes: one of two, in the first release none."""
        if not self.release.has_field(self.factory, "brokerVersionTable"):
            return None
        declared = str(self.factory.getClass().getDeclaredField("brokerVersionTable").getGenericType())
        _, _, values = declared.partition(", ")
        kind = (
            "java.util.HashMap" if values.startswith("java.util.HashMap<") else "java.util.concurrent.ConcurrentHashMap"
        )
        return jpype.JClass(kind)()

    def begin(self, case: Case) -> None:
        """A new consumer that owns its queues."""
        release, load = self.release, self.release.load
        self.remoting.exchange = case.exchange
        self.remoting.reachable, self.remoting.asked = True, None
        for table in ("consumerTable", "topicRouteTable", "brokerAddrTable"):
            release.get(self.factory, table).clear()
        for place in (self.timers.tasks, self._ready, self._asked, self._timed):
            place.clear()
        self._waiting.clear()
        self._notified.set(False)
        consumer = self.consumer = load("client.consumer.DefaultMQPushConsumer")(GROUP)
        consumer.setPullThresholdForQueue(MAX_MESSAGES)
        consumer.setConsumeConcurrentlyMaxSpan(MAX_SPAN)
        if hasattr(consumer, "setPullThresholdSizeForQueue"):
            consumer.setPullThresholdSizeForQueue(MAX_MIB)
        self.inside = consumer.getDefaultMQPushConsumerImpl()
        self.store = load("client.consumer.store.RemoteBrokerOffsetStore")(self.factory, GROUP)
        self.rebalancing = self.inside.getRebalanceImpl()
        self.rebalancing.setmQClientFactory(self.factory)
        self.rebalancing.setConsumerGroup(GROUP)
        self.rebalancing.setMessageModel(consumer.getMessageModel())
        self.listener = ListenerRecorder(release)
        puller = load("client.impl.consumer.PullAPIWrapper")(self.factory, GROUP, False)
        for field, value in (
            ("offsetStore", self.store),
            ("pullAPIWrapper", puller),
            ("consumeMessageService", self.listener.proxy),
        ):
            release.put(self.inside, field, value)
        for topic in (ORDINARY.topic, ORDINARY.other_topic):
            self.inside.subscribe(topic, "*")
        release.put(self.inside, "mQClientFactory", self.factory)
        self.factory.registerConsumer(GROUP, self.inside)
        self._table = self.rebalancing.getProcessQueueTable()
        self.run(True)
        self.learn((0,), False)
        for queue in INITIALLY_OWNED:
            self.gain(queue, FIRST_OFFSET, False)

    # --- the pull service ---------------------------------------------------------------------------------

    def pull(self, place: int, reachable: bool) -> Result:
        """One turn of the pull service."""
        if not self._ready:
            return None
        request = self._ready.pop(place % len(self._ready))
        queue = self._position(request)
        process_queue = request.getProcessQueue()
        process_queue.setLastPullTimestamp(_TOUCHED)
        self.remoting.reachable, self.remoting.asked = reachable, None
        self.inside.pullMessage(request)
        counts = int(process_queue.getLastPullTimestamp()) != _TOUCHED
        self._collect(request)
        if self.remoting.asked is not None:
            address, fields, callback = self.remoting.asked
            self._asked.append(PendingPull(request, fields, callback))
            offset, commit, flag = (int(fields[name]) for name in ("queueOffset", "commitOffset", "sysFlag"))
            expression = fields.get("subscription"), fields.get("expressionType")
            return queue, "asked", node_of(address), offset, commit, flag, *expression, counts
        if self._delay is not None:
            return queue, "later", self._delay, counts
        return queue, "dropped", counts

    def _position(self, request: Any) -> int:
        return position(request.getMessageQueue())

    def _collect(self, request: Any) -> None:
        """Find what a pull request waits for now."""
        self._delay = None
        for delay, task in self.timers.take():
            self._delay = delay
            self._timed.append((request, task))
        self._ready += iter(self._waiting.poll, None)

    # --- answers ------------------------------------------------------------------------------------------

    def found(self, place: int, next_offset: int, messages: tuple[tuple[int, str], ...], suggested: int) -> Result:
        """Messages."""
        return self._answer(place, 0, (next_offset, 0, 20, suggested), messages)

    def nothing(self, place: int, code: str, next_offset: int, suggested: int) -> Result:
        """No messages."""
        return self._answer(place, _CODES[code], (next_offset, 0, 20, suggested))

    def illegal(self, place: int, next_offset: int, low: int, high: int, suggested: int) -> Result:
        """An illegal offset."""
        return self._answer(place, _CODES["PULL_OFFSET_MOVED"], (next_offset, low, high, suggested))

    def fail(self, place: int, failure: str) -> Result:
        """No response, or one with an error."""
        return self._answer(place, 0 if failure == "no-field" else _CODES.get(failure, failure), ())

    def _answer(
        self,
        place: int,
        code: int | str,
        header: tuple[int, ...],
        messages: tuple[tuple[int, str], ...] | None = None,
    ) -> Result:
        if not self._asked:
            return None
        pull = self._asked.pop(place % len(self._asked))
        request, self.listener.given = pull.request, ()
        if isinstance(code, str):
            self._responses.fail(pull.callback, code)
        else:
            answer = self._command.createResponseCommand(code, None)
            fields = self._map()
            names = ("nextBeginOffset", "minOffset", "maxOffset", "suggestWhichBrokerId")
            for name, value in zip(names, header, strict=False):
                fields.put(name, str(value))
            answer.setExtFields(fields)
            if messages is not None:
                answer.setBody(self._responses.body(self._position(request), messages))
            self._responses.complete(pull.callback, answer)
        ready = len(self._ready)
        self._collect(request)
        corrects = self._delay is not None and "PullMessageService" not in str(self._timed[-1][1].getClass().getName())
        then = "correct" if corrects else "later" if self._delay is not None else ""
        queue = self._position(request)
        if len(self._ready) > ready:
            then += "pull"
        offset = int(request.getNextOffset())
        held = int(self.store.readOffset(request.getMessageQueue(), self._memory))
        dropped = bool(request.getProcessQueue().isDropped())
        return queue, then, self._delay or 0, offset, self.listener.given, held, dropped

    # --- timers -------------------------------------------------------------------------------------------

    def fire(self, place: int) -> Result:
        """A timer runs."""
        if not self._timed:
            return None
        request, task = self._timed.pop(place % len(self._timed))
        self._notified.set(False)
        ready = len(self._ready)
        task.run()
        self._collect(request)
        queue = request.getMessageQueue()
        kind = "pull" if len(self._ready) > ready else "correct"
        held = int(self.store.readOffset(queue, self._memory))
        return self._position(request), kind, bool(self._table.containsKey(queue)), held, bool(self._notified.get())

    # --- the listener, the rebalance, the application -------------------------------------------------------

    def consume(self, queue: int, everything: bool) -> Result:
        """The end of ``processConsumeResult`` for cached messages."""
        mine = self.queues[queue]
        owned = self._table.get(mine)
        if owned is not None:
            messages = jpype.JClass("java.util.ArrayList")(owned.getMsgTreeMap().values())
            done = messages if everything else messages.subList(0, min(1, messages.size()))
            offset = int(owned.removeMessage(done))
            if offset >= 0 and not owned.isDropped():
                self.store.updateOffset(mine, offset, True)
        return int(self.store.readOffset(mine, self._memory))

    def gain(self, queue: int, offset: int, anew: bool) -> Result:
        """Gain a queue, as a rebalance does."""
        mine = self.queues[queue]
        if self._table.containsKey(mine):
            if not anew:
                return (False,)
            self.lose(queue)
        self.rebalancing.removeDirtyOffset(mine)
        owned, request = self._process_queue(), self._pull_request()
        self._table.put(mine, owned)
        request.setConsumerGroup(GROUP)
        request.setNextOffset(offset)
        request.setMessageQueue(mine)
        request.setProcessQueue(owned)
        self.inside.executePullRequestImmediately(request)
        self._collect(request)
        return (True,)

    def lose(self, queue: int) -> Result:
        """Lose a queue, as a rebalance does."""
        mine = self.queues[queue]
        owned = self._table.get(mine)
        if owned is None:
            return (False,)
        owned.setDropped(True)
        self.rebalancing.removeUnnecessaryMessageQueue(mine, owned)
        self._table.remove(mine)
        return (True,)

    def update(self, queue: int, offset: int) -> Result:
        """An application sets an offset."""
        self.inside.updateConsumeOffset(self.queues[queue], offset)
        return int(self.store.readOffset(self.queues[queue], self._memory))

    def subscribe(self, topic: str, expression: str) -> Result:
        """A subscription by tags."""
        return self._subscribe(topic, expression)

    def _subscribe(self, topic: str, *expression: Any) -> Result:
        """As before the start: no heartbeat is sent."""
        self.release.put(self.inside, "mQClientFactory", None)
        try:
            self.inside.subscribe(topic, *expression)
        except self.release.load("client.exception.MQClientException"):
            return Err("CLIENT")
        finally:
            self.release.put(self.inside, "mQClientFactory", self.factory)
        return None

    def select(self, topic: str, expression: str) -> Result:
        """An SQL92 subscription."""
        return self._subscribe(topic, self.release.load("client.consumer.MessageSelector").bySql(expression))

    def unsubscribe(self, topic: str) -> Result:
        """Unsubscribe from a topic."""
        self.inside.unsubscribe(topic)
        return None

    def pause(self, paused: bool) -> Result:
        """The consumer pauses, or goes on."""
        self.inside.setPause(paused)
        return None

    def space(self, interval: int) -> Result:
        """Set the pull interval (ms)."""
        self.consumer.setPullInterval(interval)
        return None

    def post(self, posts: bool) -> Result:
        """Send the subscription with every pull, or not."""
        self.consumer.setPostSubscriptionWhenPull(posts)
        return None

    def run(self, running: bool) -> Result:
        """Be started, or not yet."""
        state = self._state.RUNNING if running else self._state.CREATE_JUST
        self.release.put(self.inside, "serviceState", state)
        return None

    def learn(self, nodes: tuple[int, ...], old: bool) -> Result:
        """Know these nodes of the broker."""
        self.release.get(self.factory, "topicRouteTable").clear()
        addresses = self.release.get(self.factory, "brokerAddrTable")
        addresses.clear()
        if nodes:
            known = self._map()
            for number in nodes:
                known.put(self._long(number), _ADDRESSES[number])
            addresses.put(BROKER, known)
        if self._versions is not None:
            for address in (*_NUMBERS, MASTER):
                self._versions.put(address, self._integer(self._old if old else self._new))
            self.release.get(self.factory, "brokerVersionTable").put(BROKER, self._versions)
        return None

    def close(self) -> None:
        """Nothing outlives a case."""

    def calls(self) -> Methods:
        """One callable per operation."""
        return {
            Pull: self.pull,
            Found: self.found,
            Nothing: self.nothing,
            Illegal: self.illegal,
            Fail: self.fail,
            Fire: self.fire,
            Consume: self.consume,
            Gain: self.gain,
            Lose: self.lose,
            Update: self.update,
            Subscribe: self.subscribe,
            Select: self.select,
            Unsubscribe: self.unsubscribe,
            Run: self.run,
            Pause: self.pause,
            Space: self.space,
            Post: self.post,
            Learn: self.learn,
        }


PART = JavaPull
