"""The worker of a campaign: a Spark task that plays blocks of cases in a player's process and writes their tables.

When a player dies, the next one plays the lost cases again up to the one at which it died, and another one starts with
that case. If the case ends that player too, it is a lost case: it is named, counted as one that could not be run, and
left out from then on.
"""

from __future__ import annotations

import atexit
import json
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.campaign.player.block_player import GIVE_UP
from rocketmq_conformance.conformance.campaign.player.player_supervisor import (
    Abandoned,
    PlayerDiedError,
    PlayerFaultError,
    PlayerSupervisor,
)
from rocketmq_conformance.conformance.campaign.schedule import Block
from rocketmq_conformance.conformance.campaign.spark.shipping import check_worker
from rocketmq_conformance.conformance.campaign.spec import CampaignSpec
from rocketmq_conformance.conformance.campaign.tables import blocks, columns
from rocketmq_conformance.conformance.campaign.tables.behaviour_columns import BehaviourColumns
from rocketmq_conformance.conformance.campaign.tables.behaviours import NO_ANSWERS, Behaviour
from rocketmq_conformance.conformance.campaign.tables.folder import PLAYING, STOP
from rocketmq_conformance.conformance.campaign.tables.schema import BEHAVIOURS, DIVERGENCES, STEPS
from rocketmq_conformance.conformance.targets.address import AddressError

#: The result of a task for a block.
FINISHED, THERE, STOPPED, COULD_NOT_RUN, FAULT = "finished", "there", "stopped", "could not run", "fault"

#: Seconds that a block may continue after the campaign was stopped.
LAST_SECONDS = 20.0

#: One row per block or command: its result, the reason, and the peak memory of the player (bytes).
REPORT = pa.schema(
    [("work", pa.int64()), ("status", pa.string()), ("text", pa.string()), ("peak", pa.int64()), ("pid", pa.int64())]
)


@dataclass(frozen=True)
class Job:
    """What every task of a session is given."""

    spec: CampaignSpec
    folder: str
    #: Distinguishes this session's players from those of earlier sessions of the same worker.
    session: str
    #: Addresses that are opened as others.
    start: dict[str, dict[str, Any]]
    #: Where else Python looks for modules.
    path: tuple[str, ...]


