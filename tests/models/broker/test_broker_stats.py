"""What operators' tools are answered about topics and groups."""

from __future__ import annotations

import pytest

from rocketmq_conformance.models.broker import consumption
from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.broker.broker_stats import RETRY_TOPIC, BrokerStatsModel, BrokerStatsState
from rocketmq_conformance.models.broker.state import BrokerState, QueueLog, Topic
from rocketmq_conformance.models.outcome import Err
from rocketmq_conformance.models.profile import Profile

START = BrokerStatsState()
OLD, INDEXED, NEW = (BrokerStatsModel(Profile.of(broker=release)) for release in ("4.9.7", "5.3.3", "5.5.0"))
NOT_THERE = Err("TOPIC_NOT_EXIST")


def sent(*times: int, model: BrokerStatsModel = NEW, state: BrokerStatsState = START) -> BrokerStatsState:
    """Messages in queue 0 of topic 0, stored at these times."""
    return model.send_timed(state, tuple(enumerate(times)), 0, 0, len(times), False)[0]


def committed(offset: int, model: BrokerStatsModel = NEW, state: BrokerStatsState = START) -> BrokerStatsState:
    """Group 0 has stored an offset for that queue."""
    return model.commit_to(state, 0, 0, 0, offset)[0]


def test_a_topic_has_bounds_and_the_time_of_its_last_message() -> None:
    assert NEW.topic_stats(sent(100, 200), 0)[1] == ((0, 0, 2, 200), (1, 0, 0, 0))
    assert NEW.topic_stats(START, 0)[1] == ((0, 0, 0, 0), (1, 0, 0, 0))
    assert NEW.topic_stats(START, 1)[1] == NOT_THERE


def test_the_time_of_a_last_message_that_is_gone_is_minus_one() -> None:
    expired = BrokerState({"T": Topic.of(1)}, logs={("T", 0): QueueLog(3, 3)})
    found = consumption.topic_stats(BrokerRules.of(Profile()), expired, "T")
    assert (found[1], found[2].kind) == (((0, 3, 3, -1),), "gone")


def test_groups_consume_a_topic_by_their_offsets_or_their_members() -> None:
    state = OLD.commit_to(START, 1, 2, 0, 0)[0]  # neither the group nor the topic exists
    assert OLD.consumed_by(state, 2)[1] == ("G1",)
    state = OLD.join(state, 0, (2,))[0]
    assert OLD.consumed_by(state, 2)[1] == ("G0", "G1")
    assert OLD.consumed_by(state, 0)[1] == ()
    assert OLD.consumed_by(OLD.leave(state, 0)[0], 2)[1] == ("G1",)
    assert OLD.consumed_by(OLD.join(START, 0, (2,))[0], 2)[2].kind == "subscribed"


@pytest.mark.parametrize(("model", "left"), [(OLD, ()), (INDEXED, ("T0",)), (NEW, ("G0",))])
def test_an_index_of_subscribers_keeps_what_was_given_up(model: BrokerStatsModel, left: tuple[str, ...]) -> None:
    state = model.join(START, 0, (0,))[0]
    assert model.consumed_by(state, 0)[1] == (left or ("G0",))
    state = model.leave(model.join(state, 0, (1,))[0], 0)[0]
    assert model.consumed_by(state, 0)[1] == left


def test_a_group_without_members_leaves_the_index_with_the_topics_that_it_subscribes_to() -> None:
    assert NEW.consumed_by(NEW.leave(NEW.join(START, 0, (0,))[0], 0)[0], 0)[1] == ()
    assert INDEXED.consumed_by(INDEXED.leave(INDEXED.join(START, 0, (0,))[0], 0)[0], 0)[1] == ("T0",)


def test_the_topics_of_a_group_are_those_of_its_offsets() -> None:
    state = NEW.commit_to(NEW.join(committed(0), 0, (1,))[0], 0, RETRY_TOPIC, 0, -7)[0]
    assert NEW.topics_of(state, 0)[1] == ("%RETRY%G0", "T0")
    assert NEW.topics_of(state, 1)[1] == ()


def test_statistics_of_all_topics_have_the_retry_topic() -> None:
    state = NEW.leave(NEW.join(committed(0), 0, ())[0], 0)[0]
    state = NEW.commit_to(state, 0, RETRY_TOPIC, 0, 2)[0]
    assert [one[:4] for one in NEW.lag(state, 0, None)[1]] == [  # type: ignore[union-attr]
        ("%RETRY%G0", 0, 0, 2),
        ("T0", 0, 0, 0),
        ("T0", 1, 0, 0),
    ]
    assert NEW.lag(NEW.join(state, 0, (1,))[0], 0, RETRY_TOPIC)[1] == ()  # the members do not subscribe to it


@pytest.mark.parametrize(
    ("offset", "consumed", "since_1970"),
    [(None, 100, True), (-7, 100, True), (0, 100, False), (1, 100, False), (2, 200, False), (9, -1, False)],
)
def test_a_time_span_is_counted_from_the_offset(offset: int | None, consumed: int, since_1970: bool) -> None:
    state = sent(100, 200)
    if offset is not None:
        state = committed(offset, state=state)
    assert NEW.time_span(state, 0, 0)[1] == ((0, 100, 200, consumed, since_1970), (1, -1, -1, -1, True))
    assert NEW.time_span(state, 0, 1)[1] == NOT_THERE


def test_the_index_of_a_queue_has_as_many_entries_as_there_are() -> None:
    state = sent(100, 200, 300)
    assert state.written
    assert not START.written
    assert NEW.queue_index(state, 1, 10)[1] == (0, 3, 2)
    assert NEW.queue_index(state, 0, 0)[1] == (0, 3, 0)
    assert NEW.queue_index(state, 3, 1)[1] is None
    assert NEW.queue_index(state, -1, 1)[1] is None


@pytest.mark.parametrize("position", [0, 9])
def test_releases_before_4_7_0_do_not_fill_in_the_index(position: int) -> None:
    before = BrokerStatsModel(Profile.of(broker="4.6.1"))
    assert before.queue_index(sent(100, model=before), position, 1)[1] == (0, 0, 0)


def test_topics_and_groups_come_and_go() -> None:
    state = NEW.create_topic(committed(1, state=sent(100)), 1, 1)[0]
    assert NEW.topic_stats(state, 1)[1] == ((0, 0, 0, 0),)
    assert NEW.topics_of(NEW.delete_topic(state, 0)[0], 0)[1] == ()
    assert NEW.topics_of(NEW.delete_group(state, 0, "cleanOffset")[0], 0)[1] == ()


def test_a_time_span_is_counted_from_a_pending_reset() -> None:
    state = NEW.reset_queue(sent(100, 200), 0, 0, 0, 2)[0]
    assert NEW.time_span(state, 0, 0)[1] == ((0, 100, 200, 200, False), (1, -1, -1, -1, True))
