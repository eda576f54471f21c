"""The recipe of nightly campaigns: its cluster is started, and its nights are played there, by its own two scripts."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from places import ROOT
from spark_cluster import daemon_settings, spark_bin

from rocketmq_conformance.conformance.campaign.tables.reading import open_campaign

pytestmark = pytest.mark.spark

RECIPE = ROOT / "examples" / "ci"
#: What changes from night to night: the client that is judged.
CLIENT = """
from rocketmq_conformance.conformance.targets.mutants import MUTANTS, open_mutant
from rocketmq_conformance.models.profile import Profile

def make():
    return open_mutant(MUTANTS[{name!r}], Profile())
"""
SOUND = "from rocketmq_conformance.conformance.targets.port.adapter import Port as make\n"
PATIENCE = 60


class Machine:
    """A machine that has the kit's command and PySpark's on its PATH, and the settings of a small cluster."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        tools = folder / "tools"
        tools.mkdir()
        kit = tools / "rocketmq-conformance"
        kit.write_text(f'#!/bin/bash\nexec {sys.executable} -m rocketmq_conformance "$@"\n')
        kit.chmod(0o755)
        self.env = {
            **os.environ,
            "PATH": os.pathsep.join((str(tools), str(Path(spark_bin("spark-class")).parent), os.environ["PATH"])),
            "PYTHONPATH": str(ROOT / "src"),
            "RESULTS": str(folder / "shared"),
            "SPARK_MASTER_PORT": "0",
            "SPARK_MASTER_WEBUI_PORT": "0",
            "SPARK_WORKER_WEBUI_PORT": "0",
            "SPARK_WORKER_CORES": "1",
            "SPARK_WORKER_MEMORY": "1g",
            "SPARK_WORKER_DIR": str(folder / "work"),
            **daemon_settings(),
        }

    @contextmanager
    def service(self, sign: str, *words: str) -> Iterator[str]:
        """Keep a part of the cluster running; the value is what its log said with the sign."""
        path = self.folder / f"{words[0]}.log"
        with path.open("wb") as log:
            process = subprocess.Popen(
                [RECIPE / "spark-cluster.sh", *words], env=self.env, stdout=log, stderr=log, stdin=subprocess.DEVNULL
            )
        try:
            deadline = time.monotonic() + PATIENCE
            while not (found := re.search(sign, path.read_text(errors="replace"))):
                assert process.poll() is None, path.read_text(errors="replace")
                assert time.monotonic() < deadline, path.read_text(errors="replace")
                time.sleep(0.1)
            yield found[0]
        finally:
            process.terminate()
            process.wait(PATIENCE)

    def night(self, day: str, client: str, **env: str) -> subprocess.CompletedProcess[str]:
        """Play the campaign of a night, of the client as it is then."""
        (self.folder / "nightly_client.py").write_text(client)
        words = ("python:nightly_client:make", "-k", "remote-store", "--cases", "32", "--steps", "8")
        return subprocess.run(
            [RECIPE / "nightly-campaign.sh", *words],
            cwd=self.folder,
            env={**self.env, "NIGHT": day, **env},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )


def test_nights_on_a_cluster_are_compared(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    broken = CLIENT.format(name="clone-ignores-topic")
    with ExitStack() as cluster:
        master = cluster.enter_context(machine.service(r"spark://127\.0\.0\.1:\d+", "master", "127.0.0.1"))
        cluster.enter_context(machine.service("Successfully registered", "worker", "127.0.0.1", master))
        machine.env["MASTER"] = master
        first = machine.night("2026-01-01", SOUND)
        assert first.returncode == 0, first.stdout + first.stderr
        found = machine.night("2026-01-02", broken)
        assert found.returncode == 1, found.stdout + found.stderr
    # the others need no cluster: in the last one nothing is left to play
    known = machine.night("2026-01-03", broken, MASTER="local[1]")
    assert known.returncode == 0, known.stdout + known.stderr
    again = machine.night("2026-01-03", broken, MASTER="local[1]")
    assert again.returncode == 0, again.stdout + again.stderr
    [run, *more] = open_campaign(tmp_path / "shared" / "2026-01-02").runs().to_pylist()
    assert (run["master"], run["seed"], run["verdict"], more) == (master, 20260102, "diverges", [])
    assert "Verdict: diverges" in known.stdout
    assert "Trend: no new cluster" in known.stdout


def test_a_night_that_cannot_run_is_not_compared(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    done = machine.night("2026-01-01", SOUND, MASTER="spark://127.0.0.1:1")
    assert done.returncode == 4
    assert "No Spark master answers" in done.stderr
    assert "trend" not in done.stdout + done.stderr


def test_a_machine_of_a_cluster_is_a_master_or_a_worker(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    done = subprocess.run(
        [RECIPE / "spark-cluster.sh", "driver", "127.0.0.1"],
        env=machine.env,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (2, "Write master or worker, not driver.\n")
