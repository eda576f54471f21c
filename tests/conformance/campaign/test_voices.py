"""Voices: who did the same as whom in a case, and how a campaign counts the ways in which addresses part."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from campaign_maker import changed, make

from rocketmq_conformance.conformance.campaign.analysis.voices import voices
from rocketmq_conformance.conformance.campaign.player.block_player import BlockPlayer
from rocketmq_conformance.conformance.campaign.player.voices import Spoken, are_alike, case_voices, decided
from rocketmq_conformance.conformance.campaign.spec import CampaignSpec
from rocketmq_conformance.conformance.engine.judge import Judge
from rocketmq_conformance.conformance.engine.player import Played, Player
from rocketmq_conformance.conformance.engine.stage import Stage
from rocketmq_conformance.conformance.targets.opener import open_address
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.release import Release
from rocketmq_conformance.reports.event import COULD_NOT_RUN, MODEL, Voices
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.sampler import sampler

pytestmark = pytest.mark.tables

SUITE, SEED, STEPS = SUITES["remote-store"], 5, 12
PORT, ZERO, TOPIC = "port", "mutant:asks-no-zero", "mutant:clone-ignores-topic"
NEW = Profile()
#: Other rules of another release in name alone: they say the same of this suite.
OLD = replace(NEW, broker=Release.parse("5.4.0"))


@contextmanager
def speaking(*addresses: str, profiles: tuple[Profile, ...] = ()) -> Iterator[Iterator[list[Spoken]]]:
    """What addresses do with the cases of a seed."""
    judged_by = profiles or (NEW,) * len(addresses)
    stages = [Stage(open_address(one), profile) for one, profile in zip(addresses, judged_by, strict=True)]
    players = [Player(stage, Judge(SUITE, NEW)) for stage in stages]
    draw = sampler(SUITE, NEW)

    def cases() -> Iterator[list[Spoken]]:
        for number in range(120):
            rows = draw.case(SEED, number, STEPS)
            yield [
                Spoken(at, player, profile, player.one(number, rows))
                for at, (player, profile) in enumerate(zip(players, judged_by, strict=True))
            ]

    try:
        yield cases()
    finally:
        for stage in stages:
            stage.close()


def test_those_that_do_the_same_have_one_voice_and_the_model_has_that_of_whom_conforms() -> None:
    seen = set()
    with speaking(PORT, ZERO, PORT) as cases:
        for spoken in cases:
            numbers = case_voices(spoken).numbers
            seen.add(tuple(numbers))
            assert are_alike(spoken) == (numbers == [(0, 1, 1), (1, 1, 1), (2, 1, 1)])
    assert seen == {((0, 1, 1), (1, 1, 1), (2, 1, 1)), ((0, 1, 1), (1, 2, 1), (2, 1, 1))}


def test_rules_that_nobody_follows_have_a_voice_of_their_own() -> None:
    with speaking(ZERO, ZERO) as cases:
        found = {tuple(case_voices(spoken).numbers) for spoken in cases}
    assert found == {((0, 1, 1), (1, 1, 1)), ((0, 1, 2), (1, 1, 2))}


def test_what_the_model_says_of_one_of_two_alike_is_no_difference_between_them() -> None:
    with speaking(ZERO, PORT, TOPIC) as cases:
        for spoken in cases:
            first, _, last = spoken
            for parted in case_voices(spoken).parted:
                assert (parted.position, parted.against) == (2, 0)
                assert parted.at == min(first.played.steps, last.played.steps)
                assert parted.step.observed != parted.step.expected


def test_between_releases_a_difference_is_one_whoever_conforms() -> None:
    with speaking(PORT, ZERO, ZERO, profiles=(OLD, NEW, NEW)) as cases:
        parted = [case_voices(spoken).parted for spoken in cases]
    some = [found for found in parted if found]
    assert len(some) > 10
    # the third does as the second: it parts from nothing new
    assert {(one.position, one.against) for found in some for one in found} == {(1, 0)}


def test_cases_that_decide_nothing_are_not_compared() -> None:
    with speaking(PORT) as cases:
        ((one,),) = [next(cases)]
    assert decided(one.played)
    assert not decided(Played(0, [], COULD_NOT_RUN, 0, 0.0, "", "it fell ill"))
    assert one.played.judged is None
    judged = one.player.judge.judge(one.played.rows, lambda row: None, count=False)
    assert not decided(one.played._replace(judged=replace(judged, reordered=True)))


def test_a_block_says_the_voices_of_cases_that_part_and_of_no_others() -> None:
    addresses = PORT, ZERO, TOPIC
    spec = CampaignSpec(addresses, (SUITE.name,), cases=40, seed=8, block=40, steps=6)
    players = BlockPlayer(spec, lambda case, address: None, lambda: None, {})
    try:
        parts = list(players.play(SUITE.name, 0, 40, {}, singly=False))
    finally:
        players.close()
    diverging = {
        (case, address) for part in parts for case, address, against, *_ in part["divergences"] if against == MODEL
    }
    assert diverging
    for address in addresses:
        spoken: dict[int, list[int]] = {}
        begin = 0
        for part in parts:
            spoken |= {begin + at: numbers for at, *numbers in part["cases"][address]["voices"]}
            begin += part["count"]
        assert spoken.keys() == {case for case, _ in diverging}
        for case, (voice, rules) in spoken.items():
            assert rules == 1
            assert (voice > 1) == ((case, address) in diverging)


# --- counted ------------------------------------------------------------------------------------------------------


@pytest.mark.tables
def test_the_ways_in_which_addresses_part_are_counted_by_suite(tmp_path: Path) -> None:
    said = {
        3: ((1, 2, 1), (1, 1, 1)),
        7: ((1, 2, 1), (1, 1, 1)),
        70: ((1, 2, 1), (1, 1, 1)),
        99: ((1, 0, 2), (1, 0, 3)),
    }

    def change(row: dict[str, Any]) -> dict[str, Any]:
        own, rules = said.get(row["case"], ((1, 1, 1), (1, 1, 1)))
        at = (PORT, ZERO, TOPIC).index(row["address"])
        return {**row, "voice": own[at], "rules_voice": rules[at] if len(rules) > at else rules[0]}

    made = make(tmp_path / "made", PORT, ZERO, TOPIC, cases=100, steps=3)
    alike = changed(made, tmp_path / "alike", lambda row: {**row, "voice": 1, "rules_voice": 1})
    assert voices(alike) == []
    assert voices(changed(made, tmp_path / "changed", change)) == [
        Voices(
            suite="remote-store",
            cases=3,
            case=3,
            addresses=[[PORT, TOPIC], [ZERO]],
            rules=[[PORT, ZERO, TOPIC], []],
            since=[[ZERO, PORT], [TOPIC, ZERO]],
        ),
        Voices(
            suite="remote-store",
            cases=1,
            case=99,
            addresses=[[PORT], [TOPIC], []],
            rules=[[PORT], [], [TOPIC]],
            since=[[TOPIC, PORT]],
        ),
    ]
