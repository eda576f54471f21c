"""The offsets of broadcasting members, worked out by hand: in memory, and in the file of their client id."""

from __future__ import annotations

from typing import Any

from by_hand import Steps
from every import every
from hypothesis import given, settings
from hypothesis import strategies as st

from rocketmq_conformance.models.client import rebalance_orderly
from rocketmq_conformance.models.client.broadcast import NO_FILES
from rocketmq_conformance.models.client.group_state import initial_state
from rocketmq_conformance.models.client.local_store import MISSING
from rocketmq_conformance.models.client.member import BROADCASTING
from rocketmq_conformance.models.client.rebalance import RebalanceModel
from rocketmq_conformance.models.client.rebalance_orderly import RebalanceOrderlyModel
from rocketmq_conformance.models.client.start import FIRST, LAST
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.sampler import sampler
from rocketmq_conformance.suites.declare.topologies import ORDINARY

#: Releases whose local store can do nothing with one queue, and those whose store can.
PLAIN, MERGING = ("4.0.0", "4.9.7", "5.1.4"), ("4.9.8", "5.2.0", "5.5.0")
ALL = (0, 1, 2, 5, 6, 7, 8)


class Play(Steps):
    """A group whose member 0 broadcasts and has started every queue at 0."""

    def __init__(self, client: str = "5.5.0") -> None:
        super().__init__(RebalanceModel(Profile.of(client=client), ORDINARY), initial_state(ORDINARY))
        self.join()
        self.round()

    def join(self, where: str = FIRST, member: int = 0, twin: bool = False) -> None:
        self.do("join", member, twin, BROADCASTING, where, "AVG")

    def round(self, fault: str = "answer", bound: str = "answer", member: int = 0) -> Any:
        return self.do("rebalance", member, "answer", fault, bound)

    def memory(self, member: int = 0) -> dict[int, int]:
        return dict(self.state.members[member].memory)

    def file(self, client: str = ORDINARY.clients[0]) -> Any:
        return self.state.files.get(client, NO_FILES)[0]


def test_a_broadcasting_member_asks_no_broker_for_an_offset_and_commits_none() -> None:
    play = Play()
    play.do("commit_elsewhere", 0, 9)
    play.join(LAST)
    assert play.kind == "broadcasting, no file"
    assert dict(play.round(fault="silent")[1]) == dict.fromkeys((0, 5, 6, 7), 12) | {1: 12, 2: 12, 8: 12}
    assert play.memory() == {}
    play.do("update", 0, 0, 6)
    assert play.do("persist", 0) == ()
    assert play.kind == "file written"
    assert play.do("leave", 0) == ()
    assert play.state.broker.stored["G", "T", 0] == 9


@every("client", [*PLAIN, *MERGING])
def test_a_lost_queue_is_written_and_forgotten_or_neither(client: str) -> None:
    play = Play(client)
    play.do("update", 0, 5, 6)
    play.do("route", "T", 2)
    play.do("refresh", 0)
    owned, _, _, commits = play.round()
    assert (owned, commits, play.kind) == ((0, 1, 2, 8), (), "dropped with offset")
    assert play.memory() == ({5: 6} if client in PLAIN else {})
    assert play.file() == (MISSING if client in PLAIN else {5: 6})


@every("client", [*PLAIN, *MERGING])
def test_an_added_queue_starts_at_the_file_even_behind_memory(client: str) -> None:
    play = Play(client)
    play.do("update", 0, 5, 6)
    play.do("persist", 0)
    play.do("update", 0, 5, 9)
    play.do("update", 0, 6, 9)
    play.do("tick", 130_000)
    begun = dict(play.round()[1])
    assert (begun[5], begun[6]) == ((6, 0) if client in PLAIN else (9, 9))
    assert play.memory() == ({5: 6, 6: 9} if client in PLAIN else {5: 9, 6: 9})


