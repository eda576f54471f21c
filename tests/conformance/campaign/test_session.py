"""The Spark session of a campaign: masters, what is missing, Ctrl-C while it starts, and what Spark says."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from every import every

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.campaign.spark import session as sessions
from rocketmq_conformance.conformance.campaign.spark.deferred_sigint import DeferredSigint
from rocketmq_conformance.conformance.campaign.spark.failure import failure_sentence
from rocketmq_conformance.conformance.campaign.spark.master import FAILURES, MasterError, parse, reach
from rocketmq_conformance.conformance.campaign.spark.session import need_java, need_packages

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


# --- masters ----------------------------------------------------------------------------------------------------


@every(
    ("text", "url"),
    [
        ("local", f"local[1,{FAILURES}]"),
        ("local[2]", f"local[2,{FAILURES}]"),
        ("local[*]", f"local[*,{FAILURES}]"),
        ("local[ 12 , 1 ]", "local[12,1]"),
        ("local[*,7]", "local[*,7]"),
        ("local-cluster[2,1,512]", "local-cluster[2,1,512]"),
    ],
)
def test_a_local_task_may_fail_as_often_as_one_of_a_cluster(text: str, url: str) -> None:
    assert parse(text).url == url
    assert parse(text).local


@pytest.mark.parametrize(
    ("text", "hosts"),
    [
        ("spark://h:7077", (("h", 7077),)),
        ("spark://a.example:1,b.example:65535", (("a.example", 1), ("b.example", 65535))),
        ("spark://[::1]:7077", (("::1", 7077),)),
        ("yarn", ()),
        ("k8s://https://example:6443", ()),
    ],
)
def test_clusters_are_left_as_they_are(text: str, hosts: tuple[tuple[str, int], ...]) -> None:
    master = parse(text)
    assert (master.url, master.hosts, master.local) == (text, hosts, False)


@every(
    ("text", "sentence"),
    [
        ("", "Spark knows no master ''"),
        ("local[0]", "write local[N]"),
        ("local[-1]", "write local[N]"),
        ("local[x]", "write local[N]"),
        ("Local", "write local[N]"),
        ("localhost:7077", "write local[N]"),
        ("mesos://h:5050", "write local[N]"),
        ("spark://", "written spark://HOST:PORT"),
        ("spark://h", "written spark://HOST:PORT"),
        ("spark://h:0", "written spark://HOST:PORT"),
        ("spark://h:65536", "written spark://HOST:PORT"),
        ("spark://h:7077,", "written spark://HOST:PORT"),
        ("spark://h:7077/path", "written spark://HOST:PORT"),
        ("sc://h:15002", "Spark Connect runs no campaigns"),
    ],
)
def test_what_no_master_is_written_like(text: str, sentence: str) -> None:
    with pytest.raises(MasterError, match=sentence.replace("[", r"\[")):
        parse(text)


@pytest.fixture
def listening() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.fixture
def closed() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def test_a_master_on_this_machine_is_on_the_loopback_interface(listening: int) -> None:
    assert reach(parse(f"spark://localhost:{listening}"))
    assert reach(parse("local[1]"))
    assert not reach(parse("yarn"))


def test_a_master_that_stands_by_is_enough(listening: int, closed: int) -> None:
    assert reach(parse(f"spark://127.0.0.1:{closed},127.0.0.1:{listening}"))


@pytest.mark.parametrize("host", ["127.0.0.1", "no-such-host.invalid", "a..b"])
def test_a_master_that_does_not_answer_is_reported_at_once(host: str, closed: int) -> None:
    began = time.monotonic()
    with pytest.raises(
        CannotRunError, match=f"No Spark master answers at spark://{host}:{closed} .*start it"
    ) as refusal:
        reach(parse(f"spark://{host}:{closed}"))
    assert time.monotonic() - began < 60
    assert "\n" not in str(refusal.value)


# --- what is missing --------------------------------------------------------------------------------------------


def pretend_java(folder: Path, wording: str) -> Path:
    """A Java home whose Java says something."""
    (folder / "bin").mkdir(parents=True)
    launcher = folder / "bin" / "java"
    launcher.write_text(f"#!/bin/sh\necho '{wording}' >&2\n")
    launcher.chmod(0o755)
    return folder


def test_no_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CannotRunError, match="needs Java, and there is none: install a Java runtime of 17 or later"):
        need_java()


def test_a_java_home_without_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(CannotRunError, match=f"JAVA_HOME is {tmp_path}, and there is no bin/java in it"):
        need_java()


@pytest.mark.parametrize(("version", "feature"), [("1.8.0_402", 8), ("11.0.22", 11), ("16", 16)])
def test_a_java_that_is_too_old(version: str, feature: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = pretend_java(tmp_path / version, f'openjdk version "{version}"')
    monkeypatch.setenv("JAVA_HOME", str(home))
    with pytest.raises(CannotRunError, match=f"needs Java 17 or later, and {home}/bin/java is Java {feature}: install"):
        need_java()


@pytest.mark.parametrize("version", ["17.0.10", "21", "25.0.1"])
def test_a_java_that_will_do(version: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    home = pretend_java(tmp_path / version, f'openjdk version "{version}"')
    monkeypatch.setenv("PATH", f"{home}/bin:/bin")
    need_java()


def test_packages_that_are_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "NEEDED", ("json", "no_such_package", "nor_this"))
    with pytest.raises(CannotRunError) as refusal:
        need_packages()
    assert "needs no_such_package, nor_this: install what is missing with `pip install 'rocketmq-" in str(refusal.value)


def test_the_session_is_imported_without_spark() -> None:
    code = (
        "import sys, rocketmq_conformance.conformance.campaign.spark.session\n"
        "print([name for name in ('pyspark', 'py4j', 'pandas', 'pyarrow') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"


# --- Ctrl-C -----------------------------------------------------------------------------------------------------


@pytest.fixture
def ctrl_c() -> Iterator[Callable[[], None]]:
    """Press it; the handler of this process is Python's own."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield lambda: signal.raise_signal(signal.SIGINT)
    signal.signal(signal.SIGINT, before)


