"""Proof of the files of tables: one broker whose files are damaged in every way, start after start (BQ-FILE-*)."""

from __future__ import annotations

from collections.abc import Iterator

from rocketmq_conformance.models.broker.broker_offsets import AGED_TOPIC
from rocketmq_conformance.models.broker.lifecycle import KILL, STOP
from rocketmq_conformance.models.broker.table_files import (
    BACKUP,
    BRACES,
    CUT,
    EMPTY,
    GONE,
    GROUPS,
    MAIN,
    OFFSETS,
    TABLES,
    TOPICS,
    ZEROS,
)
from rocketmq_conformance.suites.broker_tables import (
    Commit,
    CreateGroup,
    CreateTopic,
    Damage,
    End,
    Groups,
    Max,
    Query,
    QueryKept,
    Send,
    Start,
    Topics,
    Watch,
)
from rocketmq_conformance.suites.declare.operation import Operation

_LOOK = (Topics(), Groups(), Query(0, 0, 0), Query(0, AGED_TOPIC, 1), QueryKept(0), QueryKept(5), Max(0, 0))


def short() -> list[Operation]:
    """One start, on files that cannot be read and good backups."""
    return [
        *(Send(0, 0, 2), CreateTopic(1, 2), CreateGroup(1), Commit(0, 0, 0, 2), End(STOP)),
        *(Damage(OFFSETS, MAIN, ZEROS), Damage(TOPICS, MAIN, CUT), Damage(GROUPS, MAIN, EMPTY)),
        *(Max(0, 0), Start(), *_LOOK),
    ]


def long() -> list[Operation]:
    """The same, and many more starts: every damage of every file, backups that are none, and the timer."""
    return [*short(), *_rest()]


def _rest() -> Iterator[Operation]:
    # the backups are now what the broker made of them
    yield from (Commit(0, 0, 0, 3), End(STOP))
    yield from (Damage(OFFSETS, MAIN, GONE), Damage(TOPICS, MAIN, GONE), Damage(GROUPS, MAIN, ZEROS))
    yield from _started()
    # an empty object is a table
    yield from _filled(5)
    yield from (Commit(0, AGED_TOPIC, 1, 1), End(STOP), Damage(OFFSETS, MAIN, BRACES), Damage(TOPICS, BACKUP, ZEROS))
    yield from (Damage(GROUPS, MAIN, GONE), Damage(GROUPS, BACKUP, EMPTY))
    yield from _started()
    # killed before the timer wrote
    yield from _filled(6)
    yield from (End(KILL), Damage(TOPICS, MAIN, BRACES))
    yield from _started()
    # killed after it wrote twice
    yield from _filled(7)
    yield from (Watch(), Commit(0, 0, 0, 8), Watch(), Commit(0, 0, 0, 100), End(KILL), Damage(GROUPS, MAIN, CUT))
    yield from _started()
    # the topics cannot be read, and then the groups
    for table in (TOPICS, GROUPS):
        yield from _filled(9)
        yield from (End(STOP), Damage(table, MAIN, ZEROS), Damage(table, BACKUP, CUT))
        yield from _started()
    # as cut as they are, offsets are taken from the backup; without any file nothing is known
    yield from _filled(10)
    yield from (Watch(), Commit(0, 0, 0, 11), End(STOP), Damage(OFFSETS, MAIN, CUT))
    yield from _started()
    yield from _filled(12)
    yield End(STOP)
    yield from (Damage(table, copy, how) for table in TABLES for copy, how in ((MAIN, EMPTY), (BACKUP, GONE)))
    yield from _started()


def _filled(offset: int) -> tuple[Operation, ...]:
    """Make sure of topic and group, and commit."""
    return CreateTopic(0, 2), CreateGroup(0), Commit(0, 0, 0, offset)


def _started() -> Iterator[Operation]:
    """Start and look around; where that is refused, once more, and again without backups."""
    for repair in ((), (), tuple(Damage(table, BACKUP, GONE) for table in TABLES)):
        yield from (*repair, Start(), *_LOOK)
