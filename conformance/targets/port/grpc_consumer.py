"""A push consumer of the gRPC protocol, on timers that are turned and a proxy that is called: the port's sibling."""

from __future__ import annotations

import gzip
import hashlib
import zlib
from collections.abc import Callable, Sequence
from typing import NamedTuple

from rocketmq_conformance.conformance.fakes.proxy_case import Asked, Given, ProxyCase, Said, body_of
from rocketmq_conformance.conformance.remoting.grpc_codes import ClientType, Code
from rocketmq_conformance.conformance.targets.port.virtual_timers import VirtualTimers

#: Seconds between questions for assignments, and between heartbeats; until the first of both.
ASSIGNMENTS, HEARTBEATS, FIRST = 5.0, 10.0, 1.0
#: Seconds until a call is sent again that was refused, and until a receive is that the proxy was too busy for.
AGAIN, SOON = 1.0, 0.02


class Line:
    """The receives of one queue, one after the other."""

    def __init__(self, queue: int) -> None:
        self.queue = queue
        self.dropped = False


class Body(NamedTuple):
    """A body as it was received."""

    data: bytes
    checksum: str
    digest: str
    compressed: bool


class GrpcConsumer:
    """One client."""

    def __init__(self, proxy: ProxyCase, timers: VirtualTimers, client: str, listener: Callable[[bytes], bool]) -> None:
        self.proxy, self.timers, self.client, self.listener = proxy, timers, client, listener
        self.running = False
        self.lines: dict[int, Line] = {}
        #: Its receives that are open.
        self.open = 0

    def start(self) -> None:
        """Ask for the route, send settings, and begin the timers."""
        self.proxy.route(self.client, self.proxy.topic)
        self.settings = self.proxy.say(self.client, self.said())
        self.running = True
        self.timers.after(FIRST, self.scan)
        self.timers.after(FIRST, self.beat)

    def stop(self) -> None:
        """Wait for the receives that are open, and say that it ends."""
        self.running = False
        self.await_receives()
        self.terminate()

    def await_receives(self) -> None:
        """Let time pass until no receive is open."""
        while self.open:
            self.timers.run(0.1)

    def terminate(self) -> None:
        """Say that it ends."""
        self.proxy.terminate(self.client, self.proxy.group)

    def crash(self) -> None:
        """End without a word."""
        self.running = False
        self.proxy.drop(self.client)

    def said(self) -> Said:
        """What its settings say."""
        return Said(ClientType.PUSH_CONSUMER, self.proxy.group, ((self.proxy.topic, "*"),))

    # --- timers -----------------------------------------------------------------------------------------------

    def beat(self) -> None:
        """Send a heartbeat, and the next one later."""
        if self.running:
            self.proxy.beat(self.client, self.proxy.group, ClientType.PUSH_CONSUMER)
            self.timers.after(HEARTBEATS, self.beat)

    def scan(self) -> None:
        """Ask for the assignment, and again later."""
        if self.running:
            code, queues = self.proxy.assignment(self.client)
            if code == Code.OK:
                self.assign(queues)
            self.timers.after(ASSIGNMENTS, self.scan)

    def assign(self, queues: Sequence[int]) -> None:
        """Have these queues, and no others."""
        for queue in [one for one in self.lines if one not in queues]:
            self.lines.pop(queue).dropped = True
        for queue in queues:
            if queue not in self.lines:
                self.lines[queue] = line = Line(queue)
                self.receive(line)

    # --- receives ---------------------------------------------------------------------------------------------

    def receive(self, line: Line) -> None:
        """Receive from a queue, unless it is gone."""
        if line.dropped or not self.running:
            return
        self.open += 1
        answered = False

        def deliver(code: int, given: Sequence[Given]) -> None:
            nonlocal answered
            answered = True
            self.timers.after(0, lambda: self.received(line, code, given))

        opened = self.proxy.receive(self.client, line.queue, self.asked(), deliver)

        def time_is_up() -> None:
            if opened is not None and not answered:
                self.proxy.give_up(opened)
                self.received(line, Code.MESSAGE_NOT_FOUND, ())

        self.timers.after(self.proxy.settings.polling, time_is_up)

    def asked(self) -> Asked:
        """What a receive asks for."""
        return Asked(self.settings.batch, True, self.settings.polling, "*", True)

    def received(self, line: Line, code: int, given: Sequence[Given]) -> None:
        """A receive was answered: consume what it brought, and receive again."""
        self.open -= 1
        self.take(given)
        if code in (Code.OK, Code.MESSAGE_NOT_FOUND):
            self.receive(line)
        else:
            self.failed(line, code)

    def failed(self, line: Line, code: int) -> None:
        """A receive was refused."""
        self.timers.after(SOON if code == Code.TOO_MANY_REQUESTS else AGAIN, lambda: self.receive(line))

    # --- messages ---------------------------------------------------------------------------------------------

    def take(self, given: Sequence[Given]) -> None:
        """Consume what a receive brought."""
        for one in given:
            self.consume(one)

    def consume(self, given: Given) -> None:
        """Give a message to the listener, unless its body is not what was sent."""
        if self.is_whole(given) and self.listener(self.read(_body(given))):
            self.acknowledge(given)
        else:
            self.give_back(given)

    def is_whole(self, given: Given) -> bool:
        """Is the body of a message what was sent?"""
        body = _body(given)
        return self.sum_of(body) == body.checksum

    def sum_of(self, body: Body) -> str:
        """The checksum of a body."""
        match body.digest:
            case "CRC32":
                return f"{zlib.crc32(body.data):X}"
            case "SHA1":
                return hashlib.sha1(body.data, usedforsecurity=False).hexdigest().upper()
            case _:
                return hashlib.md5(body.data, usedforsecurity=False).hexdigest().upper()

    def read(self, body: Body) -> bytes:
        """A body as it was before it was sent."""
        return gzip.decompress(body.data) if body.compressed else body.data

    def acknowledge(self, given: Given, then: Callable[[], None] = lambda: None) -> None:
        """Say that a message was consumed, until that is taken, and go on then."""
        code = self.proxy.acknowledge(self.client, given.message.id, given.handle)
        if self.is_repeated(code):
            self.timers.after(AGAIN, lambda: self.acknowledge(given, then))
        else:
            then()

    def give_back(self, given: Given) -> None:
        """Have a message come again later, until that is taken."""
        code, _ = self.proxy.change(self.client, given.message.id, given.handle, self.delay(given.attempt))
        if self.is_repeated(code):
            self.timers.after(AGAIN, lambda: self.give_back(given))

    def is_repeated(self, code: int) -> bool:
        """Is a call to be sent again that was answered so?"""
        return code not in (Code.OK, Code.INVALID_RECEIPT_HANDLE)

    def delay(self, attempt: int) -> float:
        """Seconds until a message comes again that failed at this attempt."""
        return self.settings.delay(attempt)


def _body(given: Given) -> Body:
    data, checksum = body_of(given.message)
    return Body(data, checksum, given.message.form.digest, given.message.form.compressed)
