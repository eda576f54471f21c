"""What a broker asks a real client: requests that are given to the client's own processor, without a network."""

from __future__ import annotations

from typing import Any

import jpype

from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.targets.java_client.release import JavaRelease


class _Context:
    """The context of a request; only its channel is asked for."""

    def channel(self) -> None:
        return None


class BrokerQuestions:
    """The requests of brokers to the clients of one release."""

    def __init__(self, release: JavaRelease) -> None:
        self._processor = release.load("client.impl.ClientRemotingProcessor")
        context = jpype.JClass(release.loader.loadClass("io.netty.channel.ChannelHandlerContext"))
        self._context = jpype.JProxy(context, inst=_Context())
        self._command = release.load("remoting.protocol.RemotingCommand")
        self._map = jpype.JClass("java.util.HashMap")

    def ask(self, client: Any, code: Request, fields: dict[str, str], body: bytes = b"") -> Any:
        """Give a client a request; its answer, if it has one. Raises what Java raises."""
        request = self._command.createRequestCommand(int(code), None)
        named = self._map()
        for name, value in fields.items():
            named.put(name, value)
        request.setExtFields(named)
        if body:
            request.setBody(body)
        return self._processor(client).processRequest(self._context, request)

    def running_info(self, client: Any, group: str) -> bytes | None:
        """GET_CONSUMER_RUNNING_INFO: the body of the answer; None for an error, as a client answers what is raised."""
        try:
            answer = self.ask(
                client, Request.GET_CONSUMER_RUNNING_INFO, {"consumerGroup": group, "jstackEnable": "false"}
            )
        except jpype.JException:
            return None
        return None if int(answer.getCode()) else bytes(answer.getBody())
