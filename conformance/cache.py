"""The folder of what the kit can make again, and texts that are kept there."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from rocketmq_conformance.reports.whole_file import write_whole

#: The package as it is installed.
_PACKAGE = Path(__file__).parent.parent


def cache_folder() -> Path:
    """The folder of files that the kit can make again."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "rocketmq-conformance"


def keep(path: Path, text: str) -> None:
    """Write a file of the cache, whole; OSError when that fails."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, text)


def kept_text(name: str, make: Callable[[], str], package: Path = _PACKAGE) -> str:
    """A text that is made of the modules of ``package``; it is made anew when one of them has changed.

    Where it cannot be kept it is made each time.
    """
    try:
        modules = repr(sorted(_modules(str(package))))
    except OSError:
        return make()
    file = cache_folder() / "texts" / f"{_digest(str(package))[:16]}-{name}"
    with suppress(OSError, ValueError):
        state, _, text = file.read_text("utf-8").partition("\n")
        if state == _digest(modules + text):
            return text
    text = make()
    with suppress(OSError):
        keep(file, f"{_digest(modules + text)}\n{text}")
    return text


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def _modules(folder: str) -> Iterator[tuple[str, int, int]]:
    """Path, time and size of each module."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(".py"):
                about = entry.stat()
                yield entry.path, about.st_mtime_ns, about.st_size
            elif entry.name.isidentifier() and entry.name != "__pycache__" and entry.is_dir():
                yield from _modules(entry.path)
