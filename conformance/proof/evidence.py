"""The evidence of a proof, as data: one row for every rule and release."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rocketmq_conformance.conformance.proof.unit import Unit
from rocketmq_conformance.models.outcome import UNDEFINED, Expected, agrees
from rocketmq_conformance.models.rule import Reason
from rocketmq_conformance.reports.proof import ProofRow
from rocketmq_conformance.suites.declare.suite import Row, Suite

#: Differences whose text a tally keeps.
_EXAMPLES = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ProofResult:
    """The result of proving one release, or one pair of releases; it is passed between processes."""

    unit: Unit
    #: Its report, in lines.
    lines: list[str]
    rows: list[ProofRow]
    differences: int = 0
    #: Was it available at all?
    judged: bool = True
    #: Rules that this machine could not ask about, for want of a certain Java or right.
    spared: frozenset[str] = frozenset()

    @classmethod
    def missing(cls, unit: Unit, error: Exception) -> ProofResult:
        """The result of a unit that cannot be judged."""
        return cls(unit=unit, lines=[f"{unit}: not judged: {error}"], rows=[], judged=False)


class Tally:
    """Counts the cases of one release, rule by rule.

    ``side`` is the value of a suite's Side ("pure", "client", "broker"); ``release`` is written as in "5.1.4".
    """

    def __init__(self, side: str, release: str) -> None:
        self.side = side
        self.release = release
        #: Cases in all; one case can confirm several rules.
        self.cases = 0
        self.differences = 0
        #: Cases in which the rules leave the answer open: they prove nothing.
        self.undefined = 0
        #: The first differences, as text.
        self.examples: list[str] = []
        #: Differences that did not show again when their cases were played again, as text.
        self.unsteady: list[str] = []
        self._whys: dict[Reason, int] = {}
        self._wrong: dict[str, tuple[int, str]] = {}

    def add(self, expected: Expected, why: Reason, observed: Expected, describe: Callable[[], str]) -> bool:
        """Count one case; ``describe`` is called only when it differs. True when it agrees."""
        if expected is UNDEFINED:
            self.undefined += 1
            return True
        self.cases += 1
        self._whys[why] = self._whys.get(why, 0) + 1
        if agrees(expected, observed):
            return True
        self.differences += 1
        example = f"{describe()}: the model says {expected!r}, {self.release} says {observed!r}"
        if len(self.examples) < _EXAMPLES:
            self.examples.append(example)
        for rule in why.rules:
            count, first = self._wrong.get(rule, (0, example))
            self._wrong[rule] = count + 1, first
        return False

    def take(self, other: Tally) -> None:
        """Count what another tally of the same release has counted."""
        self.cases += other.cases
        self.differences += other.differences
        self.undefined += other.undefined
        self.examples = [*self.examples, *other.examples][:_EXAMPLES]
        self.unsteady += other.unsteady
        for why, count in other._whys.items():
            self._whys[why] = self._whys.get(why, 0) + count
        for rule, (count, example) in other._wrong.items():
            known, first = self._wrong.get(rule, (0, example))
            self._wrong[rule] = known + count, first

    def rows(self) -> list[ProofRow]:
        """One row for every rule that a case used, by rule id."""
        cases: dict[str, int] = {}
        for why, count in self._whys.items():
            for rule in why.rules:
                cases[rule] = cases.get(rule, 0) + count
        return [
            ProofRow(rule, self.side, self.release, cases[rule], *self._wrong.get(rule, (0, "")))
            for rule in sorted(cases)
        ]


def describe_step(suite: Suite, row: Row, state: Any) -> str:
    """A step and the model's state before it, as text."""
    return f"{suite.name}: {suite.operation(row)} in {suite.show(state)}"
