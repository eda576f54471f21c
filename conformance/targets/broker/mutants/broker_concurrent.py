"""Broker mutants that the suite ``broker-concurrent`` kills: planted races, which single requests do not show.

What is a moment in a race of a real broker lasts here for a while, so that no luck is needed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

from rocketmq_conformance.conformance.adapter import Answered
from rocketmq_conformance.conformance.fakes.consumers import Consumers, locked
from rocketmq_conformance.conformance.fakes.delayed_unlock import Unlocks
from rocketmq_conformance.conformance.fakes.offsets import Offsets
from rocketmq_conformance.conformance.fakes.pulls import Pulls
from rocketmq_conformance.conformance.fakes.resets import Resets
from rocketmq_conformance.conformance.fakes.responses import ConnectionHandler, PlainHandler, command
from rocketmq_conformance.conformance.fakes.sends import Sends
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.remoting.server import Peer
from rocketmq_conformance.conformance.targets.broker.mutant import BrokerMutant, declared
from rocketmq_conformance.models.broker.reset import ResetRequest
from rocketmq_conformance.models.outcome import Result

#: How long the gap of a race lasts (s): requests that are sent at the same time all come within it.
GAP = 0.05

MUTANTS: list[BrokerMutant] = []
_offsets = declared(MUTANTS, "offsets", "broker-concurrent")
_resets = declared(MUTANTS, "resets", "broker-concurrent")
_pulls = declared(MUTANTS, "pulls", "broker-concurrent")
_consumers = declared(MUTANTS, "consumers", "broker-concurrent")
_unlocks = declared(MUTANTS, "unlocks", "broker-concurrent")
_sends = declared(MUTANTS, "sends", "broker-concurrent")


def _after_gap(action: Callable[[], object]) -> None:
    """Do something in the server's thread once the gap is over."""
    asyncio.get_running_loop().call_later(GAP, action)


# --- offsets ----------------------------------------------------------------------------------------------------


@_offsets("D315", "A commit writes back the whole table as it was when the request came.")
class CommitsLoseOthers(Offsets):
    def connection_handlers(self) -> Mapping[int, ConnectionHandler]:
        return {int(Request.UPDATE_CONSUMER_OFFSET): self._commit_from}

    def _commit_from(self, peer: Peer, request: Command) -> None:
        storage, before = self._storage, self._storage.state
        answer = command(self._commit(request.code, request.ext, request.body))
        after, storage.state = storage.state, before

        def write() -> None:
            if after is not before:
                storage.state = storage.state._replace(stored=after.stored)
            peer.answer(request, answer)

        _after_gap(write)


@_offsets("D315", "A commit is answered before it is stored.")
class CommitsAnsweredFirst(Offsets):
    def connection_handlers(self) -> Mapping[int, ConnectionHandler]:
        return {int(Request.UPDATE_CONSUMER_OFFSET): self._commit_from}

    def _commit_from(self, peer: Peer, request: Command) -> Command:
        before = self._storage.state
        answer = command(self._commit(request.code, request.ext, request.body))
        self._storage.state = before
        _after_gap(lambda: self._commit(request.code, request.ext, request.body))
        return answer


@_offsets("D315", "Queries over other connections than that of the last commit are answered from a copy that is late.")
class QueriesFromACopy(Offsets):
    _copy: Mapping[tuple[str, str, int], int] | None = None
    _writer: Peer | None = None

    def connection_handlers(self) -> Mapping[int, ConnectionHandler]:
        return {
            int(Request.UPDATE_CONSUMER_OFFSET): self._commit_from,
            int(Request.QUERY_CONSUMER_OFFSET): self._query_from,
        }

    def _commit_from(self, peer: Peer, request: Command) -> Command:
        if self._copy is None:
            self._copy = self._storage.state.stored
            _after_gap(self._catch_up)
        self._writer = peer
        return command(self._commit(request.code, request.ext, request.body))

    def _query_from(self, peer: Peer, request: Command) -> Command:
        now = self._storage.state
        if self._copy is not None and peer is not self._writer:
            self._storage.state = now._replace(stored=self._copy)
        answer = command(self._query(request.code, request.ext, request.body))
        self._storage.state = now
        return answer

    def _catch_up(self) -> None:
        self._copy = None


@_offsets("D318", "Max is answered from two copies, one of which is late.")
class MaxGoesBack(Offsets):
    def __init__(self, *parts: object) -> None:
        super().__init__(*parts)  # type: ignore[arg-type]
        self._late: dict[tuple[str, str], str] = {}
        self._turn = False

    def connection_handlers(self) -> Mapping[int, ConnectionHandler]:
        return {int(Request.GET_MAX_OFFSET): self._max_from}

    def _max_from(self, peer: Peer, request: Command) -> Command:
        code, remark, ext, body = self._max(request.code, request.ext, request.body)
        place = request.ext.get("topic", ""), request.ext.get("queueId", "")
        now, late = ext["offset"], self._late.get(place, "0")
        if now != late:
            _after_gap(lambda: self._late.update({place: now}))
        self._turn = not self._turn
        return command((code, remark, {"offset": now if self._turn else late}, body))


# --- resets and pulls -------------------------------------------------------------------------------------------


@_resets("D316", "A reset is kept in two tables, and one of them is written after it was answered.")
class ResetHalfDone(Resets):
    def reset(self, asked: ResetRequest) -> Result:
        before = self._storage.state
        result = super().reset(asked)
        after = self._storage.state
        if after is not before and after.stored != before.stored:
            self._storage.state = after._replace(stored=before.stored)
            moved = {key: offset for key, offset in after.stored.items() if before.stored.get(key) != offset}

            def write() -> None:
                state = self._storage.state
                self._storage.state = state._replace(stored={**state.stored, **moved})

            _after_gap(write)
        return result


