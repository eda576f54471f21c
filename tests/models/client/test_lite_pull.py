"""A lite pull consumer in the hands of its application: what it answers, worked out by hand, rule by rule."""

from __future__ import annotations

from typing import Any

import pytest
from by_hand import Steps
from every import every
from hypothesis import given, settings
from hypothesis import strategies as st

from rocketmq_conformance.models import rulebook
from rocketmq_conformance.models.client.lite_pull_state import (
    ANEW,
    ENDED,
    MIB,
    NEW,
    NOTHING,
    RUNNING,
    SEEKS,
    UNSUBSCRIBES,
)
from rocketmq_conformance.models.outcome import Err
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.sampler import sampler
from rocketmq_conformance.suites.declare.topologies import GROUP, ORDINARY
from rocketmq_conformance.suites.lite_pull import SUITE

REFUSED, NOT_RUNNING = Err("CLIENT"), Err("RUNTIME")
RELEASES = ("4.6.0", "4.7.0", "4.8.0", "4.9.8", "5.0.0-PREVIEW", "5.3.1", "5.5.0")


class Play(Steps):
    """A consumer that is stepped through; it commits when a test says so."""

    def __init__(self, client: str = "5.5.0", *queues: int) -> None:
        bound = SUITE.bind(Profile.of(client=client))
        super().__init__(bound, bound.initial)
        self.do("commit_by_itself", False)
        if queues:
            self.do("assign", queues)

    def do(self, name: str, *args: Any) -> Any:
        return self._step(self.model.by_position[SUITE.index[name]], *args)

    def pull(
        self, queue: int = 0, messages: int = 2, meanwhile: str = NOTHING, fault: str = "answer", bound: str = "answer"
    ) -> Any:
        return self.do("pull", queue, messages, meanwhile, fault, bound)

    def poll(self) -> list[int]:
        """The offsets that are polled."""
        return [offset for _, offset in self.do("poll", 0)[0]]

    def polled(self, queue: int = 0, messages: int = 2) -> None:
        self.pull(queue, messages)
        self.poll()

    def seek(self, offset: int, queue: int = 0) -> Any:
        return self.do("seek", queue, offset, "answer")

    def committed(self, queue: int = 0, fault: str = "answer") -> Any:
        return self.do("committed", queue, fault)

    def numbers(self, queue: int = 0) -> tuple[int, int, int]:
        """Where it pulls, commits, and seeks."""
        held = self.state.assigned[queue]
        return held.pulls, held.consumed, held.seeks

    def stored(self, queue: int = 0) -> int | None:
        topic, _, number = ORDINARY.queues[queue]
        found: int | None = self.state.store.broker.stored.get((GROUP, topic, number))
        return found

    @property
    def memory(self) -> dict[int, int]:
        return dict(self.state.store.memory)


def new(client: str = "5.5.0") -> Play:
    """A consumer that does not run yet."""
    play = Play(client)
    play.do("restart")
    return play


# --- life --------------------------------------------------------------------------------------------------------


def test_a_consumer_that_does_not_run_refuses_what_needs_a_broker_and_commits_nothing() -> None:
    play = new()
    play.do("assign", (0,))
    for phase, kind in ((NEW, "new"), (ENDED, "ended")):
        assert play.do("poll", 0) == NOT_RUNNING
        assert play.seek(5) == NOT_RUNNING
        assert play.do("seek_to_begin", 0, "answer") == NOT_RUNNING
        assert play.committed() == NOT_RUNNING
        assert play.do("offset_for_time", 0, 0, "answer") == NOT_RUNNING
        assert play.pull() is None
        assert play.do("commit") == ()
        assert play.do("persist") == ()
        assert play.do("rebalance", (0,)) is None
        assert play.do("look") is None
        assert (play.state.phase, play.kind) == (phase, kind)
        play.do("start")
        play.do("shutdown")
    assert play.seek(5, queue=1) == REFUSED


def test_a_consumer_starts_once() -> None:
    play = new()
    assert play.do("start") is None
    assert play.do("start") == REFUSED
    assert play.kind == "started already"
    play.do("shutdown")
    assert play.do("start") == REFUSED
    assert play.kind == "ended"


def test_what_was_assigned_before_the_start_is_pulled_after_it() -> None:
    play = new()
    play.do("assign", (0,))
    play.do("start")
    assert play.kind == "starts with queues"
    assert play.pull() == 0


