"""The kit that Spark shipped to this process, unpacked for the processes that it starts.

A worker imports the kit from a zip (``spark/shipping.py`` makes it). Its child processes do not import from the zip but
from its files, unpacked beside it: they start faster, and find data files by their path. A process whose kit was not
shipped passes on the path that it has.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

import rocketmq_conformance

#: Where the kit of this process is imported from. Executors of a cluster give it relative to their folder.
_PLACE = Path(rocketmq_conformance.__file__).absolute().parent.parent


def unpacked() -> Path | None:
    """The folder of the shipped kit on this machine; None when the kit of this process was not shipped.

    It lies beside the zip, in the folder that Spark keeps for the files of a session and cleans up after it. The
    first call unpacks it; concurrent calls get the same folder, complete.
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
            _keep_bytecode(scratch)
            scratch.rename(folder)
        except OSError:
            if not folder.is_dir():
                raise
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
    return folder


def _keep_bytecode(folder: Path) -> None:
    """Put the bytecode of a kit where a Python that imports from files looks for it."""
    for file in list(folder.rglob("*.pyc")):
        place = file.parent / "__pycache__"
        place.mkdir(exist_ok=True)
        file.rename(place / f"{file.stem}.{sys.implementation.cache_tag}.pyc")


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
