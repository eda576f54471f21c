"""How the cases of one suite compare, and the differences that are shown of them.

Both ways of comparing end here: what they counted, and the cases that represent each kind of difference.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

from rocketmq_conformance.conformance.campaign.analysis.rebuild import Trace
from rocketmq_conformance.conformance.campaign.analysis.separating_features import Sample, separators
from rocketmq_conformance.conformance.campaign.analysis.side import ComparedSide
from rocketmq_conformance.conformance.campaign.analysis.trace_difference import AGREED
from rocketmq_conformance.conformance.engine.divergence import rule_json, said
from rocketmq_conformance.models.outcome import agrees
from rocketmq_conformance.reports.campaign_diff import Difference, SideAnswer, SuiteDifference
from rocketmq_conformance.reports.event import Separator
from rocketmq_conformance.suites.declare.discovery import rules
from rocketmq_conformance.suites.declare.step import Step

#: Cases per suite whose steps are rebuilt on both sides to find the first difference.
REBUILT = 10_000
#: Differences per suite that get separating features.
SEPARATED = 20
NOT_REBUILT = "their steps do not come back from the seed with this kit"


@dataclass(frozen=True)
class DifferenceGroup:
    """Cases that part in the same operation and kind of state, with results of the same classes."""

    #: Operation, A's kind of state, the class of what A did, and of what B did.
    parts: tuple[str, str, str, str]
    cases: int
    #: The case that parts after the fewest steps, the smallest of them, and the number of its step.
    case: int
    step: int
    #: [case, step] of the smallest cases of the group, for separating features.
    some: list[tuple[int, int]] = field(default_factory=list)


@dataclass(frozen=True)
class SuiteComparison:
    """The cases of one suite on two sides."""

    counted: SuiteDifference
    #: The most frequent first.
    groups: Sequence[DifferenceGroup] = ()
    #: The smallest numbers of cases that are the same on both sides, for separating features.
    same: Sequence[int] = ()
    #: Do the steps come back from the seed?
    rebuilds: bool = False


def incomparable(name: str, a: ComparedSide, b: ComparedSide) -> str:
    """Why the cases of a suite are not those of the other side; "" when they are."""
    plans_a, plans_b = a.plans(), b.plans()
    if plans_a[0] != plans_b[0]:
        return f"cases of {name} have {plans_a[0]} steps in A and {plans_b[0]} in B"
    if plans_a != plans_b:
        return (
            f"the releases that A and B were planned for do not have the same operations of {name} "
            "(begin both with the same --plans, or give both to one campaign)"
        )
    return ""


def other_kit(name: str, rebuilds: tuple[bool, bool], same_kit: bool) -> str:
    """Why cases that do not come back from the seed of one or both sides cannot be compared; "" when they can."""
    if all(rebuilds) or (same_kit and not any(rebuilds)):
        return ""
    which = "A and B are" if not any(rebuilds) else "B is" if rebuilds[0] else "A is"
    return f"{which} from a kit that plans other cases of {name}"


def are_of_one_kit(a: ComparedSide, b: ComparedSide) -> bool:
    """Were both judged by the same kit and rule book?"""
    return (a.campaign.kit, a.campaign.rulebook) == (b.campaign.kit, b.campaign.rulebook)


def differences(name: str, a: ComparedSide, b: ComparedSide, compared: SuiteComparison) -> Iterator[Difference]:
    """The differences of a suite, the most frequent first, each with what separates it if steps can be rebuilt."""
    others = _steps(a, compared.same) if compared.rebuilds and compared.groups else []
    for at, group in enumerate(compared.groups):
        fingerprint = blake2b(repr((name, *group.parts)).encode(), digest_size=4).hexdigest()
        separates = _separated(a, group, others) if compared.rebuilds and at < SEPARATED else []
        trace_a, trace_b = a.trace(group.case), b.trace(group.case)
        operation, before = _history(trace_a if len(trace_a.steps) >= group.step else trace_b, group.step)
        yield Difference(
            suite=name,
            fingerprint=fingerprint,
            cases=group.cases,
            case=group.case,
            step=group.step,
            operation=operation or group.parts[0],
            a=_answer(a, trace_a, b, group.step),
            b=_answer(b, trace_b, a, group.step),
            before=before,
            separates=separates,
        )


def _steps(side: ComparedSide, cases: Iterable[int]) -> list[Sequence[Step]]:
    return [trace.steps for trace in map(side.trace, cases) if trace.steps]


def _separated(a: ComparedSide, group: DifferenceGroup, others: list[Sequence[Step]]) -> list[Separator]:
    """What separates the steps of A at which cases part from steps of cases that are the same."""
    pairs = [(a.trace(case), step) for case, step in group.some]
    differing_samples = [Sample(trace.steps, number - 1) for trace, number in pairs if len(trace.steps) >= number]
    agreeing = [Sample(steps, early) for steps, late in differing_samples for early in range(late)]
    agreeing += [Sample(steps, early) for steps in others for early in range(len(steps))]
    return separators(a.rebuilder.suite, differing_samples, agreeing)


def _answer(side: ComparedSide, trace: Trace, other: ComparedSide, step: int) -> SideAnswer:
    """What one side did in a step: from its steps, or from the divergences of either side."""
    if len(trace.steps) >= step:
        played = trace.steps[step - 1]
        good = agrees(played.expected, played.observed)
        spec = trace.suite.operations[played.row[0]].spec
        return SideAnswer(
            said(spec, played.observed),
            said(spec, played.expected),
            good,
            played.why.kind,
            _rules(played.why.rules),
        )
    mine = trace.case in side.divergences.index and int(side.divergences.loc[trace.case, "step"]) == step
    row = (side if mine else other).divergences.loc[trace.case]
    expected = str(row["expected"])
    rules = _rules(row["rules"])
    if mine:
        return SideAnswer(str(row["observed"]), expected, False, str(row["state_kind"]), rules)
    did = AGREED if side.rebuilder.judge.observes else expected
    return SideAnswer(did, expected, True, str(row["state_kind"]), rules)


def _history(trace: Trace, step: int) -> tuple[str, list[list[str]]]:
    """The operation of a step, and [operation, answer] of each step before it; empty when the steps are not known."""
    if len(trace.steps) < step:
        return "", []
    operations = trace.suite.operations
    answered = [
        [str(trace.suite.operation(one.row)), said(operations[one.row[0]].spec, one.observed)]
        for one in trace.steps[:step]
    ]
    return answered[-1][0], answered[:-1]


def _rules(names: Iterable[str]) -> list[dict[str, str]]:
    """Rules as events write them; those that this kit does not have by name alone."""
    return [rule_json(name) if name in rules() else {"id": name} for name in names]
