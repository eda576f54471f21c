"""The kit and Hypothesis in a comparison of stateful testing tools: a small offset table with a seeded bug.

    python benchmarks/peers_driver.py [--seeds 12] [--tool kit|hypothesis]
    python benchmarks/peers_driver.py CASES SEED BUG [--tool kit|hypothesis]

The first form looks for the bug from so many seeds, and prints the medians for each tool: cases until it is found,
executions to shrink it, and how often the shortest plan was found. The second one is one search (BUG is 1) or a measure
of speed (0), for comparisons with tools in other languages: it prints one ``RESULT {...}`` line with cases, steps and
seconds, and, when the bug was found, cases and steps to find it, executions to shrink it and the length of the shrunk
sequence.

The table keeps a memory map and a store map of eight queues. ``commit`` keeps an offset only when it grows; the seeded
bug makes a memory-then-store read answer -1 when memory holds 0. The kit is declared its own way. Hypothesis has a
``RuleBasedStateMachine`` over the same model and table; it generates and shrinks, and looks for one bug.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import time
from collections.abc import Callable, Sequence
from statistics import median
from typing import Annotated, Any, NamedTuple

from hypothesis import HealthCheck, Phase, settings
from hypothesis import seed as seeded_by
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

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


# --- the kit --------------------------------------------------------------------------------------------------

#: What a tool did: numbers by their name.
Found = dict[str, Any]
#: The length of the shortest plan that shows the bug.
SHORTEST = 2
#: Cases after which a search is given up.
MOST = 200_000


def kit(cases: int, seed: int, bug: bool) -> Found:
    """Play cases until one differs, and shrink that."""
    profile = Profile()
    table = Table(bug)
    judge = Judge(SUITE, profile)
    executed: list[int] = []
    started = time.perf_counter()
    draw = sampler(SUITE, profile)
    calls = table.calls()

    def play(rows: Sequence[Row]) -> list[Result]:
        return [calls[at](*args) for at, args in rows]

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
            if judge.agrees_at_once(rows, play) is None:
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
    for name, _, _, times in judge.coverage.rows():
        ops[["COMMIT", "READ", "PERSIST", "DROP", "RESTART"].index(name)] += times
    steps = sum(ops) + sum(executed)
    return {"tool": "kit", "cases": done, "steps": steps, "ops": ops, "seconds": round(seconds, 4), **found}


# --- Hypothesis -----------------------------------------------------------------------------------------------


class Mismatch(Exception):  # noqa: N818 - what is looked for
    """Table and model differ."""


class Counted:
    """Cases and steps so far, and of the first that failed and all after it."""

    def __init__(self) -> None:
        self.ops = [0] * 5
        #: The steps of each execution.
        self.executions: list[int] = []
        #: Which execution failed first, from 1 on; the steps of the last that failed.
        self.first = 0
        self.last_failed = 0

    def failed(self) -> None:
        self.first = self.first or len(self.executions)
        self.last_failed = self.executions[-1]


def machine(counted: Counted, bug: bool) -> type[RuleBasedStateMachine]:
    """The model and the table side by side, as Hypothesis has them."""
    queues = st.integers(0, QUEUES - 1)

    class OffsetTable(RuleBasedStateMachine):
        def __init__(self) -> None:
            super().__init__()
            self.cells, self.table = EMPTY, Table(bug)
            counted.executions.append(0)

        def step(self, at: int, handler: Callable[..., Answer[Cells]], *args: Any) -> None:
            counted.ops[at] += 1
            counted.executions[-1] += 1
            self.cells, expected, _ = handler(self.cells, *args)
            if self.table.calls()[at](*args) != expected:
                counted.failed()
                raise Mismatch

        @rule(queue=queues, offset=st.integers(-1, 1000))
        def commit(self, queue: int, offset: int) -> None:
            self.step(0, commit, queue, offset)

        @rule(queue=queues, kind=st.sampled_from((EITHER, MEMORY, STORE)))
        def read(self, queue: int, kind: str) -> None:
            self.step(1, read, queue, kind)

        @rule(mask=st.integers(0, (1 << QUEUES) - 1))
        def persist(self, mask: int) -> None:
            self.step(2, persist, mask)

        @rule(queue=queues)
        def drop(self, queue: int) -> None:
            self.step(3, drop, queue)

        @rule()
        def restart(self) -> None:
            self.step(4, restart)

    return OffsetTable


def hypothesis(cases: int, seed: int, bug: bool) -> Found:
    """The same for Hypothesis: it generates and shrinks; no database, no deadline, no explanation, one bug."""
    counted = Counted()
    chosen = settings(
        max_examples=cases,
        stateful_step_count=STEPS,
        deadline=None,
        database=None,
        phases=(Phase.generate, Phase.shrink),
        report_multiple_bugs=False,
        print_blob=False,
        suppress_health_check=list(HealthCheck),
    )
    started = time.perf_counter()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(Mismatch):
        run_state_machine_as_test(seeded_by(seed)(machine(counted, bug)), settings=chosen)
    seconds = time.perf_counter() - started
    first, executions = counted.first, counted.executions
    found = {}
    if first:
        found = {
            "found_cases": first,
            "found_steps": sum(executions[:first]),
            "shrink_cases": len(executions) - first,
            "shrink_steps": sum(executions[first:]),
            "shrunk_length": counted.last_failed,
        }
    sums = {"cases": first or len(executions), "steps": sum(executions), "ops": counted.ops}
    return {"tool": "hypothesis", **sums, "seconds": round(seconds, 4), **found}


# --- the run --------------------------------------------------------------------------------------------------

TOOLS = {"kit": kit, "hypothesis": hypothesis}


def compared(tool: str, seeds: int) -> str:
    """The medians of searches from so many seeds, in one line."""
    searches = [TOOLS[tool](MOST, seed, True) for seed in range(1, seeds + 1)]
    hits = [one for one in searches if "found_cases" in one]
    if not hits:
        return f"{tool}: found by none of {seeds} seeds"
    cases, shrinking = (median(one[name] for one in hits) for name in ("found_cases", "shrink_cases"))
    shortest = sum(one["shrunk_length"] == SHORTEST for one in hits)
    return (
        f"{tool}: found by {len(hits)} of {seeds} seeds, after {cases:,.0f} cases in the median; {shrinking:,.0f} "
        f"executions to shrink it; {shortest} of {len(hits)} times to the shortest plan"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("search", nargs="*", type=int, metavar="CASES SEED BUG", help="one search, or none")
    parser.add_argument("--tool", choices=list(TOOLS), help="one of them alone; the kit for one search")
    parser.add_argument("--seeds", type=int, default=12)
    asked = parser.parse_args()
    if asked.search:
        if len(asked.search) != 3:
            parser.error("one search has a number of cases, a seed, and 1 or 0 for the bug")
        cases, seed, bug = asked.search
        print("RESULT " + json.dumps(TOOLS[asked.tool or "kit"](cases, seed, bug == 1)), flush=True)
        return
    for tool in [asked.tool] if asked.tool else TOOLS:
        print(compared(tool, asked.seeds), flush=True)


if __name__ == "__main__":
    main()
