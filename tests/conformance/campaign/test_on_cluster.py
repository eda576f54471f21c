"""Campaigns on a real standalone cluster, with an executor that is killed, too; and on Spark's own `local-cluster`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest
from campaign_runs import WORDS, Rows, blocks_of, check, command, done, ended, family, nameless, play, rows, tables
from places import HELPERS, ROOT
from spark_cluster import spark_bin
from waiting import wait_until

from rocketmq_conformance.conformance.campaign.tables.reading import open_campaign

if TYPE_CHECKING:
    from spark_cluster import Cluster

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark")]
EXAMPLE = ROOT / "examples" / "campaign.py"
#: Slow enough for an executor to be killed meanwhile; the second differs.
ADDRESSES = ("python:poisonous:Waits", "mutant:asks-no-zero", "port")

#: The port, which keeps where the kit is from that its player runs, and which process it works for.
TELLS = """
import os, sys
from pathlib import Path
import rocketmq_conformance, rocketmq_conformance.suites
from rocketmq_conformance.conformance.targets.port.adapter import Port as Sound

class Port(Sound):
    def hello(self):
        Path(f"kit-{os.getpid()}").write_text(f"{os.getppid()} {rocketmq_conformance.suites.__file__}")
        return super().hello()
"""


@pytest.fixture(scope="module")
def reference(spark: object, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Rows]:
    """The tables of a campaign that was played on this machine."""
    out = tmp_path_factory.mktemp("reference") / "out"
    assert play(out) == 0
    return nameless(out)


def submit(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run spark-submit."""
    return subprocess.run(
        [spark_bin("spark-submit"), *words],
        cwd=cwd,
        env={**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1", "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def settings(events: Path) -> dict[str, str]:
    """What a session was set to, by the events that Spark has kept of it."""
    [log] = (file for file in events.rglob("*") if file.is_file() and "appstatus" not in file.name)
    for line in map(json.loads, log.read_text("utf-8").splitlines()):
        if line["Event"] == "SparkListenerEnvironmentUpdate":
            return dict(line["Spark Properties"])
    raise AssertionError("Spark told nothing")


def test_spark_submit_plays_the_example_on_its_cluster_by_the_kit_of_the_driver(
    spark_cluster: Cluster, reference: dict[str, Rows], tmp_path: Path
) -> None:
    (tmp_path / "tells.py").write_text(TELLS)
    events = tmp_path / "events"
    events.mkdir()
    conf = {
        "spark.my": "own",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": events.as_uri(),
        "spark.eventLog.compress": "false",
    }
    asked = [word for key, value in conf.items() for word in ("--conf", f"{key}={value}")]
    words = ("python:tells:Port", *WORDS, "--out", "out")
    done = submit("--master", spark_cluster.url, *asked, str(EXAMPLE), *words, cwd=tmp_path)
    assert "Verdict: conforms (exit code 0). Seed 13." in done.stdout, done.stderr
    assert done.returncode == 0
    out = tmp_path / "out"
    check(out, 0)
    # the tables do not depend on the machines
    assert nameless(out) == reference
    assert ended(out).workers == 2
    [run] = open_campaign(out).runs().to_pylist()
    assert run["master"] == spark_cluster.url
    found = settings(events)
    names = ("spark.master", "spark.driver.host", "spark.sql.execution.arrow.maxRecordsPerBatch", "spark.my")
    assert [found[name] for name in names] == [spark_cluster.url, "127.0.0.1", "1", "own"]
    # beside the players of the workers there is that of the driver, which has the kit itself
    told = [file.read_text().split() for file in tmp_path.glob("kit-*")]
    work = str(spark_cluster.folder / "work")
    shipped = [kit for _, kit in told if kit.startswith(work)]
    assert len(shipped) == 2
    assert len(told) == 3
    for kit in shipped:
        assert kit.endswith("/rocketmq_conformance/suites/__init__.py")


def test_spark_submit_to_a_master_that_is_not_there(tmp_path: Path) -> None:
    done = submit("--master", "spark://127.0.0.1:1", str(EXAMPLE), "port", "--cases", "40", cwd=tmp_path)
    # spark-submit makes one stream of the two
    assert "Error: No Spark master answers at spark://127.0.0.1:1" in done.stdout
    assert done.returncode == 4


@pytest.fixture(scope="module")
def parted(spark: object, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Rows]:
    """The tables of a campaign of several addresses that was played on this machine."""
    out = tmp_path_factory.mktemp("parted") / "out"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(HELPERS))
        assert play(out, addresses=ADDRESSES) == 1
    assert any(row["voice"] > 1 for row in rows(out, "cases"))
    return tables(out)


def test_an_executor_that_is_killed_loses_no_voice_of_a_case(
    spark_cluster: Cluster, parted: dict[str, Rows], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    with command(*ADDRESSES, *WORDS, "--master", spark_cluster.url, "--out", "out", cwd=tmp_path) as process:
        wait_until(lambda: blocks_of(out) > 1, process)
        executor = psutil.Process(spark_cluster.executors()[0])
        below = family(executor.pid)
        executor.kill()
        being_written = out / "steps" / "suite=local-store" / ".block-00000001.parquet.7"
        being_written.parent.mkdir(parents=True, exist_ok=True)
        being_written.touch()
        output, errors = process.communicate(timeout=300)
    assert (process.returncode, errors) == (1, ""), output
    check(out, 1)
    assert tables(out) == parted
    assert not psutil.wait_procs(below, 60)[1]


def test_local_cluster_plays_several_addresses_in_executors_of_their_own(
    parted: dict[str, Rows], tmp_path: Path
) -> None:
    ran = done(*ADDRESSES, *WORDS, "--master", "local-cluster[2,1,1024]", "--out", "out", cwd=tmp_path)
    assert ran.returncode == 1, ran.stdout + ran.stderr
    out = tmp_path / "out"
    assert tables(out) == parted
    assert ended(out).workers == 2


GREEDY = """
import sys
from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.campaign.spark.session import open_session

try:
    with open_session(sys.argv[1], name="x", config={"spark.executor.memory": "1000g"}, patience=2):
        pass
except CannotRunError as error:
    print(error)
"""


def test_a_cluster_that_lends_no_worker_is_reported(spark_cluster: Cluster, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", GREEDY, spark_cluster.url], cwd=tmp_path, capture_output=True, text=True, timeout=600
    )
    assert f"{spark_cluster.url} lent no worker process within 2 s: " in done.stdout, done.stderr
    assert "1000g of free" in done.stdout
    assert done.returncode == 0
