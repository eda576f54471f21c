"""A run as a library call::

    from rocketmq_conformance import run

    for event in run("port", suites=["rebalance"], cases=100, seed=1):
        print(event)

The command ``run`` takes the same events and makes its reports of them.
"""

from __future__ import annotations

import secrets
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from rocketmq_conformance.conformance.adapter import Adapter, Hello, ShowLine
from rocketmq_conformance.conformance.engine import boundary_power
from rocketmq_conformance.conformance.engine import corpus as corpora
from rocketmq_conformance.conformance.engine.doubt import Doubts
from rocketmq_conformance.conformance.engine.expected_divergences import ExpectedDivergences
from rocketmq_conformance.conformance.engine.expected_file import Entry
from rocketmq_conformance.conformance.engine.expected_file import read as read_expected
from rocketmq_conformance.conformance.engine.handshake import (
    clock_notes,
    left_out_notes,
    own_notes,
    release_choice,
)
from rocketmq_conformance.conformance.engine.judge import Judge
from rocketmq_conformance.conformance.engine.limits import LONGEST_WAIT, PATIENCE, START_TIMEOUT
from rocketmq_conformance.conformance.engine.options import Options
from rocketmq_conformance.conformance.engine.player import Player
from rocketmq_conformance.conformance.engine.rulebook_versions import RuleBook, of_version
from rocketmq_conformance.conformance.engine.runner import Events, Runner
from rocketmq_conformance.conformance.opening import Opening, opened
from rocketmq_conformance.conformance.startup import Listener, unseen
from rocketmq_conformance.conformance.suite_workers import SuiteWorkers
from rocketmq_conformance.conformance.targets.clause_steps import clause_steps
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.reports.event import INTERRUPTED, Event, ExpectedDivergence, RunEnded
from rocketmq_conformance.reports.tiers import CORPUS, COVER, HYPOTHESIS, SEEDED, TIERS
from rocketmq_conformance.suites.declare.discovery import SUITES, suite_of
from rocketmq_conformance.suites.declare.reach import UnreachableRuleError, reach
from rocketmq_conformance.suites.declare.suite import Suite


def run(
    target: str | Adapter = "port",
    *,
    suites: Sequence[str | Suite] | None = None,
    cases: int | None = None,
    steps: int | None = None,
    seed: int | None = None,
    max_time: float | None = None,
    stop_at_first: bool = False,
    tiers: Collection[str] = TIERS,
    examples: int | None = None,
    expected: Path | None = None,
    quirks: bool = False,
    rulebook: str | None = None,
    out: Path | None = None,
    releases: Mapping[str, str] | None = None,
    patience: float = PATIENCE,
    max_wait: float = LONGEST_WAIT,
    start_timeout: float = START_TIMEOUT,
    workers: int = 1,
) -> Iterator[Event]:
    """Judge an address, or an adapter: RunStarted, the events of every suite, and RunEnded with the verdict.

    ``suites`` are names, or suites of your own; without them it is every suite that the implementation offers.
    ``cases`` and ``steps`` are per suite and per case; each suite has its own defaults. ``seed`` is a random one unless
    given. ``max_time`` is in seconds of playing, ``patience`` in seconds per operation, ``max_wait`` in seconds per
    wait for a real clock, and ``start_timeout`` in seconds for getting the implementation ready. ``tiers`` says what is
    played: "cover", "corpus", "seeded", "hypothesis"; ``examples`` are the cases per suite of the last of them.
    ``expected`` is a file of divergences that are signed for; with ``quirks`` accidents of Java are judged, too, and
    with ``rulebook``, a release of the kit, divergences from newer rules are no failure. ``out`` is the folder for
    plans. ``releases`` say which release judges a side: {"client": "4.9.8", "broker": "5.1.4", "java": "11"}.
    ``workers`` is how many suites are played at a time, each in a process that opens the address for itself; a script
    that asks for several runs its own part below ``if __name__ == "__main__"``.

    ValueError for what does not exist (a suite, an address, a release), CannotRunError for what cannot be judged here,
    AdapterError for an adapter that cannot say who it is. The implementation is opened with the first event, and closed
    with the last one, or as soon as the generator is closed. KeyboardInterrupt is raised after the RunEnded of a run
    that Ctrl-C ended.
    """
    if suites is None:
        chosen = [suite for suite in SUITES.values() if suite.ordinary]
    else:
        chosen = [suite_of(one) for one in suites]
    options = Options(
        address=target if isinstance(target, str) else f"python:{type(target).__module__}:{type(target).__qualname__}",
        seed=secrets.randbelow(2**32) if seed is None else seed,
        cases=cases if SEEDED in tiers else 0,
        steps=steps,
        max_time=max_time,
        out=out,
        stop_at_first=stop_at_first,
        cover=COVER in tiers,
        examples=examples if HYPOTHESIS in tiers else 0,
        corpus=corpora.cases(corpora.folders(), chosen) if CORPUS in tiers else {},
        expected=tuple(read_expected(expected)) if expected else (),
        quirks=quirks,
        rulebook=_rulebook(rulebook) if rulebook else None,
    )
    named = suites is not None
    if workers > 1 and not _can_be_shared_out(target, chosen):
        raise ValueError("Several workers judge an address, which each of them opens, in suites of the kit.")
    if workers > 1 and stop_at_first:
        raise ValueError("Several workers play several suites at a time: leave out stop_at_first.")
    events = judge(
        target,
        chosen,
        options,
        releases=releases,
        patience=patience,
        max_wait=max_wait,
        start_timeout=start_timeout,
        named=named,
        workers=workers,
    )
    return _until_interrupted(events)


