"""Temporary folders are on a disk in memory, where there is one with room."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from rocketmq_conformance.conformance.engine.memory_folder import PARENT, temporary_folder


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where other temporary files are."""
    folder = tmp_path / "disk"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    folder = tmp_path / "memory"
    folder.mkdir()
    return folder


def test_a_folder_is_in_memory(disk: Path, memory: Path) -> None:
    made = temporary_folder(memory, least_free=0)
    assert made.is_dir()
    assert made.parent == memory
    assert temporary_folder(memory, least_free=0) != made


def test_a_full_disk_and_one_that_is_not_there_are_not_used(disk: Path, memory: Path) -> None:
    assert temporary_folder(memory, least_free=1 << 80).parent == disk
    assert temporary_folder(memory / "none").parent == disk


def test_whoever_starts_a_process_says_where_its_folders_are(
    disk: Path, memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = memory / "named"
    named.mkdir()
    monkeypatch.setenv(PARENT, str(named))
    assert temporary_folder(memory, least_free=0).parent == named
