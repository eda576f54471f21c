"""Doubts: divergences that the configuration of a broker may explain are not held against it.

Where a property that is off its default is known to touch the rule of a divergence, the rule is unsupported; beside a
property of which nothing is known, or a configuration that could not be read, the divergence decides nothing. Neither
is a pass, and a divergence that no property may explain stays one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile

from rocketmq_conformance.conformance.adapter import Hello
from rocketmq_conformance.conformance.engine.judge import Judged
from rocketmq_conformance.conformance.properties.found import LISTED_ONLY, UNCLASSIFIED
from rocketmq_conformance.models.outcome import outcome_class
from rocketmq_conformance.reports.event import DIVERGES, UNDECIDED, UNSUPPORTED
from rocketmq_conformance.reports.text import clean
from rocketmq_conformance.suites.declare.step import Step
from rocketmq_conformance.suites.declare.suite import Suite

#: Unclassified properties that one reason names.
_NAMED = 3


class Doubts:
    """What may explain a divergence of the implementation."""

    def __init__(self, hello: Hello | None = None) -> None:
        properties = hello.properties if hello else ()
        self._listed = [one for one in properties if one.kind == LISTED_ONLY]
        self._unclassified = [str(one) for one in properties if one.kind == UNCLASSIFIED]
        self._unread = hello.configuration_unread if hello else ""

    def settle(self, suite: Suite, judged: Judged) -> tuple[Judged, list[Judged], Judged | None]:
        """The case as it counts, the case up to each step that diverges before there is a doubt, and up to the first
        one that decides nothing.

        One that begins with a doubt is unsupported or undecided, up to that step.
        """
        if judged.verdict != DIVERGES:
            return judged, [], None
        differences = judged.differences()
        certain = list(takewhile(lambda one: self.about(suite, one.steps[-1]) is None, differences))
        first = differences[0]
        doubt = self.about(suite, first.steps[-1])
        if doubt is None:
            return judged, certain, None
        verdict, reason = doubt
        unsupported = judged.unsupported
        if verdict == UNSUPPORTED:
            unsupported = {**unsupported, suite.operations[first.steps[-1].row[0]].spec.name: reason}
        settled = replace(first, verdict=verdict, steps=first.steps[:-1], reason=reason, unsupported=unsupported)
        return settled, [], first if verdict == UNDECIDED else None

    def about(self, suite: Suite, step: Step) -> tuple[str, str] | None:
        """The verdict on a step that differs, UNSUPPORTED or UNDECIDED, and its reason; None for a divergence."""
        seen = _seen(suite, step)
        for one in self._listed:
            touched = [rule for rule in step.why.rules if rule in one.rules]
            if touched:
                return UNSUPPORTED, f"{', '.join(touched)} unsupported with {one}: {seen}"
        why = f"beside {_some(self._unclassified)}, unclassified and off its default" if self._unclassified else ""
        why = why or (f"and {self._unread}" if self._unread else "")
        return (UNDECIDED, f"{seen} ({', '.join(step.why.rules)}), {why}") if why else None


class NotedDoubts:
    """Does something explain a step that differs? The reasons are kept: they are why a test decided nothing."""

    def __init__(self, hello: Hello) -> None:
        self._doubts = Doubts(hello)
        self._reasons: dict[str, None] = {}

    def __call__(self, suite: Suite, step: Step) -> bool:
        doubt = self._doubts.about(suite, step)
        if doubt:
            self._reasons.setdefault(clean(": ".join(doubt)))
        return doubt is not None

    def take(self) -> list[str]:
        """The reasons since they were last asked for."""
        reasons, self._reasons = [*self._reasons], {}
        return reasons


def _some(names: Sequence[str]) -> str:
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def _seen(suite: Suite, step: Step) -> str:
    """The difference, without the values that change from case to case."""
    name = suite.operations[step.row[0]].spec.name
    return f"{name} answered {outcome_class(step.observed)} instead of {outcome_class(step.expected)}"
