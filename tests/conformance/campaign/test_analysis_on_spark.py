"""Campaigns are analysed in tasks of Spark, of folders and of what only Spark reads, as this process does it."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from campaign_maker import changed, make, shaken
from campaign_runs import events, play, resume
from click.testing import CliRunner, Result

from rocketmq_conformance.conformance.campaign.analysis import engine
from rocketmq_conformance.conformance.campaign.analysis.on_spark import open_url
from rocketmq_conformance.conformance.campaign.tables import blocks
from rocketmq_conformance.conformance.campaign.tables.reading import Campaign
from rocketmq_conformance.conformance.cli.campaign_diff import diff as command
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.reports.event import DivergenceFound, SuiteEnded

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
ONE, OTHER = "mutant:freeze-ignored", "mutant:clone-ignores-topic"
ZERO = "mutant:asks-no-zero"
SUITES = ("remote-store", "start-pull")


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Campaign:
    """Two addresses and suites, two arms, a block that is not finished, and one that was lost."""
    folder = tmp_path_factory.mktemp("campaign [1]") / "of it"
    profiles = {OTHER: Profile.of(client="5.3.0")}
    made = make(
        folder, ONE, OTHER, suites=SUITES, cases=130, block=20, seed=1, sample=5, profiles=profiles, steered_from=80
    )
    blocks.path(folder, "cases", SUITES[0], 1).unlink()
    blocks.path(folder, "behaviours", SUITES[1], 0).unlink()
    return made


def test_a_large_campaign_ends_with_the_same_events(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, ending = tmp_path / "out", []
    for large in (False, True):
        monkeypatch.setattr(engine, "LARGE", 1 if large else 10**9)
        # the second time nothing is left to play
        assert (resume(out) if large else play(out, addresses=(ZERO,), suites=("remote-store",), cases=64)) == 1
        last = [one for one in events(out) if isinstance(one, (DivergenceFound, SuiteEnded))]
        ending.append([replace(one, seconds=0) if isinstance(one, SuiteEnded) else one for one in last])
    assert ending[0] == ending[1]
    assert any(isinstance(one, DivergenceFound) and one.separates for one in ending[0])


# --- other storage --------------------------------------------------------------------------------------------------


def run(*arguments: object) -> Result:
    return CliRunner().invoke(command, [*map(str, arguments), "--format", "jsonl"])


def test_folders_and_places_with_a_scheme(campaign: Campaign, spark: SparkSession, tmp_path: Path) -> None:
    folder = changed(campaign, tmp_path / "b", shaken(5)).folder
    addresses = ("--address-a", ONE, "--address-b", OTHER)
    alone, *others = (
        run(campaign.folder, folder, *addresses),
        run(campaign.folder, folder, *addresses, "--engine", "spark"),
        run(f"file://{campaign.folder}", f"file://{folder}/", *addresses),
        run(campaign.folder, f"file://{folder}", *addresses),
    )
    for one in (alone, *others):
        assert one.exit_code == 1
        # the first line names the places, and the last one the engine and its time
        assert one.stdout.splitlines()[1:-1] == alone.stdout.splitlines()[1:-1]
        assert (json.loads(one.stdout.splitlines()[-1])["engine"] == "by Spark on local[2,4]") == (one is not alone)
    header, *lines = map(json.loads, others[1].stdout.splitlines())
    assert sum(line["different"] for line in lines if line["line"] == "suite") > 20
    assert any(line.get("separates") for line in lines)
    assert (header["a"]["folder"], header["b"]["folder"]) == (f"file://{campaign.folder}", f"file://{folder}")
    there = open_url(spark, f"file://{campaign.folder}")
    assert [there.finished(suite) for suite in SUITES] == [campaign.finished(suite) for suite in SUITES]


def test_bad_input_is_one_sentence(campaign: Campaign, spark: SparkSession, tmp_path: Path) -> None:
    damaged = Path(shutil.copytree(campaign.folder, tmp_path / "damaged"))
    blocks.path(damaged, "cases", SUITES[0], 0).write_bytes(b"PAR1")
    named = (campaign.folder, damaged, "--address-a", ONE, "--address-b", ONE)
    for arguments, code, content in (
        (
            (f"file://{tmp_path}/nowhere", campaign.folder),
            2,
            "holds no campaign: name the folder that has a campaign.json.",
        ),
        ((f"file://{tmp_path}", campaign.folder, "--engine", "process"), 2, "leave out --engine process"),
        ((*named, "--engine", "process", "--master", "local"), 2, "--master says where Spark runs"),
        ((*named, "--master", "sparks://x"), 2, "Spark knows no master 'sparks://x'"),
        ((*named, "--master", "local[3]"), 4, "This process has a Spark session on local[2,4]"),
        ((*named, "--engine", "spark"), 4, f"Error: {blocks.path(damaged, 'cases', SUITES[0], 0)} is damaged ("),
    ):
        done = run(*arguments)
        assert done.exit_code == code, arguments
        assert done.stdout == ""
        assert content in done.stderr
        assert "Traceback" not in done.stderr


def test_a_storage_without_its_library_is_one_sentence(spark: SparkSession) -> None:
    done = run("s3a://bucket/one", "hdfs://nowhere.invalid:1/two")
    assert done.exit_code == 4
    assert "Spark cannot read s3a://bucket/one: " in done.stderr
