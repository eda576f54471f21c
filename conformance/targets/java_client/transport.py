"""The real client's transport to the fake broker: its own network code, or plain calls in its place.

A request as a plain call crosses between Java and Python once each way by ``Transport.java`` where Java has a compiler;
else Python takes it apart, which costs some fifteen calls of Java.
"""

from __future__ import annotations

from contextlib import suppress
from functools import lru_cache
from typing import Any

import jpype

from rocketmq_conformance.conformance.adapter import Answered, Exchange
from rocketmq_conformance.conformance.targets.java_client.java_source import BETWEEN, compiled
from rocketmq_conformance.conformance.targets.java_client.release import JavaRelease

#: The ways of a request that is not waited for: without an answer, and with one that comes by a callback.
_ONE_WAY, _ASYNC = "1", "2"


@lru_cache(maxsize=4096)
def _request(text: str) -> tuple[str, int, dict[str, str], bytes, str]:
    """A request's address, code, fields, body and way; most are sent many times."""
    address, code, way, size, rest = text.split(BETWEEN, 4)
    *fields, characters = rest.split(BETWEEN, 2 * int(size))
    ext = dict(zip(fields[::2], fields[1::2], strict=True))
    return address, int(code), ext, characters.encode("latin-1"), way


@lru_cache(maxsize=4096)
def _answer(number: int, remark: str | None, header: tuple[tuple[str, str], ...], body: bytes) -> str:
    """An answer as text; most are given many times."""
    named = "".join([f"{name}{BETWEEN}{value}{BETWEEN}" for name, value in header])
    return f"A{number}{BETWEEN}{len(header)}{BETWEEN}{named}{remark or ''}{BETWEEN}{body.decode('latin-1')}"


class RemotingCalls:
    """A RemotingClient whose requests are plain calls; the class behind a Java proxy. Pulls get no response."""

    def __init__(self, release: JavaRelease) -> None:
        #: The fake broker's request handler; set when a case begins.
        self.exchange: Exchange | None = None
        #: The fields of each pull.
        self.pulls: list[dict[str, str]] = []
        self._command = release.load("remoting.protocol.RemotingCommand")
        self._timeout = release.load("remoting.exception.RemotingTimeoutException")
        self._unsent = release.load("remoting.exception.RemotingSendRequestException")
        self._map = jpype.JClass("java.util.HashMap")
        self._list = jpype.JClass("java.util.ArrayList")
        self._join = jpype.JClass("java.lang.String").join
        self.proxy = self._proxy(release)

    def _proxy(self, release: JavaRelease) -> Any:
        """The RemotingClient; methods that a subclass has changed are left to it."""
        kind = release.load("remoting.RemotingClient")
        proxy = jpype.JProxy(kind, inst=self)
        transport = compiled("Transport")
        if transport is None:
            return proxy
        own = type(self)
        calls = (RemotingCalls.invokeSync, RemotingCalls.invokeOneway, RemotingCalls.invokeAsync)
        names = [call.__name__ for call in calls if getattr(own, call.__name__) is call]
        exchange = jpype.JProxy("java.util.function.UnaryOperator", inst=self)
        classes = (one.class_ for one in (kind, self._command, self._timeout, self._unsent))
        return transport(exchange, proxy, jpype.JClass("java.util.HashSet")(names), *classes).proxy

    def apply(self, text: Any) -> str:
        """A request and its answer as texts (``Transport.java``)."""
        address, code, ext, body, way = _request(str(text))
        if way == _ASYNC:
            self.pulls.append(ext)
            return ""
        try:
            number, remark, header, answer = self.respond(address, code, dict(ext), body, way == _ONE_WAY)
        except TimeoutError as error:
            return f"T{error}"
        except ConnectionError as error:
            return f"U{error}"
        return _answer(number, remark, tuple(header.items()), answer)

    def respond(self, address: str, code: int, ext: dict[str, str], body: bytes, one_way: bool) -> Answered:
        """What the fake broker answers; a subclass may look at requests, or answer them itself."""
        assert self.exchange is not None
        return self.exchange(address, code, ext, body, one_way)

    def invokeSync(self, address: Any, command: Any, millis: int) -> Any:  # noqa: N802 - Java's name
        """One request and its answer."""
        return self._ask(address, command, False)

    def invokeOneway(self, address: Any, command: Any, millis: int) -> None:  # noqa: N802
        """A one-way request; its loss stays unnoticed."""
        with suppress(self._timeout, self._unsent):
            self._ask(address, command, True)

    def invokeAsync(self, address: Any, command: Any, millis: int, callback: Any) -> None:  # noqa: N802
        """A pull: it is recorded, and not answered."""
        self.pulls.append(self._fields(command))

    def _ask(self, address: Any, command: Any, one_way: bool) -> Any:
        ext = self._fields(command)
        sent = command.getBody()
        asked = b"" if sent is None else bytes(sent)
        try:
            code, remark, header, body = self.respond(str(address or ""), int(command.getCode()), ext, asked, one_way)
        except TimeoutError as error:
            raise self._timeout(str(error)) from None
        except ConnectionError as error:
            raise self._unsent(str(error)) from None
        answer = self._command.createResponseCommand(code, remark or None)
        fields = self._map()
        for name, value in header.items():
            fields.put(name, value)
        answer.setExtFields(fields)
        if body:
            answer.setBody(body)
        return answer

    def _fields(self, command: Any) -> dict[str, str]:
        """The fields of a request; each call of Java costs more than splitting a text."""
        command.makeCustomHeaderToNet()
        fields = command.getExtFields()
        if fields is None:
            return {}
        names, values = self._join(BETWEEN, fields.keySet()), self._join(BETWEEN, fields.values())
        return dict(zip(names.split(BETWEEN), values.split(BETWEEN), strict=True)) if names else {}

    def isChannelWritable(self, address: str) -> bool:  # noqa: N802
        return True

    def isAddressReachable(self, address: str) -> bool:  # noqa: N802
        return True

    def getNameServerAddressList(self) -> Any:  # noqa: N802
        return self._list()

    def getAvailableNameSrvList(self) -> Any:  # noqa: N802
        return self._list()

    def updateNameServerAddressList(self, addresses: Any) -> None:  # noqa: N802
        """Nothing to update: there is one broker, and it is known."""

    def start(self) -> None:
        """Nothing to start."""

    def shutdown(self) -> None:
        """Nothing to stop."""
