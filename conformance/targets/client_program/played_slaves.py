"""One case of the suite of a master and its slave, played with a program for each member, by the traffic at both."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence

from rocketmq_conformance.conformance.fakes.whole_slaves import SlavePair
from rocketmq_conformance.conformance.targets.client_program.case_broker import CaseBroker
from rocketmq_conformance.conformance.targets.client_program.given_access import GivenAccess
from rocketmq_conformance.conformance.targets.client_program.played_brokers import PlayedBrokers
from rocketmq_conformance.conformance.targets.client_program.timing import Timing
from rocketmq_conformance.models.client.plan_words import EVERY, NOTHING
from rocketmq_conformance.models.client.whole_push import Setting
from rocketmq_conformance.models.client.whole_slaves import MASTER, MOST, SLAVE, place_number
from rocketmq_conformance.models.outcome import Ok, Outcome
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites import whole_slaves as operations
from rocketmq_conformance.suites.declare.operation import Operation
from rocketmq_conformance.suites.declare.suite import Suite


class PlayedSlaves(PlayedBrokers):
    """The members of one case at a broker that has a slave."""

    def __init__(
        self,
        suite: Suite,
        profile: Profile,
        command: Sequence[str],
        timing: Timing,
        interrupted: threading.Event,
        access: GivenAccess,
    ) -> None:
        self.pair = SlavePair(profile)
        super().__init__(suite, profile, command, timing, interrupted, access, self.pair)

    def do(self, operation: Operation) -> Outcome:
        """Do one operation, and wait until the traffic shows its result."""
        match operation:
            case operations.Prepare(queues, stored):
                self._expect(operation)
                if not self._begun:
                    self.pair.begin(queues, stored)
                return Ok()
            case (
                operations.Send()
                | operations.Suggest()
                | operations.Synchronise()
                | operations.GoAway()
                | operations.ComeBack()
            ):
                return self._world(operation)
            case _:
                return super().do(operation)

    def _change(self, operation: Operation) -> bool:
        match operation:
            case operations.Send(queue):
                for number in self.pair.named:
                    if queue in (number, EVERY):
                        self.pair.send(number)
            case operations.Suggest(node):
                self.pair.suggest(node)
            case operations.Synchronise():
                self.pair.synchronise()
            case operations.GoAway():
                if not self.pair.away:
                    self.pair.go_away()
                    return True
            case _:
                return self._come_back()
        return False

    def _prepare(self, setting: Setting) -> None:
        self._setting = setting
        self.pair.second.owner = self.members.owner
        self.pair.begin(MOST, NOTHING)

    def _brokers(self) -> Sequence[tuple[CaseBroker, Mapping[int, int]]]:
        nodes = (SLAVE, self.pair.first), (MASTER, self.pair.second)
        return [
            (case, {queue: place_number(node, queue) for queue in range(MOST)})
            for node, case in nodes
            if case in self.pair.there
        ]

    def _places(self) -> Sequence[int]:
        return range(2 * MOST)
