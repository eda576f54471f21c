"""Which blocks a campaign plays, in which order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketmq_conformance.conformance.campaign.schedule import RANDOM, STEERED, WAVES, Block, BlockSchedule
from rocketmq_conformance.conformance.campaign.spec import LARGEST, LARGEST_SLOW, SMALLEST, CampaignSpec, block_size

SUITES = ("allocation", "remote-store", "start-push")
SPEC = CampaignSpec(("port",), SUITES, cases=1000, seed=1, block=50)


def played(spec: CampaignSpec, chances: dict[str, float] | None = None) -> list[list[Block]]:
    """All waves of a campaign, every one with the same chances."""
    schedule = BlockSchedule(spec)
    return [schedule.wave(number, chances or {}) for number in range(schedule.waves)]


def cases(blocks: list[Block]) -> Iterator[tuple[str, int]]:
    return ((block.suite, case) for block in blocks for case in range(block.first, block.first + block.cases))


def test_without_steering_every_suite_gets_as_much_as_the_others_in_turn() -> None:
    [wave] = played(SPEC)
    assert [block.suite for block in wave[:6]] == [*SUITES, *SUITES]
    assert [(block.number, block.first, block.cases) for block in wave[:4:3]] == [(0, 0, 50), (1, 50, 50)]
    assert {name: sum(block.cases for block in wave if block.suite == name) for name in SUITES} == {
        "allocation": 334,
        "remote-store": 333,
        "start-push": 333,
    }
    assert {block.arm for block in wave} == {RANDOM}
    assert wave[-1] == Block("start-push", 6, 300, 33, RANDOM)


def test_the_same_is_asked_for_for_any_size_of_blocks() -> None:
    wholes = [set(cases(played(replace(SPEC, block=block))[0])) for block in (1, 7, 50, 4096)]
    assert all(whole == wholes[0] for whole in wholes)
    assert len(wholes[0]) == SPEC.cases


def test_fewer_cases_than_suites() -> None:
    [wave] = played(replace(SPEC, cases=2))
    assert wave == [Block("allocation", 0, 0, 1, RANDOM), Block("remote-store", 0, 0, 1, RANDOM)]


def test_steering_goes_where_something_new_is_to_be_expected() -> None:
    spec = replace(SPEC, steer=0.5)
    first, *others = played(spec, {"allocation": 0.0, "remote-store": 0.3, "start-push": 0.1})
    assert len(others) == WAVES - 1
    assert {block.arm for block in first} == {RANDOM}
    steered = [block for wave in others for block in wave if block.arm == STEERED]
    by_suite = {name: sum(block.suite == name for block in steered) for name in SUITES}
    assert sum(block.cases for block in steered) == 500
    assert by_suite["allocation"] == 0
    assert by_suite["remote-store"] > 2 * by_suite["start-push"] > 0


def test_steering_leaves_the_random_arm_as_it_is() -> None:
    spec = replace(SPEC, steer=0.5)
    random = [block for wave in played(spec, {"start-push": 1.0}) for block in wave if block.arm == RANDOM]
    assert random == played(replace(SPEC, cases=500))[0]


def test_where_nothing_new_is_to_be_expected_all_suites_get_as_much() -> None:
    spec = replace(SPEC, cases=3000, steer=0.5)
    steered = [block for wave in played(spec, dict.fromkeys(SUITES, 0.0)) for block in wave if block.arm == STEERED]
    numbers = [sum(block.suite == name for block in steered) for name in SUITES]
    assert sum(numbers) == 30
    assert max(numbers) - min(numbers) <= WAVES


def test_a_share_that_is_less_than_a_block_is_steered_too() -> None:
    waves = played(replace(SPEC, cases=60, steer=0.5), {"start-push": 0.1})
    assert [block for wave in waves for block in wave if block.arm == STEERED] == [
        Block("start-push", 1, 50, 30, STEERED)
    ]


def test_a_wave_depends_on_nothing_but_the_chances() -> None:
    spec, chances = replace(SPEC, steer=0.3), {"allocation": 0.25, "remote-store": 0.5}
    assert played(spec, chances) == played(spec, chances)
    assert played(spec, chances) != played(spec, {"allocation": 0.5})


@given(
    cases_=st.integers(1, 3000),
    steer=st.sampled_from([0.0, 0.1, 0.5, 0.9]),
    block=st.sampled_from([1, 16, 64, 1000]),
    chances=st.dictionaries(st.sampled_from(SUITES), st.floats(0, 1)),
)
def test_no_case_is_there_twice_and_none_is_forgotten(
    cases_: int, steer: float, block: int, chances: dict[str, float]
) -> None:
    spec = replace(SPEC, cases=cases_, steer=steer, block=block)
    blocks = [one for wave in played(spec, chances) for one in wave]
    everything = list(cases(blocks))
    assert len(set(everything)) == len(everything) == cases_
    for name in SUITES:
        mine = sorted(one for one in blocks if one.suite == name)
        assert [one.number for one in mine] == list(range(len(mine)))
        assert all(one.first == one.number * block and 0 < one.cases <= block for one in mine)
        # only the last block of the random arm may be short
        assert all(one.cases == block or after.arm == STEERED for one, after in pairwise(mine))


@pytest.mark.parametrize(
    ("addresses", "cases", "size"),
    [
        (("port",), 600, SMALLEST),
        (("port",), 1_000_000, 1953),
        (("port", "mutant:asks-no-zero", "python:mine:Mine"), 10_000_000, LARGEST),
        (("port", "broker:5.5.0"), 10_000_000, LARGEST_SLOW),
        (("java-client:5.5.0?via=call",), 10_000_000, LARGEST_SLOW),
    ],
)
def test_blocks_are_neither_many_nor_long(addresses: tuple[str, ...], cases: int, size: int) -> None:
    assert block_size(addresses, cases) == size


def test_sampled_cases_are_a_share_of_all() -> None:
    spec = replace(SPEC, sample=0.1)
    assert [case for case in range(40) if spec.sampled(case)] == [0, 10, 20, 30]
    assert sum(map(replace(SPEC, sample=0.7).sampled, range(1000))) == 700
    assert all(replace(SPEC, sample=1.0).sampled(case) for case in range(5))
    assert not any(SPEC.sampled(case) for case in range(100))


def test_what_was_asked_for_survives_json() -> None:
    spec = replace(SPEC, steps=7, sample=0.25, steer=0.5, releases={"client": "4.9.8"}, patience=3.5, memory=1 << 28)
    assert CampaignSpec.of(spec.json()) == spec
    older = {name: value for name, value in spec.json().items() if name != "start_timeout"}
    assert CampaignSpec.of(older) == spec
    assert spec.judged_as == ["--with", "client=4.9.8"]
