"""The worker: a Spark task plays blocks of cases in a player's process and writes their tables.

What is lost with a player is played again by the next one. A case that two players did not live through is poisonous:
it is named, counted as one that could not be run, and left out from then on.
"""

from __future__ import annotations

import atexit
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.campaign import blocks, columns
from rocketmq_conformance.conformance.campaign.playing import GIVE_UP
from rocketmq_conformance.conformance.campaign.process import (
    Abandoned,
    PlayerDiedError,
    PlayerFaultError,
    PlayerProcess,
)
from rocketmq_conformance.conformance.campaign.shipping import check_worker
from rocketmq_conformance.conformance.campaign.spec import Spec
from rocketmq_conformance.conformance.campaign.tables import BEHAVIOURS, DIVERGENCES, STEPS

#: What became of a task's work on a block.
FINISHED, THERE, STOPPED, COULD_NOT_RUN, FAULT = "finished", "there", "stopped", "could not run", "fault"

#: The file whose presence ends a campaign; its text says why.
STOP = "stop"
#: Seconds that a block may go on for after that.
LAST_SECONDS = 20.0

#: One row per block: what became of it, why, and the most memory of the player (bytes).
REPORT = pa.schema(
    [("block", pa.int64()), ("status", pa.string()), ("text", pa.string()), ("peak", pa.int64()), ("pid", pa.int64())]
)


class Block(NamedTuple):
    """Cases ``[first, first + cases)`` of a suite."""

    suite: str
    number: int
    first: int
    cases: int
    arm: str


@dataclass(frozen=True)
class Job:
    """What every task of a session knows."""

    spec: Spec
    folder: str
    #: Tells this session's players from those of others that the same worker had.
    session: str
    #: Addresses that are opened as others.
    start: dict[str, str]
    #: Where else Python looks for modules.
    path: tuple[str, ...]


class Worker:
    """Plays blocks. One per Python worker and session: its player stays."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.folder = Path(job.folder)
        self.player = PlayerProcess(job.spec, job.path, job.start)
        #: Ids of behaviours that this worker has written.
        self._written: set[int] = set()
        self._stopped_at: float | None = None
        self._looked = 0.0

    def stopped(self) -> bool:
        """Did somebody end the campaign? Looks at most a few times a second."""
        now = time.monotonic()
        if self._stopped_at is None and now - self._looked > 0.2:
            self._looked = now
            if (self.folder / STOP).exists():
                self._stopped_at = now
        return self._stopped_at is not None

    def _overdue(self) -> bool:
        return self.stopped() and time.monotonic() - (self._stopped_at or 0) > LAST_SECONDS

    def play(self, block: Block) -> str:
        """Play a block that is not there yet, and write its tables: FINISHED, THERE or STOPPED."""
        cases = blocks.path(self.folder, "cases", block.suite, block.number)
        if cases.exists():
            return THERE
        if self.stopped():
            return STOPPED
        try:
            parts = self._parts(block)
        except Abandoned:
            return STOPPED
        behaviours = {row[0]: row for part in parts for row in part["behaviours"] if row[0] not in self._written}
        for table, schema, rows in (
            ("behaviours", BEHAVIOURS, list(behaviours.values())),
            ("steps", STEPS, [row for part in parts for row in part["steps"]]),
            ("divergences", DIVERGENCES, [row for part in parts for row in part["divergences"]]),
        ):
            if rows:
                blocks.write(blocks.path(self.folder, table, block.suite, block.number), columns.table(schema, rows))
        packed = {address: [part["cases"][address] for part in parts] for address in self.job.spec.addresses}
        rules = max((part["rules"] for part in parts), key=len)
        blocks.write(cases, columns.cases_table(block.first, block.arm, rules, packed))
        self._written |= behaviours.keys()
        return FINISHED

    def _parts(self, block: Block) -> list[dict[str, Any]]:
        """The block as its player tells it; several players if need be."""
        parts: list[dict[str, Any]] = []
        at, end = block.first, block.first + block.cases
        suspects: set[tuple[int, int]] = set()
        lost: dict[str, dict[int, str]] = {}
        while at < end:
            try:
                command = {"do": "play", "suite": block.suite, "first": at, "count": end - at, "lost": lost}
                for part in self.player.ask(command, self._overdue):
                    parts.append(part)
                    at += part["count"]
            except PlayerDiedError as died:
                suspect = (died.case if at <= died.case < end else at), max(died.address, 0)
                if suspect in suspects:
                    case, position = suspect
                    given_up = lost.setdefault(self.job.spec.addresses[position], {})
                    given_up[case] = f"{LOST}{died}, twice"
                    if len(given_up) >= GIVE_UP:
                        rest = f"given up after {GIVE_UP} cases of this block that were lost"
                        given_up |= dict.fromkeys(range(case + 1, end), rest)
                suspects.add(suspect)
        return parts


#: How the reason of a case that was lost begins.
LOST = "lost: "

_workers: dict[str, Worker] = {}


def worker_of(job: Job) -> Worker:
    """The worker of this process for a session; those of earlier sessions are ended."""
    if job.session not in _workers:
        for old in _workers.values():
            old.player.close()
        _workers.clear()
        worker = _workers[job.session] = Worker(job)
        atexit.register(worker.player.close)
    return _workers[job.session]


def task(job: Job, work: list[Block]) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """The function of a Spark task: takes positions in ``work`` (column ``id``), answers ``REPORT``."""

    def play(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for position in batch.column("id").to_pylist():
                yield _report(job, work[position], position)

    return play


def _report(job: Job, block: Block, position: int) -> pa.RecordBatch:
    lacking = check_worker()
    status, text, peak, pid = COULD_NOT_RUN, lacking, 0, 0
    if not lacking:
        worker = worker_of(job)
        try:
            status = worker.play(block)
        except CannotRunError as error:
            text = str(error)
        except OSError as error:
            text = (
                f"Writing to {job.folder} failed ({error.strerror or error}): free the disk, and resume the campaign."
            )
        except PlayerFaultError as error:
            status, text = FAULT, str(error)
        peak, pid = worker.player.peak, worker.player.pid
    if status in (COULD_NOT_RUN, FAULT):
        _stop(Path(job.folder), text)
    return pa.RecordBatch.from_arrays(
        [
            pa.array([value], field.type)
            for value, field in zip((position, status, text, peak, pid), REPORT, strict=True)
        ],
        schema=REPORT,
    )


def _stop(folder: Path, why: str) -> None:
    """Let the other tasks end too; on a full disk they find out for themselves."""
    with suppress(OSError):
        (folder / STOP).write_text(why, "utf-8")
