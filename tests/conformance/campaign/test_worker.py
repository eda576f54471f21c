"""The worker: blocks are played in real players and written, whatever becomes of the players."""

from __future__ import annotations

import dataclasses
import os
import resource
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from places import HELPERS
from poisonous import POISON

from rocketmq_conformance.conformance.campaign.player.block_player import GIVE_UP
from rocketmq_conformance.conformance.campaign.schedule import RANDOM, Block
from rocketmq_conformance.conformance.campaign.spark import worker
from rocketmq_conformance.conformance.campaign.spark.worker import (
    COULD_NOT_RUN,
    FAULT,
    FINISHED,
    LOST,
    STOPPED,
    THERE,
    Job,
    Worker,
    closing_task,
    playing_task,
)
from rocketmq_conformance.conformance.campaign.spec import CampaignSpec
from rocketmq_conformance.conformance.campaign.tables import blocks
from rocketmq_conformance.conformance.campaign.tables.folder import PLAYING, STOP
from rocketmq_conformance.reports.event import CONFORMS, UNSUPPORTED
from rocketmq_conformance.reports.event import COULD_NOT_RUN as COULD_NOT

pytestmark = pytest.mark.tables

HERE = str(HELPERS)
SUITE = "remote-store"
BLOCK = Block(SUITE, 0, 0, 60, RANDOM)


def job(folder: Path, *addresses: str, session: str = "s", **changes: Any) -> Job:
    """A job of the session that plays in the folder."""
    spec = CampaignSpec(addresses or ("port",), (SUITE,), cases=120, seed=8, block=60, steps=6)
    folder.mkdir(exist_ok=True)
    (folder / PLAYING).write_text(session)
    return Job(dataclasses.replace(spec, **changes), str(folder), session, {}, (HERE,))


@contextmanager
def working(folder: Path, *addresses: str, **changes: Any) -> Iterator[Worker]:
    one = Worker(job(folder, *addresses, **changes))
    try:
        yield one
    finally:
        one.player.close()


def rows(folder: Path, table: str = "cases", block: Block = BLOCK) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (
        pq.ParquetFile(blocks.path(folder, table, block.suite, block.number)).read().to_pylist()
    )
    return found


@pytest.fixture(scope="module")
def healthy(tmp_path_factory: pytest.TempPathFactory) -> dict[int, dict[str, Any]]:
    """The cases of the block as an implementation plays them that lives through all of them."""
    folder = tmp_path_factory.mktemp("healthy")
    with working(folder) as one:
        assert one.play(BLOCK) == FINISHED
    return {row["case"]: row for row in rows(folder)}


def without(row: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in ("seconds", "address", *names)}


# --- poison -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("Crashes", f"{LOST}its process ended by SIGSEGV (Fatal Python error: Segmentation fault), twice"),
        ("Raises", "The adapter raised ZeroDivisionError (a bug) in "),
        ("Sleeps", "The adapter did not return from "),
    ],
)
def test_poisonous_cases_are_named_and_all_others_are_judged(
    name: str, reason: str, tmp_path: Path, healthy: dict[int, dict[str, Any]]
) -> None:
    address = f"python:poisonous:{name}"
    with working(tmp_path, "port", address, patience=0.5) as one:
        assert one.play(BLOCK) == FINISHED
    found = rows(tmp_path)
    assert [(row["address"], row["case"]) for row in found] == [
        (of, case) for of in ("port", address) for case in range(60)
    ]
    for row in found:
        if row["address"] == address and row["case"] in POISON:
            assert row["verdict"] == COULD_NOT
            assert row["reason"].startswith(reason)
            assert (row["steps"], row["digest"], row["answers"], row["transitions"], row["rules"]) == (0, 0, [], [], [])
        else:
            assert without(row) == without(healthy[row["case"]])
    behaviours = {row["id"] for row in rows(tmp_path, "behaviours")}
    assert behaviours == {each for row in found for each in (*row["answers"], *row["transitions"])}


