"""Pulls that are held: what may have answered them, and when."""

from __future__ import annotations

import pytest

from rocketmq_conformance.models.broker.broker_polling import (
    ACTIVELY,
    BROADCASTING,
    CHANGES,
    CLUSTERING,
    DELETED,
    DISABLED,
    ELSEWHERE,
    FOREVER,
    HELD,
    INTERVAL,
    LEAVING,
    LEFT,
    NO_QUEUE,
    NOTHING,
    ONE_ID,
    OTHER_TAGS,
    REFUSED,
    REGISTERED,
    UNREADABLE,
    WAITING,
    BrokerPollingModel,
    BrokerPollingState,
    Check,
    show,
)
from rocketmq_conformance.models.outcome import Err, Result
from rocketmq_conformance.models.profile import Profile

NEW = BrokerPollingModel(Profile())
SHORT = BrokerPollingModel(Profile().configured({"longPollingEnable": "false"}))
START = BrokerPollingState()
EMPTY: Result = ("PULL_NOT_FOUND", 0, ())


def held(
    wait: int = FOREVER, expression: str = "A", sent: int = 0, state: BrokerPollingState = START, slot: int = 0
) -> BrokerPollingState:
    """The state in which a pull of queue 0 at max is held."""
    after, result, _ = NEW.hold(state, (HELD, sent, sent + 1), slot, 0, 0, expression, wait, True)
    assert result == (HELD, sent, sent + 1)
    return after


def sent(state: BrokerPollingState, *tags: str, queue: int = 0) -> BrokerPollingState:
    return NEW.send(state, queue, tags)[0]


def looked(state: BrokerPollingState, observed: Result, model: BrokerPollingModel = NEW) -> object:
    return model.look(state, observed, 0)[1]


def test_a_pull_at_max_is_held_if_it_may_be() -> None:
    assert NEW.hold(START, (HELD, 3, 4), 0, 0, 0, "*", FOREVER, True)[1] == (HELD, 3, 4)
    after, result, why = NEW.hold(START, (EMPTY, 3, 4), 0, 0, 0, "*", FOREVER, False)
    assert (after.held, result, why.kind) == ({}, (EMPTY, 3, 4), "nothing to suspend")
    some = sent(START, "A", "B")
    assert NEW.hold(some, (("x"), 3, 4), 0, 0, 1, "*", FOREVER, True)[1] == (("PULL_OFFSET_MOVED", 2, ()), 3, 4)
    assert NEW.hold(some, ((EMPTY), "4", 3), 0, 0, 1, "*", FOREVER, True)[1] == (("PULL_OFFSET_MOVED", 2, ()), 0, 0)
    assert NEW.hold(some, Err("X"), 0, 0, -1, "B", FOREVER, True)[1] == (("SUCCESS", 2, (1,)), 0, 0)
    closed = BrokerPollingModel(Profile().configured({"brokerPermission": "2"}))
    assert closed.hold(START, Err("X"), 0, 0, 0, "*", 0, True)[1] == Err("NO_PERMISSION")


def test_a_message_that_passes_must_wake_it() -> None:
    state = sent(held(), "B", "A", "B")
    woken = ("SUCCESS", 2, (1,)), 0, 9
    after, result, why = NEW.look(state, woken, 0)
    assert (after.held, after.checks, result) == ({}, {}, woken)
    assert why.kind == "woken by a message that passes"
    later = ("SUCCESS", 3, (1,)), 0, 9
    assert looked(state, later) == later
    assert looked(state, (HELD, 0, 9)) == later
    assert looked(state, (EMPTY, 0, 9)) == later


def test_other_messages_let_it_wait_until_a_check() -> None:
    state = sent(held(), "B")
    assert looked(state, (HELD, 0, 9)) == (HELD, 0, 9)
    checked = ("PULL_RETRY_IMMEDIATELY", 1, ()), 0, 9
    after, result, why = NEW.look(state, checked, 0)
    assert (result, after.checks, why.kind) == (checked, {}, "messages that do not pass")
    assert NEW.wait(state, (HELD, 0, 9), 0)[1] == checked
    assert looked(sent(held(), "A", queue=1), (EMPTY, 0, 9)) == (HELD, 0, 9)


