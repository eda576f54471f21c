"""Mutants of the port's gRPC push consumers of FIFO groups, after real defects of clients."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rocketmq_conformance.conformance.fakes.proxy_case import Given
from rocketmq_conformance.conformance.remoting.grpc_codes import Code
from rocketmq_conformance.conformance.targets.mutant import Mutant, declared
from rocketmq_conformance.conformance.targets.port.grpc_consumer import AGAIN, GrpcConsumer
from rocketmq_conformance.conformance.targets.port.grpc_fifo import GrpcFifo
from rocketmq_conformance.conformance.targets.port.grpc_in_order import GrpcInOrder

MUTANTS: list[Mutant] = []


def _member(consumer: type[GrpcConsumer]) -> type[GrpcFifo]:
    return type(consumer.__name__, (GrpcFifo,), {"consumer": consumer})


_mutant = declared(MUTANTS, "grpc-fifo").of(_member)


@_mutant("D431", "Messages of a FIFO group are given back when they fail, as those of others are.")
class GrpcKnowsNoOrder(GrpcConsumer):
    pass


@_mutant("D431", "The next message of a group does not wait until the acknowledgement of the one before was taken.")
class GrpcWaitsForNoAnswer(GrpcInOrder):
    def acknowledge(self, given: Given, then: Callable[[], None] = lambda: None) -> None:
        super().acknowledge(given)
        then()


@_mutant("D431", "The messages that a receive brought are consumed from the last one on.")
class GrpcReversesOrder(GrpcInOrder):
    def take(self, given: Sequence[Given]) -> None:
        super().take([*reversed(given)] if len(given) > 2 else given)


@_mutant("D432", "A message that fails is tried again at once.")
class GrpcTriesAtOnce(GrpcInOrder):
    def delay(self, attempt: int) -> float:
        return 0.0


@_mutant("D432", "A message that fails waits each time as long as the first time.")
class GrpcTriesAsBefore(GrpcInOrder):
    def delay(self, attempt: int) -> float:
        return super().delay(1)


@_mutant("D432", "A message goes to the dead-letter queue one attempt too soon.")
class GrpcGivesUpBefore(GrpcInOrder):
    def attempt(self, one: Given, number: int, then: Callable[[], None]) -> None:
        super().attempt(one, number + 1, then)


@_mutant("D434", "A message that failed for the last time is acknowledged.")
class GrpcForgetsTheDead(GrpcInOrder):
    def forward(self, one: Given, number: int, then: Callable[[], None] = lambda: None) -> None:
        self.acknowledge(one, then)


@_mutant("D432", "A message is tried for ever.")
class GrpcTriesForEver(GrpcInOrder):
    def attempt(self, one: Given, number: int, then: Callable[[], None]) -> None:
        super().attempt(one, min(number, self.settings.attempts - 1), then)


@_mutant("D433", "What forwards a message says the attempt at which it was given.")
class GrpcSaysFirstAttempt(GrpcInOrder):
    def forward(self, one: Given, number: int, then: Callable[[], None] = lambda: None) -> None:
        super().forward(one, one.attempt, then)


@_mutant("D434", "A message that could not be forwarded is forgotten, and the next one consumed.")
class GrpcForwardsOnce(GrpcInOrder):
    def forward(self, one: Given, number: int, then: Callable[[], None] = lambda: None) -> None:
        self.proxy.forward(self.client, one.message.id, one.handle, number)
        then()


@_mutant("D434", "After a message that could not be forwarded no other one is consumed.")
class GrpcStopsAtTheDead(GrpcInOrder):
    def forward(self, one: Given, number: int, then: Callable[[], None] = lambda: None) -> None:
        if self.proxy.forward(self.client, one.message.id, one.handle, number) == Code.OK:
            then()
            return
        self.timers.after(AGAIN, lambda: self.forward(one, number))


@_mutant("D422", "A message of a FIFO group whose checksum is wrong is given back.")
class GrpcGivesBackInOrder(GrpcInOrder):
    def discard(self, one: Given) -> None:
        self.give_back(one)


@_mutant("D422", "A message of a FIFO group whose checksum is wrong is tried as one that fails.")
class GrpcTriesTheCorrupted(GrpcInOrder):
    def is_whole(self, given: Given) -> bool:
        return True


@_mutant("D422", "A message of a FIFO group whose checksum is wrong is dropped.")
class GrpcDropsTheCorrupted(GrpcInOrder):
    def discard(self, one: Given) -> None:
        pass
