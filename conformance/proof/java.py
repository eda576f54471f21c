"""Proof of the client's rules: the model against the real Java classes of many releases.

Every release goes through the decision tables of reads and starts, through sampled allocations, and through sampled
cases of a group that rebalances, of a consumer that pulls and of listeners; a few releases also through every small
allocation and through the covering plans of every client suite.
"""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import Any

from rocketmq_conformance.conformance.engine import covering_plans
from rocketmq_conformance.conformance.engine.stage import Stage
from rocketmq_conformance.conformance.proof import allocation, assembly, java_clock, java_tables
from rocketmq_conformance.conformance.proof.evidence import ProofResult, Tally, describe_step
from rocketmq_conformance.conformance.proof.selection import EVERYTHING, Part, Selection
from rocketmq_conformance.conformance.proof.unit import CLOCK, Unit
from rocketmq_conformance.conformance.targets.java_client.adapter import JavaClient
from rocketmq_conformance.models.client.client_rules import ClientRules
from rocketmq_conformance.models.outcome import Expected, agrees
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Reason
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.operation import Side
from rocketmq_conformance.suites.declare.sampler import sampler
from rocketmq_conformance.suites.declare.suite import BoundModel, Row, Suite

#: Client releases on Maven Central. 5.3.4 is missing: only its broker was published.
RELEASES = (
    "4.0.0-incubating", "4.1.0-incubating", "4.2.0", "4.3.0", "4.3.1", "4.3.2", "4.4.0", "4.5.0", "4.5.1", "4.5.2",
    "4.6.0", "4.6.1", "4.7.0", "4.7.1", "4.8.0", "4.9.0", "4.9.1", "4.9.2", "4.9.3", "4.9.4", "4.9.5", "4.9.6",
    "4.9.7", "4.9.8", "5.0.0-PREVIEW", "5.0.0-ALPHA", "5.0.0", "5.1.0", "5.1.1", "5.1.2", "5.1.3", "5.1.4", "5.2.0",
    "5.3.0", "5.3.1", "5.3.2", "5.3.3", "5.4.0", "5.5.0",
)  # fmt: skip
#: Releases whose small allocations are all tried.
EXHAUSTIVE = frozenset({"4.7.1", "4.9.8", "5.1.4", "5.5.0"})
#: Releases that play covering plans; 5.4.0 because it reads its own offset files differently (OFF-L-INT).
COVERED = frozenset({"4.9.8", "5.0.0", "5.1.4", "5.4.0", "5.5.0"})
#: Further cases of a suite, which reach rules that the first ones do not: REB-BRK-LEFT.
FURTHER = {"rebalance-broker": (1207, 1406)}
#: Suites that have no decision tables, because their rules take several steps; the number of cases that every release
#: plays of each.
STEPPED = {
    "rebalance": 100,
    "rebalance-orderly": 60,
    "rebalance-broker": 40,
    "pull": 40,
    "consume": 50,
    "consume-orderly": 50,
    "rebalance-pull": 60,
    "rebalance-changed": 40,
    "rebalance-service": 40,
    "rebalance-plain": 40,
    "lite-pull": 60,
    "identity": 40,
    "defaults": 60,
    "pushed-reset": 24,
    "start-broadcast": 40,
    "timers": 30,
    "pull-result": 60,
    "remote-store-two-brokers": 60,
    "local-store-two-brokers": 60,
    "rebalance-two-brokers": 60,
    "nodes": 40,
}
SEED = 20240101
#: Cases of sampled allocations per release.
SAMPLED = 1500
#: Processes side by side: each has a JVM, which takes a GiB.
WORKERS = min(os.cpu_count() or 1, 4)
#: Releases that one process proves: its JVM keeps what each of them leaves behind, and slows down.
EACH = 5
#: By release, the names of the suites whose covering plans it plays.
Covering = Mapping[str, Collection[str]]
#: A step of a plan by the model: its operation's position and arguments, the state before it, the answer, and why.
_Step = tuple[int, tuple[Any, ...], Any, Expected, Reason]


def distinct() -> tuple[str, ...]:
    """The newest of all releases that have the same rules: their classes never change, and one shows a changed rule."""
    newest = {ClientRules.of(Profile.of(client=release)): release for release in RELEASES}
    return tuple(newest.values())


