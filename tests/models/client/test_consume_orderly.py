"""Orderly listeners: runs, what is put back, sent on and committed, and that no message overtakes another."""

from __future__ import annotations

from typing import Any

import pytest
from by_hand import Steps
from every import every

from rocketmq_conformance.models.client.consume_orderly import (
    CALM,
    CLEARS,
    COMMIT,
    LOSES,
    NOTHING,
    RAISES,
    ROLLBACK,
    SUCCESS,
    SUSPEND,
    UNLIMITED,
    ConsumeOrderlyModel,
    ConsumeOrderlyState,
    suspension_of,
)
from rocketmq_conformance.models.client.member import BROADCASTING, CLUSTERING
from rocketmq_conformance.models.client.process_queue_contents import FAILED
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.consume_orderly import SUITE
from rocketmq_conformance.suites.declare.sampler import sampler
from rocketmq_conformance.suites.declare.topologies import ORDINARY

NEWEST = "5.5.0"


class Consumer(Steps):
    """Steps of one consumer; answers the results."""

    def __init__(self, release: str = NEWEST, mode: str = CLUSTERING, max_times: int = -1, batch: int = 2) -> None:
        model = ConsumeOrderlyModel(Profile.of(client=release), ORDINARY)
        super().__init__(model, model.begin(ConsumeOrderlyState(), mode, max_times, batch)[0])

    def put(self, *offsets: int, queue: int = 0, size: int = 1, times: int = 0) -> Any:
        return self.do("put", queue, offsets, size, times)

    def run(
        self,
        first: str = SUCCESS,
        then: str = SUCCESS,
        automatic: bool = True,
        at: int = 0,
        suspension: int = -1,
        fault: str = "answer",
        meanwhile: str = CALM,
    ) -> Any:
        return self.do("consume", at, first, then, automatic, suspension, fault, meanwhile)

    def aside(self, queue: int = 0) -> list[int]:
        return sorted(self.state.cached[self.state.owned[queue]].taken)


def test_a_run_takes_batches_in_order_until_none_is_left() -> None:
    consumer = Consumer()
    assert consumer.put(2, 0, 1)[0] is True
    assert consumer.put(3)[0] is False
    assert consumer.run() == (((0, 1), (2, 3)), 4, 0, 0, 0, False, ())
    assert consumer.run() is None
    assert consumer.put(4)[0] is True


@pytest.mark.parametrize("status", [COMMIT, ROLLBACK])
def test_with_automatic_commit_commit_and_rollback_are_successes(status: str) -> None:
    consumer = Consumer()
    consumer.put(0, 1, 2)
    assert consumer.run(status, status)[:2] == (((0, 1), (2,)), 3)


def test_without_automatic_commit_success_piles_up_until_commit() -> None:
    consumer = Consumer()
    consumer.put(0, 1, 2)
    assert consumer.run(automatic=False) == (((0, 1), (2,)), -1, 3, 3, 0, False, ())
    assert consumer.aside() == [0, 1, 2]
    consumer.put(3)
    assert consumer.run(COMMIT, automatic=False)[:3] == (((3,),), 4, 0)


def test_a_rollback_puts_everything_back_and_waits() -> None:
    consumer = Consumer()
    consumer.put(0, 1, 2, 3)
    assert consumer.run(SUCCESS, ROLLBACK, automatic=False) == (((0, 1), (2, 3)), -1, 4, 4, 3, True, ())
    assert consumer.put(4)[0] is False
    assert consumer.do("tick", 999) == 0
    assert consumer.do("tick", 1) == 1
    assert consumer.run()[0] == ((0, 1), (2, 3), (4,))


@every("status", [SUSPEND, NOTHING, RAISES])
@every("automatic", [True, False])
def test_a_suspension_puts_the_batch_back_and_leaves_earlier_ones(status: str, automatic: bool) -> None:
    consumer = Consumer()
    consumer.put(0, 1, 2, 3)
    batches, held, count, *_ = consumer.run(SUCCESS, status, automatic)
    assert batches == ((0, 1), (2, 3))
    assert (held, count, consumer.aside()) == ((2, 2, []) if automatic else (-1, 4, [0, 1]))
    assert [message.times for message in consumer.state.cached[0].tree.values()] == [1, 1]


