"""Subscriptions: what a pull asks for by tags or SQL92, in its request or as a heartbeat brought it (BQ-PULL-SUB)."""

from __future__ import annotations

from typing import NamedTuple

from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.broker.property_filter import NO_PROPERTIES, Properties, passes
from rocketmq_conformance.models.java_text import string_hash
from rocketmq_conformance.models.outcome import Err

UNREADABLE = Err("SUBSCRIPTION_PARSE_FAILED")
UNSUBSCRIBED = Err("SUBSCRIPTION_NOT_EXIST")
OUTDATED = Err("SUBSCRIPTION_NOT_LATEST")
NO_DATA, OLD_DATA = Err("FILTER_DATA_NOT_EXIST"), Err("FILTER_DATA_NOT_LATEST")
NO_FILTER = Err("SYSTEM_ERROR")


class PropertyFilter(NamedTuple):
    """The subscription by an expression in SQL92."""

    expression: str


#: What is subscribed to: the hashes of tags, or an expression; None is everything.
TagCodes = frozenset[int] | PropertyFilter | None


class StoredEntry(NamedTuple):
    """The part of a stored message that filter and limits depend on: its size in bytes, its tag and properties."""

    size: int
    tag: str | None = None
    properties: Properties = NO_PROPERTIES


class RegisteredSubscription(NamedTuple):
    """The subscription of a group to one topic, as a heartbeat brought it: the hashes are the client's."""

    codes: TagCodes
    version: int
    kind: str = "TAG"
    text: str = "*"
    tags: tuple[str, ...] = ()
    class_filter: bool = False


def tag_codes(expression: str | None) -> TagCodes | Err:
    """The subscription that a tag expression such as ``A || B`` means (``FilterAPI#buildSubscriptionData``)."""
    if expression is None or expression in {"", "*"}:
        return None
    if not expression.replace("||", ""):
        return UNREADABLE
    tags = (part.strip(_TRIMMED) for part in expression.split("||"))
    return frozenset(string_hash(tag) for tag in tags if tag)


#: The one language of expressions besides tags that brokers have.
SQL92 = "SQL92"
#: The characters that Java's ``trim`` removes.
_TRIMMED = "".join(map(chr, range(33)))


def names_tags(rules: BrokerRules, kind: str | None) -> bool:
    """Does this language of an expression, None for a field that is not sent, mean tags?"""
    return kind in {None, "TAG"} or not rules.typed_expressions or (kind == "" and rules.blank_is_tag)


def carried_codes(rules: BrokerRules, expression: str | None, kind: str | None) -> TagCodes | Err:
    """BQ-PULL-SUB, BQ-PULL-BLANK for a request that carries its subscription; ``kind`` is the language of the
    expression, None for a field that is not sent."""
    if kind in {None, "TAG"} or not rules.typed_expressions:
        return tag_codes(expression)
    if not expression:
        return UNREADABLE
    if kind == "" and rules.blank_is_tag:
        return None if expression == "*" else frozenset()
    if not rules.filters_properties:
        return NO_FILTER
    return PropertyFilter(expression) if kind == SQL92 else None


def registered_codes(
    rules: BrokerRules, subscription: RegisteredSubscription | None, version: int, kept: tuple[str, int] | None = None
) -> TagCodes | Err:
    """BQ-PULL-SUB, BQ-PULL-FILTER for a request without subscription, which refers to the registered one by its
    ``version``; ``kept`` is what was compiled of it, an expression and its version."""
    if subscription is None:
        return UNSUBSCRIBED
    if subscription.version < version:
        return OUTDATED
    if names_tags(rules, subscription.kind):
        return subscription.codes
    if kept is None:
        return NO_DATA
    if kept[1] < version:
        return OLD_DATA
    if not rules.filters_properties:
        return NO_FILTER
    return None if subscription.class_filter else PropertyFilter(kept[0])


def passes_filter(rules: BrokerRules, codes: TagCodes, entry: StoredEntry) -> bool:
    """BQ-PULL-TAGS, BQ-PULL-NEGATIVE, BQ-SQL-*: does a message pass the broker's filter?"""
    if codes is None:
        return True
    if isinstance(codes, PropertyFilter):
        return passes(codes.expression, entry.properties)
    code = string_hash(entry.tag) if entry.tag else 0
    return code in codes or (code < 0 and rules.negative_passes)
