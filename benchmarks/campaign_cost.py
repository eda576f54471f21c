"""What a campaign costs beside a run of the same cases: processor seconds by kind of process, and time, in one go.

    python benchmarks/campaign_cost.py [--cases 20000] [--rounds 1] [-k SUITE]… [--sample 1]

Both play the same cases of the bundled port with two workers, one after the other: `campaign --master local[2]`, and
`run --tier seeded --workers 2`. Processor seconds are read from the tree of processes five times a second, so what a
process took in its last moments is missing. The first verdict is there with the first block on disk, of a run with the
first case in its events. Estimates are those of the campaign's own lines. Needs rocketmq-conformance[spark] and Java.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
import time
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from rocketmq_conformance.conformance.targets.opener import open_address
from rocketmq_conformance.suites.declare.discovery import SUITES

#: Seconds between two looks at the processes.
LOOK = 0.2
#: By what is in the command line of a process: what it is.
ROLES = {"player_process": "players", "pyspark.daemon": "Spark's Python", "org.apache.spark": "Spark's Java"}
#: A line of progress: what is played, of how much, and what is left.
LINE = re.compile(r"([\d,]+) of ([\d,]+) cases, [\d,]+ cases/s, .*? ((?:[\d.]+ (?:h|min|s) ?)+)left", re.DOTALL)
_UNITS = {"h": 3600.0, "min": 60.0, "s": 1.0}


@dataclass
class Cost:
    """What a command took."""

    #: Wall-clock seconds, and those until the first verdict.
    seconds: float = 0.0
    first: float = 0.0
    #: Processor seconds by kind of process.
    cpu: Counter[str] = field(default_factory=Counter)
    #: Lines of progress: seconds since the start, the share that is played, and when the end is expected.
    estimates: dict[float, tuple[float, float]] = field(default_factory=dict)


def measured(command: list[str], folder: Path, sign: str) -> Cost:
    """Run a command in a folder; the first verdict is there with a file of this name."""
    cost, began = Cost(), time.perf_counter()
    # a kit without its bytecode would be compiled by every process
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    whole = [sys.executable, "-m", "rocketmq_conformance", *command, "--out", "out"]
    with (folder / "printed").open("wb") as out:
        process = psutil.Popen(whole, stdout=out, cwd=folder, env=environment)
    taken: dict[int, tuple[str, float]] = {}
    while process.poll() is None:
        _look(process, taken)
        now = time.perf_counter() - began
        if not cost.first and any(map(_has_verdict, (folder / "out").glob(sign))):
            cost.first = now
        for played, asked, left in LINE.findall((folder / "printed").read_text("utf-8").replace("\n", " ")):
            done, of = (int(number.replace(",", "")) for number in (played, asked))
            cost.estimates.setdefault(done / of, (now, now + _seconds(left)))
        time.sleep(LOOK)
    cost.seconds = time.perf_counter() - began
    for role, seconds in taken.values():
        cost.cpu[role] += seconds
    return cost


def _has_verdict(file: Path) -> bool:
    return file.suffix != ".jsonl" or '"case-ended"' in file.read_text("utf-8")


def _seconds(text: str) -> float:
    words = text.split()
    return sum(float(number) * _UNITS[unit] for number, unit in zip(words[::2], words[1::2], strict=True))


def _look(process: psutil.Process, taken: dict[int, tuple[str, float]]) -> None:
    """Note the processor seconds of a process and of all that it started."""
    try:
        everyone = [process, *process.children(recursive=True)]
    except psutil.Error:
        return
    for one in everyone:
        try:
            times = one.cpu_times()
            words = one.cmdline()
        except psutil.Error:
            continue
        # a process begins as a copy of the one that starts it, and has no words when it has ended
        role = (
            "driver"
            if one.pid == process.pid
            else _role(" ".join(words))
            if words
            else taken.get(one.pid, ("other",))[0]
        )
        taken[one.pid] = role, times.user + times.system


def _role(command: str) -> str:
    return next((role for sign, role in ROLES.items() if sign in command), "other")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("-k", dest="suites", action="append", default=[])
    parser.add_argument("--sample", type=float, default=0.0, help="share of the cases whose steps are stored")
    chosen = parser.parse_args()
    with closing(open_address("port")) as port:
        hello = port.hello()
    suites = chosen.suites or [suite.name for suite in SUITES.values() if suite.ordinary and not hello.refuses(suite)]
    each = -(-chosen.cases // len(suites))
    common = ["port", *(word for name in suites for word in ("-k", name)), "--seed", "1", "--cases"]
    commands = {
        "campaign": [*common, str(each * len(suites)), "--master", "local[2]", "--sample", str(chosen.sample)],
        "run": [*common, str(each), "--tier", "seeded", "--workers", "2"],
    }
    signs = {"campaign": "cases/*/block-*.parquet", "run": "events.jsonl"}
    for _ in range(chosen.rounds):
        totals = {}
        for what, options in commands.items():
            with tempfile.TemporaryDirectory(prefix="campaign-cost-") as folder:
                cost = measured([what, *options], Path(folder), signs[what])
            totals[what] = cost.cpu.total()
            parts = ", ".join(f"{role} {seconds:.1f}" for role, seconds in sorted(cost.cpu.items()))
            print(
                f"{what}: {each * len(suites):,} cases in {cost.seconds:.1f} s, the first verdict after "
                f"{cost.first:.1f} s; {cost.cpu.total():.1f} s of processor ({parts})",
                flush=True,
            )
            for share, (now, end) in sorted(cost.estimates.items()):
                print(f"  at {share:.0%}, after {now:.0f} s, the end is expected after {end:.0f} s")
        print(f"a campaign takes {totals['campaign'] / totals['run']:.2f} times the processor of a run")


if __name__ == "__main__":
    main()
