"""Proof of the broker's rules: the model against real brokers of several releases.

For each release: the decision tables on a broker that started on the aged store, again with everything cold, again
after it was stopped and after it was killed; long random runs of every suite; and a second broker, whose messages
really expire while it runs. Starts brokers of its own.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import partial
from itertools import product

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.proof import broker_files, broker_memory, broker_upgrades, fake_broker
from rocketmq_conformance.conformance.proof import broker_tables as tables
from rocketmq_conformance.conformance.proof.broker_expiry import Expiry
from rocketmq_conformance.conformance.proof.evidence import ProofResult, Tally
from rocketmq_conformance.conformance.proof.selection import EVERYTHING, Part, Selection
from rocketmq_conformance.conformance.proof.side_by_side import More, in_processes
from rocketmq_conformance.conformance.proof.unit import Unit
from rocketmq_conformance.conformance.targets.broker import page_cache, requests
from rocketmq_conformance.conformance.targets.broker.adapter import BrokerAdapter
from rocketmq_conformance.conformance.targets.broker.case_names import DEFAULT_HOLD_CHECK
from rocketmq_conformance.conformance.targets.broker.launch_config import java, java_feature, seeing_java
from rocketmq_conformance.conformance.targets.broker.managed_broker import StartedBroker
from rocketmq_conformance.models.broker import lifecycle
from rocketmq_conformance.models.broker.aged_store import aged_broker
from rocketmq_conformance.models.broker.assignment import POP
from rocketmq_conformance.models.broker.broker_restart import SURVIVAL_REASONS
from rocketmq_conformance.models.broker.configuration import (
    BALANCES,
    CREATES_GROUPS,
    DEFAULT_MODE,
    DEFAULT_SHARE,
    LIGHT,
    LONG_POLLING,
    MEMORY_RATIO,
    PERMISSION,
    PROPERTY_FILTER,
    ROCKSDB_STORE,
    ROCKSDB_TABLES,
    SERVER_RESET,
    SETTINGS,
    STORE,
    STRICT_LOCKS,
    TABLES,
    TIMER_WHEEL,
)
from rocketmq_conformance.models.broker.fixtures import initial_state
from rocketmq_conformance.models.broker.lifecycle import KILL, STOP
from rocketmq_conformance.models.broker.state import READ, WRITE, BrokerState
from rocketmq_conformance.models.broker.switches import LOCKS_STRICTLY, BrokerRules
from rocketmq_conformance.models.outcome import Err, Outcome, Result, Unsupported, result_of
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.release import Release
from rocketmq_conformance.suites import (
    broker_admin,
    broker_assignment,
    broker_cold,
    broker_doubt,
    broker_expired,
    broker_fields,
    broker_filters,
    broker_locks,
    broker_members,
    broker_offsets,
    broker_polling,
    broker_process,
    broker_restart,
    broker_retry,
    broker_search,
    broker_search_files,
    broker_tables,
    broker_topics,
    broker_upgrade,
)
from rocketmq_conformance.suites.declare.indeterminate import Possibility, TooMany, narrowed, unanswered
from rocketmq_conformance.suites.declare.operation import Operation
from rocketmq_conformance.suites.declare.sampler import sampler
from rocketmq_conformance.suites.declare.suite import BoundModel, Row, Suite
from rocketmq_conformance.suites.values.broker import show

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
    broker_assignment.SUITE,
    broker_members.SUITE,
    broker_filters.SUITE,
)
#: First releases with a property for the way of resets (BQ-RESET-2), and with those for assignments (BQ-ASSIGN-1).
RESETS_SINCE = Release(5, 1, 0)
BALANCES_SINCE = Release(5, 0, 0)
#: First release that asks the system which pages are in memory, where its Java can (BQ-MEM-2).
SEES_SINCE = Release(5, 1, 0)
#: Random cases of each fast suite, and of the slow one.
CASES = 96
OTHER_CASES = 32
RESTART_CASES = 2
RESTART_STEPS = 120
#: Of brokers that keep their tables in RocksDB.
ENDED_STEPS = 60
COLD_CASES = 12
#: A case of pulls that are held mostly waits for checks.
POLLING_CASES, POLLING_STEPS = 32, 8
PROCESS_STEPS = 100
_SEED = 1
#: Releases side by side: each mostly waits, for brokers to start, locks to expire and messages to age.
WORKERS = 4
#: Releases that one process proves; it keeps nothing of them.
_EACH = 40


class Table:
    """Cases that continue over restarts of the broker, each in its lane, with the model's state of each."""

    def __init__(self, adapter: BrokerAdapter, profile: Profile, tally: Tally) -> None:
        self.adapter = adapter
        self.rules = BrokerRules.of(profile)
        self.handlers = tables.handlers(profile)
        self.tally = tally
        self.states: list[BrokerState] = []
        #: How the broker ended since the offsets were stored (STOP, KILL).
        self.how = ""

    def begin(self, lanes: int) -> None:
        """Begin so many new cases."""
        self.adapter.reset_many([(lane, broker_offsets.SUITE) for lane in range(lanes)])
        old, new = aged_broker(self.rules), initial_state()
        self.states = [old._replace(topics={**old.topics, **new.topics})] * lanes

    def play(self, cases: Sequence[Sequence[Operation]]) -> None:
        """Play operations in each lane, all lanes side by side."""
        played = self.adapter.play_many([(lane, case) for lane, case in enumerate(cases) if case])
        for lane, (case, outcomes) in enumerate(zip([case for case in cases if case], played, strict=True)):
            self.states[lane] = self._check(self.states[lane], case, outcomes)

    def _check(self, state: BrokerState, case: Sequence[Operation], outcomes: Sequence[Outcome]) -> BrokerState:
        for operation, outcome in zip(case, outcomes, strict=True):
            observed = _observed(outcome)
            handler = self.handlers[type(operation)]
            given = (observed, *operation.args) if operation.spec.observes else operation.args
            after, expected, why = handler(state, *given)
            if self.how and why.rules == ("BQ-QUERY-1",):
                why = SURVIVAL_REASONS[self.how]
            self.tally.add(expected, why, observed, partial(_describe, operation, show(state)))
            state = after
        return state

    def play_all(self, cases: Sequence[Sequence[Operation]], lanes: int) -> None:
        """Play new cases, so many side by side."""
        for at in range(0, len(cases), lanes):
            some = cases[at : at + lanes]
            self.begin(len(some))
            self.play(some)

    def change(self, change: Callable[[BrokerState], BrokerState]) -> None:
        """Record an event of the whole broker, such as a restart."""
        self.states = [change(state) for state in self.states]


