"""Covering plans against random cases of the same sampler: behaviours and mutants by the number of steps.

    python benchmarks/covering.py [--cases 16000] [--processes N] [--mutants FILE.csv] [SUITE …]

prints the tables of docs/explanation/covering.md and writes for every mutant the steps until it is noticed. The random
cases are none of those that the plans were searched in.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import tee
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

from rocketmq_conformance.conformance.engine import covering_plans
from rocketmq_conformance.conformance.engine.covering import tours_of
from rocketmq_conformance.conformance.engine.model_tour import Tours
from rocketmq_conformance.conformance.targets.mutants import MUTANTS
from rocketmq_conformance.conformance.targets.mutation_score import judge_mutant
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.reports.markdown_table import markdown_table
from rocketmq_conformance.reports.measurement_event import KILLED
from rocketmq_conformance.reports.tiers import COVER, SEEDED
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.reach import reachable
from rocketmq_conformance.suites.declare.sampler import sampler
from rocketmq_conformance.suites.declare.suite import Row, Suite

#: Numbers of steps at which the curves are read.
POINTS = (3, 10, 30, 100, 300, 1000, 3000, 10_000)
#: Random cases of a suite that only runs when it is named, for one of the others.
SLOW = 40
#: Seed of the random cases: far from those of the search for the plans, which has the first ones.
SEED = 1000
#: That of the cases by which mutants are judged.
MUTANTS_SEED = 2
#: Cases after which a mutant survives.
LIMIT = 2000


class Reached(NamedTuple):
    """What a suite's plans reach."""

    suite: str
    plans: int
    steps: int
    rules: int
    unreached: int
    behaviours: int
    random_cases: int
    random_behaviours: int
    #: Behaviours of random cases that no plan has, by operation, rules, kind of state and class of the answer, and the
    #: first case that shows each.
    missed: dict[tuple[str, str, str, str], int]
    #: Rules of random cases with the kind of state and the class of the answer, and those of them that no plan has.
    of_each_rule: tuple[int, int]
    #: Behaviours after each of POINTS steps: of the plans, and of random cases.
    curve: list[int]
    random_curve: list[int]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("suites", nargs="*")
    parser.add_argument("--cases", type=int, default=16_000)
    parser.add_argument("--processes", type=int, help="as many as there are cores, if absent")
    parser.add_argument("--mutants", type=Path)
    given = parser.parse_args()
    names = given.suites or [*SUITES]
    heads = (
        *("suite", "plans", "steps", "rules, not reached", "behaviours", "random cases", "their behaviours", "missed"),
        *("of each rule", "missed"),
    )
    with ProcessPoolExecutor(given.processes) as processes:
        shown, kept = tee(processes.map(partial(reached, cases=given.cases), names))
        for line in markdown_table(heads, map(_row, shown), heads[1:]):
            print(line, flush=True)
        found = [*kept]
        missed(found)
        names = [] if given.suites else [name for name, mutant in MUTANTS.items() if not mutant.equivalent]
        noticed = [*processes.map(steps_to_notice, names)]
    curves(found, noticed)
    if given.mutants:
        with given.mutants.open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([HEAD, *noticed])


def _row(one: Reached) -> Iterator[str]:
    counts = (one.plans, one.steps, f"{one.rules}, {one.unreached}", *one[5:8], len(one.missed), *one.of_each_rule)
    return map(str, (f"`{one.suite}`", *counts))


def missed(found: list[Reached]) -> None:
    """Print the behaviours of random cases that no plan has."""
    rows = (
        (*(f"`{part}`" for part in (one.suite, *behaviour)), str(case))
        for one in found
        for behaviour, case in one.missed.items()
    )
    columns = ("suite", "operation", "rules", "state", "answer", "first case")
    print("", *markdown_table(columns, rows, {"first case"}), sep="\n", flush=True)


