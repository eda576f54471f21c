"""Statistics of a group: the answers by hand."""

from __future__ import annotations

import pytest

from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.broker.group_stats import (
    NOT_PULLED,
    GoneOn,
    group_stats,
    pulled,
    without_group,
    without_topic,
)
from rocketmq_conformance.models.broker.state import BrokerState, QueueLog, Topic
from rocketmq_conformance.models.profile import Profile

OLD, FIRST, MIDDLE, NEW = (BrokerRules.of(Profile.of(broker=one)) for one in ("5.0.0", "5.1.0", "5.3.2", "5.5.0"))
STATE = BrokerState(
    topics={"T": Topic(2, 1), "U": Topic.of(1)},
    logs={("T", 0): QueueLog(10, 10, (100, 101, 102)), ("T", 1): QueueLog(times=(7,))},
    stored={("G", "T", 0): 12, ("G", "U", 0): -5, ("G", "GONE", 0): 1, ("H", "T", 0): 3},
)


def stats(
    topic: str, *elsewhere: str, rules: BrokerRules = NEW, gone_on: GoneOn = NOT_PULLED, state: BrokerState = STATE
) -> tuple[object, str]:
    """The statistics of G, and the kind of state."""
    after, result, why = group_stats(rules, state, gone_on, "G", topic, elsewhere)
    assert after is state
    return result, why.kind


def test_every_queue_that_is_read_has_max_the_groups_offset_and_the_time_before_it() -> None:
    assert stats("T") == ((("T", 0, 13, 12, 12, 101), ("T", 1, 1, 0, 0, 0)), "offsets")
    assert stats("U") == ((("U", 0, 0, 0, 0, 0),), "offsets")


def test_without_a_topic_there_are_all_that_the_group_stored_for() -> None:
    assert stats("") == ((("T", 0, 13, 12, 12, 101), ("T", 1, 1, 0, 0, 0), ("U", 0, 0, 0, 0, 0)), "of all topics")
    assert stats("", "T", "U") == ((), "no topics")


def test_topics_that_do_not_exist_or_are_not_subscribed_to_are_left_out() -> None:
    assert stats("GONE") == ((), "unknown topic")
    assert stats("T", "T") == ((), "subscribed elsewhere")


def test_a_pending_reset_comes_first() -> None:
    reset = STATE._replace(pending={("G", "T", 0): 11})
    assert stats("T", state=reset) == ((("T", 0, 13, 11, 11, 100), ("T", 1, 1, 0, 0, 0)), "pending reset")


def test_from_5_1_0_there_is_where_pulls_go_on_if_that_is_beyond() -> None:
    assert pulled(OLD, NOT_PULLED, ("G", "T", 0), 13) == {}
    gone_on = pulled(NEW, pulled(NEW, NOT_PULLED, ("G", "T", 0), 13), ("G", "T", 1), 0)
    assert stats("T", gone_on=gone_on) == ((("T", 0, 13, 12, 13, 101), ("T", 1, 1, 0, 0, 0)), "offsets, pulled beyond")
    assert stats("T", gone_on={("G", "T", 0): 11})[0] == (("T", 0, 13, 12, 12, 101), ("T", 1, 1, 0, 0, 0))
    assert stats("U", rules=OLD)[0] == (("U", 0, 0, 0, None, 0),)


@pytest.mark.parametrize(("rules", "group_left", "topic_left"), [(FIRST, 3, 3), (MIDDLE, 1, 3), (NEW, 1, 2)])
def test_it_goes_with_the_offsets_of_a_group_or_topic(rules: BrokerRules, group_left: int, topic_left: int) -> None:
    gone_on = {("G", "T", 0): 1, ("G", "U", 0): 2, ("H", "T", 0): 3}
    assert len(without_group(rules, gone_on, "G", True)) == group_left
    assert without_group(rules, gone_on, "G", False) == gone_on
    # a group that stored nothing for the topic is not found
    assert len(without_topic(rules, gone_on, "T", {("G", "T", 1): 0})) == topic_left
