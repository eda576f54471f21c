"""Names of topics and groups: which are allowed, by release, and which share their stored offsets."""

from __future__ import annotations

import pytest
from every import every

from rocketmq_conformance.models.broker import names
from rocketmq_conformance.models.broker.admin import CLEAN_OFFSET, KEEP, REMOVE_OFFSET
from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.broker.pull import PullMessageRequest
from rocketmq_conformance.models.broker.state import BrokerState, Topic
from rocketmq_conformance.models.outcome import Err
from rocketmq_conformance.models.profile import Profile

START = BrokerState(topics={"T": Topic.of(1)}, groups=frozenset({"G"}))
SYSTEM_ERROR, INVALID_PARAMETER = Err("SYSTEM_ERROR"), Err("INVALID_PARAMETER")
BAD = ("a@b", "a b", "a.b", "a/b", "\u00fc")
GOOD = ("a", "A_b-1", "%RETRY%g", "a|b")


def rules(release: str) -> BrokerRules:
    return BrokerRules.of(Profile.of(broker=release))


@every(
    ("release", "name", "result"),
    [
        *(("4.6.0", name, None) for name in (*BAD, *GOOD, "x" * 128)),
        *(("4.6.1", name, SYSTEM_ERROR) for name in (*BAD, "x" * 128)),
        *(("5.3.1", name, SYSTEM_ERROR) for name in BAD),
        *(("5.3.2", name, INVALID_PARAMETER) for name in (*BAD, "x" * 128)),
        *((release, name, None) for release in ("4.6.1", "5.5.0") for name in (*GOOD, "x" * 127)),
    ],
)
def test_names_of_topics_are_checked_when_they_are_created(release: str, name: str, result: Err | None) -> None:
    after, found, why = names.create_topic(rules(release), START, name, Topic.of(1))
    assert found == result
    assert (name in after.topics) is (result is None)
    assert ("BQ-NAME-TOPIC" in why.rules) is (result is not None)


@every(
    ("release", "result"),
    [("4.7.0", None), ("4.7.1", SYSTEM_ERROR), ("5.0.0-ALPHA", SYSTEM_ERROR), ("5.1.4", SYSTEM_ERROR), ("5.2.0", None)],
)
def test_names_of_topics_are_checked_for_a_while_when_they_are_deleted(release: str, result: Err | None) -> None:
    assert names.delete_topic(rules(release), START, "a@b")[1] == result
    assert names.delete_topic(rules(release), START, "T")[:2] == (START._replace(topics={}), None)


@every(
    ("release", "name", "by_look_up", "by_request"),
    [
        *(("5.1.0", name, True, True) for name in (*GOOD, *BAD, "x" * 256)),
        *(("5.1.1", name, True, True) for name in (*GOOD, "x" * 255)),
        *(("5.3.3", name, False, True) for name in (*BAD, "x" * 256)),
        ("5.3.3", "", True, True),
        *(("5.4.0", name, False, False) for name in (*BAD, "", "x" * 121)),
        *(("5.4.0", name, True, True) for name in (*GOOD, "x" * 120)),
    ],
)
def test_names_of_groups_are_checked(release: str, name: str, by_look_up: bool, by_request: bool) -> None:
    assert names.created_by_look_up(rules(release), name) is by_look_up
    after, result, _ = names.create_group(rules(release), START, name)
    assert result == (None if by_request else INVALID_PARAMETER)
    assert (name in after.groups) is by_request


def test_a_length_is_one_of_utf_16() -> None:
    assert not names.allowed("a" * 119 + "\U00010000", 120)
    assert names.allowed("a" * 120, 120)


def test_deleting_creates_no_group_that_may_not_be_created() -> None:
    after, result, why = names.delete_group(rules("5.5.0"), START, "a@b", KEEP)
    assert (after, result) == (START, None)
    assert "BQ-NAME-LOOKUP" in why.rules
    assert names.delete_group(rules("5.5.0"), START, "new", KEEP)[0].groups == {"G", "new"}


# --- shared offsets ----------------------------------------------------------------------------------------------


@pytest.fixture
def old() -> BrokerRules:
    return rules("4.9.7")


def shared(old: BrokerRules) -> BrokerState:
    """An offset of (T, b@G), committed by its other name, and one of (T, G)."""
    state, _, why = names.commit_named(old, START, "G", "T@b", 0, 11)
    assert "BQ-COM-AT" in why.rules
    return names.commit_named(old, state, "G", "T", 0, 5)[0]


