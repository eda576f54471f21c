"""Builds of programs in other languages: one after the other, and each once for all processes of a run of tests."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fcntl import LOCK_EX, flock
from pathlib import Path

import pytest


def shared_folder(factory: pytest.TempPathFactory) -> Path:
    """The folder that all processes of a run share."""
    base = factory.getbasetemp()
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base


@contextmanager
def building(factory: pytest.TempPathFactory) -> Iterator[None]:
    """Wait for those that build: what they compile is not compiled again, and each keeps all processors busy."""
    with (shared_folder(factory) / "building").open("w") as lock:
        flock(lock, LOCK_EX)
        yield


def built_once(name: str, build: Callable[[Path], None], factory: pytest.TempPathFactory) -> Path:
    """The folder of what ``build`` makes in an empty one; the first process that asks for it builds."""
    whole = shared_folder(factory) / name
    with building(factory):
        if not whole.exists():
            made = factory.mktemp(name)
            build(made)
            # programs know the folder that they were built in
            whole.symlink_to(made)
    return whole.resolve()
