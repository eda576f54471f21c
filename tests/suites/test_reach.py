"""What suites declare to reach is what fires in them, on old, border and new releases."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain

import pytest

from rocketmq_conformance.conformance.engine import covering_plans
from rocketmq_conformance.conformance.engine.model_tour import Tours
from rocketmq_conformance.models import rulebook
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Rule
from rocketmq_conformance.suites import whole_lite
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.operation import Side
from rocketmq_conformance.suites.declare.reach import reach, reachable, shows, where
from rocketmq_conformance.suites.declare.sampler import Sampler
from rocketmq_conformance.suites.declare.suite import Row, Suite

#: The oldest and the newest release, and one on each side of most switches.
CLIENTS = [
    *(Profile.of(client) for client in ("4.0.0", "4.1.0", "4.6.0", "4.7.1", "4.9.0", "4.9.8", "5.0.0-PREVIEW")),
    *(Profile.of(client) for client in ("5.0.0-ALPHA", "5.0.0", "5.1.4", "5.2.0", "5.3.1", "5.4.0", "5.5.0")),
    Profile.of("5.0.0", "4.9.8"),
    Profile.of("5.5.0", "4.0.0"),
]
BROKERS = [
    *(Profile.of(broker=broker) for broker in ("4.0.0", "4.9.0", "5.0.0-PREVIEW", "5.0.0-ALPHA", "5.0.0", "5.1.4")),
    *(Profile.of(broker=broker) for broker in ("5.2.0", "5.3.1", "5.5.0")),
    Profile.of(broker="5.1.0", java=8),
    Profile.of(broker="5.5.0", java=13),
]
#: Brokers with a property that makes rules fire which do not fire without.
CONFIGURED = {
    "BQ-RESET-1": Profile().configured({"useServerSideResetOffset": "false"}),
    "BQ-RESET-2": Profile.of(broker="5.1.4").configured({"useServerSideResetOffset": "true"}),
    "BQ-LOCK-STRICT": Profile().configured({"lockInStrictMode": "true"}),
    "BQ-ASSIGN-OFF": Profile().configured({"serverLoadBalancerEnable": "false"}),
    "BQ-TOPIC-TIMER": Profile().configured({"timerWheelEnable": "false"}),
    "BQ-COM-LMQ": Profile().configured({"enableLmq": "true"}),
    "BQ-PULL-BROKER": Profile().configured({"brokerPermission": "2"}),
    "SLV-PULL-READ": Profile().configured({"slaveReadEnable": "true"}),
    "SLV-ACT-BACK": Profile().configured({"enableSlaveActingMaster": "true"}),
    "SLV-ACT-OFFLINE": Profile().configured({"enableSlaveActingMaster": "true", "slaveReadEnable": "true"}),
    "SLV-LOCK-STRICT": Profile().configured({"enableSlaveActingMaster": "true", "lockInStrictMode": "true"}),
}
#: Cases of a suite, and where they are long.
CASES, OTHERWISE = 40, {"broker-process": 2, "broker-restart": 2, "broker-upgrade": 2}
#: Cases where many were played by another profile that declares the same.
FEW = 4
#: Cases beside the covering plans, and releases, in which rules beneath answers are looked for.
BENEATH = 25
BORDERS = (Profile.of("4.9.8"), Profile.of("5.5.0"), Profile.of("5.5.0", "4.0.0"))


def rules_of(suite: Suite, profile: Profile, cases: int, known: dict[str, Sequence[Row]]) -> set[str]:
    """The rules that fire in so many cases; in further cases, and in covering plans, until all have that may. ``known``
    plans by the rules that fired in them are played before, and added to."""
    tours, drawn, may = Tours(suite, profile), Sampler(suite, profile), set(reachable(suite, profile))
    cases = min(cases, most := OTHERWISE.get(suite.name, CASES))
    found = set[str]()

    def play(plan: Sequence[Row]) -> None:
        rules = {rule for step in tours.play(plan) for rule in step.behaviour[1]}
        known.update(dict.fromkeys(rules - known.keys(), plan))
        found.update(rules)

    for case in range(cases):
        play(drawn.case(7, case, suite.steps))
    further = (drawn.case(7, case, suite.steps) for case in range(cases, most))
    shown = [plan for rule, plan in known.items() if rule in may - found]
    for plan in chain(shown, further, covering_plans.stored(suite)):
        if found >= may:
            break
        play(plan)
    return found


def rules_by_profile(suite: Suite, profiles: Iterable[Profile]) -> dict[Profile, set[str]]:
    """The rules that fire by each profile that has the suite. Of those that declare the same, one is looked at for
    others in many cases."""
    found, looked_at, known = {}, set[tuple[str, ...]](), dict[str, Sequence[Row]]()
    for profile in profiles:
        if declared := reachable(suite, profile):
            found[profile] = rules_of(suite, profile, FEW if declared in looked_at else CASES, known)
            looked_at.add(declared)
    return found


@pytest.mark.parametrize("side", sorted({suite.side for suite in SUITES.values()}, key=str))
def test_rules_fire_where_they_are_declared_reachable_and_nowhere_else(side: Side) -> None:
    """While the models are played alone; properties make the rules of brokers fire that they are named for."""
    configured = CONFIGURED if side is Side.BROKER else {}
    profiles = [*BROKERS, *CONFIGURED.values()] if side is Side.BROKER else CLIENTS
    found = {
        (suite.name, profile): rules
        for suite in SUITES.values()
        if suite.side is side
        for profile, rules in rules_by_profile(suite, profiles).items()
    }
    undeclared = [
        (name, str(profile), rule)
        for (name, profile), rules in found.items()
        for rule in rules - set(reachable(SUITES[name], profile))
    ]
    unseen = [
        (name, str(profile), rule)
        for (name, profile), rules in found.items()
        for rule in set(reachable(SUITES[name], profile)) - rules
        if not profile.configuration
    ]
    by_property = {
        rule: [profile for (_, profile), rules in found.items() if rule in rules and profile == its_own]
        for rule, its_own in configured.items()
    }
    assert found
    assert not undeclared, undeclared[:5]
    assert not {(name, rule) for name, _, rule in unseen}, unseen[:5]
    assert [rule for rule, seen in by_property.items() if not seen] == []


def beneath_of(suite: Suite, profile: Profile) -> set[str]:
    """The rules that answers show beneath those that decide them, in covering plans and in some cases."""
    bound, drawn, found = suite.bind(profile), Sampler(suite, profile), set[str]()
    covering = (case.rows for case in covering_plans.cases(suite, profile))
    for plan in (*covering, *(drawn.case(7, case, suite.steps) for case in range(BENEATH))):
        state = bound.initial
        for at, args in plan:
            state, _, why = bound.by_position[at](state, *args)
            found.update(why.beneath)
    return found


def test_rules_beneath_answers_are_declared_and_show() -> None:
    shown: set[str] = set()
    whole = [suite for suite in SUITES.values() if suite.side is Side.WHOLE]
    for suite in whole:
        for profile in BORDERS:
            rules = beneath_of(suite, profile)
            shown |= rules
            assert not [rule for rule in rules if rule not in suite.beneath or shows(suite, profile)[rule]]
    assert shown == {rule for suite in whole for rule in suite.beneath}


def test_what_a_suite_shows_depends_on_the_release() -> None:
    assert shows(whole_lite.SUITE, Profile())["START-LITE-1"] == ""
    assert "nothing of whole-lite" not in shows(whole_lite.SUITE, Profile())["WHOLE-FIRST"]
    assert "4.6.1+" in shows(whole_lite.SUITE, Profile.of("4.6.0"))["START-LITE-1"]


def test_limits_and_rules_fit_together() -> None:
    for suite in SUITES.values():
        assert len(suite.rules) == len(set(suite.rules)), suite.name
        for limit in suite.limits:
            assert set(limit.rules) <= set(suite.rules), (suite.name, limit)


# --- why not, and where ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("suite", "rule", "profile", "reason"),
    [
        ("rebalance", "REB-CLU-3", Profile.of("5.4.0"), ""),
        ("rebalance", "REB-CLU-3", Profile.of("5.5.0"), "from 5.5.0 on the queues or the list"),
        ("rebalance-broker", "REB-BRK-1", Profile.of("4.9.8"), "of 5.0.0-PREVIEW+, not of client 4.9.8"),
        ("broker-admin", "BQ-COM-5", Profile.of(broker="5.1.4"), "useServerSideResetOffset is off, the default"),
        ("broker-admin", "BQ-COM-5", Profile.of("4.0.0", "5.2.0"), ""),
        ("broker-cold", "BQ-MEM-1", Profile.of(java=13), ""),
        ("broker-cold", "BQ-MEM-1", Profile.of(java=14), "on Java 14 and later"),
        ("remote-store", "OFF-R-FETCH", Profile.of("5.0.0", "4.9.8"), "older brokers do not look at"),
        ("rebalance-pull", "REB-CLU-1", Profile.of("4.5.2"), "client 4.5.2 has nothing of rebalance-pull"),
        ("rebalance", "REB-CLU-4", Profile.of("9.9.9"), ""),
    ],
)
def test_a_rule_that_cannot_fire_says_why(suite: str, rule: str, profile: Profile, reason: str) -> None:
    found = reach(SUITES[suite], profile)[rule]
    assert reason in found
    assert bool(reason) is bool(found)
    assert (rule in reachable(SUITES[suite], profile)) is not bool(reason)


@pytest.mark.parametrize(
    ("suite", "rule", "text"),
    [
        ("rebalance", "REB-CLU-4", "client, all releases"),
        ("rebalance", "REB-CLU-3", "client up to 5.4.0"),
        ("rebalance", "REB-RET-1", "client 5.0.0-PREVIEW+"),
        ("broker-admin", "BQ-COM-5", "broker 5.2.0+ or with useServerSideResetOffset=true"),
        ("broker-locks", "BQ-LOCK-STRICT", "broker 5.0.0+, with lockInStrictMode=true"),
        ("broker-cold", "BQ-MEM-1", "broker 5.1.0+, java up to 13"),
        ("remote-store", "OFF-R-FETCH", "client 5.0.0, broker 5.0.0-ALPHA+"),
    ],
)
def test_the_releases_on_which_a_suite_reaches_a_rule(suite: str, rule: str, text: str) -> None:
    assert where(SUITES[suite], rulebook.RULES[rule]) == text


def test_a_suite_of_another_package_brings_its_own_rules() -> None:
    own = Rule("OWN-1", "A rule of another package.", "Nowhere#nothing @ 5.2.0", releases="5.2.0+")
    suite = replace(SUITES["local-store"], rules=("OWN-1", "OFF-UPD-1"), own_rules=(own,))
    assert reachable(suite, Profile.of("5.2.0")) == ("OWN-1", "OFF-UPD-1")
    assert reachable(suite, Profile.of("5.1.4")) == ("OFF-UPD-1",)
