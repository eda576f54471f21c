"""The port's lite pull consumers: where they start; plays the suite ``start-lite-pull``."""

from __future__ import annotations

from rocketmq_conformance.conformance.adapter import Methods
from rocketmq_conformance.conformance.targets.port.start import TIMESTAMP, StartPosition, checked, unchecked
from rocketmq_conformance.models.outcome import Result
from rocketmq_conformance.suites import start_lite_pull as operations


class StartLitePull(StartPosition):
    """The start decisions of a lite pull consumer."""

    def start(self, queue: int, where: str) -> Result:
        """Where a queue starts; -1 for no start."""
        return unchecked(self.lite_pull, queue, where, None, "")

    def start_checked(self, queue: int, where: str) -> Result:
        """The same, with failures as errors."""
        return checked(self.lite_pull, queue, where, None, "")

    def start_at_time(self, queue: int, text: str | None, zone: str) -> Result:
        """Where a queue starts by time; -1 for no start."""
        return unchecked(self.lite_pull, queue, TIMESTAMP, text, zone)

    def start_at_time_checked(self, queue: int, text: str | None, zone: str) -> Result:
        """The same, with failures as errors."""
        return checked(self.lite_pull, queue, TIMESTAMP, text, zone)

    def calls(self) -> Methods:
        """The method that does each operation of the suite, by its class."""
        return {
            operations.Start: self.start,
            operations.StartChecked: self.start_checked,
            operations.StartAtTime: self.start_at_time,
            operations.StartAtTimeChecked: self.start_at_time_checked,
            **self.around(),
        }


PART = StartLitePull
