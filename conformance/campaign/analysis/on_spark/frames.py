"""The tables of a stored campaign as DataFrames, from any storage that Spark reads.

Per-case rows stay in Spark; what reaches the driver is aggregates, names of blocks, and samples of bounded size.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from importlib import import_module
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark import StorageLevel
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import Window
from pyspark.sql import functions as sf

from rocketmq_conformance.conformance.campaign.spark.failure import failure_sentence
from rocketmq_conformance.conformance.campaign.tables import blocks
from rocketmq_conformance.conformance.campaign.tables.reading import Campaign, DamagedError
from rocketmq_conformance.conformance.campaign.tables.schema import BLOCKS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

#: How jobs of Spark fail.
FAILURES = (PySparkException, import_module("py4j.protocol").Py4JError)  # it has no types
#: Blocks by suite.
Numbers = Mapping[str, Sequence[int]]
#: Cases of a partition of a shuffle, and rows of a batch that a Python worker is given.
PER_PARTITION, PER_BATCH = 2_000_000, 8192
#: What opening a file counts for when a task is given several (bytes): blocks are small, and a task takes longer.
OPENING = 1 << 16
#: A search through blocks in order looks at one block first, and at so many times more whenever that was not enough.
_GROWTH = 16
_BATCH, _PARTITIONS = "spark.sql.execution.arrow.maxRecordsPerBatch", "spark.sql.shuffle.partitions"
_OPENING = "spark.sql.files.openCostInBytes"
_TYPES = {"int64": "bigint", "int32": "int", "float": "float", "bool": "boolean", "string": "string"}
_EMPTY = {"bigint": "0L", "int": "0", "float": "0F", "boolean": "false", "string": "''"}
_GLOB = re.compile(r"([\\{}\[\]*?])")
_FILE = re.compile(r"/suite=([^/]+)/block-(\d{8,})\.parquet$")


@contextmanager
def analysing(spark: SparkSession, *campaigns: Campaign) -> Iterator[None]:
    """Set a session to the analysis of campaigns; DamagedError, with one sentence, for whatever Spark cannot read."""
    cases = sum(campaign.cases * len(campaign.addresses) for campaign in campaigns)
    cores = int(spark.sparkContext.defaultParallelism)
    partitions = max(cores, cases // PER_PARTITION)
    wanted = {_BATCH: str(PER_BATCH), _PARTITIONS: str(partitions), _OPENING: str(OPENING)}
    before = {key: str(spark.conf.get(key)) for key in wanted}
    for key, value in wanted.items():
        spark.conf.set(key, value)
    try:
        yield
    except FAILURES as error:
        raise unreadable(error, *dict.fromkeys(campaign.name for campaign in campaigns)) from error
    finally:
        for key, value in before.items():
            spark.conf.set(key, value)


def unreadable(error: BaseException, *names: str) -> DamagedError:
    """What Spark failed at, as one sentence."""
    return DamagedError(f"Spark cannot read {' and '.join(names)}: {failure_sentence(error)}")


class CampaignFrames:
    """The tables of one campaign."""

    def __init__(self, spark: SparkSession, campaign: Campaign) -> None:
        self.spark = spark
        self.campaign = campaign
        self._blocks: dict[str, dict[str, list[int]]] = {}

    @property
    def finished(self) -> dict[str, list[int]]:
        """Numbers of the finished blocks of every suite, ascending."""
        return self._listed("cases")

    def _listed(self, table: str) -> dict[str, list[int]]:
        """Numbers of the blocks that a table has, by suite, as they were when they were first asked for."""
        if table not in self._blocks:
            self._blocks[table] = self._list(table)
        return self._blocks[table]

    def _list(self, table: str) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {suite: [] for suite in self.campaign.suites}
        if self.campaign.url:
            for suite, number in self._files(table):
                found.setdefault(suite, []).append(number)
        else:
            for suite, numbers in found.items():
                numbers += blocks.numbers(self.campaign.folder, table, suite)
        return {suite: sorted(numbers) for suite, numbers in found.items()}

    def _files(self, table: str) -> Iterator[tuple[str, int]]:
        reader = self.spark.read.format("binaryFile").option("recursiveFileLookup", "true")
        try:
            names = reader.option("pathGlobFilter", "block-*.parquet").load(literal(f"{self.campaign.url}/{table}"))
            rows = names.select("path").collect()
        except AnalysisException:  # a table without rows has no folder
            return
        for row in rows:
            match = _FILE.search(row.path)
            if match:
                yield match[1], int(match[2])

    def rows(
        self, table: str, columns: Sequence[str], suites: Sequence[str] | None = None, only: Numbers | None = None
    ) -> DataFrame:
        """Rows of finished blocks, with ``suite`` and the given columns; behaviours are those of all blocks.

        Columns that an older kit did not write are empty. ``suites`` selects, and ``only`` the blocks of some suites.
        """
        names = ["suite", *(column for column in columns if column != "suite")]
        schema = BLOCKS[table]
        ddl = ", ".join(
            f"`{name}` {_type(pa.string() if name == 'suite' else schema.field(name).type)}" for name in names
        )
        wanted = self.campaign.suites if suites is None else suites
        paths, unfinished = self._paths(table, wanted, only)
        if not paths:
            return self.spark.createDataFrame([], ddl)
        root = f"{self._root}/{table}"
        reader = self.spark.read.schema(ddl).option("basePath", root).option("pathGlobFilter", "block-*.parquet")
        found = reader.parquet(*(f"{literal(root)}/{path}" for path in paths))
        for suite, numbers in unfinished.items():
            block = sf.floor(sf.col("case") / sf.lit(self.campaign.block))
            found = found.filter(~((sf.col("suite") == suite) & block.isin(numbers)))
        return found.selectExpr("suite", *(_filled(name, schema) for name in names[1:]))

    def _paths(self, table: str, suites: Sequence[str], only: Numbers | None) -> tuple[list[str], dict[str, list[int]]]:
        """What is read, below the table's folder, and blocks in it that do not count."""
        there = self.finished if table == "cases" else self._listed(table)
        paths, unfinished = [], {}
        for suite in suites:
            numbers = there.get(suite, [])
            if only is not None:
                chosen = set(only.get(suite, ())) & set(self.finished[suite])
                paths += [f"suite={suite}/block-{number:08}.parquet" for number in numbers if number in chosen]
            elif numbers:
                paths.append(f"suite={suite}")
                left_out = [] if table == "behaviours" else sorted(set(numbers) - set(self.finished[suite]))
                if left_out:
                    unfinished[suite] = left_out
        return paths, unfinished

    @property
    def _root(self) -> str:
        return self.campaign.url or f"file://{self.campaign.folder.absolute()}"


