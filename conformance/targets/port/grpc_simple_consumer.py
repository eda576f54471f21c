"""A simple consumer of the gRPC protocol: the port's."""

from __future__ import annotations

from collections.abc import Sequence

from rocketmq_conformance.conformance.fakes.proxy_case import Asked, Given, ProxyCase, Said
from rocketmq_conformance.conformance.remoting.grpc_codes import ClientType, Code
from rocketmq_conformance.conformance.targets.port.virtual_timers import VirtualTimers

#: Seconds for which a receive polls, between heartbeats, and until the first of them.
AWAIT, HEARTBEATS, FIRST = 2.0, 10.0, 1.0


class GrpcSimpleConsumer:
    """One client."""

    def __init__(self, proxy: ProxyCase, timers: VirtualTimers, client: str) -> None:
        self.proxy, self.timers, self.client = proxy, timers, client
        self.running = False
        self.next_queue = 0
        #: The handles of messages, by their ids, with what it was given.
        self.handles: dict[str, str] = {}
        self.ids: dict[tuple[int, int], str] = {}

    def start(self) -> None:
        """Ask for the route, send settings, and begin to send heartbeats."""
        _, self.queues = self.proxy.route(self.client, self.proxy.topic)
        self.proxy.say(self.client, Said(ClientType.SIMPLE_CONSUMER, self.proxy.group, ((self.proxy.topic, "*"),)))
        self.running = True
        self.timers.after(FIRST, self.beat)

    def stop(self) -> None:
        """Say that it ends."""
        self.running = False
        self.proxy.terminate(self.client, self.proxy.group)

    def beat(self) -> None:
        """Send a heartbeat, and the next one later."""
        if self.running:
            self.proxy.beat(self.client, self.proxy.group, ClientType.SIMPLE_CONSUMER)
            self.timers.after(HEARTBEATS, self.beat)

    def turn(self) -> int:
        """The queue of the next receive."""
        queue, self.next_queue = self.next_queue, (self.next_queue + 1) % self.queues
        return queue

    def asked(self, most: int, seconds: float) -> Asked:
        """What a receive asks for."""
        return Asked(most, False, AWAIT, "*", False, seconds)

    def receive(self, most: int, seconds: float) -> None:
        """Receive once."""
        answered = False

        def deliver(code: int, given: Sequence[Given]) -> None:
            nonlocal answered
            answered = True
            self.received(code, given)

        opened = self.proxy.receive(self.client, self.turn(), self.asked(most, seconds), deliver)

        def time_is_up() -> None:
            if opened is not None and not answered:
                self.proxy.give_up(opened)

        self.timers.after(AWAIT, time_is_up)

    def received(self, code: int, given: Sequence[Given]) -> None:
        """A receive was answered: keep the handles of what it brought."""
        for one in given:
            self.ids[one.message.queue, one.message.offset] = one.message.id
            self.handles[one.message.id] = one.handle

    def acknowledge(self, queue: int, offset: int) -> None:
        """Acknowledge a message, if it was given."""
        message = self.ids.get((queue, offset))
        if message is not None:
            self.proxy.acknowledge(self.client, message, self.handles[message])

    def change(self, queue: int, offset: int, seconds: float) -> None:
        """Change for how long a message is hidden, if it was given."""
        message = self.ids.get((queue, offset))
        if message is not None:
            code, handle = self.proxy.change(self.client, message, self.handles[message], seconds)
            self.changed(message, code, handle)

    def changed(self, message: str, code: int, handle: str) -> None:
        """A change was answered."""
        if code == Code.OK:
            self.handles[message] = handle