def test_a_leak_that_no_case_is_to_blame_for_loses_none(tmp_path: Path, healthy: dict[int, dict[str, Any]]) -> None:
    with working(tmp_path, "python:poisonous:LeaksSlowly", memory=90 << 20) as one:
        assert one.play(BLOCK) == FINISHED
        assert one.player.replaced > 0
    assert [without(row) for row in rows(tmp_path)] == [without(row) for row in healthy.values()]


def test_a_player_that_is_killed_loses_no_case(tmp_path: Path, healthy: dict[int, dict[str, Any]]) -> None:
    with working(tmp_path, "python:poisonous:Waits") as one:
        killed: list[int] = []
        ask = one.player.ask

        def killing(*args: Any) -> Iterator[Any]:
            for part in ask(*args):
                if len(killed) < 3:
                    killed.append(one.player.pid)
                    psutil.Process(one.player.pid).kill()
                yield part

        one.player.ask = killing  # type: ignore[method-assign]
        assert one.play(BLOCK) == FINISHED
        assert len(set(killed)) == 3
        # one that is killed when it has sent its last case is not missed
        assert 1 <= one.player.replaced <= 3
    assert [without(row) for row in rows(tmp_path)] == [without(row) for row in healthy.values()]


def test_too_much_poison_ends_the_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "GIVE_UP", 2)
    with working(tmp_path, "python:poisonous:Exits") as one:
        assert one.play(BLOCK) == FINISHED
    found = rows(tmp_path)
    assert {row["case"] for row in found if row["reason"].startswith(LOST)} == {5, 17}
    assert {row["reason"] for row in found[18:]} == {"given up after 2 cases of this block that were lost"}
    assert [row["verdict"] for row in found] == [COULD_NOT if row["reason"] else CONFORMS for row in found]


def test_an_implementation_that_always_fails_is_given_up_for_the_rest_of_a_block(tmp_path: Path) -> None:
    with working(tmp_path, "python:broken_adapters:Raises") as one:
        assert one.play(BLOCK) == FINISHED
    reasons = [row["reason"] for row in rows(tmp_path)]
    assert all(reason.startswith("The adapter raised ZeroDivisionError") for reason in reasons[:GIVE_UP])
    assert set(reasons[GIVE_UP:]) == {f"given up after {GIVE_UP} cases in a row that could not be run"}


# --- blocks -----------------------------------------------------------------------------------------------------


def test_a_suite_that_is_not_offered(tmp_path: Path) -> None:
    block = Block("broker-offsets", 0, 0, 5, RANDOM)
    with working(tmp_path, suites=("broker-offsets",)) as one:
        assert one.play(block) == FINISHED
    found = rows(tmp_path, block=block)
    assert [(row["case"], row["verdict"], row["steps"]) for row in found] == [(at, UNSUPPORTED, 0) for at in range(5)]
    assert all(row["reason"] for row in found)


def test_a_block_that_is_there_is_not_played_again(tmp_path: Path) -> None:
    with working(tmp_path) as one:
        assert one.play(BLOCK) == FINISHED
        before = {file: file.stat().st_mtime_ns for file in tmp_path.rglob("*.parquet")}
        assert one.play(BLOCK) == THERE
        assert {file: file.stat().st_mtime_ns for file in tmp_path.rglob("*.parquet")} == before


def test_a_block_is_not_begun_when_the_campaign_is_stopped_and_begun_when_it_goes_on(tmp_path: Path) -> None:
    with working(tmp_path) as one:
        (tmp_path / STOP).touch()
        assert one.play(BLOCK) == STOPPED
        assert not (tmp_path / "cases").exists()
        (tmp_path / STOP).unlink()
        one._looked = 0.0
        assert one.play(BLOCK) == FINISHED


def test_a_block_that_takes_too_long_to_end_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "LAST_SECONDS", 0.2)
    with working(tmp_path, "python:poisonous:Waits") as one:
        ask = one.player.ask

        def stopping(*args: Any) -> Iterator[Any]:
            (tmp_path / STOP).touch()
            yield from ask(*args)

        one.player.ask = stopping  # type: ignore[method-assign]
        assert one.play(BLOCK) == STOPPED
        assert one.player.pid == 0
    assert not list(tmp_path.rglob("*.parquet"))


