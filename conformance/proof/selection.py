"""What a proof is restricted to: some suites or one rule, by ``--suite`` and ``--rule``."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from rocketmq_conformance.suites.declare.suite import Suite


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a unit's proof that is played as a whole or not at all: its suites, and the rules that it can reach."""

    suites: frozenset[str]
    rules: frozenset[str]

    @classmethod
    def of(cls, *suites: Suite, rules: Iterable[str] = ()) -> Part:
        """The part that plays these suites, and reaches these rules besides."""
        reached = {rule for suite in suites for rule in suite.rules}
        return cls(frozenset(suite.name for suite in suites), frozenset(reached | set(rules)))


@dataclass(frozen=True, slots=True)
class Selection:
    """The names of suites, with commas between them, and of a rule; "" for any."""

    suite: str = ""
    rule: str = ""

    def __bool__(self) -> bool:
        return bool(self.suite or self.rule)

    def takes(self, part: Part) -> bool:
        """Is the part played?"""
        suites = self.suite.split(",")
        return (not self.suite or not part.suites.isdisjoint(suites)) and (not self.rule or self.rule in part.rules)

    def replaced(self, parts: Collection[Part]) -> frozenset[str] | None:
        """The rules whose rows a proof of these parts replaces; None for all.

        A row is replaced only when everything that counts for it is played again: one that a part which is left out
        counts for, too, stays as it is.
        """
        if not self:
            return None
        left = {rule for part in parts if not self.takes(part) for rule in part.rules}
        played = {rule for part in parts if self.takes(part) for rule in part.rules}
        return frozenset(rule for rule in played - left if self.rule in ("", rule))


EVERYTHING = Selection()
