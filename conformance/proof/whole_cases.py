"""The decision table of whole consumers: members that join and leave, faults and their end, and what is observed when.

``cases`` need a broker that fails by a script; ``handovers`` play on any broker.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.broker.lifecycle import reopened
from rocketmq_conformance.models.broker.state import BrokerState, Topic
from rocketmq_conformance.models.client.initial_broker import log_of_shape
from rocketmq_conformance.models.client.plan_words import EVERY, FAILS
from rocketmq_conformance.models.client.start import FIRST, LAST, TIMESTAMP
from rocketmq_conformance.models.client.switches import COMPRESSION_TYPES, INNER_BATCHES, LONG_NAMES
from rocketmq_conformance.models.client.switches import LONG_HOSTS as ADDRESSES
from rocketmq_conformance.models.client.whole import LITE, ORDERLY, PUSH
from rocketmq_conformance.models.client.whole_group_state import WholeGroup
from rocketmq_conformance.models.client.whole_moves import (
    COMMIT,
    CUT,
    EMPTY,
    HEARTBEAT,
    LATE,
    LOCK,
    MAX,
    MEMBERS,
    NO_BODY,
    NO_FIELD,
    NULL,
    OTHER_QUEUES,
    PULL,
    QUERY,
    ROUTE,
    SEARCH,
    SEND_BACK,
    SILENT,
    STATUSES,
    TOO_LATE,
    TWICE,
    UNKNOWN,
    Arrive,
    ArriveAgain,
    ArriveAs,
    AssignQueues,
    CommitNow,
    Deliver,
    Expire,
    Fail,
    Flood,
    Free,
    Hang,
    Hold,
    Join,
    Leave,
    LetGo,
    Listen,
    Load,
    LockElsewhere,
    Look,
    Mend,
    Move,
    PauseQueues,
    ResetTo,
    Resume,
    ResumeQueues,
    Seek,
    SeekToBound,
    Stay,
    Subscribe,
    Suspend,
    UnlockElsewhere,
    Unsubscribe,
)
from rocketmq_conformance.models.client.whole_subscriptions import subscribing
from rocketmq_conformance.models.message_forms import BATCH, BODIES, LONG_HOSTS, LONG_NAME, LZ4, ZLIB, ZSTD
from rocketmq_conformance.models.release import Switch
from rocketmq_conformance.suites.declare.topologies import GROUP, ORDINARY, OTHER_TOPIC, RETRY_TOPIC, TOPIC

KINDS = (PUSH, ORDERLY, LITE)
#: 2024-07-01T00:00Z, the time of offset 6.
TIME = "20240701000000"
#: The group's stored offset, in cases that have one: there are messages before and after it.
STORED = 7


class TableCase(NamedTuple):
    """One row, for one kind of consumer."""

    name: str
    kind: str
    moves: tuple[Move, ...]
    stored: int | None = STORED
    where: str = LAST
    shape: str = "young"
    queues: int = 1
    #: Is there another topic, too?
    other: bool = False
    #: Do consumers commit on demand alone?
    on_demand: bool = False
    #: Do consumers assign queues by hand?
    by_hand: bool = False
    #: The change that a client has for which it makes sense.
    since: Switch | None = None

    def __str__(self) -> str:
        return f"{self.name}, {self.kind}"

    @property
    def threads(self) -> int:
        """How many threads call a listener: others go on while one hangs."""
        return 4 if any(isinstance(move, Hang | Flood | Load) for move in self.moves) else 1

    @property
    def fails(self) -> bool:
        """Do listeners fail, so that messages come again?"""
        return any(isinstance(move, Listen) for move in self.moves)

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of the queues of its topics."""
        others = range(OTHER_QUEUES, OTHER_QUEUES + len(ORDINARY.topic_queues[OTHER_TOPIC])) if self.other else ()
        return *range(self.queues), *others

    def place_of(self, number: int) -> tuple[str, int]:
        """Topic and id of a queue, by its number."""
        return (OTHER_TOPIC, number - OTHER_QUEUES) if self.other and number >= OTHER_QUEUES else (TOPIC, number)

    def group(self, rules: BrokerRules) -> WholeGroup:
        """How it begins."""
        log = reopened(rules, log_of_shape(self.shape))
        ids = range(self.queues)
        stored = {} if self.stored is None else {(GROUP, TOPIC, number): self.stored for number in ids}
        logs = {(TOPIC, number): log for number in ids}
        topics = {TOPIC: Topic.of(self.queues)} | ({RETRY_TOPIC: Topic.of(1)} if self.fails else {})
        broker = BrokerState(topics, frozenset({GROUP}), logs, stored)
        group = WholeGroup(
            self.kind, self.where, broker, ORDINARY, TIME, on_demand=self.on_demand, by_hand=self.by_hand
        )
        return subscribing(group) if self.other else group


