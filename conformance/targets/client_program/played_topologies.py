"""One case of the suite of routes, played with a program for each member and judged by the traffic at both brokers."""

from __future__ import annotations

from rocketmq_conformance.conformance.targets.client_program.played_brokers import PlayedBrokers
from rocketmq_conformance.models.client.whole_push import Setting
from rocketmq_conformance.models.outcome import Outcome
from rocketmq_conformance.suites import whole_topologies as operations
from rocketmq_conformance.suites.declare.operation import Operation


class PlayedTopologies(PlayedBrokers):
    """The members of one case at a broker, and at another one that comes."""

    def do(self, operation: Operation) -> Outcome:
        """Do one operation, and wait until the traffic shows its result."""
        match operation:
            case operations.Prepare(first, second, stored, where):
                begun = self._begun
                answer = self._prepared((first, second), Setting(0, "young", stored, where), operation)
                if not begun:
                    self._let_second_come_later()
                return answer
            case operations.Send() | operations.Route() | operations.GoAway() | operations.Appear():
                return self._world(operation)
            case _:
                return super().do(operation)

    def _change(self, operation: Operation) -> bool:
        match operation:
            case operations.Route(first, second, written):
                return self._route((first, second), written)
            case operations.Appear():
                return self._come_back()
            case _:
                return super()._change(operation)

    def _let_second_come_later(self) -> None:
        """The second broker is not there, and nobody knows its address."""
        self.brokers.away = True
        self.brokers.second.broker.stop()

    def _open(self) -> str:
        address = super()._open()
        self._let_second_come_later()
        return address
