"""The Spark session of a campaign: masters, what is missing, and real sessions, local and on a cluster."""

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
from places import ROOT

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.campaign.spark import session as sessions
from rocketmq_conformance.conformance.campaign.spark.deferred_sigint import DeferredSigint
from rocketmq_conformance.conformance.campaign.spark.failure import failure_sentence
from rocketmq_conformance.conformance.campaign.spark.master import FAILURES, MasterError, parse, reach
from rocketmq_conformance.conformance.campaign.spark.session import need_java, need_packages, open_session
from rocketmq_conformance.conformance.campaign.spark.shipping import check_worker

if TYPE_CHECKING:
    from spark_cluster import Cluster

EXAMPLE = ROOT / "examples" / "campaign.py"


def lacking_on_workers(spark: Any) -> str:
    """What a worker of the session lacks, or "": as many tasks ask as run at once."""
    tasks = spark.sparkContext.defaultParallelism
    answers = spark.sparkContext.parallelize(range(tasks), tasks).map(lambda _: check_worker()).collect()
    return next(filter(None, answers), "")


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


# --- real sessions ----------------------------------------------------------------------------------------------


def played(spark: Any, play: Callable[[Any], Any], rows: int = 4, partitions: int = 2) -> list[str]:
    """What ``play`` says of every batch of rows, as a task of a campaign would."""

    def task(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for batch in batches:
            yield pa.RecordBatch.from_pydict({"wording": [str(play(batch))]})

    numbers = spark.range(0, rows, 1, partitions)
    return [row.wording for row in numbers.mapInArrow(task, "wording string").collect()]


def failure(action: Callable[[], object]) -> Exception:
    """What an action raises."""
    try:
        action()
    except Exception as error:
        return error
    raise AssertionError("nothing was raised")


def java_machines() -> set[int]:
    """Java machines that this process started, those of the cluster left out."""
    import psutil

    return {
        child.pid
        for child in psutil.Process().children()
        if child.name() == "java" and "org.apache.spark.deploy.SparkSubmit" in child.cmdline()
    }


@pytest.mark.spark
def test_a_local_session_needs_no_setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYSPARK_PYTHON", raising=False)
    before = (dict(os.environ), list(sys.path), signal.getsignal(signal.SIGINT))
    with open_session("local[2]", name="needs nothing") as spark:
        context = spark.sparkContext
        assert (context.master, context.appName) == ("local[2,4]", "needs nothing")
        assert context.getConf().get("spark.driver.host") == "127.0.0.1"
        assert signal.getsignal(signal.SIGINT) is before[2]
        assert sys.path[1:] == [place for place in sys.path[1:] if not place.endswith(".zip") or place in before[1]]
        assert lacking_on_workers(spark) == ""

        def play(batch: Any) -> str:
            import rocketmq_conformance

            return f"{batch.num_rows} {sys.executable} {rocketmq_conformance.__file__}"

        for wording in played(spark, play):
            rows, python, kit = wording.split()
            assert rows == "1"
            assert python == sys.executable
            assert "/rocketmq-conformance-" in kit
            assert ".zip/" in kit
    assert not java_machines()
    # numbers of Spark's own, which are no setting of anybody
    left = {key: value for key, value in os.environ.items() if not key.startswith("SPARK_")}
    assert left == {key: value for key, value in before[0].items() if not key.startswith("SPARK_")}
    assert not list(tmp_path.iterdir())


@pytest.mark.spark
def test_a_task_is_played_again_when_its_worker_is_killed_and_given_up_when_it_fails_too_often(tmp_path: Path) -> None:
    log = tmp_path / "spark.log"

    def fail(batch: Any) -> int:
        raise ValueError("a bad block")

    def play(batch: Any) -> int:
        number = int(batch.column(0)[0].as_py())
        died = tmp_path / f"died-{number}"
        if number == 2 and not died.exists():
            died.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return number

    with open_session("local[2]", name="killed", log=log) as spark:
        assert sorted(played(spark, play)) == ["0", "1", "2", "3"]
        assert failure_sentence(failure(lambda: played(spark, fail))) == "ValueError: a bad block."
    assert (tmp_path / "died-2").exists()
    assert "Python worker exited unexpectedly" in log.read_text()


@pytest.mark.spark
def test_workers_without_that_python_say_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYSPARK_PYTHON", str(tmp_path / "python"))
    with open_session("local[1]", name="none") as spark:
        wording = failure_sentence(failure(lambda: lacking_on_workers(spark)))
    assert wording == f"The workers have no {tmp_path}/python: set PYSPARK_PYTHON to a Python that they have."


@pytest.mark.spark
def test_workers_without_packages_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    bare = sys._base_executable
    code = "import sys; from importlib.util import find_spec; print(find_spec('pyarrow') is None)"
    if subprocess.run([bare, "-c", code], capture_output=True, text=True, check=True).stdout.strip() != "True":
        pytest.skip(f"{bare} has PyArrow")
    monkeypatch.setenv("PYSPARK_PYTHON", bare)
    with open_session("local[1]", name="bare") as spark:
        wording = lacking_on_workers(spark)
        assert f"({bare}) has no " in wording
        assert "pyarrow" in wording
        wording = failure_sentence(failure(lambda: played(spark, lambda batch: "")))
        assert wording.startswith("The Python of the workers has no ")


@pytest.mark.spark
def test_a_java_machine_that_does_not_start_is_reported_in_its_own_words() -> None:
    memory = {"spark.driver.memory": "lots"}
    with pytest.raises(CannotRunError) as refusal, open_session("local[1]", name="x", config=memory):
        pass
    assert str(refusal.value) == "Spark does not start: Invalid maximum heap size: -Xmxlots."
    assert not java_machines()


@pytest.mark.spark
def test_a_java_machine_that_dies_leaves_room_for_the_next() -> None:
    with open_session("local[1]", name="dies") as spark:
        [machine] = java_machines()
        os.kill(machine, signal.SIGKILL)
        wording = failure_sentence(failure(lambda: spark.range(3).count()))
        assert wording.endswith(".")
        assert "\n" not in wording
    with open_session("local[1]", name="lives") as spark:
        assert spark.range(3).count() == 3


@pytest.mark.spark
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


EARLY = """
from rocketmq_conformance.conformance.campaign.spark.session import open_session
print("starting", flush=True)
try:
    with open_session("local[1]", name="early"):
        import time
        time.sleep(60)
except KeyboardInterrupt:
    print("interrupted")
"""

INTERRUPTED = """
import threading, time
from rocketmq_conformance.conformance.campaign.spark.session import open_session
def play(batches):
    import time
    for batch in batches:
        time.sleep(120)
        yield batch
with open_session("local[2]", name="interrupted") as spark:
    job = threading.Thread(target=lambda: spark.range(4).mapInArrow(play, "id long").collect(), daemon=True)
    threading.excepthook = lambda failed: None
    job.start()
    while not spark.sparkContext.statusTracker().getActiveStageIds():
        time.sleep(0.1)
    time.sleep(2)
    try:
        print("ready", flush=True)
        time.sleep(60)
    except KeyboardInterrupt:
        spark.sparkContext.cancelAllJobs()
        job.join(30)
        print("ended", not job.is_alive(), spark.range(5).count(), flush=True)
"""


def child(code: str, folder: Path) -> subprocess.Popen[str]:
    """A Python in a process group of its own, as a shell would start it."""
    return subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        process_group=0,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler) and None,
    )


