"""How the cases of one suite compare: what is counted, and the differences that are shown of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b

from rocketmq_conformance.conformance.campaign.analysis.compared_cases import (
    NO_CASE,
    Compared,
    DifferenceGroup,
    total,
)
from rocketmq_conformance.conformance.campaign.analysis.rebuild import Trace
from rocketmq_conformance.conformance.campaign.analysis.results import SAME, SAME_VERDICT, UNDECIDING
from rocketmq_conformance.conformance.campaign.analysis.separating_features import Sample, separators
from rocketmq_conformance.conformance.campaign.analysis.side import Side
from rocketmq_conformance.conformance.campaign.analysis.trace_difference import AGREED
from rocketmq_conformance.conformance.engine.divergence import rule_json, said
from rocketmq_conformance.models.outcome import agrees
from rocketmq_conformance.reports.campaign_diff import Difference, SideAnswer, SuiteDifference
from rocketmq_conformance.reports.event import VERDICTS, Separator
from rocketmq_conformance.suites.declare.discovery import rules
from rocketmq_conformance.suites.declare.step import Step

#: Cases per suite whose steps are rebuilt on both sides to find the first difference.
REBUILT = 10_000
#: Differences per suite that get separating features.
SEPARATED = 20
NOT_REBUILT = "their steps do not come back from the seed with this kit"


def incomparable(name: str, a: Side, b: Side) -> str:
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


def are_of_one_kit(a: Side, b: Side) -> bool:
    """Were both judged by the same kit and rule book?"""
    return (a.campaign.kit, a.campaign.rulebook) == (b.campaign.kit, b.campaign.rulebook)


def counted(name: str, compared: Compared, rebuilds: bool, most: int) -> SuiteDifference:
    """The counts of a suite; ``most`` of its cases were rebuilt at most, if they could be."""
    decided, others = range(UNDECIDING), range(UNDECIDING, NO_CASE)
    undecided = {why: times for why, (_, times) in sorted(compared.reasons.items(), key=lambda item: item[1])}
    if compared.unknown and not rebuilds:
        undecided[NOT_REBUILT] = compared.unknown
    for letter, counts in (("A", compared.counts), ("B", compared.counts.swapaxes(0, 1))):
        for code in others:
            number = total(counts, [code], decided)
            if number:
                undecided[f"{VERDICTS[code]} in {letter}, decided in the other"] = number
    relations = compared.counts.sum(axis=(0, 1)).tolist()
    return SuiteDifference(
        suite=name,
        same=relations[SAME],
        different=sum(group.count for group in compared.groups.values()),
        not_looked_at=max(0, compared.unknown - most) if rebuilds else 0,
        verdict_only=relations[SAME_VERDICT],
        undecided=undecided,
        neither=total(compared.counts, others, others),
        only_a=total(compared.counts, range(NO_CASE), [NO_CASE]),
        only_b=total(compared.counts, [NO_CASE], range(NO_CASE)),
    )


def ordered(compared: Compared) -> list[DifferenceGroup]:
    """The groups of a suite, the most frequent first."""
    return sorted(compared.groups.values(), key=lambda group: (-group.count, group.parts))


def shown_cases(compared: Compared, rebuilds: bool) -> tuple[set[int], set[int]]:
    """The cases that ``differences`` asks A for, and those that it asks B for."""
    exemplars = {group.case for group in compared.groups.values()}
    if not rebuilds or not exemplars:
        return exemplars, exemplars
    some = {case for group in ordered(compared)[:SEPARATED] for case, _ in group.some}
    return exemplars | some | set(compared.same.tolist()), exemplars


def differences(name: str, a: Side, b: Side, compared: Compared, rebuilds: bool) -> Iterator[Difference]:
    """The differences of a suite, the most frequent first, each with what separates it if steps can be rebuilt."""
    others = _steps(a, compared.same.tolist()) if rebuilds and compared.groups else []
    for at, group in enumerate(ordered(compared)):
        fingerprint = blake2b(repr((name, *group.parts)).encode(), digest_size=4).hexdigest()
        separates = _separated(a, group, others) if rebuilds and at < SEPARATED else []
        trace_a, trace_b = a.trace(group.case), b.trace(group.case)
        operation, before = _history(trace_a if len(trace_a.steps) >= group.step else trace_b, group.step)
        yield Difference(
            suite=name,
            fingerprint=fingerprint,
            cases=group.count,
            case=group.case,
            step=group.step,
            operation=operation or group.parts[0],
            a=_answer(a, trace_a, b, group.step),
            b=_answer(b, trace_b, a, group.step),
            before=before,
            separates=separates,
        )


def _steps(side: Side, cases: Iterable[int]) -> list[Sequence[Step]]:
    return [trace.steps for trace in map(side.trace, cases) if trace.steps]


def _separated(a: Side, group: DifferenceGroup, others: list[Sequence[Step]]) -> list[Separator]:
    """What separates the steps of A at which cases part from steps of cases that are the same."""
    pairs = [(a.trace(case), step) for case, step in group.some]
    differing_samples = [Sample(trace.steps, number - 1) for trace, number in pairs if len(trace.steps) >= number]
    agreeing = [Sample(steps, early) for steps, late in differing_samples for early in range(late)]
    agreeing += [Sample(steps, early) for steps in others for early in range(len(steps))]
    return separators(a.rebuilder.suite, differing_samples, agreeing)


def _answer(side: Side, trace: Trace, other: Side, step: int) -> SideAnswer:
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
    own = side.facts[trace.case].divergence
    mine = own is not None and own["step"] == step
    row = own if mine else other.facts[trace.case].divergence
    assert row is not None
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
