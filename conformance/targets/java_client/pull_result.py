"""Plays the suite ``pull-result``: one pull at a time of a release's own pull, lite pull and push consumers.

The consumers are never started; each has the pull wrapper that its start would make. A pull is recorded where it would
reach the network, and answered there: at once when the consumer waits for the answer, by the callback that came with
it when it does not. The listener's service of the push consumer records the messages that it is given.
"""

from __future__ import annotations

from time import time
from typing import Any

import jpype

from rocketmq_conformance.conformance.adapter import Case, Methods
from rocketmq_conformance.conformance.remoting.codes import Request, Response
from rocketmq_conformance.conformance.targets.java_client.pull import JavaPull, address_of, node_of
from rocketmq_conformance.conformance.targets.java_client.pull_network import ListenerRecorder, PullRecorder
from rocketmq_conformance.conformance.targets.java_client.release import LITE_PULL, JavaRelease
from rocketmq_conformance.models.client.pull_result import (
    CLASS_NUMBER,
    FAILS,
    FIRST,
    GIVEN_TIMEOUT,
    NODES,
    REPLACES,
    TIME,
    TIMED,
    UNANSWERED,
    WAITING,
)
from rocketmq_conformance.models.outcome import Err, Result, Value
from rocketmq_conformance.suites.declare.topologies import GROUP, ORDINARY
from rocketmq_conformance.suites.pull_result import (
    Answered,
    Hook,
    Pull,
    PullClass,
    PullLite,
    PullPush,
    PullSized,
    Select,
    SelectWaiting,
    SetTimes,
)

#: Numeric fields of a request in the order in which the suite has them.
_NUMBERS = ("queueOffset", "maxMsgNums", "sysFlag", "commitOffset", "suspendTimeoutMillis")
#: Two filter servers of each node.
_FILTER_SERVERS = {node: (f"10.0.2.{node}:1", f"10.0.2.{node}:2") for node in NODES}
_FILTERED_NODES = {server: node for node, servers in _FILTER_SERVERS.items() for server in servers}
#: A subscription was made less than so long ago (ms).
_RECENTLY = 3_600_000
_MOST_OF_SIZED = 32


class AnsweringRecorder(PullRecorder):
    """A RemotingClient that records a pull and its timeout, and answers one that is waited for."""

    def __init__(self, release: JavaRelease) -> None:
        super().__init__(release)
        self.request, self.timeout = 0, 0
        #: The answer to a pull that is waited for: a command, or how it fails.
        self.answer: Any = None

    def invokeSync(self, address: Any, command: Any, millis: int) -> Any:  # noqa: N802
        """A pull that is waited for."""
        self.invokeAsync(address, command, millis, None)
        if self.answer == "silent":
            raise self._timeout("no answer")
        if self.answer == "cut":
            raise self._unsent("no connection")
        return self.answer

    def invokeAsync(self, address: Any, command: Any, millis: int, callback: Any) -> None:  # noqa: N802
        """A pull with a callback."""
        self.request, self.timeout = int(command.getCode()), int(millis)
        super().invokeAsync(address, command, millis, callback)


class BoundsRecorder(ListenerRecorder):
    """Records each message that the listener is given, with its bounds."""

    def __init__(self, release: JavaRelease) -> None:
        super().__init__(release)
        self.messages: tuple[Value, ...] = ()

    def submitConsumeRequest(self, messages: Any, process_queue: Any, queue: Any, dispatch: bool) -> None:  # noqa: N802
        """Messages to consume."""
        self.messages = _with_bounds(messages)


class ResultRecorder:
    """The application's callback."""

    def __init__(self) -> None:
        self.result: Any = None
        self.failure: Any = None

    def onSuccess(self, result: Any) -> None:  # noqa: N802
        """A result."""
        self.result = result

    def onException(self, failure: Any) -> None:  # noqa: N802
        """A failure."""
        self.failure = failure


class AppliedHook:
    """A FilterMessageHook of the application."""

    def __init__(self, does: str) -> None:
        self._does = does

    def hookName(self) -> str:  # noqa: N802
        """A name."""
        return self._does

    def filterMessage(self, context: Any) -> None:  # noqa: N802
        """Messages that were found."""
        messages = context.getMsgList()
        if self._does == FAILS:
            raise jpype.JClass("java.lang.IllegalStateException")("as asked")
        if self._does == REPLACES:
            context.setMsgList(jpype.JClass("java.util.ArrayList")())
        elif messages.size():
            place = 0 if self._does == FIRST else messages.size() - 1
            messages.subList(place, place + 1).clear()


