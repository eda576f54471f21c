"""What each tier of a run finds for the processor that it takes: behaviours and mutants, suite by suite.

    python benchmarks/tiers.py [--seconds 1] [--mutants 6] [--seed 1] [SUITE …]

Every tier has so many CPU seconds for the port or the fake broker, its own drawing included, and as many for each
mutant of the suite. Covering plans may be through before; then what is left of the time is not used. Suites that wait
for a clock are left out.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from contextlib import chdir
from itertools import chain, islice
from tempfile import TemporaryDirectory
from typing import NamedTuple

from rocketmq_conformance.conformance.engine import covering_plans
from rocketmq_conformance.conformance.engine.covering import tours_of
from rocketmq_conformance.conformance.engine.hypothesis_cases import HypothesisCases
from rocketmq_conformance.conformance.engine.judge import Judge
from rocketmq_conformance.conformance.engine.player import Player
from rocketmq_conformance.conformance.engine.stage import Stage
from rocketmq_conformance.conformance.targets.mutant import Mutant
from rocketmq_conformance.conformance.targets.mutants import MUTANTS, open_mutant, profile_of, suites_of
from rocketmq_conformance.conformance.targets.opener import open_address
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.reports.event import DIVERGES
from rocketmq_conformance.reports.markdown_table import markdown_table
from rocketmq_conformance.reports.tiers import COVER, HYPOTHESIS, SEEDED
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.operation import Side
from rocketmq_conformance.suites.declare.sampler import sampler
from rocketmq_conformance.suites.declare.suite import Row, Suite

TIERS = (COVER, SEEDED, HYPOTHESIS)
#: Cases that no tier comes to in its time.
MANY = 1_000_000


class Found(NamedTuple):
    """What a tier found in a suite."""

    cases: int
    behaviours: int
    #: CPU seconds until each mutant was noticed, None for one that was not.
    mutants: list[float | None]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("suites", nargs="*")
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--mutants", type=int, default=6)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    names = given.suites or [name for name, suite in SUITES.items() if suite.ordinary and not suite.side.runs_by_itself]
    with TemporaryDirectory() as folder, chdir(folder):  # Hypothesis keeps its examples in the current one
        found = {name: measured(SUITES[name], given.seconds, given.mutants, given.seed) for name in names}
    heads = ["suite", *(f"{what}: {tier}" for what in ("cases", "behaviours", "mutants") for tier in TIERS)]
    print(*markdown_table(heads, map(_row, found.items()), heads[1:]), sep="\n")
    alone = {tier: sum(_alone(by_tier, tier) for by_tier in found.values()) for tier in TIERS}
    print("", *(f"Noticed by {tier} alone: {count}" for tier, count in alone.items()), sep="\n")


def _row(one: tuple[str, dict[str, Found]]) -> Iterator[str]:
    name, by_tier = one
    yield f"`{name}`"
    yield from (f"{by_tier[tier].cases:,}" for tier in TIERS)
    yield from (f"{by_tier[tier].behaviours}" for tier in TIERS)
    yield from (f"{_noticed(by_tier[tier])} of {len(by_tier[tier].mutants)}" for tier in TIERS)


def _noticed(found: Found) -> int:
    return sum(seconds is not None for seconds in found.mutants)


def _alone(by_tier: dict[str, Found], tier: str) -> int:
    """How many mutants only this tier notices."""
    others = [by_tier[other].mutants for other in TIERS if other != tier]
    each = zip(by_tier[tier].mutants, *others, strict=True)
    return sum(own is not None and all(other is None for other in rest) for own, *rest in each)


def measured(suite: Suite, seconds: float, most: int, seed: int) -> dict[str, Found]:
    """What each tier finds in a suite: the implementation is the port, or the fake broker."""
    mutants = spread([one for one in MUTANTS.values() if not one.equivalent and suite in suites_of(one)], most)
    return {
        tier: Found(
            *behaviours(suite, tier, seconds, seed), [until_noticed(suite, one, tier, seconds, seed) for one in mutants]
        )
        for tier in TIERS
    }


def spread(mutants: Sequence[Mutant], most: int) -> list[Mutant]:
    """So many of them, evenly from first to last."""
    return [mutants[at * len(mutants) // most] for at in range(most)] if len(mutants) > most else list(mutants)


def cases(suite: Suite, profile: Profile, tier: str, seed: int) -> Iterator[list[Row]]:
    """The cases of a tier, one after the other."""
    if tier == COVER:
        yield from (case.rows for case in covering_plans.cases(suite, profile))
    elif tier == SEEDED:
        draw = sampler(suite, profile)
        yield from (draw.case(seed, number, suite.steps) for number in range(MANY))
    else:
        search = HypothesisCases(suite, profile, MANY, seed)
        try:
            yield from (rows for _, rows in search)
        finally:
            search.close()


def played(suite: Suite, stage: Stage, tier: str, seconds: float, seed: int) -> Iterator[tuple[list[Row], bool, float]]:
    """The cases of a tier that were played in its time: whether each diverges, and the CPU seconds until then."""
    player = Player(stage, Judge(suite, stage.profile))
    drawn = cases(suite, stage.profile, tier, seed)
    first = [*islice(drawn, 1)]  # plans are read and Hypothesis is set up once, however long a run is
    begun = time.process_time()
    for number, rows in enumerate(chain(first, drawn)):
        diverges = player.one(number, rows).verdict == DIVERGES
        spent = time.process_time() - begun
        yield rows, diverges, spent
        if spent > seconds:
            return


def behaviours(suite: Suite, tier: str, seconds: float, seed: int) -> tuple[int, int]:
    """The cases that a tier plays in its time, and the behaviours that they show."""
    profile = Profile()
    stage = Stage(open_address("broker" if suite.side is Side.BROKER else "port"), profile)
    plans = [rows for rows, _, _ in played(suite, stage, tier, seconds, seed)]
    stage.close()
    tours = tours_of(suite, profile)
    return len(plans), len({one for rows in plans for step in tours.play(rows) for one in step.behaviours})


def until_noticed(suite: Suite, mutant: Mutant, tier: str, seconds: float, seed: int) -> float | None:
    """CPU seconds until a tier notices a mutant; None when it does not in its time."""
    profile = profile_of(mutant, Profile())
    stage = Stage(open_mutant(mutant, profile), profile)
    stage.adapter.hello()
    try:
        return next((spent for _, diverges, spent in played(suite, stage, tier, seconds, seed) if diverges), None)
    finally:
        stage.close()


if __name__ == "__main__":
    main()
