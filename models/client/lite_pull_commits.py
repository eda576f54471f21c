"""What an application of a lite pull consumer commits, and which offsets it asks for (LP-COMMIT*, LP-PERSIST, LP-TIME).

A commit writes into the offset table, and only the timer, a shutdown or a commit that persists sends the table.
"""

from __future__ import annotations

from collections.abc import Mapping

from rocketmq_conformance.models.broker.search import search
from rocketmq_conformance.models.client.lite_pull_state import (
    ASSIGN,
    MIB,
    NEW,
    RUNNING,
    LitePullState,
    cached_bytes,
    waiting,
)
from rocketmq_conformance.models.client.offset_table import MEMORY_THEN_STORE, STORE
from rocketmq_conformance.models.client.remote_store import remote_store
from rocketmq_conformance.models.client.running_info import NOBODY, REASONS
from rocketmq_conformance.models.client.start import StartModel
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.outcome import Err, Value
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Answer, Reason, Rule, reasons_by_kind

RULES = (
    Rule(
        "LP-COMMIT-OFFSETS",
        "A commit of given offsets writes any offset but -1 of a queue that is assigned into memory, others it passes "
        "over in silence. Polls go on where they were, and the next commit of the queue writes over it.",
        "DefaultLitePullConsumerImpl#commit @ 4.9.5, 5.0.0, 5.3.3",
        releases="4.9.5+, 5.0.0+",
    ),
    Rule(
        "LP-COMMIT-QUEUES",
        "A commit of some queues writes what was polled of these alone.",
        "DefaultLitePullConsumerImpl#commit @ 4.9.4, 5.0.0, 5.3.3",
        releases="4.9.4+, 5.0.0+",
    ),
    Rule(
        "LP-COMMIT-PERSIST",
        "A commit of some queues that persists sends their offsets, and forgets the offsets of all other "
        "queues in memory, unsent: a commit of these that no timer has sent yet is lost.",
        "DefaultLitePullConsumerImpl#commit @ 4.9.4, 5.0.0, 5.3.3; RemoteBrokerOffsetStore#persistAll @ 4.9.4, 5.3.3",
        releases="4.9.4+, 5.0.0+",
    ),
    Rule(
        "LP-COMMITTED",
        "committed is the offset in memory, else that of the broker, which goes to memory then; -1 when there is none. "
        "What cannot be read is refused.",
        "DefaultLitePullConsumerImpl#committed @ 4.7.1, 4.9.8, 5.3.3",
        releases="4.7.1+",
    ),
    Rule(
        "LP-COMMITTED-0",
        "Up to 4.7.0 committed asks the broker each time, whose answer goes over memory: a commit that no timer has "
        "sent yet is lost by asking.",
        "DefaultLitePullConsumerImpl#committed @ 4.6.0, 4.7.0, 4.7.1",
        releases="4.6.0 – 4.7.0",
    ),
    Rule(
        "LP-TIME",
        "offsetForTimestamp is the broker's search; a queue need not be assigned.",
        "DefaultLitePullConsumerImpl#searchOffset @ 4.6.0, 4.9.8, 5.3.3",
        releases="4.6.0+",
    ),
    Rule(
        "LP-PERSIST",
        "The timer sends the offsets in memory of the queues that are assigned, or, after a subscription, owned, and "
        "forgets those of all others. In 4.6.0 it sends those of owned queues alone: none after an assignment.",
        "DefaultLitePullConsumerImpl#persistConsumerOffset @ 4.6.0, 4.6.1, 4.9.8, 5.3.3",
        releases="4.6.0+",
    ),
)