def prove_tables(adapter: BrokerAdapter, profile: Profile, tally: Tally) -> None:
    """The decision tables; stored offsets must survive a stop and a kill."""
    lanes = adapter.lanes(broker_offsets.SUITE)
    table = Table(adapter, profile, tally)
    for cases in (tables.commits(), tables.deletions(), tables.searches()):
        table.play_all(cases, lanes)
    table.begin(len(tables.STORED))
    table.play(tables.stored())
    asked: list[Operation] = [*tables.queries(), *tables.bounds()]
    everywhere = [asked] * len(tables.STORED)
    table.play(everywhere)
    for hot in (False, True):
        adapter.apply(broker_restart.Memory(hot))
        table.change(partial(lifecycle.with_memory, table.rules, hot=hot))
        table.play(everywhere)
    for how in (STOP, KILL):
        adapter.apply(broker_restart.Save())
        adapter.apply(broker_restart.Restart(how))
        table.change(partial(lifecycle.restart, table.rules))
        table.how = how
        table.play(everywhere)


def prove_suite(
    adapter: BrokerAdapter, profile: Profile, tally: Tally, suite: Suite, cases: int, steps: int | None = None
) -> None:
    """Play random cases of one suite; a case ends at its first difference."""
    drawn, bound = sampler(suite, profile), suite.bind(profile)
    lanes = adapter.lanes(suite)
    for at in range(0, cases, lanes):
        numbers = range(at, min(at + lanes, cases))
        adapter.reset_many([(lane, suite) for lane in range(len(numbers))])
        plans = [drawn.case(_SEED, number, steps or suite.steps) for number in numbers]
        played = (
            adapter.play_many(list(enumerate([[suite.operation(row) for row in plan] for plan in plans])))
            if lanes > 1
            else [None] * len(plans)
        )
        for number, plan, outcomes in zip(numbers, plans, played, strict=True):
            with suppress(TooMany):
                _prove_case(suite, bound, plan, _doing(adapter, suite, outcomes), tally, f"{suite.name} case {number}")


