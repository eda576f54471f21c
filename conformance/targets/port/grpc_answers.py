"""The port's push consumers of the gRPC protocol whose calls are refused."""

from __future__ import annotations

from rocketmq_conformance.conformance.adapter import Methods
from rocketmq_conformance.conformance.fakes.proxy_moves import refuse
from rocketmq_conformance.conformance.targets.port.grpc_push import GrpcPush
from rocketmq_conformance.models.outcome import Result
from rocketmq_conformance.suites import grpc_answers as operations


class GrpcAnswers(GrpcPush):
    """The member that runs, and the call that is refused."""

    def refuse(self, call: str, code: str) -> Result:
        """From now on a call is refused."""
        self.proxy.begin_step()
        refuse(self.proxy, call, code)
        return self.look()

    def mend(self) -> Result:
        """Every call is answered again."""
        self.proxy.begin_step()
        self.proxy.mend()
        return self.look()

    def holds(self) -> bool:
        """Is the end of a message refused that a member holds?"""
        return self.proxy.holds()

    def calls(self) -> Methods:
        """The method that does each operation of the suite, by its class."""
        return {
            operations.Prepare: self.prepare,
            operations.Join: self.join,
            operations.Leave: self.leave,
            operations.Send: self.send,
            operations.Listen: self.listen,
            operations.ComeAgain: self.come_again,
            operations.Assign: self.assign,
            operations.Refuse: self.refuse,
            operations.Mend: self.mend,
            operations.Look: self.wait,
        }


PART = GrpcAnswers
