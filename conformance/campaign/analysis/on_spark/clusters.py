"""Clusters, by one aggregation."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

from pyspark.sql import functions as sf

from rocketmq_conformance.conformance.campaign.analysis.clusters import KEY, Cluster, ordered
from rocketmq_conformance.conformance.campaign.analysis.on_spark.frames import analysing

if TYPE_CHECKING:
    from rocketmq_conformance.conformance.campaign.analysis.on_spark.frames import CampaignFrames


def clusters(frames: CampaignFrames) -> list[Cluster]:
    """All clusters of a campaign, as the one-process way finds and orders them."""
    shown = [field.name for field in fields(Cluster) if field.name not in (*KEY, "count")]
    exemplar = sorted(shown, key=lambda name: (name != "step", name != "case"))
    with analysing(frames.spark, frames.campaign):
        rows = frames.rows("divergences", [*KEY, *exemplar])
        grouped = rows.groupBy(*KEY).agg(
            sf.count_distinct("case").alias("count"), sf.min(sf.struct(*exemplar)).alias("exemplar")
        )
        found = [row.asDict(recursive=True) for row in grouped.collect()]
    for row in found:
        row |= row.pop("exemplar")
        row["rules"] = tuple(row["rules"])
    return ordered(frames.campaign, [Cluster(**row) for row in found])
