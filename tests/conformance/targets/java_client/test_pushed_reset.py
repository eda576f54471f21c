"""The real consumers' resets on the clock of a case: that it is theirs, that it is exact, and that it can differ."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from threading import Event
from types import SimpleNamespace
from typing import Any

import pytest
from by_hand import java_stage, rows_of, values, verdicts

from rocketmq_conformance.conformance.engine.stage import Stage
from rocketmq_conformance.conformance.targets.java_client import jvm
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.reports.event import CONFORMS, DIVERGES
from rocketmq_conformance.suites.declare.suite import Row
from rocketmq_conformance.suites.pushed_reset import SUITE

pytestmark = pytest.mark.java

row = rows_of(SUITE)
#: Releases on each side of a switch, and one that has other rules.
OTHERS = {"4.8.0": "4.9.8", "4.9.8": "4.8.0", "5.4.0": "5.5.0", "5.5.0": "5.4.0"}
NOTHING: tuple[Any, ...] = ((), ())


@pytest.fixture(params=OTHERS)
def stage(request: pytest.FixtureRequest) -> Iterator[Stage]:
    yield from java_stage(request.param)


def done(stage: Stage, *rows: Row) -> list[Any]:
    """The values that the steps of one case answer."""
    return values(stage, SUITE, *rows)


def test_a_concurrent_consumer_sleeps_for_exactly_ten_seconds(stage: Stage) -> None:
    steps = done(stage, row("reset_queue", 0, 8, "T", "java"), row("elapse", 9_999), row("elapse", 1))
    assert steps == [NOTHING, NOTHING, (((1, ((0, 8),)),), ((0, 8),))]


def test_an_orderly_consumer_waits_for_its_listener_alone_from_5_5(stage: Stage) -> None:
    reset, ten = row("reset_queue", 0, 8, "T", "java"), row("elapse", 10_000)
    idle = done(stage, row("start", "orderly"), reset)[1]
    newest = str(stage.profile.client) == "5.5.0"
    assert idle == ((((0, ((0, 8),)),), ((0, 8), (0, 8))) if newest else NOTHING)
    _, _, begun, late = done(stage, row("start", "orderly"), row("take", 0, 6), reset, ten)
    assert (begun, late) == (NOTHING, ((), ((0, 8),)))


def test_a_client_answers_what_a_broker_asks_about_its_offsets(stage: Stage) -> None:
    steps = done(stage, row("update", 5, 7), row("status", "G", "T"), row("status", "G", ""), row("status", "H", "T"))
    assert steps[1:] == [((0, 0), (1, 0), (5, 7)), ((0, 0), (1, 0), (2, 0), (3, 0), (5, 7)), ()]


def test_threads_of_resets_end_with_them(stage: Stage) -> None:
    threads = _threads()
    for _ in range(20):
        done(stage, row("reset_queue", 0, 8, "T", "java"), row("elapse", 10_000))
    assert _threads() < threads + 20


def test_it_is_known_whose_monitor_a_reset_waits_for() -> None:
    jpype = jvm.start()
    from rocketmq_conformance.conformance.targets.java_client.reset_thread import LOOK, ResetThread

    let_go, held = Event(), Event()

    def hold(monitor: Any) -> None:
        with jpype.synchronized(monitor):
            held.set()
            let_go.wait(30)

    its_own, another = jpype.JClass("java.lang.Object")(), jpype.JClass("java.lang.Object")()
    holder, queued = (ResetThread(partial(hold, its_own), lambda: None) for _ in range(2))
    holder.start()
    try:
        assert held.wait(30)
        queued.start()
        while queued.java is None or str(queued.java.getState()) != "BLOCKED":
            time.sleep(LOOK)
        assert [queued.waits_for(one) for one in (its_own, another)] == [True, False]
        assert not holder.waits_for(its_own)
    finally:
        let_go.set()


def test_what_is_no_exception_of_the_client_ends_the_case(stage: Stage) -> None:
    done(stage, row("elapse", 1))
    import jpype

    adapter: Any = stage.adapter
    part, _ = adapter._parts[SUITE.name]
    out_of_memory = jpype.JClass("java.lang.OutOfMemoryError")
    part.running = [SimpleNamespace(ended=True, waits=False, error=out_of_memory("Java heap space"))]
    with pytest.raises(out_of_memory, match="Java heap space"):
        part._settle()


def _threads() -> int:
    import jpype

    return int(jpype.JClass("java.lang.Thread").activeCount())


def test_stateful_runs_agree_and_those_of_another_release_do_not(stage: Stage) -> None:
    assert verdicts(stage, SUITE, stage.profile, 15, 40) == [CONFORMS] * 15
    assert DIVERGES in verdicts(stage, SUITE, Profile.of(client=OTHERS[str(stage.profile.client)]), 15, 40)
