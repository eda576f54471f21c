"""Discovery: the curve, the chance of something new, and that the order in which blocks come back does not matter."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from campaign_maker import discovery_of, make
from hypothesis import given, settings
from hypothesis import strategies as st

from rocketmq_conformance.conformance.campaign.analysis.discovery import COLUMNS, POINTS, BehaviourCounter
from rocketmq_conformance.conformance.campaign.tables.schema import CASES
from rocketmq_conformance.reports import event

pytestmark = pytest.mark.tables
SCHEMA = pa.schema([CASES.field(name) for name in COLUMNS])
#: Case, arm, steps, answers, transitions.
Row = tuple[int, str, int, list[int], list[int]]
#: Rows of blocks by suite and number.
Blocks = dict[tuple[str, int], list[Row]]


def table(rows: Iterable[Row]) -> pa.Table:
    return pa.Table.from_pylist([dict(zip(COLUMNS, row, strict=True)) for row in rows], schema=SCHEMA)


def found(blocks: Blocks, suites: tuple[str, ...], block: int) -> list[event.Discovery]:
    collected = BehaviourCounter(suites, block)
    for (suite, number), rows in blocks.items():
        collected.add(suite, number, table(rows))
    return collected.results()


def naive(blocks: Blocks, suites: tuple[str, ...], suite: str, arm: str) -> tuple[int, int, float, list[list[int]]]:
    """The same, from the definition: cases in canonical order, each with what it showed."""
    ordered: dict[tuple[int, int, int], set[int]] = {}
    for (of, number), rows in blocks.items():
        for case, by, steps, answers, transitions in rows:
            if steps and suite in ("", of) and arm in ("", by):
                ordered.setdefault((number, suites.index(of), case), set()).update(answers, transitions)
    cases = [ordered[key] for key in sorted(ordered)]
    seen: set[int] = set()
    curve = []
    for at, shown in enumerate(cases, start=1):
        if shown - seen or at == len(cases):
            seen |= shown
            curve.append([at, len(seen)])
    new = sum(bool(one - set().union(*cases[:at], *cases[at + 1 :])) for at, one in enumerate(cases))
    return len(cases), len(seen), new / len(cases) if cases else 0.0, curve


@st.composite
def campaigns(draw: Callable[[st.SearchStrategy[Any]], Any]) -> Blocks:
    behaviours = st.lists(st.integers(0, 12), max_size=4, unique=True)
    blocks: Blocks = {}
    for suite in ("s", "t", "u"):
        for number in draw(st.lists(st.integers(0, 4), max_size=3, unique=True)):
            arm = draw(st.sampled_from(["random", "steered"]))
            rows = []
            for case in range(number * 3, number * 3 + draw(st.integers(1, 3))):
                for _ in range(draw(st.integers(1, 2))):  # addresses
                    steps = draw(st.integers(0, 3))
                    rows.append(
                        (case, arm, steps, draw(behaviours) if steps else [], draw(behaviours) if steps else [])
                    )
            blocks[suite, number] = rows
    return blocks


@given(campaigns(), st.randoms(use_true_random=False))
@settings(max_examples=150, deadline=None)
def test_it_says_what_the_definition_says_in_any_order_of_blocks(blocks: Blocks, shuffled: random.Random) -> None:
    suites = ("s", "t", "u")
    items = list(blocks.items())
    shuffled.shuffle(items)
    results = found(dict(items), suites, 3)
    assert results == found(blocks, suites, 3)
    arms = {by for rows in blocks.values() for _, by, steps, _, _ in rows if steps}
    seen_arms = set()
    for one in results:
        seen_arms.add((one.suite, one.arm))
        cases, behaviours, chance, curve = naive(blocks, suites, one.suite, one.arm)
        assert (one.cases, one.behaviours) == (cases, behaviours)
        assert one.chance == pytest.approx(chance)
        assert one.curve == curve
    expected = {
        (suite, arm)
        for suite in (*suites, "")
        for arm in ({*arms, ""} if len(arms) > 1 else arms)
        if naive(blocks, suites, suite, arm)[0]
    }
    assert seen_arms == expected


def test_the_chance_is_that_of_the_next_case() -> None:
    """Simulated: over many samples the mean estimate is the share of samples whose last case was new to the others."""
    source = np.random.default_rng(5)
    frequencies = 0.5 / np.arange(1, 60) ** 1.3
    size, times = 40, 600
    estimates, news = [], 0
    for _ in range(times):
        shown = source.random((size, len(frequencies))) < frequencies
        rows = [(case, "random", 1, np.flatnonzero(row).tolist(), []) for case, row in enumerate(shown)]
        estimates.append(found({("s", 0): rows}, ("s",), size)[0].chance)
        news += bool((shown[-1] & ~shown[:-1].any(axis=0)).any())
    # the standard error of the share of news is below 0.02
    assert abs(float(np.mean(estimates)) - news / times) < 0.06
    assert 0.1 < news / times < 0.9


def test_many_singletons_of_one_case_count_once() -> None:
    rows: list[Row] = [(0, "random", 1, [1, 2, 3, 4], [5]), (1, "random", 1, [1], []), (2, "random", 1, [1], [])]
    assert found({("s", 0): rows}, ("s",), 3)[0].chance == pytest.approx(1 / 3)


def test_a_block_counts_once() -> None:
    collected = BehaviourCounter(("s",), 2)
    rows: list[Row] = [(0, "random", 1, [1], []), (1, "random", 1, [1, 2], [])]
    collected.add("s", 0, table(rows))
    once = collected.results()
    collected.add("s", 0, table(rows))
    assert collected.results() == once
    assert (once[0].cases, once[0].behaviours, once[0].chance) == (2, 2, 0.5)
    assert collected.behaviours == 2


def test_what_was_never_judged_is_no_case() -> None:
    rows: list[Row] = [(0, "random", 0, [], []), (1, "random", 1, [7], []), (1, "random", 0, [], [])]
    assert [(one.cases, one.behaviours) for one in found({("s", 0): rows}, ("s",), 2)] == [(1, 1), (1, 1)]
    assert found({("s", 0): rows[:1]}, ("s",), 2) == []
    assert BehaviourCounter(("s",), 2).results() == []


def test_a_long_curve_is_thinned_evenly_and_keeps_its_ends() -> None:
    rows: list[Row] = [(case, "random", 1, [case, case + 5000], []) for case in range(2000)]
    rows += [(case, "random", 1, [0], []) for case in range(2000, 3000)]
    curve = found({("s", 0): rows}, ("s",), 3000)[0].curve
    assert len(curve) == POINTS
    assert curve[0] == [1, 2]
    assert curve[-1] == [3000, 4000]
    assert curve == sorted(curve)
    gaps = {after[1] - before[1] for before, after in pairwise(curve[:-1])}
    assert max(gaps) - min(gaps) <= 2


def test_the_steered_arm_is_reported_beside_the_random_one(tmp_path: Path) -> None:
    campaign = make(tmp_path, "port", suites=("remote-store", "start-pull"), cases=60, block=20, steered_from=40)
    results = {(one.suite, one.arm): one for one in discovery_of(campaign).results()}
    assert list(results) == [(s, arm) for s in ("remote-store", "start-pull", "") for arm in ("random", "steered", "")]
    assert results["", "random"].cases == 80
    assert results["", "steered"].cases == 40
    assert results["", ""].cases == 120
    assert results["", ""].behaviours == sum(results[suite, ""].behaviours for suite in campaign.suites)
    assert results["remote-store", ""].behaviours >= results["remote-store", "random"].behaviours
    assert results["", ""].chance <= results["", "steered"].chance


def test_a_block_of_a_thousand_cases_takes_at_most_20_ms() -> None:
    source = np.random.default_rng(1)
    size, shown = 1000, 40
    ids = source.integers(-(2**63), 2**63, 800)

    def lists() -> pa.ListArray:
        offsets = np.arange(0, size * shown + 1, shown, dtype=np.int32)
        return pa.ListArray.from_arrays(offsets, pa.array(source.choice(ids, size * shown)))

    arm = pa.DictionaryArray.from_arrays(np.zeros(size, np.int32), ["random"])
    tables = []
    for block in range(20):
        case = np.arange(block * size, (block + 1) * size)
        columns = [pa.array(case), arm, pa.array(np.ones(size, np.int32)), lists(), lists()]
        tables.append(pa.table(columns, schema=SCHEMA))
    collected = BehaviourCounter(("s",), size)
    took = []
    for block, cases in enumerate(tables):
        begun = time.process_time()
        collected.add("s", block, cases)
        took.append(time.process_time() - begun)
    assert sorted(took)[len(took) // 2] < 0.02
    assert collected.results()[0].cases == 20_000
