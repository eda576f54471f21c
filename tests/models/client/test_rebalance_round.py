"""A round of rebalance: what it owns, begins, commits and forgets, rule by rule."""

from __future__ import annotations

from itertools import product

import pytest
from by_hand import Steps
from every import every

from rocketmq_conformance.models import rulebook
from rocketmq_conformance.models.client.client_rules import ClientRules
from rocketmq_conformance.models.client.group_state import RebalanceState, initial_state
from rocketmq_conformance.models.client.member import BROADCASTING, CLUSTERING, division_of
from rocketmq_conformance.models.client.plan_words import LIST_FAULTS
from rocketmq_conformance.models.client.process_queue import PULL_EXPIRY, ProcessQueue, is_expired
from rocketmq_conformance.models.client.rebalance import RebalanceModel
from rocketmq_conformance.models.client.rebalance_round import (
    ALIGNED,
    EVENTS,
    in_hash_order,
    listed_members,
    round_reason,
)
from rocketmq_conformance.models.client.start import LAST, TIMESTAMP
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.topologies import GROUP, ORDINARY

T = ORDINARY.topic_queues["T"]
share_of = division_of(ClientRules.of(Profile()), ORDINARY)
#: (owned, dispatched, balanced, commits) of a round.
Result = tuple[tuple[int, ...], tuple[tuple[int, int], ...], bool | None, tuple[tuple[int, int], ...]]


class Play(Steps):
    """A group that is stepped through."""

    def __init__(self, client: str = "5.5.0", state: RebalanceState | None = None) -> None:
        super().__init__(RebalanceModel(Profile.of(client=client), ORDINARY), state or initial_state(ORDINARY))

    def round(self, member: int, listed: str = "answer", fault: str = "answer", bound: str = "answer") -> Result:
        result: Result = self.do("rebalance", member, listed, fault, bound)
        return result

    def all_round(self) -> list[tuple[int, ...]]:
        return [self.round(member)[0] for member in range(len(ORDINARY.clients))]

    def memory(self, member: int) -> dict[int, int]:
        who = self.state.members[member]
        assert who is not None
        return dict(who.memory)

    def stored(self, queue: int) -> int | None:
        topic, _, number = ORDINARY.queues[queue]
        return self.state.broker.stored.get((GROUP, topic, number))


# --- shares ------------------------------------------------------------------------------------------------------


def test_members_share_the_queues_in_the_order_of_their_ids_as_texts() -> None:
    assert Play().all_round() == [(5, 6, 8), (0, 1, 2, 3), (7,)]


@every(
    ("count", "listed", "shares"),
    [
        (4, (0, 2), ((0, 1), (), (5, 6))),
        (4, (0, 2, 1), ((5,), (0, 1), (6,))),
        (5, (1,), ((), (0, 1, 5, 6, 7), ())),
        (2, (0, 1, 2), ((1,), (0,), ())),
        (5, (0, 0, 1), ((5, 6), (0, 1), ())),
        (1, (2, 2), ((), (), (0,))),
    ],
)
def test_shares(count: int, listed: tuple[int, ...], shares: tuple[tuple[int, ...], ...]) -> None:
    ids = tuple(ORDINARY.clients[member] for member in listed)
    assert tuple(share_of("AVG", client, "T", count, ids) for client in ORDINARY.clients) == shares


def test_a_circle_deals_queue_by_queue() -> None:
    assert [share_of("AVG_BY_CIRCLE", client, "T", 5, ORDINARY.clients) for client in ORDINARY.clients] == [
        (1, 7),
        (0, 6),
        (5,),
    ]


def test_a_strategy_that_refuses_gives_no_share() -> None:
    assert share_of("AVG", ORDINARY.clients[0], "T", 0, ORDINARY.clients) is None
    assert share_of("AVG", ORDINARY.clients[0], "T", 5, ()) is None


def test_every_strategy_divides_as_it_is_set_up() -> None:
    shares = {
        name: [share_of(name, client, "T", 5, ORDINARY.clients) for client in ORDINARY.clients]
        for name in ("CONFIG", "MACHINE_ROOM", "CONSISTENT_HASH", "MACHINE_ROOM_NEARBY")
    }
    assert shares.pop("CONFIG") == [(1, 2)] * 3
    assert shares.pop("MACHINE_ROOM") == [()] * 3
    # even queues are in the first member's room, and odd ones in a room of their own, which all share
    assert shares.pop("MACHINE_ROOM_NEARBY") == [(0, 5, 7, 6), (1,), ()]
    assert sorted(queue for mine in shares.pop("CONSISTENT_HASH") for queue in mine or ()) == sorted(T)
    assert share_of("MACHINE_ROOM_NEARBY", ORDINARY.clients[0], "T", 0, ORDINARY.clients) is None


