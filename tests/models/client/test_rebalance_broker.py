"""Rounds of members that leave it to the broker who gets which queue: what they pull, pop, ask for and note."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

import pytest
from by_hand import Steps, assert_known
from every import every
from hypothesis import given, settings
from hypothesis import strategies as st

from rocketmq_conformance.models.client.member import BROADCASTING, CLUSTERING
from rocketmq_conformance.models.client.plan_words import ASSIGN_FAULTS, nth_assignment_fault
from rocketmq_conformance.models.client.rebalance_broker import (
    RebalanceBrokerModel,
    RebalanceBrokerState,
    initial_state,
)
from rocketmq_conformance.models.client.rebalance_broker_round import (
    _EXTRA_EVENTS,
    FROM_MAX,
    FROM_MIN,
    MAX_PROBES,
    ODDITIES,
    TopicAssignment,
    assignment_body,
    assignments_of,
    rebalance_broker_reason,
)
from rocketmq_conformance.models.client.rebalance_round import ALIGNED, in_hash_order
from rocketmq_conformance.models.client.start import FIRST, LAST
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.sampler import sampler
from rocketmq_conformance.suites.declare.topologies import ORDINARY
from rocketmq_conformance.suites.rebalance_broker import SUITE

RETRY = "%RETRY%G"
RETRY_T = ORDINARY.pop_retry_topic("T")
#: One release of each way to find out whether the broker assigns.
LENIENT, STRICT, NEVER = "5.0.0-PREVIEW", "5.3.1", "5.5.0"
FAILURES = ("SYSTEM_ERROR", "silent", "cut", "no-body", "null")


class Play(Steps):
    """A group that is stepped through; only topic T has queues to give at first."""

    def __init__(self, client: str = NEVER, *, plain: bool = True) -> None:
        super().__init__(RebalanceBrokerModel(Profile.of(client=client), ORDINARY), initial_state(ORDINARY))
        if plain:
            self.of_group("unsubscribe", 0, "U")
            self.assign("T")
            self.assign(RETRY)

    def assign(self, topic: str, pull: tuple[int, ...] = (), pop: tuple[int, ...] = (), oddity: str = "") -> None:
        self.do("assign", topic, pull, pop, oddity)

    def round(self, assign: str = "answer", member: int = 0, bound: str = "answer") -> Any:
        return self.do("rebalance", member, "answer", assign, "answer", bound)

    def asked(self, assign: str = "answer") -> dict[str, int]:
        return {topic: times for topic, times in self.round(assign)[5] if isinstance(topic, str)}

    def marks(self) -> dict[str, bool]:
        return dict(self.state.sides[0].marks)

    def topics(self) -> frozenset[str]:
        who = self.state.group.members[0]
        assert who is not None
        return who.topics


# --- taking an assignment ----------------------------------------------------------------------------------------


def test_what_is_assigned_is_pulled_or_popped() -> None:
    play = Play()
    play.assign("T", (0, 1), (1, -1))
    pulled, popped, pulls, pops, balanced, _ = play.round()
    assert (pulled, popped) == ((0, 1), (("T", -1), ("T", 1)))
    assert pulls == ((0, 0), (1, 0))
    assert pops == (("T", -1, FROM_MAX), ("T", 1, FROM_MAX))
    assert balanced is True
    assert {"REB-BRK-1", "REB-BRK-MODE", "REB-BRK-POP"} <= set(play.rules)
    assert play.round()[:5] == (pulled, popped, (), (), True)


def test_an_empty_assignment_drops_everything() -> None:
    play = Play()
    play.assign("T", (0,), (1,))
    play.round()
    play.of_group("consume", 0, 0, 6)
    play.assign("T")
    assert play.round() == ((), (), (), (), True, ((0, 6), (RETRY, 1), ("T", 1)))
    assert play.kind == "pop dropped"


@pytest.mark.parametrize("fault", FAILURES)
def test_without_an_assignment_everything_is_kept(fault: str) -> None:
    play = Play()
    play.assign("T", (0,), (1,))
    play.round()
    play.assign("T")
    assert play.round(fault)[:5] == ((0,), (("T", 1),), (), (), False)
    assert play.kind == "assignment unknown"


def test_a_queue_changes_from_pulled_to_popped_and_back() -> None:
    play = Play()
    play.assign("T", (0,))
    play.round()
    play.assign("T", (), (0,))
    assert play.round()[:5] == ((), (("T", 0),), (), (("T", 0, FROM_MAX),), True)
    play.assign("T", (0,))
    assert play.round()[:4] == ((0,), (), ((0, 0),), ())


def test_pops_begin_at_the_end_given_by_consume_from_where() -> None:
    play = Play()
    play.do("join", 0, False, CLUSTERING, FIRST, "AVG")
    play.assign("T", (), (0,))
    assert play.round()[3] == (("T", 0, FROM_MIN),)


@pytest.mark.parametrize(("ticks", "expires"), [((60_000, 60_000), False), ((130_000,), True)])
def test_a_queue_that_is_not_popped_for_too_long_begins_anew(ticks: tuple[int, ...], expires: bool) -> None:
    play = Play()
    play.assign("T", (), (0,))
    play.round()
    for millis in ticks:
        play.of_group("tick", millis)
    assert bool(play.round()[3]) is expires
    assert (play.kind == "pop expired") is expires


@pytest.mark.parametrize(("release", "anew"), [("5.1.4", True), ("5.2.0", False)])
def test_before_5_2_0_a_queue_that_was_never_popped_begins_anew_in_every_round(release: str, anew: bool) -> None:
    play = Play(release)
    play.assign("T", (), (0,))
    play.round()
    for _ in range(2):
        play.of_group("tick", 20_000)
        assert bool(play.round()[3]) is anew
        assert (play.kind == "pop expired") is anew
    play.do("pop", 0, "T", 0)
    play.of_group("tick", 20_000)
    assert play.round()[3] == ()


def test_a_queue_without_a_start_is_not_balanced_unless_it_is_popped_too() -> None:
    play = Play()
    play.assign("T", (2,))
    assert play.round(bound="SYSTEM_BUSY")[:5] == ((), (), (), (), False)
    assert "REB-ADD-START" in play.rules
    play.assign("T", (2,), (2,))
    assert play.round(bound="SYSTEM_BUSY")[:5] == ((), (("T", 2),), (), (("T", 2, FROM_MAX),), True)


def test_oddities_are_read_as_the_client_reads_them() -> None:
    def modes(oddity: str) -> list[tuple[Any, Any]]:
        body = json.loads(json.dumps(assignment_body(TopicAssignment((0,), (1,), oddity), "T", "broker-a")))
        return [
            (one.get("messageQueue", {}).get("queueId"), one.get("mode")) for one in body["messageQueueAssignments"]
        ]

    assert [modes(oddity) for oddity in ODDITIES] == [
        [(0, "PULL"), (1, "POP")],
        [(0, "PULL"), (1, "POP"), (None, "POP")],
        [(0, None), (1, "POP")],
    ]


def test_an_assignment_has_only_queues_of_the_topic() -> None:
    assert assignments_of(ORDINARY)("NEXT", (0, 1, 2), (-1, 0, 1), "") == TopicAssignment(
        (0,), (-1, 0), "", ORDINARY.topic_queues["NEXT"][:1]
    )


def test_a_broadcasting_member_sends_no_request() -> None:
    play = Play()
    play.do("join", 0, False, BROADCASTING, LAST, "AVG")
    pulled, popped, _, _, balanced, reached = play.round()
    assert pulled == tuple(sorted(ORDINARY.topic_queues["T"] + ORDINARY.topic_queues["U"]))
    assert (popped, balanced, reached) == ((), True, ())


def test_a_client_of_4_x_sends_no_request() -> None:
    play = Play("4.9.8", plain=False)
    pulled, popped, _, _, balanced, reached = play.round()
    assert (pulled, popped, balanced, reached) == ((5, 6, 8), (), None, ())


# --- retry topics ------------------------------------------------------------------------------------------------


@every(
    ("pull", "pop", "before", "after"),
    [
        ((0,), (), False, True),
        ((0,), (), True, True),
        ((), (0,), True, False),
        ((), (0,), False, False),
        ((0,), (1,), True, True),
        ((0,), (1,), False, False),
        ((), (), True, True),
        ((), (), False, False),
    ],
)
def test_the_retry_topic_is_subscribed_to_while_all_is_pulled(
    pull: tuple[int, ...], pop: tuple[int, ...], before: bool, after: bool
) -> None:
    play = Play()
    if before:
        play.of_group("subscribe", 0, RETRY_T)
    play.assign("T", pull, pop)
    play.round()
    assert (RETRY_T in play.topics()) is after


def test_a_retry_topic_has_no_retry_topic() -> None:
    play = Play()
    play.assign(RETRY, (0,))
    play.round()
    assert play.topics() == {"T", RETRY}


def test_a_retry_topic_that_comes_earlier_waits_and_one_that_comes_later_does_not() -> None:
    play = Play()
    play.of_group("route", ORDINARY.pop_retry_topic("NEXT"), 1)
    play.of_group("subscribe", 0, "NEXT")
    for topic in ("T", RETRY_T, "NEXT", ORDINARY.pop_retry_topic("NEXT")):
        play.assign(topic, (0,))
    assert play.round()[0] == tuple(ORDINARY.queues.index(queue) for queue in ORDINARY.queues if queue[::2] in {
        ("T", 0), ("NEXT", 0), (ORDINARY.pop_retry_topic("NEXT"), 0)
    })  # fmt: skip
    assert {topic for topic, _ in play.round()[5]} == {"T", RETRY_T, RETRY, "NEXT", ORDINARY.pop_retry_topic("NEXT")}


def test_no_topic_subscribes_to_its_neighbour_in_the_hash_table() -> None:
    order = in_hash_order(frozenset(ORDINARY.topic_queues))
    for topic in ("T", "U", "NEXT"):
        # the group's retry topic is always subscribed to, and so are those that have subscribed
        between = sorted((order.index(topic), order.index(ORDINARY.pop_retry_topic(topic))))
        assert between[0] == order.index(ORDINARY.pop_retry_topic(topic)) or RETRY in order[between[0] + 1 : between[1]]


def test_no_request_is_sent_for_a_topic_without_a_route() -> None:
    play = Play()
    play.of_group("subscribe", 0, "NEXT")
    play.of_group("route", "NEXT", -1)
    assert "NEXT" not in play.asked()
    assert play.round()[4] is False
    assert play.kind == "nobody to ask"
    play.of_group("route", "NEXT", 1)
    assert play.asked()["NEXT"] == 1
    assert "REB-BRK-ROUTE" in play.rules
    play.of_group("route", "NEXT", -1)
    assert play.asked()["NEXT"] == 1


# --- topics that are given up ------------------------------------------------------------------------------------


def test_pops_of_an_unsubscribed_topic_are_given_up() -> None:
    play = Play()
    play.assign("T", (), (0,))
    play.round()
    play.of_group("unsubscribe", 0, "T")
    assert play.round()[:2] == ((), ())
    assert play.kind == "pop given up"


def test_a_member_that_ends_has_nothing_to_pop() -> None:
    play = Play()
    play.assign("T", (), (0,))
    play.round()
    assert play.do("leave", 0) == ()
    assert play.state.sides[0].pops == {}
    assert play.do("leave", 0) == ()
    assert play.round() is None
    assert play.do("pop", 0, "T", 0) is None


def test_a_pop_asks_while_its_queue_is_owned_and_subscribed_to() -> None:
    play = Play()
    play.assign("T", (), (0,))
    play.round()
    assert play.do("pop", 0, "T", 0) is True
    assert play.do("pop", 0, "T", 1) is False
    play.of_group("tick", 130_000)
    play.of_group("unsubscribe", 0, "T")
    assert play.do("pop", 0, "T", 0) is False
    assert play.kind == "no subscription"
    play.of_group("subscribe", 0, "T")
    assert play.round()[3] == ()  # the pop that was put off counted as one


# --- does the broker assign at all? ------------------------------------------------------------------------------


@every(
    ("client", "fault", "times", "mark"),
    [
        (STRICT, "answer", 2, True),
        (STRICT, "null", 2, True),
        (STRICT, "silent", MAX_PROBES, False),
        (STRICT, "SYSTEM_ERROR", 1, False),
        (STRICT, "no-body", 1, False),
        (STRICT, "silent-once", 3, True),
        (STRICT, "silent-twice", 4, True),
        (STRICT, "answer-once", 2, True),
        (LENIENT, "answer", 2, True),
        (LENIENT, "null", 2, True),
        (LENIENT, "silent", MAX_PROBES, False),
        (LENIENT, "SYSTEM_ERROR", 2, None),
        (LENIENT, "cut", 2, None),
        (LENIENT, "error-once", 2, None),
        (NEVER, "answer", 1, None),
        (NEVER, "silent", 1, None),
        (NEVER, "SYSTEM_ERROR", 1, None),
    ],
)
def test_a_topic_is_probed_once(client: str, fault: str, times: int, mark: bool | None) -> None:
    play = Play(client)
    assert play.asked(fault)["T"] == times
    assert play.marks().get("T") is mark


def test_a_topic_that_was_given_to_the_client_stays_its_own() -> None:
    play = Play(STRICT)
    play.assign("T", (), (0,))
    assert play.round("silent")[0] == (5, 6)
    assert play.kind == "marked for the client"
    assert play.round()[:2] == ((5, 6), ())
    assert play.asked() == {}


def test_a_topic_is_probed_again_when_it_comes_back() -> None:
    play = Play(STRICT)
    play.round("silent")
    play.of_group("unsubscribe", 0, "T")
    play.round()
    assert "T" not in play.marks()
    play.of_group("subscribe", 0, "T")
    assert play.asked()["T"] == 2


def test_pops_are_left_when_the_client_takes_the_topic_over() -> None:
    play = Play(LENIENT)
    play.assign("T", (), (-1, 2))
    assert play.round("error-once")[:2] == ((), (("T", -1), ("T", 2)))
    pulled, popped, _, _, balanced, _ = play.round("silent", bound="SYSTEM_BUSY")
    assert popped == (("T", -1), ("T", 2))
    assert pulled == ()
    assert "REB-BRK-LEFT" in play.rules
    assert balanced is True  # the group's retry topic comes last, and that is balanced


def test_pops_that_are_left_are_not_balanced() -> None:
    play = Play(STRICT)
    side = play.state.sides[0]._replace(pops={("T", -1): 0})
    play.state = play.state._replace(sides=(side, *play.state.sides[1:]))
    assert play.round("silent")[4] is False


# --- as a whole --------------------------------------------------------------------------------------------------


def test_faults_that_count_requests() -> None:
    played = {fault: [nth_assignment_fault(fault, nth) for nth in (1, 2, 3)] for fault in ASSIGN_FAULTS}
    assert played["silent-once"] == ["silent", "answer", "answer"]
    assert played["silent-twice"] == ["silent", "silent", "answer"]
    assert played["answer-once"] == ["answer", "SYSTEM_ERROR", "SYSTEM_ERROR"]
    assert played["error-once"] == ["SYSTEM_ERROR", "answer", "answer"]
    assert played["cut"] == ["cut"] * 3


def test_every_reason_names_known_rules() -> None:
    for met, events in product((0, *(1 << at for at in range(len(_EXTRA_EVENTS)))), (0, 1, ALIGNED)):
        assert_known(rebalance_broker_reason(met, events, CLUSTERING, True))


@settings(deadline=None)
@given(st.sampled_from((LENIENT, STRICT, NEVER)), st.integers(0, 1 << 30))
def test_a_member_with_an_answer_has_its_assignment(client: str, plan: int) -> None:
    profile = Profile.of(client=client)
    bound = SUITE.bind(profile)
    state: RebalanceBrokerState = bound.initial
    for position, args in sampler(SUITE, profile).case(plan, 0, SUITE.steps):
        state, result, _ = bound.by_position[position](state, *args)
        if SUITE.operations[position].spec.name != "rebalance" or result is None:
            continue
        who = state.group.members[args[0]]
        assert who is not None
        topics = {ORDINARY.queues[queue].topic for queue in result[0]} | {topic for topic, _ in result[1]}
        assert topics <= who.topics
        if client == NEVER and result[4] and args[2] == "answer" and who.mode == CLUSTERING:
            for topic, times in result[5]:
                if isinstance(topic, str) and topic in who.topics:
                    given = state.assignments[topic]
                    has = {ORDINARY.queues[queue].id for queue in result[0] if ORDINARY.queues[queue].topic == topic}
                    pops = {number for name, number in result[1] if name == topic}
                    assert (has | pops, times) == ({*given.pull, *given.pop}, 1)
                    assert pops == {*given.pop}
                    assert has <= {*given.pull}


def test_the_state_is_shown_with_the_assignments() -> None:
    play = Play()
    play.assign("T", (0,), (1,))
    play.round()
    play.do("leave", 1)
    shown = SUITE.show(play.state)
    assert "pops ['T queue 1']" in shown
    assert "1: no member" in shown
    assert "T: pulled 0, popped 1" in shown
