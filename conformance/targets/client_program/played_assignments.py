"""One case of the suite of queues that are assigned by hand, played with a program for the consumer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rocketmq_conformance.conformance.fakes.traffic import PULLS
from rocketmq_conformance.conformance.targets.client_program.played_group import PlayedGroup
from rocketmq_conformance.conformance.targets.client_program.required_consumers import ASSIGN
from rocketmq_conformance.models.outcome import Outcome
from rocketmq_conformance.suites import whole_assign as operations
from rocketmq_conformance.suites.declare.operation import Operation
from rocketmq_conformance.suites.declare.topologies import ORDINARY

#: Commands that a program takes with ``assign``.
PAUSE_QUEUES, RESUME_QUEUES = "pause_queues", "resume_queues"
SEEK, SEEK_TO_BEGIN, SEEK_TO_END = "seek", "seek_to_begin", "seek_to_end"


class PlayedAssignments(PlayedGroup):
    """The consumer of one case, which pulls what commands make it assign."""

    def _do(self, operation: Operation) -> Outcome:
        match operation:
            case operations.Assign(member, queues):
                return self._tell(operation, member, ASSIGN, self._named(queues))
            case operations.Pause(member, queues):
                return self._tell(operation, member, PAUSE_QUEUES, self._named(queues))
            case operations.Resume(member, queues):
                return self._tell(operation, member, RESUME_QUEUES, self._named(queues))
            case operations.Seek(member, queue, offset):
                return self._tell(operation, member, SEEK, [self.case.topic, queue, offset])
            case operations.SeekToBegin(member, queue):
                return self._tell(operation, member, SEEK_TO_BEGIN, [self.case.topic, queue])
            case operations.SeekToEnd(member, queue):
                return self._tell(operation, member, SEEK_TO_END, [self.case.topic, queue])
            case _:
                return super()._do(operation)

    def _tell(self, operation: Operation, member: int, command: str, value: object) -> Outcome:
        """Give the consumer a command, if it runs, and look."""
        program = self.members.programs.get(member)
        before = {queue: self.case.latest_pull(queue) for queue in self.case.seen}

        def tell() -> None:
            if program is not None:
                program.send({command: value})
                # what it does shows by a pull, if it shows at all
                self._wait(lambda: self.members.ended() or self._pulls_anew(before), self._timing.quiet)

        return self._played(operation, tell)

    def _pulls_anew(self, before: object) -> bool:
        return before != {queue: self.case.latest_pull(queue) for queue in self.case.seen}

    def _named(self, queues: Iterable[int]) -> list[list[object]]:
        """Queues of the topic as a command names them."""
        return [[self.case.topic, queue] for queue in queues]

    def _first_commands(self) -> Sequence[dict[str, object]]:
        assigned = [queue for member in self._state.group.members.values() for queue in member.assigned]
        ids = sorted(ORDINARY.places[queue][1] for queue in assigned)
        # one that is asked what it takes sends no heartbeat before it knows a broker, by a queue
        return [{ASSIGN: self._named(ids or (0,))}]

    def _reached(self, joined: str | None) -> bool:
        """It asks for no list of members: a consumer that starts has got so far once it pulled."""
        return joined is None or any(self.case.traffic.has_sent(joined, request) for request in PULLS)
