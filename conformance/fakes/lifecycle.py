"""The life cycle of the fake broker: its state after it was stopped, killed, frozen and started (BQ-COM-11), and the
files that it starts from (BQ-FILE-*).

Topics, groups and messages are on disk at once, stored offsets when the broker is stopped and when ``save`` is called.
No clock writes them, so that a test knows what a killed broker has lost (BQ-COM-12); ``watched`` lets the time pass
after which it would.
"""

from __future__ import annotations

from rocketmq_conformance.conformance.fakes.storage import Storage
from rocketmq_conformance.models.broker import lifecycle, table_files
from rocketmq_conformance.models.broker.broker_tables import EARLY, FIRST, LATE, NEXT
from rocketmq_conformance.models.broker.group_stats import NOT_PULLED
from rocketmq_conformance.models.broker.state import BrokerState, Stored
from rocketmq_conformance.models.broker.table_files import GROUPS, OFFSETS, TOPICS, Copy, Disk, Loaded, TableFile


class Lifecycle:
    """Called for every event of the broker's process, in the order in which they happen."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        state = storage.state
        self._disk = Disk(
            *(TableFile(Copy(table), Copy(table)) for table in (state.topics, state.stored, state.groups))
        )
        #: The other file of stored offsets: of brokers with light message queues, or of those without (BQ-COM-LMQ).
        self._elsewhere = TableFile(Copy({}), Copy({}))
        #: The broker and its files before the first damage, None without one.
        self._whole: tuple[BrokerState, Disk] | None = None
        #: Has the timer written since the start, and had it when the broker ended last?
        self._timed = False
        self.end = EARLY
        storage.write_topics, storage.write_groups = self._write_topics, self._write_groups

    # --- files ------------------------------------------------------------------------------------------------

    @property
    def _written(self) -> Stored:
        """Stored offsets as they are on disk."""
        table: Stored = self._disk.offsets.main.table
        return table

    def write(self, table: str, content: object) -> None:
        """Write a table to its file."""
        self._disk = table_files.written(self._disk, table, content)

    def _write_topics(self) -> None:
        self.write(TOPICS, self._storage.state.topics)

    def _write_groups(self) -> None:
        self.write(GROUPS, self._storage.state.groups)

    def save(self) -> None:
        """Stored offsets are written to disk."""
        self.write(OFFSETS, self._storage.state.stored)

    def settle(self) -> None:
        """Everything is on disk, in both copies."""
        for _ in range(2):
            self.save()
            self._write_topics()
            self._write_groups()

    def watched(self) -> str:
        """The timer wrote: the first time since the start, or once more."""
        self.save()
        kind, self._timed = NEXT if self._timed else FIRST, True
        return kind

    def damage(self, table: str, copy: str, how: str) -> None:
        """Damage a file while the broker is down."""
        if self._whole is None:
            self._whole = self._storage.state, self._disk
        self._disk = table_files.damaged(self._disk, table, copy, how)

    def read(self) -> Loaded:
        """What a start makes of the files."""
        return table_files.load(self._storage.rules, self._disk)

    def load(self) -> bool:
        """Would the broker start on its files? One that would not writes to them."""
        loaded = self.read()
        if not loaded.started:
            self._disk = loaded.disk
        return loaded.started

    def restore(self) -> None:
        """Bring the files back that there were before the first damage, while the broker is down."""
        if self._whole is not None:
            self._storage.state, self._disk = self._whole
            self._whole = None

    def take_over(self, other: Lifecycle) -> None:
        """Have the files that a broker left behind."""
        self._disk, self._elsewhere = other._disk, other._elsewhere
        if self._storage.rules.light != other._storage.rules.light:
            self._disk, self._elsewhere = self._disk._replace(offsets=self._elsewhere), self._disk.offsets

    def put_elsewhere(self, stored: Stored) -> None:
        """Before the first start: the stored offsets in the other file."""
        self._elsewhere = TableFile(Copy(stored), Copy(stored))

    # --- the process ------------------------------------------------------------------------------------------

    def stopped(self, frozen: bool) -> None:
        """The broker was asked to end; one that was ``frozen`` went on before that."""
        self._catch_up()
        self.save()
        if self._storage.rules.stop_writes_tables:
            self._write_topics()
            self._write_groups()

    def killed(self) -> None:
        """The broker was ended at once."""
        self._catch_up()

    def _catch_up(self) -> None:
        """A timer that has begun to write has written everything by now."""
        self.end = LATE if self._timed else EARLY
        if self._timed:
            self.save()
            self.save()
        self._timed = False

    def started(self) -> None:
        """The broker starts with what is on disk."""
        storage = self._storage
        loaded = self.read()
        self._disk = loaded.disk
        state = storage.state._replace(stored=loaded.tables[OFFSETS])
        if self._whole is not None:
            state = state._replace(topics=loaded.tables[TOPICS], groups=loaded.tables[GROUPS])
        state = lifecycle.restart(storage.rules, state)
        storage.state = lifecycle.with_memory(storage.rules, state, hot=True)
        storage.gone_on = NOT_PULLED
        storage.hot = storage.rules.hot or storage.rules.empty_is_unknown

    def paused(self) -> None:
        """The broker is about to be frozen."""

    def resumed(self) -> None:
        """The broker went on, and has taken up the requests that arrived meanwhile."""
