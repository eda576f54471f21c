"""Units side by side: each is proven once, and none begins when the time is up."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from threading import Barrier

from units_of_proof import UNITS, breaks, die, limit, linger, prove

from rocketmq_conformance.conformance.proof.evidence import ProofResult
from rocketmq_conformance.conformance.proof.side_by_side import in_processes, one_by_one, prove_side_by_side
from rocketmq_conformance.conformance.proof.unit import Unit
from rocketmq_conformance.conformance.startup import allow


def test_each_unit_is_proven_once() -> None:
    with ThreadPoolExecutor(3) as pool:
        found = [done.unit for done in prove_side_by_side(pool.submit, prove, UNITS, 3, lambda: True)]
    assert sorted(map(str, found)) == sorted(map(str, UNITS))


def test_as_many_as_there_are_workers_run_at_a_time() -> None:
    meeting = Barrier(2)

    def meet(unit: Unit) -> ProofResult:
        meeting.wait(30)  # breaks unless another unit runs
        return prove(unit)

    with ThreadPoolExecutor(6) as pool:
        assert len(list(prove_side_by_side(pool.submit, meet, UNITS, 2, lambda: True))) == len(UNITS)


def test_no_unit_begins_when_the_time_is_up() -> None:
    begun: list[Unit] = []

    def record(unit: Unit) -> ProofResult:
        begun.append(unit)
        return prove(unit)

    with ThreadPoolExecutor(2) as pool:
        found = list(prove_side_by_side(pool.submit, record, UNITS, 2, lambda: len(begun) < 2))
    assert len(found) == len(begun) < len(UNITS)
    begun.clear()
    assert len(list(one_by_one(record, UNITS, lambda: len(begun) < 2))) == 2


def test_processes_find_what_one_finds_and_leave_room_for_others() -> None:
    missing = partial(ProofResult.missing, error=RuntimeError("a function that other processes can import"))
    found = [done.unit for done in in_processes(missing, UNITS, 2, lambda: True, each=2)]
    assert sorted(map(str, found)) == sorted(map(str, UNITS))


def test_a_start_in_these_processes_has_the_time_that_the_first_one_allows() -> None:
    allow(7)
    try:
        limits = {line for done in in_processes(limit, UNITS[:3], 2, lambda: True, each=1) for line in done.lines}
    finally:
        allow(None)
    assert limits == {"7"}


def test_a_unit_whose_process_dies_is_proven_again_and_then_not_judged(tmp_path: Path) -> None:
    found = {done.unit: done for done in in_processes(partial(die, folder=tmp_path), UNITS, 2, lambda: True, each=3)}
    assert set(found) == set(UNITS)
    assert [unit for unit in UNITS if not found[unit].judged] == UNITS[:1]
    assert found[UNITS[0]].lines == ["java 5.0.0: not judged: its process died, twice"]


def test_a_unit_that_cannot_run_or_breaks_is_not_judged_and_ends_no_other() -> None:
    side_by_side = {done.unit: done for done in in_processes(breaks, UNITS, 2, lambda: True, each=2)}
    alone = {done.unit: done for done in one_by_one(breaks, UNITS, lambda: True)}
    for found in (side_by_side, alone):
        assert [line for unit in UNITS for line in found[unit].lines] == [
            "java 5.0.0: not judged: there is no Java",
            "java 5.1.0: not judged: it did not come back",
        ]


def test_no_process_begins_when_the_caller_stops(tmp_path: Path) -> None:
    results = in_processes(partial(linger, folder=tmp_path), UNITS, 2, lambda: True, each=6)
    assert next(results).unit == UNITS[0]
    results.close()
    assert {one.name for one in tmp_path.iterdir()} <= {"1", "2"}
