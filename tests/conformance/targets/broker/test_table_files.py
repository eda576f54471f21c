"""The files of a broker that runs here, with a stand-in for its process."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from rocketmq_conformance.conformance.adapter import AdapterError, CannotRunError
from rocketmq_conformance.conformance.targets.broker import table_files
from rocketmq_conformance.conformance.targets.broker.servers import Broker
from rocketmq_conformance.conformance.targets.broker.table_files import BrokerTableFiles
from rocketmq_conformance.models.broker.broker_tables import EARLY, FIRST, LATE, NEXT
from rocketmq_conformance.models.broker.table_files import BACKUP, BRACES, CUT, EMPTY, GONE, MAIN, OFFSETS, ZEROS

OLD, NEW = '{"offsetTable":{"a@b":{0:1}}}', '{"offsetTable":{"a@b":{0:2}}}'


class Standin:
    """A broker whose start and end do what the test says."""

    def __init__(self, home: Path) -> None:
        self.home, self.store = home, home / "store"
        self.config = self.store / "config"
        self.config.mkdir(parents=True)
        self.main, self.backup = (self.config / name for name in ("consumerOffset.json", "consumerOffset.json.bak"))
        self.main.write_text(OLD)
        self.backup.write_text("{}")
        self.process = SimpleNamespace(alive=False)
        self.error = ""
        #: How often its timer is still to write: once whenever somebody waits.
        self.writes = 0

    monotonic = staticmethod(time.monotonic)

    def sleep(self, seconds: float, /) -> None:
        time.sleep(seconds)  # the time of a file is coarse
        if self.writes:
            self.writes -= 1
            self.backup.write_text(NEW)
            self.main.write_text(NEW)

    def start(self) -> None:
        if self.error:
            raise CannotRunError(self.error)


@pytest.fixture
def broker(tmp_path: Path) -> Standin:
    return Standin(tmp_path)


@pytest.fixture
def files(broker: Standin) -> BrokerTableFiles:
    found = BrokerTableFiles(lambda: cast(Broker, broker), broker)
    assert found.start()
    return found


def stored() -> bytes:
    return NEW.encode()


def writes(broker: Standin, main: str, backup: str | None = None) -> Callable[[], None]:
    """An end at which these are written."""

    def end() -> None:
        broker.main.write_text(main)
        if backup is not None:
            broker.backup.write_text(backup)

    return end


def test_an_end_shows_whether_the_timer_wrote(broker: Standin, files: BrokerTableFiles) -> None:
    assert files.end(writes(broker, NEW, OLD), True, stored) == EARLY
    files.start()
    assert files.end(writes(broker, OLD, OLD), True, stored) == LATE
    files.start()
    assert files.end(writes(broker, NEW, "{}"), True, stored).startswith("unknown")
    broker.main.write_text(OLD)
    files.start()
    assert files.end(lambda: None, False, stored) == EARLY
    files.start()
    assert files.end(writes(broker, NEW), False, stored).startswith("while it was killed")


def test_a_timer_that_has_written_catches_up_first(broker: Standin, files: BrokerTableFiles) -> None:
    broker.main.write_text("{ }")
    broker.writes = 1
    assert files.end(lambda: None, False, stored) == LATE
    assert broker.main.read_text() == broker.backup.read_text() == NEW


@pytest.mark.parametrize(
    ("how", "left"), [(GONE, None), (EMPTY, b""), (CUT, OLD[: len(OLD) // 2].encode()), (BRACES, b"{}")]
)
def test_damages(broker: Standin, files: BrokerTableFiles, how: str, left: bytes | None) -> None:
    assert not files.damaged
    files.damage(OFFSETS, MAIN, how)
    assert (broker.main.read_bytes() if broker.main.exists() else None) == left
    files.damage(OFFSETS, BACKUP, ZEROS)
    assert broker.backup.read_bytes() == b"\0\0"
    files.damage(OFFSETS, BACKUP, GONE)
    files.damage(OFFSETS, BACKUP, CUT)
    assert not broker.backup.exists()
    assert files.damaged
    files.restore()
    assert (broker.main.read_text(), broker.backup.read_text(), files.damaged) == (OLD, "{}", False)


def test_a_start_may_be_refused_and_must_not_fail_otherwise(broker: Standin, files: BrokerTableFiles) -> None:
    broker.error = "Broker 4.9.7 ended while it started: no JSON"
    assert not files.start()
    broker.error = "Broker 4.9.7 was not ready after 180 s"
    with pytest.raises(AdapterError, match="did not come back"):
        files.start()


def test_writes_are_in_time_or_not(broker: Standin, files: BrokerTableFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_files, "_FIRST", 0.0)
    broker.writes = 1
    assert files.watch(stored) == FIRST
    monkeypatch.setattr(table_files, "_INTERVAL", 0.0)
    broker.writes = 2
    assert files.watch(stored) == NEXT
    monkeypatch.setattr(table_files, "_LATER", 0.0)
    broker.writes = 2
    assert files.watch(stored).endswith(" s after the last")
    monkeypatch.setattr(table_files, "_FIRST", 10.0)
    files.start()
    broker.writes = 1
    assert files.watch(stored).endswith(" s after the start")


def test_a_broker_that_writes_nothing_ends_the_wait(
    broker: Standin, files: BrokerTableFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_files, "_LIMIT", 0.05)
    with pytest.raises(AdapterError, match="wrote no offsets"):
        files.watch(stored)
    broker.main.unlink()
    changed: Any = broker.main.write_text("{")
    assert changed
    with pytest.raises(AdapterError, match="did not write its offsets"):
        files.end(lambda: None, True, stored)
