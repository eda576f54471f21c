"""The proof table: a rule is proven by rows that agree, and by nothing else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rocketmq_conformance.reports.proof import PAIR, ProofRow, ProvenRule, merge, pairs_confirmed, render

RULES = [ProvenRule("A-1", "MUST", "derived from source"), ProvenRule("B-1", "SHOULD", "observed")]


def line(rule: str, rows: list[ProofRow]) -> str:
    return next(found for found in render(RULES, rows).splitlines() if found.startswith(f"| {rule} "))


def test_a_rule_without_rows_is_unproven() -> None:
    assert line("A-1", []) == "| A-1 | MUST | derived from source | **unproven** | 0 | 0 |"
    assert line("A-1", [ProofRow("A-1", "pure", "5.5.0", 0, 0)]).endswith("| **unproven** | 0 | 0 |")
    assert render(RULES, []).startswith("0 of 2 rules are confirmed by a real thing.\n")


def test_releases_are_listed_with_their_cases_by_number() -> None:
    rows = [ProofRow("A-1", "client", "4.10.0", 20, 0), ProofRow("A-1", "client", "4.9.8", 1000, 0)]
    assert line("A-1", rows) == "| A-1 | MUST | derived from source | client 4.9.8 (1,000), 4.10.0 (20) | 1,020 | 0 |"


def test_previews_come_before_their_release() -> None:
    releases = ["5.0.0", "5.0.0-ALPHA", "4.9.8", "5.0.0-PREVIEW"]
    rows = [ProofRow("A-1", "client", release, 1, 0) for release in releases]
    assert "| client 4.9.8 (1), 5.0.0-PREVIEW (1), 5.0.0-ALPHA (1), 5.0.0 (1) |" in line("A-1", rows)


def test_each_side_is_reported() -> None:
    rows = [ProofRow("A-1", "client", "5.5.0", 1, 0), ProofRow("A-1", "broker", "4.9.7", 2, 0)]
    assert "| broker 4.9.7 (2); client 5.5.0 (1) | 3 | 0 |" in line("A-1", rows)


def test_many_releases_are_a_range_that_names_its_holes() -> None:
    releases = ["4.9.8", "5.0.0", "5.1.4", "5.2.0", "5.5.0"]
    rows = [ProofRow("A-1", "client", release, 10 + at, 0) for at, release in enumerate(releases)]
    hole = ProofRow("B-1", "client", "5.1.0", 1, 0)
    outside = ProofRow("B-1", "client", "4.0.0", 1, 0)
    assert "| client, 5 releases 4.9.8 to 5.5.0 (10 or more each) | 60 | 0 |" in line("A-1", rows)
    assert "4.9.8 to 5.5.0 without 5.1.0 (10 or more each)" in line("A-1", [*rows, hole, outside])


def test_a_difference_is_no_proof_and_is_reported() -> None:
    rows = [ProofRow("A-1", "client", "4.9.8", 5, 1, "read(0): -1, not -2"), ProofRow("A-1", "client", "5.5.0", 5, 0)]
    assert "| **unproven**, differs on client 4.9.8; checked on client 4.9.8 (5), 5.5.0 (5) | 10 | 1 |" in line(
        "A-1", rows
    )
    assert render(RULES, rows).startswith("0 of 2 rules")
    assert render(RULES, rows).endswith("- A-1, client 4.9.8: read(0): -1, not -2\n")


def test_releases_have_a_table_of_their_own() -> None:
    rows = [ProofRow("A-1", "client", "5.5.0", 5, 0), ProofRow("B-1", "client", "5.5.0", 7, 0)]
    assert "\n| client | 5.5.0 | 2 | 12 | 0 | |\n" in render(RULES, rows)


def test_rows_of_an_unknown_rule_are_refused() -> None:
    with pytest.raises(ValueError, match="The rule book has no C-1: make the proof again"):
        render(RULES, [ProofRow("C-1", "pure", "5.5.0", 1, 0)])


def test_rows_add_up_and_keep_the_first_example() -> None:
    rows = [ProofRow("A-1", "pure", "5.5.0", 1, 0), ProofRow("A-1", "pure", "5.5.0", 2, 1, "x")]
    assert merge([*rows, ProofRow("A-1", "pure", "5.5.0", 1, 1, "y")]) == [ProofRow("A-1", "pure", "5.5.0", 4, 2, "x")]


def test_a_release_says_when_its_rules_were_confirmed() -> None:
    rows = [ProofRow(rule, "client", "5.5.0", 5, 0, confirmed="2026-01-02 on abc") for rule in ("A-1", "B-1")]
    assert "\n| client | 5.5.0 | 2 | 10 | 0 | 2026-01-02 on abc |\n" in render(RULES, rows)
    later = replace(rows[1], confirmed="2026-01-03 on def")
    mixed = render(RULES, [rows[0], later])
    assert "| 2026-01-02 on abc (1 rule); 2026-01-03 on def (1 rule) |" in mixed


def test_pairs_are_counted_by_when_they_were_confirmed() -> None:
    rows = [
        ProofRow("A-1", PAIR, "4.9.8", 1, 0, "", broker, confirmed)
        for broker, confirmed in (("5.4.0", "2026-01-02 on abc"), ("5.5.0", "2026-01-03 on def"))
    ]
    older = replace(rows[1], rule="B-1", confirmed="2026-01-02 on abc")
    assert pairs_confirmed([*rows, older]).splitlines()[2:] == [
        "| 2026-01-02 on abc | 1 |",
        "| 2026-01-03 on def | 1 |",
    ]
    assert pairs_confirmed([ProofRow("A-1", "client", "5.5.0", 1, 0)]) == ""


def test_a_cell_stays_a_cell() -> None:
    table = render([ProvenRule("A|1", "MUST", "x\ny")], [])
    assert "| A\\|1 | MUST | x\\ny | **unproven** | 0 | 0 |" in table
