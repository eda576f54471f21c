"""The mutation score: judges mutants, and reports which suite and rule noticed each of them first."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from itertools import zip_longest
from pathlib import Path

from rocketmq_conformance import __version__
from rocketmq_conformance.conformance.engine import covering_plans, plan
from rocketmq_conformance.conformance.engine.corpus import StoredCase
from rocketmq_conformance.conformance.engine.divergence import plan_file
from rocketmq_conformance.conformance.engine.judge import Judge, Judged, fingerprint_of
from rocketmq_conformance.conformance.engine.player import BROKEN, Player
from rocketmq_conformance.conformance.engine.runner import Events
from rocketmq_conformance.conformance.engine.selection import select, selection_notes
from rocketmq_conformance.conformance.engine.shrink import shrink
from rocketmq_conformance.conformance.engine.stage import Stage
from rocketmq_conformance.conformance.targets.broker.mutant import BrokerMutant
from rocketmq_conformance.conformance.targets.mutant import Mutant
from rocketmq_conformance.conformance.targets.mutants import MUTANTS, open_mutant, profile_of, suites_of
from rocketmq_conformance.conformance.waiting import SteadyClock
from rocketmq_conformance.models import rulebook
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.reports import event, measurement_event
from rocketmq_conformance.reports.event import DIVERGES
from rocketmq_conformance.reports.tiers import COVER, SEEDED
from rocketmq_conformance.suites.declare.sampler import sampler
from rocketmq_conformance.suites.declare.suite import Row, Suite


def measure(names: Sequence[str], seed: int, limit: int, plans: Path | None = None, *, tier: str = SEEDED) -> Events:
    """Judge mutants, all when no names are given; the last event, PowerEnded, has the exit code: 0 when each that is
    not equivalent is noticed, else 1, or 3 when KeyboardInterrupt ended it.

    A name may be a pattern. ``tier`` says what is played: generated cases, or the covering plans. ``plans`` is a folder
    for minimal plans that kill mutants: a folder of its own for each. KeyError with a sentence for a name that no
    mutant has.
    """
    selected = {name: select(name, MUTANTS) for name in names}
    for name, found in selected.items():
        if not found:
            raise KeyError(f"No mutant is called {name!r}, or matches it (`list mutants` names them all).")
    chosen = {found: MUTANTS[found] for some in selected.values() for found in some} or MUTANTS
    profile = Profile()
    begin = time.monotonic()
    counts = {measurement_event.KILLED: 0, measurement_event.SURVIVED: 0, measurement_event.EQUIVALENT: 0}
    stopped = ""
    try:
        yield measurement_event.PowerStarted(
            format=event.FORMAT,
            kit=__version__,
            rulebook=rulebook.digest(),
            profile=plan.profile_json(profile),
            seed=seed,
            mutants=len(chosen),
            limit=limit,
            started=datetime.now(UTC).isoformat(timespec="seconds"),
            notes=selection_notes(names, MUTANTS),
        )
        for mutant in chosen.values():
            judged = judge_mutant(mutant, profile, seed, limit, plans / mutant.name if plans else None, tier=tier)
            counts[judged.status] += 1
            yield judged
    except KeyboardInterrupt:
        stopped = event.INTERRUPTED
    yield measurement_event.PowerEnded(
        killed=counts[measurement_event.KILLED],
        survived=counts[measurement_event.SURVIVED],
        equivalent=counts[measurement_event.EQUIVALENT],
        seconds=time.monotonic() - begin,
        exit_code=3 if stopped else 1 if counts[measurement_event.SURVIVED] else 0,
        stopped=stopped,
    )


def judge_mutant(
    mutant: Mutant,
    profile: Profile,
    seed: int,
    limit: int,
    plans: Path | None = None,
    clock: SteadyClock = time,
    *,
    tier: str = SEEDED,
) -> measurement_event.MutantJudged:
    """Run the suites of the mutant's parts, case by case in turn, until one diverges or ``limit`` cases have run.

    Cases are generated, or by the tier COVER the covering plans. The minimal plan that shows it is kept in the folder
    ``plans``.
    """
    profile = profile_of(mutant, profile)
    adapter = open_mutant(mutant, profile, clock=clock)
    adapter.hello()
    stage = Stage(adapter, profile)
    judges = [Judge(suite, profile) for suite in suites_of(mutant)]
    at_once = [stage.step_player(judge.suite) for judge in judges]
    drawn = [_cases(judge.suite, profile, seed, limit, tier) for judge in judges]
    steps = 0
    try:
        for number, plans_of_all in enumerate(zip_longest(*drawn)):
            for judge, play, rows in zip(judges, at_once, plans_of_all, strict=True):
                if rows is None:
                    continue
                suite = judge.suite
                stage.begin(suite, number)
                if play is not None:
                    agreed = judge.agrees_at_once(rows, play)
                    if agreed is not None:
                        steps += agreed.steps
                        continue
                    stage.begin(suite, number)
                judged = judge.judge(rows, lambda row, suite=suite: stage.do(suite, row))  # type: ignore[misc]
                steps += len(judged.steps)
                if judged.verdict == DIVERGES:
                    if plans and plan_can_notice(mutant):
                        _keep(plans, judged, Player(stage, judge), seed, number)
                    rule = judged.steps[-1].why.rules[0]
                    return _mutant_judged(mutant, measurement_event.KILLED, suite.name, rule, number + 1, steps)
            if mutant.equivalent and number >= limit // 10:
                break
    finally:
        stage.close()
    status = measurement_event.EQUIVALENT if mutant.equivalent else measurement_event.SURVIVED
    return _mutant_judged(mutant, status, "", "", limit, steps)


def _cases(suite: Suite, profile: Profile, seed: int, limit: int, tier: str) -> Iterator[list[Row]]:
    """The cases of a suite that a mutant is given, ``limit`` at most."""
    if tier == COVER:
        return (case.rows for case in covering_plans.cases(suite, profile)[:limit])
    draw = sampler(suite, profile)
    return (draw.case(seed, number, suite.steps) for number in range(limit))


def plan_can_notice(mutant: Mutant) -> bool:
    """Can a plan notice the mutant?"""
    return not mutant.equivalent and not (isinstance(mutant, BrokerMutant) and mutant.set_up)


def noticing_plan(mutant: Mutant, plans: Mapping[str, Sequence[StoredCase]]) -> StoredCase | None:
    """The first plan of a corpus, by suite, that notices the mutant."""
    profile = Profile()
    for suite in suites_of(mutant):
        judge = Judge(suite, profile)
        for case in plans[suite.name]:
            if suite.lacking(profile, case.rows):
                continue
            stage = Stage(open_mutant(mutant, profile), profile)
            try:
                if Player(stage, judge).one(1, case.rows).verdict == DIVERGES:
                    return case
            finally:
                stage.close()
    return None


def _keep(plans: Path, judged: Judged, player: Player, seed: int, number: int) -> None:
    """Shrink a case that diverges, and write its minimal plan; nothing when the mutant breaks meanwhile."""
    judge = player.judge
    with suppress(*BROKEN):
        shrunk = shrink(judge, lambda rows: player.execute(rows, number), judged).judged
        file = plan_file(plans, judge.suite, fingerprint_of(judge.suite, shrunk.steps[-1]))
        plan.write(file, judge.suite, player.stage.profile, seed, [(number, shrunk.rows)])


def _mutant_judged(
    mutant: Mutant, status: str, suite: str, rule: str, cases: int, steps: int
) -> measurement_event.MutantJudged:
    return measurement_event.MutantJudged(
        name=mutant.name,
        defect=mutant.defect,
        sentence=mutant.sentence,
        status=status,
        suite=suite,
        rule=rule,
        cases=cases,
        steps=steps,
        reason=mutant.equivalent,
    )
