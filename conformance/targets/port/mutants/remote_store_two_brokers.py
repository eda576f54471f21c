"""Mutants of the port's remote offset store that take queues of two brokers for one another, after real defects."""

from __future__ import annotations

from rocketmq_conformance.conformance.targets.mutant import Mutant, declared
from rocketmq_conformance.conformance.targets.port.remote_store import RemoteStore
from rocketmq_conformance.conformance.targets.port.transport import Transport
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.outcome import Result
from rocketmq_conformance.suites.declare.topologies import TWO_BROKERS

MUTANTS: list[Mutant] = []
_mutant = declared(MUTANTS, "remote-store-two-brokers")


def twin_of(queue: int) -> int:
    """The first queue of the topology with the topic and the id of a queue; a negative one is its own."""
    if queue < 0:
        return queue
    topic, _, number = TWO_BROKERS.queues[queue]
    return next(at for at, other in enumerate(TWO_BROKERS.queues) if (other.topic, other.id) == (topic, number))


@_mutant("D223", "Offsets in memory are distinguished by topic and queue id alone.")
class TwoBrokersMixedInMemory(RemoteStore):
    def update(self, queue: int, offset: int, increase_only: bool) -> Result:
        return super().update(twin_of(queue), offset, increase_only)


@_mutant("D70", "Offsets are asked for at the first broker.")
class TwoBrokersAskedAtFirst(RemoteStore):
    def fetch(self, queue: int) -> int:
        return super().fetch(twin_of(queue))


@_mutant("D70", "Offsets are committed at the broker that was asked last.")
class TwoBrokersCommittedAtLast(RemoteStore):
    def __init__(self, transport: Transport, topology: Topology) -> None:
        super().__init__(transport, topology)
        self.asked = ""

    def forget(self) -> None:
        super().forget()
        self.asked = ""

    def fetch(self, queue: int) -> int:
        self.asked = TWO_BROKERS.queues[queue].broker
        return super().fetch(queue)

    def commit(self, queue: int, offset: int, one_way: bool) -> Result:
        topic, broker, number = TWO_BROKERS.queues[queue]
        moved = (topic, self.asked or broker, number)
        known = moved in TWO_BROKERS.queues
        return super().commit(TWO_BROKERS.queues.index(moved) if known else queue, offset, one_way)
