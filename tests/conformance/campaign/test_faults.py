"""Campaigns that meet with accidents: something is killed, crashes, hangs, or has no room left. All of it is real."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest
from campaign_runs import (
    BLOCKS_OF_IT,
    CASES,
    WORDS,
    Rows,
    blocks_of,
    check,
    command,
    ended,
    events,
    family,
    nameless,
    nothing_left,
    play,
    resume,
)
from command_line import kit
from places import HELPERS
from poisonous import POISON
from waiting import wait_for_end, wait_until

from rocketmq_conformance.conformance.campaign.tables.reading import open_campaign
from rocketmq_conformance.conformance.campaign.tables.schema import BLOCKS
from rocketmq_conformance.reports.event import (
    CONFORMS,
    COULD_NOT_RUN,
    CaseLost,
    Event,
    Progress,
    SuiteEnded,
)

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark")]

WAITS = "python:poisonous:Waits"
#: Cases of a campaign that has one that is poison.
FEW = 16


@pytest.fixture(scope="module", autouse=True)
def poison(spark: object) -> Iterator[None]:
    """Campaigns of this process and its children find the adapters."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(HELPERS))
        yield


@pytest.fixture(scope="module")
def reference(spark: object, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Rows]:
    """The tables of a campaign that was never disturbed."""
    out = tmp_path_factory.mktemp("reference") / "out"
    assert play(out) == 0
    return nameless(out)


# --- poison -----------------------------------------------------------------------------------------------------


def test_poisonous_cases_are_named_and_all_others_are_judged(
    tmp_path: Path, reference: dict[str, Rows], monkeypatch: pytest.MonkeyPatch
) -> None:
    out, children = tmp_path / "out", tmp_path / "children"
    children.mkdir()
    monkeypatch.chdir(children)
    assert play(out, addresses=("python:poisonous:Forks",), suites=("remote-store",), cases=FEW) == 4
    lost = [event for event in events(out) if isinstance(event, CaseLost)]
    poison = sorted(case for case in POISON if case < FEW)
    assert [event.case for event in lost] == poison
    assert {event.reason for event in lost} == {"its process ended with code 4, twice"}
    end = ended(out)
    assert (end.cases[COULD_NOT_RUN], end.cases[CONFORMS], end.left) == (len(poison), FEW - len(poison), 0)
    [suite] = (event for event in events(out) if isinstance(event, SuiteEnded))
    assert suite.verdict == COULD_NOT_RUN
    assert suite.reason.startswith("lost: its process ended with code 4, twice")
    healthy = [row for row in reference["cases"] if row["suite"] == "remote-store" and row["case"] < FEW]
    for row, expected in zip(nameless(out)["cases"], healthy, strict=True):
        assert row["case"] in poison or row == expected
    # each of them left a child behind, twice
    left = [int(child.name) for child in children.iterdir()]
    assert len(left) == 2 * len(lost)
    wait_for_end(*left)


# --- killed processes -------------------------------------------------------------------------------------------


class Kills:
    """Kills somebody each time that more blocks are there: at first a player, then a Python worker."""

    def __init__(self) -> None:
        #: Those of earlier campaigns may be left in a worker that waits for work.
        self.before = players()
        self.killed: list[psutil.Process] = []
        self.cases = 0

    def __call__(self, event: Event) -> None:
        if len(self.killed) == 2 or not isinstance(event, Progress) or event.cases <= self.cases:
            return
        playing = [one for one in players() if one not in (*self.before, *self.killed)]
        if playing:
            self.cases = event.cases
            self.killed.append(playing[0].parent() if self.killed else playing[0])
            self.killed[-1].kill()


def players() -> list[psutil.Process]:
    """Players of workers; the driver has one of its own."""
    mine = psutil.Process()
    return [one for one in mine.children(recursive=True) if "player_process" in called(one) and one.ppid() != mine.pid]


def called(process: psutil.Process) -> str:
    """The words of a process; none when it is gone, or only waits for its parent to take note of that."""
    with suppress(psutil.Error):
        return " ".join(process.cmdline())
    return ""


def test_no_case_is_lost_with_a_process_that_is_killed(tmp_path: Path, reference: dict[str, Rows]) -> None:
    kills, out = Kills(), tmp_path / "out"
    assert play(out, addresses=(WAITS,), emit=kills) == 0
    assert len(kills.killed) == 2
    assert nameless(out) == reference
    # a player that was killed in its first block told nothing
    assert 2 <= ended(out).workers <= 4


