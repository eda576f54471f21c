"""Covering plans: found in the model, few, short, the same every time, and played before anything else."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from command_line import kit
from every import every

from rocketmq_conformance.conformance.api import run
from rocketmq_conformance.conformance.engine import covering, covering_plans
from rocketmq_conformance.conformance.engine.covering import (
    OTHERS,
    SEED,
    Effort,
    Rows,
    chosen,
    found_from,
    is_costly,
    rare,
    searched,
    tours_of,
)
from rocketmq_conformance.conformance.engine.model_tour import Tours, counted, shown
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Answer
from rocketmq_conformance.reports.event import CONFORMS, UNDECIDED, CaseEnded, DivergenceFound, SuiteEnded, SuiteStarted
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.reach import reachable
from rocketmq_conformance.suites.declare.sampler import Sampler
from rocketmq_conformance.suites.declare.suite import BoundModel, Handler, Suite

STORE, PULL = SUITES["remote-store"], SUITES["start-pull"]
SMALL = Effort(cases=60, pairs=20, of_release=20, probes=10, fruitless=50, others=60)
#: Rules that need more than the cases of a search, each with the reason.
FOUND_ELSEWHERE: dict[str, str] = {}


def behaviours_of(suite: Suite, profile: Profile) -> Tours:
    """Tours that look at behaviours as covering plans of the suite show them, and at nothing else."""
    return Tours(suite, profile, each_rule=suite.side.runs_by_itself)


def seen_in(suite: Suite, profile: Profile, cases: int, seed: int = SEED) -> set[object]:
    """The behaviours of the first so many cases that a search looks at."""
    tours, drawn = behaviours_of(suite, profile), Sampler(suite, profile)
    return {
        one
        for case in range(cases)
        for step in tours.play(drawn.case(seed, case, suite.steps))
        for one in step.behaviours
    }


@cache
def found(suite: Suite, effort: Effort) -> list[Rows]:
    """The plans that a search finds, once for all tests."""
    return searched(suite, effort)


@every("suite", SUITES.values())
def test_the_plans_of_the_kit_show_what_cases_show_and_every_rule_that_can_fire(suite: Suite) -> None:
    tours = behaviours_of(suite, Profile())
    steps = [step for plan in covering_plans.stored(suite) for step in tours.play(plan)]
    missed = {*reachable(suite, Profile())} - {rule for rule, _, _ in counted(step.behaviour for step in steps)}
    assert missed <= FOUND_ELSEWHERE.keys()
    covered = {one for step in steps for one in step.behaviours}
    cases = 10 if is_costly(suite) else 60
    for seed in (SEED, OTHERS):
        seen = seen_in(suite, Profile(), cases, seed)
        assert seen <= covered, "python -m rocketmq_conformance regenerate --covering"


@every("suite", [suite for suite in SUITES.values() if not suite.ordinary and suite.repeatable])
def test_where_brokers_are_restarted_the_plans_ask_what_became_of_each_change(suite: Suite) -> None:
    tours, drawn = tours_of(suite, Profile()), Sampler(suite, Profile())
    asked = {pair for plan in covering_plans.stored(suite) for step in tours.play(plan) for pair in step.pairs}
    seen = {
        pair for case in range(3) for step in tours.play(drawn.case(SEED, case, suite.steps)) for pair in step.pairs
    }
    assert seen
    assert seen <= asked


def test_a_question_changes_nothing_and_comes_after_a_change() -> None:
    suite = SUITES["broker-tables"]
    tours, drawn = tours_of(suite, Profile()), Sampler(suite, Profile())
    before, changed, questions = tours.begin, False, 0
    for step in tours.play(drawn.case(SEED, 0, suite.steps)):
        changes = step.after.state != before.state
        assert bool(step.pairs) == (changed and not changes)
        changed, questions, before = changed or changes, questions + bool(step.pairs), step.after
    assert questions > 5


def test_a_search_finds_the_same_plans_every_time() -> None:
    assert searched(STORE, SMALL) == found(STORE, SMALL)


def test_a_search_shows_what_its_cases_show_in_fewer_steps() -> None:
    plans = list(chosen(STORE, Profile(), found(STORE, SMALL)))
    assert seen_in(STORE, Profile(), SMALL.cases) <= {
        one for plan in plans for step in Tours(STORE, Profile()).play(plan) for one in step.behaviours
    }
    assert sum(map(len, plans)) < SMALL.cases * STORE.steps / 2


def test_rules_that_only_older_releases_reach_are_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    suite, older = SUITES["rebalance-orderly"], Profile.of("4.9.8")
    monkeypatch.setattr(covering, "_judged", lambda suite: [older])
    *others, last = covering_plans.stored(suite)
    assert rare(suite, [*others, last], 0) == []
    (plan,) = rare(suite, others, 1000)
    assert "REB-CLU-ROUTE" in {rule for step in tours_of(suite, older).play(plan) for rule in step.behaviour[1]}
    assert len(plan) < 10


def shown_by_push(fruitless: int = 0, others: int = 0) -> set[object]:
    """The behaviours that plans of whole-push show, of a search in forty cases and so many more."""
    suite = SUITES["whole-push"]
    plans, tours = found(suite, Effort(40, 0, 0, 0, fruitless, others)), tours_of(suite, Profile())
    assert max(map(len, plans)) <= suite.steps
    return {one for plan in plans for step in tours.play(plan) for one in step.behaviours}


def test_a_search_goes_on_from_what_it_has_found() -> None:
    by_cases, further = shown_by_push(), shown_by_push(fruitless=100)
    assert by_cases < further
    assert len(further) > 1.3 * len(by_cases)


def test_a_search_shows_what_cases_of_another_seed_show() -> None:
    by_others = seen_in(SUITES["whole-push"], Profile(), 40, OTHERS)
    assert shown_by_push() | by_others <= shown_by_push(others=40)
    assert not by_others <= shown_by_push()


def test_no_step_of_a_plan_is_needless() -> None:
    plans = searched(PULL, SMALL._replace(pairs=0, of_release=0))
    tours = Tours(PULL, Profile(), uses=True)
    everything = [shown(tours.play(plan), pairs=False) for plan in plans]
    needless = []
    for at, plan in enumerate(plans):
        others = set().union(*everything[:at], *everything[at + 1 :])
        for step in range(len(plan)):
            left = shown(tours.play(plan[:step] + plan[step + 1 :]), pairs=False)
            if everything[at] <= others | left:
                needless.append((at, step))
    assert needless == []


def test_an_old_release_is_searched_too_and_gets_its_own_choice() -> None:
    old = Profile.of("4.9.8")
    plans = found(STORE, SMALL)
    by_old = list(chosen(STORE, old, plans))
    assert seen_in(STORE, old, SMALL.of_release) <= {
        step.behaviour for plan in by_old for step in Tours(STORE, old).play(plan)
    }
    assert not any(STORE.lacking(old, plan) for plan in by_old)


def with_kinds(suite: Suite, kind_of: Callable[[str], str]) -> Suite:
    """A suite whose model calls kinds of states otherwise."""

    def changed(handler: Handler) -> Handler:
        def answer(*args: object) -> Answer[Any]:
            state, result, why = handler(*args)
            return state, result, replace(why, kind=kind_of(why.kind))

        return answer

    def bind(*world: Any) -> BoundModel:
        bound = suite.bind(*world)
        return replace(bound, handlers={op: changed(handler) for op, handler in bound.handlers.items()})

    return replace(suite, bind=bind)


def test_plans_are_stale_when_the_model_tells_other_things_apart() -> None:
    suite = SUITES["remote-store"]
    plans = covering_plans.stored(suite)
    before = found_from(suite, plans)
    assert found_from(with_kinds(suite, "other {}".format), plans) == before
    kinds = sorted({step.behaviour[2] for plan in plans for step in Tours(suite, Profile()).play(plan)})
    assert found_from(with_kinds(suite, lambda kind: kinds[1] if kind == kinds[0] else kind), plans) != before


def test_plans_are_stale_when_a_suite_tries_other_values_or_in_another_measure(monkeypatch: pytest.MonkeyPatch) -> None:
    suite = SUITES["remote-store"]
    plans = covering_plans.stored(suite)
    before = found_from(suite, plans)
    assert found_from(suite, plans[1:]) != before
    monkeypatch.setattr(suite.operations[0], "spec", replace(suite.operations[0].spec, weight=50))
    assert found_from(suite, plans) != before


def test_the_plans_of_the_kit_were_found_from_its_suites_of_now() -> None:
    assert [name for name in SUITES if covering_plans.is_stale(name)] == []


def test_plans_that_were_found_from_something_else_are_stale(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    suite = SUITES["timers"]
    plans = covering_plans.stored(suite)
    monkeypatch.setattr(covering_plans, "folder", lambda: tmp_path)
    assert covering_plans.is_stale(suite.name)
    covering_plans.write(suite, plans)
    assert not covering_plans.is_stale(suite.name)
    monkeypatch.setattr(covering_plans, "found_from", lambda suite, plans: "something else")
    assert covering_plans.is_stale(suite.name)
    covering_plans.confirm(suite)
    assert not covering_plans.is_stale(suite.name)
    assert covering_plans.same(suite, plans)


def test_a_run_plays_them_first_and_they_alone_may_pass() -> None:
    events = list(run("port", suites=["remote-store"], tiers=["cover"], seed=1))
    (started,) = [event for event in events if isinstance(event, SuiteStarted)]
    (ended,) = [event for event in events if isinstance(event, SuiteEnded)]
    numbers = [event.case for event in events if isinstance(event, CaseEnded)]
    plans = covering_plans.cases(STORE, Profile())
    assert numbers == [*range(-1, -len(plans) - 1, -1)]
    assert {one.tier for one in started.corpus} == {"cover"}
    assert (ended.verdict, ended.control, ended.silent_rules) == (CONFORMS, True, [])
    assert ended.steps == sum(len(plan.rows) for plan in plans)


def test_tiers_follow_one_another() -> None:
    events = list(run("port", suites=["start-pull"], cases=3, examples=4, seed=1))
    (started,) = [event for event in events if isinstance(event, SuiteStarted)]
    numbers = [event.case for event in events if isinstance(event, CaseEnded)]
    tiers = [one.tier for one in started.corpus]
    assert tiers == sorted(tiers, key=["cover", "corpus"].index)
    assert {*tiers} == {"cover", "corpus"}
    assert started.hypothesis == 3
    assert numbers == [*range(-1, -len(tiers) - 1, -1), *range(3), *range(3, 7)][: len(numbers)]
    assert numbers[-1] >= 3


def test_a_suite_without_covering_plans_is_undecided_by_them_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(covering_plans, "cases", lambda suite, profile: [])
    events = run("port", suites=["remote-store"], tiers=["cover"], seed=1)
    (ended,) = [event for event in events if isinstance(event, SuiteEnded)]
    assert (ended.verdict, ended.reason) == (UNDECIDED, "no generated case was played")


def test_a_covering_plan_that_diverges_is_named_and_its_replay_line_works(tmp_path: Path) -> None:
    events = run("mutant:not-found-is-zero", suites=["remote-store"], tiers=["cover"])
    found = next(event for event in events if isinstance(event, DivergenceFound))
    _, *again = shlex.split(found.replay)
    assert again == ["run", "mutant:not-found-is-zero", "-k", "remote-store", "--tier", "cover"]
    done = kit(*again, cwd=tmp_path)
    assert done.returncode == 1
    assert "remote-store, covering plan" in done.stdout


@every(
    ("words", "sentence"),
    [
        (["--tier", "cover", "--cases", "3"], "--cases is a number of cases from the seed"),
        (["--tier", "cover", "--examples", "3"], "--examples needs the tier hypothesis"),
        (["--tier", "cover", "--corpus", "."], "--corpus needs the tier corpus"),
    ],
)
def test_an_option_of_another_tier_is_refused(words: list[str], sentence: str, tmp_path: Path) -> None:
    done = kit("run", "port", *words, cwd=tmp_path)
    assert done.returncode == 2
    assert sentence in done.stderr
