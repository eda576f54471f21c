"""The rules that a run says something about, and why its suites cannot reach some of them."""

from __future__ import annotations

import dataclasses

from rocketmq_conformance.conformance.adapter import Hello
from rocketmq_conformance.conformance.engine.rule_list import listed_rules
from rocketmq_conformance.models import rulebook
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Level, Rule
from rocketmq_conformance.reports.event import CONFORMS, HOLDS, NOT_REACHED, SuiteEnded
from rocketmq_conformance.reports.rule_results import ListedRule, rule_results
from rocketmq_conformance.suites import broker_offsets, consume, remote_store, whole_lite, whole_push
from rocketmq_conformance.suites.declare.suite import Suite

OF_CLIENTS = {rule for rule in rulebook.RULES if rule not in rulebook.OF_BROKERS}


def listed(
    *suites: Suite,
    sides: tuple[str, ...] = ("pure", "client"),
    client: str = "5.5.0",
    quirks: bool = True,
    cannot_show: dict[str, str] | None = None,
    **hello: str,
) -> dict[str, ListedRule]:
    found = listed_rules(
        suites,
        Hello("it", "1", sides=sides, unsupported=hello, cannot_show=cannot_show or {}),
        Profile.of(client),
        {},
        quirks=quirks,
    )
    return {one.id: one for one in found}


def test_rules_of_the_side_that_is_judged_are_listed_and_what_its_suites_reach() -> None:
    rules = listed(remote_store.SUITE)
    assert set(rules) == OF_CLIENTS | {"BQ-QUERY-1", "BQ-UPDATE-2"}
    one = rules["OFF-R-READ"]
    assert (one.sentence, one.level, one.suites, one.unseen) == (
        rulebook.RULES["OFF-R-READ"].sentence,
        "MUST",
        ("remote-store",),
        "",
    )
    assert set(listed(broker_offsets.SUITE, sides=("broker",))) == rulebook.OF_BROKERS
    assert set(listed(sides=("client", "broker"))) == set(rulebook.RULES)


def test_rules_beneath_the_answers_of_whole_suites_are_reached_by_them() -> None:
    assert listed(whole_push.SUITE, sides=("whole",))["START-PUSH-1"].suites == ("whole-push",)


def test_suites_that_would_reach_a_rule_are_named() -> None:
    rules = listed(remote_store.SUITE)
    assert rules["CONS-1-FULL"].unseen == "the suite consume was not run (-k)"
    assert rules["START-PUSH-ERROR"].unseen.startswith("none of rebalance, rebalance-broker, ")
    assert rules["WHOLE-REREAD"].unseen == "no suite reaches it: `prove` compares it with real releases"


def test_a_rule_of_other_releases_says_so() -> None:
    assert listed(whole_lite.SUITE)["START-LITE-0"].unseen == "it is a rule of 4.6.0, not of client 5.5.0"
    assert "START-LITE-0" in listed(client="4.6.0")
    assert "4.6.0" not in listed(client="4.6.0")["START-LITE-0"].unseen


def test_what_a_program_shows_in_no_traffic_is_left_to_single_steps() -> None:
    rules = listed(whole_push.SUITE, sides=("whole",))
    assert rules["CONS-1-FULL"].unseen == (
        "not judged by traffic, but in single steps by consume (python:, exec:, java-client:)"
    )
    assert rules["WHOLE-SEEK"].unseen == "none of whole-assign, whole-commit, whole-lite was run (-k)"


def test_what_an_implementation_refuses_says_why() -> None:
    assert listed(consume.SUITE, consume="it has no listeners")["CONS-1-FULL"].unseen == "it has no listeners"


def test_accidents_of_java_need_quirks() -> None:
    odd = Rule("X-ODD", "It is odd.", "X#y @ 5.5.0", level=Level.QUIRK)
    suite = dataclasses.replace(remote_store.SUITE, rules=("X-ODD",), own_rules=(odd,))
    assert "--quirks" in listed(suite, quirks=False)["X-ODD"].unseen
    assert listed(suite)["X-ODD"].unseen == ""


def test_a_rule_that_no_step_can_show_is_not_reached_though_it_was_met() -> None:
    why = "the next round comes before the deadline"
    rules = listed(whole_push.SUITE, sides=("whole",), cannot_show={"REB-SVC-WAKE": why})
    ended = SuiteEnded(
        suite="whole-push",
        verdict=CONFORMS,
        cases={CONFORMS: 1},
        steps=1,
        seconds=1.0,
        coverage=[[rule, "told of a change", "list", 1] for rule in ("REB-SVC-WAKE", "WHOLE-SHARE")],
        silent_rules=[],
        control=True,
        unsupported={},
        unproven={"REB-SVC-WAKE": 1},
    )
    results = {one.rule: (one.result, one.reason) for one in rule_results(rules.values(), [ended], ())}
    assert results["REB-SVC-WAKE"] == (NOT_REACHED, why)
    assert results["WHOLE-SHARE"][0] == HOLDS
