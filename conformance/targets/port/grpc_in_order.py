"""A push consumer of a FIFO group of the gRPC protocol: it consumes one message after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rocketmq_conformance.conformance.fakes.proxy_case import Given
from rocketmq_conformance.conformance.remoting.grpc_codes import Code
from rocketmq_conformance.conformance.targets.port.grpc_consumer import AGAIN, GrpcConsumer


class GrpcInOrder(GrpcConsumer):
    """One client."""

    def take(self, given: Sequence[Given]) -> None:
        """Consume what a receive brought, one after the other."""
        if not given:
            return
        one, *others = given
        if self.is_whole(one):
            self.attempt(one, one.attempt, lambda: self.take(others))
        else:
            self.discard(one)
            self.take(others)

    def attempt(self, one: Given, number: int, then: Callable[[], None]) -> None:
        """Give a message to the listener, again and again if it fails, and go on when it has ended."""
        if self.listener(one.message.id.encode()):
            self.acknowledge(one, then)
        elif number < self.settings.attempts:
            self.timers.after(self.delay(number), lambda: self.attempt(one, number + 1, then))
        else:
            self.forward(one, number, then)

    def discard(self, one: Given) -> None:
        """End a message whose body is not what was sent."""
        self.forward(one, one.attempt)

    def forward(self, one: Given, number: int, then: Callable[[], None] = lambda: None) -> None:
        """Send a message to the dead-letter queue, until it is taken, and go on then."""
        if self.proxy.forward(self.client, one.message.id, one.handle, number) == Code.OK:
            then()
        else:
            self.timers.after(AGAIN, lambda: self.forward(one, number, then))
