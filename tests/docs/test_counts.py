"""Counts in the README and in the page of what was measured are those of the project."""

from __future__ import annotations

import re

from places import ROOT

from rocketmq_conformance.conformance.proof.kept_rows import KeptRows
from rocketmq_conformance.conformance.targets.mutants import MUTANTS
from rocketmq_conformance.models.release import Release
from rocketmq_conformance.models.rulebook import RULES

ROWS = [row for row in KeptRows(ROOT / "docs" / "proof").rows() if row.cases and not row.differences]
README, MEASURED = (" ".join((ROOT / name).read_text("utf-8").split()) for name in ("README.md", "docs/measured.md"))


def releases(*sides: str) -> int:
    return len({str(Release.parse(row.release)) for row in ROWS if row.side in sides})


def test_rules_that_were_confirmed() -> None:
    confirmed = f"| rules confirmed by real RocketMQ | {len({row.rule for row in ROWS})} of {len(RULES)}"
    clients, brokers = releases("pure", "client"), releases("broker")
    assert f"{confirmed} |" in README
    assert f"by the classes of {clients} Java clients and by brokers of {brokers} releases" in README
    assert f"{confirmed}, on {clients} client and {brokers} broker releases" in MEASURED


def test_mutants() -> None:
    noticed = sum(1 for mutant in MUTANTS.values() if not mutant.equivalent)
    for text in (README, MEASURED):
        assert re.findall(r"\| mutants noticed, [^|]*\| ([\d,]+) of ([\d,]+),", text) == [(f"{noticed:,}",) * 2]
