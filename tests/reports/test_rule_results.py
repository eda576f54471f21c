"""The result of a rule: it holds, it differs, or it was not reached, and why."""

from __future__ import annotations

import dataclasses
from typing import Any

from rocketmq_conformance.reports.event import (
    CONFORMS,
    DIFFERS,
    DIVERGES,
    HOLDS,
    NOT_REACHED,
    UNDECIDED,
    UNSUPPORTED,
    DivergenceFound,
    ExpectedDivergence,
    RuleResult,
    SuiteEnded,
)
from rocketmq_conformance.reports.rule_results import (
    ListedRule,
    borne_out,
    by_reason,
    counted,
    result_counts,
    rule_results,
    summed_up,
)

SUITE = SuiteEnded(
    suite="s",
    verdict=CONFORMS,
    cases={CONFORMS: 4},
    steps=9,
    seconds=1.0,
    coverage=[["A", "one", "done", 3], ["A", "two", "items", 2], ["B", "one", "done", 4]],
    silent_rules=["C"],
    control=True,
    unsupported={},
)


def ended(**changes: Any) -> SuiteEnded:
    return dataclasses.replace(SUITE, **changes)


def diverges(*rules: str, **changes: Any) -> DivergenceFound:
    one = DivergenceFound(
        suite="s",
        case=0,
        fingerprint="f",
        rules=[{"id": rule} for rule in rules],
        expected="1",
        observed="2",
        steps=[],
        found_steps=1,
        shrink_executions=0,
        plan="",
        replay="",
    )
    return dataclasses.replace(one, **changes)


def signed(**changes: Any) -> ExpectedDivergence:
    one = ExpectedDivergence(
        file="x",
        line=1,
        suite="s",
        rule="A",
        fingerprint="f",
        reason="known",
        owner="me",
        link="",
        expires="",
        cases=2,
    )
    return dataclasses.replace(one, **changes)


def results(*suites: SuiteEnded, listed: Any = (), found: Any = (), expected: Any = ()) -> dict[str, RuleResult]:
    return {one.rule: one for one in rule_results(listed, suites, found, expected)}


def test_a_rule_holds_when_a_step_that_counts_agreed() -> None:
    found = results(ended())
    assert (found["A"].result, found["A"].times, found["A"].suites, found["A"].reason) == (HOLDS, 5, ["s"], "")
    assert (found["C"].result, found["C"].reason) == (NOT_REACHED, "no step of s came to it in 4 cases: raise --cases")


def test_steps_that_prove_nothing_are_not_counted() -> None:
    found = results(ended(unproven={"A": 2, "B": 4}))
    assert (found["A"].result, found["A"].times) == (HOLDS, 3)
    why = "s met it only in steps that differ or would not show it, or in cases that say nothing"
    assert (found["B"].result, found["B"].times, found["B"].reason) == (NOT_REACHED, 0, why)


def test_a_suite_whose_control_was_not_noticed_proves_nothing() -> None:
    for control, why in (
        (False, "s: a planted wrong answer was not noticed"),
        (None, "s: no wrong answer could be planted"),
    ):
        found = results(ended(control=control, verdict=UNDECIDED))
        assert (found["A"].result, found["A"].reason) == (NOT_REACHED, why)
    # where no case conforms none can carry the control
    assert results(ended(control=None, verdict=DIVERGES))["A"].result == HOLDS
    assert results(ended(control=False), ended(suite="t"))["A"].times == 5


def test_a_rule_differs_that_is_responsible_and_no_bystander() -> None:
    found = results(ended(verdict=DIVERGES, unproven={"A": 1}), found=[diverges("A", "B", cases=3)])
    assert (found["A"].result, found["A"].times, found["B"].result) == (DIFFERS, 7, HOLDS)
    between = results(ended(), found=[diverges("A", against="port"), diverges()])
    assert between["A"].result == HOLDS