def test_configured_queues_of_another_topic_are_owned_and_never_balanced() -> None:
    play = Play()
    play.do("join", 0, False, CLUSTERING, LAST, "CONFIG")
    assert play.round(0)[::2] == ((1, 2), False)
    assert "REB-CLU-CONFIG" in play.rules
    play.do("unsubscribe", 0, "U")
    assert [play.round(0)[:2] for _ in range(2)] == [((1,), ()), ((1,), ((2, 0),))]


def test_a_member_starts_at_its_time() -> None:
    play = Play()
    play.do("join", 0, False, CLUSTERING, TIMESTAMP, "AVG")
    assert dict(play.round(0)[1])[5] == 4


def test_a_third_member_takes_from_one_of_two() -> None:
    play = Play()
    play.do("route", "T", 4)
    play.do("list_members", (0, 2))
    for member in (0, 2):
        play.do("refresh", member)
    assert [play.round(member)[0][:2] for member in (0, 2)] == [(0, 1), (5, 6)]
    play.do("list_members", (0, 2, 1))
    play.do("refresh", 1)
    assert [tuple(queue for queue in mine if queue in T) for mine in play.all_round()] == [(5,), (0, 1), (6,)]


# --- what is known -----------------------------------------------------------------------------------------------


def settled(client: str = "5.5.0") -> Play:
    play = Play(client)
    play.all_round()
    return play


@every("client", ["4.0.0", "4.9.8", "5.0.0", "5.5.0"])
@every("fault", [fault for fault in LIST_FAULTS if fault != "answer"])
def test_without_a_list_a_member_keeps_its_queues(client: str, fault: str) -> None:
    play = settled(client)
    play.do("list_members", (1,))
    owned_before = play.round(0, fault)[0]
    assert owned_before == (5, 6, 8)
    assert play.kind == ("strategy refuses" if fault == "empty" and client != "5.5.0" else "no list")


def test_an_empty_list_is_refused_and_the_member_keeps_its_queues() -> None:
    play = settled()
    play.do("list_members", ())
    assert play.round(1)[0] == (0, 1, 2, 3)
    assert listed_members((), "answer") is None
    assert listed_members(ORDINARY.clients, "empty") == ()


@pytest.mark.parametrize("client", ["4.0.0", "4.9.8", "5.0.0", "5.5.0"])
def test_a_member_that_is_not_listed_drops_everything(client: str) -> None:
    play = settled(client)
    play.do("list_members", (1, 2))
    assert play.round(0)[:2] == ((), ())
    assert play.kind == "dropped"


@pytest.mark.parametrize("client", ["4.0.0", "5.4.0", "5.5.0"])
def test_a_topic_without_readable_queues_keeps_the_owned_ones_in_a_cluster(client: str) -> None:
    play = settled(client)
    play.do("route", "T", 0)
    play.do("refresh", 0)
    assert play.round(0)[0] == (5, 6, 8)


def test_a_topic_without_readable_queues_loses_them_in_broadcasting() -> None:
    play = Play()
    play.do("join", 0, False, BROADCASTING, "CONSUME_FROM_FIRST_OFFSET", "AVG")
    assert play.round(0)[0] == (0, 1, 2, 5, 6, 7, 8)
    play.do("route", "T", 0)
    play.do("refresh", 0)
    assert play.round(0)[0] == (2, 8)
    assert "REB-BC-1" in play.rules


def test_a_lost_route_changes_nothing() -> None:
    play = settled()
    play.do("route", "T", -1)
    assert play.kind == "the route is lost"
    play.do("refresh", 0)
    assert play.kind == "nothing new"
    assert play.round(0)[0] == (5, 6, 8)


def begun_without_route(client: str, mode: str = CLUSTERING) -> Play:
    play = Play(client)
    play.do("route", "T", -1)
    play.do("join", 0, False, mode, "CONSUME_FROM_LAST_OFFSET", "AVG")
    return play


@pytest.mark.parametrize("client", ["4.0.0", "4.9.8", "5.4.0"])
def test_up_to_5_4_a_round_learns_a_route_for_the_next_round(client: str) -> None:
    play = begun_without_route(client)
    assert play.round(0)[0] == (8,)
    assert play.kind == "added"
    play.do("route", "T", 5)
    assert play.round(0)[0] == (8,)
    assert play.kind == "route learned"
    assert play.round(0)[0] == (5, 6, 8)