def test_what_an_unfinished_block_left_behind_is_gone(tmp_path: Path) -> None:
    with working(tmp_path, "mutant:asks-no-zero", session="a") as one:
        one.play(BLOCK)
    assert rows(tmp_path, "divergences")
    blocks.path(tmp_path, "cases", SUITE, 0).unlink()
    with working(tmp_path, "port", session="b") as one:
        one.play(BLOCK)
    for table in ("divergences", "steps"):
        assert not blocks.path(tmp_path, table, SUITE, 0).exists()


def test_behaviours_are_reported_once_and_by_the_block_that_was_written(tmp_path: Path) -> None:
    second = BLOCK._replace(number=1, first=60)
    with working(tmp_path) as one:
        one.play(BLOCK)
        one.play(second)
    first_met, met_later = ({row["id"] for row in rows(tmp_path, "behaviours", block)} for block in (BLOCK, second))
    shown = {each for row in rows(tmp_path, block=second) for each in (*row["answers"], *row["transitions"])}
    assert not first_met & met_later
    assert shown <= first_met | met_later
    assert met_later


# --- disks ------------------------------------------------------------------------------------------------------


@contextmanager
def small_disk(folder: Path, kilobytes: int) -> Iterator[Path]:
    """A file system of its own that is soon full; needs root."""
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(folder)], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small disk")


@needs_root
def test_a_full_disk_leaves_no_part_of_a_block(tmp_path: Path, healthy: dict[int, dict[str, Any]]) -> None:
    with small_disk(tmp_path / "disk", 200) as disk, working(disk) as one:
        (disk / "ballast").write_bytes(b"x" * (190 << 10))
        with pytest.raises(OSError, match="No space left on device"):
            one.play(BLOCK)
        assert not (disk / "cases" / f"suite={SUITE}").exists() or not list(
            (disk / "cases" / f"suite={SUITE}").iterdir()
        )
        assert not list(disk.rglob(".*"))
        (disk / "ballast").unlink()
        assert one.play(BLOCK) == FINISHED
        assert [without(row) for row in rows(disk)] == [without(row) for row in healthy.values()]
        behaviours = {row["id"] for row in rows(disk, "behaviours")}
    assert behaviours == {each for row in healthy.values() for each in (*row["answers"], *row["transitions"])}


def test_a_file_that_may_not_grow_is_reported_as_a_full_disk_is(tmp_path: Path) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    [batch] = asked(1)
    task = playing_task(job(tmp_path, session="small"), [BLOCK])
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
        [report] = task(iter([batch]))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        end_worker("small")
    [entry] = report.to_pylist()
    assert entry["status"] == COULD_NOT_RUN
    assert entry["text"] == f"Writing to {tmp_path} failed (File too large): free the disk, then go on with --resume."
    assert (tmp_path / STOP).exists()
    assert not list(tmp_path.rglob("*.parquet"))


# --- tasks ------------------------------------------------------------------------------------------------------


def asked(*positions: int) -> list[pa.RecordBatch]:
    return [pa.RecordBatch.from_pydict({"id": [position - 1]}) for position in positions]


def end_worker(session: str) -> None:
    worker._workers.pop(session).player.close()


def test_a_task_reports_every_block_and_keeps_its_player(tmp_path: Path) -> None:
    work = [BLOCK, BLOCK._replace(number=1, first=60)]
    task = playing_task(job(tmp_path, session="two"), work)
    first, again, second = ([report] for report in task(iter(asked(1, 1, 2))))
    entry = [report.to_pylist()[0] for [report] in (first, again, second)]
    end_worker("two")
    assert [(row["work"], row["status"], row["text"]) for row in entry] == [
        (0, FINISHED, ""),
        (0, THERE, ""),
        (1, FINISHED, ""),
    ]
    assert len({row["pid"] for row in entry}) == 1
    assert all(row["peak"] > 1 << 20 for row in entry)


def test_another_session_has_players_of_its_own(tmp_path: Path) -> None:
    pids = []
    for session in ("one", "other"):
        folder = tmp_path / session
        [report] = playing_task(job(folder, session=session), [BLOCK])(iter(asked(1)))
        pids += report.column("pid").to_pylist()
        assert list(worker._workers) == [session]
    end_worker("other")
    assert len(set(pids)) == 2
    assert not any(map(psutil.pid_exists, pids))