REFUSED, NOT_RUNNING = Err("CLIENT"), Err("RUNTIME")
#: LP-STATE: the consumer does not run.
NOT_THERE = reasons_by_kind(("LP-STATE",), "new", "ended")
_COMMIT = reasons_by_kind(("LITE-COMMIT",), "into memory", "nothing consumed")
_COMMIT |= reasons_by_kind(("LP-SEEK-CLEARS", "LITE-COMMIT"), "into memory, seek waits")
_COMMIT |= reasons_by_kind(("LITE-COMMIT-0",), "sent at once", "known already")
_OFFSETS = reasons_by_kind(("LP-COMMIT-OFFSETS",), "into memory", "passed over", "nothing")
_QUEUES = reasons_by_kind(("LP-COMMIT-QUEUES",), "into memory", "nothing consumed", "nothing")
_PERSISTED = reasons_by_kind(("LP-COMMIT-PERSIST",), "sent", "sent, others lost", "none held")
_COMMITTED = reasons_by_kind(("LP-COMMITTED",), "memory", "broker", "none", "unreadable")
_COMMITTED_0 = reasons_by_kind(("LP-COMMITTED-0",), "broker", "over memory", "none", "unreadable")
_TIME = reasons_by_kind(("LP-TIME",), "found", "fails")
_PERSIST = reasons_by_kind(("LP-PERSIST", "OFF-R-PALL"), "sends", "others forgotten", "nothing held")


