"""One address of a campaign, as a player's process plays it."""

from __future__ import annotations

from dataclasses import dataclass, field

from rocketmq_conformance.conformance.adapter import Hello
from rocketmq_conformance.conformance.campaign.tables.behaviours import AnswerRecorder
from rocketmq_conformance.conformance.engine.doubt import Doubts
from rocketmq_conformance.conformance.engine.judge import Judge
from rocketmq_conformance.conformance.engine.player import Player
from rocketmq_conformance.conformance.engine.stage import Stage
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.suite import Suite


@dataclass
class Implementation:
    """One address: its stage, who it is, and a player for every suite that was asked for."""

    address: str
    #: Which of the campaign's addresses it is.
    position: int
    stage: Stage
    hello: Hello
    profile: Profile
    #: What was answered in every suite.
    answers: dict[str, AnswerRecorder] = field(default_factory=dict)
    players: dict[str, Player] = field(default_factory=dict)

    def player(self, suite: Suite) -> Player:
        """The player of a suite."""
        if suite.name not in self.players:
            answers = self.answers[suite.name] = AnswerRecorder()
            self.players[suite.name] = Player(self.stage, self.judge(suite, answers), Doubts(self.hello))
        return self.players[suite.name]

    def judge(self, suite: Suite, answers: AnswerRecorder | None = None) -> Judge:
        """Judges the implementation in a suite, as a run does."""
        return Judge(suite, self.profile.judged(), answers, quirks=self.hello.quirks)