def test_its_time_is_kept_and_ends_at_a_check() -> None:
    assert looked(held(300), (EMPTY, 0, 299)) == (HELD, 0, 299)
    assert looked(held(300), (EMPTY, 0, 300)) == (EMPTY, 0, 300)
    assert NEW.wait(held(300), (HELD, 0, 2000), 0)[1] == (EMPTY, 0, 2000)
    assert NEW.wait(held(), (HELD, 0, 2000), 0)[1] == (HELD, 0, 2000)
    assert NEW.look(sent(held(0), "B"), (("PULL_RETRY_IMMEDIATELY", 1, ()), 0, 1), 0)[0].checks == {}
    assert NEW.hold(START, (EMPTY, 3, 4), 0, 0, 0, "A", 0, True)[1] == (EMPTY, 3, 4)
    assert NEW.hold(START, (EMPTY, 3, 4), 0, 0, 0, "A", FOREVER, True)[1] == (HELD, 3, 4)


@pytest.mark.parametrize(("sent_at", "seen", "fits"), [(10, 979, False), (10, 980, True), (9, 25, True)])
def test_two_checks_are_an_interval_apart(sent_at: int, seen: int, fits: bool) -> None:
    first = NEW.look(held(0), (EMPTY, 0, 10), 0)[0]
    second = held(0, sent=sent_at, state=first)
    assert (looked(second, (EMPTY, sent_at, seen)) == (EMPTY, sent_at, seen)) == fits


def test_what_a_late_message_may_have_led_to_is_no_check() -> None:
    first = NEW.look(held(0), (EMPTY, 0, 10), 0)[0]
    late = sent(held(0, sent=20, state=first), "B")
    unmatched: Result = ("PULL_RETRY_IMMEDIATELY", 1, ()), 20, 25
    assert looked(late, unmatched) == unmatched
    announced = held(0, sent=20, state=sent(first, "B"))
    empty: Result = ("PULL_NOT_FOUND", 1, ()), 20, 25
    after, result, _ = NEW.look(announced, empty, 0)
    assert (result, after.checks) == (empty, first.checks)


def test_a_slot_without_a_pull_has_no_answer() -> None:
    assert NEW.look(START, None, 1)[1] is None
    assert NEW.wait(START, None, 1)[1] is None
    both = held(slot=1, state=held())
    assert set(NEW.look(sent(both, "A"), (("SUCCESS", 1, (0,)), 0, 9), 0)[0].held) == {1}


def test_other_queues_may_be_checked_meanwhile() -> None:
    first = NEW.look(held(0), (EMPTY, 0, 10), 0)[0]
    second, _, _ = NEW.hold(first, (HELD, 20, 21), 0, 1, 0, "A", 0, True)
    after, result, _ = NEW.look(second, (EMPTY, 20, 25), 0)
    assert (result, after.checks) == ((EMPTY, 20, 25), {0: Check(0, 10), 1: Check(20, 25)})


def test_a_message_wakes_a_pull_before_a_check_but_without_long_polling() -> None:
    answer = ("SUCCESS", 1, (0,))
    assert NEW.wake(sent(START, "B"), "*", "A")[1] == (answer, True)
    _, result, why = SHORT.wake(START, "A || C", "C")
    assert (result, why.rules[-1]) == ((answer, False), "BQ-PULL-SHORT")
    closed = BrokerPollingModel(Profile().configured({"brokerPermission": "2"}))
    assert closed.wake(START, "*", "A")[1] == Err("NO_PERMISSION")


def test_without_long_polling_every_pull_waits_as_long() -> None:
    state, _, why = SHORT.hold(START, (HELD, 0, 1), 0, 0, 0, "A", FOREVER, True)
    assert why.kind == "held, short"
    assert state.held[0].wait == INTERVAL
    assert looked(state, (EMPTY, 0, INTERVAL - 1), SHORT) == (HELD, 0, INTERVAL - 1)
    after, _, why = SHORT.look(state, (EMPTY, 0, INTERVAL), 0)
    assert (after.checks, why.rules) == ({0: Check(0, INTERVAL)}, ("BQ-PULL-10", "BQ-PULL-CHECK", "BQ-PULL-SHORT"))


