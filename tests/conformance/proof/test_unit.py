"""Units of proofs: their names, their shards, and what a restricted proof plays and replaces."""

from __future__ import annotations

import pytest
from places import ROOT

from rocketmq_conformance.conformance.proof import kinds
from rocketmq_conformance.conformance.proof.kept_rows import KeptRows
from rocketmq_conformance.conformance.proof.selection import Part, Selection
from rocketmq_conformance.conformance.proof.unit import KINDS, PAIRS, Shard, Unit

EVERY = [unit for kind in kinds.ALL.values() for unit in kind.units]


def test_the_file_of_a_unit_names_it() -> None:
    assert [unit for unit in EVERY if Unit.named(unit.kind, unit.name) != unit] == []
    assert len({(unit.kind, unit.name) for unit in EVERY}) == len(EVERY)


def test_everything_is_every_kind_and_every_release_that_can_be_had() -> None:
    assert tuple(kinds.ALL) == KINDS
    assert {kind: len(found.units) for kind, found in kinds.ALL.items()} == {
        "java": 39,
        "clock": 39,
        "scripted": 39,
        "whole": 10,
        "pairs": 100,
        "broker": 34,
    }


@pytest.mark.parametrize("of", [1, 2, 7, 500])
def test_every_unit_is_in_one_shard_and_the_pairs_of_a_broker_in_the_same(of: int) -> None:
    shards = [Shard(number, of).of_units(EVERY) for number in range(1, of + 1)]
    assert sorted(map(str, EVERY)) == sorted(str(unit) for shard in shards for unit in shard)
    brokers = [{unit.against for unit in shard if unit.kind == PAIRS} for shard in shards]
    assert sum(map(len, brokers)) == 10


@pytest.mark.parametrize("text", ["", "1", "0/2", "3/2", "1/0", "a/b", "-1/2", "1/2/3"])
def test_what_is_no_shard_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is no shard: write i/n"):
        Shard.parse(text)


ONE = Part(frozenset({"one"}), frozenset({"A-1", "B-1"}))
TWO = Part(frozenset({"two"}), frozenset({"B-1", "C-1"}))


@pytest.mark.parametrize(
    ("selection", "played", "replaced"),
    [
        (Selection(), [ONE, TWO], None),
        (Selection(suite="one"), [ONE], {"A-1"}),
        (Selection(suite="one,two"), [ONE, TWO], {"A-1", "B-1", "C-1"}),
        (Selection(rule="A-1"), [ONE], {"A-1"}),
        (Selection(rule="B-1"), [ONE, TWO], {"B-1"}),
        (Selection(suite="one", rule="B-1"), [ONE], set()),
        (Selection(suite="other"), [], set()),
    ],
)
def test_a_row_is_replaced_when_all_that_counts_for_it_is_played(
    selection: Selection, played: list[Part], replaced: set[str] | None
) -> None:
    assert [part for part in (ONE, TWO) if selection.takes(part)] == played
    assert selection.replaced([ONE, TWO]) == replaced


def test_every_kept_rule_can_be_asked_for_alone() -> None:
    kept = KeptRows(ROOT / "docs" / "proof")
    rules: dict[str, set[str]] = {}
    for unit in kept.units():
        rules.setdefault(unit.kind, set()).update(row.rule for rows in kept.read(unit).values() for row in rows)
    for name, known in rules.items():
        kind = kinds.ALL[name]
        assert [rule for rule in known if not kind.takes(Selection(rule=rule))] == []
        assert [rule for rule in known if kind.replaced(Selection(rule=rule)) != {rule}] == []
