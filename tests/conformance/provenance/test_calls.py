"""What requests pass in a broker, as it is kept: each method is named by a rule, on the way of one, or excused."""

from __future__ import annotations

from fnmatch import fnmatchcase
from random import Random

import pytest

from rocketmq_conformance.conformance.provenance.calls import (
    REQUESTS,
    calls_of,
    read_calls,
    rules_on_the_way,
    text_of,
    watched,
)
from rocketmq_conformance.conformance.provenance.excused import EXCUSED, why_excused
from rocketmq_conformance.conformance.provenance.history import read_history
from rocketmq_conformance.conformance.provenance.named import Named, members_of
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.models.release import Release
from rocketmq_conformance.models.rulebook import RULES

KEPT = read_calls()
#: Twenty requests, drawn by seed.
DRAWN = sorted(Random(45).sample(REQUESTS, 20))


@pytest.mark.parametrize("request_name", DRAWN)
def test_every_method_that_a_request_passes_is_read_for_a_rule_or_excused(request_name: str) -> None:
    named, way = set(members_of(RULES.values())), rules_on_the_way(KEPT, RULES.values())
    passed = KEPT.passed_by(request_name)
    assert len(passed) > 1
    assert [str(one) for one in passed if not (one in named or way.get(one) or why_excused(one))] == []


def test_what_only_the_switch_over_all_requests_leads_to_is_on_the_way_of_nothing() -> None:
    forgotten = [rule for rule in RULES.values() if "#lockBatchMQ" not in rule.source]
    offenders = {str(one) for one, ids in rules_on_the_way(KEPT, forgotten).items() if not ids}
    assert "AdminBrokerProcessor#lockBatchMQ" in offenders
    assert offenders <= set(map(str, KEPT.passed_by("LOCK_BATCH_MQ")))


@pytest.mark.parametrize(
    ("request_name", "member"),
    [
        ("DELETE_SUBSCRIPTIONGROUP", "LiteMetadataUtil#isLiteGroupType"),
        ("DELETE_SUBSCRIPTIONGROUP", "SubscriptionGroupManager#findSubscriptionGroupConfig"),
        ("HEART_BEAT", "ConsumerFilterManager#register"),
        ("UNREGISTER_CLIENT", "ConsumerFilterManager#unRegister"),
        ("PULL_MESSAGE", "DefaultMessageStore#getMessage"),
        ("QUERY_CONSUMER_OFFSET", "ConsumerOffsetManager#queryOffset"),
        ("QUERY_ASSIGNMENT", "QueryAssignmentProcessor#allocate4Pop"),
        ("SEARCH_OFFSET_BY_TIMESTAMP", "ConsumeQueue#binarySearchInQueueByTime"),
    ],
)
def test_the_graph_finds_what_was_read_by_hand(request_name: str, member: str) -> None:
    assert member in map(str, KEPT.passed_by(request_name))


def test_requests_are_those_of_the_protocol_and_excuses_excuse_something() -> None:
    assert [name for name in REQUESTS if name not in Request.__members__] == []
    every = list(map(str, KEPT.called))
    patterns = [pattern for some in EXCUSED.values() for pattern in some]
    assert [one for one in patterns if not any(fnmatchcase(name, one) for name in every)] == []


def test_changes_of_a_release_that_no_rule_names_are_noticed() -> None:
    """Those of 5.5.0 that were on the way of a rule and named by none."""
    hashes, old, new = read_history().hashes, Release(5, 4, 0), Release(5, 5, 0)
    differ = {str(one) for one in watched(KEPT, RULES.values()) if hashes[one].get(old) != hashes[one].get(new)}
    assert differ >= {"ConsumeQueueStore#destroy", "DefaultMessageStore#deleteTopics"}


def test_the_file_is_read_as_it_is_written() -> None:
    assert read_calls(text_of(KEPT, "5.5.0")) == KEPT

    class Graph:
        def entries(self, request: str) -> tuple[Named, ...]:
            return (Named("A", request),)

        def passed(self, entries: tuple[Named, ...], stops: object) -> dict[Named, tuple[Named, ...]]:
            return {one: (Named("B", "m"),) for one in entries} | {Named("B", "m"): ()}

    made = calls_of(Graph(), ("x", "y"))  # type: ignore[arg-type]
    assert made.passed_by("x") == (Named("A", "x"), Named("B", "m"))
