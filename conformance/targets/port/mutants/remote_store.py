"""Mutants of the port's remote offset store, after real defects of clients."""

from __future__ import annotations

from rocketmq_conformance.conformance.remoting.codes import Response, response_name
from rocketmq_conformance.conformance.targets.mutant import Mutant, declared
from rocketmq_conformance.conformance.targets.port.offset_table import NO_OFFSET, Entry
from rocketmq_conformance.conformance.targets.port.remote_store import (
    BROKER_FAILED,
    UNANSWERED,
    UNROUTED,
    OffsetNotFoundError,
    QueryFailedError,
    RemoteStore,
)
from rocketmq_conformance.models.outcome import Err, Result

MUTANTS: list[Mutant] = []
_mutant = declared(MUTANTS, "remote-store")


# --- handling of the broker's response -----------------------------------------------------------------------


@_mutant("D01", 'Every refusal of the broker reads as "no offset".')
class RefusalIsNew(RemoteStore):
    def refused(self, code: int) -> int:
        raise OffsetNotFoundError


@_mutant("D02", 'A timeout reads as "no offset".')
class LostAnswerIsNew(RemoteStore):
    def unanswered(self) -> Exception:
        return OffsetNotFoundError()


@_mutant("D04", 'Every failure of a query reads as "no offset".')
class FailureIsNew(RemoteStore):
    def failed(self, queue: int) -> int:
        return NO_OFFSET


@_mutant("D04", 'An unknown broker reads as "no offset".')
class NoRouteIsNew(RemoteStore):
    def unrouted(self) -> Exception:
        return OffsetNotFoundError()


@_mutant("D14", "A failed query reads what memory holds.")
class FailureIsMemory(RemoteStore):
    def failed(self, queue: int) -> int:
        entry = self.table.get(queue)
        return entry.offset if entry else BROKER_FAILED


@_mutant("D16", "An answer without an offset reads 0.")
class MissingFieldIsZero(RemoteStore):
    def offset_of(self, ext: dict[str, str]) -> int:
        return int(ext.get("offset", 0))


@_mutant("D17", 'An answer without an offset is stored as "no offset".')
class MissingFieldIsNew(RemoteStore):
    def offset_of(self, ext: dict[str, str]) -> int:
        return int(ext.get("offset", NO_OFFSET))


@_mutant("D07", "A stored 0 counts as no offset.")
class ZeroIsNone(RemoteStore):
    def offset_of(self, ext: dict[str, str]) -> int:
        offset = super().offset_of(ext)
        if offset == 0:
            raise OffsetNotFoundError
        return offset


@_mutant(
    "D28",
    "A negative offset of the broker counts as a failure.",
    equivalent='a broker takes a negative stored offset for "not found" and never answers one',
)
class NegativeIsFailure(RemoteStore):
    def offset_of(self, ext: dict[str, str]) -> int:
        offset = super().offset_of(ext)
        if offset < 0:
            raise QueryFailedError
        return offset


@_mutant("D52", "Offsets of the broker pass through floating point.")
class FloatOffsets(RemoteStore):
    def offset_of(self, ext: dict[str, str]) -> int:
        return int(float(super().offset_of(ext)))


@_mutant("D52", "Offsets of the broker are cut to 32 bits.")
class ShortOffsets(RemoteStore):
    def offset_of(self, ext: dict[str, str]) -> int:
        return (super().offset_of(ext) + 2**31) % 2**32 - 2**31


@_mutant("D13", '"Not found" counts as a failure.')
class NotFoundIsFailure(RemoteStore):
    def not_found(self, queue: int) -> int:
        return BROKER_FAILED


@_mutant("D09", '"Not found" reads 0.')
class NotFoundIsZero(RemoteStore):
    def not_found(self, queue: int) -> int:
        return 0


@_mutant("D28", '"Not found" puts -1 into memory.')
class NotFoundIsRemembered(RemoteStore):
    def not_found(self, queue: int) -> int:
        self.update(queue, NO_OFFSET, False)
        return NO_OFFSET


@_mutant("D42", '"Not found" removes what memory holds.')
class NotFoundForgets(RemoteStore):
    def not_found(self, queue: int) -> int:
        self.remove(queue)
        return NO_OFFSET


@_mutant("D15", 'Code 19 instead of 22 means "not found".')
class PullNotFound(RemoteStore):
    def refused(self, code: int) -> int:
        raise OffsetNotFoundError if code == Response.PULL_NOT_FOUND else QueryFailedError


@_mutant("D15", 'Code 19 means "not found" as well as 22.')
class PullNotFoundToo(RemoteStore):
    def refused(self, code: int) -> int:
        if code == Response.PULL_NOT_FOUND:
            raise OffsetNotFoundError
        return super().refused(code)


# --- asking --------------------------------------------------------------------------------------------------