def _until_mended(*faults: Move) -> tuple[Move, ...]:
    """Cases whose fault is there from the start: a look while it lasts, and one afterwards."""
    return (*faults, Join(), Look(), Mend(), Arrive(), Look())


#: Two members that share two queues, and both have started.
_TWO: tuple[Move, ...] = (Join("a"), Look(), Join("b"), Look())


def cases() -> Iterator[TableCase]:
    """Every row."""
    for kind in KINDS:
        yield TableCase("nothing fails", kind, (Join(), Look(), Arrive(), Look()))
        yield from _start(kind)
        yield from _stored(kind)
        yield from _bounds(kind)
        yield from _pulls(kind)
        yield from _shares(kind)
        moves: tuple[Move, ...] = (Fail(COMMIT, "silent"), Join("a"), Look(), Leave("a"), Mend(), Join("b"), Look())
        yield TableCase("commits are lost", kind, moves)
        moves = (Fail(COMMIT, "silent"), Join(), Look(), Mend(), Look())
        yield TableCase("commits are lost for a while", kind, moves)
        yield TableCase("told another offset", kind, (Join(), Look(), ResetTo(3), Look(), Arrive(), Look()))
    moves = (Fail(PULL), Join(), Look(), Mend(), Fail(MEMBERS), Look(), Mend(), Look())
    yield TableCase("sent elsewhere without a list", PUSH, moves, stored=2, shape="expired")
    yield TableCase("pulls: silent", PUSH, _until_mended(Fail(PULL, SILENT)))
    yield TableCase("members: cut", PUSH, _until_mended(Fail(MEMBERS, CUT)))
    yield TableCase("stored offset: late", PUSH, (Fail(QUERY, LATE), Join(), Look(), Arrive(), Look()))
    for kind in (PUSH, ORDERLY):
        yield from _pauses(kind)
    yield from _subscriptions()
    yield TableCase("somebody else has the lock", ORDERLY, (LockElsewhere(), Join(), Look(), UnlockElsewhere(), Look()))
    for offset in (3, 12, 13):
        moves = (Join(), Look(), Seek(0, offset), Look(), Arrive(), Look())
        yield TableCase(f"seeks to {offset}", LITE, moves)
    yield from _commits()
    yield from _assignments()
    yield from _answers()
    for kind in KINDS:
        yield from _messages(kind)
    yield from _loads()
    for fault in ("no-field", "SYSTEM_ERROR"):
        moves = _until_mended(Fail(QUERY, fault, later=True))
        yield TableCase(f"stored offset: the second answer is {fault}", ORDERLY, moves)


def _pauses(kind: str) -> Iterator[TableCase]:
    moves: tuple[Move, ...] = (Join(), Look(), Suspend(), Arrive(), Look(), Resume(), Look(), Arrive(), Look())
    yield TableCase("suspended and resumed", kind, moves)
    moves = (*_TWO, Suspend("a"), Leave("b"), Arrive(), Look(), Resume("a"), Look())
    yield TableCase("another one leaves while one is suspended", kind, moves, queues=2)


