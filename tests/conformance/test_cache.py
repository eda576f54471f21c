"""Texts that are kept: they are made again as soon as a module has changed, and wherever nothing can be kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocketmq_conformance.conformance.cache import cache_folder, kept_text


class Maker:
    """Counts how often a text was made."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self) -> str:
        self.times += 1
        return f"text {self.times}\nof two lines\n"


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package of two modules; what is kept has a folder of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "package" / "room").mkdir(parents=True)
    for name in ("__init__.py", "room/__init__.py"):
        (tmp_path / "package" / name).write_text("")
    return tmp_path / "package"


def test_a_text_is_made_once(package: Path) -> None:
    make = Maker()
    assert [kept_text("rules", make, [str(package)]) for _ in range(3)] == ["text 1\nof two lines\n"] * 3


def test_each_change_of_a_module_makes_it_anew(package: Path) -> None:
    make, room = Maker(), package / "room"
    changes = (
        lambda: (room / "new.py").write_text(""),
        lambda: (room / "new.py").write_text("X = 1"),
        lambda: (room / "new.py").unlink(),
    )
    kept_text("rules", make, [str(package)])
    for times, change in enumerate(changes, 2):
        change()
        assert kept_text("rules", make, [str(package)]).startswith(f"text {times}")
    (room / "__pycache__").mkdir()
    (room / "__pycache__" / "new.py").write_text("")
    assert kept_text("rules", make, [str(package)]).startswith("text 4")


def test_a_damaged_text_is_made_anew(package: Path) -> None:
    make = Maker()
    kept_text("rules", make, [str(package)])
    (file,) = (cache_folder() / "texts").iterdir()
    for data in (b"", b"\xff", file.read_bytes()[:-3], file.read_bytes().replace(b"two", b"six")):
        file.write_bytes(data)
        assert kept_text("rules", make, [str(package)]) == f"text {make.times}\nof two lines\n"
    assert make.times == 5


def test_where_nothing_can_be_kept_it_is_made_each_time(package: Path, tmp_path: Path) -> None:
    make = Maker()
    kept_text("rules", make, [str(tmp_path / "kit.zip")])
    (tmp_path / "cache").write_text("no folder")
    kept_text("rules", make, [str(package)])
    assert kept_text("rules", make, [str(package)]) == "text 3\nof two lines\n"
