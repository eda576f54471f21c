"""Topics whose read and written queues differ, permissions, disabled groups, and pulls for any number of messages."""

from __future__ import annotations

import pytest

from rocketmq_conformance.models.broker.broker_admin import BrokerAdminState
from rocketmq_conformance.models.broker.broker_topics import BEGINNING, END, BrokerTopicsModel
from rocketmq_conformance.models.broker.state import READ, WRITE, Topic
from rocketmq_conformance.models.outcome import Err
from rocketmq_conformance.models.profile import Profile

OLD, NEW = (BrokerTopicsModel(Profile.of(broker=release)) for release in ("4.9.7", "5.5.0"))
FORBIDDEN = Err("NO_PERMISSION")
START = BrokerAdminState()


def shaped(read: int, write: int, perm: int = READ | WRITE, messages: int = 3) -> BrokerAdminState:
    """Topic 0 with two queues of so many messages, then with these settings."""
    state = START
    for queue in (0, 1):
        state = NEW.send(state, 0, queue, messages)[0]
    return NEW.set_topic(state, 0, read, write, perm)[0]


def pulled(model: BrokerTopicsModel, state: BrokerAdminState, queue: int, most: int = 32, group: int = 0) -> object:
    return model.pull_most(state, group, 0, queue, 0, most, None)[1]


def test_a_topic_is_what_it_was_created_with_last() -> None:
    state = shaped(1, 2)
    assert state.broker.topics == {"T0": Topic(1, 2)}
    after, result, why = NEW.set_topic(state, 0, 0, 3, READ)
    assert (after.broker.topics, result) == ({"T0": Topic(0, 3, READ)}, None)
    assert why.rules == ("BQ-TOPIC-1", "BQ-TOPIC-RW")
    assert after.broker.logs == state.broker.logs


@pytest.mark.parametrize(("model", "error"), [(OLD, "SYSTEM_ERROR"), (NEW, "INVALID_PARAMETER")])
@pytest.mark.parametrize(
    ("read", "write", "sends", "pulls"),
    [(1, 2, (True, True, False), (True, False, False)), (2, 1, (True, True, False), (True, True, False))],
)
def test_the_larger_number_bounds_sends_and_the_read_one_pulls(
    model: BrokerTopicsModel, error: str, read: int, write: int, sends: tuple[bool, ...], pulls: tuple[bool, ...]
) -> None:
    state = shaped(read, write)
    assert tuple(model.send(state, 0, queue, 1)[1] != Err(error) for queue in range(3)) == sends
    assert tuple(pulled(model, state, queue) != Err(error) for queue in range(3)) == pulls
    assert pulled(model, state, 0) == ("SUCCESS", 3, (0, 1, 2))


def test_only_queues_of_a_topic_are_out_of_reach() -> None:
    state = shaped(1, 2)
    for topic, queue in ((1, 1), (0, None)):
        why = NEW.query(state, 0, topic, queue, None)[2]
        assert "BQ-TOPIC-APART" not in why.rules


def test_what_is_out_of_reach_for_pulls_is_answered_all_the_same() -> None:
    for state in (shaped(1, 2), shaped(2, 2, perm=WRITE), NEW.set_group(shaped(2, 2), 0, enabled=False)[0]):
        after, result, why = NEW.commit(state, 0, 0, 1, 2)
        assert (result, why.rules[-1]) == (None, "BQ-TOPIC-APART")
        result, why = NEW.query(after, 0, 0, 1, None)[1:]
        assert (result, why.rules[-1]) == (2, "BQ-TOPIC-APART")
        assert NEW.max(after, 0, 1)[1] == 3
        assert NEW.min(after, 0, 1)[1] == 0
        assert [NEW.search_end(after, 0, 1, time)[1] for time in (BEGINNING, END)] == [0, 3]
    assert "BQ-TOPIC-APART" not in NEW.max(shaped(2, 1), 0, 1)[2].rules


def test_sends_do_not_look_at_the_permission_and_pulls_do() -> None:
    for perm, readable in ((6, True), (READ, True), (WRITE, False), (0, False), (7, True), (8, False)):
        state = shaped(2, 2, perm)
        assert NEW.send(state, 0, 0, 1)[1] == (3,)
        assert (pulled(NEW, state, 0) != FORBIDDEN) is readable
    assert pulled(NEW, shaped(1, 1, WRITE), 9) == FORBIDDEN


def test_a_disabled_group_may_not_pull_until_it_is_enabled_or_made_anew() -> None:
    state = NEW.set_group(shaped(2, 2), 0, enabled=False)[0]
    assert pulled(NEW, state, 0) == FORBIDDEN
    assert NEW.pull_most(state, 0, 2, 0, 0, 32, None)[1] == FORBIDDEN
    assert NEW.set_group(state, 0, enabled=False)[0] == state
    assert pulled(NEW, NEW.set_group(state, 0, enabled=True)[0], 0) != FORBIDDEN
    for flag in ("", "cleanOffset"):
        assert pulled(NEW, NEW.delete_group(state, 0, flag)[0], 0) != FORBIDDEN


