"""What an analysis of stored campaigns takes in one process and on Spark: time per case, CPU time, and peak memory.

    python benchmarks/campaign_engines.py [--cases 200000] [--differing 0.001] [--shown 8] [--engines process,spark]
        [--analyses diff,clusters,coverage,discovery] [--master local[2]] [--folder DIR]

Two campaigns of one suite are synthesised to the schema of the tables: random digests, which differ in some cases, with
a divergence in one of the two for each of those, and ``--shown`` answers and transitions per case. Each analysis runs
in a process of its own; its memory and CPU time are those of the process and all that it started (Java, Python
workers), added up ten times a second, from the start on. `--folder` keeps the tables, and takes those that are there.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sized
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pyarrow as pa

from rocketmq_conformance import __version__
from rocketmq_conformance.conformance.campaign.analysis.clusters import clusters
from rocketmq_conformance.conformance.campaign.analysis.coverage import coverage
from rocketmq_conformance.conformance.campaign.analysis.diff import diff
from rocketmq_conformance.conformance.campaign.analysis.discovery import discovery
from rocketmq_conformance.conformance.campaign.analysis.engine import opened_campaigns
from rocketmq_conformance.conformance.campaign.spec import block_size
from rocketmq_conformance.conformance.campaign.tables import blocks
from rocketmq_conformance.conformance.campaign.tables.schema import BEHAVIOURS, CASES, DIVERGENCES, RUNS
from rocketmq_conformance.conformance.campaign.tables.version import VERSION
from rocketmq_conformance.conformance.engine import plan
from rocketmq_conformance.models import rulebook
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.reports.event import CONFORMS, DIVERGES

SUITE, ADDRESS, SEED = "remote-store", "port", 7
#: Behaviours that a campaign shows, and kinds of divergences.
BEHAVIOURS_IN_ALL, KINDS = 2000, 12
OF_ONE: dict[str, Callable[..., Sized]] = {"clusters": clusters, "coverage": coverage, "discovery": discovery}
ANALYSES = ("diff", *OF_ONE)
MIB = 1 << 20


def synthesise(folder: Path, cases: int, differing: float, shown: int, diverges: bool) -> None:
    """Write a campaign; of two with the same numbers, only those of ``diverges`` differ from the model."""
    block = block_size((ADDRESS,), cases)
    folder.mkdir(parents=True)
    asked = {"addresses": [ADDRESS], "suites": [SUITE], "cases": cases, "seed": SEED, "steps": None, "block": block}
    content = {"version": VERSION, "kit": __version__, "rulebook": rulebook.digest(), "configuration": asked}
    numbers = {field.name: 0 for field in RUNS if pa.types.is_integer(field.type) or pa.types.is_floating(field.type)}
    session = {
        **numbers,
        "version": VERSION,
        "kit": __version__,
        "rulebook": rulebook.digest(),
        "seed": SEED,
        "configuration": "{}",
        "addresses": [ADDRESS],
        "implementations": [ADDRESS],
        "versions": [""],
        "profiles": [json.dumps(plan.profile_json(Profile()))],
        "master": "",
        "started": datetime.now(UTC),
        "stopped": "",
        "verdict": CONFORMS,
    }
    blocks.write(folder / "runs" / "run-0000.parquet", pa.Table.from_pylist([session], RUNS))
    ids = np.random.default_rng(SEED).integers(-(2**63), 2**63, BEHAVIOURS_IN_ALL)
    meanings = [_behaviour(int(one), at) for at, one in enumerate(ids)]
    blocks.write(blocks.path(folder, "behaviours", SUITE, 0), pa.Table.from_pylist(meanings, BEHAVIOURS))
    for number in range(-(-cases // block)):
        found = np.arange(number * block, min(cases, (number + 1) * block))
        random = np.random.default_rng([SEED, number])
        digests = random.integers(1, 2**63, len(found))
        other = random.random(len(found)) < differing
        if diverges:
            digests[other] -= 1
            rows = [_divergence(case) for case in found[other].tolist()]
            if rows:
                file = blocks.path(folder, "divergences", SUITE, number)
                blocks.write(file, pa.Table.from_pylist(rows, DIVERGENCES))
        verdicts = other.astype(np.int32) if diverges else np.zeros(len(found), np.int32)
        table = _cases(found, digests, verdicts, random.choice(ids, (2, len(found) * shown)), shown)
        blocks.write(blocks.path(folder, "cases", SUITE, number), table)
    (folder / "campaign.json").write_text(json.dumps(content))


def _behaviour(number: int, at: int) -> dict[str, Any]:
    kind = {
        "kind": "answer",
        "rules": [f"RULE-{at % 50}"],
        "state_kind": f"kind {at % 7}",
        "outcome": f"class {at % 5}",
    }
    return {"id": number, **kind, "next_rules": [], "next_state_kind": ""}


def _divergence(case: int) -> dict[str, Any]:
    kind = case * 2654435761 % KINDS
    return {
        "case": case,
        "address": ADDRESS,
        "against": "model",
        "step": 1 + case % 40,
        "fingerprint": f"{kind:08x}",
        "operation": "read",
        "rules": [],
        "state_kind": f"kind {kind}",
        "expected": "0",
        "observed": "1",
        "expected_class": "offset",
        "observed_class": "other offset",
    }


def _cases(numbers: Any, digests: Any, verdicts: Any, behaviours: Any, shown: int) -> pa.Table:
    size = len(numbers)
    same = pa.array(np.zeros(size, np.int32))
    none = pa.ListArray.from_arrays(np.zeros(size + 1, np.int32), pa.array([], pa.string()))
    offsets = np.arange(0, size * shown + 1, max(1, shown), dtype=np.int32) if shown else np.zeros(size + 1, np.int32)
    answers, transitions = (pa.ListArray.from_arrays(offsets, pa.array(values)) for values in behaviours)
    columns = {
        "case": pa.array(numbers),
        "address": pa.DictionaryArray.from_arrays(same, [ADDRESS]),
        "arm": pa.DictionaryArray.from_arrays(same, ["random"]),
        "verdict": pa.DictionaryArray.from_arrays(pa.array(verdicts), [CONFORMS, DIVERGES]),
        "digest": pa.array(digests),
        "voice": same,
        "rules_voice": same,
        "steps": pa.array(np.full(size, 40, np.int32)),
        "seconds": pa.array(np.zeros(size, np.float32)),
        "rules": none,
        "answers": answers,
        "transitions": transitions,
        "reason": pa.DictionaryArray.from_arrays(same, [""]),
        "unsupported": none,
    }
    return pa.table([columns[field.name].cast(field.type) for field in CASES], schema=CASES)


def analyse(name: str, engine: str, master: str, folders: list[str]) -> None:
    """One analysis, in this process; it prints its seconds, without the start of Spark, and what it found."""
    with opened_campaigns(folders, engine, master if engine == "spark" else None) as (campaigns, chosen):
        begun = time.perf_counter()
        if name == "diff":
            before, after = campaigns
            (suite,) = diff(before, after, engine=chosen).suites
            found = f"{suite.same:,} same, {suite.different:,} different"
        else:
            found = f"{sum(len(OF_ONE[name](campaign, chosen)) for campaign in campaigns)} {name}"
        print(json.dumps({"seconds": time.perf_counter() - begun, "found": found}))


@dataclass(frozen=True)
class Measured:
    """An analysis in one of the two ways."""

    seconds: float
    found: str
    #: Of the process and all that it started: CPU seconds, and bytes.
    cpu: float
    memory: int


def measure(name: str, engine: str, master: str, folders: list[str]) -> Measured:
    """Run an analysis in a process of its own."""
    words = ["--one", name, "--engines", engine, "--master", master, *folders]
    child = subprocess.Popen([sys.executable, __file__, *words], stdout=subprocess.PIPE, text=True)
    peak, ended = 0, threading.Event()
    cpu: dict[int, float] = {}

    def watch() -> None:
        nonlocal peak
        while not ended.wait(0.1):
            with suppress(psutil.Error):
                own = psutil.Process(child.pid)
                processes = [own, *own.children(recursive=True)]
                peak = max(peak, sum(_memory(one) for one in processes))
                for one in processes:
                    cpu[one.pid] = sum(one.cpu_times()[:2])

    watching = threading.Thread(target=watch)
    watching.start()
    said, _ = child.communicate()
    ended.set()
    watching.join()
    if child.returncode:
        raise SystemExit(f"{name} with {engine} failed.")
    return Measured(**json.loads(said.splitlines()[-1]), cpu=sum(cpu.values()), memory=peak)


def _memory(process: psutil.Process) -> int:
    """What a process has for itself; pages that forked workers share count once."""
    with suppress(psutil.Error):
        return int(process.memory_full_info().uss)
    return 0


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", type=int, default=200_000)
    parser.add_argument("--differing", type=float, default=0.001, help="share of the cases that differ")
    parser.add_argument("--shown", type=int, default=8, help="answers, and transitions, of a case")
    parser.add_argument("--engines", default="process,spark")
    parser.add_argument("--analyses", default=",".join(ANALYSES))
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--folder", type=Path, help="keeps the tables; a temporary folder when absent")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("folders", nargs="*", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.one:
        analyse(asked.one, asked.engines, asked.master, asked.folders)
        return
    root = asked.folder or Path(tempfile.mkdtemp())
    try:
        folders = [root / letter for letter in "ab"]
        for folder in folders:
            if not (folder / "campaign.json").exists():
                print(f"writing {folder} ...", flush=True)
                synthesise(folder, asked.cases, asked.differing, asked.shown, folder.name == "b")
        print(f"{asked.cases:,} cases in each of two campaigns, {asked.differing:.2%} of them different\n")
        print(f"{'analysis':<12}{'engine':<10}{'seconds':>9}{'ns per case':>13}{'CPU s':>8}{'peak MiB':>10}  found")
        for name in asked.analyses.split(","):
            found = set()
            for engine in asked.engines.split(","):
                one = measure(name, engine, asked.master, [str(folder) for folder in folders])
                found.add(one.found)
                each = one.seconds / asked.cases / len(folders) * 1e9
                cpu_and_peak = f"{one.cpu:>8.0f}{one.memory / MIB:>10,.0f}"
                row = f"{name:<12}{engine:<10}{one.seconds:>9.1f}{each:>13,.0f}{cpu_and_peak}"
                print(row, one.found, sep="  ", flush=True)
            if len(found) > 1:
                raise SystemExit(f"The engines do not agree: {found}")
    finally:
        if asked.folder is None:
            shutil.rmtree(root)


if __name__ == "__main__":
    main()
