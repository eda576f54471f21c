"""Proof of the client's rules on the machine's clock: stateful runs of real clients in real time.

The timers of the real classes are shortened by the pace. The age of a queue or lock at the moment it is examined is not
known exactly: the model uses the measured bounds, and a case ends where they do not determine the answer
(``suites/declare/measured_time.py``).
"""

from __future__ import annotations

from functools import partial

from rocketmq_conformance.conformance.adapter import AdapterError
from rocketmq_conformance.conformance.engine.handshake import hello_of
from rocketmq_conformance.conformance.engine.judge import Judge
from rocketmq_conformance.conformance.engine.player import Player
from rocketmq_conformance.conformance.engine.stage import Stage
from rocketmq_conformance.conformance.proof.evidence import Tally, describe_step
from rocketmq_conformance.conformance.proof.selection import EVERYTHING, Part, Selection
from rocketmq_conformance.conformance.targets.java_client.adapter import JavaClient
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.measured_time import depends_on_time
from rocketmq_conformance.suites.declare.operation import Side
from rocketmq_conformance.suites.declare.sampler import sampler
from rocketmq_conformance.suites.declare.suite import Row, Suite

#: The side of its rows.
SIDE = "clock"
#: Suites whose answers depend on time.
TIMED = {name: suite for name, suite in SUITES.items() if suite.side is Side.CLIENT and depends_on_time(suite)}
#: How many times faster than standard the timers are: 20 s between two rounds are 80 ms.
PACE = 250
#: Cases of each suite, and their steps.
CASES, STEPS = 20, 30
SEED = 20240102


def parts() -> list[Part]:
    """The parts of a release's proof: every suite that depends on time is one."""
    return [Part.of(suite) for suite in TIMED.values()]


def prove_release(release: str, selection: Selection = EVERYTHING, cases: int = CASES) -> Tally:
    """Stateful runs of the suites that depend on time and are selected; CannotRunError and AdapterError when the
    release is not available or fails."""
    stage = Stage(JavaClient(release, pace=PACE), Profile.of(client=release))
    try:
        tally = Tally(SIDE, release)
        hello = hello_of(stage)  # its hello reports a real clock
        for suite in TIMED.values():
            if hello.refuses(suite) or not selection.takes(Part.of(suite)):
                continue
            player, draw = Player(stage, Judge(suite, stage.profile)), sampler(suite, stage.profile)
            for number in range(cases):
                played = player.one(number, draw.case(SEED, number, STEPS))
                if played.judged is None:
                    raise AdapterError(played.reason)
                for step in played.judged.steps:
                    if _asks(suite, step.row):
                        describe = partial(describe_step, suite, step.row, step.before)
                        tally.add(step.expected, step.why, step.observed, describe)
        return tally
    finally:
        stage.close()


def _asks(suite: Suite, row: Row) -> bool:
    """Is the client used for more than waiting?"""
    spec = suite.operations[row[0]].spec
    return spec.side is not Side.WORLD and not spec.duration
