"""The real consumption of one release, stepped by hand: a push consumer's own service, process queues and messages.

The consumer is never started. What a pull brings is put and submitted by the service's own method; its pool has no
threads, so that requests wait until the plan has one of them run, and its timer hands its tasks over. A request runs
as it always does, from the look at its process queue to the result; the listener does what the plan says.

Beginnings of listeners are told in ms of the case's clock. The classes compare them with the clock of the machine:
before the timer's turn they become as old as the case says, less half of the smallest step that matters. When the
client's clock is to be real, they are told in ms of the machine, and become older by the pace: the 15 minutes after
which the timer acts are whole minutes of a consumer's settings, and cannot be made shorter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import jpype

from rocketmq_conformance.conformance.adapter import Case
from rocketmq_conformance.conformance.targets.java_client.release import JavaRelease
from rocketmq_conformance.conformance.targets.java_client.threads import no_threads
from rocketmq_conformance.conformance.targets.java_client.transport import RemotingCalls
from rocketmq_conformance.models.client.consume import LONG, LOSES, NOTHING, OWNED, RAISES
from rocketmq_conformance.models.client.fixtures import BROKER, GROUP, QUEUES, RETRY_TOPIC, TOPIC
from rocketmq_conformance.models.client.member import CLUSTERING
from rocketmq_conformance.models.client.sent_back import (
    LIES_APART,
    first_topic,
    message_id,
    origin_id,
)
from rocketmq_conformance.models.outcome import Err, Result

CLIENT_ID = "10.0.0.1@consume"
#: Ms by which messages are made younger than they are: less than the distance of any two ages.
SLACK = 1_250
#: The port that messages say they are stored at.
_PORT = 10911


class Later:
    """The timer of a consumer: what it is told to do later is done when the case's clock says so."""

    def __init__(self) -> None:
        self.tasks: list[tuple[int, Any]] = []
        self.now = 0
        self.proxy = jpype.JProxy(jpype.JClass("java.util.concurrent.ScheduledExecutorService"), inst=self)

    def schedule(self, task: Any, delay: int, unit: Any) -> None:
        """Do a task after some time."""
        self.tasks.append((self.now + int(unit.toMillis(delay)), task))

    def due(self) -> None:
        """Do what is due."""
        due = sorted((entry for entry in self.tasks if entry[0] <= self.now), key=lambda entry: entry[0])
        self.tasks = [entry for entry in self.tasks if entry[0] > self.now]
        for _, task in due:
            task.run()


