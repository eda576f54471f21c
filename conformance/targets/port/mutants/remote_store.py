"""Mutants of the port's remote offset store, after real defects of clients."""

from __future__ import annotations

from functools import partial

from rocketmq_conformance.conformance.remoting.codes import Response, response_name
from rocketmq_conformance.conformance.targets.mutant import Mutant
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

# --- handling of the broker's response -----------------------------------------------------------------------


class RefusalIsNew(RemoteStore):
    def refused(self, code: int) -> int:
        raise OffsetNotFoundError


class LostAnswerIsNew(RemoteStore):
    def unanswered(self) -> Exception:
        return OffsetNotFoundError()


class FailureIsNew(RemoteStore):
    def failed(self, queue: int) -> int:
        return NO_OFFSET


class NoRouteIsNew(RemoteStore):
    def unrouted(self) -> Exception:
        return OffsetNotFoundError()


class FailureIsMemory(RemoteStore):
    def failed(self, queue: int) -> int:
        entry = self.table.get(queue)
        return entry.offset if entry else BROKER_FAILED


class MissingFieldIsZero(RemoteStore):
    def offset_of(self, ext: dict[str, str]) -> int:
        return int(ext.get("offset", 0))


class MissingFieldIsNew(RemoteStore):
    def offset_of(self, ext: dict[str, str]) -> int:
        return int(ext.get("offset", NO_OFFSET))


class ZeroIsNone(RemoteStore):
    def offset_of(self, ext: dict[str, str]) -> int:
        offset = super().offset_of(ext)
        if offset == 0:
            raise OffsetNotFoundError
        return offset


class NegativeIsFailure(RemoteStore):
    def offset_of(self, ext: dict[str, str]) -> int:
        offset = super().offset_of(ext)
        if offset < 0:
            raise QueryFailedError
        return offset


class FloatOffsets(RemoteStore):
    def offset_of(self, ext: dict[str, str]) -> int:
        return int(float(super().offset_of(ext)))


class ShortOffsets(RemoteStore):
    def offset_of(self, ext: dict[str, str]) -> int:
        return (super().offset_of(ext) + 2**31) % 2**32 - 2**31


class NotFoundIsFailure(RemoteStore):
    def not_found(self, queue: int) -> int:
        return BROKER_FAILED


class NotFoundIsZero(RemoteStore):
    def not_found(self, queue: int) -> int:
        return 0


class NotFoundIsRemembered(RemoteStore):
    def not_found(self, queue: int) -> int:
        self.update(queue, NO_OFFSET, False)
        return NO_OFFSET


class NotFoundForgets(RemoteStore):
    def not_found(self, queue: int) -> int:
        self.remove(queue)
        return NO_OFFSET


class PullNotFound(RemoteStore):
    def refused(self, code: int) -> int:
        raise OffsetNotFoundError if code == Response.PULL_NOT_FOUND else QueryFailedError


class PullNotFoundToo(RemoteStore):
    def refused(self, code: int) -> int:
        if code == Response.PULL_NOT_FOUND:
            raise OffsetNotFoundError
        return super().refused(code)


# --- asking --------------------------------------------------------------------------------------------------


class AsksNoZero(RemoteStore):
    def query_header(self, topic: str, number: int) -> dict[str, str]:
        return {**super().query_header(topic, number), "setZeroIfNotFound": "false"}


class AsksForZero(RemoteStore):
    def query_header(self, topic: str, number: int) -> dict[str, str]:
        return {**super().query_header(topic, number), "setZeroIfNotFound": "true"}


class AsksForFirstQueue(RemoteStore):
    def query_header(self, topic: str, number: int) -> dict[str, str]:
        return super().query_header(topic, 0)


class MemoryFirstStays(RemoteStore):
    def falls_through(self, kind: str) -> bool:
        return False


class MemoryAsks(RemoteStore):
    def falls_through(self, kind: str) -> bool:
        return True


class NeverAsks(RemoteStore):
    def read_stored(self, queue: int) -> int:
        return 0


class AsksOnce(RemoteStore):
    def read_stored(self, queue: int) -> int:
        entry = self.table.get(queue)
        return entry.offset if entry else super().read_stored(queue)


class RefreshKeepsLarger(RemoteStore):
    def refresh(self, queue: int, offset: int) -> None:
        self.update(queue, offset, True)


