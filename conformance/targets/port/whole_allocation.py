"""The port's whole push consumers by a strategy, among members that do not exist."""

from __future__ import annotations

from rocketmq_conformance.conformance.adapter import Case, Methods
from rocketmq_conformance.conformance.targets.port.whole_push import WholePush
from rocketmq_conformance.models.outcome import Result
from rocketmq_conformance.suites import whole_allocation as operations
from rocketmq_conformance.suites import whole_push as group


class WholeAllocation(WholePush):
    """The members that run."""

    def begin_case(self, case: Case) -> None:
        """Begin a case: nobody runs."""
        super().begin_case(case)
        self.divide(4, WholePush.strategy)

    def divide(self, queues: int, strategy: str) -> Result:
        """Choose how the case begins."""
        if not self._begun:
            self.strategy = strategy
            self.world.divide(queues)
        return None

    def crowd(self, before: int, after: int) -> Result:
        """The broker lists so many other members."""
        self.world.crowd(before, after)
        return self.look()

    def calls(self) -> Methods:
        """The method that does each operation of the suite, by its class."""
        methods = super().calls()
        kept = (group.Join, group.Leave, group.Crash, group.Send)
        return {operations.Divide: self.divide, operations.Crowd: self.crowd, **{one: methods[one] for one in kept}}


PART = WholeAllocation
