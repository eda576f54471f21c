"""Lite pull consumers: what they own, what they pull all the same, what is polled and committed, rule by rule."""

from __future__ import annotations

from typing import Any

import pytest
from by_hand import Steps
from every import every
from hypothesis import given, settings
from hypothesis import strategies as st

from rocketmq_conformance.conformance.engine import corpus
from rocketmq_conformance.conformance.engine.judge import Judge
from rocketmq_conformance.conformance.engine.stage import Stage
from rocketmq_conformance.conformance.targets.port.adapter import Port
from rocketmq_conformance.conformance.targets.port.group_member import OwnedQueue
from rocketmq_conformance.conformance.targets.port.rebalance_pull import RebalancePull
from rocketmq_conformance.models import rulebook
from rocketmq_conformance.models.client import rebalance_pull, rebalance_pull_round
from rocketmq_conformance.models.client.broadcast import NO_FILES
from rocketmq_conformance.models.client.local_store import MISSING
from rocketmq_conformance.models.client.rebalance_pull import RebalancePullModel, initial_state
from rocketmq_conformance.models.client.rebalance_pull_round import NEW_PULL_MEMBER, rebalance_pull_reason
from rocketmq_conformance.models.client.rebalance_round import ALIGNED
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.reports.event import CONFORMS, DIVERGES
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.sampler import sampler
from rocketmq_conformance.suites.declare.topologies import GROUP, ORDINARY, RETRY_TOPIC
from rocketmq_conformance.suites.rebalance_pull import SUITE

LAST, FIRST = "CONSUME_FROM_LAST_OFFSET", "CONSUME_FROM_FIRST_OFFSET"
OLD = ("4.6.0", "4.6.1", "4.9.3", "4.9.8")
NEW = ("5.0.0-PREVIEW", "5.0.0", "5.4.0", "5.5.0")
#: Queues that member 0 of three owns.
MINE = (5, 6, 8)


class Play(Steps):
    """A group that is stepped through; most of what happens, happens to member 0."""

    def __init__(self, client: str = "5.5.0") -> None:
        bound = SUITE.bind(Profile.of(client=client))
        super().__init__(bound, bound.initial)

    def do(self, name: str, *args: Any) -> Any:
        return self._step(self.model.by_position[SUITE.index[name]], *args)

    def round(self, member: int = 0, fault: str = "answer", bound: str = "answer", listed: str = "answer") -> Any:
        return self.do("rebalance", member, listed, fault, bound)

    def pull(self, found: bool = True, fault: str = "answer", bound: str = "answer", member: int = 0) -> Any:
        return self.do("pull", member, found, fault, bound)

    def join(self, mode: str = "CLUSTERING", where: str = LAST, member: int = 0) -> None:
        self.do("join", member, False, mode, where, "AVG")

    def memory(self, member: int = 0) -> dict[int, int]:
        return dict(self.state.group.members[member].memory)

    def stored(self, queue: int) -> int | None:
        topic, _, number = ORDINARY.queues[queue]
        found: int | None = self.state.group.broker.stored.get((GROUP, topic, number))
        return found


def settled(client: str = "5.5.0") -> Play:
    play = Play(client)
    play.round()
    return play


# --- rounds ------------------------------------------------------------------------------------------------------


@every("client", [*OLD, *NEW])
def test_a_round_owns_the_share_and_pulls_it(client: str) -> None:
    play = Play(client)
    owned, assigned, balanced, commits = play.round()
    assert owned == assigned == MINE
    assert balanced is (None if client.startswith("4") else True)
    assert commits == ()
    assert play.kind == "added"
    assert {"REB-VAR-START", "REB-MQC-LITE", "START-LITE-0" if client == "4.6.0" else "START-LITE-1"} <= {*play.rules}
    assert "START-PUSH-1" not in play.rules


def test_there_is_no_retry_topic() -> None:
    for who in initial_state(ORDINARY).group.members:
        assert who is not None
        assert RETRY_TOPIC not in who.topics | set(who.seen)


