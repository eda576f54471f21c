"""Counts in the README are those of the project, which REWRITE_GOLDEN writes, and all other figures are those of
docs/measured.md."""

from __future__ import annotations

import os
import re

from places import ROOT

from rocketmq_conformance.conformance.proof.kept_rows import KeptRows
from rocketmq_conformance.conformance.targets.mutants import MUTANTS
from rocketmq_conformance.models.release import Release
from rocketmq_conformance.models.rulebook import RULES

ROWS = [row for row in KeptRows(ROOT / "docs" / "proof").rows() if row.cases and not row.differences]


def releases(*sides: str) -> int:
    return len({str(Release.parse(row.release)) for row in ROWS if row.side in sides})


def counted(text: str) -> str:
    """The text with the counts of the project, each of which it has once."""
    noticed = f"{sum(not mutant.equivalent for mutant in MUTANTS.values()):,}"
    for pattern, count in (
        (r"(?<=confirmed by the classes of )\d+(?= Java clients)", releases("pure", "client")),
        (r"(?<=and by brokers of )\d+(?= releases)", releases("broker")),
        (
            r"(?<=\| rules confirmed by real RocketMQ \| )\d+ of \d+",
            f"{len({row.rule for row in ROWS})} of {len(RULES)}",
        ),
        (r"(?<=\| mutants noticed, of those that a test can notice \| )[\d,]+ of [\d,]*\d", f"{noticed} of {noticed}"),
    ):
        text, times = re.subn(pattern, str(count), text)
        assert times == 1, pattern
    return text


def test_counts_in_the_readme_are_those_of_the_project() -> None:
    file = ROOT / "README.md"
    text = file.read_text("utf-8")
    if os.environ.get("REWRITE_GOLDEN"):
        file.write_text(counted(text), "utf-8")
    else:
        assert text == counted(text)


def figures(text: str) -> set[str]:
    return {*re.findall(r"\d(?:[\d,.]*\d)?", text)}


def test_figures_in_the_readme_are_measured_ones() -> None:
    _, _, text = (ROOT / "README.md").read_text("utf-8").partition("\n## Measured\n")
    cells = [line.split(" | ")[1] for line in text.splitlines() if line.startswith("| ")][1:]
    written = figures(str([cell for cell in cells if re.fullmatch(r"[\d,]+ of [\d,]+", cell)]))
    measured = figures((ROOT / "docs" / "measured.md").read_text("utf-8"))
    assert figures(" ".join(cells)) - measured - written == set()
