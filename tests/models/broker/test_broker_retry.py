"""Messages of a case: their numbers, where copies show, and what the answers look like."""

from __future__ import annotations

from rocketmq_conformance.models.broker.broker_retry import (
    FIRST,
    HERE,
    BrokerRetryModel,
    RetryState,
    is_over,
    least,
    sent,
    show,
)
from rocketmq_conformance.models.broker.configuration import CREATES_GROUPS
from rocketmq_conformance.models.broker.send_back import RetrySettings
from rocketmq_conformance.models.broker.state import READ, WRITE, Topic
from rocketmq_conformance.models.outcome import Err, Result
from rocketmq_conformance.models.profile import Profile

OLD, NEW = (BrokerRetryModel(Profile.of(broker=release)) for release in ("4.9.1", "5.5.0"))
SENT = NEW.send_one(RetryState(), 0, 1)[0]
COPY = (
    ("RETRY_TOPIC", "T0"),
    ("ORIGIN_MESSAGE_ID", "message 0"),
    ("DELAY", "3"),
    ("REAL_TOPIC", "%RETRY%G0"),
    ("REAL_QID", "0"),
    ("WAIT", "false"),
    ("TAGS", "red"),
    ("KEYS", "k"),
)


def back(state: RetryState, observed: Result = None, message: int = 0, level: int = 0, model: object = NEW) -> object:
    assert isinstance(model, BrokerRetryModel)
    return model.back(state, observed, 0, message, level, 16, FIRST, False)[1]


def test_a_message_is_sent_and_numbered() -> None:
    after, result, _ = NEW.send_one(SENT, 0, 0)
    assert result == 1
    assert [message.id for message in after.messages] == ["message 0", "message 1"]
    assert NEW.send_one(SENT, 1, 0)[:2] == (SENT, Err("TOPIC_NOT_EXIST"))


def test_a_copy_shows_in_the_retry_topic() -> None:
    assert back(SENT) == ("retry", 0, 0, 1, COPY, 0)
    state = NEW.back(SENT, None, 0, 0, 0, 16, FIRST, False)[0]
    assert state.messages[1].id == "message 1"
    second = NEW.back(state, None, 0, 0, 0, 16, FIRST, False)[1]
    assert isinstance(second, tuple)
    assert second[:4] == ("retry", 0, 1, 2)
    assert ("ORIGIN_MESSAGE_ID", "message 0") in COPY


def test_a_message_beyond_the_oldest_is_none() -> None:
    assert back(SENT, message=1) == Err("SYSTEM_ERROR")


def test_the_time_is_the_observed_one_if_it_is_long_enough() -> None:
    for waited, expected in ((1000, 1000), (999, 1000), (4711, 4711)):
        copy = back(SENT, ("retry", 0, 0, 1, COPY, waited), level=1)
        assert isinstance(copy, tuple)
        assert copy[-1] == expected


def test_the_queue_is_the_observed_one_if_it_can_be_drawn() -> None:
    two = NEW.set_group(SENT, 0, 2, 16)[0]
    for seen, queue in ((0, 0), (1, 1), (2, 0), (-1, 0), ("1", 0)):
        copy = back(two, ("retry", seen, 0, 1, COPY, 0))
        assert isinstance(copy, tuple)
        assert copy[1] == queue
    only = back(SENT, ("retry", 1, 0, 1, COPY, 0))
    assert isinstance(only, tuple)
    assert only[1] == 0


def test_a_queue_that_cannot_be_read_shows_its_offset_only() -> None:
    for settings, model, error in (
        (Topic(1, 1, WRITE), NEW, "NO_PERMISSION"),
        (Topic(0, 0), NEW, "INVALID_PARAMETER"),
        (Topic(0, 0), OLD, "SYSTEM_ERROR"),
    ):
        broker = SENT.broker._replace(topics={**SENT.broker.topics, "%RETRY%G0": settings})
        state = SENT._replace(broker=broker)
        after, result, _ = model.back(state, None, 0, 0, 0, 16, FIRST, False)
        assert result == ("retry", 0, 0, error)
        assert after.messages == state.messages


def test_a_dead_letter_and_who_may_read_it() -> None:
    dead = back(SENT, level=-1)
    assert isinstance(dead, tuple)
    assert dead[:4] == ("dead", 0, 0, 1)
    assert back(SENT, level=-1, model=OLD) == ("dead", 0, 0, "NO_PERMISSION")
    opened = OLD.set_own_topic(SENT, 0, True, 1, READ | WRITE)[0]
    read = back(opened, level=-1, model=OLD)
    assert isinstance(read, tuple)
    assert read[:4] == ("dead", 0, 0, 1)


def test_the_topic_that_a_request_names() -> None:
    again = OLD.back(SENT, None, 0, 0, 0, 16, FIRST, False)[0]
    fenced = BrokerRetryModel(Profile.of(broker="5.0.0"))
    refused = [fenced.back(again, None, 0, 0, 0, 16, origin, False)[1] for origin in (FIRST, HERE, None)]
    assert [result == Err("SYSTEM_ERROR") for result in refused] == [True, False, False]


def test_settings_of_groups_come_and_go() -> None:
    dropping = NEW.set_group(SENT, 0, 0, 1)[0]
    assert dropping.retries == {"G0": RetrySettings(0, 1)}
    assert back(dropping) is None
    assert NEW.delete_group(dropping, 0, "")[0].retries == {}


