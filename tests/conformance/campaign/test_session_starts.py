"""Real sessions from their beginning to their end: what they are given, what they lack, and what they leave behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import psutil
import pytest

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.campaign.spark import session as sessions
from rocketmq_conformance.conformance.campaign.spark.failure import failure_sentence
from rocketmq_conformance.conformance.campaign.spark.session import open_session
from rocketmq_conformance.conformance.campaign.spark.shipping import check_worker

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("without_spark")]


def lacking_on_workers(spark: SparkSession) -> str:
    """What a worker of the session lacks, or "": as many tasks ask as run at once."""
    tasks = spark.sparkContext.defaultParallelism
    answers = spark.sparkContext.parallelize(range(tasks), tasks).map(lambda _: check_worker()).collect()
    return next(filter(None, answers), "")


def java_machines() -> list[int]:
    """Java machines that this process started, those of the cluster left out."""
    return [
        child.pid
        for child in psutil.Process().children()
        if child.name() == "java" and "org.apache.spark.deploy.SparkSubmit" in child.cmdline()
    ]


def failure(action: Callable[[], object]) -> str:
    """What is said of an action that fails."""
    try:
        action()
    except Exception as error:
        return failure_sentence(error)
    raise AssertionError("nothing was raised")


class Poor(NamedTuple):
    """What was said in a session with a Python of the user's own choice, until its Java machine was killed."""

    python: Path
    #: While there was no such Python.
    missing: str
    #: When it had no packages: by the check of workers, and by Spark when it took none.
    lacking: str
    unchecked: str
    killed: str


@pytest.fixture(scope="module")
def poor(without_spark: None, tmp_path_factory: pytest.TempPathFactory) -> Poor:
    bare = sys._base_executable
    code = "from importlib.util import find_spec; print(find_spec('pyarrow') is None)"
    has_none = subprocess.run([bare, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "True"
    python = tmp_path_factory.mktemp("python") / "python"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", str(python))
        with open_session("local[1]", name="poor") as spark:
            missing = failure(lambda: lacking_on_workers(spark))
            lacking = unchecked = ""
            if has_none:
                python.symlink_to(bare)
                lacking = lacking_on_workers(spark)
                unchecked = failure(spark.range(4).mapInArrow(lambda batches: batches, "id long").collect)
            [machine] = java_machines()
            os.kill(machine, signal.SIGKILL)
            killed = failure(lambda: spark.range(3).count())
    return Poor(python, missing, lacking, unchecked, killed)


def test_workers_without_that_python_say_so(poor: Poor) -> None:
    assert poor.missing == f"The workers have no {poor.python}: set PYSPARK_PYTHON to a Python that they have."


def test_workers_without_packages_say_so(poor: Poor) -> None:
    if not poor.lacking:
        pytest.skip(f"{sys._base_executable} has PyArrow")
    assert f"({poor.python}) has no " in poor.lacking
    assert "pyarrow" in poor.lacking
    assert poor.unchecked.startswith("The Python of the workers has no ")


def test_a_java_machine_that_dies_is_reported_and_leaves_room_for_a_session_that_needs_no_setting(
    poor: Poor, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert poor.killed.endswith(".")
    assert "\n" not in poor.killed
    log = tmp_path_factory.mktemp("log") / "spark.log"
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYSPARK_PYTHON", raising=False)
    before = (dict(os.environ), list(sys.path), signal.getsignal(signal.SIGINT))

    def play(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        import rocketmq_conformance

        for batch in batches:
            said = f"{batch.num_rows} {sys.executable} {rocketmq_conformance.__file__}"
            yield pa.RecordBatch.from_pydict({"wording": [said]})
            raise_if(batch.column(0)[0].as_py() == 7)

    def raise_if(bad: bool) -> None:
        if bad:
            raise ValueError("a bad block")

    with open_session("local[2]", name="needs nothing", log=log) as spark:
        context = spark.sparkContext
        assert (context.master, context.appName) == ("local[2,4]", "needs nothing")
        assert context.getConf().get("spark.driver.host") == "127.0.0.1"
        assert signal.getsignal(signal.SIGINT) is before[2]
        assert sys.path[1:] == [place for place in sys.path[1:] if not place.endswith(".zip") or place in before[1]]
        assert lacking_on_workers(spark) == ""
        told = [row.wording for row in spark.range(0, 4, 1, 2).mapInArrow(play, "wording string").collect()]
        for wording in told:
            rows, python, kit = wording.split()
            assert rows == "1"
            assert python == sys.executable
            assert "/rocketmq-conformance-" in kit
            assert ".zip/" in kit
        assert len(told) == 4
        assert failure(spark.range(7, 8).mapInArrow(play, "wording string").collect) == "ValueError: a bad block."
    assert not java_machines()
    # numbers of Spark's own, which are no setting of anybody
    left = {key: value for key, value in os.environ.items() if not key.startswith("SPARK_")}
    assert left == {key: value for key, value in before[0].items() if not key.startswith("SPARK_")}
    assert not list(tmp_path.iterdir())
    # what Spark says goes there
    assert "a bad block" in log.read_text()


def test_a_java_machine_that_does_not_start_is_reported_in_its_own_words() -> None:
    memory = {"spark.driver.memory": "lots"}
    with pytest.raises(CannotRunError) as refusal, open_session("local[1]", name="x", config=memory):
        pass
    assert str(refusal.value) == "Spark does not start: Invalid maximum heap size: -Xmxlots."
    assert not java_machines()


def test_a_session_of_the_users_own_is_taken_and_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    from pyspark.sql import SparkSession

    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    own = (
        SparkSession.builder.master("local[1]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .getOrCreate()
    )
    try:
        with open_session(name="x") as spark:
            assert spark is own
            assert lacking_on_workers(spark) == ""
        assert own.range(3).count() == 3
        with (
            pytest.raises(CannotRunError, match=r"has a Spark session on local\[1\] and can have none on local\[3,4\]"),
            open_session("local[3]", name="x"),
        ):
            pass
    finally:
        own.stop()
        sessions.end_java(own.sparkContext._gateway)
