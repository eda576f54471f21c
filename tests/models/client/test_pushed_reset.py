"""Resets that brokers push to a consumer."""

from __future__ import annotations

from typing import Any

import pytest
from by_hand import Steps, assert_known

from rocketmq_conformance.models.client.pushed_reset import PushedResetModel, reset_reason
from rocketmq_conformance.models.client.pushed_reset_stages import (
    COMMITS,
    CONSUMES,
    CPP,
    FORCE_UNLOCK,
    JAVA,
    LITE,
    NO_BODY,
    ORDERLY,
    PULL,
    PUSH,
    ROUND,
)
from rocketmq_conformance.models.outcome import Err
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.sampler import sampler
from rocketmq_conformance.suites.declare.topologies import GROUP, ORDINARY, OTHER_GROUP
from rocketmq_conformance.suites.pushed_reset import SUITE

#: Releases that handle resets side by side, one after the other, with half a second after the commit, and the newest.
BESIDE, SERIAL, HALF, NEW = "4.8.0", "4.9.8", "5.4.0", "5.5.0"
RELEASES = (BESIDE, SERIAL, HALF, NEW)
NOTHING: tuple[Any, ...] = ((), ())


class Play(Steps):
    """A consumer that is stepped through."""

    def __init__(self, client: str = NEW, kind: str = PUSH) -> None:
        model = PushedResetModel(Profile.of(client=client), ORDINARY)
        super().__init__(model, model.initial())
        self.do("start", kind)

    def reset(self, queue: int, offset: int, topic: str = "T", body: str = JAVA) -> Any:
        return self.do("reset_queue", queue, offset, topic, body)


def moved(millis: int, offset: int, commits: int = 1) -> tuple[Any, ...]:
    """Queue 0 begins at an offset, which was committed."""
    return ((millis, ((0, offset),)),), ((0, offset),) * commits


@pytest.mark.parametrize("client", RELEASES)
def test_a_concurrent_consumer_sleeps_for_ten_seconds_on_every_release(client: str) -> None:
    play = Play(client)
    assert play.reset(0, 8) == NOTHING
    assert play.kind == "sleeps"
    assert play.do("elapse", 9_999) == NOTHING
    assert play.do("elapse", 1) == moved(1, 8)
    assert play.rules == ("RST-WAIT", "RST-PUSH", "RST-RESUME")
    assert play.do("status", "G", "T") == ((0, 8), (1, 0))


@pytest.mark.parametrize(("client", "waits"), [(HALF, 10_000), (NEW, 0)])
def test_an_idle_orderly_consumer_sleeps_up_to_5_4(client: str, waits: int) -> None:
    play = Play(client, ORDERLY)
    at_once = play.reset(0, 8)
    assert (at_once if waits == 0 else play.do("elapse", waits)) == moved(waits, 8, 2)
    assert ("RST-TWICE" in play.rules, "RST-WAIT" in play.rules) == (True, waits > 0)


@pytest.mark.parametrize("done", [True, False])
def test_a_busy_orderly_listener_is_waited_for_and_its_result_ignored(done: bool) -> None:
    play = Play(kind=ORDERLY)
    assert play.do("take", 0, 6) is True
    assert play.reset(0, 8) == NOTHING
    assert play.kind == "waits for the listener"
    assert play.do("elapse", 9_999) == NOTHING
    if done:
        assert play.do("finish", 0) == (8, *moved(0, 8, 2))
        assert "RST-RESULT" in play.rules
    else:  # the offset is committed after ten seconds, and the lock waited for half a second more
        assert play.do("elapse", 1) == ((), ((0, 8),))
        assert play.do("elapse", 499) == NOTHING
        assert play.do("elapse", 1) == (((1, ((0, 8),)),), ())
        assert play.do("finish", 0) == (8, (), ())


@pytest.mark.parametrize(("client", "waits", "commits"), [(BESIDE, 1_000, 0), (SERIAL, 1_000, 0), (HALF, 500, 1)])
@pytest.mark.parametrize("done", [True, False])
def test_after_the_commit_a_busy_listener_is_waited_for_again(
    client: str, waits: int, commits: int, done: bool
) -> None:
    play = Play(client, ORDERLY)
    play.do("take", 0, 6)
    play.reset(0, 8)
    assert play.do("elapse", 10_000) == ((), ((0, 8),))
    assert dict(play.do("status", "G", "T")).get(0) == (8 if commits else None)
    if done:
        _, begun, sent = play.do("finish", 0)
        assert (begun, sent) == (((0, ((0, 8),)),), ((0, 8),) * commits)
    else:
        assert play.do("elapse", waits - 1) == NOTHING
        assert play.do("elapse", 1) == (((1, ((0, 8),)),), ())