def kept(rows: DataFrame, held: ExitStack) -> DataFrame:
    """The same rows, which Spark keeps on disk where memory is short; ``held`` releases them."""
    stored = rows.persist(StorageLevel.MEMORY_AND_DISK)
    held.callback(stored.unpersist)
    return stored


def first_of(rows: DataFrame, keys: Sequence[str], wanted: int) -> DataFrame:
    """Of every group the rows with the smallest numbers of cases."""
    order = Window.partitionBy(*keys).orderBy("case")
    return rows.withColumn("place", sf.row_number().over(order)).filter(sf.col("place") <= wanted).drop("place")


def first_cases(
    frames: CampaignFrames, suites: Sequence[str], wanted: int, choose: Callable[[Numbers], DataFrame]
) -> dict[str, list[int]]:
    """The smallest numbers of cases (``suite`` and ``case``) that ``choose`` finds in given blocks, by suite.

    Blocks are read in order, and no more of them than it takes.
    """
    found: dict[str, list[int]] = {}
    left, size = list(suites), 1
    while left:
        only = {suite: frames.finished[suite][:size] for suite in left}
        some: dict[str, list[int]] = {suite: [] for suite in left}
        for suite, case in first_of(choose(only).select("suite", "case"), ["suite"], wanted).collect():
            some[suite].append(case)
        for suite, cases in some.items():
            if len(cases) == wanted or size >= len(frames.finished[suite]):
                found[suite] = sorted(cases)
        left = [suite for suite in left if suite not in found]
        size *= _GROWTH
    return found


def literal(path: str) -> str:
    """A path that Spark does not take for a pattern."""
    return _GLOB.sub(r"\\\1", path)


def _type(type_: pa.DataType) -> str:
    if pa.types.is_dictionary(type_):
        return _type(type_.value_type)
    if pa.types.is_list(type_):
        return f"array<{_type(type_.value_type)}>"
    return _TYPES[str(type_)]


def _filled(name: str, schema: pa.Schema) -> str:
    """A column whose missing values are empty ones, in SQL: one call of Java, where functions take several for each."""
    kind = _type(schema.field(name).type)
    empty = _EMPTY.get(kind, f"cast(array() as {kind})")
    return f"coalesce(`{name}`, {empty}) as `{name}`"
