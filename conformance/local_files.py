"""The files of a local offset store, and what a crash does to them."""

from __future__ import annotations

from pathlib import Path

from rocketmq_conformance.models.client.local_store import CLIENT_ID, FILE_NAME, GARBAGE_TEXT, MAIN


def store_folder(directory: Path, group: str) -> Path:
    """Where the store of a case keeps its files (OFF-L-PATH)."""
    return directory / CLIENT_ID / group


def damage(folder: Path, which: str, how: str) -> None:
    """Do what the operation ``damage`` says to the file (main) or its backup in ``folder``; a missing file is made.

    KeyError for a damage that there is not.
    """
    file = folder / (FILE_NAME if which == MAIN else f"{FILE_NAME}.bak")
    text = {"delete": None, "empty": "", "garbage": GARBAGE_TEXT}[how]
    if text is None:
        file.unlink(missing_ok=True)
        return
    folder.mkdir(parents=True, exist_ok=True)
    file.write_text(text, "utf-8")