class LitePullCommits:
    """The offsets of one lite pull consumer, for one profile; every method is pure."""

    __slots__ = ("client", "start", "store", "topology")

    def __init__(self, profile: Profile, topology: Topology) -> None:
        self.topology = topology
        self.start = StartModel(profile, topology)
        self.store = self.start.store
        self.client = self.start.client

    def commit(self, state: LitePullState) -> Answer[LitePullState]:
        """LITE-COMMIT: the commits that reach the broker."""
        if state.phase != RUNNING:
            return state, (), NOT_THERE[state.phase]
        return self.commit_all(state, False)

    def commit_all(self, state: LitePullState, one_way: bool) -> tuple[LitePullState, tuple[Value, ...], Reason]:
        consumed = self._consumed(state, tuple(state.assigned))
        if not consumed:
            return state, (), _COMMIT["nothing consumed"]
        store = state.store
        sent: list[Value] = []
        seeks = any(state.assigned[queue].seeks != -1 for queue in consumed)
        why = _COMMIT["into memory, seek waits" if seeks else "into memory"]
        if not self.client.lite_commits_later:
            for queue, offset in consumed.items():
                if offset != store.memory.get(queue):
                    store, stored, _ = self.store.commit(store, queue, offset, one_way, "answer")
                    sent += stored  # type: ignore[arg-type]
            why = _COMMIT["sent at once" if sent else "known already"]
        store = remote_store(({**store.memory, **consumed}, store.frozen, store.broker))
        return state._replace(store=store), tuple(sorted(sent)), why  # type: ignore[type-var]

    def _consumed(self, state: LitePullState, queues: tuple[int, ...]) -> dict[int, int]:
        """What a commit of these queues writes."""
        assigned = state.assigned
        return {
            queue: assigned[queue].consumed
            for queue in queues
            if queue in assigned and assigned[queue].consumed != -1 and assigned[queue].number not in state.dropped
        }

    def commit_offsets(
        self, state: LitePullState, offsets: tuple[tuple[int, int], ...], persist: bool
    ) -> Answer[LitePullState]:
        """LP-COMMIT-OFFSETS: the commits that reach the broker."""
        given = {
            queue: offset
            for queue, offset in offsets
            if offset != -1 and queue in state.assigned and state.assigned[queue].number not in state.dropped
        }
        why = _OFFSETS["into memory" if given else "passed over" if offsets else "nothing"]
        return self._committed(state, given, tuple([queue for queue, _ in offsets]), persist, why)

    def commit_queues(self, state: LitePullState, queues: tuple[int, ...], persist: bool) -> Answer[LitePullState]:
        """LP-COMMIT-QUEUES: the commits that reach the broker."""
        given = self._consumed(state, queues)
        why = _QUEUES["into memory" if given else "nothing consumed" if queues else "nothing"]
        return self._committed(state, given, queues, persist, why)

    def _committed(
        self, state: LitePullState, given: Mapping[int, int], queues: tuple[int, ...], persist: bool, why: Reason
    ) -> Answer[LitePullState]:
        """LP-COMMIT-PERSIST."""
        if state.phase != RUNNING:
            refused = bool(given) or (state.phase == NEW and persist and bool(queues))
            return state, NOT_RUNNING if refused else (), NOT_THERE[state.phase]
        memory, frozen, broker = state.store
        store = remote_store(({**memory, **given}, frozen, broker)) if given else state.store
        if not persist or not queues:
            return state._replace(store=store), (), why
        held = len(store.memory)
        store, sent, _ = self.store.persist_all(store, queues)
        kind = "none held" if not held else "sent, others lost" if len(store.memory) < held else "sent"
        return state._replace(store=store), sent, _PERSISTED[kind]

    def persist(self, state: LitePullState) -> Answer[LitePullState]:
        """LP-PERSIST: the commits that reach the broker."""
        if state.phase != RUNNING:
            return state, (), NOT_THERE[state.phase]
        store, sent, _ = self.store.persist_all(state.store, self.persisted(state))
        forgotten = len(store.memory) < len(state.store.memory)
        why = _PERSIST["others forgotten" if forgotten else "sends" if sent else "nothing held"]
        return state._replace(store=store), sent, why

    def persisted(self, state: LitePullState) -> tuple[int, ...]:
        """The queues whose offsets a timer sends."""
        return tuple(state.assigned if state.mode == ASSIGN and self.client.lite_commits_later else state.table)

    def committed(self, state: LitePullState, queue: int, fault: str) -> Answer[LitePullState]:
        """LP-COMMITTED."""
        if state.phase != RUNNING:
            return state, NOT_RUNNING, NOT_THERE[state.phase]
        held = queue in state.store.memory
        remembers = self.client.lite_remembers
        store, found, _ = self.store.read(state.store, queue, MEMORY_THEN_STORE if remembers else STORE, fault)
        reasons = _COMMITTED if remembers else _COMMITTED_0
        after = state._replace(store=store)
        if found == -2:
            return after, REFUSED, reasons["unreadable"]
        if found == -1:
            return after, found, reasons["none"]
        if remembers:
            return after, found, reasons["memory" if held else "broker"]
        return after, found, reasons["over memory" if held else "broker"]

    def running_info(self, state: LitePullState, fault: str) -> Answer[LitePullState]:
        """INFO-LITE: (topics, (queue, offset, first and last cached, how many, whole MiB, dropped) of each queue)."""
        if state.phase != RUNNING:
            return state, NOBODY, REASONS["unknown group"]
        topics = (self.topology.topic,) if state.subscribed else ()
        if not self.client.lite_shows_queues or not state.assigned:
            return state, (topics, ()), REASONS["not shown" if state.assigned else "no queues"]
        rows: list[tuple[Value, ...]] = []
        store, asks = state.store, False
        for queue, held in sorted(state.assigned.items()):
            asks = asks or queue not in store.memory
            store, offset, _ = self.store.read(store, queue, MEMORY_THEN_STORE, fault)
            assert isinstance(offset, int)
            cached = waiting(state, held.number)
            ends = (cached[0], cached[-1]) if cached else (0, 0)
            size = cached_bytes(state, held.number) // MIB
            rows.append((queue, offset, *ends, len(cached), size, held.number in state.dropped))
        why = REASONS["assigned, asks the broker" if asks else "assigned"]
        return state._replace(store=store), (topics, tuple(rows)), why

    def offset_for_time(self, state: LitePullState, queue: int, time: int, bound_fault: str) -> Answer[LitePullState]:
        """LP-TIME."""
        if state.phase != RUNNING:
            return state, NOT_RUNNING, NOT_THERE[state.phase]
        if queue in self.topology.unrouted or bound_fault != "answer":
            return state, REFUSED, _TIME["fails"]
        place = self.topology.places[queue]
        return state, search(self.store.broker, state.store.broker, *place, time)[1], _TIME["found"]
