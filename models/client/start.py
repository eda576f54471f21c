"""The offset at which a consumer starts to pull a queue (START-PUSH-1, START-LITE-1, START-PULL-1, START-BC-1).

A stored offset always wins. Without one (-1) the consumer's *ConsumeFromWhere* decides, and a retry topic has rules
of its own, so that no message that is to be retried is skipped:

=====================  ==================  =====================
no stored offset       ordinary topic      the group's %RETRY%
=====================  ==================  =====================
LAST, deprecated ones  max                 0
FIRST                  0 (not min)         0
TIMESTAMP              search by time      max
=====================  ==================  =====================

Push asks the broker every time, lite pull looks in memory first, and plain pull does not ask at all: it starts at 0.
Broadcasting consumers read the file of their local store instead of asking the broker. A file has no offset of a new
queue, so that LAST starts at max even in a topic where a cluster's new group would be answered 0.

When the stored offset is unknown (-2), or max or search fail, there is no start. What the caller then gets is the
difference between releases: -1, or an exception, and that only from the *checked* variant
(``computePullFromWhereWithException``); the unchecked one turns every MQClientException into -1.
"""

from __future__ import annotations

from rocketmq_conformance.models.broker.search import max_offset, search
from rocketmq_conformance.models.broker.state import RETRY, BrokerState
from rocketmq_conformance.models.client.initial_broker import SHAPES, reshaped
from rocketmq_conformance.models.client.local_store import LocalStore, LocalStoreModel
from rocketmq_conformance.models.client.offset_table import MEMORY_THEN_STORE, STORE
from rocketmq_conformance.models.client.plan_words import NEGATIVE_OFFSET
from rocketmq_conformance.models.client.remote_store import RemoteStore, RemoteStoreModel, remote_store
from rocketmq_conformance.models.client.timestamp import parse_timestamp
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.outcome import Err, Expected
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Answer, Reason, Rule

RULES = (
    Rule(
        "START-PUSH-1",
        "A push consumer starts at the stored offset; without one LAST and the deprecated values start at max, FIRST "
        "at 0, TIMESTAMP at the searched offset, a retry topic at 0 (TIMESTAMP: max).",
        "RebalancePushImpl#computePullFromWhere @ 4.0.0, 4.9.0, 5.0.0, 5.5.0",
    ),
    Rule(
        "START-PUSH-ERROR",
        "When the stored offset cannot be read, or max or search is negative, 5.x throws MQClientException; before, "
        "the result is -1, or the negative answer itself.",
        "RebalancePushImpl#computePullFromWhereWithException @ 4.9.8, 5.0.0",
    ),
    Rule(
        "START-CHECKED",
        "Failures of max and search throw MQClientException in the checked variant; the unchecked one answers -1.",
        "RebalancePushImpl#computePullFromWhere @ 4.8.0, 4.9.0, 5.5.0; #computePullFromWhereWithException @ "
        "4.9.0, 5.5.0",
    ),
    Rule(
        "START-LITE-1",
        "A lite pull consumer starts as a push consumer does, but looks in memory first, and an unreadable offset "
        "is -1 without an exception; a negative answer of max or search is passed on.",
        "RebalanceLitePullImpl#computePullFromWhere @ 4.6.1; #computePullFromWhereWithException @ 5.5.0",
        releases="4.6.1+",
    ),
    Rule(
        "START-LITE-0",
        "The first lite pull consumers always start at 0.",
        "RebalanceLitePullImpl#computePullFromWhere @ 4.6.0",
        releases="4.6.0",
    ),
    Rule(
        "START-LITE-MAX",
        "Up to 4.9.0, and in the 5.0.0 preview, lite pull swallows a failure of max into -1 even in the checked "
        "variant, for LAST on an ordinary topic.",
        "RebalanceLitePullImpl#computePullFromWhereWithException @ 4.9.0, 4.9.1, 5.0.0",
        releases="4.6.1 – 4.9.0, 5.0.0-PREVIEW",
    ),
    Rule(
        "START-BC-1",
        "A broadcasting consumer starts at the offset in its file, and asks no broker for a stored one; a file that "
        "lacks the queue or cannot be read leaves the start to ConsumeFromWhere. Lite pull looks in memory first.",
        "RebalancePushImpl#computePullFromWhere, LocalFileOffsetStore#readOffset @ 4.0.0, 4.6.1, 4.9.8, "
        "5.5.0; RebalanceLitePullImpl#computePullFromWhere @ 4.6.1, 4.9.8, 5.5.0",
    ),
    Rule(
        "START-PULL-1",
        "A pull consumer starts at 0, whatever is stored.",
        "RebalancePullImpl#computePullFromWhere @ 4.0.0, 5.5.0",
    ),
    Rule(
        "API-ADM-1",
        "Max and search fail with MQClientException for every refusal and every failure of the transport, and when "
        "no broker is known; only SUCCESS with an offset counts.",
        "MQAdminImpl#maxOffset, #searchOffset @ 4.0.0, 5.5.0",
    ),
)

