"""Shipping the kit to Spark's workers: the driver sends the code that it runs itself, as one zip.

The zip holds the installed package, however it was installed, and beside its modules the bytecode that this Python
keeps of them: workers that compile them begin later. A worker with another Python takes the sources. Spark puts the zip
first on the path of its Python workers, so another version of the kit on a worker, or none at all, does not matter.
Processes that a worker starts use the zip through ``player/shipped_kit.py``.

Workers import this module before it is known what is installed there, so it imports the standard library alone.
"""

from __future__ import annotations

import atexit
import fcntl
import os
import platform
import shutil
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from hashlib import sha256
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.resources import files
from importlib.resources.abc import Traversable
from importlib.util import MAGIC_NUMBER, cache_from_source, find_spec, source_hash
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PACKAGE = "rocketmq_conformance"
#: What installs everything that a campaign needs.
INSTALL = "pip install 'rocketmq-conformance[spark]'"
#: What the Python of a worker must have beside PySpark: parts of them are compiled, so a zip cannot bring them.
NEEDED = ("click", "hypothesis", "psutil", "pyarrow")
#: Folders of zips, which are locked as long as their process lives; none is locked in its first moments (s).
_PREFIX, _YOUNG = "rocketmq-conformance-shipped-", 60.0
#: The oldest time that a zip can hold: equal files make equal zips.
_TIME = (1980, 1, 1, 0, 0, 0)
#: The flag of bytecode that is taken without a look at its source (PEP 552).
_UNCHECKED = (1).to_bytes(4, "little")


def contents() -> dict[str, bytes]:
    """All files of the kit, modules and data, by their name on an import path.

    What was compiled for this machine stays here: every such module is there in Python too.
    """
    return dict(sorted(_walk(files(PACKAGE), PACKAGE)))


def _walk(folder: Traversable, name: str) -> Iterator[tuple[str, bytes]]:
    for entry in folder.iterdir():
        path = f"{name}/{entry.name}"
        if entry.name.endswith(tuple(EXTENSION_SUFFIXES)):
            continue
        if entry.name.startswith((".", "__pycache__")):
            continue
        if entry.is_dir():
            yield from _walk(entry, path)
        elif not entry.name.endswith((".pyc", "~")):
            yield path, entry.read_bytes()


def bytecode(kit: Mapping[str, bytes]) -> dict[str, bytes]:
    """What this Python keeps of the kit's modules and would take itself, by the name that ``zipimport`` looks for:
    ``module.pyc`` beside ``module.py``. It was compiled from these sources, so that nobody needs to compare it."""
    place = files(PACKAGE)
    if not isinstance(place, Path):
        return {}
    found = {}
    for name, source in kit.items():
        if name.endswith(".py"):
            module = place.parent / name
            code = _kept(Path(cache_from_source(module)), module.stat(), source)
            if code:
                found[f"{name}c"] = MAGIC_NUMBER + _UNCHECKED + source_hash(source) + code
    return found


def _kept(file: Path, module: os.stat_result, source: bytes) -> bytes:
    """The code of a file of bytecode; b"" when there is none of this module as it is."""
    try:
        data = file.read_bytes()
    except OSError:
        return b""
    by_hash = any(data[4:8])
    stamp = source_hash(source) if by_hash else _number(int(module.st_mtime)) + _number(module.st_size)
    return data[16:] if data[:4] == MAGIC_NUMBER and data[8:16] == stamp else b""


def _number(value: int) -> bytes:
    return (value & 0xFFFFFFFF).to_bytes(4, "little")


def pack(folder: Path) -> Path:
    """Write the kit as a zip into a folder; its name has a digest of the contents; equal files give equal bytes."""
    kit = contents()
    digest = sha256()
    for name, data in kit.items():
        digest.update(f"{name}\0{len(data)}\0".encode() + data)
    archive = folder / f"{PACKAGE.replace('_', '-')}-{digest.hexdigest()[:16]}.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as out:
        for name, data in {**kit, **bytecode(kit)}.items():
            entry = zipfile.ZipInfo(name, _TIME)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            # a session waits for it, and it goes no further than its cluster
            out.writestr(entry, data, compresslevel=1)
    return archive


@cache
def _packed() -> Path:
    """The zip of this process. Spark hands it to workers that join late, so it stays until the process ends."""
    remove_left()
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
    _lock(folder)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return pack(folder)


def remove_left() -> None:
    """Remove the zips of processes that were killed: those whose folder nobody holds."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError):
            if time.time() - folder.stat().st_mtime > _YOUNG:
                held = _lock(folder)
                shutil.rmtree(folder, ignore_errors=True)
                os.close(held)


def _lock(folder: Path) -> int:
    """Hold a folder until this process ends, however it does; OSError where another one holds it."""
    opened = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(opened)
        raise
    return opened


def ship(spark: SparkSession) -> Path:
    """Put the kit first on the path of every worker of the session, once; the answer is the zip."""
    archive = _packed()
    before = list(sys.path)
    spark.sparkContext.addPyFile(str(archive))
    # the driver has the kit, and its copy is deleted with the session
    sys.path[:] = before
    return archive


def check_worker() -> str:
    """What the Python of this process lacks to play cases, as one sentence; "" when it has everything."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if not missing:
        return ""
    return (
        f"The Python of the worker {platform.node()} ({sys.executable}) has no {', '.join(missing)}: install it "
        f"there with `{INSTALL}`, or set PYSPARK_PYTHON to a Python that has it."
    )
