"""A profile: the release of each side whose rules judge, and the configuration of the broker."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from rocketmq_conformance.models.broker.configuration import SETTINGS
from rocketmq_conformance.models.release import KNOWN, NEWEST, Release


@dataclass(frozen=True, slots=True)
class Profile:
    """Releases of both sides; ``java`` is the broker's Java feature release (BQ-MEM-2 depends on it).

    ``configuration`` has the broker's properties that switch rules and are off their release's default, as sorted pairs
    of name and value. ``upgraded_from`` is the release that the broker's store is of, if it is another one. Without
    ``accidents`` a client does not do what Java does by accident alone (``Reason.quirk``).
    """

    client: Release = NEWEST
    broker: Release = NEWEST
    java: int = 17
    configuration: tuple[tuple[str, str], ...] = ()
    upgraded_from: Release | None = None
    accidents: bool = True

    @classmethod
    def of(cls, client: str = str(NEWEST), broker: str = str(NEWEST), java: int = 17) -> Profile:
        """Build from texts; raises ValueError as ``Release.parse`` does."""
        return cls(Release.parse(client), Release.parse(broker), java)

    def judged(self) -> Profile:
        """The same profile with releases newer than the newest known one replaced by it."""
        return replace(self, client=min(self.client, KNOWN), broker=min(self.broker, KNOWN))

    def mended(self) -> Profile:
        """The same profile without the accidents of Java."""
        return replace(self, accidents=False)

    def configured(self, properties: Mapping[str, str]) -> Profile:
        """The same profile with these properties of ``SETTINGS``; those at the release's default are left out."""
        off = {
            name: value
            for name, value in properties.items()
            if SETTINGS[name].has(self.broker) and value != SETTINGS[name].default_of(self.broker)
        }
        return replace(self, configuration=tuple(sorted(off.items())))

    def setting(self, name: str) -> str:
        """The value of a property of ``SETTINGS``."""
        return dict(self.configuration).get(name) or SETTINGS[name].default_of(self.broker)

    def __str__(self) -> str:
        configured = "".join(f", {name}={value}" for name, value in self.configuration)
        upgraded = f", upgraded from {self.upgraded_from}" if self.upgraded_from else ""
        return f"client {self.client}, broker {self.broker}, java {self.java}{upgraded}{configured}"
