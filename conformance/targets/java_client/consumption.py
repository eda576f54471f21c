"""A real push consumer's listener service and process queues: the base of ``consume`` and ``consume-orderly``.

The consumer is never started. Pulled messages are put and submitted by the service's own method; its pool has no
threads, so that consume requests wait until the plan runs one of them, and its timer hands its tasks over. A request
runs as in production, from the check of its process queue to the result; the listener returns what the plan says.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

import jpype

from rocketmq_conformance.conformance.adapter import Case
from rocketmq_conformance.conformance.targets.java_client.part import Part
from rocketmq_conformance.conformance.targets.java_client.recording_executor import no_threads
from rocketmq_conformance.conformance.targets.java_client.release import JavaRelease
from rocketmq_conformance.conformance.targets.java_client.transport import RemotingCalls
from rocketmq_conformance.models.client.consume import OWNED
from rocketmq_conformance.models.client.member import CLUSTERING
from rocketmq_conformance.models.client.send_back import (
    LOG_DISTANCE,
    first_topic,
    message_id,
    origin_id,
)
from rocketmq_conformance.models.outcome import Err, Result
from rocketmq_conformance.suites.declare.topologies import BROKER, GROUP, ORDINARY, RETRY_TOPIC, TOPIC

CLIENT_ID = "10.0.0.1@consume"
#: The port that messages say they are stored at.
_PORT = 10911


def _pool(waiting: Any) -> Any:
    """An executor without threads, whose tasks wait in a queue."""
    concurrent = "java.util.concurrent."
    seconds = jpype.JClass(concurrent + "TimeUnit").SECONDS
    return jpype.JClass(concurrent + "ThreadPoolExecutor")(1, 1, 60, seconds, waiting, no_threads())


C = TypeVar("C", bound="JavaConsumption")
P = ParamSpec("P")


def returning_errors(call: Callable[Concatenate[C, P], Result]) -> Callable[Concatenate[C, P], Result]:
    """Make a method return what Java raises in it, as an outcome."""

    @wraps(call)
    def guarded(self: C, /, *args: P.args, **kwargs: P.kwargs) -> Result:
        try:
            return call(self, *args, **kwargs)
        except jpype.JException as error:
            illegal = isinstance(error, jpype.JClass("java.lang.IllegalArgumentException"))
            return Err("ILLEGAL_ARGUMENT" if illegal else "RUNTIME", detail=str(error)[:300])

    return guarded


class Later:
    """The timer of a consumer, on the case's clock."""

    def __init__(self) -> None:
        self.tasks: list[tuple[int, Any]] = []
        self.now = 0
        self.proxy = jpype.JProxy(jpype.JClass("java.util.concurrent.ScheduledExecutorService"), inst=self)

    def schedule(self, task: Any, delay: int, unit: Any) -> None:
        """Schedule a task."""
        self.tasks.append((self.now + int(unit.toMillis(delay)), task))

    def due(self) -> None:
        """Run the tasks that are due."""
        due = sorted((entry for entry in self.tasks if entry[0] <= self.now), key=lambda entry: entry[0])
        self.tasks = [entry for entry in self.tasks if entry[0] > self.now]
        for _, task in due:
            with suppress(jpype.JException):  # a timer of Java swallows what its tasks raise
                task.run()


class Room:
    """A queue of an executor that takes so many tasks; the class behind a Java proxy."""

    def __init__(self, left: int) -> None:
        self.left = left
        self.taken: list[Any] = []
        self.proxy = jpype.JProxy(jpype.JClass("java.util.concurrent.BlockingQueue"), inst=self)

    def offer(self, task: Any) -> bool:
        """Take a task, if there is room."""
        if not self.left:
            return False
        self.left -= 1
        self.taken.append(task)
        return True

    def size(self) -> int:
        """How many tasks wait; an executor says so when it refuses one."""
        return len(self.taken)


