"""Resets and clones: which way a release goes, what is stored, what is pending, and what ends it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from every import every

from rocketmq_conformance.models.broker.admin import CLEAN_OFFSET, KEEP, delete_group, delete_topic
from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.broker.clone import clone_offsets
from rocketmq_conformance.models.broker.commit import commit_offset
from rocketmq_conformance.models.broker.lifecycle import restart
from rocketmq_conformance.models.broker.pull import OFFSET_RESET, PullMessageRequest, pull, response_code
from rocketmq_conformance.models.broker.query import query_offset
from rocketmq_conformance.models.broker.reset import ResetRequest, reset, without_pending
from rocketmq_conformance.models.broker.state import BrokerState, QueueLog, Stored, Topic
from rocketmq_conformance.models.broker.subscription import StoredEntry
from rocketmq_conformance.models.outcome import Err
from rocketmq_conformance.models.profile import Profile

START = 1000
LOGS = {
    ("T", 0): QueueLog(times=(START, START + 10, START + 20)),
    ("T", 1): QueueLog(min=4, first=4, times=(START + 5,)),
}


def rules(release: str, server_reset: bool | None = None) -> BrokerRules:
    made = BrokerRules.of(Profile.of(broker=release))
    return made if server_reset is None else replace(made, server_reset=server_reset)


def broker(stored: Stored | None = None, pending: Stored | None = None) -> BrokerState:
    return BrokerState({"T": Topic.of(2), "U": Topic.of(1)}, frozenset({"G", "H"}), LOGS, stored or {}, pending or {})


def at(*offsets: int, group: str = "G", topic: str = "T") -> dict[tuple[str, str, int], int]:
    return {(group, topic, queue): offset for queue, offset in enumerate(offsets)}


# --- by way of the members -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("release", "server"), [("4.7.1", None), ("5.0.0", None), ("5.1.4", None), ("5.2.0", False), ("5.5.0", False)]
)
def test_members_get_the_offsets_and_the_broker_stores_none(release: str, server: bool | None) -> None:
    before = broker(at(1, 5))
    after, result, why = reset(rules(release, server), before, ResetRequest("G", "T", -1), online=True)
    assert result == (((0, 3), (1, 5)), ((0, 3), (1, 5)))
    assert after is before
    assert (why.rules, why.kind) == (("BQ-RESET-1",), "forwards, forced")


def test_without_force_it_never_goes_forwards() -> None:
    old = rules("4.9.7")
    _, result, why = reset(old, broker(at(1, 5)), ResetRequest("G", "T", -1, force=False), online=True)
    assert (result, why.kind) == ((((0, 1), (1, 5)),) * 2, "forwards, not forced")
    _, result, why = reset(old, broker(at(3, 5)), ResetRequest("G", "T", START, force=False), online=True)
    assert (result, why.kind) == ((((0, 0), (1, 4)),) * 2, "not forwards")


def test_only_minus_one_is_max_for_the_members() -> None:
    _, result, _ = reset(rules("4.9.7"), broker(at(3, 5)), ResetRequest("G", "T", -2), online=True)
    assert result == (((0, 0), (1, 4)),) * 2


@every(
    ("stored", "topic", "online", "release", "code"),
    [
        (at(1, 1), "NOPE", True, "5.3.1", "SYSTEM_ERROR"),
        (at(1, 1), "NOPE", True, "5.3.2", "TOPIC_NOT_EXIST"),
        (at(1), "T", True, "4.9.7", "SYSTEM_ERROR"),
        (at(-1, 1), "T", True, "4.9.7", "SYSTEM_ERROR"),
        (at(1, 1), "T", False, "4.9.7", "CONSUMER_NOT_ONLINE"),
        (at(-7, 1), "T", False, "4.9.7", "CONSUMER_NOT_ONLINE"),
    ],
)
def test_what_the_old_way_refuses(stored: Stored, topic: str, online: bool, release: str, code: str) -> None:
    before = broker(stored)
    after, result, _ = reset(rules(release, False), before, ResetRequest("G", topic, -1), online)
    assert result == Err(code)
    assert after is before


def test_the_old_way_does_not_look_at_the_queue() -> None:
    _, result, why = reset(rules("4.9.7"), broker(at(1, 5)), ResetRequest("G", "T", -1, True, 0, 2), online=True)
    assert result == (((0, 3), (1, 5)),) * 2
    assert why.rules == ("BQ-RESET-QUEUE", "BQ-RESET-1")


# --- by the broker ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("release", "stored"), [("5.2.0", False), ("5.3.1", False), ("5.3.2", True), ("5.5.0", True)])
def test_a_group_without_offsets_has_them_stored_from_5_3_2(release: str, stored: bool) -> None:
    after, result, why = reset(rules(release), broker(), ResetRequest("G", "T", -2, force=False), online=False)
    assert result == (((0, 3), (1, 5)), None)
    assert after.pending == at(3, 5)
    assert after.stored == (at(3, 5) if stored else {})
    assert why.kind == f"all queues to max, {'stored' if stored else 'not stored'}"


def test_one_offset_of_the_topic_is_enough_to_have_them_stored() -> None:
    after, _, _ = reset(rules("5.2.0"), broker({("G", "T", 7): 1}), ResetRequest("G", "T", START + 10), online=False)
    assert after.stored == {("G", "T", 7): 1, ("G", "T", 0): 1, ("G", "T", 1): 5}


@every(
    ("queue", "offset", "result", "kind"),
    [
        (0, 0, (((0, 0),), None), "to an offset, stored"),
        (0, 3, (((0, 3),), None), "to an offset, stored"),
        (0, 4, (((0, 4),), None), "to max + 1, stored"),
        (0, 5, Err("SYSTEM_ERROR"), "beyond max + 1"),
        (1, 3, Err("SYSTEM_ERROR"), "below min"),
        (0, -7, Err("SYSTEM_ERROR"), "below min"),
        (0, -1, (((0, 3),), None), "one queue by time, stored"),
        (0, None, (((0, 3),), None), "one queue by time, stored"),
        (9, None, (((9, 0),), None), "a queue that the topic lacks, stored"),
        (9, 1, (((9, 1),), None), "to max + 1, stored"),
        (-1, 2, (((0, 3), (1, 5)), None), "all queues to max, stored"),
    ],
)
def test_one_queue_is_reset_up_to_one_beyond_max(queue: int, offset: int | None, result: object, kind: str) -> None:
    after, answer, why = reset(rules("5.5.0"), broker(), ResetRequest("G", "T", -1, True, queue, offset), online=False)
    assert (answer, why.kind) == (result, kind)
    assert bool(after.pending) is not isinstance(result, Err)


def test_the_topic_is_looked_for_before_the_group() -> None:
    new = rules("5.5.0")
    assert reset(new, broker(), ResetRequest("NOPE", "NOPE", -1), True)[1] == Err("TOPIC_NOT_EXIST")
    assert reset(new, broker(), ResetRequest("NOPE", "T", -1), True)[1] == Err("SUBSCRIPTION_GROUP_NOT_EXIST")


# --- while it is pending ---------------------------------------------------------------------------------------


def test_queries_answer_the_reset_and_commits_are_swallowed() -> None:
    new, state = rules("5.5.0"), broker(at(5), at(1))
    assert query_offset(new, state, "G", "T", 0)[1] == 1
    after, result, why = commit_offset(new, state, "G", "T", 0, 9)
    assert (result, why.kind) == (None, "swallowed")
    assert after is state
    assert commit_offset(new, state, "NOPE", "T", 0, 9)[1] == Err("SUBSCRIPTION_GROUP_NOT_EXIST")
    assert commit_offset(new, state, "G", "T", 1, 9)[0].stored == at(5, 9)
    assert query_offset(new, state, "H", "T", 0)[1] == 0


@pytest.mark.parametrize(("commit", "stored"), [(None, 5), (9, 9)])
def test_a_pull_takes_the_reset_away_and_its_commit_flag_wins(commit: int | None, stored: int) -> None:
    new = rules("5.5.0")
    asked = PullMessageRequest("G", "T", 0, 0, commit=commit)
    after, result, why = pull(new, broker(at(5), at(1, 4)), asked, None, [StoredEntry(1)] * 3)
    assert result == (OFFSET_RESET, 1, 0, 3, ())
    assert response_code(OFFSET_RESET, 0) == "PULL_OFFSET_MOVED"
    assert why.rules[:2] == ("BQ-PULL-9", "BQ-RESET-3")
    assert ("BQ-PULL-8" in why.rules) is (commit is not None)
    assert after.pending == {("G", "T", 1): 4}
    assert after.stored == at(stored)
    assert pull(new, after, asked, None, [StoredEntry(1)] * 3)[1] == ("FOUND", 3, 0, 3, (0, 1, 2))


def test_one_pending_reset_is_taken_away() -> None:
    assert without_pending(broker({}, at(1, 2)), ("G", "T", 0)).pending == {("G", "T", 1): 2}


def test_a_restart_forgets_pending_resets() -> None:
    after = restart(rules("5.5.0"), broker(at(5), at(1)))
    assert (after.pending, after.stored) == ({}, at(5))


@pytest.mark.parametrize(("release", "kept"), [("5.2.0", True), ("5.3.3", True), ("5.4.0", False), ("5.5.0", False)])
def test_a_deleted_topic_leaves_its_resets_up_to_5_3_3(release: str, kept: bool) -> None:
    state = broker(at(1), {**at(1), **at(2, topic="U")})
    after, _, why = delete_topic(rules(release), state, "T")
    assert after.pending == ({**at(1), **at(2, topic="U")} if kept else at(2, topic="U"))
    assert why.kind == f"offsets removed, resets {'kept' if kept else 'removed'}"


@pytest.mark.parametrize(
    ("release", "flag", "kept"),
    [("5.3.1", CLEAN_OFFSET, True), ("5.3.2", CLEAN_OFFSET, False), ("5.4.0", KEEP, True), ("5.5.0", KEEP, True)],
)
def test_a_deleted_group_leaves_its_resets_up_to_5_3_1(release: str, flag: str, kept: bool) -> None:
    state = broker(at(1), {**at(1), **at(2, group="H")})
    after, _, why = delete_group(rules(release), state, "G", flag)
    assert after.pending == ({**at(1), **at(2, group="H")} if kept else at(2, group="H"))
    assert f"resets {'kept' if kept else 'removed'}" in why.kind


# --- clones ----------------------------------------------------------------------------------------------------


def test_a_clone_replaces_all_that_the_destination_had_of_the_topic() -> None:
    before = broker({**at(1, -7), **at(8, 9, 10, group="H"), **at(5, group="H", topic="U")}, at(3))
    after, result, why = clone_offsets(before, "G", "H", "T", passed_over=False)
    assert (result, why.kind) == (None, "offsets replaced")
    assert after.stored == {**at(1, -7), **at(1, -7, group="H"), **at(5, group="H", topic="U")}
    assert after.pending == at(3)


@pytest.mark.parametrize(
    ("source", "topic", "passed_over", "kind"),
    [
        ("G", "", False, "no topic"),
        ("G", "NOPE", False, "unknown topic"),
        ("H", "T", False, "nothing to clone"),
        ("G", "T", True, "not subscribed"),
    ],
)
def test_a_clone_without_effect_is_no_error(source: str, topic: str, passed_over: bool, kind: str) -> None:
    before = broker(at(1))
    after, result, why = clone_offsets(before, source, "NOPE", topic, passed_over)
    assert (result, why.kind) == (None, kind)
    assert after is before


def test_a_clone_needs_no_destination() -> None:
    after, _, why = clone_offsets(broker(at(1)), "G", "NOPE", "T", passed_over=False)
    assert (after.stored[("NOPE", "T", 0)], why.kind) == (1, "to a group without offsets")
