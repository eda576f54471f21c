"""Proof of the broker's rules: the model against real brokers of several releases.

For each release: the decision tables on a broker that started on the aged store, again with everything cold, again
after it was stopped and after it was killed; long random runs of every suite; and a second broker, whose messages
really expire while it runs. Starts brokers of its own.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial

from rocketmq_conformance.conformance.proof import (
    broker_files,
    broker_memory,
    broker_suites,
    broker_upgrades,
    fake_broker,
)
from rocketmq_conformance.conformance.proof.broker_configured import (
    BALANCES_SINCE,
    prove_light_queues,
    prove_on_disk,
    prove_other_assignments,
    prove_other_resets,
    prove_other_starts,
    prove_permissions,
    prove_polling,
    prove_returns,
    prove_sql,
    prove_strict_locks,
    prove_tables_in_rocksdb,
    prove_uncreated_groups,
    prove_unread_pops,
    prove_unwritten,
    prove_without_timers,
)
from rocketmq_conformance.conformance.proof.broker_decisions import prove_tables
from rocketmq_conformance.conformance.proof.broker_expiry import Expiry
from rocketmq_conformance.conformance.proof.broker_slaves import (
    prove_acting_slaves,
    prove_pair,
    prove_read_slaves,
    waits,
)
from rocketmq_conformance.conformance.proof.broker_suites import (
    prove_cold,
    prove_every_search,
    prove_files,
    prove_seen_cold,
    prove_suite,
)
from rocketmq_conformance.conformance.proof.evidence import ProofResult, Tally
from rocketmq_conformance.conformance.proof.selection import EVERYTHING, Part, Selection
from rocketmq_conformance.conformance.proof.side_by_side import More, in_processes
from rocketmq_conformance.conformance.proof.unit import Unit
from rocketmq_conformance.conformance.targets.broker import page_cache
from rocketmq_conformance.conformance.targets.broker.adapter import BrokerAdapter
from rocketmq_conformance.conformance.targets.broker.launch_config import java, java_feature, java_showing_pages
from rocketmq_conformance.conformance.targets.broker.managed_broker import StartedBroker
from rocketmq_conformance.models.broker.configuration import (
    LIGHT,
    POP_CHECKS_MEMORY,
    PROPERTY_FILTER,
    SETTINGS,
    SLAVE_ACTS,
    STORE,
    TIMER_WHEEL,
)
from rocketmq_conformance.models.broker.switches import LOCKS_STRICTLY
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.release import Release
from rocketmq_conformance.suites import (
    broker_accidents,
    broker_admin,
    broker_assignment,
    broker_cold,
    broker_concurrent,
    broker_doubt,
    broker_expired,
    broker_fields,
    broker_filters,
    broker_locks,
    broker_members,
    broker_offsets,
    broker_polling,
    broker_pop_ack,
    broker_pop_expired,
    broker_pop_start,
    broker_process,
    broker_restart,
    broker_retry,
    broker_search,
    broker_search_files,
    broker_slave,
    broker_stats,
    broker_tables,
    broker_topics,
    broker_upgrade,
)
from rocketmq_conformance.suites.declare.operation import Operation
from rocketmq_conformance.suites.declare.suite import Suite

#: Releases that are proven when none is named: the newest of either line, which together confirm nearly all.
RELEASES = ("4.9.7", "5.5.0")
#: Suites whose cases need no restarts.
FAST = (
    broker_offsets.SUITE,
    broker_expired.SUITE,
    broker_search.SUITE,
    broker_admin.SUITE,
    broker_topics.SUITE,
    broker_fields.SUITE,
    broker_retry.SUITE,
    broker_locks.SUITE,
    broker_doubt.SUITE,
    broker_concurrent.SUITE,
    broker_assignment.SUITE,
    broker_members.SUITE,
    broker_stats.SUITE,
    broker_filters.SUITE,
    broker_pop_start.SUITE,
    broker_pop_expired.SUITE,
)
#: First release with a property for the way of resets (BQ-RESET-2).
RESETS_SINCE = Release(5, 1, 0)
#: First release that asks the system which pages are in memory, where its Java can (BQ-MEM-2).
SEES_SINCE = Release(5, 1, 0)
RESTART_CASES = 2
RESTART_STEPS = 120
PROCESS_STEPS = 100
ACCIDENT_CASES = 12
#: Releases side by side: each mostly waits, for brokers to start, locks to expire and messages to age.
WORKERS = 4
#: Releases that one process proves; it keeps nothing of them.
_EACH = 40


@dataclass(frozen=True, slots=True)
class _Step:
    """A part of the proof on the broker that a release's proof shares, and whether a release has it."""

    part: Part
    play: Callable[[BrokerAdapter, Profile, Tally], object]
    on: Callable[[Release], bool] = lambda release: True


