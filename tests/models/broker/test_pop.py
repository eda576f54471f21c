"""Pops: where a group begins, what it is handed out, and what is stored then."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.broker.pop import MAX, MIN, NOTHING, PopRequest, Taken, pop
from rocketmq_conformance.models.broker.state import READ, WRITE, BrokerState, QueueLog, Stored, Topic
from rocketmq_conformance.models.broker.subscription import StoredEntry, TagCodes, tag_codes
from rocketmq_conformance.models.outcome import Err, Expected
from rocketmq_conformance.models.profile import Profile

#: Queue 0 has four messages, queue 1 lost ten and has two, queue 2 lost three and has none, queue 3 was never written.
LOGS = {
    ("T", 0): QueueLog(times=(1, 2, 3, 4)),
    ("T", 1): QueueLog(min=10, first=10, times=(1, 2)),
    ("T", 2): QueueLog(min=3, first=3),
    ("%RETRY%R", 0): QueueLog(times=(1, 2, 3)),
}
TAGS = {("T", 0): ("A", "B", "A", "B")}
ALL, OF_B = None, tag_codes("B")


def rules(release: str, **other: bool) -> BrokerRules:
    return replace(BrokerRules.of(Profile.of(broker=release)), **other)  # type: ignore[arg-type]


NEW, OLD = rules("5.5.0"), rules("5.0.0")


def broker(stored: Stored | None = None, pending: Stored | None = None, hot: bool = True) -> BrokerState:
    logs = {key: log._replace(hot=hot) for key, log in LOGS.items()}
    topics = {"T": Topic.of(4), "%RETRY%R": Topic.of(1), "W": Topic(1, 1, WRITE), "N": Topic(0, 1, READ | WRITE)}
    return BrokerState(topics, frozenset({"G", "D"}), logs, stored or {}, pending or {}, frozenset({"D"}))


def entries(topic: str, queue: int) -> list[StoredEntry]:
    count = len(LOGS.get((topic, queue), QueueLog()).times)
    return [StoredEntry(0, tag) for tag in TAGS.get((topic, queue), ("A",) * count)]


def popped(
    asked: PopRequest, state: BrokerState, by: BrokerRules = NEW, codes: TagCodes = ALL
) -> tuple[Expected, int | None, str]:
    """What is handed out, what is stored then, and the kind of state."""
    after, result, why = pop(by, state, asked, codes, entries)
    return result, after.stored.get(asked[:3]), why.kind


def of(queue: int, start: int, *offsets: int, topic: str = "T") -> tuple[Taken, ...]:
    return (Taken(topic, queue, start, offsets),)


@pytest.mark.parametrize(
    ("queue", "mode", "by", "expected", "stored"),
    [
        (0, MIN, NEW, of(0, 0, 0, 1), 2),
        (0, MIN, OLD, of(0, 0, 0, 1), 2),
        (0, MAX, NEW, of(0, 0, 0, 1), 2),
        (0, 7, NEW, of(0, 0, 0, 1), 2),
        (0, MAX, OLD, of(0, 3, 3), 4),
        (0, MAX, rules("5.5.0", pop_checks_memory=False), of(0, 3, 3), 4),
        (1, MIN, NEW, of(1, 10, 10, 11), 12),
        (1, MAX, NEW, of(1, 11, 11), 12),
        (2, MIN, NEW, NOTHING, 3),
        (2, MIN, rules("5.3.0"), NOTHING, None),
        (2, MAX, NEW, NOTHING, 3),
        (3, MAX, NEW, NOTHING, 0),
        (3, MIN, OLD, NOTHING, None),
    ],
)
def test_a_group_without_an_offset_begins_as_its_mode_says(
    queue: int, mode: int, by: BrokerRules, expected: Expected, stored: int | None
) -> None:
    result, kept, _ = popped(PopRequest("G", "T", queue, 2, mode), broker(), by)
    assert (result, kept) == (expected, stored)
    negative = popped(PopRequest("G", "T", queue, 2, mode), broker({("G", "T", queue): -7}), by)
    assert negative[:2] == (expected, -7 if stored is None else stored)
    assert negative[2].startswith("negative stored, ")


def test_cold_messages_are_skipped_where_the_system_can_say_so() -> None:
    asks_system = replace(NEW, always_resident=False)
    assert popped(PopRequest("G", "T", 0), broker(hot=False), asks_system)[:2] == (of(0, 3, 3), 4)
    assert popped(PopRequest("G", "T", 0), broker(hot=False))[0] == of(0, 0, 0, 1, 2, 3)


def test_a_stored_offset_wins_and_is_corrected_when_it_is_out_of_range() -> None:
    at = PopRequest("G", "T", 0, 2, MIN)
    assert popped(at, broker({at[:3]: 1}))[:2] == (of(0, 1, 1, 2), 3)
    assert popped(at, broker({at[:3]: 4}))[:2] == (NOTHING, 4)
    assert popped(at, broker({at[:3]: 99}))[:2] == (NOTHING, 4)
    low = PopRequest("G", "T", 1, 1)
    assert popped(low, broker({low[:3]: 4})) == (of(1, 4, 10), 11, "stored, corrected to min, found")
    assert popped(low, broker({low[:3]: 4}), OLD)[0] == of(1, 10, 10)


def test_messages_that_do_not_pass_are_passed_over() -> None:
    at = PopRequest("G", "T", 0, 2, MIN)
    assert popped(at, broker(), codes=OF_B) == (of(0, 0, 1, 3), 4, "MIN, filtered")
    assert popped(at, broker(), codes=tag_codes("C")) == (NOTHING, 4, "MIN, none passed")


def test_retry_topics_begin_at_min_since_5_3_1() -> None:
    asked = PopRequest("G", "%RETRY%R", 0, 1)
    cold = {"pop_checks_memory": False}
    assert popped(asked, broker(), rules("5.3.1", **cold))[0] == of(0, 0, 0, topic="%RETRY%R")
    assert popped(asked, broker(), rules("5.3.0", **cold))[0] == of(0, 2, 2, topic="%RETRY%R")


def test_a_pop_takes_a_pending_reset_away() -> None:
    at = PopRequest("G", "T", 0, 1)
    after, result, why = pop(NEW, broker({at[:3]: 4}, {at[:3]: 2, ("G", "T", 1): 10}), at, ALL, entries)
    assert (result, after.stored[at[:3]], why.kind) == (of(0, 2, 2), 3, "reset, found")
    assert after.pending == {("G", "T", 1): 10}


def test_a_pop_of_no_message_stores_where_it_would_begin() -> None:
    assert popped(PopRequest("G", "T", 0, 0), broker())[:2] == (NOTHING, 0)


def test_all_queues_give_what_they_have() -> None:
    after, result, _ = pop(NEW, broker(), PopRequest("G", "T", -1, 5, MIN), ALL, entries)
    assert result == (*of(0, 0, 0, 1, 2, 3), *of(1, 10, 10))
    assert after.stored == {("G", "T", 0): 4, ("G", "T", 1): 11, ("G", "T", 2): 3, ("G", "T", 3): 0}
    assert pop(NEW, after, PopRequest("G", "N", -1), ALL, entries)[1] == NOTHING


@pytest.mark.parametrize(
    ("asked", "by", "code"),
    [
        (PopRequest("G", "T", 0), rules("5.5.0", readable=False), "NO_PERMISSION"),
        (PopRequest("G", "?", 9, 33), NEW, "INVALID_PARAMETER"),
        (PopRequest("G", "?", 9, 33), rules("5.3.1"), "SYSTEM_ERROR"),
        (PopRequest("G", "?", 9), rules("5.5.0", pop_needs_timers=True), "SYSTEM_ERROR"),
        (PopRequest("?", "?", 9), NEW, "TOPIC_NOT_EXIST"),
        (PopRequest("?", "W", 9), NEW, "NO_PERMISSION"),
        (PopRequest("?", "T", 4), NEW, "INVALID_PARAMETER"),
        (PopRequest("?", "T", 4), OLD, "SYSTEM_ERROR"),
        (PopRequest("?", "T", -1), NEW, "SUBSCRIPTION_GROUP_NOT_EXIST"),
        (PopRequest("D", "T", 0), NEW, "NO_PERMISSION"),
    ],
)
def test_the_first_check_that_fails_refuses_a_pop(asked: PopRequest, by: BrokerRules, code: str) -> None:
    before = broker()
    after, result, _ = pop(by, before, asked, ALL, entries)
    assert after is before
    assert isinstance(result, Err)
    assert result.code == code


def test_timers_are_needed_since_5_1_1() -> None:
    def needs(release: str) -> bool:
        return BrokerRules.of(Profile.of(broker=release).configured({"timerWheelEnable": "false"})).pop_needs_timers

    assert (needs("5.1.0"), needs("5.1.1"), NEW.pop_needs_timers) == (False, True, False)


def test_what_came_back_is_added_to_any_pop_that_has_room() -> None:
    retry = "%RETRY%G_T"
    before = broker()
    before = before._replace(
        topics={**before.topics, retry: Topic.of(1)}, logs={**before.logs, (retry, 0): QueueLog(times=(1, 2))}
    )

    def of_both(topic: str, queue: int) -> list[StoredEntry]:
        return [StoredEntry(0)] * len(before.logs.get((topic, queue), QueueLog()).times)

    full = pop(NEW, before, PopRequest("G", "T", 0, 4, MIN), ALL, of_both)[1]
    assert full == of(0, 0, 0, 1, 2, 3)
    more = pop(NEW, before, PopRequest("G", "T", 0, 5, MIN), ALL, of_both)[1]
    assert more == (*of(0, 0, 0, 1, 2, 3), *of(0, 0, 0, topic=retry))
    empty = pop(NEW, before, PopRequest("G", "T", 3, 9, MIN), ALL, of_both)[1]
    assert empty == of(0, 0, 0, 1, topic=retry)
    walked = pop(NEW, before, PopRequest("G", "N", -1, 9, MIN), ALL, of_both)[1]
    assert walked == NOTHING
    everything = pop(NEW, before, PopRequest("G", "T", -1, 9, MIN), ALL, of_both)[1]
    assert everything == (*of(0, 0, 0, 1, 2, 3), *of(1, 10, 10, 11), *of(0, 0, 0, 1, topic=retry))
