"""Mutants of the port's group whose queues lie at two brokers, after real defects of clients."""

from __future__ import annotations

from rocketmq_conformance.conformance.targets.mutant import Mutant, declared
from rocketmq_conformance.conformance.targets.port.group_member import Consumer
from rocketmq_conformance.conformance.targets.port.mutants.remote_store_two_brokers import twin_of
from rocketmq_conformance.conformance.targets.port.rebalance import Rebalance
from rocketmq_conformance.suites.declare.topologies import TWO_BROKERS

MUTANTS: list[Mutant] = []
_mutant = declared(MUTANTS, "rebalance-two-brokers")


@_mutant("D95", "The queues of the second broker are not read from a route.")
class TwoBrokersFirstOnly(Rebalance):
    def refresh(self, consumer: Consumer) -> None:
        super().refresh(consumer)
        for topic, queues in consumer.routes.items():
            first = tuple(queue for queue in queues if self.queues[queue].broker == TWO_BROKERS.brokers[0])
            consumer.routes[topic] = first or queues


@_mutant("D21", "Queues are sorted by their ids, and then by their brokers.")
class TwoBrokersById(Rebalance):
    def in_queue_order(self, queues: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(sorted(queues, key=lambda queue: (self.queues[queue].id, self.queues[queue].broker)))


@_mutant("D18", "Brokers sort in descending order.")
class TwoBrokersDescending(Rebalance):
    def in_queue_order(self, queues: tuple[int, ...]) -> tuple[int, ...]:
        by_id = sorted(queues, key=lambda queue: self.queues[queue].id)
        return tuple(sorted(by_id, key=lambda queue: self.queues[queue].broker, reverse=True))


@_mutant("D223", "A member owns one queue of each id.")
class TwoBrokersOwnedOnce(Rebalance):
    def share(
        self, strategy: str, client: str, queues: tuple[int, ...], ids: tuple[str, ...]
    ) -> tuple[int, ...] | None:
        mine = super().share(strategy, client, queues, ids)
        return mine if mine is None else tuple({twin_of(queue): queue for queue in mine}.values())
