"""Reach: which rules of a suite can fire by a profile, and why the others cannot.

Everything that says whether a suite reaches a rule asks here: ``run --rule``, ``explain``, the rules that never fired
in a run or campaign, and ``list operations --format page``. A rule cannot fire

- on a release that it is not for (``Rule.releases``, of the side that the suite judges);
- where a :class:`~rocketmq_conformance.suites.declare.rule_limit.RuleLimit` of the suite says so;
- by a profile that has no operation of the suite but those of the world and time that passes.
"""

from __future__ import annotations

from collections.abc import Mapping

from rocketmq_conformance.models import rulebook
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.release import Release, Releases
from rocketmq_conformance.models.rule import Rule
from rocketmq_conformance.suites.declare.operation import Side
from rocketmq_conformance.suites.declare.suite import Suite


class UnreachableRuleError(ValueError):
    """A rule can fire in no suite by a profile; one sentence with what to do."""

    def __init__(self, rule: str, reasons: Mapping[str, str]) -> None:
        """``reasons`` are why it cannot, by suite."""
        distinct = "; ".join(dict.fromkeys(reasons.values()))
        super().__init__(
            f"The rule {rule} cannot fire here: {distinct}. `explain {rule}` names suites and releases that reach it."
        )


def reachable(suite: Suite, profile: Profile) -> tuple[str, ...]:
    """The ids of the rules that can fire in the suite, in the order of its declaration."""
    return tuple(rule for rule, reason in reach(suite, profile).items() if not reason)


def reach(suite: Suite, profile: Profile) -> Mapping[str, str]:
    """Of each rule that the suite names, by id: why it cannot fire by this profile, or "" when it can."""
    profile = profile.judged()
    offered = [suite.operations[at].spec for at in suite.offered(profile)]
    if all(spec.side is Side.WORLD or spec.duration for spec in offered):
        return dict.fromkeys(suite.rules, f"{judged_release(suite, profile)} has nothing of {suite.name}")
    return {name: _why_not(suite, rule_of(suite, name), profile) for name in suite.rules}


def shows(suite: Suite, profile: Profile) -> Mapping[str, str]:
    """The same of each rule that its answers show, those beneath the rules that it names included."""
    named = reach(suite, profile)
    if not any(not reason for reason in named.values()):
        why = next(iter(named.values()), "")
        return {**named, **dict.fromkeys(suite.beneath, why)}
    profile = profile.judged()
    return {**{name: _why_not(suite, rule_of(suite, name), profile) for name in suite.beneath}, **named}


def rule_of(suite: Suite, name: str) -> Rule:
    """The rule of this id that the suite names: of the rule book, or one that the suite brings."""
    return rulebook.RULES.get(name) or next(rule for rule in suite.own_rules if rule.id == name)


def judged_side(suite: Suite) -> str:
    """Whose release decides about the suite's rules: "client" or "broker"."""
    return "broker" if suite.side is Side.BROKER else "client"


def judged_release(suite: Suite, profile: Profile) -> str:
    """The release that decides about the suite's rules: "broker 5.1.4"."""
    return f"{judged_side(suite)} {_release(suite, profile)}"


def where(suite: Suite, rule: Rule) -> str:
    """The releases on which the suite reaches the rule: "client 5.2.0+", or "client, all releases"."""
    side = judged_side(suite)
    limits = [str(limit) for limit in suite.limits if rule.id in limit.rules]
    if any(limit.startswith(side) for limit in limits):  # it is the narrower of the two
        return ", ".join(limits)
    own = f"{side}, all releases" if rule.releases == "all" else f"{side} {rule.releases}"
    return ", ".join([own, *limits])


def _why_not(suite: Suite, rule: Rule, profile: Profile) -> str:
    if _release(suite, profile) not in Releases.parse(rule.releases):
        return f"it is a rule of {rule.releases}, not of {judged_release(suite, profile)}"
    for limit in suite.limits:
        if rule.id in limit.rules and not limit.allows(profile):
            return limit.because
    return ""


def _release(suite: Suite, profile: Profile) -> Release:
    return profile.broker if suite.side is Side.BROKER else profile.client
