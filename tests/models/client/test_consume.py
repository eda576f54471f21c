"""Concurrent listeners: caching, sending back, and that no offset passes a message that is still to do."""

from __future__ import annotations

from typing import Any

import pytest
from by_hand import Steps
from every import every

from rocketmq_conformance.models.client.client_rules import ClientRules
from rocketmq_conformance.models.client.consume import (
    CALM,
    IN_TIME,
    LATER,
    LOSES,
    NOT_BEGUN,
    NOTHING,
    RAISES,
    SUCCESS,
    TIMES_OUT,
    ConsumeModel,
    ConsumeState,
)
from rocketmq_conformance.models.client.member import BROADCASTING, CLUSTERING
from rocketmq_conformance.models.client.process_queue_contents import (
    FAILED,
    CachedMessage,
    ProcessQueueContents,
    cleared,
    put,
    remove,
)
from rocketmq_conformance.models.outcome import having_sent
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.consume import SUITE
from rocketmq_conformance.suites.declare.sampler import sampler
from rocketmq_conformance.suites.declare.topologies import ORDINARY

NEWEST, OLDEST = "5.5.0", "4.0.0"


def rules(release: str) -> ClientRules:
    return ClientRules.of(Profile.of(client=release))


def messages(*offsets: int, size: int = 1) -> list[CachedMessage]:
    return [CachedMessage(at, 0, offset, size, 0) for at, offset in enumerate(offsets)]


def filled(*offsets: int, release: str = NEWEST) -> ProcessQueueContents:
    return put(rules(release), ProcessQueueContents(0), messages(*offsets))[0]


class Consumer(Steps):
    """Steps of one consumer; answers the results."""

    def __init__(self, release: str = NEWEST, mode: str = CLUSTERING, max_times: int = -1, batch: int = 3) -> None:
        model = ConsumeModel(Profile.of(client=release), ORDINARY)
        super().__init__(model, model.begin(ConsumeState(), mode, max_times, batch)[0])

    def put(self, *offsets: int, queue: int = 0, size: int = 1, times: int = 0) -> Any:
        return self.do("put", queue, offsets, size, times)

    def consume(
        self,
        status: str = SUCCESS,
        ack: int | None = None,
        at: int = 0,
        level: int = 0,
        fault: str = "answer",
        meanwhile: str = CALM,
    ) -> Any:
        return self.do("consume", at, status, ack, level, fault, meanwhile)


# --- process queues ------------------------------------------------------------------------------------------


def test_what_is_removed_commits_the_smallest_left_and_at_last_the_top_plus_one() -> None:
    cached, commits = filled(5, 6, 7, 8), []
    for offset in (6, 8, 5, 7, 7):
        cached, commit, _ = remove(rules(NEWEST), cached, messages(offset))
        commits.append(commit)
    assert commits == [5, 5, 7, 9, -1]


@pytest.mark.parametrize(
    ("there", "done", "commit"),
    [((10, 12, 15), (10,), 12), ((10, 12, 15), (), 10), ((10, 12, 15), (10, 12, 15), 16), ((10, 5), (10, 5), 6)],
)
def test_gaps_are_passed_over_and_the_top_is_the_last_arrival(
    there: tuple[int, ...], done: tuple[int, ...], commit: int
) -> None:
    assert remove(rules(NEWEST), filled(*there), messages(*done))[1] == commit


def test_a_stale_message_of_a_cleared_queue_commits_the_remaining_messages_only() -> None:
    cached = put(rules(NEWEST), cleared(filled(3, 4, 5)), messages(9))[0]
    assert remove(rules(NEWEST), cached, messages(3))[1] == 9


def test_a_message_pulled_again_replaces_the_old_one_and_is_not_counted() -> None:
    consumer = Consumer()
    assert consumer.put(0, 1, 2, size=10) == (True, 3, 30, 2, True)
    assert consumer.put(2, 3, size=1) == (False, 4, 31, 3, True)
    assert consumer.kind == "some known, no start"
    assert consumer.put(3, 2, size=1) == (False, 4, 31, 3, True)
    assert consumer.kind == "all known, no start"