def _doing(adapter: BrokerAdapter, suite: Suite, outcomes: Sequence[Outcome] | None) -> Callable[[int, Row], Outcome]:
    """The outcome of a step of a plan: the recorded one, or that of playing it now."""
    if outcomes is not None:
        return lambda step, row: outcomes[step]
    return lambda step, row: adapter.apply(suite.operation(row))


def _prove_case(
    suite: Suite, bound: BoundModel, plan: Sequence[Row], do: Callable[[int, Row], Outcome], tally: Tally, name: str
) -> None:
    """Play one case until its first difference; TooMany when too many of its outcomes are indeterminate."""
    possible = [Possibility(bound.initial)]
    for step, row in enumerate(plan):
        spec = suite.operations[row[0]].spec
        if spec.guard is not None and not all(spec.guard(one.state) for one in possible):
            continue
        outcome = do(step, row)
        if isinstance(outcome, Unsupported):  # with this configuration
            continue
        observed = _observed(outcome)
        if isinstance(observed, Err) and not observed.definite:
            if not spec.may_be_indeterminate:  # too busy, or a timeout: nothing can be concluded
                return
            possible = unanswered(bound, possible, row)
            continue
        (one, *_), possible = narrowed(bound, possible, row, observed, observes=spec.observes)
        place = f"{suite.show(one.before.state)}, {name} step {step}"
        tally.add(one.expected, one.why, observed, partial(_describe, suite.operation(row), place))
        if not possible:
            return


def prove_every_search(adapter: BrokerAdapter, profile: Profile, tally: Tally) -> None:
    """Every step that the suite ``broker-search-files`` has."""
    suite = broker_search_files.SUITE
    adapter.reset_many([(0, suite)])
    for at, operation in enumerate(suite.operations):
        columns = operation.spec.columns() or ()
        plan: list[Row] = [(at, args) for args in product(*map(dict.fromkeys, columns))]
        (outcomes,) = adapter.play_many([(0, [suite.operation(row) for row in plan])])
        do = _doing(adapter, suite, outcomes)
        _prove_case(suite, suite.bind(profile), plan, do, tally, f"{suite.name}, every {operation.spec.name}")


def prove_configured(
    adapter: BrokerAdapter,
    profile: Profile,
    tally: Tally,
    suite: Suite,
    properties: Mapping[str, str],
    cases: int,
    steps: int | None = None,
) -> None:
    """A suite once more, on the same broker with other properties."""
    configured = profile.configured(properties)
    for name, value in properties.items():
        adapter.ask(requests.set_property(name, value))
    try:
        adapter.hello()
        prove_suite(adapter, configured, tally, suite, cases, steps)
    finally:
        for name in properties:
            adapter.ask(requests.set_property(name, SETTINGS[name].default_of(profile.broker)))
        adapter.hello()


def prove_other_resets(adapter: BrokerAdapter, profile: Profile, tally: Tally) -> None:
    """The suite ``broker-admin`` once more, with resets going the way that is not the release's default."""
    other = str(profile.setting(SERVER_RESET) == "false").lower()
    prove_configured(adapter, profile, tally, broker_admin.SUITE, {SERVER_RESET: other}, CASES)


def prove_other_assignments(adapter: BrokerAdapter, profile: Profile, tally: Tally) -> None:
    """The suite ``broker-assignment`` once more with other properties: without balancing, and popping by default."""
    for properties in ({BALANCES: "false"}, {DEFAULT_MODE: POP, DEFAULT_SHARE: "1"}):
        prove_configured(adapter, profile, tally, broker_assignment.SUITE, properties, OTHER_CASES)