class NoRefresh(RemoteStore):
    def refresh(self, queue: int, offset: int) -> None:
        return None


class RefreshThaws(RemoteStore):
    def refresh(self, queue: int, offset: int) -> None:
        self.insert(queue, offset)


class LargerIsRead(RemoteStore):
    def read_stored(self, queue: int) -> int:
        entry, offset = self.table.get(queue), super().read_stored(queue)
        return max(offset, entry.offset) if entry and offset >= 0 else offset


# --- memory --------------------------------------------------------------------------------------------------


class KeepsSmaller(RemoteStore):
    def newer(self, old: int, offset: int, increase_only: bool) -> int:
        return min(old, offset) if increase_only else offset


class FlagInverted(RemoteStore):
    def newer(self, old: int, offset: int, increase_only: bool) -> int:
        return super().newer(old, offset, not increase_only)


class FlagIgnored(RemoteStore):
    def newer(self, old: int, offset: int, increase_only: bool) -> int:
        return offset


class NeverDecreases(RemoteStore):
    def newer(self, old: int, offset: int, increase_only: bool) -> int:
        return max(old, offset)


class FirstKept(RemoteStore):
    def newer(self, old: int, offset: int, increase_only: bool) -> int:
        return old


class EqualReplaces(RemoteStore):
    def newer(self, old: int, offset: int, increase_only: bool) -> int:
        return offset if not increase_only or offset >= old else old


class FirstAgainstZero(RemoteStore):
    def update(self, queue: int, offset: int, increase_only: bool) -> Result:
        first = queue not in self.table
        return super().update(queue, max(offset, 0) if first and increase_only else offset, increase_only)


class NegativeIgnored(RemoteStore):
    def update(self, queue: int, offset: int, increase_only: bool) -> Result:
        return None if offset < 0 else super().update(queue, offset, increase_only)


class NullIsAQueue(RemoteStore):
    def update(self, queue: int, offset: int, increase_only: bool) -> Result:
        if queue < 0:
            self.insert(queue, offset)
        return super().update(queue, offset, increase_only)


class NullIsRefused(RemoteStore):
    def update(self, queue: int, offset: int, increase_only: bool) -> Result:
        return Err("RUNTIME") if queue < 0 else super().update(queue, offset, increase_only)


class NullIsNotFound(RemoteStore):
    def read(self, queue: int, kind: str) -> int:
        return NO_OFFSET if queue < 0 else super().read(queue, kind)


class FreezeIsUpdate(RemoteStore):
    def freeze(self, queue: int, offset: int) -> Result:
        return self.update(queue, offset, False)


class FreezeIgnored(RemoteStore):
    def freeze(self, queue: int, offset: int) -> Result:
        return None


class FrozenOnce(RemoteStore):
    def freeze(self, queue: int, offset: int) -> Result:
        entry = self.table.get(queue)
        return None if entry and entry.frozen else super().freeze(queue, offset)


class FreezeKnownOnly(RemoteStore):
    def freeze(self, queue: int, offset: int) -> Result:
        return super().freeze(queue, offset) if queue in self.table else None


class FreezeKeepsOffset(RemoteStore):
    def freeze(self, queue: int, offset: int) -> Result:
        entry = self.table.get(queue)
        return super().freeze(queue, entry.offset if entry else offset)


class RemoveKeepsFrozen(RemoteStore):
    def remove(self, queue: int) -> Result:
        entry = self.table.get(queue)
        return None if entry and entry.frozen else super().remove(queue)


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


class RemoveIgnored(RemoteStore):
    def remove(self, queue: int) -> Result:
        return None


class RemoveByTopic(RemoteStore):
    def remove(self, queue: int) -> Result:
        # queues 0 and 1 belong to one topic
        for other in (0, 1) if queue in (0, 1) else (queue,):
            super().remove(other)
        return None


class RemoveSets(RemoteStore):
    def remove(self, queue: int) -> Result:
        if queue in self.table:
            self.insert(queue, 0)
        return None


class CloneIgnoresTopic(RemoteStore):
    def is_of(self, queue: int, topic: str) -> bool:
        return True


class BlankIsNoTopic(RemoteStore):
    def is_of(self, queue: int, topic: str) -> bool:
        return bool(topic) and super().is_of(queue, topic)


# --- writing -------------------------------------------------------------------------------------------------