def test_a_lock_that_is_older_than_20_s_is_not_waited_for() -> None:
    for age, at_once in ((FORCE_UNLOCK, False), (FORCE_UNLOCK + 1, True)):
        play = Play(HALF, ORDERLY)
        play.do("take", 0, 6)
        play.do("elapse", age - 10_000)
        play.reset(0, 8)
        begun, _ = play.do("elapse", 10_000)
        assert bool(begun) == at_once, age


def test_what_is_not_named_owned_or_of_the_topic_is_left_alone_but_paused() -> None:
    play = Play(SERIAL)
    assert play.do("reset", "G", (1, 2, 5), 3, "T", JAVA) == NOTHING
    assert [play.do("pull", queue) for queue in (0, 1, 2, 5)] == [None] * 4
    assert play.do("elapse", 10_000) == (((10_000, ((1, 3),)),), ((1, 3),))
    assert [play.do("pull", queue) for queue in (0, 1, 2)] == [0, 3, 0]


@pytest.mark.parametrize(("client", "ends"), [(BESIDE, (10_000, 14_000)), (SERIAL, (10_000, 20_000))])
def test_a_second_reset_waits_for_the_first_from_4_9(client: str, ends: tuple[int, int]) -> None:
    play = Play(client)
    play.reset(0, 8)
    play.do("elapse", 4_000)
    assert play.reset(0, 3) == NOTHING
    assert play.kind == ("beside another one" if client == BESIDE else "behind another one")
    begun, commits = play.do("elapse", 16_000)
    assert [when + 4_000 for when, _ in begun] == list(ends)
    assert sorted(commits) == [(0, 3), (0, 8)]


def test_a_request_without_body_pauses_and_one_for_cpp_does_nothing() -> None:
    play = Play()
    assert play.reset(0, 8, body=CPP) == NOTHING
    assert play.state.resets == ()
    play.reset(0, 8, body=NO_BODY)
    assert (play.kind, play.do("pull", 0)) == ("sleeps", None)
    assert play.do("elapse", 10_000) == NOTHING
    assert play.do("pull", 0) == 0


@pytest.mark.parametrize("kind", [PULL, LITE])
def test_consumers_that_pull_ignore_resets(kind: str) -> None:
    play = Play(kind=kind)
    play.do("update", 5, 7)
    assert play.reset(0, 8) == NOTHING
    assert (play.kind, play.state.resets) == (kind, ())
    assert play.do("status", "G", "") == (((5, 7),) if kind == PULL else ())


def test_other_groups_are_unknown_behind_another_reset_too() -> None:
    play = Play()
    assert play.do("reset", "H", (0,), 8, "T", JAVA) == NOTHING
    assert play.kind == "unknown group"
    play.reset(0, 8)
    play.do("reset", "H", (0,), 3, "T", JAVA)
    assert play.do("elapse", 10_000) == moved(10_000, 8)
    assert play.state.resets == ()
    assert play.do("status", "H", "T") == ()


def test_the_result_of_a_listener_is_stored_unless_its_queue_was_dropped() -> None:
    play = Play()
    assert [play.do("take", queue, 6) for queue in (0, 0, 5)] == [True, False, False]
    play.reset(0, 3)
    assert play.do("finish", 0) == (0, (), ())
    assert play.rules == ("RST-RESULT",)
    assert play.do("finish", 0) == (0, (), ())
    play.do("elapse", 10_000)
    play.do("take", 0, 10)
    assert play.do("finish", 0) == (11, (), ())
    play.do("update", 5, 7)
    assert play.do("persist") == ((0, 11), (1, 0), (2, 0), (3, 0))
    assert play.do("status", "G", "T") == ((0, 11), (1, 0))


