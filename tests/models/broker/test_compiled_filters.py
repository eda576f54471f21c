"""What a broker compiles of the expressions in heartbeats, and keeps."""

from __future__ import annotations

from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.broker.compiled_filters import (
    NO_FILTERS,
    CompiledFilter,
    Filters,
    compile_subscriptions,
    restarted,
)
from rocketmq_conformance.models.broker.subscription import RegisteredSubscription
from rocketmq_conformance.models.profile import Profile

NEW, OLDEST = BrokerRules.of(Profile()), BrokerRules.of(Profile.of(broker="4.0.0"))
WITH_TOPICS = BrokerRules.of(Profile.of(broker="5.5.1"))


def after(
    filters: Filters, text: str, version: int, kind: str = "SQL92", rules: BrokerRules = NEW, topics: str = ""
) -> tuple[Filters, tuple[str, ...]]:
    """What is kept after a heartbeat of G that subscribes to T, and what became of the expression."""
    subscribed = {"T": RegisteredSubscription(frozenset(), version, kind, text), "U": RegisteredSubscription(None, 9)}
    return compile_subscriptions(rules, filters, "G", subscribed, topics)


def test_the_first_expression_that_can_be_compiled_is_kept_until_a_newer_one_comes() -> None:
    assert after(NO_FILTERS, "a >", 3) == ({}, ("not compiled",))
    kept, kinds = after(NO_FILTERS, "a > 1", 3)
    assert (kept, kinds) == ({("G", "T"): CompiledFilter("a > 1", 3)}, ("compiled",))
    for text, version in (("a < 1", 3), ("a < 1", 2), ("a >", 3)):
        assert after(kept, text, version) == (kept, ("older expression kept",))
    assert after(kept, "a < 1", 4) == ({("G", "T"): CompiledFilter("a < 1", 4)}, ("newer one compiled",))
    assert after(kept, "a > 1", 4)[0] == {("G", "T"): CompiledFilter("a > 1", 4)}


def test_a_newer_expression_that_cannot_be_compiled_removes_what_is_kept() -> None:
    kept, _ = after(NO_FILTERS, "a > 1", 3)
    assert after(kept, "a >", 4) == ({}, ("newer one not compiled",))
    assert after(kept, "a > 1", 4, "sql92") == ({}, ("newer one not compiled",))
    assert after(kept, "", 4) == (kept, ("empty expression",))


def test_tags_are_not_compiled() -> None:
    kept, _ = after(NO_FILTERS, "a > 1", 3)
    for kind in ("TAG", ""):
        assert after(kept, "a", 4, kind) == (kept, ())
    by_sql = {"T": RegisteredSubscription(frozenset(), 1, "SQL92", "a > 1")}
    assert compile_subscriptions(OLDEST, NO_FILTERS, "G", by_sql, "T") == ({}, ())


def test_from_5_5_1_an_expression_for_a_topic_that_the_broker_does_not_have_changes_nothing() -> None:
    assert after(NO_FILTERS, "a > 1", 3, rules=WITH_TOPICS) == ({}, ("unknown topic",))
    kept, kinds = after(NO_FILTERS, "a > 1", 3, rules=WITH_TOPICS, topics="T")
    assert (kept, kinds) == ({("G", "T"): CompiledFilter("a > 1", 3)}, ("compiled",))
    for text in ("a < 1", "a >"):
        assert after(kept, text, 4, rules=WITH_TOPICS) == (kept, ("unknown topic",))


def test_a_stop_keeps_what_was_compiled_and_5_5_1_forgets_it() -> None:
    kept, _ = after(NO_FILTERS, "a > 1", 3)
    assert restarted(NEW, kept) == kept
    assert restarted(WITH_TOPICS, kept) == {}
