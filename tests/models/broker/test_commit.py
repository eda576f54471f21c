"""UPDATE_CONSUMER_OFFSET: which names and fields each release checks, and that it checks no value."""

from __future__ import annotations

import pytest
from every import every
from hypothesis import given
from hypothesis import strategies as st

from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.broker.commit import commit_offset
from rocketmq_conformance.models.broker.state import BrokerState, Topic
from rocketmq_conformance.models.outcome import Err, Expected
from rocketmq_conformance.models.profile import Profile

STATE = BrokerState(topics={"T": Topic.of(2)}, groups=frozenset({"G"}))
NO_TOPIC, NO_GROUP = Err("TOPIC_NOT_EXIST"), Err("SUBSCRIPTION_GROUP_NOT_EXIST")
SYSTEM_ERROR, INVALID = Err("SYSTEM_ERROR"), Err("INVALID_PARAMETER")


def commit(
    release: str, group: str = "G", topic: str = "T", queue: int | None = 0, offset: int | None = 5
) -> tuple[BrokerState, Expected]:
    rules = BrokerRules.of(Profile.of(broker=release))
    after, result, _ = commit_offset(rules, STATE, group, topic, queue, offset)
    return after, result


@every(
    ("release", "unknown_topic", "unknown_group", "both"),
    [
        ("4.0.0", None, None, None),
        ("4.9.8", None, None, None),
        ("5.0.0-PREVIEW", None, None, None),
        ("5.0.0-ALPHA", None, None, None),
        ("5.0.0", NO_TOPIC, None, NO_TOPIC),
        ("5.2.0", NO_TOPIC, None, NO_TOPIC),
        ("5.3.0", NO_TOPIC, NO_GROUP, NO_GROUP),
        ("5.5.0", NO_TOPIC, NO_GROUP, NO_GROUP),
    ],
)
def test_names_are_checked_by_release(
    release: str, unknown_topic: Expected, unknown_group: Expected, both: Expected
) -> None:
    assert commit(release, topic="U")[1] == unknown_topic
    assert commit(release, group="H")[1] == unknown_group
    assert commit(release, group="H", topic="U")[1] == both


@pytest.mark.parametrize(
    ("release", "error"),
    [("4.9.7", SYSTEM_ERROR), ("5.0.0", SYSTEM_ERROR), ("5.3.1", SYSTEM_ERROR), ("5.3.2", INVALID), ("5.5.0", INVALID)],
)
def test_a_missing_field_is_refused_after_the_names(release: str, error: Err) -> None:
    for queue, offset in ((None, 5), (0, None), (None, None)):
        after, result = commit(release, queue=queue, offset=offset)
        assert result == error
        assert after is STATE
    first_refusal = commit(release, topic="U")[1] or error
    assert commit(release, topic="U", queue=None)[1] == first_refusal


@pytest.mark.parametrize("release", ["4.9.7", "5.0.0", "5.5.0"])
@given(queue=st.integers(-5, 100), offsets=st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1))
def test_any_value_is_stored_as_the_last_one(release: str, queue: int, offsets: list[int]) -> None:
    rules = BrokerRules.of(Profile.of(broker=release))
    state = STATE
    for offset in offsets:
        state, result, _ = commit_offset(rules, state, "G", "T", queue, offset)
        assert result is None
    assert state.stored == {("G", "T", queue): offsets[-1]}
    assert STATE.stored == {}


@pytest.mark.parametrize(
    ("offsets", "kind"),
    [
        ((5,), "first commit"),
        ((5, 6), "forward"),
        ((5, 5), "same again"),
        ((5, 4), "backwards"),
        ((5, -1), "negative"),
    ],
)
def test_coverage_distinguishes_the_kinds_of_commits(offsets: tuple[int, ...], kind: str) -> None:
    rules = BrokerRules.of(Profile())
    state = STATE
    for offset in offsets:
        state, _, why = commit_offset(rules, state, "G", "T", 0, offset)
    assert why.kind == kind


def test_coverage_sees_a_commit_for_an_unknown_name() -> None:
    rules = BrokerRules.of(Profile.of(broker="4.9.7"))
    for group, topic in (("G", "U"), ("H", "T")):
        assert commit_offset(rules, STATE, group, topic, 0, 5)[2].kind == "unknown name stored"