LAST = "CONSUME_FROM_LAST_OFFSET"
FIRST = "CONSUME_FROM_FIRST_OFFSET"
TIMESTAMP = "CONSUME_FROM_TIMESTAMP"
#: Deprecated values; all mean LAST.
DEPRECATED = (
    "CONSUME_FROM_LAST_OFFSET_AND_FROM_MIN_WHEN_BOOT_FIRST",
    "CONSUME_FROM_MIN_OFFSET",
    "CONSUME_FROM_MAX_OFFSET",
)

NO_START = Err("CLIENT")
#: The timestamp is no time: a NullPointerException.
NO_TIME = Err("RUNTIME")


class _Reasons:
    """The reasons of one kind of consumer."""

    def __init__(self, rules: tuple[str, ...], unreadable: str, negative: str) -> None:
        def why(kind: str, *more: str) -> Reason:
            return Reason((*rules, *more), kind)

        names = {LAST: "last", FIRST: "first", TIMESTAMP: "timestamp", **dict.fromkeys(DEPRECATED, "deprecated")}
        self.stored = why("stored")
        self.stored_zero = why("stored 0")
        self.zero = {where: why(f"no offset, {name}: 0") for where, name in names.items()}
        self.retry = {where: why(f"no offset, {name}, retry topic") for where, name in names.items()}
        self.max = {where: why(f"no offset, {name}: max", "API-ADM-1") for where, name in names.items()}
        self.search = why("no offset, timestamp: search", "API-ADM-1", "START-TS-1")
        self.no_time = why("no offset, timestamp is no time", "START-TS-1")
        self.unreadable = why("unreadable", unreadable)
        self.failed = why("bound fails, checked", "START-CHECKED", "API-ADM-1")
        self.swallowed = why("bound fails, unchecked", "START-CHECKED", "API-ADM-1")
        self.max_swallowed = why("max fails, swallowed", "START-LITE-MAX", "API-ADM-1")
        self.negative = why("bound is negative", negative)


_PUSH = _Reasons(("START-PUSH-1",), "START-PUSH-ERROR", "START-PUSH-ERROR")
_LITE = _Reasons(("START-LITE-1",), "OFF-R-READ-ERROR", "API-ADM-1")
#: Of broadcasting consumers: no file is unreadable to them, it only lacks the queue.
_PUSH_FILE = _Reasons(("START-BC-1", "START-PUSH-1"), "START-BC-1", "START-PUSH-ERROR")
_LITE_FILE = _Reasons(("START-BC-1", "START-LITE-1"), "START-BC-1", "API-ADM-1")
_LITE_ZERO = Reason(("START-LITE-0",), "always 0")
_PULL = Reason(("START-PULL-1",), "always 0")
_SHAPED = {shape: Reason(("BQ-STORE-MIN", "BQ-STORE-MAX"), f"becomes {shape}") for shape in SHAPES}


