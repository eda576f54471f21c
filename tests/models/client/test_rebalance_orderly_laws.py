"""The orderly group as a whole: one member relies on a lock, nothing is consumed without it, and locks come free."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocketmq_conformance.models.client.group_state import owners
from rocketmq_conformance.models.client.member import BROADCASTING, CLUSTERING
from rocketmq_conformance.models.client.rebalance_orderly import (
    RebalanceOrderlyModel,
    RebalanceOrderlyState,
    lock_holders,
    relying_members,
)
from rocketmq_conformance.models.client.start import LAST
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.sampler import sampler
from rocketmq_conformance.suites.declare.topologies import ORDINARY
from rocketmq_conformance.suites.rebalance_orderly import SUITE

#: Releases that unlock only what no listener has, or by force.
IDLE = ("5.2.0", "5.5.0")
OLDER = ("4.0.0", "4.9.8", "5.1.4")
MEMBERS = range(len(ORDINARY.clients))
DRAW = sampler(SUITE, Profile())

plans = st.integers(0, 1 << 30)
Step = tuple[str, tuple[Any, ...], RebalanceOrderlyState, Any, RebalanceOrderlyState]


def undisturbed(name: str, args: tuple[Any, ...]) -> bool:
    """A step after which every holder knows its locks: brokers keep running, client ids are unique."""
    if name in ("join", "join_later_strategy"):
        return not args[1]
    return name != "forget_locks" and not (name == "lock_elsewhere" and args[1])


def steps(client: str, plan: int) -> Iterator[Step]:
    """A drawn case without what takes locks away: operation, arguments, state before, result, state after."""
    bound = SUITE.bind(Profile.of(client=client))
    state: RebalanceOrderlyState = bound.initial
    for position, args in DRAW.case(plan, 0, 2 * SUITE.steps):
        name = SUITE.operations[position].spec.name
        if undisturbed(name, args):
            before = state
            state, result, _ = bound.by_position[position](state, *args)
            yield name, args, before, result, state


@settings(deadline=None)
@given(st.sampled_from(IDLE), plans)
def test_a_lock_is_relied_on_by_one_member_which_has_it(client: str, plan: int) -> None:
    for *_, state in steps(client, plan):
        for queue, members in relying_members(state).items():
            (member,) = members
            who = state.group.members[member]
            assert who is not None
            assert lock_holders(ORDINARY, state)[queue] == who.client


@settings(deadline=None)
@given(st.sampled_from(IDLE), plans)
def test_nothing_is_consumed_without_the_lock(client: str, plan: int) -> None:
    for name, args, before, result, state in steps(client, plan):
        who = state.group.members[args[0]] if name in ("consume", "take", "finish") else None
        if who is None or who.mode == BROADCASTING:
            continue
        queue = args[1]
        if result is not None if name == "take" else result[0]:
            assert lock_holders(ORDINARY, state)[queue] == who.client
            assert not who.table[queue].dropped
            assert queue in before.group.members[args[0]].table  # type: ignore[union-attr]


@pytest.mark.parametrize(("client", "members"), [*((old, (0, 1)) for old in OLDER), *((idle, (0,)) for idle in IDLE)])
def test_older_clients_may_rely_on_a_lock_that_they_gave_away(client: str, members: tuple[int, ...]) -> None:
    model = RebalanceOrderlyModel(Profile.of(client=client), ORDINARY)
    state = SUITE.bind(Profile.of(client=client)).initial

    def listed_alone(state: RebalanceOrderlyState, member: int, *rounds: int) -> RebalanceOrderlyState:
        state = model.of_group(model.group.list_members)(state, (member,))[0]
        for number in rounds:
            state = model.rebalance(state, number, "answer", "answer", "answer", "answer")[0]
            state = model.renew(state, number, "answer")[0]
        return state

    state = listed_alone(state, 0, 0)
    state = model.receive(state, 0, 0, 4)[0]
    state = listed_alone(state, 1, 0)
    state = listed_alone(state, 0, 0)
    state = model.tick(state, 20_000)[0]
    state = listed_alone(state, 1, 1)
    assert relying_members(state)[0] == members


@settings(deadline=None)
@given(st.sampled_from((*IDLE, *OLDER)), plans)
def test_every_queue_finds_one_owner_when_listeners_are_done_and_leases_are_over(client: str, plan: int) -> None:
    model = RebalanceOrderlyModel(Profile.of(client=client), ORDINARY)
    state = list(steps(client, plan))[-1][4]
    for topic in ORDINARY.topic_queues:
        state = model.of_group(model.group.route)(state, topic, 5)[0]
    for member in MEMBERS:
        for queue in (0, 5):
            state = model.finish(state, member, queue, "answer")[0]
        who = state.group.members[member]
        if who is None or who.mode == BROADCASTING or who.strategy != "AVG":
            state = model.join(state, member, False, CLUSTERING, LAST, "AVG")[0]
        for topic in ("T", "U"):
            state = model.of_group(model.group.subscribe)(state, member, topic)[0]
        state = model.of_group(model.group.refresh)(state, member)[0]
    state = model.of_group(model.group.list_members)(state, tuple(MEMBERS))[0]
    for seconds in (130, 130, 1):
        for member in MEMBERS:
            state = model.rebalance(state, member, "answer", "answer", "answer", "answer")[0]
        state = model.tick(state, seconds * 1_000)[0]
    assert all(len(members) == 1 for members in owners(ORDINARY, state.group).values()), owners(ORDINARY, state.group)


def test_a_broadcasting_member_and_one_whose_lock_was_lost_rely_on_none() -> None:
    model = RebalanceOrderlyModel(Profile(), ORDINARY)
    state = SUITE.bind(Profile()).initial
    for member in MEMBERS:
        state = model.rebalance(state, member, "answer", "answer", "answer", "answer")[0]
    relied = {member for members in relying_members(state).values() for member in members}
    assert relied == {*MEMBERS}
    state = model.join(state, 0, False, BROADCASTING, LAST, "AVG")[0]
    state = model.rebalance(state, 0, "answer", "answer", "answer", "answer")[0]
    assert relying_members(state).keys() < owners(ORDINARY, state.group).keys()
    state = model.tick(state, 60_000)[0]
    assert relying_members(state) == {}


def test_the_state_is_shown_with_its_locks() -> None:
    bound = SUITE.bind(Profile())
    model = RebalanceOrderlyModel(Profile(), ORDINARY)
    state = bound.initial
    for member in MEMBERS:
        state = model.rebalance(state, member, "answer", "answer", "answer", "answer")[0]
    state = model.leave(state, 2, "answer")[0]
    state = model.take(state, 1, 0, 4, "answer")[0]
    shown = SUITE.show(state)
    assert "2: no member" in shown
    assert "busy with [0]" in shown
    assert f"0: '{ORDINARY.clients[1]}'" in shown
