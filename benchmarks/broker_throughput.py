"""How many operations per second are checked against one local broker: one at a time, in lanes step by step, and in
lanes case by case; with its tables on the disk, and in memory, where a kit's broker has them.

    python benchmarks/broker_throughput.py [5.5.0 | 127.0.0.1:10911] [--seconds 10]

Every operation is drawn, done by the broker, answered by the model and compared; beginning and cleaning up cases
is part of the time. The broker warms up first, because a Java process is slow in its first seconds.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from itertools import count, islice, tee
from typing import Any
from unittest.mock import patch

from rocketmq_conformance.conformance.targets.broker import tables_in_memory
from rocketmq_conformance.conformance.targets.broker.adapter import BrokerAdapter
from rocketmq_conformance.conformance.targets.opener import open_address
from rocketmq_conformance.models.outcome import Outcome, Unsupported, agrees, result_of
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites import broker_expired, broker_offsets, broker_search
from rocketmq_conformance.suites.declare.sampler import sampler
from rocketmq_conformance.suites.declare.suite import Row, Suite

#: What a run of a broker suite must reach against one local broker of the newest release.
REQUIRED = 2_000
SUITES = (broker_offsets.SUITE, broker_search.SUITE, broker_expired.SUITE)

Plan = list[Row]
#: Plays plans, for as long as its results are taken: each plan and its outcomes.
Play = Callable[[BrokerAdapter, Suite, Iterator[Plan]], Iterator[tuple[Plan, list[Outcome]]]]


def one_at_a_time(adapter: BrokerAdapter, suite: Suite, plans: Iterator[Plan]) -> Iterator[tuple[Plan, list[Outcome]]]:
    """One lane, one request under way."""
    for plan in plans:
        adapter.reset_many([(0, suite)])
        yield plan, [adapter.apply(suite.operation(row)) for row in plan]


def step_by_step(adapter: BrokerAdapter, suite: Suite, plans: Iterator[Plan]) -> Iterator[tuple[Plan, list[Outcome]]]:
    """All lanes do one operation, wait for one another, and go on."""
    while True:
        batch = list(islice(plans, adapter.lanes(suite)))
        adapter.reset_many([(lane, suite) for lane in range(len(batch))])
        outcomes: list[list[Outcome]] = [[] for _ in batch]
        for rows in zip(*batch, strict=True):
            done = adapter.apply_many([(lane, suite.operation(row)) for lane, row in enumerate(rows)])
            for lane, outcome in enumerate(done):
                outcomes[lane].append(outcome)
        yield from zip(batch, outcomes, strict=True)


def case_by_case(adapter: BrokerAdapter, suite: Suite, plans: Iterator[Plan]) -> Iterator[tuple[Plan, list[Outcome]]]:
    """All lanes play whole cases without waiting for one another."""
    begun, played = tee(plans)
    cases = ([suite.operation(row) for row in plan] for plan in begun)
    return zip(played, adapter.play_cases(suite, cases), strict=False)


def checked(profile: Profile, suite: Suite, plan: list[Row], outcomes: list[Outcome]) -> int:
    """How many steps agree with the model before one does not."""
    bound = suite.bind(profile)
    state: Any = bound.initial
    for step, ((at, args), outcome) in enumerate(zip(plan, outcomes, strict=True)):
        if isinstance(outcome, Unsupported):
            raise SystemExit(f"{suite.name}: {outcome.reason}")
        observed = result_of(outcome)
        given = (observed, *args) if suite.operations[at].spec.observes else args
        state, expected, _ = bound.by_position[at](state, *given)
        if not agrees(expected, observed):
            print(f"  differs: {suite.operation((at, args))}: {expected!r}, but {observed!r}")
            return step
    return len(plan)


def measure(adapter: BrokerAdapter, profile: Profile, suite: Suite, play: Play, seconds: float) -> float:
    """Checked operations per second."""
    drawn = sampler(suite, profile)
    plans = (drawn.case(1, number, suite.steps) for number in count())
    began = time.perf_counter()
    steps = 0
    for plan, outcomes in play(adapter, suite, plans):
        steps += checked(profile, suite, plan, outcomes)
        if time.perf_counter() - began > seconds:
            break
    return steps / (time.perf_counter() - began)


def rates(address: str, seconds: float) -> dict[str, dict[str, float]]:
    """Checked operations per second, by suite and way of playing."""
    adapter = open_address(f"broker:{address}")
    assert isinstance(adapter, BrokerAdapter)
    try:
        said = adapter.hello()
        profile = Profile.of(broker=said.broker or "5.5.0", java=said.java or 17).judged()
        suites = [one for one in SUITES if one.name not in said.unsupported]
        for suite in suites:
            measure(adapter, profile, suite, case_by_case, seconds / 2)
        return {
            suite.name: {
                play.__name__.replace("_", " "): measure(adapter, profile, suite, play, seconds)
                for play in (one_at_a_time, step_by_step, case_by_case)
            }
            for suite in suites
        }
    finally:
        adapter.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("broker", nargs="?", default="5.5.0", help="a release, or host:port")
    parser.add_argument("--seconds", type=float, default=10.0, help="for each row")
    chosen = parser.parse_args()
    on_disk: dict[str, dict[str, float]] = {}
    if ":" not in chosen.broker:
        with patch.object(tables_in_memory, "keep_in_memory", lambda home: None):
            on_disk = rates(chosen.broker, chosen.seconds)
    print(f"broker {chosen.broker}, checked operations per second (required: {REQUIRED:,} in lanes)")
    for name, found in rates(chosen.broker, chosen.seconds).items():
        _show(f"{name}, tables on the disk", on_disk.get(name, {}))
        _show(name, found)
        best = max(found.values())
        times = f", {best / max(on_disk[name].values()):.1f} times the best with tables on the disk" if on_disk else ""
        alone = best / found["one at a time"]
        print(f"  {best / REQUIRED:.1f} times what is required, {alone:.1f} times one at a time{times}")


def _show(what: str, found: dict[str, float]) -> None:
    if found:
        print(f"{what}: {', '.join(f'{play} {rate:,.0f}' for play, rate in found.items())}")


if __name__ == "__main__":
    main()
