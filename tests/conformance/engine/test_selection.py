"""Selection by name: an exact name is no pattern."""

from __future__ import annotations

import pytest

from rocketmq_conformance.conformance.engine.selection import select, selection_notes

NAMES = ["pull", "rebalance", "rebalance-orderly", "start-pull", "start-push"]


@pytest.mark.parametrize(
    ("word", "selected"),
    [
        ("rebalance", ["rebalance"]),
        ("pull", ["pull"]),
        ("rebal", ["rebalance", "rebalance-orderly"]),
        ("start-*", ["start-pull", "start-push"]),
        ("*-pu[ls]?", ["start-pull", "start-push"]),
        ("", NAMES),
        ("Pull", []),
    ],
)
def test_a_word_is_a_name_or_else_a_pattern(word: str, selected: list[str]) -> None:
    assert select(word, NAMES) == selected


def test_patterns_say_what_they_select_and_names_do_not() -> None:
    assert selection_notes(["pull", "*-push", "rebal"], NAMES) == [
        "'*-push' selects start-push",
        "'rebal' selects rebalance, rebalance-orderly",
    ]