@every(("asked", "millis"), [(-1, 1_000), (0, 10), (10, 10), (5_000, 5_000), (30_000, 30_000), (60_000, 30_000)])
def test_a_pause_is_kept_within_bounds(asked: int, millis: int) -> None:
    assert suspension_of(asked) == millis


def test_runs_that_wait_begin_in_the_order_of_their_times() -> None:
    consumer = Consumer()
    for queue, pause in ((0, 5_000), (1, 1_000)):
        consumer.put(0, queue=queue)
        consumer.run(SUSPEND, suspension=pause)
    consumer.do("tick", 30_000)
    assert consumer.state.runs == (1, 0)
    assert consumer.run(at=5)[:2] == (((0,),), 1)
    assert consumer.state.runs == (1,)


# --- tries ---------------------------------------------------------------------------------------------------


def test_a_batch_that_was_tried_too_often_is_sent_on_and_committed() -> None:
    consumer = Consumer(max_times=2)
    consumer.put(0, 1, times=2)
    sent = (("copy", 1000, "T", 5, "ID-0-0", 2, 3), ("copy", 1001, "T", 5, "ID-0-1", 2, 3))
    assert consumer.run(SUSPEND) == (((0, 1),), 2, 0, 0, 0, False, sent)
    assert consumer.kind == "automatic, sent on"
    consumer.put(2, times=2)
    assert consumer.run(SUSPEND, automatic=False)[:3] == (((2,),), 2, 1)
    assert consumer.aside() == [2]


def test_one_message_that_may_be_tried_again_brings_all_of_its_batch_back() -> None:
    consumer = Consumer(max_times=2)
    consumer.put(0, times=2)
    consumer.put(1, times=1)
    assert len(consumer.run(SUSPEND)[-1]) == 1
    assert consumer.kind == "automatic, waits, sent on"
    assert [message.times for message in consumer.state.cached[0].tree.values()] == [2, 2]


@pytest.mark.parametrize(("fault", "size"), [("refuse", 1), ("answer", 0)])
def test_what_cannot_be_sent_on_is_tried_again(fault: str, size: int) -> None:
    consumer = Consumer(max_times=0)
    consumer.put(0, size=size)
    assert consumer.run(SUSPEND, fault=fault)[-1] == ()
    assert consumer.kind == "automatic, waits"


def test_without_a_limit_nothing_is_sent_on() -> None:
    consumer = Consumer()
    consumer.put(0, times=UNLIMITED - 1)
    assert consumer.run(SUSPEND)[-1] == ()


@every(
    ("release", "queue", "topic", "origin", "times"),
    [
        ("4.4.0", 0, "T", "", 2),
        ("4.5.0", 3, "%RETRY%G", "ORIGIN-0", 2),
        ("4.5.1", 3, "T", "ORIGIN-0", 2),
        ("4.9.3", 0, "T", "", 2),
        ("4.9.4", 0, "T", "ID-0-0", 2),
        ("5.0.0-ALPHA", 0, "T", "", 2),
        ("5.1.0", 0, "T", "ID-0-0", 2),
        ("5.1.1", 0, "T", "ID-0-0", 3),
    ],
)
def test_copies_differ_from_release_to_release(release: str, queue: int, topic: str, origin: str, times: int) -> None:
    consumer = Consumer(release, max_times=2)
    consumer.put(0, queue=queue, times=2)
    assert consumer.run(SUSPEND)[-1] == (("copy", (queue + 1) * 1000, topic, 5, origin, 2, times),)


# --- dropped and cleared -------------------------------------------------------------------------------------


def test_a_commit_may_lower_the_offset() -> None:
    consumer = Consumer(mode=BROADCASTING)
    consumer.put(0)
    consumer.do("update", 0, 30)
    assert consumer.run()[1] == 1


def test_a_queue_that_is_lost_before_a_run_is_not_consumed() -> None:
    consumer = Consumer()
    consumer.put(0)
    consumer.do("drop", 0)
    assert consumer.run() == (None, -1, 1, 1, 0, True, ())
    assert consumer.put(0)[0] is True