class Worker:
    """Plays blocks. One per Python worker and session: its player stays."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.folder = Path(job.folder)
        self.player = PlayerSupervisor(job.spec, job.path, job.start)
        #: What the answers mean, by suite and address.
        self._behaviours: dict[tuple[str, str], BehaviourColumns] = {}
        #: Behaviours that a block on disk explains.
        self._explained: set[int] = set()
        self._stopped_at: float | None = None
        self._looked = 0.0

    def stopped(self) -> bool:
        """Was the session stopped? Looks at most a few times a second."""
        now = time.monotonic()
        if now - self._looked > 0.2:
            self._looked = now
            if not (self.folder / STOP).exists():
                self._stopped_at = None
            elif self._stopped_at is None:
                self._stopped_at = now
        return self._stopped_at is not None

    def look_afresh(self) -> None:
        """Look for the stop file at the next call, however recent the last look."""
        self._looked = 0.0

    def _overdue(self) -> bool:
        return self.stopped() and time.monotonic() - (self._stopped_at or 0) > LAST_SECONDS

    def _still_playing(self) -> bool:
        """Is the session still playing? No block may be added after it was counted."""
        try:
            return (self.folder / PLAYING).read_text("utf-8") == self.job.session
        except OSError:
            return False

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
        explained = self._unexplained(block.suite)
        for table, schema, rows in (
            ("behaviours", BEHAVIOURS, explained),
            ("steps", STEPS, [row for part in parts for row in part["steps"]]),
            ("divergences", DIVERGENCES, [row for part in parts for row in part["divergences"]]),
        ):
            file = blocks.path(self.folder, table, block.suite, block.number)
            if rows:
                blocks.write(file, columns.table(schema, rows))
            elif table != "behaviours":  # rows of an earlier attempt that did not finish the block
                file.unlink(missing_ok=True)
        played = {address: [part["cases"][address] for part in parts] for address in self.job.spec.addresses}
        if not blocks.write(cases, columns.cases_table(block.first, block.arm, played), self._still_playing):
            return STOPPED
        self._explained.update(row[0] for row in explained)
        return FINISHED

    def _unexplained(self, suite: str) -> list[Behaviour]:
        """Behaviours of a suite that no block explains yet."""
        met: dict[int, Behaviour] = {}
        for (name, _), columns_of_cases in self._behaviours.items():
            if name == suite:
                met |= columns_of_cases.met
        return [met[number] for number in sorted(met.keys() - self._explained)]

    def _add_behaviours(self, suite: str, part: dict[str, Any]) -> None:
        """Add the behaviours of a part's cases to it."""
        for address, packed in part["cases"].items():
            columns_of_cases = self._behaviours.setdefault((suite, address), BehaviourColumns(suite))
            steps = np.frombuffer(packed["steps"], np.int32)
            part["cases"][address] = packed, columns_of_cases.take(steps, part["answers"].get(address, NO_ANSWERS))

    def _parts(self, block: Block) -> list[dict[str, Any]]:
        """The parts of the block, from one player or, where players die, several."""
        parts: list[dict[str, Any]] = []
        at, end = block.first, block.first + block.cases
        suspect = end
        lost: dict[str, dict[int, str]] = {}
        died_of: tuple[int, int] | None = None
        while at < end:
            if at == suspect:  # a fresh player, which earlier cases cannot have harmed
                self.player.close()
                suspect = end
            command = {"do": "play", "suite": block.suite, "first": at, "count": suspect - at, "lost": lost}
            try:
                for part in self.player.ask(command | {"singly": died_of is not None}, self._overdue):
                    self._add_behaviours(block.suite, part)
                    parts.append(part)
                    at += part["count"]
            except PlayerDiedError as died:
                case = died.case if at <= died.case < end else at
                again = died_of == (died_of := (case, max(died.address, 0)))
                suspect = case
                if again:
                    self._lose(block, died_of, str(died), lost)
        return parts

    def _lose(self, block: Block, what: tuple[int, int], why: str, lost: dict[str, dict[int, str]]) -> None:
        """Give up a case on an address; after too many of them, the rest of the block."""
        case, position = what
        given_up = lost.setdefault(self.job.spec.addresses[position], {})
        given_up[case] = f"{LOST}{why}, twice"
        if len(given_up) >= GIVE_UP:
            rest = f"given up after {GIVE_UP} cases of this block that were lost"
            given_up |= dict.fromkeys(range(case + 1, block.first + block.cases), rest)


#: How the reason of a case that was lost begins.
LOST = "lost: "

#: What Spark gives a task, and what it takes from it.
Task = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]

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


def playing_task(job: Job, work: list[Block]) -> Task:
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
        except (AddressError, CannotRunError) as error:
            text = str(error)
        except OSError as error:
            text = (
                f"Writing to {job.folder} failed ({error.strerror or error}): free the disk, then go on with --resume."
            )
        except PlayerFaultError as error:
            status, text = FAULT, str(error)
        peak, pid = worker.player.peak, worker.player.pid
    if status in (COULD_NOT_RUN, FAULT):
        _stop(Path(job.folder), text)
    return _row(position, status, text, peak, pid)


def closing_task(job: Job, work: list[dict[str, Any]]) -> Task:
    """The function of a Spark task that has a player play controls and report divergences.

    ``work`` holds commands of a player; ``text`` of the report is what it answered, as JSON.
    """

    def close(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for position in batch.column("id").to_pylist():
                yield _answer(job, work[position], position)

    return close


def _answer(job: Job, command: dict[str, Any], position: int) -> pa.RecordBatch:
    worker = worker_of(job)
    worker.look_afresh()  # a stopped campaign is still closed, and may be stopped again
    player = worker.player
    status, text = STOPPED, ""
    try:
        (answer,) = player.ask(dict(command), worker.stopped)
        status, text = FINISHED, json.dumps(answer)
    except Abandoned:
        pass
    except (AddressError, CannotRunError, PlayerDiedError) as error:
        status, text = COULD_NOT_RUN, str(error)
    except PlayerFaultError as error:
        status, text = FAULT, str(error)
    return _row(position, status, text, player.peak, player.pid)


def _row(*values: Any) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist([dict(zip(REPORT.names, values, strict=True))], schema=REPORT)


def _stop(folder: Path, why: str) -> None:
    """Make the other tasks stop too; on a full disk they fail by themselves."""
    with suppress(OSError):
        (folder / STOP).write_text(why, "utf-8")
