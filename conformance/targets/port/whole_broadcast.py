"""The port's whole broadcasting consumers: those of ``whole_push``, with all queues each and offsets in files."""

from __future__ import annotations

from rocketmq_conformance.conformance.adapter import Methods
from rocketmq_conformance.conformance.targets.port.group_member import BROADCASTING
from rocketmq_conformance.conformance.targets.port.whole_push import WholePush
from rocketmq_conformance.models.outcome import Result, Value
from rocketmq_conformance.suites import whole_broadcast as operations


class WholeBroadcast(WholePush):
    """The members that run."""

    model = BROADCASTING

    def come_back(self, member: int, crashes: bool) -> Result:
        """If a member runs, it ends, a message arrives in every queue, and it is started again."""
        if self.members[member] is not None:
            self.hang_up(member) if crashes else self.end(member)
            for queue in range(self.world.queues):
                self.world.send(queue)
            self.start(member)
        return self.look()

    def observed(self, running: dict[str, int]) -> Value:
        """What the traffic shows, the holders of locks, and what listeners were given."""
        return self.observed_of_all(running)

    def calls(self) -> Methods:
        """The method that does each operation of the suite, by its class."""
        return {**super().calls(), operations.ComeBack: self.come_back}


PART = WholeBroadcast