def exhaustive_among(releases: Iterable[str]) -> frozenset[str]:
    """Of the releases of ``EXHAUSTIVE`` among these, the newest of those that allocate the same, by the model."""
    among = sorted(EXHAUSTIVE.intersection(releases), key=RELEASES.index)
    return frozenset({_answers(SUITES["allocation"], Profile.of(client=one)): one for one in among}.values())


def covering(releases: Iterable[str]) -> Covering:
    """The covering plans of every suite for each of these releases."""
    return dict.fromkeys(releases, frozenset(SUITES))


def covering_among(releases: Iterable[str]) -> Covering:
    """Of the releases of ``COVERED`` among these, the newest of those that answer a suite the same, by the model."""
    among = sorted(COVERED.intersection(releases), key=RELEASES.index)
    found: dict[str, frozenset[str]] = {release: frozenset() for release in among}
    for suite in SUITES.values():
        if suite.side is not Side.CLIENT:
            continue
        alike: dict[int, list[str]] = {}
        for release in among:
            alike.setdefault(_answers(suite, Profile.of(client=release)), []).append(release)
        for some in alike.values():
            # what differs in sampled cases needs no second look
            newest = {_covering_answers(suite, one): one for one in some} if len(some) > 1 else {0: some[0]}
            for release in newest.values():
                found[release] |= {suite.name}
    return found


def repeated(releases: Sequence[str], covered: Covering, exhaustive: Collection[str]) -> dict[str, frozenset[str]]:
    """By release, the names of suites in which it answers as the releases before and after it do, by the model.

    Of several in a row the first and the last are left to be asked, so wherever the model has a rule begin at a wrong
    release, one of the two on either side of that is asked. So are those that are asked more than others.
    """
    found: dict[str, frozenset[str]] = {release: frozenset() for release in releases}
    in_order = sorted(releases, key=RELEASES.index)
    for suite in SUITES.values():
        if suite.side not in (Side.PURE, Side.CLIENT):
            continue
        answers = [_answers(suite, Profile.of(client=release)) for release in in_order]
        more = exhaustive if suite.side is Side.PURE else [one for one in covered if suite.name in covered[one]]
        for before, release, same, after in zip(answers, in_order[1:], answers[1:], answers[2:], strict=False):
            if before == same == after and release not in more:
                found[release] |= {suite.name}
    return found


def prove_release(
    release: str,
    exhaustive: bool,
    covered: Collection[str],
    selection: Selection = EVERYTHING,
    left: Collection[str] = (),
) -> list[Tally]:
    """The proof of one release, or of what is selected, with the covering plans of some suites, and without those that
    are ``left`` out; CannotRunError when it is not available."""
    profile = Profile.of(client=release)
    client = JavaClient(release)
    stage = Stage(client, profile)
    try:
        pure = Tally(Side.PURE.value, release)
        client_side = Tally(Side.CLIENT.value, release)
        if selection.takes(Part.of(SUITES["allocation"])) and "allocation" not in left:
            _allocations(client, profile, pure, exhaustive)
        for suite in _client_suites(stage, profile):
            if selection.takes(Part.of(suite)) and suite.name not in left:
                _play(stage, profile, client_side, suite, _plans(suite, profile, covered=suite.name in covered))
        if selection.takes(assembly.PART):
            assembly.prove(client.release, client_side)
        return [pure, client_side]
    finally:
        stage.close()


def _allocations(client: JavaClient, profile: Profile, tally: Tally, exhaustive: bool) -> None:
    from rocketmq_conformance.conformance.targets.java_client.allocation import JavaAllocation

    strategies = JavaAllocation(client.release).calls()
    if exhaustive:
        allocation.exhaust(tally, profile, strategies, allocation.worlds())
    allocation.sample(tally, profile, strategies, SAMPLED)


def _plans(suite: Suite, profile: Profile, *, covered: bool) -> Iterator[Sequence[Row]]:
    """The decision tables of the suite; then its covering plans, or so many seeded cases as every release plays."""
    if suite.name == "remote-store":
        yield from java_tables.reads(suite)
    elif suite.name.startswith("start-"):
        yield from java_tables.starts(suite)
        yield from java_tables.timed_starts(suite)
    if covered:
        yield from (case.rows for case in covering_plans.cases(suite, profile))
        return
    draw, cases = sampler(suite, profile), STEPPED.get(suite.name, 0)
    for number in (*range(cases), *FURTHER.get(suite.name, ())):
        yield draw.case(SEED, number, suite.steps)


