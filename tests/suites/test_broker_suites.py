"""The broker suites reach what bugs need, and their models answer every step."""

from __future__ import annotations

from collections import Counter

import pytest

from rocketmq_conformance.models.broker.broker_offsets import TOPIC_NAMES
from rocketmq_conformance.models.broker.fixtures import GROUPS
from rocketmq_conformance.models.broker.state import ABSENT, BrokerState, QueueLog
from rocketmq_conformance.models.outcome import outcome_class
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites import (
    broker_admin,
    broker_assignment,
    broker_cold,
    broker_concurrent,
    broker_doubt,
    broker_expired,
    broker_fields,
    broker_locks,
    broker_offsets,
    broker_restart,
    broker_retry,
    broker_search,
    broker_search_files,
    broker_topics,
    broker_upgrade,
)
from rocketmq_conformance.suites.declare.sampler import sampler
from rocketmq_conformance.suites.declare.suite import Suite

SUITES = [
    module.SUITE
    for module in (
        broker_offsets,
        broker_search,
        broker_search_files,
        broker_admin,
        broker_topics,
        broker_fields,
        broker_retry,
        broker_locks,
        broker_doubt,
        broker_concurrent,
        broker_assignment,
        broker_expired,
        broker_restart,
        broker_cold,
        broker_upgrade,
    )
]


def play(suite: Suite, release: str, cases: int) -> tuple[Counter[tuple[str, str, str]], set[str]]:
    """The model against itself: (rule, kind, class of outcome) and the kinds of why, counted."""
    profile = Profile.of(broker=release)
    drawn, bound = sampler(suite, profile), suite.bind(profile)
    seen: Counter[tuple[str, str, str]] = Counter()
    kinds: set[str] = set()
    clock = 10
    for case in range(cases):
        state = bound.initial
        for at, args in drawn.case(7, case, suite.steps):
            name = suite.operations[at].spec.name
            if suite.operations[at].spec.observes:
                observed = None
                if name == "send_timed":
                    clock += case % 3
                    observed = tuple((offset, clock + args[3] * offset) for offset in range(args[2]))
                if name == "lock":
                    observed = args[2], clock, clock + 5
                state, expected, why = bound.by_position[at](state, observed, *args)
            else:
                if name == "wait":
                    clock += args[0]
                state, expected, why = bound.by_position[at](state, *args)
            kinds.add(why.kind)
            for rule in why.rules:
                seen[rule, why.kind, outcome_class(expected)] += 1
        assert suite.show(state)
    return seen, kinds


def test_searches_reach_every_file_of_a_queue() -> None:
    seen, _ = play(broker_search_files.SUITE, "5.1.0", 20)
    kinds = {kind for rule, kind, _ in seen if rule == "BQ-TIME-FILE"}
    places = {f"file {place}" for place in ("first", "between", "last")}
    assert kinds == {*places, *(f"upper ignored, {place}" for place in places)}
    assert "BQ-TIME-FILE" not in {rule for rule, _, _ in play(broker_search_files.SUITE, "5.1.1", 5)[0]}


def test_offsets_reach_every_kind_of_commit_and_query() -> None:
    _, kinds = play(broker_offsets.SUITE, "4.9.7", 200)
    assert kinds >= {
        *("first commit", "forward", "same again", "backwards", "negative", "missing field", "unknown name stored"),
        *("stored", "stored 0", "hot", "empty", "negative stored, hot", "negative stored, empty"),
        *("offsets kept", "offsets removed", "not asked", "flag not known", "new topic, offsets kept"),
        *("unknown topic", "no such queue", "first message", "next message"),
    }


def test_expired_queues_reach_every_kind() -> None:
    old, new = (play(broker_expired.SUITE, release, 100)[1] for release in ("4.9.7", "5.5.0"))
    assert old >= {"expired", "stale", "hot", "empty", "min does not follow", "head expired"}
    assert new >= {"expired", "hot", "empty", "all expired", "head expired", "no zero wanted"}
    for edge in ("lower, ", "upper, "):
        for kind in ("empty", "before first", "after last", "exact", "equal times", "between"):
            assert edge + kind in new


def test_administration_reaches_both_ways_of_resets() -> None:
    old, middle, new = (play(broker_admin.SUITE, release, 300)[1] for release in ("4.9.7", "5.2.0", "5.5.0"))
    assert old >= {"a queue without offset", "nobody there", "forwards, forced", "forwards, not forced", "not forwards"}
    assert old >= {
        "one queue asked, nobody there",
        "one queue asked, forwards, forced",
        "one queue asked, unknown topic",
    }
    assert middle >= {"all queues by time, not stored", "to an offset, stored", "offsets removed, resets kept"}
    assert new >= {"to max + 1, stored", "below min", "beyond max + 1", "a queue that the topic lacks, stored"}
    assert new >= {
        "swallowed",
        "reset, not yet sent",
        "reset, not yet sent, commit flag",
        "offsets removed, resets removed",
    }
    for kinds in (old, middle, new):
        assert kinds >= {"no topic", "not subscribed", "offsets replaced", "to a group without offsets"}
        assert kinds >= {"smallest", "nothing stored", "smallest, groups deleted", "nothing stored, groups deleted"}
    assert "not compared" in old
    assert new >= {"not below the answer", "below the answer", "only below min", "only below min, groups deleted"}


