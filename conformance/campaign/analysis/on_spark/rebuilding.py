"""Where cases part, found by rebuilding their steps where the rows are: a task of Spark."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import pyarrow as pa

from rocketmq_conformance.conformance.campaign.analysis.rebuild import CaseFacts, Rebuilder, Trace
from rocketmq_conformance.conformance.campaign.analysis.trace_difference import TraceDifference, trace_difference
from rocketmq_conformance.conformance.campaign.tables.reading import Campaign, PlayedCampaign

#: Where a case parts, or ``why`` that is not known.
PARTED = pa.schema(
    [
        ("suite", pa.string()),
        ("case", pa.int64()),
        ("step", pa.int64()),
        ("operation", pa.string()),
        ("kind", pa.string()),
        ("class_a", pa.string()),
        ("class_b", pa.string()),
        ("why", pa.string()),
    ]
)


def case_facts(row: Mapping[str, Any]) -> CaseFacts:
    """What the tables say of a case, from a row of ``stored_cases``; a comparison does not look at its reason."""
    divergence = row["divergence"]
    return CaseFacts(
        row["case"],
        row["verdict"],
        row["steps"],
        row["digest"],
        "",
        tuple(row["unsupported"]),
        (divergence["step"], divergence["observed"]) if divergence else None,
    )


def parting_task(
    a: PlayedCampaign, b: PlayedCampaign
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """The task: rows of PARTED from ``suite``, ``case`` and what is stored on either side, ``a`` and ``b``."""

    def find(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        sides = _Tracer(*a), _Tracer(*b)
        for batch in batches:
            found = []
            for row in batch.to_pylist():
                one, other = (
                    side.trace(row["suite"], {**row[letter], "case": row["case"]})
                    for side, letter in zip(sides, "ab", strict=True)
                )
                difference = trace_difference(one, other)
                key = {"suite": row["suite"], "case": row["case"]}
                if isinstance(difference, TraceDifference):
                    found.append({**key, **difference._asdict(), "why": ""})
                else:
                    found.append({**key, "step": 0, "why": difference})
            yield from pa.Table.from_pylist(found, PARTED).to_batches()

    return find


class _Tracer:
    """Rebuilds cases of all suites as one address played them."""

    def __init__(self, campaign: Campaign, address: str) -> None:
        self._campaign = campaign
        self._address = address
        self._rebuilders: dict[str, Rebuilder] = {}
        self._stored: list[dict[str, Any]] = []

    def trace(self, suite: str, row: Mapping[str, Any]) -> Trace:
        if suite not in self._rebuilders:
            self._rebuilders[suite] = Rebuilder(self._campaign, suite, self._address, lambda _: self._stored)
        self._stored = row["stored"] or []
        return self._rebuilders[suite].rebuild(case_facts(row))
