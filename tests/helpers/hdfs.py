"""A real HDFS on the loopback interface: one name node and one data node, of the Hadoop that PySpark brings."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from places import HELPERS
from spark_cluster import spark_bin

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.targets.maven import class_path

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PATIENCE = 300
_SERVING = re.compile(r"Serving (hdfs://\S+)")
_CLIENT = re.compile(r"hadoop-client-api-(.+)\.jar")


@contextmanager
def running(folder: Path) -> Iterator[str]:
    """Start HDFS with its files and its log in a folder, and stop it at the end; its URL.

    The test is skipped where there is no JDK or Maven, or where Maven cannot get the jars.
    """
    java = Path(os.environ["JAVA_HOME"], "bin", "java") if "JAVA_HOME" in os.environ else shutil.which("java")
    if not java or not (Path(java).with_name("javac").exists() or shutil.which("javac")):
        pytest.skip("HDFS needs a JDK")
    try:
        jars = class_path(("hadoop-client-minicluster",), _hadoop(), group="org.apache.hadoop")
    except CannotRunError as error:
        pytest.skip(f"HDFS needs jars of Maven: {error}")
    options = (
        *("-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", f"-Djava.io.tmpdir={folder}"),
        *("-cp", os.pathsep.join(map(str, jars))),
    )
    log = folder / "hdfs.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [str(java), *options, str(HELPERS / "OneNodeHdfs.java"), str(folder / "data")],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    try:
        yield _url(log, process)
    finally:
        process.kill()  # all that it has is in the folder
        process.communicate()


def put(spark: SparkSession, folder: Path, url: str) -> None:
    """Copy a folder into the root of HDFS, as ``hdfs dfs -put`` does."""
    system, path = _file_system(spark, url)
    system.copyFromLocalFile(path(str(folder)), path(f"{url}/{folder.name}"))


def get(spark: SparkSession, url: str, folder: Path) -> None:
    """Copy a folder from HDFS into one of this machine, as ``hdfs dfs -get`` does: without files of checksums."""
    system, path = _file_system(spark, url)
    delete, raw = False, True
    system.copyToLocalFile(delete, path(url), path(str(folder)), raw)


def _file_system(spark: SparkSession, url: str) -> tuple[Any, Any]:
    """HDFS as the Java machine of a session sees it, and what makes paths for it."""
    java: Any = spark.sparkContext._jvm
    path = java.org.apache.hadoop.fs.Path
    return path(url).getFileSystem(spark.sparkContext._jsc.hadoopConfiguration()), path


def _hadoop() -> str:
    """The version of Hadoop in the installed PySpark."""
    jars = Path(spark_bin("spark-class")).parents[1] / "jars"
    [version] = [found[1] for found in map(_CLIENT.fullmatch, os.listdir(jars)) if found]
    return version


def _url(log: Path, process: subprocess.Popen[bytes]) -> str:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and process.poll() is None:
        found = _SERVING.search(log.read_text(errors="replace"))
        if found:
            return found[1]
        time.sleep(0.1)
    raise AssertionError(f"HDFS did not start:\n{log.read_text(errors='replace')[-3000:]}")
