"""The broker of suite broker-pop-start: pops among commits, pulls, resets and deletions."""

from __future__ import annotations

import pytest

from rocketmq_conformance.models.broker.admin import CLEAN_OFFSET, KEEP
from rocketmq_conformance.models.broker.broker_pop_start import BrokerPopStartModel, BrokerPopStartState
from rocketmq_conformance.models.broker.pop import MAX, MIN
from rocketmq_conformance.models.broker.state import READ, WRITE
from rocketmq_conformance.models.outcome import Err, Expected
from rocketmq_conformance.models.profile import Profile

NEW = BrokerPopStartModel(Profile())


def sent(*tags: str) -> BrokerPopStartState:
    return NEW.send(BrokerPopStartState(), 0, tags)[0]


def stored(state: BrokerPopStartState, model: BrokerPopStartModel = NEW) -> Expected:
    return model.query(state, 0, 0, 0, False)[1]


def test_commits_move_pops_and_pulls_do_not() -> None:
    state, result, _ = NEW.pop(sent("A", "B", "A", "B"), 0, 0, 0, 1, MIN, "*")
    assert (result, stored(state)) == ((0, (0,)), 1)
    state = NEW.pull(state, 0, 0, 0, 3, None)[0]
    assert NEW.pop(state, 0, 0, 0, 1, MIN, "B")[1] == (1, (1,))
    state = NEW.commit(state, 0, 0, 0, 3)[0]
    assert NEW.pop(state, 0, 0, 0, 2, MIN, "*")[1] == (3, (3,))


@pytest.mark.parametrize(("release", "expected"), [("5.2.0", (0, (0,))), ("5.1.4", (2, (2,)))])
def test_a_reset_moves_pops_where_the_broker_makes_it(release: str, expected: Expected) -> None:
    model = BrokerPopStartModel(Profile.of(broker=release))
    state = model.pop(sent("A", "A", "A"), 0, 0, 0, 2, MIN, "*")[0]
    state = model.reset_queue(state, 0, 0, 0, 0)[0]
    assert model.pop(state, 0, 0, 0, 1, MAX, "*")[1] == expected


def test_a_reset_to_max_leaves_nothing_to_pop() -> None:
    state = NEW.reset_to_max(sent("A"), 0, 0, -1, True)[0]
    assert NEW.pop(state, 0, 0, 0, 1, MIN, "*")[1] == Err("POLLING_TIMEOUT")


def test_all_queues_are_popped() -> None:
    state = NEW.send(sent("A"), 1, ("A", "B"))[0]
    state, result, _ = NEW.pop_all(state, 0, 0, MIN)
    assert result == ((0, (0,)), (1, (0, 1)))
    assert NEW.pop_all(state, 0, 0, MIN)[1] == Err("POLLING_TIMEOUT")


def test_a_group_is_created_when_it_pops_and_the_broker_may() -> None:
    after, result, why = NEW.pop(sent("A"), 1, 0, 0, 1, MIN, "*")
    assert (result, why.rules[-1]) == ((0, (0,)), "BQ-GROUP-LOOKUP")
    assert "G1" in after.broker.groups
    strict = BrokerPopStartModel(Profile().configured({"autoCreateSubscriptionGroup": "false"}))
    assert strict.pop(sent("A"), 1, 0, 0, 1, MIN, "*")[1] == Err("SUBSCRIPTION_GROUP_NOT_EXIST")


def test_deletions_and_settings_take_effect() -> None:
    popped = NEW.pop(sent("A", "A"), 0, 0, 0, 1, MIN, "*")[0]
    forgotten = NEW.delete_group(popped, 0, CLEAN_OFFSET)[0]
    assert NEW.pop(forgotten, 0, 0, 0, 1, MIN, "*")[1] == (0, (0,))
    assert NEW.pop(NEW.set_group(popped, 0, False)[0], 0, 0, 0, 1, MIN, "*")[1] == Err("NO_PERMISSION")
    assert NEW.pop(NEW.shape_topic(popped, 0, 2, WRITE)[0], 0, 0, 0, 1, MIN, "*")[1] == Err("NO_PERMISSION")
    gone = NEW.delete_topic(popped, 0)[0]
    assert gone.tags == {}
    assert NEW.delete_topic(popped, 1)[0].tags == popped.tags
    again = NEW.shape_topic(gone, 0, 1, READ | WRITE)[0]
    assert NEW.pop(again, 0, 0, 0, 1, MIN, "*")[1] == Err("POLLING_TIMEOUT")
    assert NEW.send(again, 9, ("A",))[0].tags.get(9) == ()
    assert NEW.delete_group(popped, 0, KEEP)[0].broker.stored == popped.broker.stored


@pytest.mark.parametrize(
    ("release", "count", "mode", "expected"),
    [
        ("5.5.0", 3, MAX, (0, (0,), 1)),
        ("5.1.0", 3, MAX, (2, (2,), 3)),
        ("5.5.0", 0, MIN, ("POLLING_TIMEOUT", (), 0)),
        ("5.3.0", 0, MIN, ("POLLING_TIMEOUT", (), None)),
    ],
)
def test_a_new_retry_topic_is_begun_apart_from_the_rest(
    release: str, count: int, mode: int, expected: Expected
) -> None:
    state = sent("A")
    assert BrokerPopStartModel(Profile.of(broker=release)).pop_retry(state, count, mode)[:2] == (state, expected)