def test_two_pairs_of_names_share_an_offset(old: BrokerRules) -> None:
    state = shared(old)
    assert names.query_named(old, state, "b@G", "T", 0)[1] == 11
    assert names.query_named(old, state, "G", "T@b", 0)[1] == 11
    assert names.query_named(old, state, "G", "T", 0)[1] == 5
    state = names.commit_named(old, state, "b@G", "T", 0, 12)[0]
    assert names.query_named(old, state, "G", "T@b", 0)[1] == 12
    assert names.query_named(old, state, "G", "T@b", 1)[1] == 0


def test_a_refused_commit_shares_nothing() -> None:
    after, result, _ = names.commit_named(rules("5.5.0"), START, "G", "T@b", 0, 11)
    assert (after, result) == (START, Err("TOPIC_NOT_EXIST"))


def test_a_pull_stores_under_the_shared_name(old: BrokerRules) -> None:
    state = START._replace(topics={"T": Topic.of(1), "T@b": Topic.of(1)})
    asked = PullMessageRequest("G", "T@b", 0, 0, 32, 7)
    after, _, why = names.pull_named(old, state, asked, None, ())
    assert names.query_named(old, after, "b@G", "T", 0)[1] == 7
    assert "BQ-COM-AT" in why.rules
    for same in (asked._replace(commit=None), asked._replace(topic="unknown@b")):
        assert names.pull_named(old, state, same, None, ())[0].stored == {}


@every("release", ["4.9.7", "5.0.0", "5.3.3"])
def test_a_shared_offset_outlives_its_topic_and_its_group(release: str) -> None:
    broker = rules(release)
    state = shared(rules("4.9.7"))
    flag = CLEAN_OFFSET if broker.clean_offset else REMOVE_OFFSET
    for after in (
        names.delete_topic(broker, state, "T")[0],
        names.delete_group(broker, state, "G", flag)[0],
        names.delete_group(broker, state, "b@G", flag)[0],
    ):
        assert names.query_named(broker, after, "b@G", "T", 0)[1] == 11
    assert names.delete_group(broker, state, "G", flag)[0].stored == {("b@G", "T", 0): 11}


def test_a_commit_without_group_is_one_of_no_group() -> None:
    for release in ("4.9.7", "5.2.0"):
        after, result, why = names.commit_named(rules(release), START, None, "T", 0, 3)
        assert result is None
        assert "BQ-NAME-NULL" in why.rules
        assert names.query_named(rules(release), after, None, "T", 0)[1:] != (3, why)
        assert names.query_named(rules(release), after, None, "T", 0)[1] == 3
    assert names.commit_named(rules("5.3.0"), START, None, "T", 0, 3)[1] == Err("SUBSCRIPTION_GROUP_NOT_EXIST")


def test_a_query_without_topic_fails() -> None:
    for release in ("4.9.7", "5.5.0"):
        assert names.query_named(rules(release), START, "G", None, 0)[1] == SYSTEM_ERROR


OWN = names.OwnNames("broker-a", "one")
SYSTEM = ("TBW102", "SCHEDULE_TOPIC_XXXX", "RMQ_SYS_TRACE_TOPIC", "SELF_TEST_TOPIC", "rmq_sys_x", "broker-a", "one")
ROCKS = "RMQ_SYS_ROCKSDB_TRANS_HALF_TOPIC"


@every(
    ("release", "name", "created", "deleted"),
    [
        *(("4.6.0", name, None, None) for name in (*SYSTEM[:-1], "CHECKPOINT_TOPIC", ROCKS)),
        *((release, "one", SYSTEM_ERROR, None) for release in ("4.0.0", "4.7.0")),
        *((release, "TBW102", SYSTEM_ERROR, None) for release in ("4.6.1", "4.7.0")),
        *(("4.7.0", name, None, None) for name in SYSTEM[1:-1]),
        *((release, name, SYSTEM_ERROR, SYSTEM_ERROR) for release in ("4.7.1", "5.3.1") for name in SYSTEM),
        ("5.5.0", "one_REPLY_TOPIC", INVALID_PARAMETER, INVALID_PARAMETER),
        ("5.5.0", "another", None, None),
        *(("5.3.2", name, INVALID_PARAMETER, INVALID_PARAMETER) for name in SYSTEM),
        ("5.1.4", "CHECKPOINT_TOPIC", None, None),
        ("5.2.0", "CHECKPOINT_TOPIC", SYSTEM_ERROR, SYSTEM_ERROR),
        ("5.3.3", ROCKS, None, None),
        ("5.4.0", ROCKS, INVALID_PARAMETER, INVALID_PARAMETER),
        ("4.6.0", " ", None, None),
        ("4.6.1", " ", SYSTEM_ERROR, None),
        ("4.7.0", "", SYSTEM_ERROR, None),
        ("4.7.1", " ", SYSTEM_ERROR, SYSTEM_ERROR),
        ("5.3.2", "", INVALID_PARAMETER, INVALID_PARAMETER),
    ],
)
def test_rocketmqs_own_topics_are_left_alone(release: str, name: str, created: Err | None, deleted: Err | None) -> None:
    found = names.create_topic(rules(release), START, name, Topic.of(1), OWN)
    assert found[1] == created
    there = START._replace(topics={name: Topic.of(1)})
    gone, result, why = names.delete_topic(rules(release), there, name, OWN)
    assert result == deleted
    assert (name in gone.topics) is (deleted is not None)
    own = {"BQ-NAME-SYSTEM", "BQ-NAME-BLANK"}
    assert bool(own.intersection(found[2].rules)) is (created is not None)
    assert bool(own.intersection(why.rules)) is (deleted is not None)


