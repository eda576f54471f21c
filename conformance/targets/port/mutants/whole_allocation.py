"""Mutants of the port's whole push consumers among members that do not exist, after real defects of clients."""

from __future__ import annotations

from functools import partial

from rocketmq_conformance.conformance.targets.mutant import Mutant
from rocketmq_conformance.conformance.targets.port.group_member import Consumer
from rocketmq_conformance.conformance.targets.port.whole_allocation import WholeAllocation
from rocketmq_conformance.models.client.fixtures import MEMBERS
from rocketmq_conformance.models.outcome import Result


class Unsorted(WholeAllocation):
    def in_id_order(self, ids: tuple[str, ...]) -> tuple[str, ...]:
        return ids


class CountsOwnOnly(WholeAllocation):
    def listed(self, topic: str) -> tuple[str, ...] | None:
        ids = super().listed(topic)
        return ids and tuple(one for one in ids if one in MEMBERS)


class AlwaysAveragely(WholeAllocation):
    def divide(self, queues: int, strategy: str) -> Result:
        return super().divide(queues, WholeAllocation.strategy)


class AlwaysByCircle(WholeAllocation):
    def divide(self, queues: int, strategy: str) -> Result:
        return super().divide(queues, "AVG_BY_CIRCLE")


class KeepsWhatItHas(WholeAllocation):
    def lose(self, consumer: Consumer, queue: int) -> None:
        self.moved = True


class NothingKeepsAll(WholeAllocation):
    def own(self, consumer: Consumer, topic: str, wanted: tuple[int, ...], new_pulls: list[tuple[int, int]]) -> bool:
        return not wanted or super().own(consumer, topic, wanted, new_pulls)


class SurplusTakesLast(WholeAllocation):
    def share(
        self, strategy: str, client: str, queues: tuple[int, ...], ids: tuple[str, ...]
    ) -> tuple[int, ...] | None:
        return super().share(strategy, client, queues, ids) or queues[-1:]


_mutant = partial(Mutant.of, "whole-allocation")

MUTANTS = (
    _mutant("whole-allocation-unsorted", "D18", "Client ids are taken in the order of the list.", Unsorted),
    _mutant("whole-allocation-own-only", "D20", "Members that it does not know do not count.", CountsOwnOnly),
    _mutant("whole-allocation-averagely", "D21", "The strategy that was set is not used.", AlwaysAveragely),
    _mutant("whole-allocation-by-circle", "D21", "Queues are always dealt in turn.", AlwaysByCircle),
    _mutant("whole-allocation-keeps", "D79", "A queue of another member is kept.", KeepsWhatItHas),
    _mutant("whole-allocation-nothing-keeps", "D79", "Who has no share keeps what it had.", NothingKeepsAll),
    _mutant("whole-allocation-surplus", "D21", "A member too many takes the last queue.", SurplusTakesLast),
)
