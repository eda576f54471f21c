"""Where implementations differ, with none of them right by definition: each difference as its shortest plan.

The engine's shrinker leaves out steps and simplifies arguments while two implementations still part at the same
operation. A difference that does not show when its plan is played again is not repeatable, and said to be so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from rocketmq_conformance.conformance.adapter import AdapterError, CannotRunError
from rocketmq_conformance.conformance.engine import plan as plan_files
from rocketmq_conformance.conformance.engine.divergence import said
from rocketmq_conformance.conformance.engine.first_difference import play_and_compare
from rocketmq_conformance.conformance.engine.judge import Judged
from rocketmq_conformance.conformance.engine.shrink import shrink
from rocketmq_conformance.conformance.opening import Opening, opened
from rocketmq_conformance.conformance.release_axis.classes import Parting
from rocketmq_conformance.conformance.release_axis.matrix import Matrix
from rocketmq_conformance.conformance.release_axis.plans import Plans
from rocketmq_conformance.conformance.release_axis.witness import Opened
from rocketmq_conformance.reports.event import DIVERGES
from rocketmq_conformance.suites.declare.step import Step
from rocketmq_conformance.suites.declare.suite import Row

#: Differences that are shrunk at most; the others are counted.
MOST = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Two implementations, and the shortest plan that tells them apart."""

    parting: Parting
    one: str
    other: str
    #: Steps in words, the last is where they part; those of the plan that found it when it did not show again.
    steps: tuple[str, ...]
    #: What each answers to the last step.
    ours: str
    theirs: str
    rules: tuple[str, ...]
    #: The rules of the steps before the last, one of which may have made the difference.
    earlier: tuple[str, ...]
    #: Length of the plan that found it, and executions until it was short.
    found_steps: int
    executions: int
    #: The minimal plan's file; "" when it is not kept.
    plan: str = ""
    #: Why it is not certain; "" when it showed again.
    doubt: str = ""


@dataclass(frozen=True, slots=True)
class Differences:
    """The comparison, and its differences; ``more`` were not shrunk."""

    compared: Matrix
    found: tuple[Difference, ...]
    more: int

    @property
    def differ(self) -> bool:
        """Is there a difference that showed again?"""
        return any(not one.doubt for one in self.found)


def differences(
    compared: Matrix, folder: Path | None, *, start_timeout: float, patience: float, max_wait: float, most: int = MOST
) -> Differences:
    """Shrink the differences that a comparison found; minimal plans are written into ``folder``.

    One difference of each kind is shrunk: suite, rules and classes.
    """
    kinds: dict[tuple[str, tuple[str, ...], tuple[tuple[str, ...], ...]], Parting] = {}
    for parting in compared.partings:
        kind = parting.suite, parting.rules[:1], tuple(names for _, names in parting.answers)
        if kind not in kinds or parting.at < kinds[kind].at:
            kinds[kind] = parting
    plans = {plan.suite.name: plan for plan in compared.plans}
    chosen = sorted(kinds.values(), key=lambda parting: parting.at)[:most]
    with ExitStack() as held:
        known: dict[str, Opened] = {}

        def implementation(address: str) -> Opened:
            if address not in known:
                opening = Opening(address, start_timeout=start_timeout, patience=patience, max_wait=max_wait)
                known[address] = Opened(address, *held.enter_context(opened(opening, ())))
            return known[address]

        found = [
            _difference(parting, plans[parting.suite], implementation(one), implementation(other), folder)
            for parting in chosen
            for one, other in _pairs(parting)
        ]
    return Differences(compared, tuple(_distinct(found)), len(kinds) - len(chosen))


def _distinct(found: Sequence[Difference]) -> Iterator[Difference]:
    """The differences but those whose shortest plan and answers another one has too."""
    seen: set[object] = set()
    for one in found:
        key = one.parting.suite, one.steps, frozenset((one.ours, one.theirs)), one.doubt
        if key not in seen:
            seen.add(key)
            yield one


def _pairs(parting: Parting) -> list[tuple[str, str]]:
    """The first implementation of the first class, with the first of each other class."""
    first, *others = [names[0] for _, names in parting.answers]
    return [(first, other) for other in others]


def _difference(parting: Parting, plans: Plans, one: Opened, other: Opened, folder: Path | None) -> Difference:
    suite = plans.suite
    rows = dict(plans.cases)[parting.case][: parting.at + 1]
    ours, theirs = one.player(suite), other.player(suite)
    answers = {name: answer for answer, names in parting.answers for name in names}

    def execute(tried: Sequence[Row]) -> Judged:
        return play_and_compare(ours, theirs, tried, parting.case)

    def difference(steps: Sequence[str], executions: int, **more: object) -> Difference:
        values: Mapping[str, object] = {
            "ours": answers[one.address],
            "theirs": answers[other.address],
            "rules": parting.rules,
            "earlier": parting.earlier,
            **more,
        }
        return Difference(
            parting=parting,
            one=one.address,
            other=other.address,
            steps=tuple(steps),
            found_steps=len(rows),
            executions=executions,
            **values,  # type: ignore[arg-type]
        )

    whole = [str(suite.operation(row)) for row in rows]
    if ours.judge.observes:
        return difference(whole, 0, doubt="its answers depend on the time, so that two plays are not compared")
    try:
        failing = execute(rows)
        if failing.verdict != DIVERGES:
            return difference(whole, 1, doubt="it did not show when the plan was played again")
        shrunk = shrink(ours.judge, execute, failing)
        again = theirs.execute(shrunk.judged.rows, parting.case)
    except (AdapterError, CannotRunError) as error:
        return difference(whole, 0, doubt=f"the plan could not be played again: {error}")
    last = shrunk.judged.steps[-1]
    spec = suite.operations[last.row[0]].spec
    short = shrunk.judged.rows
    file = ""
    if folder:
        name = blake2b(repr(short).encode(), digest_size=4).hexdigest()
        path = folder / f"{suite.name}.{name}.plan.jsonl"
        plan_files.write(path, suite, one.profile, plans.seed, [(max(parting.case, 0), short)])
        file = str(path)
    return difference(
        [str(suite.operation(row)) for row in short],
        shrunk.executions + 2,
        ours=said(spec, last.observed),
        theirs=said(spec, last.expected),
        rules=_rules(last, again.steps[-1]),
        earlier=_rules(*shrunk.judged.steps[:-1], *again.steps[:-1]),
        plan=file,
    )


def _rules(*steps: Step) -> tuple[str, ...]:
    """The rules that steps go by, each once."""
    return tuple(dict.fromkeys(rule for step in steps for rule in step.why.rules))
