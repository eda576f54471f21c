"""Plays the suite ``lite-pull``: a real lite pull consumer, started by its own ``start``, in the hands of a plan.

What the application does are calls of the release's own ``DefaultLitePullConsumer``. Its pull tasks (``PullTaskImpl``)
and the timer that looks at topics wait until the plan says so: their executors get no threads. Pulls are answered where
they would reach the network, and there the plan may also call the consumer while the pull is under way. Which queues a
round gives is what a strategy of the adapter's own says. Clients have neither threads nor sockets (``client_table``).

The clock of the machine cannot be set: before each poll the time at which the consumer commits by itself is moved to be
as far from now as the plan's clock has it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import wraps
from typing import Any, Concatenate, ParamSpec

import jpype

from rocketmq_conformance.conformance.adapter import Answered, Case, Methods
from rocketmq_conformance.conformance.remoting.client_requests import running_info
from rocketmq_conformance.conformance.remoting.codes import Response
from rocketmq_conformance.conformance.targets.java_client.broker_questions import BrokerQuestions
from rocketmq_conformance.conformance.targets.java_client.client_table import ClientTable, HeartbeatCalls
from rocketmq_conformance.conformance.targets.java_client.java_source import compiled
from rocketmq_conformance.conformance.targets.java_client.part import Part
from rocketmq_conformance.conformance.targets.java_client.queue_names import POSITIONS, positions
from rocketmq_conformance.conformance.targets.java_client.rebalance_pull import LitePullNetwork
from rocketmq_conformance.conformance.targets.java_client.recording_executor import RecordingExecutor, no_threads
from rocketmq_conformance.conformance.targets.java_client.release import LITE_PULL, JavaRelease
from rocketmq_conformance.conformance.targets.java_client.rows import rows
from rocketmq_conformance.models.client.lite_pull_state import (
    ANEW,
    BETWEEN,
    MAX_CACHED,
    SEEKS,
    SOUGHT,
    TAGS,
    UNSUBSCRIBES,
)
from rocketmq_conformance.models.outcome import Err, Result
from rocketmq_conformance.suites import lite_pull as operations
from rocketmq_conformance.suites.declare.topologies import BROKER, GROUP, ORDINARY, OTHER_TOPIC, TOPIC

P = ParamSpec("P")
_ADDRESS, _INSTANCE = ORDINARY.clients[0].split("@")
#: Timeout of a poll that need not wait (ms).
_PATIENCE = 60_000
#: The tag and the bytes of a message that is found.
Found = tuple[str, int]
_PLAIN: Found = ("", 1)


def _returning_errors(
    call: Callable[Concatenate[JavaLitePull, P], Result],
) -> Callable[Concatenate[JavaLitePull, P], Result]:
    """Return what Java raises, as an outcome."""

    @wraps(call)
    def guarded(self: JavaLitePull, /, *args: P.args, **kwargs: P.kwargs) -> Result:
        try:
            return call(self, *args, **kwargs)
        except jpype.JException as error:
            code = "CLIENT" if isinstance(error, self.client_failed) else "RUNTIME"
            return Err(code, detail=str(error)[:300])

    return guarded


class _Network(LitePullNetwork, HeartbeatCalls):
    """A RemotingClient whose pulls are answered as the plan says."""

    def __init__(self, release: JavaRelease) -> None:
        super().__init__(release)
        self.meanwhile: Callable[[], Result] | None = None
        #: A consumer that was shut down has closed its connections.
        self.closed = False
        #: The response code, how many messages are found, and where to go on; no code: no answer.
        self.answers: tuple[int | None, Sequence[Found], int] = (0, (), 0)
        #: The expression of the last pull.
        self.expression = ""

    def respond(self, address: str, code: int, ext: dict[str, str], body: bytes, one_way: bool) -> Answered:
        """Answer what arrives."""
        if self.closed:
            raise ConnectionError("the client was shut down")
        return super().respond(address, code, ext, body, one_way)

    def answer_pull(self, ext: dict[str, str]) -> Answered:
        """Answer a pull."""
        offset = self.asked = int(ext["queueOffset"])
        self.expression = ext["subscription"]
        code, messages, following = self.answers
        if self.meanwhile is not None:
            self.meanwhile()
        if code is None:
            raise TimeoutError
        if code == Response.SUCCESS:
            topic, number = ext["topic"], int(ext["queueId"])
            body = b"".join(self.message(topic, number, offset + at, *found) for at, found in enumerate(messages))
            following = offset + len(messages)
            if not messages:
                code = int(Response.PULL_NOT_FOUND)
        else:
            body = b""
        header = {"nextBeginOffset": following, "minOffset": 0, "maxOffset": following, "suggestWhichBrokerId": 0}
        return code, "", {name: str(value) for name, value in header.items()}, body


class _Clients(ClientTable):
    """The table of a release whose clients are kept; whoever asks for one is about to start."""

    def __init__(self, release: JavaRelease) -> None:
        super().__init__(release)
        self.remoting: _Network = _Network(release)
        self.before_start: Callable[[], None] = lambda: None

    def get(self, name: str) -> Any:
        """The client of an id, or null."""
        self.before_start()
        return super().get(name)

    def forget(self) -> None:
        """Make the clients as good as new."""
        for client in self.clients():
            for table in ("consumer", "topicRoute", "brokerAddr"):
                self.release.get(client, f"{table}Table").clear()


class JavaLitePull(Part):
    """The consumer of a case."""

    since = LITE_PULL
    lacking = "lite pull consumer"

    def __init__(self, release: JavaRelease, via: str = "call") -> None:
        # of its own: the table of clients of a release is replaced
        self.release = JavaRelease(release.version)
        self.clients = _Clients(self.release)
        self.network = self.clients.remoting
        self.client_failed = self.release.load("client.exception.MQClientException")
        self._class = self.release.load("client.consumer.DefaultLitePullConsumer")
        message_queue = self.release.load("common.message.MessageQueue")
        self.queues = [message_queue(*queue) for queue in ORDINARY.queues]
        self.hash_set, self._hash_map = jpype.JClass("java.util.HashSet"), jpype.JClass("java.util.HashMap")
        self._array_list, self._long = jpype.JClass("java.util.ArrayList"), jpype.JClass("java.lang.Long")
        self._interrupted = jpype.JClass("java.lang.Thread").interrupted
        self._millis = jpype.JClass("java.lang.System").currentTimeMillis
        self._no_threads = no_threads()
        pool = compiled("PullTasks")
        #: The executor of pull tasks, where Java has a compiler.
        self._pool = None if pool is None else pool()
        strategy = self.release.load("client.consumer.AllocateMessageQueueStrategy")
        self._strategy = jpype.JProxy(strategy, dict={"allocate": self._allocate, "getName": lambda: "plan"})
        listener = self.release.load("client.consumer.MessageQueueListener")
        self._listener = jpype.JProxy(listener, dict={"messageQueueChanged": self._queues_changed})
        listener = self.release.load("client.consumer.TopicMessageQueueChangeListener")
        self._topic_listener = jpype.JProxy(listener, dict={"onChanged": self._topic_changed})
        self._questions = BrokerQuestions(self.release)
        self.consumer: Any = None
        self.inside: Any = None
        self.timers = RecordingExecutor()
        self._share: tuple[int, ...] = ()
        self._heard: Any = None
        self.now = 0
        #: When the next commit by itself is due, on the clock of the plan.
        self._due = -1

    def begin(self, case: Case) -> None:
        """Begin a case: a consumer that runs."""
        self.network.exchange = case.exchange
        self.now = 0
        self.restart()
        self.start()

    def _queue_set(self, queues: tuple[int, ...]) -> Any:
        return self.hash_set(self._array_list([self.queues[queue] for queue in queues]))

    # --- life -----------------------------------------------------------------------------------------------

    def restart(self) -> Result:
        """The process ends, and there is a new consumer."""
        self.clients.forget()
        self.network.closed = False
        self._due = -1
        self._waits: dict[int, tuple[Any, int]] = {}
        self.consumer = consumer = self._class(GROUP)
        consumer.setNamesrvAddr("127.0.0.1:1")
        consumer.setClientIP(_ADDRESS)
        consumer.setInstanceName(_INSTANCE)
        consumer.setAllocateMessageQueueStrategy(self._strategy)
        consumer.setPullThresholdForQueue(MAX_CACHED)
        if hasattr(consumer, "setEnableStreamRequestType"):
            consumer.setEnableStreamRequestType(False)  # it would be a part of the client's id
        self.inside = self.release.get(consumer, "defaultLitePullConsumerImpl")
        self.timers = RecordingExecutor()
        self.release.put(self.inside, "scheduledExecutorService", self.timers.proxy)
        self._requests = self.release.get(self.inside, "consumeRequestCache")
        self._tasks = self.release.get(self.inside, "taskTable")
        self.clients.before_start = self._take_threads
        self._take_threads()
        return None

    def _take_threads(self) -> None:
        """Pull tasks get no threads; the first releases make their executor with the consumer, later ones in its
        start."""
        executor = self.release.get(self.inside, "scheduledThreadPoolExecutor")
        if executor is not None and self._pool is not None:
            self.release.put(self.inside, "scheduledThreadPoolExecutor", self._pool)
        elif executor is not None:
            executor.setThreadFactory(self._no_threads)

    @_returning_errors
    def start(self) -> Result:
        """``start``."""
        try:
            self.consumer.start()
            (client,) = self.clients.clients()
            client.updateTopicRouteInfoFromNameServer(TOPIC)  # it knows the broker then
        finally:
            self.network.closed = self._state() == "SHUTDOWN_ALREADY"
        return None

    @_returning_errors
    def shut_down(self) -> Result:
        """``shutdown``."""
        self.consumer.shutdown()
        self.network.closed = self._state() == "SHUTDOWN_ALREADY"
        return None

    def runs(self) -> bool:
        """Does the consumer run?"""
        return self._state() == "RUNNING"

    def _state(self) -> str:
        return str(self.release.get(self.inside, "serviceState"))

    # --- queues ---------------------------------------------------------------------------------------------

    @_returning_errors
    def assign(self, queues: tuple[int, ...]) -> Result:
        """``assign``."""
        self.consumer.assign(self._queue_set(queues))
        return None

    @_returning_errors
    def subscribe(self, topic: str) -> Result:
        """``subscribe``."""
        self.consumer.subscribe(topic, "*")
        return None

    @_returning_errors
    def subscribe_listening(self, topic: str) -> Result:
        """``subscribe`` with a listener."""
        self.consumer.subscribe(topic, "*", self._listener)
        return None

    @_returning_errors
    def unsubscribe(self) -> Result:
        """``unsubscribe``."""
        self.consumer.unsubscribe(TOPIC)
        return None

    @_returning_errors
    def set_expression(self, expression: str) -> Result:
        """``setSubExpressionForAssign``."""
        self.consumer.setSubExpressionForAssign(TOPIC, expression)
        return None

    def limit(self, threshold: str, value: int) -> Result:
        """A setter of a threshold."""
        _SETTERS[threshold](self.consumer, value)
        return None

    @_returning_errors
    def give_null(self, call: str) -> Result:
        """A call of its own methods with null."""
        return _NULLS[call](self)

    def listen(self) -> Result:
        """``setMessageQueueListener``."""
        self.consumer.setMessageQueueListener(self._listener)
        return None

    def _allocate(self, *given: Any) -> Any:
        """The strategy."""
        return self._array_list([self.queues[queue] for queue in self._share])

    def _queues_changed(self, topic: Any, every: Any, mine: Any) -> None:
        """The listener of queues."""
        self._heard = tuple(sorted(positions(mine)))

    def rebalance(self, share: tuple[int, ...]) -> Result:
        """``doRebalance``."""
        if not self.runs():
            return None
        self._share, self._heard = share, None
        self.inside.doRebalance()
        owned = self.release.get(self.inside, "rebalanceImpl").getProcessQueueTable().keySet()
        return tuple(sorted(positions(owned))), tuple(sorted(positions(self._assigned()))), self._heard

    def _assigned(self) -> Any:
        """The assigned queues."""
        assigned = self.release.get(self.inside, "assignedMessageQueue")
        return self.release.get(assigned, "assignedMessageQueueState").keySet()

    def pause(self, queues: tuple[int, ...]) -> Result:
        """``pause``."""
        self.consumer.pause(self._queue_set(queues))
        return None

    def resume(self, queues: tuple[int, ...]) -> Result:
        """``resume``."""
        self.consumer.resume(self._queue_set(queues))
        return None

    # --- seeks ----------------------------------------------------------------------------------------------

    @_returning_errors
    def seek(self, queue: int, offset: int) -> Result:
        """``seek``."""
        return self._uninterrupted(lambda: self.consumer.seek(self.queues[queue], offset))

    @_returning_errors
    def seek_to_begin(self, queue: int) -> Result:
        """``seekToBegin``."""
        return self._uninterrupted(lambda: self.consumer.seekToBegin(self.queues[queue]))

    @_returning_errors
    def seek_to_end(self, queue: int) -> Result:
        """``seekToEnd``."""
        return self._uninterrupted(lambda: self.consumer.seekToEnd(self.queues[queue]))

    def _uninterrupted(self, seek: Callable[[], Any]) -> Result:
        """Seek: that interrupts the thread in which the queue was pulled last, which is here the application's, too."""
        try:
            seek()
        finally:
            self._interrupted()
        return None

    # --- pulls ----------------------------------------------------------------------------------------------

    def pull(self, queue: int, messages: int, meanwhile: str) -> Result:
        """A turn of a pull task; messages are found."""
        if meanwhile == SEEKS:
            self.network.meanwhile = lambda: self.seek(queue, SOUGHT)
        elif meanwhile == ANEW:
            self.network.meanwhile = lambda: self._assign_anew(queue)
        elif meanwhile == UNSUBSCRIBES and ORDINARY.queues[queue].topic == TOPIC:
            self.network.meanwhile = self.unsubscribe
        try:
            return self._turn(queue, int(Response.SUCCESS), (_PLAIN,) * messages, 0)
        finally:
            self.network.meanwhile = None

    def _assign_anew(self, queue: int) -> Result:
        """Assign another queue alone, and then the same again."""
        before = self.hash_set(self._assigned())
        other = BETWEEN[queue == BETWEEN[0]]
        if self.assign((other,)) is None:
            self.consumer.assign(before)
        return None

    def illegal(self, queue: int, following: int) -> Result:
        """A turn of a pull task; the offset is illegal."""
        return self._turn(queue, int(Response.PULL_OFFSET_MOVED), (), following)

    def fail(self, queue: int, failure: str) -> Result:
        """A turn of a pull task; the pull fails."""
        return self._turn(queue, None if failure == "silent" else int(Response[failure]), (), 0)

    def pull_large(self, queue: int, size: int) -> Result:
        """A turn of a pull task; a message of so many bytes is found."""
        return self._turn(queue, int(Response.SUCCESS), (("", size),), 0)

    def pull_tagged(self, queue: int) -> Result:
        """A turn of a pull task; messages with tags are found."""
        asked = self._turn(queue, int(Response.SUCCESS), tuple([(tag, 1) for tag in TAGS]), 0)
        return None if asked is None else (asked, self.network.expression if asked != -1 else None)

    def _turn(self, queue: int, code: int | None, messages: Sequence[Found], following: int) -> int | None:
        task = self._tasks.get(self.queues[queue])
        if task is None or not self.runs():
            return None
        self.network.answers, self.network.asked = (code, messages, following), None
        if self._pool is not None:
            self._pool.delay = -1
        with suppress(jpype.JException):  # one of an executor's thread ends nothing but the turn
            task.run()
        if self._pool is not None:
            self._waits[queue] = task, int(self._pool.delay)
        else:
            self.release.get(self.inside, "scheduledThreadPoolExecutor").getQueue().clear()
        return -1 if self.network.asked is None else self.network.asked

    def waits(self, queue: int) -> Result:
        """What a task was scheduled for by its last turn: a new one is scheduled for at once."""
        task = self._tasks.get(self.queues[queue])
        if task is None or not self.runs():
            return None
        known, waits = self._waits.get(queue, (None, 0))
        return waits if task.equals(known) else 0

    # --- messages -------------------------------------------------------------------------------------------

    @_returning_errors
    def poll(self, patience: int) -> Result:
        """``poll``."""
        set_to = self._set_deadline()
        # it waits for messages only when there are some, and then not
        waits = not patience and ("false",) in rows(self._requests, "getProcessQueue.isDropped")
        found = self.consumer.poll(_PATIENCE if waits else patience)
        if int(self.release.get(self.inside, "nextAutoCommitDeadline")) != set_to:
            self._due = self.now + int(self.consumer.getAutoCommitIntervalMillis())
        polled = rows(found, "getTopic", "getQueueId", "getQueueOffset")
        return (tuple([(POSITIONS[topic, BROKER, int(queue)], int(offset)) for topic, queue, offset in polled]),)

    def _set_deadline(self) -> int:
        """Set when the consumer commits by itself."""
        deadline = -1 if self._due == -1 else int(self._millis()) + self._due - self.now
        self.release.put(self.inside, "nextAutoCommitDeadline", deadline)
        return deadline

    def commit_by_itself(self, commits: bool) -> Result:
        """``setAutoCommit``."""
        self.consumer.setAutoCommit(commits)
        return None

    def elapse(self, elapses: int) -> Result:
        """Time passes."""
        self.now += elapses
        return None

    # --- offsets --------------------------------------------------------------------------------------------

    @_returning_errors
    def commit(self) -> Result:
        """``commitSync``, which ``commit`` without arguments is another name of."""
        self.consumer.commitSync()
        return None

    def commit_null(self) -> Result:
        """``commit`` of no set, where there is one."""
        if hasattr(self.inside, "commit"):
            self.inside.commit(jpype.JObject(None, jpype.JClass("java.util.Set")), True)
        return None

    @_returning_errors
    def commit_queues(self, queues: tuple[int, ...], persist: bool) -> Result:
        """``commit`` of a set."""
        self.consumer.commit(self._queue_set(queues), persist)
        return None

    @_returning_errors
    def commit_offsets(self, offsets: tuple[tuple[int, int], ...], persist: bool) -> Result:
        """``commitSync`` of a map, which ``commit`` of a map is another name of."""
        given = self._hash_map()
        for queue, offset in offsets:
            given.put(self.queues[queue], self._long.valueOf(offset))
        self.consumer.commitSync(given, persist)
        return None

    def persist(self) -> Result:
        """``persistConsumerOffset``, by the timer."""
        self.inside.persistConsumerOffset()
        return None

    @_returning_errors
    def committed(self, queue: int) -> Result:
        """``committed``."""
        return int(self.consumer.committed(self.queues[queue]))

    @_returning_errors
    def offset_for_time(self, queue: int, time: int) -> Result:
        """``offsetForTimestamp``."""
        return int(self.consumer.offsetForTimestamp(self.queues[queue], self._long.valueOf(time)))

    def running_info(self) -> Result:
        """GET_CONSUMER_RUNNING_INFO, by the client's processor."""
        for client in self.clients.clients():
            answered = self._questions.running_info(client, GROUP)
            if answered is not None:
                topics, queues = running_info(answered)
                rows = [(ORDINARY.queues.index(queue), *map(fields.get, _SHOWN)) for queue, fields in queues.items()]
                return topics, tuple(sorted(rows))
        return Err("CLIENT")

    # --- the topic's listener -------------------------------------------------------------------------------

    @_returning_errors
    def listen_to_topic(self) -> Result:
        """``registerTopicMessageQueueChangeListener``."""
        self.consumer.registerTopicMessageQueueChangeListener(OTHER_TOPIC, self._topic_listener)
        return None

    def _topic_changed(self, topic: Any, queues: Any) -> None:
        """The listener of a topic."""
        self._heard = tuple(sorted(positions(queues)))

    def look(self) -> Result:
        """The timer looks at topics."""
        if not self.runs():
            return None
        self._heard = None
        for _, task in self.timers.periodic:
            task.run()
        heard: Result = self._heard
        return heard

    def calls(self) -> Methods:
        """One callable per operation that the release has."""
        names = {str(method.getName()) for method in self._class.class_.getMethods()}
        ends: Methods = {operations.SeekToBegin: self.seek_to_begin, operations.SeekToEnd: self.seek_to_end}
        queues: Methods = {operations.CommitQueues: self.commit_queues}
        offsets: Methods = {
            operations.CommitOffsets: self.commit_offsets,
            operations.SubscribeListening: self.subscribe_listening,
            operations.SetExpression: self.set_expression,
            operations.PullTagged: self.pull_tagged,
        }
        return {
            **({} if self._pool is None else {operations.Waits: self.waits}),
            **(ends if "seekToBegin" in names else {}),
            **(queues if "commit" in names else {}),
            **(offsets if "assignment" in names else {}),
            operations.Start: self.start,
            operations.Shutdown: self.shut_down,
            operations.Restart: self.restart,
            operations.Assign: self.assign,
            operations.Subscribe: self.subscribe,
            operations.Unsubscribe: self.unsubscribe,
            operations.GiveNull: self.give_null,
            operations.Listen: self.listen,
            operations.Rebalance: self.rebalance,
            operations.Pause: self.pause,
            operations.Resume: self.resume,
            operations.Seek: self.seek,
            operations.Pull: self.pull,
            operations.PullLarge: self.pull_large,
            operations.Limit: self.limit,
            operations.Illegal: self.illegal,
            operations.Fail: self.fail,
            operations.Poll: self.poll,
            operations.Commit: self.commit,
            operations.CommitByItself: self.commit_by_itself,
            operations.Elapse: self.elapse,
            operations.Persist: self.persist,
            operations.Committed: self.committed,
            operations.OffsetForTime: self.offset_for_time,
            operations.RunningInfo: self.running_info,
            operations.ListenToTopic: self.listen_to_topic,
            operations.Look: self.look,
        }


