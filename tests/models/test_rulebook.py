"""The rule book: every rule once, every reason's rules in it, found by ids that are nearly right."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from importlib import import_module
from pkgutil import walk_packages
from types import ModuleType
from typing import Any

import pytest
from every import every

from rocketmq_conformance import models
from rocketmq_conformance.models import rulebook
from rocketmq_conformance.models.client import remote_store, start
from rocketmq_conformance.models.rule import Level, Origin, Reason, Rule
from rocketmq_conformance.suites.declare.discovery import SUITES

MODULES = [import_module(found.name) for found in walk_packages(models.__path__, models.__name__ + ".")]
SHORT = {module.__name__: module.__name__.rpartition("models.")[2] for module in MODULES}


def reasons(value: Any, depth: int = 4) -> Iterator[Reason]:
    """Every Why inside a value: in mappings, sequences and objects of the models."""
    if isinstance(value, Reason):
        yield value
    elif depth and isinstance(value, Mapping):
        for inner in value.values():
            yield from reasons(inner, depth - 1)
    elif depth and isinstance(value, (tuple, list, set, frozenset)):
        for inner in value:
            yield from reasons(inner, depth - 1)
    elif depth and type(value).__module__.startswith(models.__name__) and hasattr(value, "__dict__"):
        yield from reasons(vars(value), depth - 1)


def reasons_of(module: ModuleType) -> list[Reason]:
    return [why for value in vars(module).values() for why in reasons(value)]


def test_the_walk_finds_reasons_wherever_they_are_kept() -> None:
    found = {why.kind for why in reasons_of(remote_store)}
    assert {"no queue", "memory hit", "transport failed"} <= found
    assert "no offset, timestamp: search" in {why.kind for why in reasons_of(start)}
    assert sum(bool(reasons_of(module)) for module in MODULES) > 15


def test_every_rule_that_a_reason_names_is_in_the_rule_book() -> None:
    named = {(SHORT[module.__name__], rule) for module in MODULES for why in reasons_of(module) for rule in why.rules}
    offenders = sorted(name for name in named if name[1] not in rulebook.RULES)
    assert not offenders, offenders[:5]


def test_a_rule_says_where_its_answer_is_an_accident_of_java() -> None:
    accidents = [why for module in MODULES for why in reasons_of(module) if why.quirk]
    offenders = [why for why in accidents if not any(rulebook.RULES[rule].quirk for rule in why.rules)]
    assert not offenders, offenders[:5]
    saying = {rule.id for rule in rulebook.RULES.values() if rule.quirk}
    assert saying <= {rule for why in accidents for rule in why.rules}
    assert "MQ-ORD-1" in saying


def test_every_rule_of_a_module_is_in_the_rule_book() -> None:
    rules = [
        (SHORT[module.__name__], rule)
        for module in MODULES
        if module is not rulebook
        for rule in getattr(module, "RULES", ())
    ]
    offenders = [(module, rule.id) for module, rule in rules if rulebook.RULES.get(rule.id) is not rule]
    assert not offenders, offenders[:5]


@every("suite", SUITES.values())
def test_every_rule_that_a_suite_names_is_in_the_rule_book(suite: Any) -> None:
    assert suite.rules
    assert set(suite.rules) <= rulebook.RULES.keys()


def test_a_rule_is_a_sentence_with_a_source() -> None:
    def is_complete(rule: Rule) -> bool:
        return bool(
            re.fullmatch(r"[A-Z0-9]+(-[A-Z0-9]+)+", rule.id)
            and rule.sentence[-1] == "."
            and len(rule.sentence.split()) >= 5
            and (" @ " in rule.source or rule.origin is not Origin.DERIVED)
            and isinstance(rule.level, Level)
            and rule.releases
        )

    offenders = [rule for rule in rulebook.RULES.values() if not is_complete(rule)]
    assert not offenders, offenders[:5]


def test_rules_are_in_the_order_of_their_ids() -> None:
    assert list(rulebook.RULES) == sorted(rulebook.RULES)
    assert len(rulebook.RULES) > 60


def test_two_rules_of_one_name_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(start, "RULES", (*start.RULES, Rule("OFF-UPD-1", "Again.", "Nowhere#nothing @ 5.5.0")))
    with pytest.raises(ValueError, match="two rules are called OFF-UPD-1"):
        rulebook._collect()


# --- look-ups ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule_id", ["START-PUSH-1", "start-push-1", "Off-Upd-1"])
def test_a_rule_is_found_in_any_case(rule_id: str) -> None:
    assert rulebook.rule(rule_id).id == rule_id.upper()


def test_an_id_that_is_nearly_right_names_the_nearest() -> None:
    with pytest.raises(KeyError) as error:
        rulebook.rule("START-PUSH-2")
    assert "no rule is called 'START-PUSH-2'; did you mean START-PUSH-1" in error.value.args[0]


def test_an_id_like_no_other_names_the_list() -> None:
    with pytest.raises(KeyError) as error:
        rulebook.rule("§§§")
    assert error.value.args[0] == "no rule is called '§§§' (`list rules` names them all)"


# --- digest -----------------------------------------------------------------------------------------------


def test_the_digest_has_64_bits_and_is_the_same_twice() -> None:
    assert re.fullmatch("[0-9a-f]{16}", rulebook.digest())
    assert rulebook.digest() == rulebook.digest()


@pytest.mark.parametrize(
    "change",
    [
        {"needs": "other"},
        {"quirk": "other"},
        {"sentence": "Other."},
        {"source": "Other#other @ 5.5.0"},
        {"releases": "5.2.0+"},
        {"level": Level.SHOULD},
        {"origin": Origin.DOCUMENTED},
    ],
)
def test_the_digest_sees_every_field(change: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    before = rulebook.digest()
    changed = replace(rulebook.RULES["START-PUSH-1"], **change)
    monkeypatch.setitem(rulebook.RULES, "START-PUSH-1", changed)
    assert rulebook.digest() != before


def test_the_digest_sees_a_rule_that_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    before = rulebook.digest()
    others = {name: rule for name, rule in rulebook.RULES.items() if name != "START-PUSH-1"}
    monkeypatch.setattr(rulebook, "RULES", others)
    assert rulebook.digest() != before
