"""The cases that notice mutants, found once and kept in ``tests/data/noticing_cases.json``: tests play them alone.

``rocketmq-conformance regenerate`` looks anew for those that notice their mutant no longer, from the first case on, as
``power`` does.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import NamedTuple

from places import ROOT
from simulated_clock import SimulatedClock

from rocketmq_conformance.conformance.adapter import Adapter
from rocketmq_conformance.conformance.engine import corpus, covering_plans
from rocketmq_conformance.conformance.engine.judge import Judge, Judged
from rocketmq_conformance.conformance.engine.stage import Stage
from rocketmq_conformance.conformance.targets import mutation_score
from rocketmq_conformance.conformance.targets.broker.adapter import BrokerAdapter
from rocketmq_conformance.conformance.targets.broker.fake_location import FakeLocation
from rocketmq_conformance.conformance.targets.broker.mutant import BrokerMutant
from rocketmq_conformance.conformance.targets.mutant import Mutant
from rocketmq_conformance.conformance.targets.mutants import MUTANTS, open_mutant, profile_of, suites_of
from rocketmq_conformance.conformance.waiting import SteadyClock
from rocketmq_conformance.models.broker.configuration import STRICT_LOCKS
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.reports.event import DIVERGES
from rocketmq_conformance.reports.measurement_event import KILLED
from rocketmq_conformance.reports.tiers import COVER, SEEDED
from rocketmq_conformance.suites import broker_polling
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.sampler import sampler

FILE = ROOT / "tests" / "data" / "noticing_cases.json"
SEED = 11
#: Cases within which a mutant of the port is noticed, and one of a broker.
CASES, BROKER_CASES = 2000, 200


class NoticingCase(NamedTuple):
    """A case of a suite, by its number: from the seed, or of the covering plans."""

    suite: str
    tier: str
    number: int


class Noticing(NamedTuple):
    """What notices a mutant: a case, and the file of the corpus whose plan does, "" for none."""

    case: NoticingCase
    plan: str


def kept() -> dict[str, Noticing]:
    """By mutant; those in whose answers the machine's clock has a part are not among them."""
    return {name: Noticing(NoticingCase(*case), plan) for name, (*case, plan) in json.loads(FILE.read_text()).items()}


def clock_of(profile: Profile) -> SteadyClock:
    """A clock that no other process changes, but in strict mode: then locks are released a few ms after the answer."""
    return time if STRICT_LOCKS in dict(profile.configuration) else SimulatedClock()


def open_settled(mutant: Mutant, profile: Profile, clock: SteadyClock | None = None) -> Adapter:
    """A mutant; one of a broker has handled everything it received whenever simulated time passes."""
    if not isinstance(mutant, BrokerMutant):
        return open_mutant(mutant, profile)
    clock = clock or clock_of(profile_of(mutant, profile))
    location = FakeLocation(profile_of(mutant, profile), mutant.parts, clock=clock)
    if isinstance(clock, SimulatedClock):
        clock.meanwhile = location.settle
    return BrokerAdapter(location, clock)


def notices(mutant: Mutant, case: NoticingCase) -> bool:
    """Is a mutant noticed by one case, played alone, and with a rule? Not by a covering plan that there was once."""
    if case.tier == COVER and case.number >= len(
        covering_plans.cases(SUITES[case.suite], profile_of(mutant, Profile()))
    ):
        return False
    judged = play(mutant, case)
    return judged.verdict == DIVERGES and bool(judged.steps[-1].why.rules)


def play(mutant: Mutant, case: NoticingCase) -> Judged:
    """One case, played alone: what a mutant remembers of cases before does not count."""
    suite, profile = SUITES[case.suite], profile_of(mutant, Profile())
    if case.tier == COVER:
        rows = covering_plans.cases(suite, profile)[case.number].rows
    else:
        rows = sampler(suite, profile).case(SEED, case.number, suite.steps)
    adapter = open_settled(mutant, profile)
    stage = Stage(adapter, profile)
    try:
        adapter.hello()
        stage.begin(suite, case.number)
        return Judge(suite, profile).judge(rows, lambda row: stage.do(suite, row))
    finally:
        stage.close()


def find(mutant: Mutant) -> NoticingCase | None:
    """The first case that notices a mutant: a covering plan, or within so many from the seed, which come first for a
    broker."""
    of_broker = isinstance(mutant, BrokerMutant)
    for tier in (SEEDED, COVER) if of_broker else (COVER, SEEDED):
        judged = mutation_score.judge_mutant(
            mutant,
            Profile(),
            SEED,
            BROKER_CASES if of_broker else CASES,
            clock=clock_of(profile_of(mutant, Profile())),
            tier=tier,
        )
        if judged.status == KILLED and judged.rule:
            return NoticingCase(judged.suite, tier, judged.cases - 1)
    return None


def is_within(mutant: Mutant, case: NoticingCase) -> bool:
    """Is it a case of the mutant's suites that ``find`` would come to?"""
    of_broker = isinstance(mutant, BrokerMutant)
    limit = BROKER_CASES if of_broker else CASES
    named = case.suite in {suite.name for suite in suites_of(mutant)}
    return named and case.number < limit and case.tier in (COVER, SEEDED)


def is_timed(mutant: Mutant) -> bool:
    """Has the machine's clock a part in its answers, or luck? Then another case may notice it every time."""
    of_polls = any(suite.name == broker_polling.SUITE.name or suite.tries > 1 for suite in suites_of(mutant))
    return of_polls or clock_of(profile_of(mutant, Profile())) is time


def noticed(mutant: Mutant, by: Mapping[str, Noticing]) -> bool:
    """Is a mutant noticed by the case that is kept, or, where the machine's clock has a part in it, by any?"""
    if is_timed(mutant):  # a second try, as luck may fail one
        return find(mutant) is not None or find(mutant) is not None
    return mutant.name in by and notices(mutant, by[mutant.name].case)


def find_missing() -> list[str]:
    """Look anew for what notices its mutant no longer; the names of the mutants that no case notices."""
    before = kept() if FILE.exists() else {}
    plans = corpus.cases([corpus.kit_folder()], SUITES.values())
    files = {plan.path.name for some in plans.values() for plan in some}
    after: dict[str, Noticing] = {}
    missing = []
    for name, mutant in expected().items():
        case = before[name].case if noticed(mutant, before) else find(mutant)
        if case is None or not notices(mutant, case):
            missing.append(name)
            continue
        plan = before[name].plan if name in before else ""
        if plan not in files and mutation_score.plan_can_notice(mutant):
            found = mutation_score.noticing_plan(mutant, plans)
            plan = found.path.name if found else ""
        after[name] = Noticing(case, plan)
    lines = (f"{json.dumps(name)}: {json.dumps([*one.case, one.plan])}" for name, one in after.items())
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")
    return missing


def expected() -> dict[str, Mutant]:
    """The mutants of which a case is kept."""
    return {name: mutant for name, mutant in sorted(MUTANTS.items()) if not mutant.equivalent and not is_timed(mutant)}
