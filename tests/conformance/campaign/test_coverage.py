"""Coverage of a campaign: cases per rule, kind of state and outcome class."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path

import pytest
from campaign_maker import make, number_of, tabled

from rocketmq_conformance.conformance.campaign.analysis.coverage import coverage
from rocketmq_conformance.conformance.campaign.analysis.rebuild import Rebuilder
from rocketmq_conformance.conformance.campaign.tables import blocks
from rocketmq_conformance.conformance.campaign.tables.reading import Campaign, open_campaign
from rocketmq_conformance.models.outcome import outcome_class

pytestmark = pytest.mark.tables
MUTANT = "mutant:clone-ignores-topic"


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Campaign:
    folder = tmp_path_factory.mktemp("campaign")
    return make(folder, "port", MUTANT, suites=("remote-store", "start-pull"), cases=60, block=25)


def test_cases_are_counted_by_suite_and_address(campaign: Campaign) -> None:
    by_part = coverage(campaign)
    assert list(by_part) == [(suite, address) for suite in campaign.suites for address in campaign.addresses]
    for (suite, address), rows in by_part.items():
        counted: Counter[tuple[str, str, str]] = Counter()
        for trace in Rebuilder(campaign, suite, address).traces(range(60)):
            counted.update(
                {(rule, one.why.kind, outcome_class(one.expected)) for one in trace.steps for rule in one.why.rules}
            )
        assert rows == [[*cell, times] for cell, times in sorted(counted.items())]
        assert rows
    # the mutant's cases end where they diverge
    assert sum(row[3] for row in by_part["remote-store", MUTANT]) < sum(
        row[3] for row in by_part["remote-store", "port"]
    )


def test_a_case_that_reached_a_cell_by_two_answers_counts_once(campaign: Campaign, tmp_path: Path) -> None:
    shutil.copytree(campaign.folder, tmp_path / "c")
    row = campaign.read("cases", suite="remote-store", block=0).to_pylist()[0]
    by_part = [("A", "B"), ("A",), ("C",)]
    behaviours = [
        {"id": number_of(rules), "kind": "answer", "rules": list(rules), "state_kind": "k", "outcome": "done"}
        | {"next_rules": [], "next_state_kind": ""}
        for rules in by_part
    ]
    ids = [one["id"] for one in behaviours]
    cases = [{**row, "case": 75, "answers": sorted(ids[:2])}, {**row, "case": 76, "answers": sorted(ids)}]
    shutil.rmtree(tmp_path / "c" / "cases" / "suite=remote-store")
    blocks.write(blocks.path(tmp_path / "c", "behaviours", "remote-store", 3), tabled("behaviours", behaviours))
    blocks.write(blocks.path(tmp_path / "c", "cases", "remote-store", 3), tabled("cases", cases))
    rows = coverage(open_campaign(tmp_path / "c"))["remote-store", "port"]
    assert rows == [["A", "k", "done", 2], ["B", "k", "done", 2], ["C", "k", "done", 1]]


def test_behaviours_that_nothing_tells_are_not_lost(campaign: Campaign, tmp_path: Path) -> None:
    shutil.copytree(campaign.folder, tmp_path / "c")
    shutil.rmtree(tmp_path / "c" / "behaviours" / "suite=start-pull")
    by_part = coverage(open_campaign(tmp_path / "c"))
    assert by_part["start-pull", "port"] == [["?", "?", "?", 60]]
    assert by_part["remote-store", "port"] == coverage(campaign)["remote-store", "port"]


def test_a_behaviour_reported_in_an_unfinished_block_has_its_meaning(campaign: Campaign, tmp_path: Path) -> None:
    shutil.copytree(campaign.folder, tmp_path / "c")
    blocks.path(tmp_path / "c", "cases", "remote-store", 0).unlink()
    rows = coverage(open_campaign(tmp_path / "c"))["remote-store", "port"]
    assert "?" not in {row[0] for row in rows}
    assert max(row[3] for row in rows) == 35
