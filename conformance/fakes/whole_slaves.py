"""A master and its slave in a case with whole consumers; the slave's process is the name server, too, and stays."""

from __future__ import annotations

from collections.abc import Iterator

from rocketmq_conformance.conformance.fakes.broker import CLUSTER
from rocketmq_conformance.conformance.fakes.group_case import GroupCase
from rocketmq_conformance.conformance.fakes.routes import RouteForm, route_of_nodes
from rocketmq_conformance.conformance.fakes.traffic import Brought, said_queue
from rocketmq_conformance.conformance.fakes.whole_brokers import WholeBrokers
from rocketmq_conformance.models.client.whole_slaves import MASTER, MOST, SLAVE
from rocketmq_conformance.suites.declare.topologies import BROKER


class SlavePair(WholeBrokers):
    """A slave, which comes first, and its master, which goes away; what arrives is at both."""

    SECOND_NAME = BROKER
    #: How many queues the topic has.
    count = MOST

    def nodes(self) -> dict[int, str]:
        """The addresses of the nodes that are there, by number."""
        there = {} if self.away else {MASTER: self.second.broker.address}
        return {**there, SLAVE: self.first.broker.address}

    def begin(self, queues: int, stored: int) -> None:
        """Have so many young queues at both nodes, with the same stored offset in each (-1: none)."""
        self.count, self.away = queues, False
        for case in self.cases:
            case.prepare(queues, "young", stored)
        self.suggest(MASTER)

    def suggest(self, node: int) -> None:
        """Answers to pulls suggest a node from now on."""
        for case in self.cases:
            case.broker.suggest(node)

    def synchronise(self) -> None:
        """The slave takes the offsets that its master has stored, unless that is away."""
        if not self.away:
            slave, stored = self.first.broker.storage, self.second.broker.state.stored
            slave.state = slave.state._replace(stored={**slave.state.stored, **stored})

    def _send(self, number: int) -> None:
        for case in self.cases:
            case.send(number)

    @property
    def named(self) -> tuple[int, ...]:
        """The numbers of the topic's queues."""
        return tuple(range(self.count))

    def take_brought(self) -> list[Brought]:
        """The messages that clients were given since the last call, by whichever node."""
        for case, other in zip(self.cases, self.cases[::-1], strict=True):
            case.traffic.confirm(other.traffic)
        return [one for case in self.cases for one in case.take_brought()]

    def said_queue(self, number: int) -> int:
        """How a message names a queue: alike at both nodes."""
        return said_queue(number)

    def _places(self) -> Iterator[tuple[GroupCase, int, bool]]:
        for case in (self.second, self.first):
            for queue in range(MOST):
                yield case, queue, case in self.there

    def _route(self, topic: str, standard: bool, form: RouteForm) -> bytes:
        settings = self.first.broker.state.topics.get(topic)
        return route_of_nodes(BROKER, CLUSTER, self.nodes(), settings, standard, form) if settings else b""
