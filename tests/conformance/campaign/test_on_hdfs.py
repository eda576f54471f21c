"""Campaigns that are kept on HDFS: compared there as folders are, and brought back to go on."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import command_line
import hdfs
import pytest
from campaign_runs import blocks_of, ended, play, resume, tables
from command_line import Ended

from rocketmq_conformance.conformance.campaign.analysis.clusters import clusters
from rocketmq_conformance.conformance.campaign.analysis.coverage import coverage
from rocketmq_conformance.conformance.campaign.analysis.discovery import discovery
from rocketmq_conformance.conformance.campaign.analysis.on_spark import OnSpark, open_url
from rocketmq_conformance.conformance.campaign.tables import blocks
from rocketmq_conformance.conformance.campaign.tables.reading import open_campaign

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
MUTANT = "mutant:asks-no-zero"
WHOLE, CUT = "whole one", "cut"
SUITE = "remote-store"
FEW: dict[str, Any] = {"suites": (SUITE,), "cases": 128}


class Kept(NamedTuple):
    """Campaigns in folders, and copies of them on HDFS under the same names."""

    folder: Path
    url: str
    spark: SparkSession


@pytest.fixture(scope="module")
def kept(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kept]:
    folder = tmp_path_factory.mktemp("campaigns")
    with hdfs.running(tmp_path_factory.mktemp("hdfs")) as url:
        whole, cut = folder / "lab" / WHOLE, folder / "lab" / CUT
        assert play(whole, addresses=(MUTANT, "port"), **FEW) == 1
        shutil.copytree(whole, cut)
        for number in open_campaign(cut).finished(SUITE)[1::2]:  # a block is finished when its cases are there
            blocks.path(cut, "cases", SUITE, number).unlink()
        hdfs.put(spark, folder / "lab", url)
        yield Kept(folder / "lab", f"{url}/lab", spark)


def compared(cwd: Path, *places: object) -> Ended:
    return command_line.kit("campaign", "diff", *map(str, places), "--format", "jsonl", cwd=cwd)


def test_compared_as_folders_are(kept: Kept) -> None:
    named = ("--address-a", MUTANT, "--address-b", "port")
    alone = compared(kept.folder, kept.folder / WHOLE, kept.folder / CUT, *named)
    there = compared(kept.folder, kept.folder / WHOLE, f"{kept.url}/{CUT}/", *named)
    assert (alone.returncode, there.returncode) == (1, 1), there.stderr
    # the first line names the places, and the last one the engine and its time
    assert there.stdout.splitlines()[1:-1] == alone.stdout.splitlines()[1:-1]


@pytest.mark.parametrize("analysis", [clusters, coverage, discovery])
def test_analysed_as_a_folder_is(kept: Kept, analysis: Callable[..., list[object]]) -> None:
    there = open_url(kept.spark, f"{kept.url}/{WHOLE}")
    assert analysis(there, OnSpark(kept.spark)) == analysis(open_campaign(kept.folder / WHOLE)) != []


def test_a_campaign_that_was_cut_off_goes_on_when_it_is_brought_back(kept: Kept, tmp_path: Path) -> None:
    hdfs.get(kept.spark, f"{kept.url}/{CUT}", tmp_path)
    out = tmp_path / CUT
    assert tables(out) == tables(kept.folder / CUT)
    assert 0 < blocks_of(out) < blocks_of(kept.folder / WHOLE)
    assert resume(out) == 1
    assert (ended(out).left, ended(out).stopped) == (0, "")
    assert tables(out) == tables(kept.folder / WHOLE)
    page = tmp_path / "page.html"
    made = command_line.kit("report", str(out), "--out", str(page), cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    assert MUTANT in page.read_text("utf-8")


def test_where_there_is_no_campaign(kept: Kept) -> None:
    done = compared(kept.folder, f"{kept.url}/nowhere", f"{kept.url}/{WHOLE}")
    assert done.returncode == 2
    assert f"{kept.url}/nowhere holds no campaign" in done.stderr
