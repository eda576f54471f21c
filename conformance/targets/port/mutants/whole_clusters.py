"""Mutants of the port's process with two whole push consumers, after real defects of clients."""

from __future__ import annotations

from rocketmq_conformance.conformance.fakes.whole_brokers import NAMES
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.targets.mutant import Mutant, declared
from rocketmq_conformance.conformance.targets.port.group_member import Consumer
from rocketmq_conformance.conformance.targets.port.whole_clusters import WholeClustersProcess
from rocketmq_conformance.models.outcome import Result

MUTANTS: list[Mutant] = []
_mutant = declared(MUTANTS, "whole-clusters")


@_mutant("D95", "All consumers of a process have the first one's name server.")
class ClustersOneNameServer(WholeClustersProcess):
    def also(self) -> Result:
        self.pair.away = not any(self.members)
        return self.look()


@_mutant("D95", "All consumers of a process have the latest one's name server.")
class ClustersLatestNameServer(WholeClustersProcess):
    def routed(self, consumer: Consumer, counts: dict[str, int]) -> None:
        super().routed(consumer, {NAMES[1]: counts[NAMES[1]]} if NAMES[1] in counts else counts)


@_mutant("D31", "All offsets of a process are committed at the first cluster.")
class ClustersCommitsToFirst(WholeClustersProcess):
    def broker_of(self, number: int, code: int) -> str:
        return NAMES[0] if code == Request.UPDATE_CONSUMER_OFFSET else super().broker_of(number, code)


@_mutant("D95", "Another consumer of the group takes the place of the first one, which ends.")
class ClustersTwinEndsFirst(WholeClustersProcess):
    def twin(self) -> Result:
        if any(self.members):
            self.end(0)
        return self.look()


@_mutant("D95", "Another consumer of the group begins anew with the first one's queues.")
class ClustersTwinConsumesAgain(WholeClustersProcess):
    def twin(self) -> Result:
        for consumer in filter(None, self.members):
            for queue in tuple(consumer.table):
                self.moved_to(consumer, queue, 0)
        return self.look()