@_mutant("D10", "Queries ask the broker not to answer 0.")
class AsksNoZero(RemoteStore):
    def query_header(self, topic: str, number: int) -> dict[str, str]:
        return {**super().query_header(topic, number), "setZeroIfNotFound": "false"}


@_mutant(
    "D17",
    "Queries ask the broker explicitly to answer 0.",
    equivalent="a broker takes an explicit true like an absent flag",
)
class AsksForZero(RemoteStore):
    def query_header(self, topic: str, number: int) -> dict[str, str]:
        return {**super().query_header(topic, number), "setZeroIfNotFound": "true"}


@_mutant("D27", "Every query asks for queue 0 of the topic.")
class AsksForFirstQueue(RemoteStore):
    def query_header(self, topic: str, number: int) -> dict[str, str]:
        return super().query_header(topic, 0)


@_mutant("D29", "Reading memory first never goes on to the broker.")
class MemoryFirstStays(RemoteStore):
    def falls_through(self, kind: str) -> bool:
        return False


@_mutant("D29", "Reading memory alone goes on to the broker.")
class MemoryAsks(RemoteStore):
    def falls_through(self, kind: str) -> bool:
        return True


@_mutant("D30", "The broker is never asked: what memory misses is 0.")
class NeverAsks(RemoteStore):
    def read_stored(self, queue: int) -> int:
        return 0


@_mutant("D74", "The broker is not asked again for a queue that memory knows.")
class AsksOnce(RemoteStore):
    def read_stored(self, queue: int) -> int:
        entry = self.table.get(queue)
        return entry.offset if entry else super().read_stored(queue)


@_mutant("D31", "The broker's offset replaces memory only when larger.")
class RefreshKeepsLarger(RemoteStore):
    def refresh(self, queue: int, offset: int) -> None:
        self.update(queue, offset, True)


@_mutant("D39", "The broker's offset is answered and not remembered.")
class NoRefresh(RemoteStore):
    def refresh(self, queue: int, offset: int) -> None:
        return None


@_mutant("D41", "The broker's offset replaces a frozen one.")
class RefreshThaws(RemoteStore):
    def refresh(self, queue: int, offset: int) -> None:
        self.insert(queue, offset)


@_mutant("D70", "A read answers the larger of memory's and the broker's offset.")
class LargerIsRead(RemoteStore):
    def read_stored(self, queue: int) -> int:
        entry, offset = self.table.get(queue), super().read_stored(queue)
        return max(offset, entry.offset) if entry and offset >= 0 else offset


# --- memory --------------------------------------------------------------------------------------------------


@_mutant("D61", "Increase-only keeps the smaller offset.")
class KeepsSmaller(RemoteStore):
    def newer(self, old: int, offset: int, increase_only: bool) -> int:
        return min(old, offset) if increase_only else offset


@_mutant("D61", "The increase-only flag means its opposite.")
class IncreaseOnlyInverted(RemoteStore):
    def newer(self, old: int, offset: int, increase_only: bool) -> int:
        return super().newer(old, offset, not increase_only)


@_mutant("D41", "Increase-only updates replace larger offsets.")
class IncreaseOnlyIgnored(RemoteStore):
    def newer(self, old: int, offset: int, increase_only: bool) -> int:
        return offset


@_mutant("D63", "No update makes an offset smaller.")
class NeverDecreases(RemoteStore):
    def newer(self, old: int, offset: int, increase_only: bool) -> int:
        return max(old, offset)


@_mutant("D27", "Only the first update of a queue counts.")
class FirstKept(RemoteStore):
    def newer(self, old: int, offset: int, increase_only: bool) -> int:
        return old


@_mutant(
    "D32",
    "Increase-only writes an equal offset over the old one.",
    equivalent="the old and the new number are the same",
)
class EqualReplaces(RemoteStore):
    def newer(self, old: int, offset: int, increase_only: bool) -> int:
        return offset if not increase_only or offset >= old else old


@_mutant("D36", "The first increase-only update is compared with 0.")
class FirstAgainstZero(RemoteStore):
    def update(self, queue: int, offset: int, increase_only: bool) -> Result:
        first = queue not in self.table
        return super().update(queue, max(offset, 0) if first and increase_only else offset, increase_only)


@_mutant("D28", "Updates with a negative offset are ignored.")
class NegativeIgnored(RemoteStore):
    def update(self, queue: int, offset: int, increase_only: bool) -> Result:
        return None if offset < 0 else super().update(queue, offset, increase_only)


@_mutant("D27", "An update for no queue makes an entry.")
class NullIsAQueue(RemoteStore):
    def update(self, queue: int, offset: int, increase_only: bool) -> Result:
        if queue < 0:
            self.insert(queue, offset)
        return super().update(queue, offset, increase_only)


