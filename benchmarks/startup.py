"""CPU time of short commands, as multiples of that of an empty Python program, in one run.

    python benchmarks/startup.py [TEXT ...] [--rounds 10]

TEXT picks the commands that contain it. Every round runs each command once, an empty program (``python -c pass``)
before each; the least CPU time (user and system, in all of a command's processes) counts, so that what else the
machine does hardly matters. The byte code is compiled by a run that is not counted. The exit code is 1 when a command
that only shows something takes more than ``MOST`` times as long as the empty program.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from rocketmq_conformance.conformance.cli import campaign, main

#: What commands that only show something may take, as a multiple of an empty program.
MOST = 12.0
#: A console script, without the file.
SCRIPT = "from rocketmq_conformance.conformance.cli.main import main; main()"
SHOWS = (
    ("--help",),
    ("--version",),
    ("list", "suites"),
    ("list", "rules"),
    ("list", "operations"),
    ("list", "operations", "--format", "schema"),
    ("list", "mutants"),
    ("explain", "OFF-R-READ"),
    *((name, "--help") for name in sorted(main.COMMANDS)),
    *(("campaign", name, "--help") for name in sorted(campaign.COMMANDS)),
)
OTHERS = (
    ("scenario",),
    ("run", "port", "-k", "rebalance-plain", "--cases", "1", "--tier", "seeded"),
)


def cpu_seconds(command: Sequence[str], environment: Mapping[str, str], folder: Path) -> float:
    """The CPU time of a command that must succeed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env=environment, cwd=folder, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measured(commands: Sequence[Sequence[str]], rounds: int) -> tuple[float, list[float]]:
    """The least CPU time of the empty program, and of each command."""
    with tempfile.TemporaryDirectory(prefix="rocketmq-conformance-") as name:
        folder = Path(name)
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(folder / "bytecode")}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        empty = [sys.executable, "-c", "pass"]
        called = [[sys.executable, "-c", SCRIPT, *words] for words in commands]
        for command in called:
            cpu_seconds(command, environment, folder)
        least, nothing = [float("inf")] * len(called), float("inf")
        for _ in range(rounds):
            for at, command in enumerate(called):
                nothing = min(nothing, cpu_seconds(empty, environment, folder))
                least[at] = min(least[at], cpu_seconds(command, environment, folder))
    return nothing, least


def main_() -> int:
    """Measure, print, and compare with what is required."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("texts", nargs="*", metavar="TEXT")
    parser.add_argument("--rounds", type=int, default=10)
    asked = parser.parse_args()
    commands = [
        words for words in (*SHOWS, *OTHERS) if not asked.texts or any(text in " ".join(words) for text in asked.texts)
    ]
    nothing, least = measured(commands, asked.rounds)
    print(f"{'python -c pass':<50} {nothing * 1000:6.0f} ms")
    slow = 0
    for words, seconds in zip(commands, least, strict=True):
        ratio = seconds / nothing
        required = words in SHOWS
        slow += required and ratio > MOST
        note = f"  more than {MOST:g}" if required and ratio > MOST else ""
        print(f"{' '.join(words):<50} {seconds * 1000:6.0f} ms  {ratio:5.1f} times{note}")
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main_())