@every(("client", "phase"), [("4.6.0", RUNNING), ("5.3.1", RUNNING), ("5.3.2", ENDED), ("5.5.0", ENDED)])
def test_a_start_fails_while_a_topic_with_a_listener_has_no_route(client: str, phase: str) -> None:
    play = new(client)
    play.do("listen_to_topic")
    play.do("route", "U", -1)
    assert play.do("start") == REFUSED
    assert play.state.phase == phase


def test_a_shutdown_sends_memory_and_nothing_that_was_only_polled() -> None:
    play = Play("5.5.0", 0, 1)
    play.polled()
    assert play.do("commit") == ()
    play.polled()
    assert play.do("shutdown") == ((0, 2),)
    assert play.kind == "sends"
    assert play.do("shutdown") == ()
    assert play.kind == "does not run"
    play.do("restart")
    play.do("start")
    assert play.do("shutdown") == ()
    assert play.kind == "nothing held"


def test_a_process_that_ends_sends_nothing() -> None:
    play = Play("5.5.0", 0)
    play.polled()
    play.do("commit")
    play.do("restart")
    assert play.kind == "restarts, memory lost"
    assert (play.memory, play.stored()) == ({}, None)
    play.do("restart")
    assert play.kind == "restarts"


# --- queues ------------------------------------------------------------------------------------------------------


def test_a_consumer_assigns_or_subscribes() -> None:
    play = Play()
    assert play.do("assign", ()) == NOT_RUNNING
    assert play.do("subscribe", "") == REFUSED
    assert play.state.mode == ""
    assert play.do("subscribe", "T") is None
    assert play.do("assign", (0,)) == NOT_RUNNING
    assert play.do("subscribe_listening", "T") is None
    assert play.kind == "again"
    other = Play("5.5.0", 0)
    assert other.do("subscribe", "T") == REFUSED
    assert other.kind == "assigned"


def test_an_assignment_keeps_what_it_names_and_forgets_the_rest() -> None:
    play = Play("5.5.0", 0, 1)
    play.polled()
    play.pull(1)
    play.do("assign", (0,))
    assert play.kind == "forgotten"
    assert play.numbers() == (2, 2, -1)
    assert play.poll() == []
    play.do("assign", (0, 1))
    assert play.kind == "kept"
    assert play.numbers(1) == (-1, -1, -1)
    play.do("assign", (0, 1))
    assert play.kind == "assigned again"


@pytest.mark.parametrize("commits", [True, False])
def test_a_queue_that_is_assigned_again_begins_at_what_was_committed(commits: bool) -> None:
    play = Play("5.5.0", 0)
    play.polled()
    if commits:
        play.do("commit")
    play.do("assign", (1,))
    play.do("assign", (0,))
    assert play.pull() == (2 if commits else 0)


@every(("client", "following"), [("4.8.0", 4), ("4.9.0", 0), ("5.0.0-PREVIEW", 0), ("5.5.0", 0)])
def test_a_late_answer_moves_the_next_assignment_up_to_4_8(client: str, following: int) -> None:
    play = Play(client, 0)
    assert play.pull(messages=4, meanwhile=ANEW) == 0
    assert play.rules == ("LP-ASSIGN-LATE",)
    assert play.poll() == []
    assert play.pull() == following


def test_another_queue_stands_in_between_when_the_one_is_itself_the_other() -> None:
    play = Play("5.5.0", 2)
    assert play.pull(2, meanwhile=ANEW) == 0
    assert play.numbers(2) == (-1, -1, -1)


def test_a_round_gives_queues_and_takes_them_with_their_offsets() -> None:
    play = Play()
    play.do("subscribe", "T")
    assert play.do("rebalance", (0, 1)) == ((0, 1), (0, 1), None, ())
    assert play.kind == "gained"
    play.polled()
    play.do("commit")
    assert play.do("rebalance", (0, 1)) == ((0, 1), (0, 1), None, ())
    assert play.kind == "same"
    assert play.do("rebalance", (1, 5)) == ((1, 5), (1, 5), None, ((0, 2),))
    assert play.kind == "lost and gained"
    assert play.do("rebalance", (5,))[2] is None
    assert play.kind == "lost"
    assert play.pull(0) is None
    assert play.do("rebalance", (0, 5))[1] == (0, 5)
    assert play.pull(0) == 2
    assert play.pull(0, meanwhile=ANEW) == 4
    assert play.pull(0) == 6
    assigned = Play("5.5.0", 0)
    assert assigned.do("rebalance", (1,)) == ((), (0,), None, ())


