"""The Spark session of a campaign's driver, configured for campaigns.

PySpark is imported when a session is opened and not before: the rest of the kit works without it.
"""

from __future__ import annotations

import logging
import os
import shutil
import sys
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from subprocess import TimeoutExpired
from typing import IO, TYPE_CHECKING, Any

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.campaign.spark.deferred_sigint import DeferredSigint
from rocketmq_conformance.conformance.campaign.spark.failure import failure_sentence
from rocketmq_conformance.conformance.campaign.spark.master import LOOPBACK, Master, parse, reach
from rocketmq_conformance.conformance.campaign.spark.shipping import INSTALL, ship
from rocketmq_conformance.conformance.targets.broker.launch_config import java_feature
from rocketmq_conformance.conformance.waiting import wait_until

if TYPE_CHECKING:
    from pyspark import SparkConf
    from pyspark.sql import SparkSession

#: Where a campaign runs by default.
DEFAULT_MASTER = "local[*]"
#: PySpark 4 is compiled for this release of Java.
OLDEST_JAVA = 17
#: Seconds that a cluster may take to lend its first process, and that Spark's Java machine may take to end.
PATIENCE, END_PATIENCE = 60.0, 20.0
#: Packages of the extra that a session needs.
NEEDED = ("pyspark", "pandas", "pyarrow", "psutil")
#: Set by spark-submit: the Java machine of the session runs already.
SUBMITTED = "PYSPARK_GATEWAY_PORT"