def curves(found: list[Reached], noticed: list[tuple[Any, ...]]) -> None:
    """Print the shares of behaviours and mutants by steps."""
    rows = []
    for at, point in enumerate(POINTS):
        covering = mean(one.curve[at] / max(one.behaviours, one.random_behaviours) for one in found)
        random = mean(one.random_curve[at] / max(one.behaviours, one.random_behaviours) for one in found)
        shares = [f"{covering:.1%}", f"{random:.1%}"]
        if noticed:
            shares += [f"{mean(bool(one[k]) and one[k] <= point for one in noticed):.1%}" for k in (2, 4)]
        rows.append((f"{point:,}", *shares))
    heads = "steps", "behaviours: covering", "random", "mutants: covering", "random"
    print("", *markdown_table(heads, rows, heads), sep="\n")
    if noticed:
        counts = [sum(bool(one[k]) for one in noticed) for k in (2, 4)]
        print(f"\n{counts[0]} of {len(noticed)} mutants are noticed by covering plans, {counts[1]} by random cases.")


def reached(name: str, cases: int) -> Reached:
    """Measure a suite."""
    suite, profile = SUITES[name], Profile()
    tours = tours_of(suite, profile)
    plans = [case.rows for case in covering_plans.cases(suite, profile)]
    cases = cases if suite.ordinary else cases // SLOW
    drawn = sampler(suite, profile)
    covered, curve = measured(tours, plans)
    random, random_curve = measured(tours, (drawn.case(SEED, number, suite.steps) for number in range(cases)))
    rules = {rule for plan in plans for step in tours.play(plan) for rule in step.behaviour[1]}
    wanted = {*reachable(suite, profile)}
    return Reached(
        name,
        len(plans),
        sum(map(len, plans)),
        len(wanted),
        len(wanted - rules),
        len(covered),
        cases,
        len(random),
        {named(suite, behaviour): case for behaviour, case in random.items() if behaviour not in covered},
        (len(of_each_rule(random)), len(of_each_rule(random) - of_each_rule(covered))),
        curve,
        random_curve,
    )


def of_each_rule(behaviours: Iterable[Any]) -> set[tuple[str, str, str]]:
    """Behaviours as coverage counts them: each rule with the kind of state and the class of the answer."""
    return {
        (rule, kind, answered)
        for _, rules, kind, answered in behaviours
        for rule in ([rules] if isinstance(rules, str) else rules)
    }


def named(suite: Suite, behaviour: Any) -> tuple[str, str, str, str]:
    """A behaviour in words; a suite of whole clients has one rule in each."""
    at, rules, kind, answered = behaviour
    return suite.operations[at].spec.name, rules if isinstance(rules, str) else " ".join(rules), kind, answered


def measured(tours: Tours, plans: Iterable[list[Row]]) -> tuple[dict[Any, int], list[int]]:
    """The behaviours of plans, each with the number of the first plan, and how many there are after each of POINTS
    steps."""
    seen: dict[Any, int] = {}
    curve: list[int] = []
    waiting = iter(POINTS)
    point = next(waiting)
    for number, (plan, shown) in enumerate(behaviours(tours, plans), start=1):
        for behaviour in shown:
            seen.setdefault(behaviour, plan)
        if number == point:
            curve.append(len(seen))
            point = next(waiting, 0)
    return seen, curve + [len(seen)] * (len(POINTS) - len(curve))


def behaviours(tours: Tours, plans: Iterable[list[Row]]) -> Iterator[tuple[int, Iterable[Any]]]:
    """The behaviours of each step, with the number of its plan."""
    for number, plan in enumerate(plans):
        for step in tours.play(plan):
            yield number, step.behaviours


HEAD = ("mutant", "suite by covering plans", "steps", "suite by random cases", "steps")


def steps_to_notice(name: str) -> tuple[Any, ...]:
    """The suites that notice a mutant, and after how many steps of all suites that may: nothing when none does."""
    row: list[Any] = [name]
    for tier in (COVER, SEEDED):
        judged = judge_mutant(MUTANTS[name], Profile(), MUTANTS_SEED, LIMIT, tier=tier)
        row += [judged.suite, judged.steps if judged.status == KILLED else ""]
    return tuple(row)


if __name__ == "__main__":
    main()