def test_a_queue_without_a_start_is_pulled_and_not_owned() -> None:
    """Client 5.0.0-ALPHA alone takes the answer that there is no offset for a failure."""
    play = Play("5.0.0-ALPHA")
    play.do("subscribe", "T")
    assert play.do("rebalance", (1, 5)) == ((1,), (1, 5), None, ())
    assert play.do("rebalance", (1, 5)) == ((1,), (1, 5), None, ())
    assert play.kind == "same"
    assert play.pull(5) == -1


@every(("client", "asked"), [("4.7.0", 2), ("4.7.1", -1), ("5.0.0-PREVIEW", -1), ("5.5.0", -1)])
def test_a_listener_that_is_set_later_takes_the_place_of_what_assigns(client: str, asked: int) -> None:
    play = Play(client)
    play.do("subscribe", "T")
    play.do("rebalance", (0,))
    play.polled()
    play.do("listen")
    assert play.do("rebalance", (1,)) == ((1,), (0,), (1,), ((0, 0),))
    assert play.kind == "listener of its own"
    assert play.pull() == asked
    assert play.kind.startswith("dropped")
    assert play.poll() == []
    assert play.pull(1) is None
    play.do("commit")
    assert 0 not in play.memory
    if client == "5.5.0":
        play.do("subscribe_listening", "T")
        assert play.do("rebalance", (0, 1))[2] == (0, 1)
        assert play.kind == "listener as well"
        assert (play.pull(0), play.pull(1)) == (-1, 0)


# --- seeks -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("queue", "offset", "fault", "kind"),
    [
        (1, 5, "answer", "not assigned"),
        (0, -1, "answer", "below min"),
        (5, 3, "answer", "below min"),
        (0, 13, "answer", "beyond max"),
        (0, 5, "SYSTEM_BUSY", "no bounds"),
        (4, 0, "answer", "no bounds"),
    ],
)
def test_a_seek_out_of_range_is_refused(queue: int, offset: int, fault: str, kind: str) -> None:
    play = Play("5.5.0", 0, 4, 5)
    assert play.do("seek", queue, offset, fault) == REFUSED
    assert play.kind == kind
    assert play.numbers() == (-1, -1, -1)


def test_a_seek_clears_the_cache_and_nothing_else_until_the_next_pull() -> None:
    play = Play("5.5.0", 0, 1)
    play.polled()
    play.pull()
    play.pull(1)
    assert play.seek(12) is None
    assert play.kind == "clears"
    assert play.numbers() == (4, 2, 12)
    play.do("commit")
    assert play.kind == "into memory, seek waits"
    assert play.committed() == 2
    play.seek(9)
    assert play.kind == "again"
    assert play.pull(messages=0) == 9
    assert play.kind == "takes the seek"
    assert play.numbers() == (9, 9, -1)
    play.do("commit")
    assert play.committed() == 9
    assert play.poll() == [0, 1]
    play.seek(0)
    assert play.kind == "nothing cached"


@every("client", RELEASES)
def test_a_seek_whose_pull_fails_is_forgotten(client: str) -> None:
    play = Play(client, 0)
    play.do("commit_elsewhere", 0, 3)
    play.polled()
    play.seek(10)
    assert play.do("fail", 0, "silent", "answer", "answer") == 10
    assert play.kind == "seek lost"
    assert play.pull() == 5
    play.do("fail", 0, "silent", "answer", "answer")
    assert play.kind == "fails"
    assert play.numbers() == (7, 10, -1)


def test_the_answer_to_a_pull_that_was_under_way_at_a_seek_is_thrown_away() -> None:
    play = Play("5.5.0", 0)
    assert play.pull(meanwhile=SEEKS) == 0
    assert (play.poll(), play.pull()) == ([], 6)
    assert play.pull(meanwhile=SEEKS, bound="SYSTEM_BUSY") == 8
    assert play.poll() == [6, 7]


@pytest.mark.parametrize(("end", "queue", "offset"), [("begin", 0, 0), ("begin", 5, 4), ("end", 5, 12)])
def test_the_ends_are_min_and_max(end: str, queue: int, offset: int) -> None:
    play = Play("5.5.0", queue)
    assert play.do(f"seek_to_{end}", queue, "answer") is None
    assert play.kind == f"to {end}"
    assert play.numbers(queue) == (-1, -1, offset)
    assert play.do(f"seek_to_{end}", queue, "silent") == REFUSED
    assert play.do(f"seek_to_{end}", 1, "answer") == REFUSED
    assert play.kind == "not assigned"


# --- pulls and polls ---------------------------------------------------------------------------------------------


