"""Mutants of the port's local offset store that take queues of two brokers for one another, after real defects."""

from __future__ import annotations

from rocketmq_conformance.conformance.targets.mutant import Mutant, declared
from rocketmq_conformance.conformance.targets.port.file_store import Offsets
from rocketmq_conformance.conformance.targets.port.local_store import LocalStore
from rocketmq_conformance.conformance.targets.port.mutants.remote_store_two_brokers import twin_of
from rocketmq_conformance.suites.declare.topologies import TWO_BROKERS

MUTANTS: list[Mutant] = []
_mutant = declared(MUTANTS, "local-store-two-brokers")


@_mutant("D223", "Entries of the file are read by topic and queue id alone.")
class TwoBrokersMixedInFile(LocalStore):
    def parsed(self, text: str) -> Offsets:
        last = {twin_of(queue): offset for queue, offset in super().parsed(text).items()}
        return {queue: last[twin_of(queue)] for queue in range(len(TWO_BROKERS.queues)) if twin_of(queue) in last}


@_mutant("D223", "Entries of the file are written by topic and queue id alone.")
class TwoBrokersWrittenAsOne(LocalStore):
    def write(self, offsets: Offsets) -> None:
        super().write({twin_of(queue): offset for queue, offset in offsets.items()})
