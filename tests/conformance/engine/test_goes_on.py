"""One divergence hides no other: cases go on, later plans avoid what is known, and consequences are not reported."""

from __future__ import annotations

from collections import Counter
from datetime import date
from pathlib import Path

from null_refused import OfAnotherMake

from rocketmq_conformance import run
from rocketmq_conformance.conformance.adapter import CRASHED, Case, Hello
from rocketmq_conformance.conformance.api import verify_expected
from rocketmq_conformance.conformance.cli.expect import _found
from rocketmq_conformance.conformance.engine.expected_divergences import GONE
from rocketmq_conformance.conformance.engine.judge import ENDED, Judge
from rocketmq_conformance.conformance.targets.mutants import PORT_MUTANTS as MUTANTS
from rocketmq_conformance.conformance.targets.port.adapter import Port
from rocketmq_conformance.conformance.targets.port.pull import Pull
from rocketmq_conformance.conformance.targets.port.pull_request import PullRequest
from rocketmq_conformance.models.outcome import Err, Ok, Outcome, Value
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.reports.event import (
    CONFORMS,
    CaseEnded,
    DivergenceFound,
    Event,
    SuiteEnded,
)
from rocketmq_conformance.reports.run_summary import RunSummary
from rocketmq_conformance.suites.declare.answer_parts import named_parts, weaker
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.operation import Operation, Side
from rocketmq_conformance.suites.declare.oracle import QUIRK
from rocketmq_conformance.suites.declare.sampler import sampler

#: Mutants by the rule that each of them breaks, and no other.
PLANTED = {
    "OFF-UPD-1": "null-is-refused",
    "OFF-R-READ-ERROR": "failure-is-new",
    "OFF-R-CLONE": "clone-ignores-topic",
    "OFF-R-P": "persist-ignored",
    "OFF-R-UPD": "refusal-hidden",
    "OFF-VAL-1": "local-null-is-missing",
    "PULL-RES-1": "flow-control-is-failure",
    "PULL-FND-1": "trusts-broker-filter",
    "PULL-ILL-1": "correction-wakes-nobody",
}


class FlagIsWrong(Pull):
    """Every pull has a flag that no rule gives: a case of ``pull`` differs at its first pull (PULL-COM-1)."""

    def ask(self, request: PullRequest, reachable: bool) -> tuple[Value, ...]:
        node, offset, commit, flag, *more = super().ask(request, reachable)
        assert isinstance(flag, int)
        return node, offset, commit, flag + 64, *more


def ten_faults() -> Port:
    """A port with ten independent faults, of which those of one suite are in one class."""
    bases: dict[str, list[type]] = {"pull": [FlagIsWrong]}
    for name in PLANTED.values():
        for suite, part in MUTANTS[name].parts.items():
            bases.setdefault(suite, []).append(part)
    return Port({suite: type("Faulty", tuple(parts), {}) for suite, parts in bases.items()}, name="faulty")


def divergences(events: list[Event]) -> list[DivergenceFound]:
    return [one for one in events if isinstance(one, DivergenceFound)]


def test_one_run_reports_ten_independent_faults_and_nothing_else(tmp_path: Path) -> None:
    suites = ["remote-store", "local-store", "pull"]
    events = [*run(ten_faults(), suites=suites, cases=150, seed=1, tiers=["seeded"], out=tmp_path)]
    reported = {one.rules[0]["id"] for one in divergences(events)}
    assert reported == {*PLANTED, "PULL-COM-1"}
    of = Counter(suite for suite, _ in {(one.suite, one.rules[0]["id"]) for one in divergences(events)})
    assert of == {"remote-store": 5, "local-store": 1, "pull": 4}
    # behind the first step: the minimal plans of the other three of pull go through a pull that differs, too
    behind = [one for one in divergences(events) if one.suite == "pull" and one.rules[0]["id"] != "PULL-COM-1"]
    assert all(any(step.operation.startswith("pull(") for step in one.steps) for one in behind if one.plan)