def test_a_pause_holds_back_pulls_and_seeks_and_no_polls() -> None:
    play = Play("5.5.0", 0)
    play.pull()
    play.do("pause", (0, 1))
    assert play.pull() == -1
    assert play.kind == "paused"
    assert play.poll() == [0, 1]
    assert play.kind == "polled, paused"
    play.seek(7)
    assert play.pull() == -1
    assert play.kind == "paused, seek waits"
    play.do("resume", (0,))
    assert play.pull() == 7
    play.do("pause", (1,))
    assert play.kind == "not assigned"
    play.do("pause", (0,))
    play.do("assign", (1,))
    play.do("assign", (0,))
    assert play.pull() == 0


def test_a_queue_is_pulled_as_long_as_no_more_than_the_threshold_are_cached() -> None:
    play = Play("5.5.0", 0)
    play.pull(messages=4)
    play.pull(messages=1)
    assert play.pull(messages=1) == 5
    assert play.pull() == -1
    assert play.kind == "too many cached"


def test_a_first_pull_asks_for_the_start() -> None:
    play = Play("5.5.0", 0, 4, 5)
    assert play.pull(5) == 12
    assert play.kind == "first pull"
    assert play.pull(4) == -1
    assert play.kind == "no start, not reported"
    assert play.pull(0, fault="SYSTEM_BUSY") == -1
    assert play.do("illegal", 0, 4, "SYSTEM_BUSY", "answer") == -1
    assert play.do("fail", 0, "silent", "SYSTEM_BUSY", "answer") == -1
    first = Play("4.6.0", 0, 5)
    assert (first.pull(0), first.pull(5)) == (0, -1)
    assert first.rules == ("LITE-PULL-0",)


def test_an_illegal_offset_is_corrected_for_pulls_alone() -> None:
    play = Play("5.5.0", 0)
    play.polled()
    assert play.do("illegal", 0, 0, "answer", "answer") == 2
    assert play.numbers() == (0, 2, -1)
    assert play.pull(1) is None
    assert play.do("illegal", 1, 0, "answer", "answer") is None
    assert play.do("fail", 1, "silent", "answer", "answer") is None


def test_polls_hand_out_a_pull_each_oldest_first() -> None:
    play = Play("5.5.0", 0, 1)
    assert play.poll() == []
    assert play.do("poll", -1) == NOT_RUNNING
    play.pull(1, 1)
    play.pull(0, 4)
    assert play.do("poll", 0) == (((1, 0),), ())
    assert play.kind == "polled, others wait"
    assert play.poll() == [0, 1, 2, 3]
    assert play.kind == "polled"


def test_messages_that_were_pulled_twice_leave_nothing_to_commit() -> None:
    play = Play("5.5.0", 0)
    play.pull()
    play.do("illegal", 0, 0, "answer", "answer")
    play.pull()
    play.poll()
    assert play.numbers()[1] == 2
    assert play.poll() == [0, 1]
    assert (play.kind, play.numbers()[1]) == ("polled again", -1)


def test_what_waits_behind_a_poll_is_what_a_commit_writes() -> None:
    play = Play("5.5.0", 0)
    play.pull()
    play.pull()
    play.poll()
    assert play.numbers()[1] == 2


def test_a_commit_by_itself_comes_with_a_later_poll() -> None:
    play = Play("5.5.0", 0)
    play.do("commit_by_itself", True)
    play.pull()
    assert play.poll() == [0, 1]
    assert (play.kind, play.memory[0]) == ("polled, committed", 0)
    play.do("elapse", 4_000)
    play.pull()
    play.poll()
    assert play.kind == "polled, not yet"
    assert play.poll() == []
    assert (play.kind, play.memory[0]) == ("not yet", 0)
    play.do("elapse", 1_000)
    play.poll()
    assert (play.kind, play.memory[0]) == ("committed", 4)


def test_a_commit_by_itself_is_sent_at_once_in_4_6_0() -> None:
    play = Play("4.6.0", 0)
    play.do("commit_by_itself", True)
    play.polled()
    play.do("elapse", 5_000)
    assert play.do("poll", 0) == ((), ((0, 2),))
    play.polled()
    play.pull()
    play.do("elapse", 5_000)
    assert play.do("poll", 0) == (((0, 4), (0, 5)), ((0, 4),))
    assert play.kind == "sent at once"


# --- offsets -----------------------------------------------------------------------------------------------------