def test_a_refused_pull_stores_nothing_and_leaves_a_reset() -> None:
    state = NEW.reset_topic(shaped(2, 2), 0, 0, -1)[0]
    state = NEW.set_group(state, 0, enabled=False)[0]
    assert NEW.pull_most(state, 0, 0, 0, 0, 32, 7)[:2] == (state, FORBIDDEN)
    assert NEW.query(state, 0, 0, 0, None)[1] == 3


@pytest.mark.parametrize(
    ("release", "room"),
    [("4.9.1", False), ("4.9.2", True), ("4.9.8", True), ("5.0.0-PREVIEW", False), ("5.5.0", False)],
)
def test_no_message_and_fewer_find_one(release: str, room: bool) -> None:
    model, state = BrokerTopicsModel(Profile.of(broker=release)), shaped(2, 2)
    one = ("SUCCESS", 1, (0,))
    failed = Err("SYSTEM_ERROR")
    assert pulled(model, state, 0, 0) == one
    assert pulled(model, state, 0, -1) == (failed if room else one)
    assert pulled(model, state, 0, 2**31 - 1) == (failed if room else ("SUCCESS", 3, (0, 1, 2)))
    assert model.pull_most(state, 0, 0, 0, 3, -1, None)[1] == ("PULL_NOT_FOUND", 3, ())
    assert model.pull_most(state, 0, 0, 0, 0, -1, 5)[0].broker.stored == ({} if room else {("G0", "T0", 0): 5})


def test_no_pull_finds_more_than_32_messages() -> None:
    state = shaped(2, 2, messages=40)
    assert [len(pulled(NEW, state, 0, most)[2]) for most in (31, 32, 33, 2**31 - 1)] == [31, 32, 32, 32]  # type: ignore[index]


def test_a_reset_by_the_broker_goes_by_read_queues() -> None:
    assert NEW.reset_topic(shaped(1, 2), 0, 0, -1)[1] == (((0, 3),), None)
    assert NEW.reset_topic(shaped(3, 1), 0, 0, -1)[1] == (((0, 3), (1, 3), (2, 0)), None)
    assert NEW.reset_topic(shaped(0, 2), 0, 0, -1)[1] == Err("SYSTEM_ERROR")


def test_a_reset_by_way_of_the_members_goes_by_written_queues() -> None:
    state = OLD.join(OLD.commit(shaped(2, 1), 0, 0, 0, 1)[0], 0, (0,))[0]
    assert OLD.reset_topic(state, 0, 0, -1)[1] == (((0, 3),), ((0, 3),))
    wider = OLD.set_topic(state, 0, 1, 2, 6)[0]
    assert OLD.reset_topic(wider, 0, 0, -1)[1] == Err("SYSTEM_ERROR")
    assert OLD.reset_topic(OLD.set_topic(state, 0, 2, 0, 6)[0], 0, 0, -1)[1] == ((), ())


@pytest.mark.parametrize(
    ("release", "negative"),
    [
        ("4.6.1", False),
        ("4.7.0", True),
        ("4.9.1", True),
        ("4.9.2", False),
        ("5.0.0-PREVIEW", True),
        ("5.0.0-ALPHA", False),
        ("5.5.0", False),
    ],
)
def test_a_message_for_no_queue_goes_to_a_written_one(release: str, negative: bool) -> None:
    model, state = BrokerTopicsModel(Profile.of(broker=release)), shaped(3, 2)
    for observed, right in (((1, 3), True), ((2, 0), False), ((-1, 0), negative), ((-2, 0), False), (None, False)):
        after, result, _ = model.send_anywhere(state, observed, 0)
        assert result == (observed if right else (0, 3))
        assert sum(len(log.times) for log in after.broker.logs.values()) == 7
    assert model.send_anywhere(shaped(2, 0), (0, 3), 0)[1] == Err("SYSTEM_ERROR")
    assert model.send_anywhere(state, (0, 0), 2)[1] == Err("TOPIC_NOT_EXIST")


def test_a_message_makes_its_topic_from_a_default_topic_and_then_takes_a_queue() -> None:
    default = NEW.set_topic(START, 0, 2, 2, READ | WRITE | 1)[0]
    after, result, why = NEW.send_new(default, 1, 0, 4)
    assert (after.broker.topics["T1"], result) == (Topic.of(2), (0,))
    assert why.rules == ("BQ-SEND-1", "BQ-STORE-MAX", "BQ-TOPIC-INHERIT")
    after, result, why = NEW.send_new(default, 1, 0, 0)
    assert (after.broker.topics["T1"], result) == (Topic.of(0), Err("INVALID_PARAMETER"))
    assert "BQ-TOPIC-INHERIT" not in NEW.send_new(START, 0, 0, 4)[2].rules


def test_what_members_pop_again_goes_with_its_topic() -> None:
    state = NEW.commit(NEW.set_pop_topic(START, 0, 0)[0], 0, 0, 0, 1)[0]
    for model, left in ((OLD, 1), (NEW, Err("TOPIC_NOT_EXIST"))):
        assert model.pop_queues(state, 0, 0)[1] == 1
        assert model.pop_queues(model.delete_topic(state, 0)[0], 0, 0)[1] == left


def test_statistics_of_a_topic_count_its_queues() -> None:
    assert (OLD.topic_queues(shaped(2, 1), 0)[1], NEW.topic_queues(shaped(2, 1), 0)[1]) == (1, 2)
