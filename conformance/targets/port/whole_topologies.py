"""The port's whole push consumers of a topic that gets to another broker."""

from __future__ import annotations

from rocketmq_conformance.conformance.adapter import Case, Methods
from rocketmq_conformance.conformance.targets.port.rebalance import LAST
from rocketmq_conformance.conformance.targets.port.whole_brokers import WholeBrokersGroup
from rocketmq_conformance.models.client.plan_words import NOTHING
from rocketmq_conformance.models.outcome import Result
from rocketmq_conformance.suites import whole_brokers
from rocketmq_conformance.suites import whole_topologies as operations


class WholeTopologies(WholeBrokersGroup):
    """The members that run."""

    def begin_case(self, case: Case) -> None:
        """Begin a case: no member runs, and one broker is there."""
        super().begin_case(case)
        self.choose(2, 2, NOTHING, LAST)

    def choose(self, first: int, second: int, stored: int, where: str) -> Result:
        """Choose how the case begins."""
        if not self._begun:
            self.prepare_brokers(first, second, "young", stored, where)
            self.pair.away = True
        return None

    def route_as(self, first: int, second: int, written: int) -> Result:
        """The brokers have so many queues from now on, unless one is away."""
        if not self.pair.away:
            self.pair.route((first, second), written)
            self.learn_all()
        return self.look()

    def calls(self) -> Methods:
        """The method that does each operation of the suite, by its class."""
        methods = super().calls()
        return {
            operations.Prepare: self.choose,
            operations.Join: methods[whole_brokers.Join],
            operations.Leave: methods[whole_brokers.Leave],
            operations.Send: self.send,
            operations.Look: methods[whole_brokers.Look],
            operations.Appear: self.come_back,
            operations.GoAway: self.go_away,
            operations.Route: self.route_as,
        }


PART = WholeTopologies
