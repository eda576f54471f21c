"""What a client does by itself, and when."""

from __future__ import annotations

from typing import Any, cast

import pytest
from by_hand import Steps, assert_known
from hypothesis import given, settings
from hypothesis import strategies as st

from rocketmq_conformance.models.client.timers import TimersModel, TimersState, occurrences, timer_reason
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.sampler import sampler
from rocketmq_conformance.suites.declare.topologies import ORDINARY
from rocketmq_conformance.suites.timers import SUITE

#: Releases before and after lite pull consumers look for their start, files are merged, and locks are sent twice; one
#: that asks for no zero; the newest.
RELEASES = ("4.0.0", "4.6.0", "4.9.8", "5.0.0", "5.5.0")
NOW = "5.5.0"
#: (ms, what, of what) in an answer of elapse.
Events = tuple[tuple[int, str, Any], ...]


class Play(Steps):
    """A process that is stepped through."""

    def __init__(self, client: str = NOW) -> None:
        super().__init__(TimersModel(Profile.of(client=client), ORDINARY), TimersState())

    def at(self, what: str, elapses: int) -> list[int]:
        """When something happened in this time."""
        return [when for when, happened, _ in self.do("elapse", elapses) if happened == what]

    def events(self, what: str, elapses: int) -> list[Any]:
        """The details of it."""
        return [of for _, happened, of in self.do("elapse", elapses) if happened == what]

    def running(self, kind: str = "push", mode: str = "CLUSTERING", consumer: int = 0) -> Play:
        """The same, with a consumer that owns its queue."""
        self.do("start", consumer, kind, mode)
        self.do("rebalance")
        return self


def test_offsets_are_persisted_after_10_s_and_then_every_5() -> None:
    play = Play().running()
    play.do("update", 0, 7)
    assert play.at("commit", 9_999) == []
    assert play.at("commit", 1) == [1]
    assert play.rules == ("TIMER-PERSIST",)
    assert play.at("commit", 12_000) == [5_000, 10_000]
    assert play.events("commit", 3_000) == [("G", 7, True)]


def test_between_two_times_nothing_happens() -> None:
    play = Play().running()
    play.do("elapse", 1_000)
    assert play.do("elapse", 1) == ()
    assert play.kind == "nothing is due"


def test_a_heartbeat_comes_after_1_s_and_then_every_30() -> None:
    play = Play().running("pull")
    assert play.at("heartbeat", 61_000) == [1_000, 31_000, 61_000]


def test_routes_are_asked_for_after_10_ms_and_then_every_30_s_once_a_topic() -> None:
    play = Play().running().running(consumer=1)
    routes = [(when, of) for when, what, of in play.do("elapse", 30_010) if what == "route"]
    assert routes == [(when, ("%RETRY%G", "%RETRY%G-pull", "T")) for when in (10, 30_010)]


@pytest.mark.parametrize(("client", "times"), [("4.9.8", 1), ("5.0.0-PREVIEW", 2), (NOW, 2)])
def test_an_orderly_consumer_locks_its_queues_again_every_20_s(client: str, times: int) -> None:
    play = Play(client).running("orderly")
    assert play.at("lock", 22_000) == sorted([1_000, 21_000] * times)


@pytest.mark.parametrize(("kind", "mode"), [("push", "CLUSTERING"), ("orderly", "BROADCASTING")])
def test_others_lock_nothing(kind: str, mode: str) -> None:
    assert Play().running(kind, mode).at("lock", 60_000) == []


def test_an_orderly_consumer_without_queues_locks_nothing() -> None:
    play = Play()
    play.do("start", 0, "orderly", "CLUSTERING")
    assert play.at("lock", 60_000) == []


def test_a_consumer_that_joins_finds_timers_that_run_at_the_first_ones_intervals() -> None:
    play = Play()
    play.do("configure", 7_000, 3_000, 4_000)
    play.running()
    play.do("elapse", 9_000)
    play.do("configure", 1_000, 30_000, 30_000)
    assert play.kind == "configured beside a client"
    assert play.do("start", 1, "push", "CLUSTERING")[1] == ("heartbeat", ("G", "G-pull"))
    play.do("rebalance")
    play.do("update", 1, 8)
    happened = play.do("elapse", 8_000)
    assert [when for when, what, of in happened if what == "commit" and of[0] == "G-pull"] == [1_000, 8_000]
    assert [when for when, what, _ in happened if what == "heartbeat"] == [1_000, 4_000, 7_000]
    assert "TIMER-SHARED" in play.rules


def test_starts_ask_for_routes_and_send_a_heartbeat_by_kind() -> None:
    routes = ("route", ("%RETRY%G", "T"))
    assert Play().do("start", 0, "push", "CLUSTERING") == (routes, ("heartbeat", ("G",)))
    assert Play().do("start", 0, "orderly", "BROADCASTING") == (("route", ("T",)), ("heartbeat", ("G",)))
    assert Play().do("start_lite", 0, "CLUSTERING") == (("route", ("T",)),)
    assert Play().do("start", 0, "pull", "CLUSTERING") == ()


