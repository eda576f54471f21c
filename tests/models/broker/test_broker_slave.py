"""A master and its slave: what each answers, and what the slave has once it has asked its master."""

from __future__ import annotations

import pytest

from rocketmq_conformance.models.broker.broker_process import UNREACHABLE
from rocketmq_conformance.models.broker.broker_slave import MASTER_NODE, SLAVE_NODE, BrokerSlaveModel, Pair
from rocketmq_conformance.models.broker.configuration import (
    SERVER_RESET,
    SLAVE_ACTS,
    SLAVE_CHECKS,
    SLAVE_READS,
    STRICT_LOCKS,
)
from rocketmq_conformance.models.broker.lifecycle import KILL, STOP
from rocketmq_conformance.models.outcome import Err, Expected
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites import broker_slave

OLD, FENCED, PREVIEW, NEW = "4.9.3", "4.9.7", "5.0.0-ALPHA", "5.5.0"


def model(release: str, **properties: str) -> BrokerSlaveModel:
    return BrokerSlaveModel(Profile.of(broker=release).configured(properties))


def asked(pair: Pair, by: BrokerSlaveModel, at: str, queue: int = 0, group: int = 0, topic: int = 0) -> Expected:
    return by.query(pair, at, group, topic, queue, False)[1]


def committed(pair: Pair, by: BrokerSlaveModel, at: str, offset: int, queue: int = 0, group: int = 0) -> Pair:
    after, result, _ = by.commit(pair, at, group, 0, queue, offset)
    assert result is None
    return after


def synchronised(pair: Pair, by: BrokerSlaveModel) -> tuple[Pair, str]:
    after, _, why = by.synchronise(pair)
    return after, why.kind


def begun(by: BrokerSlaveModel) -> Pair:
    """Three messages, 5 stored at the master, and a slave that has asked."""
    pair = by.send(by.initial(), MASTER_NODE, 0, 3)[0]
    return synchronised(committed(pair, by, MASTER_NODE, 5), by)[0]


# --- what a slave takes -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("release", [OLD, NEW])
def test_the_masters_offset_counts_in_both_directions(release: str) -> None:
    by = model(release)
    pair = committed(begun(by), by, SLAVE_NODE, 7)
    assert (asked(pair, by, MASTER_NODE), asked(pair, by, SLAVE_NODE)) == (5, 7)
    pair, kind = synchronised(pair, by)
    assert (kind, asked(pair, by, SLAVE_NODE)) == ("newer at the slave", 5)
    pair, kind = synchronised(committed(pair, by, MASTER_NODE, 6), by)
    assert (kind, asked(pair, by, SLAVE_NODE)) == ("newer at the master", 6)


def test_a_topic_and_group_is_taken_as_a_whole() -> None:
    by = model(NEW)
    pair, kind = synchronised(committed(begun(by), by, SLAVE_NODE, 7, queue=1), by)
    assert (kind, asked(pair, by, SLAVE_NODE, queue=1)) == ("a queue only the slave has", Err("QUERY_NOT_FOUND"))


def test_what_the_master_has_nothing_of_stays() -> None:
    by = model(OLD)
    pair, kind = synchronised(committed(begun(by), by, SLAVE_NODE, 4, group=1), by)
    assert (kind, asked(pair, by, SLAVE_NODE, group=1)) == ("kept at the slave", 4)
    by = model(NEW)
    pair = by.delete_group(begun(by), MASTER_NODE, 0, "cleanOffset")[0]
    pair, kind = synchronised(pair, by)
    assert (kind, asked(pair, by, SLAVE_NODE)) == ("kept at the slave", 5)
    assert by.commit(pair, SLAVE_NODE, 0, 0, 0, 6)[1] == Err("SUBSCRIPTION_GROUP_NOT_EXIST")


def test_offsets_are_not_taken_from_a_master_of_5_5_0_that_has_answered_a_pull() -> None:
    found = {}
    for release in ("5.3.3", NEW):
        by = model(release)
        # one that is refused counts for nothing, nor does one at the slave
        pair = by.pull(begun(by), MASTER_NODE, 0, 1, 0, 0, None)[0]
        pair = by.pull(pair, SLAVE_NODE, 0, 0, 0, 0, None)[0]
        taken = synchronised(committed(pair, by, MASTER_NODE, 6), by)[0]
        pair = committed(by.pull(taken, MASTER_NODE, 0, 0, 0, 0, None)[0], by, MASTER_NODE, 7)
        pair = by.create_topic(pair, MASTER_NODE)[0]
        kept, kind = synchronised(pair, by)
        found[release] = (asked(taken, by, SLAVE_NODE), kind, asked(kept, by, SLAVE_NODE), "T1" in kept.slave.topics)
    assert found == {
        "5.3.3": (6, "newer at the master", 7, True),
        NEW: (6, "offsets that cannot be read", 6, True),
    }


