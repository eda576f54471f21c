"""One case of the suite of a master and its slave, played with a program for each member, by the traffic at both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rocketmq_conformance.conformance.fakes.whole_slaves import SlavePair
from rocketmq_conformance.conformance.targets.client_program.case_broker import CaseBroker
from rocketmq_conformance.conformance.targets.client_program.played_brokers import PlayedBrokers
from rocketmq_conformance.models.client.plan_words import NOTHING
from rocketmq_conformance.models.client.whole_push import Setting
from rocketmq_conformance.models.client.whole_slaves import MASTER, MOST, SLAVE, place_number
from rocketmq_conformance.models.outcome import Ok, Outcome
from rocketmq_conformance.suites import whole_slaves as operations
from rocketmq_conformance.suites.declare.operation import Operation


class PlayedSlaves(PlayedBrokers):
    """The members of one case at a broker that has a slave."""

    _BROKERS = SlavePair
    brokers: SlavePair

    def do(self, operation: Operation) -> Outcome:
        """Do one operation, and wait until the traffic shows its result."""
        match operation:
            case operations.Prepare(queues, stored):
                self._expect(operation)
                if not self._begun:
                    self.brokers.begin(queues, stored)
                return Ok()
            case (
                operations.Send()
                | operations.Suggest()
                | operations.Synchronise()
                | operations.GoAway()
                | operations.ComeBack()
            ):
                return self._world(operation)
            case _:
                return super().do(operation)

    def _change(self, operation: Operation) -> bool:
        match operation:
            case operations.Send(queue):
                self.brokers.send(queue)
            case operations.Suggest(node):
                self.brokers.suggest(node)
            case operations.Synchronise():
                self.brokers.synchronise()
            case operations.GoAway():
                if not self.brokers.away:
                    self.brokers.go_away()
                    return True
            case _:
                return self._come_back()
        return False

    def _prepare(self, setting: Setting) -> None:
        self._setting = setting
        self.brokers.second.owner = self.members.owner
        self.brokers.begin(MOST, NOTHING)

    def _brokers(self) -> Sequence[tuple[CaseBroker, Mapping[int, int]]]:
        nodes = (SLAVE, self.brokers.first), (MASTER, self.brokers.second)
        return [
            (case, {queue: place_number(node, queue) for queue in range(MOST)})
            for node, case in nodes
            if case in self.brokers.there
        ]

    def _places(self) -> Sequence[int]:
        return range(2 * MOST)
