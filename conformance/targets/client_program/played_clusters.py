"""One case of the suite of two clusters, played with a program that has a consumer of each."""

from __future__ import annotations

from rocketmq_conformance.conformance.fakes.traffic import Brought
from rocketmq_conformance.conformance.fakes.whole_clusters import WholeClusters
from rocketmq_conformance.conformance.targets.client_program.played_brokers import PlayedBrokers
from rocketmq_conformance.conformance.targets.client_program.required_consumers import ALSO
from rocketmq_conformance.models.client.whole_push import Setting
from rocketmq_conformance.models.outcome import Outcome, Value
from rocketmq_conformance.suites import whole_clusters as operations
from rocketmq_conformance.suites.declare.operation import Operation
from rocketmq_conformance.suites.declare.topologies import ORDINARY

#: Seconds that a second consumer of a group may take until it shows that it runs.
_TWIN = 5.0


class PlayedClusters(PlayedBrokers):
    """The process of one case at two clusters."""

    _BROKERS = WholeClusters
    brokers: WholeClusters

    def start(self, member: int) -> str:
        """Start the process; as of any member."""
        # a consumer that uses the first name server is seen by what it pulls
        self.members.several = True
        return super().start(member)

    def do(self, operation: Operation) -> Outcome:
        """Do one operation, and wait until the traffic shows its result."""
        match operation:
            case operations.Prepare(first, second, stored, where):
                begun = self._begun
                answer = self._prepared((first, second), Setting(0, "young", stored, where), operation)
                self.brokers.away = self.brokers.away or not begun
                return answer
            case operations.Send() | operations.Also() | operations.Twin():
                return self._world(operation)
            case _:
                return super().do(operation)

    def _change(self, operation: Operation) -> bool:
        match operation:
            case operations.Also():
                if self.members.programs and self.brokers.away:
                    self.brokers.come_back()
                    self._also(self.brokers.other_address, f"{ORDINARY.members[0]}-other")
                    self.members.known_since[0] = self._clock.monotonic()
            case operations.Twin():
                self._also(self.address, ORDINARY.members[0])
                if self.members.programs:
                    self._wait(self.members.ended, _TWIN)
            case _:
                super()._change(operation)
        return False

    def _also(self, name_server: str, instance: str) -> None:
        """Ask the process for another consumer."""
        for program in self.members.programs.values():
            program.send({ALSO: [name_server, self.case.group, self.case.topic, instance]})

    def stop(self, member: int) -> bool:
        """Shut the process down; False when it had to be killed."""
        self.brokers.away = True
        return super().stop(member)

    def _prepare(self, setting: Setting) -> None:
        super()._prepare(setting)
        self.brokers.away = True

    def _shown(self, brought: list[Brought]) -> Value:
        client = self.members.ids.get(0, "")
        brought += self.brokers.in_process(client, self.brokers.take_brought())
        running = {self.members.ids[member]: member for member in self.members.programs}
        others = dict.fromkeys(self.brokers.second.traffic.in_group, 0) if running else {}
        given = self.brokers.given_to(client, brought, self._heard())
        return self.brokers.observed({**others, **running}, given)
