"""Mutants of the port's start positions, after real defects of clients."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.targets.mutant import Declares, Mutant
from rocketmq_conformance.conformance.targets.port.offset_table import NO_OFFSET
from rocketmq_conformance.conformance.targets.port.start import (
    FIRST,
    TIMESTAMP,
    NoStartError,
    NoTimeError,
    StartPosition,
)
from rocketmq_conformance.conformance.targets.port.start_lite_pull import StartLitePull
from rocketmq_conformance.conformance.targets.port.start_pull import StartPull
from rocketmq_conformance.conformance.targets.port.start_push import StartPush
from rocketmq_conformance.suites.declare.topologies import ORDINARY

_MIN = int(Request.GET_MIN_OFFSET)

MUTANTS: list[Mutant] = []


#: The parts of the start suites, by name: each suite kills some of the mutants.
_PLAYED = {"start-push": StartPush, "start-lite-pull": StartLitePull, "start-pull": StartPull}


def _of_all(name: str, defect: str, sentence: str, changed: type, equivalent: str) -> Mutant:
    """A mutant with a fault of all three consumers."""
    parts = {suite: type(changed.__name__, (changed, part), {}) for suite, part in _PLAYED.items()}
    return Mutant(name, defect, sentence, parts, equivalent)


_mutant = Declares(MUTANTS, _of_all)


# --- what is stored ------------------------------------------------------------------------------------------


@_mutant("D05", "Push starts at -1 when it cannot ask.")
class PushUnreadableIsMinusOne(StartPosition):
    def push_unreadable(self, queue: int, where: str) -> int:
        return -1


@_mutant("D05", "Push starts at 0 when it cannot ask.")
class PushUnreadableIsZero(StartPosition):
    def push_unreadable(self, queue: int, where: str) -> int:
        return 0


@_mutant("D01", "Push takes an unreadable offset for a new group.")
class PushUnreadableIsNew(StartPosition):
    def push_unreadable(self, queue: int, where: str) -> int:
        return self.begin(queue, where, None, "UTC") if where != TIMESTAMP else self.max(queue)


@_mutant("D03", "Lite pull takes -1 and -2 for a new group.")
class LiteUnreadableIsNew(StartPosition):
    def lite_unreadable(self, queue: int, where: str) -> int:
        return self.begin(queue, where, None, "UTC") if where != TIMESTAMP else self.max(queue)


@_mutant("D06", "Lite pull throws where it answers -1.")
class LiteUnreadableThrows(StartPosition):
    def lite_unreadable(self, queue: int, where: str) -> int:
        raise NoStartError


@_mutant("D07", "A consumer with stored offset 0 counts as new.")
class ZeroIsNotStored(StartPosition):
    def is_stored(self, offset: int) -> bool:
        return offset > 0


@_mutant("D30", "Push does not read the stored offset.")
class PushNeverAsks(StartPosition):
    def push_stored(self, queue: int) -> int:
        return NO_OFFSET


@_mutant("D74", "Push reads memory before the broker.")
class PushMemoryFirst(StartPosition):
    def push_stored(self, queue: int) -> int:
        return self.store.read(queue, "memory-then-store")


@_mutant("D29", "Push reads memory alone.")
class PushMemoryOnly(StartPosition):
    def push_stored(self, queue: int) -> int:
        return self.store.read(queue, "memory")


@_mutant("D14", "Push reads -2 as -1.")
class PushReadsFailureAsNew(StartPosition):
    def push_stored(self, queue: int) -> int:
        return max(super().push_stored(queue), NO_OFFSET)


@_mutant("D06", "Lite pull asks the broker when memory knows.")
class LiteStoreFirst(StartPosition):
    def lite_stored(self, queue: int) -> int:
        return self.store.read(queue, "store")


@_mutant("D29", "Lite pull never asks the broker.")
class LiteMemoryOnly(StartPosition):
    def lite_stored(self, queue: int) -> int:
        return self.store.read(queue, "memory")


@_mutant("D30", "Lite pull reads no offset at all.")
class LiteNeverReads(StartPosition):
    def lite_stored(self, queue: int) -> int:
        return NO_OFFSET


@_mutant("D30", "FIRST counts more than a stored offset.")
class FirstBeatsStored(StartPosition):
    def push(self, queue: int, where: str, text: str | None, zone: str) -> int:
        return self.begin(queue, where, text, zone) if where == FIRST else super().push(queue, where, text, zone)


@_mutant("D30", "TIMESTAMP counts more than a stored offset.")
class TimeBeatsStored(StartPosition):
    def push(self, queue: int, where: str, text: str | None, zone: str) -> int:
        return self.begin(queue, where, text, zone) if where == TIMESTAMP else super().push(queue, where, text, zone)


@_mutant("D49", "Push starts at a negative offset.")
class PushPassesNegative(StartPosition):
    def usable(self, offset: int) -> int:
        return offset


@_mutant("D49", "Push starts at 0 instead of a negative offset.")
class PushClampsNegative(StartPosition):
    def usable(self, offset: int) -> int:
        return max(offset, 0)


@_mutant("D39", "The start is written to memory before anything is read.")
class StartIsRemembered(StartPosition):
    def begin(self, queue: int, where: str, text: str | None, zone: str) -> int:
        offset = super().begin(queue, where, text, zone)
        self.store.update(queue, offset, False)
        return offset


@_mutant("D54", "Pull starts as lite pull does.")
class PullAsks(StartPosition):
    def pull(self, queue: int, where: str, text: str | None, zone: str) -> int:
        return self.lite_pull(queue, where, text, zone)


@_mutant("D54", "Pull starts at the offset in memory.")
class PullMemory(StartPosition):
    def pull(self, queue: int, where: str, text: str | None, zone: str) -> int:
        return max(self.store.read(queue, "memory"), 0)


@_mutant("D54", "Pull starts at the stored offset.")
class PullReadsStored(StartPosition):
    def pull(self, queue: int, where: str, text: str | None, zone: str) -> int:
        return max(self.push_stored(queue), 0)


# --- where a new queue begins --------------------------------------------------------------------------------


@_mutant("D09", "FIRST starts at min instead of 0.")
class FirstIsMin(StartPosition):
    def first(self, queue: int) -> int:
        return self.bound(queue, _MIN, self.header(queue))


@_mutant("D09", "FIRST starts at max.")
class FirstIsLast(StartPosition):
    def first(self, queue: int) -> int:
        return self.max(queue)


@_mutant("D11", "LAST starts at 0.")
class LastIsZero(StartPosition):
    def last(self, queue: int, where: str) -> int:
        return 0


@_mutant("D12", "LAST starts at the newest message.")
class LastIsNewest(StartPosition):
    def last(self, queue: int, where: str) -> int:
        return max(self.max(queue) - 1, 0)


@_mutant("D12", "LAST starts at the largest number and lets the broker correct.")
class LastIsUnbounded(StartPosition):
    def last(self, queue: int, where: str) -> int:
        return 2**63 - 1


@_mutant("D09", "The deprecated value with MIN in its middle starts at 0.")
class DeprecatedMinIsZero(StartPosition):
    def last(self, queue: int, where: str) -> int:
        return 0 if "_MIN_" in where else super().last(queue, where)


@_mutant("D09", "CONSUME_FROM_MIN_OFFSET starts at min.")
class DeprecatedMinIsMin(StartPosition):
    def last(self, queue: int, where: str) -> int:
        if where == "CONSUME_FROM_MIN_OFFSET":
            return self.bound(queue, _MIN, self.header(queue))
        return super().last(queue, where)


@_mutant("D08", "CONSUME_FROM_MAX_OFFSET ignores the stored offset.")
class DeprecatedMaxIsMax(StartPosition):
    def push(self, queue: int, where: str, text: str | None, zone: str) -> int:
        return self.max(queue) if where == "CONSUME_FROM_MAX_OFFSET" else super().push(queue, where, text, zone)


@_mutant("D55", "The deprecated values give no start.")
class DeprecatedRefused(StartPosition):
    def last(self, queue: int, where: str) -> int:
        if not where.endswith("_LAST_OFFSET"):
            raise NoStartError
        return super().last(queue, where)


@_mutant("D56", "A retry topic starts at max.")
class RetryIsMax(StartPosition):
    def begin_retry(self, queue: int, where: str) -> int:
        return self.max(queue) if where != FIRST else 0


@_mutant("D56", "A retry topic starts as any other.")
class RetryIsOrdinary(StartPosition):
    def is_retry(self, topic: str) -> bool:
        return False


@_mutant("D56", "A retry topic starts at 0 under TIMESTAMP too.")
class RetryByTimeIsZero(StartPosition):
    def begin_retry(self, queue: int, where: str) -> int:
        return 0


@_mutant("D56", "A retry topic without stored offset gives no start.")
class RetryNeverStarts(StartPosition):
    def begin_retry(self, queue: int, where: str) -> int:
        raise NoStartError


@_mutant("D56", "A retry topic starts at max under FIRST.")
class RetryFirstIsMax(StartPosition):
    def begin_retry(self, queue: int, where: str) -> int:
        return self.max(queue) if where == FIRST else super().begin_retry(queue, where)


@_mutant("D56", "A retry topic starts at min instead of 0.")
class RetryIsMin(StartPosition):
    def begin_retry(self, queue: int, where: str) -> int:
        return self.max(queue) if where == TIMESTAMP else self.bound(queue, _MIN, self.header(queue))


# --- asking for bounds ---------------------------------------------------------------------------------------


@_mutant("D05", "A failed max or search gives 0.")
class FailedBoundIsZero(StartPosition):
    def bound_failed(self, queue: int) -> int:
        return 0


@_mutant("D06", "A failed max or search gives -1 in silence.")
class FailedBoundIsMinusOne(StartPosition):
    def bound_failed(self, queue: int) -> int:
        return -1


@_mutant("D74", "A failed max or search gives what memory holds.")
class FailedBoundIsMemory(StartPosition):
    def bound_failed(self, queue: int) -> int:
        return self.store.read(queue, "memory")


@_mutant("D27", "Max and search always ask for queue 0.")
class BoundOfFirstQueue(StartPosition):
    def header(self, queue: int) -> dict[str, str]:
        return super().header(queue) | {"queueId": "0"}


@_mutant("D52", "The request for max asks for min.")
class MaxIsMin(StartPosition):
    def max(self, queue: int) -> int:
        return self.bound(queue, _MIN, self.header(queue))


@_mutant("D91", "Max is the number of messages that are left.")
class MaxIsCount(StartPosition):
    def max(self, queue: int) -> int:
        return super().max(queue) - self.bound(queue, _MIN, self.header(queue))


@_mutant("D55", "TIMESTAMP gives no start.")
class TimeNeverStarts(StartPosition):
    def search_offset(self, queue: int, time: int) -> int:
        raise NoStartError


@_mutant("D52", "TIMESTAMP means LAST.")
class TimeIsLast(StartPosition):
    def search_offset(self, queue: int, time: int) -> int:
        return self.max(queue)


@_mutant("D55", "TIMESTAMP means FIRST.")
class TimeIsFirst(StartPosition):
    def search_offset(self, queue: int, time: int) -> int:
        return 0


@_mutant("D52", "The search asks in seconds.")
class TimeInSeconds(StartPosition):
    def search_offset(self, queue: int, time: int) -> int:
        return super().search_offset(queue, time // 1000)


@_mutant("D52", "The searched time is cut to 32 bits.")
class ShortTime(StartPosition):
    def search_offset(self, queue: int, time: int) -> int:
        return super().search_offset(queue, (time + 2**31) % 2**32 - 2**31)


@_mutant("D47", "The search asks for the millisecond after.")
class NextMillisecond(StartPosition):
    def search_offset(self, queue: int, time: int) -> int:
        return super().search_offset(queue, time + 1)


@_mutant("D48", "The search asks for the upper boundary.")
class UpperBoundary(StartPosition):
    def bound(self, queue: int, code: int, ext: dict[str, str]) -> int:
        return super().bound(queue, code, ext | {"boundaryType": "UPPER"})


@_mutant(
    "D48",
    "The search leaves the boundary to the broker.",
    equivalent="a broker takes a search without boundary for a lower one",
)
class NoBoundary(StartPosition):
    def bound(self, queue: int, code: int, ext: dict[str, str]) -> int:
        return super().bound(queue, code, {name: value for name, value in ext.items() if name != "boundaryType"})


# --- time ----------------------------------------------------------------------------------------------------


@_mutant("D53", "The timestamp is read in UTC.")
class ClockInUtc(StartPosition):
    def instant(self, clock: datetime, zone: str) -> datetime:
        return clock.replace(tzinfo=UTC)


@_mutant("D53", "The timestamp is read with January's clock.")
class NoSummerTime(StartPosition):
    def instant(self, clock: datetime, zone: str) -> datetime:
        january = clock.replace(month=1, day=1)
        return super().instant(january, zone) + (clock - january)


@_mutant("D53", "Zones are cut to whole hours.")
class WholeHours(StartPosition):
    def instant(self, clock: datetime, zone: str) -> datetime:
        ahead = clock.replace(tzinfo=UTC) - super().instant(clock, zone)
        return clock.replace(tzinfo=UTC) - timedelta(hours=ahead // timedelta(hours=1))


@_mutant("D53", "The zone's offset is added instead of subtracted.")
class ZoneReversed(StartPosition):
    def instant(self, clock: datetime, zone: str) -> datetime:
        there = clock.replace(tzinfo=UTC)
        return there + (there - super().instant(clock, zone))


@_mutant("D53", "Of two moments with the same reading the earlier counts.")
class FirstOfTwo(StartPosition):
    def instant(self, clock: datetime, zone: str) -> datetime:
        return clock.replace(tzinfo=ZoneInfo(zone)).astimezone(UTC)


@_mutant("D53", "A skipped reading is read with the new offset.")
class SkippedByNewClock(StartPosition):
    def instant(self, clock: datetime, zone: str) -> datetime:
        return clock.replace(tzinfo=ZoneInfo(zone), fold=1).astimezone(UTC)


@_mutant("D54", "Lite pull reads the timestamp in UTC, and push does not.")
class LitePullInUtc(StartPosition):
    def lite_pull(self, queue: int, where: str, text: str | None, zone: str) -> int:
        return super().lite_pull(queue, where, text, "UTC")


@_mutant("D55", "A field out of its range is no time.")
class StrictClock(StartPosition):
    def clock(self, fields: tuple[int, ...]) -> datetime | None:
        try:
            return datetime(*fields)  # type: ignore[arg-type]
        except ValueError:
            return None


@_mutant("D53", "Months count from 0.")
class MonthFromZero(StartPosition):
    def clock(self, fields: tuple[int, ...]) -> datetime | None:
        return super().clock((fields[0], fields[1] + 1, *fields[2:]))


@_mutant("D53", "Seconds end after two digits.")
class SecondsOfTwoDigits(StartPosition):
    def fields(self, text: str) -> tuple[int, ...] | None:
        return super().fields(text[:14])


@_mutant("D55", "A timestamp of another length than 14 is no time.")
class ExactLength(StartPosition):
    def fields(self, text: str) -> tuple[int, ...] | None:
        return super().fields(text) if len(text) == 14 else None


@_mutant("D55", "A timestamp with trailing text is no time.")
class DigitsOnly(StartPosition):
    def fields(self, text: str) -> tuple[int, ...] | None:
        return super().fields(text) if text.isdigit() else None


@_mutant("D53", "A short timestamp is filled with zeros.")
class ShortIsPadded(StartPosition):
    def fields(self, text: str) -> tuple[int, ...] | None:
        return super().fields(text.ljust(14, "0"))


@_mutant("D55", "An unreadable timestamp is 1970.")
class NoTimeIsZero(StartPosition):
    def time(self, text: str | None, zone: str) -> int:
        try:
            return super().time(text, zone)
        except NoTimeError:
            return 0


@_mutant("D52", "An unreadable timestamp means LAST.")
class NoTimeIsLast(StartPosition):
    def begin(self, queue: int, where: str, text: str | None, zone: str) -> int:
        try:
            return super().begin(queue, where, text, zone)
        except NoTimeError:
            return self.max(queue)


@_mutant("D55", "An unreadable timestamp is a failure of the broker.")
class NoTimeIsNoStart(StartPosition):
    def time(self, text: str | None, zone: str) -> int:
        try:
            return super().time(text, zone)
        except NoTimeError:
            raise NoStartError from None


@_mutant("D56", "A retry topic needs a readable timestamp.")
class RetryReadsTime(StartPosition):
    def begin(self, queue: int, where: str, text: str | None, zone: str) -> int:
        if where == TIMESTAMP and self.is_retry(ORDINARY.queues[queue].topic):
            self.time(text, zone)
        return super().begin(queue, where, text, zone)