def test_ctrl_c_waits_until_a_session_is_up(ctrl_c: Callable[[], None]) -> None:
    met = []

    def start() -> None:
        with DeferredSigint() as interrupts:
            met.append(interrupts.waiting)
            ctrl_c()
            ctrl_c()
            met.append(interrupts.waiting)

    with pytest.raises(KeyboardInterrupt):
        start()
    assert met == [False, True]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_second_ctrl_c_does_not_wait_for_a_machine_that_can_be_ended(ctrl_c: Callable[[], None]) -> None:
    met = []

    def start() -> None:
        with DeferredSigint() as interrupts:
            interrupts.twice = True
            ctrl_c()
            met.append("first")
            ctrl_c()
            met.append("second")

    with pytest.raises(KeyboardInterrupt):
        start()
    assert met == ["first"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_handler_that_others_install_is_replaced(ctrl_c: Callable[[], None]) -> None:
    met = []

    def start() -> None:
        with DeferredSigint() as interrupts:
            signal.signal(signal.SIGINT, lambda number, frame: met.append("other"))
            interrupts.take()
            ctrl_c()

    with pytest.raises(KeyboardInterrupt):
        start()
    assert met == []


def test_without_ctrl_c_nothing_is_raised_and_the_handler_is_kept(ctrl_c: Callable[[], None]) -> None:
    with DeferredSigint():
        signal.signal(signal.SIGINT, lambda number, frame: None)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_process_that_ignores_ctrl_c_goes_on_ignoring_it(ctrl_c: Callable[[], None]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with DeferredSigint() as interrupts:
        ctrl_c()
        assert not interrupts.waiting
    ctrl_c()
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


# --- what Spark says --------------------------------------------------------------------------------------------


class Thrown:
    """An exception of Java, as PySpark gives it."""

    def __init__(self, message: str | None, cause: Thrown | None = None) -> None:
        self._message, self._cause = message, cause

    def getMessage(self) -> str | None:  # noqa: N802
        return self._message

    def getCause(self) -> Thrown | None:  # noqa: N802
        return self._cause

    def toString(self) -> str:  # noqa: N802
        return "java.lang.SomeException"


def thrown(*messages: str | None) -> Exception:
    """An error whose causes have these messages, the first cause last."""
    cause = None
    for message in reversed(messages):
        cause = Thrown(message, cause)
    error = RuntimeError("a long stack trace")
    error.java_exception = cause  # type: ignore[attr-defined]
    return error


TRACEBACK = """Job aborted due to stage failure: Task 1 in stage 0.0 failed 4 times, most recent failure: Lost task
org.apache.spark.api.python.PythonException: Traceback (most recent call last):
  File "worker.py", line 18, in play
    raise ValueError("a bad block")
ValueError: a bad block

\tat org.apache.spark.api.python.BasePythonRunner.handle(PythonRunner.scala:1097)
"""


@every(
    ("error", "sentence"),
    [
        (RuntimeError("Something\nelse."), "Something."),
        (RuntimeError(), "RuntimeError."),
        (RuntimeError(TRACEBACK), "ValueError: a bad block."),
        (thrown("outer", "All masters are unresponsive! Giving up."), "All masters are unresponsive! Giving up."),
        (thrown(None), "java.lang.SomeException."),
        (
            thrown("Job aborted", 'Cannot run program "/opt/python": error=2, No such file or directory'),
            "The workers have no /opt/python: set PYSPARK_PYTHON to a Python that they have.",
        ),
        (
            RuntimeError(
                "[PYTHON_VERSION_MISMATCH] Python in worker has different version: 3.11 than that in driver: 3.12, "
                "PySpark cannot run with different minor versions."
            ),
            "The workers have Python 3.11 and the driver has 3.12: "
            "set PYSPARK_PYTHON to the same Python on all machines.",
        ),
        (
            RuntimeError("ModuleNotFoundError: No module named 'pyarrow'"),
            "The Python of the workers has no pyarrow: install it there with "
            "`pip install 'rocketmq-conformance[spark]'`.",
        ),
        (
            RuntimeError("[PACKAGE_NOT_INSTALLED] PyArrow >= 15.0.0 must be installed; however, it was not found."),
            "The Python of the workers has no PyArrow: install it there with "
            "`pip install 'rocketmq-conformance[spark]'`.",
        ),
    ],
)
def test_failures_of_spark_are_reported_in_one_sentence(error: BaseException, sentence: str) -> None:
    assert failure_sentence(error) == sentence


def test_a_failure_whose_java_machine_is_gone() -> None:
    class GoneError(Exception):
        _desc = "An exception was thrown"

        def __str__(self) -> str:
            raise AssertionError

    assert failure_sentence(GoneError()) == "An exception was thrown."


# --- a real session --------------------------------------------------------------------------------------------


def played(spark: SparkSession, play: Callable[[Any], Any]) -> list[str]:
    """What ``play`` says of every batch of four rows, as a task of a campaign would."""

    def task(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for batch in batches:
            yield pa.RecordBatch.from_pydict({"wording": [str(play(batch))]})

    return [row.wording for row in spark.range(0, 4, 1, 2).mapInArrow(task, "wording string").collect()]


@pytest.mark.spark
def test_a_task_is_played_again_when_its_worker_is_killed_and_given_up_when_it_fails_too_often(
    spark: SparkSession, tmp_path: Path
) -> None:
    def fail(batch: Any) -> int:
        raise ValueError("a bad block")

    def play(batch: Any) -> int:
        number = int(batch.column(0)[0].as_py())
        died = tmp_path / f"died-{number}"
        if number == 2 and not died.exists():
            died.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return number

    assert sorted(played(spark, play)) == ["0", "1", "2", "3"]
    assert (tmp_path / "died-2").exists()
    with pytest.raises(Exception, match="a bad block") as failed:
        played(spark, fail)
    assert failure_sentence(failed.value) == "ValueError: a bad block."
