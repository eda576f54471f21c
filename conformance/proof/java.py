"""Proof of the client's rules: the model against the real Java classes of many releases.

Every release goes through the decision tables of reads and starts, through sampled allocations, and through stateful
runs of a group that rebalances, of a consumer that pulls and of listeners; a few releases also through every small
allocation and through stateful runs of every client suite.
"""

from __future__ import annotations

import os
import signal
import tempfile
import time
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial
from multiprocessing import active_children, get_context
from multiprocessing.util import Finalize
from tempfile import TemporaryDirectory

from rocketmq_conformance.conformance.adapter import AdapterError, CannotRunError
from rocketmq_conformance.conformance.engine.stage import Stage
from rocketmq_conformance.conformance.proof import allocation, java_clock, java_tables
from rocketmq_conformance.conformance.proof.evidence import ProofResult, Tally, describe_step
from rocketmq_conformance.conformance.targets.java_client import jvm
from rocketmq_conformance.conformance.targets.java_client.adapter import JavaClient
from rocketmq_conformance.models.outcome import Result, agrees
from rocketmq_conformance.models.profile import Profile
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
#: Releases that are also run statefully; 5.4.0 because it reads its own offset files differently (OFF-L-INT).
STATEFUL = frozenset({"4.9.8", "5.0.0", "5.1.4", "5.4.0", "5.5.0"})
CASES = 300
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
}
SEED = 20240101
#: Cases of sampled allocations per release.
SAMPLED = 1500
#: Processes side by side: each has a JVM, which takes a GiB.
WORKERS = min(os.cpu_count() or 1, 4)
#: Releases that one process proves: its JVM keeps what each of them leaves behind, and slows down.
_EACH = 8

Calls = Sequence[Callable[..., Result]]


def prove_release(release: str, exhaustive: bool, stateful: bool) -> list[Tally]:
    """The whole proof of one release; CannotRunError when it is not available."""
    profile = Profile.of(client=release)
    client = JavaClient(release)
    stage = Stage(client, profile)
    try:
        pure = Tally(Side.PURE.value, release)
        client_side = Tally(Side.CLIENT.value, release)
        from rocketmq_conformance.conformance.targets.java_client.allocation import JavaAllocation

        strategies = JavaAllocation(client.release).calls()
        if exhaustive:
            allocation.exhaust(pure, profile, strategies, allocation.worlds())
        allocation.sample(pure, profile, strategies, SAMPLED)
        _tables(stage, profile, client_side)
        for suite in _client_suites(stage, profile):
            if stateful:
                _play(stage, profile, client_side, suite, _plans(suite, profile, CASES))
            elif suite.name in STEPPED:
                _play(stage, profile, client_side, suite, _plans(suite, profile, STEPPED[suite.name]))
        return [pure, client_side]
    finally:
        stage.close()


def prove_suite(release: str, name: str) -> list[Tally]:
    """Stateful runs of one client suite; CannotRunError when the release is not available."""
    profile = Profile.of(client=release)
    stage = Stage(JavaClient(release), profile)
    try:
        tally = Tally(Side.CLIENT.value, release)
        for suite in _client_suites(stage, profile):
            if suite.name == name:
                _play(stage, profile, tally, suite, _plans(suite, profile, CASES))
        return [tally]
    finally:
        stage.close()


def _plans(suite: Suite, profile: Profile, cases: int) -> Iterator[list[Row]]:
    draw = sampler(suite, profile)
    return (draw.case(SEED, number, suite.steps) for number in range(cases))


def _client_suites(stage: Stage, profile: Profile) -> list[Suite]:
    hello = stage.adapter.hello()
    return [suite for suite in SUITES.values() if suite.side is Side.CLIENT and not hello.refuses(suite)]