class PersistForgetsOthers(RemoteStore):
    def persist(self, queue: int) -> Result:
        return self.persist_all((queue,))


class PersistForgets(RemoteStore):
    def persist(self, queue: int) -> Result:
        super().persist(queue)
        return self.remove(queue)


class PersistIgnored(RemoteStore):
    def persist(self, queue: int) -> Result:
        return None


class PersistMakesZero(RemoteStore):
    def persist(self, queue: int) -> Result:
        self.table.setdefault(queue, Entry(0))
        return super().persist(queue)


class PersistAllMakesZero(RemoteStore):
    def persist_all(self, queues: tuple[int, ...]) -> Result:
        for queue in queues:
            self.table.setdefault(queue, Entry(0))
        return super().persist_all(queues)


class PersistAllSendsNothing(RemoteStore):
    def persist_all(self, queues: tuple[int, ...]) -> Result:
        for queue in set(self.table).difference(queues) if queues else ():
            self.forget_unused(queue)
        return None


class EmptyClears(RemoteStore):
    def persist_all(self, queues: tuple[int, ...]) -> Result:
        if not queues:
            self.table.clear()
        return super().persist_all(queues)


class EmptyIsAll(RemoteStore):
    def persist_all(self, queues: tuple[int, ...]) -> Result:
        return super().persist_all(queues or tuple(self.table))


class UnusedKept(RemoteStore):
    def forget_unused(self, queue: int) -> None:
        return None


class UnusedSent(RemoteStore):
    def forget_unused(self, queue: int) -> None:
        self.send(queue, self.table[queue].offset)
        super().forget_unused(queue)


class SkipsEqual(RemoteStore):
    def forget(self) -> None:
        super().forget()
        self.sent: dict[int, int] = {}

    def send(self, queue: int, offset: int) -> None:
        if self.sent.get(queue) != offset:
            self.sent[queue] = offset
            super().send(queue, offset)


class SkipsZero(RemoteStore):
    def send(self, queue: int, offset: int) -> None:
        if offset != 0:
            super().send(queue, offset)


class SkipsNegative(RemoteStore):
    def send(self, queue: int, offset: int) -> None:
        if offset >= 0:
            super().send(queue, offset)


class SendsNext(RemoteStore):
    def send(self, queue: int, offset: int) -> None:
        super().send(queue, offset + 1)


class SendsSynchronously(RemoteStore):
    def send(self, queue: int, offset: int) -> None:
        self.commit(queue, offset, False)


class OneWayReports(RemoteStore):
    def verdict(self, code: int, one_way: bool) -> Result:
        return Err(response_name(code)) if code else None


class RefusalHidden(RemoteStore):
    def verdict(self, code: int, one_way: bool) -> Result:
        return None


class CommitIsRemembered(RemoteStore):
    def commit(self, queue: int, offset: int, one_way: bool) -> Result:
        self.update(queue, offset, False)
        return super().commit(queue, offset, one_way)


class CommitsMemory(RemoteStore):
    def commit(self, queue: int, offset: int, one_way: bool) -> Result:
        entry = self.table.get(queue)
        return super().commit(queue, entry.offset if entry else offset, one_way)


class CommitNeverDecreases(RemoteStore):
    def commit(self, queue: int, offset: int, one_way: bool) -> Result:
        entry = self.table.get(queue)
        return super().commit(queue, max(offset, entry.offset) if entry else offset, one_way)


class RefusedIsRepeated(RemoteStore):
    def commit(self, queue: int, offset: int, one_way: bool) -> Result:
        result = super().commit(queue, offset, one_way)
        refused = isinstance(result, Err) and result not in (UNANSWERED, UNROUTED)
        return super().commit(queue, offset, one_way) if refused else result


class UnansweredIsRepeated(RemoteStore):
    def commit(self, queue: int, offset: int, one_way: bool) -> Result:
        result = super().commit(queue, offset, one_way)
        return super().commit(queue, offset, one_way) if result == UNANSWERED else result


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


class AlwaysOneWay(RemoteStore):
    def commit(self, queue: int, offset: int, one_way: bool) -> Result:
        return super().commit(queue, offset, True)


_mutant = partial(Mutant.of, "remote-store")