@pytest.mark.parametrize(("release", "left"), [("4.1.0", None), ("4.9.6", 9), ("4.9.8", 0), ("5.1.4", 9), ("5.2.0", 0)])
def test_bytes_drift_by_bodies_of_another_size_until_a_release_sets_them_to_0(release: str, left: int | None) -> None:
    consumer = Consumer(release)
    consumer.put(0, size=10)
    assert consumer.do("remove", 0, (0,), 1) == (1, 0, left, 0, False)


def test_bytes_are_an_accident_from_two_sizes_in_one_place_on_until_no_message_is_left() -> None:
    consumer = Consumer()
    seen: list[Any] = []
    for step in (
        lambda: consumer.put(0, 1, size=10),
        lambda: consumer.do("remove", 0, (0,), 1),
        lambda: consumer.put(5, size=10),
        lambda: consumer.do("remove", 0, (1, 5), 10),
        lambda: consumer.put(6, size=10),
        lambda: consumer.put(6, size=1),
    ):
        step()
        seen.append(consumer.quirk)
    assert seen == [False, ("bytes",), ("bytes",), False, False, ("bytes",)]


def test_a_message_without_a_body_breaks_old_process_queues() -> None:
    old = Consumer("5.3.1")
    assert old.put(0, 1, size=0) == FAILED
    assert (old.kind, old.quirk) == ("no body", True)
    assert not old.state.requests
    assert old.put(0, 7, size=1) == (True, 1, 1, 7, True)
    assert old.consume() == ((0, 7), 8, -1, -1, 0, False, ())
    broken = Consumer("5.3.1")
    broken.put(0, 1, size=0)
    assert broken.put(0, 1, 2, size=0) == FAILED
    assert broken.put(0, 1, size=0) == (True, 0, 0, 1, True)
    assert broken.consume() == ((0, 1), 2, 0, 0, 0, True, ())
    assert broken.quirk is True
    removing = Consumer("5.3.1")
    removing.put(0, 1)
    assert removing.do("remove", 0, (0,), 0) == (2, 2, 2, 0, True)
    assert (removing.quirk, "PQ-BODY" in removing.rules) == (True, True)
    assert Consumer("5.3.2").put(0, 1, size=0) == (True, 2, 0, 1, True)
    assert Consumer("4.1.0").put(0, 1, size=0) == (True, 2, None, 1, True)


# --- results -------------------------------------------------------------------------------------------------


def test_batches_that_end_out_of_order_never_commit_past_one_that_is_under_way() -> None:
    consumer = Consumer(batch=2)
    consumer.put(0, 1, 2, 3, 4, 5)
    assert [consumer.consume(at=at)[:2] for at in (2, 1, 0)] == [((4, 5), 0), ((2, 3), 0), ((0, 1), 6)]
    assert consumer.consume() is None


def test_a_request_that_is_not_there_is_the_last_one() -> None:
    consumer = Consumer(batch=1)
    consumer.put(0, 1)
    assert consumer.consume(at=2)[0] == (1,)


@every(("ack", "sent"), [(None, ()), (7, ()), (2, ()), (1, (1002,)), (0, (1001, 1002)), (-1, (1000, 1001, 1002))])
def test_messages_after_the_acknowledged_index_are_sent_back(ack: int | None, sent: tuple[int, ...]) -> None:
    consumer = Consumer()
    consumer.put(0, 1, 2)
    *_, commit, count, _, _, _, back = consumer.consume(ack=ack, level=5)
    assert (commit, count) == (3, 0)
    assert tuple(place for _, place, *_ in back) == sent
    assert {level for _, _, _, level, *_ in back} <= {5}


def test_an_index_below_minus_1_leaves_everything_as_it_is() -> None:
    consumer = Consumer()
    consumer.put(0, 1)
    assert consumer.consume(ack=-2) == FAILED
    assert (consumer.state.memory, sorted(consumer.state.cached[0].tree), consumer.state.requests) == ({}, [0, 1], ())
    consumer.put(1)
    assert consumer.consume(LATER, ack=-2)[1] == 0


