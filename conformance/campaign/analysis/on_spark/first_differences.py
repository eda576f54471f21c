"""The first differences of cases, as rows of Spark: from stored divergences, steps or verdicts alone."""

from __future__ import annotations

from collections import defaultdict
from contextlib import ExitStack
from typing import TYPE_CHECKING

from pyspark.sql import functions as sf

from rocketmq_conformance.conformance.campaign.analysis.on_spark.frames import CampaignFrames, first_of, kept
from rocketmq_conformance.conformance.campaign.analysis.on_spark.pairs import ON
from rocketmq_conformance.conformance.campaign.analysis.on_spark.rebuilding import PARTED, parting_task
from rocketmq_conformance.conformance.campaign.analysis.on_spark.stored_cases import divergences, stored_cases
from rocketmq_conformance.conformance.campaign.analysis.results import OTHER, OTHER_VERDICT
from rocketmq_conformance.conformance.campaign.analysis.trace_difference import AGREED
from rocketmq_conformance.reports.event import DIVERGES

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

#: Columns of the rows.
COLUMNS = ["suite", "case", "step", "operation", "kind", "class_a", "class_b"]
#: Cases of one task that rebuilds steps: some milliseconds each.
_PER_TASK = 1000


class FirstDifferences:
    """Where cases part, and of how many cases that is not known."""

    #: One row per case, with COLUMNS.
    rows: DataFrame
    #: Cases by suite and reason, of those that were looked at; the reason of the smallest case comes first.
    reasons: dict[str, dict[str, int]]
    #: Cases by suite that were not looked at.
    left: dict[str, int]

    def __init__(
        self,
        frames: tuple[CampaignFrames, CampaignFrames],
        addresses: tuple[str, str],
        cases: DataFrame,
        *,
        stored: bool,
        rebuilt: list[str],
        most: int,
        held: ExitStack,
    ) -> None:
        """Of ``cases`` with OTHER or OTHER_VERDICT relations.

        ``stored``: do the divergences of both sides say where cases part? ``rebuilt`` are the suites whose steps come
        back from the seed, and ``most`` how many cases of each are rebuilt; ``held`` releases what Spark keeps.
        """
        self.frames = frames
        self.addresses = addresses
        self.held = held
        known = sf.col("whole") & _shown() if stored else sf.lit(False)
        differing = kept(_with_divergences(frames, addresses, cases).withColumn("known", known), held)
        other, other_verdict = (differing.filter(sf.col("relation") == relation) for relation in (OTHER, OTHER_VERDICT))
        found = [_by_divergences(other.filter("known")), _by_verdict(other_verdict)]
        unknown = other.filter(~sf.col("known"))
        counts = {row.suite: row["count"] for row in unknown.groupBy("suite").count().collect()}
        looked_at = [suite for suite in rebuilt if counts.get(suite)]
        self.left = {suite: max(0, number - most) if suite in looked_at else number for suite, number in counts.items()}
        self.reasons = {}
        if looked_at:
            parted = self._rebuilt(unknown.filter(sf.col("suite").isin(looked_at)), most, sum(counts.values()))
            found.append(parted.filter("why = ''").select(*COLUMNS))
            self.reasons = _reasons(parted)
        rows = found[0]
        for more in found[1:]:
            rows = rows.unionByName(more)
        self.rows = kept(rows, held)

    def _rebuilt(self, cases: DataFrame, most: int, number: int) -> DataFrame:
        """Where the smallest cases of every suite part, found by rebuilding the steps of both sides."""
        chosen = kept(first_of(cases.select(*ON), ["suite"], most), self.held)
        sides = []
        for frames, address, letter in zip(self.frames, self.addresses, "ab", strict=True):
            block = sf.floor(sf.col("case") / sf.lit(frames.campaign.block)).alias("block")
            only: dict[str, list[int]] = defaultdict(list)
            for suite, one in chosen.select("suite", block).distinct().collect():
                only[suite].append(one)
            stored = stored_cases(frames, address, chosen, only)
            what = [name for name in stored.columns if name not in ON]
            sides.append(stored.select(*ON, sf.struct(*what).alias(letter)))
        tasks = max(1, min(number, most * len(sides)) // _PER_TASK)
        pairs = sides[0].join(sides[1], ON).repartition(tasks)
        played = [(frames.campaign, address) for frames, address in zip(self.frames, self.addresses, strict=True)]
        schema = ", ".join(f"`{field.name}` {'bigint' if field.type == 'int64' else 'string'}" for field in PARTED)
        return kept(pairs.mapInArrow(parting_task(*played), schema), self.held)


def _with_divergences(
    frames: tuple[CampaignFrames, CampaignFrames], addresses: tuple[str, str], cases: DataFrame
) -> DataFrame:
    """Cases with the divergences of either side as ``a`` and ``b``, null where it has none."""
    found = cases.select(*ON, "verdict_a", "verdict_b", "relation", "whole")
    for side, address, letter in zip(frames, addresses, "ab", strict=True):
        rows = divergences(side, address, side.campaign.suites).withColumnRenamed("divergence", letter)
        found = found.join(rows, ON, "left")
    return found


def _only(letter: str, other: str) -> Column:
    """Did one side diverge before the other did, or alone?"""
    mine, theirs = sf.col(f"{letter}.step"), sf.col(f"{other}.step")
    return sf.coalesce(mine < theirs, mine.isNotNull() & theirs.isNull())


def _shown() -> Column:
    """Do the divergences of a case show a difference?"""
    both = (sf.col("a.step") == sf.col("b.step")) & (sf.col("a.observed") != sf.col("b.observed"))
    return _only("a", "b") | _only("b", "a") | sf.coalesce(both, sf.lit(False))


def _by_divergences(cases: DataFrame) -> DataFrame:
    """The first differences of cases that one profile judged on both sides: the first divergence of either side."""
    only_a, only_b = _only("a", "b"), _only("b", "a")
    return cases.select(
        *ON,
        sf.least("a.step", "b.step").cast("bigint").alias("step"),
        sf.when(only_b, sf.col("b.operation")).otherwise(sf.col("a.operation")).alias("operation"),
        sf.when(only_b, sf.col("b.state_kind")).otherwise(sf.col("a.state_kind")).alias("kind"),
        sf.when(only_b, sf.col("b.expected_class")).otherwise(sf.col("a.observed_class")).alias("class_a"),
        sf.when(only_a, sf.col("a.expected_class")).otherwise(sf.col("b.observed_class")).alias("class_b"),
    )


def _by_verdict(cases: DataFrame) -> DataFrame:
    """The first differences of cases without digests that conform on one side and diverge on the other."""
    in_a = sf.col("verdict_a") == DIVERGES
    row = sf.when(in_a, sf.col("a")).otherwise(sf.col("b"))
    agreed = sf.lit(AGREED)
    return cases.filter(row.isNotNull()).select(
        *ON,
        row["step"].cast("bigint").alias("step"),
        row["operation"].alias("operation"),
        row["state_kind"].alias("kind"),
        sf.when(in_a, row["observed_class"]).otherwise(agreed).alias("class_a"),
        sf.when(in_a, agreed).otherwise(row["observed_class"]).alias("class_b"),
    )


def _reasons(parted: DataFrame) -> dict[str, dict[str, int]]:
    grouped = parted.filter("why != ''").groupBy("suite", "why")
    rows = grouped.agg(sf.count("*").alias("cases"), sf.min("case").alias("first")).orderBy("first").collect()
    found: dict[str, dict[str, int]] = defaultdict(dict)
    for suite, why, cases, _ in rows:
        found[suite][why] = cases
    return dict(found)
