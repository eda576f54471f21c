"""The remote offset store: the notes' table of failures, its laws, and a second, naive store beside it."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from every import every
from hypothesis import given
from hypothesis import strategies as st

from rocketmq_conformance.models.broker.state import QueueLog, Topic
from rocketmq_conformance.models.client.initial_broker import GAP, SHAPES, TIMES, initial_broker, log_of_shape, reshaped
from rocketmq_conformance.models.client.offset_table import MEMORY, MEMORY_THEN_STORE, STORE
from rocketmq_conformance.models.client.plan_words import FAULTS, NO_QUEUE
from rocketmq_conformance.models.client.remote_store import RemoteStore, RemoteStoreModel
from rocketmq_conformance.models.outcome import Err, Expected
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.sampler import sampler
from rocketmq_conformance.suites.declare.topologies import GROUP, LOST_QUEUE, ORDINARY
from rocketmq_conformance.suites.remote_store import SUITE

CLIENTS = ("4.0.0", "4.9.8", "5.0.0-PREVIEW", "5.0.0-ALPHA", "5.0.0", "5.1.0", "5.5.0")
REFUSALS = ("QUERY_NOT_FOUND", "PULL_NOT_FOUND", "SYSTEM_ERROR", "SYSTEM_BUSY")
NEWEST = RemoteStoreModel(Profile(), ORDINARY)
START = RemoteStore(broker=initial_broker(ORDINARY))

queues = st.sampled_from((0, 1, 2, 3, LOST_QUEUE))
offsets = st.integers(-2, 30)


def reading(client: str, fault: str) -> Expected:
    """The result of a first read of queue 0 when the broker plays ``fault``."""
    return RemoteStoreModel(Profile.of(client), ORDINARY).read(START, 0, STORE, fault)[1]


@every(
    ("client", "readings"),
    [
        ("4.0.0", (-1, -1, -1, -1)),
        ("4.9.8", (-1, -1, -1, -1)),
        ("5.0.0-PREVIEW", (-1, -1, -1, -1)),
        ("5.0.0-ALPHA", (-2, -1, -2, -2)),
        ("5.0.0", (-1, -2, -2, -2)),
        ("5.5.0", (-1, -2, -2, -2)),
    ],
)
def test_which_refusals_read_as_no_offset_depends_on_the_client(client: str, readings: tuple[int, ...]) -> None:
    assert tuple(reading(client, fault) for fault in REFUSALS) == readings


@every("client", CLIENTS)
@every("fault", ["silent", "cut", "no-field"])
def test_a_failure_of_the_transport_is_unknown_in_every_release(client: str, fault: str) -> None:
    assert reading(client, fault) == -2


@every("client", CLIENTS)
def test_a_queue_without_broker_is_unknown_even_if_the_fault_is_not_found(client: str) -> None:
    model = RemoteStoreModel(Profile.of(client), ORDINARY)
    assert all(model.read(START, LOST_QUEUE, STORE, fault)[1] == -2 for fault in FAULTS)


@every(("client", "offset"), [("4.9.8", -1), ("5.0.0-PREVIEW", -1), ("5.0.0-ALPHA", -3), ("5.5.0", -3)])
@every("kind", [MEMORY, STORE, MEMORY_THEN_STORE])
def test_no_queue_has_an_offset_of_its_own(client: str, offset: int, kind: str) -> None:
    assert RemoteStoreModel(Profile.of(client), ORDINARY).read(START, NO_QUEUE, kind, "answer")[1] == offset


@every(
    ("client", "broker", "offset"),
    [
        ("4.9.8", "5.5.0", 0),
        ("5.0.0-ALPHA", "5.5.0", 0),
        ("5.0.0", "5.5.0", -1),
        ("5.0.0", "5.0.0", -1),
        ("5.0.0", "4.9.7", 0),
        ("5.1.0", "5.5.0", 0),
    ],
)
def test_only_client_5_0_0_asks_the_broker_not_to_answer_0(client: str, broker: str, offset: int) -> None:
    assert RemoteStoreModel(Profile.of(client, broker), ORDINARY).read(START, 0, STORE, "answer")[1] == offset


def test_the_alpha_takes_not_found_for_a_failure_also_when_the_broker_means_it() -> None:
    empty = START._replace(broker=reshaped(START.broker, ORDINARY.places[0], "empty"))
    assert RemoteStoreModel(Profile.of("5.0.0-ALPHA"), ORDINARY).read(empty, 0, STORE, "answer")[1] == -2
    assert RemoteStoreModel(Profile.of("5.0.0"), ORDINARY).read(empty, 0, STORE, "answer")[1] == -1


def test_memory_is_asked_alone_or_first_or_not_at_all() -> None:
    state = NEWEST.commit_elsewhere(NEWEST.update(START, 0, 5, False)[0], 0, 9)[0]
    assert NEWEST.read(state, 0, MEMORY, "answer")[1] == 5
    assert NEWEST.read(state, 0, MEMORY_THEN_STORE, "answer")[1] == 5
    assert NEWEST.read(state, 0, STORE, "answer")[1] == 9
    assert NEWEST.read(state, 1, MEMORY, "answer")[1] == -1
    assert NEWEST.read(state, 1, MEMORY_THEN_STORE, "answer")[1] == 0


@pytest.mark.parametrize("stored", [3, 5, 9])
def test_the_brokers_answer_overwrites_memory_even_backwards(stored: int) -> None:
    state = NEWEST.commit_elsewhere(NEWEST.update(START, 0, 5, False)[0], 0, stored)[0]
    after, offset, _ = NEWEST.read(state, 0, STORE, "answer")
    assert (offset, after.memory[0]) == (stored, stored)


@given(queues, st.sampled_from(FAULTS[1:]), st.sampled_from(CLIENTS))
def test_a_failed_read_changes_nothing(queue: int, fault: str, client: str) -> None:
    state = NEWEST.update(START, 1, 7, False)[0]
    assert RemoteStoreModel(Profile.of(client), ORDINARY).read(state, queue, STORE, fault)[0] is state


@given(queues, st.lists(st.tuples(offsets, st.booleans()), max_size=8))
def test_memory_is_a_plain_or_a_growing_register(queue: int, writes: list[tuple[int, bool]]) -> None:
    state, held = START, None
    for offset, increase_only in writes:
        held = max(held, offset) if increase_only and held is not None else offset
        state = NEWEST.update(state, queue, offset, increase_only)[0]
    assert state.memory.get(queue) == held


@given(queues, offsets, offsets, st.booleans())
def test_a_frozen_entry_keeps_its_value_until_it_is_removed(queue: int, frozen: int, offset: int, up: bool) -> None:
    state = NEWEST.freeze(START, queue, frozen)[0]
    state = NEWEST.update(state, queue, offset, up)[0]
    state = NEWEST.read(state, queue, STORE, "answer")[0]
    assert state.memory[queue] == frozen
    again = NEWEST.freeze(state, queue, offset)[0]
    assert again.memory[queue] == offset
    free = NEWEST.update(NEWEST.remove(state, queue)[0], queue, offset, up)[0]
    assert (free.memory[queue], free.frozen) == (offset, frozenset())


def test_nothing_happens_to_no_queue() -> None:
    assert NEWEST.update(START, NO_QUEUE, 5, False)[0] is START
    assert NEWEST.freeze(START, NO_QUEUE, 5)[0] is START


def test_persisting_sends_the_offsets_in_memory_and_forgets_those_not_asked_for() -> None:
    state = START
    for queue in (0, 1, LOST_QUEUE):
        state = NEWEST.update(state, queue, 10 + queue, False)[0]
    after, sent, _ = NEWEST.persist_all(state, (0, 2, LOST_QUEUE))
    assert sent == ((0, 10),)
    assert dict(after.memory) == {0: 10, LOST_QUEUE: 10 + LOST_QUEUE}
    assert after.broker.stored == {(GROUP, *ORDINARY.queues[0][::2]): 10}
    assert NEWEST.persist_all(state, ())[:2] == (state, ())
    assert NEWEST.persist(state, 1)[1] == ((1, 11),)
    assert NEWEST.persist(state, LOST_QUEUE)[1] == NEWEST.persist(state, 3)[1] == ()


def test_cloning_gives_the_entries_of_a_topic_or_of_all() -> None:
    state = START
    for queue in (2, 0, 3):
        state = NEWEST.update(state, queue, 10 + queue, False)[0]
    assert NEWEST.clone(state, "T")[1] == ((0, 10),)
    assert NEWEST.clone(state, "")[1] == ((0, 10), (2, 12), (3, 13))
    assert NEWEST.clone(state, "none")[1] == ()


def test_a_commit_is_sent_once_and_only_a_synchronous_one_reports_a_failure() -> None:
    assert NEWEST.commit(START, LOST_QUEUE, 5, True, "answer")[1] == Err("CLIENT")
    for fault, error in (("SYSTEM_BUSY", "SYSTEM_BUSY"), ("silent", "REMOTING")):
        assert NEWEST.commit(START, 0, 5, False, fault)[:2] == (START, Err(error, commits=((0, 5, "awaited"),)))
        assert NEWEST.commit(START, 0, 5, True, fault)[:2] == (START, ((0, 5),))
    for one_way in (False, True):
        after, sent, _ = NEWEST.commit(START, 0, 5, one_way, "answer")
        assert sent == ((0, 5) if one_way else (0, 5, "awaited"),)
        assert (dict(after.memory), NEWEST.read(after, 0, STORE, "answer")[1]) == ({}, 5)


@pytest.mark.parametrize(
    ("shape", "bounds", "hot"),
    [
        ("young", (0, 12), True),
        ("empty", (0, 0), True),
        ("expired", (4, 12), True),
        ("gone", (12, 12), True),
        ("cold", (0, 12), False),
    ],
)
def test_the_shapes_of_a_queue_match_their_names(shape: str, bounds: tuple[int, int], hot: bool) -> None:
    log = log_of_shape(shape)
    assert isinstance(log, QueueLog)
    assert (log.min, log.max, log.hot) == (*bounds, hot)
    assert log.times in ((), TIMES, TIMES[4:])


def test_messages_lie_half_an_hour_apart_or_months() -> None:
    gaps = [later - earlier for earlier, later in pairwise(TIMES)]
    assert {gap for gap in gaps if gap < 86_400_000} == {GAP}
    assert sum(gap > 30 * 86_400_000 for gap in gaps) == 3


def test_reshaping_a_queue_leaves_other_queues_and_stored_offsets() -> None:
    broker = NEWEST.commit_elsewhere(START, 0, 9)[0].broker
    for shape in SHAPES:
        after = reshaped(broker, ORDINARY.places[0], shape)
        assert after.logs[ORDINARY.queues[0].topic, 0] == log_of_shape(shape)
        assert after.logs[ORDINARY.queues[2].topic, 0] == broker.logs[ORDINARY.queues[2].topic, 0]
        assert after.stored == broker.stored


def test_the_world_knows_every_queue_but_the_lost_one() -> None:
    known = {(queue.topic, queue.id) for at, queue in enumerate(ORDINARY.queues) if at != LOST_QUEUE}
    assert set(initial_broker(ORDINARY).logs) == known
    ours = {"T": 5, "U": 2, "%RETRY%G": 1, "NEXT": 1}
    ours |= {f"%RETRY%G_{topic}": 1 for topic in ("T", "U", "NEXT")}
    assert initial_broker(ORDINARY).topics == {topic: Topic.of(queues) for topic, queues in ours.items()}


class Naive:
    """The store again, the other way round: plain dicts changed in place, and a table instead of branches.

    Knows the brokers of a remote-store case only: every queue is young, so an absent offset answers 0.
    """

    #: Answer -> offset, by kind of client; "absent" is an honest QUERY_NOT_FOUND.
    LENIENT = dict.fromkeys(("absent", *REFUSALS), -1)
    STRICT = dict.fromkeys(REFUSALS, -2) | {"QUERY_NOT_FOUND": -1, "absent": -1}
    ALPHA = dict.fromkeys(REFUSALS, -2) | {"PULL_NOT_FOUND": -1, "absent": -2}

    def __init__(self, client: str, broker: str) -> None:
        old = client < "5" or client == "5.0.0-PREVIEW"
        self.table = self.LENIENT if old else self.ALPHA if client == "5.0.0-ALPHA" else self.STRICT
        self.nowhere = -1 if old else -3
        self.absent: Any = "absent" if client == "5.0.0" and broker >= "5" else 0
        self.held: dict[int, int] = {}
        self.fixed: set[int] = set()
        self.stored: dict[int, int] = {}

    def update(self, queue: int, offset: int, increase_only: bool) -> None:
        if queue != NO_QUEUE and queue not in self.fixed:
            before = self.held.get(queue, offset)
            self.held[queue] = max(before, offset) if increase_only else offset

    def freeze(self, queue: int, offset: int) -> None:
        if queue != NO_QUEUE:
            self.held[queue] = offset
            self.fixed.add(queue)

    def read(self, queue: int, kind: str, fault: str) -> int:
        if queue == NO_QUEUE:
            return self.nowhere
        if kind in (MEMORY, MEMORY_THEN_STORE) and queue in self.held:
            return self.held[queue]
        if kind == MEMORY:
            return -1
        if queue == LOST_QUEUE or fault in ("silent", "cut", "no-field"):
            return -2
        answer: Any = fault
        if fault == "answer":
            stored = self.stored.get(queue, -1)
            answer = stored if stored >= 0 else self.absent
        if not isinstance(answer, int):
            return self.table[answer]
        if queue not in self.fixed:
            self.held[queue] = answer
        return answer

    def persist(self, queue: int) -> tuple[Any, ...]:
        return self._sent([queue])

    def persist_all(self, queues: tuple[int, ...]) -> tuple[Any, ...]:
        if queues:
            for queue in set(self.held) - set(queues):
                self.remove(queue)
        return self._sent(queues)

    def _sent(self, queues: Any) -> tuple[Any, ...]:
        pairs = sorted((queue, self.held[queue]) for queue in queues if queue in self.held and queue != LOST_QUEUE)
        self.stored.update(pairs)
        return tuple(pairs)

    def remove(self, queue: int) -> None:
        self.held.pop(queue, None)
        self.fixed.discard(queue)

    def clone(self, topic: str) -> tuple[Any, ...]:
        return tuple(sorted(pair for pair in self.held.items() if topic in ("", ORDINARY.queues[pair[0]].topic)))

    def commit(self, queue: int, offset: int, one_way: bool, fault: str) -> Any:
        if queue == LOST_QUEUE:
            return Err("CLIENT")
        sent = ((queue, offset) if one_way else (queue, offset, "awaited"),)
        if fault == "answer":
            self.stored[queue] = offset
        if fault == "answer" or one_way:
            return sent
        return Err("REMOTING" if fault == "silent" else fault, commits=sent)

    def commit_elsewhere(self, queue: int, offset: int) -> None:
        self.stored[queue] = offset


@every("broker", ["4.9.7", "5.5.0"])
@every("client", CLIENTS)
def test_a_naive_store_agrees_on_every_case(client: str, broker: str) -> None:
    profile = Profile.of(client, broker)
    bound, plans = SUITE.bind(profile), sampler(SUITE, profile)
    for case in range(60):
        state, naive = bound.initial, Naive(client, broker)
        for row in plans.case(7, case, SUITE.steps):
            call: Callable[..., Any] = getattr(naive, SUITE.operations[row[0]].spec.name)
            state, expected, _ = bound.by_position[row[0]](state, *row[1])
            assert expected == call(*row[1]), (case, str(SUITE.operation(row)))
        assert dict(state.memory) == naive.held
