"""Mutants of the port's gRPC push consumers whose calls are refused, after real defects of clients."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence

from rocketmq_conformance.conformance.fakes.proxy_case import Given
from rocketmq_conformance.conformance.remoting.grpc_codes import Code
from rocketmq_conformance.conformance.targets.mutant import Mutant, declared
from rocketmq_conformance.conformance.targets.port.grpc_answers import GrpcAnswers
from rocketmq_conformance.conformance.targets.port.grpc_consumer import AGAIN, Body, GrpcConsumer, Line

MUTANTS: list[Mutant] = []


def _member(consumer: type[GrpcConsumer]) -> type[GrpcAnswers]:
    return type(consumer.__name__, (GrpcAnswers,), {"consumer": consumer})


_mutant = declared(MUTANTS, "grpc-answers").of(_member)


@_mutant("D425", "An acknowledgement that is refused is not sent again.")
class GrpcSwallowsRefusals(GrpcConsumer):
    def acknowledge(self, given: Given, then: Callable[[], None] = lambda: None) -> None:
        self.proxy.acknowledge(self.client, given.message.id, given.handle)


@_mutant("D425", "A message that could not be given back is forgotten.")
class GrpcGivesBackOnce(GrpcConsumer):
    def give_back(self, given: Given) -> None:
        self.proxy.change(self.client, given.message.id, given.handle, self.delay(given.attempt))


@_mutant("D424", "What is refused as INVALID_RECEIPT_HANDLE is sent again for ever.")
class GrpcInsistsOnHandles(GrpcConsumer):
    def is_repeated(self, code: int) -> bool:
        return code != Code.OK


@_mutant("D424", "A message that could not be given back is acknowledged.")
class GrpcAcknowledgesInstead(GrpcConsumer):
    def give_back(self, given: Given) -> None:
        code, _ = self.proxy.change(self.client, given.message.id, given.handle, self.delay(given.attempt))
        if code != Code.OK:
            self.acknowledge(given)


@_mutant("D428", "A change that is refused leaves the handle of that answer, which is none.")
class GrpcTakesRefusedHandles(GrpcConsumer):
    def give_back(self, given: Given) -> None:
        code, handle = self.proxy.change(self.client, given.message.id, given.handle, self.delay(given.attempt))
        if self.is_repeated(code):
            self.timers.after(AGAIN, lambda: self.give_back(given._replace(handle=handle)))


@_mutant("D429", "A checksum by CRC32 is compared with eight digits.")
class GrpcSumsInEightDigits(GrpcConsumer):
    def sum_of(self, body: Body) -> str:
        return f"{zlib.crc32(body.data):08X}" if body.digest == "CRC32" else super().sum_of(body)


@_mutant("D206", "A queue whose receive is refused is received from no more.")
class GrpcEndsAfterRefusals(GrpcConsumer):
    def failed(self, line: Line, code: int) -> None:
        line.dropped = True


@_mutant("D421", "A receive that is refused is sent again at once.")
class GrpcInsists(GrpcConsumer):
    def failed(self, line: Line, code: int) -> None:
        self.timers.after(0.005, lambda: self.receive(line))


@_mutant("D427", "A question for the assignment that is refused ends all receives.")
class GrpcDropsWithoutAssignment(GrpcConsumer):
    def scan(self) -> None:
        if self.running and self.proxy.faults.get("QueryAssignment"):
            self.assign(())
        super().scan()


@_mutant("D422", "A checksum by CRC32 is compared with a decimal number.")
class GrpcSumsInDecimals(GrpcConsumer):
    def sum_of(self, body: Body) -> str:
        return str(zlib.crc32(body.data)) if body.digest == "CRC32" else super().sum_of(body)


@_mutant("D422", "A checksum by SHA-1 is taken for one by MD5.")
class GrpcKnowsOneSum(GrpcConsumer):
    def sum_of(self, body: Body) -> str:
        return super().sum_of(body._replace(digest="MD5") if body.digest == "SHA1" else body)


@_mutant("D422", "The checksum is taken of what was compressed before.")
class GrpcSumsWhatItRead(GrpcConsumer):
    def sum_of(self, body: Body) -> str:
        return super().sum_of(body._replace(data=self.read(body)))


@_mutant("D422", "A message whose checksum is wrong is given to the listener.")
class GrpcChecksNothing(GrpcConsumer):
    def sum_of(self, body: Body) -> str:
        return body.checksum


@_mutant("D422", "A message whose checksum is wrong is acknowledged.")
class GrpcDiscardsForGood(GrpcConsumer):
    def consume(self, given: Given) -> None:
        if given.message.form.corrupted:
            self.acknowledge(given)
        else:
            super().consume(given)


@_mutant("D422", "A message whose checksum is wrong is left alone.")
class GrpcLeavesCorrupted(GrpcConsumer):
    def consume(self, given: Given) -> None:
        if not given.message.form.corrupted:
            super().consume(given)


@_mutant("D420", "While the proxy is too busy for receives, they ask for one message.")
class GrpcAsksForOne(GrpcConsumer):
    def received(self, line: Line, code: int, given: Sequence[Given]) -> None:
        if code == Code.TOO_MANY_REQUESTS:
            self.settings = self.settings._replace(batch=1)
        super().received(line, code, given)
