"""The runner: suites against one implementation, from the seed to the verdict, as a stream of events."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Container, Generator, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import closing, nullcontext, suppress
from datetime import UTC, datetime
from inspect import GEN_CLOSED, getgeneratorstate
from itertools import chain
from typing import cast

from rocketmq_conformance import __version__
from rocketmq_conformance.conformance.adapter import Hello, TakesTime, TakesTurns, UnderWay
from rocketmq_conformance.conformance.engine import covering_plans, plan
from rocketmq_conformance.conformance.engine.corpus import StoredCase
from rocketmq_conformance.conformance.engine.doubt import Doubts
from rocketmq_conformance.conformance.engine.expected_divergences import ExpectedDivergences
from rocketmq_conformance.conformance.engine.expected_file import Entry
from rocketmq_conformance.conformance.engine.gc_pause import rare_collections
from rocketmq_conformance.conformance.engine.handshake import newer_releases
from rocketmq_conformance.conformance.engine.hypothesis_cases import HypothesisCases
from rocketmq_conformance.conformance.engine.options import Options
from rocketmq_conformance.conformance.engine.peak_memory import peak_memory
from rocketmq_conformance.conformance.engine.player import Numbered
from rocketmq_conformance.conformance.engine.rule_list import listed_rules
from rocketmq_conformance.conformance.engine.stage import Stage
from rocketmq_conformance.conformance.engine.suite_run import PROGRESS, Stop, SuiteResult, SuiteRun
from rocketmq_conformance.conformance.engine.turns import CASES_OF_KIND, IN_A_ROW, Turns, by_yield
from rocketmq_conformance.conformance.engine.verdict import worst_of
from rocketmq_conformance.models import rulebook
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.reports import event
from rocketmq_conformance.reports.event import CONFORMS, DIVERGES, UNDECIDED, UNSUPPORTED, Event
from rocketmq_conformance.reports.rule_results import ListedRule, rule_results
from rocketmq_conformance.reports.tiers import COVER
from rocketmq_conformance.suites.declare.sampler import sampler
from rocketmq_conformance.suites.declare.suite import Suite

#: Events one by one. KeyboardInterrupt may be thrown into it, and ends the run as Ctrl-C while a case is played does.
Events = Generator[Event, None, None]
#: Plays the suites of a run elsewhere, and adds what each has come to.
PlaySuites = Callable[["Runner", Sequence[Suite]], Events]


def deliver(events: Events, receive: Callable[[Event], None]) -> None:
    """Hand every event over; Ctrl-C meanwhile ends the run in good order: its last events are still handed over."""
    interrupt: KeyboardInterrupt | None = None
    while True:
        try:
            event = next(events, None) if interrupt is None else events.throw(interrupt)
            interrupt = None
            if event is None:
                return
            receive(event)
        except KeyboardInterrupt as error:
            if getgeneratorstate(events) == GEN_CLOSED:
                raise
            interrupt = error


class Runner:
    """One run."""

    def __init__(self, stage: Stage, hello: Hello, profile: Profile, options: Options) -> None:
        self.stage = stage
        self.hello = hello
        self.doubts = Doubts(hello)
        self.profile = profile
        self.options = options
        self.started = time.monotonic()
        #: Seconds for which the suites so far were played.
        self.playing = 0.0
        self.totals = dict.fromkeys(event.VERDICTS, 0)
        self.steps = 0
        self.controls: list[bool] = []
        self.silent: list[str] = []
        self.verdicts: list[str] = []
        self.divergences = 0
        #: Entries of the file of expected divergences that occurred, and those that fail the run.
        self.signed = 0
        self.expected_faults = 0
        #: Did the time limit end a suite before its last case?
        self.cut_short = False
        #: What the results of rules are made from: the ends of suites, their divergences, and the expected ones.
        self.ended: list[event.SuiteEnded] = []
        self.found: list[event.DivergenceFound] = []
        self.occurred: list[event.ExpectedDivergence] = []
        #: What the suite that ended last has come to.
        self.last: SuiteResult | None = None
        #: The most memory that other processes of the run have taken, by process, in bytes.
        self.memory_elsewhere: dict[int, int] = {}

    def run(self, suites: Sequence[Suite], play: PlaySuites | None = None) -> Events:
        """Run the suites. The last event is RunEnded, unless the caller closes the generator before.

        Without ``play`` they are played here, and no case before the events of the ones before it have been taken.
        """
        yield self._header(suites)
        stopped = ""
        try:
            with rare_collections():
                yield from play(self, suites) if play else self._in_turn(suites)
            if self.cut_short:
                stopped = event.TIME_LIMIT
        except Stop as stop:
            stopped = str(stop)
        except KeyboardInterrupt:
            stopped = event.INTERRUPTED
        chosen = {suite.name for suite in suites if not self.hello.refuses(suite)}
        for entry in self.options.expected:
            aside = self._aside(entry, chosen)
            if aside:
                yield entry.event(aside=aside)
        yield self._rules(suites)
        verdict = self._verdict(stopped)
        yield event.RunEnded(
            verdict=verdict,
            exit_code=event.EXIT_CODES[verdict],
            cases=dict(self.totals),
            steps=self.steps,
            seconds=time.monotonic() - self.started,
            controls_noticed=sum(self.controls),
            controls=len(self.controls),
            divergences=self.divergences,
            silent_rules=sorted(set(self.silent)),
            stopped=stopped,
            signed=self.signed,
            expected_faults=self.expected_faults,
            peak_memory=peak_memory() + sum(self.memory_elsewhere.values()),
        )

    def _in_turn(self, suites: Sequence[Suite]) -> Events:
        if self.stage.times and self.stage.turns:
            yield from self._by_turns(self.stage.turns, suites, self.options.max_time)
            return
        for at, suite in enumerate(suites):
            yield from self.suite(suite, self.share(len(suites) - at))

    def share(self, left: int, workers: int = 1) -> float | None:
        """Seconds that the next of so many suites may play, when so many are played at a time; None for no limit."""
        if self.options.max_time is None:
            return None
        return max(0.0, self.options.max_time * workers - self.playing) / left

    def _header(self, suites: Sequence[Suite]) -> event.RunStarted:
        return event.RunStarted(
            format=event.FORMAT,
            kit=__version__,
            rulebook=rulebook.digest(),
            address=self.options.address,
            implementation=self.hello.name,
            version=self.hello.version,
            profile=plan.profile_json(self.profile),
            seed=self.options.seed,
            suites=[suite.name for suite in suites],
            out=str(self.options.out or ""),
            started=datetime.now(UTC).isoformat(timespec="seconds"),
            notes=[*self.options.notes, *newer_releases(self.profile)],
            release_choice=self.options.release_choice,
            properties=[one.json() for one in self.hello.properties],
            max_time=self.options.max_time or 0.0,
        )

    def _rules(self, suites: Sequence[Suite]) -> event.RulesJudged:
        """What became of every rule; of a plan that is replayed, of those that it comes to."""
        listed: Iterable[ListedRule] = ()
        if not self.options.plan:
            quirks = self.hello.quirks or self.options.quirks
            listed = listed_rules(suites, self.hello, self.profile, self.options.clauses, quirks=quirks)
        return event.RulesJudged(rules=rule_results(listed, self.ended, self.found, self.occurred))

    def _verdict(self, stopped: str) -> str:
        verdict = worst_of(Counter(self.verdicts))
        if self.expected_faults and verdict in (CONFORMS, UNSUPPORTED):
            return DIVERGES
        return UNDECIDED if verdict == CONFORMS and stopped not in ("", event.TIME_LIMIT) else verdict

    def _aside(self, entry: Entry, chosen: Container[str]) -> str:
        """Why an entry does not concern this run, or ""."""
        if entry.suite not in chosen:
            return f"{entry.suite} was not chosen"
        return entry.aside(self.hello.name, self.hello.version)

    def _expected_seconds(self, suite: Suite, cases: int) -> float:
        adapter = self.stage.adapter
        if not isinstance(adapter, TakesTime):
            return 0.0
        lanes = self.stage.streams.lanes(suite) if self.stage.streams else 1
        return -(-cases // lanes) * adapter.case_seconds(suite)

    def suite(self, suite: Suite, share: float | None) -> Events:
        """Play one suite, for so many seconds at most; Stop and KeyboardInterrupt go on after its last event."""
        if self.stage.times and self.stage.turns:
            yield from self._by_turns(self.stage.turns, [suite], share)
            return
        yield from cast(Events, self._suite(suite, share))  # by itself it waits for nothing else

    def _by_turns(self, adapter: TakesTurns, suites: Sequence[Suite], limit: float | None) -> Events:
        """Play suites side by side: of those that can begin a case now, the one that has taken least time does."""
        turns = Turns(max(map(adapter.lanes, suites)), limit)
        turns.playing.update(suite.name for suite in suites if not self.hello.refuses(suite))
        parts = [_Part(self, suite, turns, limit, len(turns.playing)) for suite in suites]
        playing = [*parts]
        said = turns.began
        #: When shorter plans began to be looked for; 0 until then.
        shortens = 0.0
        try:
            while playing:
                waits_for: set[Future[object]] = set()
                for part in sorted(playing, key=_Part.place):
                    one = next(part.events, None)
                    if isinstance(one, UnderWay) and not one.started:
                        waits_for |= one.waits_for
                        continue
                    if one is None:
                        playing.remove(part)
                    elif not isinstance(one, UnderWay):
                        yield one
                    break
                else:
                    wait(waits_for, PROGRESS, FIRST_COMPLETED) if waits_for else time.sleep(0)
                if time.monotonic() - said >= PROGRESS and all(part.run for part in playing):
                    said = time.monotonic()
                    shortens = shortens or (turns.seconds if turns.shortens else 0.0)
                    yield _progress([part.run for part in parts if part.run], turns, shortens)
        except (Stop, KeyboardInterrupt) as stop:
            for part in playing:
                yield from part.ended_by(stop)
            raise
        finally:
            turns.end()

    def _suite(
        self, suite: Suite, share: float | None, part: _Part | None = None
    ) -> Generator[Event | UnderWay, None, None]:
        refused = self.hello.refuses(suite)
        given = self.options.plans.get(suite.name)
        covering: Sequence[StoredCase] = ()
        if not refused and (self.options.cover or self.options.brief):
            choose = covering_plans.cases if self.options.cover else covering_plans.first_look
            covering = choose(suite, self.profile)
        name, options = suite.name, self.options
        plans = [*options.first.get(name, []), *covering, *options.corpus.get(name, [])]
        stored = {-at: case for at, case in enumerate(plans, start=1)}
        steps = self.options.steps or suite.steps
        cases: Iterable[Numbered]
        if given is not None:
            generated, examples = len(given), 0
            cases = given.items()
        else:
            generated = suite.cases if self.options.cases is None else self.options.cases
            examples = self.options.examples_of(suite) if not refused else 0
            draw = sampler(suite, self.profile)
            cases = ((number, draw.case(self.options.seed, number, steps)) for number in range(generated))
        file = self.options.out / f"{suite.name}.plan.jsonl" if self.options.out and not refused else None
        number_of_cases = len(stored) + generated + examples
        files = [event.CorpusPlan(plan=str(case.path), case=case.number, tier=case.tier) for case in plans]
        turns = part.turns if part and not refused else None
        yield event.SuiteStarted(
            suite=suite.name,
            sentence=suite.sentence,
            cases=number_of_cases,
            steps=steps,
            plan=str(file or ""),
            corpus=files,
            hypothesis=generated if examples else None,
            expected_seconds=0.0 if refused else self._expected_seconds(suite, number_of_cases),
            turns=part.of if part and turns else 0,
        )
        expected = ExpectedDivergences(
            (entry for entry in self.options.expected if not refused and not self._aside(entry, {suite.name})),
            self.options.rulebook,
        )
        drawn = HypothesisCases(suite, self.profile, examples, self.options.seed, generated) if examples else None
        writer = plan.PlanWriter(file, suite, self.profile, self.options.seed) if file else None
        with closing(writer) if writer else nullcontext():
            run = SuiteRun(
                self.stage,
                refused,
                self.doubts,
                self.profile,
                self.options,
                suite,
                number_of_cases=number_of_cases,
                share=share,
                stored=stored,
                writer=writer,
                drawn=drawn,
                expected=expected,
                quirks=self.hello.quirks or self.options.quirks,
                turns=turns,
            )
            order = [*stored]
            if part and turns:
                part.run = run
                covers = {number: case.rows for number, case in stored.items() if case.tier == COVER}
                first = sum(number not in covers for number in order[: len(self.options.first.get(name, []))])
                order[first : first + len(covers)] = by_yield(suite, self.profile, covers)
            try:
                known = ((number, stored[number].rows) for number in order)
                yield from run.run(chain(known, cases, drawn or ()))
            finally:
                if drawn:
                    drawn.close()
                if result := run.result():
                    self.add(result)

    def add(self, result: SuiteResult) -> None:
        """Add what a suite has come to."""
        ended = result.ended
        self.last = result
        for verdict, count in ended.cases.items():
            self.totals[verdict] += count
        self.ended.append(ended)
        self.found += result.found
        self.occurred += result.occurred
        self.steps += ended.steps
        self.playing += result.playing
        self.divergences += len(result.found)
        self.signed += result.signed
        self.expected_faults += result.expected_faults
        self.silent += ended.silent_rules
        self.verdicts.append(ended.verdict)
        if ended.control is not None:
            self.controls.append(ended.control)
        self.cut_short = self.cut_short or result.cut_short


class _Part:
    """A suite that takes turns with others."""

    def __init__(self, runner: Runner, suite: Suite, turns: Turns, limit: float | None, of: int) -> None:
        self.turns = turns
        #: How many suites there are.
        self.of = of
        self.events = runner._suite(suite, limit, self)
        #: None until its first case may begin.
        self.run: SuiteRun | None = None

    def place(self) -> tuple[bool, float]:
        """Whose turn it is: stored plans come before other cases, and then who has taken least time."""
        run = self.run
        if run is None:
            return False, 0.0
        return run.cases_started >= len(run.stored), run.seconds_started

    def ended_by(self, stop: Stop | KeyboardInterrupt) -> Events:
        """The last events, once the run ends before its time."""
        with suppress(StopIteration, Stop, KeyboardInterrupt):
            one = self.events.throw(stop)
            while True:
                if not isinstance(one, UnderWay):
                    yield one
                one = next(self.events)


def _progress(runs: Sequence[SuiteRun], turns: Turns, shortens: float = 0.0) -> event.Progress:
    """How far suites are that take turns, and how long they will take: as long as their cases took until now, and
    more for their controls, and for the divergences that they have shown, and will show. Lanes help little with these:
    shorter plans, which are looked for since ``shortens`` (s; 0: not yet), come one after the other. A case that has
    begun goes on when the time is used up."""
    playing = [run for run in runs if run.ended is None]
    seconds, longest = 0.0, max((run.seconds_of_case for run in playing), default=0.0)
    of_kinds = in_a_row = 0.0
    for run in playing:
        left = run.number_of_cases - run.done
        kinds = len(run.shortening) + run.kinds / (1 + run.done) * left / 2  # new ones become rarer
        seconds += run.seconds_of_case * (left + 1) / turns.lanes
        of_kinds += run.seconds_of_case * kinds * CASES_OF_KIND / turns.lanes
        if len(run.shortening):
            in_a_row = max(in_a_row, run.seconds_of_case * IN_A_ROW)
    in_a_row -= turns.seconds - shortens if shortens else 0.0
    seconds = max(seconds + max(of_kinds, in_a_row), longest)
    if turns.limit is not None:
        seconds = min(seconds, max(0.0, turns.limit - turns.seconds) + longest)
    return event.Progress(
        suite=runs[0].suite.name if len(runs) == 1 else "",
        cases=sum(run.done for run in runs),
        of=sum(run.number_of_cases for run in runs),
        steps=sum(run.steps for run in runs),
        seconds=turns.seconds,
        divergences=sum(run.kinds for run in runs),
        left=seconds,
    )
