"""The pull loop of a push consumer: gates, answers, corrections and late answers, rule by rule."""

from __future__ import annotations

from typing import Any

import pytest
from every import every
from hypothesis import given, settings
from hypothesis import strategies as st

from rocketmq_conformance.models import rulebook
from rocketmq_conformance.models.client.pull import PullModel
from rocketmq_conformance.models.client.pull_state import (
    LARGE,
    LARGE_BYTES,
    MAX_MESSAGES,
    MAX_MIB,
    MAX_SPAN,
    PullState,
    initial_state,
)
from rocketmq_conformance.models.outcome import Err
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.sampler import sampler
from rocketmq_conformance.suites.declare.topologies import GROUP, ORDINARY
from rocketmq_conformance.suites.pull import SUITE

RELEASES = ("4.0.0", "4.1.0", "4.5.2", "4.6.0", "4.8.0", "4.9.8", "5.0.0", "5.1.4", "5.2.0", "5.5.0")
BOUND = {release: SUITE.bind(Profile.of(client=release)) for release in RELEASES}
ASKED = (0, "asked", 0, 5, -1, 2, None, "TAG", True)


class Play:
    """A consumer that is stepped through; its first queue only, unless it is told to keep the others."""

    def __init__(self, client: str = "5.5.0", queues: int = 1) -> None:
        bound = SUITE.bind(Profile.of(client=client))
        self.handlers = dict(zip(SUITE.index, bound.by_position, strict=True))
        self.state: PullState = bound.initial
        for queue in range(queues, 3):
            self.do("lose", queue)
            self.do("pull", queues, True)
        self.kind = ""
        self.rules: tuple[str, ...] = ()

    def do(self, name: str, *args: Any) -> Any:
        self.state, result, why = self.handlers[name](self.state, *args)
        self.kind, self.rules = why.kind, why.rules
        return result

    def pull(self) -> Any:
        return self.do("pull", 0, True)

    def found(self, *messages: tuple[int, str], next_offset: int = 9) -> Any:
        """A pull, and its answer."""
        self.pull()
        return self.do("found", 0, next_offset, messages, 0)

    def nothing(self, next_offset: int, suggested: int = 0) -> Any:
        self.pull()
        return self.do("nothing", 0, "PULL_NOT_FOUND", next_offset, suggested)

    def illegal(self, next_offset: int) -> Any:
        self.pull()
        return self.do("illegal", 0, next_offset, 2, 14, 0)

    def memory(self) -> dict[int, int]:
        return dict(self.state.store.memory)

    def stored(self, queue: int) -> int | None:
        topic, _, number = ORDINARY.queues[queue]
        return self.state.store.broker.stored.get((GROUP, topic, number))


# --- before a broker is asked -------------------------------------------------------------------------------------


def test_a_new_consumer_asks_the_master_for_the_beginning_and_lets_it_wait() -> None:
    play = Play()
    assert play.pull() == ASKED
    assert play.kind == "master, no commit"
    assert play.pull() is None
    assert play.kind == "no request"


@pytest.mark.parametrize(("client", "delay"), [("4.5.2", 3_000), ("4.6.0", 1_000), ("5.0.0", 1_000)])
def test_a_consumer_that_does_not_run_tries_again_later(client: str, delay: int) -> None:
    play = Play(client)
    play.do("run", False)
    assert play.pull() == (0, "later", delay, True)
    assert play.kind == "not running"
    play.do("run", True)
    assert play.do("fire", 0) == (0, "pull", True, -1, False, ())
    assert play.pull()[1] == "asked"


def test_running_is_asked_before_pausing_and_pausing_before_the_cache() -> None:
    play = Play()
    play.found((5, ""), (6, ""), (7, ""), (8, ""))
    for name, kind, delay in (("run", "not running", 1_000), ("pause", "paused", 1_000)):
        play.do("pause", True)
        play.do("run", name != "run")
        assert play.pull() == (0, "later", delay, True)
        assert play.kind == kind
        play.do("fire", 0)
    play.do("pause", False)
    assert play.pull() == (0, "later", 50, True)
    assert play.kind == "too many"


def test_what_is_exactly_at_a_limit_is_not_over_it() -> None:
    play = Play()
    play.found(*((offset, "") for offset in range(5, 5 + MAX_MESSAGES)))
    assert play.pull()[1] == "asked"
    wide = Play()
    wide.found((1, ""), (1 + MAX_SPAN, ""))
    assert wide.pull()[1] == "asked"
    wide = Play()
    wide.found((1, ""), (2 + MAX_SPAN, ""))
    assert wide.pull() == (0, "later", 50, True)
    assert wide.kind == "too far apart"


