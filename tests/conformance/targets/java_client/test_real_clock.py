"""The real classes on the clock of the machine: their timers are as fast as the pace says, and nobody sets an age."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from by_hand import rows_of, values

from rocketmq_conformance.conformance.adapter import REAL
from rocketmq_conformance.conformance.engine.handshake import hello_of, profile_of
from rocketmq_conformance.conformance.engine.judge import Judge
from rocketmq_conformance.conformance.engine.player import Played, Player
from rocketmq_conformance.conformance.engine.stage import Stage
from rocketmq_conformance.conformance.targets.opener import open_address
from rocketmq_conformance.models.client.rebalance_orderly import initial_state, lock_holders
from rocketmq_conformance.models.outcome import Ok
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.reports.event import CONFORMS, DIVERGES
from rocketmq_conformance.suites import rebalance, rebalance_orderly
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.measured_time import depends_on_time
from rocketmq_conformance.suites.declare.sampler import sampler
from rocketmq_conformance.suites.declare.suite import Row, Suite
from rocketmq_conformance.suites.declare.topologies import ORDINARY

pytestmark = [pytest.mark.java, pytest.mark.clock]

PACE = 250
RELEASES = ("4.9.8", "5.5.0")
TIMED = [name for name, suite in SUITES.items() if depends_on_time(suite)]
ROUND = "answer", "answer", "answer"


def address(release: str) -> str:
    return f"java-client:{release}?clock=real&pace={PACE}"


def opened(where: str) -> Stage:
    stage = Stage(open_address(where), Profile())
    stage.use(profile_of(hello_of(stage), {}))
    return stage


@pytest.fixture(params=RELEASES)
def stage(request: pytest.FixtureRequest) -> Iterator[Stage]:
    made = opened(address(request.param))
    yield made
    made.close()


def played(stage: Stage, suite: Suite, rows: list[Row]) -> Played:
    return Player(stage, Judge(suite, stage.profile)).one(0, rows)


def done(stage: Stage, suite: Suite, *steps: tuple[Any, ...]) -> list[Any]:
    """The values that the steps of one case answer; a step is the operation's name and its arguments."""
    row = rows_of(suite)
    return values(stage, suite, *(row(*step) for step in steps))


def test_it_says_how_fast_it_is(stage: Stage) -> None:
    hello = stage.adapter.hello()
    assert (hello.clock, hello.pace) == (REAL, PACE)
    assert stage.times is not None


def test_timers_are_fast_in_the_classes_that_were_loaded_for_it_and_nowhere_else(stage: Stage) -> None:
    import jpype

    adapter: Any = stage.adapter
    virtual: Any = open_address(f"java-client:{adapter.version}")
    system = jpype.JClass("java.lang.System")
    found = [
        int(client.release.load("client.impl.consumer.ProcessQueue").REBALANCE_LOCK_MAX_LIVE_TIME)
        for client in (adapter, virtual)
    ]
    assert found == [30_000 // PACE, 30_000]
    assert system.getProperty("rocketmq.client.rebalance.lockMaxLiveTime") is None
    assert str(system.getProperty("rocketmq.client.rebalance.waitInterval")) == "500"  # of the machine's flags


@pytest.mark.parametrize("name", TIMED)
def test_the_same_plan_conforms_on_both_clocks(stage: Stage, name: str) -> None:
    suite, adapter = SUITES[name], stage.adapter
    virtual = opened(f"java-client:{adapter.hello().version}")
    drawn = sampler(suite, stage.profile)
    for number in range(2):
        rows = drawn.case(7, number, 30)
        first, second = played(virtual, suite, rows), played(stage, suite, rows)
        assert (first.verdict, second.verdict) == (CONFORMS, CONFORMS), (first.reason, second.reason)
        assert second.judged is not None
        assert len(second.judged.spans) == second.steps > 10
    virtual.close()


@pytest.mark.parametrize(("ticks", "expires"), [((60_000, 20_000), False), ((60_000, 60_000), True)])
def test_queues_grow_old_by_themselves(stage: Stage, ticks: tuple[int, ...], expires: bool) -> None:
    steps = [("rebalance", 2, *ROUND), *(("tick", millis) for millis in ticks), ("rebalance", 2, *ROUND)]
    results = done(stage, rebalance.SUITE, *steps)
    assert bool(results[-1][1]) is expires
    assert results[-1][0] == (7,)


def test_an_unlocking_that_was_put_off_is_done_after_20_s(stage: Stage) -> None:
    steps = [
        ("list_members", (0,)),
        ("rebalance", 0, *ROUND, "answer"),
        ("receive", 0, 0, 4),
        ("list_members", (1,)),
        ("rebalance", 0, *ROUND, "answer"),
    ]
    suite = rebalance_orderly.SUITE
    done(stage, suite, *steps)
    later = {0: ORDINARY.clients[0]} if str(stage.profile.client) == "4.9.8" else {}  # up to 5.1.4
    assert lock_holders(ORDINARY, initial_state(ORDINARY)._replace(locks=stage.world.locks)) == later
    assert isinstance(stage.do(suite, (suite.index["tick"], (20_000,))), Ok)
    assert lock_holders(ORDINARY, initial_state(ORDINARY)._replace(locks=stage.world.locks)) == {}


def test_a_release_that_is_judged_by_the_rules_of_another_diverges_on_the_real_clock_too() -> None:
    made = opened(address("5.5.0"))
    made.use(Profile.of(client="5.1.4"))
    suite = rebalance_orderly.SUITE
    drawn = sampler(suite, made.profile)
    verdicts = {played(made, suite, drawn.case(3, number, 40)).verdict for number in range(8)}
    made.close()
    assert DIVERGES in verdicts
