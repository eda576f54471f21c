"""Which of several servers a player uses: one that no other player does, as long as there is one."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path


class TakenServers:
    """The servers that a player has taken; one that dies gives them back."""

    def __init__(self) -> None:
        self._locks = ExitStack()

    def take(self, addresses: Sequence[str], folder: Path) -> str:
        """One of these addresses, for this player alone while there are enough of them.

        The players lock files in ``folder``, which is theirs alone and on their machine.
        """
        for number, address in enumerate(addresses):
            lock = self._locks.enter_context((folder / f"{number}.lock").open("w"))
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            return address
        return addresses[os.getpid() % len(addresses)]

    def close(self) -> None:
        """Give them back."""
        self._locks.close()
