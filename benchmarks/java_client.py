"""Judged steps per second of the real Java client, with the kit's own Java compiled and without it, in one run.

    python benchmarks/java_client.py [SUITE ...] [--release 5.5.0] [--cases 300] [--rounds 5]

Both play the same cases from the seed in one Java machine, by turns, so that what else the machine does meets both; the
median round of each counts, after one that warms up. The thread's own time counts, too, which says more on a busy
machine. It needs Java and Maven, and a JDK to compile.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from contextlib import ExitStack
from unittest.mock import patch

from rocketmq_conformance.conformance.engine.judge import Judge
from rocketmq_conformance.conformance.engine.player import Player
from rocketmq_conformance.conformance.engine.stage import Stage
from rocketmq_conformance.conformance.targets.java_client import java_source
from rocketmq_conformance.conformance.targets.opener import open_address
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.release import Release
from rocketmq_conformance.reports.event import CONFORMS
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.sampler import sampler

CHOSEN = (
    "allocation",
    "remote-store",
    "start-push",
    "start-lite-pull",
    "rebalance",
    "rebalance-orderly",
    "rebalance-pull",
    "rebalance-broker",
    "rebalance-changed",
    "rebalance-service",
)


class JavaClient:
    """A Java client whose parts are made with or without the kit's own Java."""

    def __init__(self, release: str, compiles: bool) -> None:
        self._compiles = compiles
        self._profile = Profile(client=Release.parse(release))
        self._stage = Stage(open_address(f"java-client:{release}"), self._profile)
        self._stage.adapter.hello()

    def rate(self, suite: str, first: int, cases: int) -> tuple[float, float]:
        """Steps per second of these cases, and per second of the thread's own time."""
        declared = SUITES[suite]
        draw = sampler(declared, self._profile)
        plans = [(number, draw.case(1, number, declared.steps)) for number in range(first, first + cases)]
        with ExitStack() as patched:
            if not self._compiles:
                patched.enter_context(patch.object(java_source, "has_compiler", lambda: False))
            begun, own = time.perf_counter(), time.thread_time()
            played = list(Player(self._stage, Judge(declared, self._profile)).play(plans))
            seconds, own = time.perf_counter() - begun, time.thread_time() - own
        if {one.verdict for one in played} != {CONFORMS}:
            sys.exit(f"{suite} does not conform")
        steps = sum(len(rows) for _, rows in plans)
        return steps / seconds, steps / own


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suites", nargs="*", default=CHOSEN, help="names of client suites")
    parser.add_argument("--release", default="5.5.0")
    parser.add_argument("--cases", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=5)
    chosen = parser.parse_args()
    sides = JavaClient(chosen.release, True), JavaClient(chosen.release, False)
    for suite in chosen.suites:
        for side in sides:
            side.rate(suite, 0, chosen.cases)
        rates = [
            [side.rate(suite, chosen.cases * (1 + turn), chosen.cases) for side in sides]
            for turn in range(chosen.rounds)
        ]
        (with_it, own), (without, other) = (
            [statistics.median(figures) for figures in zip(*side, strict=True)] for side in zip(*rates, strict=True)
        )
        print(
            f"{suite}: {with_it:,.0f} steps per second, without {without:,.0f}: {with_it / without:.1f} times; of the "
            f"thread's own time {own / other:.1f} times",
            flush=True,
        )
    sys.stdout.flush()
    os._exit(0)  # Java's threads would keep the process


if __name__ == "__main__":
    main()