def _commits() -> Iterator[TableCase]:
    moves: tuple[Move, ...] = (Join(), Look(), CommitNow(), Look(), Arrive(), Look(), CommitNow(), CommitNow(), Look())
    yield TableCase("commits what was polled", LITE, moves, on_demand=True)
    moves = (Join(), Look(), Seek(0, 9), Look(), CommitNow(), Look(), Seek(0, 13), CommitNow(), Look())
    yield TableCase("commits where it sought", LITE, moves, on_demand=True)
    moves = (*_TWO, Arrive(), Look(), CommitNow("b"), Look(), Leave("a"), Look(), CommitNow("b"), Look())
    yield TableCase("what was not committed is given again", LITE, moves, queues=2, on_demand=True)


def _assignments() -> Iterator[TableCase]:
    """Queues that are assigned, paused, and sought in by hand."""
    begun: tuple[Move, ...] = (Join(), AssignQueues((0,)), Look())
    anew: tuple[Move, ...] = (AssignQueues((1,)), Arrive(), Look(), AssignQueues((0, 1)), Look(), Arrive(), Look())
    paused: tuple[Move, ...] = (PauseQueues((0,)), Arrive(), Look())
    resumed: tuple[Move, ...] = (ResumeQueues((0,)), Look(), Arrive(), Look())
    ends: tuple[Move, ...] = (SeekToBound(0, False), Look(), SeekToBound(0, True), Look(), SeekToBound(1, True), Look())
    for name, moves in (
        ("queues are assigned, and others", (*begun, *anew)),
        ("a queue is paused and resumed", (Join(), AssignQueues((0, 1)), Look(), *paused, *resumed)),
        ("a queue is paused that is not assigned", (*begun, PauseQueues((1,)), *anew)),
        ("a seek waits for the end of a pause", (*begun, *paused, Seek(0, 9), Seek(0, 3), Look(), *resumed)),
        ("an assignment forgets a pause and a seek", (*begun, *paused, Seek(0, 3), *anew)),
        ("seeks to the begin and to the end", (*begun, *ends, Arrive(), Look())),
    ):
        yield TableCase(name, LITE, moves, shape="expired", queues=2, by_hand=True)


def _answers() -> Iterator[TableCase]:
    """Answers that are unusual about one thing alone, of two queues or for a group that has two."""
    refused = ("SYSTEM_ERROR", "NO_PERMISSION", "TOPIC_NOT_EXIST", "SUBSCRIPTION_GROUP_NOT_EXIST", UNKNOWN)
    for fault in (*refused, SILENT, *STATUSES, NO_FIELD, NO_BODY):
        moves: tuple[Move, ...] = (Join(), Look(), Fail(PULL, fault, queue=0), Arrive(), Look(), Mend(), Look())
        yield TableCase(f"pulls of one queue: {fault}", PUSH, moves, queues=2)
    for fault in (*refused, "SYSTEM_BUSY", "QUERY_NOT_FOUND", "PULL_NOT_FOUND", NO_FIELD):
        moves = _until_mended(Fail(QUERY, fault, queue=0))
        yield TableCase(f"stored offset of one queue: {fault}", PUSH, moves, queues=2)
    for fault in (UNKNOWN, NO_FIELD):
        moves = _until_mended(Fail(MAX, fault, queue=0))
        yield TableCase(f"max of one queue: {fault}", PUSH, moves, stored=None, shape="expired", queues=2)
        moves = _until_mended(Fail(SEARCH, fault, queue=0))
        yield TableCase(f"search in one queue: {fault}", PUSH, moves, None, TIMESTAMP, "expired", 2)
    for fault in (UNKNOWN, SILENT):
        moves = (Fail(COMMIT, fault, queue=0), Join("a"), Look(), Leave("a"), Mend(), Join("b"), Look())
        yield TableCase(f"commits of one queue: {fault}", PUSH, moves, queues=2)
    for request, fault in ((MEMBERS, EMPTY), (MEMBERS, NULL), (MEMBERS, UNKNOWN), (ROUTE, "TOPIC_NOT_EXIST")):
        moves = (Join(), Look(), Fail(request, fault, queue=EVERY), Arrive(), Look(), Mend(), Arrive(), Look())
        yield TableCase(f"{request}: {fault}", PUSH, moves, queues=2)
    for fault in ("SYSTEM_ERROR", UNKNOWN, SILENT, CUT, LATE, TWICE):
        fails: tuple[Move, ...] = (Fail(SEND_BACK, fault, queue=0), Listen("a", FAILS), Arrive(), Look())
        moves = (Join("a"), Look(), *fails, Listen("a"), Mend(), Deliver(), Look(), Arrive(), Look())
        yield TableCase(f"one message is sent back: {fault}", PUSH, moves, queues=2)
    for how in (TWICE, TOO_LATE):
        moves = (Join(), Look(), ArriveAgain(how), Look(), Arrive(), Look())
        yield TableCase(f"the answer to a pull comes {how}", PUSH, moves, queues=2)


