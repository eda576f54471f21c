"""The system's page cache (Linux): which pages of files are in memory, and paging out those of a running program.

A system drops pages of files when it needs the room; a program that asks for them again waits for the disk. Here it is
made to: the program's pages are reclaimed (``process_madvise`` with MADV_PAGEOUT), then the system forgets them
(``posix_fadvise`` with POSIX_FADV_DONTNEED). Linux 5.10 or later, and the right to do so to another program.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import struct
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from rocketmq_conformance.conformance.targets.broker.launch_config import COMMIT_LOG_FILE

_MADV_PAGEOUT = 21
#: Number of process_madvise, the same on every kind of machine.
_PROCESS_MADVISE = 440
_CAP_SYS_NICE = 23
#: An entry of a consume queue: position and size of the message, hash of its tag.
_ENTRY = struct.Struct(">qiq")
#: How often, and how long apart (s), pages are dropped that come back: they may just be in use.
_TRIES, _PAUSE = 50, 0.02

_NO_LINUX = "needs Linux 5.10 or later, where pages of a running program can be put out of memory"
_NO_RIGHT = "needs the right to put pages of another program out of memory: run as root, or with CAP_SYS_NICE"
_STAY = (
    "needs a store whose pages can be put out of memory, and this one's stay: set TMPDIR to a folder on a disk, not in "
    "memory"
)


class _Vector(ctypes.Structure):
    _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))


def missing() -> str:
    """Why pages cannot be paged out of memory on this machine; "" when they can."""
    if sys.platform != "linux" or not hasattr(os, "pidfd_open"):
        return _NO_LINUX
    version = tuple(int(part) for part in os.uname().release.split("-")[0].split(".")[:2] if part.isdecimal())
    if version < (5, 10):
        return _NO_LINUX
    status = Path("/proc/self/status").read_text()
    rights = next((line.split()[1] for line in status.splitlines() if line.startswith("CapEff:")), "0")
    return "" if int(rights, 16) >> _CAP_SYS_NICE & 1 else _NO_RIGHT


def evict(pid: int, store: Path) -> str:
    """Page a broker's commit log out of memory; the reason when that fails, "" when none of its pages is left there."""
    reason = missing()
    if reason:
        return reason
    files = sorted((store / "commitlog").iterdir())
    for _ in range(_TRIES):
        for file in files:
            _drop(pid, file)
        if not any(any(resident(file)) for file in files):
            return ""
        time.sleep(_PAUSE)
    return _STAY


def in_memory(store: Path, topic: str, queue: int) -> bool | None:
    """Is every page of a queue's message 0 in memory? None when there is no such message any more, or yet."""
    entries = store / "consumequeue" / topic / str(queue) / f"{0:020}"
    try:
        with entries.open("rb") as file:
            position, size, _ = _ENTRY.unpack(file.read(_ENTRY.size))
    except (OSError, struct.error):
        return None
    first = position - position % COMMIT_LOG_FILE
    log = store / "commitlog" / f"{first:020}"
    if size <= 0 or not log.exists():
        return None
    pages = resident(log)
    start = position - first
    return all(pages[start // mmap.PAGESIZE : (start + size - 1) // mmap.PAGESIZE + 1])


def resident(file: Path) -> Sequence[bool]:
    """Which pages of a file are in memory; looking does not bring them there."""
    length = file.stat().st_size
    with file.open("r+b") as opened, mmap.mmap(opened.fileno(), length) as mapped:
        found = (ctypes.c_ubyte * -(-length // mmap.PAGESIZE))()
        place = ctypes.c_char.from_buffer(mapped)
        failed = _libc().mincore(ctypes.c_void_p(ctypes.addressof(place)), ctypes.c_size_t(length), found)
        del place  # else the file stays mapped
        if failed:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), str(file))
    return [bool(page & 1) for page in found]


def _drop(pid: int, file: Path) -> None:
    with file.open("r+b") as opened:
        os.fsync(opened.fileno())  # only what is on disk can be dropped
        _page_out(pid, os.stat(file).st_ino, file.name)
        os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def _page_out(pid: int, node: int, name: str) -> None:
    """Page out a program's mappings of a file. Failure shows by pages that stay."""
    program = os.pidfd_open(pid)
    try:
        for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
            fields = line.split(maxsplit=5)
            if len(fields) == 6 and int(fields[4]) == node and fields[5].rpartition("/")[2] == name:
                start, end = (int(part, 16) for part in fields[0].split("-"))
                part = _Vector(start, end - start)
                _libc().syscall(_PROCESS_MADVISE, program, ctypes.byref(part), ctypes.c_size_t(1), _MADV_PAGEOUT, 0)
    finally:
        os.close(program)


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
