"""Whole consumers whose broker fails, as the model sees them: a table, laws, and what would be wrong."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
from every import every

from rocketmq_conformance.conformance.proof import whole_real
from rocketmq_conformance.conformance.proof.whole_cases import TableCase, cases, handovers
from rocketmq_conformance.conformance.proof.whole_scripted import expected
from rocketmq_conformance.models import rulebook
from rocketmq_conformance.models.broker.state import BrokerState
from rocketmq_conformance.models.client import whole_group
from rocketmq_conformance.models.client.start import FIRST, StartModel
from rocketmq_conformance.models.client.whole import LITE, ORDERLY, PUSH
from rocketmq_conformance.models.client.whole_group import WholeGroupModel
from rocketmq_conformance.models.client.whole_group_state import WholeGroup, with_member
from rocketmq_conformance.models.client.whole_locks import lock_holders
from rocketmq_conformance.models.client.whole_moves import (
    STRANGER,
    Arrive,
    Fail,
    Hang,
    Hold,
    Join,
    LetGo,
    LockElsewhere,
    Look,
    Observation,
    ResetTo,
)
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Reason
from rocketmq_conformance.suites.declare.topologies import ORDINARY

RELEASES = ("4.1.0", "4.7.1", "4.9.8", "5.0.0-PREVIEW", "5.0.0-ALPHA", "5.0.0", "5.1.4", "5.5.0")
EVERY = list(cases())
HANDOVERS = list(handovers())
OURS = {rule.id for rule in whole_group.RULES}


def life(release: str, made: type[WholeGroupModel] = WholeGroupModel) -> WholeGroupModel:
    return made(StartModel(Profile.of(release, release), ORDINARY))


@cache
def played(release: str, case: TableCase) -> tuple[tuple[Observation, ...], Reason]:
    """What a case shows by the model, and why; of each release once."""
    return expected(life(release), case)


def seen(release: str, name: str, kind: str) -> tuple[Observation, ...]:
    return played(release, next(case for case in EVERY if (case.name, case.kind) == (name, kind)))[0]


def alone(owns: bool, stored: int, *given: int) -> Observation:
    """The observation of one member with one queue: its queue, (first, messages), and what is stored."""
    return (("a", (0,) if owns else (), ((0, *given),) if given else ()),), (stored,)  # type: ignore[return-value]


@pytest.mark.parametrize(("table", "count"), [(EVERY, 197), (HANDOVERS, 32)], ids=["scripted", "handovers"])
def test_every_case_has_a_name_of_its_own_and_a_look_at_its_end(table: list[TableCase], count: int) -> None:
    assert len(table) == count
    assert len({str(case) for case in table}) == count
    assert all(isinstance(case.moves[-1], Look) for case in table)


@every("case", HANDOVERS)
def test_every_queue_has_one_owner_and_only_the_owner_can_have_its_lock(case: TableCase) -> None:
    looks, why = whole_real.expected(life("5.5.0"), case)
    assert why.rules
    for (members, _), held in looks:
        owners = {queue: name for name, queues, _ in members for queue in queues}
        assert sum(len(queues) for _, queues, _ in members) == len(owners)
        if STRANGER in held:
            assert (case.kind, owners, set(held)) == (ORDERLY, {}, {STRANGER})
        elif len(owners) < case.queues:
            # the listener of a is busy with a message of what it lost
            assert (case.kind, "WHOLE-BUSY" in why.rules, owners, held) == (ORDERLY, True, {0: "a"}, ("a", "a"))
        else:
            locks = [owners[queue] for queue in range(case.queues)]
            assert list(held) == (locks if case.kind == ORDERLY else [""] * case.queues)


@pytest.mark.parametrize("kind", [PUSH, ORDERLY, LITE])
def test_a_message_that_a_listener_is_busy_with_is_given_again_where_the_queue_goes(kind: str) -> None:
    case = next(case for case in HANDOVERS if "busy" in case.name and case.kind == kind)
    looks, _ = expected(life("5.5.0"), case)
    given = [[(name, *runs) for name, _, runs in members if runs] for members, _ in looks[1:-1]]
    # a second message waited for the listener
    a, b = [("a", (1, 12, 1))], [("b", (1, 12, 2))]
    assert given == {PUSH: [[], b, a], ORDERLY: [[], [], a + b], LITE: [[], b, []]}[kind]


def test_what_a_listener_is_busy_with_is_its_own_while_the_queue_is() -> None:
    case = next(case for case in HANDOVERS if "busy" in case.name and case.kind == PUSH)
    model = life("5.5.0")
    # messages wait in both queues, and the listener has one of them
    moves = (Join("a"), Look(), Hold("a"), Arrive(), Look(), LetGo("a"), Look())
    looks, _ = model.play(case.group(model.start.store.broker), moves)
    assert looks[1:] == (
        ((("a", (0, 1), ()),), (12, 12)),
        ((("a", (0, 1), ((0, 12, 1), (1, 12, 1))),), (13, 13)),
    )


def test_a_non_member_holds_the_locks_that_no_member_holds() -> None:
    case = next(case for case in HANDOVERS if case.kind == ORDERLY and case.queues == 2)
    model = life("5.5.0")
    begun = case.group(model.start.store.broker)
    assert lock_holders(begun) == ("", "")
    assert lock_holders(model.move(begun, LockElsewhere())) == (STRANGER, STRANGER)
    joined, _ = model.look(model.move(begun, Join("a")))
    assert lock_holders(joined) == ("a", "a")


#: What one member has that subscribes to another topic of two queues, unsubscribes, and subscribes again.
SUBSCRIBED: list[Observation] = [
    ((("a", (0,), ((0, 7, 5),)),), (12, 7, 7)),
    ((("a", (0, 4, 5), ((4, 7, 5), (5, 7, 5))),), (12, 12, 12)),
    ((("a", (0, 4, 5), ((0, 12, 1), (4, 12, 1), (5, 12, 1))),), (13, 13, 13)),
    ((("a", (0,), ()),), (13, 13, 13)),
    ((("a", (0,), ((0, 13, 1),)),), (14, 13, 13)),
    ((("a", (0, 4, 5), ((4, 13, 1), (5, 13, 1))),), (14, 14, 14)),
    ((("a", (0, 4, 5), ((0, 14, 1), (4, 14, 1), (5, 14, 1))),), (15, 15, 15)),
]
#: (case, kind, release) and what its looks show, written down without the models.
KNOWN = [
    ("nothing fails", PUSH, "5.5.0", [alone(True, 12, 7, 5), alone(True, 13, 12, 1)]),
    ("HEART_BEAT refused", LITE, "4.9.8", [alone(False, 7), alone(True, 13, 7, 6)]),
    ("LOCK_BATCH_MQ refused", ORDERLY, "5.5.0", [alone(False, 7), alone(True, 13, 7, 6)]),
    ("LOCK_BATCH_MQ refused", PUSH, "5.5.0", [alone(True, 12, 7, 5), alone(True, 13, 12, 1)]),
    ("somebody else has the lock", ORDERLY, "4.7.1", [alone(False, 7), alone(True, 12, 7, 5)]),
    # the group has 7 of 12: what it has not consumed is lost, or all of it comes again
    ("stored offset: SYSTEM_ERROR", PUSH, "4.9.8", [alone(True, 7), alone(True, 13, 12, 1)]),
    ("stored offset: SYSTEM_ERROR, from the first", PUSH, "4.9.8", [alone(True, 12, 0, 12), alone(True, 13, 12, 1)]),
    ("stored offset: SYSTEM_ERROR", PUSH, "5.0.0", [alone(False, 7), alone(True, 13, 7, 6)]),
    ("stored offset: QUERY_NOT_FOUND", LITE, "5.5.0", [alone(True, 7), alone(True, 13, 12, 1)]),
    ("stored offset: garbage", LITE, "4.7.1", [alone(False, 7), alone(True, 13, 7, 6)]),
    # message 12 arrives while max cannot be asked, 13 afterwards
    ("max: SYSTEM_ERROR", PUSH, "5.5.0", [alone(False, -1), alone(True, -1), alone(True, 14, 13, 1)]),
    ("search: no-field", ORDERLY, "5.5.0", [alone(False, -1), alone(True, 13, 6, 7)]),
    ("pulls: PULL_OFFSET_MOVED", LITE, "5.5.0", [alone(True, 7), alone(True, 13, 7, 6)]),
    ("messages expire that were not pulled yet", PUSH, "5.1.4", [alone(True, 2), alone(True, 12, 4, 8)]),
    ("stored offset: the second answer is no-field", ORDERLY, "4.9.8", [alone(False, 0), alone(True, 13, 0, 13)]),
    ("stored offset: the second answer is no-field", ORDERLY, "5.5.0", [alone(True, 7), alone(True, 13, 7, 6)]),
    ("stored offset: the second answer is SYSTEM_ERROR", ORDERLY, "4.9.8", [alone(True, 7), alone(True, 13, 12, 1)]),
    ("commits are lost for a while", PUSH, "5.5.0", [alone(True, 7, 7, 5), alone(True, 12)]),
    ("sent elsewhere without a list", PUSH, "5.5.0", [alone(True, 2), alone(False, 4), alone(True, 12, 4, 8)]),
    ("told another offset", PUSH, "5.5.0", [alone(True, 12, 7, 5), alone(True, 12, 3, 9), alone(True, 13, 12, 1)]),
    # one who subscribes to another topic goes on in it where the group was
    ("another topic is subscribed to", PUSH, "5.5.0", SUBSCRIBED),
    ("told another offset", LITE, "5.5.0", [alone(True, 12, 7, 5), alone(True, 12), alone(True, 13, 12, 1)]),
]


@every(("name", "kind", "release", "looks"), KNOWN)
def test_a_case_gives_the_recorded_observation(name: str, kind: str, release: str, looks: list[Observation]) -> None:
    assert list(seen(release, name, kind)) == looks


@pytest.mark.parametrize("kind", [PUSH, ORDERLY, LITE])
def test_queues_change_hands(kind: str) -> None:
    both, first, second = (0, 1), (0,), (1,)
    assert seen("5.5.0", "another one joins, the first one leaves", kind) == (
        ((("a", both, ((0, 7, 5), (1, 7, 5))),), (12, 12)),
        ((("a", first, ()), ("b", second, ())), (12, 12)),
        ((("a", first, ((0, 12, 1),)), ("b", second, ((1, 12, 1),))), (13, 13)),
        ((("b", both, ()),), (13, 13)),
        ((("b", both, ((0, 13, 1), (1, 13, 1))),), (14, 14)),
    )
    # who left cannot be noticed: its queue waits
    assert seen("5.5.0", "no list while one leaves", kind)[2:] == (
        ((("b", second, ((1, 12, 1),)),), (12, 13)),
        ((("b", both, ((0, 12, 1),)),), (13, 13)),
    )
    # b stands in for a, whose commits were lost
    assert seen("5.5.0", "commits are lost", kind) == (alone(True, 7, 7, 5), ((("b", (0,), ((0, 7, 5),)),), (12,)))


#: Where messages are lost, or given twice, by rule.
UNSOUND = {
    "WHOLE-BUSY",
    "WHOLE-MISTAKEN",
    "WHOLE-REREAD",
    "WHOLE-RESET",
    "WHOLE-LOST",
    "WHOLE-UNREAD",
    "WHOLE-SEEK",
    "WHOLE-DEMAND",
    "WHOLE-SEEK-PAUSED",
    "WHOLE-SEEK-ENDS",
    "WHOLE-MSG-BAD",
}


@pytest.mark.many_cases
@every("release", RELEASES)
def test_no_message_is_lost_or_given_twice_but_by_a_rule(release: str) -> None:
    judged = 0
    for case in EVERY + HANDOVERS:
        if case.kind == LITE and not life(release).start.client.lite_starts:
            continue
        if Join("b") in case.moves and any(isinstance(move, Hang) for move in case.moves):
            # who takes the queue of a message that hangs is given it again
            continue
        if case.fails:
            # what a listener fails comes again in the retry queue
            continue
        looks, why = played(release, case)
        if UNSOUND.intersection(why.rules) or (case.stored is None and case.where != FIRST):
            continue
        judged += 1
        given: dict[int, list[int]] = {number: [] for number in case.numbers}
        for members, _ in looks:
            for _, _, runs in members:
                for number, first, count in runs:
                    given[number] += range(first, first + count)
        for (number, offsets), end in zip(given.items(), looks[-1][1], strict=True):
            assert offsets == list(range(offsets[0], end)), (str(case), number)
            # message 2 and 3 have expired where the group begins at 2
            assert offsets[0] == (7 if case.stored == 7 else 4)
    assert judged > 20


@pytest.mark.many_cases
def test_every_rule_makes_a_case_and_is_in_the_rule_book() -> None:
    fired = {rule for release in RELEASES for case in EVERY + HANDOVERS for rule in played(release, case)[1].rules}
    assert fired >= OURS
    assert rulebook.RULES.keys() >= fired


class _Deaf(WholeGroupModel):
    def _register(self, group: WholeGroup) -> WholeGroup:
        fails = {request: fail for request, fail in group.fails.items() if request not in {"HEART_BEAT"}}
        return super()._register(group._replace(fails=fails))._replace(fails=group.fails)


class _Listed(WholeGroupModel):
    def _shares(self, group: WholeGroup) -> dict[str, frozenset[int]]:
        return super()._shares(group._replace(fails={}))


class _Unlocked(WholeGroupModel):
    def _take(self, group: WholeGroup, name: str, queue: int, alone: bool) -> WholeGroup:
        fails = {request: fail for request, fail in group.fails.items() if request != "LOCK_BATCH_MQ"}
        after = super()._take(group._replace(fails=fails, seized=False), name, queue, alone)
        return after._replace(fails={**group.fails, **after.fails}, seized=group.seized)


class _AlwaysReads(WholeGroupModel):
    def _begins(self, group: WholeGroup, name: str, queue: int) -> Any:
        after, begins = super()._begins(group._replace(fails={}), name, queue)
        return after._replace(fails=group.fails), begins


class _AsksOnce(WholeGroupModel):
    def _first_pull(self, group: WholeGroup, name: str, queue: int) -> tuple[WholeGroup, bool]:
        return group, True


class _AlwaysPulls(WholeGroupModel):
    def _pull_queue(self, group: WholeGroup, name: str, queue: int) -> Any:
        fails = {request: fail for request, fail in group.fails.items() if request != "PULL_MESSAGE"}
        after, found = super()._pull_queue(group._replace(fails=fails), name, queue)
        return after._replace(fails=group.fails), found


class _AlwaysCommits(WholeGroupModel):
    def _commit(self, group: WholeGroup, name: str, queue: int) -> WholeGroup:
        return super()._commit(group._replace(fails={}), name, queue)._replace(fails=group.fails)


class _NeverRepeats(WholeGroupModel):
    def _commit(self, group: WholeGroup, name: str, queue: int) -> WholeGroup:
        after, member = super()._commit(group, name, queue), group.members[name]
        if "UPDATE_CONSUMER_OFFSET" not in group.fails:
            return after
        memory = {other: offset for other, offset in member.memory.items() if other != queue}
        return with_member(after, name, member._replace(memory=memory))


class _PullsOn(WholeGroupModel):
    def _moved(self, group: WholeGroup, broker: BrokerState, name: str, queue: int) -> Any:
        after, found = self._pull_queue(group._replace(fails={}), name, queue)
        return after._replace(fails=group.fails), found


class _NeverReset(WholeGroupModel):
    def _reset(self, group: WholeGroup, offset: int) -> WholeGroup:
        return group


class _ResetsAll(WholeGroupModel):
    def _reset(self, group: WholeGroup, offset: int) -> WholeGroup:
        return super()._reset(group._replace(kind=PUSH), offset)._replace(kind=group.kind)


class _NeverSeeks(WholeGroupModel):
    def _sought(self, group: WholeGroup, name: str, number: int, offset: int) -> WholeGroup:
        return group


class _NeverAssigns(WholeGroupModel):
    def _assigned(self, group: WholeGroup, name: str, numbers: tuple[int, ...]) -> WholeGroup:
        return group if group.members[name].assigned else super()._assigned(group, name, numbers)


class _NeverPausesQueues(WholeGroupModel):
    def _held_back(self, group: WholeGroup, name: str, numbers: tuple[int, ...], pauses: bool) -> WholeGroup:
        return group


class _SeeksAtOnce(WholeGroupModel):
    def _sought(self, group: WholeGroup, name: str, number: int, offset: int) -> WholeGroup:
        member = group.members[name]
        after = super()._sought(with_member(group, name, member._replace(paused=frozenset())), name, number, offset)
        return with_member(after, name, after.members[name]._replace(paused=member.paused))


class _EndsElsewhere(WholeGroupModel):
    def _end_of(self, group: WholeGroup, number: int, end: bool) -> int:
        return 9


class _NeverCommits(WholeGroupModel):
    def _asked_to_commit(self, group: WholeGroup, name: str) -> WholeGroup:
        return group


class _StoresLate(WholeGroupModel):
    def _returned(self, group: WholeGroup, name: str) -> Any:
        hands = group.members[name].in_progress
        after, late = super()._returned(group, name)
        if late and hands:
            queue, offset = hands
            stored = {**after.broker.stored, ORDINARY.stored_keys[queue]: offset + 1}
            after = after._replace(broker=after.broker._replace(stored=stored))
        return after, late


class _KeepsAll(WholeGroupModel):
    def _drop(self, group: WholeGroup, name: str, queue: int) -> WholeGroup:
        return group


class _NeverUnsubscribes(WholeGroupModel):
    def _subscribed(self, group: WholeGroup, subscribes: bool) -> WholeGroup:
        return super()._subscribed(group, True)


class _NeverSuspends(WholeGroupModel):
    def _paused(self, group: WholeGroup, name: str, suspends: bool) -> WholeGroup:
        return group


WRONG: list[tuple[type[WholeGroupModel], str]] = [
    (_Deaf, "WHOLE-UNHEARD"),
    (_Listed, "WHOLE-LIST"),
    (_Unlocked, "WHOLE-LOCK"),
    (_AlwaysReads, "WHOLE-UNREAD"),
    (_AlwaysReads, "WHOLE-MISTAKEN"),
    (_AsksOnce, "WHOLE-REREAD"),
    (_AlwaysPulls, "WHOLE-PULL"),
    (_AlwaysCommits, "WHOLE-LOST"),
    (_NeverRepeats, "WHOLE-REPEAT"),
    (_PullsOn, "WHOLE-MOVED-ANEW"),
    (_StoresLate, "WHOLE-BUSY"),
    (_NeverReset, "WHOLE-RESET"),
    (_ResetsAll, "WHOLE-RESET-LITE"),
    (_NeverSeeks, "WHOLE-SEEK"),
    (_NeverAssigns, "WHOLE-ASSIGN"),
    (_NeverPausesQueues, "WHOLE-PAUSE-QUEUES"),
    (_SeeksAtOnce, "WHOLE-SEEK-PAUSED"),
    (_EndsElsewhere, "WHOLE-SEEK-ENDS"),
    (_NeverCommits, "WHOLE-DEMAND"),
    (_KeepsAll, "WHOLE-SHARE"),
    (_NeverSuspends, "WHOLE-PAUSE"),
    (_NeverUnsubscribes, "WHOLE-SUBSCRIBE"),
]


@pytest.mark.many_cases
@every(("wrong", "rule"), WRONG)
def test_a_model_that_breaks_a_rule_expects_something_else(wrong: type[WholeGroupModel], rule: str) -> None:
    noticed = any(rule in played("4.9.8", case)[1].rules and _differs(wrong, case) for case in EVERY + HANDOVERS)
    assert noticed, f"no case is about {rule}"


def _differs(wrong: Callable[..., WholeGroupModel], case: TableCase) -> bool:
    return expected(wrong(life("4.9.8").start), case)[0] != played("4.9.8", case)[0]


def test_every_rule_is_broken_by_a_wrong_model() -> None:
    assert {rule for _, rule in WRONG} == OURS


def test_a_reset_moves_the_owner_of_the_queue() -> None:
    model = life("5.5.0")
    case = next(case for case in EVERY if case.queues == 2 and case.kind == PUSH)
    moves = (Join("a"), Look(), Join("b"), Look(), ResetTo(9), Look())
    looks, _ = model.play(case.group(model.start.store.broker), moves)
    assert looks[-1] == ((("a", (0,), ((0, 9, 3),)), ("b", (1,), ())), (12, 12))


def test_a_fault_that_is_planted_twice_is_the_last_one() -> None:
    model = life("4.9.8")
    case = EVERY[0]
    group = model.move(case.group(model.start.store.broker), Fail("QUERY_CONSUMER_OFFSET"))
    group = model.move(group, Fail("QUERY_CONSUMER_OFFSET", "no-field"))
    assert {fail.fault for fail in group.fails.values()} == {"no-field"}
