"""The recipe of nightly campaigns: its cluster is started, and a night is played there, by its own two scripts; the
nights that are compared are played by the session of this process."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from command_line import Ended, kit
from places import ROOT
from spark_cluster import daemon_settings, spark_bin

from rocketmq_conformance.conformance.campaign.tables.reading import open_campaign

pytestmark = pytest.mark.spark

RECIPE = ROOT / "examples" / "ci"
#: What changes from night to night: the client that is judged.
BROKEN = """
from rocketmq_conformance.conformance.targets.mutants import MUTANTS, open_mutant
from rocketmq_conformance.models.profile import Profile

def make():
    return open_mutant(MUTANTS["clone-ignores-topic"], Profile())
"""
SOUND = "from rocketmq_conformance.conformance.targets.port.adapter import Port as make\n"
PATIENCE = 60


#: Commands of the kit, in the place of the kit: they are told by one pipe, and their exit codes come by another.
TOLD = """#!/bin/bash
echo "$@" >&{asked}
read -r code <&{answered}
exit "$code"
"""


class Machine:
    """A machine that has the kit's command and PySpark's on its PATH, and the settings of a small cluster."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.tools = folder / "tools"
        self.tools.mkdir()
        self._provide(f'#!/bin/bash\nexec {sys.executable} -m rocketmq_conformance "$@"\n')
        self.env = {
            **os.environ,
            "PATH": os.pathsep.join((str(self.tools), str(Path(spark_bin("spark-class")).parent), os.environ["PATH"])),
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

    def _provide(self, command: str) -> None:
        """What the kit's command is."""
        file = self.tools / "rocketmq-conformance"
        file.write_text(command)
        file.chmod(0o755)

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

    def night(self, day: str, client: str, master: str) -> subprocess.CompletedProcess[str]:
        """Play the campaign of a night, of the client as it is then."""
        return subprocess.run(
            self._script(client),
            cwd=self.folder,
            env=self.env | {"NIGHT": day, "MASTER": master},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    def night_here(self, day: str, client: str) -> tuple[int, list[Ended]]:
        """The same, but for the kit's commands, which are run in this process and by its session: the exit code of the
        night, and how each command ended."""
        asked, ask = os.pipe()
        answered, answer = os.pipe()
        self._provide(TOLD.format(asked=ask, answered=answered))
        env = self.env | {"NIGHT": day, "MASTER": "local[2]"}
        commands = []
        with subprocess.Popen(self._script(client), cwd=self.folder, env=env, pass_fds=(ask, answered)) as script:
            os.close(ask)
            os.close(answered)
            with os.fdopen(asked) as told, os.fdopen(answer, "w", buffering=1) as answers:
                for words in told:
                    commands.append(kit(*words.split(), cwd=self.folder))
                    answers.write(f"{commands[-1].returncode}\n")
        return script.returncode, commands

    def _script(self, client: str) -> list[str]:
        (self.folder / "nightly_client.py").write_text(client)
        words = ("python:nightly_client:make", "-k", "remote-store", "--cases", "32", "--steps", "8")
        return [str(RECIPE / "nightly-campaign.sh"), *words]


def test_a_night_is_played_on_the_cluster(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    with (
        machine.service(r"spark://127\.0\.0\.1:\d+", "master", "127.0.0.1") as master,
        machine.service("Successfully registered", "worker", "127.0.0.1", master),
    ):
        done = machine.night("2026-01-02", BROKEN, master)
    assert (done.returncode, done.stderr) == (1, ""), done.stdout
    assert "Verdict: diverges (exit code 1). Seed 20260102." in done.stdout
    [run] = open_campaign(tmp_path / "shared" / "2026-01-02").runs().to_pylist()
    assert (run["master"], run["seed"], run["verdict"]) == (master, 20260102, "diverges")


@pytest.mark.usefixtures("spark")
def test_nights_are_compared(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    nights = [
        machine.night_here(day, client)
        for day, client in (
            ("2026-01-01", SOUND),
            ("2026-01-02", BROKEN),
            ("2026-01-03", BROKEN),
            # nothing is left to play
            ("2026-01-03", BROKEN),
        )
    ]
    assert [code for code, _ in nights] == [0, 1, 0, 0], nights
    assert [[command.returncode for command in commands] for _, commands in nights] == [[0, 3], [1, 1], [1, 0], [1, 0]]
    for _, (played, compared) in nights[2:]:
        assert "Verdict: diverges" in played.stdout
        assert "Trend: no new cluster" in compared.stdout
    assert [len(open_campaign(night).runs()) for night in sorted((tmp_path / "shared").iterdir())] == [1, 1, 2]


def test_a_night_that_cannot_run_is_not_compared(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    done = machine.night("2026-01-01", SOUND, "spark://127.0.0.1:1")
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
