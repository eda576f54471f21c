"""Mutants of the port's whole broadcasting consumers, after real defects of clients."""

from __future__ import annotations

from rocketmq_conformance.conformance.targets.mutant import Mutant, declared
from rocketmq_conformance.conformance.targets.port.file_store import MemberStore, Offsets
from rocketmq_conformance.conformance.targets.port.group_member import Consumer, OwnedQueue
from rocketmq_conformance.conformance.targets.port.rebalance_orderly import RebalanceOrderly
from rocketmq_conformance.conformance.targets.port.start import StartPosition
from rocketmq_conformance.conformance.targets.port.whole_broadcast import WholeBroadcast
from rocketmq_conformance.models.outcome import Result
from rocketmq_conformance.suites.declare.topologies import ORDINARY

MUTANTS: list[Mutant] = []
_mutant = declared(MUTANTS, "whole-broadcast")


@_mutant("D75", "Broadcasting members divide the queues among them.")
class WholeBroadcastShares(WholeBroadcast):
    turning = 0

    def everything(self, queues: tuple[int, ...]) -> tuple[int, ...]:
        running = [at for at, member in enumerate(self.members) if member is not None]
        place = running.index(self.turning)
        return tuple(queue for at, queue in enumerate(queues) if at % len(running) == place)

    def rebalance(self, consumer: Consumer) -> Result:
        self.turning = ORDINARY.members.index(consumer.client)
        return super().rebalance(consumer)


@_mutant("D31", "Broadcasting members keep their offsets at the broker.")
class WholeBroadcastAtBroker(WholeBroadcast):
    def open_store(self, positions: StartPosition, client: str, broadcasts: bool) -> None:
        positions.forget()


@_mutant("D33", "All broadcasting members have one file.")
class WholeBroadcastOneFile(WholeBroadcast):
    def open_store(self, positions: StartPosition, client: str, broadcasts: bool) -> None:
        super().open_store(positions, ORDINARY.members[0], broadcasts)


@_mutant("D31", "The offsets of a broadcasting member end with it.")
class WholeBroadcastNoFile(WholeBroadcast):
    def open_store(self, positions: StartPosition, client: str, broadcasts: bool) -> None:
        positions.broadcast(MemberStore({}, client))


@_mutant("D31", "A file is written at the shutdown alone.")
class WholeBroadcastWritesAtEnd(WholeBroadcast):
    def persist(self, consumer: Consumer) -> Result:
        return None

    def leave(self, member: int) -> Result:
        consumer = self.members[member]
        if consumer is not None:
            super().persist(consumer)
        return super().leave(member)


@_mutant("D05", "Without a file a member begins at 0.")
class WholeBroadcastFromFirst(WholeBroadcast):
    def beginning(self, consumer: Consumer, queue: int) -> int:
        return max(consumer.store.read(queue, "memory-then-store"), 0)


@_mutant("D33", "The file has the offset of one queue.")
class WholeBroadcastFileOfOne(WholeBroadcast):
    def persisted(self, consumer: Consumer) -> tuple[int, ...]:
        return super().persisted(consumer)[:1]


@_mutant("D31", "Broadcasting members commit to the broker as well.")
class WholeBroadcastCommits(WholeBroadcast):
    def give(self, consumer: Consumer, queue: int, owned: OwnedQueue, following: int) -> None:
        super().give(consumer, queue, owned, following)
        consumer.positions.remote.update(queue, following, False)
        consumer.positions.remote.persist_all((queue,))


@_mutant("D75", "Broadcasting members lock their queues.")
class WholeBroadcastLocks(WholeBroadcast, RebalanceOrderly):
    def gain(self, consumer: Consumer, queue: int, new_pulls: list[tuple[int, int]]) -> None:
        if self.ask_locks(consumer, (queue,)):
            super().gain(consumer, queue, new_pulls)


@_mutant("D45", "Where nothing is found nothing is written.")
class WholeBroadcastEmptyUnwritten(WholeBroadcast):
    def found_nothing(self, consumer: Consumer, queue: int, owned: OwnedQueue, following: int) -> None:
        pass


class FileLosesOthers(MemberStore):
    def merged(self, stored: Offsets, chosen: Offsets) -> Offsets:
        return {queue: offset for queue, offset in chosen.items() if stored.get(queue) != offset} or stored


@_mutant("D33", "The file loses what did not change.")
class WholeBroadcastFileLoses(WholeBroadcast):
    def open_store(self, positions: StartPosition, client: str, broadcasts: bool) -> None:
        positions.broadcast(FileLosesOthers(self.files, client))
