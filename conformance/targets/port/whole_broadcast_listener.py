"""The port's whole broadcasting consumers whose listeners fail or hold what they are given on command."""

from __future__ import annotations

from typing import NamedTuple

from rocketmq_conformance.conformance.adapter import Methods
from rocketmq_conformance.conformance.targets.port.group_member import Consumer, OwnedQueue
from rocketmq_conformance.conformance.targets.port.transport import Transport
from rocketmq_conformance.conformance.targets.port.whole_broadcast import WholeBroadcast
from rocketmq_conformance.conformance.targets.port.whole_push import NOT_ENDED, WholePush, with_end
from rocketmq_conformance.models.client.plan_words import FAILS, HOLDS, SUCCEEDS
from rocketmq_conformance.models.outcome import Result, Value
from rocketmq_conformance.suites import whole_broadcast
from rocketmq_conformance.suites import whole_broadcast_listener as operations
from rocketmq_conformance.suites import whole_push as group
from rocketmq_conformance.suites.declare.topologies import ORDINARY


class Held(NamedTuple):
    """Messages that a listener has not returned from, up to an offset of a queue."""

    queue: int
    owned: OwnedQueue
    following: int


class WholeBroadcastListener(WholeBroadcast):
    """The members that run."""

    def __init__(self, transport: Transport) -> None:
        super().__init__(transport)
        #: What each member's listener does, and what it holds.
        self.listeners = [SUCCEEDS for _ in ORDINARY.members]
        self.held: list[list[Held]] = [[] for _ in ORDINARY.members]

    def start(self, member: int) -> None:
        """Start a member, whose listener succeeds."""
        self.listeners[member], self.held[member] = SUCCEEDS, []
        super().start(member)

    def give(self, consumer: Consumer, queue: int, owned: OwnedQueue, following: int) -> None:
        """The listener is given messages, up to an offset."""
        self.listen_to(consumer, queue, owned.offset, following)
        member, held = ORDINARY.members.index(consumer.client), Held(queue, owned, following)
        if self.listeners[member] == HOLDS:
            self.hold(consumer, member, held)
        else:
            self.returned(consumer, held, self.listeners[member])

    def hold(self, consumer: Consumer, member: int, held: Held) -> None:
        """A listener does not return."""
        self.held[member].append(held)

    def returned(self, consumer: Consumer, held: Held, how: str) -> None:
        """A listener returned."""
        if how == FAILS:
            self.failed(consumer, held)
        self.result(consumer, held.queue, held.owned, held.following)

    def failed(self, consumer: Consumer, held: Held) -> None:
        """What failed is dropped."""

    def found_nothing(self, consumer: Consumer, queue: int, owned: OwnedQueue, following: int) -> None:
        """A pull found nothing: what the listener holds is not consumed yet."""
        if not any(held.owned is owned for held in self.held[ORDINARY.members.index(consumer.client)]):
            super().found_nothing(consumer, queue, owned, following)

    # --- operations -----------------------------------------------------------------------------------------

    def leave_group(self, member: int) -> Result:
        """A member is shut down, if it runs; how it ends is not said where its listener holds."""
        holds = self.members[member] is not None and self.listeners[member] == HOLDS
        seen = super().leave_group(member)
        assert isinstance(seen, tuple)
        return with_end(seen[:3], NOT_ENDED) if holds else seen

    def listen(self, member: int, listener: str) -> Result:
        """A member's listener does this from now on, and ends so what it holds."""
        consumer = self.members[member]
        if consumer is not None:
            self.listeners[member] = listener
            if listener != HOLDS:
                for held in self.held[member]:
                    self.returned(consumer, held, listener)
                self.held[member].clear()
        return self.look()

    def observed(self, running: dict[str, int]) -> Value:
        """What the traffic shows."""
        return WholePush.observed(self, running)

    def calls(self) -> Methods:
        """The method that does each operation of the suite, by its class."""
        methods = dict(super().calls())
        return {
            operations.Join: methods[group.Join],
            operations.Leave: self.leave_group,
            operations.Crash: methods[group.Crash],
            operations.Send: methods[group.Send],
            operations.Look: methods[group.Look],
            operations.Listen: self.listen,
            operations.ComeBack: methods[whole_broadcast.ComeBack],
        }


PART = WholeBroadcastListener
