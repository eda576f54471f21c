"""A broker's folder is on a disk with room, where there is one."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.targets.broker.roomy_disk import broker_folder, percent_in_use
from rocketmq_conformance.models.release import NEWEST, Release


@pytest.fixture
def disks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, SimpleNamespace]:
    """Three disks, by the names of their folders: temporary files are on the first."""
    found = {name: SimpleNamespace(f_blocks=100, f_bfree=5, f_bavail=5, f_flag=0) for name in ("first", "next", "last")}
    for name in found:
        (tmp_path / name).mkdir()
    monkeypatch.setattr(os, "statvfs", lambda folder: found[Path(folder).name])
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "first"))
    return found


def chosen(tmp_path: Path, release: Release = NEWEST) -> str:
    made = broker_folder(release, [tmp_path / "next", tmp_path / "last"])
    assert made.is_dir()
    return made.parent.name


def test_a_disk_with_room_is_preferred(disks: dict[str, SimpleNamespace], tmp_path: Path) -> None:
    disks["last"].f_bavail = disks["last"].f_bfree = 50
    assert chosen(tmp_path) == "last"
    disks["next"].f_bavail = disks["next"].f_bfree = 50
    assert chosen(tmp_path) == "next"
    disks["next"].f_flag = os.ST_NOEXEC
    assert chosen(tmp_path) == "last"
    disks["first"].f_bavail = disks["first"].f_bfree = 13
    assert chosen(tmp_path) == "first"


def test_where_none_has_room_the_sentence_says_what_to_do(disks: dict[str, SimpleNamespace], tmp_path: Path) -> None:
    with pytest.raises(CannotRunError, match=r"is 95 % full, and a broker of 5\.5\.0 takes no messages above 90 %"):
        chosen(tmp_path)
    assert chosen(tmp_path, Release(4, 9, 8)) == "first"
    disks["first"].f_bavail = disks["first"].f_bfree = 10
    assert chosen(tmp_path) == "first"


def test_it_is_rounded_as_brokers_do_it(disks: dict[str, SimpleNamespace]) -> None:
    """What only the system may use counts neither as used nor as free."""
    disks["first"].f_blocks, disks["first"].f_bfree, disks["first"].f_bavail = 1000, 150, 49
    assert percent_in_use(os.statvfs("first")) == 95
