"""Stored campaigns, analysed in tasks of Spark; those on a storage that only Spark reads: ``hdfs://``, ``s3a://`` ….

A task reads blocks of a folder itself. Of another storage Spark reads the files, and a task is given those of its part.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.errors import AnalysisException, PySparkException

from rocketmq_conformance.conformance.campaign.analysis.parts import Engine, Found, Joins, Part
from rocketmq_conformance.conformance.campaign.spark.failure import failure_sentence
from rocketmq_conformance.conformance.campaign.tables.reading import (
    FILE,
    BlockFile,
    Campaign,
    CampaignError,
    DamagedError,
    parse_campaign,
)
from rocketmq_conformance.conformance.campaign.tables.schema import BLOCKS, RUNS

if TYPE_CHECKING:
    from pyspark import RDD
    from pyspark.sql import DataFrame, SparkSession

#: How jobs of Spark fail.
FAILURES = (PySparkException, import_module("py4j.protocol").Py4JError)  # it has no types
#: What is read of a session, and of which the last one counts.
_SESSION = ("session", "addresses", "implementations", "versions", "profiles")
_GLOB = re.compile(r"([\\{}\[\]*?])")
_PATH = re.compile(r"/(\w+)/suite=([^/]+)/block-(\d{8,})\.parquet$")
#: A part, or with the place of its campaign a file of one, and the bytes of it.
_Piece = tuple[int | None, Any]


class OnSpark(Engine):
    """The tasks of a session."""

    #: A task takes a second or less; of a storage that only Spark reads it has the files in memory.
    size, chosen = 1 << 18, 1000

    def __init__(self, spark: SparkSession) -> None:
        self.spark = spark
        self.name = f"by Spark on {spark.sparkContext.master}"

    def by_suite(
        self,
        campaigns: Sequence[Campaign],
        parts: Iterable[Part],
        tables: Sequence[str],
        look: Callable[..., Found],
        join: Joins[Found],
    ) -> dict[str, Found]:
        work = list(parts)
        if not work:
            return {}
        context = self.spark.sparkContext
        # a task has folders by their place, and the files of its part alone
        shipped = [replace(one, folder=one.folder.absolute(), given={} if one.url else None) for one in campaigns]
        with _reading(*campaigns):
            pieces: list[RDD[tuple[int, _Piece]]] = [
                context.parallelize([(at, (None, part)) for at, part in enumerate(work)], len(work))
            ]
            pieces += [self._files(at, one, work, tables) for at, one in enumerate(campaigns) if one.url]
            together = (
                context.union(pieces).groupByKey(len(work)) if pieces[1:] else pieces[0].mapValues(lambda one: [one])
            )
            return together.values().map(partial(_looked, look, shipped)).reduceByKeyLocally(join)

    def _files(
        self, at: int, campaign: Campaign, work: Sequence[Part], tables: Sequence[str]
    ) -> RDD[tuple[int, _Piece]]:
        """The files of a campaign that parts need, by part."""
        assert campaign.given is not None
        wanted: dict[BlockFile, list[int]] = defaultdict(list)
        for number, part in enumerate(work):
            for file in ((table, part.suite, block) for table in tables for block in part.blocks[at]):
                if file in campaign.given:
                    wanted[file].append(number)
        if not wanted:
            return self.spark.sparkContext.emptyRDD()
        names = (f"{table}/suite={suite}/block-{block:08}.parquet" for table, suite, block in wanted)
        rows = _files_at(self.spark, *(f"{campaign.url}/{name}" for name in names))
        return rows.select("path", "content").rdd.flatMap(partial(_pieces, at, dict(wanted)))


def _pieces(at: int, wanted: Mapping[BlockFile, Sequence[int]], row: Any) -> Iterator[tuple[int, _Piece]]:
    file = _block_file(row.path)
    return ((number, (at, (file, bytes(row.content)))) for number in (wanted.get(file, ()) if file else ()))


def _looked(look: Callable[..., Found], campaigns: Sequence[Campaign], pieces: Iterable[_Piece]) -> tuple[str, Found]:
    """What is found in a part."""
    files: dict[int | None, list[Any]] = defaultdict(list)
    for at, piece in pieces:
        files[at].append(piece)
    (part,) = files[None]
    given = (replace(one, given=dict(files[at])) if one.url else one for at, one in enumerate(campaigns))
    return part.suite, look(part, *given)


def open_url(spark: SparkSession, url: str) -> Campaign:
    """Open a campaign on any storage that Spark reads; CampaignError when there is none that this kit can read."""
    place = url.rstrip("/")
    try:
        rows = spark.read.text(_literal(f"{place}/{FILE}"), wholetext=True).collect()
        found = (_block_file(row.path) for row in _files_at(spark, place).select("path").collect())
        files = {file: b"" for file in found if file}
    except AnalysisException:
        raise CampaignError(f"{place} holds no campaign: name the folder that has a {FILE}.") from None
    except FAILURES as error:
        raise _unreadable(error, place) from error
    opened = parse_campaign(rows[0].value if rows else "", runs=lambda: _sessions(spark, place), url=place)
    return replace(opened, given=files)


def _sessions(spark: SparkSession, place: str) -> pa.Table:
    schema = pa.schema([RUNS.field(name) for name in _SESSION])
    try:
        found = spark.read.parquet(_literal(f"{place}/runs")).select(*_SESSION).orderBy("session").collect()
    except AnalysisException:  # it never began
        return schema.empty_table()
    except FAILURES as error:
        raise _unreadable(error, place) from error
    return pa.Table.from_pylist([row.asDict() for row in found], schema)


def _files_at(spark: SparkSession, *places: str) -> DataFrame:
    """Files of blocks, in folders or by their names."""
    reader = spark.read.format("binaryFile").option("recursiveFileLookup", "true")
    return reader.option("pathGlobFilter", "block-*.parquet").load([_literal(place) for place in places])


def _block_file(path: str) -> BlockFile | None:
    match = _PATH.search(path)
    return (match[1], match[2], int(match[3])) if match and match[1] in BLOCKS else None


@contextmanager
def _reading(*campaigns: Campaign) -> Iterator[None]:
    """DamagedError, with one sentence, for whatever Spark cannot read."""
    try:
        yield
    except FAILURES as error:
        raise _unreadable(error, *dict.fromkeys(campaign.name for campaign in campaigns)) from error


def _unreadable(error: BaseException, *names: str) -> DamagedError:
    sentence = failure_sentence(error)
    _, damaged, why = sentence.partition(f"{DamagedError.__name__}: ")
    return DamagedError(why if damaged else f"Spark cannot read {' and '.join(names)}: {sentence}")


def _literal(path: str) -> str:
    """A path that Spark does not take for a pattern."""
    return _GLOB.sub(r"\\\1", path)
