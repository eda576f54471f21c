"""Broker mutants that the suite ``broker-filters`` kills by expressions in SQL92, on brokers that answer these."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import cast

from rocketmq_conformance.conformance.fakes.consumers import Consumers
from rocketmq_conformance.conformance.fakes.pulls import Pulls
from rocketmq_conformance.conformance.targets.broker.mutant import BrokerMutant, declared
from rocketmq_conformance.models.broker import names
from rocketmq_conformance.models.broker.configuration import PROPERTY_FILTER
from rocketmq_conformance.models.broker.property_filter import FailedError, Properties, compiled, passes, verdict
from rocketmq_conformance.models.broker.pull import PullMessageRequest
from rocketmq_conformance.models.broker.subscription import (
    NO_FILTER,
    SQL92,
    UNREADABLE,
    PropertyFilter,
    StoredEntry,
    TagCodes,
    tag_codes,
)
from rocketmq_conformance.models.outcome import Err, Result

#: Does a message with these properties pass an expression?
Passes = Callable[[str, Properties], bool]

MUTANTS: list[BrokerMutant] = []
_pulls = declared(MUTANTS, "pulls", "broker-filters", **{PROPERTY_FILTER: "true"})
_consumers = declared(MUTANTS, "consumers", "broker-filters", **{PROPERTY_FILTER: "true"})


def _judging_by(passes: Passes) -> type:
    """Judges messages by a function."""

    class Judging(Pulls):
        def find(self, asked: PullMessageRequest, codes: TagCodes | Err) -> Result:
            if not isinstance(codes, PropertyFilter):
                return super().find(asked, codes)
            storage = self._storage
            entries = [
                StoredEntry(entry.size, "passes" if passes(codes.expression, entry.properties) else "fails")
                for entry in storage.entries(asked.topic, asked.queue)
            ]
            chosen = tag_codes("passes")
            storage.state, result, _ = names.pull_named(storage.rules, storage.state, asked, chosen, entries)
            return cast(Result, result)

    return Judging


_sql = _pulls.of(_judging_by)


def _rewritten(name: str, sentence: str, pattern: str, replacement: str) -> None:
    """A mutant that reads expressions as if a part of them was another one."""
    _sql("D154", sentence, name=name)(lambda text, has: passes(re.sub(pattern, replacement, text), has))


def _other(name: str, sentence: str, change: Callable[[str], str]) -> None:
    """A mutant that takes the values of properties for others."""
    _sql("D154", sentence, name=name)(
        lambda text, has: passes(text, {one: change(value) for one, value in has.items() if value})
    )


@_sql("D154", "An expression that cannot be compiled passes nothing.")
def _sql_uncompiled_none(text: str, properties: Properties) -> bool:
    return compiled(text) is not None and passes(text, properties)


@_sql("D154", "A message passes whose properties cannot be converted.")
def _sql_failed_passes(text: str, properties: Properties) -> bool:
    try:
        return compiled(text) is None or verdict(text, properties) is True
    except FailedError:
        return True


@_sql("D154", "A message passes when the expression is unknown.")
def _sql_unknown_passes(text: str, properties: Properties) -> bool:
    try:
        return compiled(text) is None or verdict(text, properties) is not False
    except FailedError:
        return False


@_sql("D154", "What follows a whole expression makes it one that cannot be compiled.")
def _sql_whole(text: str, properties: Properties) -> bool:
    return compiled(f"({text})") is None or passes(text, properties)


@_sql("D154", "Names of properties are compared in lower case.")
def _sql_names_lower(text: str, properties: Properties) -> bool:
    return passes(text.replace("B =", "b ="), properties)


@_sql("D154", "The tag is no property.")
def _sql_no_tags(text: str, properties: Properties) -> bool:
    return passes(text, {one: value for one, value in properties.items() if one != "TAGS"})


@_sql("D154", "A property that is lacking is the empty text.")
def _sql_lacking_is_text(text: str, properties: Properties) -> bool:
    return passes(text, {**dict.fromkeys("abcd", "\0"), **properties})


@_sql("D154", "A property that is empty is there.")
def _sql_empty_is_text(text: str, properties: Properties) -> bool:
    return passes(text, {one: value or "\0" for one, value in properties.items()})


@_pulls("D154", "An expression that cannot be compiled is refused.")
class SqlUncompiledRefused(Pulls):
    """A pull by an expression that cannot be compiled is refused."""

    def find(self, asked: PullMessageRequest, codes: TagCodes | Err) -> Result:
        refused = isinstance(codes, PropertyFilter) and compiled(codes.expression) is None
        return super().find(asked, UNREADABLE if refused else codes)


@_consumers("D154", "A client may subscribe by any text.")
class CheckSqlLanguage(Consumers):
    """A client may subscribe by everything that it calls SQL92."""

    def check(self, expression: str | None, kind: str | None) -> Err | None:
        return None if kind == SQL92 else super().check(expression, kind)


@_consumers("D154", "No client may subscribe by SQL92.")
class CheckSqlRefuses(Consumers):
    """No client may subscribe by expressions in SQL92."""

    def check(self, expression: str | None, kind: str | None) -> Err | None:
        return NO_FILTER if kind == SQL92 else super().check(expression, kind)


_other("sql-trimmed", "Spaces around numbers are left out.", str.strip)
_other("sql-wide", "Properties are converted to 64 bits.", lambda value: value.replace("3000000000", "2147483647"))
_other("sql-any-number", "Whole numbers may be written as floating point.", lambda value: value.replace("1e1", "10"))
_rewritten("sql-not-loose", "NOT binds looser than comparisons.", r"NOT ([ab]) = ('x'|1)", r"NOT (\1 = \2)")
_rewritten("sql-equal-lacking", "Two properties that are lacking differ.", "c = d", "c = d AND c IS NOT NULL")
_rewritten("sql-not-in-lacking", "What is lacking is not in a list.", "a NOT IN", "a IS NULL OR a NOT IN")
_rewritten("sql-unequal-lacking", "What is lacking is unequal.", "a <> 1", "a IS NULL OR a <> 1")
_rewritten("sql-between-open", "BETWEEN leaves out its bounds.", "a BETWEEN 1 AND 10", "a > 1 AND a < 10")
_rewritten("sql-between-any", "The bounds of BETWEEN may be swapped.", "BETWEEN 10 AND 1", "BETWEEN 1 AND 10")
_rewritten("sql-flag-first", "TRUE may be compared with a property.", "TRUE = b", "b = TRUE")
_rewritten("sql-in-numbers", "IN takes numbers, too.", r"IN \(1\)", "IN ('1')")
