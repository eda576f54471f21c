"""The list of mutants that ``list mutants`` shows: a made file, much faster to read than the mutants are to import.

``rocketmq-conformance regenerate`` writes it.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rocketmq_conformance.conformance.targets.mutant import Mutant

FILE = Path(__file__).with_name("mutants.txt")


def text(mutants: Iterable[Mutant]) -> str:
    """A line for each mutant: its name, the defect that it repeats, what it does, and why it changes nothing if so."""
    return "".join(_line(mutant) for mutant in mutants)


def _line(mutant: Mutant) -> str:
    note = f"  (equivalent: {mutant.equivalent})" if mutant.equivalent else ""
    return f"{mutant.name:<32} {mutant.defect:<5} {mutant.sentence}{note}\n"