class JavaPullResult(JavaPull):
    """The three consumers."""

    def __init__(self, release: JavaRelease, via: str = "call") -> None:
        super().__init__(release, via)
        self.network = AnsweringRecorder(release)
        self.release.put(self.factory.getMQClientAPIImpl(), "remotingClient", self.network.proxy)
        load = release.load
        self._client_failure = load("client.exception.MQClientException")
        self._broker_failure = load("client.exception.MQBrokerException")
        self._remoting_failure = load("remoting.exception.RemotingException")
        self._callback = load("client.consumer.PullCallback")
        self._selector = (
            load("client.consumer.MessageSelector") if release.has("client.consumer.MessageSelector") else None
        )
        self._text = jpype.JClass("java.lang.String")

    def begin(self, case: Case) -> None:
        """New consumers."""
        super().begin(case)
        self.network.exchange = case.exchange
        self.bounds = BoundsRecorder(self.release)
        self.release.put(self.inside, "consumeMessageService", self.bounds.proxy)
        self.learn(NODES, False)
        self._share_hooks(self.inside, self.release.get(self.inside, "pullAPIWrapper"))
        self.puller, _ = self._made("DefaultMQPullConsumer")
        if self.release.release >= LITE_PULL:
            self.lite, self._lite_inside = self._made("DefaultLitePullConsumer")
            (pull,) = [
                method
                for method in self._lite_inside.getClass().getDeclaredMethods()
                if str(method.getName()) == "pull" and len(method.getParameterTypes()) == 4
            ]
            pull.setAccessible(True)
            self._lite_pull = pull

    def _made(self, name: str) -> tuple[Any, Any]:
        """A consumer, and its implementation, as after its start."""
        consumer = self.release.load("client.consumer." + name)(GROUP)
        inside = self.release.get(consumer, name[0].lower() + name[1:] + "Impl")
        wrapper = self.release.load("client.impl.consumer.PullAPIWrapper")(self.factory, GROUP, False)
        self._share_hooks(inside, wrapper)
        for field, value in (
            ("mQClientFactory", self.factory),
            ("pullAPIWrapper", wrapper),
            ("serviceState", self._state.RUNNING),
        ):
            self.release.put(inside, field, value)
        return consumer, inside

    def _share_hooks(self, inside: Any, wrapper: Any) -> None:
        """A wrapper calls the hooks that are registered at its consumer, as after its start."""
        wrapper.registerFilterMessageHook(self.release.get(inside, "filterMessageHookList"))

    def hook(self, hooks: tuple[str, ...]) -> Result:
        """The application registers hooks."""
        kind = self.release.load("client.hook.FilterMessageHook")
        for inside in (self.inside, self.release.get(self.puller, "defaultMQPullConsumerImpl")):
            self.release.get(inside, "filterMessageHookList").clear()
            for does in hooks:
                inside.registerFilterMessageHook(jpype.JProxy(kind, inst=AppliedHook(does)))
        return None

    # --- pulls --------------------------------------------------------------------------------------------

    def pull_by_tags(self, *given: Any) -> Result:
        """The application pulls by tags."""
        asked = Pull(*given)
        expression = jpype.JObject(asked.expression, self._text)
        return self._by_way(asked, asked.way, expression)

    def select_by_sql(self, *given: Any) -> Result:
        """The application pulls by an SQL92 expression."""
        asked = Select(*given)
        assert self._selector is not None
        return self._by_way(asked, asked.way, self._selector.bySql(asked.expression))

    def select_waiting(self, *given: Any) -> Result:
        """The application pulls by an SQL92 expression, and waits."""
        asked = SelectWaiting(*given)
        assert self._selector is not None
        return self._by_way(asked, WAITING, self._selector.bySql(asked.expression))

    def _by_way(self, asked: Pull | Select | SelectWaiting, way: str, wanted: Any) -> Result:
        method = self.puller.pull
        if way == WAITING:
            selects = isinstance(asked, SelectWaiting)
            method = self.puller.pullBlockIfNotFoundWithMessageSelector if selects else self.puller.pullBlockIfNotFound
        arguments = self.queues[asked.queue], wanted, asked.offset, asked.most
        timeout = (jpype.JLong(GIVEN_TIMEOUT),) if way == TIMED else ()
        if asked.by_callback:
            return self._asynchronous(asked, lambda callback: method(*arguments, callback, *timeout))
        return self._synchronous(asked, lambda: method(*arguments, *timeout))

    def pull_sized(self, *given: Any) -> Result:
        """The application limits the bytes."""
        asked = PullSized(*given)
        wanted = self.queues[asked.queue], "*", asked.offset, _MOST_OF_SIZED, asked.size
        return self._asynchronous(asked, lambda callback: self.puller.pull(*wanted, callback, GIVEN_TIMEOUT))

    def pull_lite(self, *given: Any) -> Result:
        """The pull of the lite pull consumer's task."""
        asked = PullLite(*given)
        holder = "common.filter.FilterAPI"
        filters = self.release.load(holder if self.release.has(holder) else "remoting.protocol.filter.FilterAPI")
        wanted = filters.build(ORDINARY.queues[asked.queue].topic, asked.expression, asked.kind)
        arguments = self.queues[asked.queue], wanted, self._long(asked.offset), self._integer(asked.most)
        return self._synchronous(asked, lambda: self._lite_pull.invoke(self._lite_inside, [*arguments]))

    def _synchronous(self, asked: Answered, pull: Any) -> Result:
        """A pull that is waited for."""
        self.network.answer = self._response(asked)
        try:
            result = pull()
        except jpype.JException as error:
            cause = error
            while "InvocationTargetException" in str(cause.getClass().getName()):
                cause = cause.getCause()
            if isinstance(cause, self._client_failure):
                return Err("CLIENT")
            return *self._sent(), *self._failed(cause)
        return *self._sent(), *_got(result)

    def _asynchronous(self, asked: Answered, pull: Any) -> Result:
        """A pull with a callback of the application."""
        recorder = ResultRecorder()
        try:
            pull(jpype.JProxy(self._callback, inst=recorder))
        except self._client_failure:
            return Err("CLIENT")
        self._complete(asked)
        if recorder.failure is not None:
            return *self._sent(), *self._failed(recorder.failure)
        return *self._sent(), *_got(recorder.result)

    def pull_push(self, *given: Any) -> Result:
        """The push consumer pulls."""
        asked = PullPush(*given)
        self.consumer.setPullBatchSize(asked.most)
        self.consumer.setPostSubscriptionWhenPull(asked.posts)
        self._subscribe(ORDINARY.queues[asked.queue].topic, asked.expression)
        return self._pushed(asked)

    def pull_class(self, *given: Any) -> Result:
        """The push consumer pulls from a filter server."""
        asked = PullClass(*given)
        topic, routes = ORDINARY.queues[asked.queue].topic, self.release.get(self.factory, "topicRouteTable")
        self.consumer.setPullBatchSize(CLASS_NUMBER)
        self.consumer.setPostSubscriptionWhenPull(asked.posts)
        self._subscribe(topic, "org.example.Wanted", "package org.example;")
        if asked.servers is not None:
            routes.put(topic, self._route(asked.servers))
        try:
            return self._pushed(asked)
        finally:
            routes.remove(topic)

    def _route(self, servers: tuple[int, ...]) -> Any:
        """A topic's route that names the filter servers of these nodes."""
        filters = self._map()
        for node in servers:
            filters.put(address_of(node), jpype.JClass("java.util.ArrayList")([*_FILTER_SERVERS[node]]))
        place = "common.protocol.route.TopicRouteData"
        made = self.release.load(place if self.release.has(place) else "remoting.protocol.route.TopicRouteData")()
        made.setFilterServerTable(filters)
        return made

    def _pushed(self, asked: PullPush | PullClass) -> Result:
        """One pull of the push consumer."""
        queue = self.queues[asked.queue]
        self.store.removeOffset(queue)
        if asked.held >= 0:
            self.store.updateOffset(queue, asked.held, False)
        request = self._pull_request()
        request.setConsumerGroup(GROUP)
        request.setNextOffset(asked.offset)
        request.setMessageQueue(queue)
        request.setProcessQueue(self._process_queue())
        self.bounds.messages, self.network.asked = (), None
        self.inside.pullMessage(request)
        if self.network.asked is not None:
            self._complete(asked)
        self.timers.take()
        self._waiting.clear()
        if self.network.asked is None:
            return None
        filtered = isinstance(asked, PullClass)
        return *self._sent(filtered), self.bounds.messages

    def _response(self, asked: Answered) -> Any:
        """The answer as a command, or how the pull fails."""
        if asked.code in ("silent", "cut"):
            return asked.code
        answer = self._command.createResponseCommand(0 if asked.code == "no-field" else int(Response[asked.code]), None)
        fields = self._map()
        if asked.code != "no-field":
            numbers = asked.next_offset, asked.low, asked.high, asked.suggested
            names = ("nextBeginOffset", "minOffset", "maxOffset", "suggestWhichBrokerId")
            for name, value in zip(names, numbers, strict=True):
                fields.put(name, str(value))
        answer.setExtFields(fields)
        if asked.code == "SUCCESS":
            answer.setBody(self._responses.body(vars(asked)["queue"], asked.messages))
        return answer

    def _complete(self, asked: Answered) -> None:
        """Answer the pull by the callback that came with it."""
        assert self.network.asked is not None
        _, _, callback = self.network.asked
        answer = self._response(asked)
        if isinstance(answer, str):
            self._responses.fail(callback, answer)
        else:
            self._responses.complete(callback, answer)

    def _sent(self, filtered: bool = False) -> tuple[Value, ...]:
        """The request; the node is the one of the filter server, -1 for a broker, of one that is ``filtered``."""
        assert self.network.asked is not None
        address, fields, _ = self.network.asked
        version = int(fields["subVersion"])
        age = time() * 1000 - version
        size = fields.get("maxMsgBytes")
        return (
            Request(self.network.request).name,
            _FILTERED_NODES.get(address, -1) if filtered else node_of(address),
            self.network.timeout,
            fields["consumerGroup"],
            fields["topic"],
            int(fields["queueId"]),
            *[int(fields[name]) for name in _NUMBERS],
            fields.get("subscription"),
            TIME if 0 <= age + 1 < _RECENTLY else str(version),
            fields.get("expressionType"),
            None if size is None else int(size),
            fields.get("bname"),
        )

    def _failed(self, failure: Any) -> tuple[Value, ...]:
        """What the application gets of a failure."""
        refused = isinstance(failure, self._broker_failure)
        return Response(int(failure.getResponseCode())).name if refused else UNANSWERED, None, None, None, None

    def set_times(self, suspend: int, waiting: int, plain: int) -> Result:
        """The application sets times."""
        self.puller.setBrokerSuspendMaxTimeMillis(suspend)
        for consumer in (self.puller, *([self.lite] if self.release.release >= LITE_PULL else [])):
            consumer.setConsumerTimeoutMillisWhenSuspend(waiting)
            consumer.setConsumerPullTimeoutMillis(plain)
        return None

    def calls(self) -> Methods:
        """One callable per operation."""
        return {
            Pull: self.pull_by_tags,
            PullSized: self.pull_sized,
            Select: self.select_by_sql,
            SelectWaiting: self.select_waiting,
            PullLite: self.pull_lite,
            PullPush: self.pull_push,
            PullClass: self.pull_class,
            Hook: self.hook,
            SetTimes: self.set_times,
        }


def _got(result: Any) -> tuple[Value, ...]:
    """What the application gets."""
    found = result.getMsgFoundList()
    offsets = [int(get()) for get in (result.getNextBeginOffset, result.getMinOffset, result.getMaxOffset)]
    return str(result.getPullStatus()), *offsets, None if found is None else _with_bounds(found)


def _with_bounds(messages: Any) -> tuple[Value, ...]:
    """Each message's offset, and the numbers in its properties."""
    return tuple(
        [
            (
                int(message.getQueueOffset()),
                *[int(str(message.getProperty(name))) for name in ("MIN_OFFSET", "MAX_OFFSET")],
            )
            for message in messages
        ]
    )


PART = JavaPullResult
