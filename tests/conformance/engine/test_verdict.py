"""The verdict on several: nothing hides a worse one."""

from __future__ import annotations

import re
from itertools import combinations

import pytest
from every import every
from places import ROOT

from rocketmq_conformance.conformance.engine.verdict import worst_of
from rocketmq_conformance.reports.event import (
    CONFORMS,
    COULD_NOT_RUN,
    DIVERGES,
    EXIT_CODES,
    UNDECIDED,
    UNSUPPORTED,
    VERDICTS,
)

WORST_FIRST = (DIVERGES, COULD_NOT_RUN, UNDECIDED, CONFORMS, UNSUPPORTED)


@every("there", [few for length in range(1, 6) for few in combinations(WORST_FIRST, length)])
def test_the_worst_is_said_however_many_others_there_are(there: tuple[str, ...]) -> None:
    counts = dict.fromkeys(VERDICTS, 0) | {verdict: 10**at for at, verdict in enumerate(there)}
    assert worst_of(counts) == there[0]


@pytest.mark.parametrize("counts", [{}, dict.fromkeys(VERDICTS, 0)])
def test_nothing_decides_nothing(counts: dict[str, int]) -> None:
    assert worst_of(counts) == UNDECIDED


def test_the_table_of_exit_codes_is_what_happens() -> None:
    page = (ROOT / "docs" / "reference" / "results.md").read_text("utf-8")
    page = page.partition("\n## Exit codes\n")[2].partition("\n## ")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines() if line[:1] == "|"][2:]
    # a row holds when the verdict that it names is there, and no row above it holds; the last one names none
    named = [re.findall(r"`([a-z ]+)`", where)[:1] for where, _, _ in rows]
    assert [*map(len, named)] == [1] * 5 + [0]
    for length in range(6):
        for there in combinations(VERDICTS, length):
            row = next(row for row, name in zip(rows, named, strict=True) if set(name) <= set(there))
            verdict = worst_of(dict.fromkeys(there, 3))
            assert row[1:] == [verdict, str(EXIT_CODES[verdict])], there
