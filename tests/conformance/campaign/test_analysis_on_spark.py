"""The analysis on Spark gives exactly what the analysis in one process gives."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from campaign_maker import make, tabled
from campaign_runs import events, play
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
from rocketmq_conformance.conformance.campaign.spark.session import open_session
from rocketmq_conformance.conformance.campaign.tables import blocks
from rocketmq_conformance.conformance.campaign.tables.reading import Campaign, open_campaign
from rocketmq_conformance.conformance.cli.campaign_diff import diff as command
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.reports.campaign_diff import CampaignDifference
from rocketmq_conformance.reports.event import COULD_NOT_RUN, UNDECIDED, UNSUPPORTED, DivergenceFound, SuiteEnded

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
ONE, OTHER = "mutant:freeze-ignored", "mutant:clone-ignores-topic"
#: What names the folder of a campaign.
NO_PLACE = {"plan": "", "replay": ""}
ZERO = "mutant:asks-no-zero"
SUITES = ("remote-store", "start-pull")


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    with open_session("local[2]", name="tests", config={"spark.sql.shuffle.partitions": "2"}) as session:
        yield session


def campaign_of(folder: Path, seed: int) -> Campaign:
    """Two addresses and suites, two arms, a block that is not finished, and one that was lost."""
    profiles = {OTHER: Profile.of(client="5.3.0")}
    made = make(
        folder, ONE, OTHER, suites=SUITES, cases=130, block=20, seed=seed, sample=5, profiles=profiles, steered_from=80
    )
    blocks.path(folder, "cases", SUITES[0], seed % 5).unlink()
    blocks.path(folder, "behaviours", SUITES[1], 0).unlink()
    return made


@pytest.fixture(scope="module", params=[1])
def campaign(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Campaign:
    return campaign_of(tmp_path_factory.mktemp("campaign [1]") / "of it", request.param)


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
    ending = []
    for large in (False, True):
        monkeypatch.setattr(engine, "LARGE", 1 if large else 10**9)
        play(tmp_path / str(large), addresses=(ZERO,), cases=64, master="local[2]")
        last = [one for one in events(tmp_path / str(large)) if isinstance(one, (DivergenceFound, SuiteEnded))]
        ending.append([replace(one, **({"seconds": 0} if isinstance(one, SuiteEnded) else NO_PLACE)) for one in last])
    assert ending[0] == ending[1]
    assert any(isinstance(one, DivergenceFound) and one.separates for one in ending[0])


# --- differences ----------------------------------------------------------------------------------------------------


def compared(a: Campaign, b: Campaign, spark: SparkSession, *addresses: str, **options: Any) -> CampaignDifference:
    """The difference of two campaigns, which both ways must give."""
    alone = diff(a, b, *addresses, **options)
    together = diff(a, b, *addresses, **options, spark=spark)
    assert (alone.engine, together.engine) == (ONE_PROCESS, "by Spark on local[2,4]")
    assert [asdict(one) for one in together.suites] == [asdict(one) for one in alone.suites]
    assert [list(one.undecided) for one in together.suites] == [list(one.undecided) for one in alone.suites]
    assert replace(together, engine="", seconds=0) == replace(alone, engine="", seconds=0)
    return alone


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


def test_two_addresses_of_a_campaign(campaign: Campaign, spark: SparkSession) -> None:
    found = compared(campaign, campaign, spark, ONE, OTHER)
    assert sum(one.different for one in found.suites) > 20
    assert any(one.separates for one in found.differences)


@pytest.mark.parametrize("seed", [1, 2])
def test_changed_campaigns(seed: int, campaign: Campaign, spark: SparkSession, tmp_path: Path) -> None:
    left, right = changed(campaign, tmp_path / "a", seed), changed(campaign, tmp_path / "b", seed + 10)
    found = compared(left, right, spark, ONE, (ONE, OTHER)[seed % 2], rebuilt=15)
    assert any(one.not_looked_at for one in found.suites)
    assert any(one.only_a and one.only_b and one.undecided and one.verdict_only for one in found.suites)


def test_two_commits_of_a_port(spark: SparkSession, tmp_path: Path) -> None:
    left = make(tmp_path / "a", ONE, cases=120, block=50)
    right = make(tmp_path / "b", "port", cases=90, block=40)
    found = compared(left, right, spark)
    assert found.suites[0].different
    assert found.suites[0].only_a


def test_a_task_reads_ranges_that_do_not_end_with_blocks(
    campaign: Campaign, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ranges, "SIZE", 33)
    monkeypatch.setattr(ranges, "PER_TASK", 2)
    right = changed(make(tmp_path / "b", "port", suites=SUITES, cases=130, block=50, seed=1), tmp_path / "changed", 3)
    found = compared(campaign, right, spark, ONE)
    assert any(one.same and one.different and one.only_a and one.undecided for one in found.suites)


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
    header, *_, footer = map(json.loads, together.stdout.splitlines())
    assert (header["a"]["folder"], header["b"]["folder"]) == (f"file://{campaign.folder}", f"file://{folder}")
    assert footer["engine"] == "by Spark on local[2,4]"
    frames = CampaignFrames(spark, open_url(spark, f"file://{folder}"))
    assert frames.finished == CampaignFrames(spark, open_campaign(folder)).finished
    assert spark_clusters.clusters(frames) == clusters(open_campaign(folder))


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
