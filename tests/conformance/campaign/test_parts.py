"""Parts of a campaign: what is found does not depend on how it is divided, nor on which part comes first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from campaign_maker import changed, make, shaken

from rocketmq_conformance.conformance.campaign.analysis.clusters import clusters
from rocketmq_conformance.conformance.campaign.analysis.coverage import coverage
from rocketmq_conformance.conformance.campaign.analysis.diff import diff
from rocketmq_conformance.conformance.campaign.analysis.discovery import discovery
from rocketmq_conformance.conformance.campaign.analysis.parts import (
    IN_PROCESS,
    Engine,
    Found,
    InProcess,
    Joins,
    Part,
    chosen_parts,
)
from rocketmq_conformance.conformance.campaign.analysis.separating_features import SeparatorFinder
from rocketmq_conformance.conformance.campaign.tables import blocks
from rocketmq_conformance.conformance.campaign.tables.reading import Campaign
from rocketmq_conformance.models.profile import Profile

pytestmark = pytest.mark.tables
ONE, OTHER = "mutant:freeze-ignored", "mutant:clone-ignores-topic"
SUITES = ("remote-store", "start-pull")


class InSmallParts(InProcess):
    """Parts that begin and end in the midst of blocks, the last one first."""

    size, chosen = 33, 7

    def by_suite(
        self,
        campaigns: Sequence[Campaign],
        parts: Iterable[Part],
        tables: Sequence[str],
        look: Callable[..., Found],
        join: Joins[Found],
    ) -> dict[str, Found]:
        return super().by_suite(campaigns, reversed(list(parts)), tables, look, join)


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Campaign:
    """Two addresses and suites, two arms, a block that is not finished, and one that was lost."""
    folder = tmp_path_factory.mktemp("campaign")
    profiles = {OTHER: Profile.of(client="5.3.0")}
    made = make(folder, ONE, OTHER, suites=SUITES, cases=130, block=20, seed=1, profiles=profiles, steered_from=80)
    blocks.path(folder, "cases", SUITES[0], 1).unlink()
    blocks.path(folder, "behaviours", SUITES[1], 0).unlink()
    return made


@pytest.mark.parametrize("analysis", [clusters, coverage, discovery])
def test_what_a_campaign_shows(analysis: Callable[[Campaign, Engine], object], campaign: Campaign) -> None:
    assert analysis(campaign, InSmallParts()) == analysis(campaign, IN_PROCESS)


def test_separating_features(campaign: Campaign) -> None:
    found = clusters(campaign)
    whole, small = SeparatorFinder(campaign, found), SeparatorFinder(campaign, found, InSmallParts())
    separated = [whole.separators(one) for one in found]
    assert [small.separators(one) for one in found] == separated
    assert sum(map(bool, separated)) > 2


def test_differences(campaign: Campaign, tmp_path: Path) -> None:
    left = changed(campaign, tmp_path / "a", shaken(1))
    port = make(tmp_path / "port", "port", suites=SUITES, cases=120, block=50, seed=1)
    right = changed(port, tmp_path / "b", shaken(11))
    whole = diff(left, right, ONE, rebuilt=5)
    small = diff(left, right, ONE, rebuilt=5, engine=InSmallParts())
    assert replace(small, seconds=whole.seconds) == whole
    assert [list(one.undecided) for one in small.suites] == [list(one.undecided) for one in whole.suites]
    counts = {name for one in whole.suites for name, value in asdict(one).items() if value}
    assert counts == asdict(whole.suites[0]).keys() - {"note"}


def test_chosen_cases_of_far_blocks_are_in_parts_of_their_own(campaign: Campaign) -> None:
    near, far = chosen_parts(SUITES[0], [100_007, 45, 3], [campaign], 10)
    assert near == Part(SUITES[0], ([0, 2],), [3, 45])
    assert far == Part(SUITES[0], ([5000],), [100_007])
