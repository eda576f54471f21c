"""The progress of a campaign: totals over its finished blocks, updated while it runs."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from rocketmq_conformance.conformance.alarm import undisturbed
from rocketmq_conformance.conformance.campaign.analysis.discovery import COLUMNS, BehaviourCounter
from rocketmq_conformance.conformance.campaign.schedule import Block
from rocketmq_conformance.conformance.campaign.spark.worker import LOST
from rocketmq_conformance.conformance.campaign.tables import blocks
from rocketmq_conformance.conformance.campaign.tables.reading import Campaign
from rocketmq_conformance.reports.event import CONFORMS, COULD_NOT_RUN, DIVERGES, VERDICTS, CaseLost

#: Suite and address.
Part = tuple[str, str]
_COLUMNS = list(dict.fromkeys([*COLUMNS, "address", "verdict", "seconds", "reason", "unsupported"]))


class CampaignProgress:
    """Counts what is on disk, every block once."""

    def __init__(self, campaign: Campaign) -> None:
        self._campaign = campaign
        self.parts: list[Part] = [(suite, address) for suite in campaign.suites for address in campaign.addresses]
        #: Cases by verdict.
        self.counts: dict[Part, dict[str, int]] = {part: dict.fromkeys(VERDICTS, 0) for part in self.parts}
        self.steps = dict.fromkeys(self.parts, 0)
        #: Seconds that the cases took, added up.
        self.seconds = dict.fromkeys(self.parts, 0.0)
        #: Operations that cases left out because they are not offered.
        self.unsupported: dict[Part, set[str]] = {part: set() for part in self.parts}
        #: The lowest case that conformed.
        self.good: dict[Part, int] = {}
        #: Cases that their implementation did not live through.
        self.lost: list[CaseLost] = []
        #: Why cases could not be run or decided nothing: times, and the lowest of them.
        self.reasons: dict[tuple[Part, str, str], tuple[int, int]] = {}
        self.discovery = BehaviourCounter(campaign.suites, campaign.block)
        #: What the waves showed that are played in full.
        self._waves = BehaviourCounter(campaign.suites, campaign.block)
        self._seen: set[tuple[str, int]] = set()

    def look(self) -> None:
        """Take in what is new."""
        fresh = [
            (suite, number)
            for suite in self._campaign.suites
            for number in blocks.numbers(self._campaign.folder, "cases", suite)
            if (suite, number) not in self._seen
        ]
        for suite, number in sorted(fresh):
            self._take(suite, number)

    def has(self, block: Block) -> bool:
        """Is the block finished?"""
        return (block.suite, block.number) in self._seen

    @property
    def cases(self) -> int:
        """Finished cases, all addresses together."""
        return sum(sum(counts.values()) for counts in self.counts.values())

    @property
    def all_steps(self) -> int:
        """Steps that were judged, all addresses together."""
        return sum(self.steps.values())

    @property
    def divergences(self) -> int:
        """Cases that diverge from the model, all addresses together."""
        return self.total(DIVERGES)

    @property
    def unplayed(self) -> int:
        """Suites without a finished case, each address by itself."""
        return sum(not any(counts.values()) for counts in self.counts.values())

    def total(self, verdict: str) -> int:
        """Cases of a verdict, all addresses together."""
        return sum(counts[verdict] for counts in self.counts.values())

    def chances(self, wave: Sequence[Block]) -> dict[str, float]:
        """By suite: how likely its next case is to show something new, after ``wave`` and those that were asked before.

        What else is there is left out: a campaign that is resumed is to go on as if it had never been interrupted.
        """
        for block in wave:
            self._waves.add(block.suite, block.number, self._campaign.read("cases", COLUMNS, block.suite, block.number))
        # what stands for all arms of a suite comes last
        return {found.suite: found.chance for found in self._waves.results() if found.suite}

    def _take(self, suite: str, number: int) -> None:
        rows = self._campaign.read("cases", _COLUMNS, suite, number)
        with undisturbed():  # a block counts whole, whenever Ctrl-C comes
            self._seen.add((suite, number))
            self.discovery.add(suite, number, rows)
            for address in self._campaign.addresses:
                self._count((suite, address), rows.filter(pc.equal(rows["address"], address)))

    def _count(self, part: Part, rows: pa.Table) -> None:
        counts = self.counts[part]
        verdicts = rows["verdict"].cast(pa.string())
        for pair in pc.value_counts(verdicts).to_pylist():
            counts[pair["values"]] += pair["counts"]
        self.steps[part] += pc.sum(rows["steps"]).as_py() or 0
        self.seconds[part] += pc.sum(rows["seconds"]).as_py() or 0.0
        self.unsupported[part].update(pc.list_flatten(rows["unsupported"]).unique().to_pylist())
        conforming = rows.filter(pc.equal(verdicts, CONFORMS))
        if conforming.num_rows:
            lowest = pc.min(conforming["case"]).as_py()
            self.good[part] = min(lowest, self.good.get(part, lowest))
        others = rows.filter(pc.not_equal(rows["reason"].cast(pa.string()), "")).select(["case", "verdict", "reason"])
        for row in others.to_pylist():
            self._reason(part, row["case"], row["verdict"], row["reason"])

    def _reason(self, part: Part, case: int, verdict: str, reason: str) -> None:
        key = (part, verdict, reason)
        times, first = self.reasons.get(key, (0, case))
        self.reasons[key] = times + 1, min(first, case)
        if verdict == COULD_NOT_RUN and reason.startswith(LOST):
            self.lost.append(CaseLost(suite=part[0], case=case, address=part[1], reason=reason.removeprefix(LOST)))
