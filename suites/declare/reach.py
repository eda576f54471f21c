"""Reach: which rules of a suite can fire by a profile, and why the others cannot.

Everything that says whether a suite reaches a rule asks here: ``run --rule``, ``explain``, the rules that never fired
in a run or campaign, and ``docs/operations.md``. A rule cannot fire

- on a release that it is not for (``Rule.releases``, of the side that the suite judges);
- where a :class:`~rocketmq_conformance.suites.declare.rule_limit.RuleLimit` of the suite says so;
- by a profile that has no operation of the implementation in the suite.
"""

from __future__ import annotations

from collections.abc import Mapping

from rocketmq_conformance.models import rulebook
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.release import Releases
from rocketmq_conformance.models.rule import Rule
from rocketmq_conformance.suites.declare.operation import Side
from rocketmq_conformance.suites.declare.suite import Suite


def reachable(suite: Suite, profile: Profile) -> tuple[str, ...]:
    """The ids of the rules that can fire in the suite, in the order of its declaration."""
    return tuple(rule for rule, reason in reach(suite, profile).items() if not reason)


def reach(suite: Suite, profile: Profile) -> Mapping[str, str]:
    """Of each rule that the suite names, by id: why it cannot fire by this profile, or "" when it can."""
    profile = profile.judged()
    if not any(suite.operations[at].spec.side is not Side.WORLD for at in suite.offered(profile)):
        return dict.fromkeys(suite.rules, f"{judged_release(suite, profile)} has no operation of {suite.name}")
    return {name: _why_not(suite, rule_of(suite, name), profile) for name in suite.rules}


def rule_of(suite: Suite, name: str) -> Rule:
    """The rule of this id that the suite names: of the rule book, or one that the suite brings."""
    return rulebook.RULES.get(name) or next(rule for rule in suite.own_rules if rule.id == name)


def judged_release(suite: Suite, profile: Profile) -> str:
    """The release that decides about the suite's rules: "broker 5.1.4"."""
    return f"broker {profile.broker}" if suite.side is Side.BROKER else f"client {profile.client}"


def where(suite: Suite, rule: Rule) -> str:
    """The releases on which the suite reaches the rule: "client 5.2.0+", or "client, all releases"."""
    side = "broker" if suite.side is Side.BROKER else "client"
    limits = [str(limit) for limit in suite.limits if rule.id in limit.rules]
    if any(limit.startswith(side) for limit in limits):  # it is the narrower of the two
        return ", ".join(limits)
    own = f"{side}, all releases" if rule.releases == "all" else f"{side} {rule.releases}"
    return ", ".join([own, *limits])


def _why_not(suite: Suite, rule: Rule, profile: Profile) -> str:
    release = profile.broker if suite.side is Side.BROKER else profile.client
    if release not in Releases.parse(rule.releases):
        return f"it is a rule of {rule.releases}, not of {judged_release(suite, profile)}"
    for limit in suite.limits:
        if rule.id in limit.rules and not limit.allows(profile):
            return limit.because
    return ""
