"""The remote offset store: a consumer's offset table, backed by the broker (OFF-R-*).

Memory maps queues to offsets. ``update`` writes memory only; ``persist`` sends the contents of memory to the broker,
one way; ``read`` looks in memory, in the broker, or in memory first. Three numbers are not offsets:

== ====================================================================
-1 there is no offset: memory misses, or the broker answers "not found"
-2 unknown: the broker could not be asked, or failed
-3 there is no such queue (older clients: -1)
== ====================================================================

The meaning of "not found" is the most expensive difference between clients: up to 4.9.8 *every* refusal of the
broker reads as -1, "new group", and a busy broker makes a consumer start somewhere else.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.broker.commit import commit_offset
from rocketmq_conformance.models.broker.query import query_offset
from rocketmq_conformance.models.broker.state import BrokerState
from rocketmq_conformance.models.client.client_rules import ClientRules
from rocketmq_conformance.models.client.effects import AWAITED
from rocketmq_conformance.models.client.offset_table import (
    MEMORY,
    NO_QUEUE_READ,
    STORE,
    cloned,
    updated,
    with_frozen,
    without,
)
from rocketmq_conformance.models.client.plan_words import NO_QUEUE
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.fast_tuples import maker
from rocketmq_conformance.models.outcome import Err
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Answer, Reason, Rule, reasons_by_kind

RULES = (
    Rule(
        "OFF-R-READ",
        "From memory: the entry, else -1 without asking anyone. Memory first: the entry, else the broker. From the "
        "store: always the broker, whose offset overwrites memory even backwards.",
        "RemoteBrokerOffsetStore#readOffset @ 4.0.0, 4.9.8, 5.5.0",
    ),
    Rule(
        "OFF-R-READ-ERROR",
        "Asking the broker: QUERY_NOT_FOUND reads -1; every other failure reads -2. Up to 4.9.8 every refusal with a "
        "response code reads -1.",
        "RemoteBrokerOffsetStore#readOffset, MQClientAPIImpl#queryConsumerOffset @ 4.9.8, 5.0.0, 5.5.0",
    ),
    Rule(
        "API-QCO-1",
        "SUCCESS answers the offset, any other code throws MQBrokerException; from 5.0.0 on QUERY_NOT_FOUND throws an "
        "exception of its own, and in 5.0.0-ALPHA PULL_NOT_FOUND does.",
        "MQClientAPIImpl#queryConsumerOffset @ 4.0.0, 4.9.8, 5.0.0-ALPHA, 5.0.0, 5.5.0",
    ),
    Rule(
        "OFF-R-FETCH",
        "Only client 5.0.0 asks with setZeroIfNotFound=false; all others let the broker answer 0 for a new group.",
        "RemoteBrokerOffsetStore#fetchConsumeOffsetFromBroker @ 4.9.8, 5.0.0, 5.1.0",
        releases="5.0.0",
    ),
    Rule(
        "OFF-R-PALL",
        "persist_all of an empty set does nothing; otherwise entries inside the set are sent one way and kept, "
        "entries outside it are dropped unsent.",
        "RemoteBrokerOffsetStore#persistAll @ 4.0.0, 5.5.0",
    ),
    Rule(
        "OFF-R-P",
        "persist sends the queue's entry one way, if there is one; failures are logged, and other entries stay.",
        "RemoteBrokerOffsetStore#persist @ 4.0.0, 5.5.0",
    ),
    Rule(
        "OFF-R-REM",
        "remove forgets the entry, frozen or not.",
        "RemoteBrokerOffsetStore#removeOffset @ 4.0.0, 5.5.0",
    ),
    Rule(
        "OFF-R-UPD",
        "A commit sends the given offset, whatever memory holds, and sends it once: one that is refused or not "
        "answered is not sent again. A synchronous commit reports that, a one-way commit never does.",
        "RemoteBrokerOffsetStore#updateConsumeOffsetToBroker @ 4.0.0, 5.5.0",
    ),
)

UNROUTED = Err("CLIENT")
#: Failures of the transport, as opposed to refusals by the broker.
TRANSPORT_FAULTS = frozenset({"silent", "cut"})


class RemoteStore(NamedTuple):
    """The store of one consumer, and the broker behind it. Keys are those of the topology's queues."""

    memory: Mapping[int, int] = MappingProxyType({})
    frozen: frozenset[int] = frozenset()
    broker: BrokerState = BrokerState()


