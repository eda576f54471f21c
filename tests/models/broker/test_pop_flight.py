"""What is in flight: acknowledgements, changes, what is due, and requests that are wrong."""

from __future__ import annotations

from rocketmq_conformance.models.broker.pop_flight import (
    ACK,
    BATCH,
    CHANGE,
    FAULTS,
    NEXT,
    NO_TOPIC,
    OF_BATCHES,
    Flight,
    acknowledge,
    change,
    due,
    refuses,
)

FLIGHTS = {"a": Flight(20, 1), "b": Flight(10)}


def test_only_the_handle_itself_acknowledges() -> None:
    assert acknowledge(FLIGHTS, "a") == {"b": Flight(10)}
    assert acknowledge(FLIGHTS, "c") == acknowledge(FLIGHTS, None) == FLIGHTS


def test_a_change_makes_a_new_handle_of_any() -> None:
    assert change(FLIGHTS, "a", "c", 50, 1) == {"b": Flight(10), "c": Flight(50, 1)}
    assert change({}, "a", "c", 50, 1) == {"c": Flight(50, 1)}


def test_what_is_due_comes_in_order() -> None:
    assert (due(FLIGHTS, 9), due(FLIGHTS, 10), due(FLIGHTS, 20)) == ([], ["b"], ["b", "a"])


def test_a_fault_is_refused_unless_it_is_passed_over() -> None:
    passed = {(ACK, NEXT), (BATCH, NO_TOPIC)}
    asked = [(request, fault) for request in (ACK, CHANGE) for fault in FAULTS]
    asked += [(BATCH, fault) for fault in OF_BATCHES]
    assert {one for one in asked if refuses(*one, True)[0] is None} == passed


def test_a_change_of_the_next_offset_is_refused_since_5_3_2() -> None:
    assert refuses(CHANGE, NEXT, False)[0] is None