def test_a_commit_writes_memory_and_the_timer_sends_it() -> None:
    play = Play("5.5.0", 0, 1)
    assert play.do("commit") == ()
    assert play.kind == "nothing consumed"
    play.polled()
    play.do("commit")
    assert (play.committed(), play.stored()) == (2, None)
    assert play.do("persist") == ((0, 2),)
    play.do("assign", (1,))
    assert play.do("persist") == ()
    assert (play.kind, play.memory) == ("others forgotten", {})
    assert play.do("persist") == ()
    assert play.kind == "nothing held"


def test_a_commit_of_4_6_0_sends_and_its_timer_does_not() -> None:
    play = Play("4.6.0", 0)
    play.polled()
    assert play.do("commit") == ((0, 2, "awaited"),)
    assert play.do("commit") == ()
    assert play.kind == "known already"
    assert play.do("persist") == ()


def test_given_offsets_are_written_whatever_was_polled() -> None:
    play = Play("5.5.0", 0, 1)
    play.polled()
    assert play.do("commit_offsets", ((0, 7), (1, -1), (5, 9)), False) == ()
    assert play.committed() == 7
    assert play.pull() == 2
    play.poll()
    play.do("commit")
    assert play.memory[0] == 4
    assert play.do("commit_offsets", ((5, 9),), False) == ()
    assert play.kind == "passed over"
    assert play.do("commit_offsets", (), True) == ()
    assert play.kind == "nothing"


def test_a_commit_that_persists_forgets_the_other_queues() -> None:
    play = Play("5.5.0", 0, 1)
    play.polled(0)
    play.polled(1)
    play.do("commit_queues", (0,), False)
    assert (play.kind, play.memory[0], play.memory[1]) == ("into memory", 2, 0)
    play.do("commit")
    assert play.do("commit_offsets", ((0, 7),), True) == ((0, 7),)
    assert (play.kind, play.memory) == ("sent, others lost", {0: 7})
    assert play.do("commit_queues", (0,), True) == ((0, 2),)
    assert play.kind == "sent"
    assert play.stored(1) is None
    play.do("assign", (2,))
    assert play.do("commit_queues", (2,), False) == ()
    assert play.kind == "nothing consumed"
    play.do("persist")
    assert play.do("commit_queues", (2,), True) == ()
    assert play.kind == "none held"
    assert play.do("commit_queues", (), False) == ()
    assert play.kind == "nothing"


def test_a_consumer_that_never_ran_has_nowhere_to_persist() -> None:
    play = new()
    play.do("assign", (0,))
    assert play.do("commit_offsets", ((0, 7),), False) == NOT_RUNNING
    assert play.do("commit_queues", (0,), True) == NOT_RUNNING
    assert play.do("commit_queues", (0,), False) == ()
    play.do("start")
    play.polled()
    play.do("shutdown")
    assert play.do("commit_queues", (0,), False) == NOT_RUNNING
    assert play.do("commit_offsets", ((1, 7),), True) == ()
    assert play.kind == "ended"


def test_what_is_committed_is_in_memory_then_at_the_broker() -> None:
    play = Play()
    assert play.committed(5) == -1
    assert play.kind == "none"
    assert play.committed(fault="SYSTEM_BUSY") == REFUSED
    play.do("commit_elsewhere", 0, 9)
    assert play.committed() == 9
    assert play.kind == "broker"
    play.do("commit_elsewhere", 0, 2)
    assert play.committed() == 9
    assert play.kind == "memory"


@every("client", ["4.6.1", "4.7.0"])
def test_asking_for_what_is_committed_loses_a_commit_up_to_4_7_0(client: str) -> None:
    play = Play(client, 0)
    play.polled(messages=4)
    play.do("commit")
    play.do("commit_elsewhere", 0, 1)
    assert play.committed() == 1
    assert (play.kind, play.memory[0]) == ("over memory", 1)
    assert play.committed(1) == 0
    assert play.kind == "broker"
    assert play.committed(5) == -1
    assert play.committed(4) == REFUSED


def test_a_time_is_searched_for() -> None:
    play = Play()
    assert play.do("offset_for_time", 5, 0, "answer") == 4
    assert play.do("offset_for_time", 5, 0, "SYSTEM_BUSY") == REFUSED
    assert play.do("offset_for_time", 4, 0, "answer") == REFUSED


