"""The broker of suite broker-pop-ack: what is certain of messages in flight, and what is lost track of."""

from __future__ import annotations

from rocketmq_conformance.models.broker.broker_pop_ack import (
    AT_ONCE,
    FOREVER,
    LAST,
    OLDER,
    OTHER_BROKER,
    OTHER_GROUP,
    SHORTLY,
    STALLED,
    BrokerPopAckModel,
    BrokerPopAckState,
    show,
)
from rocketmq_conformance.models.broker.pop_flight import ACK, NO_ACKS, NO_TOPIC
from rocketmq_conformance.models.outcome import Err
from rocketmq_conformance.models.profile import Profile

NEW, OLD = BrokerPopAckModel(Profile()), BrokerPopAckModel(Profile.of(broker="5.0.0"))


def out(count: int = 2, hidden: int = SHORTLY, sent: int = 100) -> BrokerPopAckState:
    return NEW.hand_out(BrokerPopAckState(), (tuple(range(count)), sent), count, hidden)[0]


def test_what_is_not_acknowledged_comes_back_after_its_time() -> None:
    state = NEW.ack(out(), 500, 0, LAST)[0]
    state, result, why = NEW.await_returns(state, ((1, 1, True, 1300),))
    assert (result, why.kind) == (((1, 1, True, 1300),), "for the first time")
    assert NEW.await_returns(state, ())[1] == ()


def test_a_message_is_not_seen_too_early_nor_left_out_nor_made_up() -> None:
    assert NEW.await_returns(out(1), ((0, 1, True, 1099),))[1] == ((0, 1, True, 1100),)
    assert NEW.await_returns(out(1), ())[1] == ((0, 1, True, 1100),)
    assert NEW.await_returns(out(1), ("odd", (5, 1, True, 1200)))[1] == ((0, 1, True, 1100),)
    assert NEW.await_returns(out(1), Err("SYSTEM_ERROR"))[1] == ((0, 1, True, 1100),)


def test_up_to_5_0_0_the_retry_topic_shows() -> None:
    state = OLD.hand_out(BrokerPopAckState(), ((0,), 100), 1, SHORTLY)[0]
    assert OLD.await_returns(state, ((0, 1, False, 1200),))[1] == ((0, 1, False, 1200),)
    shown = Profile().configured({"popResponseReturnActualRetryTopic": "true"})
    assert BrokerPopAckModel(shown).await_returns(out(1), ())[1] == ((0, 1, False, 1100),)


def test_other_handles_acknowledge_nothing() -> None:
    state = out(1)
    for way in (OLDER, OTHER_GROUP):
        state, result, _ = NEW.ack(state, 300, 0, way)
        assert result == 300
    assert NEW.await_returns(state, ())[1] == ((0, 1, True, 1100),)
    assert NEW.ack(state, 300, 4, LAST)[:2] == (state, None)


def test_the_broker_of_a_handle_counts_since_5_3_1() -> None:
    assert NEW.ack(out(1), 300, 0, OTHER_BROKER)[0].flights
    assert not OLD.ack(out(1), 300, 0, OTHER_BROKER)[0].flights


def test_a_late_acknowledgement_may_count_or_not() -> None:
    state = NEW.ack(out(1), 1100, 0, LAST)[0]
    assert state.lost == {0}
    assert NEW.await_returns(state, ())[1] == ()
    seen = ((0, 1, True, 1300), (0, 1, True, 1400))
    assert NEW.await_returns(state, seen)[1] == seen


def test_a_broker_that_was_stopped_may_bring_back_what_was_acknowledged() -> None:
    state = NEW.ack(out(1), 300, 0, LAST)[0]
    late, soon = ((0, 1, True, 1101 + STALLED),), ((0, 1, True, 1100 + STALLED),)
    assert (NEW.await_returns(state, late)[1], NEW.await_returns(state, soon)[1]) == (late, ())


def test_a_change_counts_from_when_it_was_sent() -> None:
    state, result, _ = NEW.change(out(2), (300, 310), 0, FOREVER)
    assert result == (300, 310)
    assert NEW.await_returns(state, ())[1] == ((1, 1, True, 1100),)
    again = NEW.change(state, (400, 410), 0, AT_ONCE)[0]
    assert NEW.await_returns(again, ())[1] == ((0, 1, True, 400), (1, 1, True, 1100))
    assert NEW.ack(again, 420, 0, LAST)[0].flights.keys() == {(1, 0)}
    assert NEW.change(state, (1, 2), 4, AT_ONCE)[:2] == (state, None)


def test_a_change_brings_back_what_was_acknowledged() -> None:
    state = NEW.ack(out(1), 200, 0, LAST)[0]
    state, _, why = NEW.change(state, (300, 310), 0, SHORTLY)
    assert why.kind == "not in flight"
    assert NEW.await_returns(state, ())[1] == ((0, 1, True, 1300),)


def test_a_late_change_may_count_or_not() -> None:
    state, _, why = NEW.change(out(1), (1000, 1110), 0, SHORTLY)
    assert (state.lost, why.kind) == ({0}, "about to come back")
    assert NEW.change(state, (1200, 1210), 0, SHORTLY)[0].flights == {}


def test_messages_come_back_again_and_again() -> None:
    state = NEW.await_returns(out(1), ((0, 1, True, 1200),))[0]
    state = NEW.change(state, (1300, 1310), 0, SHORTLY)[0]
    _, result, why = NEW.await_returns(state, ((0, 2, True, 2400),))
    assert (result, why.kind) == (((0, 2, True, 2400),), "again")


def test_a_batch_counts_for_those_that_are_in_flight() -> None:
    state, result, why = NEW.ack_batch(out(3), 200, (0, 2), True)
    assert (result, why.kind, state.flights.keys()) == (200, "all", {(1, 0)})
    assert NEW.ack_batch(state, 200, (0, 1), False)[2].kind == "some"
    assert NEW.ack_batch(state, None, (7,), False)[:2] == (state, None)
    late, _, why = NEW.ack_batch(out(1), 1100, (0,), False)
    assert (late.lost, why.kind) == ({0}, "about to come back")


def test_a_long_time_lasts_for_good() -> None:
    assert NEW.await_returns(out(1, FOREVER), ())[1] == ()


def test_wrong_requests_change_nothing() -> None:
    state = out(1)
    assert NEW.ask_badly(state, NO_TOPIC, ACK)[:2] == (state, Err("TOPIC_NOT_EXIST"))
    assert NEW.batch_badly(state, NO_ACKS)[:2] == (state, Err("NO_MESSAGE"))


def test_a_state_is_shown_in_one_line() -> None:
    assert show(out(1)) == "at 100: in flight {'0 by handle 0': '0 times, visible at 1100'}, lost track of []"
