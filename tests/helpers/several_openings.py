"""Implementations that several processes open, addressed as ``python:several_openings:NAME``."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from rocketmq_conformance.conformance.adapter import CannotRunError, Case
from rocketmq_conformance.conformance.targets.port.adapter import Port


class KilledInPull(Port):
    """Its process is killed in the third case of a suite."""

    def reset(self, case: Case) -> None:
        if case.suite.name == "pull" and case.number == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        super().reset(case)


def twice() -> Port:
    """A port that can be opened two times; files in the current folder show how often it was."""
    return _opened(2)


def once() -> Port:
    return _opened(1)


def _opened(times: int) -> Port:
    for number in range(times):
        try:
            Path(f"opened-{number}").touch(exist_ok=False)
        except FileExistsError:
            continue
        return Port()
    raise CannotRunError("all that there are have been opened")
