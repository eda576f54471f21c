"""Keeps the classes that Spark loads in an archive, from which every Java machine of Spark after it starts in half the
time: ``python spark_classes.py FILE``; then set SPARK_SUBMIT_OPTS to ``-XX:SharedArchiveFile=FILE``."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from rocketmq_conformance.conformance.campaign.spark import session

if TYPE_CHECKING:
    from pandas import DataFrame

_OPTIONS = "spark.driver.extraJavaOptions"
#: Seconds that the Java machine may take to end: it writes its classes then, which takes a slow machine a minute.
_END_PATIENCE = 600.0


def archive(file: Path) -> None:
    """Do what campaigns and their analysis do, in small, in a session that writes its classes to a file in the end."""
    os.environ.pop("SPARK_SUBMIT_OPTS", None)
    session.END_PATIENCE = _END_PATIENCE
    config = {_OPTIONS: f"{session.SETTINGS[_OPTIONS]} -XX:ArchiveClassesAtExit={file}"}
    with (
        tempfile.TemporaryDirectory() as folder,
        session.open_session("local[2]", name="classes", config=config) as spark,
    ):
        table = f"{folder}/table"
        spark.range(20).mapInPandas(_unchanged, "id long").write.parquet(table)
        rows = spark.read.parquet(table)
        rows.createOrReplaceTempView("rows")
        spark.sql("select id % 3 as kind, count(*), max(id) from rows group by 1 order by 1").collect()
        spark.sql(
            "select a.id, row_number() over (order by b.id) from rows a join rows b on a.id = b.id + 1"
        ).toPandas()
        spark.sparkContext.parallelize(range(4), 2).map(str).collect()


def _unchanged(frames: Iterable[DataFrame]) -> Iterator[DataFrame]:
    yield from frames


if __name__ == "__main__":
    archive(Path(sys.argv[1]))
    if not Path(sys.argv[1]).is_file():
        sys.exit("Java has written no archive of classes.")
