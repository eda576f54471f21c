"""The comparison of two stored campaigns on Spark: all suites in the same few jobs.

The rows of cases stay where they are. What reaches the driver is counts, the kinds of differences with the case that
represents each, and the first few hundred cases of each kind that separating features are looked for in.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING

from pyspark.sql import functions as sf

from rocketmq_conformance.conformance.campaign.analysis.on_spark.first_differences import FirstDifferences
from rocketmq_conformance.conformance.campaign.analysis.on_spark.frames import (
    CampaignFrames,
    Numbers,
    analysing,
    first_cases,
    first_of,
    kept,
)
from rocketmq_conformance.conformance.campaign.analysis.on_spark.pairs import counted, decided, related, results
from rocketmq_conformance.conformance.campaign.analysis.on_spark.ranges import counted_in_ranges
from rocketmq_conformance.conformance.campaign.analysis.on_spark.stored_cases import FetchedCases, FetchedSide
from rocketmq_conformance.conformance.campaign.analysis.results import SAME, SAME_VERDICT
from rocketmq_conformance.conformance.campaign.analysis.separating_features import CASES
from rocketmq_conformance.conformance.campaign.analysis.side import PROBES
from rocketmq_conformance.conformance.campaign.analysis.suite_comparison import (
    NOT_REBUILT,
    SEPARATED,
    DifferenceGroup,
    SuiteComparison,
    are_of_one_kit,
    differences,
    incomparable,
    other_kit,
)
from rocketmq_conformance.conformance.campaign.tables.reading import PlayedCampaign
from rocketmq_conformance.reports.campaign_diff import Difference, SuiteDifference
from rocketmq_conformance.reports.event import CONFORMS, DIVERGES, VERDICTS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_DECIDED = (CONFORMS, DIVERGES)
_GROUP = ["suite", "operation", "kind", "class_a", "class_b"]


def compare(
    spark: SparkSession, suites: Sequence[str], a: PlayedCampaign, b: PlayedCampaign, most: int
) -> dict[str, tuple[SuiteDifference, list[Difference]]]:
    """The counts and the differences of every suite; ``most`` bounds the cases of a suite whose steps are rebuilt."""
    with analysing(spark, a[0], b[0]), ExitStack() as held:
        return _Comparison(spark, a, b, held).compare(list(suites), most)


class _Comparison:
    """Both campaigns, while they are compared."""

    def __init__(self, spark: SparkSession, a: PlayedCampaign, b: PlayedCampaign, held: ExitStack) -> None:
        """``held`` releases what Spark keeps meanwhile."""
        self.frames = CampaignFrames(spark, a[0]), CampaignFrames(spark, b[0])
        self.addresses = a[1], b[1]
        self.held = held

    def compare(self, suites: list[str], most: int) -> dict[str, tuple[SuiteDifference, list[Difference]]]:
        sides = {suite: self._sides(suite) for suite in suites}
        notes = {suite: incomparable(suite, *both) for suite, both in sides.items()}
        self._probe({suite: both for suite, both in sides.items() if not notes[suite]})
        rebuilds: dict[str, bool] = {}
        for suite, (a, b) in sides.items():
            if not notes[suite]:
                tried = a.rebuilds(), b.rebuilds()
                notes[suite] = other_kit(suite, tried, are_of_one_kit(a, b))
                rebuilds[suite] = all(tried)
        found: dict[str, tuple[SuiteDifference, list[Difference]]] = {
            suite: (SuiteDifference(suite, note=note), []) for suite, note in notes.items()
        }
        chosen = {suite: both for suite, both in sides.items() if not notes[suite]}
        if chosen:
            compared = self._compare(chosen, rebuilds, most)
            self._fetch(compared, sides)
            for suite, one in compared.items():
                found[suite] = one.counted, list(differences(suite, *sides[suite], one))
        return found

    def _sides(self, suite: str) -> tuple[FetchedSide, FetchedSide]:
        a, b = zip(self.frames, self.addresses, strict=True)
        return FetchedSide(a[0], suite, a[1]), FetchedSide(b[0], suite, b[1])

    def _probe(self, sides: Mapping[str, tuple[FetchedSide, FetchedSide]]) -> None:
        """Fetch the cases that show whether this kit rebuilds a suite's."""
        for at, (frames, address) in enumerate(zip(self.frames, self.addresses, strict=True)):

            def choose(only: Numbers, frames: CampaignFrames = frames, address: str = address) -> DataFrame:
                rows = frames.rows("cases", ["case", "address", "verdict", "digest"], list(only), only)
                return rows.filter((sf.col("address") == address) & decided("verdict") & (sf.col("digest") != 0))

            cases = first_cases(frames, list(sides), PROBES, choose)
            fetched = FetchedCases(frames, address, cases)
            for suite, both in sides.items():
                both[at].probe(cases[suite], fetched)

    def _compare(
        self, sides: Mapping[str, tuple[FetchedSide, FetchedSide]], rebuilds: Mapping[str, bool], most: int
    ) -> dict[str, SuiteComparison]:
        suites = list(sides)
        totals = kept(self._totals(suites), self.held)
        one = next(iter(sides.values()))
        found = FirstDifferences(
            self.frames,
            self.addresses,
            totals.filter(sf.col("case").isNotNull()),
            stored=one[0].profile == one[1].profile and are_of_one_kit(*one),
            rebuilt=[suite for suite in suites if rebuilds[suite]],
            most=most,
            held=self.held,
        )
        groups = self._groups(found.rows, rebuilds)
        same = self._same([suite for suite, grouped in groups.items() if grouped and rebuilds[suite]])
        counts = _counts(totals)
        return {
            suite: SuiteComparison(
                self._suite(suite, counts[suite], groups[suite], found, rebuilds[suite]),
                groups[suite],
                same.get(suite, []),
                rebuilds[suite],
            )
            for suite in suites
        }

    def _totals(self, suites: list[str]) -> DataFrame:
        """The numbers of cases, and those that differ: a task reads a range of both sides where these are folders."""
        if any(frames.campaign.url for frames in self.frames):
            return counted(related(*self._results(suites)))
        return counted_in_ranges(self.frames, self.addresses, suites)

    def _results(self, suites: list[str], only: Sequence[Numbers | None] = (None, None)) -> Iterator[DataFrame]:
        for frames, address, letter, some in zip(self.frames, self.addresses, "ab", only, strict=True):
            yield results(frames, address, letter, suites, some)

    def _suite(
        self,
        suite: str,
        counts: Counter[tuple[str | None, str | None, str]],
        groups: Sequence[DifferenceGroup],
        found: FirstDifferences,
        rebuilds: bool,
    ) -> SuiteDifference:
        undecided = dict(found.reasons.get(suite, {}))
        unseen = found.left.get(suite, 0)
        if unseen and not rebuilds:
            undecided[NOT_REBUILT] = unseen
            unseen = 0
        for letter, mine, theirs in (("A", 0, 1), ("B", 1, 0)):
            for verdict in VERDICTS:
                number = sum(
                    count
                    for key, count in counts.items()
                    if key[mine] == verdict and verdict not in _DECIDED and key[theirs] in _DECIDED
                )
                if number:
                    undecided[f"{verdict} in {letter}, decided in the other"] = number
        return SuiteDifference(
            suite=suite,
            same=sum(count for key, count in counts.items() if key[2] == SAME),
            different=sum(group.cases for group in groups),
            not_looked_at=unseen,
            verdict_only=sum(count for key, count in counts.items() if key[2] == SAME_VERDICT),
            undecided=undecided,
            neither=sum(count for (a, b, _), count in counts.items() if {a, b}.isdisjoint({None, *_DECIDED})),
            only_a=sum(count for key, count in counts.items() if key[1] is None),
            only_b=sum(count for key, count in counts.items() if key[0] is None),
        )

    def _groups(self, rows: DataFrame, rebuilds: Mapping[str, bool]) -> dict[str, list[DifferenceGroup]]:
        """The kinds of differences of every suite, the most frequent first."""
        grouped = rows.groupBy(*_GROUP).agg(
            sf.count("*").alias("cases"), sf.min(sf.struct("step", "case")).alias("first")
        )
        found: dict[str, list[DifferenceGroup]] = {suite: [] for suite in rebuilds}
        for suite, *parts, cases, first in grouped.collect():
            operation, kind, class_a, class_b = parts
            found[suite].append(DifferenceGroup((operation, kind, class_a, class_b), cases, first.case, first.step))
        for groups in found.values():
            groups.sort(key=lambda group: (-group.cases, group.parts))
        shown = {suite: groups[:SEPARATED] for suite, groups in found.items() if rebuilds[suite]}
        self._choose(rows, {(suite, *group.parts): group.some for suite, few in shown.items() for group in few})
        return found

    def _choose(self, rows: DataFrame, some: Mapping[tuple[str, ...], list[tuple[int, int]]]) -> None:
        """Put the smallest cases of some groups into their lists."""
        if not some:
            return
        schema = ", ".join(f"{name} string" for name in _GROUP)
        groups = sf.broadcast(rows.sparkSession.createDataFrame(list(some), schema))
        chosen = first_of(rows.join(groups, _GROUP, "left_semi"), _GROUP, CASES)
        for *parts, case, step in chosen.select(*_GROUP, "case", "step").orderBy("case").collect():
            some[tuple(parts)].append((case, step))

    def _same(self, suites: list[str]) -> dict[str, list[int]]:
        """The smallest cases that are the same on both sides, by suite."""
        a, b = self.frames

        def choose(only: Numbers) -> DataFrame:
            ends = {suite: (max(numbers, default=-1) + 1) * a.campaign.block for suite, numbers in only.items()}
            theirs = {
                suite: [number for number in b.finished[suite] if number * b.campaign.block < ends[suite]]
                for suite in only
            }
            return related(*self._results(list(only), (only, theirs))).filter(sf.col("relation") == SAME)

        return first_cases(a, suites, CASES, choose)

    def _fetch(
        self, compared: Mapping[str, SuiteComparison], sides: Mapping[str, tuple[FetchedSide, FetchedSide]]
    ) -> None:
        """Fetch what the differences need to know of cases."""
        exemplars = {suite: {group.case for group in one.groups} for suite, one in compared.items()}
        more = {
            suite: {case for group in one.groups for case, _ in group.some} | set(one.same)
            for suite, one in compared.items()
        }
        for at, (frames, address) in enumerate(zip(self.frames, self.addresses, strict=True)):
            chosen = exemplars if at else {suite: cases | more[suite] for suite, cases in exemplars.items()}
            fetched = FetchedCases(frames, address, chosen)
            for suite in compared:
                sides[suite][at].take(fetched)


def _counts(totals: DataFrame) -> dict[str, Counter[tuple[str | None, str | None, str]]]:
    """Cases by suite, and by either verdict (None: no such case) and relation."""
    key = ["suite", "verdict_a", "verdict_b", "relation"]
    found: dict[str, Counter[tuple[str | None, str | None, str]]] = defaultdict(Counter)
    for suite, a, b, relation, number in totals.groupBy(*key).agg(sf.sum("number")).collect():
        found[suite][a, b, relation] = number
    return found
