"""Histories that are linearizable, and such that are not: by hand, and as every order tried one by one has it."""

from collections.abc import Iterator
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocketmq_conformance.models import linearizability
from rocketmq_conformance.models.linearizability import (
    Call,
    Effect,
    TooManyConfigurations,
    apart,
    linearize,
)

#: Writes and reads of one number: (is it a write?, the number, invoked, answered).
Register = tuple[bool, int, int, int | None]


def _write(value: int) -> Effect:
    return lambda state, memory: [(value, None)]


def _read(value: int) -> Effect:
    return lambda state, memory: [(state, state)] if state == value else []


def _calls(history: list[Register]) -> list[Call]:
    return [
        Call(invoked, answered, ((_write if writes else _read)(value),)) for writes, value, invoked, answered in history
    ]


def _holds(history: list[Register]) -> bool:
    return linearize(0, _calls(history)).stuck is None


def _by_every_order(history: list[Register]) -> bool:
    """The definition: some order of all answered calls and some of the others keeps to time and to the model."""
    for size in range(len(history) + 1):
        for order in permutations(range(len(history)), size):
            if all(one in order for one, call in enumerate(history) if call[3] is not None) and _is_right(
                [history[one] for one in order]
            ):
                return True
    return False


def _is_right(order: list[Register]) -> bool:
    value = 0
    for at, (writes, said, *_) in enumerate(order):
        if writes:
            value = said
        elif value != said:
            return False
        if any(later[3] is not None and later[3] < order[at][2] for later in order[at + 1 :]):
            return False
    return True


@st.composite
def _histories(draw: st.DrawFn) -> list[Register]:
    history = []
    for _ in range(draw(st.integers(1, 5))):
        invoked = draw(st.integers(0, 9))
        answered = draw(st.one_of(st.none(), st.integers(invoked, 10)))
        history.append((draw(st.booleans()), draw(st.integers(0, 2)), invoked, answered))
    return history


@given(_histories())
@settings(max_examples=400)
def test_the_search_agrees_with_every_order_tried_one_by_one(history: list[Register]) -> None:
    assert _holds(history) == _by_every_order(history)


def test_a_read_beside_a_write_sees_it_or_not_and_a_later_one_sees_it() -> None:
    write: Register = (True, 1, 0, 3)
    assert _holds([write, (False, 0, 1, 2)])
    assert _holds([write, (False, 1, 1, 2)])
    assert _holds([write, (False, 1, 4, 5)])
    assert not _holds([write, (False, 0, 4, 5)])
    assert not _holds([write, (False, 1, 1, 2), (False, 0, 3, 4)])  # seen, and then no more


def test_a_call_without_an_answer_takes_effect_at_any_later_moment_or_never() -> None:
    lost: Register = (True, 1, 0, None)
    assert _holds([lost, (False, 0, 5, 6), (False, 1, 7, 8)])
    assert _holds([lost, (False, 0, 5, 6), (False, 0, 7, 8)])
    assert not _holds([lost, (False, 1, 5, 6), (False, 0, 7, 8)])


def test_the_call_that_fits_no_order_is_named_with_what_it_could_have_answered() -> None:
    history: list[Register] = [(True, 1, 0, 5), (True, 2, 1, 4), (False, 0, 6, 7)]
    found = linearize(0, _calls(history))
    assert found.stuck == 2
    assert {one.state for one in found.configurations} == {1, 2}
    *writes, _ = _calls(history)
    free = linearize(0, [*writes, Call(6, 7, (lambda state, memory: [(state, state)],))], followed=[2])
    assert sorted(one.noted for one in free.configurations) == [((2, 1),), ((2, 2),)]


def test_steps_of_one_call_have_moments_of_their_own() -> None:
    def add(state: int, memory: int) -> Iterator[tuple[int, None]]:
        yield memory + 1, None

    torn: tuple[Effect, ...] = (lambda state, memory: [(state, state)], add)
    calls = [Call(0, 3, torn), Call(1, 4, torn)]
    ends = {one.state for one in linearize(0, calls).configurations}
    assert ends == {1, 2}  # both added, or one of them was lost
    assert {one.state for one in linearize(0, [Call(0, 1, torn), Call(2, 3, torn)]).configurations} == {2}


def test_calls_are_apart_unless_something_joins_them() -> None:
    assert apart([{"a"}, {"b"}, {"a"}, {"c"}]) == [[0, 2], [1], [3]]
    assert apart([{"a"}, {"b"}, {"a", "b"}, {"c"}]) == [[0, 1, 2], [3]]
    assert apart([]) == []


def test_a_history_that_leaves_too_much_open_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linearizability, "MOST", 10)
    with pytest.raises(TooManyConfigurations):
        linearize(0, _calls([*((True, value, 0, None) for value in range(6)), (False, 7, 8, 9)]))
