"""Topics, groups and sending: what survives a deletion, by release."""

from __future__ import annotations

import pytest
from every import every

from rocketmq_conformance.models.broker.admin import (
    CLEAN_OFFSET,
    KEEP,
    REMOVE_OFFSET,
    create_group,
    create_topic,
    delete_group,
    delete_topic,
    topic_queues,
)
from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.broker.send import inherit, send, send_observed
from rocketmq_conformance.models.broker.state import BrokerState, QueueLog, Topic
from rocketmq_conformance.models.outcome import Err, Result, agrees
from rocketmq_conformance.models.profile import Profile

KEY = ("G", "T", 0)
OTHER = ("H", "U", 0)
STATE = BrokerState(
    topics={"T": Topic.of(2), "U": Topic.of(1)},
    groups=frozenset({"G", "H"}),
    logs={("T", 0): QueueLog(times=(1, 2)), ("U", 0): QueueLog(times=(3,))},
    stored={KEY: 5, OTHER: 1},
)


def rules(release: str) -> BrokerRules:
    return BrokerRules.of(Profile.of(broker=release))


def test_creating_a_topic_again_changes_its_queues_and_nothing_else() -> None:
    after, result, why = create_topic(rules("5.5.0"), STATE, "T", Topic.of(4))
    assert result is None
    assert after == STATE._replace(topics={"T": Topic.of(4), "U": Topic.of(1)})
    assert why.kind == "other queues"
    assert create_topic(rules("5.5.0"), STATE, "T", Topic.of(2))[0] == STATE
    assert create_topic(rules("5.5.0"), STATE, "V", Topic.of(1))[0].topics == {**STATE.topics, "V": Topic.of(1)}


@pytest.mark.parametrize(
    ("release", "forgets"),
    [("4.9.8", False), ("5.0.0-PREVIEW", False), ("5.0.0-ALPHA", False), ("5.0.0", True), ("5.5.0", True)],
)
def test_a_deleted_topic_keeps_its_stored_offsets_up_to_4_9_8(release: str, forgets: bool) -> None:
    after, result, why = delete_topic(rules(release), STATE, "T")
    assert result is None
    assert after.topics == {"U": Topic.of(1)}
    assert after.logs == {("U", 0): QueueLog(times=(3,))}
    assert after.stored == ({OTHER: 1} if forgets else STATE.stored)
    assert why.kind == ("offsets removed" if forgets else "offsets kept")
    again = create_topic(rules(release), after, "T", Topic.of(2))
    assert again[2].kind == ("new topic" if forgets else "new topic, offsets kept")


def test_deleting_a_topic_or_group_without_offsets() -> None:
    bare = STATE._replace(stored={})
    assert delete_topic(rules("5.5.0"), bare, "T")[2].kind == "nothing stored"
    assert delete_topic(rules("5.5.0"), bare, "V")[2].kind == "unknown topic"
    assert delete_group(rules("5.5.0"), bare, "G", CLEAN_OFFSET)[2].kind == "nothing stored"


@every(
    ("release", "flag", "forgets"),
    [
        ("4.8.0", REMOVE_OFFSET, False),
        ("4.9.0", REMOVE_OFFSET, True),
        ("4.9.8", REMOVE_OFFSET, True),
        ("4.9.8", CLEAN_OFFSET, False),
        ("4.9.8", KEEP, False),
        ("5.0.0-ALPHA", REMOVE_OFFSET, True),
        ("5.0.0-ALPHA", CLEAN_OFFSET, False),
        ("5.0.0", CLEAN_OFFSET, True),
        ("5.0.0", REMOVE_OFFSET, False),
        ("5.5.0", CLEAN_OFFSET, True),
        ("5.5.0", REMOVE_OFFSET, False),
        ("5.5.0", KEEP, False),
    ],
)
def test_a_deleted_group_loses_its_offsets_only_by_the_flag_of_its_release(
    release: str, flag: str, forgets: bool
) -> None:
    after, result, why = delete_group(rules(release), STATE, "G", flag)
    assert result is None
    assert after.stored == ({OTHER: 1} if forgets else STATE.stored)
    assert ("BQ-COM-9" in why.rules) == forgets


@every("group", ["G", "NEW"])
@every(
    ("release", "flag", "there"),
    [
        ("5.4.0", KEEP, False),
        ("5.5.0", KEEP, True),
        ("5.5.0", REMOVE_OFFSET, True),
        ("5.5.0", CLEAN_OFFSET, False),
        ("5.5.1", KEEP, False),
    ],
)
def test_deleting_a_group_without_the_flag_creates_it_in_5_5_0(
    release: str, flag: str, there: bool, group: str
) -> None:
    after, _, why = delete_group(rules(release), STATE, group, flag)
    assert (group in after.groups) == there
    assert ("BQ-GROUP-3" in why.rules) == there


def test_a_created_group_finds_its_old_offsets() -> None:
    gone = delete_group(rules("4.9.7"), STATE, "G", KEEP)[0]
    after, result, why = create_group(rules("4.9.7"), gone, "G")
    assert result is None
    assert after == STATE
    assert why.kind == "new group, offsets kept"
    assert create_group(rules("4.9.7"), after, "G")[2].kind == "same again"
    assert create_group(rules("4.9.7"), after, "NEW")[2].kind == "new group"


