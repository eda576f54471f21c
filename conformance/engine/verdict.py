"""Combines verdicts: of cases into that of a suite, of suites into that of a run."""

from __future__ import annotations

from collections.abc import Mapping

from rocketmq_conformance.reports.event import CONFORMS, COULD_NOT_RUN, DIVERGES, UNDECIDED, UNSUPPORTED


def worst_of(counts: Mapping[str, int]) -> str:
    """The verdict on a whole, from the number of its parts by verdict.

    The worst of them; what is unsupported takes nothing from those that conform, and nothing at all decides nothing.
    """
    for verdict in (DIVERGES, COULD_NOT_RUN, UNDECIDED, CONFORMS, UNSUPPORTED):
        if counts.get(verdict):
            return verdict
    return UNDECIDED
