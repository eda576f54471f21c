"""The kit on the workers: the driver ships the very code that it runs itself, and workers start children with it.

What is shipped is one zip of the installed package, whatever way it is installed; Spark puts it first on the path of
its Python workers, so that another version there, or none, does not matter. Children of a worker do not import from
the zip but from its files beside it: they start faster, and find data by their path.

Workers import this module before they know what they have, so it imports nothing but the standard library.
"""

from __future__ import annotations

import atexit
import os
import platform
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from functools import cache
from hashlib import sha256
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.resources import files
from importlib.resources.abc import Traversable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import rocketmq_conformance

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PACKAGE = "rocketmq_conformance"
#: What installs everything that a campaign needs.
INSTALL = "pip install 'rocketmq-conformance[spark]'"
#: What the Python of a worker must have beside PySpark: parts of them are compiled, so a zip cannot bring them.
NEEDED = ("click", "hypothesis", "psutil", "pyarrow")
#: The oldest time that a zip can tell: equal files make equal zips.
_TIME = (1980, 1, 1, 0, 0, 0)
#: Where the kit of this process is imported from. Executors of a cluster give it relative to their folder.
_PLACE = Path(rocketmq_conformance.__file__).absolute().parent.parent


def contents() -> dict[str, bytes]:
    """All files of the kit, modules and data, by their name on an import path.

    What was compiled stays here: it fits this machine and this Python, and every such module is there in Python too.
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


def pack(folder: Path) -> Path:
    """Write the kit as a zip into a folder; its name tells its contents, and equal contents give equal bytes."""
    kit = contents()
    digest = sha256()
    for name, data in kit.items():
        digest.update(f"{name}\0{len(data)}\0".encode() + data)
    archive = folder / f"{PACKAGE.replace('_', '-')}-{digest.hexdigest()[:16]}.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as out:
        for name, data in kit.items():
            entry = zipfile.ZipInfo(name, _TIME)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            out.writestr(entry, data)
    return archive


@cache
def _packed() -> Path:
    """The zip of this process. Spark hands it to workers that join late, so it stays until the process ends."""
    folder = Path(tempfile.mkdtemp(prefix="rocketmq-conformance-kit-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return pack(folder)


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


def unpacked() -> Path | None:
    """The folder of the shipped kit on this machine; None when the kit of this process was not shipped.

    It lies beside the zip, in the folder that Spark keeps for the files of a session and cleans up after it. The
    first one to ask unpacks; whoever asks at the same time gets the same folder, never half of it.
    """
    archive = _archive()
    if archive is None:
        return None
    folder = archive.with_suffix("")
    if not folder.is_dir():
        scratch = Path(tempfile.mkdtemp(prefix=".kit-", dir=archive.parent))
        try:
            with zipfile.ZipFile(archive) as kit:
                kit.extractall(scratch)
            scratch.rename(folder)
        except OSError:
            if not folder.is_dir():
                raise
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
    return folder


def _archive() -> Path | None:
    """The zip that the kit of this process was imported from."""
    return _PLACE if _PLACE.is_file() else None


def child_environment(extra_path: Sequence[str] = ()) -> dict[str, str]:
    """The environment of a child Python of this process that imports the same code.

    Its path begins with the shipped kit and the files that the user shipped, then come the places of ``extra_path``
    that there are on this machine, then what this process was given.
    """
    path = []
    archive, kit = _archive(), unpacked()
    if archive is not None and kit is not None:
        path.append(str(kit))
        places = [Path(place).absolute() for place in sys.path]
        path += [str(place) for place in places if place != archive and place.is_relative_to(archive.parent)]
    path += [place for place in extra_path if Path(place).exists()]
    path += filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
    return {**os.environ, "PYTHONPATH": os.pathsep.join(dict.fromkeys(path))}


def check_workers(spark: SparkSession) -> str:
    """What a worker of the session lacks, as one sentence, or "". Raises what Spark raises when no task can run.

    It asks as many tasks as run at once: which workers they meet is Spark's choice, so tasks ask again.
    """
    tasks = spark.sparkContext.defaultParallelism
    answers = spark.sparkContext.parallelize(range(tasks), tasks).map(lambda _: check_worker()).collect()
    return next(filter(None, answers), "")