@every(
    ("client", "queues"),
    [("4.9.8", ()), ("5.1.0", ()), ("5.1.1", ((0, 2, 2, 3, 2, 0, False), (5, -1, 0, 0, 0, 0, False)))],
)
def test_tools_see_the_assigned_queues_from_5_1_1_on(client: str, queues: Any) -> None:
    play = Play(client)
    assert play.do("running_info", "answer") == ((), ())
    assert play.kind == "no queues"
    play.do("assign", (0, 5))
    play.polled()
    play.do("commit")
    play.pull()
    assert play.do("running_info", "answer") == ((), queues)
    play.do("shutdown")
    assert play.do("running_info", "answer") == REFUSED


def test_what_a_tool_asks_for_goes_to_memory_and_is_sent() -> None:
    play = Play()
    play.do("subscribe", "T")
    play.do("rebalance", (0,))
    play.do("commit_elsewhere", 0, 9)
    play.do("limit", "size", 1)
    play.do("pull_large", 0, MIB, "answer", "answer")
    assert play.do("running_info", "answer")[1] == ((0, 0, 0, 0, 1, 1, False),)
    assert play.kind == "assigned"
    other = Play("5.5.0", 0)
    other.do("commit_elsewhere", 0, 9)
    assert other.do("running_info", "silent")[1][0][1] == -2
    assert other.do("running_info", "answer")[1][0][1] == 9
    assert other.kind == "assigned, asks the broker"
    other.do("commit_elsewhere", 0, 12)
    assert other.do("persist") == ((0, 9),)


# --- the topic's listener ----------------------------------------------------------------------------------------


def test_a_listener_of_a_topic_hears_of_other_queues_than_it_knew() -> None:
    play = Play()
    assert play.do("look") is None
    assert play.kind == "no listener"
    assert play.do("listen_to_topic") is None
    assert play.do("look") is None
    assert play.kind == "same"
    play.do("route", "U", 1)
    assert play.do("look") == (2,)
    play.do("route", "U", -1)
    assert play.do("look") is None
    assert play.kind == "no route"
    play.do("route", "U", 2)
    assert play.do("look") == (2, 8)


def test_a_listener_that_was_registered_without_a_route_hears_by_the_first_look() -> None:
    play = Play()
    play.do("route", "U", -1)
    assert play.do("listen_to_topic") == REFUSED
    play.do("route", "U", 2)
    assert play.do("look") == (2, 8)
    later = new()
    assert later.do("listen_to_topic") is None
    later.do("start")
    assert later.do("look") is None


# --- given up, and taken back ------------------------------------------------------------------------------------


def test_what_is_cached_of_a_topic_that_is_given_up_is_polled_all_the_same() -> None:
    play = Play("5.5.0", 0, 2)
    play.pull()
    assert play.do("unsubscribe") is None
    assert (play.kind, play.state.assigned.keys()) == ("gives up, cached", {2})
    assert play.pull() is None
    assert play.poll() == [0, 1]
    assert play.kind == "polled, given up"
    assert play.do("commit") == ()
    assert play.do("unsubscribe") is None
    assert play.kind == "not pulled"
    play.do("assign", (0,))
    play.pull()
    play.do("unsubscribe")
    play.do("assign", (0,))
    assert play.poll() == [0, 1]
    assert play.numbers() == (-1, 2, -1)  # of the messages of the process queue before
    play.do("unsubscribe")
    assert play.kind == "gives up"


def test_a_round_drops_a_topic_that_was_given_up_and_sends_nothing() -> None:
    play = Play()
    play.do("subscribe", "T")
    play.do("rebalance", (0,))
    play.polled()
    play.do("commit")
    play.pull()
    play.do("unsubscribe")
    assert play.do("rebalance", (0,)) == ((), (), None, ())
    assert play.kind == "given up"
    assert play.poll() == []
    assert play.do("persist") == ()
    assert (play.memory[0], play.stored()) == (2, None)
    assert play.do("rebalance", (0,)) == ((), (), None, ())
    assert play.kind == "nothing to give up"


def test_a_topic_that_is_given_up_and_taken_back_is_not_pulled() -> None:
    play = Play()
    play.do("subscribe", "T")
    play.do("rebalance", (0,))
    play.do("unsubscribe")
    play.do("subscribe", "T")
    assert play.do("rebalance", (0,)) == ((0,), (), None, ())
    assert play.kind == "same, not pulled"
    assert play.do("rebalance", (0, 1)) == ((0, 1), (0, 1), None, ())


@every(("client", "polled"), [("4.8.0", [0, 1]), ("4.9.0", []), ("5.5.0", [])])
def test_a_pull_that_was_under_way_at_an_unsubscription(client: str, polled: list[int]) -> None:
    play = Play(client, 0)
    assert play.pull(meanwhile=UNSUBSCRIBES) == 0
    assert play.rules == ("LP-UNSUB-LATE",)
    assert play.poll() == polled
    other = Play(client, 2)
    other.pull(2, meanwhile=UNSUBSCRIBES)
    assert other.poll() == [0, 1]


