"""Which processes have which connections, where there is a ``/proc`` that says so."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from itertools import chain
from pathlib import Path

_PROC = Path("/proc")
#: Columns of a table of connections: the local address, and the number of the socket.
_LOCAL, _NUMBER = 1, 9


def sockets_at(port: int) -> list[str]:
    """The sockets of this machine at a local port, as links to them read; none where that cannot be seen."""
    found = []
    for table in ("tcp", "tcp6"):
        with suppress(OSError):
            rows = map(str.split, (_PROC / "net" / table).read_text().splitlines()[1:])
            found += [f"socket:[{row[_NUMBER]}]" for row in rows if int(row[_LOCAL].rpartition(":")[2], 16) == port]
    return found


def is_open_in(group: int, marked: Iterable[int], socket: str) -> bool:
    """Has a process of a group a socket open, or one of those that are ``marked``, wherever they are?"""
    grouped = (int(folder.name) for folder in _PROC.glob("[0-9]*") if _group_of(int(folder.name)) == group)
    return any(socket in _open_files(_PROC / str(process)) for process in chain(grouped, marked))


def _group_of(process: int) -> int:
    with suppress(OSError):  # it has ended
        return os.getpgid(process)
    return 0


def _open_files(folder: Path) -> set[str]:
    found = set()
    with suppress(OSError):
        for name in os.listdir(folder / "fd"):
            with suppress(OSError):  # it was closed meanwhile
                found.add(os.readlink(folder / "fd" / name))
    return found
