"""The real orderly consumers, stepped by hand: their timers, their clock, their listeners, and that they can differ."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from by_hand import expiries, java_stage, rows_of, values, verdicts

from rocketmq_conformance.conformance.engine.stage import Stage
from rocketmq_conformance.models.client.rebalance_orderly import LOCK_EXPIRY, lock_holders
from rocketmq_conformance.models.client.rebalance_orderly_round import UNLOCK_DELAY
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.reports.event import CONFORMS, DIVERGES
from rocketmq_conformance.suites.declare.suite import Row
from rocketmq_conformance.suites.declare.topologies import ORDINARY
from rocketmq_conformance.suites.rebalance_orderly import SUITE

pytestmark = pytest.mark.java

row = rows_of(SUITE)
RELEASES = ("4.9.8", "5.5.0")
Adapter = Any


@pytest.fixture(params=RELEASES)
def stage(request: pytest.FixtureRequest) -> Iterator[Stage]:
    yield from java_stage(request.param)


def rebalance(member: int) -> Row:
    return row("rebalance", member, "answer", "answer", "answer", "answer")


def done(stage: Stage, *rows: Row) -> list[Any]:
    """The values that the steps of one case answer."""
    return values(stage, SUITE, *rows)


def locked(stage: Stage) -> dict[int, str]:
    """Who holds which queue at the fake broker."""
    from rocketmq_conformance.models.client.rebalance_orderly import initial_state

    return lock_holders(ORDINARY, initial_state(ORDINARY)._replace(locks=stage.world.locks))


def test_members_lock_what_they_own(stage: Stage) -> None:
    results = done(stage, *(rebalance(member) for member in range(3)))
    assert [owned for owned, *_ in results] == [(5, 6, 8), (0, 1, 2, 3), (7,)]
    assert locked(stage) == {
        queue: ORDINARY.clients[member] for member, (owned, *_) in enumerate(results) for queue in owned
    }


def test_the_timer_of_locks_is_the_real_one(stage: Stage) -> None:
    adapter: Adapter = stage.adapter
    done(stage, row("join", 1, False, "BROADCASTING", "CONSUME_FROM_LAST_OFFSET", "AVG"))
    periods = [[millis for millis, _ in who.schedule.periodic] for who in adapter._parts[SUITE.name][0].members]
    assert periods == [[20_000], [], [20_000]]


def test_a_slow_listener_has_the_queue_until_it_is_done(stage: Stage) -> None:
    results = done(
        stage,
        row("list_members", (0,)),
        rebalance(0),
        row("renew", 0, "answer"),
        row("take", 0, 0, 4, "answer"),
        row("consume", 0, 0, 5, "answer"),
        row("list_members", (1,)),
        rebalance(0),
        row("finish", 0, 0, "answer"),
        rebalance(0),
    )
    assert results[3:5] == [4, ((), 0)]
    assert (results[6][0], results[8][0]) == ((0,), ())
    assert results[7][0] == ()


def test_a_slow_listener_does_not_outlive_the_adapter() -> None:
    with contextmanager(java_stage)("5.5.0") as stage:
        done(stage, row("list_members", (0,)), rebalance(0), row("renew", 0, "answer"), row("take", 0, 0, 4, "answer"))
        adapter: Adapter = stage.adapter
        threads = adapter._parts[SUITE.name][0].threads._threads
        assert any(thread.is_alive() for thread in threads)
    assert not any(thread.is_alive() for thread in threads)


def test_a_busy_queue_is_unlocked_by_force_from_5_2_0(stage: Stage) -> None:
    results = done(
        stage,
        row("list_members", (0,)),
        rebalance(0),
        row("take", 0, 0, 4, "answer"),
        row("list_members", (1,)),
        *(step for _ in range(4) for step in (row("tick", 10_000), rebalance(0))),
        row("finish", 0, 0, "answer"),
    )
    assert results[2] == 4
    kept = [owned for owned, *_ in results[5:-1:2]]
    assert kept == ([(0,)] * 2 + [()] * 2 if str(stage.profile.client) == "5.5.0" else [(0,)] * 4)


def test_waiting_messages_put_the_unlocking_off_before_5_2_0(stage: Stage) -> None:
    adapter: Adapter = stage.adapter
    done(
        stage,
        row("list_members", (0,)),
        rebalance(0),
        row("receive", 0, 0, 4),
        row("list_members", (1,)),
        rebalance(0),
    )
    due = [when for when, _ in adapter._parts[SUITE.name][0].members[0].instance.due]
    assert (due, locked(stage)) == (([UNLOCK_DELAY], {0: ORDINARY.clients[0]}) if due else ([], {}))
    assert bool(due) is (str(stage.profile.client) == "4.9.8")
    stage.do(SUITE, row("tick", UNLOCK_DELAY))
    assert locked(stage) == {}


def test_exactly_30_s_are_not_too_long_for_the_classes(stage: Stage) -> None:
    adapter: Adapter = stage.adapter
    queue = adapter.release.load("client.impl.consumer.ProcessQueue")()
    found = expiries(queue, "setLastLockTimestamp", "isLockExpired", LOCK_EXPIRY, LOCK_EXPIRY + 1)
    assert found == {LOCK_EXPIRY: False, LOCK_EXPIRY + 1: True}


def test_stateful_runs_agree_and_those_of_another_release_do_not(stage: Stage) -> None:
    assert verdicts(stage, SUITE, stage.profile, 15, 60) == [CONFORMS] * 15
    assert DIVERGES in verdicts(stage, SUITE, Profile.of(client="5.1.4"), 15, 60)
