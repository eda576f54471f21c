"""Campaigns on a real Spark: the same tables however they are played, several addresses, steering, and limits."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from campaign_runs import (
    ASKED,
    BLOCKS_OF_IT,
    CASES,
    ended,
    events,
    play,
    resume,
    rows,
    tables,
)
from places import HELPERS

from rocketmq_conformance.conformance.campaign.tables.reading import open_campaign
from rocketmq_conformance.conformance.campaign.tables.schema import BLOCKS
from rocketmq_conformance.reports.event import (
    CONFORMS,
    DIVERGES,
    TIME_LIMIT,
    UNDECIDED,
    Discovery,
    DivergenceFound,
    Event,
    Progress,
    RunStarted,
    SuiteEnded,
)

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark")]

ZERO, TOPIC = "mutant:asks-no-zero", "mutant:clone-ignores-topic"
ALL = (ZERO, "port", TOPIC)
#: Cases of each suite on each address.
EACH = CASES // 2


@pytest.fixture(scope="module")
def reference(spark: object, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A campaign that was never disturbed."""
    out = tmp_path_factory.mktemp("reference") / "out"
    assert play(out, addresses=ALL, sample=0.25, partitions=3) == 1
    return out


# --- the same however it is played ------------------------------------------------------------------------------


def test_every_case_is_there_once_for_every_address(reference: Path) -> None:
    found = Counter((row["suite"], row["address"], row["case"]) for row in rows(reference, "cases"))
    assert set(found.values()) == {1}
    assert set(found) == {
        (suite, address, case) for suite in ASKED["suites"] for address in ALL for case in range(EACH)
    }
    assert len(list(reference.glob("cases/*/block-*.parquet"))) == BLOCKS_OF_IT


def test_the_tables_do_not_depend_on_partitions_and_the_size_of_blocks(reference: Path, tmp_path: Path) -> None:
    assert play(tmp_path / "out", addresses=ALL, sample=0.25, partitions=7, block=50) == 1
    assert len(list(tmp_path.glob("out/cases/*/block-*.parquet"))) == 6
    # which steps are stored beside those of the sample is chosen in each block
    for table in ("cases", "behaviours", "divergences"):
        assert rows(tmp_path / "out", table) == rows(reference, table)


# --- several addresses ------------------------------------------------------------------------------------------


def test_mutants_diverge_and_the_port_conforms(reference: Path) -> None:
    by_part = {(event.suite, event.address): event for event in events(reference) if isinstance(event, SuiteEnded)}
    verdicts = {part: event.verdict for part, event in by_part.items()}
    assert verdicts == {
        ("remote-store", ZERO): DIVERGES,
        ("local-store", ZERO): CONFORMS,
        ("remote-store", "port"): CONFORMS,
        ("local-store", "port"): CONFORMS,
        ("remote-store", TOPIC): DIVERGES,
        ("local-store", TOPIC): CONFORMS,
    }
    assert all(event.control for event in by_part.values())
    diverging = {(row["address"], row["case"]) for row in rows(reference, "cases") if row["verdict"] == DIVERGES}
    found = rows(reference, "divergences")
    assert {(row["address"], row["case"]) for row in found if row["against"] == "model"} == diverging
    # where the port conforms, a mutant differs from it where it differs from the model
    against = {(row["address"], row["against"]) for row in found}
    assert against == {(ZERO, "model"), (TOPIC, "model"), (TOPIC, ZERO)}
    assert {row["suite"] for row in found} == {"remote-store"}
    kinds = [event for event in events(reference) if isinstance(event, DivergenceFound)]
    assert sum(event.cases for event in kinds) == len(found)
    assert all(event.steps and Path(event.plan).is_file() for event in kinds)


def test_two_mutants_are_reported_where_they_differ_from_one_another(reference: Path) -> None:
    found = rows(reference, "divergences")
    cases = [row for row in rows(reference, "cases") if row["suite"] == "remote-store"]
    verdicts = {(row["address"], row["case"]): row["verdict"] for row in cases}
    model = {(row["address"], row["case"]): row for row in found if row["against"] == "model"}
    parted = [row for row in found if row["against"] == ZERO]
    assert parted
    for row in parted:
        # one that conforms parts from one that does not where that one parts from the model, which is told
        assert verdicts[ZERO, row["case"]] == verdicts[TOPIC, row["case"]] == DIVERGES
        assert row["step"] == min(model[address, row["case"]]["step"] for address in (ZERO, TOPIC))


def test_equal_digests_are_equal_results(reference: Path) -> None:
    by_case: dict[Any, dict[str, Any]] = {}
    for row in rows(reference, "cases"):
        by_case.setdefault((row["suite"], row["case"]), {})[row["address"]] = row
    for one in by_case.values():
        for mutant in (ZERO, TOPIC):
            assert (one["port"]["digest"] == one[mutant]["digest"]) == (one[mutant]["verdict"] == CONFORMS)


def test_sampled_steps_are_stored_and_no_others_that_conform(reference: Path) -> None:
    steps = Counter((row["suite"], row["address"], row["case"]) for row in rows(reference, "steps"))
    expected = {
        (row["suite"], row["address"], row["case"]): row["steps"]
        for row in rows(reference, "cases")
        if row["case"] % 4 == 0 and row["verdict"] == CONFORMS
    }
    assert {part: steps[part] for part in expected} == expected
    diverging = {part: count for part, count in steps.items() if part not in expected}
    assert {row["verdict"] for row in rows(reference, "cases") if _part(row) in diverging} == {DIVERGES}
    last = [row for row in rows(reference, "steps") if row["diverges"]]
    assert len(last) == len(diverging)
    assert all(row["step"] == diverging[_part(row)] for row in last)


