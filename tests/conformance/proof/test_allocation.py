"""The proof of allocation, with the port in the place of a release."""

from __future__ import annotations

from collections import Counter
from functools import cache
from math import comb

import pytest

from rocketmq_conformance.conformance.proof import allocation as proof
from rocketmq_conformance.conformance.proof.evidence import Tally
from rocketmq_conformance.conformance.targets.mutant import Mutant
from rocketmq_conformance.conformance.targets.port.allocation import Allocation
from rocketmq_conformance.conformance.targets.port.mutants.allocation import MUTANTS
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.allocation import SUITE

#: What no small world shows: it takes colliding hashes, equal places, or members and queues that only the suite has.
ODD = {
    "blank-id-refused",
    "config-filtered",
    "first-node-stays",
    "no-room-is-a-room",
    "other-queue-text",
    "prefix-position",
    "signed-places",  # turns the ring, and every queue with it
    "strict-successor",
}


@cache
def thinned() -> list[proof.Case]:
    """One small world of 149, and all of the few about names and order."""
    walked = [*proof.plain_worlds(), *proof.machine_room_worlds(), *proof.nearby_worlds()]
    return [*walked[::149], *proof.broker_name_worlds(), *proof.order_worlds()]


def test_member_lists_are_all_ways_in_which_ids_can_repeat() -> None:
    lists = list(proof.member_lists())
    assert len(set(lists)) == len(lists) == 1 + 1 + 2 + 5 + 15 + 52 + 203
    assert ("c0", "c1", "c0", "c2", "c2", "c0") in lists
    assert all(members[0] == "c0" for members in lists if members)


def test_worlds_have_every_size() -> None:
    sizes: Counter[tuple[int, int]] = Counter()
    patterns = set()
    for name, args in proof.worlds():
        if name == "allocate_averagely":
            sizes[len(set(args[2])), len(args[1])] += 1
        elif name == "allocate_by_machine_room" and len(args[2]) == 6 and args[0] == "c0":
            patterns.add(tuple(queue[1] for queue in args[1]))
    assert {size for size in sizes if size[0] == 6} == {(6, count) for count in range(13)}
    assert len(patterns) == 2**13 - 1


def test_nearby_worlds_spread_members_in_every_way() -> None:
    spreads = {args[2] for _, args in proof.nearby_worlds()}
    assert len(spreads) == sum(comb(size + 2, 2) for size in range(7))
    assert max(len(args[1]) for _, args in proof.nearby_worlds()) == 12


def test_a_conforming_release_has_no_difference() -> None:
    tallies: list[Tally] = []
    rows = proof.prove([("5.5.0", Allocation().calls())], False, 300, tallies)
    assert {row.differences for row in rows} == {0}
    assert {row.rule for row in rows} >= {"ALLOC-AVG-1", "ALLOC-CH-3", "ALLOC-NEAR-1", "ALLOC-ROOM-1", "MQ-ORD-1"}
    assert tallies[0].cases > 1000


def test_a_release_judged_by_the_rules_of_another_one_differs() -> None:
    rows = proof.prove([("4.7.1", Allocation().calls())], False, 500)
    wrong = {row.rule for row in rows if row.differences}
    changed = {"ALLOC-ROOM-1-FAULT", "ALLOC-ROOM-1-CHECK"}
    assert changed <= wrong <= changed | {"ALLOC-ROOM-1"}


def test_a_release_is_not_asked_for_what_it_lacks() -> None:
    lacking = {"allocate_nearby", "allocate_by_consistent_hash", "place_text"}
    calls = {op: call for op, call in Allocation().calls().items() if op.spec.name not in lacking}
    rows = proof.prove([("4.0.0", calls)], False, 200)
    assert "ALLOC-AVG-1" in {row.rule for row in rows}
    assert not {"ALLOC-NEAR-1", "ALLOC-CH-1"} & {row.rule for row in rows}


def notices(mutant: Mutant) -> bool:
    """Do the small worlds differ, and does the first example name an operation?"""
    tally = Tally("pure", "5.5.0")
    proof.exhaust(tally, Profile(), mutant.parts["allocation"]().calls(), thinned())
    return bool(tally.differences) and tally.examples[0].split("(")[0] in SUITE.index


def test_the_small_worlds_notice_mutants() -> None:
    assert [mutant.name for mutant in MUTANTS if mutant.name not in ODD and not notices(mutant)] == []


def test_the_exhaustive_part_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proof, "worlds", lambda: iter([("place_text", ("only this",))]))
    tallies: list[Tally] = []
    rows = proof.prove([("5.5.0", Allocation().calls())], True, 0, tallies)
    assert [(row.rule, row.cases) for row in rows] == [("ALLOC-CH-4", 1)]
