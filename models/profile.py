"""A profile: the release of each side whose rules judge."""

from __future__ import annotations

from dataclasses import dataclass

from rocketmq_conformance.models.release import NEWEST, Release


@dataclass(frozen=True, slots=True)
class Profile:
    """Releases of both sides; ``java`` is the broker's Java feature release (BQ-MEM-2 depends on it)."""

    client: Release = NEWEST
    broker: Release = NEWEST
    java: int = 17

    @classmethod
    def of(cls, client: str = str(NEWEST), broker: str = str(NEWEST), java: int = 17) -> Profile:
        """Build from texts; raises ValueError as ``Release.parse`` does."""
        return cls(Release.parse(client), Release.parse(broker), java)

    def judged(self) -> Profile:
        """The same profile with releases newer than the newest known one replaced by it."""
        return Profile(min(self.client, NEWEST), min(self.broker, NEWEST), self.java)

    def __str__(self) -> str:
        return f"client {self.client}, broker {self.broker}, java {self.java}"