def anybody(group: int) -> bool:
    """Is there a process of a group?"""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.spark
def test_ctrl_c_while_a_session_starts_leaves_nothing_behind(tmp_path: Path) -> None:
    process = child(EARLY, tmp_path)
    assert process.stdout is not None
    assert process.stdout.readline() == "starting\n"
    time.sleep(4)
    os.killpg(process.pid, signal.SIGINT)
    wording, errors = process.communicate(timeout=600)
    assert (wording, errors, process.returncode) == ("interrupted\n", "", 0)
    deadline = time.monotonic() + 90
    while anybody(process.pid) and time.monotonic() < deadline:
        time.sleep(0.2)
    assert not anybody(process.pid)


@pytest.mark.spark
def test_ctrl_c_reaches_the_driver_and_not_its_java_machine_and_nothing_of_spark_is_shown(tmp_path: Path) -> None:
    process = child(INTERRUPTED, tmp_path)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n", process.stderr and process.stderr.read()
    os.killpg(process.pid, signal.SIGINT)
    wording, errors = process.communicate(timeout=600)
    assert (wording, errors, process.returncode) == ("ended True 5\n", "", 0)


# --- on a cluster -----------------------------------------------------------------------------------------------


@pytest.mark.spark
def test_workers_of_a_cluster_run_the_kit_of_the_driver(spark_cluster: Cluster) -> None:
    def play(batch: Any) -> str:
        import subprocess
        import time

        import rocketmq_conformance
        from rocketmq_conformance.conformance.campaign.player.shipped_kit import child_environment

        code = "import rocketmq_conformance.suites as kit; print(kit.__file__)"
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, env=child_environment(["."]), capture_output=True, text=True, check=True)
        time.sleep(1)
        return f"{os.getppid()} {os.path.abspath(rocketmq_conformance.__file__)} {done.stdout.strip()}"

    with open_session(spark_cluster.url, name="shipped") as spark:
        assert spark.sparkContext.getConf().get("spark.driver.host") == "127.0.0.1"
        assert lacking_on_workers(spark) == ""
        wording = [line.split() for line in played(spark, play, rows=6)]
        assert spark_cluster.executors()
    work = str(spark_cluster.folder / "work")
    assert len({daemon for daemon, _, _ in wording}) == 2
    for _, kit, kit_of_child in wording:
        assert kit.startswith(work)
        # from the sources, or from their bytecode, as far as this Python has kept it
        package, module = kit.split(".zip/")
        assert module in {f"rocketmq_conformance/__init__.{suffix}" for suffix in ("py", "pyc")}
        assert kit_of_child == f"{package}/rocketmq_conformance/suites/__init__.py"


