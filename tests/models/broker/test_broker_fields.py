"""Header fields as texts: unusual ones, such as cannot be read, and such as are not sent."""

from __future__ import annotations

from every import every

from rocketmq_conformance.models.broker.broker_fields import GROUPS, TOPICS, BrokerFieldsModel
from rocketmq_conformance.models.broker.configuration import CREATES_GROUPS, PERMISSION
from rocketmq_conformance.models.broker.fixtures import initial_state
from rocketmq_conformance.models.outcome import Err
from rocketmq_conformance.models.profile import Profile

OLDEST, OLD, NEW = (BrokerFieldsModel(Profile.of(broker=release)) for release in ("4.9.3", "4.9.7", "5.5.0"))
MODELS = (OLDEST, OLD, NEW)
SYSTEM_ERROR, NO_TOPIC = Err("SYSTEM_ERROR"), Err("TOPIC_NOT_EXIST")
INVALID, FORBIDDEN = Err("INVALID_PARAMETER"), Err("NO_PERMISSION")
START = initial_state()
SENT = NEW.send(START, 0, 3)[0]


def test_names_of_a_case_differ_from_those_of_another_only() -> None:
    for kinds in (TOPICS, GROUPS):
        for name in kinds.values():
            first, second = name.of("c1-"), name.of("c2-")
            assert first != second
            assert len(first) == len(second)
            assert not name.length or len(name.of("")) == len(first) == name.length
    assert f"{TOPICS['T0'].of('c-')}@{GROUPS['b@G0'].of('c-')}" == f"{TOPICS['T0@b'].of('c-')}@{GROUPS['G0'].of('c-')}"


@every(
    ("queue", "offset", "stored", "rule"),
    [
        ("0", "5", True, "BQ-UPDATE-2"),
        ("+0", "5", True, "BQ-NUMBER"),
        ("0", "\uff15", True, "BQ-NUMBER"),
        ("0", " 5", False, "BQ-NUMBER-LOST"),
        ("2147483648", "5", False, "BQ-NUMBER-LOST"),
        ("0", None, False, "BQ-UPDATE-FIELD"),
    ],
)
def test_a_commit_reads_its_numbers(queue: str, offset: str | None, stored: bool, rule: str) -> None:
    for model, error in ((OLD, "SYSTEM_ERROR"), (NEW, "INVALID_PARAMETER")):
        after, result, why = model.commit(START, "G0", "T0", queue, offset)
        assert result == (None if stored else Err(error))
        assert model.query(after, "G0", "T0", "0", "true")[1] == (
            5 if stored else model.query(START, "G0", "T0", "0", None)[1]
        )
        assert rule in why.rules


@every(
    ("text", "zero"),
    [("true", True), ("TRUE", True), (None, True), ("false", False), ("False", False), ("yes", False), ("", False)],
)
def test_set_zero_is_true_for_one_word(text: str | None, zero: bool) -> None:
    _, result, why = NEW.query(SENT, "G0", "T0", "0", text)
    assert result == (0 if zero else Err("QUERY_NOT_FOUND"))
    assert ("BQ-SETZERO-TEXT" in why.rules) is (text not in (None, "true", "false"))
    assert OLD.query(SENT, "G0", "T0", "0", text)[1] == 0


@every(("topic", "queue"), [(None, "0"), ("T0", None), ("T0", ""), ("T0", "2147483648")])
def test_questions_without_a_field_fail(topic: str | None, queue: str | None) -> None:
    for model in MODELS:
        assert model.max(SENT, topic, queue)[1] == SYSTEM_ERROR
        assert model.min(SENT, topic, queue)[1] == SYSTEM_ERROR
        assert model.search(SENT, topic, queue, "0")[1] == SYSTEM_ERROR


def test_questions_read_their_numbers() -> None:
    assert NEW.max(SENT, "T0", "00")[1] == 3
    assert NEW.min(SENT, "T0", "-0")[1] == 0
    assert NEW.search(SENT, "T0", "+0", "+4000000000000")[1] == 3
    assert NEW.search(SENT, "T0", "0", "now")[1] == SYSTEM_ERROR


def test_a_pull_reads_its_numbers() -> None:
    after, result, why = NEW.pull(SENT, "G0", "T0", "+0", "01", "+2", "+6")
    assert result == ("SUCCESS", 3, (1, 2))
    assert "BQ-NUMBER" in why.rules
    assert NEW.query(after, "G0", "T0", "0", None)[1] == 6
    assert NEW.pull(SENT, "G0", "T0@b", "0", "0", "32", None)[1] == NO_TOPIC