def test_a_divergence_that_is_signed_for_is_one() -> None:
    found = results(ended(), expected=[signed()])
    assert (found["A"].result, found["A"].reason) == (DIFFERS, "signed for by me: known")
    assert results(ended(), expected=[signed(owner="")])["A"].reason == "known"
    for other in (signed(cases=0), signed(aside="it was not asked")):
        assert results(ended(), expected=[other])["A"].result == HOLDS


def test_a_rule_that_allows_every_answer_holds_nowhere() -> None:
    found = results(ended(coverage=[["A", "one", "undefined", 3], ["A", 1], ["A", "one", "done", True]]))
    assert (found["A"].result, found["A"].reason) == (NOT_REACHED, "every answer is allowed where it was met")


def test_why_a_rule_was_not_reached() -> None:
    unsupported = {"listen": "it takes no command"}
    refused = ended(verdict=UNSUPPORTED, coverage=[], reason="it has no such side")
    for suite, why in (
        (ended(unsupported=unsupported), "s could not play listen: it takes no command"),
        (ended(unsaid={"given of join": 3}), "s was not answered in full: it is left open by given of join"),
        (refused, "s is unsupported: it has no such side"),
        (dataclasses.replace(refused, reason="", unsupported=unsupported), "s is unsupported: it takes no command"),
    ):
        assert results(suite, listed=[ListedRule("C", suites=("s",))])["C"].reason == why
    never = ListedRule("C", "It is.", "MUST", ("t",)), ListedRule("D", unseen="not of this release")
    found = results(listed=never)
    assert (found["C"].reason, found["C"].sentence, found["C"].level) == ("t did not end", "It is.", "MUST")
    assert found["D"].reason == "not of this release"


def test_a_rule_that_was_met_against_expectation_counts() -> None:
    assert results(ended(), listed=[ListedRule("A", unseen="not of this release")])["A"].result == HOLDS


def test_clauses_are_reached_by_steps_of_their_kinds() -> None:
    one, other = frozenset({("A", "s", "one")}), frozenset({("A", "s", "three"), ("A", "t", "one")})
    listed = [ListedRule("A", clauses={"at once": one, "twice": other}), ListedRule("C", clauses={"late": one})]
    found = results(ended(), listed=listed)
    assert (found["A"].clauses, found["A"].clauses_reached, found["A"].clauses_missing) == (2, 1, ["twice"])
    assert (found["C"].clauses, found["C"].clauses_reached) == (1, 0)
    assert results(ended(control=False), listed=listed)["A"].clauses_reached == 0


def test_results_are_summed_up() -> None:
    found = rule_results((), [ended(verdict=DIVERGES)], [diverges("B")])
    assert counted(result_counts(found)) == "1 holds, 1 differs, 1 not reached"
    assert counted(result_counts(())) == "0 hold, 0 differ, 0 not reached"
    assert summed_up(found, ["C", "A"]) == "1 holds; 1 differs: B; 1 not reached: C"
    assert summed_up(found, ["A"]) == "1 holds; 1 differs: B; 0 not reached; 1 is beyond what was played"


def test_a_rule_that_holds_and_is_at_work_where_another_one_differs_says_so() -> None:
    both = dataclasses.replace(diverges("B"), rules=[{"id": name} for name in ("B", "A", "unmet")], cases=3)
    found = results(ended(verdict=DIVERGES), found=[both])
    assert (found["A"].result, found["A"].reason) == (HOLDS, "it is also at work in 3 cases that differ")
    assert "unmet" not in found


def test_reasons_that_most_rules_share_come_first() -> None:
    listed = [ListedRule("X", unseen="x"), ListedRule("Y", unseen="y"), ListedRule("Z", unseen="y")]
    found = by_reason(rule_results(listed, [ended()], ()))
    assert [(why, [one.rule for one in rules]) for why, rules in found.items()][:2] == [("y", ["Y", "Z"]), ("x", ["X"])]


def test_a_claim_that_a_rule_holds_needs_suites_that_bear_it_out() -> None:
    found = results(ended())
    assert borne_out(found["A"], found["A"]) is found["A"]
    for own in (results(ended(control=False))["A"], None):
        assert borne_out(found["A"], own).result == NOT_REACHED