def test_without_long_polling_a_message_that_passes_is_found_by_a_check() -> None:
    state = sent(SHORT.hold(START, (HELD, 0, 1), 0, 0, 0, "A", 0, True)[0], "A")
    found: Result = ("SUCCESS", 1, (0,)), 0, 9
    after, result, why = SHORT.look(state, found, 0)
    assert (result, after.held, why.kind) == (found, {}, "messages")
    assert looked(state, (HELD, 0, 9), SHORT) == found


def test_a_state_is_shown_in_one_line() -> None:
    assert show(sent(held(), "A")) == "messages {0: ('A',)}, held {0: \"queue 0 from 0 by 'A'\"}"


def test_a_held_pull_is_judged_by_what_is_so_when_it_is_woken() -> None:
    old, unmade = (
        BrokerPollingModel(Profile.of(broker="5.3.1")),
        BrokerPollingModel(Profile().configured({"autoCreateSubscriptionGroup": "false"})),
    )
    found: Result = ("SUCCESS", 1, (0,))
    answers = {change: NEW.change(START, change)[1] for change in CHANGES}
    assert answers == {
        NOTHING: found,
        REGISTERED: found,
        DISABLED: Err("NO_PERMISSION"),
        DELETED: found,
        UNREADABLE: Err("NO_PERMISSION"),
        NO_QUEUE: Err("INVALID_PARAMETER"),
        OTHER_TAGS: ("PULL_RETRY_IMMEDIATELY", 1, ()),
        LEFT: Err("SUBSCRIPTION_NOT_EXIST"),
    }
    assert old.change(START, NO_QUEUE)[1] == Err("SYSTEM_ERROR")
    assert unmade.change(START, DELETED)[1] == Err("SUBSCRIPTION_GROUP_NOT_EXIST")
    assert all("BQ-PULL-AGAIN" in NEW.change(START, change)[2].rules for change in CHANGES)


def test_what_members_of_a_group_that_broadcasts_pull_from_is_stored() -> None:
    one_by_one = ((0, 2), (1, 1))
    answers = {
        way: NEW.broadcast(START, way, one_by_one)[1]
        for way in (BROADCASTING, WAITING, LEAVING, ONE_ID, CLUSTERING, ACTIVELY, ELSEWHERE, REFUSED)
    }
    assert answers == {
        BROADCASTING: (1, 1),
        WAITING: (1, 1),
        LEAVING: (1, 1),
        ONE_ID: (2, 2),
        **dict.fromkeys((CLUSTERING, ACTIVELY, ELSEWHERE, REFUSED), (0, None)),
    }
    # a pull beyond max is sent to max, and one before min to min
    assert NEW.broadcast(START, BROADCASTING, ((0, 9),))[1] == (3, 3)
    assert NEW.broadcast(START, BROADCASTING, ((0, -1),))[1] == (0, 0)


def test_nothing_is_stored_of_it_before_5_1_0_or_when_it_is_switched_off() -> None:
    for profile in (Profile.of(broker="5.0.0"), Profile().configured({"enableBroadcastOffsetStore": "false"})):
        _, answer, why = BrokerPollingModel(profile).broadcast(START, BROADCASTING, ((0, 2),))
        assert (answer, why.rules) == ((0, None), ("BQ-CORRECT-1",))
    cold = BrokerPollingModel(Profile.of(broker="5.0.0").configured({"accessMessageInMemoryMaxRatio": "0"}))
    assert cold.broadcast(START, BROADCASTING, ((0, 2),))[1] == ("QUERY_NOT_FOUND", None)
    closed = BrokerPollingModel(Profile().configured({"brokerPermission": "2"}))
    assert closed.broadcast(START, BROADCASTING, ((0, 2),))[1] == (0, None)