class JavaConsumption:
    """What concurrent and orderly listeners have in common; the classes of the service, the listener and its status
    are named as they are behind ``client.``."""

    service_class = "impl.consumer.ConsumeMessageConcurrentlyService"
    listener_class = "consumer.listener.MessageListenerConcurrently"
    status_class = "consumer.listener.ConsumeConcurrentlyStatus"
    first_batch = 3

    def __init__(self, release: JavaRelease) -> None:
        self.release = release
        load = release.load
        self._mq = [load("common.message.MessageQueue")(*queue) for queue in QUEUES]
        self._memory = load("client.consumer.store.ReadOffsetType").READ_FROM_MEMORY
        self._store_class = load("client.consumer.store.RemoteBrokerOffsetStore")
        self._message_class = load("common.message.MessageExt")
        self._accessor = load("common.message.MessageAccessor")
        self._queue_class = load("client.impl.consumer.ProcessQueue")
        self._modes = load("remoting.protocol.heartbeat.MessageModel")
        self._service = load("client." + self.service_class)
        self._statuses = load("client." + self.status_class)
        self._listener = jpype.JProxy(load("client." + self.listener_class), inst=self)
        self._list = jpype.JClass("java.util.ArrayList")
        self._bytes = jpype.JArray(jpype.JByte)
        self._raised = jpype.JClass("java.lang.IllegalStateException")
        self._millis = jpype.JClass("java.lang.System").currentTimeMillis
        self._stored_at = jpype.JClass("java.net.InetSocketAddress")("127.0.0.1", _PORT)
        self._counts_bytes = hasattr(self._queue_class, "getMsgSize")
        concurrent = "java.util.concurrent."
        seconds = jpype.JClass(concurrent + "TimeUnit").SECONDS
        self._waiting = jpype.JClass(concurrent + "LinkedBlockingQueue")()
        factory = no_threads()
        self._pool = jpype.JClass(concurrent + "ThreadPoolExecutor")(1, 1, 60, seconds, self._waiting, factory)
        self._later = Later()
        self._factory: Any = None
        self._remoting = RemotingCalls(release)
        #: Errors of this class itself, which Java would take for errors of a listener.
        self._broken: Exception | None = None

    # --- a case -------------------------------------------------------------------------------------------

    def start(self, case: Case) -> None:
        """A case: a new consumer."""
        self._remoting.exchange = case.exchange
        if self._factory is None:
            self._make_factory()
        self.begin(CLUSTERING, -1, self.first_batch)

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

    def begin(self, mode: str, max_times: int, batch: int) -> Result:
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
        put(self.service, "scheduledExecutorService", self._later.proxy)
        self._waiting.clear()
        self._later.tasks.clear()
        self._later.now = 0
        self._requests: list[Any] = []
        self._owned = {queue: self.new_queue() for queue in OWNED}
        return None

    def new_queue(self) -> Any:
        """A new process queue."""
        return self._queue_class()

    # --- operations ---------------------------------------------------------------------------------------

    def put(self, queue: int, offsets: tuple[int, ...], size: int, times: int) -> Result:
        """What a pull brings."""
        messages = self._list([self.message(queue, offset, size, times) for offset in offsets])
        owned = self._owned[queue]
        starts = owned.putMessage(messages)
        self.service.submitConsumeRequest(messages, owned, self._mq[queue], starts)
        return bool(starts), *self.look(owned)

    def message(self, queue: int, offset: int, size: int, times: int) -> Any:
        """A message as a pull decodes it."""
        message = self._message_class()
        message.setTopic(QUEUES[queue].topic)
        message.setQueueId(QUEUES[queue].id)
        message.setQueueOffset(offset)
        message.setCommitLogOffset((queue + 1) * LIES_APART + offset)
        message.setMsgId(message_id(queue, offset))
        message.setReconsumeTimes(times)
        message.setStoreHost(self._stored_at)
        message.setBornHost(self._stored_at)
        if hasattr(message, "setBrokerName"):
            message.setBrokerName(BROKER)
        if size:
            message.setBody(self._bytes(size))
        message.setKeys(str((queue + 1) * LIES_APART + offset))
        if QUEUES[queue].topic == RETRY_TOPIC:
            self._accessor.putProperty(message, "RETRY_TOPIC", first_topic(queue))
            self._accessor.setOriginMessageId(message, origin_id(queue, offset))
        return message

    def look(self, owned: Any) -> tuple[int, int | None, int, bool]:
        """What flow control sees of a process queue."""
        size = int(owned.getMsgSize().get()) if self._counts_bytes else None
        return int(owned.getMsgCount().get()), size, int(owned.getMaxSpan()), bool(owned.hasTempMessage())

    def waiting(self) -> list[Any]:
        """The requests that wait, in order."""
        self._requests += iter(self._waiting.poll, None)
        return self._requests

    def held(self, queue: int) -> int:
        """The offset in memory."""
        return int(self.store.readOffset(self._mq[queue], self._memory))

    def run(self, task: Any) -> None:
        """Run a request; raises what Java raises in it."""
        self._broken = None
        task.run()
        if self._broken is not None:
            raise self._broken
        try:
            task.get()
        except jpype.JException as error:
            raise (error.getCause() or error) from None

    def tick(self, millis: int) -> Result:
        """Time passes."""
        self._later.now += millis
        self._later.due()
        return len(self.waiting())

    def take_request(self, at: int) -> tuple[Any, Any, int] | None:
        """The request that waits at a place, else the last one: its task, its process queue, and its queue."""
        waiting = self.waiting()
        if not waiting:
            return None
        task = waiting.pop(min(at, len(waiting) - 1))
        request = self.release.get(self.release.get(task, "callable"), "task")
        return (
            task,
            self.release.get(request, "processQueue"),
            self._mq.index(self.release.get(request, "messageQueue")),
        )

    def drop(self, queue: int) -> Result:
        """A queue is lost and won again."""
        self._owned[queue].setDropped(True)
        self.store.removeOffset(self._mq[queue])
        self._owned[queue] = self.new_queue()
        return None

    def update(self, queue: int, offset: int) -> Result:
        """An application sets an offset."""
        self.store.updateOffset(self._mq[queue], offset, False)
        return None

    def calls(self) -> dict[str, Callable[..., Result]]:
        """One callable per operation that all consumers have, by name."""
        return {
            "begin": self.begin,
            "put": self.returning_errors(self.put),
            "tick": self.tick,
            "drop": self.drop,
            "update": self.update,
        }

    def returning_errors(self, call: Callable[..., Result]) -> Callable[..., Result]:
        """Errors are answers."""
        illegal = jpype.JClass("java.lang.IllegalArgumentException")

        def guarded(*args: Any) -> Result:
            try:
                return call(*args)
            except jpype.JException as error:
                code = "ILLEGAL_ARGUMENT" if isinstance(error, illegal) else "RUNTIME"
                return Err(code, detail=str(error)[:300])

        return guarded


