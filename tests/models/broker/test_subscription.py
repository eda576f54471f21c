"""Subscriptions by tags and expressions: carried by a request, or registered; every release that differs."""

from __future__ import annotations

import pytest
from every import every

from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.broker.subscription import (
    PropertyFilter,
    RegisteredSubscription,
    StoredEntry,
    carried_codes,
    passes_filter,
    registered_codes,
    tag_codes,
)
from rocketmq_conformance.models.java_text import string_hash
from rocketmq_conformance.models.outcome import Err
from rocketmq_conformance.models.profile import Profile

NEW = BrokerRules.of(Profile())


def rules(broker: str) -> BrokerRules:
    return BrokerRules.of(Profile.of(broker=broker))


@pytest.mark.parametrize("expression", [None, "", "*"])
def test_everything_is_subscribed(expression: str | None) -> None:
    assert tag_codes(expression) is None


@every(
    ("expression", "tags"),
    [
        ("A", {"A"}),
        ("A||B", {"A", "B"}),
        (" A ||\tB\n", {"A", "B"}),
        ("A || || ", {"A"}),
        (" ", set()),
        ("* || A", {"*", "A"}),
    ],
)
def test_tags_are_split_and_trimmed(expression: str, tags: set[str]) -> None:
    assert tag_codes(expression) == {string_hash(tag) for tag in tags}


@pytest.mark.parametrize("expression", ["||", "||||"])
def test_separators_alone_cannot_be_read(expression: str) -> None:
    assert tag_codes(expression) == Err("SUBSCRIPTION_PARSE_FAILED")


def test_a_carried_expression_is_tags_or_nothing_the_broker_filters_by() -> None:
    for kind in (None, "TAG"):
        assert carried_codes(NEW, "A", kind) == {string_hash("A")}
    assert carried_codes(NEW, "a > 1", "SQL92") == Err("SYSTEM_ERROR")
    assert carried_codes(NEW, "", "SQL92") == Err("SUBSCRIPTION_PARSE_FAILED")
    assert carried_codes(rules("4.0.0"), "A", "SQL92") == {string_hash("A")}


def test_a_registered_subscription_must_be_there_and_new_enough() -> None:
    codes = frozenset({1})
    assert registered_codes(NEW, None, 0) == Err("SUBSCRIPTION_NOT_EXIST")
    assert registered_codes(NEW, RegisteredSubscription(codes, 5), 6) == Err("SUBSCRIPTION_NOT_LATEST")
    assert registered_codes(NEW, RegisteredSubscription(codes, 5), 5) == codes
    assert registered_codes(NEW, RegisteredSubscription(None, 5, ""), 4) is None
    assert registered_codes(rules("4.0.0"), RegisteredSubscription(codes, 5, "SQL92"), 5) == codes


def test_a_registered_expression_counts_as_it_was_compiled() -> None:
    by_sql = RegisteredSubscription(frozenset(), 5, "SQL92", "a > 1")
    answering = BrokerRules.of(Profile().configured({"enablePropertyFilter": "true"}))
    for broker in (NEW, answering):
        assert registered_codes(broker, by_sql, 6) == Err("SUBSCRIPTION_NOT_LATEST")
        assert registered_codes(broker, by_sql, 5) == Err("FILTER_DATA_NOT_EXIST")
        assert registered_codes(broker, by_sql, 5, ("a > 0", 4)) == Err("FILTER_DATA_NOT_LATEST")
    assert registered_codes(NEW, by_sql, 5, ("a > 0", 5)) == Err("SYSTEM_ERROR")
    assert registered_codes(answering, by_sql, 5, ("a > 0", 5)) == PropertyFilter("a > 0")
    assert registered_codes(answering, by_sql._replace(class_filter=True), 5, ("a > 0", 5)) is None
    blank = by_sql._replace(kind="")
    assert registered_codes(answering, blank, 5) == frozenset()
    assert registered_codes(rules("4.2.0"), blank, 5) == Err("FILTER_DATA_NOT_EXIST")


def test_the_broker_compares_hashes() -> None:
    assert string_hash("Aa") == string_hash("BB")
    codes = tag_codes("Aa")
    assert not isinstance(codes, Err)
    assert passes_filter(NEW, codes, StoredEntry(1, "Aa"))
    assert passes_filter(NEW, codes, StoredEntry(1, "BB"))
    assert not passes_filter(NEW, codes, StoredEntry(1, "A"))
    assert not passes_filter(NEW, codes, StoredEntry(1, None))
    assert not passes_filter(NEW, codes, StoredEntry(1, ""))
    assert passes_filter(NEW, None, StoredEntry(1, None))
    assert passes_filter(NEW, None, StoredEntry(1, "A"))
