"""Limits: where a suite reaches a rule on fewer releases than the rule is for."""

from __future__ import annotations

from dataclasses import dataclass

from rocketmq_conformance.models.broker.configuration import SETTINGS
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.release import Releases


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleLimit:
    """Some rules of a suite can fire on these releases only, though the rules are for more.

    Releases are in the form of :meth:`Releases.parse`.
    """

    rules: tuple[str, ...]
    #: Why they cannot fire on the others: half a sentence.
    because: str
    client: str = "all"
    broker: str = "all"
    #: The newest feature release of the broker's Java on which they can fire.
    newest_java: int | None = None
    #: A property of the broker and the values with which they can fire; ``broker`` are the releases in which one of
    #: them is the default.
    setting: str = ""
    values: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        Releases.parse(self.client)
        Releases.parse(self.broker)
        if self.setting and not all(SETTINGS[self.setting].allows(value) for value in self.values):
            raise ValueError(f"{self.setting} has not all of the values {self.values}")

    def allows(self, profile: Profile) -> bool:
        """Can the rules fire by this profile?"""
        return (
            profile.client in Releases.parse(self.client)
            and self._allows_broker(profile)
            and (self.newest_java is None or profile.java <= self.newest_java)
        )

    def _allows_broker(self, profile: Profile) -> bool:
        if self.setting:
            return profile.setting(self.setting) in self.values
        return profile.broker in Releases.parse(self.broker)

    def __str__(self) -> str:
        """Where: "client up to 5.4.0", "broker 5.2.0+ or with useServerSideResetOffset=true"."""
        sides = {"client": self.client, "broker": self.broker}
        parts = [f"{side} {names}" for side, names in sides.items() if names != "all"]
        if self.setting:
            *first, last = self.values
            listed = f"{', '.join(first)} or {last}" if first else last
            configured = f"with {self.setting}={listed}"
            parts = [*parts[:-1], f"{parts[-1]} or {configured}"] if self.broker != "all" else [*parts, configured]
        if self.newest_java is not None:
            parts.append(f"java up to {self.newest_java}")
        return ", ".join(parts)
