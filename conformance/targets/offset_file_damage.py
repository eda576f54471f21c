"""Plays crashes on the files of a local offset store; shared by the adapters that play the suite ``local-store``."""

from __future__ import annotations

from pathlib import Path

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
