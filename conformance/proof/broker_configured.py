"""Suites on a real broker with other properties: set while it runs, or, where it reads them once, on one of its own."""

from __future__ import annotations

import time
from collections.abc import Mapping

from rocketmq_conformance.conformance.proof import broker_suites
from rocketmq_conformance.conformance.proof.broker_suites import own_broker, prove_suite
from rocketmq_conformance.conformance.proof.evidence import Tally
from rocketmq_conformance.conformance.targets.broker import requests
from rocketmq_conformance.conformance.targets.broker.adapter import BrokerAdapter
from rocketmq_conformance.conformance.targets.broker.case_names import DEFAULT_HOLD_CHECK
from rocketmq_conformance.models.broker.assignment import POP
from rocketmq_conformance.models.broker.configuration import (
    BALANCES,
    CREATES_GROUPS,
    DEFAULT_MODE,
    DEFAULT_SHARE,
    LIGHT,
    LONG_POLLING,
    MEMORY_RATIO,
    PERMISSION,
    POP_CHECKS_MEMORY,
    POP_SHOWS_RETRIES,
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
from rocketmq_conformance.models.broker.state import READ, WRITE
from rocketmq_conformance.models.broker.switches import POP_NEEDS_TIMERS
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.release import Release
from rocketmq_conformance.suites import (
    broker_admin,
    broker_assignment,
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
    broker_topics,
)
from rocketmq_conformance.suites.declare.suite import Suite

#: Random cases of a suite that is played once more, and those of pulls that are held, which mostly wait for checks.
OTHER_CASES = 32
POLLING_CASES, POLLING_STEPS = 32, 8
#: Cases in which messages come back, which are played all at once.
RETURNING_CASES = 96
#: Steps of a case that stops and starts a broker that keeps its tables in RocksDB.
ENDED_STEPS = 60
#: First release with properties for assignments (BQ-ASSIGN-1).
BALANCES_SINCE = Release(5, 0, 0)


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
    """The suites of resets once more, with these going the way that is not the release's default."""
    other = str(profile.setting(SERVER_RESET) == "false").lower()
    for suite, cases in ((broker_admin.SUITE, broker_suites.CASES), (broker_pop_start.SUITE, OTHER_CASES)):
        prove_configured(adapter, profile, tally, suite, {SERVER_RESET: other}, cases)


def prove_other_starts(adapter: BrokerAdapter, profile: Profile, tally: Tally) -> None:
    """The suites of pops once more, on a broker that does not look whether message 0 is in memory."""
    for suite in (broker_pop_start.SUITE, broker_pop_expired.SUITE):
        prove_configured(adapter, profile, tally, suite, {POP_CHECKS_MEMORY: "false"}, OTHER_CASES)


def prove_returns(adapter: BrokerAdapter, profile: Profile, tally: Tally) -> None:
    """The suite ``broker-pop-ack``, and once more on a broker that shows retry topics, where it can."""
    suite = broker_pop_ack.SUITE
    prove_suite(adapter, profile, tally, suite, RETURNING_CASES)
    if SETTINGS[POP_SHOWS_RETRIES].has(profile.broker):
        prove_configured(adapter, profile, tally, suite, {POP_SHOWS_RETRIES: "true"}, OTHER_CASES)


def prove_unread_pops(adapter: BrokerAdapter, profile: Profile, tally: Tally) -> None:
    """The suite ``broker-pop-start`` once more, on a broker that may not be read."""
    prove_configured(adapter, profile, tally, broker_pop_start.SUITE, {PERMISSION: str(WRITE)}, OTHER_CASES)


def prove_other_assignments(adapter: BrokerAdapter, profile: Profile, tally: Tally) -> None:
    """The suite ``broker-assignment`` once more with other properties: without balancing, and popping by default."""
    for properties in ({BALANCES: "false"}, {DEFAULT_MODE: POP, DEFAULT_SHARE: "1"}):
        prove_configured(adapter, profile, tally, broker_assignment.SUITE, properties, OTHER_CASES)


def prove_strict_locks(adapter: BrokerAdapter, profile: Profile, tally: Tally) -> None:
    """The suite ``broker-locks`` once more, in strict mode."""
    prove_configured(adapter, profile, tally, broker_locks.SUITE, {STRICT_LOCKS: "true"}, broker_suites.CASES)


def prove_uncreated_groups(adapter: BrokerAdapter, profile: Profile, tally: Tally) -> None:
    """The suites that look groups up once more, on a broker that does not create them."""
    suites = [broker_admin.SUITE, broker_topics.SUITE, broker_fields.SUITE]
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
    """The suites of filters once more, on a broker that answers expressions in SQL92."""
    for suite in (broker_filters.SUITE, broker_members.SUITE):
        prove_configured(adapter, profile, tally, suite, {PROPERTY_FILTER: "true"}, broker_suites.CASES)


def prove_permissions(adapter: BrokerAdapter, profile: Profile, tally: Tally) -> None:
    """The suites that pull once more, on a broker that may not be written, and on one that may not be read."""
    for permission in (READ, WRITE):
        for suite in (broker_offsets.SUITE, broker_admin.SUITE, broker_topics.SUITE):
            prove_configured(adapter, profile, tally, suite, {PERMISSION: str(permission)}, OTHER_CASES)


def prove_unwritten(adapter: BrokerAdapter, profile: Profile, tally: Tally) -> None:
    """The suite ``broker-retry`` once more, on a broker that may not be written."""
    prove_configured(adapter, profile, tally, broker_retry.SUITE, {PERMISSION: str(READ)}, OTHER_CASES)


def prove_on_disk(adapter: BrokerAdapter, profile: Profile, tally: Tally) -> None:
    """The suites that query and pull once more, where every message counts as being on disk."""
    for suite in (broker_offsets.SUITE, broker_admin.SUITE, broker_topics.SUITE):
        prove_configured(adapter, profile, tally, suite, {MEMORY_RATIO: "0"}, OTHER_CASES)


def prove_without_timers(tally: Tally) -> None:
    """The suites that delete topics, pop, or send messages with a time, on a broker of its own: no broker loses its
    timer wheel while it runs."""
    with own_broker(tally, {TIMER_WHEEL: "false"}) as (adapter, profile):
        suites = [broker_offsets.SUITE, broker_admin.SUITE, broker_topics.SUITE, broker_retry.SUITE]
        if POP_NEEDS_TIMERS.on(profile.broker):  # earlier ones never store where a pop ends
            suites.append(broker_pop_start.SUITE)
        for suite in suites:
            prove_suite(adapter, profile, tally, suite, OTHER_CASES)


def prove_tables_in_rocksdb(tally: Tally) -> None:
    """The suites that read queues, look topics up, and stop, kill and start, on brokers of their own that keep queues
    or tables in RocksDB."""
    for properties, suites in (
        (
            {STORE: ROCKSDB_STORE},
            (broker_offsets.SUITE, broker_admin.SUITE, broker_topics.SUITE, broker_search.SUITE),
        ),
        ({TABLES: ROCKSDB_TABLES}, (broker_offsets.SUITE, broker_admin.SUITE, broker_assignment.SUITE)),
    ):
        with own_broker(tally, properties) as (adapter, profile):
            for suite in suites:
                prove_suite(adapter, profile, tally, suite, OTHER_CASES)
            for suite in (broker_restart.SUITE, broker_process.SUITE):
                prove_suite(adapter, profile, tally, suite, 1, ENDED_STEPS)


def prove_light_queues(tally: Tally) -> None:
    """The suites that read and store offsets and look topics up, on a broker of its own with light message queues."""
    with own_broker(tally, {LIGHT: "true"}) as (adapter, profile):
        for suite in (broker_offsets.SUITE, broker_admin.SUITE, broker_assignment.SUITE):
            prove_suite(adapter, profile, tally, suite, OTHER_CASES)