@every("client", [*PLAIN, *MERGING])
def test_the_timer_writes_the_owned_queues_and_forgets_none(client: str) -> None:
    play = Play(client)
    play.do("update", 0, 3, 1)
    play.do("update", 0, 5, 6)
    play.do("persist", 0)
    assert (play.file(), play.memory()) == ({5: 6}, {3: 1, 5: 6})
    play.do("route", "T", 0)
    play.do("refresh", 0)
    play.round()
    play.do("update", 0, 2, 7)
    play.do("persist", 0)
    assert play.file() == ({2: 7} if client in PLAIN else {5: 6, 2: 7})


def test_a_member_without_queues_writes_nothing() -> None:
    play = Play()
    play.join()
    play.do("update", 0, 5, 6)
    play.do("persist", 0)
    assert (play.kind, play.file()) == ("nothing to write", MISSING)
    play.do("leave", 0)
    assert (play.kind, play.file()) == ("nothing to write", MISSING)


def test_the_next_member_with_the_client_id_goes_on_where_the_file_ends() -> None:
    play = Play()
    play.do("update", 0, 5, 6)
    play.do("leave", 0)
    assert play.kind == "file written"
    play.join(member=2, twin=True)
    assert (play.kind, play.memory(2)) == ("broadcasting, main", {5: 6})
    assert dict(play.round(member=2)[1])[5] == 6
    play.do("update", 2, 6, 9)
    play.do("persist", 2)
    assert play.file() == {5: 6, 6: 9}
    play.join()
    play.do("join", 0, False, "CLUSTERING", LAST, "AVG")
    assert play.memory() == {}


@every("client", ["4.9.8", "5.5.0"])
def test_a_queue_without_max_is_left_for_the_next_round(client: str) -> None:
    play = Play(client)
    play.do("update", 0, 5, 6)
    play.do("leave", 0)
    play.join(LAST)
    assert play.round(bound="SYSTEM_BUSY")[0] == (5,)
    assert play.kind == "no start"


def test_an_orderly_member_asks_its_file_again_before_the_first_pull() -> None:
    model = RebalanceOrderlyModel(Profile.of(client="5.5.0"), ORDINARY)
    play = Steps(model, rebalance_orderly.initial_state(ORDINARY))
    play.do("join", 0, False, BROADCASTING, FIRST, "AVG")
    play.state = model.of_group(model.group.update)(play.state, 0, 5, 6)[0]
    play.do("rebalance", 0, "answer", "answer", "answer", "answer")
    play.state = model.of_group(model.group.update)(play.state, 0, 5, 7)[0]
    play.state = model.of_group(model.group.persist)(play.state, 0)[0]
    assert play.do("pull", 0, 5, "silent", "answer") == (7, 0, False)
    assert play.kind == "start asked again, broadcasting"


def test_a_pull_of_a_broadcasting_member_commits_nothing() -> None:
    play = Play()
    play.do("update", 0, 5, 6)
    assert play.do("pull", 0, 5) == (0, 0, False)
    play.do("join", 0, False, "CLUSTERING", FIRST, "AVG")
    play.round()
    play.do("update", 0, 5, 6)
    assert play.do("pull", 0, 5) == (0, 6, True)


@settings(deadline=None)
@given(st.sampled_from([*PLAIN, *MERGING]), st.integers(0, 1 << 30))
def test_no_step_of_a_broadcasting_member_reaches_the_stored_offsets(client: str, plan: int) -> None:
    suite, profile = SUITES["rebalance"], Profile.of(client=client)
    bound = suite.bind(profile)
    state = bound.initial
    for position, args in sampler(suite, profile).case(plan, 0, suite.steps):
        before = state
        state = bound.by_position[position](state, *args)[0]
        name = suite.operations[position].spec.name
        if name in ("rebalance", "leave", "persist") and before.members[args[0]] is not None:
            if before.members[args[0]].mode == BROADCASTING:
                assert state.broker is before.broker
            else:
                assert state.files is before.files
