"""The corpus: every plan of it notices a mutant, and every mutant is noticed by one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import cache
from itertools import count

import noticing_cases

from rocketmq_conformance.conformance.engine import corpus
from rocketmq_conformance.conformance.engine.corpus import StoredCase
from rocketmq_conformance.conformance.engine.judge import Judge
from rocketmq_conformance.conformance.engine.player import Player
from rocketmq_conformance.conformance.engine.stage import Stage
from rocketmq_conformance.conformance.targets.mutants import BROKER_MUTANTS, PORT_MUTANTS, open_mutant, suites_of
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.reports.event import DIVERGES
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.suite import Row, Suite

PROFILE = Profile()
#: Mutants of timers inside the broker, which a plan shows on the machine's clock alone.
BY_TIME = {"poll-zero-at-once", "poll-checks-always"}
#: Suites whose cases leave backups behind, so that each has a broker of its own.
KEEP_FILES = {"broker-tables"}
OWN = corpus.cases([corpus.kit_folder()], SUITES.values())


def unnoticed(
    mutants: Mapping[str, Sequence[Suite]], notices: Callable[[str, Suite, list[Row]], bool]
) -> tuple[list[str], list[str]]:
    """The mutants that no plan of their suites notices, and the plans that notice none of these mutants.

    ``mutants`` are the suites of each. As few pairs are played as that takes: first the plan that is known to notice
    the mutant, and those that have noticed none.
    """
    known: dict[tuple[str, str, int], bool] = {}
    known_plans = noticing_cases.kept()

    def noticed(mutant: str, suite: Suite, case: StoredCase) -> bool:
        key = mutant, case.path.name, case.number
        if key not in known:
            known[key] = notices(mutant, suite, case.rows)
        return known[key]

    silent = {case.path.name for suites in mutants.values() for suite in suites for case in OWN[suite.name]}
    missed = []
    for mutant, suites in mutants.items():
        pairs = [(suite, case) for suite in suites for case in OWN[suite.name]]
        plan = known_plans[mutant].plan if mutant in known_plans else ""
        pairs.sort(key=lambda pair: (pair[1].path.name != plan, pair[1].path.name not in silent))
        found = next((case for suite, case in pairs if noticed(mutant, suite, case)), None)
        if found is None:
            missed.append(mutant)
        else:
            silent.discard(found.path.name)
    for mutant, suites in mutants.items():
        for suite in suites:
            for case in OWN[suite.name]:
                if case.path.name in silent and noticed(mutant, suite, case):
                    silent.discard(case.path.name)
    return missed, sorted(silent)


def test_every_plan_of_a_broker_notices_a_mutant_and_every_mutant_is_noticed() -> None:
    # held pulls are answered by the machine's clock: on a busy one an answer may be too late to be judged
    assert any(all_is_noticed_by_brokers() for _ in range(3))


def all_is_noticed_by_brokers() -> bool:
    """Does every plan notice a mutant of a broker, and is every one noticed, on brokers that are new?"""
    mutants = {name: one for name, one in BROKER_MUTANTS.items() if not one.set_up and name not in BY_TIME}
    assert BROKER_MUTANTS.keys() >= BY_TIME
    with ExitStack() as open_stages:
        numbers = count(1)

        @cache
        def stage(name: str) -> Stage:
            made = Stage(noticing_cases.open_settled(mutants[name], PROFILE), PROFILE)
            open_stages.callback(made.close)
            return made

        def notices(name: str, suite: Suite, rows: list[Row]) -> bool:
            if suite.name in KEEP_FILES:
                stage.cache_clear()
            return Player(stage(name), Judge(suite, PROFILE)).one(next(numbers), rows).verdict == DIVERGES

        suites = {name: list(suites_of(mutant)) for name, mutant in mutants.items()}
        return unnoticed(suites, notices) == ([], [])


def test_every_plan_of_a_port_notices_a_mutant_and_every_mutant_is_noticed() -> None:
    with ExitStack() as open_stages:

        @cache
        def stage(name: str) -> Stage:
            made = Stage(open_mutant(PORT_MUTANTS[name], PROFILE), PROFILE)
            open_stages.callback(made.close)
            return made

        def notices(name: str, suite: Suite, rows: list[Row]) -> bool:
            return Player(stage(name), Judge(suite, PROFILE)).one(1, rows).verdict == DIVERGES

        suites = {name: list(suites_of(mutant)) for name, mutant in PORT_MUTANTS.items()}
        missed, silent = unnoticed(suites, notices)
    assert [name for name in missed if not PORT_MUTANTS[name].equivalent] == []
    assert silent == []
