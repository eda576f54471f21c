"""The Spark session on two cores that the tests of a process share: those that are not about its begin or end."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

from rocketmq_conformance.conformance.campaign.spark.session import open_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: What campaigns and commands name to be given the session that is there.
MASTER = "local[2]"


class SharedSpark:
    """Begins with the first test that asks for it, and again after a test that needed a process without one."""

    def __init__(self) -> None:
        self._held = ExitStack()
        self._session: SparkSession | None = None

    def session(self) -> SparkSession:
        """The session, which is begun when there is none."""
        if self._session is None:
            config = {"spark.sql.shuffle.partitions": "2"}
            self._session = self._held.enter_context(open_session(MASTER, name="tests", config=config))
        return self._session

    def end(self) -> None:
        """End the session when there is one."""
        self._session = None
        self._held.close()
