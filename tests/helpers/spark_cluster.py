"""A real standalone cluster of Spark on the loopback interface: one master, two workers, ports of their own choice."""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

PATIENCE = 60
WORKERS = 2
#: One core of each worker; enough memory for one executor of Spark's own default.
CORES, MEMORY = "1", "1g"
_MASTER = re.compile(r"Starting Spark master at (spark://\S+)")
_REGISTERED = re.compile(r"Successfully registered with master")


@dataclass
class Cluster:
    """A cluster that runs."""

    url: str
    #: Logs of the daemons, and the folders of their executors.
    folder: Path
    master: subprocess.Popen[bytes]
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def executors(self) -> list[int]:
        """Process ids of the executors, of all sessions that run."""
        import psutil

        children = [child for worker in self.workers for child in psutil.Process(worker.pid).children()]
        return [child.pid for child in children if child.name() == "java"]


@contextmanager
def running(folder: Path, workers: int = WORKERS) -> Iterator[Cluster]:
    """Start a cluster that keeps its logs and work in a folder; all of it is stopped at the end."""
    started: list[subprocess.Popen[bytes]] = []
    try:
        master = _start(folder, "master", "org.apache.spark.deploy.master.Master", "--webui-port", "0")
        started.append(master)
        cluster = Cluster(_await(folder / "master.log", master, _MASTER), folder, master)
        for number in range(workers):
            options = ("--cores", CORES, "--memory", MEMORY, "--webui-port", "0", "--work-dir", str(folder / "work"))
            worker = _start(folder, f"worker-{number}", "org.apache.spark.deploy.worker.Worker", *options, cluster.url)
            started.append(worker)
            cluster.workers.append(worker)
        for number, worker in enumerate(cluster.workers):
            _await(folder / f"worker-{number}.log", worker, _REGISTERED)
        yield cluster
    finally:
        for process in reversed(started):
            process.terminate()
        for process in started:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def spark_bin(name: str) -> str:
    """A program of the installed PySpark."""
    import pyspark

    return str(Path(pyspark.__file__).parent / "bin" / name)


def daemon_settings() -> dict[str, str]:
    """The environment of masters and workers that begin soon and take little memory, as do their executors."""
    settings = {"SPARK_DAEMON_MEMORY": "256m", "SPARK_DAEMON_JAVA_OPTS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}
    if archive := os.environ.get("SPARK_SUBMIT_OPTS"):
        # Java finds out how to begin them, too, and would warn there that the archive is of other classes.
        settings["JAVA_TOOL_OPTIONS"] = f"{archive} -Xlog:disable -Xlog:all=error:stderr"
    return settings


def _start(folder: Path, name: str, main: str, *options: str) -> subprocess.Popen[bytes]:
    environment = {
        **os.environ,
        "SPARK_LOCAL_IP": "127.0.0.1",
        **daemon_settings(),
    }
    command = [spark_bin("spark-class"), main, "--host", "127.0.0.1", "--port", "0", *options]
    with (folder / f"{name}.log").open("wb") as log:
        return subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdout=log,
            stderr=log,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )


def _await(log: Path, process: subprocess.Popen[bytes], sign: re.Pattern[str]) -> str:
    """Wait until a daemon says a sign; the answer is its first group."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        found = sign.search(log.read_text(errors="replace"))
        if found:
            return found[found.re.groups]
        if process.poll() is not None:
            break
        time.sleep(0.1)
    raise AssertionError(f"The daemon of Spark did not start:\n{log.read_text(errors='replace')[-3000:]}")