def test_an_address_that_cannot_be_opened_ends_the_campaign(tmp_path: Path) -> None:
    task = playing_task(job(tmp_path, "python:poisonous:DiesAtHello", session="dead"), [BLOCK])
    [report] = task(iter(asked(1)))
    end_worker("dead")
    [entry] = report.to_pylist()
    assert entry["status"] == COULD_NOT_RUN
    assert (tmp_path / STOP).read_text() == entry["text"]
    assert "does not start: its process ended with code 7 (no hello), twice." in entry["text"]


def test_nothing_is_finished_any_more_when_the_session_is_over(tmp_path: Path) -> None:
    with working(tmp_path) as one:
        (tmp_path / PLAYING).write_text("another session")
        assert one.play(BLOCK) == STOPPED
        assert not list((tmp_path / "cases").rglob("*block*"))
        (tmp_path / PLAYING).write_text(one.job.session)
        assert one.play(BLOCK) == FINISHED


def test_who_counts_the_blocks_waits_for_those_that_are_being_written(tmp_path: Path) -> None:
    file, allowed = blocks.path(tmp_path, "cases", "remote-store", 0), threading.Event()

    def still() -> bool:
        allowed.set()
        time.sleep(0.3)
        return True

    writer = threading.Thread(target=blocks.write, args=(file, pa.table({}), still))
    writer.start()
    allowed.wait(30)
    blocks.await_writers(tmp_path, "cases")
    assert file.exists()
    assert blocks.unfinished(tmp_path, "cases") == []
    writer.join()


def test_who_counts_the_blocks_waits_for_no_writer_that_was_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "PATIENCE", 0.0)
    file = blocks.path(tmp_path, "cases", "remote-store", 0)
    file.parent.mkdir(parents=True)
    left = file.with_name(f".{file.name}.1")
    left.touch()
    blocks.await_writers(tmp_path, "cases")
    assert blocks.unfinished(tmp_path, "cases") == [left]


def test_a_fault_of_the_kit_ends_the_campaign(tmp_path: Path) -> None:
    task = playing_task(job(tmp_path, session="fault"), [BLOCK._replace(suite="none")])
    [report] = task(iter(asked(1)))
    end_worker("fault")
    assert report.column("status").to_pylist() == [FAULT]
    assert (tmp_path / STOP).exists()


def test_what_comes_after_playing_ends_when_the_campaign_is_stopped(tmp_path: Path) -> None:
    work = [{"do": "control", "suite": SUITE, "address": "port", "case": 0}]
    [report] = closing_task(job(tmp_path, session="closing"), work)(iter(asked(1)))
    (tmp_path / STOP).touch()
    [stopped] = closing_task(job(tmp_path, session="closing"), work)(iter(asked(1)))
    end_worker("closing")
    assert (report.to_pylist()[0]["status"], report.to_pylist()[0]["text"]) == (FINISHED, "true")
    assert stopped.to_pylist()[0]["status"] == STOPPED


def test_what_comes_after_playing_is_done_however_soon_it_comes_after_a_stop(tmp_path: Path) -> None:
    work = [{"do": "control", "suite": SUITE, "address": "port", "case": 0}]
    (tmp_path / STOP).touch()
    [report] = playing_task(job(tmp_path, session="soon"), [BLOCK])(iter(asked(1)))
    (tmp_path / STOP).unlink()
    [closed] = closing_task(job(tmp_path, session="soon"), work)(iter(asked(1)))
    end_worker("soon")
    assert [one.to_pylist()[0]["status"] for one in (report, closed)] == [STOPPED, FINISHED]


def test_a_worker_that_lacks_a_package_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "check_worker", lambda: "There is no pyarrow.")
    [report] = playing_task(job(tmp_path, session="bare"), [BLOCK])(iter(asked(1)))
    assert [tuple(row.values()) for row in report.to_pylist()] == [(0, COULD_NOT_RUN, "There is no pyarrow.", 0, 0)]
    assert "bare" not in worker._workers
