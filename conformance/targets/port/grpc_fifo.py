"""The port's push consumers of FIFO groups of the gRPC protocol."""

from __future__ import annotations

from rocketmq_conformance.conformance.adapter import Methods
from rocketmq_conformance.conformance.fakes.proxy_moves import prepare_fifo
from rocketmq_conformance.conformance.targets.port.grpc_answers import GrpcAnswers
from rocketmq_conformance.conformance.targets.port.grpc_consumer import GrpcConsumer
from rocketmq_conformance.conformance.targets.port.grpc_in_order import GrpcInOrder
from rocketmq_conformance.models.outcome import Result
from rocketmq_conformance.suites import grpc_fifo as operations

_FORWARD = "ForwardMessageToDeadLetterQueue"


class GrpcFifo(GrpcAnswers):
    """The members that run, and the call that is refused."""

    consumer: type[GrpcConsumer] = GrpcInOrder
    begins = staticmethod(prepare_fifo)

    def look(self) -> Result:
        """Let time pass, until no more messages end: those that fail are tried again."""
        ended, shown = -1, super().look()
        while ended < len(self.proxy.ended):
            ended, shown = len(self.proxy.ended), super().look()
        return shown

    def send(self, queue: int, form: str = "ordinary", messages: int = 1) -> Result:
        """Messages arrive; none whose checksum is wrong while nothing is forwarded."""
        return super().send(queue, "ordinary" if _FORWARD in self.proxy.faults else form, messages)

    def refuse(self, call: str, code: str) -> Result:
        """From now on a call is refused, unless a message with a wrong checksum is to be forwarded."""
        return self.wait() if call == _FORWARD and self.proxy.waits_corrupted() else super().refuse(call, code)

    def calls(self) -> Methods:
        """The method that does each operation of the suite, by its class."""
        return {
            operations.Prepare: self.prepare,
            operations.Join: self.join,
            operations.Leave: self.leave,
            operations.Send: self.send,
            operations.Listen: self.listen,
            operations.Refuse: self.refuse,
            operations.Mend: self.mend,
            operations.Look: self.wait,
        }


PART = GrpcFifo