def test_a_lost_queue_is_sent_and_forgotten_and_pulled_no_more() -> None:
    play = settled()
    play.pull()
    play.do("poll", 0, 8)
    play.do("commit", 0)
    play.do("list_members", (1, 2))
    assert play.memory() == {5: 13, 6: 13, 8: 13}
    assert play.round() == ((), (), True, ((5, 13), (6, 13), (8, 13)))
    assert "REB-VAR-REM" in play.rules
    assert play.memory() == {}
    assert play.stored(5) == 13
    assert play.pull() == ()
    assert play.kind == "nothing assigned"


def test_nothing_expires() -> None:
    play = settled()
    play.do("tick", 1_000_000)
    assert play.round() == (MINE, MINE, True, ())
    assert play.kind == "nothing to do"


def test_a_queue_without_a_start_is_pulled_but_not_owned_when_another_one_came() -> None:
    play = Play()
    play.do("commit_elsewhere", 5, 1)
    owned, assigned, balanced, _ = play.round(bound="SYSTEM_BUSY")
    assert (owned, assigned, balanced) == ((5,), (5, 6), False)
    assert play.kind == "pulled, not owned"
    assert play.pull() == ((5, 1), (6, 12))
    assert play.round()[:2] == (MINE, MINE)
    assert play.pull() == ((5, 2), (6, 13), (8, 12))
    assert play.do("poll", 0, 2) == ((5, 1), (6, 12))


def test_a_queue_without_a_start_alone_is_neither() -> None:
    play = Play()
    assert play.round(bound="SYSTEM_BUSY")[:2] == ((), ())
    assert play.kind == "no start"


@every("client", [*OLD, *NEW])
def test_a_topic_that_was_given_up_and_taken_back_is_owned_and_not_pulled(client: str) -> None:
    play = settled(client)
    play.do("unsubscribe", 0, "T")
    assert play.kind == "pulls end"
    play.do("subscribe", 0, "T")
    assert play.round()[:2] == (MINE, (8,))
    assert play.kind == "owned, not pulled"
    assert "REB-MQC-SAME" in play.rules
    assert [queue for queue, _ in play.pull()] == [8]
    play.do("list_members", (0, 2))
    assert play.round()[:2] == ((0, 1, 2, 5), (0, 1, 2, 5))


@every("client", [*OLD, *NEW])
def test_a_topic_without_queues_is_pulled_on_until_the_listener_is_called(client: str) -> None:
    play = settled(client)
    play.do("route", "T", 0)
    play.do("refresh", 0)
    assert play.round()[:2] == (MINE, (8,) if client == "5.5.0" else MINE)
    assert ("REB-MQC-UNKNOWN" in play.rules) is (client == "5.5.0")
    assert (play.kind == "owned, not pulled") is (client == "5.5.0")


def test_queues_that_come_back_in_5_5_0_are_not_pulled() -> None:
    play = settled()
    for queues in (0, 5):
        play.do("route", "T", queues)
        play.do("refresh", 0)
        assert play.round()[:3] == (MINE, (8,), queues == 0)
        assert play.kind == "owned, not pulled"
    play.do("list_members", (0, 2))
    play.round()
    assert play.pull() == ((0, 0), (1, 0), (2, 0), (5, -1))
    assert play.kind == "dropped"
    play.do("commit", 0)


class OpensAgain(RebalancePull):
    """Begins queues anew that were dropped while nobody knew of them (D95)."""

    def is_forgotten(self, owned: OwnedQueue) -> bool:
        return owned.dropped


@pytest.mark.parametrize(("port", "verdict"), [(Port(), CONFORMS), (Port({"rebalance-pull": OpensAgain}), DIVERGES)])
def test_the_corpus_notices_a_port_that_pulls_queues_that_come_back(port: Port, verdict: str) -> None:
    """Generated plans come to it once in some thousands."""
    stage = Stage(port, Profile())
    verdicts = set()
    for number, case in enumerate(corpus.cases([corpus.kit_folder()], [SUITE])[SUITE.name]):
        stage.begin(SUITE, number)
        verdicts.add(Judge(SUITE, Profile()).judge(case.rows, lambda row: stage.do(SUITE, row)).verdict)
    stage.close()
    assert verdicts == {CONFORMS, verdict}


@pytest.mark.parametrize("client", ["4.9.8", "5.4.0"])
def test_the_listener_is_called_for_a_topic_that_was_never_known_in_5(client: str) -> None:
    play = Play(client)
    play.do("route", "T", -1)
    play.join()
    play.round()
    assert ("REB-MQC-UNKNOWN" in play.rules) is (client == "5.4.0")


