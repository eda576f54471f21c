"""The verdict of a campaign's session: a suite that was never played is no part of a pass."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from campaign_maker import make

from rocketmq_conformance.conformance.campaign.driver import Driver, SessionOptions
from rocketmq_conformance.conformance.campaign.progress import CampaignProgress
from rocketmq_conformance.conformance.campaign.spec import CampaignSpec
from rocketmq_conformance.conformance.campaign.tables import blocks
from rocketmq_conformance.reports.event import CONFORMS, TIME_LIMIT, UNDECIDED

pytestmark = pytest.mark.tables
SUITES = ("remote-store", "start-pull")


def verdict(folder: Path, *, without: str = "") -> str:
    """The verdict of a campaign that the time limit ended; of the suite ``without`` no block was finished."""
    campaign = make(folder, "port", suites=SUITES, cases=4, block=4, steps=5)
    if without:
        blocks.path(folder, "cases", without, 0).unlink()
    driver = Driver(CampaignSpec(("port",), SUITES, 100, 1, 4), SessionOptions(folder), print)
    driver.progress = CampaignProgress(campaign)
    driver.progress.look()
    driver.asked, driver.stopped = 100, TIME_LIMIT
    sound: Any = SimpleNamespace(sound=True)
    return driver._verdict(sound)


def test_a_campaign_may_conform_when_its_time_is_over(tmp_path: Path) -> None:
    assert verdict(tmp_path / "c") == CONFORMS


def test_a_suite_without_a_case_leaves_it_undecided(tmp_path: Path) -> None:
    assert verdict(tmp_path / "c", without="start-pull") == UNDECIDED
