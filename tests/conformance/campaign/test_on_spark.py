"""Campaigns on a real Spark: the same tables wherever they are played, several addresses, steering, and limits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from campaign_runs import (
    ASKED,
    BLOCKS_OF_IT,
    CASES,
    WORDS,
    check,
    done,
    ended,
    events,
    play,
    resume,
    rows,
    tables,
)
from places import HELPERS

from rocketmq_conformance.conformance.campaign.spark.session import open_session
from rocketmq_conformance.conformance.campaign.tables.reading import open_campaign
from rocketmq_conformance.reports.event import (
    CONFORMS,
    DIVERGES,
    TIME_LIMIT,
    UNDECIDED,
    Discovery,
    DivergenceFound,
    Event,
    Progress,
    SuiteEnded,
)

if TYPE_CHECKING:
    from spark_cluster import Cluster

pytestmark = pytest.mark.spark

ZERO, TOPIC = "mutant:asks-no-zero", "mutant:clone-ignores-topic"
PAIR = ("port", ZERO)


@pytest.fixture(scope="module", autouse=True)
def spark() -> Iterator[None]:
    """One session for all campaigns of this module that say local[2]."""
    with open_session("local[2]", name="tests"):
        yield


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A campaign that was never disturbed."""
    out = tmp_path_factory.mktemp("reference") / "out"
    assert play(out, addresses=PAIR, sample=0.25, partitions=3) == 1
    return out


# --- the same wherever it is played -----------------------------------------------------------------------------


