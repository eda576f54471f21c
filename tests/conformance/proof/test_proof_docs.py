"""The page of the proof: every rule, every release that took part, and those that could not."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from places import GOLDEN, ROOT

from rocketmq_conformance.conformance.cli.main import cli
from rocketmq_conformance.conformance.proof.beliefs import beliefs, beliefs_of
from rocketmq_conformance.conformance.proof.beliefs import page as beliefs_page
from rocketmq_conformance.conformance.proof.kept_rows import Confirmation, KeptRows
from rocketmq_conformance.conformance.proof.proof_docs import UNASKED, UNJUDGED, Unjudged, proof_page
from rocketmq_conformance.conformance.proof.unit import Unit
from rocketmq_conformance.models.release import Release
from rocketmq_conformance.models.rule import Level, Rule
from rocketmq_conformance.models.rulebook import RULES
from rocketmq_conformance.reports.proof import PAIR, ProofRow

KEPT = ROOT / "docs" / "proof"
PAGE = GOLDEN / "proof.md"

BOOK = [
    Rule("A-1", "A read answers what was written last.", "A#read @ 5.5.0"),
    Rule("B-1", "A write never fails.", "B#write @ 5.5.0", level=Level.SHOULD),
    Rule("C-1", "A close may do anything at all.", "C#close @ 5.5.0"),
]
ROWS = [
    ProofRow("A-1", "client", "4.0.0-incubating", 20, 0, confirmed="2026-11-22 on 1a366dcc"),
    ProofRow("A-1", "client", "5.5.0", 30, 0, confirmed="2026-11-22 on 1a366dcc"),
    ProofRow("A-1", "broker", "5.5.0", 1000, 0, confirmed="2026-11-23 on 0fb2a56c"),
    ProofRow("A-1", PAIR, "4.9.8", 12, 0, "", "5.5.0", "2026-11-21 on 189e45f0"),
    ProofRow("B-1", "client", "5.5.0", 7, 1, "write(3): the model says None, 5.5.0 says Err('CLIENT')"),
]


def committed_rows() -> list[ProofRow]:
    return KeptRows(KEPT).rows()


def written_rows(rule: str) -> bytes:
    """A file with one row."""
    return (
        f'{{"commit": "0fb2a56c", "date": "2026-11-22"}}\n'
        f'{{"rule": "{rule}", "side": "pure", "cases": 1, "differences": 0}}\n'
    ).encode()


def line(text: str, rule: str) -> str:
    return next(found for found in text.splitlines() if found.startswith(f"| {rule} "))


def test_a_small_page_is_as_it_was() -> None:
    unjudged = [Unjudged("client", ("5.3.4", "5.3.5"), "Nobody published them.")]
    text = proof_page(BOOK, ROWS, unjudged)
    if os.environ.get("REWRITE_GOLDEN"):
        PAGE.write_text(text, "utf-8")
    assert text == PAGE.read_text("utf-8")


def test_a_rule_without_rows_is_unproven() -> None:
    assert "**unproven**" in line(proof_page(BOOK, ROWS), "C-1")
    assert "**unproven**" not in line(proof_page(BOOK, ROWS), "A-1")


def test_a_rule_without_rows_is_reported_with_what_speaks_for_it() -> None:
    book = [*BOOK, Rule("D-1", "Nothing at all is promised here.", "D#d @ 5.5.0", level=Level.UNDEFINED)]
    text = proof_page(book, ROWS)
    assert "\n| C-1 | Only its source. |\n" in text
    assert text.count("| D-1 |") == 1
    assert "## Rules that no proof asks about" not in proof_page(BOOK[:2], ROWS)


def test_a_rule_that_differs_is_unproven_and_its_difference_is_reported() -> None:
    text = proof_page(BOOK, ROWS)
    assert "**unproven**, differs on client 5.5.0" in line(text, "B-1")
    assert "- B-1, client 5.5.0: write(3): the model says None" in text


def test_a_release_has_one_name() -> None:
    text = proof_page(BOOK, [*ROWS, ProofRow("A-1", "client", "4.0.0", 1, 0)])
    assert "client 4.0.0 (21), 5.5.0 (30)" in text
    assert "incubating" not in text


def shown(rows: Path) -> Result:
    """The command that shows the page."""
    return CliRunner().invoke(cli, ["prove", "page", str(rows)])


UNIT, WHEN = Unit("java", "5.5.0"), Confirmation("2026-11-22", "0fb2a56c")


def test_the_page_is_shown(tmp_path: Path) -> None:
    kept = KeptRows(tmp_path / "rows")
    known = next(iter(RULES))
    kept.write(UNIT, {WHEN: [ProofRow(known, "pure", "5.5.0", 42, 0)]})
    done = shown(kept.folder)
    assert done.exit_code == 0
    text = done.stdout
    assert "pure 5.5.0 (42)" in line(text, known)
    assert "| pure | 5.5.0 | 1 | 42 | 0 | 2026-11-22 on 0fb2a56c |" in text


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("java/5.5.0.jsonl", b"nonsense", r"Line 1 of .*5\.5\.0\.jsonl is no proof row: it needs .*\.\n"),
        ("java/5.5.0.jsonl", b"\xff\xfe", r"5\.5\.0\.jsonl is not text in UTF-8: make it again .*\.\n"),
        ("java/5.5.0.jsonl", written_rows("NO-SUCH-1"), r"The rule book has no NO-SUCH-1: make the proof again.*\n"),
        ("java/new.jsonl", written_rows("ALLOC-AVG-1"), r"'new' is not a RocketMQ release; .*\n"),
        ("java.jsonl", b"", r"rows is no folder of proof rows, .* it has java\.jsonl\. Name another folder\.\n"),
        (None, b"", r"There is no folder .*rows: name the one that a proof wrote with --out\.\n"),
    ],
)
def test_bad_rows_are_one_sentence(name: str | None, content: bytes, sentence: str, tmp_path: Path) -> None:
    rows = tmp_path / "rows"
    if name is not None:
        (rows / name).parent.mkdir(parents=True)
        (rows / name).write_bytes(content)
    done = shown(rows)
    assert done.exit_code == 2
    assert re.search(sentence + r"\Z", done.stderr)
    assert done.stderr.count("Error: ") == 1
    assert done.stdout == ""


# --- the committed rows -----------------------------------------------------------------------------------


def test_every_rule_of_the_book_has_a_whole_line_on_the_page() -> None:
    text = proof_page(RULES.values(), committed_rows())
    assert [rule for rule in RULES if len(re.split(r"(?<!\\)\|", line(text, rule))) != 8] == []


def test_nothing_differs_in_the_rows_that_are_kept() -> None:
    assert [row for row in committed_rows() if row.differences] == []


def test_a_release_that_cannot_be_judged_has_no_rows() -> None:
    asked = {
        (("broker" if row.side == "broker" else "client"), str(Release.parse(row.release))) for row in committed_rows()
    }
    for group in UNJUDGED:
        assert group.reason.endswith(".")
        for release in group.releases:
            assert (group.side, release) not in asked


def test_rules_that_are_not_asked_about_are_in_the_book_and_have_no_rows() -> None:
    assert UNASKED.keys() <= RULES.keys()
    assert not UNASKED.keys() & {row.rule for row in committed_rows()}
    for why in UNASKED.values():
        assert all((ROOT / name).exists() for name in re.findall(r"`(tests/[^`]+)`", why))


def test_beliefs_are_about_rules_of_the_book() -> None:
    assert len(beliefs()) > 100
    assert [one.rule for one in beliefs() if one.rule not in RULES] == []
    assert all(sentence.endswith(".") for one in beliefs() for sentence in (one.believed, one.found))
    assert all(one in beliefs_of(one.rule) for one in beliefs())
    assert beliefs_page().count("\n| ") > len(beliefs())
