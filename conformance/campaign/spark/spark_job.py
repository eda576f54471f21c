"""Spark jobs in the background, so that the driver can watch them, stop them and be interrupted."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.campaign.spark.failure import failure_sentence
from rocketmq_conformance.conformance.campaign.spark.worker import REPORT, Task

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Seconds between two calls of ``look``.
LOOK = 0.25
#: Seconds that tasks may take to end after they were cancelled.
LAST = 5.0
#: Partitions for every core: tasks of very different length still end together.
PER_CORE = 16


class SparkJobs:
    """Runs tasks of one campaign on a Spark session."""

    def __init__(self, spark: SparkSession, partitions: int | None) -> None:
        """``partitions`` of every job; None chooses by the cores that Spark has."""
        self.spark = spark
        self.partitions = partitions
        #: Processes that played, and the most memory that one of them took (bytes).
        self.players: set[int] = set()
        self.peak = 0

    @property
    def cores(self) -> int:
        """Tasks that run at once."""
        return int(self.spark.sparkContext.defaultParallelism)

    def run(
        self,
        task: Task,
        work: Sequence[Any],
        look: Callable[[], None] = lambda: None,
        stop: Callable[[], None] = lambda: None,
    ) -> list[dict[str, Any]]:
        """Run ``task`` over the positions of ``work``; answers the rows of ``REPORT``, in the order of the work.

        ``look`` is called a few times a second. When it fails, or on Ctrl-C, ``stop`` is called once, which makes the
        tasks end soon; after that, ``run`` raises the exception. Another Ctrl-C cancels them. CannotRunError when Spark
        gives up.
        """
        wanted = self.partitions or PER_CORE * self.cores
        frame = self.spark.range(0, len(work), 1, max(1, min(wanted, len(work)))).mapInArrow(task, _ddl())
        rows: list[Any] = []
        failed: list[BaseException] = []

        def collect() -> None:
            try:
                rows.extend(frame.collect())
            except BaseException as error:
                failed.append(error)
            finally:
                ended.set()

        # Python 3.11 and 3.12 take a thread whose join was interrupted for ended, so it is not joined
        ended = threading.Event()
        threading.Thread(target=collect, name="campaign-job", daemon=True).start()
        raised: BaseException | None = None
        while not ended.is_set():
            try:
                ended.wait(LOOK)
                if not isinstance(raised, Exception):  # it would fail again
                    look()
            except BaseException as error:
                if raised is not None:
                    self.spark.sparkContext.cancelAllJobs()
                    ended.wait(LAST)
                    raise
                raised = error
                stop()
        if raised:
            raise raised
        if failed:
            raise CannotRunError(f"Spark gave up: {failure_sentence(failed[0])}") from failed[0]
        found = sorted((row.asDict() for row in rows), key=lambda row: row["work"])
        for row in found:
            self.peak = max(self.peak, row["peak"])
            self.players.update({row["pid"]} - {0})
        return found


def _ddl() -> str:
    types = {"int64": "bigint", "string": "string"}
    return ", ".join(f"{field.name} {types[str(field.type)]}" for field in REPORT)