@pytest.mark.parametrize(("client", "kind"), [("4.1.0", "master, no commit"), ("4.3.0", "too large")])
def test_the_size_of_messages_holds_pulls_up_since_4_2(client: str, kind: str) -> None:
    assert LARGE_BYTES // (1 << 20) > MAX_MIB
    play = Play(client)
    play.found((LARGE, ""))
    play.pull()
    assert play.kind == kind


def test_a_topic_without_subscription_is_not_asked_for_but_counts_as_pulled() -> None:
    play = Play()
    play.do("unsubscribe", "T")
    assert play.kind == "unsubscribed"
    play.do("unsubscribe", "T")
    assert play.kind == "not subscribed"
    assert play.pull() == (0, "later", 1_000, True)
    assert play.kind == "no subscription"


def test_a_request_ends_when_its_process_queue_was_dropped() -> None:
    play = Play()
    assert play.do("lose", 0) == (True, ())
    assert play.kind == "lost"
    assert play.do("lose", 0) == (False, ())
    assert play.pull() == (0, "dropped", False)
    assert play.pull() is None
    assert play.do("fire", 0) is None
    assert play.kind == "nothing put off"


# --- what is asked, and whom --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("offset", "flag"), [(0, 2), (1, 3)])
def test_an_offset_in_memory_goes_with_a_pull_and_is_committed_unless_it_is_0(offset: int, flag: int) -> None:
    play = Play()
    play.do("update", 0, offset)
    assert play.pull() == (0, "asked", 0, 5, offset, flag, None, "TAG", True)


def test_a_slave_is_asked_when_it_was_suggested_and_gets_no_commit() -> None:
    play = Play()
    play.do("learn", (0, 1), False)
    play.nothing(8, suggested=1)
    assert play.pull() == (0, "asked", 1, 8, 8, 2, None, "TAG", True)
    assert play.kind == "suggested slave, commit withheld from a slave"


def test_a_suggestion_outlives_the_queue_and_is_of_one_queue() -> None:
    play = Play(queues=2)
    play.do("learn", (0, 1), False)
    play.nothing(8, suggested=1)
    play.do("gain", 0, 5, True)
    assert [play.pull()[:3] for _ in range(3)] == [(1, "asked", 0), (0, "dropped", False), (0, "asked", 1)]


@pytest.mark.parametrize(("client", "node"), [("4.5.2", 0), ("4.8.0", 2), ("5.0.0", 2)])
def test_a_slave_that_is_not_known_is_replaced_by_the_next_since_4_8(client: str, node: int) -> None:
    play = Play(client)
    play.do("learn", (0, 2), False)
    play.nothing(8, suggested=1)
    assert play.pull()[2] == node
    assert play.kind == ("next slave, commit withheld from a slave" if node else "any node, commit")


def test_without_a_next_slave_any_node_is_asked() -> None:
    play = Play()
    play.nothing(8, suggested=2)
    assert play.pull()[2] == 0
    assert play.kind == "any node, commit"


def test_a_client_without_nodes_asks_for_the_route_of_the_topic() -> None:
    play = Play()
    play.do("learn", (), False)
    play.do("route", "T", -1)
    assert play.kind == "route lost"
    assert play.pull() == (0, "later", 1_000, True)
    assert play.kind == "no route"
    play.do("fire", 0)
    play.do("route", "T", 5)
    assert play.kind == "route"
    assert play.pull() == ASKED
    assert play.kind == "route learned, no commit"
    assert play.state.broker.nodes == (0,)


def test_a_node_that_cannot_be_reached_is_tried_again_later() -> None:
    play = Play()
    assert play.do("pull", 0, False) == (0, "later", 1_000, True)
    assert play.kind == "not reached"


def test_a_broker_that_is_too_old_is_not_asked_for_sql92() -> None:
    play = Play("4.9.8")
    assert play.do("select", "T", "a > 1") is None
    play.do("learn", (0,), True)
    assert play.pull() == (0, "later", 1_000, True)
    assert play.kind == "too old for SQL92"
    play.do("fire", 0)
    play.do("learn", (0,), False)
    play.do("post", True)
    assert play.pull() == (0, "asked", 0, 5, -1, 6, "a > 1", "SQL92", True)
    assert play.do("select", "T", "") == Err("CLIENT")


