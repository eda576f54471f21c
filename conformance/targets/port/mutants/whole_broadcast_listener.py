"""Mutants of the port's whole broadcasting consumers whose listeners fail or hold, after real defects of clients."""

from __future__ import annotations

from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.targets.mutant import Mutant, declared
from rocketmq_conformance.conformance.targets.port.group_member import Consumer, OwnedQueue
from rocketmq_conformance.conformance.targets.port.whole_broadcast_listener import Held, WholeBroadcastListener
from rocketmq_conformance.models.client.plan_words import FAILS
from rocketmq_conformance.suites.declare.topologies import BROKER, GROUP, ORDINARY, TOPIC

MUTANTS: list[Mutant] = []
_mutant = declared(MUTANTS, "whole-broadcast-listener")


@_mutant("D93", "What a broadcasting listener fails is sent back.")
class WholeBroadcastListenerSendsBack(WholeBroadcastListener):
    def failed(self, consumer: Consumer, held: Held) -> None:
        ext = {"group": GROUP, "originTopic": TOPIC, "offset": "0", "delayLevel": "0", "maxReconsumeTimes": "16"}
        self.transport.ask(TOPIC, BROKER, int(Request.CONSUMER_SEND_MSG_BACK), ext)


@_mutant("D93", "What a broadcasting listener fails is given once more.")
class WholeBroadcastListenerGivesAgain(WholeBroadcastListener):
    def failed(self, consumer: Consumer, held: Held) -> None:
        self.listen_to(consumer, held.queue, held.following - 1, held.following)


@_mutant("D290", "The file does not pass what a broadcasting listener fails.")
class WholeBroadcastListenerFailuresStay(WholeBroadcastListener):
    def returned(self, consumer: Consumer, held: Held, how: str) -> None:
        if how != FAILS:
            super().returned(consumer, held, how)

    def found_nothing(self, consumer: Consumer, queue: int, owned: OwnedQueue, following: int) -> None:
        if self.listeners[ORDINARY.members.index(consumer.client)] != FAILS:
            super().found_nothing(consumer, queue, owned, following)


@_mutant("D94", "The file passes what a broadcasting listener holds.")
class WholeBroadcastListenerPassesHeld(WholeBroadcastListener):
    def hold(self, consumer: Consumer, member: int, held: Held) -> None:
        super().hold(consumer, member, held)
        self.result(consumer, held.queue, held.owned, held.following)


@_mutant("D94", "A pull that finds nothing passes what a broadcasting listener holds.")
class WholeBroadcastListenerCorrectsHeld(WholeBroadcastListener):
    def found_nothing(self, consumer: Consumer, queue: int, owned: OwnedQueue, following: int) -> None:
        consumer.store.update(queue, following, True)


@_mutant("D94", "A broadcasting member that is shut down writes what its listener holds into the file.")
class WholeBroadcastListenerWritesAtEnd(WholeBroadcastListener):
    def end(self, member: int) -> None:
        consumer = self.members[member]
        for held in self.held[member]:
            assert consumer is not None
            self.result(consumer, held.queue, held.owned, held.following)
        super().end(member)


@_mutant("D94", "What a broadcasting listener returns late is not written.")
class WholeBroadcastListenerForgetsLate(WholeBroadcastListener):
    def hold(self, consumer: Consumer, member: int, held: Held) -> None:
        super().hold(consumer, member, held._replace(following=held.owned.offset))

    def found_nothing(self, consumer: Consumer, queue: int, owned: OwnedQueue, following: int) -> None:
        if self.remembered(consumer, queue) < 0:
            super().found_nothing(consumer, queue, owned, following)