class Answers:
    """A port whose answers are changed on their way, one operation at a time."""

    def __init__(self) -> None:
        self.port = Port()

    def hello(self) -> Hello:
        return self.port.hello()

    def reset(self, case: Case) -> None:
        self.port.reset(case)

    def apply(self, operation: Operation) -> Outcome:
        return self.changed(operation, self.port.apply(operation))

    def changed(self, operation: Operation, outcome: Outcome) -> Outcome:
        return outcome

    def pass_time(self, millis: int) -> Outcome:
        return self.port.pass_time(millis)

    def close(self) -> None:
        self.port.close()


def ended(events: list[Event]) -> SuiteEnded:
    (found,) = [one for one in events if isinstance(one, SuiteEnded)]
    return found


def test_what_follows_from_a_divergence_is_counted_and_not_reported() -> None:
    # a read that takes 0 for nothing does not write memory, either: copies and commits differ behind it
    events = [*run("mutant:zero-is-none", suites=["remote-store"], cases=30, seed=1, tiers=["seeded"])]
    assert {one.rules[0]["id"] for one in divergences(events)} == {"OFF-R-READ"}
    assert ended(events).consequences > 0


def test_a_case_ends_where_the_model_cannot_follow_and_says_so() -> None:
    class Crashes(Answers):
        def changed(self, operation: Operation, outcome: Outcome) -> Outcome:
            return Err(CRASHED) if operation.spec.name == "clone" else outcome

    events = [*run(Crashes(), suites=["remote-store"], cases=4, seed=1, tiers=["seeded"])]
    reasons = {one.reason for one in events if isinstance(one, CaseEnded) and one.reason}
    assert reasons == {ENDED.format("clone")}


def test_every_other_case_avoids_what_is_known() -> None:
    events = [*run("mutant:clone-ignores-topic", suites=["remote-store"], cases=40, seed=1, tiers=["seeded"])]
    cases = [one for one in events if isinstance(one, CaseEnded)]
    first = next(one.case for one in cases if one.verdict != CONFORMS)
    known = {one.case for one in divergences(events) if not one.unshrunk}
    assert {one.case for one in cases if one.verdict != CONFORMS and one.case % 2} <= known
    assert any(one.verdict != CONFORMS for one in cases if one.case > first and one.case % 2 == 0)


def test_a_plan_without_known_steps_is_what_the_model_makes_of_it() -> None:
    suite = SUITES["remote-store"]
    judge = Judge(suite, Profile())
    rows = sampler(suite, Profile()).case(1, 0, 40)
    assert judge.without(rows, ()) == rows
    read = suite.index["read"]
    every = {
        (at, step.why.rules, step.why.kind, kind)
        for step in judge.expected(rows)
        for at in [step.row[0]]
        for kind in ("negative", "zero", "positive")
        if at == read
    }
    assert [row for row in judge.without(rows, every) if row[0] == read] == []


# --- parts of answers that are left open ------------------------------------------------------------------------


class DoesNotSay(Answers):
    """It has no idea of being balanced, and may say so."""

    def changed(self, operation: Operation, outcome: Outcome) -> Outcome:
        if operation.spec.name != "rebalance" or not isinstance(outcome, Ok) or not isinstance(outcome.value, tuple):
            return outcome
        owned, begun, _, *more = outcome.value
        return Ok((owned, begun, None, *more))


def test_what_an_answer_leaves_open_is_not_compared_and_counted() -> None:
    whole = ended([*run(Answers(), suites=["rebalance"], cases=15, seed=1, tiers=["seeded"])])
    weak = ended([*run(DoesNotSay(), suites=["rebalance"], cases=15, seed=1, tiers=["seeded"])])
    assert (whole.verdict, weak.verdict, whole.unsaid) == (CONFORMS, CONFORMS, {})
    assert set(weak.unsaid) == {"balanced of rebalance"}
    fired = {row[0] for row in whole.coverage} - {row[0] for row in weak.coverage}
    assert fired == {"REB-RET-1"}
    assert "REB-RET-1" in weak.silent_rules