# --- expressions -------------------------------------------------------------------------------------------------


def test_an_expression_is_set_before_the_start_of_a_consumer_that_assigns() -> None:
    play = Play()
    assert play.do("set_expression", "A") == NOT_RUNNING
    assert play.kind == "started"
    play.do("restart")
    assert play.do("set_expression", " ") == NOT_RUNNING
    assert play.kind == "blank"
    assert play.do("set_expression", "A") is None
    assert play.do("subscribe", "T") == REFUSED
    play.do("restart")
    play.do("subscribe", "T")
    assert play.do("set_expression", "A") == NOT_RUNNING
    assert play.kind == "subscribed"


@pytest.mark.parametrize(
    ("expression", "polled", "consumed", "kind"),
    [("", [0, 1, 2], 3, "all tags"), ("A || B", [0, 1], 2, "some tags"), ("D", [], -1, "no tag")],
)
def test_messages_that_are_left_out_are_not_committed(
    expression: str, polled: list[int], consumed: int, kind: str
) -> None:
    play = new()
    if expression:
        play.do("set_expression", expression)
    play.do("start")
    play.do("assign", (0,))
    assert play.do("pull_tagged", 0, "answer", "answer") == (0, expression or "*")
    assert play.kind == kind
    assert play.poll() == polled
    assert play.numbers() == (3, consumed, -1)
    play.pull()  # without a tag
    assert play.poll() == ([] if expression else [3, 4])
    assert play.do("pull_tagged", 1, "answer", "answer") is None
    play.do("pause", (0,))
    assert play.do("pull_tagged", 0, "answer", "answer") == (-1, None)


# --- thresholds, and how long a task waits -----------------------------------------------------------------------


def test_the_threshold_for_all_counts_answers_of_dropped_queues_too() -> None:
    play = Play("5.5.0", 0, 1)
    play.do("limit", "every", 20)
    play.pull(0, 1)
    play.pull(1, 1)
    assert play.pull(0, 1) == 1
    assert play.pull(0, 1) == -1
    assert play.kind == "too many answers"
    play.do("assign", (0,))
    assert play.pull(0, 1) == -1
    assert play.poll() == [0]
    assert play.pull(0, 1) == 2
    play.do("assign", (2,))
    for _ in range(2):  # each poll throws one of those away that were dropped
        assert play.pull(2) == -1
        assert play.poll() == []
        play.do("limit", "every", 10)
    assert play.pull(2) == 0


def test_the_threshold_of_size_is_one_of_whole_mebibytes() -> None:
    play = Play("5.5.0", 0)
    play.do("limit", "size", 0)
    assert play.do("pull_large", 0, MIB - 1, "answer", "answer") == 0
    assert play.pull(0, 1) == 1
    assert play.pull(0, 1) == -1
    assert play.kind == "too large"
    assert play.poll() == [0]
    assert play.pull(0, 1) == 2
    assert play.do("pull_large", 1, MIB, "answer", "answer") is None
    play.do("limit", "size", -1)
    assert play.pull() == -1


def test_offsets_may_be_so_far_apart() -> None:
    play = Play("5.5.0", 0)
    play.do("limit", "span", 5)
    play.do("pull", 0, 1, NOTHING, "answer", "answer")
    play.do("illegal", 0, 5, "answer", "answer")
    assert play.pull(0, 1) == 5
    assert play.pull(0, 1) == 6
    assert play.pull() == -1
    assert play.kind == "too far apart"


def waits(play: Play, queue: int = 0) -> Any:
    return play.do("waits", queue)


def test_how_long_a_task_waits() -> None:
    play = Play("5.5.0", 0, 4)
    assert (waits(play), waits(play, 1)) == (0, None)
    play.pull(messages=4)
    play.pull(messages=4)
    play.pull()
    assert (waits(play), play.kind) == (50, "full")
    play.do("pause", (0,))
    play.pull()
    play.do("resume", (0,))
    assert (waits(play), play.kind) == (1_000, "failed")
    play.seek(5)
    assert (waits(play), play.kind) == (0, "seek at once")
    play.do("fail", 0, "FLOW_CONTROL", "answer", "answer")
    assert (waits(play), play.kind) == (20, "flow control")
    play.do("shutdown")
    assert waits(play) is None