def test_from_5_5_a_round_learns_no_routes() -> None:
    play = begun_without_route("5.5.0")
    play.do("route", "T", 5)
    assert [play.round(0)[0] for _ in range(3)] == [(8,)] * 3
    assert play.kind == "no queues known"
    play.do("refresh", 0)
    assert play.round(0)[0] == (5, 6, 8)


@pytest.mark.parametrize("client", ["4.9.8", "5.5.0"])
def test_a_broadcasting_member_never_asks_for_the_list(client: str) -> None:
    play = begun_without_route(client, BROADCASTING)
    play.do("route", "T", 5)
    for _ in range(2):
        assert play.round(0, "silent")[0] == (2, 8)
    play.do("refresh", 0)
    assert play.round(0, "silent")[0] == (0, 1, 2, 5, 6, 7, 8)
    assert play.kind == "added"


# --- dropping ----------------------------------------------------------------------------------------------------


def test_a_dropped_queue_is_committed_and_forgotten() -> None:
    play = settled()
    play.do("consume", 0, 5, 9)
    play.do("list_members", (1, 2))
    assert play.round(0)[3] == ((5, 9),)
    assert play.kind == "dropped with offset"
    assert play.stored(5) == 9
    assert play.memory(0) == {}


@pytest.mark.parametrize("fault", ["SYSTEM_BUSY", "silent", "QUERY_NOT_FOUND"])
def test_a_commit_that_is_lost_on_dropping_is_lost_for_good(fault: str) -> None:
    play = settled()
    play.do("consume", 0, 5, 9)
    play.do("list_members", (1, 2))
    assert play.round(0, fault=fault)[3] == ((5, 9),)
    assert play.stored(5) is None
    assert play.memory(0) == {}
    assert play.do("persist", 0) == ()


def test_a_queue_without_offset_in_memory_is_dropped_without_a_commit() -> None:
    play = settled()
    play.do("list_members", (1, 2))
    assert play.round(0) == ((), (), True, ())
    assert play.kind == "dropped"


def test_pull_expiry_is_strict() -> None:
    queue = ProcessQueue(1, 0, 1_000)
    assert not is_expired(queue, 1_000 + PULL_EXPIRY)
    assert is_expired(queue, 1_001 + PULL_EXPIRY)


@pytest.mark.parametrize("client", ["4.0.0", "4.9.8", "5.5.0"])
def test_a_queue_without_pulls_is_committed_and_begins_anew(client: str) -> None:
    play = settled(client)
    play.do("consume", 1, 0, 6)
    play.do("tick", 60_000)
    assert play.do("pull", 1, 1) == (0, 0, False)
    play.do("tick", 61_000)
    result = play.round(1)
    assert result[0] == (0, 1, 2, 3)
    assert result[1] == ((0, 6), (2, 0), (3, 0))
    assert result[3] == ((0, 6), (2, 0), (3, 0))
    assert play.kind == "pull expired"


def test_a_pull_asks_for_the_offset_that_was_dispatched() -> None:
    play = settled()
    assert play.do("pull", 0, 5) == (12, -1, False)
    assert play.kind == "pulled, nothing to commit"
    assert play.do("pull", 0, 0) is None
    assert play.kind == "dropped"
    before = play.state
    assert play.do("pull", 0, 5) == (12, -1, False)
    assert play.state is before


def test_a_topic_that_is_not_subscribed_is_not_pulled_but_does_not_expire_by_that() -> None:
    play = settled()
    play.do("unsubscribe", 0, "T")
    play.do("tick", 130_000)
    assert play.do("pull", 0, 5) is None
    assert play.kind == "no subscription"
    play.do("subscribe", 0, "T")
    assert (5, 12) not in play.round(0)[1]


# --- adding ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("where", "begun"),
    [
        ("CONSUME_FROM_LAST_OFFSET", ((0, 0), (5, 12), (6, 12))),
        ("CONSUME_FROM_FIRST_OFFSET", ((0, 0), (5, 0), (6, 0))),
    ],
)
def test_a_queue_begins_where_its_start_position_is(where: str, begun: tuple[tuple[int, int], ...]) -> None:
    play = Play()
    play.do("join", 0, False, CLUSTERING, where, "AVG")
    play.do("list_members", (0,))
    assert set(begun) <= set(play.round(0)[1])
    play = Play(state=play.state)
    play.do("commit_elsewhere", 7, 5)
    play.do("join", 0, False, CLUSTERING, where, "AVG")
    assert (7, 5) in play.round(0)[1]


