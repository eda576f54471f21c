"""One side of a comparison: chosen cases of one suite on one address of a campaign."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import partial
from operator import or_

from rocketmq_conformance.conformance.campaign.analysis.parts import Engine, Part, chosen_parts
from rocketmq_conformance.conformance.campaign.analysis.rebuild import CaseFacts, Rebuilder, Trace, stored_facts
from rocketmq_conformance.conformance.campaign.tables.reading import Campaign

#: What is read to know all about a case.
TABLES = ("cases", "divergences", "steps")


class Side:
    """What is known of the cases of one suite that were asked for."""

    def __init__(self, campaign: Campaign, suite: str, address: str) -> None:
        self.campaign = campaign
        self.address = address
        self.rebuilder = Rebuilder(campaign, suite, address)
        self.profile = campaign.profile(address).judged()
        self.facts: dict[int, CaseFacts] = {}

    def trace(self, case: int) -> Trace:
        """The steps of a case, rebuilt."""
        return self.rebuilder.rebuild(self.facts[case])

    def rebuilds(self, probes: Collection[int]) -> bool:
        """Does this kit rebuild the campaign's cases, going by some of them? True when there is none to try."""
        return not probes or any(self.rebuilder.is_reproducible(self.facts[case]) for case in probes)

    def plans(self) -> list[int]:
        """What determines the plans of the suite's cases besides the seed: their length, and the operations offered."""
        suite = self.rebuilder.suite
        profile = self.campaign.planned
        return [self.campaign.steps or suite.steps, *suite.offered(profile)]


def fetch(engine: Engine, sides: Mapping[str, Side], cases: Mapping[str, Iterable[int]]) -> None:
    """Let sides of one campaign and address, by suite, know some cases of their suites."""
    for side in list(sides.values())[:1]:
        parts = [
            part
            for suite, some in cases.items()
            for part in chosen_parts(suite, set(some) - sides[suite].facts.keys(), [side.campaign], engine.chosen)
        ]
        facts = engine.by_suite([side.campaign], parts, TABLES, partial(_facts, address=side.address), or_)
        for suite, found in facts.items():
            sides[suite].facts |= found


def known(part: Part, at: int, campaign: Campaign, address: str) -> Side:
    """The side of chosen cases; ``at`` is the place of the campaign among those that the part is about."""
    side = Side(campaign, part.suite, address)
    side.facts = _facts(part, campaign, address, at)
    return side


def _facts(part: Part, campaign: Campaign, address: str, at: int = 0) -> dict[int, CaseFacts]:
    found = stored_facts(campaign, part.suite, address, part.blocks[at], part.cases)
    return {facts.case: facts for facts in found}
