"""The proof of Java clients: releases are asked in several processes, and come to the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rocketmq_conformance.conformance.cli.prove import settle
from rocketmq_conformance.conformance.proof import java as proof
from rocketmq_conformance.conformance.proof import java_clock
from rocketmq_conformance.models.profile import Profile

RELEASES = ("4.9.8", "5.5.0")

pytestmark = pytest.mark.java


def test_processes_side_by_side_find_what_one_finds() -> None:
    alone = {proven.release: proven for proven in proof.prove_all(RELEASES, 1, (), "start-push")}
    both = {proven.release: proven for proven in proof.prove_all(RELEASES, 2, (), "start-push")}
    assert set(alone) == set(both) == set(RELEASES)
    for release in RELEASES:
        assert alone[release].judged
        assert alone[release].rows
        assert alone[release].rows == both[release].rows
        assert not alone[release].differences


def test_a_process_goes_on_for_one_that_has_proven_its_share(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proof, "_EACH", 1)
    begun, pool = [], proof.ProcessPoolExecutor

    def begin(workers: int, *how: Any) -> Any:
        begun.append(workers)
        return pool(workers, *how)

    monkeypatch.setattr(proof, "ProcessPoolExecutor", begin)
    found = [proven.release for proven in proof.prove_all(RELEASES, 1, (), "start-push")]
    assert (sorted(found), begun) == (sorted(RELEASES), [1, 1])


def test_a_release_that_cannot_be_had_is_told_and_the_others_are_proven(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = tmp_path / "rows.jsonl"
    assert settle(lambda: proof.prove_all(["0.0.1", "5.5.0"], 2, (), "local-store"), rows) == 4
    said = capsys.readouterr().out
    assert "client 0.0.1: not judged: " in said
    assert "client 5.5.0: client " in said
    assert {json.loads(line)["release"] for line in rows.read_text("utf-8").splitlines()} == {"5.5.0"}


def test_ctrl_c_stops_every_process() -> None:
    found = proof.prove_all(RELEASES, 2, (), "local-store")
    next(found)
    with pytest.raises(KeyboardInterrupt):
        found.throw(KeyboardInterrupt)
    assert not proof.active_children()


@pytest.mark.parametrize("release", RELEASES)
def test_on_a_real_clock_what_depends_on_time_is_played(release: str) -> None:
    tally = java_clock.prove_release(release, "rebalance", cases=4)
    assert (tally.differences, tally.examples) == (0, [])
    assert tally.cases > 50
    assert {(row.side, row.release) for row in tally.rows()} == {("clock", release)}


def test_on_a_real_clock_the_rules_of_another_release_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    other = Profile.of(client="5.1.4")
    monkeypatch.setattr(java_clock.Profile, "of", lambda **sides: other)
    assert java_clock.prove_release("5.5.0", "rebalance-orderly", cases=8).differences
