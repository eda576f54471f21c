"""Decision tables of a client: reads and starts in every combination that a rule distinguishes.

Each case is a plan of its own: set up an initial state, then read or start once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rocketmq_conformance.models.client.initial_broker import SHAPES
from rocketmq_conformance.models.client.plan_words import NO_QUEUE
from rocketmq_conformance.suites.declare.suite import Row, Suite
from rocketmq_conformance.suites.declare.topologies import LOST_QUEUE

#: Offsets that the group may have stored: none, the first, one inside, one beyond max.
STORED = (None, 0, 5, 100)
#: Offsets that the store may have in memory.
HELD = (None, 0, 7)
#: An ordinary queue, the retry topic's, and one whose broker is unknown.
QUEUES = (0, 3, LOST_QUEUE)

Plan = list[Row]


def reads(suite: Suite) -> Iterator[Plan]:
    """Every read of the remote store: queue, kind, fault × stored × memory."""
    for queue in (*QUEUES, NO_QUEUE):
        for stored in STORED:
            for held in HELD:
                setup = [*_stored(suite, queue, stored), *_held(suite, queue, held)]
                for row in _distinct(suite, "read"):
                    if row[1][0] == queue:
                        yield [*setup, row]


def starts(suite: Suite) -> Iterator[Plan]:
    """Every start: queue, where, both faults × stored × kind of queue; and with an offset in memory."""
    for name in ("start", "start_checked"):
        for row in _distinct(suite, name):
            queue, fault, bound_fault = _faults(suite, row)
            if queue not in QUEUES:
                continue
            for shape in SHAPES if queue != LOST_QUEUE else ("young",):
                for stored in STORED if fault == "answer" else (None,):
                    yield [*_shaped(suite, queue, shape), *_stored(suite, queue, stored), row]
            if bound_fault == "answer":
                yield [*_held(suite, queue, 7), row]


def timed_starts(suite: Suite) -> Iterator[Plan]:
    """Every start at a time: text, zone, both faults × stored or not."""
    for name in ("start_at_time", "start_at_time_checked"):
        for row in _distinct(suite, name):
            for stored in (None, 5):
                yield [*_stored(suite, row[1][0], stored), row]


def _faults(suite: Suite, row: Row) -> tuple[int, str, str]:
    """Queue and faults of a start; a start that sends no request has no faults."""
    names = [name for name, _ in suite.operations[row[0]].spec.domains]
    given = dict(zip(names, row[1], strict=True))
    return given["queue"], given.get("fault", "answer"), given.get("bound_fault", "answer")


def _distinct(suite: Suite, name: str) -> Sequence[Row]:
    at = suite.index.get(name)
    if at is None:
        return []
    rows = suite.operations[at].spec.rows()
    assert rows is not None, f"{suite.name}/{name} cannot be listed"
    return [(at, args) for args in dict.fromkeys(rows)]


def _stored(suite: Suite, queue: int, offset: int | None) -> Plan:
    if offset is None or queue in (LOST_QUEUE, NO_QUEUE):
        return []
    return [(suite.index["commit_elsewhere"], (queue, offset))]


def _held(suite: Suite, queue: int, offset: int | None) -> Plan:
    if offset is None or "update" not in suite.index:
        return []
    return [(suite.index["update"], (queue, offset, False))]


def _shaped(suite: Suite, queue: int, shape: str) -> Plan:
    if shape == "young" or "shape" not in suite.index:
        return []
    return [(suite.index["shape"], (queue, shape))]
