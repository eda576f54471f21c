"""Finds a disk with room for a broker's folder: a broker takes no messages where the disk is nearly full.

Before 5.0.0 a system property says how full it may be; since then a broker looks after its first minute, and no setting
allows more than 90 %.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.engine.memory_folder import MEMORY
from rocketmq_conformance.models.release import Release

#: Percent of a disk in use above which brokers refuse messages, and above which the kit looks for another disk.
REFUSES, NEARLY = 90, 87
#: Disks that may have room when that of temporary files has none.
OTHERS = (Path("/var/tmp"), MEMORY)
_CAPPED = Release(5, 0, 0)


def percent_in_use(disk: os.statvfs_result) -> int:
    """How full a disk is, rounded up as brokers do it."""
    used = disk.f_blocks - disk.f_bfree
    return -(-100 * used // (used + disk.f_bavail))


def broker_folder(release: Release, others: Sequence[Path] = OTHERS) -> Path:
    """A new folder for a broker, among temporary files where their disk has room, else on the first one that has.

    Raises:
        CannotRunError: no disk has, and the release refuses messages there.
    """
    ordinary = Path(tempfile.gettempdir())
    in_use = percent_in_use(os.statvfs(ordinary))
    parent = ordinary
    if in_use > NEARLY:
        parent = next((other for other in others if _has_room(other)), ordinary)
        if parent == ordinary and in_use > REFUSES and release >= _CAPPED:
            raise CannotRunError(
                f"The disk of {ordinary} is {in_use} % full, and a broker of {release} takes no messages above "
                f"{REFUSES} %: free some of it, or set TMPDIR to a folder on a disk with room."
            )
    return Path(tempfile.mkdtemp(prefix="rocketmq-conformance-", dir=parent))


def _has_room(folder: Path) -> bool:
    try:
        disk = os.statvfs(folder)
        runs_programs = not disk.f_flag & os.ST_NOEXEC  # brokers load libraries that they unpack there
        return runs_programs and percent_in_use(disk) <= NEARLY and os.access(folder, os.W_OK | os.X_OK)
    except OSError:
        return False
