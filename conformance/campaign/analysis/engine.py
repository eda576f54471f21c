"""What analyses stored campaigns: this process, or Spark for large ones and those on a storage that only it reads."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.campaign.analysis.clusters import Cluster, clusters
from rocketmq_conformance.conformance.campaign.analysis.coverage import coverage
from rocketmq_conformance.conformance.campaign.analysis.discovery import discovery
from rocketmq_conformance.conformance.campaign.analysis.separating_features import SeparatorFinder, SeparatorSearch
from rocketmq_conformance.conformance.campaign.spark.session import need_java, need_packages, open_session
from rocketmq_conformance.conformance.campaign.tables.reading import Campaign, CampaignError, open_campaign
from rocketmq_conformance.reports import event

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
) -> Iterator[tuple[list[Campaign], SparkSession | None]]:
    """Open campaigns, and the Spark session that analyses them; None when this process does.

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
        yield [opened[place] for place in places], None
        return
    with open_session(master, name="rocketmq-conformance analysis", config=_SETTINGS) as spark:
        from rocketmq_conformance.conformance.campaign.analysis.on_spark.opening import open_url

        opened |= {place: open_url(spark, place) for place in remote}
        yield [opened[place] for place in places], spark


def are_large(campaigns: Iterable[Campaign]) -> bool:
    """Do campaigns have so many cases that Spark analyses them?"""
    return sum(campaign.cases * len(campaign.addresses) for campaign in campaigns) >= LARGE


class Analysis:
    """What one campaign shows, whichever way it is found."""

    def __init__(self, campaign: Campaign, spark: SparkSession | None = None) -> None:
        """``spark`` is the session that analyses; None lets this process do it."""
        self._campaign = campaign
        self._spark = spark
        if spark:
            from rocketmq_conformance.conformance.campaign.analysis.on_spark.frames import CampaignFrames

            self._frames = CampaignFrames(spark, campaign)

    def clusters(self) -> list[Cluster]:
        """All clusters, as ``clusters.clusters`` orders them."""
        if not self._spark:
            return clusters(self._campaign)
        from rocketmq_conformance.conformance.campaign.analysis.on_spark import clusters as on_spark

        return on_spark.clusters(self._frames)

    def coverage(self) -> dict[tuple[str, str], list[list[Any]]]:
        """By suite and address: rows [rule, kind of state, outcome class, cases], sorted."""
        if not self._spark:
            return coverage(self._campaign)
        from rocketmq_conformance.conformance.campaign.analysis.on_spark import coverage as on_spark

        return on_spark.coverage(self._frames)

    def discovery(self) -> list[event.Discovery]:
        """How much behaviour the cases showed, by suite and arm."""
        if not self._spark:
            return discovery(self._campaign)
        from rocketmq_conformance.conformance.campaign.analysis.on_spark import discovery as on_spark

        return on_spark.discovery(self._frames)

    def separators(self, found: Sequence[Cluster]) -> SeparatorSearch:
        """What finds the features that separate the given clusters."""
        if not self._spark:
            return SeparatorFinder(self._campaign)
        from rocketmq_conformance.conformance.campaign.analysis.on_spark import separators as on_spark

        return on_spark.SparkSeparatorFinder(self._frames, found)


def _has_spark() -> bool:
    try:
        need_packages()
        need_java()
    except CannotRunError:
        return False
    return True
