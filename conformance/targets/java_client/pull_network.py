"""The network of the suite ``pull``: records a real consumer's pulls, and completes them by their callbacks.

Callbacks, response futures and encoded messages are those of the release.
"""

from __future__ import annotations

from typing import Any

import jpype

from rocketmq_conformance.conformance.targets.java_client.release import JavaRelease
from rocketmq_conformance.conformance.targets.java_client.transport import RemotingCalls
from rocketmq_conformance.models.client.pull_state import LARGE, LARGE_BYTES
from rocketmq_conformance.suites.declare.topologies import ORDINARY


class PullRecorder(RemotingCalls):
    """A RemotingClient that records pulls instead of sending them."""

    def __init__(self, release: JavaRelease) -> None:
        super().__init__(release)
        self.reachable = True
        #: (address, fields, callback) of the last pull.
        self.asked: tuple[str, dict[str, str], Any] | None = None

    def invokeAsync(self, address: Any, command: Any, millis: int, callback: Any) -> None:  # noqa: N802
        """Record a pull."""
        if not self.reachable:
            raise self._unsent("the node cannot be reached")
        self.asked = str(address), self._fields(command), callback


class ListenerRecorder:
    """The service that would call the listener; it records the offsets of the messages that it is given."""

    def __init__(self, release: JavaRelease) -> None:
        self.given: tuple[int, ...] = ()
        self.proxy = jpype.JProxy(release.load("client.impl.consumer.ConsumeMessageService"), inst=self)

    def submitConsumeRequest(self, messages: Any, process_queue: Any, queue: Any, dispatch: bool) -> None:  # noqa: N802
        """Messages to consume."""
        self.given = tuple([int(message.getQueueOffset()) for message in messages])


class PendingPull:
    """An in-flight pull."""

    def __init__(self, request: Any, fields: dict[str, str], callback: Any) -> None:
        self.request = request
        self.fields = fields
        self.callback = callback


class PullResponses:
    """Hands responses and failures to the callbacks of pulls, in the way of the release."""

    def __init__(self, release: JavaRelease) -> None:
        self.release = release
        self._bytes: dict[tuple[int, int, str], Any] = {}

    def complete(self, callback: Any, answer: Any) -> None:
        """Complete a pull with a response."""
        if hasattr(callback, "operationSucceed"):
            callback.operationSucceed(answer)
        else:
            future = self._future(callback)
            future.setResponseCommand(answer)
            callback.operationComplete(future)

    def fail(self, callback: Any, failure: str) -> None:
        """Fail a pull: "silent" is a timeout, anything else a connection that was cut."""
        kind = "RemotingTimeoutException" if failure == "silent" else "RemotingSendRequestException"
        cause = self.release.load("remoting.exception." + kind)("10.0.1.0:10911")
        if hasattr(callback, "operationFail"):
            callback.operationFail(cause)
        else:
            future = self._future(callback)
            future.setSendRequestOK(failure == "silent")
            future.setCause(cause)
            callback.operationComplete(future)

    def _future(self, callback: Any) -> Any:
        """The older way to hand over a response."""
        kind = self.release.load("remoting.netty.ResponseFuture")
        counts = {len(made.getParameterTypes()) for made in kind.class_.getConstructors()}
        return kind(None, 1, -1, callback, None) if 5 in counts else kind(1, -1, callback, None)

    def body(self, queue: int, messages: tuple[tuple[int, str], ...]) -> Any:
        """The encoded messages, (offset, tag) each, of a queue."""
        body = jpype.JClass("java.io.ByteArrayOutputStream")()
        for offset, tag in messages:
            body.writeBytes(self._encoded(queue, offset, tag))
        return body.toByteArray()

    def _encoded(self, queue: int, offset: int, tag: str) -> Any:
        key = queue, offset, tag
        if key not in self._bytes:
            message = self.release.load("common.message.MessageExt")()
            message.setTopic(ORDINARY.queues[queue].topic)
            message.setQueueId(ORDINARY.queues[queue].id)
            message.setQueueOffset(offset)
            message.setBody(jpype.JArray(jpype.JByte)(LARGE_BYTES if offset == LARGE else 1))
            if tag:
                message.setTags(tag)
            address = jpype.JClass("java.net.InetSocketAddress")
            message.setBornHost(address("127.0.0.1", 1))
            message.setStoreHost(address("127.0.0.1", 2))
            self._bytes[key] = self.release.load("common.message.MessageDecoder").encode(message, False)
        return self._bytes[key]
