"""Rounds that change queues: versions, heartbeats, thresholds and the listener of push consumers."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from by_hand import Steps, assert_known
from every import every
from hypothesis import given, settings
from hypothesis import strategies as st

from rocketmq_conformance.models.client.member import BROADCASTING, CLUSTERING
from rocketmq_conformance.models.client.rebalance_changed import (
    RebalanceChangedModel,
    RebalanceChangedState,
    initial_state,
)
from rocketmq_conformance.models.client.rebalance_changed_round import _EXTRA_EVENTS, NO_LIMIT, rebalance_changed_reason
from rocketmq_conformance.models.client.rebalance_round import ALIGNED
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.sampler import sampler
from rocketmq_conformance.suites.declare.topologies import ORDINARY
from rocketmq_conformance.suites.rebalance_changed import SUITE

#: One release of each way to announce changes, the last one as a client of today.
SILENT, TELLS, DIVIDES, KNOWS_NOTHING, BRIEF, HEARS, NOW = (
    "4.0.0",
    "4.1.0",
    "4.9.8",
    "5.0.0",
    "5.1.4",
    "5.2.0",
    "5.5.0",
)
RETRY = "%RETRY%G"
#: What the first member of three has of T, U and the retry topic: Java sorts it between the other two.
MINE = {"T": (5, 6), "U": (8,), RETRY: ()}
ALL = {"T": (0, 1, 5, 6, 7), "U": (2, 8), RETRY: (3,)}


class Play(Steps):
    """A group that is stepped through."""

    def __init__(self, client: str = NOW) -> None:
        super().__init__(RebalanceChangedModel(Profile.of(client=client), ORDINARY), initial_state(ORDINARY))

    def round(
        self, *, fault: str = "answer", beat: str = "answer", fails: bool = False, given_up: str = "", listed: str = ""
    ) -> Any:
        return self.do("rebalance", 0, listed or "answer", fault, beat, fails, given_up)

    def announced(self, **how: Any) -> list[str]:
        return [topic for topic, _, _ in self.round(**how)[3]]

    def alone(self) -> None:
        self.of_group("list_members", (0,))


# --- announced topics --------------------------------------------------------------------------------------------


def test_every_topic_with_new_queues_is_announced() -> None:
    play = Play()
    owned, balanced, thresholds, changes = play.round()
    assert (owned, balanced, thresholds) == ((5, 6, 8), True, (1000, 100))
    assert changes == (("T", True, (ALL["T"], MINE["T"])), ("U", True, (ALL["U"], MINE["U"])))
    assert play.kind == "listener called"
    assert {"REB-MQC-VERSION", "REB-MQC-HEARD", "REB-CLU-4"} <= set(play.rules)


def test_a_round_without_changes_announces_none() -> None:
    play = Play()
    play.round()
    before = play.state
    assert play.round() == ((5, 6, 8), True, (1000, 100), ())
    assert play.state is before
    assert play.kind == "nothing to do"


def test_lost_queues_and_queues_that_begin_anew_are_announced() -> None:
    play = Play()
    play.round()
    play.of_group("list_members", (1, 2))
    assert play.round()[3] == (("T", True, (ALL["T"], ())), ("U", True, (ALL["U"], ())))
    play.alone()
    play.round()
    play.of_group("tick", 130_000)
    assert play.announced() == [RETRY, "T", "U"]


def test_a_queue_without_a_start_is_no_change() -> None:
    play = Play()
    assert play.round(fault="SYSTEM_BUSY") == ((), False, (1000, 100), ())
    assert play.kind == "no start"


@pytest.mark.parametrize("client", [SILENT, TELLS, DIVIDES, BRIEF])
def test_older_releases_have_no_listener(client: str) -> None:
    play = Play(client)
    changes = play.round(fails=True)[3]
    assert changes == (() if client == SILENT else (("T", True, None), ("U", True, None)))
    assert play.kind == ("added" if client == SILENT else "changed")


def test_a_broadcasting_member_announces_too() -> None:
    play = Play()
    play.do("join", 0, BROADCASTING, False)
    assert play.round()[3] == tuple((topic, True, (ALL[topic], ALL[topic])) for topic in ("T", "U"))


# --- nothing known -----------------------------------------------------------------------------------------------


def unknown(client: str, mode: str = CLUSTERING, queues: int = -1) -> Play:
    """A member that begins while T has no route, or no readable queues, and the retry topic no route."""
    play = Play(client)
    play.alone()
    play.of_group("route", "T", queues)
    play.of_group("route", RETRY, -1)
    play.do("join", 0, mode, False)
    return play


@every("mode", [CLUSTERING, BROADCASTING])
@every("client", [DIVIDES, KNOWS_NOTHING, NOW])
def test_a_topic_without_known_queues_is_announced_every_round(client: str, mode: str) -> None:
    play = unknown(client, mode)
    every = [] if client == DIVIDES else ["T"]
    assert play.announced() == [*every, "U"]
    assert play.announced() == every
    assert play.kind == ("no queues, as every round" if every else "no queues known")


def test_an_unknown_topic_reaches_the_listener_as_no_queues_and_counts_when_it_fails() -> None:
    play = unknown(NOW)
    play.round()
    assert play.round()[1::2] == (True, (("T", True, ((), ())),))
    assert play.round(fails=True)[1] is False


@pytest.mark.parametrize(
    ("client", "mode", "reported"),
    [(HEARS, CLUSTERING, []), (NOW, CLUSTERING, ["T"]), (NOW, BROADCASTING, [])],
)
def test_no_readable_queues_are_unknown_ones_in_a_cluster_of_5_5_0(client: str, mode: str, reported: list[str]) -> None:
    play = unknown(client, mode, 0)
    play.round()
    assert play.announced() == reported


# --- the listener ------------------------------------------------------------------------------------------------


def test_what_the_listener_throws_makes_the_topic_unbalanced_and_changes_nothing_else() -> None:
    play = Play()
    owned, balanced, _, changes = play.round(fails=True)
    assert (owned, balanced, len(changes)) == ((5, 6, 8), False, 2)
    assert play.kind == "the listener fails"
    assert play.round(fails=True)[1] is True


def test_what_it_throws_for_the_retry_topic_counts_for_nothing() -> None:
    play = Play()
    play.of_group("list_members", (1, 2))
    for topic in ("T", "U"):
        play.of_group("unsubscribe", 0, topic)
    play.round()
    play.alone()
    assert play.round(fails=True) == ((3,), True, (1000, 100), ((RETRY, True, ((3,), (3,))),))
    assert play.kind == "the listener fails for the retry topic"


# --- a topic that goes meanwhile ---------------------------------------------------------------------------------


@every("client", [SILENT, TELLS, DIVIDES, KNOWS_NOTHING, HEARS, NOW])
def test_a_topic_that_is_given_up_while_it_is_divided(client: str) -> None:
    play = Play(client)
    owned, balanced, _, changes = play.round(given_up="T")
    assert owned == (8,)
    assert balanced == {SILENT: None, TELLS: None, DIVIDES: None, KNOWS_NOTHING: True}.get(client, False)
    assert [topic for topic, _, _ in changes] == ([] if client == SILENT else ["U"])
    who = play.state.group.members[0]
    assert who is not None
    assert "T" not in who.topics
    assert play.round()[:2] == ((8,), None if client in (SILENT, TELLS, DIVIDES) else True)


@pytest.mark.parametrize("listed", ["SYSTEM_ERROR", "empty"])
def test_no_topic_is_given_up_when_no_queues_are_divided(listed: str) -> None:
    play = Play()
    play.round(given_up="T", listed=listed)
    who = play.state.group.members[0]
    assert who is not None
    assert "T" in who.topics


def test_the_strategy_of_older_releases_is_asked_with_no_members() -> None:
    play = Play(HEARS)
    owned, balanced, _, _ = play.round(given_up="T", listed="empty")
    assert (owned, balanced) == ((), False)
    assert play.do("beat", 0, "answer") == (False, (RETRY, "U"))


def test_a_broadcasting_member_divides_nothing() -> None:
    play = Play()
    play.do("join", 0, BROADCASTING, False)
    assert play.announced(given_up="T") == ["T", "U"]


# --- thresholds --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("limits", "thresholds"),
    [
        ((NO_LIMIT, NO_LIMIT), (1000, 100)),
        ((100, NO_LIMIT), (12, 100)),
        ((NO_LIMIT, 20), (1000, 2)),
        ((5, 3), (1, 1)),
        ((9000, 900), (1125, 112)),
    ],
)
def test_thresholds_are_divided_by_the_queues_of_all_topics(
    limits: tuple[int, int], thresholds: tuple[int, int]
) -> None:
    play = Play()
    play.alone()
    play.do("limit", 0, *limits)
    assert len(play.round()[0]) == 8
    assert play.round()[2] == thresholds


def test_thresholds_change_with_the_queues_and_stay_when_there_are_none() -> None:
    play = Play()
    play.do("limit", 0, 100, 20)
    assert play.round()[2] == (33, 6)
    play.do("limit", 0, 50, 10)
    assert play.round()[2] == (33, 6)
    play.of_group("list_members", (1, 2))
    play.of_group("unsubscribe", 0, "U")
    assert play.round()[2] == (50, 10)  # the queue of U is dropped at the end of the round
    play.do("limit", 0, 7, 7)
    assert play.round() == ((), True, (50, 10), ())


def test_queues_of_a_topic_that_was_given_up_still_count() -> None:
    play = Play()
    play.alone()
    play.do("limit", 0, 100, NO_LIMIT)
    play.round()
    play.of_group("unsubscribe", 0, "U")
    play.of_group("list_members", (0, 1))
    owned, _, (messages, _), _ = play.round()
    assert (owned, messages) == ((6, 7), 100 // (len(owned) + len(ALL["U"])))


@pytest.mark.parametrize("client", [SILENT, TELLS])
def test_releases_without_thresholds_of_topics(client: str) -> None:
    play = Play(client)
    play.do("limit", 0, 3, 3)
    assert play.kind == "no thresholds of topics"
    assert play.round()[2] is None


# --- heartbeats --------------------------------------------------------------------------------------------------


def test_without_any_route_no_broker_is_known() -> None:
    play = Play()
    for topic in ALL:
        play.of_group("route", topic, -1)
    play.do("join", 0, CLUSTERING, True)
    assert play.round()[3] == (("T", False, ((), ())), ("U", False, ((), ())))
    assert play.do("beat", 0, "answer") is None
    assert play.kind == "no broker known"


@pytest.mark.parametrize("fault", ["SYSTEM_ERROR", "silent"])
def test_a_lost_heartbeat_changes_the_brokers_knowledge_only(fault: str) -> None:
    play = Play()
    play.do("join", 0, CLUSTERING, True)
    assert play.announced(beat=fault) == ["T", "U"]
    assert play.kind == "heartbeat lost"
    assert play.do("beat", 0, fault) == (False, (RETRY, "T", "U"))
    assert play.kind == "lost"
    assert play.do("beat", 0, "answer") == (False, (RETRY, "T", "U"))
    assert play.do("beat", 0, fault) == (True, ())


@pytest.mark.parametrize(
    ("client", "brief", "is_brief"),
    [(DIVIDES, True, False), (KNOWS_NOTHING, True, False), (BRIEF, True, True), (NOW, True, True), (NOW, False, False)],
)
def test_heartbeats_are_brief_when_the_broker_knows_the_subscriptions(client: str, brief: bool, is_brief: bool) -> None:
    play = Play(client)
    play.do("join", 0, CLUSTERING, brief)
    assert play.do("beat", 0, "answer") == (False, (RETRY, "T", "U"))
    assert play.do("beat", 0, "answer")[0] is is_brief
    play.round()
    assert play.do("beat", 0, "answer")[0] is is_brief
    play.of_group("unsubscribe", 0, "T")
    assert play.do("beat", 0, "answer") == (False, (RETRY, "U"))
    assert play.do("subscribe", 0, "T", "answer") == (False, (RETRY, "T", "U"))
    assert play.do("subscribe", 0, "T", "answer")[0] is is_brief


def test_a_changed_round_sends_a_full_heartbeat_always() -> None:
    play = Play()
    play.do("join", 0, CLUSTERING, True)
    play.do("beat", 0, "answer")
    assert [beat for _, beat, _ in play.round()[3]] == [True, True]
    assert "REB-MQC-BRIEF" in play.rules
    play.of_group("tick", 130_000)
    play.round(beat="silent")
    assert play.do("beat", 0, "answer")[0] is False


# --- always ------------------------------------------------------------------------------------------------------


def test_every_reason_names_known_rules() -> None:
    for met, events in product((0, *(1 << at for at in range(len(_EXTRA_EVENTS)))), (0, 1, ALIGNED)):
        assert_known(rebalance_changed_reason(met, events, CLUSTERING, True))


@settings(deadline=None)
@given(st.sampled_from((DIVIDES, KNOWS_NOTHING, HEARS, NOW)), st.integers(0, 1 << 30))
def test_exactly_the_changes_are_announced(client: str, plan: int) -> None:
    profile = Profile.of(client=client)
    bound = SUITE.bind(profile)
    state: RebalanceChangedState = bound.initial
    for position, args in sampler(SUITE, profile).case(plan, 0, SUITE.steps):
        before = state
        state, result, _ = bound.by_position[position](state, *args)
        if SUITE.operations[position].spec.name != "rebalance":
            continue
        was, who = before.group.members[args[0]], state.group.members[args[0]]
        assert was is not None
        assert who is not None
        assert result[0] == tuple(sorted(who.table))
        assert all(threshold >= 1 for threshold in result[2])
        moved = {
            ORDINARY.queues[queue].topic for queue, owned in who.table.items() if was.table.get(queue) is not owned
        }
        moved |= {ORDINARY.queues[queue].topic for queue in was.table.keys() - who.table.keys()}
        reported = {topic for topic, _, _ in result[3]}
        assert moved & who.topics <= reported
        assert reported <= who.topics
        for topic, _, shares in result[3]:
            if shares is not None and shares != ((), ()):  # what is unknown may be owned all the same
                assert set(shares[1]) <= set(shares[0])
                assert {queue for queue in result[0] if ORDINARY.queues[queue].topic == topic} <= set(shares[1])


def test_the_state_is_shown_with_thresholds() -> None:
    play = Play()
    play.do("limit", 0, 100, 20)
    play.round()
    shown = SUITE.show(play.state)
    assert "thresholds of a topic 100 messages, 20 MiB, of a queue 33 messages, 6 MiB" in shown
