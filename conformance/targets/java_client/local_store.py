"""The real Java local offset store of one client release, called for the operations of the local-store suite."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any, Protocol

import jpype

from rocketmq_conformance.conformance.adapter import AdapterError
from rocketmq_conformance.conformance.targets.offset_file_damage import CLIENT_ID, damage_offset_file
from rocketmq_conformance.models.client.fixtures import GROUP, NO_QUEUE, QUEUES
from rocketmq_conformance.models.message_queue import MessageQueue
from rocketmq_conformance.models.outcome import Err, Result

#: Read by the class when it is initialised, once per class loader.
FOLDER_PROPERTY = "rocketmq.client.localOffsetStoreDir"
_TYPES = {
    "memory": "READ_FROM_MEMORY",
    "store": "READ_FROM_STORE",
    "memory-then-store": "MEMORY_FIRST_THEN_STORE",
}
_NUMBERS = count()


class Classes(Protocol):
    """The classes of one release."""

    def load(self, name: str) -> Any:
        """The class ``org.apache.rocketmq.<name>``; raises what Java raises when the release lacks it."""
        ...


class JavaLocalStore:
    """The store of one release.

    The class fixes its folder when it is initialised, so a case cannot choose one: this object owns one group's
    folder in it and empties that when a case begins. Objects never share a folder.
    """

    def __init__(self, classes: Classes, folder: Path) -> None:
        """``folder`` is where the release shall keep its files, unless the class was initialised before.

        AdapterError when the class keeps its files under the user's home already.
        """
        system = jpype.JClass("java.lang.System")
        if system.getProperty(FOLDER_PROPERTY) is None:
            system.setProperty(FOLDER_PROPERTY, str(folder))
        self._store_class = classes.load("client.consumer.store.LocalFileOffsetStore")
        used = Path(str(self._store_class.LOCAL_OFFSET_STORE_DIR))
        if used.name == ".rocketmq_offsets":
            raise AdapterError(f"The client writes offsets to {used}: set -D{FOLDER_PROPERTY} before it is loaded.")
        self._group = f"{GROUP}-{next(_NUMBERS)}"
        self.folder = used / CLIENT_ID / self._group
        types = classes.load("client.consumer.store.ReadOffsetType")
        self._types = {kind: getattr(types, name) for kind, name in _TYPES.items()}
        config = classes.load("client.ClientConfig")()
        self._factory = classes.load("client.impl.factory.MQClientInstance")(config, 0, CLIENT_ID)
        message_queue = classes.load("common.message.MessageQueue")
        self._queues = {at: message_queue(*queue) for at, queue in enumerate(QUEUES)}
        self._queues[NO_QUEUE] = None
        self._positions = {queue: at for at, queue in enumerate(QUEUES)}
        self._hash_set = jpype.JClass("java.util.HashSet")
        self._runtime = jpype.JClass("java.lang.RuntimeException")
        self._client_exception = classes.load("client.exception.MQClientException")
        self.store: Any = None
        self.begin()

    def begin(self) -> None:
        """Begin a case: no files, and a store that has loaded nothing."""
        if self.folder.is_dir():
            for file in self.folder.iterdir():
                file.unlink()
        self.store = self._store_class(self._factory, self._group)

    def calls(self) -> dict[str, Callable[..., Result]]:
        """One callable per operation that the release has, by the operation's name; errors are returned."""
        found: dict[str, Callable[..., Result]] = {
            "update": self.update,
            "read": self.read,
            "persist": self.persist,
            "persist_all": self.persist_all,
            "remove": self.remove,
            "clone": self.clone,
            "restart": self.restart,
            "damage": self.damage,
        }
        if hasattr(self._store_class, "updateAndFreezeOffset"):
            found["freeze"] = self.freeze
        return found

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
        return tuple(sorted((self._position(entry.getKey()), int(entry.getValue())) for entry in entries))

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

    def _position(self, queue: Any) -> int:
        return self._positions[MessageQueue(str(queue.getTopic()), str(queue.getBrokerName()), int(queue.getQueueId()))]