@every(
    ("client", "fault", "bound", "added"),
    [
        ("4.9.8", "SYSTEM_BUSY", "answer", True),
        ("5.5.0", "SYSTEM_BUSY", "answer", False),
        ("5.5.0", "silent", "answer", False),
        ("5.5.0", "QUERY_NOT_FOUND", "answer", True),
        ("5.5.0", "QUERY_NOT_FOUND", "SYSTEM_BUSY", False),
        ("4.0.0", "QUERY_NOT_FOUND", "negative", False),
        ("5.5.0", "QUERY_NOT_FOUND", "negative", False),
    ],
)
def test_a_queue_without_a_start_is_left_for_the_next_round(client: str, fault: str, bound: str, added: bool) -> None:
    play = Play(client)
    play.do("update", 0, 5, 3)
    result = play.round(0, fault=fault, bound=bound)
    assert (5 in result[0]) is added
    assert play.memory(0) == {}
    if not added:
        assert play.kind == "no start"
        assert result[2] in (False, None)
        assert play.round(0)[0] == (5, 6, 8)


def test_what_memory_holds_of_a_gained_queue_is_forgotten() -> None:
    play = Play()
    play.do("update", 0, 5, 3)
    play.do("update", 1, 5, 3)
    assert (5, 12) in play.round(0)[1]
    assert play.memory(0) == {}
    assert play.memory(1) == {5: 3}


def test_the_round_of_a_member_without_changes_changes_nothing() -> None:
    play = settled()
    before = play.state
    assert play.round(0) == ((5, 6, 8), (), True, ())
    assert play.state is before
    assert play.kind == "nothing to do"


# --- topics ------------------------------------------------------------------------------------------------------


def test_queues_of_a_topic_that_is_given_up_are_neither_committed_nor_forgotten() -> None:
    play = settled()
    play.do("consume", 0, 5, 9)
    play.do("unsubscribe", 0, "T")
    assert play.round(0) == ((8,), (), True, ())
    assert play.kind == "topic given up"
    assert play.memory(0)[5] == 9
    play.do("persist", 0)
    assert play.kind == "some forgotten"
    assert play.stored(5) is None


def test_a_failure_of_one_topic_does_not_touch_the_others() -> None:
    play = Play("5.4.0")
    play.do("route", "T", 0)
    play.do("refresh", 0)
    assert play.round(0) == ((8,), ((8, 12),), False, ())


@pytest.mark.parametrize(
    ("client", "balanced"),
    [("4.9.8", None), ("5.0.0-PREVIEW", True), ("5.1.4", True), ("5.2.0", False), ("5.5.0", True)],
)
def test_who_calls_a_round_balanced_when_a_topic_has_no_queues(client: str, balanced: bool | None) -> None:
    play = Play(client)
    play.do("route", "T", 0)
    play.do("refresh", 1)
    assert play.round(1)[2] is balanced
    assert ("REB-RET-1" in play.rules) is (balanced is not None)


@pytest.mark.parametrize(("client", "balanced"), [("5.1.4", False), ("5.4.0", False), ("5.5.0", True)])
def test_the_retry_topic_is_the_last_in_the_table_of_the_client(client: str, balanced: bool) -> None:
    play = Play(client)
    play.do("route", "%RETRY%G", 0)
    play.do("refresh", 1)
    assert play.round(1)[2] is balanced
    assert in_hash_order(frozenset({"U", "%RETRY%G", "T"})) == ("T", "U", "%RETRY%G")


def test_a_round_without_list_or_queues_calls_itself_balanced() -> None:
    assert Play().round(0, "silent")[2] is True
    play = Play()
    for topic in ORDINARY.topic_queues:
        play.do("route", topic, -1)
    play.do("join", 0, False, BROADCASTING, "CONSUME_FROM_LAST_OFFSET", "AVG")
    assert play.round(0) == ((), (), True, ())
    assert play.kind == "no queues known"


def test_the_reasons_of_rounds_name_rules_of_the_book() -> None:
    for events, mode, reports in product(range(ALIGNED << 1), (CLUSTERING, BROADCASTING), (False, True)):
        why = round_reason(events, mode, reports)
        assert why is round_reason(events, mode, reports)
        assert set(why.rules) <= rulebook.RULES.keys()
        assert len(set(why.rules)) == len(why.rules)
        assert why.kind == next((name for at, (name, _) in enumerate(EVENTS) if events >> at & 1), "nothing to do")