@pytest.mark.parametrize("status", [LATER, NOTHING, RAISES])
def test_failures_send_all_messages_back_for_every_index(status: str) -> None:
    consumer = Consumer(max_times=2)
    consumer.put(0, 1)
    back = consumer.consume(status, ack=7)[-1]
    assert back == (("back", 1000, "T", 0, "ID-0-0", 2), ("back", 1001, "T", 0, "ID-0-1", 2))
    assert consumer.state.memory == {0: 2}


def test_a_broadcasting_consumer_drops_failed_messages() -> None:
    consumer = Consumer(mode=BROADCASTING)
    consumer.put(0, 1)
    assert consumer.consume(LATER) == ((0, 1), 2, 0, 0, 0, False, ())


def test_a_message_that_cannot_go_back_stays_and_is_given_again_after_5_s() -> None:
    consumer = Consumer(batch=2)
    consumer.put(0, 1, size=1)
    assert consumer.consume(LATER, fault="odd") == (
        *((0, 1), 1, 1, 1, 0, True),
        (("back", 1000, "T", 0, "ID-0-0", 16),),
    )
    assert consumer.kind == "failure, some kept, first"
    assert consumer.do("tick", 4_999) == 0
    assert consumer.do("tick", 1) == 1
    assert consumer.consume(LATER, fault="copy")[-1] == (("copy", 1001, "T", 4, "ID-0-1", 16, 2),)
    assert consumer.state.memory == {0: 2}


def test_what_was_kept_is_cut_by_the_batch_size_and_older_tasks_come_first() -> None:
    consumer = Consumer()
    consumer.put(0, 1, 2)
    consumer.consume(LATER, fault="refuse")
    consumer.do("tick", 2_500)
    consumer.put(5)
    consumer.consume(LATER, fault="refuse")
    assert consumer.kind == "failure, kept, not raised"
    assert consumer.do("tick", 2_500) == 1
    assert consumer.do("tick", 2_500) == 2


def test_a_message_that_was_pulled_again_is_another_one() -> None:
    consumer = Consumer()
    consumer.put(0)
    consumer.put(0)
    consumer.consume(LATER, fault="refuse")
    assert consumer.state.cached[0].tree[0].times == 0
    assert [message.times for _, (_, kept), _ in consumer.state.later for message in kept] == [1]


@pytest.mark.parametrize(
    ("release", "queue", "origin"),
    [("5.3.3", 0, ""), ("5.4.0", 0, "ID-0-3"), ("4.0.0", 3, "ORIGIN-3"), ("5.5.0", 3, "ORIGIN-3")],
)
def test_copies_name_their_originals(release: str, queue: int, origin: str) -> None:
    consumer = Consumer(release)
    consumer.put(3, queue=queue, times=2)
    place = (queue + 1) * 1000 + 3
    assert consumer.consume(LATER, fault="copy")[-1] == (("copy", place, "T", 5, origin, 16, 3),)


def test_a_message_without_a_body_cannot_be_copied() -> None:
    consumer = Consumer()
    consumer.put(0, size=0)
    assert consumer.consume(LATER, fault="copy")[-1] == ()
    assert consumer.kind == "failure, kept, first"


# --- dropped queues ------------------------------------------------------------------------------------------


def test_a_dropped_queue_is_neither_consumed_nor_committed_and_the_new_one_knows_nothing_of_it() -> None:
    consumer = Consumer(batch=1)
    consumer.put(0, 1)
    consumer.consume()
    consumer.do("drop", 0)
    assert consumer.state.memory == {}
    assert consumer.consume() == (None, -1, 1, 1, 0, True, ())
    assert consumer.put(0) == (True, 1, 1, 0, True)


def test_a_result_that_comes_after_the_queue_was_lost_is_discarded() -> None:
    consumer = Consumer()
    consumer.do("update", 0, 30)
    consumer.put(0, 1)
    assert consumer.consume(LATER, meanwhile=LOSES) == ((0, 1), -1, 2, 2, 1, True, ())
    assert consumer.state.owned[0] == 3