class JavaConsumption(Part):
    """The base of concurrent and orderly listeners; the classes of the service, the listener and its status
    are named as they are behind ``client.``."""

    service_class = "impl.consumer.ConsumeMessageConcurrentlyService"
    listener_class = "consumer.listener.MessageListenerConcurrently"
    status_class = "consumer.listener.ConsumeConcurrentlyStatus"
    first_batch = 3

    def __init__(self, release: JavaRelease, via: str = "call") -> None:
        self.release = release
        load = release.load
        self.queues = [load("common.message.MessageQueue")(*queue) for queue in ORDINARY.queues]
        self._memory = load("client.consumer.store.ReadOffsetType").READ_FROM_MEMORY
        self._store_class = load("client.consumer.store.RemoteBrokerOffsetStore")
        self._message_class = load("common.message.MessageExt")
        self.accessor = load("common.message.MessageAccessor")
        self._queue_class = load("client.impl.consumer.ProcessQueue")
        self._modes = load("remoting.protocol.heartbeat.MessageModel")
        self._service = load("client." + self.service_class)
        self.statuses = load("client." + self.status_class)
        self._listener = jpype.JProxy(load("client." + self.listener_class), inst=self)
        self.list = jpype.JClass("java.util.ArrayList")
        self._bytes = jpype.JArray(jpype.JByte)
        self.raised = jpype.JClass("java.lang.IllegalStateException")
        self.millis = jpype.JClass("java.lang.System").currentTimeMillis
        self._stored_at = jpype.JClass("java.net.InetSocketAddress")("127.0.0.1", _PORT)
        self._counts_bytes = hasattr(self._queue_class, "getMsgSize")
        self._waiting = jpype.JClass("java.util.concurrent.LinkedBlockingQueue")()
        self._pool = _pool(self._waiting)
        self._room: Room | None = None
        self.later = Later()
        self._factory: Any = None
        self._remoting = RemotingCalls(release)
        #: Errors in Python code, which Java would take for errors of the listener.
        self.broken: Exception | None = None

    # --- a case -------------------------------------------------------------------------------------------

    def begin(self, case: Case) -> None:
        """A new consumer."""
        self._remoting.exchange = case.exchange
        if self._factory is None:
            self._make_factory()
        self.start(CLUSTERING, -1, self.first_batch)

    def close(self) -> None:
        """Nothing outlives a case."""

    def _make_factory(self) -> None:
        load, put = self.release.load, self.release.put
        config = load("client.ClientConfig")()
        config.setNamesrvAddr("127.0.0.1:1")
        self._factory = load("client.impl.factory.MQClientInstance")(config, 0, CLIENT_ID)
        put(self._factory.getMQClientAPIImpl(), "remotingClient", self._remoting.proxy)
        producer = self._factory.getDefaultMQProducer().getDefaultMQProducerImpl()
        put(producer, "mQClientFactory", self._factory)
        put(producer, "serviceState", load("common.ServiceState").RUNNING)
        self._factory.registerProducer("CLIENT_INNER_PRODUCER", producer)
        for topic in (TOPIC, RETRY_TOPIC):
            self._factory.updateTopicRouteInfoFromNameServer(topic)

    def start(self, mode: str, max_times: int, batch: int) -> Result:
        """A new consumer."""
        put = self.release.put
        consumer = self.release.load("client.consumer.DefaultMQPushConsumer")(GROUP)
        consumer.setMessageModel(getattr(self._modes, mode))
        consumer.setMaxReconsumeTimes(max_times)
        consumer.setConsumeMessageBatchMaxSize(batch)
        inside = consumer.getDefaultMQPushConsumerImpl()
        self.store = self._store_class(self._factory, GROUP)
        put(inside, "mQClientFactory", self._factory)
        put(inside, "offsetStore", self.store)
        self.consumer = consumer
        self.service = self._service(inside, self._listener)
        put(self.service, "consumeExecutor", self._pool)
        put(self.service, "scheduledExecutorService", self.later.proxy)
        self._waiting.clear()
        self._room = None
        self.later.tasks.clear()
        self.later.now = 0
        self._requests: list[Any] = []
        self.process_queues = {queue: self.new_queue() for queue in OWNED}
        return None

    def new_queue(self) -> Any:
        """A new process queue."""
        return self._queue_class()

    # --- operations ---------------------------------------------------------------------------------------

    @returning_errors
    def put(self, queue: int, offsets: tuple[int, ...], size: int, times: int) -> Result:
        """Put the messages of a pull response, and submit a consume request."""
        messages = self.list([self.message(queue, offset, size, times) for offset in offsets])
        owned = self.process_queues[queue]
        starts = owned.putMessage(messages)
        self.service.submitConsumeRequest(messages, owned, self.queues[queue], starts)
        return bool(starts), *self.look(owned)

    def message(self, queue: int, offset: int, size: int, times: int) -> Any:
        """A message as a pull decodes it."""
        message = self._message_class()
        message.setTopic(ORDINARY.queues[queue].topic)
        message.setQueueId(ORDINARY.queues[queue].id)
        message.setQueueOffset(offset)
        message.setCommitLogOffset((queue + 1) * LOG_DISTANCE + offset)
        message.setMsgId(message_id(queue, offset))
        message.setReconsumeTimes(times)
        message.setStoreHost(self._stored_at)
        message.setBornHost(self._stored_at)
        if hasattr(message, "setBrokerName"):
            message.setBrokerName(BROKER)
        if size:
            message.setBody(self._bytes(size))
        message.setKeys(str((queue + 1) * LOG_DISTANCE + offset))
        if ORDINARY.queues[queue].topic == RETRY_TOPIC:
            self.accessor.putProperty(message, "RETRY_TOPIC", first_topic(ORDINARY, queue))
            self.accessor.setOriginMessageId(message, origin_id(ORDINARY, queue, offset))
        return message

    def look(self, owned: Any) -> tuple[int, int | None, int, bool]:
        """A process queue as flow control sees it: (messages, bytes or None when not counted, span, any message?)."""
        size = int(owned.getMsgSize().get()) if self._counts_bytes else None
        return int(owned.getMsgCount().get()), size, int(owned.getMaxSpan()), bool(owned.hasTempMessage())

    def waiting(self) -> list[Any]:
        """The pending consume requests, in order."""
        self._requests += iter(self._waiting.poll, None)
        if self._room is not None:
            self._requests += self._room.taken
            self._room.taken.clear()
        return self._requests

    def fill(self, room: int | None) -> Result:
        """The service gets an executor that takes so many requests, or all."""
        self.waiting()
        self._room = None if room is None else Room(room)
        pool = self._pool if self._room is None else _pool(self._room.proxy)
        self.release.put(self.service, "consumeExecutor", pool)
        return None

    def held(self, queue: int) -> int:
        """The offset in memory."""
        return int(self.store.readOffset(self.queues[queue], self._memory))

    def run(self, task: Any) -> None:
        """Run a request; raises what Java raises in it."""
        self.broken = None
        task.run()
        if self.broken is not None:
            raise self.broken
        try:
            task.get()
        except jpype.JException as error:
            raise (error.getCause() or error) from None

    def tick(self, millis: int) -> Result:
        """Time passes."""
        self.later.now += millis
        self.later.due()
        return len(self.waiting())

    def take_request(self, at: int) -> tuple[Any, Any, int] | None:
        """Take the pending request at a place, else the last one: its task, its process queue, and its queue."""
        waiting = self.waiting()
        if not waiting:
            return None
        task = waiting.pop(min(at, len(waiting) - 1))
        request = self.release.get(self.release.get(task, "callable"), "task")
        return (
            task,
            self.release.get(request, "processQueue"),
            self.queues.index(self.release.get(request, "messageQueue")),
        )

    def drop(self, queue: int) -> Result:
        """A queue is lost and gained again."""
        self.process_queues[queue].setDropped(True)
        self.store.removeOffset(self.queues[queue])
        self.process_queues[queue] = self.new_queue()
        return None

    def update(self, queue: int, offset: int) -> Result:
        """An application sets an offset."""
        self.store.updateOffset(self.queues[queue], offset, False)
        return None