def test_every_case_is_there_once_for_every_address(reference: Path) -> None:
    found = Counter((row["suite"], row["address"], row["case"]) for row in rows(reference, "cases"))
    assert set(found.values()) == {1}
    assert set(found) == {
        (suite, address, case) for suite in ASKED["suites"] for address in PAIR for case in range(CASES // 2)
    }
    assert len(list(reference.glob("cases/*/block-*.parquet"))) == BLOCKS_OF_IT


@pytest.mark.parametrize("partitions", [1, 7])
def test_the_tables_do_not_depend_on_the_partitions(partitions: int, reference: Path, tmp_path: Path) -> None:
    assert play(tmp_path / "out", addresses=PAIR, sample=0.25, partitions=partitions) == 1
    assert tables(tmp_path / "out") == tables(reference)


def test_the_tables_do_not_depend_on_the_size_of_blocks(reference: Path, tmp_path: Path) -> None:
    assert play(tmp_path / "out", addresses=PAIR, sample=0.25, block=50) == 1
    for table in ("cases", "behaviours", "divergences"):
        assert rows(tmp_path / "out", table) == rows(reference, table)


def test_the_tables_do_not_depend_on_the_number_of_cores(reference: Path, tmp_path: Path) -> None:
    ran = done(*PAIR, *WORDS, "--sample", "0.25", "--master", "local[1]", "--out", "out", cwd=tmp_path)
    assert ran.returncode == 1, ran.stderr
    assert ran.stderr == ""
    assert "Verdict: diverges (exit code 1). Seed 13." in ran.stdout
    check(tmp_path / "out", 1)
    assert tables(tmp_path / "out") == tables(reference)


def test_the_tables_do_not_depend_on_the_machines(spark_cluster: Cluster, reference: Path, tmp_path: Path) -> None:
    ran = done(*PAIR, *WORDS, "--sample", "0.25", "--master", spark_cluster.url, "--out", "out", cwd=tmp_path)
    assert ran.returncode == 1, ran.stderr
    check(tmp_path / "out", 1)
    assert tables(tmp_path / "out") == tables(reference)
    assert ended(tmp_path / "out").workers == 2
    [run] = open_campaign(tmp_path / "out").runs().to_pylist()
    assert run["master"] == spark_cluster.url


# --- several addresses ------------------------------------------------------------------------------------------


def test_a_mutant_diverges_and_the_port_conforms(reference: Path) -> None:
    by_part = {(event.suite, event.address): event for event in events(reference) if isinstance(event, SuiteEnded)}
    verdicts = {part: event.verdict for part, event in by_part.items()}
    assert verdicts == {
        ("remote-store", "port"): CONFORMS,
        ("local-store", "port"): CONFORMS,
        ("remote-store", ZERO): DIVERGES,
        ("local-store", ZERO): CONFORMS,
    }
    assert all(event.control for event in by_part.values())
    diverging = {row["case"] for row in rows(reference, "cases") if row["verdict"] == DIVERGES}
    found = rows(reference, "divergences")
    assert {row["case"] for row in found} == diverging
    # where the port conforms, the mutant differs from it where it differs from the model
    assert {(row["suite"], row["address"], row["against"]) for row in found} == {("remote-store", ZERO, "model")}
    kinds = [event for event in events(reference) if isinstance(event, DivergenceFound)]
    assert sum(event.cases for event in kinds) == len(diverging)
    assert all(event.steps and Path(event.plan).is_file() for event in kinds)


def test_equal_digests_are_equal_results(reference: Path) -> None:
    by_case: dict[Any, dict[str, Any]] = {}
    for row in rows(reference, "cases"):
        by_case.setdefault((row["suite"], row["case"]), {})[row["address"]] = row
    for pair in by_case.values():
        assert (pair["port"]["digest"] == pair[ZERO]["digest"]) == (pair[ZERO]["verdict"] == CONFORMS)


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


def test_two_mutants_are_reported_where_they_differ_from_one_another(tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert play(out, addresses=(ZERO, TOPIC), suites=("remote-store",), cases=160) == 1
    found = rows(out, "divergences")
    against = Counter((row["address"], row["against"]) for row in found)
    assert set(against) == {(ZERO, "model"), (TOPIC, "model"), (TOPIC, ZERO)}
    verdicts = {(row["address"], row["case"]): row["verdict"] for row in rows(out, "cases")}
    model = {(row["address"], row["case"]): row for row in found if row["against"] == "model"}
    for row in found:
        if row["against"] == ZERO:
            # one that conforms parts from one that does not where that one parts from the model, which is told
            assert verdicts[ZERO, row["case"]] == verdicts[TOPIC, row["case"]] == DIVERGES
            first = min(model[address, row["case"]]["step"] for address in (ZERO, TOPIC))
            assert row["step"] == first
    both = {case for address, case in model if address == ZERO} & {case for address, case in model if address == TOPIC}
    parted = {row["case"] for row in found if row["against"] == ZERO}
    assert parted
    assert parted <= both


# --- steering and limits ----------------------------------------------------------------------------------------

WAITS = "python:poisonous:Waits"
STEERED: dict[str, Any] = {
    "addresses": (WAITS,),
    "suites": ("remote-store", "local-store", "start-pull"),
    "cases": 480,
    "steer": 0.5,
}


class Enough:
    """Somebody who presses Ctrl-C when so many cases are there."""

    def __init__(self, cases: int) -> None:
        self.cases = cases

    def __call__(self, event: Event) -> None:
        if isinstance(event, Progress) and event.cases - event.cases_before >= self.cases:
            raise KeyboardInterrupt


def test_steering_is_the_same_again_and_after_interruptions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(HELPERS))
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    assert play(whole, **STEERED) == 0
    assert play(broken, **STEERED, partitions=2, emit=Enough(100)) == 3
    assert 0 < ended(broken).left < 480
    code, sessions = 3, 1
    while code == 3 and sessions < 6:
        code = resume(broken, partitions=2, emit=Enough(160))
        sessions += 1
    assert code == 0
    assert sessions > 2
    assert tables(broken) == tables(whole)
    arms = Counter((row["suite"], row["arm"]) for row in rows(whole, "cases"))
    assert {suite: arms[suite, "random"] for suite in STEERED["suites"]} == dict.fromkeys(STEERED["suites"], 80)
    assert sum(arms.values()) == 480
    by_part = {(event.suite, event.arm): event for event in events(whole) if isinstance(event, Discovery)}
    for suite in STEERED["suites"]:
        assert {arm: by_part[suite, arm].cases for arm in ("random", "steered") if (suite, arm) in by_part} == {
            arm: arms[suite, arm] for arm in ("random", "steered") if arms[suite, arm]
        }
    assert by_part["", ""].cases == 480
    assert len(open_campaign(broken).runs()) == sessions


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
