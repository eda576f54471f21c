"""The block player: what it judges and what it keeps of the cases of a block, in this process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from rocketmq_conformance.conformance.campaign.player.block_player import BlockPlayer
from rocketmq_conformance.conformance.campaign.spec import CampaignSpec
from rocketmq_conformance.reports.event import MODEL

SUITE = "remote-store"
SPEC = CampaignSpec(("port",), (SUITE,), cases=40, seed=8, block=40, steps=6)
OTHER_MAKE, LIKE_JAVA = "python:null_refused:OfAnotherMake", "python:null_refused:LikeJava"


@contextmanager
def opened(spec: CampaignSpec) -> Iterator[BlockPlayer]:
    players = BlockPlayer(spec, lambda case, address: None, lambda: None, {})
    try:
        yield players
    finally:
        players.close()


def kept(spec: CampaignSpec, table: str) -> list[tuple[Any, ...]]:
    """The rows of a table of the only block."""
    with opened(spec) as players:
        return [row for part in players.play(SUITE, 0, spec.cases, {}, singly=False) for row in part[table]]


def test_accidents_of_java_are_judged_only_of_who_follows_java() -> None:
    found = kept(replace(SPEC, addresses=(OTHER_MAKE, LIKE_JAVA)), "divergences")
    assert {(address, against) for _, address, against, *_ in found} == {(LIKE_JAVA, MODEL)}


def test_the_steps_of_sampled_cases_are_kept_whole() -> None:
    spec = replace(SPEC, sample=0.7)
    steps = kept(spec, "steps")
    by_case = {case: [row for row in steps if row[0] == case] for case in range(spec.cases)}
    assert [case for case, rows in by_case.items() if rows] == [case for case in range(40) if spec.sampled(case)]
    assert {len(rows) for rows in by_case.values()} == {0, 6}