def _messages(kind: str) -> Iterator[TableCase]:
    since = {
        **dict.fromkeys((LZ4, ZSTD, ZLIB), COMPRESSION_TYPES),
        BATCH: INNER_BATCHES,
        LONG_HOSTS: ADDRESSES,
        LONG_NAME: LONG_NAMES,
    }
    for form in BODIES:
        moves: tuple[Move, ...] = (Join(), Look(), ArriveAs(form), Look(), Arrive(), Look())
        yield TableCase(f"a message arrives: {form}", kind, moves, since=since.get(form))


def _loads() -> Iterator[TableCase]:
    hung: tuple[Move, ...] = (Join("a"), Look(), Hang(0), Look(), Arrive(), Look())
    returned: tuple[Move, ...] = (Free(), Look(), Arrive(), Look())
    yield TableCase("a listener hangs", PUSH, (*hung, Stay(), Look(), *returned), queues=2)
    yield TableCase(
        "a listener hangs, and its member is shut down", PUSH, (*hung, Leave("a"), Look(), Join("b"), Look())
    )
    yield TableCase("a listener hangs, and its queue is reset", PUSH, (*hung, ResetTo(3), Look(), *returned))
    moves = (Join("a"), Look(), Hang(1), Look(), Arrive(), Look(), Join("b"), Look(), *returned)
    yield TableCase("a listener hangs, and its queue is lost", PUSH, moves, queues=2)
    yield TableCase("too many messages", PUSH, (Join(), Look(), Flood(0), Look(), *returned), queues=2)
    yield TableCase("messages too far apart", PUSH, (*hung, Flood(0, behind=True), Look(), *returned), queues=2)
    yield TableCase("a steady load", PUSH, (Join(), Look(), Load(0), Look()), queues=3)


def _subscriptions() -> Iterator[TableCase]:
    again: tuple[Move, ...] = (Unsubscribe(), Look(), Arrive(), Look(), Subscribe(), Look(), Arrive(), Look())
    moves: tuple[Move, ...] = (Join(), Look(), Subscribe(), Look(), Arrive(), Look(), *again)
    yield TableCase("another topic is subscribed to", PUSH, moves, other=True)
    moves = (Join(), Look(), Subscribe(), Look(), *again)
    yield TableCase("another topic begins anew, as nothing is stored", PUSH, moves, None, LAST, "expired", other=True)
    moves = (*_TWO, Subscribe(), Look(), Arrive(), Look(), Leave("a"), Look(), Join("a"), Look(), *again)
    yield TableCase("two share another topic", PUSH, moves, queues=2, other=True)


def _start(kind: str) -> Iterator[TableCase]:
    for request in (ROUTE, HEARTBEAT, MEMBERS, LOCK):
        yield TableCase(f"{request} refused", kind, _until_mended(Fail(request)))
    for request in (ROUTE, HEARTBEAT, MEMBERS):
        moves = (Join(), Look(), Fail(request), Arrive(), Look(), Mend(), Arrive(), Look())
        yield TableCase(f"{request} refused to one that runs", kind, moves)


def _stored(kind: str) -> Iterator[TableCase]:
    for fault in ("SYSTEM_ERROR", "SYSTEM_BUSY", "QUERY_NOT_FOUND", "no-field", "silent", "cut", "garbage"):
        yield TableCase(f"stored offset: {fault}", kind, _until_mended(Fail(QUERY, fault)))
    yield TableCase("stored offset: SYSTEM_ERROR, from the first", kind, _until_mended(Fail(QUERY)), where=FIRST)


