"""A case of the suite of offset files: which files are damaged, and what decides nothing."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from brief_timing import BRIEF
from command_log import CommandLog

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.fakes.group_case import GroupCase
from rocketmq_conformance.conformance.targets.client_program.given_access import GivenAccess
from rocketmq_conformance.conformance.targets.client_program.played_files import PlayedFiles
from rocketmq_conformance.conformance.targets.offset_file_damage import become, offset_files
from rocketmq_conformance.models.outcome import Err, Ok, Outcome
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites import whole_files as operations
from rocketmq_conformance.suites.declare.topologies import ORDINARY

NOBODY = ((), (), (), ())


def came_back(found: str, ends: bool, **files: str) -> Outcome:
    """What a step answers of a member that has written these files, and does not start again: it ends, or sends no
    heartbeat."""
    case = GroupCase(Profile(), broadcasting=True)
    group = PlayedFiles(*(operations.SUITE, Profile(), [""], BRIEF, threading.Event(), lambda _: case, GivenAccess()))

    def start(member: int) -> str:
        group.members.ended_at_start = ends
        raise CannotRunError("no heartbeat")

    group.start = start  # type: ignore[method-assign]
    group._expect(operations.Join(0))
    group.members.programs[0], group.members.ids[0] = CommandLog(), ORDINARY.members[0]  # type: ignore[assignment]
    for name, text in files.items():
        Path(group._store.name, name.replace("_", ".")).write_text(text)
    try:
        return group.do(operations.ComeBack(0, found))
    finally:
        group.close()


@pytest.mark.parametrize(
    ("found", "files", "sentence"),
    [
        ("file cut", {}, "member-0 has written no file below ROCKETMQ_OFFSETS"),
        ("both cut", {"offsets_json": "{1}"}, "there is no backup offsets.json.bak that could be cut"),
        ("file lost, backup cut", {"a": "{1}", "a_bak": ""}, "there is no backup a.bak that could be cut"),
    ],
)
def test_a_file_that_is_not_found_decides_nothing(found: str, files: dict[str, str], sentence: str) -> None:
    assert came_back(found, True, **files) == Err("NOT_REACHED", definite=False, detail=sentence)


@pytest.mark.parametrize("ends", [True, False])
def test_one_that_is_not_to_start_does_not_run_whether_it_ends_or_not(ends: bool) -> None:
    seen = came_back("both cut", ends, a="{1}", a_bak="{1}")
    assert isinstance(seen, Ok)
    assert seen.value[0] == NOBODY  # type: ignore[index]


def test_one_that_ends_where_it_is_to_start_is_seen_not_to_run() -> None:
    seen = came_back("file cut", True, a="{1}", a_bak="{1}")
    assert isinstance(seen, Ok)
    assert seen.value[0] == NOBODY  # type: ignore[index]


def test_one_that_is_late_where_it_is_to_start_decides_nothing() -> None:
    with pytest.raises(CannotRunError):
        came_back("file cut", False, a="{1}", a_bak="{1}")


@pytest.mark.parametrize(
    ("found", "file", "backup"),
    [
        ("file cut", '{"a": ', '{"a": 123456}'),
        ("file empty", "", '{"a": 123456}'),
        ("file lost", None, '{"a": 123456}'),
        ("file older", "old", '{"a": 123456}'),
        ("file longer", '{"written": {"by": "a neighbour", "times": [1, 2]}, "a": 123456}', '{"a": 123456}'),
        ("file cut, backup older", '{"a": ', "old"),
        ("backup cut", '{"a": 123456}', '{"a": '),
        ("both lost", None, None),
    ],
)
def test_files_become_what_they_are_found_as(found: str, file: str | None, backup: str | None, tmp_path: Path) -> None:
    folder = tmp_path / "client" / "group"
    folder.mkdir(parents=True)
    for name in ("offsets.json", "offsets.json.bak", "offsets.json.tmp", "client.log", "client.log.0"):
        (folder / name).write_text('{"a": 123456}')
    (main,) = offset_files(tmp_path)
    become({main: b"old"}, found)

    def text(name: str) -> Any:
        return (folder / name).read_text() if (folder / name).exists() else None

    assert (text("offsets.json"), text("offsets.json.bak")) == (file, backup)
    assert text("offsets.json.tmp") == '{"a": 123456}'


def test_a_file_that_is_not_like_json_gets_no_longer(tmp_path: Path) -> None:
    (tmp_path / "offsets").write_bytes(b"\x01\x02")
    become({tmp_path / "offsets": b""}, "file longer")
    assert (tmp_path / "offsets").read_bytes() == b"\x01\x02"
