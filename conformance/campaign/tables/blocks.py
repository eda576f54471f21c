"""Block files of a campaign: written atomically, and listed."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from rocketmq_conformance.conformance.campaign.tables.schema import BLOCKS, VERSION

#: Seconds that the writing of one block may take.
PATIENCE = 10.0
_NAME = re.compile(r"block-(\d{8,})\.parquet")


def path(folder: Path, table: str, suite: str, block: int) -> Path:
    """Where a block of a table is kept."""
    return folder / table / f"suite={suite}" / f"block-{block:08}.parquet"


def write(file: Path, rows: pa.Table, still: Callable[[], bool] = lambda: True) -> bool:
    """Write a file atomically; OSError when it cannot be written, and nothing is left then.

    ``still`` is called just before the rename: where it returns False, the file is not written and False is returned.
    Two writers of the same block write the same rows, so it does not matter which of them comes last.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    hidden = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        pq.write_table(rows.cast(_plain(rows.schema)), hidden, compression="zstd")
        wanted = still()
        if wanted:
            hidden.replace(file)
        else:
            hidden.unlink()
    except BaseException as error:
        hidden.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno:  # Arrow's own message is long
            raise OSError(error.errno, os.strerror(error.errno), str(file)) from error
        raise
    return wanted


def unfinished(folder: Path, table: str) -> list[Path]:
    """The files of a table that somebody is writing, or was writing when it was killed."""
    return list((folder / table).glob("suite=*/.block-*"))


def await_writers(folder: Path, table: str) -> None:
    """Wait, at most ``PATIENCE`` seconds, until nobody is in the middle of writing a block of a table."""
    end = time.monotonic() + PATIENCE
    while unfinished(folder, table) and time.monotonic() < end:
        time.sleep(0.05)


def remove_unfinished(folder: Path) -> None:
    """Remove the unfinished files of all tables; a writer that is still at one of them fails."""
    for table in BLOCKS:
        for file in unfinished(folder, table):
            file.unlink(missing_ok=True)


def _plain(schema: pa.Schema) -> pa.Schema:
    """The schema as files have it: text is plain, and the version is in the metadata of the file.

    Arrow writes no metadata without its own schema, and with a dictionary in that schema pandas would read
    categories.
    """
    fields = [
        pa.field(field.name, pa.string() if pa.types.is_dictionary(field.type) else field.type, nullable=False)
        for field in schema
    ]
    return pa.schema(fields, metadata={"rocketmq-conformance": str(VERSION)})


def numbers(folder: Path, table: str, suite: str) -> Iterator[int]:
    """Numbers of the blocks of a suite that a table has, finished or not, in no order."""
    place = folder / table / f"suite={suite}"
    if not place.is_dir():
        return
    with os.scandir(place) as entries:
        for entry in entries:
            found = _NAME.fullmatch(entry.name)
            if found:
                yield int(found[1])