def _part(row: dict[str, Any]) -> tuple[str, str, int]:
    return row["suite"], row["address"], row["case"]


# --- steering and limits ----------------------------------------------------------------------------------------

WAITS = "python:poisonous:Waits"
STEERED: dict[str, Any] = {
    "addresses": (WAITS,),
    "suites": ("remote-store", "local-store", "start-pull"),
    "cases": 480,
    "steer": 0.5,
    "sample": 0.25,
}


class Enough:
    """Somebody who presses Ctrl-C when so many cases are there."""

    def __init__(self, cases: int) -> None:
        self.cases = cases

    def __call__(self, event: Event) -> None:
        if isinstance(event, Progress) and event.cases - event.cases_before >= self.cases:
            raise KeyboardInterrupt


@pytest.fixture(scope="module")
def steered(spark: object, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A steered campaign in one session, and the same in three."""
    whole, broken = (tmp_path_factory.mktemp(name) / "out" for name in ("whole", "broken"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(HELPERS))
        assert play(whole, **STEERED) == 0
        assert play(broken, **STEERED, partitions=2, emit=Enough(100)) == 3
        assert resume(broken, partitions=2, emit=Enough(100)) == 3
        assert resume(broken, partitions=2) == 0
    return whole, broken


def test_steering_is_the_same_again_and_after_interruptions(steered: tuple[Path, Path]) -> None:
    whole, broken = steered
    # nor do the tables depend on the partitions
    assert tables(broken) == tables(whole)
    assert rows(whole, "steps")
    arms = Counter((row["suite"], row["arm"]) for row in rows(whole, "cases"))
    assert {suite: arms[suite, "random"] for suite in STEERED["suites"]} == dict.fromkeys(STEERED["suites"], 80)
    assert sum(arms.values()) == STEERED["cases"]
    by_part = {(event.suite, event.arm): event for event in events(whole) if isinstance(event, Discovery)}
    for suite in STEERED["suites"]:
        assert {arm: by_part[suite, arm].cases for arm in ("random", "steered") if (suite, arm) in by_part} == {
            arm: arms[suite, arm] for arm in ("random", "steered") if arms[suite, arm]
        }
    assert by_part["", ""].cases == STEERED["cases"]


def test_the_counts_add_up_in_all_sessions(steered: tuple[Path, Path]) -> None:
    broken = steered[1]
    counted = Counter((row["suite"], row["case"]) for row in rows(broken, "cases"))
    assert set(counted.values()) == {1}
    sessions: list[dict[str, Any]] = open_campaign(broken).runs().to_pylist()
    assert [run["session"] for run in sessions] == [0, 1, 2]
    assert [run["stopped"] for run in sessions] == ["interrupted", "interrupted", ""]
    assert all(run["conforms"] + run["left"] == STEERED["cases"] for run in sessions)
    conforming = [run["conforms"] for run in sessions]
    assert 0 < conforming[0] < conforming[1] < conforming[2] == STEERED["cases"]


def test_so_many_divergences_are_enough(tmp_path: Path) -> None:
    out, asked = tmp_path / "out", {"addresses": (ZERO,), "suites": ("remote-store",), "cases": 40_000}
    assert play(out, **asked, partitions=40, max_divergences=5) == 1
    end = ended(out)
    assert end.stopped == "divergence limit"
    assert end.cases[DIVERGES] >= 5
    assert end.left == 40_000 - sum(end.cases.values()) > 0
    # what was found is told as ever
    assert all(event.steps for event in events(out) if isinstance(event, DivergenceFound))
    assert all(event.control for event in events(out) if isinstance(event, SuiteEnded))


def test_time_is_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(HELPERS))
    out = tmp_path / "out"
    code = play(out, addresses=(WAITS,), max_time=0.0)
    end = ended(out)
    # the verdict is that of what was played, and a suite without a case leaves it open
    played = {row["suite"] for row in rows(out, "cases")}
    assert (code, end.verdict) == ((0, CONFORMS) if played == set(ASKED["suites"]) else (3, UNDECIDED))
    assert end.stopped == TIME_LIMIT
    assert end.left == CASES - end.cases[CONFORMS] > 0
    assert resume(out, max_time=600.0) == 0
    assert (ended(out).cases[CONFORMS], ended(out).left, ended(out).stopped) == (CASES, 0, "")


def test_a_campaign_that_is_over_can_be_resumed_and_says_the_same(reference: Path) -> None:
    before, end = tables(reference), ended(reference)
    assert resume(reference) == 1
    assert tables(reference) == before
    now = ended(reference)
    assert (now.cases, now.steps, now.divergences, now.controls, now.silent_rules) == (
        end.cases,
        end.steps,
        end.divergences,
        end.controls,
        end.silent_rules,
    )


def test_damaged_files_are_set_aside_and_what_they_held_is_played_again(reference: Path, tmp_path: Path) -> None:
    out = Path(shutil.copytree(reference, tmp_path / "out"))
    files = [out / "runs" / "run-0000.parquet"]
    files += [sorted(out.glob(f"{table}/*/block-*.parquet"))[at] for at, table in enumerate(BLOCKS)]
    for at, file in enumerate(files):
        content = bytearray(file.read_bytes())
        content[len(content) * (at + 1) // 7] ^= 1
        file.write_bytes(content)
    assert resume(out) == 1
    assert tables(out) == tables(reference)
    assert all(file.with_name(f"_damaged-{file.name}").exists() for file in files)
    [header] = (event for event in events(out) if isinstance(event, RunStarted))
    assert any("what they held is played again: behaviours/" in note for note in header.notes)
