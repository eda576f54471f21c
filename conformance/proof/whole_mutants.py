"""Mutants of the proof of whole consumers: brokers with one deliberate fault each, and the case that shows it.

They show that the cases can fail: a case that no broker could fail proves nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, cast

from rocketmq_conformance.conformance.fakes.consumers import Consumers
from rocketmq_conformance.conformance.fakes.offsets import Offsets
from rocketmq_conformance.conformance.fakes.pulls import Pulls
from rocketmq_conformance.conformance.fakes.retries import Retries
from rocketmq_conformance.conformance.proof.whole_cases import TableCase, cases
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.remoting.message import Message
from rocketmq_conformance.conformance.remoting.server import Peer
from rocketmq_conformance.conformance.targets.mutant import name_of
from rocketmq_conformance.models.broker.pull import OFFSET_TOO_SMALL, PullMessageRequest, PullResult
from rocketmq_conformance.models.broker.send_back import Filing
from rocketmq_conformance.models.broker.state import ABSENT
from rocketmq_conformance.models.broker.subscription import TagCodes
from rocketmq_conformance.models.message_queue import Queue
from rocketmq_conformance.models.outcome import Err, Result


class WholeMutant(NamedTuple):
    """``case`` is the name of a case that shows it, ``kind`` of which consumer."""

    name: str
    parts: Mapping[str, type]
    case: str
    kind: str

    def shown_by(self) -> TableCase:
        """The case."""
        return next(case for case in cases() if (case.name, case.kind) == (self.case, self.kind))


MUTANTS: list[WholeMutant] = []


def _shown_by(part: str, case: str, kind: str) -> Callable[[type], type]:
    """The decorator of a part of the broker that has a fault."""

    def declare(changed: type) -> type:
        MUTANTS.append(WholeMutant(f"whole-{name_of(changed)}", {part: changed}, case, kind))
        return changed

    return declare


@_shown_by("offsets", "nothing fails", "push")
class StoresNext(Offsets):
    def commit(self, group: str, topic: str, queue: int | None, committed: int | None) -> Result:
        return super().commit(group, topic, queue, None if committed is None else committed + 1)


@_shown_by("offsets", "nothing fails", "lite pull")
class StoresFirst(Offsets):
    """A stored offset never changes."""

    def commit(self, group: str, topic: str, queue: int | None, committed: int | None) -> Result:
        known = (group, topic, queue) in self._storage.state.stored
        return None if known else super().commit(group, topic, queue, committed)


@_shown_by("offsets", "max: SYSTEM_ERROR", "push")
class NothingIsZero(Offsets):
    def query(self, group: str, topic: str, queue: int | None, set_zero: bool | None) -> Result:
        found = super().query(group, topic, queue, set_zero)
        return 0 if isinstance(found, Err) else found


@_shown_by("pulls", "nothing fails", "push")
class PullsNext(Pulls):
    def find(self, asked: PullMessageRequest, codes: TagCodes | Err) -> Result:
        end = self._storage.state.logs.get((asked.topic, asked.queue), ABSENT).max
        return super().find(asked._replace(offset=min(asked.offset + 1, end)), codes)


@_shown_by("pulls", "messages expire that were not pulled yet", "lite pull")
class MovesToMax(Pulls):
    def find(self, asked: PullMessageRequest, codes: TagCodes | Err) -> Result:
        result = super().find(asked, codes)
        if isinstance(result, Err):
            return result
        status, following, low, high, found = cast(PullResult, result)
        return status, high if status == OFFSET_TOO_SMALL else following, low, high, found


@_shown_by("consumers", "somebody else has the lock", "orderly")
class LocksAll(Consumers):
    def lock(self, group: str, client: str | None, queues: Sequence[Queue]) -> tuple[Queue, ...] | Err:
        return tuple(queues)


@_shown_by("consumers", "another one joins, the first one leaves", "orderly")
class NeverUnlocks(Consumers):
    def unlock(self, group: str, client: str | None, queues: Sequence[Queue]) -> Err | None:
        return None


@_shown_by("consumers", "another one joins, the first one leaves", "push")
class NobodyLeaves(Consumers):
    def _unregister(self, peer: Peer, request: Command) -> Command:
        return Command(0)

    def closed(self, peer: Peer) -> None:
        pass


@_shown_by("retries", "one message is sent back: late", "push")
class TakesBackTwice(Retries):
    def file(self, message: Message, filing: Filing) -> None:
        super().file(message, filing)
        super().file(message, filing)


@_shown_by("retries", "one message is sent back: SYSTEM_ERROR", "push")
class RefusesCopies(Retries):
    def copied(self, copy: Message, most: int | None, version: int) -> Message | Err:
        return Err("SYSTEM_ERROR")
