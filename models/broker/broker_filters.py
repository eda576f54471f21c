"""The broker of suite broker-filters: messages with tags and properties, and pulls that carry a subscription.

Queues are 0 and 1 of one topic. What a pull finds follows from the messages of its queue alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import NamedTuple, cast

from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.broker.client_check import check_client
from rocketmq_conformance.models.broker.fixtures import GROUPS, TOPICS, initial_state
from rocketmq_conformance.models.broker.property_filter import FailedError, compiled, verdict
from rocketmq_conformance.models.broker.pull import PullMessageRequest, PullResult, pull, response_code
from rocketmq_conformance.models.broker.send import send
from rocketmq_conformance.models.broker.state import BrokerState
from rocketmq_conformance.models.broker.subscription import SQL92, StoredEntry, carried_codes
from rocketmq_conformance.models.outcome import Err
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Answer, Reason, Rule

RULES = (
    Rule(
        "BQ-PULL-CLASS",
        "The flag of class filters in a pull's sysFlag changes nothing.",
        "PullMessageProcessor#processRequest @ 4.0.0, 4.9.7, 5.3.3",
    ),
)

#: Messages by what plans call them: their properties. The hashes of the tags Aa and BB are equal in Java, that of
#: f5a5a608 is 0, which is that of no tag, and that of polygenelubricants is the smallest of all.
MESSAGES: dict[str, dict[str, str]] = {
    "A": {"TAGS": "A"},
    "Aa": {"TAGS": "Aa"},
    "BB": {"TAGS": "BB"},
    "none": {},
    "zero": {"TAGS": "f5a5a608"},
    "least": {"TAGS": "polygenelubricants"},
    "star": {"TAGS": "*"},
    "lower": {"TAGS": "a"},
    "one": {"TAGS": "A", "a": "1"},
    "ten": {"a": "10", "b": "x"},
    "fraction": {"a": "2.5", "b": "it's"},
    "text": {"a": "x", "b": "TRUE"},
}
#: The same of messages that expressions in SQL92 tell apart.
PROPERTIES: dict[str, dict[str, str]] = {
    "bare": {},
    "minus": {"a": "-3", "c": "5"},
    "padded": {"a": " 1", "b": "false"},
    "equal": {"a": "5", "b": "5", "c": "5.0", "TAGS": "A"},
    "large": {"a": "3000000000", "b": "true"},
    "power": {"a": "1e1", "c": "x"},
    "second": {"b": "x"},
    "blank": {"a": "", "b": "1"},
}
#: The store time of every message (ms since the epoch); it is not observed.
STORED_AT = 1_000_000_000_000
_SMALL = 100

#: Names of the messages by queue.
Sent = Mapping[int, tuple[str, ...]]


class BrokerFiltersState(NamedTuple):
    """The broker, and the names of its messages."""

    broker: BrokerState = initial_state()
    sent: Sent = MappingProxyType({})


@cache
def _entry(name: str) -> StoredEntry:
    """What filters look at in a message."""
    properties = MESSAGES.get(name, PROPERTIES.get(name, {}))
    return StoredEntry(_SMALL, properties.get("TAGS"), properties)


class BrokerFiltersModel:
    """The rules of suite broker-filters; every method is pure."""

    __slots__ = ("rules",)

    def __init__(self, profile: Profile) -> None:
        self.rules = BrokerRules.of(profile)

    def send(self, state: BrokerFiltersState, queue: int, messages: tuple[str, ...]) -> Answer[BrokerFiltersState]:
        """BQ-SEND-1: the offsets of messages."""
        broker, result, why = send(self.rules, state.broker, TOPICS[0], queue, (STORED_AT,) * len(messages))
        sent = {**state.sent, queue: (*state.sent.get(queue, ()), *messages)}
        return BrokerFiltersState(broker, sent), result, why

    def pull(
        self,
        state: BrokerFiltersState,
        queue: int,
        offset: int,
        most: int,
        subscription: tuple[str | None, str | None],
        class_filter: bool,
    ) -> Answer[BrokerFiltersState]:
        """BQ-PULL-*: (response code's name, next offset, min, max, offsets found), or the error."""
        expression, kind = subscription
        codes = carried_codes(self.rules, expression, kind)
        entries = [_entry(name) for name in state.sent.get(queue, ())]
        asked = PullMessageRequest(GROUPS[0], TOPICS[0], queue, offset, most)
        _, result, why = pull(self.rules, state.broker, asked, codes, entries)
        if self.rules.filters_properties and expression and not isinstance(codes, frozenset | Err) and kind:
            why = self._by_sql(why, expression, kind, entries[max(offset, 0) :])
        if kind == "" and expression and self.rules.typed_expressions:
            why = _with(why, "BQ-PULL-BLANK", "language not named")
        if (
            self.rules.negative_passes
            and codes is not None
            and any(name == "least" for name in state.sent.get(queue, ()))
        ):
            why = _with(why, "BQ-PULL-NEGATIVE", "a negative hash")
        if class_filter:
            why = _with(why, "BQ-PULL-CLASS", "class filter")
        if isinstance(result, Err):
            return state, result, why
        status, following, low, high, found = cast(PullResult, result)
        return state, (response_code(status, offset), following, low, high, found), why

    def check(
        self, state: BrokerFiltersState, subscription: tuple[str | None, str | None]
    ) -> Answer[BrokerFiltersState]:
        """BQ-CHECK-CLIENT: None, or the error."""
        return state, *check_client(self.rules, *subscription)

    def pull_sql(
        self, state: BrokerFiltersState, queue: int, offset: int, negated: bool, first: str, joint: str, second: str
    ) -> Answer[BrokerFiltersState]:
        """The same by an expression in SQL92 that has up to two conditions."""
        subscription = (expression_of(negated, first, joint, second), SQL92)
        return self.pull(state, queue, offset, 32, subscription, False)

    def check_sql(
        self, state: BrokerFiltersState, negated: bool, first: str, joint: str, second: str
    ) -> Answer[BrokerFiltersState]:
        """BQ-CHECK-CLIENT by such an expression: None, or the error."""
        return self.check(state, (expression_of(negated, first, joint, second), SQL92))

    def _by_sql(self, why: Reason, expression: str, kind: str, entries: list[StoredEntry]) -> Reason:
        """The same reason with the rules that decide which of these messages pass."""
        if kind == "TAG" or (kind == "" and self.rules.blank_is_tag):
            return why
        if kind != SQL92 or compiled(expression) is None:
            return _with(why, "BQ-SQL-COMPILE", "not compiled")
        found = {_worth(expression, entry) for entry in entries}
        if FAILED in found:
            why = _with(why, "BQ-SQL-TYPE", FAILED)
        return _with(why, "BQ-SQL-UNKNOWN", "unknown") if None in found else why


def expression_of(negated: bool, first: str, joint: str, second: str) -> str:
    """An expression of two conditions, or of the first one when nothing joins them."""
    whole = f"({first}) {joint} ({second})" if joint else first
    return f"NOT ({whole})" if negated else whole


#: What an expression is worth that fails.
FAILED = "failed"


def _worth(expression: str, entry: StoredEntry) -> bool | str | None:
    try:
        return verdict(expression, entry.properties)
    except FailedError:
        return FAILED


@cache
def _with(why: Reason, rule: str, kind: str) -> Reason:
    """The same reason with one more rule; one object for each."""
    return Reason((*why.rules, rule), f"{why.kind}, {kind}")


def show(state: BrokerFiltersState) -> str:
    """The messages of each queue in one line."""
    return f"messages { {queue: list(names) for queue, names in state.sent.items()} }"