def test_pulls_are_forgotten_with_their_group_their_topic_or_the_master() -> None:
    by = model(NEW)
    pair = by.create_topic(by.create_group(begun(by), MASTER_NODE, 1)[0], MASTER_NODE)[0]
    pulled = by.pull(pair, MASTER_NODE, 1, 1, 0, 0, None)[0]
    assert synchronised(committed(pulled, by, MASTER_NODE, 6), by)[1] == "offsets that cannot be read"
    stored = by.commit(pulled, MASTER_NODE, 1, 1, 0, 1)[0]
    ways = {
        "group": by.delete_group(pulled, MASTER_NODE, 1, "cleanOffset")[0],
        "group alone": by.delete_group(pulled, MASTER_NODE, 1, "")[0],
        "topic": by.delete_topic(pulled, MASTER_NODE)[0],
        "topic with offsets": by.delete_topic(stored, MASTER_NODE)[0],
        "at the slave": by.delete_topic(by.delete_group(stored, SLAVE_NODE, 1, "cleanOffset")[0], SLAVE_NODE)[0],
        "restart": by.start(by.end(pulled, STOP)[0])[0],
    }
    assert {way: bool(pair.gone_on) for way, pair in ways.items()} == {
        "group": False,
        "group alone": True,
        "topic": True,
        "topic with offsets": False,
        "at the slave": True,
        "restart": False,
    }


def test_topics_and_groups_become_the_masters() -> None:
    by = model(NEW)
    pair, kind = synchronised(by.initial(), by)
    assert (kind, pair.slave.topics, pair.slave.groups) == ("other groups", pair.master.topics, pair.master.groups)
    assert synchronised(pair, by)[1] == "the same"
    pair, kind = synchronised(by.create_topic(pair, MASTER_NODE)[0], by)
    assert (kind, "T1" in pair.slave.topics) == ("other topics", True)
    pair, _ = synchronised(by.delete_topic(pair, SLAVE_NODE)[0], by)
    assert "T1" in pair.slave.topics
    assert synchronised(committed(pair, by, MASTER_NODE, 0), by)[1] == "new at the master"


def test_a_reset_at_the_master_is_not_pending_at_the_slave() -> None:
    by = model(NEW)
    pair = by.reset(begun(by), MASTER_NODE, 0, 0, 0, 1)[0]
    assert pair.master.pending
    pair, kind = synchronised(pair, by)
    assert (kind, dict(pair.slave.pending), asked(pair, by, SLAVE_NODE)) == ("resets stay", {}, 1)


# --- a master that is gone --------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", [STOP, KILL])
def test_a_slave_keeps_what_is_committed_to_it_until_its_master_is_back(how: str) -> None:
    by = model(NEW)
    pair, result, why = by.end(begun(by), how)
    assert (result, "SLV-GONE" in why.rules) == (None, True)
    assert asked(pair, by, MASTER_NODE) == UNREACHABLE
    pair, kind = synchronised(committed(pair, by, SLAVE_NODE, 9), by)
    assert (kind, asked(pair, by, SLAVE_NODE)) == ("asked in vain", 9)
    pair, _ = synchronised(by.start(pair)[0], by)
    assert (asked(pair, by, MASTER_NODE), asked(pair, by, SLAVE_NODE)) == (5, 5)


def test_an_offset_that_is_committed_to_a_slave_shows_what_it_was_before() -> None:
    by = model(NEW)
    pair, _ = synchronised(by.end(begun(by), STOP)[0], by)
    kinds = []
    for _ in range(2):
        kinds.append(by.query(pair, SLAVE_NODE, 0, 0, 0, False)[2].kind)
        pair = committed(pair, by, SLAVE_NODE, 9)
    assert kinds == ["stored, slave, asked in vain", "stored, slave, committed, asked in vain"]


# --- what a slave refuses ---------------------------------------------------------------------------------------