class StartModel:
    """The start positions of one profile and topology; every method is pure.

    Results are offsets in messages, -1 for "no start" (in some cases another negative number), or ``Err("CLIENT")``
    for an MQClientException and ``Err("RUNTIME")`` for a RuntimeException.
    """

    __slots__ = ("client", "local", "store", "topology")

    def __init__(self, profile: Profile, topology: Topology) -> None:
        self.topology = topology
        self.store = RemoteStoreModel(profile, topology)
        self.local = LocalStoreModel(profile, topology)
        self.client = self.store.client

    def push(
        self,
        state: RemoteStore,
        queue: int,
        where: str,
        timestamp: str | None,
        zone: str,
        checked: bool,
        fault: str,
        bound_fault: str,
    ) -> Answer[RemoteStore]:
        """START-PUSH-1. ``timestamp`` and ``zone`` count for TIMESTAMP only."""
        state, stored, _ = self.store.fetch(state, queue, fault)
        found, why = self._push(_PUSH, state.broker, stored, queue, where, timestamp, zone, checked, bound_fault)
        return state, found, why

    def push_from_file(
        self,
        state: LocalStore,
        broker: BrokerState,
        queue: int,
        where: str,
        timestamp: str | None,
        zone: str,
        checked: bool,
        bound_fault: str,
    ) -> Answer[LocalStore]:
        """START-BC-1: the start of a broadcasting push consumer."""
        state, stored, _ = self.local.read(state, queue, STORE)
        found, why = self._push(_PUSH_FILE, broker, stored, queue, where, timestamp, zone, checked, bound_fault)
        return state, found, why

    def _push(
        self,
        reasons: _Reasons,
        broker: BrokerState,
        stored: Expected,
        queue: int,
        where: str,
        timestamp: str | None,
        zone: str,
        checked: bool,
        bound_fault: str,
    ) -> tuple[Expected, Reason]:
        """START-PUSH-1, with what the offset store answered."""
        if isinstance(stored, int) and stored >= 0:
            return stored, reasons.stored if stored else reasons.stored_zero
        throws = self.client.unknown_throws
        if stored != -1:
            return NO_START if throws and checked else -1, reasons.unreadable
        found, why = self._begin(reasons, broker, queue, where, bound_fault, timestamp, zone)
        if found is NO_START:
            return (NO_START, reasons.failed) if checked else (-1, reasons.swallowed)
        if isinstance(found, int) and found < 0:
            if throws:
                found = NO_START if checked else -1
            why = reasons.negative
        return found, why

    def lite_pull(
        self,
        state: RemoteStore,
        queue: int,
        where: str,
        timestamp: str | None,
        zone: str,
        checked: bool,
        fault: str,
        bound_fault: str,
    ) -> Answer[RemoteStore]:
        """START-LITE-1."""
        if not self.client.lite_starts:
            return state, 0, _LITE_ZERO
        state, stored, _ = self.store.read(state, queue, MEMORY_THEN_STORE, fault)
        found, why = self._lite_pull(_LITE, state.broker, stored, queue, where, timestamp, zone, checked, bound_fault)
        return state, found, why

    def lite_pull_from_file(
        self,
        state: LocalStore,
        broker: BrokerState,
        queue: int,
        where: str,
        timestamp: str | None,
        zone: str,
        checked: bool,
        bound_fault: str,
    ) -> Answer[LocalStore]:
        """START-BC-1: the start of a broadcasting lite pull consumer."""
        if not self.client.lite_starts:
            return state, 0, _LITE_ZERO
        state, stored, _ = self.local.read(state, queue, MEMORY_THEN_STORE)
        found, why = self._lite_pull(_LITE_FILE, broker, stored, queue, where, timestamp, zone, checked, bound_fault)
        return state, found, why

    def _lite_pull(
        self,
        reasons: _Reasons,
        broker: BrokerState,
        stored: Expected,
        queue: int,
        where: str,
        timestamp: str | None,
        zone: str,
        checked: bool,
        bound_fault: str,
    ) -> tuple[Expected, Reason]:
        """START-LITE-1, with what the offset store answered."""
        if _known(stored):
            return stored, reasons.stored if stored else reasons.stored_zero
        if stored != -1:
            return -1, reasons.unreadable
        found, why = self._begin(reasons, broker, queue, where, bound_fault, timestamp, zone)
        if found is NO_START:
            if not checked:
                return -1, reasons.swallowed
            if where != TIMESTAMP and not self.client.lite_max_throws:
                return -1, reasons.max_swallowed
            return NO_START, reasons.failed
        if isinstance(found, int) and found < 0:
            why = reasons.negative
        return found, why

    def pull(self, state: RemoteStore, queue: int, fault: str) -> Answer[RemoteStore]:
        """START-PULL-1."""
        return state, 0, _PULL

    def shape(self, state: RemoteStore, queue: int, shape: str) -> Answer[RemoteStore]:
        """The queue's log becomes another one: an operation of the environment."""
        memory, frozen, broker = state
        return (
            remote_store((memory, frozen, reshaped(broker, self.topology.places[queue], shape))),
            None,
            _SHAPED[shape],
        )

    def _begin(
        self,
        reasons: _Reasons,
        broker: BrokerState,
        queue: int,
        where: str,
        bound_fault: str,
        timestamp: str | None,
        zone: str,
    ) -> tuple[int | Err, Reason]:
        """The start of a queue without stored offset."""
        topic, number = self.topology.places[queue]
        retry = topic.startswith(RETRY)
        if where == FIRST or (retry and where != TIMESTAMP):
            return 0, reasons.retry[where] if retry else reasons.zero[where]
        time = None
        if where == TIMESTAMP and not retry:
            time = parse_timestamp(timestamp, zone)
            if time is None:
                return NO_TIME, reasons.no_time
            why = reasons.search
        else:
            why = reasons.retry[where] if retry else reasons.max[where]
        if bound_fault == "negative" and queue not in self.topology.unrouted:
            return NEGATIVE_OFFSET, why
        if bound_fault != "answer" or queue in self.topology.unrouted:
            return NO_START, why
        if time is None:
            found = max_offset(broker, topic, number)[1]
        else:
            found = search(self.store.broker, broker, topic, number, time)[1]
        assert isinstance(found, int)  # bounds are always known
        return found, why


def _known(offset: object) -> bool:
    return isinstance(offset, int) and offset >= 0
