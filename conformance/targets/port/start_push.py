"""The port's push consumers: where they start; plays the suite ``start-push``."""

from __future__ import annotations

from rocketmq_conformance.conformance.adapter import Methods
from rocketmq_conformance.conformance.targets.port.start import TIMESTAMP, StartPosition, checked, unchecked
from rocketmq_conformance.models.outcome import Result
from rocketmq_conformance.suites import start_push as operations


class StartPush(StartPosition):
    """The start decisions of a push consumer."""

    def start(self, queue: int, where: str) -> Result:
        """Where a queue starts; -1 for no start."""
        return unchecked(self.push, queue, where, None, "")

    def start_checked(self, queue: int, where: str) -> Result:
        """The same, with failures as errors."""
        return checked(self.push, queue, where, None, "")

    def start_at_time(self, queue: int, text: str | None, zone: str) -> Result:
        """Where a queue starts by time; -1 for no start."""
        return unchecked(self.push, queue, TIMESTAMP, text, zone)

    def start_at_time_checked(self, queue: int, text: str | None, zone: str) -> Result:
        """The same, with failures as errors."""
        return checked(self.push, queue, TIMESTAMP, text, zone)

    def calls(self) -> Methods:
        """The method that does each operation of the suite, by its class."""
        return {
            operations.Start: self.start,
            operations.StartChecked: self.start_checked,
            operations.StartAtTime: self.start_at_time,
            operations.StartAtTimeChecked: self.start_at_time_checked,
            **self.around(),
        }


PART = StartPush