def test_a_pull_consumer_takes_queues_once_its_client_asked_for_the_route() -> None:
    play = Play().running("pull")
    assert play.kind == "waits for its route"
    assert play.do("update", 0, 7) is False
    play.do("elapse", 10)
    play.do("rebalance")
    assert play.do("update", 0, 7) is True
    other = Play().running("pull")
    other.do("start", 1, "push", "CLUSTERING")
    other.do("rebalance")
    assert other.do("update", 0, 7) is True


def test_a_pull_consumer_that_joins_waits_for_the_next_route() -> None:
    play = Play().running()
    play.do("elapse", 10)
    play.running("pull", consumer=1)
    assert play.do("update", 1, 7) is False
    other = Play()
    other.do("start", 0, "push", "CLUSTERING")
    other.running("pull", consumer=1)
    assert other.kind == "takes queues"
    other.do("elapse", 30_010)
    other.do("rebalance")
    assert other.do("update", 1, 7) is True


def test_a_consumer_that_runs_is_not_started_again() -> None:
    play = Play().running()
    assert play.do("start", 0, "pull", "CLUSTERING") == ()
    assert play.kind == "runs already"
    play.do("rebalance")
    assert play.kind == "nothing to take"


def test_a_shutdown_unlocks_then_persists_then_unregisters() -> None:
    play = Play().running("orderly")
    play.do("update", 0, 9)
    assert play.do("shutdown", 0) == (("unlock", ("G", False)), ("commit", ("G", 9, True)), ("unregister", ("G",)))
    assert play.kind == "the last"
    assert play.do("shutdown", 0) == ()
    assert play.do("elapse", 60_000) == ()
    assert play.kind == "no client"


def test_a_client_that_knows_no_broker_does_not_unregister() -> None:
    assert Play().running("pull").do("shutdown", 0) == ()


def test_the_timers_go_on_with_the_other_consumer() -> None:
    play = Play().running().running(consumer=1)
    play.do("shutdown", 0)
    assert play.kind == "another runs"
    assert play.events("heartbeat", 1_000) == [("G-pull",)]


@pytest.mark.parametrize(("client", "kept"), [("4.9.8", 0), ("5.0.0", None), ("5.5.0", 0)])
def test_what_a_start_reads_is_persisted(client: str, kept: int | None) -> None:
    offsets = Play(client).running().events("commit", 10_000)
    assert offsets == ([] if kept is None else [("G", kept, True)])
    play = Play(client).running()
    play.do("update", 0, 9)
    play.do("shutdown", 0)
    assert play.running().events("commit", 10_000) == [("G", 9, True)]


def test_a_pull_consumer_keeps_nothing_of_what_is_stored() -> None:
    play = Play()
    play.do("start", 0, "pull", "CLUSTERING")
    play.do("elapse", 10)
    play.do("rebalance")
    assert play.at("commit", 20_000) == []


@pytest.mark.parametrize(("client", "file"), [("4.0.0", 7), ("5.5.0", 7)])
def test_a_broadcasting_consumer_writes_its_file_with_or_without_an_offset(client: str, file: int) -> None:
    play = Play(client).running("push", "BROADCASTING")
    assert play.events("file", 10_000) == [("G", -1)]
    play.do("update", 0, 7)
    play.do("shutdown", 0)
    play.do("start", 0, "pull", "BROADCASTING")
    play.do("elapse", 10)
    play.do("rebalance")
    assert play.events("file", 10_000) == [("G", file)]


@given(st.integers(0, 50), st.integers(1, 20), st.integers(0, 100), st.integers(0, 60))
def test_a_timer_comes_at_its_first_time_and_every_period_after_it(first: int, every: int, now: int, more: int) -> None:
    naive = [when for when in range(now + 1, now + more + 1) if when >= first and (when - first) % every == 0]
    assert list(occurrences(first, every, now, now + more)) == naive


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.sampled_from(RELEASES))
def test_reasons_are_known_and_time_in_parts_is_time_at_once(seed: int, client: str) -> None:
    profile = Profile.of(client=client)
    bound = SUITE.bind(profile)
    handlers = bound.by_position
    state = bound.initial
    for position, args in sampler(SUITE, profile).case(seed, 0, 30):
        state, _, why = handlers[position](state, *args)
        assert_known(why)
    model = TimersModel(profile, ORDINARY)
    first, early, _ = model.elapse(state, 12_000)
    after, late, _ = model.elapse(first, 20_000)
    once, whole, _ = model.elapse(state, 32_000)
    assert once == after
    moved = tuple((when + 12_000, *event) for when, *event in cast("Events", late))
    assert tuple(sorted((*cast("Events", early), *moved))) == whole


def test_reasons_are_made_once() -> None:
    assert timer_reason(frozenset({"commit"}), True) is timer_reason(frozenset({"commit"}), True)