@pytest.mark.spark
def test_a_cluster_that_lends_no_worker_is_reported(spark_cluster: Cluster) -> None:
    greedy = {"spark.executor.memory": "1000g"}
    with (
        pytest.raises(CannotRunError, match=f"{spark_cluster.url} lent no worker process within 2 s: .* 1000g of free"),
        open_session(spark_cluster.url, name="x", config=greedy, patience=2),
    ):
        pass
    assert not java_machines()


SUBMITTED = """
from rocketmq_conformance.conformance.campaign.spark.session import open_session
from rocketmq_conformance.conformance.campaign.spark.shipping import check_worker
with open_session(name="submitted") as spark:
    settings = ("spark.master", "spark.driver.host", "spark.sql.execution.arrow.maxRecordsPerBatch", "spark.my")
    (lacking,) = spark.sparkContext.parallelize([0], 1).map(lambda _: check_worker()).collect()
    print(*(spark.sparkContext.getConf().get(key) for key in settings), repr(lacking))
"""


def submit(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run spark-submit."""
    from spark_cluster import spark_bin

    return subprocess.run(
        [spark_bin("spark-submit"), *words],
        cwd=cwd,
        env={**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1", "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


@pytest.mark.spark
def test_spark_submit_says_where_a_session_runs(spark_cluster: Cluster, tmp_path: Path) -> None:
    script = tmp_path / "submitted.py"
    script.write_text(SUBMITTED)
    done = submit("--master", spark_cluster.url, "--conf", "spark.my=own", str(script), cwd=tmp_path)
    assert done.stdout.split("\n")[-2] == f"{spark_cluster.url} 127.0.0.1 1 own ''", done.stderr


@pytest.mark.spark
def test_spark_submit_plays_the_example_on_its_cluster(spark_cluster: Cluster, tmp_path: Path) -> None:
    words = ("port", "-k", "remote-store", "--cases", "40", "--seed", "3", "--out", "campaign")
    done = submit("--master", spark_cluster.url, str(EXAMPLE), *words, cwd=tmp_path)
    assert "Verdict: conforms (exit code 0). Seed 3." in done.stdout, done.stderr
    assert done.returncode == 0

    import pyarrow.parquet as pq

    assert pq.read_table(tmp_path / "campaign" / "cases").num_rows == 40
    assert pq.read_table(tmp_path / "campaign" / "runs").column("master").to_pylist() == [spark_cluster.url]


@pytest.mark.spark
def test_spark_submit_to_a_master_that_is_not_there(tmp_path: Path, closed: int) -> None:
    done = submit("--master", f"spark://127.0.0.1:{closed}", str(EXAMPLE), "port", "--cases", "40", cwd=tmp_path)
    # spark-submit makes one stream of the two
    assert f"Error: No Spark master answers at spark://127.0.0.1:{closed}" in done.stdout
    assert done.returncode == 4