def prove_strict_locks(adapter: BrokerAdapter, profile: Profile, tally: Tally) -> None:
    """The suite ``broker-locks`` once more, in strict mode."""
    prove_configured(adapter, profile, tally, broker_locks.SUITE, {STRICT_LOCKS: "true"}, CASES)


def prove_uncreated_groups(adapter: BrokerAdapter, profile: Profile, tally: Tally) -> None:
    """The suites that look groups up once more, on a broker that does not create them."""
    suites = [broker_admin.SUITE, broker_topics.SUITE]
    if profile.broker >= BALANCES_SINCE:
        suites.append(broker_assignment.SUITE)
    for suite in suites:
        prove_configured(adapter, profile, tally, suite, {CREATES_GROUPS: "false"}, OTHER_CASES)


def prove_polling(adapter: BrokerAdapter, profile: Profile, tally: Tally) -> None:
    """The suite ``broker-polling``, and once more without long polling."""
    suite = broker_polling.SUITE
    prove_suite(adapter, profile, tally, suite, POLLING_CASES, POLLING_STEPS)
    adapter.ask(requests.set_property(LONG_POLLING, "false"))
    time.sleep(DEFAULT_HOLD_CHECK + 1)  # the broker is still waiting for its next check by the old interval
    prove_configured(adapter, profile, tally, suite, {LONG_POLLING: "false"}, POLLING_CASES // 2, POLLING_STEPS)


def prove_sql(adapter: BrokerAdapter, profile: Profile, tally: Tally) -> None:
    """The suite ``broker-filters`` once more, on a broker that answers expressions in SQL92."""
    prove_configured(adapter, profile, tally, broker_filters.SUITE, {PROPERTY_FILTER: "true"}, CASES)


def prove_permissions(adapter: BrokerAdapter, profile: Profile, tally: Tally) -> None:
    """The suites that pull once more, on a broker that may not be written, and on one that may not be read."""
    for permission in (READ, WRITE):
        for suite in (broker_offsets.SUITE, broker_admin.SUITE, broker_topics.SUITE):
            prove_configured(adapter, profile, tally, suite, {PERMISSION: str(permission)}, OTHER_CASES)


def prove_on_disk(adapter: BrokerAdapter, profile: Profile, tally: Tally) -> None:
    """The suites that query and pull once more, where every message counts as being on disk."""
    for suite in (broker_offsets.SUITE, broker_admin.SUITE, broker_topics.SUITE):
        prove_configured(adapter, profile, tally, suite, {MEMORY_RATIO: "0"}, OTHER_CASES)


def prove_without_timers(tally: Tally) -> None:
    """The suites that delete topics, on a broker of its own: no broker loses its timer wheel while it runs."""
    properties = {TIMER_WHEEL: "false"}
    adapter = BrokerAdapter(StartedBroker(Release.parse(tally.release), properties=properties))
    try:
        hello = adapter.hello()
        profile = Profile.of(broker=tally.release, java=hello.java or 17).configured(properties)
        for suite in (broker_offsets.SUITE, broker_admin.SUITE, broker_topics.SUITE):
            prove_suite(adapter, profile, tally, suite, OTHER_CASES)
    finally:
        adapter.close()


def prove_tables_in_rocksdb(tally: Tally) -> None:
    """The suites that read queues, look topics up, and stop, kill and start, on brokers of their own that keep queues
    or tables in RocksDB."""
    release = Release.parse(tally.release)
    for name, value, suites in (
        (STORE, ROCKSDB_STORE, (broker_offsets.SUITE, broker_admin.SUITE, broker_topics.SUITE, broker_search.SUITE)),
        (TABLES, ROCKSDB_TABLES, (broker_offsets.SUITE, broker_admin.SUITE, broker_assignment.SUITE)),
    ):
        adapter = BrokerAdapter(StartedBroker(release, properties={name: value}))
        try:
            hello = adapter.hello()
            profile = Profile.of(broker=tally.release, java=hello.java or 17).configured({name: value})
            for suite in suites:
                prove_suite(adapter, profile, tally, suite, OTHER_CASES)
            for suite in (broker_restart.SUITE, broker_process.SUITE):
                prove_suite(adapter, profile, tally, suite, 1, ENDED_STEPS)
        finally:
            adapter.close()


def prove_light_queues(tally: Tally) -> None:
    """The suites that read and store offsets and look topics up, on a broker of its own with light message queues."""
    properties = {LIGHT: "true"}
    adapter = BrokerAdapter(StartedBroker(Release.parse(tally.release), properties=properties))
    try:
        hello = adapter.hello()
        profile = Profile.of(broker=tally.release, java=hello.java or 17).configured(properties)
        for suite in (broker_offsets.SUITE, broker_admin.SUITE, broker_assignment.SUITE):
            prove_suite(adapter, profile, tally, suite, OTHER_CASES)
    finally:
        adapter.close()


def prove_files(adapter: BrokerAdapter, profile: Profile, tally: Tally, plan: Sequence[Operation]) -> None:
    """Files of tables that are damaged between starts."""
    suite = broker_tables.SUITE
    adapter.reset_many([(0, suite)])
    rows = [suite.row(operation) for operation in plan]
    _prove_case(suite, suite.bind(profile), rows, _doing(adapter, suite, None), tally, f"{suite.name}, damaged files")


def prove_cold(adapter: BrokerAdapter, tally: Tally) -> bool:
    """The suite ``broker-cold``, on the Java that the broker has; False where pages cannot be paged out of memory."""
    hello = adapter.hello()
    if broker_cold.SUITE.name in hello.unsupported:
        return False
    profile = Profile.of(broker=tally.release, java=hello.java or 17)
    prove_suite(adapter, profile, tally, broker_cold.SUITE, COLD_CASES)
    return True


def prove_seen_cold(tally: Tally) -> bool:
    """The same on a broker of its own, whose Java sees which pages are in memory; False where there is no such Java."""
    java = seeing_java()
    if not java:
        return False
    adapter = BrokerAdapter(StartedBroker(Release.parse(tally.release), java=java))
    try:
        return prove_cold(adapter, tally)
    finally:
        adapter.close()


def _observed(outcome: Outcome) -> Result:
    assert not isinstance(outcome, Unsupported), outcome
    return result_of(outcome)


def _describe(operation: Operation, place: str) -> str:
    return f"{operation} on {place}"


@dataclass(frozen=True, slots=True)
class _Step:
    """A part of the proof on the broker that a release's proof shares, and whether a release has it."""

    part: Part
    play: Callable[[BrokerAdapter, Profile, Tally], object]
    on: Callable[[Release], bool] = lambda release: True


def _plays(suite: Suite) -> Callable[[BrokerAdapter, Profile, Tally], None]:
    return lambda adapter, profile, tally: prove_suite(adapter, profile, tally, suite, CASES)


#: The suites of the decision tables, and of messages that expire.
_TABLES = Part.of(broker_offsets.SUITE, broker_search.SUITE, broker_expired.SUITE, broker_restart.SUITE)
_STORY = Part.of(rules=(rule for rules in fake_broker.CHAPTERS.values() for rule in rules))
#: The suites that query, pull and delete topics.
_PULLING = Part.of(broker_offsets.SUITE, broker_admin.SUITE, broker_topics.SUITE)
#: The suites that are played on brokers whose queues or tables are in RocksDB.
_IN_ROCKSDB = Part.of(
    *(broker_offsets.SUITE, broker_admin.SUITE, broker_topics.SUITE, broker_search.SUITE, broker_assignment.SUITE),
    *(broker_restart.SUITE, broker_process.SUITE),
)
#: The suites that are played on brokers with light message queues.
_WITH_LIGHT = Part.of(broker_offsets.SUITE, broker_admin.SUITE, broker_assignment.SUITE)
#: The rules of messages that count as being on disk.
_DISTANCES = Part.of(rules=("BQ-DISK-1", "BQ-QUERY-4"))
#: Of two releases that take turns only what is said of an upgrade counts: the other rules are those of either.
_UPGRADES = Part(frozenset({broker_upgrade.SUITE.name}), frozenset({broker_upgrades.RULE}))
#: Stored offsets in the file of brokers with light message queues.
_LIGHT = Part(frozenset({broker_upgrade.SUITE.name}), frozenset({broker_upgrades.LIGHT_RULE}))
_STEPS = (
    _Step(_TABLES, prove_tables),
    *(_Step(Part.of(suite), _plays(suite)) for suite in FAST),
    _Step(Part.of(broker_search_files.SUITE), prove_every_search),
    _Step(Part.of(broker_admin.SUITE), prove_other_resets, RESETS_SINCE.__le__),
    _Step(Part.of(broker_assignment.SUITE), prove_other_assignments, BALANCES_SINCE.__le__),
    _Step(Part.of(broker_locks.SUITE), prove_strict_locks, LOCKS_STRICTLY.on),
    _Step(Part.of(broker_admin.SUITE, broker_topics.SUITE, broker_assignment.SUITE), prove_uncreated_groups),
    _Step(_PULLING, prove_permissions),
    _Step(Part.of(broker_polling.SUITE), prove_polling),
    _Step(Part.of(broker_filters.SUITE), prove_sql, SETTINGS[PROPERTY_FILTER].has),
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
        step for step in (*_STEPS, _FILES if brief else _ALL_FILES) if selection.takes(step.part) and step.on(parsed)
    ]
    expiring = selection.takes(_TABLES)
    with ExitStack() as open_brokers:
        expiry = open_brokers.enter_context(Expiry(parsed, profile)) if expiring else None
        if steps:
            _prove_steps(steps, parsed, profile, tally)
        if expiry:
            expiry.prove(tally)
    if parsed >= SEES_SINCE and selection.takes(Part.of(broker_cold.SUITE)):
        prove_seen_cold(tally)
    if broker_memory.shows(parsed) and selection.takes(_DISTANCES):
        broker_memory.prove(tally)
    if SETTINGS[TIMER_WHEEL].has(parsed) and selection.takes(_PULLING):
        prove_without_timers(tally)
    if SETTINGS[STORE].has(parsed) and selection.takes(_IN_ROCKSDB):
        prove_tables_in_rocksdb(tally)
    if SETTINGS[LIGHT].has(parsed) and selection.takes(_WITH_LIGHT):
        prove_light_queues(tally)
    return tally


def _prove_steps(steps: Sequence[_Step], release: Release, profile: Profile, tally: Tally) -> None:
    adapter = BrokerAdapter(StartedBroker(release))
    try:
        hello = adapter.hello()
        assert hello.broker == str(release), hello
        for step in steps:
            step.play(adapter, profile, tally)
    finally:
        adapter.close()


def _spared() -> frozenset[str]:
    """The rules of pages that are out of memory, where none can be put there or no Java sees them."""
    return frozenset() if seeing_java() and not page_cache.missing() else frozenset({"BQ-MEM-1", "BQ-MEM-2"})


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
    """Prove the model against one release."""
    began = time.monotonic()
    try:
        tally = prove_release(unit.release, selection, brief=brief)
        others = fake_broker.prove(unit.release) if selection.takes(_STORY) else []
        if selection.takes(_UPGRADES):
            others = [*others, broker_upgrades.prove(tally.side, unit.release, prove_suite, brief=brief)]
        if selection.takes(_LIGHT) and SETTINGS[LIGHT].has(Release.parse(unit.release)):
            others = [*others, broker_upgrades.prove_light(tally.side, unit.release, prove_suite)]
    except CannotRunError as error:
        return ProofResult.missing(unit, error)
    rows = [*tally.rows(), *others]
    wrong = [row for row in rows if row.differences]
    counted = f"{unit}: {tally.cases} cases, {tally.differences} differences, {time.monotonic() - began:.0f} s"
    lines = [counted, *(f"  {example}" for example in dict.fromkeys(row.example for row in wrong))]
    return ProofResult(unit=unit, lines=lines, rows=rows, differences=len(wrong), spared=_spared())
