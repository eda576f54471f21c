"""The decision table of whole consumers: members that join and leave, faults and their end, and what is observed when.

``cases`` need a broker that fails by a script; ``handovers`` play on any broker.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from rocketmq_conformance.models.broker.lifecycle import reopened
from rocketmq_conformance.models.broker.state import BrokerState
from rocketmq_conformance.models.broker.switches import BrokerRules
from rocketmq_conformance.models.client.fixtures import GROUP, TOPIC
from rocketmq_conformance.models.client.initial_broker import shaped
from rocketmq_conformance.models.client.start import FIRST, LAST, TIMESTAMP
from rocketmq_conformance.models.client.whole import LITE, ORDERLY, PUSH
from rocketmq_conformance.models.client.whole_group import Group
from rocketmq_conformance.models.client.whole_moves import (
    COMMIT,
    HEARTBEAT,
    LOCK,
    MAX,
    MEMBERS,
    PULL,
    QUERY,
    ROUTE,
    SEARCH,
    Arrive,
    Expire,
    Fail,
    Hold,
    Join,
    Leave,
    LetGo,
    Look,
    Mend,
    Move,
    Release,
    Reset,
    Seize,
)

KINDS = (PUSH, ORDERLY, LITE)
#: 2024-07-01T00:00Z, the time of offset 6.
TIME = "20240701000000"
#: What the group has stored, where it has: messages are before it and behind it.
STORED = 7


class Case(NamedTuple):
    """One row, for one kind of consumer."""

    name: str
    kind: str
    moves: tuple[Move, ...]
    stored: int | None = STORED
    where: str = LAST
    shape: str = "young"
    queues: int = 1

    def __str__(self) -> str:
        return f"{self.name}, {self.kind}"

    def group(self, rules: BrokerRules) -> Group:
        """How it begins."""
        log = reopened(rules, shaped(self.shape))
        ids = range(self.queues)
        stored = {} if self.stored is None else {(GROUP, TOPIC, number): self.stored for number in ids}
        logs = {(TOPIC, number): log for number in ids}
        broker = BrokerState({TOPIC: self.queues}, frozenset({GROUP}), logs, stored)
        return Group(self.kind, self.where, broker, TIME)


def _until_mended(*faults: Move) -> tuple[Move, ...]:
    """What fails from the start: a look while it lasts, and one afterwards."""
    return (*faults, Join(), Look(), Mend(), Arrive(), Look())


#: Two members that share two queues, and both have started.
_TWO: tuple[Move, ...] = (Join("a"), Look(), Join("b"), Look())


def cases() -> Iterator[Case]:
    """Every row."""
    for kind in KINDS:
        yield Case("nothing fails", kind, (Join(), Look(), Arrive(), Look()))
        yield from _start(kind)
        yield from _stored(kind)
        yield from _bounds(kind)
        yield from _pulls(kind)
        yield from _shares(kind)
        moves: tuple[Move, ...] = (Fail(COMMIT, "silent"), Join("a"), Look(), Leave("a"), Mend(), Join("b"), Look())
        yield Case("commits are lost", kind, moves)
        moves = (Fail(COMMIT, "silent"), Join(), Look(), Mend(), Look())
        yield Case("commits are lost for a while", kind, moves)
        yield Case("told another offset", kind, (Join(), Look(), Reset(3), Look(), Arrive(), Look()))
    yield Case("somebody else has the lock", ORDERLY, (Seize(), Join(), Look(), Release(), Look()))
    for fault in ("no-field", "SYSTEM_ERROR"):
        moves = _until_mended(Fail(QUERY, fault, later=True))
        yield Case(f"stored offset: the second answer is {fault}", ORDERLY, moves)


def _start(kind: str) -> Iterator[Case]:
    for request in (ROUTE, HEARTBEAT, MEMBERS, LOCK):
        yield Case(f"{request} refused", kind, _until_mended(Fail(request)))
    for request in (ROUTE, HEARTBEAT, MEMBERS):
        moves = (Join(), Look(), Fail(request), Arrive(), Look(), Mend(), Arrive(), Look())
        yield Case(f"{request} refused to one that runs", kind, moves)


def _stored(kind: str) -> Iterator[Case]:
    for fault in ("SYSTEM_ERROR", "SYSTEM_BUSY", "QUERY_NOT_FOUND", "no-field", "silent", "cut", "garbage"):
        yield Case(f"stored offset: {fault}", kind, _until_mended(Fail(QUERY, fault)))
    yield Case("stored offset: SYSTEM_ERROR, from the first", kind, _until_mended(Fail(QUERY)), where=FIRST)


def _bounds(kind: str) -> Iterator[Case]:
    for fault in ("SYSTEM_ERROR", "no-field"):
        moves: tuple[Move, ...] = (Fail(MAX, fault), Join(), Look(), Arrive(), Mend(), Look(), Arrive(), Look())
        yield Case(f"max: {fault}", kind, moves, stored=None, shape="expired")
        moves = _until_mended(Fail(SEARCH, fault))
        yield Case(f"search: {fault}", kind, moves, stored=None, shape="expired", where=TIMESTAMP)


def _pulls(kind: str) -> Iterator[Case]:
    for fault in ("SYSTEM_ERROR", "FLOW_CONTROL", "PULL_OFFSET_MOVED", "no-field"):
        yield Case(f"pulls: {fault}", kind, _until_mended(Fail(PULL, fault)))
    moves = (Fail(PULL), Join(), Look(), Expire(4), Mend(), Look())
    yield Case("messages expire that were not pulled yet", kind, moves, stored=2)


def _shares(kind: str) -> Iterator[Case]:
    moves = (*_TWO, Arrive(), Look(), Leave("a"), Look(), Arrive(), Look())
    yield Case("another one joins, the first one leaves", kind, moves, queues=2)
    moves = (Join("a"), Look(), Fail(MEMBERS), Join("b"), Arrive(), Look(), Mend(), Look(), Arrive(), Look())
    yield Case("no list while another one joins", kind, moves, queues=2)
    moves = (*_TWO, Fail(MEMBERS), Leave("a"), Arrive(), Look(), Mend(), Look())
    yield Case("no list while one leaves", kind, moves, queues=2)


def handovers() -> Iterator[Case]:
    """Members that come and go while no broker fails."""
    for kind in KINDS:
        yield Case("nothing fails", kind, (Join(), Look(), Arrive(), Look()))
        yield from _comings(kind)
        yield from _goings(kind)
        moves: tuple[Move, ...] = (Join("a"), Look(), Hold("a"), Arrive(1), Look(), Arrive(1), Join("b"), Look())
        moves += (LetGo("a"), Look(), Arrive(), Look())
        yield Case("another one joins while a listener is busy", kind, moves, queues=2)
    moves = (Seize(), Join("a"), Join("b"), Look(), Release(), Look(), Arrive(), Look())
    yield Case("somebody else has the locks of two", ORDERLY, moves, queues=2)
    yield Case("somebody else has the lock", ORDERLY, (Seize(), Join(), Look(), Release(), Look()))


def _comings(kind: str) -> Iterator[Case]:
    moves = (*_TWO, Arrive(), Look(), Leave("a"), Look(), Arrive(), Look())
    yield Case("another one joins, the first one leaves", kind, moves, queues=2)
    moves = (*_TWO, Arrive(), Look(), Leave("b"), Look(), Arrive(), Look())
    yield Case("another one joins, and leaves", kind, moves, queues=2)
    moves = (*_TWO, Join("c"), Look(), Arrive(), Look(), Leave("b"), Look(), Arrive(), Look())
    yield Case("three share, the middle one leaves", kind, moves, queues=5)
    moves = (*_TWO, Arrive(), Look())
    yield Case("a new group, from the first: another one joins", kind, moves, None, FIRST, "expired", 3)
    yield Case("messages have expired: another one joins", kind, moves, 2, LAST, "expired", 2)


def _goings(kind: str) -> Iterator[Case]:
    moves: tuple[Move, ...] = (*_TWO, Arrive(), Look(), Leave("a"), Look(), Arrive(), Look())
    yield Case("one too many: it takes over", kind, moves)
    moves = (Join("a"), Look(), Leave("a"), Arrive(), Join("b"), Look())
    yield Case("messages arrive while nobody is there", kind, moves, queues=2)
    moves = (*_TWO, Leave("b"), Look(), Join("b"), Look(), Arrive(), Look())
    yield Case("one comes back", kind, moves, queues=2)
