"""The comparison of two stored campaigns: which cases differ, grouped by how they differ.

Cases are joined by number, and their digests compared; steps are compared only where digests differ. Where one profile
judges both sides, the first step that differs is where one of them diverged from the model, which the tables hold;
elsewhere the steps of both sides are rebuilt from the seed.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from typing import Any

import numpy as np
import pandas as pd

from rocketmq_conformance.conformance.campaign.analysis.differing_cases import (
    AGREED,
    COLUMNS,
    by_divergences,
    by_steps,
    by_verdict,
)
from rocketmq_conformance.conformance.campaign.analysis.rebuild import Trace
from rocketmq_conformance.conformance.campaign.analysis.separating_features import CASES, Sample, separators
from rocketmq_conformance.conformance.campaign.analysis.side import UNDECIDING, VERDICTS, CampaignSide
from rocketmq_conformance.conformance.campaign.tables.reading import Campaign, CampaignError
from rocketmq_conformance.conformance.engine import plan
from rocketmq_conformance.conformance.engine.divergence import format_result, rule_json
from rocketmq_conformance.models.outcome import agrees
from rocketmq_conformance.reports.campaign_diff import (
    CampaignDifference,
    ComparedCampaign,
    Difference,
    SideAnswer,
    SuiteDifference,
)
from rocketmq_conformance.reports.event import Separator
from rocketmq_conformance.suites.declare.discovery import SUITES, rules
from rocketmq_conformance.suites.declare.oracle import Step

#: Cases per suite whose steps are rebuilt on both sides to find the first difference.
REBUILT = 10_000
#: Differences per suite that get separating features.
SEPARATED = 20
NOT_REBUILT = "their steps do not come back from the seed with this kit"


class NothingComparedError(CampaignError):
    """Two campaigns without a comparable case; the text is one sentence that says why."""


def diff(
    a: Campaign, b: Campaign, address_a: str | None = None, address_b: str | None = None, rebuilt: int = REBUILT
) -> CampaignDifference:
    """Compare one address of each of two campaigns.

    An address may be left out where the campaign has only one. ``rebuilt`` bounds the cases per suite whose steps are
    rebuilt. NothingComparedError when no case of one can be compared with one of the other; CampaignError when one of
    them cannot be read, or has no such address.
    """
    start = time.monotonic()
    of_a, of_b = selected_address(a, address_a, "--address-a"), selected_address(b, address_b, "--address-b")
    if a.seed != b.seed:
        raise NothingComparedError(
            f"Nothing can be compared: the seed is {a.seed} in {a.folder} and {b.seed} in {b.folder}, so that the "
            "cases of one are not those of the other."
        )
    shared = [suite for suite in a.suites if suite in b.suites]
    if not shared:
        raise NothingComparedError(
            f"Nothing can be compared: {a.folder} has {', '.join(a.suites)}, {b.folder} has {', '.join(b.suites)}."
        )
    suites: list[SuiteDifference] = []
    differences: list[Difference] = []
    for suite in shared:
        compared = _Suite(suite, a, of_a, b, of_b)
        counted, found = compared.compare(rebuilt)
        suites.append(counted)
        differences += found
    result = CampaignDifference(
        _side(a, of_a),
        _side(b, of_b),
        a.seed,
        suites,
        differences,
        list(_notes(a, b)),
        time.monotonic() - start,
    )
    if not any(suite.same or suite.different or suite.verdict_only or suite.undecided for suite in suites):
        reasons = [suite.note for suite in suites if suite.note]
        why = reasons[0] if reasons else "no case was decided on both sides"
        raise NothingComparedError(f"Nothing can be compared: {why}.")
    return result


def selected_address(campaign: Campaign, address: str | None, option: str) -> str:
    """The address to compare; CampaignError when there are several and none is named, or no such one."""
    if address is None:
        if len(campaign.addresses) > 1:
            several = ", ".join(campaign.addresses)
            raise CampaignError(f"{campaign.folder} has {several}: say with {option} which of them is meant.")
        return campaign.addresses[0]
    campaign.profile(address)
    return address


def _side(campaign: Campaign, address: str) -> ComparedCampaign:
    name, version = campaign.implementations.get(address, (address, ""))
    releases = plan.profile_json(campaign.profile(address))
    return ComparedCampaign(str(campaign.folder), address, name, version, campaign.kit, campaign.rulebook, releases)


def _notes(a: Campaign, b: Campaign) -> Iterator[str]:
    if a.rulebook != b.rulebook:
        yield f"A was judged by rule book {a.rulebook}, B by {b.rulebook}"
    if a.kit != b.kit:
        yield f"A was played by kit {a.kit}, B by {b.kit}"
    for letter, one, other in (("A", a, b), ("B", b, a)):
        alone = [suite for suite in one.suites if suite not in other.suites]
        if alone:
            yield f"only {letter} has {', '.join(alone)}"


class _Suite:
    """One suite of both campaigns."""

    def __init__(self, name: str, a: Campaign, of_a: str, b: Campaign, of_b: str) -> None:
        self.name = name
        self.same_kit = a.kit == b.kit and a.rulebook == b.rulebook
        self.known = name in SUITES
        if self.known:
            self.a, self.b = CampaignSide(a, name, of_a), CampaignSide(b, name, of_b)

    def compare(self, most: int) -> tuple[SuiteDifference, list[Difference]]:
        """The counts of the cases, and the differences."""
        if not self.known:
            return self._uncompared("this kit does not have the suite"), []
        plans_a, plans_b = self.a.plans(), self.b.plans()
        if plans_a[0] != plans_b[0]:
            return self._uncompared(f"cases of {self.name} have {plans_a[0]} steps in A and {plans_b[0]} in B"), []
        if plans_a != plans_b:
            why = (
                f"the releases that A and B were planned for do not have the same operations of {self.name} "
                "(begin both with the same --plans, or give both to one campaign)"
            )
            return self._uncompared(why), []
        rebuilds = self.a.rebuilds(), self.b.rebuilds()
        if not all(rebuilds) and not (self.same_kit and not any(rebuilds)):
            which = "A and B are" if not any(rebuilds) else "B is" if rebuilds[0] else "A is"
            return self._uncompared(f"{which} from a kit that plans other cases of {self.name}"), []
        return self._compare(most, all(rebuilds))

    def _uncompared(self, why: str) -> SuiteDifference:
        return SuiteDifference(self.name, note=why)

    def _compare(self, most: int, rebuilds: bool) -> tuple[SuiteDifference, list[Difference]]:
        a, b = self.a, self.b
        numbers, at_a, at_b = np.intersect1d(a.numbers, b.numbers, assume_unique=True, return_indices=True)
        verdict_a, verdict_b = a.verdicts[at_a], b.verdicts[at_b]
        digest_a, digest_b = a.digests[at_a], b.digests[at_b]
        decided_a, decided_b = verdict_a < UNDECIDING, verdict_b < UNDECIDING
        both = decided_a & decided_b
        digests = both & (digest_a != 0) & (digest_b != 0)
        same = digests & (digest_a == digest_b)
        bare = both & ~digests
        turned = bare & (verdict_a != verdict_b)
        differing = digests & ~same
        whole = ~(a.left_out[at_a] | b.left_out[at_b])
        rows, undecided, unseen = self._parted(numbers[differing], whole[differing], most, rebuilds)
        rows = pd.concat([rows, by_verdict(a, b, numbers[turned], verdict_a[turned])], ignore_index=True)
        for letter, mine, theirs, verdicts in (
            ("A", decided_a, decided_b, verdict_a),
            ("B", decided_b, decided_a, verdict_b),
        ):
            codes, times = np.unique(verdicts[~mine & theirs], return_counts=True)
            for code, number in zip(codes.tolist(), times.tolist(), strict=True):
                undecided[f"{VERDICTS[code]} in {letter}, decided in the other"] += number
        counted = SuiteDifference(
            suite=self.name,
            same=int(same.sum()),
            different=len(rows),
            not_looked_at=unseen,
            verdict_only=int((bare & ~turned).sum()),
            undecided=dict(undecided),
            neither=int((~decided_a & ~decided_b).sum()),
            only_a=len(a.numbers) - len(numbers),
            only_b=len(b.numbers) - len(numbers),
        )
        return counted, list(self._told(rows, numbers[same], rebuilds))

    def _parted(self, cases: Any, whole: Any, most: int, rebuilds: bool) -> tuple[pd.DataFrame, Counter[str], int]:
        """Where cases with other digests part; how many cannot be said to; how many were not looked at."""
        rows = pd.DataFrame(columns=COLUMNS)
        if self.a.profile == self.b.profile and self.same_kit:
            rows = by_divergences(self.a, self.b, cases[whole])
            cases = np.setdiff1d(cases, rows["case"].to_numpy(np.int64), assume_unique=True)
        if not rebuilds:
            return rows, Counter({NOT_REBUILT: len(cases)} if len(cases) else {}), 0
        first_differences = by_steps(self.a, self.b, cases[:most].tolist())
        first_differences.add(rows)
        return first_differences.rows, first_differences.undecided, max(0, len(cases) - most)

    def _told(self, rows: pd.DataFrame, same: Any, rebuilds: bool) -> Iterator[Difference]:
        """The differences, the most frequent first, each with what separates it if steps can be rebuilt for that."""
        key = ["operation", "kind", "class_a", "class_b"]
        grouped = rows.sort_values(["step", "case"]).groupby(key, sort=True)
        exemplars = grouped.head(1).set_index(key)
        sizes = grouped.size().sort_values(ascending=False, kind="stable")
        others = self._steps(same[:CASES].tolist()) if rebuilds and len(rows) else []
        for at, (parts, cases) in enumerate(sizes.items()):
            row = exemplars.loc[[parts]].iloc[0]
            mark = blake2b(repr((self.name, *parts)).encode(), digest_size=4).hexdigest()
            separates = self._separated(grouped.get_group(parts), others) if rebuilds and at < SEPARATED else []
            case, step = int(row["case"]), int(row["step"])
            trace_a, trace_b = self.a.trace(case), self.b.trace(case)
            operation, before = _story(trace_a if len(trace_a.steps) >= step else trace_b, step)
            yield Difference(
                suite=self.name,
                fingerprint=mark,
                cases=int(cases),
                case=case,
                step=step,
                operation=operation or parts[0],
                a=self._deed(self.a, trace_a, self.b, step),
                b=self._deed(self.b, trace_b, self.a, step),
                before=before,
                separates=separates,
            )

    def _steps(self, cases: list[int]) -> list[Sequence[Step]]:
        return [trace.steps for trace in map(self.a.trace, cases) if trace.steps]

    def _separated(self, alike: pd.DataFrame, others: list[Sequence[Step]]) -> list[Separator]:
        """What separates the steps of A at which cases part from steps of cases that are the same."""
        chosen = alike.sort_values("case").head(CASES)
        pairs = zip(map(self.a.trace, chosen["case"].tolist()), chosen["step"].tolist(), strict=True)
        differing_samples = [Sample(trace.steps, number - 1) for trace, number in pairs if len(trace.steps) >= number]
        agreeing = [Sample(steps, early) for steps, late in differing_samples for early in range(late)]
        agreeing += [Sample(steps, early) for steps in others for early in range(len(steps))]
        return separators(self.a.rebuilder.suite, differing_samples, agreeing)

    def _deed(self, side: CampaignSide, trace: Trace, other: CampaignSide, step: int) -> SideAnswer:
        """What one side did in a step: from its steps, or from the divergences of either side."""
        if len(trace.steps) >= step:
            played = trace.steps[step - 1]
            good = agrees(played.expected, played.observed)
            return SideAnswer(
                format_result(played.observed),
                format_result(played.expected),
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


def _story(trace: Trace, step: int) -> tuple[str, list[list[str]]]:
    """The operation of a step, and [operation, answer] of each step before it; empty when the steps are not known."""
    if len(trace.steps) < step:
        return "", []
    told = [[str(trace.suite.operation(one.row)), format_result(one.observed)] for one in trace.steps[:step]]
    return told[-1][0], told[:-1]


def _rules(names: Iterable[str]) -> list[dict[str, str]]:
    """Rules as events write them; those that this kit does not have by name alone."""
    return [rule_json(name) if name in rules() else {"id": name} for name in names]
