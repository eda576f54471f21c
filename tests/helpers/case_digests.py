"""Digests of the first cases of every suite; as a script it prints them, under whatever Python that is.

It needs nothing but the kit and the standard library.
"""

from __future__ import annotations

import json
import sys
from array import array
from hashlib import blake2b
from itertools import pairwise

from rocketmq_conformance.conformance.campaign.tables.behaviours import AnswerRecorder, answer, transition
from rocketmq_conformance.conformance.engine.judge import Judge
from rocketmq_conformance.conformance.engine.player import Player
from rocketmq_conformance.conformance.engine.stage import Stage
from rocketmq_conformance.conformance.targets.port.adapter import Port
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.sampler import sampler
from rocketmq_conformance.suites.declare.suite import Suite

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
        judge = Judge(suite, profile)
        player = Player(stage, judge)
        found = []
        for number, rows in plans:
            answers = judge.coverage = AnswerRecorder()
            found.append([_short(rows), player.one(number, rows).digest, _short(_shown(suite, answers))])
        return found
    finally:
        stage.close()


def _shown(suite: Suite, answers: AnswerRecorder) -> list[int]:
    """The ids of the behaviours of a case, in the order of its steps."""
    taken = answers.take()
    meanings = [(taken["reasons"][why], outcome) for why, outcome in taken["meanings"]]
    given = [meanings[number] for number in array("i", taken["answers"])]
    shown = [answer(suite.name, why, outcome) for why, outcome in given]
    shown += [transition(suite.name, first, second) for (first, _), (second, _) in pairwise(given)]
    return [behaviour[0] for behaviour in shown]


def _short(value: object) -> str:
    return blake2b(repr(value).encode(), digest_size=8).hexdigest()


if __name__ == "__main__":
    json.dump({name: digests(suite) for name, suite in SUITES.items()}, sys.stdout)
