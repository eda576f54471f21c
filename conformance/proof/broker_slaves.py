"""Proof of slaves: a real master and its slave, asked both, and the model says what each answers (SLV-*).

A slave asks its master every minute in most releases: the plan waits for that a few times, and asks much in between.
"""

from __future__ import annotations

from collections.abc import Sequence

from rocketmq_conformance.conformance.proof.broker_suites import doing, own_broker, prove_case
from rocketmq_conformance.conformance.proof.evidence import Tally
from rocketmq_conformance.conformance.targets.broker.adapter import BrokerAdapter
from rocketmq_conformance.models.broker.admin import CLEAN_OFFSET, REMOVE_OFFSET
from rocketmq_conformance.models.broker.broker_slave import MASTER_NODE, SLAVE_NODE
from rocketmq_conformance.models.broker.configuration import SLAVE_ACTS, SLAVE_CHECKS, SLAVE_READS, STRICT_LOCKS
from rocketmq_conformance.models.broker.lifecycle import KILL, STOP
from rocketmq_conformance.models.broker.switches import SLAVE_REJECTS, SLAVE_UNREAD
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.release import Release
from rocketmq_conformance.suites.broker_slave import (
    SUITE,
    Bounds,
    Commit,
    CreateGroup,
    CreateTopic,
    DeleteGroup,
    DeleteTopic,
    End,
    Lock,
    Pull,
    Query,
    Reset,
    Search,
    Send,
    Start,
    Synchronise,
)
from rocketmq_conformance.suites.declare.operation import Operation

_PULLS = tuple(
    Pull(SLAVE_NODE, 0, 0, 0, offset, commit)
    for offset, commit in ((1, 5), (3, None), (100, 1), (0, None), (100, None))
)
_LOOK = tuple(
    Query(at, group, topic, queue, False)
    for at in (SLAVE_NODE, MASTER_NODE)
    for group, topic, queue in ((0, 0, 0), (0, 0, 1), (0, 1, 0), (1, 0, 0), (1, 0, 1))
)
_SEARCHES = tuple(Search(SLAVE_NODE, queue, late) for queue in (0, 1) for late in (False, True))
_LOST = (Bounds(SLAVE_NODE, 0, 0), Bounds(MASTER_NODE, 0, 0), Bounds(SLAVE_NODE, 0, 1), *_PULLS, *_LOOK)


def plan() -> list[Operation]:
    """What a slave takes, keeps and refuses; then its master is stopped, and back, and killed."""
    return [
        *(Send(MASTER_NODE, 0, 3), Commit(SLAVE_NODE, 0, 0, 0, 1), *_PULLS, Query(SLAVE_NODE, 0, 0, 0, None)),
        *(Lock(0), *_SEARCHES),
        *(CreateTopic(MASTER_NODE), CreateGroup(MASTER_NODE, 1), Commit(MASTER_NODE, 0, 0, 0, 2)),
        *(Commit(MASTER_NODE, 1, 0, 0, 2), Synchronise(), *_LOST, Query(SLAVE_NODE, 0, 1, 0, None)),
        # what only the slave has, and what is newer there
        *(Commit(SLAVE_NODE, 0, 0, 0, 3), Commit(SLAVE_NODE, 1, 0, 1, 3), Commit(SLAVE_NODE, 0, 1, 0, 1)),
        *(Send(SLAVE_NODE, 0, 1), Reset(SLAVE_NODE, 0, 0, 0, 1), Reset(MASTER_NODE, 0, 0, 0, 1), *_LOOK),
        *(CreateGroup(SLAVE_NODE, 0), DeleteGroup(SLAVE_NODE, 0, ""), DeleteTopic(SLAVE_NODE), CreateTopic(SLAVE_NODE)),
        *(Synchronise(), *_LOOK, DeleteGroup(MASTER_NODE, 1, CLEAN_OFFSET), DeleteGroup(MASTER_NODE, 1, REMOVE_OFFSET)),
        # the master is gone
        *(
            DeleteTopic(MASTER_NODE),
            End(STOP),
            Lock(1),
            *_SEARCHES,
            Commit(SLAVE_NODE, 0, 0, 0, 100),
            *_LOST,
            Send(SLAVE_NODE, 1, 1),
        ),
        *(Synchronise(), *_LOOK, Start(), Commit(MASTER_NODE, 0, 0, 1, 1), Send(MASTER_NODE, 1, 2)),
        *(
            Bounds(SLAVE_NODE, 0, 1),
            Synchronise(),
            *_LOST,
            Commit(SLAVE_NODE, 1, 0, 0, 1),
            Commit(SLAVE_NODE, 0, 1, 0, 1),
        ),
        *(End(KILL), *_LOOK, Start(), *_LOOK),
    ]


