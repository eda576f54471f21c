"""The rules that a run says something about, and why its suites cannot reach some of them.

They are all rules of the side that is judged, and those of the other side that a suite of the run reaches.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rocketmq_conformance.conformance.adapter import Hello
from rocketmq_conformance.models import rulebook
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Level
from rocketmq_conformance.reports.rule_results import ListedRule, StepKind
from rocketmq_conformance.reports.text import first_names
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.operation import Side
from rocketmq_conformance.suites.declare.reach import shows
from rocketmq_conformance.suites.declare.suite import Suite

_NO_SUITE = "no suite reaches it: `prove` compares it with real releases"
_QUIRK = "it is an accident of Java, and judged with --quirks alone"
#: Of a program that is judged by its traffic alone.
_STEPPED = "not judged by traffic, but in single steps by {} (python:, exec:, java-client:)"
#: Suites that a reason names.
_MOST = 3


def listed_rules(
    suites: Sequence[Suite],
    hello: Hello,
    profile: Profile,
    clauses: Mapping[str, Mapping[str, frozenset[StepKind]]],
    *,
    quirks: bool,
) -> Iterator[ListedRule]:
    """The rules, in the order of their ids, with their clauses."""
    chosen = {suite.name: suite for suite in suites}
    every = {**SUITES, **chosen}
    reached: dict[str, Mapping[str, str]] = {name: shows(suite, profile) for name, suite in every.items()}
    own = {rule.id: rule for suite in suites for rule in suite.own_rules}
    # whose rules are judged: those of brokers (True), of clients (False), or both.
    judged_sides = {side == Side.BROKER.value for side in hello.sides}
    for rule in sorted((*rulebook.RULES.values(), *own.values()), key=lambda rule: rule.id):
        naming = [name for name, reasons in reached.items() if rule.id in reasons]
        judged = rule.id in own or (rule.id in rulebook.OF_BROKERS) in judged_sides
        if not judged and not any(name in chosen for name in naming):
            continue
        able = [name for name in naming if not reached[name][rule.id]]
        here = tuple(name for name in able if name in chosen and not hello.refuses(every[name]))
        unseen = ""
        if rule.level is Level.QUIRK and not quirks:
            unseen = _QUIRK
        elif not here:
            unseen = _unseen([reached[name][rule.id] for name in naming], [every[name] for name in able], hello)
        unshown = hello.cannot_show.get(rule.id, "")
        yield ListedRule(rule.id, rule.sentence, rule.level.value, here, unseen, clauses.get(rule.id, {}), unshown)


def _unseen(unable: Sequence[str], able: Sequence[Suite], hello: Hello) -> str:
    """Why no suite of the run reaches a rule: ``unable`` is why each of the suites that name it cannot by the releases
    that judge, "" for those of ``able``."""
    if not unable:
        return _NO_SUITE
    if not able:
        return "; ".join(dict.fromkeys(unable))
    others = [suite.name for suite in able if not hello.refuses(suite)]
    if others:
        names = first_names(others, _MOST)
        return f"the suite {names} was not run (-k)" if len(others) == 1 else f"none of {names} was run (-k)"
    stepped = [suite.name for suite in able if suite.side in (Side.PURE, Side.CLIENT)]
    if stepped and hello.sides == (Side.WHOLE.value,):
        return _STEPPED.format(first_names(stepped, _MOST))
    return "; ".join(dict.fromkeys(hello.refuses(suite) for suite in able))
