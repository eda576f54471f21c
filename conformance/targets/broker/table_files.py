"""The files of topics, offsets and groups of a broker that runs here: damaged, restored, and watched (BQ-FILE-*).

The files show when the broker's timer has written: at the start nothing is written to the file of the offsets.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from pathlib import Path

from rocketmq_conformance.conformance.adapter import AdapterError, CannotRunError
from rocketmq_conformance.conformance.remoting import java_json
from rocketmq_conformance.conformance.targets.broker.launch_config import FLUSH_INTERVAL
from rocketmq_conformance.conformance.targets.broker.servers import Broker
from rocketmq_conformance.conformance.waiting import SteadyClock, wait_until
from rocketmq_conformance.models.broker.broker_tables import EARLY, FIRST, LATE, NEXT
from rocketmq_conformance.models.broker.table_files import BACKUP, BRACES, CUT, EMPTY, GONE, GROUPS, OFFSETS, TOPICS

NAMES = {TOPICS: "topics.json", OFFSETS: "consumerOffset.json", GROUPS: "subscriptionGroup.json"}
#: When the timer writes first after a start, and how often from then on (s).
_FIRST, _INTERVAL = 10.0, FLUSH_INTERVAL / 1000
#: How late a write may be on a busy machine (s): the first one, and later ones, which must not take 5 s, the default.
_LATE, _LATER = 15.0, 3.5
#: How soon after another a write may be (s): one that was late is followed by the next in time.
_SOON = 0.3
_LIMIT = 60.0
_LOOK = 0.02


class BrokerTableFiles:
    """The files of one broker, which ``broker`` gives; ``clock`` is waited on between two looks at them."""

    def __init__(self, broker: Callable[[], Broker], clock: SteadyClock = time) -> None:
        self._broker, self._clock = broker, clock
        #: Has any of them been damaged, and not been restored?
        self.damaged = False
        #: The state of the offsets' file at the start, and when the broker began to start and was ready (s); nothing
        #: is known of a start that was made elsewhere.
        self._before: tuple[int, int] | None = None
        self._began = self._ready = 0.0
        self._known = False

    def end(self, end: Callable[[], object], stop: bool, stored: Callable[[], bytes]) -> str:
        """End the broker: had the timer written (EARLY, LATE)?"""
        late = self._is_late()
        if late:
            self._await(stored, self._file(OFFSETS), *(() if stop else (self._backup(OFFSETS),)))
        old, backup = _text(self._file(OFFSETS)), _text(self._backup(OFFSETS))
        end()
        if late:
            return LATE
        new, kept = _text(self._file(OFFSETS)), _text(self._backup(OFFSETS))
        if not stop:
            return EARLY if new == old else "while it was killed: play it again"
        if kept == (backup if old is None else old):
            return EARLY
        return LATE if _table(kept or "") == _table(new or "") else "unknown: the backup is not what was in the file"

    def damage(self, table: str, copy: str, how: str) -> None:
        """Damage one copy while the broker is down."""
        if not self.damaged:
            shutil.copytree(self._folder, self._whole)
            self.damaged = True
        path = self._backup(table) if copy == BACKUP else self._file(table)
        if how == BRACES:
            path.write_bytes(b"{}")
        elif path.exists():
            content = path.read_bytes()
            if how == GONE:
                path.unlink()
            elif how == EMPTY:
                path.write_bytes(b"")
            else:
                path.write_bytes(content[: len(content) // 2] if how == CUT else bytes(len(content)))

    def start(self) -> bool:
        """Start the broker again; False when it ends by itself instead."""
        self._before, self._began = self._state(), time.time()
        try:
            self._broker().start()
        except CannotRunError as error:
            if self._broker().process.alive or "ended while it started" not in str(error):
                raise AdapterError(f"The broker did not come back: {error}") from error
            return False
        self._ready, self._known = time.time(), True
        return True

    def watch(self, stored: Callable[[], bytes]) -> str:
        """Wait for a write of the timer: FIRST, NEXT, or what was wrong with its time."""
        if not self._known or self._is_late():
            before = self._await_write()
            after = self._await_write()
            passed = after - before
            kind = NEXT if _SOON * _INTERVAL <= passed <= _INTERVAL + _LATER else f"{passed:.1f} s after the last"
        else:
            at = self._await_write()
            too_early, too_late = at < self._began + _FIRST, at > self._ready + _FIRST + _LATE
            kind = f"{at - self._ready:.1f} s after the start" if too_early or too_late else FIRST
        self._await(stored, self._file(OFFSETS))
        return kind

    def restore(self) -> None:
        """Undo all damages, while the broker is down."""
        folder = self._folder.resolve()  # the tables may be elsewhere (tables_in_memory.py)
        shutil.rmtree(folder)
        shutil.move(self._whole, folder)
        self.damaged = self._known = False

    # --- inside -----------------------------------------------------------------------------------------------

    @property
    def _folder(self) -> Path:
        return self._broker().store / "config"

    @property
    def _whole(self) -> Path:
        """A copy of the folder from before the first damage."""
        return self._broker().home / "config-before"

    def _file(self, table: str) -> Path:
        return self._folder / NAMES[table]

    def _backup(self, table: str) -> Path:
        return self._folder / f"{NAMES[table]}.bak"

    def _state(self) -> tuple[int, int] | None:
        """The identity of the offsets' file: it changes with each write."""
        try:
            found = self._file(OFFSETS).stat()
        except OSError:
            return None
        return found.st_ino, found.st_mtime_ns

    def _is_late(self) -> bool:
        """Has the timer written since the start?"""
        now = self._state()
        return not self._known or (now is not None and now != self._before)

    def _await_write(self) -> float:
        """When the offsets are written next (s since the epoch)."""
        before = self._state()
        if not wait_until(lambda: self._state() not in (None, before), _LIMIT, _LOOK, self._clock):
            raise AdapterError(f"The broker wrote no offsets in {_LIMIT:.0f} s: see whether its disk is full.")
        return self._file(OFFSETS).stat().st_mtime

    def _await(self, stored: Callable[[], bytes], *paths: Path) -> None:
        """Wait until the offsets in these files are those in memory."""

        def written() -> bool:
            wanted = _table(stored().decode())
            return all(_table(_text(path) or "") == wanted for path in paths)

        if not wait_until(written, _LIMIT, _LOOK, self._clock):
            raise AdapterError(f"The broker did not write its offsets in {_LIMIT:.0f} s: see whether its disk is full.")


def _text(path: Path) -> str | None:
    """The content; None without one that can be read now."""
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return None


def _table(text: str) -> object:
    try:
        return java_json.loads(text).get("offsetTable")
    except (ValueError, AttributeError):  # just being written, or damaged
        return None