remote_store = maker(RemoteStore)


_READ = reasons_by_kind(("OFF-R-READ",), "memory hit", "memory miss")
_FETCHED = reasons_by_kind(
    ("OFF-R-READ",), "store, memory empty", "store raises memory", "store lowers memory", "store is memory"
)
_FETCHED_FROZEN = Reason(("OFF-R-READ", "OFF-FRZ-1"), "store, memory frozen")
_FETCHED_ZERO = Reason(("OFF-R-READ", "BQ-QUERY-1"), "stored 0")
_NO_OFFSET = Reason(("OFF-R-READ-ERROR", "API-QCO-1"), "not found")
_ASKED_NO_ZERO = Reason(("OFF-R-READ-ERROR", "OFF-R-FETCH"), "not found, no zero asked")
_REFUSED_OLD = Reason(("OFF-R-READ-ERROR", "API-QCO-1"), "refused, read as new")
_REFUSED = Reason(("OFF-R-READ-ERROR", "API-QCO-1"), "refused")
_FAILED = Reason(("OFF-R-READ-ERROR",), "transport failed")
_NO_FIELD = Reason(("OFF-R-READ-ERROR",), "answer without offset")
_NO_ROUTE = Reason(("OFF-R-READ-ERROR",), "no broker")
_ALL = reasons_by_kind(("OFF-R-PALL",), "nothing asked", "all kept", "some dropped", "nothing held")
_ONE = reasons_by_kind(("OFF-R-P",), "entry", "no entry", "no broker")
_REMOVE = reasons_by_kind(("OFF-R-REM",), "entry", "frozen entry", "no entry")
_COMMIT = reasons_by_kind(
    ("OFF-R-UPD",), "accepted", "refused", "transport failed", "one way", "one way, lost", "no broker"
)