def test_a_broadcasting_member_pulls_everything_and_loses_it_with_the_route() -> None:
    play = Play()
    play.join("BROADCASTING")
    everything = (0, 1, 2, 5, 6, 7, 8)
    assert play.round()[:2] == (everything, everything)
    play.do("route", "T", 0)
    play.do("refresh", 0)
    assert play.round()[:2] == ((2, 8), (2, 8))
    assert play.kind == "dropped"


def test_a_member_without_list_keeps_its_queues() -> None:
    play = settled()
    assert play.round(listed="silent") == (MINE, MINE, True, ())
    assert play.kind == "no list"


def test_a_given_up_topic_is_dropped_by_the_next_round() -> None:
    play = settled()
    play.do("unsubscribe", 0, "T")
    assert play.round()[:2] == ((8,), (8,))
    assert play.kind == "topic given up"


# --- pulls -------------------------------------------------------------------------------------------------------


def test_pulls_begin_at_the_start_and_go_on_behind_each_message() -> None:
    play = settled()
    assert play.pull() == ((5, 12), (6, 12), (8, 12))
    assert play.kind == "first pull"
    assert play.pull(False) == ((5, 13), (6, 13), (8, 13))
    assert play.kind == "goes on"
    assert play.pull() == ((5, 13), (6, 13), (8, 13))


def test_the_start_is_asked_for_again_by_the_first_pull() -> None:
    play = settled()
    play.do("commit_elsewhere", 5, 1)
    assert play.pull()[0] == (5, 1)


def test_what_the_round_learned_is_gone_by_unless_it_was_set() -> None:
    play = Play()
    play.do("commit_elsewhere", 5, 1)
    play.round()
    play.do("commit_elsewhere", 5, 6)
    play.do("update", 0, 6, 1)
    assert play.pull()[:2] == ((5, 1), (6, 1))


def test_a_pull_without_a_start_asks_for_nothing() -> None:
    play = settled()
    assert play.pull(fault="silent") == ((5, -1), (6, -1), (8, -1))
    assert play.kind == "no start"
    assert play.do("poll", 0, 1) == ()


@pytest.mark.parametrize(("mode", "asked"), [("CLUSTERING", -1), ("BROADCASTING", 0)])
def test_the_first_release_pulls_from_the_store_or_from_0_when_broadcasting(mode: str, asked: int) -> None:
    play = Play("4.6.0")
    play.join(mode)
    play.round()
    assert dict(play.pull(fault="silent"))[5] == asked
    assert dict(play.pull(fault="QUERY_NOT_FOUND"))[5] == (asked if asked < 0 else 1)
    play.do("update", 0, 5, 6)
    assert dict(play.pull())[5] == (6 if asked < 0 else 2)


def test_the_first_release_pulls_from_what_the_file_of_a_broadcasting_member_held() -> None:
    play = Play("4.6.0")
    play.join("BROADCASTING")
    play.round()
    play.do("update", 0, 5, 6)
    play.do("persist", 0)
    play.join("BROADCASTING")
    assert play.memory() == {5: 6}
    play.round()
    assert dict(play.pull())[5] == 6


@every("client", ["4.6.1", "4.9.7", "4.9.8", "5.1.4", "5.2.0", "5.5.0"])
def test_a_broadcasting_member_goes_on_where_memory_or_the_file_says_and_asks_no_broker(client: str) -> None:
    play = Play(client)
    play.do("commit_elsewhere", 5, 1)
    play.join("BROADCASTING", FIRST)
    play.do("update", 0, 5, 6)
    play.round()
    merges = client in ("4.9.8", "5.2.0", "5.5.0")
    assert dict(play.pull(fault="silent"))[5] == (0 if merges else 6)  # a new store forgets what is added
    play.do("update", 0, 5, 7)
    assert play.do("leave", 0) == ()
    play.join("BROADCASTING", FIRST)
    assert play.kind == "broadcasting, main"
    play.round()
    assert dict(play.pull(fault="silent"))[5] == 7
    assert play.stored(5) == 1


# --- polls -------------------------------------------------------------------------------------------------------