@every(
    ("release", "length", "result"),
    [
        ("4.6.0", 256, None),
        ("5.3.3", 128, INVALID_PARAMETER),
        ("5.3.3", 127, None),
        ("5.4.0", 255, None),
        ("5.4.0", 256, INVALID_PARAMETER),
    ],
)
def test_retry_topics_may_be_longer(release: str, length: int, result: Err | None) -> None:
    for prefix in ("%RETRY%", "%DLQ%"):
        assert names.create_topic(rules(release), START, prefix.ljust(length, "x"), Topic.of(1))[1] == result
    if release == "5.4.0":
        assert names.create_topic(rules(release), START, "x" * length, Topic.of(1))[1] == INVALID_PARAMETER


FORBIDDEN, UNKNOWN, ILLEGAL = Err("NO_PERMISSION"), Err("TOPIC_NOT_EXIST"), Err("MESSAGE_ILLEGAL")


@every(
    ("release", "name", "result"),
    [
        *((release, "T", (0,)) for release in ("4.0.0", "4.9.7", "5.5.0")),
        *(("4.6.0", name, UNKNOWN) for name in (" ", "a@b", "x" * 128, "SCHEDULE_TOPIC_XXXX")),
        *(("4.6.1", name, SYSTEM_ERROR) for name in (" ", "a@b", "x" * 128)),
        *(("5.3.2", name, INVALID_PARAMETER) for name in (" ", "a@b", "x" * 128)),
        *((release, "TBW102", SYSTEM_ERROR) for release in ("4.0.0", "4.7.0")),
        ("4.7.1", "TBW102", UNKNOWN),
        ("4.7.0", "SCHEDULE_TOPIC_XXXX", UNKNOWN),
        *((release, "SCHEDULE_TOPIC_XXXX", FORBIDDEN) for release in ("4.7.1", "5.5.0")),
        *((release, "SELF_TEST_TOPIC", UNKNOWN) for release in ("4.9.3", "5.0.0-PREVIEW")),
        *((release, "SELF_TEST_TOPIC", FORBIDDEN) for release in ("4.9.4", "5.0.0")),
        ("5.3.3", ROCKS, UNKNOWN),
        ("5.4.0", ROCKS, FORBIDDEN),
    ],
)
def test_names_of_topics_are_checked_when_a_message_comes(release: str, name: str, result: object) -> None:
    after, found, why = names.send_named(rules(release), START, name, 0, (1,))
    assert found == result
    assert (after == START) is (name != "T")
    assert ("BQ-NAME-SEND" in why.rules) is (result not in ((0,), UNKNOWN))


def test_a_topic_with_a_long_name_takes_no_messages() -> None:
    long = START._replace(topics={"x" * 128: Topic.of(1), "%RETRY%".ljust(200, "x"): Topic.of(1)})
    assert names.send_named(rules("4.6.0"), long, "x" * 128, 0, (1,))[:2] == (long, ILLEGAL)
    assert names.send_named(rules("5.5.0"), long, "%RETRY%".ljust(200, "x"), 0, (1,))[1] == (0,)


def test_a_group_of_rocketmqs_own_is_always_created() -> None:
    for release in ("4.0.0", "5.5.0"):
        off = BrokerRules.of(Profile.of(broker=release).configured({"autoCreateSubscriptionGroup": "false"}))
        assert names.created_by_look_up(off, "CID_RMQ_SYS_x")
        assert not names.created_by_look_up(off, "CID_RMQ")
    assert not names.created_by_look_up(off, "CID_RMQ_SYS_@")
