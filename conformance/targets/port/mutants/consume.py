"""Mutants of the port's listeners and process queues, after real defects of clients."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TypeVar

from rocketmq_conformance.conformance.targets.mutant import Mutant
from rocketmq_conformance.conformance.targets.port.consume import LOCAL_DELAY, Batch, Consume, Consumption, Returns
from rocketmq_conformance.conformance.targets.port.process_queue import ProcessQueue, Pulled
from rocketmq_conformance.models.outcome import Result

Listener = TypeVar("Listener", bound=Consumption)


def with_queues(base: type[Listener], process_queue: type[ProcessQueue]) -> type[Listener]:
    """A listener with another class of process queues."""
    return type(process_queue.__name__, (base,), {"queue_class": process_queue})


def _sending(returns: type[Returns]) -> type[Consume]:
    """The listener with another way of sending back."""
    return type(returns.__name__, (Consume,), {"returns_class": returns})


# --- process queues ------------------------------------------------------------------------------------------


class CountsAgain(ProcessQueue):
    def insert(self, message: Pulled) -> None:
        if message.offset in self.messages:
            self.count += 1
        super().insert(message)


class KeepsFirst(ProcessQueue):
    def insert(self, message: Pulled) -> None:
        if message.offset not in self.messages:
            super().insert(message)


class TopIsLargest(ProcessQueue):
    def insert(self, message: Pulled) -> None:
        before = self.top
        super().insert(message)
        self.top = max(before, self.top)


class TopIsLast(ProcessQueue):
    def insert(self, message: Pulled) -> None:
        super().insert(message)
        self.top = message.offset


class AlwaysWakes(ProcessQueue):
    def put(self, pulled: Sequence[Pulled]) -> bool:
        super().put(pulled)
        return True


class CommitsTop(ProcessQueue):
    def lowest(self) -> int:
        return self.top + 1


class CommitsPastLowest(ProcessQueue):
    def lowest(self) -> int:
        return min(self.messages) + 1 if self.messages else self.top + 1


class CommitsLastDone(ProcessQueue):
    def lowest(self) -> int:
        return self.top if not self.messages else min(self.messages)


class EmptyCommits(ProcessQueue):
    def remove(self, done: Sequence[Pulled]) -> int:
        return super().remove(done) if self.messages else self.top + 1


class CommitsDone(ProcessQueue):
    def remove(self, done: Sequence[Pulled]) -> int:
        offset = super().remove(done)
        return offset if offset < 0 or not done else max(message.offset for message in done) + 1


class BytesDrift(ProcessQueue):
    def settle(self) -> None:
        pass


class SpanIsCount(ProcessQueue):
    def look(self) -> tuple[int, int, int, bool]:
        count, size, _, some = super().look()
        return count, size, max(len(self.messages) - 1, 0), some


class KnowsByCount(ProcessQueue):
    def look(self) -> tuple[int, int, int, bool]:
        count, size, span, _ = super().look()
        return count, size, span, count > 1


# --- results -------------------------------------------------------------------------------------------------


class IgnoresIndex(Consume):
    def successes(self, status: str, ack: int | None, count: int) -> int:
        return super().successes(status, None, count)


class IndexIsCount(Consume):
    def successes(self, status: str, ack: int | None, count: int) -> int:
        return super().successes(status, None if ack is None or ack < 0 else ack - 1, count)


class IndexOfFailure(Consume):
    def successes(self, status: str, ack: int | None, count: int) -> int:
        return (
            super().successes(status, ack, count) if ack is None else super().successes("CONSUME_SUCCESS", ack, count)
        )


class NothingIsSuccess(Consume):
    def successes(self, status: str, ack: int | None, count: int) -> int:
        return super().successes("CONSUME_SUCCESS" if status == "null" else status, ack, count)


class ErrorIsSuccess(Consume):
    def successes(self, status: str, ack: int | None, count: int) -> int:
        return super().successes("CONSUME_SUCCESS" if status == "raise" else status, ack, count)


class TooSmallIsNone(Consume):
    def successes(self, status: str, ack: int | None, count: int) -> int:
        return max(0, super().successes(status, ack, count))


class AllOrNothing(Consume):
    def successes(self, status: str, ack: int | None, count: int) -> int:
        succeeded = super().successes(status, ack, count)
        return 0 if 0 <= succeeded < count else succeeded


class DroppedCounts(Consume):
    def counts(self, process_queue: ProcessQueue) -> bool:
        return True


class MayLower(Consume):
    def commit(self, queue: int, offset: int) -> None:
        self.store.update(queue, offset, False)


class NextMayBeZero(Consume):
    def commit(self, queue: int, offset: int) -> None:
        if offset > 1:
            super().commit(queue, offset)


# --- sending back --------------------------------------------------------------------------------------------


class LosesUnsent(Consume):
    def keep(self, process_queue: ProcessQueue, kept: list[Pulled]) -> None:
        kept.clear()


class NeverTriesAgain(Consume):
    def keep(self, process_queue: ProcessQueue, kept: list[Pulled]) -> None:
        for message in kept:
            message.times += 1


class TriesAtOnce(Consume):
    def keep(self, process_queue: ProcessQueue, kept: list[Pulled]) -> None:
        super().keep(process_queue, kept)
        self.tick(0)
        self.waiting.append(self.later.pop()[1])


class TriesUncounted(Consume):
    def keep(self, process_queue: ProcessQueue, kept: list[Pulled]) -> None:
        super().keep(process_queue, kept)
        for message in kept:
            message.times -= 1


class OneUnsentKeepsAll(Consume):
    def give_back(self, batch: Batch, bad: Sequence[Pulled], level: int) -> list[Pulled]:
        return list(bad) if super().give_back(batch, bad, level) else []


class GoneIsSentBack(Consume):
    def is_cached(self, process_queue: ProcessQueue, message: Pulled) -> bool:
        return True


class BroadcastSendsBack(Consume):
    def begin(self, mode: str, max_times: int, batch: int) -> Result:
        super().begin(mode, max_times, batch)
        self.broadcasts = False
        return None


class BroadcastKeeps(Consume):
    def result(self, batch: Batch, succeeded: int, level: int) -> None:
        if self.broadcasts:
            batch.messages = batch.messages[:succeeded]
        super().result(batch, succeeded, level)


class NothingGoesBack(Consume):
    def give_back(self, batch: Batch, bad: Sequence[Pulled], level: int) -> list[Pulled]:
        return []


class NoCopies(Returns):
    def send_copy(self, message: Pulled, most: int) -> bool:
        return False


class OneLevel(Returns):
    def request(self, message: Pulled, level: int) -> dict[str, str]:
        return super().request(message, 0)


class RetryIsOrigin(Returns):
    def topic(self, message: Pulled) -> str:
        return "%RETRY%G" if message.queue == 3 else super().topic(message)


class Endless(Returns):
    def request(self, message: Pulled, level: int) -> dict[str, str]:
        return {**super().request(message, level), "maxReconsumeTimes": str(1 << 31)}


class SameDelay(Returns):
    def delay(self, message: Pulled) -> int:
        return 3


class NewOrigin(Returns):
    def origin(self, message: Pulled) -> str:
        return f"ID-{message.queue}-{message.offset}"


# --- timers --------------------------------------------------------------------------------------------------


class RefusedIsLost(Consume):
    def refused(self, process_queue: ProcessQueue, messages: list[Pulled]) -> None:
        pass


class RefusedRestIsLost(Consume):
    def refused(self, process_queue: ProcessQueue, messages: list[Pulled]) -> None:
        super().refused(process_queue, messages[: self.batch])


class RefusedRestIsCut(Consume):
    def refused(self, process_queue: ProcessQueue, messages: list[Pulled]) -> None:
        for at in range(0, len(messages), self.batch):
            super().refused(process_queue, messages[at : at + self.batch])


class RefusedWaitsTwice(Consume):
    def refused(self, process_queue: ProcessQueue, messages: list[Pulled]) -> None:
        super().refused(process_queue, messages)
        due, batch, refused = self.later.pop()
        self.later.append((due + LOCAL_DELAY, batch, refused))


class RefusedIsKeptOn(Consume):
    def execute_again(self, batch: Batch) -> None:
        if not self.execute(batch):
            self.refused(batch.process_queue, batch.messages)


class NeverLate(Consume):
    def is_late(self, started_at: int) -> bool:
        return False


class LateAtLimit(Consume):
    def is_late(self, started_at: int) -> bool:
        return self.now - started_at >= 900_000


class LateInSeconds(Consume):
    def is_late(self, started_at: int) -> bool:
        return self.now - started_at > 900


class CleanedStays(Consume):
    def cleaned(self, process_queue: ProcessQueue, message: Pulled) -> None:
        message.started_at = None


class CleanedIsCommitted(Consume):
    def cleaned(self, process_queue: ProcessQueue, message: Pulled) -> None:
        self.commit(process_queue.queue, process_queue.remove((message,)))


class CleanedStaysCounted(Consume):
    def cleaned(self, process_queue: ProcessQueue, message: Pulled) -> None:
        process_queue.messages.pop(message.offset)


_with = partial(with_queues, Consume)
_mutant = partial(Mutant.of, "consume")

MUTANTS = (
    _mutant("counts-again", "D94", "A message that is pulled again is counted again.", _with(CountsAgain)),
    _mutant("keeps-first", "D38", "A message that is pulled again does not replace the old one.", _with(KeepsFirst)),
    _mutant(
        "top-is-largest", "D93", "An emptied queue commits the largest offset that it has had.", _with(TopIsLargest)
    ),
    _mutant("top-is-last", "D93", "A known message that is pulled again becomes the top.", _with(TopIsLast)),
    _mutant("always-wakes", "D94", "Every pull starts consumption.", _with(AlwaysWakes)),
    _mutant("commits-top", "D93", "A result commits everything that was pulled.", _with(CommitsTop)),
    _mutant("commits-past-lowest", "D43", "A result commits past the smallest offset left.", _with(CommitsPastLowest)),
    _mutant(
        "commits-last-done", "D43", "An emptied queue commits its last message, not the next.", _with(CommitsLastDone)
    ),
    _mutant("empty-commits", "D39", "A result of messages that are gone commits.", _with(EmptyCommits)),
    _mutant(
        "commits-done",
        "D93",
        "A result commits past its own messages, though earlier ones are not consumed.",
        _with(CommitsDone),
    ),
    _mutant("bytes-drift", "D94", "The bytes of an empty process queue stay wrong.", _with(BytesDrift)),
    _mutant("span-is-count", "D94", "The span is the number of messages.", _with(SpanIsCount)),
    _mutant("knows-by-count", "D94", "A process queue of one message says that there is none.", _with(KnowsByCount)),
    _mutant("ignores-index", "D93", "The index of the last good message is ignored.", IgnoresIndex),
    _mutant("index-is-count", "D43", "The index of the last good message is taken for a count.", IndexIsCount),
    _mutant("index-of-failure", "D93", "The index counts for failures too.", IndexOfFailure),
    _mutant("null-is-success", "D93", "No status is a success.", NothingIsSuccess),
    _mutant("error-is-success", "D93", "A listener that fails succeeds.", ErrorIsSuccess),
    _mutant("too-small-is-none", "D93", "An index below -1 is taken for -1.", TooSmallIsNone),
    _mutant("all-or-nothing", "D93", "One bad message sends all of them back.", AllOrNothing),
    _mutant("dropped-counts", "D41", "The result of a dropped process queue counts.", DroppedCounts),
    _mutant("consume-may-lower", "D41", "A result of a listener can lower the offset.", MayLower),
    _mutant("no-small-offsets", "D43", "Offsets 0 and 1 are not committed.", NextMayBeZero),
    _mutant("loses-unsent", "D93", "A message that could not be sent back is done with.", LosesUnsent),
    _mutant("never-tries-again", "D93", "A message that could not be sent back is never given again.", NeverTriesAgain),
    _mutant("tries-at-once", "D93", "A message that could not be sent back is given again at once.", TriesAtOnce),
    _mutant("tries-uncounted", "D93", "A local try is not counted.", TriesUncounted),
    _mutant("one-unsent-keeps-all", "D93", "One message that could not be sent back keeps all.", OneUnsentKeepsAll),
    _mutant("gone-is-sent-back", "D93", "A message that timed out is sent back again by its listener.", GoneIsSentBack),
    _mutant("broadcast-sends-back", "D75", "A broadcasting consumer sends messages back.", BroadcastSendsBack),
    _mutant("broadcast-keeps", "D75", "A broadcasting consumer never removes bad messages.", BroadcastKeeps),
    _mutant("nothing-goes-back", "D31", "Bad messages are done with and not sent back.", NothingGoesBack),
    _mutant("no-copies", "D93", "A refused request is not made good by a copy.", _sending(NoCopies)),
    _mutant("one-level", "D31", "The delay level of the listener is not sent.", _sending(OneLevel)),
    _mutant(
        "retry-is-origin", "D63", "A message of the retry topic counts as first sent there.", _sending(RetryIsOrigin)
    ),
    _mutant("endless-tries", "D31", "The request says that there is no limit of tries.", _sending(Endless)),
    _mutant("same-delay", "D31", "Copies are not delayed longer from try to try.", _sending(SameDelay)),
    _mutant("new-origin", "D63", "A copy of a copy names the copy.", _sending(NewOrigin)),
    _mutant("refused-is-lost", "D166", "What the executor refuses is given to no listener.", RefusedIsLost),
    _mutant("refused-rest-is-lost", "D166", "What was to come after a refused request is lost.", RefusedRestIsLost),
    _mutant("refused-rest-is-cut", "D166", "What is left after a refusal comes in several requests.", RefusedRestIsCut),
    _mutant("refused-waits-10-s", "D166", "A refused request is given again after 10 s.", RefusedWaitsTwice),
    _mutant("refused-is-kept-on", "D166", "What is refused again is given a third time.", RefusedIsKeptOn),
    _mutant("never-late", "D95", "The timer sends nothing back.", NeverLate),
    _mutant("late-at-limit", "D87", "Exactly 15 minutes are too long.", LateAtLimit),
    _mutant("late-in-seconds", "D87", "A listener may take 900 ms.", LateInSeconds),
    _mutant("cleaned-stays", "D84", "What timed out is sent back and kept.", CleanedStays),
    _mutant("cleaned-is-committed", "D84", "The timer commits.", CleanedIsCommitted),
    _mutant("cleaned-stays-counted", "D94", "What timed out stays counted.", CleanedStaysCounted),
)
