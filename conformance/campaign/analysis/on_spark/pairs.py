"""The cases of two sides, joined by suite and number, and counted by what either did."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as sf

from rocketmq_conformance.conformance.campaign.analysis.results import (
    OTHER,
    OTHER_VERDICT,
    SAME,
    SAME_VERDICT,
    UNDECIDED_PAIR,
)
from rocketmq_conformance.reports.event import CONFORMS, DIVERGES

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from rocketmq_conformance.conformance.campaign.analysis.on_spark.frames import CampaignFrames, Numbers

#: A case by suite and number.
ON = ["suite", "case"]


def decided(verdict: str) -> Column:
    """Did a side decide the case? False when it has no such case."""
    return sf.coalesce(sf.col(verdict).isin(CONFORMS, DIVERGES), sf.lit(False))


def results(
    frames: CampaignFrames, address: str, letter: str, suites: list[str], only: Numbers | None = None
) -> DataFrame:
    """What is compared of a side: ``suite``, ``case``, its verdict and digest, and was something left out?"""
    rows = frames.rows("cases", ["case", "address", "verdict", "digest", "unsupported"], suites, only)
    mine = rows.filter(sf.col("address") == address)
    return mine.select(
        *ON,
        sf.col("verdict").alias(f"verdict_{letter}"),
        sf.col("digest").alias(f"digest_{letter}"),
        (sf.size("unsupported") > 0).alias(f"left_{letter}"),
    )


def related(a: DataFrame, b: DataFrame) -> DataFrame:
    """All cases of either side, with ``relation`` where both decided, and ``whole``: did both play all of it?"""
    digests = (sf.col("digest_a") != 0) & (sf.col("digest_b") != 0)
    with_digests = sf.when(sf.col("digest_a") == sf.col("digest_b"), SAME).otherwise(OTHER)
    without = sf.when(sf.col("verdict_a") == sf.col("verdict_b"), SAME_VERDICT).otherwise(OTHER_VERDICT)
    both = decided("verdict_a") & decided("verdict_b")
    return (
        a.join(b, ON, "full")
        .withColumn(
            "relation", sf.when(both, sf.when(digests, with_digests).otherwise(without)).otherwise(UNDECIDED_PAIR)
        )
        .withColumn("whole", ~(sf.col("left_a") | sf.col("left_b")))
    )


def counted(pairs: DataFrame) -> DataFrame:
    """``number`` of the cases by suite, verdicts and relation; those that differ stay apart, by ``case``.

    Of a large campaign most cases are the same: one pass counts them, and leaves the others for what follows.
    """
    apart = sf.col("relation").isin(OTHER, OTHER_VERDICT)
    return pairs.groupBy(
        "suite",
        "verdict_a",
        "verdict_b",
        "relation",
        sf.when(apart, sf.col("whole")).alias("whole"),
        sf.when(apart, sf.col("case")).alias("case"),
    ).agg(sf.count("*").alias("number"))
