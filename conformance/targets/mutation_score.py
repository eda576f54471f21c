"""The mutation score: judges mutants, and reports which suite and rule noticed each of them first."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from rocketmq_conformance import __version__
from rocketmq_conformance.conformance.engine import plan
from rocketmq_conformance.conformance.engine.judge import Judge
from rocketmq_conformance.conformance.engine.stage import Stage
from rocketmq_conformance.conformance.engine.steady_clock import SteadyClock
from rocketmq_conformance.conformance.targets.mutant import Mutant
from rocketmq_conformance.conformance.targets.mutants import MUTANTS, open_mutant, suites_of
from rocketmq_conformance.models import rulebook
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.reports import event
from rocketmq_conformance.reports.event import DIVERGES, Event
from rocketmq_conformance.suites.declare.sampler import sampler

Emit = Callable[[Event], None]


def measure(names: Sequence[str], seed: int, limit: int, emit: Emit) -> int:
    """Judge mutants (all when no names are given); 0 when each that is not equivalent is noticed, else 1.

    KeyError with a sentence for a name that no mutant has.
    """
    unknown = [name for name in names if name not in MUTANTS]
    if unknown:
        raise KeyError(f"No mutant is called {unknown[0]!r} (`list mutants` names them all).")
    chosen = [MUTANTS[name] for name in names] or list(MUTANTS.values())
    profile = Profile()
    begin = time.monotonic()
    emit(
        event.PowerStarted(
            format=event.FORMAT,
            kit=__version__,
            rulebook=rulebook.digest(),
            profile=plan.profile_json(profile),
            seed=seed,
            mutants=len(chosen),
            limit=limit,
            started=datetime.now(UTC).isoformat(timespec="seconds"),
        )
    )
    counts = {event.KILLED: 0, event.SURVIVED: 0, event.EQUIVALENT: 0}
    stopped = ""
    try:
        for mutant in chosen:
            judged = judge_mutant(mutant, profile, seed, limit)
            counts[judged.status] += 1
            emit(judged)
    except KeyboardInterrupt:
        stopped = event.INTERRUPTED
    code = 3 if stopped else 1 if counts[event.SURVIVED] else 0
    emit(
        event.PowerEnded(
            killed=counts[event.KILLED],
            survived=counts[event.SURVIVED],
            equivalent=counts[event.EQUIVALENT],
            seconds=time.monotonic() - begin,
            exit_code=code,
            stopped=stopped,
        )
    )
    return code


def judge_mutant(
    mutant: Mutant, profile: Profile, seed: int, limit: int, clock: SteadyClock = time
) -> event.MutantJudged:
    """Run the suites of the mutant's parts, case by case in turn, until one diverges or ``limit`` cases have run."""
    stage = Stage(open_mutant(mutant, profile, clock=clock), profile)
    judges = [Judge(suite, profile) for suite in suites_of(mutant)]
    steps = 0
    try:
        for number in range(limit):
            for judge in judges:
                suite = judge.suite
                rows = sampler(suite, profile).case(seed, number, suite.steps)
                stage.begin(suite, number)
                judged = judge.judge(rows, lambda row, suite=suite: stage.do(suite, row))  # type: ignore[misc]
                steps += len(judged.steps)
                if judged.verdict == DIVERGES:
                    rule = judged.steps[-1].why.rules[0]
                    return _mutant_judged(mutant, event.KILLED, suite.name, rule, number + 1, steps)
            if mutant.equivalent and number >= limit // 10:
                break
    finally:
        stage.close()
    status = event.EQUIVALENT if mutant.equivalent else event.SURVIVED
    return _mutant_judged(mutant, status, "", "", limit, steps)


def _mutant_judged(mutant: Mutant, status: str, suite: str, rule: str, cases: int, steps: int) -> event.MutantJudged:
    return event.MutantJudged(
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
