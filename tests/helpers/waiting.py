"""Waiting for what a busy machine does late."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

from rocketmq_conformance.conformance import waiting

#: Seconds after which a test that waits in vain fails; nothing takes as long, whatever else the machine does.
PATIENCE = 300.0


def wait_until(holds: Callable[[], object], process: subprocess.Popen[str] | None = None) -> None:
    """Wait for something to happen, while a process lives if one is named."""

    def happened() -> object:
        assert process is None or process.poll() is None, process.communicate()
        return holds()

    assert waiting.wait_until(happened, PATIENCE, 0.02), "it did not happen"


def alive(pid: int) -> bool:
    """Does a process live? One that waits for somebody to take note of its death does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def wait_for_end(*pids: int) -> None:
    """Wait until processes that were killed, or are about to end, have ended."""
    wait_until(lambda: not any(map(alive, pids)))