@_mutant("D27", "An update for no queue fails.")
class NullIsRefused(RemoteStore):
    def update(self, queue: int, offset: int, increase_only: bool) -> Result:
        return Err("RUNTIME") if queue < 0 else super().update(queue, offset, increase_only)


@_mutant("D14", 'No queue reads as "no offset", as clients before 5.0 had it.')
class NullIsNotFound(RemoteStore):
    def read(self, queue: int, kind: str) -> int:
        return NO_OFFSET if queue < 0 else super().read(queue, kind)


@_mutant("D41", "Freezing sets the offset and does not freeze it.")
class FreezeIsUpdate(RemoteStore):
    def freeze(self, queue: int, offset: int) -> Result:
        return self.update(queue, offset, False)


@_mutant("D41", "Freezing does nothing.")
class FreezeIgnored(RemoteStore):
    def freeze(self, queue: int, offset: int) -> Result:
        return None


@_mutant("D41", "Freezing a frozen offset again keeps the old one.")
class FrozenOnce(RemoteStore):
    def freeze(self, queue: int, offset: int) -> Result:
        entry = self.table.get(queue)
        return None if entry and entry.frozen else super().freeze(queue, offset)


@_mutant("D41", "Only a queue with an offset can be frozen.")
class FreezeKnownOnly(RemoteStore):
    def freeze(self, queue: int, offset: int) -> Result:
        return super().freeze(queue, offset) if queue in self.table else None


@_mutant("D41", "Freezing keeps the offset that was there.")
class FreezeKeepsOffset(RemoteStore):
    def freeze(self, queue: int, offset: int) -> Result:
        entry = self.table.get(queue)
        return super().freeze(queue, entry.offset if entry else offset)


@_mutant("D41", "A frozen offset cannot be removed.")
class RemoveKeepsFrozen(RemoteStore):
    def remove(self, queue: int) -> Result:
        entry = self.table.get(queue)
        return None if entry and entry.frozen else super().remove(queue)


@_mutant("D41", "A queue that was frozen once is frozen after removal.")
class StaysFrozen(RemoteStore):
    def forget(self) -> None:
        super().forget()
        self.once_frozen: set[int] = set()

    def freeze(self, queue: int, offset: int) -> Result:
        self.once_frozen.add(queue)
        return super().freeze(queue, offset)

    def insert(self, queue: int, offset: int) -> Entry:
        entry = super().insert(queue, offset)
        entry.frozen = queue in self.once_frozen
        return entry


@_mutant("D33", "Removing does nothing.")
class RemoveIgnored(RemoteStore):
    def remove(self, queue: int) -> Result:
        return None


@_mutant("D42", "Removing forgets all queues of the topic.")
class RemoveByTopic(RemoteStore):
    def remove(self, queue: int) -> Result:
        # queues 0 and 1 belong to one topic
        for other in (0, 1) if queue in (0, 1) else (queue,):
            super().remove(other)
        return None


@_mutant("D30", "Removing sets the offset to 0.")
class RemoveSetsZero(RemoteStore):
    def remove(self, queue: int) -> Result:
        if queue in self.table:
            self.insert(queue, 0)
        return None


@_mutant("D67", "A clone has the queues of all topics.")
class CloneIgnoresTopic(RemoteStore):
    def is_of(self, queue: int, topic: str) -> bool:
        return True


@_mutant("D66", "A clone of the blank topic is empty.")
class BlankIsNoTopic(RemoteStore):
    def is_of(self, queue: int, topic: str) -> bool:
        return bool(topic) and super().is_of(queue, topic)


# --- writing -------------------------------------------------------------------------------------------------


@_mutant("D25", "Persisting one queue drops all others.")
class PersistForgetsOthers(RemoteStore):
    def persist(self, queue: int) -> Result:
        return self.persist_all((queue,))


@_mutant("D25", "Persisting one queue forgets its offset.")
class PersistForgets(RemoteStore):
    def persist(self, queue: int) -> Result:
        super().persist(queue)
        return self.remove(queue)


@_mutant("D33", "Persisting one queue does nothing.")
class PersistIgnored(RemoteStore):
    def persist(self, queue: int) -> Result:
        return None


@_mutant("D36", "Persisting an unknown queue stores 0.")
class PersistMakesZero(RemoteStore):
    def persist(self, queue: int) -> Result:
        self.table.setdefault(queue, Entry(0))
        return super().persist(queue)


@_mutant("D36", "Persisting a set stores 0 for its unknown queues.")
class PersistAllMakesZero(RemoteStore):
    def persist_all(self, queues: tuple[int, ...]) -> Result:
        for queue in queues:
            self.table.setdefault(queue, Entry(0))
        return super().persist_all(queues)


@_mutant("D31", "Persisting a set sends nothing.")
class PersistAllSendsNothing(RemoteStore):
    def persist_all(self, queues: tuple[int, ...]) -> Result:
        for queue in set(self.table).difference(queues) if queues else ():
            self.forget_unused(queue)
        return None


