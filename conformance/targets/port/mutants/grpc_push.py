"""Mutants of the port's push consumers of the gRPC protocol, after real defects of clients."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rocketmq_conformance.conformance.fakes.proxy_case import Asked, Given, Said
from rocketmq_conformance.conformance.remoting.grpc_codes import ClientType
from rocketmq_conformance.conformance.targets.mutant import Mutant, declared
from rocketmq_conformance.conformance.targets.port.grpc_consumer import GrpcConsumer, Line
from rocketmq_conformance.conformance.targets.port.grpc_push import GrpcPush

MUTANTS: list[Mutant] = []


def _members(consumer: type[GrpcConsumer]) -> type[GrpcPush]:
    return type(consumer.__name__, (GrpcPush,), {"consumer": consumer})


_mutant = declared(MUTANTS, "grpc-push").of(_members)


@_mutant("D420", "Receives ask for 32 messages, whatever the settings say.")
class GrpcBatchOfThirtyTwo(GrpcConsumer):
    def asked(self) -> Asked:
        return super().asked()._replace(batch=32)


@_mutant("D346", "Receives poll for as long as messages are hidden.")
class GrpcPollsForLong(GrpcConsumer):
    def asked(self) -> Asked:
        return super().asked()._replace(polling=15.0)


@_mutant("D349", "The proxy is not asked to renew what receives get.")
class GrpcRenewsNothing(GrpcConsumer):
    def asked(self) -> Asked:
        return super().asked()._replace(renews=False)


@_mutant("D421", "A back-off that is customised is no time at all.")
class GrpcComesAgainAtOnce(GrpcConsumer):
    def delay(self, attempt: int) -> float:
        return super().delay(attempt) if self.settings.exponential else 0.0


@_mutant("D421", "A message that fails again waits no longer than the first time.")
class GrpcWaitsAsBefore(GrpcConsumer):
    def delay(self, attempt: int) -> float:
        return super().delay(1)


@_mutant("D421", "The longest time of an exponential back-off is passed over.")
class GrpcWaitsForEver(GrpcConsumer):
    def delay(self, attempt: int) -> float:
        first, _, factor = self.settings.backoff if self.settings.exponential else (0.0, 0.0, 0.0)
        return first * factor ** (attempt - 1) if self.settings.exponential else super().delay(attempt)


@_mutant("D430", "A back-off that is exponential is a second.")
class GrpcWaitsForASecond(GrpcConsumer):
    def delay(self, attempt: int) -> float:
        return 1.0 if self.settings.exponential else super().delay(attempt)


@_mutant("D93", "A message for which the listener fails is acknowledged.")
class GrpcAcknowledgesFailures(GrpcConsumer):
    def give_back(self, given: Given) -> None:
        self.acknowledge(given)


@_mutant("D426", "A message for which the listener fails is left alone.")
class GrpcForgetsFailures(GrpcConsumer):
    def give_back(self, given: Given) -> None:
        pass


@_mutant("D424", "Every message is acknowledged twice.")
class GrpcAcknowledgesTwice(GrpcConsumer):
    def acknowledge(self, given: Given, then: Callable[[], None] = lambda: None) -> None:
        super().acknowledge(given)
        super().acknowledge(given)


@_mutant("D427", "The assignment is asked for once.")
class GrpcAssignedOnce(GrpcConsumer):
    def assign(self, queues: Sequence[int]) -> None:
        if not self.lines:
            super().assign(queues)


@_mutant("D427", "Queues that are assigned no more are received from.")
class GrpcKeepsQueues(GrpcConsumer):
    def assign(self, queues: Sequence[int]) -> None:
        super().assign([*self.lines, *(queue for queue in queues if queue not in self.lines)])


@_mutant("D427", "An assignment without queues changes nothing.")
class GrpcKeepsTheLast(GrpcConsumer):
    def assign(self, queues: Sequence[int]) -> None:
        if queues:
            super().assign(queues)


@_mutant("D427", "A queue that comes back is received from twice.")
class GrpcReceivesTwice(GrpcConsumer):
    def assign(self, queues: Sequence[int]) -> None:
        for queue in [one for one in self.lines if one not in queues]:
            self.lines.pop(queue)  # whose receives go on
        super().assign(queues)


@_mutant("D206", "After an answer without messages a queue is received from no more.")
class GrpcEndsWithoutMessages(GrpcConsumer):
    def received(self, line: Line, code: int, given: Sequence[Given]) -> None:
        super().received(line, code, given)
        if not given:
            line.dropped = True


@_mutant("D152", "No heartbeats are sent.")
class GrpcBeatsNever(GrpcConsumer):
    def beat(self) -> None:
        pass


@_mutant("D152", "Heartbeats say that it is a simple consumer.")
class GrpcBeatsAsAnother(GrpcConsumer):
    def beat(self) -> None:
        self.proxy.beat(self.client, self.proxy.group, ClientType.SIMPLE_CONSUMER)
        super().beat()


@_mutant("D130", "Settings name no subscription.")
class GrpcSubscribesToNothing(GrpcConsumer):
    def said(self) -> Said:
        return super().said()._replace(subscriptions=())


@_mutant("D130", "Settings say that it is a simple consumer.")
class GrpcIsAnother(GrpcConsumer):
    def said(self) -> Said:
        return super().said()._replace(kind=ClientType.SIMPLE_CONSUMER)


@_mutant("D423", "It says that it ends while receives are open.")
class GrpcEndsWithReceives(GrpcConsumer):
    def await_receives(self) -> None:
        pass


@_mutant("D423", "It ends without a word.")
class GrpcEndsSilently(GrpcConsumer):
    def terminate(self) -> None:
        pass
