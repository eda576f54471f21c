"""An implementation that is watched instead of judged: its cases go on after an answer that no rule allows."""

from __future__ import annotations

from collections.abc import Generator, Sequence

from rocketmq_conformance.conformance.adapter import Hello
from rocketmq_conformance.conformance.engine.judge import Judge, Judged
from rocketmq_conformance.conformance.engine.player import Player
from rocketmq_conformance.conformance.engine.stage import Stage
from rocketmq_conformance.models.outcome import Outcome
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.reports.event import CONFORMS, UNDECIDED
from rocketmq_conformance.suites.declare.judged_step import expect_step, judged_step
from rocketmq_conformance.suites.declare.measured_time import Times
from rocketmq_conformance.suites.declare.oracle import Agreed, Differs, Oracle, Skipped, Undecided, Unmeasurable
from rocketmq_conformance.suites.declare.suite import Row, Suite


class Witness(Judge):
    """Compares every step with the model as a judge does, and ends a case by no difference.

    After one, the model's state is what the rules demand, not what the implementation may have.
    """

    def asking(
        self, rows: Sequence[Row], *, times: Times | None = None, goes_on: bool = False
    ) -> Generator[Row, Outcome, Judged]:
        """Ask for ``rows`` to the end, or until an outcome decides nothing; the verdict is never "diverges"."""
        judged = Judged(CONFORMS)
        oracle = Oracle(self.suite, self.bound, timed=times is not None)
        for row in rows:
            if not oracle.allows(row[0]):
                continue
            timed = expect_step(oracle, row, times)
            judgement, _ = judged_step(oracle, row, (yield row), times, timed)
            match judgement:
                case Agreed(step) | Differs(step):
                    judged.steps.append(step)
                case Skipped(operation, reason):
                    judged.unsupported[operation] = reason
                case Undecided(reason):
                    judged.verdict, judged.reason = UNDECIDED, reason
                    break
                case Unmeasurable(operation, reason):
                    judged.unsupported[operation] = reason
                    judged.cut = True
                    break
        return judged


class Opened:
    """An implementation that was opened and said who it is."""

    def __init__(self, address: str, stage: Stage, hello: Hello, profile: Profile) -> None:
        self.address = address
        self.stage = stage
        self.hello = hello
        self.profile = profile

    def player(self, suite: Suite) -> Player:
        """A player of a suite that is watched."""
        return Player(self.stage, Witness(suite, self.profile.judged()))

    def refuses(self, suite: Suite, rows: Sequence[Row] = ()) -> str:
        """Why the suite, or a plan of it, cannot be played here; "" when it can."""
        refused = self.hello.refuses(suite)
        if refused:
            return refused
        lacking = suite.lacking(self.profile, rows)
        return f"{self.profile} has no {lacking}" if lacking else ""