def _plays(suite: Suite) -> Callable[[BrokerAdapter, Profile, Tally], None]:
    return lambda adapter, profile, tally: prove_suite(adapter, profile, tally, suite, broker_suites.CASES)


def _has(suite: Suite, release: Release) -> bool:
    return suite.has(Profile(broker=release))


#: The suites of the decision tables, and of messages that expire.
_TABLES = Part.of(broker_offsets.SUITE, broker_search.SUITE, broker_expired.SUITE, broker_restart.SUITE)
_STORY = Part.of(rules=(rule for rules in fake_broker.CHAPTERS.values() for rule in rules))
#: The suites that query, pull and delete topics.
_PULLING = Part.of(broker_offsets.SUITE, broker_admin.SUITE, broker_topics.SUITE)
#: The suites that are played on brokers without a timer wheel.
_WITHOUT_TIMERS = Part.of(
    *(broker_offsets.SUITE, broker_admin.SUITE, broker_topics.SUITE, broker_retry.SUITE, broker_pop_start.SUITE)
)
#: The suites that are played on brokers whose queues or tables are in RocksDB.
_IN_ROCKSDB = Part.of(
    *(broker_offsets.SUITE, broker_admin.SUITE, broker_topics.SUITE, broker_search.SUITE, broker_assignment.SUITE),
    *(broker_restart.SUITE, broker_process.SUITE),
)
#: The suites that are played on brokers with light message queues.
_WITH_LIGHT = Part.of(broker_offsets.SUITE, broker_admin.SUITE, broker_assignment.SUITE)
_PAIR = Part.of(broker_slave.SUITE)
#: The rules of messages that count as being on disk.
_DISTANCES = Part.of(rules=("BQ-DISK-1", "BQ-QUERY-4"))
#: Of two releases that take turns only what is said of an upgrade counts: the other rules are those of either.
_UPGRADES = Part(frozenset({broker_upgrade.SUITE.name}), frozenset({broker_upgrades.RULE}))
#: Stored offsets in the file of brokers with light message queues.
_LIGHT = Part(frozenset({broker_upgrade.SUITE.name}), frozenset({broker_upgrades.LIGHT_RULE}))
_STEPS = (
    _Step(_TABLES, prove_tables),
    *(_Step(Part.of(suite), _plays(suite), partial(_has, suite)) for suite in FAST),
    _Step(Part.of(broker_search_files.SUITE), prove_every_search),
    _Step(Part.of(broker_admin.SUITE, broker_pop_start.SUITE), prove_other_resets, RESETS_SINCE.__le__),
    _Step(
        Part.of(broker_pop_start.SUITE, broker_pop_expired.SUITE), prove_other_starts, SETTINGS[POP_CHECKS_MEMORY].has
    ),
    _Step(Part.of(broker_assignment.SUITE), prove_other_assignments, BALANCES_SINCE.__le__),
    _Step(Part.of(broker_locks.SUITE), prove_strict_locks, LOCKS_STRICTLY.on),
    _Step(
        Part.of(broker_admin.SUITE, broker_topics.SUITE, broker_fields.SUITE, broker_assignment.SUITE),
        prove_uncreated_groups,
    ),
    _Step(Part.of(broker_pop_ack.SUITE), prove_returns, partial(_has, broker_pop_ack.SUITE)),
    _Step(Part.of(broker_pop_start.SUITE), prove_unread_pops, partial(_has, broker_pop_start.SUITE)),
    _Step(_PULLING, prove_permissions),
    _Step(Part.of(broker_retry.SUITE), prove_unwritten),
    _Step(Part.of(broker_polling.SUITE), prove_polling),
    _Step(Part.of(broker_filters.SUITE, broker_members.SUITE), prove_sql, SETTINGS[PROPERTY_FILTER].has),
    _Step(_PULLING, prove_on_disk),
    _Step(
        Part.of(broker_restart.SUITE),
        lambda adapter, profile, tally: prove_suite(
            adapter, profile, tally, broker_restart.SUITE, RESTART_CASES, RESTART_STEPS
        ),
    ),
    _Step(
        Part.of(broker_process.SUITE),
        lambda adapter, profile, tally: prove_suite(adapter, profile, tally, broker_process.SUITE, 1, PROCESS_STEPS),
    ),
    _Step(
        Part.of(broker_accidents.SUITE),
        lambda adapter, profile, tally: prove_suite(adapter, profile, tally, broker_accidents.SUITE, ACCIDENT_CASES),
    ),
    _Step(_PAIR, prove_pair),
    _Step(Part.of(broker_cold.SUITE), lambda adapter, profile, tally: prove_cold(adapter, tally)),
)


