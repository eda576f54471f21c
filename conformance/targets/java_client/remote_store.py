"""Plays the suite ``remote-store`` with the release's own ``RemoteBrokerOffsetStore``."""

from __future__ import annotations

import jpype

from rocketmq_conformance.conformance.adapter import Methods
from rocketmq_conformance.conformance.targets.java_client.consumer import JavaConsumer, returning_errors
from rocketmq_conformance.conformance.targets.java_client.queue_names import name_of
from rocketmq_conformance.conformance.targets.java_client.release import JavaRelease
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.outcome import Result
from rocketmq_conformance.suites.declare.topologies import ORDINARY
from rocketmq_conformance.suites.remote_store import (
    Clone,
    Commit,
    Freeze,
    Persist,
    PersistAll,
    Read,
    Remove,
    Update,
)


class JavaRemoteStore(JavaConsumer):
    """The offset store of a group on a broker."""

    def __init__(self, release: JavaRelease, via: str = "call", topology: Topology = ORDINARY) -> None:
        super().__init__(release, via, topology)
        self._hash_set = jpype.JClass("java.util.HashSet")

    def calls(self) -> Methods:
        """One callable per operation that the release has."""
        freezing: Methods = {Freeze: self.freeze} if hasattr(self.store_class, "updateAndFreezeOffset") else {}
        return {
            Update: self.update,
            **freezing,
            Read: self.read,
            Persist: self.persist,
            PersistAll: self.persist_all,
            Remove: self.remove,
            Clone: self.clone,
            Commit: self.commit,
        }

    @returning_errors
    def update(self, queue: int, offset: int, increase_only: bool) -> Result:
        """``updateOffset``."""
        self.store.updateOffset(self.queues[queue], offset, increase_only)
        return None

    @returning_errors
    def read(self, queue: int, kind: str) -> Result:
        """``readOffset``."""
        return int(self.store.readOffset(self.queues[queue], self.types[kind]))

    @returning_errors
    def remove(self, queue: int) -> Result:
        """``removeOffset``."""
        self.store.removeOffset(self.queues[queue])
        return None

    @returning_errors
    def freeze(self, queue: int, offset: int) -> Result:
        """``updateAndFreezeOffset``."""
        self.store.updateAndFreezeOffset(self.queues[queue], offset)
        return None

    @returning_errors
    def persist(self, queue: int) -> Result:
        """``persist``."""
        self.store.persist(self.queues[queue])
        self.settle()
        return None

    @returning_errors
    def persist_all(self, queues: tuple[int, ...]) -> Result:
        """``persistAll``."""
        self.store.persistAll(self._hash_set([self.queues[queue] for queue in queues]))
        self.settle()
        return None

    @returning_errors
    def clone(self, topic: str) -> Result:
        """``cloneOffsetTable``: sorted (queue, offset) pairs."""
        table = self.store.cloneOffsetTable(topic)
        return tuple(
            sorted((self.topology.key(*name_of(entry.getKey())), int(entry.getValue())) for entry in table.entrySet())
        )

    @returning_errors
    def commit(self, queue: int, offset: int, one_way: bool) -> Result:
        """``updateConsumeOffsetToBroker``."""
        self.store.updateConsumeOffsetToBroker(self.queues[queue], offset, one_way)
        if one_way:
            self.settle()
        return None


PART = JavaRemoteStore
