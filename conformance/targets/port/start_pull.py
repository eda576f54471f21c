"""Plays the suite ``start-pull`` on the port: the offset at which a plain pull consumer starts a queue."""

from __future__ import annotations

from rocketmq_conformance.conformance.adapter import Methods
from rocketmq_conformance.conformance.targets.port.start import StartPosition, checked, unchecked
from rocketmq_conformance.models.outcome import Result
from rocketmq_conformance.suites import start_pull as operations


class StartPull(StartPosition):
    """The start decisions of a plain pull consumer."""

    def start(self, queue: int) -> Result:
        """Where a queue starts; -1 for no start."""
        return unchecked(self.pull, queue, "", None, "")

    def start_checked(self, queue: int) -> Result:
        """The same, with failures as errors."""
        return checked(self.pull, queue, "", None, "")

    def calls(self) -> Methods:
        """The method that does each operation of the suite, by its class."""
        return {
            operations.Start: self.start,
            operations.StartChecked: self.start_checked,
            **self.around(),
        }


PART = StartPull