def _damages(plan: Sequence[Operation]) -> _Step:
    return _Step(
        Part.of(broker_tables.SUITE), lambda adapter, profile, tally: prove_files(adapter, profile, tally, plan)
    )


#: The last step, and what it is in a brief proof.
_ALL_FILES, _FILES = _damages(broker_files.long()), _damages(broker_files.short())


def parts() -> list[Part]:
    """The parts of a release's proof."""
    return [*(step.part for step in (*_STEPS, _FILES)), _TABLES, _DISTANCES, _UPGRADES, _LIGHT, _STORY]


def prove_release(release: str, selection: Selection = EVERYTHING, *, brief: bool = False) -> Tally:
    """The proof of one release, or of what is selected; a ``brief`` one leaves out what takes a minute."""
    tally = Tally(broker_offsets.SUITE.side.value, release)
    parsed = Release.parse(release)
    profile = Profile.of(broker=release, java=java_feature(java()))
    steps = [
        step
        for step in (*_STEPS, _FILES if brief else _ALL_FILES)
        if selection.takes(step.part) and step.on(parsed) and not (brief and step.part is _PAIR and waits(parsed))
    ]
    expiring = selection.takes(_TABLES)
    with ExitStack() as open_brokers:
        expiry = open_brokers.enter_context(Expiry(parsed, profile)) if expiring else None
        if steps:
            _prove_steps(steps, parsed, profile, tally, expiry)
        if expiry:
            expiry.prove(tally)
    if parsed >= SEES_SINCE and selection.takes(Part.of(broker_cold.SUITE)):
        prove_seen_cold(tally)
    if broker_memory.shows(parsed) and selection.takes(_DISTANCES):
        broker_memory.prove(tally)
    if SETTINGS[TIMER_WHEEL].has(parsed) and selection.takes(_WITHOUT_TIMERS):
        prove_without_timers(tally)
    if SETTINGS[STORE].has(parsed) and selection.takes(_IN_ROCKSDB):
        prove_tables_in_rocksdb(tally)
    if SETTINGS[LIGHT].has(parsed) and selection.takes(_WITH_LIGHT):
        prove_light_queues(tally)
    if selection.takes(_PAIR) and not brief:
        prove_read_slaves(tally)
        if SETTINGS[SLAVE_ACTS].has(parsed):
            prove_acting_slaves(tally)
    return tally


def _prove_steps(
    steps: Sequence[_Step], release: Release, profile: Profile, tally: Tally, expiry: Expiry | None
) -> None:
    adapter = BrokerAdapter(StartedBroker(release))
    try:
        hello = adapter.hello()
        assert hello.broker == str(release), hello
        for step in steps:
            step.play(adapter, profile, tally)
            if expiry:
                expiry.prove_when_due(tally)
    finally:
        adapter.close()


def _spared() -> frozenset[str]:
    """The rules of pages that are out of memory, where none can be put there or no Java sees them."""
    return frozenset() if java_showing_pages() and not page_cache.missing() else frozenset({"BQ-MEM-1", "BQ-MEM-2"})


def prove_all(
    units: Sequence[Unit],
    workers: int,
    selection: Selection = EVERYTHING,
    more: More = lambda: True,
    *,
    brief: bool = False,
) -> Iterator[ProofResult]:
    """Prove the model against each release, ``workers`` of them side by side, and give each as soon as it is known.

    The rows of the fake broker's proof are among those of a release; a ``brief`` proof leaves out what takes a minute.
    """
    yield from in_processes(
        partial(prove, selection=selection, brief=brief), units, min(workers, len(units)), more, _EACH
    )


def prove(unit: Unit, selection: Selection = EVERYTHING, *, brief: bool = False) -> ProofResult:
    """Prove the model against one release; CannotRunError and AdapterError when it cannot be judged."""
    began = time.monotonic()
    tally = prove_release(unit.release, selection, brief=brief)
    others = fake_broker.prove(unit.release) if selection.takes(_STORY) else []
    if selection.takes(_UPGRADES):
        others = [*others, broker_upgrades.prove(tally.side, unit.release, brief=brief)]
    if selection.takes(_LIGHT) and SETTINGS[LIGHT].has(Release.parse(unit.release)):
        others = [*others, broker_upgrades.prove_light(tally.side, unit.release)]
    rows = [*tally.rows(), *others]
    wrong = [row for row in rows if row.differences]
    counted = f"{unit}: {tally.cases} cases, {tally.differences} differences, {time.monotonic() - began:.0f} s"
    lines = [
        counted,
        *(f"  {example}" for example in dict.fromkeys(row.example for row in wrong)),
        *(f"  once, and not again: {example}" for example in tally.unsteady),
    ]
    return ProofResult(unit=unit, lines=lines, rows=rows, differences=len(wrong), spared=_spared())