def test_what_may_not_be_left_open_is_compared() -> None:
    class SaysNothing(Answers):
        def changed(self, operation: Operation, outcome: Outcome) -> Outcome:
            return Ok(None) if operation.spec.name == "read" else outcome

    found = divergences([*run(SaysNothing(), suites=["remote-store"], cases=3, seed=1, tiers=["seeded"])])
    assert {one.observed for one in found} == {"None"}


def test_a_suite_in_which_no_rule_fired_is_undecided() -> None:
    suite = SUITES["rebalance"]
    rows = [(suite.index["rebalance"], (0, "answer", "answer", "answer"))]
    judge = Judge(suite, Profile())
    why = judge.expected(rows)[0].why
    spec = suite.operations[suite.index["rebalance"]].spec
    assert set(why.rules) - set(weaker(why, spec, ("balanced",)).rules) == {"REB-RET-1"}


def test_names_of_parts_fit_the_answers_and_the_rules() -> None:
    wrong = []
    # the suites of whole consumers share a table of parts
    whole = {rule for suite in SUITES.values() if suite.side is Side.WHOLE for rule in suite.rules}
    for suite in SUITES.values():
        for operation in suite.operations:
            spec = operation.spec
            unknown = {*spec.unsaid, *spec.idle} - {*spec.answer}
            foreign = {rule for rules in spec.answer.values() for rule in rules}
            foreign -= whole if suite.side is Side.WHOLE else {*suite.rules}
            if unknown or foreign:
                wrong.append((suite.name, spec.name, unknown, foreign))
    assert not wrong


def test_every_named_answer_of_the_models_has_its_parts() -> None:
    missing = []
    for suite in SUITES.values():
        named = {at for at, operation in enumerate(suite.operations) if operation.spec.answer}
        if not named:
            continue
        judge, draw = Judge(suite, Profile()), sampler(suite, Profile())
        seen = {
            step.row[0]
            for number in range(120)
            for step in judge.expected(draw.case(3, number, suite.steps))
            if named_parts(suite.operations[step.row[0]].spec, step.expected)
        }
        missing += [(suite.name, suite.operations[at].spec.name) for at in named - seen]
    assert not missing


# --- accidents of Java ------------------------------------------------------------------------------------------


def test_accidents_of_java_are_judged_where_they_are_asked_for() -> None:
    calm = [*run(OfAnotherMake(), suites=["remote-store"], cases=10, seed=1, tiers=["seeded"])]
    asked = [*run(OfAnotherMake(), suites=["remote-store"], cases=10, seed=1, tiers=["seeded"], quirks=True)]
    assert ended(calm).verdict == CONFORMS
    assert set(ended(calm).unsaid) == {f"{QUIRK} of read", f"{QUIRK} of update"}
    assert "OFF-VAL-1" in ended(calm).silent_rules
    assert {one.rules[0]["id"] for one in divergences(asked)} == {"OFF-VAL-1", "OFF-UPD-1"}
    assert all(one.replay.endswith(" --quirks") for one in divergences(asked))


def test_what_is_signed_for_is_judged_as_a_run_judges_it(tmp_path: Path) -> None:
    summary = RunSummary()
    for one in run(
        OfAnotherMake(), suites=["remote-store"], cases=10, seed=1, tiers=["seeded"], quirks=True, out=tmp_path
    ):
        summary.add(one)
    entries = _found(summary, date.max)
    assert {entry.rule for entry in entries} == {"OFF-VAL-1", "OFF-UPD-1"}
    assert {one.fault for one in verify_expected(OfAnotherMake(), entries)} == {GONE}
    assert {one.fault for one in verify_expected(OfAnotherMake(), entries, quirks=True)} == {""}
