"""The page of the proof: every rule, every release that took part, and those that could not."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from places import GOLDEN, ROOT

from rocketmq_conformance.conformance.cli.main import cli
from rocketmq_conformance.conformance.proof.proof_docs import UNASKED, UNJUDGED, Unjudged, proof_page
from rocketmq_conformance.models.release import Release
from rocketmq_conformance.models.rule import Level, Rule
from rocketmq_conformance.models.rulebook import RULES
from rocketmq_conformance.reports.proof import ProofRow, read_rows

COMMITTED = ROOT / "docs" / "proof.md"
KEPT = sorted((ROOT / "docs" / "proof").glob("*.jsonl"))
PAGE = GOLDEN / "proof.md"

BOOK = [
    Rule("A-1", "A read answers what was written last.", "A#read @ 5.5.0"),
    Rule("B-1", "A write never fails.", "B#write @ 5.5.0", level=Level.SHOULD),
    Rule("C-1", "A close may do anything at all.", "C#close @ 5.5.0"),
]
ROWS = [
    ProofRow("A-1", "client", "4.0.0-incubating", 20, 0),
    ProofRow("A-1", "client", "5.5.0", 30, 0),
    ProofRow("A-1", "broker", "5.5.0", 1000, 0),
    ProofRow("B-1", "client", "5.5.0", 7, 1, "write(3): the model says None, 5.5.0 says Err('CLIENT')"),
]


def committed_rows() -> list[ProofRow]:
    return [row for path in KEPT for row in read_rows(path)]


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


def test_a_rule_without_rows_is_told_with_what_speaks_for_it() -> None:
    book = [*BOOK, Rule("D-1", "Nothing at all is promised here.", "D#d @ 5.5.0", level=Level.UNDEFINED)]
    text = proof_page(book, ROWS)
    assert "\n| C-1 | Only its source. |\n" in text
    assert text.count("| D-1 |") == 1
    assert "## Rules that no proof asks about" not in proof_page(BOOK[:2], ROWS)


def test_a_rule_that_differs_is_unproven_and_its_difference_is_told() -> None:
    text = proof_page(BOOK, ROWS)
    assert "**unproven**, differs on client 5.5.0" in line(text, "B-1")
    assert "- B-1, client 5.5.0: write(3): the model says None" in text


def test_a_release_has_one_name() -> None:
    text = proof_page(BOOK, [*ROWS, ProofRow("A-1", "client", "4.0.0", 1, 0)])
    assert "client 4.0.0 (21), 5.5.0 (30)" in text
    assert "incubating" not in text


def written(rows: Path, out: Path) -> Result:
    """The command that writes the page."""
    return CliRunner().invoke(cli, ["prove", "page", str(rows), "--out", str(out)])


def test_the_page_is_written(tmp_path: Path) -> None:
    rows, out = tmp_path / "rows.jsonl", tmp_path / "proof.md"
    known = next(iter(RULES))
    rows.write_text(
        json.dumps({"rule": known, "side": "pure", "release": "5.5.0", "cases": 42, "differences": 0}), "utf-8"
    )
    assert written(rows, out).exit_code == 0
    assert out.read_text("utf-8") == proof_page(RULES.values(), read_rows(rows))
    assert "pure 5.5.0 (42)" in line(out.read_text("utf-8"), known)


ROW = {"rule": "ALLOC-AVG-1", "side": "pure", "release": "5.5.0", "cases": 1, "differences": 0}


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"nonsense", r"rows\.jsonl is neither a JSON array nor JSON Lines: .*\.\n"),
        (b'{"rule": "A-1"}', r"Row 1 of .*rows\.jsonl is no proof row: it needs .*\.\n"),
        (b"\xff\xfe", r"rows\.jsonl is not text in UTF-8: name a file that a proof wrote with --out\.\n"),
        (json.dumps(ROW | {"rule": "NO-SUCH-1"}).encode(), r"The rule book has no NO-SUCH-1: make the proof again.*\n"),
        (json.dumps(ROW | {"release": "new"}).encode(), r"'new' is not a RocketMQ release; .*\n"),
        (None, r"rows\.jsonl cannot be used: No such file or directory\.\n"),
    ],
)
def test_a_bad_rows_file_is_one_sentence(content: bytes | None, sentence: str, tmp_path: Path) -> None:
    rows, out = tmp_path / "rows.jsonl", tmp_path / "proof.md"
    if content is not None:
        rows.write_bytes(content)
    done = written(rows, out)
    assert done.exit_code == 2
    assert re.search(sentence + r"\Z", done.stderr)
    assert done.stderr.count("Error: ") == 1
    assert not out.exists()


def test_a_page_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text(json.dumps(ROW), "utf-8")
    done = written(rows, tmp_path / "nowhere" / "proof.md")
    assert done.exit_code == 2
    assert done.stderr.endswith("proof.md cannot be used: No such file or directory.\n")


# --- the committed page -----------------------------------------------------------------------------------


def test_the_page_in_docs_is_what_its_rows_make() -> None:
    assert KEPT
    said = "write it anew: rocketmq-conformance prove page docs/proof/*.jsonl"
    assert COMMITTED.read_text("utf-8") == proof_page(RULES.values(), committed_rows()), said


def test_every_rule_of_the_book_has_a_whole_line_on_the_page() -> None:
    text = COMMITTED.read_text("utf-8")
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


def test_links_lead_to_files() -> None:
    for name in ("proof.md", "proof-findings.md"):
        text = (ROOT / "docs" / name).read_text("utf-8")
        links = re.findall(r"\]\(([^)#]+)\)", text)
        assert links
        assert all((ROOT / "docs" / link).exists() for link in links)
    assert "](docs/proof.md)" in (ROOT / "README.md").read_text("utf-8")


def test_findings_name_rules_of_the_book() -> None:
    text = (ROOT / "docs" / "proof-findings.md").read_text("utf-8")
    named = set(re.findall(r"^\| ([A-Z]+[A-Z0-9-]+) \|", text, re.MULTILINE))
    assert len(named) > 10
    assert named <= RULES.keys()
