"""A broker whose process is stopped, killed, frozen and started: the model and the suite."""

from __future__ import annotations

from typing import Any

import pytest

from rocketmq_conformance.models.broker.broker_offsets import AGED_TOPIC
from rocketmq_conformance.models.broker.broker_process import (
    DOWN,
    FROZEN,
    RUNNING,
    SILENT,
    UNREACHABLE,
    BrokerProcessModel,
    BrokerProcessState,
)
from rocketmq_conformance.models.outcome import Err
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites import broker_process
from rocketmq_conformance.suites.declare.sampler import sampler

NOT_FOUND = Err("QUERY_NOT_FOUND")
MODEL = BrokerProcessModel(Profile())
SUITE = broker_process.SUITE


def committed(life: BrokerProcessState, offset: int, queue: int = 0) -> BrokerProcessState:
    return MODEL.commit(life, None, 0, 0, queue, offset)[0]


def stored(life: BrokerProcessState, queue: int = 0) -> list[int | None]:
    return [broker.stored.get(("G0", "T0", queue)) for broker in life.broker.possible]


# --- the model --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("end", [MODEL.stop, MODEL.kill])
def test_a_broker_that_is_down_does_not_answer(end: Any) -> None:
    life, result, _ = end(MODEL.initial(), None)
    assert (life.status, result) == (DOWN, None)
    for answer in (
        MODEL.query(life, None, 0, 0, 0, None),
        MODEL.query_kept(life, None, 0, None),
        MODEL.max(life, None, AGED_TOPIC, 0),
        MODEL.min(life, None, AGED_TOPIC, 0),
        MODEL.commit(life, None, 0, 0, 0, 5),
    ):
        assert answer[:2] == (life, UNREACHABLE)
        assert answer[2].rules == ("RUN-DOWN-1",)
    life, result, why = MODEL.start(life, None)
    assert (life.status, result, why.rules) == (RUNNING, None, ("RUN-RESTART-1",))
    assert MODEL.max(life, 15, AGED_TOPIC, 0)[1] == 15


def test_a_stopped_broker_keeps_and_a_killed_one_may_lose() -> None:
    life = committed(MODEL.initial(), 5)
    assert stored(MODEL.stop(life, None)[0]) == [5]
    assert stored(MODEL.kill(life, None)[0]) == [5, None]
    assert stored(MODEL.kill(MODEL.save(life, None)[0], None)[0]) == [5]


def test_a_frozen_broker_answers_nothing() -> None:
    life, result, why = MODEL.pause(MODEL.initial(), None)
    assert (life.status, result, why.rules) == (FROZEN, None, ("RUN-FREEZE-1",))
    assert MODEL.query(life, None, 0, 0, 0, None)[:2] == (life, SILENT)
    after, expected, why = MODEL.commit(life, None, 0, 0, 0, 5)
    assert (expected, why.rules) == (SILENT, ("RUN-FREEZE-1",))
    assert after.broker is life.broker
    assert len(after.pending) == 1
    assert SILENT.definite


def test_a_resumed_broker_may_have_applied_commits_that_timed_out() -> None:
    life = MODEL.pause(committed(MODEL.initial(), 5), None)[0]
    unasked, _, why = MODEL.resume(life, None)
    assert stored(unasked) == [5]
    assert why.kind == "goes on, nothing committed meanwhile"
    life, _, why = MODEL.resume(committed(committed(life, 7), 8), None)
    assert why.kind == "goes on, commits may be taken"
    assert (life.status, life.pending) == (RUNNING, ())
    assert stored(life) == [8, 7, 5]
    life, expected, _ = MODEL.query(life, 7, 0, 0, 0, None)
    assert (expected, stored(life)) == (7, [7])
    assert MODEL.query(life, NOT_FOUND, 0, 0, 0, None)[1] == 7


def test_a_frozen_broker_that_is_stopped_goes_on_first_and_one_that_is_killed_does_not() -> None:
    life = committed(MODEL.pause(MODEL.initial(), None)[0], 5)
    assert stored(MODEL.stop(life, None)[0]) == [5, None]
    assert stored(MODEL.kill(life, None)[0]) == [None]


def test_messages_are_sent_to_a_running_broker() -> None:
    life, expected, _ = MODEL.send(MODEL.initial(), ((0, 9), (1, 9)), 0, 0, 2, False)
    assert expected == ((0, 9), (1, 9))
    assert MODEL.max(life, 2, 0, 0)[1] == 2


# --- the suite --------------------------------------------------------------------------------------------------


def test_brokers_end_with_commits_under_way() -> None:
    drawn, bound = sampler(SUITE, Profile()), SUITE.bind(Profile())
    kinds: set[str] = set()
    most = 0
    for case in range(8):
        state = bound.initial
        for at, args in drawn.case(7, case, SUITE.steps):
            guard = SUITE.operations[at].spec.guard
            if guard is not None and not guard(state):
                continue
            named = SUITE.operations[at].spec.name
            observed = tuple((offset, 10 + case) for offset in range(args[2])) if named == "send_timed" else None
            state, _, why = bound.by_position[at](state, observed, *args)
            kinds.add(why.kind)
            most = max(most, len(state.broker.possible))
        assert SUITE.show(state)
    assert kinds >= {"goes on, commits may be taken", "killed, some not on disk", "stored before it was stopped"}
    assert most > 1


def test_a_state_is_shown_with_its_pending_commits() -> None:
    life = committed(MODEL.pause(MODEL.initial(), None)[0], 5)
    assert SUITE.show(life).startswith("frozen, 1 commits under way: topics ")
    assert SUITE.show(MODEL.initial()).startswith("running: topics ")