@every(
    ("group", "topic", "queue", "offset", "most", "error"),
    [
        (None, "T0", "0", "0", "32", "SYSTEM_ERROR"),
        ("G0", None, "0", "0", "32", "SYSTEM_ERROR"),
        ("G0", "T0", None, "0", "32", "SYSTEM_ERROR"),
        ("G0", "T0", "0", None, "32", "SYSTEM_ERROR"),
        ("G0", "T0", "0", "0", None, "SYSTEM_ERROR"),
        ("G0", "T0@b", None, "0", "32", "TOPIC_NOT_EXIST"),
        ("G0", "T0@b", "0", None, "32", "TOPIC_NOT_EXIST"),
    ],
)
def test_a_pull_fails_at_the_field_that_is_missing(
    group: str | None, topic: str | None, queue: str | None, offset: str | None, most: str | None, error: str
) -> None:
    for model in MODELS:
        after, result, why = model.pull(SENT, group, topic, queue, offset, most, None)
        assert (after, result) == (SENT, Err(error))
        assert "BQ-FIELD" in why.rules


@every(("group", "topic"), [(None, "T0"), ("G0", None), ("G|%2", None)])
def test_a_broker_that_may_not_be_read_says_so_first(group: str | None, topic: str | None) -> None:
    closed = BrokerFieldsModel(Profile().configured({PERMISSION: "2"}))
    after, result, _ = closed.pull(SENT, group, topic, "0", "0", "32", None)
    assert (after, result) == (SENT, Err("NO_PERMISSION"))
    assert closed.pull(SENT, group, topic, "0", "0", "ten", None)[1] == SYSTEM_ERROR


def test_the_group_of_a_pull_is_looked_up_before_a_field_is_missing() -> None:
    for model in MODELS:
        after, result, why = model.pull(SENT, "G|%2", None, "0", "0", "32", None)
        assert result == SYSTEM_ERROR
        assert "G|%2" in after.groups
        assert "BQ-GROUP-LOOKUP" in why.rules
    after, result, why = NEW.pull(SENT, "G 1", None, "0", "0", "32", None)
    assert (after, result) == (SENT, Err("SUBSCRIPTION_GROUP_NOT_EXIST"))
    assert "BQ-NAME-LOOKUP" in why.rules


def test_a_number_that_cannot_be_read_fails_a_pull_at_once_from_4_9_4() -> None:
    unreadable = ("G|%2", "T0@b", "0", "0", "ten", None)
    assert OLDEST.pull(SENT, *unreadable)[1] == NO_TOPIC
    assert OLDEST.pull(SENT, *unreadable)[0] != SENT
    for model in (OLD, NEW):
        after, result, why = model.pull(SENT, *unreadable)
        assert (after, result) == (SENT, SYSTEM_ERROR)
        assert why.rules == ("BQ-FIELD-PULL",)


def test_topics_and_groups_are_made_and_deleted_by_what_plans_call_them() -> None:
    state = NEW.create_topic(START, "127 long")[0]
    assert "T" + 126 * "x" in state.topics
    state = NEW.create_group(state, "120 long")[0]
    assert "G" + 119 * "x" in state.groups
    state = NEW.delete_group(NEW.delete_topic(state, "127 long")[0], "120 long", "cleanOffset")[0]
    assert state == START


def test_a_message_may_be_sent_to_any_name() -> None:
    for topic, result in (("T0", (3,)), ("T.1", INVALID), ("blank", INVALID), ("SCHEDULE_TOPIC_XXXX", FORBIDDEN)):
        assert NEW.send_to(SENT, None, topic)[1] == result


def test_a_topic_that_no_plan_creates_may_be_there() -> None:
    topic = "RMQ_SYS_TRANS_HALF_TOPIC"
    for observed, result in ((SYSTEM_ERROR, SYSTEM_ERROR), (INVALID, NO_TOPIC), ((0,), NO_TOPIC), (NO_TOPIC, NO_TOPIC)):
        assert OLDEST.send_to(SENT, observed, topic)[:2] == (SENT, result)
    assert NEW.send_to(SENT, INVALID, topic)[1] == FORBIDDEN
    assert OLDEST.send_to(SENT, SYSTEM_ERROR, "rmq_sys_T")[1] == NO_TOPIC


def test_groups_to_leave_out_are_named_by_what_is_before_an_at() -> None:
    state = OLD.commit(OLD.commit(SENT, "b@G0", "T0", "0", "2")[0], "G0", "T0", "0", "3")[0]
    for left_out, found in (((), 2), (("G0",), 2), (("b",), 3), (("b@G0",), 2)):
        assert OLD.correction(state, "T0", left_out)[1] == ((0, found),)


def test_a_pull_makes_a_group_of_rocketmqs_own() -> None:
    closed = BrokerFieldsModel(Profile.of(broker="5.5.0").configured({CREATES_GROUPS: "false"}))
    for group, made in (("system", True), ("G|%2", False), ("G 1", False)):
        after, _, why = closed.pull(SENT, group, "T0", "0", "0", "32", None)
        assert (after.groups != SENT.groups, "BQ-GROUP-SYSTEM" in why.rules) == (made, made)
