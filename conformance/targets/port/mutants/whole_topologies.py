"""Mutants of the port's whole push consumers of a topic that gets to another broker, after real defects of clients."""

from __future__ import annotations

from typing import Any

from rocketmq_conformance.conformance.adapter import Case
from rocketmq_conformance.conformance.fakes.whole_brokers import NAMES
from rocketmq_conformance.conformance.targets.mutant import Mutant, declared
from rocketmq_conformance.conformance.targets.port.group_member import Consumer
from rocketmq_conformance.conformance.targets.port.routes import of_topic
from rocketmq_conformance.conformance.targets.port.transport import Transport
from rocketmq_conformance.conformance.targets.port.whole_brokers import home_of
from rocketmq_conformance.conformance.targets.port.whole_topologies import WholeTopologies
from rocketmq_conformance.suites.declare.topologies import TOPIC

MUTANTS: list[Mutant] = []
_mutant = declared(MUTANTS, "whole-topologies")


@_mutant("D95", "Queues are counted by how many are written.")
class TopologiesByWritten(WholeTopologies):
    def readable(self, data: dict[str, Any]) -> int:
        return int(data["writeQueueNums"]) if super().readable(data) else 0


@_mutant("D95", "Of the queues that are read those count that are written, too.")
class TopologiesByFewer(WholeTopologies):
    def readable(self, data: dict[str, Any]) -> int:
        return min(super().readable(data), int(data["writeQueueNums"]))


@_mutant("D95", "Queues that are written count as read.")
class TopologiesByMore(WholeTopologies):
    def readable(self, data: dict[str, Any]) -> int:
        return max(super().readable(data), int(data["writeQueueNums"])) if super().readable(data) else 0


@_mutant("D95", "A topic that may not be read at a broker is read there.")
class TopologiesIgnoresPermission(WholeTopologies):
    def readable(self, data: dict[str, Any]) -> int:
        return int(data["readQueueNums"])


@_mutant("D95", "A broker that no route named at first is not known.")
class TopologiesKnowsFirst(WholeTopologies):
    def __init__(self, transport: Transport) -> None:
        super().__init__(transport)
        #: The brokers of the first route, by client id.
        self.known: dict[str, frozenset[str]] = {}

    def begin_case(self, case: Case) -> None:
        self.known.clear()
        super().begin_case(case)

    def routed(self, consumer: Consumer, counts: dict[str, int]) -> None:
        known = self.known.setdefault(consumer.client, frozenset(counts))
        super().routed(consumer, {name: count for name, count in counts.items() if name in known})


@_mutant("D95", "A broker that comes is sent no heartbeats.")
class TopologiesBeatsFirst(WholeTopologies):
    def registered_at(self) -> tuple[str, ...]:
        return NAMES[:1]


@_mutant("D56", "Queues of a broker that comes begin at max.")
class TopologiesNewAtMax(WholeTopologies):
    def beginning(self, consumer: Consumer, queue: int) -> int:
        if home_of(of_topic(TOPIC).index(queue)) != NAMES[0]:
            return consumer.positions.max(queue)
        return super().beginning(consumer, queue)
