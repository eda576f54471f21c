"""Digests of the first cases of every suite; as a script it prints them, under whatever Python that is.

It needs nothing but the kit and the standard library.
"""

from __future__ import annotations

import json
import sys
from hashlib import blake2b

from rocketmq_conformance.conformance.campaign.behaviours import RULES, Behaviours
from rocketmq_conformance.conformance.judge import Judge
from rocketmq_conformance.conformance.player import Player
from rocketmq_conformance.conformance.port.adapter import Port
from rocketmq_conformance.conformance.stage import Stage
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.registry import SUITES
from rocketmq_conformance.suites.sampler import sampler
from rocketmq_conformance.suites.suite import Suite

SEED, CASES = 20_261, 12
#: Of a case: its plan, what the port answered (empty for suites that it does not have), and what it showed.
Digests = list[list[str]]


def digests(suite: Suite) -> Digests:
    """The digests of the first cases of a suite."""
    profile = Profile()
    draw = sampler(suite, profile)
    plans = [(number, draw.case(SEED, number, suite.steps)) for number in range(CASES)]
    stage = Stage(Port(), profile)
    try:
        if stage.adapter.hello().refuses(suite):
            return [[_short(rows), "", ""] for _, rows in plans]
        behaviours = Behaviours(suite)
        played = list(Player(stage, Judge(suite, profile, behaviours)).play(plans))
        return [
            [_short(rows), one.digest, _short(_plain(behaviours))] for (_, rows), one in zip(plans, played, strict=True)
        ]
    finally:
        stage.close()


def _plain(behaviours: Behaviours) -> tuple[list[str], list[int], list[int]]:
    shown = behaviours.next()
    rules = [rule for bit, rule in enumerate(RULES) if shown.rules >> bit & 1]
    return rules, list(shown.answers), list(shown.transitions)


def _short(value: object) -> str:
    return blake2b(repr(value).encode(), digest_size=8).hexdigest()


if __name__ == "__main__":
    json.dump({name: digests(suite) for name, suite in SUITES.items()}, sys.stdout)