class RemoteStoreModel:
    """The store's rules for one profile and topology; every method is pure."""

    __slots__ = ("broker", "client", "keys", "topology", "unrouted")

    def __init__(self, profile: Profile, topology: Topology) -> None:
        self.client = ClientRules.of(profile)
        self.broker = BrokerRules.of(profile)
        self.topology = topology
        #: The group's stored offsets by queue, and the queues whose broker has no address.
        self.keys = topology.stored_keys
        self.unrouted = topology.unrouted

    def update(self, state: RemoteStore, queue: int, offset: int, increase_only: bool) -> Answer[RemoteStore]:
        """OFF-UPD-1."""
        memory, why = updated(state.memory, state.frozen, queue, offset, increase_only)
        return (state if memory is state.memory else remote_store((memory, state.frozen, state.broker))), None, why

    def freeze(self, state: RemoteStore, queue: int, offset: int) -> Answer[RemoteStore]:
        """OFF-FRZ-1."""
        memory, frozen, why = with_frozen(state.memory, state.frozen, queue, offset)
        return (state if memory is state.memory else remote_store((memory, frozen, state.broker))), None, why

    def read(self, state: RemoteStore, queue: int, kind: str, fault: str) -> Answer[RemoteStore]:
        """OFF-R-READ: the offset in messages, or -1, -2, -3."""
        if queue == NO_QUEUE:
            return state, -3 if self.client.not_found_only else -1, NO_QUEUE_READ
        if kind != STORE:
            held = state.memory.get(queue)
            if held is not None:
                return state, held, _READ["memory hit"]
            if kind == MEMORY:
                return state, -1, _READ["memory miss"]
        return self.fetch(state, queue, fault)

    def fetch(self, state: RemoteStore, queue: int, fault: str) -> Answer[RemoteStore]:
        """Ask the broker and refresh memory with its answer."""
        if queue in self.unrouted:
            return state, -2, _NO_ROUTE
        if fault == "answer":
            set_zero = False if self.client.asks_no_zero else None
            _, answered, _ = query_offset(self.broker, state.broker, *self.keys[queue], set_zero)
            if isinstance(answered, int):
                return self._refreshed(state, queue, answered)
            why = _ASKED_NO_ZERO if self.client.asks_no_zero else _NO_OFFSET
            return state, -2 if self.client.wrong_not_found else -1, why
        if fault in TRANSPORT_FAULTS:
            return state, -2, _FAILED
        if fault == "no-field":
            return state, -2, _NO_FIELD
        if not self.client.not_found_only:
            return state, -1, _NO_OFFSET if fault == "QUERY_NOT_FOUND" else _REFUSED_OLD
        if fault == ("PULL_NOT_FOUND" if self.client.wrong_not_found else "QUERY_NOT_FOUND"):
            return state, -1, _NO_OFFSET
        return state, -2, _REFUSED

    def _refreshed(self, state: RemoteStore, queue: int, offset: int) -> Answer[RemoteStore]:
        old = state.memory.get(queue)
        if queue in state.frozen:
            return state, offset, _FETCHED_FROZEN
        if old is None:
            why = _FETCHED["store, memory empty"] if offset else _FETCHED_ZERO
        elif offset == old:
            return state, offset, _FETCHED["store is memory"]
        else:
            why = _FETCHED["store raises memory" if offset > old else "store lowers memory"]
        return remote_store(({**state.memory, queue: offset}, state.frozen, state.broker)), offset, why

    def persist(self, state: RemoteStore, queue: int) -> Answer[RemoteStore]:
        """OFF-R-P: the commits that reach the broker, as (queue, offset) pairs."""
        held = state.memory.get(queue)
        if held is None:
            return state, (), _ONE["no entry"]
        if queue in self.unrouted:
            return state, (), _ONE["no broker"]
        broker = self._stored(state.broker, queue, held)
        return remote_store((state.memory, state.frozen, broker)), ((queue, held),), _ONE["entry"]

    def persist_all(self, state: RemoteStore, queues: tuple[int, ...]) -> Answer[RemoteStore]:
        """OFF-R-PALL: the commits that reach the broker, as sorted (queue, offset) pairs."""
        if not queues:
            return state, (), _ALL["nothing asked"]
        kept = {queue: offset for queue, offset in state.memory.items() if queue in queues}
        sent = tuple(sorted([pair for pair in kept.items() if pair[0] not in self.unrouted]))
        broker = state.broker
        for queue, offset in sent:
            broker = self._stored(broker, queue, offset)
        dropped = len(kept) < len(state.memory)
        why = _ALL["some dropped" if dropped else "all kept" if kept else "nothing held"]
        return remote_store((kept, state.frozen.intersection(kept), broker)), sent, why

    def remove(self, state: RemoteStore, queue: int) -> Answer[RemoteStore]:
        """OFF-R-REM."""
        memory, frozen, why = without(state.memory, state.frozen, queue, _REMOVE)
        return (state if memory is state.memory else remote_store((memory, frozen, state.broker))), None, why

    def clone(self, state: RemoteStore, topic: str) -> Answer[RemoteStore]:
        """OFF-R-CLONE: sorted (queue, offset) pairs."""
        pairs, why = cloned(state.memory, topic, self.topology)
        return state, pairs, why

    def commit(self, state: RemoteStore, queue: int, offset: int, one_way: bool, fault: str) -> Answer[RemoteStore]:
        """OFF-R-UPD: the commits that reach the broker, or the error that the caller sees, with them."""
        if queue in self.unrouted:
            return state, UNROUTED, _COMMIT["no broker"]
        if fault == "answer":
            state = remote_store((state.memory, state.frozen, self._stored(state.broker, queue, offset)))
        if one_way:
            return state, ((queue, offset),), _COMMIT["one way" if fault == "answer" else "one way, lost"]
        sent = ((queue, offset, AWAITED),)
        if fault == "answer":
            return state, sent, _COMMIT["accepted"]
        if fault in TRANSPORT_FAULTS:
            return state, Err("REMOTING", commits=sent), _COMMIT["transport failed"]
        return state, Err(fault, commits=sent), _COMMIT["refused"]

    def commit_elsewhere(self, state: RemoteStore, queue: int, offset: int) -> Answer[RemoteStore]:
        """Another member of the group commits: an operation of the environment, judged by BQ-UPDATE-2."""
        broker, result, why = commit_offset(self.broker, state.broker, *self.keys[queue], offset)
        return remote_store((state.memory, state.frozen, broker)), result, why

    def _stored(self, broker: BrokerState, queue: int, offset: int) -> BrokerState:
        return commit_offset(self.broker, broker, *self.keys[queue], offset)[0]
