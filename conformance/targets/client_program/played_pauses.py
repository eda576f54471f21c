"""One case of the suite of consumers that are suspended, played with a program for each member."""

from __future__ import annotations

from collections.abc import Mapping

from rocketmq_conformance.conformance.fakes.traffic import Brought
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.targets.client_program.played_group import PlayedGroup
from rocketmq_conformance.conformance.targets.client_program.required_consumers import PAUSE
from rocketmq_conformance.models.client.whole_pause import suspended
from rocketmq_conformance.models.outcome import Outcome, Value
from rocketmq_conformance.suites import whole_pause as operations
from rocketmq_conformance.suites.declare.operation import Operation
from rocketmq_conformance.suites.declare.topologies import ORDINARY


class PlayedPauses(PlayedGroup):
    """The members of one case, one of which may be suspended."""

    #: How often each client had asked for stored offsets when a member was suspended last.
    _had_asked: Mapping[str, int] = {}

    def _do(self, operation: Operation) -> Outcome:
        match operation:
            case operations.Pause(member, suspends):
                state = self._state
                before = suspended(state)
                _, why = self._expect(operation)
                program = self.members.programs.get(member)
                if program is not None and (not suspends or before in (None, ORDINARY.members[member])):
                    if before is None:
                        self._had_asked = self.members.sent(Request.QUERY_CONSUMER_OFFSET)
                    program.send({PAUSE: suspends})
                return self._look(operation.spec, None, self._limits(state, operation, why), None)
            case _:
                return super()._do(operation)

    def _shown(self, brought: list[Brought]) -> Value:
        seen, name = super()._shown(brought), suspended(self._state)
        assert isinstance(seen, tuple)
        if name is None:
            return (*seen, None)
        client = self.members.ids.get(ORDINARY.members.index(name), "")
        return (*seen, self.members.sent(Request.QUERY_CONSUMER_OFFSET)[client] > self._had_asked.get(client, 0))

    def _is_left_out(self, operation: Operation) -> bool:
        return operations.is_left_out(self._state, operation)
