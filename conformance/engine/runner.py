"""The runner: suites against one implementation, from the seed to the verdict, told as events."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import chain

from rocketmq_conformance import __version__
from rocketmq_conformance.conformance.adapter import Hello
from rocketmq_conformance.conformance.engine import plan
from rocketmq_conformance.conformance.engine.gc_pause import rare_collections
from rocketmq_conformance.conformance.engine.handshake import newer_than_known
from rocketmq_conformance.conformance.engine.options import Options
from rocketmq_conformance.conformance.engine.player import Numbered
from rocketmq_conformance.conformance.engine.stage import Stage
from rocketmq_conformance.conformance.engine.suite_run import Stop, SuiteRun
from rocketmq_conformance.conformance.engine.verdict import together
from rocketmq_conformance.models import rulebook
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.reports import event
from rocketmq_conformance.reports.event import CONFORMS, UNDECIDED, Event
from rocketmq_conformance.suites.declare.sampler import sampler
from rocketmq_conformance.suites.declare.suite import Suite

Emit = Callable[[Event], None]


class Runner:
    """One run."""

    def __init__(self, stage: Stage, hello: Hello, profile: Profile, options: Options, emit: Emit) -> None:
        self.stage = stage
        self.hello = hello
        self.profile = profile
        self.options = options
        self.emit = emit
        self.started = time.monotonic()
        self.totals = dict.fromkeys(event.VERDICTS, 0)
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
        except Stop as stop:
            stopped = str(stop)
        except KeyboardInterrupt:
            stopped = event.INTERRUPTED
        verdict = self._verdict(stopped)
        code = event.EXIT_CODES[verdict]
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
        notes = [*self.options.notes, *newer_than_known(self.profile)]
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
        verdict = together(Counter(self.verdicts))
        return UNDECIDED if verdict == CONFORMS and stopped not in ("", event.TIME_LIMIT) else verdict

    def _suite(self, suite: Suite, left: int) -> None:
        given = self.options.plans.get(suite.name)
        corpus = {-at: case for at, case in enumerate(self.options.corpus.get(suite.name, []), start=1)}
        generated = len(given) if given is not None else self.options.cases or suite.cases
        steps = self.options.steps or suite.steps
        cases: list[Numbered] | Iterator[Numbered]
        if given is not None:
            cases = list(given.items())
        else:
            draw = sampler(suite, self.profile)
            cases = ((number, draw.case(self.options.seed, number, steps)) for number in range(generated))
        file = self.options.out / f"{suite.name}.plan.jsonl" if self.options.out else None
        of = len(corpus) + generated
        files = [event.CorpusPlan(str(case.path), case.number) for case in corpus.values()]
        self.emit(event.SuiteStarted(suite.name, suite.sentence, of, steps, str(file or ""), files))
        if file:  # the suite is on the screen by now: a large plan takes its time
            cases = list(cases)
            plan.write(file, suite, self.profile, self.options.seed, cases)
        limit = self.options.max_time
        share = None if limit is None else max(0.0, limit - (time.monotonic() - self.started)) / left
        part = SuiteRun(self.stage, self.hello, self.profile, self.options, self.emit, suite, of, share, corpus)
        try:
            part.run(chain(((number, case.rows) for number, case in corpus.items()), cases))
        finally:
            self._add(part)

    def _add(self, part: SuiteRun) -> None:
        """Count what a suite counted."""
        for verdict, count in part.counts.items():
            self.totals[verdict] += count
        self.steps += part.steps
        self.divergences += part.divergences
        self.silent += part.silent
        self.verdicts.append(part.verdict)
        if part.control is not None:
            self.controls.append(part.control)
        self.cut_short = self.cut_short or part.cut_short
