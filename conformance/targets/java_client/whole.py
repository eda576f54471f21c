"""Whole consumers of one release: started, with threads, timers and sockets of their own, as in production."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from itertools import product
from types import TracebackType
from typing import Any, Self

import jpype

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.targets.java_client import jvm
from rocketmq_conformance.conformance.targets.java_client.release import JavaRelease
from rocketmq_conformance.conformance.waiting import wait_until
from rocketmq_conformance.models.broker.state import RETRY
from rocketmq_conformance.models.client.start import TIMESTAMP
from rocketmq_conformance.models.client.whole import LITE, ORDERLY, PUSH
from rocketmq_conformance.models.client.whole_moves import OTHER_QUEUES, RETRIES
from rocketmq_conformance.suites.declare.topologies import BROKER, GROUP, TOPIC

#: How often a consumer commits what it consumed (ms); it first does so after ten seconds, and when it is shut down.
PERSIST_INTERVAL = 500
#: How often a client sends heartbeats and asks for routes (ms).
TIMER_INTERVAL = 1000
#: Timeouts of a consumer's start, and of consuming the messages sent to it (s).
BEGIN_LIMIT, CONSUME_LIMIT = 90.0, 45.0
#: How long one poll of a lite pull consumer waits for messages (ms).
_POLL = 100
#: An interval of commits that no case sees the end of (ms).
_LATER = 3_600_000
_LOCK_INTERVAL = "rocketmq.client.rebalance.lockInterval"
PULLS = frozenset({int(Request.PULL_MESSAGE), int(Request.LITE_PULL_MESSAGE)})
#: (queue id, offset) of a message.
QueueOffset = tuple[int, int]


@lru_cache(maxsize=64)
def quick_release(version: str) -> JavaRelease:
    """The classes of a release, apart from those that others use: orderly consumers lock their queues every half
    second, not every 20."""
    system = jvm.start().JClass("java.lang.System")
    system.setProperty(_LOCK_INTERVAL, "500")
    try:
        release = JavaRelease(version)
        # read when the class is initialized
        assert int(release.load("client.impl.consumer.ProcessQueue").REBALANCE_LOCK_INTERVAL) == 500
    finally:
        system.clearProperty(_LOCK_INTERVAL)
    _prepare(release)
    return release


def _prepare(release: JavaRelease) -> None:
    """Have JPype make the classes that are needed to make a consumer of each kind and to call it, in this thread.

    When a thread makes one, others can see it before it is complete (``PyJPClass_hook`` of JPype 1.7.1), and a process
    whose thread passes a value to a method that takes that class then ends by SIGSEGV. So it must not be left to
    consumers that begin in many threads at once.
    """
    timestamp, counter = "20240701000000", PullCounter(release)
    for kind, pulls in product((PUSH, ORDERLY, LITE), (None, counter)):
        # early releases lack it, or what it is asked
        with suppress(jpype.JException, AttributeError):
            WholeConsumer(
                release, kind, "127.0.0.1:1", GROUP, TOPIC, TIMESTAMP, timestamp, "", pulls=pulls, on_demand=True
            ).rehearse()


class PullCounter:
    """Counts pulls by group and queue id as clients send them; consumers of one client have one in common.

    Only a pull shows where a queue begins: an orderly consumer asks once more before the first one, and a lite pull
    consumer says nothing until it is answered.
    """

    def __init__(self, release: JavaRelease) -> None:
        self.sent: Counter[tuple[str, int]] = Counter()
        #: The hook that consumers are made with.
        self.hook = jpype.JProxy(release.load("remoting.RPCHook"), inst=self)

    def doBeforeRequest(self, address: Any, request: Any) -> None:  # noqa: N802 - Java's name
        """Called before a request is sent."""
        if int(request.getCode()) in PULLS:
            asked = request.readCustomHeader()
            self.sent[str(asked.getConsumerGroup()), int(asked.getQueueId())] += 1

    def doAfterResponse(self, address: Any, request: Any, response: Any) -> None:  # noqa: N802 - Java's name
        """Called after a response."""


class WholeConsumer:
    """A consumer of one topic, alone in its group; a context manager that starts it and shuts it down.

    ``kind`` is PUSH, ORDERLY or LITE; ``timestamp`` is read with CONSUME_FROM_TIMESTAMP only. Consumers of one
    ``client`` share their connections and timers; without one the group has a client of its own. A lite pull consumer
    may commit ``on_demand`` alone, or subscribe to nothing and assign queues ``by_hand``. ``gate`` is called by its
    listener before it takes messages, and before each poll. ``pulls`` counts what it pulls and so shows when it begins.
    ``hang`` is called by a listener with the queue and the offset of each message that it has taken, by one of so many
    ``threads``, and then asks whether it ``fails``: the group's retry queue is shown then, too. One that ``pops``
    leaves the allocation to brokers, which must have the mode POP for its group.
    """

    def __init__(
        self,
        release: JavaRelease,
        kind: str,
        name_server: str,
        group: str,
        topic: str,
        where: str,
        timestamp: str | None = None,
        client: str = "",
        gate: Callable[[], None] = lambda: None,
        pulls: PullCounter | None = None,
        broadcasting: bool = False,
        on_demand: bool = False,
        by_hand: bool = False,
        hang: Callable[[int, int], None] = lambda queue, offset: None,
        threads: int = 1,
        fails: Callable[[], bool] | None = None,
        pops: bool = False,
    ) -> None:
        self.topic = topic
        #: The other topics that it has subscribed to at some time.
        self._others: set[str] = set()
        self._group = group
        self.name = f"Consumer {release.version} of group {group}"
        #: The messages that it was given, in their order; more come from other threads.
        self.given: list[QueueOffset] = []
        self._release = release
        self._push = kind != LITE
        self._pulls, self._pops = pulls, pops
        self._gate = gate
        self._hang, self._threads, self._fails = hang, threads, fails or (lambda: False)
        #: The topic whose queue is shown as RETRIES.
        self._retries = RETRY + group if fails else None
        self._stopping = threading.Event()
        self._polls = None if self._push else threading.Thread(target=self._poll, daemon=True)
        self._make: Callable[[], Any] = partial(
            self._made, kind, name_server, where, timestamp, client or group, broadcasting, on_demand, by_hand
        )
        self._consumer = self._make()

    def _made(
        self,
        kind: str,
        name_server: str,
        where: str,
        timestamp: str | None,
        client: str,
        broadcasting: bool,
        on_demand: bool,
        by_hand: bool,
    ) -> Any:
        """The Java consumer, which is not started."""
        release = self._release
        form = "client.consumer.DefaultMQPushConsumer" if self._push else "client.consumer.DefaultLitePullConsumer"
        more = [] if self._pulls is None else [self._pulls.hook]
        if more and self._push:
            more.append(release.load("client.consumer.rebalance.AllocateMessageQueueAveragely")())
        consumer = release.load(form)(self._group, *more)
        consumer.setNamesrvAddr(name_server)
        consumer.setInstanceName(client)
        consumer.setVipChannelEnabled(False)
        # a heartbeat or route that was missed at the start is half a minute late otherwise
        consumer.setHeartbeatBrokerInterval(TIMER_INTERVAL)
        # 4.0.0 misspells the name
        set_interval = getattr(consumer, "setPollNameServerInterval", None) or consumer.setPollNameServerInteval
        set_interval(TIMER_INTERVAL)
        consumer.setConsumeFromWhere(getattr(release.load("common.consumer.ConsumeFromWhere"), where))
        if where == TIMESTAMP:
            consumer.setConsumeTimestamp(timestamp)
        if broadcasting:
            models = release.load("remoting.protocol.heartbeat.MessageModel")
            consumer.setMessageModel(models.BROADCASTING)
        if not by_hand:
            consumer.subscribe(self.topic, "*")
        if self._push:
            consumer.setPersistConsumerOffsetInterval(PERSIST_INTERVAL)
            if self._pops:
                consumer.setClientRebalance(False)
            consumer.setConsumeThreadMin(self._threads)
            consumer.setConsumeThreadMax(self._threads)
            orderly = kind == ORDERLY
            form = f"client.consumer.listener.MessageListener{'Orderly' if orderly else 'Concurrently'}"
            listener = _Listener(release, orderly, self._gate, self._take, self._fails)
            self._listener = jpype.JProxy(release.load(form), inst=listener)
            consumer.registerMessageListener(self._listener)
        elif on_demand:
            consumer.setAutoCommit(False)
            consumer.setPersistConsumerOffsetInterval(_LATER)
        return consumer

    @property
    def _inside(self) -> Any:
        """The implementation behind the consumer."""
        return self._release.get(
            self._consumer, "defaultMQPushConsumerImpl" if self._push else "defaultLitePullConsumerImpl"
        )

    def __enter__(self) -> Self:
        try:
            self._consumer.start()
        except jpype.JException:
            # on a busy machine: its first requests wait for three seconds, and it starts once only
            with suppress(jpype.JException):
                self._consumer.shutdown()
            self._consumer = self._make()
            try:
                self._consumer.start()
            except jpype.JException as error:
                raise CannotRunError(f"{self.name} did not start: {error}") from error
        if self._polls is not None:
            self._polls.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopping.set()
        if self._polls is not None:
            self._polls.join()
        self._consumer.shutdown()

    def rehearse(self) -> None:
        """Before it has started: call the methods that take values, which changes nothing but what it subscribes to."""
        if self._push:
            self.subscribe(self.topic, False)
            return
        self.seek(0, 0)
        self.seek_to_bound(0, False)
        self.seek_to_bound(0, True)
        assigns = (
            partial(self.assign, (0,)),
            partial(self.pause_queues, (0,), True),
            partial(self.pause_queues, (0,), False),
        )
        for call in (partial(self._consumer.poll, _POLL), self.commit_now, *assigns):
            with suppress(jpype.JException, AttributeError):
                call()

    def await_start(self, queues: int) -> None:
        """Wait until it has decided where each of the topic's ``queues`` begins; CannotRunError when it does not."""
        if not wait_until(lambda: len(self._pulled_queues()) == queues, BEGIN_LIMIT, 0.02):
            progress = f"began {len(self._pulled_queues())} of {queues} queues"
            raise CannotRunError(f"{self.name} {progress} within {BEGIN_LIMIT:.0f} s: try again on a quieter machine.")

    def await_consumed(self, wanted: Collection[QueueOffset]) -> bool:
        """Wait until it was given these messages and its offset store is past them: it commits no more than that.

        False when that does not happen.
        """
        ends = dict(sorted(wanted))

        def consumed() -> bool:
            held = self._held()
            return set(wanted) <= set(self.given) and all(held.get(queue, -1) > end for queue, end in ends.items())

        return wait_until(consumed, CONSUME_LIMIT, 0.02)

    def pulled_to(self) -> dict[int, int]:
        """Where the next pulls of a lite pull consumer go on, by queue id."""
        assigned = self._release.get(self._inside, "assignedMessageQueue")
        return {int(queue.getQueueId()): int(assigned.getPullOffset(queue)) for queue in self._owned()}

    def commit(self) -> None:
        """Send what its offset store holds to the broker, as its timer does.

        What a shutdown sends is one way, and may be lost with the connection that is closed next.
        """
        if not self._push:
            self._consumer.commitSync()
        self._inside.persistConsumerOffset()

    def commit_now(self) -> None:
        """A lite pull consumer commits what was polled of its queues, and sends it at once."""
        queues = jpype.JClass("java.util.HashSet")(self._owned())
        self._consumer.commit(queues, True)

    def subscribe(self, topic: str, subscribes: bool) -> None:
        """A push consumer subscribes to another topic, too, or unsubscribes from it."""
        self._others.add(topic)
        if subscribes:
            self._consumer.subscribe(topic, "*")
        else:
            self._consumer.unsubscribe(topic)

    def seek(self, queue: int, offset: int) -> None:
        """A lite pull consumer seeks; an offset that is refused changes nothing."""
        with suppress(jpype.JException):
            self._consumer.seek(self._place(queue), offset)

    def seek_to_bound(self, queue: int, end: bool) -> None:
        """A lite pull consumer seeks to the end of a queue, or to its begin; what is refused changes nothing."""
        # 4.6.0 has neither
        with suppress(jpype.JException, AttributeError):
            (self._consumer.seekToEnd if end else self._consumer.seekToBegin)(self._place(queue))

    def assign(self, queues: Sequence[int]) -> None:
        """A lite pull consumer assigns queues, and no others from then on."""
        self._consumer.assign(self._listed(queues))

    def pause_queues(self, queues: Sequence[int], pauses: bool) -> None:
        """A lite pull consumer pauses queues, or resumes them."""
        (self._consumer.pause if pauses else self._consumer.resume)(self._listed(queues))

    def _place(self, queue: int) -> Any:
        return self._release.load("common.message.MessageQueue")(self.topic, BROKER, queue)

    def _listed(self, queues: Sequence[int]) -> Any:
        return jpype.JClass("java.util.ArrayList")([self._place(queue) for queue in queues])

    def suspend(self) -> None:
        """A push consumer is suspended."""
        self._consumer.suspend()

    def resume(self) -> None:
        """A push consumer goes on."""
        self._consumer.resume()

    @property
    def client_id(self) -> str:
        """Its client id at the broker."""
        return str(self._consumer.buildMQClientId())

    def owned(self) -> tuple[int, ...]:
        """The numbers of the queues that it has, sorted."""
        numbers = [self._number(queue.getTopic(), queue.getQueueId()) for queue in self._owned()]
        return tuple(sorted(number for number in numbers if number is not None))

    def _number(self, topic: Any, queue: Any) -> int | None:
        """The number of a queue: its id, OTHER_QUEUES and on for one of another topic, RETRIES; None for that of no
        topic of its own."""
        if str(topic) in self._others:
            return OTHER_QUEUES + int(queue)
        if str(topic) == self._retries:
            return RETRIES
        return int(queue) if str(topic) == self.topic else None

    def _held(self) -> dict[int, int]:
        """The offsets in its store, by queue id."""
        store = self._release.get(self._inside, "offsetStore")
        held = store.cloneOffsetTable(self.topic).entrySet()
        return {int(entry.getKey().getQueueId()): int(entry.getValue()) for entry in held}

    def _owned(self) -> list[Any]:
        """The queues that it has, of all topics."""
        if self._push:
            table = self._release.get(self._inside.getRebalanceImpl(), "processQueueTable").entrySet()
            # a lost queue stays there while an orderly listener is busy with it
            return [entry.getKey() for entry in table if not entry.getValue().isDropped()]
        assigned = self._release.get(self._inside, "assignedMessageQueue")
        # 5.x renamed the method
        known = getattr(assigned, "messageQueues", None) or assigned.getAssignedMessageQueues
        return list(known())

    def _pulled_queues(self) -> list[int]:
        """The ids of the queues whose start offset is decided."""
        queues = self._owned()
        if self._pulls is not None:
            sent = self._pulls.sent
            queues = [queue for queue in queues if sent[self._group, int(queue.getQueueId())]]
        elif not self._push:
            began = self.pulled_to()
            queues = [queue for queue in queues if began.get(int(queue.getQueueId()), -1) >= 0]
        return [int(queue.getQueueId()) for queue in queues if str(queue.getTopic()) == self.topic]

    def _take(self, messages: Any) -> None:
        for message in messages:
            # what comes again has its first topic's name; of a copy that is sent once more the count is lost
            again = self._retries is not None and message.getProperty("RETRY_TOPIC") is not None
            number = RETRIES if again else self._number(message.getTopic(), message.getQueueId())
            place = int(message.getQueueId()) if number is None else number, int(message.getQueueOffset())
            self.given.append(place)
            self._hang(*place)

    def _poll(self) -> None:
        while not self._stopping.is_set():
            self._gate()
            self._take(self._consumer.poll(_POLL))


class _Listener:
    """The listener of a push consumer: consumes every message successfully, unless it ``fails``."""

    def __init__(
        self,
        release: JavaRelease,
        orderly: bool,
        gate: Callable[[], None],
        take: Callable[[Any], None],
        fails: Callable[[], bool],
    ) -> None:
        self._gate, self._take, self._fails = gate, take, fails
        status = release.load(f"client.consumer.listener.Consume{'Orderly' if orderly else 'Concurrently'}Status")
        self._done = status.SUCCESS if orderly else status.CONSUME_SUCCESS
        self._again = status.SUSPEND_CURRENT_QUEUE_A_MOMENT if orderly else status.RECONSUME_LATER

    def consumeMessage(self, messages: Any, context: Any) -> Any:  # noqa: N802 - Java's name
        """Take messages."""
        self._gate()
        self._take(messages)
        return self._again if self._fails() else self._done