@cache
def _answers(suite: Suite, profile: Profile) -> int:
    """A number for all that every release is asked in a suite, and for what the model answers and why."""
    plans = allocation.sampled(profile, SAMPLED) if suite.side is Side.PURE else _plans(suite, profile, covered=False)
    return _number(suite, profile, plans)


def _covering_answers(suite: Suite, release: str) -> int:
    """The same for its covering plans."""
    profile = Profile.of(client=release)
    return _number(suite, profile, _plans(suite, profile, covered=True))


def _number(suite: Suite, profile: Profile, plans: Iterable[Sequence[Row]]) -> int:
    number = 0
    for steps in _walks(suite, profile, plans):
        for position, args, _, expected, why in steps:
            number = hash((number, position, args, expected, why.rules))
    return number


def _walks(suite: Suite, profile: Profile, plans: Iterable[Sequence[Row]]) -> Iterator[Iterator[_Step]]:
    """The steps of each plan by the model, which ends at an operation that the release lacks."""
    bound: BoundModel = suite.bind(profile)
    offered = set(suite.offered(profile))

    def walk(rows: Sequence[Row]) -> Iterator[_Step]:
        state = bound.initial
        for position, args in rows:
            if position not in offered:
                return
            guard = suite.operations[position].spec.guard
            if guard is not None and not guard(state):
                continue
            before = state
            state, expected, why = bound.by_position[position](state, *args)
            yield position, args, before, expected, why

    return map(walk, plans)


def _client_suites(stage: Stage, profile: Profile) -> list[Suite]:
    hello = stage.adapter.hello()
    return [suite for suite in SUITES.values() if suite.side is Side.CLIENT and not hello.refuses(suite)]


def _play(stage: Stage, profile: Profile, tally: Tally, suite: Suite, plans: Iterable[Sequence[Row]]) -> None:
    """Play plans; a case ends at its first difference, or at an operation that the release lacks."""
    calls = stage.calls(suite)
    assert calls is not None
    for steps in _walks(suite, profile, plans):
        stage.begin(suite, 0)
        for position, args, before, expected, why in steps:
            observed = calls[position](*args)
            if suite.operations[position].spec.side is Side.WORLD:
                continue
            describe = partial(describe_step, suite, (position, args), before)
            tally.add(expected, why, observed, describe)
            if not agrees(expected, observed):
                break


def prove(
    unit: Unit,
    covered: Covering,
    selection: Selection = EVERYTHING,
    left: Collection[str] = (),
    exhaustive: Collection[str] = EXHAUSTIVE,
) -> ProofResult:
    """Prove the model against one release of the client, by the clock that its unit's kind says; without the suites
    that are ``left`` to others. CannotRunError and AdapterError when it cannot be judged."""
    began, release = time.monotonic(), unit.release
    if unit.kind == CLOCK:
        tallies = [java_clock.prove_release(release, selection)]
    else:
        tallies = prove_release(release, release in exhaustive, covered.get(release, ()), selection, left)
    counted = [f"{tally.side} {tally.cases} cases, {tally.differences} differences" for tally in tallies if tally.cases]
    if left:
        counted.append(f"{len(left)} suites as in the releases beside it")
    return ProofResult(
        unit=unit,
        lines=[
            f"{unit}: {', '.join(counted) or 'no cases'}, {time.monotonic() - began:.0f} s",
            *(f"  {example}" for tally in tallies for example in tally.examples[:5]),
        ],
        rows=[row for tally in tallies for row in tally.rows()],
        differences=sum(tally.differences for tally in tallies),
    )


def parts() -> list[Part]:
    """The parts of a release's proof: every suite is one."""
    suites = [Part.of(suite) for suite in SUITES.values() if suite.side in (Side.PURE, Side.CLIENT)]
    return [*suites, assembly.PART]


def longest_first(units: Iterable[Unit], covered: Covering, exhaustive: Collection[str]) -> list[Unit]:
    """The units in an order in which no process ends with one that takes long."""
    return sorted(units, key=lambda unit: (unit.release not in exhaustive, -len(covered.get(unit.release, ()))))