def test_an_orderly_queue_is_pulled_when_it_is_locked_from_what_is_stored_then() -> None:
    old = Play(SERIAL.replace("4.9.8", "4.9.4"), ORDERLY)
    assert (old.do("pull", 0), old.kind) == (None, "not locked")
    assert old.do("take", 0, 6) is True
    assert old.do("finish", 0)[0] == 7
    play = Play(kind=ORDERLY)
    play.do("update", 0, 5)
    play.do("persist")
    assert [play.do("pull", 0), play.do("pull", 0)] == [5, 5]


def test_memory_keeps_what_the_broker_answered() -> None:
    play = Play("5.0.0")  # its broker does not answer 0 for a group without offsets
    assert (play.do("pull", 0), play.do("status", "G", "")) == (0, ())
    play.reset(0, 8)
    play.do("elapse", 10_000)
    assert play.do("status", "G", "") == ((0, 8),)


def test_the_first_pull_of_an_orderly_queue_leaves_memory_alone_when_the_broker_has_no_offset() -> None:
    play = Play("5.0.0", ORDERLY)
    play.do("update", 0, 5)
    assert (play.do("pull", 0), play.do("finish", 0)[0]) == (0, 5)


def test_an_empty_memory_persists_nothing() -> None:
    play = Play()
    play.state = play.state._replace(memory={})
    assert (play.do("persist"), play.kind) == ((), "nothing to send")


@pytest.mark.parametrize(
    ("client", "meanwhile", "begun", "offset", "kind"),
    [
        (NEW, ROUND, 0, 0, "owned already"),
        (NEW, COMMITS, 9, 0, "over memory"),
        (NEW, CONSUMES, 0, 0, "over memory"),
        ("5.0.0", CONSUMES, 0, 2, "owned already"),
        ("5.0.0", COMMITS, 9, 9, "owned already"),
    ],
)
def test_two_rounds_at_once_begin_a_queue_once_and_the_late_answer_goes_over_memory(
    client: str, meanwhile: str, begun: int, offset: int, kind: str
) -> None:
    play = Play(client)
    requests, commits = play.do("start_twice", 1, meanwhile)
    assert requests == ((0, 0), (1, begun), (2, 0), (3, 0))
    assert commits == (((1, 9),) if meanwhile == COMMITS else ())
    assert play.kind == kind
    assert dict(play.do("status", GROUP, "T")).get(1) == offset
    assert (1, offset) in play.do("persist")


@pytest.mark.parametrize(("client", "locked"), [("4.0.0", False), ("5.5.0", True)])
def test_tools_see_owned_queues_that_are_dropped_and_locked(client: str, locked: bool) -> None:
    play = Play(client)
    play.do("update", 0, 5)
    play.do("reset_queue", 1, 3, "T", JAVA)
    shown = play.do("running_info", GROUP)
    assert shown[:2] == ((0, 5, locked, False), (1, 0, locked, True))
    assert (len(shown), play.kind) == (4, "owned")
    assert play.do("running_info", OTHER_GROUP) == Err("CLIENT")
    play.do("elapse", 10_000)
    play.do("start", PULL)
    assert (play.do("running_info", GROUP), play.kind) == ((), "pull")
    play.do("start", LITE)
    assert (play.do("running_info", GROUP), play.kind) == ((), "no queues")


@pytest.mark.parametrize(
    ("client", "offsets", "memory"), [("5.0.0", {-1}, False), ("4.9.8", {0}, True), ("5.5.0", {0}, True)]
)
def test_tools_see_what_the_broker_has_where_memory_has_nothing(client: str, offsets: set[int], memory: bool) -> None:
    play = Play(client)
    if client == "4.9.8":
        play.state = play.state._replace(memory={})
    assert {offset for _, offset, _, _ in play.do("running_info", GROUP)} == offsets
    assert bool(play.state.memory) == memory
    assert play.kind == ("owned" if client == "5.5.0" else "owned, asks the broker")


def test_generated_cases_answer_known_reasons() -> None:
    for client in ("4.0.0", *RELEASES):
        profile = Profile.of(client=client)
        bound, draw = SUITE.bind(profile), sampler(SUITE, profile)
        for number in range(40):
            state = bound.initial
            for at, args in draw.case(2, number, 40):
                guard = SUITE.operations[at].spec.guard
                if guard is None or guard(state):
                    state, _, why = bound.by_position[at](state, *args)
                    assert_known(why)
                    assert SUITE.show(state)
    assert reset_reason(("RST-PUSH",), "once") is reset_reason(("RST-PUSH",), "once")
