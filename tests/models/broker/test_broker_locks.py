"""Locks of a broker whose clock is not visible: certain answers, and answers taken from the observation."""

from __future__ import annotations

import pytest
from every import every
from hypothesis import given
from hypothesis import strategies as st

from rocketmq_conformance.models.broker import lock as naive
from rocketmq_conformance.models.broker.broker_locks import (
    CLIENTS,
    LEASE,
    OWNERLESS,
    QUEUES,
    BrokerLocksState,
    lock_queues,
    pass_time,
    unlock_queues,
)
from rocketmq_conformance.models.broker.lock import NO_LOCKS
from rocketmq_conformance.models.outcome import Err, Result, agrees
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites import broker_locks
from rocketmq_conformance.suites.broker_locks import SUITE

NO_LEASES = BrokerLocksState()


def locked(
    client: int, queues: tuple[int, ...], sent: int, answered: int, state: BrokerLocksState = NO_LEASES
) -> BrokerLocksState:
    after, expected, _ = lock_queues(state, (queues, sent, answered), 0, client, queues)
    assert expected == (queues, sent, answered)
    return after


def test_a_lock_of_another_is_refused_while_it_certainly_lives() -> None:
    state = locked(0, (0,), 10, 20)
    after, expected, why = lock_queues(state, ((0,), 900, 1010), 0, 1, (0,))
    assert (expected, why.kind) == (((), 900, 1010), "of another")
    assert after.since == 900


def test_it_is_taken_over_once_it_has_certainly_expired() -> None:
    state = locked(0, (0,), 10, 20)
    _, expected, why = lock_queues(state, ((), 1021, 1030), 0, 1, (0,))
    assert (expected, why.kind) == (((0,), 1021, 1030), "of another, expired")


@pytest.mark.parametrize(("seen", "kind"), [((0,), "taken over"), ((), "still held")])
def test_in_between_the_observation_decides_and_is_remembered(seen: tuple[int, ...], kind: str) -> None:
    state = locked(0, (0,), 10, 40)
    after, expected, why = lock_queues(state, (seen, 1000, 1030), 0, 1, (0,))
    assert (expected, why.kind) == ((seen, 1000, 1030), f"about to expire, {kind}")
    owner = 1 if seen else 0
    assert lock_queues(after, ((0,), 1040, 1050), 0, owner, (0,))[1] == ((0,), 1040, 1050)
    assert lock_queues(after, ((0,), 1030, 1035), 0, 2, (0,))[1] == ((() if seen else (0,)), 1030, 1035)


def test_confirming_a_lock_prolongs_it() -> None:
    state = locked(0, (0,), 900, 910, locked(0, (0,), 0, 5))
    assert lock_queues(state, ((), 1500, 1510), 0, 1, (0,))[1] == ((), 1500, 1510)


def test_groups_and_parts_of_queues_are_apart() -> None:
    state = locked(0, (0,), 0, 1)
    assert (
        len({part[0] for part in QUEUES}) == len({part[1] for part in QUEUES}) == len({part[2] for part in QUEUES}) == 2
    )
    for other in (1, 2, OWNERLESS):
        assert lock_queues(state, ((other,), 2, 3), 0, 1, (other,))[1] == ((other,), 2, 3)
    assert lock_queues(state, ((0,), 2, 3), 1, 1, (0,))[1] == ((0,), 2, 3)


def test_several_queues_are_granted_one_by_one() -> None:
    state = locked(0, (0,), 0, 1)
    for client, queues, granted, kind in (
        (1, (0, 1), (1,), "some granted"),
        (0, (0, 1), (0, 1), "all granted"),
        (1, (), (), "nothing asked"),
    ):
        _, expected, why = lock_queues(state, (granted, 2, 3), 0, client, queues)
        assert (expected, why.kind) == ((granted, 2, 3), kind)
    both = locked(0, (0, 1), 0, 1)
    assert lock_queues(both, ((), 2, 3), 0, 1, (0, 1))[2].kind == "none granted"
    assert lock_queues(both, ((0, 1), 1500, 1501), 0, 1, (0, 1))[2].kind == "all granted, one expired"
    fresh = locked(0, (1,), 1400, 1401, both)
    assert lock_queues(fresh, ((0,), 1500, 1501), 0, 1, (0, 1))[2].kind == "some granted, one expired"