def unread_plan() -> list[Operation]:
    """What a slave cannot read of a master that has answered a pull."""
    return [
        *(Send(MASTER_NODE, 0, 3), Commit(MASTER_NODE, 0, 0, 0, 1), Pull(MASTER_NODE, 0, 0, 0, 0, None)),
        *(CreateTopic(MASTER_NODE), Synchronise(), *_LOOK),
    ]


def read_plan() -> list[Operation]:
    """What a slave answers that is read."""
    return [Send(MASTER_NODE, 0, 3), Commit(MASTER_NODE, 0, 0, 0, 2), Synchronise(), *_PULLS, *_LOOK]


def acting_plan() -> list[Operation]:
    """What a slave that may act as master answers, and what its master takes of it: older offsets and newer ones, those
    of a group that it has deleted, and of a queue alone."""
    sends = Send(SLAVE_NODE, 0, 1), Send(SLAVE_NODE, 2, 1)
    return [
        *(*sends, Send(MASTER_NODE, 0, 3), Commit(MASTER_NODE, 0, 0, 0, 2), CreateGroup(MASTER_NODE, 1)),
        *(Commit(MASTER_NODE, 1, 0, 0, 3), Synchronise(), *sends, *_LOST, *_SEARCHES, Lock(0)),
        *(Commit(MASTER_NODE, 0, 0, 0, 3), Commit(MASTER_NODE, 0, 0, 1, 1)),
        *(DeleteGroup(MASTER_NODE, 1, REMOVE_OFFSET), DeleteGroup(MASTER_NODE, 1, CLEAN_OFFSET)),
        # older offsets, a queue that is lost, and a group that is back
        *(End(STOP), *sends, *_LOST, *_SEARCHES, Lock(0), Reset(SLAVE_NODE, 0, 0, 0, 1), CreateGroup(SLAVE_NODE, 1)),
        *(Start(), *_LOOK, Lock(1), Send(MASTER_NODE, 1, 1), Bounds(SLAVE_NODE, 0, 1)),
        # newer offsets, which are not lost
        *(Commit(SLAVE_NODE, 0, 0, 0, 100), Commit(SLAVE_NODE, 0, 0, 1, 1), End(KILL), Commit(SLAVE_NODE, 0, 0, 1, 2)),
        *(Synchronise(), Start(), *_LOOK, Synchronise(), *_LOOK, End(KILL), Start(), *_LOOK),
    ]


def offline_plan() -> list[Operation]:
    """What a slave answers that is read, may act as master and locks strictly; and when its master stays offline."""
    pulls = Pull(SLAVE_NODE, 0, 0, 0, 0, 1), Pull(SLAVE_NODE, 1, 0, 0, 100, None)
    return [
        *(
            Lock(0),
            Send(MASTER_NODE, 0, 3),
            Commit(MASTER_NODE, 0, 0, 0, 2),
            Synchronise(),
            Lock(1),
            End(STOP),
            Lock(0),
        ),
        *(Start(), Lock(0), *_LOOK, *_PULLS, *pulls[1:], End(STOP), *pulls, Start(), *_LOOK, Lock(0)),
        *(DeleteGroup(SLAVE_NODE, 1, CLEAN_OFFSET), DeleteGroup(SLAVE_NODE, 0, CLEAN_OFFSET), Start(), *_LOOK),
    ]


def prove_pair(adapter: BrokerAdapter, profile: Profile, tally: Tally) -> None:
    """A master and its slave as they are by default."""
    _play(adapter, profile, tally, plan())
    if SLAVE_UNREAD.on(profile.broker):
        _play(adapter, profile, tally, unread_plan())


def waits(release: Release) -> bool:
    """Does a slave of the release ask its master once a minute only?"""
    return release < Release(4, 5, 0) or release >= Release(5, 0, 0)


def prove_read_slaves(tally: Tally) -> None:
    """Slaves that are read, of 5.0.0 and later, and that correct offsets, before: brokers of their own."""
    rejects = SLAVE_REJECTS.on(Release.parse(tally.release))
    with own_broker(tally, {SLAVE_READS if rejects else SLAVE_CHECKS: "true"}) as (adapter, profile):
        _play(adapter, profile, tally, read_plan())


def prove_acting_slaves(tally: Tally) -> None:
    """Slaves that may act as master, of 5.0.0 and later: brokers of their own."""
    with own_broker(tally, {SLAVE_ACTS: "true"}) as (adapter, profile):
        _play(adapter, profile, tally, acting_plan())
    with own_broker(tally, {SLAVE_ACTS: "true", SLAVE_READS: "true", STRICT_LOCKS: "true"}) as (adapter, profile):
        _play(adapter, profile, tally, offline_plan())


def _play(adapter: BrokerAdapter, profile: Profile, tally: Tally, operations: Sequence[Operation]) -> None:
    adapter.reset_many([(0, SUITE)])
    rows = [SUITE.row(operation) for operation in operations]
    prove_case(SUITE, SUITE.bind(profile), rows, doing(adapter, SUITE, None), tally, SUITE.name)
