"""The runner: suites against one implementation, from the seed to the verdict, told as events."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rocketmq_conformance import __version__
from rocketmq_conformance.conformance import plan
from rocketmq_conformance.conformance.adapter import AdapterError, CannotRunError, Hello
from rocketmq_conformance.conformance.collector import rare_collections
from rocketmq_conformance.conformance.judge import Judge, Judged, digest, fingerprint, wrong
from rocketmq_conformance.conformance.shrink import Shrunk, shrink
from rocketmq_conformance.conformance.stage import Stage
from rocketmq_conformance.models import rulebook
from rocketmq_conformance.models.outcome import Err, Ok, Outcome, Undefined, Unsupported, outcome_of, result_of
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.release import NEWEST
from rocketmq_conformance.reports import event
from rocketmq_conformance.reports.event import CONFORMS, COULD_NOT_RUN, DIVERGES, UNDECIDED, UNSUPPORTED, Event
from rocketmq_conformance.suites.sampler import sampler
from rocketmq_conformance.suites.suite import Row, Suite

EXIT_CODES = {CONFORMS: 0, DIVERGES: 1, UNDECIDED: 3, UNSUPPORTED: 3, COULD_NOT_RUN: 4}
#: Cases in a row that cannot be run before a suite is given up.
GIVE_UP = 3
#: What an adapter raises when it, or what it drives, is broken.
_BROKEN = (AdapterError, CannotRunError)
#: Seconds between two progress events.
PROGRESS = 0.25

Emit = Callable[[Event], None]
#: A case to be played: its number and its plan.
Numbered = tuple[int, list[Row]]


@dataclass(frozen=True)
class Options:
    """What a run was asked for."""

    address: str
    seed: int
    cases: int | None = None
    steps: int | None = None
    max_time: float | None = None
    out: Path | None = None
    stop_at_first: bool = False
    #: Plans to play instead of generated ones, by suite name.
    plans: dict[str, dict[int, list[Row]]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    #: The file that the plans came from.
    plan: Path | None = None
    #: Options of the command line that say which releases judge; a replay repeats them.
    judged_as: tuple[str, ...] = ()


class _Stop(Exception):  # noqa: N818 - not an error: the run ends here
    """The run ends before its time; the text says why."""


class Runner:
    """One run."""

    def __init__(self, stage: Stage, hello: Hello, profile: Profile, options: Options, emit: Emit) -> None:
        self.stage = stage
        self.hello = hello
        self.profile = profile
        self.options = options
        self.emit = emit
        self.started = time.monotonic()
        self.totals = dict.fromkeys((CONFORMS, DIVERGES, UNDECIDED, COULD_NOT_RUN, UNSUPPORTED), 0)
        self.steps = 0
        self.controls: list[bool] = []
        self.silent: list[str] = []
        self.verdicts: list[str] = []
        self.divergences = 0
        #: Did the time limit end a suite before its last case?
        self.cut_short = False

    def run(self, suites: Sequence[Suite]) -> int:
        """Run the suites; answers the exit code. Events tell everything else."""
        self._announce(suites)
        stopped = ""
        try:
            with rare_collections():
                for at, suite in enumerate(suites):
                    self._suite(suite, len(suites) - at)
            if self.cut_short:
                stopped = event.TIME_LIMIT
        except _Stop as stop:
            stopped = str(stop)
        except KeyboardInterrupt:
            stopped = event.INTERRUPTED
        verdict = self._verdict(stopped)
        code = EXIT_CODES[verdict]
        noticed = sum(self.controls)
        self.emit(
            event.RunEnded(
                verdict,
                code,
                dict(self.totals),
                self.steps,
                time.monotonic() - self.started,
                noticed,
                len(self.controls),
                self.divergences,
                sorted(set(self.silent)),
                stopped,
            )
        )
        return code

    def _announce(self, suites: Sequence[Suite]) -> None:
        notes = list(self.options.notes)
        for side, release in (("client", self.profile.client), ("broker", self.profile.broker)):
            if release > NEWEST:
                notes.append(f"{side} {release} is newer than {NEWEST}, the newest the rules know: judged by {NEWEST}")
        self.emit(
            event.RunStarted(
                event.FORMAT,
                __version__,
                rulebook.digest(),
                self.options.address,
                self.hello.name,
                self.hello.version,
                plan.profile_json(self.profile),
                self.options.seed,
                [suite.name for suite in suites],
                str(self.options.out or ""),
                datetime.now(UTC).isoformat(timespec="seconds"),
                notes,
            )
        )

    def _verdict(self, stopped: str) -> str:
        for verdict in (DIVERGES, COULD_NOT_RUN, UNDECIDED):
            if verdict in self.verdicts:
                return verdict
        if CONFORMS not in self.verdicts:
            return UNSUPPORTED if UNSUPPORTED in self.verdicts else UNDECIDED
        if stopped and stopped != event.TIME_LIMIT:
            return UNDECIDED
        return CONFORMS

    def _suite(self, suite: Suite, left: int) -> None:
        given = self.options.plans.get(suite.name)
        of = len(given) if given is not None else self.options.cases or suite.cases
        steps = self.options.steps or suite.steps
        cases: list[Numbered] | Iterator[Numbered]
        if given is not None:
            cases = list(given.items())
        else:
            draw = sampler(suite, self.profile)
            cases = ((number, draw.case(self.options.seed, number, steps)) for number in range(of))
        path = ""
        if self.options.out:
            cases = list(cases)
            file = self.options.out / f"{suite.name}.plan.jsonl"
            plan.write(file, suite, self.profile, self.options.seed, cases)
            path = str(file)
        self.emit(event.SuiteStarted(suite.name, suite.sentence, of, steps, path))
        limit = self.options.max_time
        share = None if limit is None else max(0.0, limit - (time.monotonic() - self.started)) / left
        _SuiteRun(self, suite, of, path, share).run(cases)


class _SuiteRun:
    """One suite of a run."""

    def __init__(self, runner: Runner, suite: Suite, of: int, path: str, share: float | None) -> None:
        self.runner = runner
        self.stage = runner.stage
        self.suite = suite
        self.of = of
        self.path = path
        #: Seconds after which no case begins: every suite gets its share of the time limit.
        self.share = share
        self.judge = Judge(suite, runner.profile.judged())
        self.counts = dict.fromkeys(runner.totals, 0)
        self.steps = 0
        self.started = time.monotonic()
        self.told_progress = 0.0
        self.unsupported: dict[str, str] = {}
        #: The fingerprint that a divergence is told under, after shrinking, by the one it was found with.
        self.told: dict[str, str] = {}
        #: Fingerprints whose plan is on disk.
        self.kept: set[str] = set()
        self.failed_in_row = 0
        self.reason = ""
        self.good: list[Row] | None = None
        self.done = 0

    def run(self, cases: Sequence[Numbered] | Iterator[Numbered]) -> None:
        """Play the cases, then the control; always ends with SuiteEnded."""
        stop: BaseException | None = None
        control: bool | None = None
        refused = self.runner.hello.refuses(self.suite)
        if refused:
            self.reason = refused
            for number, _ in cases:
                self._count(number, UNSUPPORTED, 0, 0.0, "", refused)
        else:
            try:
                self._play(cases)
                control = self._control()
            except (_Stop, KeyboardInterrupt) as error:
                stop = error
                self.reason = f"{str(error) or event.INTERRUPTED} after {self.done} of {self.of} cases"
            except _BROKEN as error:
                self.reason = str(error)
        self._end(control, stop)
        if stop:
            raise stop

    def _play(self, cases: Sequence[Numbered] | Iterator[Numbered]) -> None:
        adapter: Any = self.stage.adapter
        lanes = adapter.lanes(self.suite) if hasattr(adapter, "lanes") else 1
        calls = self.stage.calls(self.suite)
        if lanes > 1 and not self.judge.guarded:
            self._play_lanes(list(cases), lanes)
            return
        for number, rows in cases:
            if self._out_of_time():
                return
            begun = time.monotonic()
            try:
                self._one(number, rows, calls, begun)
                self.failed_in_row = 0
            except _BROKEN as error:
                self._could_not(number, str(error), begun)

    def _one(self, number: int, rows: list[Row], calls: Any, begun: float) -> None:
        if calls is not None:
            with self.stage.guarded(f"case {number} of {self.suite.name}"):
                self.stage.begin(self.suite, number)
                found = self.judge.agrees_at_once(rows, calls)
            if found is not None:
                self.good = self.good or rows
                self._count(number, CONFORMS, len(rows), time.monotonic() - begun, found)
                return
        self._settle(number, self._execute(rows, number), begun)

    def _execute(self, rows: Sequence[Row], number: int = 0, *, count: bool = True) -> Judged:
        self.stage.begin(self.suite, number)
        return self.judge.judge(rows, lambda row: self.stage.do(self.suite, row), count=count)

    def _play_lanes(self, cases: list[Numbered], lanes: int) -> None:
        """Cases side by side: all outcomes of a batch are taken first, then judged."""
        adapter: Any = self.stage.adapter
        for at in range(0, len(cases), lanes):
            if self._out_of_time():
                return
            batch = cases[at : at + lanes]
            begun = time.monotonic()
            try:
                with self.stage.guarded(f"cases {batch[0][0]} to {batch[-1][0]} of {self.suite.name}"):
                    adapter.reset_many([(lane, self.suite) for lane in range(len(batch))])
                    work = [(lane, [self.suite.operation(row) for row in rows]) for lane, (_, rows) in enumerate(batch)]
                    outcomes = adapter.play_many(work)
                self.failed_in_row = 0
            except _BROKEN as error:
                for number, _ in batch:
                    self._could_not(number, str(error), begun)
                continue
            share = (time.monotonic() - begun) / len(batch)
            for (number, rows), said in zip(batch, outcomes, strict=True):
                answers = iter(said)
                judged = self.judge.judge(rows, lambda row, answers=answers: next(answers))  # type: ignore[misc]
                self._settle(number, judged, time.monotonic() - share)

    def _settle(self, number: int, judged: Judged, begun: float) -> None:
        self.unsupported.update(judged.unsupported)
        if judged.verdict == CONFORMS:
            self.good = self.good or judged.rows
        seconds = time.monotonic() - begun
        self._count(number, judged.verdict, len(judged.steps), seconds, digest(judged), judged.reason)
        if judged.verdict == DIVERGES:
            self._diverged(number, judged)

    def _count(self, number: int, verdict: str, steps: int, seconds: float, mark: str, reason: str = "") -> None:
        self.counts[verdict] += 1
        self.runner.totals[verdict] += 1
        self.steps += steps
        self.runner.steps += steps
        self.done += 1
        self.runner.emit(event.CaseEnded(self.suite.name, number, verdict, steps, seconds, mark, reason))
        now = time.monotonic()
        if now - self.told_progress >= PROGRESS:
            self.told_progress = now
            elapsed = now - self.started
            self.runner.emit(event.Progress(self.suite.name, self.done, self.of, self.steps, elapsed))

    def _could_not(self, number: int, reason: str, begun: float) -> None:
        self._count(number, COULD_NOT_RUN, 0, time.monotonic() - begun, "", reason)
        self.failed_in_row += 1
        if self.failed_in_row >= GIVE_UP:
            raise AdapterError(f"given up after {self.failed_in_row} cases in a row that could not be run: {reason}")

    def _out_of_time(self) -> bool:
        if self.share is None or not self.done or time.monotonic() - self.started < self.share:
            return False
        self.runner.cut_short = True
        self.reason = f"{event.TIME_LIMIT} after {self.done} of {self.of} cases"
        return True

    def _diverged(self, number: int, judged: Judged) -> None:
        self.runner.divergences += 1
        found = fingerprint(self.suite, judged.steps[-1])
        told = self.told.get(found)
        shrunk = Shrunk(judged, 0)
        if told is None:
            try:
                shrunk = shrink(self.judge, lambda rows: self._execute(rows, number, count=False), judged)
            except _BROKEN:
                pass  # it is told as it was found
            except KeyboardInterrupt:
                self._tell(number, found, shrunk, len(judged.steps))
                raise
            told = self.told[found] = fingerprint(self.suite, shrunk.judged.steps[-1])
        self._tell(number, told, shrunk, len(judged.steps))
        if self.runner.options.stop_at_first:
            raise _Stop("first divergence")

    def _tell(self, number: int, mark: str, shrunk: Shrunk, found: int) -> None:
        """Tell a divergence; the first of its kind is kept as a plan, the others come back by the seed."""
        path = ""
        options = self.runner.options
        again = ["-k", self.suite.name, "--seed", str(options.seed), "--cases", str(number + 1)]
        if options.steps:
            again += ["--steps", str(options.steps)]
        command = ["run", options.address, *again]
        if options.plan:
            command = ["replay", str(options.plan), options.address, "--case", str(number)]
        if options.out and shrunk.executions and mark not in self.kept:
            self.kept.add(mark)
            file = options.out / f"{self.suite.name}.{mark}.plan.jsonl"
            rows = shrunk.judged.rows
            plan.write(file, self.suite, self.runner.profile, options.seed, [(number, rows)])
            path = str(file)
            command = ["replay", path, options.address]
        replay = shlex.join(["rocketmq-conformance", *command, *options.judged_as])
        last = shrunk.judged.steps[-1]
        self.runner.emit(
            event.DivergenceFound(
                self.suite.name,
                number,
                mark,
                [_rule_json(name) for name in last.why.rules],
                _said(last.expected),
                _said(last.observed),
                [self._step(at, step, shrunk) for at, step in enumerate(shrunk.judged.steps, start=1)],
                found,
                shrunk.executions,
                path,
                replay,
            )
        )

    def _step(self, number: int, step: Any, shrunk: Shrunk) -> event.Step:
        show = self.suite.show
        return event.Step(
            number,
            str(self.suite.operation(step.row)),
            _said(step.expected),
            _said(step.observed),
            list(step.why.rules),
            step.why.kind,
            show(step.before),
            show(step.after),
            step is shrunk.judged.steps[-1],
        )

    def _control(self) -> bool | None:
        """Play a case that conformed once more with one wrong answer planted: it must be noticed, at that step."""
        rows = self.good
        at = None if rows is None else self._plantable(rows)
        if rows is None or at is None:
            return None
        left = at

        def do(row: Row) -> Outcome:
            nonlocal left
            outcome = self.stage.do(self.suite, row)
            left -= 1
            if left >= 0 or isinstance(outcome, Unsupported):
                return outcome
            return outcome_of(wrong(result_of(outcome)))

        self.stage.begin(self.suite, 0)
        judged = self.judge.judge(rows[: at + 1], do, count=False)
        return judged.verdict == DIVERGES and len(judged.steps) == at + 1

    def _plantable(self, rows: list[Row]) -> int | None:
        """The last step that the implementation plays and whose answer the rules decide."""
        played = [self.suite.operations[position].form.side.value != "world" for position, _ in rows]
        decided = [True] * len(rows)
        if not self.judge.observes:
            decided = [not isinstance(step.expected, Undefined) for step in self.judge.expected(rows)]
        return next((at for at in reversed(range(len(rows))) if played[at] and decided[at]), None)

    def _end(self, control: bool | None, stop: BaseException | None) -> None:
        verdict = self._verdict(control, stop)
        coverage = self.judge.coverage.rows()
        fired = {row[0] for row in coverage}
        silent = [rule for rule in self.suite.rules if rule not in fired] if self.done and not self._refused else []
        self.runner.verdicts.append(verdict)
        self.runner.silent += silent
        if control is not None:
            self.runner.controls.append(control)
        if verdict == UNDECIDED and not self.reason:
            self.reason = (
                "the planted wrong answer was not noticed" if control is False else "no control could be played"
            )
            if self.counts[UNDECIDED]:
                self.reason = f"{self.counts[UNDECIDED]} cases decided nothing"
        self.runner.emit(
            event.SuiteEnded(
                self.suite.name,
                verdict,
                dict(self.counts),
                self.steps,
                time.monotonic() - self.started,
                coverage,
                silent,
                control,
                self.unsupported,
                self.reason,
            )
        )

    @property
    def _refused(self) -> bool:
        return bool(self.runner.hello.refuses(self.suite))

    def _verdict(self, control: bool | None, stop: BaseException | None) -> str:
        counts = self.counts
        if counts[DIVERGES]:
            return DIVERGES
        if counts[COULD_NOT_RUN]:
            return COULD_NOT_RUN
        if counts[UNDECIDED] or control is False:
            return UNDECIDED
        if not counts[CONFORMS]:
            return UNSUPPORTED if counts[UNSUPPORTED] else UNDECIDED
        if stop:
            return UNDECIDED
        return CONFORMS if control else UNDECIDED


def hello_of(stage: Stage) -> Hello:
    """Ask the adapter who it is; AdapterError when it answers no Hello."""
    with stage.guarded("hello()"):
        said = stage.adapter.hello()
    if not isinstance(said, Hello):
        raise AdapterError(f"The adapter's hello() answered {said!r}: it must return a Hello.")
    return said


def profile_of(hello: Hello, overrides: dict[str, str]) -> Profile:
    """Which releases judge: what the implementation says of itself, the newest elsewhere, and the user's word."""
    newest = str(NEWEST)
    return Profile.of(
        overrides.get("client") or hello.client or newest,
        overrides.get("broker") or hello.broker or newest,
        int(overrides.get("java") or hello.java or 17),
    )


def _rule_json(name: str) -> dict[str, str]:
    rule = rulebook.RULES[name]
    return {"id": rule.id, "sentence": rule.sentence, "level": rule.level.value, "source": rule.source}


def _said(result: object) -> str:
    match result:
        case Undefined():
            return "anything"
        case Err(code):
            return f"error {code}"
        case _:
            return repr(result)


__all__ = ["EXIT_CODES", "CannotRunError", "Ok", "Options", "Runner", "hello_of", "profile_of"]
