"""The reaper of a player: ends it when its worker is gone, and removes its folders.

Spark ends its workers by signals: nothing that they register is run then.
"""

from __future__ import annotations

import contextlib
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Self

from rocketmq_conformance.conformance.alarm import undisturbed

#: Reads the player's process id, and then a line when the player has ended. Without one the worker is gone: the player
#: and its children are killed.
_SCRIPT = 'read player; read ended || kill -s KILL -- "-$player"; rm -rf -- "$@"'


class Reaper:
    """A process that waits for the end of a player; a context manager, which waits until the folders are removed."""

    def __init__(self, folders: Sequence[Path]) -> None:
        """OSError when the process cannot be started; the folders are removed then, too."""
        with undisturbed(), contextlib.ExitStack() as failed:
            for folder in folders:
                failed.callback(shutil.rmtree, folder, ignore_errors=True)
            self._process = subprocess.Popen(
                ["/bin/sh", "-c", _SCRIPT, "reaper", *map(str, folders)],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                bufsize=0,
                process_group=0,  # signals to the group of the worker do not reach it
            )
            failed.pop_all()

    def watch(self, player: int) -> None:
        """Kill the process group ``player`` when the worker is gone."""
        self._say(str(player))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *args: object) -> None:
        self._say("ended")
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()

    def _say(self, line: str) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # it was killed
            self._process.stdin.write(line.encode() + b"\n")