MUTANTS: tuple[Mutant, ...] = (
    _mutant("refusal-is-new", "D01", 'Every refusal of the broker reads as "no offset".', RefusalIsNew),
    _mutant("lost-answer-is-new", "D02", 'A timeout reads as "no offset".', LostAnswerIsNew),
    _mutant("failure-is-new", "D04", 'Every failure of a query reads as "no offset".', FailureIsNew),
    _mutant("no-route-is-new", "D04", 'An unknown broker reads as "no offset".', NoRouteIsNew),
    _mutant("failure-is-memory", "D14", "A failed query reads what memory holds.", FailureIsMemory),
    _mutant("missing-field-is-zero", "D16", "An answer without an offset reads 0.", MissingFieldIsZero),
    _mutant("missing-field-is-new", "D17", 'An answer without an offset is stored as "no offset".', MissingFieldIsNew),
    _mutant("zero-is-none", "D07", "A stored 0 counts as no offset.", ZeroIsNone),
    _mutant(
        "negative-is-failure",
        "D28",
        "A negative offset of the broker counts as a failure.",
        NegativeIsFailure,
        equivalent='a broker takes a negative stored offset for "not found" and never answers one',
    ),
    _mutant("float-offsets", "D52", "Offsets of the broker pass through floating point.", FloatOffsets),
    _mutant("short-offsets", "D52", "Offsets of the broker are cut to 32 bits.", ShortOffsets),
    _mutant("not-found-is-failure", "D13", '"Not found" counts as a failure.', NotFoundIsFailure),
    _mutant("not-found-is-zero", "D09", '"Not found" reads 0.', NotFoundIsZero),
    _mutant("not-found-is-remembered", "D28", '"Not found" puts -1 into memory.', NotFoundIsRemembered),
    _mutant("not-found-forgets", "D42", '"Not found" removes what memory holds.', NotFoundForgets),
    _mutant("pull-not-found", "D15", 'Code 19 instead of 22 means "not found".', PullNotFound),
    _mutant("pull-not-found-too", "D15", 'Code 19 means "not found" as well as 22.', PullNotFoundToo),
    _mutant("asks-no-zero", "D10", "Queries ask the broker not to answer 0.", AsksNoZero),
    _mutant(
        "asks-for-zero",
        "D17",
        "Queries ask the broker explicitly to answer 0.",
        AsksForZero,
        equivalent="a broker takes an explicit true like an absent flag",
    ),
    _mutant("asks-for-first-queue", "D27", "Every query asks for queue 0 of the topic.", AsksForFirstQueue),
    _mutant("memory-first-stays", "D29", "Reading memory first never goes on to the broker.", MemoryFirstStays),
    _mutant("memory-asks", "D29", "Reading memory alone goes on to the broker.", MemoryAsks),
    _mutant("never-asks", "D30", "The broker is never asked: what memory misses is 0.", NeverAsks),
    _mutant("asks-once", "D74", "The broker is not asked again for a queue that memory knows.", AsksOnce),
    _mutant("refresh-keeps-larger", "D31", "The broker's offset replaces memory only when larger.", RefreshKeepsLarger),
    _mutant("no-refresh", "D39", "The broker's offset is answered and not remembered.", NoRefresh),
    _mutant("refresh-thaws", "D41", "The broker's offset replaces a frozen one.", RefreshThaws),
    _mutant("larger-is-read", "D70", "A read answers the larger of memory's and the broker's offset.", LargerIsRead),
    _mutant("keeps-smaller", "D61", "Increase-only keeps the smaller offset.", KeepsSmaller),
    _mutant("increase-only-inverted", "D61", "The increase-only flag means its opposite.", FlagInverted),
    _mutant("increase-only-ignored", "D41", "Increase-only updates replace larger offsets.", FlagIgnored),
    _mutant("never-decreases", "D63", "No update makes an offset smaller.", NeverDecreases),
    _mutant("first-kept", "D27", "Only the first update of a queue counts.", FirstKept),
    _mutant(
        "equal-replaces",
        "D32",
        "Increase-only writes an equal offset over the old one.",
        EqualReplaces,
        equivalent="the old and the new number are the same",
    ),
    _mutant("first-against-zero", "D36", "The first increase-only update is compared with 0.", FirstAgainstZero),
    _mutant("negative-ignored", "D28", "Updates with a negative offset are ignored.", NegativeIgnored),
    _mutant("null-is-a-queue", "D27", "An update for no queue makes an entry.", NullIsAQueue),
    _mutant("null-is-refused", "D27", "An update for no queue fails.", NullIsRefused),
    _mutant("null-is-not-found", "D14", 'No queue reads as "no offset", as clients before 5.0 had it.', NullIsNotFound),
    _mutant("freeze-is-update", "D41", "Freezing sets the offset and does not freeze it.", FreezeIsUpdate),
    _mutant("freeze-ignored", "D41", "Freezing does nothing.", FreezeIgnored),
    _mutant("frozen-once", "D41", "Freezing a frozen offset again keeps the old one.", FrozenOnce),
    _mutant("freeze-known-only", "D41", "Only a queue with an offset can be frozen.", FreezeKnownOnly),
    _mutant("freeze-keeps-offset", "D41", "Freezing keeps the offset that was there.", FreezeKeepsOffset),
    _mutant("remove-keeps-frozen", "D41", "A frozen offset cannot be removed.", RemoveKeepsFrozen),
    _mutant("stays-frozen", "D41", "A queue that was frozen once is frozen after removal.", StaysFrozen),
    _mutant("remove-ignored", "D33", "Removing does nothing.", RemoveIgnored),
    _mutant("remove-by-topic", "D42", "Removing forgets all queues of the topic.", RemoveByTopic),
    _mutant("remove-sets-zero", "D30", "Removing sets the offset to 0.", RemoveSets),
    _mutant("clone-ignores-topic", "D67", "A clone has the queues of all topics.", CloneIgnoresTopic),
    _mutant("blank-is-no-topic", "D66", "A clone of the blank topic is empty.", BlankIsNoTopic),
    _mutant("persist-forgets-others", "D25", "Persisting one queue drops all others.", PersistForgetsOthers),
    _mutant("persist-forgets", "D25", "Persisting one queue forgets its offset.", PersistForgets),
    _mutant("persist-ignored", "D33", "Persisting one queue does nothing.", PersistIgnored),
    _mutant("persist-makes-zero", "D36", "Persisting an unknown queue stores 0.", PersistMakesZero),
    _mutant("persist-all-makes-zero", "D36", "Persisting a set stores 0 for its unknown queues.", PersistAllMakesZero),
    _mutant("persist-all-sends-nothing", "D31", "Persisting a set sends nothing.", PersistAllSendsNothing),
    _mutant("empty-set-clears", "D26", "Persisting an empty set drops every offset.", EmptyClears),
    _mutant("empty-set-is-all", "D26", "Persisting an empty set sends every offset.", EmptyIsAll),
    _mutant("unused-kept", "D81", "Persisting a set keeps the queues outside it.", UnusedKept),
    _mutant("unused-sent", "D81", "Persisting a set sends the queues outside it before it drops them.", UnusedSent),
    _mutant("skips-equal", "D32", "A commit equal to the last one sent is left out.", SkipsEqual),
    _mutant("skips-zero", "D43", "A commit of 0 is left out.", SkipsZero),
    _mutant("skips-negative", "D28", "A negative commit is left out.", SkipsNegative),
    _mutant("sends-next", "D45", "Commits are one message ahead.", SendsNext),
    _mutant(
        "sends-synchronously",
        "D151",
        "Persisting waits for the answer and ignores it.",
        SendsSynchronously,
    ),
    _mutant("one-way-reports", "D40", "A one-way commit reports a refusal.", OneWayReports),
    _mutant("refusal-hidden", "D40", "A refused commit looks accepted.", RefusalHidden),
    _mutant("commit-is-remembered", "D39", "A commit changes memory too.", CommitIsRemembered),
    _mutant("commits-memory", "D40", "A commit sends what memory holds.", CommitsMemory),
    _mutant("commit-never-decreases", "D63", "A commit never sends less than memory holds.", CommitNeverDecreases),
    _mutant("refused-commit-is-repeated", "D40", "A commit that is refused is sent again.", RefusedIsRepeated),
    _mutant("unanswered-commit-is-repeated", "D40", "A commit without an answer is sent again.", UnansweredIsRepeated),
    _mutant("none-is-committed", "D28", "A queue without an offset in memory is committed as -1.", NoneIsCommitted),
    _mutant("always-one-way", "D40", "Every commit is one way.", AlwaysOneWay),
)
