"""The folder of what the kit can make again, and texts that are kept there."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from zlib import crc32

from rocketmq_conformance.reports.whole_file import write_whole

_PACKAGE = Path(__file__).parent.parent
#: The folders of modules that texts are made of.
_FOLDERS = tuple(
    str(_PACKAGE / name)
    for name in (
        *("models", "suites", "conformance/cli", "conformance/targets/exec_client"),
        *("conformance/targets/port/mutants", "conformance/targets/broker/mutants"),
    )
)


def cache_folder() -> Path:
    """The folder of files that the kit can make again."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "rocketmq-conformance"


def keep(path: Path, text: str) -> None:
    """Write a file of the cache, whole; OSError when that fails."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, text)


def kept_text(name: str, make: Callable[[], str], folders: Sequence[str] = _FOLDERS) -> str:
    """A text that is made of the modules in folders; it is made anew when one of them has changed.

    Where it cannot be kept it is made each time.
    """
    try:
        modules = repr(sorted(chain.from_iterable(map(_modules, folders))))
    except OSError:
        return make()
    file = cache_folder() / "texts" / f"{crc32(folders[0].encode()):08x}-{name}"
    with suppress(OSError, ValueError):
        state, _, text = file.read_text("utf-8").partition("\n")
        if state == _state(modules, text):
            return text
    text = make()
    with suppress(OSError):
        keep(file, f"{_state(modules, text)}\n{text}")
    return text


def _state(modules: str, text: str) -> str:
    """What a text was made from, and a checksum of it."""
    return f"{crc32(text.encode()):08x} {modules}"


def _modules(folder: str) -> Iterator[tuple[str, int, int]]:
    """Path, time and size of each module."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(".py"):
                about = entry.stat()
                yield entry.path, about.st_mtime_ns, about.st_size
            elif entry.name.isidentifier() and entry.name != "__pycache__" and entry.is_dir():
                yield from _modules(entry.path)
