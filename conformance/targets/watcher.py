"""Watchers: processes that end what this one has started, and remove its folders, when this one dies in any way."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

from rocketmq_conformance.conformance.process_group import ProcessGroup

#: Waits for the end of its input, kills a process group, and removes folders.
_WATCH = 'read line; kill -s KILL -- "-$1"; sleep 1; shift; rm -rf -- "$@"'


class Watcher:
    """A process whose input ends when this process dies; signals to the group of this one do not reach it."""

    def __init__(self, command: Sequence[str]) -> None:
        """OSError when it cannot be started."""
        self._group = ProcessGroup(command, os.environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def close(self) -> None:
        """End it: there is nothing left to do for it."""
        self._group.kill()
        assert self._group.process.stdin is not None
        self._group.process.stdin.close()


def watch_group(group: int, folders: Iterable[Path]) -> Watcher:
    """A watcher that kills a process group, and removes folders."""
    return Watcher(["/bin/sh", "-c", _WATCH, "watcher", str(group), *map(str, folders)])
