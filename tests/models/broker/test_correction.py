"""Correction offsets: the smallest stored offsets, and what a question deletes."""

from __future__ import annotations

import pytest

from rocketmq_conformance.models.broker.admin import CLEAN_OFFSET, delete_group, delete_topic
from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.broker.correction import UNREACHABLE, correction_offsets
from rocketmq_conformance.models.broker.state import BrokerState, QueueLog, Stored, Topic
from rocketmq_conformance.models.outcome import Err, Result
from rocketmq_conformance.models.profile import Profile

NEW, OLD = (BrokerRules.of(Profile.of(broker=release)) for release in ("5.1.0", "5.0.0"))
#: Queue 1 of topic T begins at 5.
LOGS = {("T", 1): QueueLog(5, 5)}
STORED: Stored = {
    ("G", "T", 0): 3,
    ("H", "T", 0): 7,
    ("H", "T", 1): 9,
    ("H", "T", 2): 1,
    ("LOW", "T", 0): -1,
    ("ALONE", "T", 1): 4,
    ("ALONE", "T", 3): -1,
    ("G", "U", 0): 2,
}


def ask(
    rules: BrokerRules, compared: str, *left_out: str, topic: str = "T"
) -> tuple[dict[tuple[str, str, int], int], Result, str]:
    """(what is deleted, the answer, the kind of state)."""
    before = BrokerState(logs=LOGS, stored=STORED)
    after, result, why = correction_offsets(rules, before, topic, frozenset(left_out), compared)
    assert not isinstance(result, BrokerState)
    return {key: old for key, old in STORED.items() if key not in after.stored}, result, why.kind  # type: ignore[return-value]


def test_the_smallest_offset_that_is_not_below_min() -> None:
    assert ask(NEW, "NOPE") == ({}, ((0, 3), (1, 9), (2, 1)), "smallest")
    assert ask(NEW, "NOPE", topic="NOPE") == ({}, (), "nothing stored")


def test_groups_that_are_left_out_lose_their_offsets_for_every_topic() -> None:
    lost = {("G", "T", 0): 3, ("G", "U", 0): 2}
    assert ask(NEW, "NOPE", "G", "UNKNOWN") == (lost, ((0, 7), (1, 9), (2, 1)), "smallest, groups deleted")
    assert ask(NEW, "G", "G")[:2] == (lost, ((0, 7), (1, 9), (2, 1)))
    assert ask(NEW, "NOPE", "G", topic="U") == (lost, (), "nothing stored, groups deleted")


def test_a_question_that_fails_has_deleted_before() -> None:
    deleted, result, kind = ask(NEW, "ALONE", "G")
    assert (len(deleted), result, kind) == (2, Err("SYSTEM_ERROR"), "only below min, groups deleted")


@pytest.mark.parametrize(
    ("compared", "result", "kind"),
    [
        ("G", ((0, 3), (1, 9), (2, 1)), "not below the answer"),
        ("H", ((0, 3), (1, 9), (2, 1)), "not below the answer"),
        ("LOW", ((0, UNREACHABLE), (1, 9), (2, 1)), "below the answer"),
        ("ALONE", Err("SYSTEM_ERROR"), "only below min"),
    ],
)
def test_a_group_is_compared_from_5_1_0_on(compared: str, result: Result, kind: str) -> None:
    assert ask(NEW, compared) == ({}, result, kind)
    assert ask(OLD, compared) == ({}, ((0, 3), (1, 9), (2, 1)), "not compared")


def test_a_reset_outlives_its_topic_but_not_its_group_once_a_question_deleted_what_was_stored() -> None:
    newest = BrokerRules.of(Profile.of(broker="5.5.0"))
    pending: Stored = {("G", "T", 0): 3, ("H", "T", 0): 5}
    stored = correction_offsets(newest, BrokerState(stored=pending, pending=pending), "T", frozenset({"G"}), "G")[0]
    after, _, why = delete_topic(newest, stored, "T")
    assert (after.pending, why.kind) == ({("G", "T", 0): 3}, "offsets removed, resets removed")
    after, _, why = delete_group(newest, stored, "G", CLEAN_OFFSET)
    assert (after.pending, why.kind) == ({("H", "T", 0): 5}, "nothing stored, resets removed")


def test_of_a_name_with_an_at_the_part_before_it_is_left_out() -> None:
    stored = {("b@G", "T", 0): 3, ("G", "T", 0): 5}
    state = BrokerState(topics={"T": Topic.of(1)}, stored=stored)
    for release in ("4.0.0", "5.3.3"):
        rules = BrokerRules.of(Profile.of(broker=release))
        after, found, _ = correction_offsets(rules, state, "T", frozenset({"b"}), "")
        assert (after.stored, found) == ({("G", "T", 0): 5}, ((0, 5),))
        assert correction_offsets(rules, state, "T", frozenset({"b@G"}), "")[0] == state
