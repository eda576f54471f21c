"""The comparison of two stored campaigns: which cases differ, grouped by how they differ.

Cases are joined by number, and their digests compared; steps are compared only where digests differ. Where one profile
judges both sides, the first step that differs is where one of them diverged from the model, which the tables hold;
elsewhere the steps of both sides are rebuilt from the seed.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from rocketmq_conformance.conformance.campaign.analysis.compared_cases import (
    Compared,
    compare_range,
    compare_steps,
)
from rocketmq_conformance.conformance.campaign.analysis.parts import IN_PROCESS, Engine, chosen_parts, ranges
from rocketmq_conformance.conformance.campaign.analysis.side import TABLES, Side, fetch
from rocketmq_conformance.conformance.campaign.analysis.suite_comparison import (
    REBUILT,
    are_of_one_kit,
    counted,
    differences,
    incomparable,
    other_kit,
    shown_cases,
)
from rocketmq_conformance.conformance.campaign.tables.reading import Campaign, CampaignError
from rocketmq_conformance.conformance.engine import plan
from rocketmq_conformance.reports.campaign_diff import (
    CampaignDifference,
    ComparedCampaign,
    Difference,
    SuiteDifference,
)
from rocketmq_conformance.suites.declare.discovery import SUITES

#: The counts of a suite, and its differences.
_Compared = tuple[SuiteDifference, list[Difference]]


class NothingComparedError(CampaignError):
    """Two campaigns without a comparable case; the text is one sentence that says why."""


def diff(
    a: Campaign,
    b: Campaign,
    address_a: str | None = None,
    address_b: str | None = None,
    rebuilt: int = REBUILT,
    engine: Engine = IN_PROCESS,
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
            f"Nothing can be compared: the seed is {a.seed} in {a.name} and {b.seed} in {b.name}, so that the "
            "cases of one are not those of the other."
        )
    shared = [suite for suite in a.suites if suite in b.suites]
    if not shared:
        raise NothingComparedError(
            f"Nothing can be compared: {a.name} has {', '.join(a.suites)}, {b.name} has {', '.join(b.suites)}."
        )
    known = [suite for suite in shared if suite in SUITES]
    compared = _Comparison(engine, (a, b), (of_a, of_b), rebuilt).compare(known)
    suites, found = _collect(shared, compared)
    result = CampaignDifference(
        _side(a, of_a),
        _side(b, of_b),
        a.seed,
        suites,
        found,
        list(_notes(a, b)),
        time.monotonic() - start,
        engine.name,
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
            raise CampaignError(f"{campaign.name} has {several}: say with {option} which of them is meant.")
        return campaign.addresses[0]
    campaign.profile(address)
    return address


def _side(campaign: Campaign, address: str) -> ComparedCampaign:
    name, version = campaign.implementations.get(address, (address, ""))
    releases = plan.profile_json(campaign.profile(address))
    return ComparedCampaign(campaign.name, address, name, version, campaign.kit, campaign.rulebook, releases)


def _notes(a: Campaign, b: Campaign) -> Iterator[str]:
    if a.rulebook != b.rulebook:
        yield f"A was judged by rule book {a.rulebook}, B by {b.rulebook}"
    if a.kit != b.kit:
        yield f"A was played by kit {a.kit}, B by {b.kit}"
    for letter, one, other in (("A", a, b), ("B", b, a)):
        alone = [suite for suite in one.suites if suite not in other.suites]
        if alone:
            yield f"only {letter} has {', '.join(alone)}"


class _Comparison:
    """Both campaigns, while they are compared."""

    def __init__(
        self, engine: Engine, campaigns: tuple[Campaign, Campaign], addresses: tuple[str, str], most: int
    ) -> None:
        """``most`` bounds the cases of a suite whose steps are rebuilt."""
        self.engine = engine
        self.campaigns = [engine.reading_again(campaign) for campaign in campaigns]
        self.addresses = addresses
        self.most = most

    def compare(self, suites: Sequence[str]) -> dict[str, _Compared]:
        """The counts and the differences of every suite."""
        sides: list[dict[str, Side]] = [
            {suite: Side(campaign, suite, address) for suite in suites}
            for campaign, address in zip(self.campaigns, self.addresses, strict=True)
        ]
        notes = {suite: incomparable(suite, sides[0][suite], sides[1][suite]) for suite in suites}
        compared = self._compare([suite for suite, note in notes.items() if not note], *sides)
        for at, of in enumerate(sides):
            fetch(self.engine, of, {suite: one.probes[at].tolist() for suite, one in compared.items()})
        rebuilds: dict[str, bool] = {}
        for suite, one in compared.items():
            a, b = (of[suite] for of in sides)
            tried = a.rebuilds(one.probes[0].tolist()), b.rebuilds(one.probes[1].tolist())
            notes[suite] = other_kit(suite, tried, are_of_one_kit(a, b))
            rebuilds[suite] = all(tried)
        compared = {suite: one for suite, one in compared.items() if not notes[suite]}
        self._rebuild({suite: one for suite, one in compared.items() if rebuilds[suite]})
        shown = {suite: shown_cases(one, rebuilds[suite]) for suite, one in compared.items()}
        for at, of in enumerate(sides):
            fetch(self.engine, of, {suite: both[at] for suite, both in shown.items()})
        found: dict[str, _Compared] = {suite: (SuiteDifference(suite, note=note), []) for suite, note in notes.items()}
        for suite, one in compared.items():
            a, b = (of[suite] for of in sides)
            numbers = counted(suite, one, rebuilds[suite], self.most)
            found[suite] = numbers, list(differences(suite, a, b, one, rebuilds[suite]))
        return found

    def _compare(self, suites: Sequence[str], a: Mapping[str, Side], b: Mapping[str, Side]) -> dict[str, Compared]:
        one_profile = any(
            a[suite].profile == b[suite].profile and are_of_one_kit(a[suite], b[suite]) for suite in suites
        )
        look = partial(compare_range, addresses=self.addresses, one_profile=one_profile, most=self.most)
        parts = (part for suite in suites for part in ranges(suite, self.campaigns, self.engine.size))
        found = self.engine.by_suite(
            self.campaigns, parts, ["cases", "divergences"], look, partial(Compared.joined, most=self.most)
        )
        return {suite: found.get(suite) or Compared() for suite in suites}

    def _rebuild(self, compared: Mapping[str, Compared]) -> None:
        """Find where cases part of which nothing that is stored says it."""
        parts = (
            part
            for suite, one in compared.items()
            for part in chosen_parts(suite, one.parting.tolist(), self.campaigns, self.engine.chosen)
        )
        join = partial(Compared.joined, most=self.most)
        look = partial(compare_steps, addresses=self.addresses)
        for suite, found in self.engine.by_suite(self.campaigns, parts, TABLES, look, join).items():
            compared[suite].joined(found, self.most)


def _collect(shared: Sequence[str], compared: dict[str, _Compared]) -> tuple[list[SuiteDifference], list[Difference]]:
    suites, found = [], []
    for suite in shared:
        if suite in compared:
            counted, shown = compared[suite]
        else:
            counted, shown = SuiteDifference(suite, note="this kit does not have the suite"), []
        suites.append(counted)
        found += shown
    return suites, found
