"""The driver: one session of a campaign, from its specification to its verdict; it emits the events of the campaign.

The driver hands out blocks, counts those that arrive on disk, and sums them up. Only finished blocks on disk count: a
session that is killed loses no finished block, and the next session continues from there.
"""

from __future__ import annotations

import json
import os
import secrets
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa

from rocketmq_conformance import __version__
from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.campaign.finish import ClosingEvents
from rocketmq_conformance.conformance.campaign.player.player_supervisor import PlayerFaultError, PlayerSupervisor
from rocketmq_conformance.conformance.campaign.progress import CampaignProgress
from rocketmq_conformance.conformance.campaign.schedule import Block, BlockSchedule
from rocketmq_conformance.conformance.campaign.spark.session import HANDING_OUT, open_session
from rocketmq_conformance.conformance.campaign.spark.spark_job import SparkJobs
from rocketmq_conformance.conformance.campaign.spark.worker import COULD_NOT_RUN, FAULT, Job, playing_task
from rocketmq_conformance.conformance.campaign.spec import CampaignSpec
from rocketmq_conformance.conformance.campaign.tables import blocks
from rocketmq_conformance.conformance.campaign.tables.folder import PLAYING, STOP, note_of_kit
from rocketmq_conformance.conformance.campaign.tables.reading import open_campaign
from rocketmq_conformance.conformance.campaign.tables.schema import RUNS
from rocketmq_conformance.conformance.campaign.tables.version import VERSION
from rocketmq_conformance.conformance.engine.verdict import worst_of
from rocketmq_conformance.models import rulebook
from rocketmq_conformance.reports import event
from rocketmq_conformance.reports.event import CONFORMS, UNDECIDED, Event
from rocketmq_conformance.reports.text import first_names

Emit = Callable[[Event], None]
#: Seconds between two progress events.
PROGRESS = 0.5
#: Why a campaign stopped early, besides the reasons that a run has.
DIVERGENCE_LIMIT = "divergence limit"
#: Reasons that leave the verdict to what did run.
_ASKED_FOR = (event.TIME_LIMIT, DIVERGENCE_LIMIT)


@dataclass(frozen=True)
class SessionOptions:
    """How a session runs; none of it affects the result of a case."""

    folder: Path
    master: str | None = None
    #: Partitions of every Spark job; None chooses by the cores.
    partitions: int | None = None
    #: Seconds after which no block begins.
    max_time: float | None = None
    #: Cases that diverge after which no block begins.
    max_divergences: int | None = None
    #: Sentences for the header of the session.
    notes: tuple[str, ...] = ()


