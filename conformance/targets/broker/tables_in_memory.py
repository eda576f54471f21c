"""Keeps the tables of a started broker on a disk in memory, where there is one.

A broker writes a whole table, and waits for the disk, whenever a topic or a group is created or deleted. A kit's broker
lives for minutes and its folder is removed with it, so that nothing is lost; its process may be killed all the same,
as files in memory outlive it. Messages stay on the disk.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from rocketmq_conformance.conformance.engine.memory_folder import MEMORY

#: How much of the disk in memory must be free (bytes): tables are small, but they may be in RocksDB.
LEAST_FREE = 512 << 20


def keep_in_memory(home: Path, memory: Path = MEMORY, least_free: int = LEAST_FREE) -> None:
    """Move the tables under ``home`` to a disk in memory; nothing changes where there is none, it is too full, or
    something is in the way."""
    tables, folder = _tables(home), memory / home.name
    try:
        if shutil.disk_usage(memory).free < least_free:
            return
        tables.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700)
    except OSError:
        return
    if tables.exists():
        shutil.copytree(tables, folder, dirs_exist_ok=True)
        shutil.rmtree(tables)
    tables.symlink_to(folder)


def folders(home: Path) -> list[Path]:
    """Everything that must be removed with a broker: its folder, and that of its tables if it is elsewhere."""
    tables = _tables(home)
    return [tables.readlink(), home] if tables.is_symlink() else [home]


def remove(home: Path) -> None:
    """Remove all of it; never fails."""
    for folder in folders(home):
        shutil.rmtree(folder, ignore_errors=True)


def _tables(home: Path) -> Path:
    return home / "store" / "config"
