"""The group as a whole: after any history, members that see the same list share all queues and lose no offset."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocketmq_conformance.models.client.group_state import (
    RebalanceState,
    broadcasts,
    client_id,
    initial_state,
    owners,
    readable_queues,
    unowned_messages,
)
from rocketmq_conformance.models.client.member import BROADCASTING, CLUSTERING
from rocketmq_conformance.models.client.rebalance import RebalanceModel
from rocketmq_conformance.models.client.start import LAST
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.sampler import sampler
from rocketmq_conformance.suites.declare.topologies import GROUP, ORDINARY
from rocketmq_conformance.suites.rebalance import SUITE

CLIENTS_RELEASES = ("4.0.0", "4.9.8", "5.1.4", "5.5.0")
MODELS = {client: RebalanceModel(Profile.of(client=client), ORDINARY) for client in CLIENTS_RELEASES}
MEMBERS = range(len(ORDINARY.clients))
DRAW = sampler(SUITE, Profile())

releases = st.sampled_from(CLIENTS_RELEASES)
plans = st.integers(0, 1 << 30)
twins = st.tuples(*[st.booleans()] * len(ORDINARY.clients))
strategies = st.sampled_from(("AVG", "AVG_BY_CIRCLE"))


def steps(client: str, plan: int) -> Iterator[tuple[str, tuple[Any, ...], RebalanceState, Any, RebalanceState]]:
    """A drawn case, step by step: operation, arguments, state before, result, state after."""
    bound = SUITE.bind(Profile.of(client=client))
    state: RebalanceState = bound.initial
    for position, args in DRAW.case(plan, 0, SUITE.steps):
        before = state
        state, result, _ = bound.by_position[position](state, *args)
        yield SUITE.operations[position].spec.name, args, before, result, state


def after(client: str, plan: int) -> RebalanceState:
    """The state after a drawn case."""
    return list(steps(client, plan))[-1][4]


def stored(state: RebalanceState, queue: int) -> int | None:
    topic, _, number = ORDINARY.queues[queue]
    return state.broker.stored.get((GROUP, topic, number))


def settle(
    model: RebalanceModel,
    state: RebalanceState,
    mode: str,
    strategy: str,
    twin: tuple[bool, ...],
    routes: dict[str, int],
) -> RebalanceState:
    """Members of the wrong kind begin anew; then all see the same routes and the same list, and rebalance."""
    for topic, queues in routes.items():
        state = model.route(state, topic, queues)[0]
    for member in MEMBERS:
        who = state.members[member]
        wanted = (client_id(ORDINARY, member, twin[member]), mode, strategy)
        if who is None or (who.client, who.mode, who.strategy) != wanted:
            state = model.join(state, member, twin[member], mode, LAST, strategy)[0]
        for topic in ("T", "U"):
            state = model.subscribe(state, member, topic)[0]
        state = model.refresh(state, member)[0]
    state = state._replace(listed=tuple(client_id(ORDINARY, member, twin[member]) for member in MEMBERS))
    for member in MEMBERS:
        state = model.rebalance(state, member, "answer", "answer", "answer")[0]
    return state


@settings(deadline=None)
@given(releases, plans, strategies, st.integers(1, 5), st.integers(1, 2))
def test_members_that_see_the_same_own_every_queue_once(
    client: str, plan: int, strategy: str, queues: int, others: int
) -> None:
    routes = {"T": queues, "U": others, "%RETRY%G": 1}
    state = settle(MODELS[client], after(client, plan), CLUSTERING, strategy, (False, False, False), routes)
    assert {queue: len(members) for queue, members in owners(ORDINARY, state).items()} == dict.fromkeys(
        owners(ORDINARY, state), 1
    )
    assert len(owners(ORDINARY, state)) == queues + others + 1
    assert unowned_messages(ORDINARY, state) == {}
    assert not broadcasts(state)


@settings(deadline=None)
@given(releases, plans, strategies, twins)
def test_twins_own_the_same_queues_and_leave_those_of_one_place_each_without_owner(
    client: str, plan: int, strategy: str, twin: tuple[bool, ...]
) -> None:
    routes = {"T": 5, "U": 2, "%RETRY%G": 1}
    state = settle(MODELS[client], after(client, plan), CLUSTERING, strategy, twin, routes)
    ids = [client_id(ORDINARY, member, twin[member]) for member in MEMBERS]
    for members in owners(ORDINARY, state).values():
        assert {ids[member] for member in members} in [set(), *({name} for name in ids)]
        assert len(members) in (0, *(ids.count(name) for name in ids))
    assert bool(unowned_messages(ORDINARY, state)) is (len(set(ids)) < len(ids))
    assert set(unowned_messages(ORDINARY, state)) == {
        queue for queue, members in owners(ORDINARY, state).items() if not members
    }


@settings(deadline=None)
@given(releases, plans)
def test_every_broadcasting_member_owns_every_queue(client: str, plan: int) -> None:
    routes = {topic: len(queues) for topic, queues in ORDINARY.topic_queues.items()}
    state = settle(MODELS[client], after(client, plan), BROADCASTING, "AVG", (False, False, False), routes)
    for queue, members in owners(ORDINARY, state).items():
        assert members == (() if queue in ORDINARY.topic_queues["%RETRY%G"] else tuple(MEMBERS))
    assert broadcasts(state)


@settings(deadline=None)
@given(releases, plans)
def test_after_a_handover_without_faults_the_new_owner_goes_on_at_the_old_owners_commit(client: str, plan: int) -> None:
    for name, args, before, result, state in steps(client, plan):
        if name != "rebalance" or result is None or args[2] != "answer":
            continue
        old, new = before.members[args[0]], state.members[args[0]]
        assert old is not None
        assert new is not None
        if old.mode == BROADCASTING:
            continue
        sent = dict(result[3])
        for queue in old.table.keys() - new.table.keys():
            if ORDINARY.queues[queue].topic in old.topics and queue in old.memory:
                assert sent[queue] == old.memory[queue] == stored(state, queue)
        for queue, offset in result[1]:
            known = stored(state, queue)
            assert offset == (known if known is not None and known >= 0 else offset)
            # a configured queue whose topic is not subscribed is gone at the end of the round
            assert ORDINARY.topic_of[queue] not in new.topics or new.table[queue].offset == offset


@settings(deadline=None)
@given(releases, plans)
def test_a_round_commits_dropped_queues_and_begins_new_ones_only(client: str, plan: int) -> None:
    for name, args, before, result, state in steps(client, plan):
        if name != "rebalance" or result is None:
            continue
        old, new = before.members[args[0]], state.members[args[0]]
        assert old is not None
        assert new is not None
        assert result[0] == tuple(sorted(new.table))
        begun = {queue for queue, _ in result[1] if ORDINARY.topic_of[queue] in new.topics}
        assert begun == {queue for queue in new.table if new.table[queue] is not old.table.get(queue)}
        for queue, offset in result[3]:
            assert old.memory[queue] == offset
            assert queue not in new.table or queue in begun
        others = [number for number in MEMBERS if number != args[0]]
        assert all(before.members[number] is state.members[number] for number in others)


@settings(deadline=None)
@given(releases, plans)
def test_a_result_moves_an_offset_only_while_its_process_queue_lives_and_never_back(client: str, plan: int) -> None:
    for name, args, before, result, state in steps(client, plan):
        if name not in ("consume", "finish") or result is None:
            continue
        member, queue, offset = args
        old, new = before.members[member], state.members[member]
        assert old is not None
        assert new is not None
        held = old.memory.get(queue, -1)
        number = old.taken.get(queue) if name == "finish" else getattr(old.table.get(queue), "number", None)
        lives = queue in old.table and old.table[queue].number == number
        assert result == new.memory.get(queue, -1) == (max(held, offset) if lives else held)
        assert new.table == old.table


@settings(deadline=None)
@given(plans)
def test_the_number_of_a_process_queue_is_never_used_twice(plan: int) -> None:
    made: dict[tuple[int, int], Any] = {}
    for name, args, _, _, state in steps("5.5.0", plan):
        if name in ("join", "join_later_strategy", "restart"):
            made = {key: kept for key, kept in made.items() if key[0] != args[0]}
        for member in MEMBERS:
            who = state.members[member]
            for queue, owned in who.table.items() if who else ():
                assert made.setdefault((member, owned.number), queue) == queue
                assert owned.number <= who.made  # type: ignore[union-attr]


# --- stories -----------------------------------------------------------------------------------------------------


def do(state: RebalanceState, name: str, *args: Any) -> tuple[RebalanceState, Any, str]:
    after, result, why = getattr(MODELS["5.5.0"], name)(state, *args)
    return after, result, why.kind


def test_the_new_owner_that_comes_first_starts_behind_and_both_own_the_queue() -> None:
    state = initial_state(ORDINARY)
    state = do(state, "list_members", (1,))[0]
    state = do(state, "rebalance", 1, "answer", "answer", "answer")[0]
    state = do(state, "consume", 1, 7, 9)[0]
    state = do(state, "list_members", (0, 1, 2))[0]
    state, shown, _ = do(state, "rebalance", 2, "answer", "answer", "answer")
    assert shown[1] == ((7, 0),)
    assert owners(ORDINARY, state)[7] == (1, 2)
    state, shown, _ = do(state, "rebalance", 1, "answer", "answer", "answer")
    assert (7, 9) in shown[3]
    assert owners(ORDINARY, state)[7] == (2,)
    assert do(state, "persist", 2)[1] == ((7, 0),)


def test_the_same_id_twice_lets_messages_pile_up() -> None:
    state = do(initial_state(ORDINARY), "join", 0, True, CLUSTERING, LAST, "AVG")[0]
    state = do(state, "list_members", (1, 1, 2))[0]
    for member in MEMBERS:
        state = do(state, "rebalance", member, "answer", "answer", "answer")[0]
    assert owners(ORDINARY, state) == {0: (0, 1), 1: (0, 1), 5: (), 6: (), 7: (2,), 2: (0, 1), 8: (), 3: (0, 1)}
    assert unowned_messages(ORDINARY, state) == {5: 8, 6: 8, 8: 8}
    state = do(state, "commit_elsewhere", 5, 6)[0]
    assert unowned_messages(ORDINARY, state)[5] == 6


def test_a_queue_without_route_has_no_owner() -> None:
    state = do(initial_state(ORDINARY), "route", "T", -1)[0]
    assert set(owners(ORDINARY, state)) == {2, 8, 3}
    assert readable_queues(ORDINARY, "T", -1) == -1
    assert readable_queues(ORDINARY, "U", 5) == 2


def test_a_shutdown_sends_offsets_of_owned_queues_and_late_results_are_dropped() -> None:
    state = do(initial_state(ORDINARY), "rebalance", 1, "answer", "answer", "answer")[0]
    state, taken, kind = do(state, "take", 1, 0)
    assert (taken, kind) == (True, "taken")
    assert do(state, "take", 1, 7)[1:] == (False, "not owned")
    state = do(state, "consume", 1, 1, 6)[0]
    state, sent, kind = do(state, "leave", 1)
    assert (sent, kind) == (((0, 0), (1, 6), (2, 0), (3, 0)), "offsets sent")
    for name, args, answer in (
        ("rebalance", (1, "answer", "answer", "answer"), None),
        ("finish", (1, 0, 9), None),
        ("consume", (1, 0, 9), None),
        ("update", (1, 0, 9), None),
        ("take", (1, 0), None),
        ("pull", (1, 0), None),
        ("refresh", (1,), None),
        ("subscribe", (1, "T"), None),
        ("unsubscribe", (1, "T"), None),
        ("persist", (1,), ()),
        ("leave", (1,), ()),
    ):
        same, shown, kind = do(state, name, *args)
        assert same is state
        assert shown == answer
        assert kind.startswith("no ")


def test_a_member_that_ends_without_a_shutdown_sends_nothing() -> None:
    state = do(initial_state(ORDINARY), "rebalance", 1, "answer", "answer", "answer")[0]
    state = do(state, "consume", 1, 0, 9)[0]
    state, shown, kind = do(state, "join", 1, False, CLUSTERING, LAST, "AVG")
    assert (shown, kind) == (None, "begins anew")
    assert stored(state, 0) is None
    assert state.members[1] is not None
    assert state.members[1].memory == {}
    state = do(state, "leave", 1)[0]
    assert do(state, "join", 1, True, CLUSTERING, LAST, "AVG")[2] == "a twin begins"
    assert do(state, "join", 1, False, CLUSTERING, LAST, "AVG")[2] == "begins"


def test_a_process_that_is_started_again_has_its_mode_and_nothing_in_memory() -> None:
    state = do(initial_state(ORDINARY), "join", 1, True, BROADCASTING, LAST, "AVG")[0]
    assert broadcasts(state)
    assert not broadcasts(initial_state(ORDINARY))
    state = do(state, "rebalance", 1, "answer", "answer", "answer")[0]
    before = do(state, "consume", 1, 0, 9)[0].members[1]
    state, shown, kind = do(state, "restart", 1)
    after = state.members[1]
    assert before is not None
    assert after is not None
    assert (shown, kind, before.memory[0], after.memory, after.table) == (None, "broadcasting, no file", 9, {}, {})
    assert (after.client, after.mode) == (before.client, BROADCASTING)
    gone = do(state, "leave", 1)[0]
    assert do(gone, "restart", 1) == (gone, None, "no member")


def test_what_was_taken_counts_once_it_is_done() -> None:
    state = do(initial_state(ORDINARY), "rebalance", 1, "answer", "answer", "answer")[0]
    state = do(state, "take", 1, 0)[0]
    state, held, kind = do(state, "finish", 1, 0, 9)
    assert (held, kind) == (9, "raised")
    assert do(state, "finish", 1, 0, 9)[1:] == (9, "nothing taken")


def test_a_result_of_an_earlier_ownership_is_ignored() -> None:
    state = do(initial_state(ORDINARY), "rebalance", 1, "answer", "answer", "answer")[0]
    state = do(state, "take", 1, 0)[0]
    state = do(state, "tick", 130_000)[0]
    state, shown, _ = do(state, "rebalance", 1, "answer", "answer", "answer")
    assert (0, 0) in shown[1]
    state, held, kind = do(state, "finish", 1, 0, 9)
    assert (held, kind) == (0, "dropped and added anew")
    assert do(state, "finish", 1, 0, 9)[1:] == (0, "nothing taken")


@pytest.mark.parametrize(("name", "kind"), [("subscribe", "subscribed already"), ("unsubscribe", "unsubscribed")])
def test_subscriptions_change_no_queues(name: str, kind: str) -> None:
    state = do(initial_state(ORDINARY), "rebalance", 1, "answer", "answer", "answer")[0]
    after, shown, why = do(state, name, 1, "T")
    assert (shown, why) == (None, kind)
    assert after.members[1] is not None
    assert state.members[1] is not None
    assert after.members[1].table is state.members[1].table
    if name == "unsubscribe":
        assert do(after, "unsubscribe", 1, "T")[2] == "not subscribed"
        assert do(after, "subscribe", 1, "T")[2] == "subscribed"


def test_a_result_below_the_offset_in_memory_is_ignored() -> None:
    state = do(initial_state(ORDINARY), "rebalance", 0, "answer", "answer", "answer")[0]
    state, held, kind = do(state, "consume", 0, 5, 6)
    assert (held, kind) == (6, "first")
    state, held, kind = do(state, "consume", 0, 5, 1)
    assert (held, kind) == (6, "kept")
    state, held, kind = do(state, "consume", 0, 5, 9)
    assert (held, kind) == (9, "raised")
    state = do(state, "unsubscribe", 0, "T")[0]
    state = do(state, "rebalance", 0, "answer", "answer", "answer")[0]
    assert do(state, "consume", 0, 5, 12)[1:] == (9, "nothing taken")
