"""Decision tables of a broker, as sequences of operations: every combination that a rule distinguishes.

Each table is a list of cases; a case is a list of operations on topics and groups of its own (index 0 exists).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from rocketmq_conformance.models.broker import aged_store
from rocketmq_conformance.models.broker.admin import CLEAN_OFFSET, KEEP, REMOVE_OFFSET
from rocketmq_conformance.models.broker.broker_offsets import AGED_TOPIC
from rocketmq_conformance.models.broker.search import LOWER, UPPER
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites import broker_expired, broker_offsets, broker_search
from rocketmq_conformance.suites.broker_expired import Earliest, QueryKept, Search
from rocketmq_conformance.suites.broker_offsets import (
    Commit,
    CreateGroup,
    CreateTopic,
    DeleteGroup,
    DeleteTopic,
    Max,
    Min,
    Query,
    Send,
)
from rocketmq_conformance.suites.broker_search import SendTimed
from rocketmq_conformance.suites.declare.operation import Operation
from rocketmq_conformance.suites.declare.suite import Handler

Case = list[Operation]

#: Stored offsets of a group: nothing; below, at and above every min and max; negative; beyond 32 and 53 bits.
STORED = (None, 0, 1, 2, 3, 4, 9, 10, 12, 15, 18, 100, -1, -7, 2**31, 2**53 + 1)
#: Queues of the aged topic, and two that it does not have.
AGED_QUEUES = (*range(len(aged_store.QUEUES)), 9, -1)
#: (topic, queue) of every kind: written, never written, beyond the topic's, of no topic, of a deleted topic, aged.
WRITTEN, EMPTY = (0, 0), (0, 1)
PLACES = (WRITTEN, EMPTY, (0, 9), (0, -1), (1, 0), (2, 0), *((AGED_TOPIC, queue) for queue in AGED_QUEUES))
SET_ZERO = (None, True, False)
_DAY = 86_400_000
#: Distances from the first message of an aged queue that reach before, between, at and after all of them (ms).
_DELTAS = (-_DAY, *range(-2, 42), _DAY)


def handlers(profile: Profile) -> dict[type[Operation], Handler]:
    """The model's handlers of every operation of the tables; their suites share a state."""
    suites = (broker_offsets.SUITE, broker_search.SUITE, broker_expired.SUITE)
    return {operation: handler for suite in suites for operation, handler in suite.bind(profile).handlers.items()}


def stored() -> list[Case]:
    """One case for each stored offset: topic 0 written, topic 2 deleted, the offset committed everywhere."""
    cases: list[Case] = []
    for offset in STORED:
        case: Case = [SendTimed(0, 0, 3, False), CreateTopic(2, 2)]
        if offset is not None:
            case += [Commit(0, topic, queue, offset) for topic, queue in PLACES]
        cases.append([*case, DeleteTopic(2)])
    return cases


def queries() -> Case:
    """Every query, by the group that stored and by one that was never created."""
    asked: Case = [Query(group, *place, zero) for group in (0, 1) for place in PLACES for zero in SET_ZERO]
    return [*asked, Query(0, 0, None, None), *(QueryKept(queue, zero) for queue in AGED_QUEUES for zero in SET_ZERO)]


def bounds() -> Case:
    """Min, max and earliest of every place."""
    return [ask(*place) for place in PLACES for ask in (Max, Min, Earliest)]


def searches() -> list[Case]:
    """Every time around the messages of every aged queue, with every boundary."""
    boundaries = ("", LOWER, UPPER)
    return [
        [Search(AGED_TOPIC, queue, 0, delta, boundary) for delta in _DELTAS for boundary in boundaries]
        for queue in AGED_QUEUES
    ]


def commits() -> list[Case]:
    """Every commit with known and unknown names, queues and missing fields."""
    return [
        [Commit(group, topic, queue, offset), Query(group, topic, queue, None)]
        for group, topic, queue, offset in product((0, 1), (0, 1), (0, 1, 9, -1, None), (5, None))
    ]


def deletions() -> list[Case]:
    """Groups and topics deleted with something stored and without, and created again."""
    cases: list[Case] = []
    for flag, offset, again in product((KEEP, REMOVE_OFFSET, CLEAN_OFFSET), (None, 0, 2, -1), (False, True)):
        for group in (0, 1):
            case: Case = [Send(0, 0, 2)]
            if offset is not None:
                case += [Commit(group, 0, queue, offset) for queue in (0, 1, 9)]
            case += [DeleteGroup(group, flag), *_looks(group), Commit(group, 0, 1, 7), Query(group, 0, 1, None)]
            if again:
                case += [CreateGroup(group), *_looks(group), Commit(group, 0, 0, 1), Query(group, 0, 0, None)]
            cases.append(case)
    for offset, topic in product((None, 0, 1, 9, -1), (0, 1)):
        case = [SendTimed(topic, 0, 2, False), Max(topic, 0), Earliest(topic, 0)]
        if offset is not None:
            case += [Commit(0, topic, queue, offset) for queue in (0, 1, 9)]
        case += [DeleteTopic(topic), *_looks(0, topic), Max(topic, 0), Min(topic, 0), Earliest(topic, 0)]
        case += [Send(topic, 0, 1), Commit(0, topic, 1, 4), Query(0, topic, 1, None)]
        case += [CreateTopic(topic, 2), *_looks(0, topic), Max(topic, 0), Send(topic, 0, 1), *_looks(0, topic)]
        case += [CreateTopic(topic, 1), Send(topic, 1, 1), CreateTopic(topic, 4), Send(topic, 3, 1), Max(topic, 3)]
        cases.append(case)
    return cases


def _looks(group: int, topic: int = 0) -> Iterator[Operation]:
    for queue, zero in product((0, 1, 9), SET_ZERO):
        yield Query(group, topic, queue, zero)


def aged_looks() -> Case:
    """The requests for the aged topic: bounds, searches, queries of a group that does not exist."""
    asked: Case = [ask(AGED_TOPIC, queue) for queue in AGED_QUEUES for ask in (Max, Min, Earliest)]
    asked += [Query(1, AGED_TOPIC, queue, zero) for queue in AGED_QUEUES for zero in SET_ZERO]
    deltas: Sequence[int] = (-_DAY, 0, _DAY)
    return asked + [
        Search(AGED_TOPIC, q, 0, delta, edge) for q in AGED_QUEUES for delta in deltas for edge in (LOWER, UPPER)
    ]
