"""The port's process with two whole push consumers, of two clusters: one member, with connections to both."""

from __future__ import annotations

from rocketmq_conformance.conformance.adapter import Case, Methods
from rocketmq_conformance.conformance.targets.port.rebalance import LAST
from rocketmq_conformance.conformance.targets.port.whole_brokers import WholeBrokersGroup
from rocketmq_conformance.models.client.plan_words import NOTHING
from rocketmq_conformance.models.outcome import Result
from rocketmq_conformance.suites import whole_brokers
from rocketmq_conformance.suites import whole_clusters as operations


class WholeClustersProcess(WholeBrokersGroup):
    """The process, if it runs."""

    def begin_case(self, case: Case) -> None:
        """Begin a case: the process does not run."""
        super().begin_case(case)
        self.choose(2, 2, NOTHING, LAST)

    def choose(self, first: int, second: int, stored: int, where: str) -> Result:
        """Choose how the case begins."""
        if not self._begun:
            self.prepare_brokers(first, second, "young", stored, where)
            self.pair.away = True
        return None

    def end_process(self, member: int) -> Result:
        """The process is shut down, if it runs."""
        if self.members[member] is not None:
            self.end(member)
        self.pair.away = True
        return self.look()

    def also(self) -> Result:
        """A consumer of the other cluster starts, if the process runs and has none."""
        if any(self.members) and self.pair.away:
            self.pair.come_back()
            self.learn_all()
        return self.look()

    def twin(self) -> Result:
        """Another consumer of the group is refused."""
        return self.look()

    def calls(self) -> Methods:
        """The method that does each operation of the suite, by its class."""
        methods = super().calls()
        return {
            operations.Prepare: self.choose,
            operations.Join: methods[whole_brokers.Join],
            operations.Leave: self.end_process,
            operations.Send: self.send,
            operations.Look: methods[whole_brokers.Look],
            operations.Also: self.also,
            operations.Twin: self.twin,
        }


PART = WholeClustersProcess