def test_messages_are_polled_in_the_order_of_the_pulls() -> None:
    play = settled()
    play.pull()
    play.pull()
    assert play.do("poll", 0, 2) == ((5, 12), (6, 12))
    assert play.do("poll", 0, 8) == ((8, 12), (5, 13), (6, 13), (8, 13))
    assert play.do("poll", 0, 1) == ()
    assert play.kind == "nothing to poll"


def test_messages_of_a_lost_queue_are_not_polled() -> None:
    play = settled()
    play.pull()
    play.do("list_members", (1, 2))
    play.round()
    assert play.do("poll", 0, 8) == ()
    assert play.state.kept[0].caches == {}


def test_messages_of_a_given_up_topic_are_polled_until_the_round_and_not_committed() -> None:
    play = settled()
    play.pull()
    play.do("unsubscribe", 0, "T")
    assert play.do("poll", 0, 1) == ((5, 12),)
    assert play.kind == "polled, not assigned"
    play.do("commit", 0)
    assert play.kind == "nothing consumed"
    play.round()
    assert play.do("poll", 0, 8) == ((8, 12),)


def test_a_message_that_was_pulled_twice_is_polled_twice_and_sets_the_offset_back() -> None:
    play = settled()
    play.pull()
    play.do("unsubscribe", 0, "T")
    play.do("subscribe", 0, "T")
    play.do("list_members", (0, 2))
    play.round()  # queue 5 was owned all the time, and is assigned anew
    assert dict(play.pull())[5] == 12
    assert play.do("poll", 0, 1) == ((5, 12),)
    assert play.state.kept[0].assigned[5].consumed == 13
    while (5, 12) not in play.do("poll", 0, 1):
        assert play.kind == "polled"
    assert play.kind == "polled again"
    assert play.state.kept[0].assigned[5].consumed == -1


def test_a_message_of_a_process_queue_of_its_own_outlives_it_and_is_consumed_for_the_next() -> None:
    play = Play()
    play.do("commit_elsewhere", 5, 1)
    play.round(bound="SYSTEM_BUSY")  # queue 6 has a process queue that is not in the table
    play.pull()
    play.do("unsubscribe", 0, "T")
    play.round()
    play.do("subscribe", 0, "T")
    play.round()
    assert play.do("poll", 0, 1) == ((6, 12),)
    assert play.kind == "polled, assigned anew"
    assert play.state.kept[0].assigned[6].consumed == 13


# --- commits -----------------------------------------------------------------------------------------------------


def test_a_commit_is_left_to_the_timer() -> None:
    play = settled()
    play.pull()
    play.do("poll", 0, 1)
    assert play.do("commit", 0) == ()
    assert play.kind == "into memory"
    assert play.memory()[5] == 13
    assert (5, 13) in play.do("persist", 0)


def test_a_commit_lowers_the_offset_in_memory() -> None:
    play = settled()
    play.pull()
    play.do("poll", 0, 1)
    play.do("update", 0, 5, 100)
    play.do("commit", 0)
    assert play.memory()[5] == 13


def test_the_first_release_sends_a_commit_at_once_and_new_offsets_only() -> None:
    play = Play("4.6.0")
    play.do("commit_elsewhere", 5, 1)
    play.round()
    play.pull()
    play.do("poll", 0, 1)
    assert play.do("commit", 0) == ((5, 2, "awaited"),)
    assert play.kind == "sent at once"
    assert play.do("commit", 0) == ()
    assert play.kind == "known already"


@pytest.mark.parametrize(("client", "writes"), [("4.6.0", True), ("4.9.3", True), ("4.9.4", False), ("5.0.0", False)])
def test_a_broadcasting_commit_writes_the_file_up_to_4_9_3(client: str, writes: bool) -> None:
    play = Play(client)
    play.join("BROADCASTING", FIRST)
    play.round()
    play.do("commit", 0)
    assert play.kind == ("file written" if writes else "nothing consumed, broadcasting")
    play.do("update", 0, 3, 1)
    play.pull()
    play.do("poll", 0, 1)
    assert play.do("commit", 0) == ()
    assert play.kind == ("file written" if writes else "into memory, broadcasting")
    assert play.memory() == {0: 1, 3: 1}
    assert play.state.group.files.get(ORDINARY.clients[0], NO_FILES)[0] == ({0: 1} if writes else MISSING)