@pytest.mark.parametrize(
    ("client", "tag", "sql"),
    [("4.0.0", None, ""), ("4.1.0", None, "SQL92"), ("4.3.0", "TAG", "SQL92"), ("5.5.0", "TAG", "SQL92")],
)
def test_a_pull_carries_the_type_of_its_expression_since_there_are_types(
    client: str, tag: str | None, sql: str
) -> None:
    play = Play(client)
    assert play.pull()[7] == tag
    assert (SUITE.index["select"] in SUITE.offered(Profile.of(client=client))) is bool(sql)
    if sql:
        play = Play(client)
        play.do("select", "T", "a > 1")
        assert play.pull()[7] == sql


# --- subscriptions ------------------------------------------------------------------------------------------------


@every(
    ("expression", "text", "tags", "kind"),
    [
        ("*", "*", (), "everything"),
        ("", "*", (), "everything"),
        ("A", "A", ("A",), "tags"),
        (" A || B ", " A || B ", ("A", "B"), "tags"),
        ("||B", "||B", ("B",), "tags"),
        ("B||", "B||", ("B",), "tags"),
        (" || ", " || ", (), "blank parts"),
    ],
)
def test_tag_expressions(expression: str, text: str, tags: tuple[str, ...], kind: str) -> None:
    play = Play()
    assert play.do("subscribe", "T", expression) is None
    assert play.kind == kind
    play.do("post", True)
    assert play.pull()[5:7] == (6, text)
    assert play.state.subscriptions["T"].tags == set(tags)


def test_an_expression_without_parts_is_refused_and_changes_nothing() -> None:
    play = Play()
    play.do("subscribe", "T", "A")
    assert play.do("subscribe", "T", "||") == Err("CLIENT")
    assert play.state.subscriptions["T"].tags == {"A"}


# --- messages -----------------------------------------------------------------------------------------------------


def test_messages_go_to_the_listener_and_the_next_pull_asks_for_the_offset_of_the_answer() -> None:
    play = Play()
    assert play.found((5, "A"), (6, ""), next_offset=9) == (0, "pull", 0, 9, (5, 6), -1, False)
    assert play.kind == "kept"
    assert play.pull()[3] == 9


def test_only_wanted_tags_are_kept_and_a_message_without_tag_is_not_wanted() -> None:
    play = Play()
    play.do("subscribe", "T", "A||C")
    assert play.found((5, ""), (6, "A"), (7, "AB")) == (0, "pull", 0, 9, (6,), -1, False)
    assert play.kind == "some kept"


def test_a_batch_that_is_filtered_out_moves_the_pull_but_not_the_offset() -> None:
    play = Play()
    play.do("space", 250)
    play.do("subscribe", "T", "C")
    assert play.found((5, "A")) == (0, "pull", 0, 9, (), -1, False)
    assert play.kind == "none kept"
    assert play.memory() == {}


def test_an_answer_is_filtered_by_the_subscription_that_the_pull_was_made_with() -> None:
    play = Play()
    play.pull()
    play.do("subscribe", "T", "C")
    assert play.do("found", 0, 9, ((5, "A"),), 0)[4] == (5,)


def test_no_messages_at_all_are_pulled_on() -> None:
    play = Play()
    play.do("space", 250)
    assert play.found() == (0, "pull", 0, 9, (), -1, False)
    assert play.kind == "no message"


def test_the_pull_interval_is_waited_for_after_messages_only() -> None:
    play = Play()
    play.do("space", 250)
    assert play.found((5, ""))[1:3] == ("later", 250)
    play.do("fire", 0)
    assert play.nothing(8)[1:3] == ("pull", 0)


def test_offsets_below_the_one_asked_for_are_taken_and_the_next_pull_may_go_back() -> None:
    play = Play()
    assert play.found((3, ""), (4, ""), next_offset=3) == (0, "pull", 0, 3, (3, 4), -1, False)
    assert play.kind == "below the offset asked for"
    assert play.pull()[3] == 3


def test_a_message_that_is_cached_already_is_given_to_the_listener_again_and_cached_once() -> None:
    play = Play()
    play.found((5, ""), (6, ""))
    assert play.found((5, ""))[4] == (5,)
    assert play.state.requests[0].cached == (5, 6)
    assert play.do("consume", 0, True) == 7


@pytest.mark.parametrize(("everything", "held"), [(False, 7), (True, 6)])
def test_done_messages_leave_the_smallest_that_is_not_or_the_one_after_the_last_that_came(
    everything: bool, held: int
) -> None:
    play = Play()
    play.found((7, ""), (5, ""))
    assert play.do("consume", 0, everything) == held
    assert play.kind == ("all" if everything else "some")