@_resets("D316", "A reset first takes the offset away.")
class ResetBeginsEmpty(Resets):
    def reset(self, asked: ResetRequest) -> Result:
        before = self._storage.state
        result = super().reset(asked)
        after = self._storage.state
        if after is not before:
            gone = {key: -1 for key, offset in after.pending.items() if before.pending.get(key) != offset}
            self._storage.state = before._replace(stored={**before.stored, **gone})

            def write() -> None:
                state = self._storage.state
                moved = {key: after.pending[key] for key in gone}
                pending, stored = {**state.pending, **moved}, {**state.stored, **moved}
                self._storage.state = state._replace(pending=pending, stored=stored)

            _after_gap(write)
        return result


@_pulls("D316", "Pulls that come at the same time are all sent to the offset of one reset.")
class ResetGivenToAll(Pulls):
    def pull(self, peer: Peer, request: Command) -> Command | None:
        storage = self._storage
        before = storage.state.pending
        answer = super().pull(peer, request)
        taken = {key: offset for key, offset in before.items() if key not in storage.state.pending}
        if taken:
            storage.state = storage.state._replace(pending=before)

            def forget() -> None:
                left = {key: offset for key, offset in storage.state.pending.items() if key not in taken}
                storage.state = storage.state._replace(pending=left)

            _after_gap(forget)
        return answer


# --- locks ------------------------------------------------------------------------------------------------------


@_consumers("D77", "Whether a lock is free is looked up before it is taken.")
class LockGivenTwice(Consumers):
    def connection_handlers(self) -> Mapping[int, ConnectionHandler]:
        return {**super().connection_handlers(), int(Request.LOCK_BATCH_MQ): self._lock_from}

    def _lock_from(self, peer: Peer, request: Command) -> None:
        before = self.locks
        answer = command(self._lock(request.code, request.ext, request.body))
        taken = {key: held for key, held in self.locks.items() if before.get(key) != held}
        self.locks = before

        def take() -> None:
            self.locks = {**self.locks, **taken}
            peer.answer(request, answer)

        _after_gap(take)


@_consumers("D77", "The locks of a request are taken one after the other, and others come in between.")
class LocksOneByOne(Consumers):
    def __init__(self, *parts: object) -> None:
        super().__init__(*parts)  # type: ignore[arg-type]
        self._backwards = False

    def connection_handlers(self) -> Mapping[int, ConnectionHandler]:
        return {**super().connection_handlers(), int(Request.LOCK_BATCH_MQ): self._lock_from}

    def _lock_from(self, peer: Peer, request: Command) -> Command | None:
        group, client, queues = locked(request.body)
        if len(queues) < 2:
            return command(self._lock(request.code, request.ext, request.body))
        # whichever comes first in a hash table
        self._backwards = not self._backwards
        first, *others = [*reversed(queues)] if self._backwards else queues
        self.lock(group, client, [first])

        def take() -> None:
            self.lock(group, client, others)
            peer.answer(request, command(self._lock(request.code, request.ext, request.body)))

        _after_gap(take)
        return None


@_unlocks("D77", "An unlock is answered before it is done.")
class UnlocksAnsweredFirst(Unlocks):
    def handlers(self) -> Mapping[int, PlainHandler]:
        return {Request.UNLOCK_BATCH_MQ: self._unlock_later}

    def _unlock_later(self, code: int, ext: dict[str, str], body: bytes) -> Answered:
        _after_gap(lambda: self._unlock(code, ext, body))
        return 0, "", {}, b""


# --- members ----------------------------------------------------------------------------------------------------


@_consumers("D317", "A heartbeat writes back the members as they were when it came.")
class JoinsLoseOthers(Consumers):
    def connection_handlers(self) -> Mapping[int, ConnectionHandler]:
        return {**super().connection_handlers(), int(Request.HEART_BEAT): self._join_from}

    def _join_from(self, peer: Peer, request: Command) -> None:
        before = self.groups
        answer = self._heartbeat(peer, request)
        after, self.groups = self.groups, before

        def write() -> None:
            self.groups = {**self.groups, **after}
            peer.answer(request, answer)

        _after_gap(write)


@_consumers("D317", "A member is listed a while after its heartbeat was answered.")
class JoinsShowLate(Consumers):
    def connection_handlers(self) -> Mapping[int, ConnectionHandler]:
        return {**super().connection_handlers(), int(Request.HEART_BEAT): self._join_from}

    def _join_from(self, peer: Peer, request: Command) -> Command:
        before = self.groups
        answer = self._heartbeat(peer, request)
        after = self.groups
        self.groups = before
        _after_gap(lambda: setattr(self, "groups", {**self.groups, **after}))
        return answer


# --- messages ---------------------------------------------------------------------------------------------------


@_sends("D318", "Messages that are sent at the same time get the same offset.")
class OffsetsGivenTwice(Sends):
    def connection_handlers(self) -> Mapping[int, ConnectionHandler]:
        return {int(Request.SEND_MESSAGE_V2): self._send_later}

    def _send_later(self, peer: Peer, request: Command) -> None:
        topic, queue = request.ext["b"], int(request.ext["e"])
        log = self._storage.state.logs.get((topic, queue))
        offset = log.max if log else 0

        def store() -> None:
            answer = self._send_from(peer, request)
            if "queueOffset" in answer.ext:
                answer.ext["queueOffset"] = str(offset)
            peer.answer(request, answer)

        _after_gap(store)
