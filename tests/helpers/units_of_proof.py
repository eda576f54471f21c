"""Units of a proof, and functions that prove them, which processes of their own can import."""

from __future__ import annotations

import os
import time
from pathlib import Path

from rocketmq_conformance.conformance.adapter import AdapterError, CannotRunError
from rocketmq_conformance.conformance.proof.evidence import ProofResult
from rocketmq_conformance.conformance.proof.unit import Unit
from rocketmq_conformance.conformance.startup import start_limit

UNITS = [Unit("java", f"5.{number}.0") for number in range(6)]


def prove(unit: Unit) -> ProofResult:
    """Nothing differs."""
    return ProofResult(unit=unit, lines=[], rows=[])


def limit(unit: Unit) -> ProofResult:
    """How long a start may take there."""
    return ProofResult(unit=unit, lines=[f"{start_limit(180):g}"], rows=[])


def die(unit: Unit, folder: Path) -> ProofResult:
    """The process dies: twice of the first unit, once of the second. ``folder`` counts its deaths."""
    number = UNITS.index(unit)
    died = folder / str(number)
    before = len(died.read_text()) if died.exists() else 0
    if before < 2 - number:
        died.write_text("x" * (before + 1))
        os._exit(7)
    return prove(unit)


def breaks(unit: Unit) -> ProofResult:
    """The first unit cannot run, and the second one breaks."""
    if unit == UNITS[0]:
        raise CannotRunError("there is no Java")
    if unit == UNITS[1]:
        raise AdapterError("it did not come back")
    return prove(unit)


def linger(unit: Unit, folder: Path) -> ProofResult:
    """All but the first one take ten minutes; a file in ``folder`` says which have begun."""
    if unit != UNITS[0]:
        (folder / str(UNITS.index(unit))).touch(exist_ok=False)
        time.sleep(600)
    return prove(unit)
