"""Plays the suite ``start-lite-pull`` on the port: the offset at which a lite pull consumer starts a queue."""

from __future__ import annotations

from rocketmq_conformance.conformance.adapter import Methods
from rocketmq_conformance.conformance.targets.port.start_by_where import StartByWhere
from rocketmq_conformance.suites import start_lite_pull as operations


class StartLitePull(StartByWhere):
    """The start decisions of a lite pull consumer."""

    def decide(self, queue: int, where: str, text: str | None, zone: str) -> int:
        """The decision of a lite pull consumer."""
        return self.lite_pull(queue, where, text, zone)

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