def test_a_lock_without_owner_makes_every_later_request_fail() -> None:
    state, expected, why = broker_locks.SUITE.bind(Profile()).by_position[1](
        BrokerLocksState(), Err("SYSTEM_ERROR"), 0, OWNERLESS
    )  # type: ignore[arg-type]
    assert (expected, why.rules) == (naive.FAILED, ("BQ-LOCK-4",))
    assert lock_queues(state, Err("SYSTEM_ERROR"), 0, 0, (OWNERLESS,))[1] == naive.FAILED
    assert unlock_queues(state, 0, 0, (OWNERLESS,))[1] == naive.FAILED
    assert lock_queues(state, ((0,), 1, 2), 0, 0, (0,))[1] == ((0,), 1, 2)
    assert "None at" in SUITE.show(state)


def test_unlocking_releases_own_locks_only() -> None:
    state = locked(0, (0, 1), 0, 1)
    assert unlock_queues(state, 0, 1, (0, 1))[0] == state
    assert unlock_queues(state, 0, None, (0,))[2].kind == "nothing removed"
    after, result, why = unlock_queues(state, 0, 0, (0,))
    assert (result, why.kind) == (None, "some removed")
    assert lock_queues(after, ((0,), 2, 3), 0, 1, (0, 1))[1] == ((0,), 2, 3)


@every("nonsense", [None, 5, (), ((0,), 1), ((0,), "1", 2), ((0,), 1, True), (0, 1, 2), ((0,), 9, 8), ((0,), 4, 20)])
def test_times_that_cannot_be_are_not_believed(nonsense: Result) -> None:
    state = locked(0, (1,), 5, 6)
    _, expected, _ = lock_queues(state, nonsense, 0, 0, (0,))
    assert not agrees(expected, nonsense)


def test_passing_time_changes_nothing_by_itself() -> None:
    state = locked(0, (0,), 0, 1)
    assert pass_time(state, 300)[:2] == (state, None)
    assert SUITE.show(BrokerLocksState()) == "at 0: no locks"
    assert SUITE.show(state) == "at 0: {'G0:T0/b0/0': 'one at 0'}"


_REQUESTS = st.lists(
    st.tuples(
        st.sampled_from(["lock", "unlock"]),
        st.integers(0, 1),
        st.lists(st.integers(0, 2), unique=True, max_size=3),
        st.integers(0, LEASE),
        st.integers(0, 200),
        st.integers(0, 200),
    ),
    max_size=25,
)


@given(_REQUESTS)
def test_every_answer_possible_during_the_request_is_expected(
    requests: list[tuple[str, int, list[int], int, int, int]],
) -> None:
    """A broker that handles each request at a moment that only it knows, as the plain model of locks does."""
    state, locks, now = BrokerLocksState(), NO_LOCKS, 0
    for what, client, indexes, pause, before, after in requests:
        sent = now + pause
        moment, answered = sent + before, sent + before + after
        now = answered
        queues = [QUEUES[index] for index in indexes]
        if what == "unlock":
            locks = naive.unlock_batch(locks, "G0", CLIENTS[client], queues)[0]
            state = unlock_queues(state, 0, client, tuple(indexes))[0]
            continue
        locks, granted, _ = naive.lock_batch(locks, "G0", CLIENTS[client], queues, moment, LEASE)
        assert isinstance(granted, tuple)
        observed = tuple(index for index in indexes if QUEUES[index] in granted), sent, answered
        state, expected, _ = lock_queues(state, observed, 0, client, tuple(indexes))
        assert agrees(expected, observed)