def _tables(stage: Stage, profile: Profile, tally: Tally) -> None:
    for suite in _client_suites(stage, profile):
        if suite.name == "remote-store":
            _play(stage, profile, tally, suite, java_tables.reads(suite))
        elif suite.name.startswith("start-"):
            _play(stage, profile, tally, suite, java_tables.starts(suite))
            _play(stage, profile, tally, suite, java_tables.timed_starts(suite))


def _play(stage: Stage, profile: Profile, tally: Tally, suite: Suite, plans: Iterable[list[Row]]) -> None:
    """Play plans; a case ends at its first difference, or at an operation that the release lacks."""
    bound: BoundModel = suite.bind(profile)
    calls = stage.calls(suite)
    assert calls is not None
    offered = set(suite.offered(profile))
    for rows in plans:
        stage.begin(suite, 0)
        state = bound.initial
        for position, args in rows:
            if position not in offered:
                break
            observed = calls[position](*args)
            before = state
            state, expected, why = bound.by_position[position](state, *args)
            if suite.operations[position].spec.side is Side.WORLD:
                continue
            describe = partial(describe_step, suite, (position, args), before)
            tally.add(expected, why, observed, describe)
            if not agrees(expected, observed):
                break


def prove(release: str, stateful: Collection[str] = STATEFUL, suite: str = "", real_clock: bool = False) -> ProofResult:
    """Prove the model against one release, by everything or by stateful runs of one client suite; or on a real clock
    by stateful runs of what depends on time."""
    began = time.monotonic()
    try:
        if real_clock:
            tallies = [java_clock.prove_release(release, suite)]
        elif suite:
            tallies = prove_suite(release, suite)
        else:
            tallies = prove_release(release, release in EXHAUSTIVE, release in stateful)
    except (CannotRunError, AdapterError) as error:
        return ProofResult(release=release, lines=[f"client {release}: not judged: {error}"], rows=[], judged=False)
    counts = ", ".join(f"{tally.side} {tally.cases} cases, {tally.differences} differences" for tally in tallies)
    return ProofResult(
        release=release,
        lines=[
            f"client {release}: {counts}, {time.monotonic() - began:.0f} s",
            *(f"  {example}" for tally in tallies for example in tally.examples[:5]),
        ],
        rows=[row for tally in tallies for row in tally.rows()],
        differences=sum(tally.differences for tally in tallies),
    )


def prove_all(
    releases: Iterable[str],
    workers: int,
    stateful: Collection[str] = STATEFUL,
    suite: str = "",
    real_clock: bool = False,
) -> Generator[ProofResult]:
    """Prove each release, in so many processes; yields each result as soon as it is known.

    The releases that take longest go first, so that no process ends with one of them alone.
    """
    todo = sorted(releases, key=lambda release: -(release in EXHAUSTIVE) - (release in stateful))
    workers = min(workers, len(todo))
    one = partial(prove, stateful=frozenset(stateful), suite=suite, real_clock=real_clock)
    if workers <= 1 and len(todo) <= _EACH:
        yield from map(one, todo)
        return
    together = workers * _EACH
    for at in range(0, len(todo), together):
        yield from _side_by_side(one, todo[at : at + together], workers)


def _side_by_side(one: Callable[[str], ProofResult], releases: Sequence[str], workers: int) -> Generator[ProofResult]:
    """Prove these releases in so many processes."""
    with TemporaryDirectory(prefix="rocketmq-conformance-proof-") as folder:
        # a process with a JVM cannot be forked
        pool = ProcessPoolExecutor(workers, get_context("spawn"), _begin, (folder,))
        try:
            for done in as_completed([pool.submit(one, release) for release in releases]):
                yield done.result()
            pool.shutdown()
        except BaseException:
            for process in active_children():
                process.kill()
            pool.shutdown(cancel_futures=True)
            raise


def _begin(folder: str) -> None:
    """Begin a process of its own: it leaves files only in that folder, is stopped by the first process alone, and
    does not wait for threads of clients in the end."""
    tempfile.tempdir = folder
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Finalize(None, jvm.end, (0,), exitpriority=0)