def test_messages_get_the_next_offsets() -> None:
    after, result, why = send(rules("5.5.0"), STATE, "T", 0, (7, 8))
    assert result == (2, 3)
    assert after.logs[("T", 0)] == QueueLog(times=(1, 2, 7, 8))
    assert why.kind == "next message"
    assert send(rules("5.5.0"), STATE, "T", 1, (7,))[1:] == ((0,), send(rules("5.5.0"), STATE, "T", 1, (7,))[2])
    expired = STATE._replace(logs={("T", 0): QueueLog(min=3, first=3)})
    after, result, why = send(rules("5.5.0"), expired, "T", 0, (7,))
    assert result == (3,)
    assert after.logs[("T", 0)] == QueueLog(min=3, first=3, times=(7,))
    assert why.kind == "after everything expired"


def test_a_message_into_a_cold_broker_is_cold() -> None:
    assert not send(rules("4.9.7"), STATE, "T", 1, (7,), hot=False)[0].logs[("T", 1)].hot
    cold = STATE._replace(logs={("T", 0): QueueLog(times=(1,), hot=False)})
    assert not send(rules("4.9.7"), cold, "T", 0, (7,))[0].logs[("T", 0)].hot


@pytest.mark.parametrize(("release", "error"), [("4.9.7", "SYSTEM_ERROR"), ("5.5.0", "INVALID_PARAMETER")])
def test_messages_for_nowhere_are_refused(release: str, error: str) -> None:
    assert send(rules(release), STATE, "V", 0, (7,))[:2] == (STATE, Err("TOPIC_NOT_EXIST"))
    assert send(rules(release), STATE, "T", 2, (7,))[:2] == (STATE, Err(error))
    assert send_observed(rules(release), STATE, ((0, 7),), "V", 0, 1)[1] == Err("TOPIC_NOT_EXIST")


@every(
    ("observed", "acceptable"),
    [
        (((2, 2), (3, 2)), True),
        (((2, 5), (3, 9)), True),
        (((2, 9), (3, 5)), False),  # time ran backwards
        (((2, 1), (3, 5)), False),  # before the message in front of it
        (((3, 5), (4, 6)), False),  # an offset left out
        (((2, 5),), False),
        (((2, 5), (3, "5")), False),
        (((2, 5), 3), False),
        (5, False),
        (Err("SYSTEM_BUSY"), False),
    ],
)
def test_observed_store_times_are_checked(observed: Result, acceptable: bool) -> None:
    after, expected, _ = send_observed(rules("5.5.0"), STATE, observed, "T", 0, 2)
    assert agrees(expected, observed) == acceptable
    assert after.logs[("T", 0)].max == 4
    assert list(after.logs[("T", 0)].times) == sorted(after.logs[("T", 0)].times)


def test_what_came_again_to_members_that_pop_goes_with_the_topic() -> None:
    again = Topic.of(1)
    there = STATE._replace(topics={**STATE.topics, "%RETRY%G_T": again, "%RETRY%H_T": again})
    for release, kept in (("5.1.3", True), ("5.1.4", False), ("5.5.0", False)):
        after, result, why = delete_topic(rules(release), there, "T")
        assert result is None
        assert ("%RETRY%G_T" in after.topics) is kept
        assert "%RETRY%H_T" in after.topics
        assert ("BQ-TOPIC-POP" in why.rules) is not kept
    assert delete_topic(rules("5.5.0"), STATE, "T")[2].rules == ("BQ-TOPIC-3", "BQ-COM-9")


def test_a_deletion_that_fails_leaves_what_came_again() -> None:
    off = BrokerRules.of(Profile.of(broker="5.5.0").configured({"timerWheelEnable": "false"}))
    after, result, _ = delete_topic(off, STATE._replace(topics={"T": Topic.of(1), "%RETRY%G_T": Topic.of(1)}), "T")
    assert (set(after.topics), result) == ({"%RETRY%G_T"}, Err("SYSTEM_ERROR"))


def test_statistics_have_the_queues_that_are_only_read_from_5_3_0() -> None:
    for release, queues in (("4.9.7", 1), ("5.2.0", 1), ("5.3.0", 3)):
        more = STATE._replace(topics={"T": Topic(3, 1, 6), "U": Topic(1, 3, 6)})
        assert topic_queues(rules(release), more, "T")[1] == queues
        assert topic_queues(rules(release), more, "U")[1] == 3
        assert topic_queues(rules(release), more, "V")[1] == Err("TOPIC_NOT_EXIST")


@every(
    ("perm", "asked", "made"),
    [
        (7, 2, Topic(2, 2, 6)),
        (7, 4, Topic(4, 4, 6)),
        (7, 9, Topic(4, 4, 6)),
        (7, 0, Topic(0, 0, 6)),
        (7, -1, Topic(0, 0, 6)),
        (3, 1, Topic(1, 1, 2)),
        (6, 1, None),
    ],
)
def test_a_message_makes_its_topic_from_one_that_can_be_copied(perm: int, asked: int, made: Topic | None) -> None:
    state = STATE._replace(topics={"D": Topic(8, 4, perm)})
    after, why = inherit(rules("5.5.0"), state, "N", "D", asked)
    assert after.topics.get("N") == made
    assert why is not None
    assert why.rules == ("BQ-TOPIC-INHERIT",)
    assert inherit(rules("5.5.0"), state, "N", "none", asked) == (state, None)
    assert inherit(rules("5.5.0"), state, "D", "D", asked) == (state, None)
