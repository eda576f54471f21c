"""Plays the suite ``start-push`` on the port: the offset at which a push consumer starts a queue."""

from __future__ import annotations

from rocketmq_conformance.conformance.adapter import Methods
from rocketmq_conformance.conformance.targets.port.start_by_where import StartByWhere
from rocketmq_conformance.suites import start_push as operations


class StartPush(StartByWhere):
    """The start decisions of a push consumer."""

    def decide(self, queue: int, where: str, text: str | None, zone: str) -> int:
        """The decision of a push consumer."""
        return self.push(queue, where, text, zone)

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
