"""Plays the suite ``local-store`` with the release's own ``LocalFileOffsetStore``, on files of the JVM's home."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

import jpype

from rocketmq_conformance.conformance.adapter import Case, Methods
from rocketmq_conformance.conformance.targets.java_client.offset_folder import offset_folder
from rocketmq_conformance.conformance.targets.java_client.part import Part
from rocketmq_conformance.conformance.targets.java_client.queue_names import name_of
from rocketmq_conformance.conformance.targets.java_client.release import JavaRelease
from rocketmq_conformance.conformance.targets.offset_file_damage import CLIENT_ID, damage_offset_file
from rocketmq_conformance.models.client.plan_words import NO_QUEUE
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.outcome import Err, Result
from rocketmq_conformance.suites.declare.topologies import GROUP, ORDINARY
from rocketmq_conformance.suites.local_store import (
    Clone,
    Damage,
    Freeze,
    Persist,
    PersistAll,
    Read,
    Remove,
    Restart,
    Update,
)

_TYPES = {
    "memory": "READ_FROM_MEMORY",
    "store": "READ_FROM_STORE",
    "memory-then-store": "MEMORY_FIRST_THEN_STORE",
}
_NUMBERS = count()


class JavaLocalStore(Part):
    """The store of one release.

    The class fixes its folder when it is initialised, so a case cannot choose one: this object owns one group's
    folder in it and empties that when a case begins. Objects never share a folder.
    """

    over_sockets = True  # it needs none

    def __init__(self, release: JavaRelease, via: str = "call", topology: Topology = ORDINARY) -> None:
        """AdapterError when the class keeps its files under the user's home already."""
        used = offset_folder(release)
        self._store_class = release.load("client.consumer.store.LocalFileOffsetStore")
        self._group = f"{GROUP}-{next(_NUMBERS)}"
        self.folder = used / CLIENT_ID / self._group
        types = release.load("client.consumer.store.ReadOffsetType")
        self._types = {kind: getattr(types, name) for kind, name in _TYPES.items()}
        config = release.load("client.ClientConfig")()
        self._factory = release.load("client.impl.factory.MQClientInstance")(config, 0, CLIENT_ID)
        message_queue = release.load("common.message.MessageQueue")
        self._queues = {at: message_queue(*queue) for at, queue in enumerate(topology.queues)}
        self._topology = topology
        self._queues[NO_QUEUE] = None
        self._hash_set = jpype.JClass("java.util.HashSet")
        self._runtime = jpype.JClass("java.lang.RuntimeException")
        self._client_exception = release.load("client.exception.MQClientException")
        self.store: Any = None
        self.open()

    def begin(self, case: Case) -> None:
        """Begin a case with an empty folder."""
        self.open()

    def close(self) -> None:
        """Files are removed with the JVM's home folder."""

    def open(self) -> None:
        """Open a store on an empty folder; nothing is loaded."""
        if self.folder.is_dir():
            for file in self.folder.iterdir():
                file.unlink()
        self.store = self._store_class(self._factory, self._group)

    def calls(self) -> Methods:
        """One callable per operation that the release has; errors are returned."""
        freezing: Methods = {Freeze: self.freeze} if hasattr(self._store_class, "updateAndFreezeOffset") else {}
        return {
            Update: self.update,
            **freezing,
            Read: self.read,
            Persist: self.persist,
            PersistAll: self.persist_all,
            Remove: self.remove,
            Clone: self.clone,
            Restart: self.restart,
            Damage: self.damage,
        }

    def update(self, queue: int, offset: int, increase_only: bool) -> Result:
        """``updateOffset``."""
        return self._done(self.store.updateOffset, self._queues[queue], offset, increase_only)

    def freeze(self, queue: int, offset: int) -> Result:
        """``updateAndFreezeOffset``."""
        return self._done(self.store.updateAndFreezeOffset, self._queues[queue], offset)

    def read(self, queue: int, kind: str) -> Result:
        """``readOffset``."""
        try:
            return int(self.store.readOffset(self._queues[queue], self._types[kind]))
        except self._runtime as error:
            return Err("RUNTIME", detail=str(error))

    def persist(self, queue: int) -> Result:
        """``persist``."""
        return self._done(self.store.persist, self._queues[queue])

    def persist_all(self, queues: tuple[int, ...]) -> Result:
        """``persistAll``."""
        chosen = self._hash_set()
        for queue in queues:
            chosen.add(self._queues[queue])
        return self._done(self.store.persistAll, chosen)

    def remove(self, queue: int) -> Result:
        """``removeOffset``."""
        return self._done(self.store.removeOffset, self._queues[queue])

    def clone(self, topic: str) -> Result:
        """``cloneOffsetTable``: sorted (queue, offset) pairs."""
        try:
            entries = self.store.cloneOffsetTable(topic).entrySet()
        except self._runtime as error:
            return Err("RUNTIME", detail=str(error))
        return tuple(sorted((self._topology.key(*name_of(entry.getKey())), int(entry.getValue())) for entry in entries))

    def restart(self) -> Result:
        """A new store on the same file, and ``load``."""
        self.store = self._store_class(self._factory, self._group)
        try:
            self.store.load()
        except self._client_exception as error:
            return Err("CLIENT", detail=str(error))
        except self._runtime as error:
            return Err("RUNTIME", detail=str(error))
        return None

    def damage(self, which: str, how: str) -> Result:
        """Damage the file or its backup."""
        damage_offset_file(self.folder, which, how)
        return None

    def _done(self, call: Callable[..., None], *args: Any) -> Result:
        try:
            call(*args)
        except self._runtime as error:
            return Err("RUNTIME", detail=str(error))
        return None


PART = JavaLocalStore
