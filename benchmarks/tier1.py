"""Steps per CPU second of the seeded tier and of plain Hypothesis, over the same operations, in one run.

    python benchmarks/tier1.py [SUITE ...] [--seconds 5] [--rounds 3]

A step is drawn, answered by the model, done by the bundled port in process and compared. The seeded tier counts the
coverage of rules and makes a digest of every case besides. The two take turns, so that what else the machine does
meets both; the best round of each counts. One core. A Python that was built without optimisation (``configure`` without
``--enable-optimizations``, as version managers do) is a fifth slower.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import time
from collections.abc import Callable, Sequence

from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from rocketmq_conformance.conformance.engine.gc_pause import rare_collections
from rocketmq_conformance.conformance.engine.judge import Judge, digest
from rocketmq_conformance.conformance.engine.stage import Stage
from rocketmq_conformance.conformance.targets.port.adapter import Port
from rocketmq_conformance.models.outcome import Outcome, outcome_of
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.reports.event import CONFORMS
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.hypothesis_machine import machine
from rocketmq_conformance.suites.declare.measured_time import Times
from rocketmq_conformance.suites.declare.sampler import sampler
from rocketmq_conformance.suites.declare.suite import Row, Suite

PROFILE = Profile()
#: The suites of docs/reference/measured.md.
MEASURED = (
    *("remote-store", "rebalance", "rebalance-orderly", "rebalance-pull", "rebalance-changed", "rebalance-broker"),
    "pushed-reset",
)


def seeded(suite: Suite) -> Callable[[int], int]:
    """Plays so many cases; answers how many steps they had."""
    stage = Stage(Port(), PROFILE)
    steps = stage.step_player(suite)
    assert steps is not None
    calls = stage.calls(suite)
    assert calls is not None
    judge, draw = Judge(suite, PROFILE), sampler(suite, PROFILE)

    def steps_of(rows: Sequence[Row]) -> int | None:
        """How many steps a case had; None when it differs. What observes is followed step by step."""
        if not judge.observes:
            agreed = judge.agrees_at_once(rows, steps)
            return agreed and agreed.steps
        judged = judge.judge(rows, lambda row: outcome_of(calls[row[0]](*row[1])))
        digest(judged)
        return len(judged.steps) if judged.verdict == CONFORMS else None

    def play(cases: int) -> int:
        played = 0
        with rare_collections():
            for number in range(cases):
                stage.begin(suite, number)
                one = steps_of(draw.case(1, number, suite.steps))
                if one is None:
                    raise SystemExit(f"{suite.name}: case {number} of seed 1 differs")
                played += one
        return played

    return play


class Ground:
    """The port, called directly: no time limits, no guards. Counts steps."""

    def __init__(self, suite: Suite) -> None:
        self.profile = PROFILE
        self.times: Times | None = None
        self.steps = 0
        self._stage = Stage(Port(), PROFILE)
        self._calls = self._stage.calls(suite)

    def begin(self, suite: Suite, number: int) -> None:
        self._stage.begin(suite, number)

    def do(self, suite: Suite, row: Row) -> Outcome:
        assert self._calls is not None
        self.steps += 1
        return outcome_of(self._calls[row[0]](*row[1]))


def hypothesis(suite: Suite) -> Callable[[int], int]:
    """The same for Hypothesis: generation only, nothing to shrink, no database, no deadline, no health checks."""

    def play(cases: int) -> int:
        ground = Ground(suite)
        chosen = settings(
            max_examples=cases,
            stateful_step_count=suite.steps,
            deadline=None,
            database=None,
            phases=(Phase.generate,),
            suppress_health_check=list(HealthCheck),
        )
        with contextlib.redirect_stdout(io.StringIO()):
            run_state_machine_as_test(seed(1)(machine(suite, ground)), settings=chosen)
        return ground.steps

    return play


def rate(play: Callable[[int], int], seconds: float) -> float:
    """Steps per CPU second over about so many seconds."""
    cases, spent = 10, 0.0
    while True:
        began = time.process_time()
        steps = play(cases)
        spent = time.process_time() - began
        if spent > seconds / 3:
            return steps / spent
        cases = int(cases * min(10.0, max(1.5, seconds / max(spent, 1e-3))))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suites", nargs="*", default=list(MEASURED), help="names of client suites")
    parser.add_argument("--seconds", type=float, default=5.0, help="about so long for each measurement")
    parser.add_argument("--rounds", type=int, default=3)
    chosen = parser.parse_args()
    for name in chosen.suites:
        if name not in SUITES:
            parser.error(f"{name!r} is no suite; there are {', '.join(SUITES)}")
        ours, theirs = seeded(SUITES[name]), hypothesis(SUITES[name])
        rounds = [(rate(ours, chosen.seconds), rate(theirs, chosen.seconds)) for _ in range(chosen.rounds)]
        kit, plain = max(one for one, _ in rounds), max(other for _, other in rounds)
        print(
            f"{name}: seeded {kit:,.0f} steps per CPU second, Hypothesis {plain:,.0f}: {kit / plain:.0f} times",
            flush=True,
        )


if __name__ == "__main__":
    main()
