"""One case of the suite of consumers that are suspended, played with a program for each member."""

from __future__ import annotations

from rocketmq_conformance.conformance.targets.client_program.played_group import PlayedGroup
from rocketmq_conformance.conformance.targets.client_program.required_consumers import PAUSE
from rocketmq_conformance.models.client.fixtures import MEMBERS
from rocketmq_conformance.models.client.whole_pause import suspended
from rocketmq_conformance.models.outcome import Outcome
from rocketmq_conformance.suites import whole_pause as operations
from rocketmq_conformance.suites.declare.operation import Operation


class PlayedPauses(PlayedGroup):
    """The members of one case, one of which may be suspended."""

    def _do(self, operation: Operation) -> Outcome:
        match operation:
            case operations.Pause(member, suspends):
                state = self._state
                before = suspended(state)
                _, why = self._expect(operation)
                program = self.members.programs.get(member)
                if program is not None and (not suspends or before in (None, MEMBERS[member])):
                    program.send({PAUSE: suspends})
                    if suspends and before is None:
                        self._end_pulls(self.case.fail_held_pulls, lambda: self._pulls(member))
                return self._look(operation.spec, None, self._limits(state, operation, why), None)
            case _:
                return super()._do(operation)

    def _pulls(self, member: int) -> bool:
        """Does the broker hold a pull of a member?"""
        return any(client == self.members.ids[member] for client, _ in self.case.pullers())

    def _is_left_out(self, operation: Operation) -> bool:
        return operations.is_left_out(self._state, operation)
