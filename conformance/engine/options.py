"""The options of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from rocketmq_conformance.conformance.engine.corpus import StoredCase
from rocketmq_conformance.conformance.engine.expected_file import Entry
from rocketmq_conformance.conformance.engine.rulebook_versions import RuleBook
from rocketmq_conformance.reports.rule_results import StepKind
from rocketmq_conformance.suites.declare.suite import Row, Suite


@dataclass(frozen=True)
class Options:
    """Options of the command line, or of a library call."""

    address: str
    seed: int
    cases: int | None = None
    steps: int | None = None
    max_time: float | None = None
    out: Path | None = None
    stop_at_first: bool = False
    #: Plans to play instead of generated ones, by suite name.
    plans: dict[str, dict[int, list[Row]]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    #: The file that the plans came from.
    plan: Path | None = None
    #: The command that gives and plays the plans again, where no file has them.
    plans_again: tuple[str, ...] = ()
    #: Options of the command line that say what judges; a replay repeats them.
    judged_as: tuple[str, ...] = ()
    #: A sentence on which release judges, and why.
    release_choice: str = ""
    #: Play the covering plans of every suite, before anything else?
    cover: bool = False
    #: A first look: play so many covering plans that every operation and rule is asked for, and shrink nothing?
    brief: bool = False
    #: Cases that Hypothesis draws per suite; None is the suite's share of its generated cases.
    examples: int | None = 0
    #: Stored cases by suite name that are played before anything else.
    first: dict[str, list[StoredCase]] = field(default_factory=dict)
    #: Cases of the corpus by suite name; they are played before generated ones.
    corpus: dict[str, list[StoredCase]] = field(default_factory=dict)
    #: Divergences that are expected and signed for.
    expected: tuple[Entry, ...] = ()
    #: Judge accidents of Java, too, whatever is judged.
    quirks: bool = False
    #: The rule book whose rules count; divergences from newer ones are counted, and no failure.
    rulebook: RuleBook | None = None
    #: By rule and the words of its clause: which steps show it.
    clauses: Mapping[str, Mapping[str, frozenset[StepKind]]] = field(default_factory=dict)

    def examples_of(self, suite: Suite) -> int:
        """How many cases Hypothesis draws; more where there are none from the seed.

        One costs as much as 25 from the seed, and shows less for it (``benchmarks/tiers.py``).
        """
        if self.examples is not None:
            return self.examples
        share = 20 if self.cases == 0 else 100
        return min(max(1, suite.cases // share), self.cases or suite.cases)