# --- lives -------------------------------------------------------------------------------------------------------


def test_a_member_that_ends_sends_offsets_of_owned_queues_and_keeps_nothing() -> None:
    play = settled()
    play.do("update", 0, 5, 12)
    assert (5, 12) in play.do("leave", 0)
    assert play.state.kept[0] == NEW_PULL_MEMBER
    for name, args in (
        *(("rebalance", ("answer", "answer", "answer")), ("pull", (True, "answer", "answer")), ("poll", (1,))),
        *(("commit", ()), ("leave", ()), ("persist", ()), ("subscribe", ("T",)), ("unsubscribe", ("T",))),
        *(("refresh", ()), ("restart", ())),
    ):
        assert not play.do(name, 0, *args)
        assert play.kind == "no member"


def test_a_member_that_begins_anew_pulls_nothing() -> None:
    play = settled()
    play.join()
    assert play.kind == "begins anew"
    assert play.pull() == ()


def test_subscribing_learns_the_routes_of_all_topics() -> None:
    play = settled()
    play.do("route", "T", 1)
    play.do("subscribe", 0, "U")
    assert play.kind == "subscribed already"
    assert play.state.group.members[0].seen["T"] == 1
    play.do("unsubscribe", 0, "U")
    play.do("unsubscribe", 0, "U")
    assert play.kind == "nothing assigned"
    play.do("subscribe", 0, "U")
    assert play.kind == "subscribed"


# --- the whole ---------------------------------------------------------------------------------------------------

DRAW = sampler(SUITE, Profile())


@settings(deadline=None, max_examples=60)
@given(st.sampled_from((*OLD, *NEW)), st.integers(0, 1 << 30))
def test_what_is_pulled_has_a_process_queue_that_lives_and_messages_that_wait_have_one(client: str, plan: int) -> None:
    bound = SUITE.bind(Profile.of(client=client))
    state = bound.initial
    for position, args in DRAW.case(plan, 0, SUITE.steps):
        state, _, _ = bound.by_position[position](state, *args)
        for who, kept in zip(state.group.members, state.kept, strict=True):
            numbers = [number for _, number, _ in kept.pulled]
            assert kept.caches.keys() >= set(numbers)
            if who is None:
                assert kept == NEW_PULL_MEMBER
                continue
            assert all(ORDINARY.queues[queue].topic in who.topics for queue in kept.assigned)
            own = {queue: held.number for queue, held in kept.assigned.items()}
            assert len(set(own.values())) == len(own)
            assert all(number <= who.made for number in own.values())
            for number, cache in kept.caches.items():
                assert list(cache.waiting) == sorted(set(cache.waiting)), number


def test_the_suite_shows_its_state() -> None:
    play = settled()
    play.pull()
    play.do("leave", 2)
    shown = SUITE.show(play.state)
    assert "1: 10.0.0.10@a CLUSTERING owns [], pulls []" in shown
    assert "to be polled ['12 of 5', '12 of 6', '12 of 8']" in shown
    assert "2: no member" in shown
    assert "from its start" in SUITE.show(settled().state)


def test_every_reason_is_in_the_rule_book() -> None:
    for met in range(32):
        for mode in ("CLUSTERING", "BROADCASTING"):
            for starts in (False, True):
                why = rebalance_pull_reason(met, ALIGNED | 0b111, mode, True, starts)
                assert set(why.rules) <= set(rulebook.RULES)
    for rule in (*rebalance_pull.RULES, *rebalance_pull_round.RULES):
        assert rule.id in SUITE.rules


def test_no_client_before_4_6_0_plays_it() -> None:
    offered = SUITE.offered(Profile.of(client="4.5.2"))
    assert all(SUITE.operations[at].spec.name in _ANYWHERE for at in offered)
    assert len(SUITE.offered(Profile.of(client="4.6.0"))) == len(SUITE.operations)
    assert SUITES["rebalance-pull"] is SUITE


_ANYWHERE = {"tick", "list_members", "route", "commit_elsewhere"}


def test_a_group_has_as_many_members_as_clients() -> None:
    assert len(initial_state(ORDINARY).kept) == len(ORDINARY.clients)
    assert RebalancePullModel(Profile(), ORDINARY).rebalancing.starts
