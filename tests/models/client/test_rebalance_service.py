"""When the consumers of a client instance rebalance."""

from __future__ import annotations

from itertools import pairwise

import pytest
from by_hand import Steps, assert_known
from hypothesis import given, settings
from hypothesis import strategies as st

from rocketmq_conformance.models.client.rebalance_service import (
    _EVENTS,
    MIN_INTERVAL,
    ROUND_INTERVAL,
    RebalanceServiceModel,
    RebalanceServiceState,
    rebalance_service_reason,
)
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.sampler import sampler
from rocketmq_conformance.suites.rebalance_service import SUITE

#: Releases without and with a look at the last round, and one that can forbid pull consumers to rebalance.
PLAIN, LOOKS, NOW = "5.1.4", "5.2.0", "5.5.0"
RELEASES = ("4.0.0", PLAIN, LOOKS, NOW)
BOTH = ("pull", "push")


class Play(Steps):
    """An instance that is stepped through."""

    def __init__(self, client: str = NOW) -> None:
        super().__init__(RebalanceServiceModel(Profile.of(client=client)), RebalanceServiceState())

    def times(self, elapses: int) -> list[int]:
        return [when for when, _ in self.do("elapse", elapses)]


@pytest.mark.parametrize("client", RELEASES)
def test_rounds_come_every_20_s(client: str) -> None:
    play = Play(client)
    assert play.do("elapse", ROUND_INTERVAL - 1) == ()
    assert play.kind == "nothing is due"
    assert play.do("elapse", 1) == ((1, BOTH),)
    assert play.do("elapse", 45_000) == ((20_000, BOTH), (40_000, BOTH))
    assert play.rules == ("REB-SVC-1",)


@pytest.mark.parametrize("client", RELEASES)
def test_a_notification_makes_a_round_at_once_and_begins_the_wait_anew(client: str) -> None:
    play = Play(client)
    play.times(15_000)
    assert play.do("notify") == BOTH
    assert play.times(ROUND_INTERVAL) == [ROUND_INTERVAL]


@pytest.mark.parametrize("before", [0, 1, 999])
def test_what_comes_within_a_second_is_put_off_to_its_end(before: int) -> None:
    play = Play()
    play.times(before)
    assert (play.do("notify"), play.kind) == ((), "postponed")
    assert play.do("notify") == ()
    assert play.times(ROUND_INTERVAL) == [MIN_INTERVAL - before]
    assert play.do("notify") == BOTH


def test_a_second_is_enough_and_older_releases_do_not_ask() -> None:
    play = Play()
    play.times(MIN_INTERVAL)
    assert play.do("notify") == BOTH
    assert play.do("notify") == ()
    play = Play(PLAIN)
    assert [play.do("notify"), play.do("notify")] == [BOTH, BOTH]


@pytest.mark.parametrize("consumer", BOTH)
def test_a_round_that_is_not_balanced_is_soon_followed_by_another(consumer: str) -> None:
    play = Play()
    play.do("refuse", consumer, True)
    assert play.times(ROUND_INTERVAL + 2_500) == [20_000, 21_000, 22_000]
    assert "REB-SVC-SOON" in play.rules
    play.do("refuse", consumer, False)
    assert play.times(ROUND_INTERVAL) == [500]
    play = Play(PLAIN)
    play.do("refuse", consumer, True)
    assert play.times(2 * ROUND_INTERVAL) == [20_000, 40_000]


def test_a_paused_consumer_takes_no_part_and_is_never_balanced() -> None:
    play = Play()
    play.do("suspend")
    assert play.do("elapse", ROUND_INTERVAL + MIN_INTERVAL) == ((20_000, ("pull",)), (21_000, ("pull",)))
    assert play.kind == "not balanced"
    play = Play(PLAIN)
    play.do("suspend")
    assert play.do("elapse", 2 * ROUND_INTERVAL) == ((20_000, ("pull",)), (40_000, ("pull",)))
    assert play.kind == "paused"


def test_who_is_resumed_rebalances_alone_and_the_timer_goes_on() -> None:
    play = Play()
    play.do("suspend")
    play.times(5_000)
    assert (play.do("resume"), play.kind) == (("push",), "resumed")
    assert (play.do("resume"), play.kind) == (("push",), "was not paused")
    assert play.do("elapse", 15_000) == ((15_000, BOTH),)


def test_a_pull_consumer_that_may_not_rebalance_counts_as_balanced() -> None:
    play = Play()
    play.do("refuse", "pull", True)
    play.do("enable", False)
    assert play.do("elapse", 2 * ROUND_INTERVAL) == ((20_000, ("push",)), (40_000, ("push",)))
    assert play.kind == "may not rebalance"
    play.do("enable", True)
    assert play.times(ROUND_INTERVAL + MIN_INTERVAL) == [20_000, 21_000]
    play = Play(LOOKS)
    play.do("enable", False)
    assert play.do("elapse", ROUND_INTERVAL) == ((20_000, BOTH),)


def test_rounds_without_consumers_are_not_reported_but_count() -> None:
    play = Play()
    play.do("suspend")
    play.do("enable", False)
    assert play.do("elapse", 20_500) == ()
    play.do("resume")
    assert play.do("elapse", ROUND_INTERVAL) == ((500, ("push",)),)


def test_every_reason_names_known_rules() -> None:
    for trigger in ("REB-SVC-1", "REB-SVC-WAKE"):
        for met in (0, *(1 << at for at in range(len(_EVENTS)))):
            assert_known(rebalance_service_reason(trigger, met))


@settings(deadline=None)
@given(st.sampled_from(RELEASES), st.integers(0, 1 << 30))
def test_rounds_keep_their_distance(client: str, plan: int) -> None:
    profile = Profile.of(client=client)
    bound = SUITE.bind(profile)
    state: RebalanceServiceState = bound.initial
    looks = client in (LOOKS, NOW)
    for position, args in sampler(SUITE, profile).case(plan, 0, SUITE.steps):
        before = state
        state, result, _ = bound.by_position[position](state, *args)
        assert state.now < state.due <= state.now + ROUND_INTERVAL
        if looks and state.last != before.last:
            assert state.last - before.last >= MIN_INTERVAL
        if SUITE.operations[position].spec.name == "elapse":
            rounds = [before.now + when for when, _ in result]
            assert all(later - sooner >= MIN_INTERVAL for sooner, later in pairwise(rounds))
            assert all(before.now < when <= state.now for when in rounds)


def test_the_state_is_shown() -> None:
    play = Play()
    play.do("suspend")
    play.do("enable", False)
    play.do("refuse", "pull", True)
    shown = SUITE.show(play.state)
    assert "next 20000; push consumer paused, pull consumer may not rebalance, refusing strategies ['pull']" in shown
    assert "push consumer runs, pull consumer may rebalance" in SUITE.show(RebalanceServiceState())
