"""Rule books of earlier releases: what only newer rules forbid is counted, and fails no run."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocketmq_conformance import __version__, run
from rocketmq_conformance.conformance.engine import rulebook_versions
from rocketmq_conformance.models import rulebook
from rocketmq_conformance.reports.event import (
    CONFORMS,
    DIVERGES,
    DivergenceFound,
    Event,
    ExpectedDivergence,
    RunEnded,
)


@pytest.fixture
def books(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of rule books in the place of the kit's."""
    monkeypatch.setattr(rulebook_versions, "FOLDER", tmp_path)
    return tmp_path


def judged(version: str) -> list[Event]:
    """A mutant whose reads break rules, by the rule book of a version."""
    return [
        *run("mutant:memory-first-stays", suites=["remote-store"], cases=30, seed=1, tiers=["seeded"], rulebook=version)
    ]


def responsible(events: list[Event]) -> set[str]:
    return {one.rules[0]["id"] for one in events if isinstance(one, DivergenceFound)}


def end(events: list[Event]) -> RunEnded:
    last = events[-1]
    assert isinstance(last, RunEnded)
    return last


def test_what_only_newer_rules_forbid_is_counted_and_no_failure(books: Path) -> None:
    (books / "0.1.0.txt").write_text("".join(f"{rule}\n" for rule in rulebook.RULES))
    broken = responsible(judged("0.1.0"))
    assert broken
    (books / "0.0.9.txt").write_text("".join(f"{rule}\n" for rule in rulebook.RULES if rule not in broken))
    events = judged("0.0.9")
    assert (end(events).verdict, responsible(events)) == (CONFORMS, set())
    newer = [one for one in events if isinstance(one, ExpectedDivergence)]
    assert {one.rule for one in newer} == broken
    assert all(one.cases and one.file == "rule book 0.0.9" for one in newer)
    assert end(events).signed == len(newer)


def test_rules_of_the_book_are_judged(books: Path) -> None:
    (books / "0.1.0.txt").write_text("".join(f"{rule}\n" for rule in rulebook.RULES))
    assert end(judged("0.1.0")).verdict == DIVERGES


def test_books_are_ordered_by_release(books: Path) -> None:
    for version in ("0.10.0", "0.2.0", "0.1.0"):
        (books / f"{version}.txt").touch()
    assert rulebook_versions.versions() == ["0.1.0", "0.2.0", "0.10.0"]


def test_a_version_without_a_book_is_named_with_those_that_there_are() -> None:
    with pytest.raises(
        ValueError, match=rf"No release of the kit is called '9\.9': there are rule books of .*{__version__}"
    ):
        run("port", rulebook="9.9")


def test_rules_of_other_packages_are_in_no_book_and_judged() -> None:
    assert not rulebook_versions.of_version(__version__).lacks("NOT-OF-THE-KIT-1")


def test_no_book_names_a_rule_twice() -> None:
    for version in rulebook_versions.versions():
        listed = (rulebook_versions.FOLDER / f"{version}.txt").read_text("utf-8").split()
        assert len(listed) == len(set(listed))
