"""Broker mutants that answer commits and queries of offsets wrongly. Each repeats a real defect."""

from __future__ import annotations

from rocketmq_conformance.conformance.adapter import Answered
from rocketmq_conformance.conformance.fakes.offsets import Offsets
from rocketmq_conformance.conformance.targets.broker.mutant import BrokerMutant, declared
from rocketmq_conformance.models.outcome import Err, Result

MUTANTS: list[BrokerMutant] = []
_offsets = declared(MUTANTS, "offsets", "broker-admin", "broker-offsets", "broker-doubt")


@_offsets("D60", "A commit is stored though a reset is pending.")
class CommitsOverResets(Offsets):
    def commit(self, group: str, topic: str, queue: int | None, committed: int | None) -> Result:
        pending = self._storage.state.pending
        self._storage.state = self._storage.state._replace(pending={})
        result = super().commit(group, topic, queue, committed)
        self._storage.state = self._storage.state._replace(pending=pending)
        return result


@_offsets("D52", "The answer to a commit carries min and max.")
class CommitAnswersBounds(Offsets):
    def _commit(self, code: int, ext: dict[str, str], body: bytes) -> Answered:
        answered, remark, _, said = super()._commit(code, ext, body)
        return answered, remark, {"minOffset": "0", "maxOffset": "0"}, said


@_offsets("D60", "A commit takes a pending reset away.")
class CommitEndsReset(Offsets):
    def commit(self, group: str, topic: str, queue: int | None, committed: int | None) -> Result:
        result = super().commit(group, topic, queue, committed)
        pending = {key: to for key, to in self._storage.state.pending.items() if key != (group, topic, queue)}
        self._storage.state = self._storage.state._replace(pending=pending)
        return result


@_offsets("D63", "A pending reset hides the offsets of other queues.")
class ResetShadowsQueues(Offsets):
    def query(self, group: str, topic: str, queue: int | None, set_zero: bool | None) -> Result:
        pending = self._storage.state.pending
        marked = any(key[:2] == (group, topic) for key in pending)
        if marked and queue is not None and (group, topic, queue) not in pending:
            return Err("QUERY_NOT_FOUND")
        return super().query(group, topic, queue, set_zero)


@_offsets("D63", "A query takes a pending reset away.")
class QueryEndsReset(Offsets):
    def query(self, group: str, topic: str, queue: int | None, set_zero: bool | None) -> Result:
        result = super().query(group, topic, queue, set_zero)
        pending = {key: to for key, to in self._storage.state.pending.items() if key != (group, topic, queue)}
        self._storage.state = self._storage.state._replace(pending=pending)
        return result