def test_messages_are_the_masters() -> None:
    pairs = {release: begun(model(release)) for release in (OLD, NEW)}
    assert model(OLD).send(pairs[OLD], SLAVE_NODE, 0, 1)[1] == Err("SERVICE_NOT_AVAILABLE")
    assert model(OLD).send(model(OLD).initial(), SLAVE_NODE, 0, 1)[1] == Err("TOPIC_NOT_EXIST")
    assert model(NEW).send(model(NEW).initial(), SLAVE_NODE, 0, 1)[1] == Err("SYSTEM_BUSY")
    assert model(NEW).send(pairs[NEW], MASTER_NODE, 9, 1)[1] == Err("INVALID_PARAMETER")
    for release, pair in pairs.items():
        assert model(release).bounds(pair, SLAVE_NODE, 0, 0)[1] == (0, 3)


def test_some_slaves_refuse_changes_of_topics_and_groups() -> None:
    for release, refused in (
        (OLD, None),
        (FENCED, Err("SYSTEM_ERROR")),
        (PREVIEW, None),
        ("5.1.3", Err("SYSTEM_ERROR")),
    ):
        by = model(release)
        assert by.create_group(by.initial(), SLAVE_NODE, 0)[1] == refused
        assert by.delete_group(by.initial(), SLAVE_NODE, 0, "")[1] == refused
    assert model("5.1.4").create_topic(model("5.1.4").initial(), SLAVE_NODE)[1] is None


def test_a_slave_makes_no_reset() -> None:
    assert model(NEW).reset(begun(model(NEW)), SLAVE_NODE, 1, 1, 0, 1)[1] == Err("SYSTEM_ERROR")
    by_members = model(NEW, **{SERVER_RESET: "false"})
    assert by_members.reset(begun(by_members), SLAVE_NODE, 0, 0, 0, 1)[1] == Err("SYSTEM_ERROR")  # no offset of queue 1
    both = committed(begun(by_members), by_members, SLAVE_NODE, 1, queue=1)
    assert by_members.reset(both, SLAVE_NODE, 0, 0, 0, 1)[1] == Err("CONSUMER_NOT_ONLINE")


def pulled(
    by: BrokerSlaveModel, offset: int, commit: int | None = None, at: str = SLAVE_NODE
) -> tuple[Expected, Expected]:
    """The answer to a pull, and what is stored afterwards."""
    pair, result, _ = by.pull(begun(by), at, 0, 0, 0, offset, commit)
    return result, asked(pair, by, at)


def test_an_old_slave_answers_pulls_and_stores_nothing() -> None:
    by = model(OLD)
    assert pulled(by, 1, commit=2) == (("SUCCESS", 3, (1, 2)), 5)
    assert pulled(by, 1, commit=2, at=MASTER_NODE) == (("SUCCESS", 3, (1, 2)), 2)
    assert pulled(by, 9, commit=2) == (("PULL_RETRY_IMMEDIATELY", 9, ()), 5)
    assert pulled(by, 3) == (("PULL_NOT_FOUND", 3, ()), 5)
    assert pulled(model(PREVIEW, **{SLAVE_CHECKS: "true"}), 9) == (("PULL_OFFSET_MOVED", 0, ()), 5)
    assert by.pull(by.initial(), SLAVE_NODE, 1, 0, 0, 0, None)[0].slave.groups == {"G1"}


def test_a_slave_of_5_is_read_only_where_it_is_configured() -> None:
    by = model(NEW)
    assert pulled(by, 1, commit=2) == (Err("SYSTEM_BUSY"), 5)
    assert by.pull(by.initial(), SLAVE_NODE, 1, 0, 0, 0, None)[0] == by.initial()
    by = model(NEW, **{SLAVE_READS: "true"})
    assert pulled(by, 1, commit=2) == (("SUCCESS", 3, (1, 2)), 2)
    assert pulled(by, 9) == (("PULL_RETRY_IMMEDIATELY", 9, ()), 5)
    assert pulled(by, 3) == (("PULL_NOT_FOUND", 3, ()), 5)
    checks = model(NEW, **{SLAVE_READS: "true", SLAVE_CHECKS: "true"})
    assert pulled(checks, 9) == (("PULL_OFFSET_MOVED", 3, ()), 5)


# --- a slave that may act as master -----------------------------------------------------------------------------

ACTS = {SLAVE_ACTS: "true"}


def taken_back(by: BrokerSlaveModel, pair: Pair) -> tuple[Pair, str]:
    """The pair once its master was stopped and is back, and what that one took."""
    after, result, why = by.start(by.end(pair, STOP)[0])
    assert (result, after.up) == (None, True)
    return after, why.kind


