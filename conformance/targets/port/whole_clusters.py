"""The port's process with two whole push consumers, of two clusters: one member, with connections to both."""

from __future__ import annotations

from rocketmq_conformance.conformance.adapter import Methods
from rocketmq_conformance.conformance.targets.port.whole_topologies import WholeTopologies
from rocketmq_conformance.models.outcome import Result
from rocketmq_conformance.suites import whole_clusters as operations
from rocketmq_conformance.suites import whole_topologies


class WholeClustersProcess(WholeTopologies):
    """The process, if it runs."""

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
            operations.Join: methods[whole_topologies.Join],
            operations.Leave: self.end_process,
            operations.Send: self.send,
            operations.Look: methods[whole_topologies.Look],
            operations.Also: self.also,
            operations.Twin: self.twin,
        }


PART = WholeClustersProcess
