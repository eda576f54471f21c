"""Opening a campaign on any storage that Spark reads: ``file://``, ``hdfs://``, ``s3a://`` and what else it knows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.errors import AnalysisException

from rocketmq_conformance.conformance.campaign.analysis.on_spark.frames import FAILURES, literal, unreadable
from rocketmq_conformance.conformance.campaign.tables.reading import (
    FILE,
    Campaign,
    CampaignError,
    parse_campaign,
)
from rocketmq_conformance.conformance.campaign.tables.schema import RUNS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: What is read of a session, and of which the last one counts.
_SESSION = ("session", "addresses", "implementations", "versions", "profiles")


def open_url(spark: SparkSession, url: str) -> Campaign:
    """Open a campaign; CampaignError when there is none, or none that this kit can read."""
    place = url.rstrip("/")
    try:
        rows = spark.read.text(literal(f"{place}/{FILE}"), wholetext=True).collect()
    except AnalysisException:
        raise CampaignError(f"{place} holds no campaign: name the folder that has a {FILE}.") from None
    except FAILURES as error:
        raise unreadable(error, place) from error
    return parse_campaign(rows[0].value if rows else "", runs=lambda: _sessions(spark, place), url=place)


def _sessions(spark: SparkSession, place: str) -> pa.Table:
    schema = pa.schema([RUNS.field(name) for name in _SESSION])
    try:
        found = spark.read.parquet(literal(f"{place}/runs")).select(*_SESSION).orderBy("session").collect()
    except AnalysisException:  # it never began
        return schema.empty_table()
    except FAILURES as error:
        raise unreadable(error, place) from error
    return pa.Table.from_pylist([row.asDict() for row in found], schema)