def judge(
    target: str | Adapter,
    suites: Sequence[Suite],
    options: Options,
    *,
    releases: Mapping[str, str] | None = None,
    patience: float = PATIENCE,
    max_wait: float = LONGEST_WAIT,
    start_timeout: float = START_TIMEOUT,
    on_start: Listener = unseen,
    on_line: ShowLine | None = None,
    planned: Profile | None = None,
    named: bool = False,
    rule: str = "",
    workers: int = 1,
) -> Events:
    """Open the target, ask it who it is, and run the suites; the target is closed when the generator ends.

    ``workers`` processes, if it is more than one, play so many suites of the kit at a time; each opens the address for
    itself.

    ``planned`` is the profile that the plans were written for; ``named`` says that the user chose the suites, so
    that those which the implementation does not offer are reported instead of left out. Of the suites only those are
    run that can reach the rule of the id ``rule``, if one is given; UnreachableRuleError when there are none.
    ``on_line`` is called with every line to and from an implementation that is talked to by lines.
    """
    releases = releases or {}
    judged_as = tuple(word for item in releases.items() for word in ("--with", "=".join(item)))
    if max_wait != LONGEST_WAIT:
        judged_as += ("--max-wait", f"{max_wait:g}")
    if options.quirks:
        judged_as += ("--quirks",)
    opening = Opening(target, releases, patience, max_wait, start_timeout)
    with opened(opening, suites, log=options.out, on_start=on_start, on_line=on_line) as (stage, hello, profile):
        notes = [*options.notes, *own_notes(hello), *clock_notes(hello, max_wait)]
        if planned is not None and planned != profile:
            notes.append(f"the plan was written for {planned}; it is judged by {profile}")
        if rule:
            suites = _reaching(rule, suites, hello, profile)
        elif not named and planned is None:
            offered = [suite for suite in suites if not hello.refuses(suite)]
            if offered:
                notes += left_out_notes(hello, suites)
            suites = offered or [suite for suite in suites if suite.side.value in hello.sides] or suites
        choice = release_choice(hello, releases, profile)
        options = replace(
            options, judged_as=judged_as, notes=tuple(notes), release_choice=choice, clauses=clause_steps()
        )
        play = None
        if min(workers, len(suites)) > 1:
            stage.close()  # each of the workers has its own
            play = SuiteWorkers(workers, opening, options).play
        yield from Runner(stage, hello, profile, options).run(suites, play)


def verify_expected(
    target: str | Adapter,
    entries: Sequence[Entry],
    *,
    quirks: bool = False,
    releases: Mapping[str, str] | None = None,
    patience: float = PATIENCE,
    max_wait: float = LONGEST_WAIT,
    start_timeout: float = START_TIMEOUT,
) -> list[ExpectedDivergence]:
    """Replay the plans of expected divergences, and say what became of each; ``quirks`` and errors as of ``run``."""
    asked_for = [SUITES[name] for name in {entry.suite for entry in entries} & SUITES.keys()]
    opening = Opening(target, releases or {}, patience, max_wait, start_timeout)
    with opened(opening, asked_for) as (stage, hello, profile):
        expected = [ExpectedDivergences([entry]) for entry in entries]
        aside: list[str] = []
        asked: dict[str, list[int]] = defaultdict(list)
        for at, entry in enumerate(entries):
            suite = SUITES.get(entry.suite)
            aside.append(entry.aside(hello.name, hello.version) or (hello.refuses(suite) if suite else ""))
            if suite and not aside[at] and not entry.invalid:
                asked[suite.name].append(at)
        for name, places in asked.items():
            suite = SUITES[name]
            player = Player(stage, Judge(suite, profile.judged(), quirks=hello.quirks or quirks), Doubts(hello))
            for at, judged in zip(places, player.replay([entries[at].rows for at in places]), strict=True):
                expected[at].take(suite, entries[at], judged)
        return [
            entry.event(aside=why) if why else next(one.events())
            for entry, why, one in zip(entries, aside, expected, strict=True)
        ]


def corrupt(
    target: str | Adapter,
    suites: Sequence[Suite],
    *,
    seed: int,
    cases: int | None = None,
    releases: Mapping[str, str] | None = None,
    start_timeout: float = START_TIMEOUT,
    on_start: Listener = unseen,
) -> Events:
    """Corrupt the answers of a target between it and the judge, and say what is noticed; errors as of ``run``."""
    opening = Opening(target, releases or {}, start_timeout=start_timeout)
    with opened(opening, (), on_start=on_start) as (stage, hello, profile):
        address = target if isinstance(target, str) else hello.name
        yield from boundary_power.measure(stage, hello, profile, suites, address=address, seed=seed, cases=cases)


def _reaching(rule: str, suites: Sequence[Suite], hello: Hello, profile: Profile) -> list[Suite]:
    """The suites in which the rule can fire here."""
    reasons = {suite.name: hello.refuses(suite) or reach(suite, profile)[rule] for suite in suites}
    if all(reasons.values()):
        raise UnreachableRuleError(rule, reasons)
    return [suite for suite in suites if not reasons[suite.name]]


def _can_be_shared_out(target: str | Adapter, suites: Sequence[Suite]) -> bool:
    """Can other processes open it, and find these suites by their names?"""
    return isinstance(target, str) and all(SUITES.get(suite.name) is suite for suite in suites)


def _rulebook(version: str) -> RuleBook:
    try:
        return of_version(version)
    except KeyError as error:
        raise ValueError(error.args[0]) from error


def _until_interrupted(events: Events) -> Iterator[Event]:
    """The events; Ctrl-C, which the engine turns into a verdict, ends the caller too."""
    with closing(events):
        for event in events:
            yield event
            if isinstance(event, RunEnded) and event.stopped == INTERRUPTED:
                raise KeyboardInterrupt
