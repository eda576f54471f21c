"""Rounds of plain pull consumers: owned queues, calls of the listener, and commits."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from by_hand import Steps, assert_known
from every import every

from rocketmq_conformance.models.client.member import BROADCASTING, CLUSTERING
from rocketmq_conformance.models.client.rebalance_plain import (
    _EXTRA_EVENTS,
    RebalancePlainModel,
    initial_state,
    rebalance_plain_reason,
)
from rocketmq_conformance.models.client.rebalance_round import ALIGNED
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.topologies import ORDINARY
from rocketmq_conformance.suites.rebalance_plain import SUITE

OLD, HEARS_NOTHING, NOW = "4.9.8", "5.3.3", "5.5.0"
ALL = {"T": (0, 1, 5, 6, 7), "U": (2, 8)}
MINE = {"T": (5, 6), "U": (8,)}


class Play(Steps):
    """A group that is stepped through."""

    def __init__(self, client: str = NOW) -> None:
        super().__init__(RebalancePlainModel(Profile.of(client=client), ORDINARY), initial_state(ORDINARY))

    def round(self, *, listed: str = "answer", fault: str = "answer", fails: bool = False) -> Any:
        return self.do("rebalance", 0, listed, fault, fails)


@pytest.mark.parametrize("fault", ["answer", "SYSTEM_BUSY", "QUERY_NOT_FOUND"])
def test_queues_are_owned_whether_or_not_a_start_is_known(fault: str) -> None:
    play = Play()
    reported = tuple((topic, ALL[topic], MINE[topic]) for topic in ("T", "U"))
    assert play.round(fault=fault) == ((5, 6, 8), True, reported, ())
    assert play.kind == "added"
    assert {"REB-VAR-PLAIN", "REB-VAR-PLAIN-MQC"} <= set(play.rules)
    assert not {"REB-ADD-1", "START-PUSH-1", "REB-REM-1"} & set(play.rules)
    before = play.state
    assert play.round() == ((5, 6, 8), True, (), ())
    assert play.state is before


def test_nothing_expires() -> None:
    play = Play()
    play.round()
    play.of_group("tick", 1 << 40)
    assert play.round() == ((5, 6, 8), True, (), ())


def test_what_was_set_is_forgotten_when_a_queue_comes_and_sent_when_it_goes() -> None:
    play = Play()
    play.of_group("update", 0, 5, 12)
    play.round()
    assert play.of_group("persist", 0) == ()
    play.of_group("update", 0, 5, 12)
    play.of_group("list_members", (1, 2))
    assert play.round() == ((), True, (("T", ALL["T"], ()), ("U", ALL["U"], ())), ((5, 12),))
    assert "REB-VAR-PLAIN-REM" in play.rules
    assert play.of_group("leave", 0) == ()
    assert play.round() is None


def test_what_the_listener_throws_changes_nothing() -> None:
    play = Play()
    assert play.round(fails=True)[:2] == ((5, 6, 8), True)
    assert play.kind == "the listener fails"


@every("mode", [CLUSTERING, BROADCASTING])
@every("client", [OLD, HEARS_NOTHING, NOW])
def test_the_listener_is_called_for_a_topic_without_known_queues_every_round_in_5_x(client: str, mode: str) -> None:
    play = Play(client)
    for topic in ALL:
        play.of_group("route", topic, -1)
    play.do("join", 0, False, mode)
    reported = () if client == OLD else (("T", (), ()), ("U", (), ()))
    assert [play.round()[2], play.round()[2]] == [reported, reported]
    assert play.kind == ("no queues known" if client == OLD else "no queues, as every round")


@pytest.mark.parametrize(
    ("client", "mode", "nothing"),
    [(HEARS_NOTHING, CLUSTERING, False), (NOW, CLUSTERING, True), (NOW, BROADCASTING, False)],
)
def test_no_readable_queues_are_unknown_ones_in_a_cluster_of_5_5_0(client: str, mode: str, nothing: bool) -> None:
    play = Play(client)
    play.of_group("route", "T", 0)
    play.do("join", 0, False, mode)
    play.round()
    assert play.round()[2] == ((("T", (), ()),) if nothing else ())


def missed(play: Play) -> None:
    """The route of U changes while the member is not subscribed to it, and its client learns it."""
    play.of_group("route", "U", 1)
    play.of_group("unsubscribe", 0, "U")
    assert play.do("refresh", 0) is None
    assert (play.kind, play.rules) == ("missed", ("REB-VAR-PLAIN-ROUTE", "REB-ROUTE-1"))
    play.of_group("subscribe", 0, "U")


def test_a_route_that_changed_while_it_was_not_subscribed_is_not_learned() -> None:
    play = Play()
    missed(play)
    play.do("refresh", 0)
    assert play.kind == "nothing new"
    assert play.round()[2][1] == ("U", ALL["U"], MINE["U"])
    play.of_group("route", "U", 2)
    play.do("refresh", 0)
    assert play.kind == "learned"


def test_a_route_that_goes_and_comes_back_is_no_news() -> None:
    play = Play()
    for queues in (-1, 2):
        play.of_group("route", "U", queues)
        before = play.state
        play.do("refresh", 0)
        assert (play.kind, play.state) == ("nothing new", before)


def test_a_topic_of_which_the_consumer_knows_nothing_is_learned_late() -> None:
    play = Play()
    play.of_group("route", "U", -1)
    play.do("join", 0, False, CLUSTERING)
    missed(play)
    play.do("refresh", 0)
    assert play.kind == "learned"
    play.of_group("list_members", (0,))
    assert play.round()[2][1] == ("U", (2,), (2,))


@pytest.mark.parametrize("knows_a_broker", [False, True])
def test_only_a_client_that_knows_no_broker_of_a_topic_looks_for_one(knows_a_broker: bool) -> None:
    play = Play(OLD)
    play.of_group("route", "U", -1)
    play.do("join", 0, False, CLUSTERING)
    if knows_a_broker:
        missed(play)
    play.of_group("route", "U", 1)
    play.round()
    assert ("REB-CLU-ROUTE" in play.rules) is not knows_a_broker
    who = play.state.group.members[0]
    assert who is not None
    assert ("U" in who.seen) is not knows_a_broker


def test_a_missing_member_learns_no_routes() -> None:
    play = Play()
    play.of_group("leave", 0)
    before = play.state
    assert play.do("refresh", 0) is None
    assert (play.kind, play.state) == ("no member", before)


def test_a_member_has_no_retry_topic() -> None:
    play = Play()
    play.of_group("list_members", (0,))
    assert play.round()[0] == (0, 1, 2, 5, 6, 7, 8)
    play.do("join", 0, True, CLUSTERING)
    who = play.state.group.members[0]
    assert who is not None
    assert (who.topics, set(who.seen)) == ({"T", "U"}, {"T", "U"})


def test_every_reason_names_known_rules() -> None:
    for met, events in product((0, *(1 << at for at in range(len(_EXTRA_EVENTS)))), (0, 1, ALIGNED)):
        assert_known(rebalance_plain_reason(met, events, CLUSTERING, True))


def test_the_state_is_shown() -> None:
    play = Play()
    play.round()
    play.of_group("leave", 1)
    shown = SUITE.show(play.state)
    assert "0: 10.0.0.1@a CLUSTERING owns [5, 6, 8]" in shown
    assert "1: no member" in shown
