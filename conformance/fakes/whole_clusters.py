"""Two clusters of a case with a process that has up to two consumers, each of a broker that is its own name server."""

from __future__ import annotations

from collections.abc import Sequence

from rocketmq_conformance.conformance.fakes.said import SaidMessages
from rocketmq_conformance.conformance.fakes.traffic import Brought
from rocketmq_conformance.conformance.fakes.whole_brokers import WholeBrokers
from rocketmq_conformance.models.broker.state import Topic
from rocketmq_conformance.models.profile import Profile


class WholeClusters(WholeBrokers):
    """Two clusters with a topic and a group, without members at first; the second one counts as away until a consumer
    of it is started."""

    def __init__(self, profile: Profile) -> None:
        super().__init__(profile)
        #: The address of the second one's name server, once it is open.
        self.other_address = ""

    def open(self) -> str:
        """Open the TCP doors; the address of the first one's name server."""
        self.other_address = self.second.open()
        return self.first.open()

    def in_process(self, client: str, brought: Sequence[Brought]) -> list[Brought]:
        """What both consumers of a process were given, as messages of its first one."""
        others = self.second.traffic.in_group
        return [(client if who in others else who, at, first, count) for who, at, first, count in brought]

    def given_to(self, client: str, brought: Sequence[Brought], said: SaidMessages | None) -> Sequence[Brought]:
        """The same, where it says what listeners were given, of that."""
        if said is None:
            return brought
        carried = self.first.traffic.carried.copy()
        for (_, queue, offset), times in self.second.traffic.carried.items():
            carried[client, queue, offset] += times
        return said.among(brought, carried, self.said_queue)

    def _named(self) -> list[tuple[str, str, Topic]]:
        return super()._named()[:1]
