"""One case of the suite of commits on demand, played with a program for each member."""

from __future__ import annotations

from rocketmq_conformance.conformance.targets.client_program.played_group import PlayedGroup
from rocketmq_conformance.conformance.targets.client_program.required_consumers import COMMIT
from rocketmq_conformance.conformance.targets.client_program.traffic_wait import Limits
from rocketmq_conformance.models.outcome import Outcome
from rocketmq_conformance.suites import whole_commit as operations
from rocketmq_conformance.suites.declare.operation import Operation


class PlayedCommits(PlayedGroup):
    """The members of one case, which commit nothing but what they are asked to."""

    def _do(self, operation: Operation) -> Outcome:
        match operation:
            case operations.Commit(member):
                self._expect(operation)
                program = self.members.programs.get(member)
                if program is not None:
                    program.send({COMMIT: self.case.topic})
                # no timer is waited for
                margin, standard = self._timing.margin, self._timing.standard_margin
                limits = Limits(margin, margin, self._timing.quiet, standard=standard)
                return self._look(operation.spec, None, limits, None)
            case _:
                return super()._do(operation)