def test_a_queue_that_is_lost_in_a_run_ends_it_and_is_not_committed() -> None:
    consumer = Consumer()
    consumer.put(0, 1, 2)
    assert consumer.run(meanwhile=LOSES) == (((0, 1),), -1, 1, 1, 0, True, ())
    assert consumer.kind == "automatic, dropped"


def test_a_reset_in_a_run_ends_it_with_an_error_and_no_other_begins() -> None:
    consumer = Consumer()
    consumer.put(0, 1, 2)
    assert consumer.run(meanwhile=CLEARS) == FAILED
    assert consumer.quirk is True
    assert consumer.put(5)[0] is False
    assert consumer.state.runs == ()


def test_a_reset_before_a_run_makes_it_one_of_nothing() -> None:
    consumer = Consumer()
    consumer.put(0, 1, 2)
    assert consumer.do("clear", 0) == (0, 0, 0, False)
    assert consumer.run() == ((), -1, 0, 0, 0, False, ())
    assert consumer.put(5)[0] is True


def test_bytes_of_a_commit_are_taken_off() -> None:
    consumer = Consumer("4.9.6", batch=1)
    consumer.put(0, size=10)
    consumer.put(1, size=1)
    assert consumer.run(SUCCESS, SUSPEND) == (((0,), (1,)), 1, 1, 1, 0, True, ())


def test_a_message_without_a_body_makes_the_commit_of_old_releases_fail() -> None:
    consumer = Consumer("4.9.6")
    assert consumer.put(0, size=0) == FAILED
    consumer.put(1)
    assert consumer.run() == FAILED
    newer = Consumer()
    newer.put(0, size=0)
    assert newer.run()[1] == 1


# --- an executor that refuses --------------------------------------------------------------------------------


def test_a_queue_whose_run_is_refused_is_stuck_until_it_is_lost_and_won_again() -> None:
    consumer = Consumer()
    consumer.do("fill", 0)
    assert consumer.put(0) == FAILED
    assert consumer.kind.endswith("refused")
    consumer.do("fill", None)
    assert consumer.put(1)[:2] == (False, 2)
    assert consumer.do("tick", 30_000) == 0
    consumer.do("drop", 0)
    assert consumer.put(0)[0]


def test_a_run_that_is_refused_after_a_pause_is_lost() -> None:
    consumer = Consumer()
    consumer.put(0, queue=0)
    consumer.put(0, queue=1)
    consumer.run(SUSPEND)
    consumer.run(SUSPEND)
    consumer.do("fill", 1)
    assert consumer.do("tick", 1_000) == 1
    assert consumer.kind == "another run is refused"
    consumer.do("fill", None)
    consumer.run(SUSPEND)
    assert consumer.do("tick", 1_000) == 1


# --- laws ----------------------------------------------------------------------------------------------------


def test_no_message_is_given_to_the_listener_before_one_with_a_smaller_offset_that_is_there() -> None:
    profile = Profile()
    draw, bound = sampler(SUITE, profile), SUITE.bind(profile)
    batches = 0
    for number in range(200):
        state = bound.initial
        for at, args in draw.case(9, number, 40):
            before = state
            state, result, _ = bound.by_position[at](state, *args)
            if SUITE.operations[at].spec.name == "consume" and isinstance(result, tuple) and result[0]:
                run = before.runs[min(args[0], len(before.runs) - 1)]
                there = sorted(before.cached[run].tree)
                seen = [offset for batch in result[0] for offset in batch]
                assert seen == there[: len(seen)]
                batches += len(result[0])
    assert batches > 1000


def test_the_state_is_shown() -> None:
    consumer = Consumer()
    consumer.put(0, 1)
    consumer.run(SUSPEND)
    consumer.put(0, queue=1)
    consumer.do("drop", 1)
    shown = SUITE.show(consumer.state)
    assert "0: [0, 1], aside [], 2 messages, 2 bytes, busy" in shown
    assert "runs ['dropped 1'], later ['at 1000 queue 0']" in shown
    assert shown.endswith("room for all")