def _bounds(kind: str) -> Iterator[TableCase]:
    for fault in ("SYSTEM_ERROR", "no-field"):
        moves: tuple[Move, ...] = (Fail(MAX, fault), Join(), Look(), Arrive(), Mend(), Look(), Arrive(), Look())
        yield TableCase(f"max: {fault}", kind, moves, stored=None, shape="expired")
        moves = _until_mended(Fail(SEARCH, fault))
        yield TableCase(f"search: {fault}", kind, moves, stored=None, shape="expired", where=TIMESTAMP)


def _pulls(kind: str) -> Iterator[TableCase]:
    for fault in ("SYSTEM_ERROR", "FLOW_CONTROL", "PULL_OFFSET_MOVED", "no-field"):
        yield TableCase(f"pulls: {fault}", kind, _until_mended(Fail(PULL, fault)))
    moves = (Fail(PULL), Join(), Look(), Expire(4), Mend(), Look())
    yield TableCase("messages expire that were not pulled yet", kind, moves, stored=2)


def _shares(kind: str) -> Iterator[TableCase]:
    moves = (*_TWO, Arrive(), Look(), Leave("a"), Look(), Arrive(), Look())
    yield TableCase("another one joins, the first one leaves", kind, moves, queues=2)
    moves = (Join("a"), Look(), Fail(MEMBERS), Join("b"), Arrive(), Look(), Mend(), Look(), Arrive(), Look())
    yield TableCase("no list while another one joins", kind, moves, queues=2)
    moves = (*_TWO, Fail(MEMBERS), Leave("a"), Arrive(), Look(), Mend(), Look())
    yield TableCase("no list while one leaves", kind, moves, queues=2)


def handovers() -> Iterator[TableCase]:
    """Members that come and go while no broker fails."""
    for kind in KINDS:
        yield TableCase("nothing fails", kind, (Join(), Look(), Arrive(), Look()))
        yield from _comings(kind)
        yield from _goings(kind)
        moves: tuple[Move, ...] = (Join("a"), Look(), Hold("a"), Arrive(1), Look(), Arrive(1), Join("b"), Look())
        moves += (LetGo("a"), Look(), Arrive(), Look())
        yield TableCase("another one joins while a listener is busy", kind, moves, queues=2)
    moves = (LockElsewhere(), Join("a"), Join("b"), Look(), UnlockElsewhere(), Look(), Arrive(), Look())
    yield TableCase("somebody else has the locks of two", ORDERLY, moves, queues=2)
    yield TableCase("somebody else has the lock", ORDERLY, (LockElsewhere(), Join(), Look(), UnlockElsewhere(), Look()))


def _comings(kind: str) -> Iterator[TableCase]:
    moves = (*_TWO, Arrive(), Look(), Leave("a"), Look(), Arrive(), Look())
    yield TableCase("another one joins, the first one leaves", kind, moves, queues=2)
    moves = (*_TWO, Arrive(), Look(), Leave("b"), Look(), Arrive(), Look())
    yield TableCase("another one joins, and leaves", kind, moves, queues=2)
    moves = (*_TWO, Join("c"), Look(), Arrive(), Look(), Leave("b"), Look(), Arrive(), Look())
    yield TableCase("three share, the middle one leaves", kind, moves, queues=5)
    moves = (*_TWO, Arrive(), Look())
    yield TableCase("a new group, from the first: another one joins", kind, moves, None, FIRST, "expired", 3)
    yield TableCase("messages have expired: another one joins", kind, moves, 2, LAST, "expired", 2)


def _goings(kind: str) -> Iterator[TableCase]:
    moves: tuple[Move, ...] = (*_TWO, Arrive(), Look(), Leave("a"), Look(), Arrive(), Look())
    yield TableCase("one too many: it takes over", kind, moves)
    moves = (Join("a"), Look(), Leave("a"), Arrive(), Join("b"), Look())
    yield TableCase("messages arrive while nobody is there", kind, moves, queues=2)
    moves = (*_TWO, Leave("b"), Look(), Join("b"), Look(), Arrive(), Look())
    yield TableCase("one comes back", kind, moves, queues=2)