class Driver:
    """One session."""

    def __init__(self, spec: CampaignSpec, options: SessionOptions, emit: Emit) -> None:
        self.spec = spec
        self.options = options
        self.emit = emit
        self.folder = options.folder.resolve()
        self.started = time.monotonic()
        self.began = datetime.now(UTC)
        self.stopped = ""
        #: The error of a worker or of Spark that ended the session, or "".
        self.failure = ""
        self._last_progress = 0.0
        self._before = (0, 0)

    def run(self, opened: PlayerSupervisor) -> int:
        """Play the blocks that are missing, and emit the events of the whole campaign; returns the exit code.

        ``opened`` is a player whose addresses are open and stay open: the servers that it started are shared with the
        workers. AddressError and CannotRunError when nothing could start; PlayerFaultError when the kit failed.
        """
        hellos = opened.hellos
        start = {address: hello for address, hello in zip(self.spec.addresses, hellos, strict=True) if hello["shared"]}
        aside = _set_aside(self.folder)
        self._write_run(hellos, None)
        blocks.remove_unfinished(self.folder)
        self.campaign = open_campaign(self.folder)
        self.progress = CampaignProgress(self.campaign)
        self.progress.look()
        self._before = self.progress.cases, self.progress.all_steps
        schedule = BlockSchedule(self.spec)
        self.asked = self.spec.cases * len(self.spec.addresses)
        self._announce(hellos, aside)
        job = Job(self.spec, str(self.folder), secrets.token_hex(8), start, search_path())
        log = self.folder / "spark.log"
        with open_session(self.options.master, name="rocketmq-conformance", config=HANDING_OUT, log=log) as spark:
            jobs = SparkJobs(spark, self.options.partitions)
            (self.folder / PLAYING).write_text(job.session, "utf-8")
            try:
                self._play(jobs, job, schedule)
            except CannotRunError as error:
                self.failure = str(error)
            self._end_playing()
            self.progress.look()
            self._go_on()
            closing = ClosingEvents(self.campaign, self.progress, jobs, job, hellos, self.options.folder)
            try:
                ending = list(closing.events(play=not self.failure and self.stopped != event.INTERRUPTED))
            except KeyboardInterrupt:
                self.stopped = event.INTERRUPTED
                ending = list(closing.events(play=False))
            for each in ending:
                self.emit(each)
            master = str(spark.sparkContext.master)
        self._go_on()
        verdict = self._verdict(closing)
        code = event.EXIT_CODES[verdict]
        self._write_run(hellos, (verdict, jobs.peak, master))
        self.emit(
            event.RunEnded(
                verdict=verdict,
                exit_code=code,
                cases={name: self.progress.total(name) for name in event.VERDICTS},
                steps=self.progress.all_steps,
                seconds=time.monotonic() - self.started,
                controls_noticed=sum(closing.controls.values()),
                controls=len(closing.controls),
                divergences=self.progress.divergences,
                silent_rules=closing.silent_everywhere,
                stopped=self.failure or self.stopped,
                left=self._left(),
                workers=len(jobs.players),
                peak_memory=jobs.peak,
            )
        )
        return code

    # --- playing ----------------------------------------------------------------------------------------------

    def _play(self, jobs: SparkJobs, job: Job, schedule: BlockSchedule) -> None:
        waves: list[list[Block]] = []
        for number in range(schedule.waves):
            wave = schedule.wave(number, self.progress.chances(waves[-1]) if waves else {})
            waves.append(wave)
            work = [block for block in wave if not self.progress.has(block)]
            if not work:
                continue
            try:
                self._wave(jobs, job, work)
            except KeyboardInterrupt:
                self.stopped = event.INTERRUPTED
            self.progress.look()
            if self.stopped or self.failure:
                return

    def _wave(self, jobs: SparkJobs, job: Job, work: Sequence[Block]) -> None:
        for row in jobs.run(playing_task(job, list(work)), work, self._look, lambda: self._stop(event.INTERRUPTED)):
            if row["status"] == FAULT:
                raise PlayerFaultError(row["text"])
            if row["status"] == COULD_NOT_RUN:
                self.failure = self.failure or row["text"]

    def _look(self) -> None:
        """Count new blocks, emit progress, and stop the campaign at its limits."""
        now = time.monotonic()
        if now - self._last_progress >= PROGRESS:
            self._last_progress = now
            self.progress.look()
            self._progress()
        if self.stopped:
            return
        limit, most = self.options.max_time, self.options.max_divergences
        if limit is not None and now - self.started >= limit:
            self._stop(event.TIME_LIMIT)
        elif most is not None and self.progress.divergences >= most:
            self._stop(DIVERGENCE_LIMIT)

    def _stop(self, why: str) -> None:
        self.stopped = why
        with suppress(OSError):
            (self.folder / STOP).write_text(why, "utf-8")

    def _end_playing(self) -> None:
        """Let no block be finished from now on: what is on disk afterwards can be counted."""
        with suppress(OSError):
            (self.folder / PLAYING).unlink(missing_ok=True)
        # who was allowed to finish a block just before may still be about to
        blocks.await_writers(self.folder, "cases")
        blocks.remove_unfinished(self.folder)  # of executors that were killed

    def _go_on(self) -> None:
        with suppress(OSError):
            (self.folder / STOP).unlink(missing_ok=True)

    def _left(self) -> int:
        return max(0, self.asked - self.progress.cases)

    # --- events ------------------------------------------------------------------------------------------------

    def _announce(self, hellos: list[dict[str, Any]], aside: Sequence[str]) -> None:
        spec = self.spec
        notes = [*self.options.notes, *filter(None, [note_of_kit(self.campaign)])]
        if aside:
            notes.append(f"damaged files are set aside, and what they held is played again: {first_names(aside)}")
        for address, hello in zip(spec.addresses, hellos, strict=True):
            if len(hellos) > 1:
                releases = ", ".join(f"{side} {release}" for side, release in hello["profile"].items())
                notes.append(f"{address} is {hello['name']} {hello['version']}, judged by {releases}")
            notes += hello["notes"]
        self.emit(
            event.RunStarted(
                format=event.FORMAT,
                kit=__version__,
                rulebook=rulebook.digest(),
                address=" ".join(spec.addresses),
                implementation=" and ".join(hello["name"] for hello in hellos),
                version=" and ".join(hello["version"] for hello in hellos),
                profile=hellos[0]["profile"],
                seed=spec.seed,
                suites=list(spec.suites),
                out=str(self.options.folder),
                started=self.began.isoformat(timespec="seconds"),
                notes=notes,
                release_choice=hellos[0]["release_choice"] if len(hellos) == 1 else "",
            )
        )
        for suite in spec.chosen():
            cases = -(-spec.cases // len(spec.suites))
            self.emit(
                event.SuiteStarted(
                    suite=suite.name, sentence=suite.sentence, cases=cases, steps=spec.steps_of(suite), plan=""
                )
            )
        if self.progress.cases:
            self._progress()

    def _progress(self) -> None:
        """Emit the progress; times and rates are those of this session."""
        done = self.progress.cases
        self.emit(
            event.Progress(
                suite="",
                cases=done,
                of=self.asked,
                steps=self.progress.all_steps,
                seconds=time.monotonic() - self.started,
                cases_before=self._before[0],
                steps_before=self._before[1],
                behaviours=self.progress.discovery.behaviours,
                divergences=self.progress.divergences,
            )
        )

    def _verdict(self, closing: ClosingEvents) -> str:
        totals = Counter({name: self.progress.total(name) for name in event.VERDICTS})
        totals[event.COULD_NOT_RUN] += bool(self.failure)
        totals[UNDECIDED] += self.stopped not in _ASKED_FOR if self.stopped else self._left() > 0
        totals[UNDECIDED] += self.progress.unplayed
        verdict = worst_of(totals)
        return UNDECIDED if verdict == CONFORMS and not closing.sound else verdict

    def _write_run(self, hellos: list[dict[str, Any]], ended: tuple[str, int, str] | None) -> None:
        """Write the session's row of ``runs``: at the start, so that a killed session has one too, and at the end."""
        place = self.folder / "runs"
        if ended is None:
            numbers = [int(file.stem.partition("-")[2]) for file in place.glob("run-*.parquet")]
            self._number = max(numbers, default=-1) + 1
        verdict, peak, master = ended or ("", 0, self.options.master or "")
        progress = self.progress if ended else None
        row = {
            "session": self._number,
            "version": VERSION,
            "kit": __version__,
            "rulebook": rulebook.digest(),
            "seed": self.spec.seed,
            "configuration": _json(self.spec.json()),
            "addresses": list(self.spec.addresses),
            "implementations": [hello["name"] for hello in hellos],
            "versions": [hello["version"] for hello in hellos],
            "profiles": [_json(hello["profile"]) for hello in hellos],
            "master": master,
            "started": self.began,
            "seconds": time.monotonic() - self.started,
            **{name.replace(" ", "_"): progress.total(name) if progress else 0 for name in event.VERDICTS},
            "left": self._left() if progress else 0,
            "steps": progress.all_steps if progress else 0,
            "peak_memory": peak,
            "stopped": (self.failure or self.stopped) if ended else "not ended",
            "verdict": verdict,
        }
        blocks.write(place / f"run-{self._number:04}.parquet", pa.Table.from_pylist([row], schema=RUNS))


def _set_aside(folder: Path) -> list[str]:
    """The names of files that were damaged and are yet to be written again."""
    files = sorted(folder.glob(f"**/{blocks.ASIDE}*"))
    return [str(file.relative_to(folder)) for file in files if not blocks.named_before(file).exists()]


def search_path() -> tuple[str, ...]:
    """Where players look for the user's modules: the working directory of the campaign, and the user's PYTHONPATH."""
    further = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
    return tuple(dict.fromkeys([str(Path.cwd()), *further]))


def _json(value: dict[str, Any]) -> str:
    return json.dumps(value, sort_keys=True)
