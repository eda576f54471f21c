"""Histories judged per CPU second, by length and width; and how often a right broker is called wrong on a busy machine.

    python benchmarks/histories.py [--seconds 1] [--lengths 10 100 1000] [--widths 2 3 4 6] [--runs 0] [--cases 20]

A history has so many requests, of as many clients as it is wide, all of which are under way at any time; its answers
are those of one order, drawn at random. Half the requests are commits and half queries, of one queue, which is the
hardest: nothing can be judged apart. With ``--runs`` the suite ``broker-concurrent`` is played that often on the fake
broker, which has no races, beside a busy loop for each processor: the number of runs that diverge should be 0.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import time
from collections import Counter

from rocketmq_conformance.conformance.engine.judge import Judge
from rocketmq_conformance.conformance.targets.broker.adapter import BrokerAdapter
from rocketmq_conformance.conformance.targets.broker.fake_location import FakeLocation
from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.broker.overlapping import Answers, Overlapped, Request, key
from rocketmq_conformance.models.linearizability import Call, linearize
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.broker_concurrent import SUITE
from rocketmq_conformance.suites.declare.sampler import sampler

PROFILE = Profile()


def history(draw: random.Random, length: int, width: int) -> list[Call]:
    """A linearizable history: each client sends its next request as soon as the one before was answered."""
    answers, state = Answers(BrokerRules.of(PROFILE)), Overlapped()
    sent = dict.fromkeys(range(width), 0)
    calls = []
    for moment in range(1, length + 1):
        by = draw.randrange(width)
        commit = draw.random() < 0.5
        request = Request("commit", by, (0, draw.randrange(5), True)) if commit else Request("query", by, (0,))
        state, said = answers.alone(state, request)
        calls.append(Call(sent[by], 2 * moment, answers.at_once(request, said)))
        sent[by] = 2 * moment + 1
    return calls


def rate(length: int, width: int, seconds: float) -> float:
    """Histories of this form judged per CPU second."""
    draw = random.Random(1)
    histories = [history(draw, length, width) for _ in range(20)]
    began, judged = time.process_time(), 0
    while (spent := time.process_time() - began) < seconds or not judged:
        assert linearize(Overlapped(), histories[judged % len(histories)], key).stuck is None
        judged += 1
    return judged / spent


def _spin() -> None:
    while True:
        pass


def verdicts(runs: int, cases: int) -> Counter[str]:
    """The verdicts on cases of a right broker, in so many runs beside busy loops."""
    loops = [multiprocessing.Process(target=_spin, daemon=True) for _ in range(os.cpu_count() or 1)]
    found: Counter[str] = Counter()
    try:
        for loop in loops:
            loop.start()
        for run in range(runs):
            drawn, judge = sampler(SUITE, PROFILE), Judge(SUITE, PROFILE)
            adapter = BrokerAdapter(FakeLocation(PROFILE))
            try:
                for case in range(cases):
                    adapter.reset_many([(0, SUITE)])
                    rows = drawn.case(run, case, SUITE.steps)
                    found[
                        judge.judge(rows, lambda row, to=adapter: to.apply(SUITE.for_implementation(row))).verdict
                    ] += 1  # type: ignore[misc]
            finally:
                adapter.close()
    finally:
        for loop in loops:
            loop.kill()
    return found


def main() -> None:
    """Print the rates, and the verdicts if runs are wanted."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--seconds", type=float, default=1.0)
    options.add_argument("--lengths", type=int, nargs="*", default=[10, 100, 1000])
    options.add_argument("--widths", type=int, nargs="*", default=[2, 3, 4, 6])
    options.add_argument("--runs", type=int, default=0)
    options.add_argument("--cases", type=int, default=20)
    given = options.parse_args()
    print("requests  clients  histories per CPU second  requests per CPU second")
    for length in given.lengths:
        for width in given.widths:
            each = rate(length, width, given.seconds)
            print(f"{length:8}  {width:7}  {each:24,.1f}  {each * length:23,.0f}")
    if given.runs:
        found = verdicts(given.runs, given.cases)
        print(f"{given.runs} runs of {given.cases} cases beside busy loops: {dict(found)}")


if __name__ == "__main__":
    main()