@_mutant("D26", "Persisting an empty set drops every offset.")
class EmptySetClears(RemoteStore):
    def persist_all(self, queues: tuple[int, ...]) -> Result:
        if not queues:
            self.table.clear()
        return super().persist_all(queues)


@_mutant("D26", "Persisting an empty set sends every offset.")
class EmptySetIsAll(RemoteStore):
    def persist_all(self, queues: tuple[int, ...]) -> Result:
        return super().persist_all(queues or tuple(self.table))


@_mutant("D81", "Persisting a set keeps the queues outside it.")
class UnusedKept(RemoteStore):
    def forget_unused(self, queue: int) -> None:
        return None


@_mutant("D81", "Persisting a set sends the queues outside it before it drops them.")
class UnusedSent(RemoteStore):
    def forget_unused(self, queue: int) -> None:
        self.send(queue, self.table[queue].offset)
        super().forget_unused(queue)


@_mutant("D32", "A commit equal to the last one sent is left out.")
class SkipsEqual(RemoteStore):
    def forget(self) -> None:
        super().forget()
        self.sent: dict[int, int] = {}

    def send(self, queue: int, offset: int) -> None:
        if self.sent.get(queue) != offset:
            self.sent[queue] = offset
            super().send(queue, offset)


@_mutant("D43", "A commit of 0 is left out.")
class SkipsZero(RemoteStore):
    def send(self, queue: int, offset: int) -> None:
        if offset != 0:
            super().send(queue, offset)


@_mutant("D28", "A negative commit is left out.")
class SkipsNegative(RemoteStore):
    def send(self, queue: int, offset: int) -> None:
        if offset >= 0:
            super().send(queue, offset)


@_mutant("D45", "Commits are one message ahead.")
class SendsNext(RemoteStore):
    def send(self, queue: int, offset: int) -> None:
        super().send(queue, offset + 1)


@_mutant("D151", "Persisting waits for the answer and ignores it.")
class SendsSynchronously(RemoteStore):
    def send(self, queue: int, offset: int) -> None:
        self.commit(queue, offset, False)


@_mutant("D40", "A one-way commit reports a refusal.")
class OneWayReports(RemoteStore):
    def verdict(self, code: int, one_way: bool) -> Result:
        return Err(response_name(code)) if code else None


@_mutant("D40", "A refused commit looks accepted.")
class RefusalHidden(RemoteStore):
    def verdict(self, code: int, one_way: bool) -> Result:
        return None


@_mutant("D39", "A commit changes memory too.")
class CommitIsRemembered(RemoteStore):
    def commit(self, queue: int, offset: int, one_way: bool) -> Result:
        self.update(queue, offset, False)
        return super().commit(queue, offset, one_way)


@_mutant("D40", "A commit sends what memory holds.")
class CommitsMemory(RemoteStore):
    def commit(self, queue: int, offset: int, one_way: bool) -> Result:
        entry = self.table.get(queue)
        return super().commit(queue, entry.offset if entry else offset, one_way)


@_mutant("D63", "A commit never sends less than memory holds.")
class CommitNeverDecreases(RemoteStore):
    def commit(self, queue: int, offset: int, one_way: bool) -> Result:
        entry = self.table.get(queue)
        return super().commit(queue, max(offset, entry.offset) if entry else offset, one_way)


@_mutant("D40", "A commit that is refused is sent again.")
class RefusedCommitIsRepeated(RemoteStore):
    def commit(self, queue: int, offset: int, one_way: bool) -> Result:
        result = super().commit(queue, offset, one_way)
        refused = isinstance(result, Err) and result not in (UNANSWERED, UNROUTED)
        return super().commit(queue, offset, one_way) if refused else result


@_mutant("D40", "A commit without an answer is sent again.")
class UnansweredCommitIsRepeated(RemoteStore):
    def commit(self, queue: int, offset: int, one_way: bool) -> Result:
        result = super().commit(queue, offset, one_way)
        return super().commit(queue, offset, one_way) if result == UNANSWERED else result


@_mutant("D28", "A queue without an offset in memory is committed as -1.")
class NoneIsCommitted(RemoteStore):
    def persist(self, queue: int) -> Result:
        self.none(queue)
        return super().persist(queue)

    def persist_all(self, queues: tuple[int, ...]) -> Result:
        for queue in queues:
            self.none(queue)
        return super().persist_all(queues)

    def none(self, queue: int) -> None:
        """Send -1 where memory has no offset."""
        if queue not in self.table:
            self.send(queue, NO_OFFSET)


@_mutant("D40", "Every commit is one way.")
class AlwaysOneWay(RemoteStore):
    def commit(self, queue: int, offset: int, one_way: bool) -> Result:
        return super().commit(queue, offset, True)
