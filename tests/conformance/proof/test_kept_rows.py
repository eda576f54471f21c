"""The rows that are kept: what a new proof replaces, what a resumed one leaves out, and the files."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocketmq_conformance.conformance.proof.kept_rows import (
    Confirmation,
    Kept,
    KeptRows,
    is_confirmed,
    merged,
    parsed,
    written,
)
from rocketmq_conformance.conformance.proof.unit import JAVA, PAIRS, Unit
from rocketmq_conformance.reports.proof import ProofRow

UNIT = Unit(JAVA, "5.5.0")
BEFORE, NOW = Confirmation("2026-01-01", "abc"), Confirmation("2026-01-02", "def")
A, B = (ProofRow(rule, "client", "5.5.0", 5, 0) for rule in ("A-1", "B-1"))
KEPT: Kept = {BEFORE: (A, B)}
PARTIAL = Confirmation("2026-01-02", "def", partial=True)


def row(rule: str, cases: int, differences: int = 0) -> ProofRow:
    return ProofRow(rule, "client", "5.5.0", cases, differences, "it differs" if differences else "")


def test_a_whole_proof_replaces_all_rows() -> None:
    assert merged(KEPT, NOW, [row("A-1", 6)], None) == {NOW: (row("A-1", 6),)}


def test_a_proof_of_one_rule_replaces_its_row_alone() -> None:
    found = [row("A-1", 6), row("B-1", 1), row("C-1", 1)]
    assert merged(KEPT, NOW, found, {"A-1"}) == {BEFORE: (B,), PARTIAL: (row("A-1", 6),)}
    assert merged({}, NOW, found, {"A-1"}) == {PARTIAL: (row("A-1", 6),)}


def test_a_rule_that_nothing_confirms_any_more_loses_its_row() -> None:
    assert merged(KEPT, NOW, [], {"A-1"}) == {BEFORE: (B,)}
    assert merged(KEPT, NOW, [], {"A-1", "B-1"}) == {}


def test_a_rule_that_this_machine_cannot_ask_about_keeps_its_row() -> None:
    kept = merged(KEPT, NOW, [row("A-1", 6)], None, {"A-1", "B-1"})
    assert kept == {Confirmation("2026-01-01", "abc", partial=True): (B,), NOW: (row("A-1", 6),)}
    assert is_confirmed(kept, "def", None)
    assert merged(KEPT, NOW, [], {"A-1"}, {"A-1"}) == KEPT


def test_rows_of_one_commit_and_day_stay_together() -> None:
    kept = merged({NOW: (A, B)}, NOW, [row("A-1", 6)], {"A-1"})
    assert kept == {NOW: (B, row("A-1", 6))}
    assert is_confirmed(kept, "def", None)


@pytest.mark.parametrize(
    ("kept", "replaced", "confirmed"),
    [
        ({}, None, False),
        ({NOW: (A, B)}, None, True),
        ({BEFORE: (A, B)}, None, False),
        ({BEFORE: (B,), PARTIAL: (A,)}, None, False),
        ({PARTIAL: (A,)}, None, False),
        ({NOW: (row("A-1", 5, 1),)}, None, False),
        ({BEFORE: (B,), PARTIAL: (A,)}, {"A-1"}, True),
        ({BEFORE: (B,), PARTIAL: (A,)}, {"A-1", "B-1"}, False),
        ({NOW: (A,)}, {"C-1"}, False),
    ],
)
def test_a_unit_is_left_out_when_all_that_is_asked_agrees_on_this_commit(
    kept: Kept, replaced: set[str] | None, confirmed: bool
) -> None:
    assert is_confirmed(kept, "def", replaced) is confirmed


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    rows = KeptRows(tmp_path / "rows")
    pair = Unit(PAIRS, "4.9.8", "5.0.0-ALPHA")
    kept: Kept = {BEFORE: (B,), PARTIAL: (row("A-1", 5, 1),)}
    rows.write(UNIT, kept)
    rows.write(pair, {NOW: (ProofRow("A-1", "pair", "4.9.8", 1, 0, "", "5.0.0-ALPHA"),)})
    assert list(rows.units()) == [UNIT, pair]
    assert rows.read(UNIT) == kept
    assert rows.read(Unit(JAVA, "4.9.8")) == {}
    assert {(found.rule, found.against, found.confirmed) for found in KeptRows(tmp_path / "rows").rows()} == {
        ("B-1", "", "2026-01-01 on abc"),
        ("A-1", "", "2026-01-02 on def"),
        ("A-1", "5.0.0-ALPHA", "2026-01-02 on def"),
    }
    assert [path.name for path in (tmp_path / "rows" / "java").iterdir()] == ["5.5.0.jsonl"]


def test_a_proof_with_the_same_counts_changes_one_line() -> None:
    before, after = written({BEFORE: (A, B)}).splitlines(), written({NOW: (B, A)}).splitlines()
    assert [new for old, new in zip(before, after, strict=True) if old != new] == [
        '{"commit": "def", "date": "2026-01-02"}'
    ]


HEAD = '{"commit": "abc", "date": "2026-01-01"}\n'


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("nonsense", 1),
        ('{"rule": "A-1", "side": "pure", "cases": 1, "differences": 0}', 1),
        ('{"commit": "abc"}', 1),
        ('{"commit": "abc", "date": 1}', 1),
        (HEAD + '{"rule": "A-1"}', 2),
        (HEAD + "[1]", 2),
        (HEAD + '{"rule": "A-1", "side": "pure", "cases": true, "differences": 0}', 2),
        (HEAD + '{"rule": 1, "side": "pure", "cases": 1, "differences": 0}', 2),
    ],
)
def test_what_is_no_row_is_named(text: str, line: int) -> None:
    with pytest.raises(ValueError, match=f"^Line {line} of here is no proof row: it needs"):
        parsed(text, UNIT, "here")


@pytest.mark.parametrize("name", ["java.jsonl", "notes/x", "java"])
def test_a_folder_with_something_else_is_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).touch()
    with pytest.raises(ValueError, match=rf"is no folder of proof rows, .* it has {name.partition('/')[0]}\. Name"):
        KeptRows(tmp_path)
