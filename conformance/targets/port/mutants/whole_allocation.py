"""Mutants of the port's whole push consumers among members that do not exist, after real defects of clients."""

from __future__ import annotations

from rocketmq_conformance.conformance.targets.mutant import Mutant, declared
from rocketmq_conformance.conformance.targets.port.group_member import Consumer
from rocketmq_conformance.conformance.targets.port.whole_allocation import WholeAllocation
from rocketmq_conformance.models.outcome import Result
from rocketmq_conformance.suites.declare.topologies import ORDINARY

MUTANTS: list[Mutant] = []
_mutant = declared(MUTANTS, "whole-allocation")


@_mutant("D18", "Client ids are taken in the order of the list.")
class WholeAllocationUnsorted(WholeAllocation):
    def in_id_order(self, ids: tuple[str, ...]) -> tuple[str, ...]:
        return ids


@_mutant("D20", "Members that it does not know do not count.")
class WholeAllocationOwnOnly(WholeAllocation):
    def listed(self, topic: str) -> tuple[str, ...] | None:
        ids = super().listed(topic)
        return ids and tuple(one for one in ids if one in ORDINARY.members)


@_mutant("D21", "The strategy that was set is not used.")
class WholeAllocationAveragely(WholeAllocation):
    def divide(self, queues: int, strategy: str) -> Result:
        return super().divide(queues, WholeAllocation.strategy)


@_mutant("D21", "Queues are always dealt in turn.")
class WholeAllocationByCircle(WholeAllocation):
    def divide(self, queues: int, strategy: str) -> Result:
        return super().divide(queues, "AVG_BY_CIRCLE")


@_mutant("D79", "A queue of another member is kept.")
class WholeAllocationKeeps(WholeAllocation):
    def lose(self, consumer: Consumer, queue: int) -> None:
        self.moved = True


@_mutant("D79", "Who has no share keeps what it had.")
class WholeAllocationNothingKeeps(WholeAllocation):
    def own(self, consumer: Consumer, topic: str, wanted: tuple[int, ...], new_pulls: list[tuple[int, int]]) -> bool:
        return not wanted or super().own(consumer, topic, wanted, new_pulls)


@_mutant("D21", "A member too many takes the last queue.")
class WholeAllocationSurplus(WholeAllocation):
    def share(
        self, strategy: str, client: str, queues: tuple[int, ...], ids: tuple[str, ...]
    ) -> tuple[int, ...] | None:
        return super().share(strategy, client, queues, ids) or queues[-1:]
