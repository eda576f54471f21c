"""The proof of Java clients: releases are asked in several processes, and come to the same."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from rocketmq_conformance.conformance.cli.proving import Work, settle
from rocketmq_conformance.conformance.engine.memory_folder import PARENT
from rocketmq_conformance.conformance.proof import java, java_clock, kinds, side_by_side
from rocketmq_conformance.conformance.proof.evidence import ProofResult
from rocketmq_conformance.conformance.proof.kept_rows import KeptRows
from rocketmq_conformance.conformance.proof.selection import Selection
from rocketmq_conformance.conformance.proof.unit import JAVA
from rocketmq_conformance.models.profile import Profile

RELEASES = ("4.9.8", "5.5.0")

pytestmark = pytest.mark.java


def proven(releases: Sequence[str], workers: int, suite: str) -> Iterator[ProofResult]:
    return kinds.prove_clients(
        kinds.of_releases(JAVA, releases), workers, java.covering(RELEASES), Selection(suite=suite)
    )


def test_processes_side_by_side_find_what_one_finds() -> None:
    alone = {found.unit.release: found for found in proven(RELEASES, 1, "local-store")}
    both = {found.unit.release: found for found in proven(RELEASES, 2, "local-store")}
    assert set(alone) == set(both) == set(RELEASES)
    for release in RELEASES:
        assert alone[release].judged
        assert alone[release].rows
        assert alone[release].rows == both[release].rows
        assert not alone[release].differences


def test_a_process_goes_on_for_one_that_has_proven_its_share(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(java, "EACH", 1)
    begun, pool = [], side_by_side.ProcessPoolExecutor

    def begin(workers: int, *how: Any) -> Any:
        begun.append(workers)
        return pool(workers, *how)

    monkeypatch.setattr(side_by_side, "ProcessPoolExecutor", begin)
    found = [found.unit.release for found in proven(RELEASES, 1, "local-store")]
    assert (sorted(found), begun) == (sorted(RELEASES), [1, 1])


def test_a_release_that_cannot_be_had_is_reported_and_the_others_are_proven(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    units = kinds.of_releases(JAVA, ["4.9.99", "5.5.0"])
    work = Work(out=tmp_path / "rows", selection=Selection(suite="timers"))
    covered = java.covering(RELEASES)
    assert settle(lambda units, more: kinds.prove_clients(units, 2, covered, work.selection, more), units, work) == 4
    printed = capsys.readouterr().out
    assert "java 4.9.99: not judged: " in printed
    assert "java 5.5.0: client " in printed
    assert {row.release for row in KeptRows(tmp_path / "rows").rows()} == {"5.5.0"}


def test_ctrl_c_stops_every_process_and_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PARENT, str(tmp_path))
    found = cast(Generator[ProofResult], proven(RELEASES, 2, "local-store"))
    next(found)
    with pytest.raises(KeyboardInterrupt):
        found.throw(KeyboardInterrupt)
    assert not side_by_side.active_children()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("release", RELEASES)
def test_on_a_real_clock_what_depends_on_time_is_played(release: str) -> None:
    tally = java_clock.prove_release(release, Selection(suite="rebalance"), cases=4)
    assert (tally.differences, tally.examples) == (0, [])
    assert tally.cases > 50
    assert {(row.side, row.release) for row in tally.rows()} == {("clock", release)}


def test_on_a_real_clock_the_rules_of_another_release_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    other = Profile.of(client="5.1.4")
    monkeypatch.setattr(java_clock.Profile, "of", lambda **sides: other)
    assert java_clock.prove_release("5.5.0", Selection(suite="rebalance-orderly"), cases=8).differences
