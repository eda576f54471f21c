"""Broker mutants that the suite ``broker-accidents`` kills: what a fault does to requests that are under way."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

from rocketmq_conformance.conformance.fakes.consumers import Consumers, locked
from rocketmq_conformance.conformance.fakes.lifecycle import Lifecycle
from rocketmq_conformance.conformance.fakes.responses import ConnectionHandler, command
from rocketmq_conformance.conformance.fakes.storage import Storage
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.remoting.server import Peer
from rocketmq_conformance.conformance.targets.broker.mutant import BrokerMutant, declared
from rocketmq_conformance.conformance.targets.broker.mutants.broker_concurrent import GAP
from rocketmq_conformance.models.broker.state import BrokerState
from rocketmq_conformance.models.broker.table_files import OFFSETS

MUTANTS: list[BrokerMutant] = []
_consumers = declared(MUTANTS, "consumers", "broker-accidents")
_lifetime = declared(MUTANTS, "lifetime", "broker-accidents")


def _after_gap(action: Callable[[], object]) -> None:
    """Do something in the server's thread a moment later."""
    asyncio.get_running_loop().call_later(GAP, action)


# --- connections that are cut -----------------------------------------------------------------------------------


@_consumers("D77", "A connection that is cut gives back the locks that it asked for, no matter who has them.")
class CutGivesLocksBack(Consumers):
    def __init__(self, *parts: object) -> None:
        super().__init__(*parts)  # type: ignore[arg-type]
        self._asked: dict[int, tuple[str, object]] = {}

    def connection_handlers(self) -> Mapping[int, ConnectionHandler]:
        return {**super().connection_handlers(), int(Request.LOCK_BATCH_MQ): self._lock_from}

    def _lock_from(self, peer: Peer, request: Command) -> Command:
        self._asked[peer.number] = locked(request.body)[0], locked(request.body)[2]
        return command(self._lock(request.code, request.ext, request.body))

    def closed(self, peer: Peer) -> None:
        super().closed(peer)
        if peer.number in self._asked:
            self.locks = {}


# --- frozen -----------------------------------------------------------------------------------------------------


class _Frozen(Lifecycle):
    """Remembers how it was when it was frozen."""

    def __init__(self, storage: Storage) -> None:
        super().__init__(storage)
        self._at_rest: BrokerState = storage.state

    def paused(self) -> None:
        self._at_rest = self._storage.state


@_lifetime("D32", "A broker that goes on answers for a moment with the offsets from before.")
class ResumeAnswersOld(_Frozen):
    def resumed(self) -> None:
        storage = self._storage
        late = storage.state.stored
        storage.state = storage.state._replace(stored=self._at_rest.stored)

        def catch_up() -> None:
            storage.state = storage.state._replace(stored={**late, **storage.state.stored})

        _after_gap(catch_up)


@_lifetime("D318", "A broker that goes on stores what it was sent meanwhile twice.")
class ResumeStoresTwice(_Frozen):
    def resumed(self) -> None:
        state = self._storage.state
        logs = {
            key: log._replace(times=(*log.times, log.times[-1]))
            for key, log in state.logs.items()
            if key not in self._at_rest.logs or log.max > self._at_rest.logs[key].max
        }
        self._storage.state = state._replace(logs={**state.logs, **logs})


# --- killed -----------------------------------------------------------------------------------------------------


@_lifetime("D37", "A broker that is killed loses the last message of each queue, which was acknowledged.")
class KillLosesLast(Lifecycle):
    def killed(self) -> None:
        super().killed()
        state = self._storage.state
        logs = {key: log._replace(times=log.times[:-1]) for key, log in state.logs.items()}
        self._storage.state = state._replace(logs=logs)


@_lifetime("D70", "A broker that is killed has an offset that nothing asked for.")
class KillInventsOffsets(Lifecycle):
    def killed(self) -> None:
        super().killed()
        self.write(OFFSETS, {key: offset + 10 for key, offset in self._storage.state.stored.items()})


@_consumers("D77", "A broker that is killed still has its locks when it starts.")
class KillKeepsLocks(Consumers):
    def restarted(self) -> None:
        locks = self.locks
        super().restarted()
        self.locks = locks
