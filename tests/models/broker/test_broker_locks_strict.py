"""Locks in strict mode: unlocking that is answered before it is done."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import pytest

from rocketmq_conformance.models.broker import broker_locks_strict
from rocketmq_conformance.models.broker.broker_locks import LEASE, OWNERLESS
from rocketmq_conformance.models.broker.broker_locks_strict import (
    UNLOCK_LIMIT,
    BrokerLocksStrictState,
    lock_queues,
    pass_time,
    show,
    unlock_queues,
)
from rocketmq_conformance.models.outcome import Err, Expected, Result
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites import broker_locks
from rocketmq_conformance.suites.declare.sampler import sampler

ONE, TWO, THREE = 0, 1, 2
FAILED = Err("SYSTEM_ERROR")


def lock(
    state: BrokerLocksStrictState, client: int | None, granted: tuple[int, ...], at: int, *queues: int
) -> tuple[BrokerLocksStrictState, Expected, str]:
    after, expected, why = lock_queues(state, (granted, at, at + 1), 0, client, queues or (0,))
    return after, expected[0] if isinstance(expected, tuple) else expected, why.kind


def held(*queues: int) -> BrokerLocksStrictState:
    """The first client holds these queues from the start."""
    state, granted, _ = lock(BrokerLocksStrictState(), ONE, queues or (0,), 0, *(queues or (0,)))
    assert granted == (queues or (0,))
    return state


def unlocked(state: BrokerLocksStrictState, client: int | None, *queues: int) -> BrokerLocksStrictState:
    after, result, why = unlock_queues(state, 0, client, queues or (0,))
    assert result is None
    assert why.rules == ("BQ-LOCK-STRICT",)
    return after


@pytest.mark.parametrize(("granted", "kind"), [((), "of another"), ((0,), "free")])
def test_a_lock_right_after_an_unlock_may_be_granted_or_refused(granted: tuple[int, ...], kind: str) -> None:
    assert lock(unlocked(held(), ONE), TWO, granted, 5)[1:] == (granted, kind)


def test_what_was_granted_stays_granted() -> None:
    state, _, _ = lock(unlocked(held(), ONE), TWO, (0,), 5)
    assert lock(state, TWO, (), 6)[1:] == ((0,), "own")
    assert lock(state, THREE, (0,), 6)[1] == ()
    assert lock(state, ONE, (0,), 6)[1] == ()


def test_what_was_refused_is_granted_once_the_unlock_is_done() -> None:
    state, _, _ = lock(unlocked(held(), ONE), TWO, (), 5)
    assert lock(state, TWO, (), 6)[1] == ()
    assert lock(state, TWO, (0,), 6)[1] == (0,)
    # it is done in the end, and that is not too late
    assert lock(state, TWO, (0,), 5 + UNLOCK_LIMIT)[1] == (0,)
    assert lock(state, TWO, (), 5 + UNLOCK_LIMIT)[1] == ()
    assert lock(state, TWO, (), 6 + UNLOCK_LIMIT)[1] == (0,)


def test_an_unlock_takes_a_lock_with_it_that_its_owner_took_meanwhile() -> None:
    state, granted, _ = lock(unlocked(held(), ONE), ONE, (0,), 5)
    assert granted == (0,)
    assert lock(state, TWO, (0,), 6)[1] == (0,)
    assert lock(state, TWO, (), 6)[1] == ()


def test_an_unlock_is_done_once() -> None:
    state, _, _ = lock(unlocked(held(), ONE), TWO, (0,), 5)
    state, _, _ = lock(unlocked(state, TWO), ONE, (0,), 7)
    # both are done: the first client keeps what it has now
    assert lock(state, THREE, (0,), 8)[1] == ()


def test_an_unlock_by_another_client_changes_nothing() -> None:
    assert lock(unlocked(held(), TWO), THREE, (0,), 5)[1] == ()


def test_an_unlock_of_several_is_done_queue_by_queue() -> None:
    state = unlocked(held(0, 1), ONE, 0, 1)
    for granted in ((), (0,), (1,), (0, 1)):
        assert lock(state, TWO, granted, 5, 0, 1)[1] == granted


@pytest.mark.parametrize(("client", "queues"), [(None, (0,)), (ONE, ())])
def test_an_unlock_of_nothing_changes_nothing(client: int | None, queues: tuple[int, ...]) -> None:
    state = held()
    after, result, why = unlock_queues(state, 0, client, queues)
    assert (after, result, why.kind) == (state, None, "answered, and nothing to be done")


def test_an_unlock_never_fails_but_a_lock_does() -> None:
    state, error, _ = lock_queues(BrokerLocksStrictState(), FAILED, 0, None, (OWNERLESS,))
    assert error == FAILED
    state = unlocked(state, ONE, OWNERLESS)
    assert lock_queues(state, FAILED, 0, ONE, (OWNERLESS,))[1] == FAILED
    assert lock(state, ONE, (OWNERLESS,), 5 + LEASE * 3, OWNERLESS)[1] == FAILED


def test_a_lock_still_expires() -> None:
    state, _, why = pass_time(held(), 600)
    assert why.kind == "time passed"
    assert lock(state, TWO, (0,), LEASE - 2)[1] == ()
    assert lock(state, TWO, (0,), LEASE + 2)[1:] == ((0,), "of another, expired")


@pytest.mark.parametrize("observed", [None, (), (5,), 7, ((0,), "x", 3)])
def test_an_observation_without_queues_is_no_grant(observed: Result) -> None:
    state, _, _ = lock(unlocked(held(), ONE), TWO, (), 5)
    after, expected, _ = lock_queues(state, observed, 0, THREE, (0,))
    assert isinstance(expected, tuple)
    assert expected[1:] == (5, 5)
    assert expected != observed
    assert after.since == 5


def test_times_never_run_backwards() -> None:
    state, _, _ = lock(held(), TWO, (), 50)
    assert lock_queues(state, ((), 20, 30), 0, TWO, (0,))[1] == ((), 50, 50)


def test_a_state_is_shown() -> None:
    assert show(BrokerLocksStrictState()) == "at 0: no locks"
    state = unlocked(held(), ONE)
    assert show(state) == "at 0: G0/0: one at 0, one unlocks"
    state, _, _ = lock(state, ONE, (0,), 5)
    assert show(state) == "at 5: G0/0: one at 5 or one at 5, one unlocks"
    free, _, _ = lock(state, TWO, (0,), 6)
    assert "two at 6" in broker_locks.SUITE.show(free)
    assert "no client" in show(unlocked(BrokerLocksStrictState(), TWO))


# --- brokers that only pretend ------------------------------------------------------------------------------------


class Pretended:
    """A table of locks whose unlocks are done when ``delay`` later requests were made, or by ``unlock``."""

    def __init__(self, delay: int, *, loses: bool = False, everybodys: bool = False, refuses: int = 0) -> None:
        self.owners: dict[tuple[int, int], tuple[int | None, int]] = {}
        self.waiting: list[tuple[int, int, int, tuple[int, ...]]] = []
        self.delay, self.loses, self.everybodys, self.refuses = delay, loses, everybodys, refuses
        self.clock = self.steps = 0

    def apply(self, name: str, args: tuple[Any, ...]) -> Result:
        self.clock += 1
        self.steps += 1
        if name == "wait":
            self.clock += args[0]
            self.steps += 100
            return None
        for one in [one for one in self.waiting if self.steps - one[0] > self.delay]:
            self.waiting.remove(one)
            self._unlock(*one[1:])
        if name == "unlock":
            group, client, queues = args
            if client is not None and not self.loses:
                self.waiting.append((self.steps, group, client, queues))
            return None
        group, client, queues = args if name == "lock" else (args[0], None, (args[1],))
        granted = []
        for queue in queues:
            owner, since = self.owners.get((group, queue), (-1, 0))
            if owner is None:
                return FAILED
            if owner == -1 and client is None:
                self.owners[group, queue] = None, 0
                return FAILED
            if owner in (-1, client) or self.clock - since > LEASE + self.refuses:
                self.owners[group, queue] = client, self.clock
                granted.append(queue)
        return tuple(granted), self.clock, self.clock

    def _unlock(self, group: int, client: int, queues: tuple[int, ...]) -> None:
        for queue in queues:
            owner, _ = self.owners.get((group, queue), (-1, 0))
            if owner == client or (self.everybodys and owner not in (None, -1)):
                del self.owners[group, queue]


def differing(pretended: Callable[[], Pretended], *, strict: bool = True, cases: int = 32) -> Iterator[int]:
    """The cases in which the broker is found to differ."""
    profile = Profile.of(broker="5.5.0").configured({"lockInStrictMode": str(strict).lower()})
    suite = broker_locks.SUITE
    drawn, bound = sampler(suite, profile), suite.bind(profile)
    for case in range(cases):
        state, broker = bound.initial, pretended()
        for at, args in drawn.case(1, case, suite.steps):
            spec = suite.operations[at].spec
            observed = broker.apply(spec.name, args)
            given = (observed, *args) if spec.observes else args
            state, expected, _ = bound.by_position[at](state, *given)
            assert suite.show(state)
            if expected != observed:
                yield case
                break


def differs(cases: Iterator[int], enough: int) -> bool:
    """Are there so many cases? No more are played."""
    return len(list(islice(cases, enough))) == enough


@pytest.mark.many_cases
@pytest.mark.parametrize("delay", [0, 1, 2, 5])
def test_a_broker_that_unlocks_late_conforms(delay: int) -> None:
    assert list(differing(lambda: Pretended(delay))) == []


def test_it_does_not_when_it_should_not_be_late() -> None:
    assert differs(differing(lambda: Pretended(2), strict=False), 11)


@pytest.mark.many_cases
def test_a_broker_that_never_unlocks_differs() -> None:
    assert differs(differing(lambda: Pretended(0, loses=True), cases=96), 4)


def test_a_broker_that_unlocks_queues_of_others_differs() -> None:
    assert differs(differing(lambda: Pretended(1, everybodys=True)), 11)


def test_a_broker_whose_locks_live_on_differs() -> None:
    assert differs(differing(lambda: Pretended(1, refuses=500)), 11)


def test_unlocking_late_is_over_before_a_lock_is() -> None:
    assert broker_locks_strict.UNLOCK_LIMIT < LEASE
