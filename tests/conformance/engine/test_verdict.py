"""The verdict on several: nothing hides a worse one."""

from __future__ import annotations

from itertools import combinations

import pytest
from every import every

from rocketmq_conformance.conformance.engine.verdict import together
from rocketmq_conformance.reports.event import CONFORMS, COULD_NOT_RUN, DIVERGES, UNDECIDED, UNSUPPORTED, VERDICTS

WORST_FIRST = (DIVERGES, COULD_NOT_RUN, UNDECIDED, CONFORMS, UNSUPPORTED)


@every("there", [few for length in range(1, 6) for few in combinations(WORST_FIRST, length)])
def test_the_worst_is_said_however_many_others_there_are(there: tuple[str, ...]) -> None:
    counts = dict.fromkeys(VERDICTS, 0) | {verdict: 10**at for at, verdict in enumerate(there)}
    assert together(counts) == there[0]


@pytest.mark.parametrize("counts", [{}, dict.fromkeys(VERDICTS, 0)])
def test_nothing_decides_nothing(counts: dict[str, int]) -> None:
    assert together(counts) == UNDECIDED
