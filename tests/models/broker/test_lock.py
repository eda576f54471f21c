"""Queue locks: their holders, their lifetime, and the lock without owner."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rocketmq_conformance.models.broker.lock import (
    FAILED,
    MAX_LIVE_TIME,
    NO_LOCKS,
    Lock,
    Locks,
    lock,
    lock_batch,
    unlock,
    unlock_batch,
)
from rocketmq_conformance.models.message_queue import Queue

Q0, Q1, Q2 = ("T", "b", 0), ("T", "b", 1), ("NOPE", "elsewhere", -3)
START = 1_000_000


def locked(client: str | None, *queues: Queue) -> Locks:
    return {("G", queue): Lock(client, START) for queue in queues}


def test_a_free_queue_of_any_name_is_locked() -> None:
    after, given_, why = lock(NO_LOCKS, "G", "one", Q2, START)
    assert given_ is True
    assert after == locked("one", Q2)
    assert why.kind == "free"
    assert NO_LOCKS == {}


def test_the_owner_confirms_and_another_is_refused_until_the_lock_expires() -> None:
    before = locked("one", Q0)
    after, given_, why = lock(before, "G", "one", Q0, START + 5)
    assert (given_, why.kind) == (True, "own")
    assert after == {("G", Q0): Lock("one", START + 5)}
    last = START + MAX_LIVE_TIME
    assert lock(before, "G", "two", Q0, last)[:2] == (before, False)
    assert lock(before, "G", "two", Q0, last)[2].kind == "of another"
    after, given_, why = lock(before, "G", "two", Q0, last + 1)
    assert (given_, why.kind) == (True, "of another, expired")
    assert after == {("G", Q0): Lock("two", last + 1)}
    after, given_, why = lock(before, "G", "one", Q0, last + 1)
    assert (given_, why.kind) == (True, "own, expired")
    assert after == {("G", Q0): Lock("one", last + 1)}


def test_the_time_that_a_lock_lives_can_be_set() -> None:
    before = locked("one", Q0)
    assert lock(before, "G", "two", Q0, START + 10, live=10)[1] is False
    assert lock(before, "G", "two", Q0, START + 11, live=10)[1] is True


def test_groups_do_not_see_each_other() -> None:
    after, given_, _ = lock(locked("one", Q0), "H", "two", Q0, START)
    assert given_ is True
    assert len(after) == 2


def test_a_batch_grants_free_queues_in_the_order_asked() -> None:
    before = locked("one", Q0)
    kinds = []
    for client, queues in (("two", ()), ("two", (Q1, Q2)), ("two", (Q2, Q0, Q1)), ("two", (Q0,))):
        after, granted, why = lock_batch(before, "G", client, queues, START)
        assert granted == tuple(queue for queue in queues if queue != Q0)
        assert after.keys() == before.keys() | {("G", queue) for queue in queues}
        kinds.append(why.kind)
    assert kinds == ["nothing asked", "all granted", "some granted", "none granted"]


def test_unlocking_removes_the_owners_lock_only() -> None:
    before = locked("one", Q0)
    assert unlock(before, "G", "one", Q1)[::2] == (before, unlock(before, "G", "one", Q1)[2])
    assert unlock(before, "G", "one", Q1)[2].kind == "free"
    assert unlock(before, "G", "two", Q0)[0] is before
    assert unlock(before, "G", "two", Q0)[2].kind == "of another"
    after, result, why = unlock(before, "G", "one", Q0)
    assert (after, result, why.kind) == ({}, None, "own")
    assert before == locked("one", Q0)


def test_unlocking_a_batch_never_fails() -> None:
    before = {**locked("one", Q0, Q1), **locked("two", Q2)}
    after, result, why = unlock_batch(before, "G", "one", (Q0, Q1, Q2))
    assert (after, result, why.kind) == (locked("two", Q2), None, "some removed")
    after, result, why = unlock_batch(after, "G", "one", (Q0, Q2))
    assert (after, result, why.kind) == (locked("two", Q2), None, "nothing removed")


def test_a_batch_without_client_fails_at_the_first_free_queue_and_leaves_a_lock_without_owner() -> None:
    after, result, why = lock_batch({}, "G", None, (Q0, Q1), START)
    assert (result, why.kind) == (FAILED, "free, no client")
    assert dict(after) == {("G", Q0): Lock(None, START)}


def test_a_lock_without_client_never_expires() -> None:
    poisoned, result, why = lock(NO_LOCKS, "G", None, Q0, START)
    assert (result, why.kind) == (FAILED, "free, no client")
    much_later = START + 1000 * MAX_LIVE_TIME
    for client in ("one", None):
        assert lock(poisoned, "G", client, Q0, much_later)[:2] == (poisoned, FAILED)
        assert unlock(poisoned, "G", client, Q0)[:2] == (poisoned, FAILED)
    assert lock_batch(poisoned, "G", "one", (Q0,), much_later)[1:] == (FAILED, lock(poisoned, "G", "one", Q0, 0)[2])
    assert unlock_batch(poisoned, "G", "one", (Q1, Q0))[:2] == (poisoned, FAILED)
    assert lock(poisoned, "G", "one", Q1, START)[1] is True


def test_no_client_counts_as_another_client_for_a_locked_queue() -> None:
    before = locked("one", Q0)
    assert lock(before, "G", None, Q0, START)[:2] == (before, False)
    assert unlock(before, "G", None, Q0)[:2] == (before, None)


@given(
    st.lists(
        st.tuples(
            st.booleans(), st.sampled_from(["one", "two", "three"]), st.sampled_from([Q0, Q1]), st.integers(0, 40_000)
        ),
        max_size=20,
    )
)
def test_never_do_two_clients_hold_a_queue(story: list[tuple[bool, str, Queue, int]]) -> None:
    """A naive restatement: the last client that was granted a queue holds it until it gives it up or is late."""
    locks, now = NO_LOCKS, START
    holds: dict[Queue, tuple[str, int]] = {}
    for locking, client, queue, passes in story:
        now += passes
        owner, since = holds.get(queue, ("", -MAX_LIVE_TIME))
        if locking:
            locks, granted, _ = lock(locks, "G", client, queue, now)
            assert granted == (owner in {"", client} or now > since + MAX_LIVE_TIME)
            if granted:
                holds[queue] = (client, now)
        else:
            locks, _, _ = unlock(locks, "G", client, queue)
            if owner == client:
                del holds[queue]
    assert {queue: entry for (_, queue), entry in locks.items()} == holds


def test_one_queue_with_an_ownerless_lock_fails_the_whole_request() -> None:
    before = locked(None, Q1)
    for queues in ([Q0, Q1], [Q1, Q0]):
        after, result, why = lock_batch(before, "G", "one", queues, START)
        assert result is FAILED
        assert after is before
        assert why.kind == "belongs to nobody"
    assert lock_batch(before, "H", "one", [Q0, Q1], START)[1] == (Q0, Q1)