class JavaConcurrently(JavaConsumption):
    """A consumer with a concurrent listener."""

    def consume(self, at: int, status: str, ack: int | None, level: int, back_fault: str, meanwhile: str) -> Result:
        """A request runs."""
        taken = self.take_request(at)
        if taken is None:
            return None
        task, owned, self._queue = taken
        self._seen: tuple[int, ...] | None = None
        self._play = status, ack, level, meanwhile
        queue = self._queue
        self.run(task)
        return self._seen, self.held(queue), *self.look(owned)

    def consumeMessage(self, messages: Any, context: Any) -> Any:  # noqa: N802 - Java's name
        """The listener."""
        try:
            status, ack, level, meanwhile = self._play
            self._seen = tuple([int(message.getQueueOffset()) for message in messages])
            for message in messages:
                if self.release.pace is None and self._accessor.getConsumeStartTimeStamp(message) is not None:
                    self._accessor.setConsumeStartTimeStamp(message, str(self._later.now))
            if meanwhile == LOSES:
                self.drop(self._queue)
            elif meanwhile in LONG:
                self._later.now += LONG[meanwhile]
                with suppress(jpype.JException):  # the timer fails where nobody sees it
                    self._clean(self._owned[self._queue])
            if ack is not None:
                context.setAckIndex(ack)
            context.setDelayLevelWhenNextConsume(level)
            found = None if status in (NOTHING, RAISES) else getattr(self._statuses, status)
        except Exception as error:
            self._broken = error
            raise
        if status == RAISES:
            raise self._raised("a listener that fails")
        return found

    def clean(self, queue: int) -> Result:
        """The timer's turn."""
        owned = self._owned[queue]
        self._clean(owned)
        return self.look(owned)

    def _clean(self, owned: Any) -> None:
        machine, now = int(self._millis()), self._later.now
        pace, slack = (1.0, SLACK) if self.release.pace is None else (self.release.pace, 0)
        if self.release.pace is not None:
            now = machine
        begun = []
        for message in owned.getMsgTreeMap().values():
            at = self._accessor.getConsumeStartTimeStamp(message)
            if at is not None:
                begun.append((message, at))
        for message, at in begun:
            self._accessor.setConsumeStartTimeStamp(message, str(machine - int((now - int(str(at))) * pace) + slack))
        try:
            owned.cleanExpiredMsg(self.consumer)
        finally:
            for message, at in begun:
                self._accessor.setConsumeStartTimeStamp(message, at)

    def remove(self, queue: int, offsets: Sequence[int], size: int) -> Result:
        """Messages are removed."""
        owned = self._owned[queue]
        offset = owned.removeMessage(self._list([self.message(queue, at, size, 0) for at in offsets]))
        return int(offset), *self.look(owned)

    def calls(self) -> dict[str, Callable[..., Result]]:
        """One callable per operation, by name."""
        return {
            **super().calls(),
            "consume": self.returning_errors(self.consume),
            "clean": self.returning_errors(lambda queue, back_fault: self.clean(queue)),
            "remove": self.remove,
        }
