"""The progress of a campaign counts every block once, whole."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import pytest
from campaign_maker import make

from rocketmq_conformance.conformance.campaign.progress import CampaignProgress

pytestmark = pytest.mark.tables


def test_a_block_counts_whole_when_ctrl_c_comes_in_the_middle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    campaign = make(tmp_path / "campaign", "port", cases=8)
    expected, progress = CampaignProgress(campaign), CampaignProgress(campaign)
    expected.look()
    add = progress.discovery.add

    def interrupted(*block: Any) -> None:
        signal.raise_signal(signal.SIGINT)
        add(*block)

    monkeypatch.setattr(progress.discovery, "add", interrupted)
    with pytest.raises(KeyboardInterrupt):
        progress.look()
    progress.look()
    assert expected.cases > 0
    assert (progress.counts, progress.all_steps) == (expected.counts, expected.all_steps)
