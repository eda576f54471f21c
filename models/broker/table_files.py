"""The files in which a broker keeps its tables: topics, stored offsets and groups, each with a backup (BQ-FILE-*).

A broker reads a table when it starts and writes it as a whole: topics and groups when they change, offsets by a timer
(BQ-COM-12). The file before goes into the backup, ``.bak``. What is in a file is data here: a table, or something that
is none.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.broker.state import BrokerState
from rocketmq_conformance.models.rule import Reason, Rule

RULES = (
    Rule(
        "BQ-FILE-LOAD",
        "At its start a broker takes each of its tables (topics, offsets, groups) from the backup if the file itself "
        "is gone, empty, or no JSON, such as one that was cut or is full of zeros; the others are not touched by that.",
        "ConfigManager#load, #loadBak @ 4.1.0, 4.9.7, 5.1.4, 5.5.0",
    ),
    Rule(
        "BQ-FILE-FORGET",
        "A table whose file and backup are gone or empty, or whose file is an empty object, is empty, and nothing "
        "reports it: every offset is forgotten, or every topic, or every group. Messages are kept.",
        "ConfigManager#loadBak, ConsumerOffsetManager#decode @ 4.9.7, 5.5.0",
    ),
    Rule(
        "BQ-FILE-REFUSE",
        "A broker does not start if the backup that it needs is neither empty nor JSON.",
        "ConfigManager#loadBak, BrokerController#initialize @ 4.9.7, 5.5.0",
    ),
    Rule(
        "BQ-FILE-REFUSED-WRITES",
        "A broker that does not start writes on its way out: up to 5.1.3 the offsets, from 5.4.0 all three tables. "
        "Tables are read in the order topics, offsets, groups, and those that were not read are written empty: up to "
        "5.1.3 unreadable topics cost every offset, and from 5.4.0 the next start succeeds and has forgotten.",
        "BrokerController#shutdown @ 4.9.7, 5.1.3, 5.1.4, 5.5.0",
    ),
    Rule(
        "BQ-FILE-BACKUP",
        "When a table is written, what was in its file goes into the backup, whether it is a table or not; up to 5.3.3 "
        "an unusable file thereby replaces the good backup that the broker started from.",
        "ConfigManager#persist, MixAll#string2File @ 4.9.7, 5.1.4, 5.5.0",
    ),
    Rule(
        "BQ-FILE-DELETE",
        "From 5.4.0 a start deletes a file that is empty or no JSON, so that the backup stays good.",
        "ConfigManager#load @ 5.4.0, 5.5.0",
        releases="5.4.0+",
    ),
    Rule(
        "BQ-FILE-START",
        "5.0.0 and 5.1.0 write topics when they start; no other release writes a table then.",
        "TopicConfigManager#initStateVersion @ 5.0.0, 5.1.0",
        releases="5.0.0 – 5.1.0",
    ),
    Rule(
        "BQ-FILE-STOP",
        "A stop writes the offsets, and from 5.0.0 topics and groups, too.",
        "BrokerController#shutdown @ 4.9.7, 5.0.0, 5.5.0",
    ),
)

#: The tables, in the order in which they are read.
TOPICS, OFFSETS, GROUPS = "topics", "offsets", "groups"
TABLES = (TOPICS, OFFSETS, GROUPS)
#: The two copies of a table.
MAIN, BACKUP = "file", "backup"
#: What may be done to a copy: it is removed, emptied, cut in the middle, filled with zeros, or made an empty object.
GONE, EMPTY, CUT, ZEROS, BRACES = "gone", "empty", "cut", "zeros", "{}"
DAMAGES = (GONE, EMPTY, CUT, ZEROS, BRACES)


class Copy(NamedTuple):
    """The content of one copy: its ``table``, or None and the ``state`` that it is in (GONE, EMPTY, CUT, ZEROS)."""

    table: Any = None
    state: str = ""

    @property
    def absent(self) -> bool:
        """Is there nothing in it?"""
        return self.state in (GONE, EMPTY)


class TableFile(NamedTuple):
    """The two copies of one table."""

    main: Copy
    backup: Copy


class Disk(NamedTuple):
    """The files of all tables: topics (name to settings), stored offsets, and groups (a set)."""

    topics: TableFile
    offsets: TableFile
    groups: TableFile


#: The empty table of each kind.
NO_TABLES: Mapping[str, Any] = {TOPICS: {}, OFFSETS: {}, GROUPS: frozenset()}

_LOADED = {
    kind: Reason(rules, kind)
    for kind, rules in {
        "all read": ("RUN-RESTART-1", "BQ-FILE-LOAD"),
        "backup read": ("RUN-RESTART-1", "BQ-FILE-LOAD"),
        "backup read, file deleted": ("RUN-RESTART-1", "BQ-FILE-LOAD", "BQ-FILE-DELETE"),
        "table forgotten": ("RUN-RESTART-1", "BQ-FILE-FORGET"),
        "all read, topics written": ("RUN-RESTART-1", "BQ-FILE-LOAD", "BQ-FILE-START"),
        "backup read, topics written": ("RUN-RESTART-1", "BQ-FILE-LOAD", "BQ-FILE-START"),
        "table forgotten, topics written": ("RUN-RESTART-1", "BQ-FILE-FORGET", "BQ-FILE-START"),
        "refused": ("BQ-FILE-REFUSE", "BQ-FILE-REFUSED-WRITES"),
    }.items()
}

#: What a start may find in its files, the first of which gives the reason.
_KINDS = ("table forgotten", "backup read, file deleted", "backup read", "all read")


class Loaded(NamedTuple):
    """The files after a start, the tables that were read by kind, whether the broker started, and why."""

    disk: Disk
    tables: Mapping[str, Any]
    started: bool
    why: Reason


def damaged(disk: Disk, table: str, copy: str, how: str) -> Disk:
    """The files after one copy was damaged. A copy that is gone can only be made an empty object."""
    file: TableFile = getattr(disk, table)
    old = file.main if copy == MAIN else file.backup
    new = Copy(NO_TABLES[table]) if how == BRACES else Copy(None, how)
    if old.absent and how != BRACES and not (old.state == EMPTY and how == GONE):
        new = old
    file = file._replace(main=new) if copy == MAIN else file._replace(backup=new)
    return disk._replace(**{table: file})


def written(disk: Disk, table: str, content: object) -> Disk:
    """BQ-FILE-BACKUP: the files after a table was written."""
    file: TableFile = getattr(disk, table)
    backup = file.backup if file.main.state == GONE else file.main
    return disk._replace(**{table: TableFile(Copy(content), backup)})


def settled(disk: Disk, table: str, content: object) -> Disk:
    """The files after a table was written twice."""
    return written(written(disk, table, content), table, content)


def stopped(rules: BrokerRules, disk: Disk, state: BrokerState) -> Disk:
    """BQ-FILE-STOP: the files after the broker was stopped."""
    disk = written(disk, OFFSETS, state.stored)
    if rules.stop_writes_tables:
        disk = written(written(disk, TOPICS, state.topics), GROUPS, state.groups)
    return disk


def load(rules: BrokerRules, disk: Disk) -> Loaded:
    """BQ-FILE-LOAD: a start on these files."""
    tables, kinds = dict(NO_TABLES), set()
    for table in TABLES:
        file: TableFile = getattr(disk, table)
        kind = "all read"
        if file.main.table is None:
            kind = "backup read"
            if rules.deletes_unusable and file.main.state != GONE:
                file = file._replace(main=Copy(None, GONE))
                disk = disk._replace(**{table: file})
                kind = "backup read, file deleted"
        read = file.main if file.main.table is not None else file.backup
        if read.table is None and not read.absent:
            return Loaded(_refused(rules, disk, tables), NO_TABLES, False, _LOADED["refused"])
        if read.table is None or (read is file.main and not read.table):
            kind = "table forgotten"
        tables[table] = NO_TABLES[table] if read.table is None else read.table
        kinds.add(kind)
    kind = next(kind for kind in _KINDS if kind in kinds)
    if rules.start_writes_topics:
        kind, disk = f"{kind}, topics written", written(disk, TOPICS, tables[TOPICS])
    return Loaded(disk, tables, True, _LOADED[kind])


def _refused(rules: BrokerRules, disk: Disk, tables: Mapping[str, Any]) -> Disk:
    """BQ-FILE-REFUSED-WRITES: the files after a start that did not succeed."""
    if rules.refused_writes_tables:
        for table in (TOPICS, GROUPS):
            disk = written(disk, table, tables[table])
    return written(disk, OFFSETS, tables[OFFSETS]) if rules.refused_writes_offsets else disk
