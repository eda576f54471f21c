"""The trend of campaigns: what came and went with the last one, and what a further hour would show."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest
from campaign_maker import make
from click.testing import CliRunner, Result

from rocketmq_conformance.conformance.adapter import Adapter
from rocketmq_conformance.conformance.campaign.analysis.clusters import clusters
from rocketmq_conformance.conformance.campaign.analysis.coverage import coverage
from rocketmq_conformance.conformance.campaign.analysis.trend import trend
from rocketmq_conformance.conformance.campaign.tables.reading import Campaign, CampaignError
from rocketmq_conformance.conformance.cli.main import cli
from rocketmq_conformance.conformance.targets.mutants import MUTANTS, open_mutant
from rocketmq_conformance.conformance.targets.port.adapter import Port
from rocketmq_conformance.models.profile import Profile

pytestmark = pytest.mark.tables
CLIENT = "client"


def mutant(name: str) -> Callable[[], Adapter]:
    return partial(open_mutant, MUTANTS[name], Profile())


def night(folder: Path, number: int, client: Callable[[], Adapter] = Port, cases: int = 100, **run: object) -> Campaign:
    """The campaign of a night: one client, whose releases follow one another."""
    row = {"started": datetime(2026, 1, number, tzinfo=UTC), "seconds": 50.0, "conforms": cases, "steps": 40 * cases}
    return make(folder / f"night-{number}", CLIENT, cases=cases, adapters={CLIENT: client}, run={**row, **run})


@pytest.fixture(scope="module")
def nights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Right on the first night; wrong in one way on the second, and in another one on the third."""
    folder = tmp_path_factory.mktemp("nights")
    night(folder, 1)
    night(folder, 2, mutant("freeze-ignored"))
    night(folder, 3, mutant("clone-ignores-topic"))
    return folder


def invoke(*args: str) -> Result:
    return CliRunner().invoke(cli, ["campaign", "trend", *args])


def fingerprints(campaign: Path) -> set[str]:
    from rocketmq_conformance.conformance.campaign.tables.reading import open_campaign

    return {one.fingerprint for one in clusters(open_campaign(campaign))}


def test_what_came_and_went_with_the_last_night(nights: Path) -> None:
    found = trend([nights])
    second, third = fingerprints(nights / "night-2"), fingerprints(nights / "night-3")
    assert [one.folder for one in found.campaigns] == [str(nights / f"night-{number}") for number in (1, 2, 3)]
    assert {one.fingerprint for one in found.new} == third - second
    assert {one.fingerprint for one in found.gone} == second - third
    assert found.staying == len(second & third)
    assert found.exit_code == 1


def test_a_cluster_of_any_night_before_is_not_new(nights: Path, tmp_path: Path) -> None:
    again = night(tmp_path, 4, mutant("freeze-ignored"))
    found = trend([nights, again.folder])
    assert (found.new, found.exit_code) == ([], 0)
    assert {one.folder for one in found.gone} == {str(nights / "night-3")}


def test_answers_that_nothing_showed_before_are_new(nights: Path) -> None:
    from rocketmq_conformance.conformance.campaign.tables.reading import open_campaign

    found = trend([nights / "night-1", nights / "night-3"])
    first, third = (
        {tuple(row[:3]) for rows in coverage(open_campaign(nights / f"night-{number}")).values() for row in rows}
        for number in (1, 3)
    )
    assert {tuple(row) for row in found.new_behaviours} == third - first
    assert {tuple(row) for row in found.gone_behaviours} == first - third
    assert [one.behaviours for one in found.campaigns] == [len(first), len(third)]


def test_a_further_hour_is_as_fast_as_the_last_night(nights: Path) -> None:
    found = trend([nights])
    last = found.campaigns[-1]
    assert (last.cases, last.seconds) == (100, 50.0)
    assert found.cases_an_hour == 7200
    assert 0 < last.chance < 1
    assert found.found_an_hour == 7200 * last.chance


def test_what_else_may_explain_a_change_is_noted(nights: Path, tmp_path: Path) -> None:
    short = night(tmp_path, 5, cases=50, left=50)
    notes = trend([nights, short.folder]).notes
    assert [sentence for sentence in notes if "did not play 50 of its cases" in sentence]
    assert [sentence for sentence in notes if "has fewer cases than" in sentence]


def test_the_command_prints_it_and_ends_with_its_code(nights: Path) -> None:
    done = invoke(str(nights))
    assert done.exit_code == 1, done.output
    assert "Trend: " in done.stdout.splitlines()[-1]
    assert "(exit code 1)" in done.stdout.splitlines()[-1]
    assert "about 7,200 cases" in done.stdout
    lines = [json.loads(line) for line in invoke(str(nights), "--format", "jsonl").stdout.splitlines()]
    assert {line["line"] for line in lines} >= {"campaign", "new-cluster", "gone-cluster", "end"}
    assert lines[-1]["further_hour"]["cases"] == 7200


def test_one_campaign_is_nothing_to_compare(nights: Path) -> None:
    done = invoke(str(nights / "night-1"))
    assert done.exit_code == 3
    assert "name a second campaign" in done.stdout


def test_the_same_campaign_twice_is_one(nights: Path) -> None:
    assert len(trend([nights / "night-1", nights / "night-1"]).campaigns) == 1


def test_bad_input_gets_one_sentence(nights: Path, tmp_path: Path) -> None:
    with pytest.raises(CampaignError, match=r"holds no campaign: name the folder that has a campaign\.json"):
        trend([tmp_path])
    done = invoke(str(tmp_path))
    assert (done.exit_code, done.output.count("Error:")) == (2, 1)
    unbegun = night(tmp_path, 6).folder
    for file in (unbegun / "runs").iterdir():
        file.unlink()
    with pytest.raises(CampaignError, match="never began: start or resume the campaign first"):
        trend([nights, unbegun])
