"""The comparison of two stored campaigns: which cases differ, grouped by how they differ.

Cases are joined by number, and their digests compared; steps are compared only where digests differ. Where one profile
judges both sides, the first step that differs is where one of them diverged from the model, which the tables hold;
elsewhere the steps of both sides are rebuilt from the seed.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rocketmq_conformance.conformance.campaign.analysis.in_process_comparison import InProcessComparison
from rocketmq_conformance.conformance.campaign.analysis.side import CampaignSide
from rocketmq_conformance.conformance.campaign.analysis.suite_comparison import REBUILT, differences
from rocketmq_conformance.conformance.campaign.tables.reading import Campaign, CampaignError
from rocketmq_conformance.conformance.engine import plan
from rocketmq_conformance.reports.campaign_diff import (
    CampaignDifference,
    ComparedCampaign,
    Difference,
    SuiteDifference,
)
from rocketmq_conformance.suites.declare.discovery import SUITES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: How the cases were compared, as the output says it.
ONE_PROCESS = "in one process"
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
    spark: SparkSession | None = None,
) -> CampaignDifference:
    """Compare one address of each of two campaigns.

    An address may be left out where the campaign has only one. ``rebuilt`` bounds the cases per suite whose steps are
    rebuilt. With ``spark`` the session compares, and gives what this process alone gives otherwise, however many cases
    there are. NothingComparedError when no case of one can be compared with one of the other; CampaignError when one of
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
    if spark is None:
        engine = ONE_PROCESS
        compared = {suite: _compare(suite, a, of_a, b, of_b, rebuilt) for suite in known}
    else:
        # PySpark is imported where a session is
        from rocketmq_conformance.conformance.campaign.analysis.on_spark.diff import compare

        engine = f"by Spark on {spark.sparkContext.master}"
        compared = compare(spark, known, (a, of_a), (b, of_b), rebuilt)
    suites, found = _collect(shared, compared)
    result = CampaignDifference(
        _side(a, of_a),
        _side(b, of_b),
        a.seed,
        suites,
        found,
        list(_notes(a, b)),
        time.monotonic() - start,
        engine,
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


def _compare(suite: str, a: Campaign, of_a: str, b: Campaign, of_b: str, rebuilt: int) -> _Compared:
    """One suite, in this process."""
    side_a, side_b = CampaignSide(a, suite, of_a), CampaignSide(b, suite, of_b)
    compared = InProcessComparison(suite, side_a, side_b).compare(rebuilt)
    return compared.counted, list(differences(suite, side_a, side_b, compared))


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
