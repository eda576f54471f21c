"""The tables of a started broker are kept on a disk in memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocketmq_conformance.conformance.targets.broker.tables_in_memory import folders, keep_in_memory, remove


@pytest.fixture
def home(tmp_path: Path) -> Path:
    made = tmp_path / "home"
    made.mkdir()
    return made


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    made = tmp_path / "memory"
    made.mkdir()
    return made


def test_tables_that_were_prepared_are_moved(home: Path, memory: Path) -> None:
    tables = home / "store" / "config"
    tables.mkdir(parents=True)
    (tables / "topics.json").write_text("{}")
    keep_in_memory(home, memory, least_free=0)
    assert tables.resolve() == memory / "home"
    assert (memory / "home" / "topics.json").read_text() == (tables / "topics.json").read_text() == "{}"


def test_an_empty_store_gets_its_tables_in_memory(home: Path, memory: Path) -> None:
    keep_in_memory(home, memory, least_free=0)
    (home / "store" / "config" / "topics.json").write_text("{}")
    assert (memory / "home" / "topics.json").exists()


def test_both_folders_are_removed(home: Path, memory: Path) -> None:
    keep_in_memory(home, memory, least_free=0)
    assert folders(home) == [memory / "home", home]
    remove(home)
    remove(home)
    assert not home.exists()
    assert not list(memory.iterdir())


@pytest.mark.parametrize("place", ["memory", "nowhere"])
def test_tables_stay_where_memory_is_full_or_there_is_none(place: str, home: Path, tmp_path: Path) -> None:
    (tmp_path / "memory").mkdir()
    keep_in_memory(home, tmp_path / place, least_free=1 << 62)
    assert folders(home) == [home]
    assert not list(home.iterdir())


def test_a_folder_of_the_same_name_is_left_alone(home: Path, memory: Path) -> None:
    (memory / "home").mkdir()
    keep_in_memory(home, memory, least_free=0)
    assert folders(home) == [home]


def test_a_file_where_the_store_belongs_is_left_alone(home: Path, memory: Path) -> None:
    (home / "store").write_text("in the way")
    keep_in_memory(home, memory, least_free=0)
    assert folders(home) == [home]
    assert not list(memory.iterdir())