def test_a_driver_that_is_killed_leaves_nothing_behind_and_is_resumed(
    tmp_path: Path, reference: dict[str, Rows]
) -> None:
    out = tmp_path / "out"
    # the number of cores is all the same
    with command(WAITS, *WORDS, "--master", "local[1]", "--out", "out", cwd=tmp_path) as process:
        wait_until(lambda: blocks_of(out) > 1, process)
        with nothing_left(process.pid):
            time.sleep(0.3)
            process.kill()
            process.wait()
    there = blocks_of(out)
    assert 1 < there < BLOCKS_OF_IT
    before = {file: file.stat().st_mtime_ns for file in out.glob("cases/*/*.parquet")}
    for table in BLOCKS:  # what is being written when a driver is killed may be of any table
        being_written = out / table / "suite=remote-store" / ".block-00000001.parquet.7"
        being_written.parent.mkdir(parents=True, exist_ok=True)
        being_written.touch()
    assert resume(out) == 0
    assert nameless(out) == reference
    assert {file: file.stat().st_mtime_ns for file in before} == before
    first, second = open_campaign(out).runs().to_pylist()
    assert (first["stopped"], first["verdict"]) == ("not ended", "")
    assert (second["stopped"], second["verdict"], second["conforms"]) == ("", CONFORMS, CASES)


# --- Ctrl-C -----------------------------------------------------------------------------------------------------


def test_ctrl_c_ends_in_order_and_says_what_is_left(tmp_path: Path, reference: dict[str, Rows]) -> None:
    out = tmp_path / "out"
    with command(WAITS, *WORDS, "--master", "local[2]", "--out", "out", cwd=tmp_path) as process:
        wait_until(lambda: blocks_of(out) > 1, process)
        with nothing_left(process.pid):
            begun = time.monotonic()
            os.killpg(process.pid, signal.SIGINT)
            output, errors = process.communicate(timeout=600)
    assert time.monotonic() - begun < 90
    assert (process.returncode, errors) == (3, ""), output
    check(out, 3)
    end = ended(out)
    assert end.stopped == "interrupted"
    assert 0 < end.cases[CONFORMS] == CASES - end.left < CASES
    assert f"not played     {end.left} cases" in output
    assert "Verdict: undecided (exit code 3): interrupted, what did run is kept in out. Seed 13." in output
    assert resume(out) == 0
    assert nameless(out) == reference


def test_ctrl_c_while_spark_starts(tmp_path: Path, reference: dict[str, Rows]) -> None:
    out = tmp_path / "out"
    with command("port", *WORDS, "--master", "local[2]", "--out", "out", cwd=tmp_path) as process:
        wait_until(lambda: (out / "spark.log").exists(), process)
        with nothing_left(process.pid):
            os.killpg(process.pid, signal.SIGINT)
            output, errors = process.communicate(timeout=600)
    assert process.returncode == 3, output + errors
    assert errors == "Error: Interrupted: out keeps what is finished, go on with --resume.\n"
    assert "undecided" in output
    assert resume(out) == 0
    assert nameless(out) == reference


def test_a_second_ctrl_c_ends_at_once(tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = ["-k", "remote-store", "--cases", "64", "--seed", "13", "--steps", "2"]
    with command("python:poisonous:Naps", *words, "--master", "local[2]", "--out", "out", cwd=tmp_path) as process:
        # both workers are in the middle of a block that takes minutes
        wait_until(lambda: sum("player_process" in called(one) for one in family(process.pid)) == 3, process)
        time.sleep(1)
        with nothing_left(process.pid):
            os.killpg(process.pid, signal.SIGINT)
            time.sleep(1)
            assert process.poll() is None
            begun = time.monotonic()
            os.killpg(process.pid, signal.SIGINT)
            output, errors = process.communicate(timeout=600)
    # a block takes minutes
    assert time.monotonic() - begun < 120
    assert (process.returncode, errors) == (3, ""), output
    check(out, 3)
    assert ended(out).left == 64 - ended(out).cases[CONFORMS] > 0


# --- disks ------------------------------------------------------------------------------------------------------


@contextmanager
def small_disk(folder: Path, kilobytes: int) -> Iterator[Path]:
    """A file system of its own; needs root."""
    folder.mkdir()
    mount(folder, f"size={kilobytes}k", "-t", "tmpfs")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def mount(folder: Path, option: str, *more: str) -> None:
    subprocess.run(["mount", *more, "-o", option, "tmpfs", str(folder)], check=True)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small disk")
def test_a_full_disk_is_reported_in_one_sentence_and_what_is_finished_is_kept(
    tmp_path: Path, reference: dict[str, Rows]
) -> None:
    with small_disk(tmp_path / "disk", 200) as disk:
        out = disk / "out"
        ran = kit("campaign", "port", *WORDS, "--master", "local[2]", "--out", str(out), cwd=tmp_path)
        assert ran.returncode == 4, ran.stdout + ran.stderr
        assert "Traceback" not in ran.stdout + ran.stderr
        assert "No space left on device" in ran.stdout + ran.stderr
        finished = {file: file.stat().st_mtime_ns for file in out.glob("cases/*/block-*.parquet")}
        assert 0 < len(finished) < BLOCKS_OF_IT
        mount(disk, "remount,size=20m")
        assert resume(out) == 0
        assert nameless(out) == reference
        assert {file: file.stat().st_mtime_ns for file in finished} == finished
