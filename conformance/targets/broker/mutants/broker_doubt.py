"""Broker mutants that the suite ``broker-doubt`` kills: wrong handling of a commit whose connection is cut.

Each repeats a real defect.
"""

from __future__ import annotations

from collections.abc import Mapping

from rocketmq_conformance.conformance.fakes.offsets import Offsets
from rocketmq_conformance.conformance.fakes.page_residency import PageResidency
from rocketmq_conformance.conformance.fakes.responses import ConnectionHandler, command
from rocketmq_conformance.conformance.fakes.storage import Storage
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.remoting.server import Peer
from rocketmq_conformance.conformance.targets.broker.mutant import BrokerMutant, declared
from rocketmq_conformance.models.broker.state import Stored
from rocketmq_conformance.models.outcome import Result

#: Whose offset it is: group, topic, queue.
Key = tuple[str, str, int]

MUTANTS: list[BrokerMutant] = []
_offsets = declared(MUTANTS, "offsets", "broker-admin", "broker-offsets", "broker-doubt")


class _Strangers(Offsets):
    """Distinguishes the first commit of a connection, by a *stranger*, from later ones."""

    def __init__(self, storage: Storage, memory: PageResidency) -> None:
        super().__init__(storage, memory)
        self._known: set[Peer] = set()

    def connection_handlers(self) -> Mapping[int, ConnectionHandler]:
        return {int(Request.UPDATE_CONSUMER_OFFSET): self._commit_from}

    def _commit_from(self, peer: Peer, request: Command) -> Command:
        stranger = peer not in self._known
        self._known.add(peer)
        before = self._storage.state.stored
        answer = command(self._commit(request.code, request.ext, request.body))
        self.committed(stranger, before)
        return answer

    def committed(self, stranger: bool, before: Stored) -> None:
        """Called after every commit; ``before`` is the offset stored before it."""


@_offsets("D70", "A commit over a lost connection is repeated.")
class UnheardCommitsTwice(_Strangers):
    """A stranger's commit is stored at once, and again after the next commit of the same queue."""

    def __init__(self, storage: Storage, memory: PageResidency) -> None:
        super().__init__(storage, memory)
        self._again: dict[Key, int] = {}

    def committed(self, stranger: bool, before: Stored) -> None:
        now = self._storage.state.stored
        for key in [key for key, offset in now.items() if before.get(key) != offset]:
            again = self._again.pop(key, None)
            if stranger:
                self._again[key] = now[key]
            elif again is not None:
                self._storage.state = self._storage.state._replace(stored={**now, key: again})


@_offsets("D70", "A commit over a lost connection is taken back.")
class UnheardTakenBack(_Strangers):
    """A stranger's commit is stored only until it is queried."""

    def __init__(self, storage: Storage, memory: PageResidency) -> None:
        super().__init__(storage, memory)
        self._until: dict[Key, int] = {}

    def committed(self, stranger: bool, before: Stored) -> None:
        for key, offset in self._storage.state.stored.items():
            if before.get(key) != offset:
                self._until.pop(key, None)
                if stranger and key in before:
                    self._until[key] = before[key]

    def query(self, group: str, topic: str, queue: int | None, set_zero: bool | None) -> Result:
        result = super().query(group, topic, queue, set_zero)
        key = group, topic, queue if queue is not None else -1
        if key in self._until:
            stored = {**self._storage.state.stored, key: self._until.pop(key)}
            self._storage.state = self._storage.state._replace(stored=stored)
        return result


@_offsets("D28", "A commit over a lost connection stores 0.")
class UnheardIsZero(_Strangers):
    """A stranger's commit is stored as 0."""

    def committed(self, stranger: bool, before: Stored) -> None:
        now = self._storage.state.stored
        if stranger:
            changed = {key: min(value, 0) for key, value in now.items() if before.get(key) != value}
            self._storage.state = self._storage.state._replace(stored={**now, **changed})