def test_offsets_only_increase() -> None:
    consumer = Consumer()
    consumer.put(0, 1)
    consumer.do("update", 0, 30)
    assert consumer.consume()[1] == 30
    assert consumer.kind == "success, all went well, not raised"


# --- the timer -----------------------------------------------------------------------------------------------


def test_what_a_listener_has_for_too_long_is_sent_back_once() -> None:
    now, before = Consumer(), Consumer("5.0.0")
    for consumer in (now, before):
        consumer.put(0, 1)
    cleaned = tuple(("back", place, "T", 3, f"ID-0-{place - 1000}", 16) for place in (1000, 1001))
    again = tuple(("back", place, "T", 5, f"ID-0-{place - 1000}", 16) for place in (1000, 1001))
    assert now.consume(LATER, level=5, meanwhile=TIMES_OUT) == ((0, 1), -1, 0, 0, 0, False, cleaned)
    assert now.kind == "failure, gone before, nothing there"
    assert before.consume(LATER, level=5, meanwhile=TIMES_OUT)[-1] == tuple(sorted(cleaned + again))


def test_exactly_15_minutes_are_not_too_long() -> None:
    consumer = Consumer()
    consumer.put(0)
    assert consumer.consume(LATER, meanwhile=IN_TIME)[-1] == (("back", 1000, "T", 0, "ID-0-0", 16),)


def kept_and_old(release: str = NEWEST, millis: int = 960_000) -> Consumer:
    """A consumer that could not send three messages back, some time ago; no listener has begun with a fourth."""
    consumer = Consumer(release)
    consumer.put(0, 1, 2, 3)
    consumer.consume(LATER, fault="refuse")
    consumer.do("tick", millis)
    return consumer


def test_the_timer_stops_at_the_first_message_without_begin_time() -> None:
    consumer = kept_and_old()
    count, _, _, _, back = consumer.do("clean", 0, "answer")
    assert (count, len(back), consumer.kind) == (1, 3, "not begun")
    assert consumer.do("clean", 0, "answer")[-1] == ()
    assert consumer.state.memory == {0: 0}


@pytest.mark.parametrize(("release", "fails"), [("4.9.2", True), ("4.9.3", False), ("5.0.0-PREVIEW", True)])
def test_a_message_without_begin_time_is_an_error_of_the_timer_in_old_releases(release: str, fails: bool) -> None:
    consumer = kept_and_old(release)
    answer = consumer.do("clean", 0, "answer")
    sent = answer.commits if fails else answer[-1]
    assert [back[1] for back in sent] == [1000, 1001, 1002]
    assert (answer == having_sent(NOT_BEGUN, sent)) is fails
    assert sorted(consumer.state.cached[0].tree) == [3]


def test_the_timer_of_the_oldest_releases_leaves_the_count_too_high() -> None:
    consumer = Consumer("4.1.0")
    consumer.put(0, 1)
    consumer.consume(LATER, fault="refuse")
    consumer.do("tick", 960_000)
    assert consumer.do("clean", 0, "answer")[:4] == (2, None, 0, False)
    assert consumer.kind == "sent back, still counted"


@pytest.mark.parametrize(("release", "quirk"), [("4.1.0", True), ("4.2.0", False)])
def test_what_ends_after_the_timer_miscounted_is_an_accident_of_java_too(release: str, quirk: bool) -> None:
    consumer = Consumer(release)
    consumer.put(0, 1)
    consumer.consume(LATER, meanwhile=TIMES_OUT)
    assert bool(consumer.quirk) is quirk


def test_the_timer_copies_messages_and_keeps_those_that_cannot_be_sent_back() -> None:
    consumer = kept_and_old()
    assert consumer.do("clean", 0, "refuse") == (4, 4, 3, True, ())
    assert consumer.kind == "not sent back"
    assert consumer.do("clean", 0, "copy")[-1][0] == ("copy", 1000, "T", 4, "ID-0-0", 16, 2)


