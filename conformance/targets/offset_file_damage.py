"""Plays crashes on the files of a local offset store; shared by the adapters that play ``local-store`` and
``whole-files``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from rocketmq_conformance.models.client.whole_files import CUT, EMPTIED, FOUND, LONGER, LOST, OLDER

CLIENT_ID = "10.0.0.1@conformance"
FILE_NAME = "offsets.json"
#: What the name of the backup has behind that of the file.
BACKUP = ".bak"
#: A table cut off in the middle, as a crash leaves it: no client can parse it.
GARBAGE_TEXT = '{"offsetTable":{{"brokerName":"brok'
_SUFFIXES = {"main": "", "backup": BACKUP}
_TEXTS = {"delete": None, "empty": "", "garbage": GARBAGE_TEXT}


def store_folder(directory: Path, group: str, client: str = CLIENT_ID) -> Path:
    """Where a store keeps its files (OFF-L-PATH)."""
    return directory / client / group


def damage_offset_file(folder: Path, which: str, how: str, name: str = FILE_NAME) -> None:
    """Play the operation ``damage`` on the store in ``folder``: ``which`` is main or backup, ``how`` is delete, empty
    or garbage; ``name`` is that of the main file, the backup's has :data:`BACKUP` behind it.

    A missing file is made. KeyError for anything else.
    """
    file, text = folder / f"{name}{_SUFFIXES[which]}", _TEXTS[how]
    if text is None:
        file.unlink(missing_ok=True)
        return
    folder.mkdir(parents=True, exist_ok=True)
    file.write_text(text, "utf-8")


#: How files are named that hold no offsets, or those of another time; logs may have a number behind.
_BESIDES = re.compile(rf"({re.escape(BACKUP)}|\.tmp|\.lock|\.log|\.log\.\d+|~)\Z")
#: An entry that no client knows, at the beginning of a file like JSON.
_UNKNOWN = b'{"written": {"by": "a neighbour", "times": [1, 2]}, '


def offset_files(folder: Path) -> list[Path]:
    """The offset files of a client below a folder of its own, whatever their names are, without backups. Links are left
    out: what one leads to may belong to others."""
    return sorted(file for file in folder.rglob("*") if _is_file(file) and not _BESIDES.search(file.name))


def backup_of(file: Path) -> Path:
    """The backup of an offset file, which need not be there."""
    return file.with_name(f"{file.name}{BACKUP}")


def become(files: Mapping[Path, bytes], found: str) -> None:
    """Let files and their backups become what ``whole-files`` has them ``found`` as; the mapping has what was in them
    before the last message was consumed. A backup that is not there stays so, and only a file like JSON gets longer."""
    for file, older in files.items():
        for path, how in zip((file, backup_of(file)), FOUND[found], strict=True):
            _become(path, how, older)


def _is_file(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def _become(file: Path, how: str, older: bytes) -> None:
    if how == LOST:
        file.unlink(missing_ok=True)
    elif _is_file(file):
        held = file.read_bytes()
        after = {CUT: held[: len(held) // 2], EMPTIED: b"", OLDER: older}
        if held.startswith(b"{"):
            after[LONGER] = _UNKNOWN + held[1:]
        file.write_bytes(after.get(how, held))
