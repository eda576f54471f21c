"""Block files of a campaign: written atomically, each with the digest of its own bytes, and listed."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from hashlib import blake2b
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from rocketmq_conformance.conformance.campaign.tables.schema import BLOCKS
from rocketmq_conformance.conformance.campaign.tables.version import VERSION
from rocketmq_conformance.conformance.waiting import wait_until

#: Seconds that the writing of one block may take.
PATIENCE = 10.0
_NAME = re.compile(r"block-(\d{8,})\.parquet")
#: The key in the metadata of a file whose value is the digest of its bytes, with zeros in the place of the digest.
_KEY, _UNKNOWN = "rocketmq-conformance-digest", b"0" * 32
#: How a footer begins it: after the key come the number of the next field and the length of the value (Thrift).
_SEAL = _KEY.encode() + bytes([0x18, len(_UNKNOWN)])
#: What a file that was damaged is renamed to; Spark and others take it for none of a table.
ASIDE = "_damaged-"


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
        written = pa.BufferOutputStream()
        pq.write_table(rows.cast(_plain(rows.schema)), written, compression="zstd", write_page_checksum=True)
        hidden.write_bytes(_with_digest(written.getvalue().to_pybytes()))
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


def is_whole(data: bytes) -> bool:
    """Has a file the bytes that were written? One of an older kit has no digest, and is taken to be."""
    at = data.rfind(_SEAL) + len(_SEAL)
    return at < len(_SEAL) or _digest(data, at) == data[at : at + len(_UNKNOWN)]


def _with_digest(data: bytes) -> bytes:
    at = data.rfind(_SEAL) + len(_SEAL)
    return data[:at] + _digest(data, at) + data[at + len(_UNKNOWN) :]


def _digest(data: bytes, at: int) -> bytes:
    """The digest of a file that has it at this place."""
    view = memoryview(data)
    found = blake2b(view[:at], digest_size=len(_UNKNOWN) // 2)
    found.update(_UNKNOWN)
    found.update(view[at + len(_UNKNOWN) :])
    return found.hexdigest().encode()


def set_aside(file: Path) -> Path:
    """Rename a file of a table that is damaged; the result is its name from now on."""
    return file.replace(file.with_name(f"{ASIDE}{file.name}"))


def named_before(file: Path) -> Path:
    """The name of a file before it was set aside."""
    return file.with_name(file.name.removeprefix(ASIDE))


def unfinished(folder: Path, table: str) -> list[Path]:
    """The files of a table that somebody is writing, or was writing when it was killed."""
    return list((folder / table).glob("suite=*/.block-*"))


def await_writers(folder: Path, table: str) -> None:
    """Wait, at most ``PATIENCE`` seconds, until nobody is in the middle of writing a block of a table."""
    wait_until(lambda: not unfinished(folder, table), PATIENCE, 0.05)


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
    return pa.schema(fields, metadata={"rocketmq-conformance": str(VERSION), _KEY: _UNKNOWN})


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
