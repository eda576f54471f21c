"""The analysis on Spark gives exactly what the analysis in one process gives."""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict, replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest
from campaign_maker import make, tabled
from campaign_runs import events, play, resume
from click.testing import CliRunner, Result

from rocketmq_conformance.conformance.campaign.analysis import engine
from rocketmq_conformance.conformance.campaign.analysis.clusters import clusters
from rocketmq_conformance.conformance.campaign.analysis.coverage import coverage
from rocketmq_conformance.conformance.campaign.analysis.diff import ONE_PROCESS, diff
from rocketmq_conformance.conformance.campaign.analysis.discovery import discovery
from rocketmq_conformance.conformance.campaign.analysis.on_spark import clusters as spark_clusters
from rocketmq_conformance.conformance.campaign.analysis.on_spark import coverage as spark_coverage
from rocketmq_conformance.conformance.campaign.analysis.on_spark import discovery as spark_discovery
from rocketmq_conformance.conformance.campaign.analysis.on_spark import ranges
from rocketmq_conformance.conformance.campaign.analysis.on_spark.frames import CampaignFrames
from rocketmq_conformance.conformance.campaign.analysis.on_spark.opening import open_url
from rocketmq_conformance.conformance.campaign.analysis.on_spark.separators import SparkSeparatorFinder
from rocketmq_conformance.conformance.campaign.analysis.separating_features import SeparatorFinder
from rocketmq_conformance.conformance.campaign.tables import blocks
from rocketmq_conformance.conformance.campaign.tables.reading import Campaign, open_campaign
from rocketmq_conformance.conformance.cli.campaign_diff import diff as command
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.reports.event import COULD_NOT_RUN, UNDECIDED, UNSUPPORTED, DivergenceFound, SuiteEnded

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


def test_clusters(campaign: Campaign, spark: SparkSession) -> None:
    found = spark_clusters.clusters(CampaignFrames(spark, campaign))
    assert found == clusters(campaign)
    assert len(found) > 3


def test_coverage(campaign: Campaign, spark: SparkSession) -> None:
    assert spark_coverage.coverage(CampaignFrames(spark, campaign)) == coverage(campaign)


def test_discovery(campaign: Campaign, spark: SparkSession) -> None:
    assert spark_discovery.discovery(CampaignFrames(spark, campaign)) == discovery(campaign)


def test_separating_features(campaign: Campaign, spark: SparkSession) -> None:
    found = clusters(campaign)
    alone, together = SeparatorFinder(campaign), SparkSeparatorFinder(CampaignFrames(spark, campaign), found)
    separated = [alone.separators(one) for one in found]
    assert [together.separators(one) for one in found] == separated
    assert sum(map(bool, separated)) > 2


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


# --- differences ----------------------------------------------------------------------------------------------------


def changed(campaign: Campaign, folder: Path, seed: int) -> Campaign:
    """A campaign of which some cases have another verdict or digest, were left out in part, or are not there."""
    shutil.copytree(campaign.folder, folder)
    random = Random(seed)
    for suite in campaign.suites:
        for block in campaign.finished(suite):
            rows = campaign.read("cases", suite=suite, block=block).to_pylist()
            kept = [row for row in rows if random.random() > 0.05]
            for row in kept:
                chance = random.random()
                if chance < 0.1:
                    row["verdict"] = random.choice([UNDECIDED, COULD_NOT_RUN, UNSUPPORTED])
                elif chance < 0.2:
                    row["digest"] = 0
                elif chance < 0.3:
                    row["digest"] += 1
                elif chance < 0.35:
                    row["unsupported"] = ["clone"]
            blocks.write(blocks.path(folder, "cases", suite, block), tabled("cases", kept))
    return open_campaign(folder)


def test_changed_campaigns_of_two_commits(
    campaign: Campaign, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # a task reads ranges that do not end with blocks
    monkeypatch.setattr(ranges, "SIZE", 33)
    monkeypatch.setattr(ranges, "PER_TASK", 2)
    left = changed(campaign, tmp_path / "a", 1)
    right = changed(make(tmp_path / "port", "port", suites=SUITES, cases=120, block=50, seed=1), tmp_path / "b", 11)
    alone = diff(left, right, ONE, rebuilt=10)
    together = diff(left, right, ONE, rebuilt=10, spark=spark)
    assert (alone.engine, together.engine) == (ONE_PROCESS, "by Spark on local[2,4]")
    assert [asdict(one) for one in together.suites] == [asdict(one) for one in alone.suites]
    assert [list(one.undecided) for one in together.suites] == [list(one.undecided) for one in alone.suites]
    assert replace(together, engine="", seconds=0) == replace(alone, engine="", seconds=0)
    numbers = ("same", "different", "not_looked_at", "verdict_only", "undecided", "neither", "only_a", "only_b")
    assert [name for name in numbers if not any(getattr(one, name) for one in alone.suites)] == []


# --- other storage --------------------------------------------------------------------------------------------------


def run(*arguments: object) -> Result:
    return CliRunner().invoke(command, [*map(str, arguments), "--format", "jsonl"])


def test_a_place_with_a_scheme_is_read_by_spark(campaign: Campaign, spark: SparkSession, tmp_path: Path) -> None:
    folder = changed(campaign, tmp_path / "b", 5).folder
    addresses = ("--address-a", ONE, "--address-b", OTHER)
    alone, together = (
        run(campaign.folder, folder, *addresses),
        run(f"file://{campaign.folder}", f"file://{folder}/", *addresses),
    )
    assert alone.exit_code == together.exit_code == 1
    assert alone.stdout.splitlines()[1:-1] == together.stdout.splitlines()[1:-1]
    header, *lines, footer = map(json.loads, together.stdout.splitlines())
    assert sum(line["different"] for line in lines if line["line"] == "suite") > 20
    assert any(line.get("separates") for line in lines)
    assert (header["a"]["folder"], header["b"]["folder"]) == (f"file://{campaign.folder}", f"file://{folder}")
    assert footer["engine"] == "by Spark on local[2,4]"
    frames = CampaignFrames(spark, open_url(spark, f"file://{folder}"))
    assert frames.finished == CampaignFrames(spark, open_campaign(folder)).finished


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
        ((*named, "--engine", "spark"), 4, "Spark cannot read "),
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
