"""Limits: where a suite reaches a rule on fewer releases than the rule is for."""

from __future__ import annotations

from dataclasses import dataclass

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

    def __post_init__(self) -> None:
        Releases.parse(self.client)
        Releases.parse(self.broker)

    def allows(self, profile: Profile) -> bool:
        """Can the rules fire by this profile?"""
        return (
            profile.client in Releases.parse(self.client)
            and profile.broker in Releases.parse(self.broker)
            and (self.newest_java is None or profile.java <= self.newest_java)
        )

    def __str__(self) -> str:
        """Where: "client up to 5.4.0"."""
        sides = {"client": self.client, "broker": self.broker}
        parts = [f"{side} {names}" for side, names in sides.items() if names != "all"]
        if self.newest_java is not None:
            parts.append(f"java up to {self.newest_java}")
        return ", ".join(parts)