def test_a_master_that_is_back_takes_the_offsets_of_its_slave() -> None:
    by = model("5.0.0", **ACTS)
    pair = begun(by)
    assert taken_back(by, pair)[1] == "nothing new"
    after, kind = taken_back(by, committed(pair, by, MASTER_NODE, 9))
    assert (kind, asked(after, by, MASTER_NODE)) == ("older offsets", 5)
    after, kind = taken_back(by, committed(pair, by, SLAVE_NODE, 7))
    assert (kind, asked(after, by, MASTER_NODE)) == ("newer offsets", 7)
    after, kind = taken_back(by, committed(pair, by, MASTER_NODE, 1, queue=1))
    assert (kind, asked(after, by, MASTER_NODE, queue=1)) == ("a queue is lost", Err("QUERY_NOT_FOUND"))
    # what the slave has none of stays
    after, kind = taken_back(by, committed(by.create_group(pair, MASTER_NODE, 1)[0], by, MASTER_NODE, 4, group=1))
    assert (kind, asked(after, by, MASTER_NODE, group=1)) == ("nothing new", 4)


def test_a_group_that_the_master_has_deleted_has_its_offsets_back_but_is_not_there() -> None:
    by = model(NEW, **ACTS)
    after, kind = taken_back(by, by.delete_group(begun(by), MASTER_NODE, 0, "cleanOffset")[0])
    assert (kind, asked(after, by, MASTER_NODE), after.master.groups) == ("only the slave has them", 5, frozenset())


@pytest.mark.parametrize("acts", ["true", "false"])
def test_a_master_of_5_5_0_stays_offline_while_its_slave_has_answered_pulls(acts: str) -> None:
    by = model(NEW, **{SLAVE_ACTS: acts, SLAVE_READS: "true"})
    pair = by.end(by.pull(begun(by), SLAVE_NODE, 0, 0, 0, 0, None)[0], STOP)[0]
    if acts == "false":
        assert by.start(pair)[1] is None
        return
    pair, result, why = by.start(pair)
    assert (result, why.rules, pair.up) == (Err("OFFLINE"), ("SLV-ACT-OFFLINE",), False)
    assert asked(pair, by, MASTER_NODE) == UNREACHABLE
    cleared = by.delete_group(pair, SLAVE_NODE, 0, "cleanOffset")[0]
    assert (by.start(cleared)[1], by.start(by.delete_topic(pair, SLAVE_NODE)[0])[1]) == (None, Err("OFFLINE"))


def test_a_slave_that_may_act_as_master_looks_at_a_message_before_it_refuses_it() -> None:
    by = model(NEW, **ACTS)
    for pair in (begun(by), by.end(begun(by), STOP)[0]):
        sent = [by.send(pair, SLAVE_NODE, queue, 1) for queue in (0, 9)]
        assert [result for _, result, _ in sent] == [Err("SERVICE_NOT_AVAILABLE"), Err("INVALID_PARAMETER")]
        assert sent[0][2].rules == ("SLV-ACT-SEND",)
        assert by.pull(pair, SLAVE_NODE, 0, 0, 0, 0, None)[1] == Err("SYSTEM_BUSY")


# --- locks and searches -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("properties", "both", "alone"),
    [
        ({}, (True, True), (None, True)),
        ({STRICT_LOCKS: "true"}, (True, True), (None, True)),
        ({STRICT_LOCKS: "true", **ACTS}, (True, False), (None, False)),
    ],
)
def test_a_pair_locks_apart_unless_a_lock_takes_both(
    properties: dict[str, str], both: tuple[bool, bool], alone: tuple[None, bool]
) -> None:
    by = model(NEW, **properties)
    assert by.lock(begun(by), 0)[1] == both
    assert by.lock(by.end(begun(by), KILL)[0], 0)[1] == alone


def test_a_slave_searches_its_own_messages() -> None:
    by = model(NEW)
    pair = by.end(begun(by), STOP)[0]
    found = [by.search(pair, SLAVE_NODE, queue, late)[1] for queue in (0, 1) for late in (False, True)]
    assert (found, by.search(pair, MASTER_NODE, 0, True)[1]) == ([0, 3, 0, 0], UNREACHABLE)


# --- the suite --------------------------------------------------------------------------------------------------


def test_the_state_is_shown_in_one_line() -> None:
    by = model(NEW)
    assert broker_slave.SUITE.show(by.end(by.initial(), STOP)[0]).startswith("master down: topics {'T0': 2}")
    assert broker_slave.SUITE.show(by.initial()).startswith("master up: topics {'T0': 2}")