def test_there_may_be_nothing_to_consume() -> None:
    play = Play()
    assert play.do("consume", 0, True) == -1
    assert play.kind == "nothing cached"
    assert play.do("consume", 1, True) == -1
    assert play.kind == "not owned"


# --- no messages --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("code", ["PULL_NOT_FOUND", "PULL_RETRY_IMMEDIATELY"])
def test_an_empty_answer_writes_its_offset_when_nothing_is_cached(code: str) -> None:
    play = Play()
    play.pull()
    assert play.do("nothing", 0, code, 8, 0) == (0, "pull", 0, 8, (), 8, False)
    assert play.kind == "offset written"
    assert play.nothing(3) == (0, "pull", 0, 3, (), 8, False)
    assert play.kind == "offset kept"
    assert play.pull()[3:5] == (3, 8)


def test_an_empty_answer_does_not_pass_messages_that_are_being_consumed() -> None:
    play = Play()
    play.found((5, ""))
    assert play.nothing(12) == (0, "pull", 0, 12, (), -1, False)
    assert play.kind == "messages cached"


# --- failures -----------------------------------------------------------------------------------------------------


@every(
    ("client", "controlled"),
    [("4.5.2", 3_000), ("4.9.4", 1_000), ("4.9.5", 20), ("5.0.0", 1_000), ("5.1.0", 20), ("5.5.0", 20)],
)
def test_flow_control_is_a_short_wait_in_recent_releases(client: str, controlled: int) -> None:
    play = Play(client)
    play.pull()
    assert play.do("fail", 0, "FLOW_CONTROL") == (0, "later", controlled, 5, (), -1, False)
    assert play.kind == ("flow control" if controlled == 20 else "failed")


@pytest.mark.parametrize("failure", ["SYSTEM_BUSY", "no-field", "silent", "cut"])
def test_a_failure_is_tried_again_from_the_same_offset(failure: str) -> None:
    play = Play()
    play.pull()
    assert play.do("fail", 0, failure) == (0, "later", 1_000, 5, (), -1, False)
    play.do("fire", 0)
    assert play.pull()[3] == 5


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("found", (9, (), 0)),
        ("nothing", ("PULL_NOT_FOUND", 8, 0)),
        ("illegal", (4, 2, 11, 0)),
        ("fail", ("silent",)),
    ],
)
def test_without_a_pull_under_way_no_answer_arrives(name: str, args: tuple[Any, ...]) -> None:
    play = Play()
    assert play.do(name, 0, *args) is None
    assert play.kind == "nothing under way"


# --- illegal offsets ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("client", "delay", "woken"), [("5.1.4", 10_000, False), ("5.2.0", 0, True)])
def test_an_illegal_offset_is_corrected_and_the_queue_given_up(client: str, delay: int, woken: bool) -> None:
    play = Play(client)
    assert play.illegal(4) == (0, "correct", delay, 4, (), -1, True)
    assert play.do("gain", 0, 5, False) == (False, ())
    assert play.do("fire", 0) == (0, "correct", False, -1, woken, ((0, 4), (0, 4)))
    assert play.kind == "corrected"
    assert play.stored(0) == 4
    assert play.do("gain", 0, 4, False) == (True, ())
    assert play.memory() == {}
    assert play.pull()[3] == 4


def test_between_an_illegal_offset_and_its_correction_results_do_not_count() -> None:
    play = Play()
    play.found((5, ""), (6, ""))
    play.illegal(4)
    assert play.do("consume", 0, False) == -1
    assert play.kind == "dropped"
    assert play.do("fire", 0)[4:] == (True, ((0, 4), (0, 4)))


@pytest.mark.parametrize("client", ["5.1.4", "5.2.0"])
def test_a_correction_that_comes_late_ends_the_queue_of_the_next_owner(client: str) -> None:
    play = Play(client)
    play.illegal(4)
    assert play.do("gain", 0, 8, True) == (True, ())
    assert play.do("fire", 0)[1:3] == ("correct", False)
    assert play.kind == "owned anew"
    assert play.pull() == (0, "dropped", False)


@pytest.mark.parametrize(("client", "held"), [("5.1.4", 9), ("5.2.0", 4)])
def test_a_correction_of_a_lost_queue_stays_in_memory_frozen_since_5_2(client: str, held: int) -> None:
    play = Play(client)
    play.illegal(4)
    play.do("lose", 0)
    assert play.do("fire", 0)[3:] == (4, client == "5.2.0", ((0, 4),))
    assert play.kind == "not owned"
    assert play.do("update", 0, 9) == held
    play.do("gain", 0, 5, False)
    assert play.do("update", 0, 9) == 9


