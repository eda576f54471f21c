"""Steps per second of campaigns, of one plain process, of plain Hypothesis and of pytest-xdist, in one run.

    python benchmarks/campaign.py [--suite remote-store] [--steps 40000000] [--rounds 2] [--few 400] [--some 20000]

All of them play the same operations on the bundled port and compare with the model. The plain process plays a case
after another and keeps a digest of each. Campaigns keep Parquet tables besides; their time begins with a Spark session
that is ready and ends with the verdict: some 10 s of it (the first Arrow job, opening players, controls, coverage) are
the same for any number of steps. Times are wall-clock times, the arms take turns, the best round of each counts.
Needs rocketmq-conformance[spark], Java, pytest and pytest-xdist.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from rocketmq_conformance.conformance.campaign.api import campaign
from rocketmq_conformance.conformance.campaign.spark.session import open_session
from rocketmq_conformance.reports.event import Event, RunEnded
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.suite import Suite

sys.path.insert(0, str(Path(__file__).parent))
from tier1 import hypothesis, seeded

#: The aim for two cores, as times one plain process.
TIMES = 1.7
#: Cases of the plain process: it has no beginning that more of them would outweigh.
PLAIN = 125_000

XDIST = """
import pytest
from campaign_xdist import play

@pytest.mark.parametrize("worker", range({workers}))
def test_machine(worker):
    play({suite!r}, {cases})
"""
PLAY = """
from rocketmq_conformance.suites.declare.discovery import SUITES
from tier1 import hypothesis

def play(suite, cases):
    hypothesis(SUITES[suite])(cases)
"""


def plain(suite: Suite, cases: int) -> float:
    """Steps per second of one process."""
    play = seeded(suite)
    play(500)
    cases = min(cases, PLAIN)
    began = time.perf_counter()
    return play(cases) / (time.perf_counter() - began)


def spread(suite: Suite, cases: int, master: str, sample: float = 0.0) -> tuple[float, int, int]:
    """Steps per second of a campaign, the most memory of a player and the size of its tables, both in bytes."""
    ended: list[RunEnded] = []

    def emit(event: Event) -> None:
        if isinstance(event, RunEnded):
            ended.append(event)

    with (
        tempfile.TemporaryDirectory(prefix="campaign-benchmark-") as folder,
        open_session(master, name="benchmark") as spark,
    ):
        # the first tasks start the Python workers
        cores = spark.sparkContext.defaultParallelism
        spark.sparkContext.parallelize(range(cores), cores).map(lambda _: time.sleep(0.5)).collect()
        out = Path(folder, "campaign")
        began = time.perf_counter()
        code = campaign(out, addresses=("port",), suites=(suite.name,), cases=cases, seed=1, sample=sample, emit=emit)
        seconds = time.perf_counter() - began
        if code:
            raise SystemExit(f"the campaign ended with {code}")
        size = sum(file.stat().st_size for file in out.rglob("*.parquet"))
    return ended[0].steps / seconds, ended[0].peak_memory, size


def alone(suite: Suite, cases: int) -> float:
    """Steps per second of plain Hypothesis."""
    began = time.perf_counter()
    return hypothesis(suite)(cases) / (time.perf_counter() - began)


def xdist(suite: Suite, workers: int, cases: int) -> float:
    """Steps per second of as many pytest workers, each with the machine of the suite."""
    with tempfile.TemporaryDirectory(prefix="campaign-benchmark-") as folder:
        Path(folder, "campaign_xdist.py").write_text(PLAY)
        test = Path(folder, "test_xdist.py")
        test.write_text(XDIST.format(workers=workers, suite=suite.name, cases=cases))
        command = [sys.executable, "-m", "pytest", "-q", "-n", str(workers), "-p", "no:cacheprovider", str(test)]
        path = f"{folder}:{Path(__file__).parent}"
        began = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True, env={"PYTHONPATH": path, "PATH": "/usr/bin:/bin"})
        return workers * cases * suite.steps / (time.perf_counter() - began)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--suite", default="remote-store", choices=list(SUITES))
    parser.add_argument("--steps", type=int, default=40_000_000)
    parser.add_argument("--rounds", type=int, default=2)
    # those that are too slow for all of the steps
    parser.add_argument("--few", type=int, default=400, help="cases of Hypothesis")
    parser.add_argument("--some", type=int, default=20_000, help="cases of a campaign that stores every step")
    chosen = parser.parse_args()
    suite = SUITES[chosen.suite]
    cases = -(-chosen.steps // suite.steps)
    peak = size = full_size = 0
    rates: dict[str, float] = {}

    def best(name: str, measure: Callable[[], float]) -> None:
        rate = measure()
        rates[name] = max(rates.get(name, 0.0), rate)
        print(f"{name:<40} {rate:>10,.0f} steps/s", file=sys.stderr, flush=True)

    for _ in range(chosen.rounds):
        best("one plain process", lambda: plain(suite, cases))
        for cores in (1, 2):
            rate, taken, size = spread(suite, cases, f"local[{cores}]")
            best(f"campaign, local[{cores}]", lambda rate=rate: rate)  # type: ignore[misc]
            peak = max(peak, taken)
        rate, _, full_size = spread(suite, chosen.some, "local[2]", sample=1.0)
        best("campaign, local[2], every step stored", lambda rate=rate: rate)  # type: ignore[misc]
        best("plain Hypothesis", lambda: alone(suite, chosen.few))
        best("pytest-xdist, 2 workers", lambda: xdist(suite, 2, chosen.few))
    base = rates["one plain process"]
    for name, rate in rates.items():
        print(f"{name:<40} {rate:>10,.0f} steps/s  {rate / base:6.3f} × one plain process")
    print(f"two cores: {rates['campaign, local[2]'] / base:.2f} × one plain process (aim: {TIMES})")
    print(f"tables: {size / cases:,.0f} bytes a case; with every step {full_size / chosen.some:,.0f}")
    print(f"most memory of a player: {peak >> 20} MiB")


if __name__ == "__main__":
    main()