#: What is compared of the running information of a queue.
_SHOWN = (
    "commitOffset",
    "cachedMsgMinOffset",
    "cachedMsgMaxOffset",
    "cachedMsgCount",
    "cachedMsgSizeInMiB",
    "droped",
)
#: The setter of each threshold.
_SETTERS: dict[str, Callable[[Any, int], None]] = {
    "messages": lambda consumer, value: consumer.setPullThresholdForQueue(value),
    "size": lambda consumer, value: consumer.setPullThresholdSizeForQueue(value),
    "span": lambda consumer, value: consumer.setConsumeMaxSpan(value),
    "every": lambda consumer, value: consumer.setPullThresholdForAll(value),
}
#: The call of the consumer that is given null.
_NULLS: dict[str, Callable[[JavaLitePull], Result]] = {
    "assign": lambda part: part.consumer.assign(None),
    "a queue to assign": lambda part: part.consumer.assign(part.hash_set(jpype.java.util.Collections.singleton(None))),
    "subscribe": lambda part: part.consumer.subscribe(None, "*"),
    "unsubscribe": lambda part: part.consumer.unsubscribe(None),
    "pause": lambda part: part.consumer.pause(None),
    "resume": lambda part: part.consumer.resume(None),
    "seek": lambda part: part.consumer.seek(None, jpype.JLong(0)),
    "committed": lambda part: int(part.consumer.committed(None)),
    "offset for time": lambda part: int(part.consumer.offsetForTimestamp(None, jpype.JClass("java.lang.Long")(0))),
    "commit": lambda part: part.commit_null(),
    "listener": lambda part: part.consumer.setMessageQueueListener(None),
    "topic of a listener": lambda part: part.consumer.registerTopicMessageQueueChangeListener(None, None),
}


PART = JavaLitePull