def test_a_correction_without_a_broker_ends_the_queue_unsent() -> None:
    play = Play()
    play.illegal(4)
    play.do("learn", (), False)
    assert play.kind == "no node"
    play.do("route", "T", -1)
    assert play.do("fire", 0) == (0, "correct", False, -1, True, ())
    assert play.kind == "not sent"
    assert play.stored(0) is None


# --- late answers -------------------------------------------------------------------------------------------------


def test_an_offset_is_sent_and_forgotten_when_a_queue_is_lost() -> None:
    play = Play()
    play.do("update", 0, 7)
    assert play.do("lose", 0) == (True, ((0, 7),))
    assert play.kind == "lost, offset sent"
    assert play.memory() == {}
    assert play.stored(0) == 7


def test_messages_that_come_after_the_loss_still_go_to_the_listener_and_the_request_ends() -> None:
    play = Play()
    play.pull()
    play.do("lose", 0)
    assert play.do("found", 0, 9, ((5, ""),), 0) == (0, "pull", 0, 9, (5,), -1, True)
    assert play.kind == "found"
    assert play.pull() == (0, "dropped", False)


def test_an_empty_answer_that_comes_after_the_loss_still_writes_its_offset() -> None:
    play = Play()
    play.pull()
    play.do("gain", 0, 1, True)
    assert play.do("nothing", 0, "PULL_NOT_FOUND", 12, 0) == (0, "pull", 0, 12, (), 12, True)
    assert play.kind == "nothing"
    assert play.pull()[1:5] == ("asked", 0, 1, 12)


def test_an_illegal_offset_that_comes_after_the_loss_is_corrected_all_the_same() -> None:
    play = Play()
    play.pull()
    play.do("lose", 0)
    assert play.do("illegal", 0, 4, 2, 11, 0)[1] == "correct"
    assert play.kind == "illegal"
    assert play.rules == ("PULL-LATE-1",)


# --- places and laws ----------------------------------------------------------------------------------------------


def test_a_place_past_the_latest_counts_from_the_oldest_again() -> None:
    play = Play(queues=3)
    assert [play.do("pull", place, True)[0] for place in (3, 2, 1)] == [0, 1, 2]
    assert [play.do("nothing", place, "PULL_NOT_FOUND", 8, 0)[0] for place in (1, 1, 1)] == [1, 2, 0]


@settings(deadline=None)
@given(st.sampled_from(RELEASES), st.integers(0, 10_000))
def test_every_owned_queue_has_one_request_which_is_in_one_place(client: str, plan: int) -> None:
    bound = BOUND[client]
    state = bound.initial
    for at, args in sampler(SUITE, Profile.of(client=client)).case(5, plan, 60):
        state, _, why = bound.by_position[at](state, *args)
        assert set(why.rules) <= rulebook.RULES.keys()
        places = [*state.ready, *(number for number, _ in state.in_flight), *(number for number, _ in state.timers)]
        assert len(places) == len(set(places))
        for queue, number in state.table.items():
            request = state.requests[number]
            assert request.queue == queue
            assert number in places
        alive = {number for number, request in state.requests.items() if not request.dropped}
        assert alive == set(state.table.values()) - {n for n in state.table.values() if state.requests[n].dropped}


@settings(deadline=None)
@given(st.sampled_from(RELEASES), st.integers(0, 10_000))
def test_only_messages_that_were_done_and_empty_answers_and_corrections_move_an_offset(client: str, plan: int) -> None:
    bound, names = BOUND[client], list(SUITE.index)
    state: PullState = bound.initial
    for at, args in sampler(SUITE, Profile.of(client=client)).case(6, plan, 60):
        before = state.store
        state = bound.by_position[at](state, *args)[0]
        moved = {queue for queue, offset in state.store.memory.items() if before.memory.get(queue) != offset}
        assert not moved or names[at] in ("consume", "nothing", "fire", "update")
        for queue in moved & before.memory.keys():
            if names[at] in ("consume", "nothing"):
                assert state.store.memory[queue] > before.memory[queue]
            assert queue not in before.frozen or names[at] == "fire"


def test_a_beginning_consumer_owns_three_queues_that_are_ready() -> None:
    state = initial_state(ORDINARY)
    assert state.table == {0: 0, 1: 1, 2: 2}
    assert state.ready == (0, 1, 2)
    assert PullModel(Profile(), ORDINARY).failure == 1_000
    assert "owned 0: #0" in SUITE.show(state)