def test_the_timer_leaves_young_messages_and_empty_queues_alone() -> None:
    consumer = kept_and_old(millis=900_000)
    assert consumer.do("clean", 0, "answer")[-1] == ()
    assert consumer.kind == "too young"
    assert consumer.do("clean", 1, "answer") == (0, 0, 0, False, ())


def test_the_timer_sends_back_no_more_than_16() -> None:
    consumer = Consumer(batch=32)
    consumer.put(*range(20))
    consumer.consume(LATER, fault="refuse")
    consumer.do("tick", 960_000)
    assert len(consumer.do("clean", 0, "answer")[-1]) == 16
    assert consumer.kind == "sent back"
    assert len(consumer.do("clean", 0, "copy")[-1]) == 4
    assert consumer.kind == "sent back as a copy"


# --- laws ----------------------------------------------------------------------------------------------------

# --- an executor that refuses --------------------------------------------------------------------------------


def test_what_a_full_executor_refuses_comes_5_s_later_with_all_that_was_to_come_after_it() -> None:
    play = Consumer(batch=2)
    play.do("fill", 1)
    play.put(0, 1, 2, 3, 4)
    assert play.kind.endswith("refused")
    play.do("fill", None)
    assert play.do("tick", 2_500) == 1
    assert play.do("tick", 2_500) == 2
    assert play.kind == "refused before"
    assert [play.consume()[0], play.consume()[0]] == [(0, 1), (2, 3, 4)]


def test_what_is_refused_twice_is_given_to_nobody() -> None:
    play = Consumer()
    play.do("fill", 0)
    play.put(0, 1)
    assert play.do("tick", 5_000) == 0
    assert play.kind == "refused before and refused now"
    play.do("fill", None)
    assert play.do("tick", 900_000) == 0
    play.put(2)
    play.consume()
    assert play.do("clean", 0, "answer")[0] == 2
    assert play.state.memory == {0: 0}


def test_a_message_that_could_not_be_sent_back_may_be_refused_once_too() -> None:
    play = Consumer()
    play.put(0)
    play.consume(LATER, fault="refuse")
    play.do("fill", 0)
    assert play.do("tick", 5_000) == 0
    assert play.kind == "refused now"
    play.do("fill", 1)
    assert play.kind == "takes some"
    assert play.do("tick", 5_000) == 1


def test_what_is_put_in_order_is_never_committed_before_it_is_done_or_gone_back() -> None:
    """A naive restatement: the offset is the smallest one that was neither done nor taken back."""
    profile = Profile()
    draw, handlers = sampler(SUITE, profile), SUITE.bind(profile).by_position
    committed = 0
    for number in range(200):
        state = SUITE.bind(profile).initial
        top = dict.fromkeys(state.owned, -1)
        for at, args in draw.case(9, number, 40):
            name = SUITE.operations[at].spec.name
            if name in ("begin", "drop", "update", "remove"):
                continue
            if name == "put":
                queue, offsets, *_ = args
                offsets = tuple(offset + top[queue] + 1 for offset in sorted(set(offsets)))
                top[queue] = max(offsets)
                args = (queue, offsets, *args[2:])
            elif name == "consume":
                args = (*args[:-1], CALM)
            state, _, _ = handlers[at](state, *args)
            for queue, offset in state.memory.items():
                tree = state.cached[state.owned[queue]].tree
                assert all(offset <= left for left in tree)
                assert offset <= top[queue] + 1
                committed += 1
    assert committed > 1000


def test_the_state_is_shown() -> None:
    consumer = Consumer(batch=1)
    consumer.put(0, 1, 2)
    consumer.consume(LATER, fault="refuse")
    consumer.do("drop", 0)
    shown = SUITE.show(consumer.state)
    assert "waiting ['dropped 0/[1]', 'dropped 0/[2]']" in shown
    assert "later ['at 5000 kept 0']" in shown
    consumer.do("fill", 0)
    consumer.put(7)
    assert "at 5000 refused 7" in SUITE.show(consumer.state)
    assert SUITE.show(consumer.state).endswith("room for 0")