def test_queues_of_a_groups_topics() -> None:
    assert NEW.own_queues(SENT, 0, False)[1] == Err("TOPIC_NOT_EXIST")
    after = NEW.back(NEW.set_group(SENT, 0, 2, 16)[0], None, 0, 9, 0, 16, FIRST, False)[0]
    assert NEW.own_queues(after, 0, False)[1] == 2
    assert NEW.own_queues(after, 0, True)[1] == Err("TOPIC_NOT_EXIST")


def test_copies_and_their_limit() -> None:
    waiting = NEW.copy(SENT, None, 0, 1, 3, 3, False)
    properties = (("RETRY_TOPIC", "T0"), ("DELAY", "3"), ("REAL_TOPIC", "%RETRY%G0"), ("REAL_QID", "0"))
    assert waiting[1] == ("retry", 0, 0, 1, properties, 0)
    assert NEW.copy(SENT, None, 0, 4, 3, 0, False)[1] == ("dead", 0, 0, 4, (properties[0], ("DELAY", "-1")), 0)
    assert OLD.copy(SENT, None, 0, 1, None, 0, False)[1] == Err("SYSTEM_ERROR")


def test_a_topic_can_be_gone_and_come_again() -> None:
    gone = NEW.delete_topic(SENT, 0)[0]
    assert "T0" not in gone.broker.topics
    again = back(gone)
    assert isinstance(again, tuple)
    assert again[0] == "retry"
    assert NEW.create_topic(gone, 0, 1)[0].broker.topics["T0"] == Topic.of(1)


def test_a_state_is_shown_in_a_line() -> None:
    assert show(NEW.set_group(SENT, 0, 2, 1)[0]) == (
        "topics {'T0': '2 read, 2 written, permission 6'}, groups ['G0'], retries {'G0': 'queues 2, most tries 1'}, "
        "messages ['T0 after 0']"
    )


def test_a_message_with_a_time_comes_with_what_the_broker_wrote() -> None:
    state = RetryState()
    after, result, _ = NEW.timed(state, 0, "1 s", None)
    waited = (("REAL_TOPIC", "T0"), ("REAL_QID", "0"), ("TIMER_DELAY_SEC", "sent"), ("TIMER_OUT_MS", "written"))
    assert result == (0, waited, 0)
    assert after.messages[0].topic == "T0"
    assert NEW.timed(after, 0, "0 s", 0)[1] == (1, (("DELAY", "0"), ("TIMER_DELAY_SEC", "sent")), 0)
    assert NEW.timed(state, 0, "at 3 s", 1)[1] == (
        0,
        (("DELAY", "1"), ("REAL_TOPIC", "T0"), ("REAL_QID", "0")),
        0,
    )
    assert NEW.timed(state, 0, "4 days", None)[:2] == (state, Err("MESSAGE_ILLEGAL"))
    assert NEW.timed(state, 1, "1 s", None)[:2] == (state, Err("TOPIC_NOT_EXIST"))
    assert OLD.timed(state, 0, "at 3 s", 1)[1] == (
        0,
        (("DELAY", "1"), ("REAL_TOPIC", "T0"), ("REAL_QID", "0"), ("TIMER_DELIVER_MS", "sent")),
        0,
    )
    assert OLD.timed(state, 0, "x", None)[1] == (
        0,
        (("TIMER_DELAY_SEC", "sent"), ("TIMER_DELAY_MS", "sent")),
        0,
    )


def test_times_are_sent_as_they_are_named() -> None:
    assert sent("1.5 s in ms", None, 7, 1_000) == {"TIMER_DELAY_MS": "1500"}
    assert sent("at 3 s", 0, 7, 50) == {"TIMER_DELIVER_MS": "157", "DELAY": "0"}
    assert least({"TIMER_DELIVER_MS": "157"}, 50, 7_000) == 150
    assert least({"TIMER_DELAY_SEC": "1", "TIMER_DELAY_MS": "x", "DELAY": "0"}, 1_000, 7) == 1_000
    assert least({"TIMER_DELAY_MS": "1500"}, 1_000, 507) == 2_000
    assert least({"TIMER_DELAY_SEC": "1", "DELAY": "1"}, 1_000, 7) == 1_007
    assert least({"TIMER_DELAY_SEC": "x"}, 1_000, 2_507) == 2_000
    assert is_over({"TIMER_DELIVER_MS": "157"}, 7, 157)
    assert not is_over({"TIMER_DELIVER_MS": "157"}, 7, 156)
    assert not is_over({"TIMER_DELIVER_MS": "1"}, 7, 157)
    assert not is_over({"TIMER_DELIVER_MS": "x", "TIMER_DELAY_SEC": "1"}, 7, 157)


def test_the_copy_of_a_group_with_a_lock_is_a_dead_letter_from_5_1_1() -> None:
    dead = ("dead", 0, 0, 1, (("RETRY_TOPIC", "T0"), ("DELAY", "-1")), 0)
    assert NEW.locked_copy(RetryState(), None, True, 3)[:2] == (RetryState(), dead)
    alive = NEW.locked_copy(RetryState(), None, False, 0)[1]
    assert alive == ("retry", 0, 0, 1, (("RETRY_TOPIC", "T0"),), 0)
    assert OLD.locked_copy(RetryState(), None, True, 0)[1] == alive
    closed = BrokerRetryModel(Profile.of(broker="5.5.0").configured({CREATES_GROUPS: "false"}))
    assert closed.locked_copy(RetryState(), None, True, 0)[1] == Err("SUBSCRIPTION_GROUP_NOT_EXIST")
