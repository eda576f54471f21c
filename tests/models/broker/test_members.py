"""Heartbeats: the members, the notified connections, and the subscription that counts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.broker.members import (
    NO_GROUPS,
    NO_MEMBERS,
    Consumer,
    Groups,
    RegisteredGroup,
    close_connection,
    consumer_list,
    heartbeat,
    unregister,
)
from rocketmq_conformance.models.broker.subscription import RegisteredSubscription
from rocketmq_conformance.models.profile import Profile

NEW = BrokerRules.of(Profile())
OLD = BrokerRules.of(Profile.of(broker="4.9.7"))
ALL = RegisteredSubscription(None, 1)


def consumer(*topics: str, version: int = 1, broadcasting: bool = False) -> Consumer:
    return Consumer("G", {topic: RegisteredSubscription(None, version) for topic in topics}, broadcasting)


def joined(*connections: int, broadcasting: bool = False) -> Groups:
    groups = NO_GROUPS
    for connection in connections:
        groups = heartbeat(OLD, groups, connection, f"c{connection}", consumer("T", broadcasting=broadcasting))[0]
    return groups


def test_all_members_are_notified_of_new_members_and_topics() -> None:
    groups, notified, why = heartbeat(NEW, NO_GROUPS, 1, "one", consumer("T"))
    assert (notified, why.kind) == ((1,), "first member")
    groups, notified, why = heartbeat(NEW, groups, 1, "one", consumer("T"))
    assert (notified, why.kind) == ((), "same again")
    groups, notified, why = heartbeat(NEW, groups, 2, "two", consumer("T"))
    assert (notified, why.kind) == ((1, 2), "new member")
    groups, notified, why = heartbeat(NEW, groups, 1, "one", consumer("T", "U"))
    assert (notified, why.kind) == ((1, 2), "topics changed")
    groups, notified, why = heartbeat(NEW, groups, 1, "one", consumer("T"))
    assert (notified, why.kind) == ((1, 2), "topics changed")
    assert groups == {"G": RegisteredGroup({1: "one", 2: "two"}, {"T": ALL})}
    assert NO_GROUPS == {}


def test_another_id_on_the_same_connection_replaces_the_first() -> None:
    groups, notified, why = heartbeat(NEW, joined(1), 1, "other", consumer("T"))
    assert (notified, why.kind) == ((), "other id")
    assert consumer_list(groups, "G")[1] == ("other",)


def test_the_newer_subscription_stays() -> None:
    five, six = RegisteredSubscription(frozenset({5}), 5), RegisteredSubscription(frozenset({6}), 6)
    groups, _, _ = heartbeat(NEW, NO_GROUPS, 1, "one", Consumer("G", {"T": six}))
    groups, _, _ = heartbeat(NEW, groups, 2, "two", Consumer("G", {"T": five}))
    assert groups["G"].subscriptions == {"T": six}
    groups, _, _ = heartbeat(NEW, groups, 1, "one", Consumer("G", {"T": RegisteredSubscription(None, 6)}))
    assert groups["G"].subscriptions == {"T": six}
    seven = RegisteredSubscription(None, 7)
    groups, _, _ = heartbeat(NEW, groups, 2, "two", Consumer("G", {"T": seven}))
    assert groups["G"].subscriptions == {"T": seven}


def test_an_unknown_group_is_skipped_by_new_brokers_only() -> None:
    groups, notified, why = heartbeat(NEW, NO_GROUPS, 1, "one", consumer("T"), known=False)
    assert (groups, notified, why.kind) == ({}, (), "unknown group skipped")
    assert BrokerRules.of(Profile.of(broker="5.1.1")).unknown_group_skipped
    groups, notified, why = heartbeat(
        BrokerRules.of(Profile.of(broker="5.1.0")), NO_GROUPS, 1, "one", consumer("T"), False
    )
    assert (notified, why.kind) == ((1,), "first member")


def test_broadcasting_groups_are_not_notified_by_new_brokers() -> None:
    again = consumer("T", broadcasting=True)
    groups, notified, why = heartbeat(NEW, NO_GROUPS, 1, "one", again)
    assert (notified, why.kind) == ((), "broadcasting, not notified")
    assert heartbeat(OLD, groups, 2, "two", again)[1] == (1, 2)
    pair = joined(1, 2, broadcasting=True)
    assert unregister(NEW, pair, 1, "G")[1] == ()
    assert unregister(OLD, pair, 1, "G")[1] == (2,)
    assert close_connection(NEW, pair, 1)[1] == ()
    assert close_connection(OLD, pair, 1)[1] == (("G", 2),)


def test_remaining_members_are_notified_when_one_leaves() -> None:
    groups, notified, why = unregister(NEW, joined(1, 2, 3), 2, "G")
    assert (notified, why.kind) == ((1, 3), "member")
    groups, notified, why = unregister(NEW, groups, 2, "G")
    assert (notified, why.kind) == ((1, 3), "no member")
    groups, notified, why = unregister(NEW, groups, 2, "OTHER")
    assert (notified, why.kind) == ((), "unknown group")
    groups, _, _ = unregister(NEW, groups, 1, "G")
    groups, notified, why = unregister(NEW, groups, 3, "G")
    assert (groups, notified, why.kind) == ({}, (), "last member")


def test_a_closed_connection_leaves_all_its_groups() -> None:
    groups = joined(1, 2)
    groups, _, _ = heartbeat(NEW, groups, 1, "c1", Consumer("H"))
    groups, _, _ = heartbeat(NEW, groups, 3, "c3", Consumer("K"))
    after, notified, why = close_connection(NEW, groups, 1)
    assert (notified, why.kind) == ((("G", 2),), "member")
    assert after.keys() == {"G", "K"}
    after, notified, why = close_connection(NEW, after, 9)
    assert (notified, why.kind) == ((), "no member")


def test_the_list_repeats_equal_ids_and_an_empty_one_is_an_error() -> None:
    groups = joined(1, 2)
    assert consumer_list(groups, "G")[1] == ("c1", "c2")
    assert consumer_list(groups, "G")[2].kind == "members"
    groups, _, _ = heartbeat(NEW, groups, 3, "c1", consumer("T"))
    assert consumer_list(groups, "G")[1] == ("c1", "c2", "c1")
    assert consumer_list(groups, "G")[2].kind == "equal ids"
    assert consumer_list(groups, "H")[1] == NO_MEMBERS


@given(st.lists(st.tuples(st.sampled_from(["beat", "leave", "close"]), st.integers(1, 3), st.sampled_from(["G", "H"]))))
def test_the_list_is_who_beat_and_has_not_left(story: list[tuple[str, int, str]]) -> None:
    """A naive restatement with sets."""
    groups = NO_GROUPS
    present: set[tuple[str, int]] = set()
    for what, connection, name in story:
        if what == "beat":
            groups, notified, _ = heartbeat(NEW, groups, connection, f"c{connection}", Consumer(name))
            assert bool(notified) == ((name, connection) not in present)
            present.add((name, connection))
        elif what == "leave":
            groups, _, _ = unregister(NEW, groups, connection, name)
            present.discard((name, connection))
        else:
            groups, notified, _ = close_connection(NEW, groups, connection)
            present = {pair for pair in present if pair[1] != connection}
            assert notified == () or set(notified) <= present  # type: ignore[arg-type]
    for name in ("G", "H"):
        ids = consumer_list(groups, name)[1]
        expected = {f"c{connection}" for group, connection in present if group == name}
        assert (set(ids) if isinstance(ids, tuple) else set()) == expected