#: What a session is set to, unless the caller or spark-submit says otherwise. A row of a campaign is a block of cases
#: and takes seconds, so a batch of Arrow holds one row; a second copy of a slow task would play its cases twice. The
#: driver only hands out blocks: its Java machine starts in half the time without the second compiler and with the
#: simple collector, and leaves the cores to the cases.
SETTINGS: Mapping[str, str] = {
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.hadoop.parquet.page.verify-checksum.enabled": "true",
    "spark.python.worker.reuse": "true",
    "spark.speculation": "false",
    "spark.sql.catalogImplementation": "in-memory",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "1",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
#: What a session that plays cases is set to beside: its executors only hand them out, too. Which collector they have is
#: left to the cluster, whose own ``spark.executor.extraJavaOptions`` come behind these.
HANDING_OUT: Mapping[str, str] = {"spark.executor.defaultJavaOptions": "-XX:TieredStopAtLevel=1"}
_ON_LOOPBACK: Mapping[str, str] = {"spark.driver.bindAddress": LOOPBACK, "spark.driver.host": LOOPBACK}
#: Usual output of the JVM; the first other line says why it did not start.
_USUAL = ("WARNING: ", "Using Spark's default log4j profile", "Picked up ")


@contextmanager
def open_session(
    master: str | None = None,
    *,
    name: str,
    config: Mapping[str, str] | None = None,
    log: Path | None = None,
    patience: float = PATIENCE,
) -> Iterator[SparkSession]:
    """A session whose workers run this process's own kit; it is stopped at the end, unless it was there before.

    ``master`` is as ``master.parse`` reads it. None takes the session that this process has, else the master that
    spark-submit was given, else all cores of this machine. ``config`` goes before ``SETTINGS``, and what spark-submit
    was given before both. What Spark and the workers say is added to the file ``log``, or thrown away; under
    spark-submit it stays where spark-submit puts it.

    MasterError when there is no such master, CannotRunError with one sentence when Java, a package, the cluster or
    (within ``patience`` seconds) its workers are missing. Ctrl-C reaches the caller as KeyboardInterrupt, and the
    session lives on so that the caller can end its jobs.
    """
    asked = None if master is None else parse(master)
    need_packages()
    with ExitStack() as stack:
        stack.enter_context(_silent_library())
        spark = _running(asked)
        if spark is None:
            with DeferredSigint() as interrupts:
                spark = _start(asked, name, config or {}, log, patience, stack, interrupts)
        ship(spark)
        yield spark


def need_packages() -> None:
    """CannotRunError when a package is not installed."""
    missing = [package for package in NEEDED if find_spec(package) is None]
    if missing:
        raise CannotRunError(f"A campaign needs {', '.join(missing)}: install what is missing with `{INSTALL}`.")


def need_java() -> None:
    """Find Java as Spark does; CannotRunError when it would find none, or one that is too old for it."""
    remedy = f"install a Java runtime of {OLDEST_JAVA} or later, or set JAVA_HOME to one"
    home = os.environ.get("JAVA_HOME")
    launcher = str(Path(home, "bin", "java")) if home else shutil.which("java")
    if not launcher:
        raise CannotRunError(f"A campaign runs on Spark, which needs Java, and there is none: {remedy}.")
    if not os.access(launcher, os.X_OK):
        raise CannotRunError(f"JAVA_HOME is {home}, and there is no bin/java in it: {remedy}.")
    feature = java_feature(launcher)
    if feature < OLDEST_JAVA:
        raise CannotRunError(f"Spark needs Java {OLDEST_JAVA} or later, and {launcher} is Java {feature}: {remedy}.")


def _running(asked: Master | None) -> SparkSession | None:
    """The session that this process has; CannotRunError when it runs elsewhere than what was asked for."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    context = SparkContext._active_spark_context
    if context is None:
        return None
    if asked is not None and asked.url != context.master:
        raise CannotRunError(
            f"This process has a Spark session on {context.master} and can have none on {asked.url} beside it: "
            "stop it first."
        )
    return SparkSession.builder.getOrCreate()


def _start(
    asked: Master | None,
    name: str,
    config: Mapping[str, str],
    log: Path | None,
    patience: float,
    stack: ExitStack,
    interrupts: DeferredSigint,
) -> SparkSession:
    """Start a session; what ends it goes onto the stack."""
    import pyspark
    from pyspark import SparkConf, SparkContext, java_gateway
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    # neither has types
    launch: Any = java_gateway.launch_gateway
    py4j: Any = import_module("py4j.protocol")
    submitted = SUBMITTED in os.environ
    said: IO[bytes] | None = None
    context: SparkContext | None = None
    try:
        gateway = SparkContext._gateway
        if submitted:
            gateway = gateway or launch()
            conf = SparkConf(_jvm=gateway.jvm)
            asked = asked or parse(conf.get("spark.master") or DEFAULT_MASTER)
        else:
            conf = SparkConf()
            asked = asked or parse(DEFAULT_MASTER)
            need_java()
        loopback = reach(asked)
        stack.enter_context(_environment(loopback))
        _fill(conf, asked, name, config, loopback)
        if gateway is None:
            said = stack.enter_context(_file(log))
            gateway = launch(conf, {"stdout": said, "stderr": said})
            stack.callback(end_java, gateway)
        interrupts.twice = True
        context = SparkContext(conf=conf, gateway=gateway)
        interrupts.take()
        stack.callback(_stop, context)
        spark = SparkSession.builder.getOrCreate()
        if submitted and not conf.contains("spark.log.level"):
            context.setLogLevel("WARN")
        if asked.hosts:
            _await_worker(spark, asked, patience, interrupts)
    except (py4j.Py4JError, PySparkException, OSError) as error:
        if context is not None and asked and asked.hosts:
            raise CannotRunError(
                f"{asked.url} accepts connections and does not answer as a Spark master: check its port, and that the "
                f"cluster runs Spark {pyspark.__version__}."
            ) from error
        dead = said if SparkContext._gateway is None else None
        raise CannotRunError(f"Spark does not start: {_first_line(dead) or failure_sentence(error)}") from error
    return spark


def _fill(conf: SparkConf, master: Master, name: str, config: Mapping[str, str], loopback: bool) -> None:
    conf.setMaster(master.url).setAppName(name)
    for key, value in {**SETTINGS, **(_ON_LOOPBACK if loopback else {}), **config}.items():
        conf.setIfMissing(key, value)


@contextmanager
def _environment(loopback: bool) -> Iterator[None]:
    """Workers get this Python, and Spark binds where its master is, unless the user set something else."""
    wanted = {"PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable}
    if loopback:
        wanted["SPARK_LOCAL_IP"] = LOOPBACK
    added = {key: value for key, value in wanted.items() if not os.environ.get(key)}
    os.environ.update(added)
    try:
        yield
    finally:
        for key in added:
            os.environ.pop(key, None)


@contextmanager
def _silent_library() -> Iterator[None]:
    """The library under PySpark logs stack traces of errors that it raises as well, and of every Ctrl-C."""

    def wanted(record: logging.LogRecord) -> bool:
        return "py4j" not in Path(record.pathname).parts

    root, own = logging.getLogger(), logging.getLogger("py4j")
    level = own.level
    root.addFilter(wanted)
    own.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        own.setLevel(level)
        root.removeFilter(wanted)


def _await_worker(spark: SparkSession, master: Master, patience: float, interrupts: DeferredSigint) -> None:
    """Wait until the cluster lends a process: a job would wait for one without end or message."""
    if spark.conf.get("spark.dynamicAllocation.enabled", "false") == "true":
        return
    tracker = spark.sparkContext._jsc.sc().statusTracker()
    # the driver counts as one
    if not wait_until(lambda: len(tracker.getExecutorInfos()) > 1 or bool(interrupts.waiting), patience, 0.1):
        memory = spark.conf.get("spark.executor.memory", "1g")
        raise CannotRunError(
            f"{master.url} lent no worker process within {patience:g} s: start workers, or wait until one of them "
            f"has a free core and {memory} of free memory."
        )


def _stop(context: Any) -> None:
    """Stop a session, also one whose Java machine is gone."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    with warnings.catch_warnings(action="ignore"), suppress(Exception):
        session = SparkSession._instantiatedSession
        (session or context).stop()
    SparkSession._instantiatedSession = None
    SparkContext._active_spark_context = None


def end_java(gateway: Any) -> None:
    """End a Java machine that was started here, and wait for it: it deletes the files of the session."""
    from pyspark import SparkContext

    SparkContext._gateway = SparkContext._jvm = None
    with suppress(Exception):
        gateway.shutdown()
    with suppress(OSError):
        gateway.proc.stdin.close()
    try:
        gateway.proc.wait(END_PATIENCE)
    except TimeoutExpired:
        gateway.proc.kill()
        gateway.proc.wait()


def _file(log: Path | None) -> AbstractContextManager[IO[bytes]]:
    return log.open("a+b") if log else tempfile.TemporaryFile()


def _first_line(said: IO[bytes] | None) -> str:
    """Why the Java machine did not start, in its own words."""
    if said is None:
        return ""
    said.seek(0)
    lines = (line.decode(errors="replace").strip() for line in said)
    return next((f"{line.rstrip('.')}." for line in lines if line and not line.startswith(_USUAL)), "")
