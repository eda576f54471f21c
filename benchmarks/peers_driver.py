"""The kit's row in a comparison of stateful testing tools: a small offset table, declared the kit's own way.

Usage: ``python benchmarks/peers_driver.py CASES SEED BUG(0|1)``. Prints one ``RESULT {...}`` line: cases, steps,
seconds, and, when the planted bug was found, cases and steps to find it, executions to shrink it and the length of
the shrunk sequence.

The table keeps a memory map and a store map of eight queues. ``commit`` keeps an offset only when it grows; the
planted bug makes a memory-then-store read answer -1 when memory holds 0.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence
from typing import Annotated, NamedTuple

from rocketmq_conformance.conformance.engine.gc_pause import rare_collections
from rocketmq_conformance.conformance.engine.judge import Judge, Judged
from rocketmq_conformance.conformance.engine.shrink import shrink
from rocketmq_conformance.models.outcome import Result, outcome_of
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Answer, Reason
from rocketmq_conformance.suites.declare.domain import Values, Whole
from rocketmq_conformance.suites.declare.operation import Operation, operation
from rocketmq_conformance.suites.declare.sampler import sampler
from rocketmq_conformance.suites.declare.suite import BoundModel, Row, Suite

STEPS = 50
QUEUES = 8
ALL = range(QUEUES)
MEMORY, STORE, EITHER = "memory", "store", "memory_then_store"
NONE = -1

AnyQueue = Values(*ALL)


# --- operations -----------------------------------------------------------------------------------------------


@operation("Keep an offset when it is greater than the one in memory; answers 0 or 1.")
class Commit(Operation):
    queue: Annotated[int, AnyQueue]
    offset: Annotated[int, Whole(-1, 1000, edges=(0, -1, 1000))]


@operation("Read an offset; -1 when there is none.")
class Read(Operation):
    queue: Annotated[int, AnyQueue]
    kind: Annotated[str, Values(EITHER, MEMORY, STORE)]


@operation("Copy the memory of some queues (a mask of bits) to the store; answers how many, and all cells.")
class Persist(Operation):
    mask: Annotated[int, Values(*range(1 << QUEUES))]


@operation("Forget a queue's memory; answers 0 or 1.")
class Drop(Operation):
    queue: Annotated[int, AnyQueue]


@operation("Load memory from the store; answers its size, and all cells.")
class Restart(Operation):
    pass


# --- the model ------------------------------------------------------------------------------------------------


class Cells(NamedTuple):
    """Offsets by queue, -1 for none."""

    memory: tuple[int, ...]
    store: tuple[int, ...]


NOTHING = (NONE,) * QUEUES
EMPTY = Cells(NOTHING, NOTHING)
KEPT, GROWN = Reason(("COMMIT",), "kept"), Reason(("COMMIT",), "grown")
READ, PERSISTED = Reason(("READ",), "read"), Reason(("PERSIST",), "persisted")
DROPPED, RESTARTED = Reason(("DROP",), "dropped"), Reason(("RESTART",), "restarted")
_BITS = [tuple(queue for queue in ALL if mask >> queue & 1) for mask in range(1 << QUEUES)]


def _with(values: tuple[int, ...], queue: int, value: int) -> tuple[int, ...]:
    return (*values[:queue], value, *values[queue + 1 :])


def commit(cells: Cells, queue: int, offset: int) -> Answer[Cells]:
    if offset <= cells[0][queue]:
        return cells, 0, KEPT
    return Cells(_with(cells[0], queue, offset), cells[1]), 1, GROWN


def read(cells: Cells, queue: int, kind: str) -> Answer[Cells]:
    memory, store = cells
    if kind == MEMORY:
        return cells, memory[queue], READ
    if kind == STORE or memory[queue] == NONE:
        return cells, store[queue], READ
    return cells, memory[queue], READ


def persist(cells: Cells, mask: int) -> Answer[Cells]:
    memory, store = cells
    chosen = [queue for queue in _BITS[mask] if memory[queue] != NONE]
    if chosen:
        kept = list(store)
        for queue in chosen:
            kept[queue] = memory[queue]
        cells = Cells(memory, tuple(kept))
    return cells, (len(chosen), *cells), PERSISTED


def drop(cells: Cells, queue: int) -> Answer[Cells]:
    if cells[0][queue] == NONE:
        return cells, 0, DROPPED
    return Cells(_with(cells[0], queue, NONE), cells[1]), 1, DROPPED


def restart(cells: Cells) -> Answer[Cells]:
    store = cells[1]
    return Cells(store, store), (QUEUES - store.count(NONE), store, store), RESTARTED


SUITE = Suite(
    name="offset-table",
    sentence="An offset table with a memory and a store.",
    side=Commit.spec.side,
    bind=lambda profile: BoundModel(
        EMPTY, {Commit: commit, Read: read, Persist: persist, Drop: drop, Restart: restart}
    ),
    steps=STEPS,
)


# --- the implementation ---------------------------------------------------------------------------------------


class Table:
    """The thing that is judged: two maps."""

    def __init__(self, bug: bool) -> None:
        self.bug = bug
        self.memory: dict[int, int] = {}
        self.store: dict[int, int] = {}

    def reset(self) -> None:
        self.memory.clear()
        self.store.clear()

    def commit(self, queue: int, offset: int) -> int:
        if offset <= self.memory.get(queue, NONE):
            return 0
        self.memory[queue] = offset
        return 1

    def read(self, queue: int, kind: str) -> int:
        if kind == MEMORY:
            return self.memory.get(queue, NONE)
        if kind == STORE:
            return self.store.get(queue, NONE)
        value = self.memory.get(queue)
        if value is None:
            return self.store.get(queue, NONE)
        return NONE if self.bug and value == 0 else value

    def persist(self, mask: int) -> Result:
        chosen = [queue for queue in _BITS[mask] if queue in self.memory]
        for queue in chosen:
            self.store[queue] = self.memory[queue]
        return (len(chosen), *self._cells())

    def drop(self, queue: int) -> int:
        return 0 if self.memory.pop(queue, None) is None else 1

    def restart(self) -> Result:
        self.memory = dict(self.store)
        return (len(self.memory), *self._cells())

    def _cells(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        return tuple(map(self.memory.get, ALL, NOTHING)), tuple(map(self.store.get, ALL, NOTHING))

    def calls(self) -> list[Callable[..., Result]]:
        return [self.commit, self.read, self.persist, self.drop, self.restart]


# --- the run --------------------------------------------------------------------------------------------------


def main(cases: int, seed: int, bug: bool) -> None:
    profile = Profile()
    table = Table(bug)
    judge = Judge(SUITE, profile)
    executed: list[int] = []
    started = time.perf_counter()
    draw = sampler(SUITE, profile)
    calls = table.calls()

    def execute(rows: Sequence[Row]) -> Judged:
        table.reset()
        judged = judge.judge(rows, lambda row: outcome_of(calls[row[0]](*row[1])), count=False)
        executed.append(len(judged.steps))
        return judged

    ops = [0] * len(calls)
    found: dict[str, int] = {}
    done = 0
    with rare_collections():
        while done < cases and not found:
            rows = draw.case(seed, done, STEPS)
            done += 1
            table.reset()
            if judge.agrees_at_once(rows, calls) is None:
                failing = execute(rows)
                shrunk = shrink(judge, execute, failing)
                # playing the failing case once more, step by step, counts as an execution of the shrinker
                found = {
                    "found_cases": done,
                    "found_steps": (done - 1) * STEPS + len(failing.steps),
                    "shrink_cases": len(executed),
                    "shrink_steps": sum(executed),
                    "shrunk_length": len(shrunk.judged.steps),
                }
    seconds = time.perf_counter() - started
    for rule, _, _, times in judge.coverage.rows():
        ops[["COMMIT", "READ", "PERSIST", "DROP", "RESTART"].index(rule)] += times
    steps = sum(ops) + sum(executed)
    result = {"tool": "kit", "cases": done, "steps": steps, "ops": ops, "seconds": round(seconds, 4), **found}
    print("RESULT " + json.dumps(result), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3] == "1")
