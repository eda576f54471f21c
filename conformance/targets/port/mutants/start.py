"""Mutants of the port's start positions, after real defects of clients."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.targets.mutant import Mutant
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
from rocketmq_conformance.models.client.fixtures import QUEUES

_MIN = int(Request.GET_MIN_OFFSET)

# --- what is stored ------------------------------------------------------------------------------------------


class PushUnreadableIsMinusOne(StartPosition):
    def push_unreadable(self, queue: int, where: str) -> int:
        return -1


class PushUnreadableIsZero(StartPosition):
    def push_unreadable(self, queue: int, where: str) -> int:
        return 0


class PushUnreadableIsNew(StartPosition):
    def push_unreadable(self, queue: int, where: str) -> int:
        return self.begin(queue, where, None, "UTC") if where != TIMESTAMP else self.max(queue)


class LiteUnreadableIsNew(StartPosition):
    def lite_unreadable(self, queue: int, where: str) -> int:
        return self.begin(queue, where, None, "UTC") if where != TIMESTAMP else self.max(queue)


class LiteUnreadableThrows(StartPosition):
    def lite_unreadable(self, queue: int, where: str) -> int:
        raise NoStartError


class ZeroIsNotStored(StartPosition):
    def is_stored(self, offset: int) -> bool:
        return offset > 0


class PushNeverAsks(StartPosition):
    def push_stored(self, queue: int) -> int:
        return NO_OFFSET


class PushMemoryFirst(StartPosition):
    def push_stored(self, queue: int) -> int:
        return self.store.read(queue, "memory-then-store")


class PushMemoryOnly(StartPosition):
    def push_stored(self, queue: int) -> int:
        return self.store.read(queue, "memory")


class PushRefusalIsNew(StartPosition):
    def push_stored(self, queue: int) -> int:
        return max(super().push_stored(queue), NO_OFFSET)


class LiteStoreFirst(StartPosition):
    def lite_stored(self, queue: int) -> int:
        return self.store.read(queue, "store")


class LiteMemoryOnly(StartPosition):
    def lite_stored(self, queue: int) -> int:
        return self.store.read(queue, "memory")


class LiteNeverAsks(StartPosition):
    def lite_stored(self, queue: int) -> int:
        return NO_OFFSET


class FirstBeatsStored(StartPosition):
    def push(self, queue: int, where: str, text: str | None, zone: str) -> int:
        return self.begin(queue, where, text, zone) if where == FIRST else super().push(queue, where, text, zone)


class TimeBeatsStored(StartPosition):
    def push(self, queue: int, where: str, text: str | None, zone: str) -> int:
        return self.begin(queue, where, text, zone) if where == TIMESTAMP else super().push(queue, where, text, zone)


class PushPassesNegative(StartPosition):
    def usable(self, offset: int) -> int:
        return offset


class PushClampsNegative(StartPosition):
    def usable(self, offset: int) -> int:
        return max(offset, 0)


class StartIsRemembered(StartPosition):
    def begin(self, queue: int, where: str, text: str | None, zone: str) -> int:
        offset = super().begin(queue, where, text, zone)
        self.store.update(queue, offset, False)
        return offset


class PullAsks(StartPosition):
    def pull(self, queue: int, where: str, text: str | None, zone: str) -> int:
        return self.lite_pull(queue, where, text, zone)


class PullMemory(StartPosition):
    def pull(self, queue: int, where: str, text: str | None, zone: str) -> int:
        return max(self.store.read(queue, "memory"), 0)


class PullStarts(StartPosition):
    def pull(self, queue: int, where: str, text: str | None, zone: str) -> int:
        return max(self.push_stored(queue), 0)


# --- where a new queue begins --------------------------------------------------------------------------------


class FirstIsMin(StartPosition):
    def first(self, queue: int) -> int:
        return self.bound(queue, _MIN, self.header(queue))


class FirstIsMax(StartPosition):
    def first(self, queue: int) -> int:
        return self.max(queue)


class LastIsZero(StartPosition):
    def last(self, queue: int, where: str) -> int:
        return 0


class LastIsNewest(StartPosition):
    def last(self, queue: int, where: str) -> int:
        return max(self.max(queue) - 1, 0)


class LastIsUnbounded(StartPosition):
    def last(self, queue: int, where: str) -> int:
        return 2**63 - 1


class DeprecatedMin(StartPosition):
    def last(self, queue: int, where: str) -> int:
        return 0 if "_MIN_" in where else super().last(queue, where)


class DeprecatedMinAsksMin(StartPosition):
    def last(self, queue: int, where: str) -> int:
        if where == "CONSUME_FROM_MIN_OFFSET":
            return self.bound(queue, _MIN, self.header(queue))
        return super().last(queue, where)


class DeprecatedMax(StartPosition):
    def push(self, queue: int, where: str, text: str | None, zone: str) -> int:
        return self.max(queue) if where == "CONSUME_FROM_MAX_OFFSET" else super().push(queue, where, text, zone)


class DeprecatedRefused(StartPosition):
    def last(self, queue: int, where: str) -> int:
        if not where.endswith("_LAST_OFFSET"):
            raise NoStartError
        return super().last(queue, where)


class RetryIsMax(StartPosition):
    def begin_retry(self, queue: int, where: str) -> int:
        return self.max(queue) if where != FIRST else 0


class RetryIsOrdinary(StartPosition):
    def is_retry(self, topic: str) -> bool:
        return False


class RetryByTimeIsZero(StartPosition):
    def begin_retry(self, queue: int, where: str) -> int:
        return 0


class RetryNeverStarts(StartPosition):
    def begin_retry(self, queue: int, where: str) -> int:
        raise NoStartError


class RetryFirstIsMax(StartPosition):
    def begin_retry(self, queue: int, where: str) -> int:
        return self.max(queue) if where == FIRST else super().begin_retry(queue, where)


class RetryIsMin(StartPosition):
    def begin_retry(self, queue: int, where: str) -> int:
        return self.max(queue) if where == TIMESTAMP else self.bound(queue, _MIN, self.header(queue))


# --- asking for bounds ---------------------------------------------------------------------------------------


class FailedBoundIsZero(StartPosition):
    def bound_failed(self, queue: int) -> int:
        return 0


class FailedBoundIsMinusOne(StartPosition):
    def bound_failed(self, queue: int) -> int:
        return -1


class FailedBoundIsMemory(StartPosition):
    def bound_failed(self, queue: int) -> int:
        return self.store.read(queue, "memory")


class BoundOfFirstQueue(StartPosition):
    def header(self, queue: int) -> dict[str, str]:
        return super().header(queue) | {"queueId": "0"}


class MaxIsMin(StartPosition):
    def max(self, queue: int) -> int:
        return self.bound(queue, _MIN, self.header(queue))


class MaxIsCount(StartPosition):
    def max(self, queue: int) -> int:
        return super().max(queue) - self.bound(queue, _MIN, self.header(queue))


class TimeNeverStarts(StartPosition):
    def search_offset(self, queue: int, time: int) -> int:
        raise NoStartError


class TimeIsLast(StartPosition):
    def search_offset(self, queue: int, time: int) -> int:
        return self.max(queue)


class TimeIsFirst(StartPosition):
    def search_offset(self, queue: int, time: int) -> int:
        return 0


class TimeInSeconds(StartPosition):
    def search_offset(self, queue: int, time: int) -> int:
        return super().search_offset(queue, time // 1000)


class ShortTime(StartPosition):
    def search_offset(self, queue: int, time: int) -> int:
        return super().search_offset(queue, (time + 2**31) % 2**32 - 2**31)


class NextMillisecond(StartPosition):
    def search_offset(self, queue: int, time: int) -> int:
        return super().search_offset(queue, time + 1)


class UpperBoundary(StartPosition):
    def bound(self, queue: int, code: int, ext: dict[str, str]) -> int:
        return super().bound(queue, code, ext | {"boundaryType": "UPPER"})


class NoBoundary(StartPosition):
    def bound(self, queue: int, code: int, ext: dict[str, str]) -> int:
        return super().bound(queue, code, {name: value for name, value in ext.items() if name != "boundaryType"})


# --- time ----------------------------------------------------------------------------------------------------


class ClockInUtc(StartPosition):
    def instant(self, clock: datetime, zone: str) -> datetime:
        return clock.replace(tzinfo=UTC)


class NoSummerTime(StartPosition):
    def instant(self, clock: datetime, zone: str) -> datetime:
        january = clock.replace(month=1, day=1)
        return super().instant(january, zone) + (clock - january)


class WholeHours(StartPosition):
    def instant(self, clock: datetime, zone: str) -> datetime:
        ahead = clock.replace(tzinfo=UTC) - super().instant(clock, zone)
        return clock.replace(tzinfo=UTC) - timedelta(hours=ahead // timedelta(hours=1))


class ZoneReversed(StartPosition):
    def instant(self, clock: datetime, zone: str) -> datetime:
        there = clock.replace(tzinfo=UTC)
        return there + (there - super().instant(clock, zone))


class FirstOfTwo(StartPosition):
    def instant(self, clock: datetime, zone: str) -> datetime:
        return clock.replace(tzinfo=ZoneInfo(zone)).astimezone(UTC)


class SkippedByNewClock(StartPosition):
    def instant(self, clock: datetime, zone: str) -> datetime:
        return clock.replace(tzinfo=ZoneInfo(zone), fold=1).astimezone(UTC)


class LitePullInUtc(StartPosition):
    def lite_pull(self, queue: int, where: str, text: str | None, zone: str) -> int:
        return super().lite_pull(queue, where, text, "UTC")


class StrictClock(StartPosition):
    def clock(self, fields: tuple[int, ...]) -> datetime | None:
        try:
            return datetime(*fields)  # type: ignore[arg-type]
        except ValueError:
            return None


class MonthFromZero(StartPosition):
    def clock(self, fields: tuple[int, ...]) -> datetime | None:
        return super().clock((fields[0], fields[1] + 1, *fields[2:]))


class SecondsOfTwoDigits(StartPosition):
    def fields(self, text: str) -> tuple[int, ...] | None:
        return super().fields(text[:14])


class ExactLength(StartPosition):
    def fields(self, text: str) -> tuple[int, ...] | None:
        return super().fields(text) if len(text) == 14 else None


class DigitsOnly(StartPosition):
    def fields(self, text: str) -> tuple[int, ...] | None:
        return super().fields(text) if text.isdigit() else None


class ShortIsPadded(StartPosition):
    def fields(self, text: str) -> tuple[int, ...] | None:
        return super().fields(text.ljust(14, "0"))


class NoTimeIsZero(StartPosition):
    def time(self, text: str | None, zone: str) -> int:
        try:
            return super().time(text, zone)
        except NoTimeError:
            return 0


class NoTimeIsLast(StartPosition):
    def begin(self, queue: int, where: str, text: str | None, zone: str) -> int:
        try:
            return super().begin(queue, where, text, zone)
        except NoTimeError:
            return self.max(queue)


class NoTimeIsNoStart(StartPosition):
    def time(self, text: str | None, zone: str) -> int:
        try:
            return super().time(text, zone)
        except NoTimeError:
            raise NoStartError from None


class RetryReadsTime(StartPosition):
    def begin(self, queue: int, where: str, text: str | None, zone: str) -> int:
        if where == TIMESTAMP and self.is_retry(QUEUES[queue].topic):
            self.time(text, zone)
        return super().begin(queue, where, text, zone)


#: The parts of the start suites, by name: each suite kills some of the mutants.
_PLAYED = {"start-push": StartPush, "start-lite-pull": StartLitePull, "start-pull": StartPull}


def _mutant(name: str, defect: str, sentence: str, changed: type[StartPosition], equivalent: str = "") -> Mutant:
    """A mutant with a fault of all three consumers."""
    parts = {suite: type(changed.__name__, (changed, part), {}) for suite, part in _PLAYED.items()}
    return Mutant(name, defect, sentence, parts, equivalent)


MUTANTS: tuple[Mutant, ...] = (
    _mutant("push-unreadable-is-minus-one", "D05", "Push starts at -1 when it cannot ask.", PushUnreadableIsMinusOne),
    _mutant("push-unreadable-is-zero", "D05", "Push starts at 0 when it cannot ask.", PushUnreadableIsZero),
    _mutant("push-unreadable-is-new", "D01", "Push takes an unreadable offset for a new group.", PushUnreadableIsNew),
    _mutant("push-reads-failure-as-new", "D14", "Push reads -2 as -1.", PushRefusalIsNew),
    _mutant("lite-unreadable-is-new", "D03", "Lite pull takes -1 and -2 for a new group.", LiteUnreadableIsNew),
    _mutant("lite-unreadable-throws", "D06", "Lite pull throws where it answers -1.", LiteUnreadableThrows),
    _mutant("zero-is-not-stored", "D07", "A consumer with stored offset 0 counts as new.", ZeroIsNotStored),
    _mutant("push-never-asks", "D30", "Push does not read the stored offset.", PushNeverAsks),
    _mutant("push-memory-first", "D74", "Push reads memory before the broker.", PushMemoryFirst),
    _mutant("push-memory-only", "D29", "Push reads memory alone.", PushMemoryOnly),
    _mutant("lite-store-first", "D06", "Lite pull asks the broker when memory knows.", LiteStoreFirst),
    _mutant("lite-memory-only", "D29", "Lite pull never asks the broker.", LiteMemoryOnly),
    _mutant("lite-never-reads", "D30", "Lite pull reads no offset at all.", LiteNeverAsks),
    _mutant("first-beats-stored", "D30", "FIRST counts more than a stored offset.", FirstBeatsStored),
    _mutant("time-beats-stored", "D30", "TIMESTAMP counts more than a stored offset.", TimeBeatsStored),
    _mutant("push-passes-negative", "D49", "Push starts at a negative offset.", PushPassesNegative),
    _mutant("push-clamps-negative", "D49", "Push starts at 0 instead of a negative offset.", PushClampsNegative),
    _mutant("start-is-remembered", "D39", "The start is written to memory before anything is read.", StartIsRemembered),
    _mutant("pull-asks", "D54", "Pull starts as lite pull does.", PullAsks),
    _mutant("pull-memory", "D54", "Pull starts at the offset in memory.", PullMemory),
    _mutant("pull-reads-stored", "D54", "Pull starts at the stored offset.", PullStarts),
    _mutant("first-is-min", "D09", "FIRST starts at min instead of 0.", FirstIsMin),
    _mutant("first-is-last", "D09", "FIRST starts at max.", FirstIsMax),
    _mutant("last-is-zero", "D11", "LAST starts at 0.", LastIsZero),
    _mutant("last-is-newest", "D12", "LAST starts at the newest message.", LastIsNewest),
    _mutant(
        "last-is-unbounded", "D12", "LAST starts at the largest number and lets the broker correct.", LastIsUnbounded
    ),
    _mutant("deprecated-min-is-zero", "D09", "The deprecated value with MIN in its middle starts at 0.", DeprecatedMin),
    _mutant("deprecated-min-is-min", "D09", "CONSUME_FROM_MIN_OFFSET starts at min.", DeprecatedMinAsksMin),
    _mutant("deprecated-max-is-max", "D08", "CONSUME_FROM_MAX_OFFSET ignores the stored offset.", DeprecatedMax),
    _mutant("deprecated-refused", "D55", "The deprecated values give no start.", DeprecatedRefused),
    _mutant("retry-is-max", "D56", "A retry topic starts at max.", RetryIsMax),
    _mutant("retry-is-ordinary", "D56", "A retry topic starts as any other.", RetryIsOrdinary),
    _mutant("retry-by-time-is-zero", "D56", "A retry topic starts at 0 under TIMESTAMP too.", RetryByTimeIsZero),
    _mutant("retry-never-starts", "D56", "A retry topic without stored offset gives no start.", RetryNeverStarts),
    _mutant("retry-first-is-max", "D56", "A retry topic starts at max under FIRST.", RetryFirstIsMax),
    _mutant("retry-is-min", "D56", "A retry topic starts at min instead of 0.", RetryIsMin),
    _mutant("failed-bound-is-zero", "D05", "A failed max or search gives 0.", FailedBoundIsZero),
    _mutant("failed-bound-is-minus-one", "D06", "A failed max or search gives -1 in silence.", FailedBoundIsMinusOne),
    _mutant(
        "failed-bound-is-memory",
        "D74",
        "A failed max or search gives what memory holds.",
        FailedBoundIsMemory,
    ),
    _mutant("bound-of-first-queue", "D27", "Max and search always ask for queue 0.", BoundOfFirstQueue),
    _mutant("max-is-min", "D52", "The request for max asks for min.", MaxIsMin),
    _mutant("max-is-count", "D91", "Max is the number of messages that are left.", MaxIsCount),
    _mutant("time-never-starts", "D55", "TIMESTAMP gives no start.", TimeNeverStarts),
    _mutant("time-is-last", "D52", "TIMESTAMP means LAST.", TimeIsLast),
    _mutant("time-is-first", "D55", "TIMESTAMP means FIRST.", TimeIsFirst),
    _mutant("time-in-seconds", "D52", "The search asks in seconds.", TimeInSeconds),
    _mutant("short-time", "D52", "The searched time is cut to 32 bits.", ShortTime),
    _mutant("next-millisecond", "D47", "The search asks for the millisecond after.", NextMillisecond),
    _mutant("upper-boundary", "D48", "The search asks for the upper boundary.", UpperBoundary),
    _mutant(
        "no-boundary",
        "D48",
        "The search leaves the boundary to the broker.",
        NoBoundary,
        equivalent="a broker takes a search without boundary for a lower one",
    ),
    _mutant("clock-in-utc", "D53", "The timestamp is read in UTC.", ClockInUtc),
    _mutant("no-summer-time", "D53", "The timestamp is read with January's clock.", NoSummerTime),
    _mutant("whole-hours", "D53", "Zones are cut to whole hours.", WholeHours),
    _mutant("zone-reversed", "D53", "The zone's offset is added instead of subtracted.", ZoneReversed),
    _mutant("first-of-two", "D53", "Of two moments with the same reading the earlier counts.", FirstOfTwo),
    _mutant("skipped-by-new-clock", "D53", "A skipped reading is read with the new offset.", SkippedByNewClock),
    _mutant("lite-pull-in-utc", "D54", "Lite pull reads the timestamp in UTC, and push does not.", LitePullInUtc),
    _mutant("strict-clock", "D55", "A field out of its range is no time.", StrictClock),
    _mutant("month-from-zero", "D53", "Months count from 0.", MonthFromZero),
    _mutant("seconds-of-two-digits", "D53", "Seconds end after two digits.", SecondsOfTwoDigits),
    _mutant("exact-length", "D55", "A timestamp of another length than 14 is no time.", ExactLength),
    _mutant("digits-only", "D55", "A timestamp with trailing text is no time.", DigitsOnly),
    _mutant("short-is-padded", "D53", "A short timestamp is filled with zeros.", ShortIsPadded),
    _mutant("no-time-is-zero", "D55", "An unreadable timestamp is 1970.", NoTimeIsZero),
    _mutant("no-time-is-last", "D52", "An unreadable timestamp means LAST.", NoTimeIsLast),
    _mutant("no-time-is-no-start", "D55", "An unreadable timestamp is a failure of the broker.", NoTimeIsNoStart),
    _mutant("retry-reads-time", "D56", "A retry topic needs a readable timestamp.", RetryReadsTime),
)