def test_topics_reach_every_refusal() -> None:
    old, new = (play(broker_topics.SUITE, release, 300)[1] for release in ("4.9.7", "5.5.0"))
    for kinds in (old, new):
        assert kinds >= {"disabled group", "no permission to read", "queue not read", "no such queue", "unknown topic"}
        assert kinds >= {"next message, not a written queue", "next message, no permission to write"}
        assert kinds >= {"no written queue", "one queue", "one of several queues"}
    assert old >= {"negative", "more than Java can hold", "written queues, not forwards"}
    assert new >= {"no queue is read", "all read queues, stored", "batch full"}


def test_fields_reach_every_kind_of_text_and_name() -> None:
    old, middle, new = (play(broker_fields.SUITE, release, 300)[1] for release in ("4.1.0", "5.1.4", "5.5.0"))
    for kinds in (old, middle, new):
        assert kinds >= {"forward, unusual digits", "missing field, unreadable", "a field is missing", "no topic"}
        assert "a field is missing, group created" in kinds
    assert old >= {"unknown name stored, an @ in a name", "a field is missing, unreadable", "stored, an @ in a name"}
    assert middle >= {"name not allowed", "unreadable", "unknown group, name not allowed"}
    assert new >= {"name not allowed", "no zero wanted, another text", "stored, true in capitals"}


def test_locks_reach_every_kind() -> None:
    _, kinds = play(broker_locks.SUITE, "5.5.0", 200)
    assert kinds >= {"free", "own", "own, expired", "of another", "of another, expired", "belongs to nobody"}
    assert kinds >= {"about to expire, taken over", "some granted, one expired", "all granted, one expired"}
    assert kinds >= {"some removed", "nothing removed", "free, no client", "nothing asked", "time passed"}


def places(suite: Suite, release: str, cases: int) -> set[str]:
    """Where queried offsets lie in their queue."""
    profile = Profile.of(broker=release)
    drawn, bound = sampler(suite, profile), suite.bind(profile)
    found: set[str] = set()
    for case in range(cases):
        state: BrokerState = bound.initial
        for at, args in drawn.case(7, case, suite.steps):
            if suite.operations[at].spec.name == "query":
                group, topic, queue, _ = args
                offset = state.stored.get((GROUPS[group], TOPIC_NAMES[topic], queue))
                log = state.logs.get((TOPIC_NAMES[topic], queue), ABSENT)
                found.add(_place(offset, log))
            state = bound.by_position[at](state, *args)[0]
    return found


def _place(offset: int | None, log: QueueLog) -> str:
    if offset is None:
        return "nothing stored"
    if offset < 0:
        return "negative"
    if not log.max:
        return "nothing written"
    if offset < log.min:
        return "below min"
    return (
        "max" if offset == log.max else "beyond max" if offset > log.max else "at min" if offset == log.min else "mid"
    )


@pytest.mark.parametrize(
    ("suite", "more"), [(broker_offsets.SUITE, set()), (broker_expired.SUITE, {"below min"})], ids=lambda v: str(v)[:20]
)
def test_stored_offsets_lie_everywhere(suite: Suite, more: set[str]) -> None:
    wanted = {"nothing stored", "negative", "nothing written", "at min", "mid", "max", "beyond max"}
    assert places(suite, "5.5.0", 300) >= wanted | more


def test_restarts_reach_cold_queues_and_lost_offsets() -> None:
    _, kinds = play(broker_restart.SUITE, "4.9.7", 25)
    assert kinds >= {"cold", "stale, cold", "killed, some not on disk", "stored before it was stopped", "stopped"}
    assert kinds >= {"stored before it was killed", "deleted before the restart", "written to disk"}


def test_restarts_are_not_ordinary() -> None:
    assert [suite.name for suite in SUITES if not suite.ordinary] == [
        "broker-restart",
        "broker-cold",
        "broker-upgrade",
    ]


def test_retries_reach_every_end_of_a_message() -> None:
    old, fenced, new = (play(broker_retry.SUITE, release, 300)[1] for release in ("4.8.0", "5.0.0", "5.5.0"))
    kinds = {part for kind in old | fenced | new for part in kind.split(", ")}
    assert kinds >= {
        *("no retry queues", "no permission to write", "no such message", "another topic", "no limit"),
        *("level by times", "level named", "beyond the last level", "negative level", "too often", "topic gone"),
        *("waits again", "no id added", "no topic named", "limit of the group", "retry topic made", "group created"),
    }
