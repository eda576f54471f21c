"""Temporary folders on a disk in memory, where there is one: files of a case are read soon, and gone with it."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

#: Names a folder for all of them: whoever starts a process and removes what it leaves sets it.
PARENT = "ROCKETMQ_CONFORMANCE_MEMORY_FOLDER"
#: A disk in memory, on Linux, and how much of it must be free (bytes): the files of a case are small.
MEMORY = Path("/dev/shm")
LEAST_FREE = 16 << 20
_PREFIX = "rocketmq-conformance-"


def temporary_folder(memory: Path = MEMORY, least_free: int = LEAST_FREE) -> Path:
    """A new folder, for whoever asks to remove; among other temporary files where there is no disk in memory, it is too
    full, or nothing may be written there."""
    parent = Path(os.environ.get(PARENT, memory))
    try:
        if shutil.disk_usage(parent).free >= least_free:
            return Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
    except OSError:
        pass
    return Path(tempfile.mkdtemp(prefix=_PREFIX))
