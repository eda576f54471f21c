"""The broker of suite broker-tables: the files of its tables are damaged while it is down, and written by a timer.

Whether the timer has written is observed: at a stop or kill the file shows whether it had (LATE) or not (EARLY). What
is on disk is certain in both cases, since an implementation lets the timer catch up once it has begun to write.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from rocketmq_conformance.models.broker import aged_store, lifecycle, table_files
from rocketmq_conformance.models.broker.broker_offsets import BrokerOffsetsModel
from rocketmq_conformance.models.broker.broker_process import UNREACHABLE
from rocketmq_conformance.models.broker.fixtures import GROUPS, TOPICS, initial_state
from rocketmq_conformance.models.broker.lifecycle import STOP
from rocketmq_conformance.models.broker.state import BrokerState
from rocketmq_conformance.models.broker.table_files import Copy, Disk, TableFile
from rocketmq_conformance.models.outcome import Err, Result
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Answer, Reason

#: Had the timer written the offsets by itself when the broker was ended?
EARLY, LATE = "before the timer", "after the timer"
#: The writes that are watched: the first one after a start, and any later one.
FIRST, NEXT = "10 s after the start", "an interval after the last"
#: The outcome of a start that the broker refuses.
REFUSED = Err("NOT_STARTED")

_DOWN = Reason(("RUN-DOWN-1",), "down")
_DAMAGED = {how: Reason(("BQ-FILE-LOAD",), how) for how in table_files.DAMAGES}
_STOPPED = {kind: Reason(("BQ-COM-11", "BQ-FILE-STOP", "BQ-FILE-BACKUP"), f"stopped {kind}") for kind in (EARLY, LATE)}
_KILLED = {kind: Reason(("BQ-COM-12",), f"killed {kind}") for kind in (EARLY, LATE)}
_WATCHED = {kind: Reason(("BQ-COM-12",), kind) for kind in (FIRST, NEXT)}
_TOPICS, _GROUPS = Reason(("BQ-TOPIC-1",), "known topics"), Reason(("BQ-GROUP-1",), "known groups")


class BrokerTablesState(NamedTuple):
    """A broker and its files: ``broker`` is what it has in memory, or had when it ended."""

    broker: BrokerState
    disk: Disk
    running: bool = True
    #: Has its timer surely written the offsets since the start?
    timed: bool = False


class BrokerTablesModel:
    """The rules of such a broker, for one profile; every method is pure."""

    __slots__ = ("broker",)

    def __init__(self, profile: Profile) -> None:
        self.broker = BrokerOffsetsModel(profile)

    def initial(self) -> BrokerTablesState:
        """The initial state: a running broker on the aged store, that has just made topic 0 and group 0."""
        old, new = aged_store.aged_broker(self.broker.rules), initial_state()
        broker = old._replace(topics={**old.topics, **new.topics}, groups=new.groups)
        stored = Copy(old.stored)
        return BrokerTablesState(
            broker,
            Disk(
                topics=TableFile(Copy(broker.topics), Copy(old.topics)),
                offsets=TableFile(stored, stored),
                groups=TableFile(Copy(broker.groups), Copy(frozenset())),
            ),
        )

    # --- the process ------------------------------------------------------------------------------------------

    def end(self, state: BrokerTablesState, observed: Result, how: str) -> Answer[BrokerTablesState]:
        """BQ-COM-11, BQ-COM-12, BQ-FILE-STOP: whether the timer had written before that."""
        kind = LATE if state.timed or observed == LATE else EARLY
        disk = state.disk
        if kind == LATE:
            disk = table_files.settled(disk, table_files.OFFSETS, state.broker.stored)
        if how == STOP:
            disk = table_files.stopped(self.broker.rules, disk, state.broker)
        why = (_STOPPED if how == STOP else _KILLED)[kind]
        return state._replace(disk=disk, running=False, timed=False), kind, why

    def watch(self, state: BrokerTablesState, observed: Result) -> Answer[BrokerTablesState]:
        """BQ-COM-12: which write was seen, in time."""
        kind = NEXT if state.timed or observed == NEXT else FIRST
        return state._replace(timed=True), kind, _WATCHED[kind]

    def damage(self, state: BrokerTablesState, table: str, copy: str, how: str) -> Answer[BrokerTablesState]:
        """BQ-FILE-*: None."""
        return state._replace(disk=table_files.damaged(state.disk, table, copy, how)), None, _DAMAGED[how]

    def start(self, state: BrokerTablesState) -> Answer[BrokerTablesState]:
        """BQ-FILE-LOAD, BQ-FILE-REFUSE: None, or NOT_STARTED."""
        loaded = table_files.load(self.broker.rules, state.disk)
        if not loaded.started:
            return state._replace(disk=loaded.disk), REFUSED, loaded.why
        tables = loaded.tables
        broker = state.broker._replace(
            topics=tables[table_files.TOPICS],
            stored=tables[table_files.OFFSETS],
            groups=tables[table_files.GROUPS],
        )
        broker = lifecycle.with_memory(self.broker.rules, lifecycle.restart(self.broker.rules, broker), hot=True)
        return BrokerTablesState(broker, loaded.disk), None, loaded.why

    # --- requests ---------------------------------------------------------------------------------------------

    def create_topic(self, state: BrokerTablesState, topic: int, queues: int) -> Answer[BrokerTablesState]:
        """BQ-TOPIC-1: None."""
        return self._written(state, table_files.TOPICS, lambda broker: self.broker.create_topic(broker, topic, queues))

    def create_group(self, state: BrokerTablesState, group: int) -> Answer[BrokerTablesState]:
        """BQ-GROUP-1: None."""
        return self._written(state, table_files.GROUPS, lambda broker: self.broker.create_group(broker, group))

    def topics(self, state: BrokerTablesState) -> Answer[BrokerTablesState]:
        """BQ-TOPIC-1: the indexes of the case's topics that the broker has, and whether it has the aged one."""
        return self._answered(
            state,
            lambda broker: (
                broker,
                (_known(TOPICS, broker.topics), aged_store.TOPIC in broker.topics),
                _TOPICS,
            ),
        )

    def groups(self, state: BrokerTablesState) -> Answer[BrokerTablesState]:
        """BQ-GROUP-1: the indexes of the case's groups that the broker has."""
        return self._answered(state, lambda broker: (broker, _known(GROUPS, broker.groups), _GROUPS))

    def send(self, state: BrokerTablesState, topic: int, queue: int, count: int) -> Answer[BrokerTablesState]:
        """BQ-SEND-1: the offsets of the messages, or the error."""
        return self._answered(state, lambda broker: self.broker.send(broker, topic, queue, count))

    def commit(
        self, state: BrokerTablesState, group: int, topic: int, queue: int, offset: int
    ) -> Answer[BrokerTablesState]:
        """BQ-UPDATE-*: None, or the error."""
        return self._answered(state, lambda broker: self.broker.commit(broker, group, topic, queue, offset))

    def query(self, state: BrokerTablesState, group: int, topic: int, queue: int) -> Answer[BrokerTablesState]:
        """BQ-QUERY-*."""
        return self._answered(state, lambda broker: self.broker.query(broker, group, topic, queue, None))

    def query_kept(self, state: BrokerTablesState, queue: int) -> Answer[BrokerTablesState]:
        """BQ-QUERY-*: the offset that the aged store holds."""
        return self._answered(state, lambda broker: self.broker.query_kept(broker, queue, None))

    def max(self, state: BrokerTablesState, topic: int, queue: int) -> Answer[BrokerTablesState]:
        """BQ-STORE-MAX."""
        return self._answered(state, lambda broker: self.broker.max(broker, topic, queue))

    def _written(
        self, state: BrokerTablesState, table: str, handler: Callable[[BrokerState], Answer[BrokerState]]
    ) -> Answer[BrokerTablesState]:
        """A request that writes a table to its file."""
        after, result, why = self._answered(state, handler)
        if not state.running:
            return after, result, why
        content = after.broker.topics if table == table_files.TOPICS else after.broker.groups
        return after._replace(disk=table_files.written(after.disk, table, content)), result, why

    @staticmethod
    def _answered(
        state: BrokerTablesState, handler: Callable[[BrokerState], Answer[BrokerState]]
    ) -> Answer[BrokerTablesState]:
        """A request: only a running broker answers."""
        if not state.running:
            return state, UNREACHABLE, _DOWN
        after, result, why = handler(state.broker)
        return state._replace(broker=after), result, why


def _known(names: tuple[str, ...], table: object) -> tuple[int, ...]:
    return tuple(index for index, name in enumerate(names) if name in table)  # type: ignore[operator]
