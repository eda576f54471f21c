"""The start of consumers with a ConsumeFromWhere: the base of ``start-push`` and ``start-lite-pull``."""

from __future__ import annotations

from abc import ABC, abstractmethod

from rocketmq_conformance.conformance.targets.port.start import TIMESTAMP, StartPosition, checked, unchecked
from rocketmq_conformance.models.outcome import Result


class StartByWhere(StartPosition, ABC):
    """The start decisions of a consumer with a ConsumeFromWhere; each kind of consumer names its own."""

    @abstractmethod
    def decide(self, queue: int, where: str, text: str | None, zone: str) -> int:
        """The decision of this kind of consumer; NoStartError or NoTimeError."""

    def start(self, queue: int, where: str) -> Result:
        """Where a queue starts; -1 for no start."""
        return unchecked(self.decide, queue, where, None, "")

    def start_checked(self, queue: int, where: str) -> Result:
        """The same, with failures as errors."""
        return checked(self.decide, queue, where, None, "")

    def start_at_time(self, queue: int, text: str | None, zone: str) -> Result:
        """Where a queue starts by time; -1 for no start."""
        return unchecked(self.decide, queue, TIMESTAMP, text, zone)

    def start_at_time_checked(self, queue: int, text: str | None, zone: str) -> Result:
        """The same, with failures as errors."""
        return checked(self.decide, queue, TIMESTAMP, text, zone)
