"""Mutants of the port's simple consumers of the gRPC protocol, after real defects of clients."""

from __future__ import annotations

from collections.abc import Sequence

from rocketmq_conformance.conformance.fakes.proxy_case import Asked, Given
from rocketmq_conformance.conformance.remoting.grpc_codes import ClientType, Code
from rocketmq_conformance.conformance.targets.mutant import Mutant, declared
from rocketmq_conformance.conformance.targets.port.grpc_simple import GrpcSimple
from rocketmq_conformance.conformance.targets.port.grpc_simple_consumer import GrpcSimpleConsumer

MUTANTS: list[Mutant] = []


def _member(consumer: type[GrpcSimpleConsumer]) -> type[GrpcSimple]:
    return type(consumer.__name__, (GrpcSimple,), {"consumer": consumer})


_mutant = declared(MUTANTS, "grpc-simple").of(_member)


@_mutant("D435", "A simple consumer's change that is refused leaves no handle.")
class GrpcSimpleTakesRefused(GrpcSimpleConsumer):
    def changed(self, message: str, code: int, handle: str) -> None:
        self.handles[message] = handle


@_mutant("D435", "A change leaves the handle of the receive.")
class GrpcSimpleKeepsTheFirst(GrpcSimpleConsumer):
    def changed(self, message: str, code: int, handle: str) -> None:
        pass


@_mutant("D436", "Every receive names the first queue.")
class GrpcSimpleStaysAtOne(GrpcSimpleConsumer):
    def turn(self) -> int:
        return 0


@_mutant("D349", "The proxy is asked to renew what a receive gets.")
class GrpcSimpleIsRenewed(GrpcSimpleConsumer):
    def asked(self, most: int, seconds: float) -> Asked:
        return super().asked(most, seconds)._replace(renews=True)


@_mutant("D346", "The time for which messages are hidden is that for which a receive polls.")
class GrpcSimpleHidesForPolling(GrpcSimpleConsumer):
    def asked(self, most: int, seconds: float) -> Asked:
        return super().asked(most, seconds)._replace(hidden=2.0)


@_mutant("D420", "A receive asks for 32 messages, whatever its caller says.")
class GrpcSimpleTakesMore(GrpcSimpleConsumer):
    def asked(self, most: int, seconds: float) -> Asked:
        return super().asked(32, seconds)


@_mutant("D425", "An acknowledgement that is refused is sent again by itself.")
class GrpcSimpleInsists(GrpcSimpleConsumer):
    def acknowledge(self, queue: int, offset: int) -> None:
        super().acknowledge(queue, offset)
        if "AckMessage" in self.proxy.faults:
            super().acknowledge(queue, offset)


@_mutant("D425", "What a receive brings is acknowledged at once.")
class GrpcSimpleAcknowledgesItself(GrpcSimpleConsumer):
    def received(self, code: int, given: Sequence[Given]) -> None:
        super().received(code, given)
        for one in given:
            self.proxy.acknowledge(self.client, one.message.id, one.handle)


@_mutant("D206", "Once a receive was refused, no other one is sent.")
class GrpcSimpleEndsAfterRefusals(GrpcSimpleConsumer):
    refused = False

    def receive(self, most: int, seconds: float) -> None:
        if not self.refused:
            super().receive(most, seconds)

    def received(self, code: int, given: Sequence[Given]) -> None:
        self.refused = code not in (Code.OK, Code.MESSAGE_NOT_FOUND)
        super().received(code, given)


@_mutant("D423", "A simple consumer ends without a word.")
class GrpcSimpleLeavesSilently(GrpcSimpleConsumer):
    def stop(self) -> None:
        self.running = False


@_mutant("D426", "Heartbeats say that it is a push consumer.")
class GrpcSimpleBeatsAsPush(GrpcSimpleConsumer):
    def beat(self) -> None:
        if self.running:
            self.proxy.beat(self.client, self.proxy.group, ClientType.PUSH_CONSUMER)
