"""What analyses stored campaigns: this process, or Spark for large ones and those on a storage that only it reads."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.campaign.analysis.parts import IN_PROCESS, Engine
from rocketmq_conformance.conformance.campaign.spark.session import need_java, need_packages, open_session
from rocketmq_conformance.conformance.campaign.tables.reading import Campaign, CampaignError, open_campaign

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

AUTO, PROCESS, SPARK = "auto", "process", "spark"
ENGINES = (AUTO, PROCESS, SPARK)
#: Cases, of all addresses and campaigns together, from which on AUTO is SPARK.
LARGE = 4_000_000
#: The Java machine of an analysis computes, so it gets the compiler and the collector for that.
_SETTINGS = {"spark.driver.extraJavaOptions": "-XX:+UseParallelGC"}
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


@contextmanager
def opened_campaigns(
    places: Sequence[str], engine: str = AUTO, master: str | None = None
) -> Iterator[tuple[list[Campaign], Engine]]:
    """Open campaigns, and what analyses them.

    A place is a folder, or has the scheme of a storage that Spark reads: ``file:///…``, ``hdfs://…``, ``s3a://…``.
    ``engine`` is one of ENGINES; AUTO goes by the places and the number of cases, and is SPARK when a ``master`` is
    named. CampaignError when a campaign cannot be read; MasterError and CannotRunError when Spark is needed and cannot
    start.
    """
    remote = [place for place in places if _SCHEME.match(place)]
    if engine == PROCESS and remote:
        raise CampaignError(f"Only Spark reads {remote[0]}: leave out --engine process, or name a folder.")
    opened = {place: open_campaign(Path(place)) for place in places if place not in remote}
    wanted = engine == SPARK or bool(remote) or master is not None
    if not wanted and not (engine == AUTO and are_large(opened.values()) and _has_spark()):
        yield [opened[place] for place in places], IN_PROCESS
        return
    with open_session(master, name="rocketmq-conformance analysis", config=_SETTINGS) as spark:
        from rocketmq_conformance.conformance.campaign.analysis.on_spark import open_url

        opened |= {place: open_url(spark, place) for place in remote}
        yield [opened[place] for place in places], engine_of(spark)


def are_large(campaigns: Iterable[Campaign]) -> bool:
    """Do campaigns have so many cases that Spark analyses them?"""
    return sum(campaign.cases * len(campaign.addresses) for campaign in campaigns) >= LARGE


def engine_of(spark: SparkSession | None) -> Engine:
    """What analyses by a session; without one this process does."""
    if spark is None:
        return IN_PROCESS
    from rocketmq_conformance.conformance.campaign.analysis.on_spark import OnSpark

    return OnSpark(spark)


def _has_spark() -> bool:
    try:
        need_packages()
        need_java()
    except CannotRunError:
        return False
    return True