@every(("client", "ms"), [("4.9.0", 1_000), ("4.9.1", 3_000), ("5.0.0-PREVIEW", 1_000), ("5.5.0", 3_000)])
def test_a_start_that_cannot_be_found_is_looked_for_again(client: str, ms: int) -> None:
    play = Play(client, 5)
    assert play.pull(5, bound="silent") == -1
    assert waits(play, 5) == ms
    assert play.pull(5, fault="silent") == -1
    assert waits(play, 5) == 1_000


@every(
    ("client", "seek", "busy"), [("4.9.1", 1_000, 1_000), ("4.9.2", 0, 1_000), ("4.9.5", 0, 20), ("5.0.0", 0, 1_000)]
)
def test_seeks_and_busy_brokers_by_release(client: str, seek: int, busy: int) -> None:
    play = Play(client, 0)
    play.do("fail", 0, "FLOW_CONTROL", "answer", "answer")
    assert waits(play) == busy
    play.do("fail", 0, "silent", "answer", "answer")
    play.seek(5)
    assert waits(play) == seek
    assert play.kind == ("seek waits" if seek else "seek at once")
    assert play.pull(meanwhile=SEEKS) == 5
    assert waits(play) == 0


def test_a_dropped_queue_has_no_further_turn() -> None:
    play = Play()
    play.do("subscribe", "T")
    play.do("rebalance", (0,))
    play.do("listen")
    play.do("rebalance", (1,))
    play.pull()
    assert (waits(play), play.kind) == (-1, "no further turn")


# --- null --------------------------------------------------------------------------------------------------------


@every(("client", "committed"), [("4.6.0", -1), ("4.9.8", -1), ("5.0.0-ALPHA", -3), ("5.5.0", -3)])
def test_null_is_refused_but_by_commits(client: str, committed: int) -> None:
    play = Play(client, 0)
    for call in ("assign", "unsubscribe", "pause", "resume", "seek", "offset for time"):
        assert play.do("give_null", call) == NOT_RUNNING
    for call in ("subscribe", "topic of a listener"):
        assert play.do("give_null", call) == REFUSED
    assert play.do("give_null", "commit") is None
    assert play.do("give_null", "committed") == committed
    play.do("shutdown")
    assert play.do("give_null", "committed") == NOT_RUNNING


def test_a_null_listener_takes_the_place_of_what_assigns() -> None:
    play = Play()
    play.do("subscribe", "T")
    assert play.do("give_null", "listener") is None
    assert play.do("rebalance", (0,)) == ((0,), (), None, ())
    assert play.kind == "no listener"
    assert play.do("give_null", "a queue to assign") == NOT_RUNNING
    assert play.kind == "refused"


def test_an_assignment_with_a_null_has_forgotten_the_other_queues() -> None:
    play = Play("5.5.0", 0, 2)
    play.pull()
    assert play.do("give_null", "a queue to assign") == NOT_RUNNING
    assert (play.kind, play.state.assigned) == ("forgotten", {})
    assert (waits(play), play.pull(), waits(play)) == (0, -1, 1_000)
    assert play.kind == "failed"
    play.do("unsubscribe")
    assert (waits(play), waits(play, 2)) == (None, 0)
    play.pull(2)
    play.do("assign", (2,))
    assert (play.poll(), waits(play, 2), play.pull(2)) == ([], 1_000, 0)
    early = new()
    assert early.do("give_null", "a queue to assign") == NOT_RUNNING
    assert (early.kind, early.do("subscribe", "T")) == ("nothing to forget", REFUSED)


# --- laws --------------------------------------------------------------------------------------------------------


@settings(deadline=None)
@given(st.sampled_from(RELEASES), st.integers(0, 10_000))
def test_what_waits_to_be_polled_is_cached_and_no_two_queues_share_a_process_queue(client: str, plan: int) -> None:
    profile = Profile.of(client=client)
    bound = SUITE.bind(profile)
    state = bound.initial
    for at, args in sampler(SUITE, profile).case(5, plan, 60):
        state, _, why = bound.by_position[at](state, *args)
        assert set(why.rules) <= rulebook.RULES.keys()
        numbers = [held.number for held in state.assigned.values()]
        assert len({*numbers}) == len(numbers)
        pulled = {number for _, number, _ in state.pulled}
        assert pulled - state.dropped <= state.caches.keys()
        assert state.dropped <= {*numbers} | pulled
        assert not state.left.keys() & state.assigned.keys()
        assert "running" in SUITE.show(state) or state.phase != RUNNING
