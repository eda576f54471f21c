"""Mutants of the port's listeners and process queues, after real defects of clients."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TypeVar

from rocketmq_conformance.conformance.targets.mutant import Mutant, declared
from rocketmq_conformance.conformance.targets.port.consume import LOCAL_DELAY, Batch, Consume, Consumption, Returns
from rocketmq_conformance.conformance.targets.port.process_queue import ProcessQueue, Pulled
from rocketmq_conformance.models.outcome import Result

Listener = TypeVar("Listener", bound=Consumption)

MUTANTS: list[Mutant] = []
_mutant = declared(MUTANTS, "consume")


def with_queues(base: type[Listener], process_queue: type[ProcessQueue]) -> type[Listener]:
    """A listener with another class of process queues."""
    return type(process_queue.__name__, (base,), {"queue_class": process_queue})


def _sending(returns: type[Returns]) -> type[Consume]:
    """The listener with another way of sending back."""
    return type(returns.__name__, (Consume,), {"returns_class": returns})


_queues = declared(MUTANTS, "consume").of(partial(with_queues, Consume))
_sending_back = declared(MUTANTS, "consume").of(_sending)


# --- process queues ------------------------------------------------------------------------------------------


@_queues("D94", "A message that is pulled again is counted again.")
class CountsAgain(ProcessQueue):
    def insert(self, message: Pulled) -> None:
        if message.offset in self.messages:
            self.count += 1
        super().insert(message)


@_queues("D38", "A message that is pulled again does not replace the old one.")
class KeepsFirst(ProcessQueue):
    def insert(self, message: Pulled) -> None:
        if message.offset not in self.messages:
            super().insert(message)


@_queues("D93", "An emptied queue commits the largest offset that it has had.")
class TopIsLargest(ProcessQueue):
    def insert(self, message: Pulled) -> None:
        before = self.top
        super().insert(message)
        self.top = max(before, self.top)


@_queues("D93", "A known message that is pulled again becomes the top.")
class TopIsLast(ProcessQueue):
    def insert(self, message: Pulled) -> None:
        super().insert(message)
        self.top = message.offset


@_queues("D94", "Every pull starts consumption.")
class AlwaysWakes(ProcessQueue):
    def put(self, pulled: Sequence[Pulled]) -> bool:
        super().put(pulled)
        return True


@_queues("D93", "A result commits everything that was pulled.")
class CommitsTop(ProcessQueue):
    def lowest(self) -> int:
        return self.top + 1


@_queues("D43", "A result commits past the smallest offset left.")
class CommitsPastLowest(ProcessQueue):
    def lowest(self) -> int:
        return min(self.messages) + 1 if self.messages else self.top + 1


@_queues("D43", "An emptied queue commits its last message, not the next.")
class CommitsLastDone(ProcessQueue):
    def lowest(self) -> int:
        return self.top if not self.messages else min(self.messages)


@_queues("D39", "A result of messages that are gone commits.")
class EmptyCommits(ProcessQueue):
    def remove(self, done: Sequence[Pulled]) -> int:
        return super().remove(done) if self.messages else self.top + 1


@_queues("D93", "A result commits past its own messages, though earlier ones are not consumed.")
class CommitsDone(ProcessQueue):
    def remove(self, done: Sequence[Pulled]) -> int:
        offset = super().remove(done)
        return offset if offset < 0 or not done else max(message.offset for message in done) + 1


@_queues("D94", "The bytes of an empty process queue stay wrong.")
class BytesDrift(ProcessQueue):
    def settle(self) -> None:
        pass


@_queues("D94", "The span is the number of messages.")
class SpanIsCount(ProcessQueue):
    def look(self) -> tuple[int, int, int, bool]:
        count, size, _, some = super().look()
        return count, size, max(len(self.messages) - 1, 0), some


@_queues("D94", "A process queue of one message says that there is none.")
class KnowsByCount(ProcessQueue):
    def look(self) -> tuple[int, int, int, bool]:
        count, size, span, _ = super().look()
        return count, size, span, count > 1


# --- results -------------------------------------------------------------------------------------------------


@_mutant("D93", "The index of the last good message is ignored.")
class IgnoresIndex(Consume):
    def successes(self, status: str, ack: int | None, count: int) -> int:
        return super().successes(status, None, count)


@_mutant("D43", "The index of the last good message is taken for a count.")
class IndexIsCount(Consume):
    def successes(self, status: str, ack: int | None, count: int) -> int:
        return super().successes(status, None if ack is None or ack < 0 else ack - 1, count)


@_mutant("D93", "The index counts for failures too.")
class IndexOfFailure(Consume):
    def successes(self, status: str, ack: int | None, count: int) -> int:
        return (
            super().successes(status, ack, count) if ack is None else super().successes("CONSUME_SUCCESS", ack, count)
        )


@_mutant("D93", "No status is a success.")
class NullIsSuccess(Consume):
    def successes(self, status: str, ack: int | None, count: int) -> int:
        return super().successes("CONSUME_SUCCESS" if status == "null" else status, ack, count)


@_mutant("D93", "A listener that fails succeeds.")
class ErrorIsSuccess(Consume):
    def successes(self, status: str, ack: int | None, count: int) -> int:
        return super().successes("CONSUME_SUCCESS" if status == "raise" else status, ack, count)


@_mutant("D93", "An index below -1 is taken for -1.")
class TooSmallIsNone(Consume):
    def successes(self, status: str, ack: int | None, count: int) -> int:
        return max(0, super().successes(status, ack, count))


@_mutant("D93", "One bad message sends all of them back.")
class AllOrNothing(Consume):
    def successes(self, status: str, ack: int | None, count: int) -> int:
        succeeded = super().successes(status, ack, count)
        return 0 if 0 <= succeeded < count else succeeded


@_mutant("D41", "The result of a dropped process queue counts.")
class DroppedCounts(Consume):
    def counts(self, process_queue: ProcessQueue) -> bool:
        return True


@_mutant("D41", "A result of a listener can lower the offset.")
class ConsumeMayLower(Consume):
    def commit(self, queue: int, offset: int) -> None:
        self.store.update(queue, offset, False)


@_mutant("D43", "Offsets 0 and 1 are not committed.")
class NoSmallOffsets(Consume):
    def commit(self, queue: int, offset: int) -> None:
        if offset > 1:
            super().commit(queue, offset)


# --- sending back --------------------------------------------------------------------------------------------


@_mutant("D93", "A message that could not be sent back is done with.")
class LosesUnsent(Consume):
    def keep(self, process_queue: ProcessQueue, kept: list[Pulled]) -> None:
        kept.clear()


@_mutant("D93", "A message that could not be sent back is never given again.")
class NeverTriesAgain(Consume):
    def keep(self, process_queue: ProcessQueue, kept: list[Pulled]) -> None:
        for message in kept:
            message.times += 1


@_mutant("D93", "A message that could not be sent back is given again at once.")
class TriesAtOnce(Consume):
    def keep(self, process_queue: ProcessQueue, kept: list[Pulled]) -> None:
        super().keep(process_queue, kept)
        self.tick(0)
        self.waiting.append(self.later.pop()[1])


@_mutant("D93", "A local try is not counted.")
class TriesUncounted(Consume):
    def keep(self, process_queue: ProcessQueue, kept: list[Pulled]) -> None:
        super().keep(process_queue, kept)
        for message in kept:
            message.times -= 1


@_mutant("D93", "One message that could not be sent back keeps all.")
class OneUnsentKeepsAll(Consume):
    def give_back(self, batch: Batch, bad: Sequence[Pulled], level: int) -> list[Pulled]:
        return list(bad) if super().give_back(batch, bad, level) else []


@_mutant("D93", "A message that timed out is sent back again by its listener.")
class GoneIsSentBack(Consume):
    def is_cached(self, process_queue: ProcessQueue, message: Pulled) -> bool:
        return True


@_mutant("D75", "A broadcasting consumer sends messages back.")
class BroadcastSendsBack(Consume):
    def begin(self, mode: str, max_times: int, batch: int) -> Result:
        super().begin(mode, max_times, batch)
        self.broadcasts = False
        return None


@_mutant("D75", "A broadcasting consumer never removes bad messages.")
class BroadcastKeeps(Consume):
    def result(self, batch: Batch, succeeded: int, level: int) -> None:
        if self.broadcasts:
            batch.messages = batch.messages[:succeeded]
        super().result(batch, succeeded, level)


@_mutant("D31", "Bad messages are done with and not sent back.")
class NothingGoesBack(Consume):
    def give_back(self, batch: Batch, bad: Sequence[Pulled], level: int) -> list[Pulled]:
        return []


@_sending_back("D93", "A refused request is not made good by a copy.")
class NoCopies(Returns):
    def send_copy(self, message: Pulled, most: int) -> bool:
        return False


@_sending_back("D31", "The delay level of the listener is not sent.")
class OneLevel(Returns):
    def request(self, message: Pulled, level: int) -> dict[str, str]:
        return super().request(message, 0)


@_sending_back("D63", "A message of the retry topic counts as first sent there.")
class RetryIsOrigin(Returns):
    def topic(self, message: Pulled) -> str:
        return "%RETRY%G" if message.queue == 3 else super().topic(message)


@_sending_back("D31", "The request says that there is no limit of tries.")
class EndlessTries(Returns):
    def request(self, message: Pulled, level: int) -> dict[str, str]:
        return {**super().request(message, level), "maxReconsumeTimes": str(1 << 31)}


@_sending_back("D31", "Copies are not delayed longer from try to try.")
class SameDelay(Returns):
    def delay(self, message: Pulled) -> int:
        return 3


@_sending_back("D63", "A copy of a copy names the copy.")
class NewOrigin(Returns):
    def origin(self, message: Pulled) -> str:
        return f"ID-{message.queue}-{message.offset}"


# --- timers --------------------------------------------------------------------------------------------------


@_mutant("D166", "What the executor refuses is given to no listener.")
class RefusedIsLost(Consume):
    def refused(self, process_queue: ProcessQueue, messages: list[Pulled]) -> None:
        pass


@_mutant("D166", "What was to come after a refused request is lost.")
class RefusedRestIsLost(Consume):
    def refused(self, process_queue: ProcessQueue, messages: list[Pulled]) -> None:
        super().refused(process_queue, messages[: self.batch])


@_mutant("D166", "What is left after a refusal comes in several requests.")
class RefusedRestIsCut(Consume):
    def refused(self, process_queue: ProcessQueue, messages: list[Pulled]) -> None:
        for at in range(0, len(messages), self.batch):
            super().refused(process_queue, messages[at : at + self.batch])


@_mutant("D166", "A refused request is given again after 10 s.")
class RefusedWaits10S(Consume):
    def refused(self, process_queue: ProcessQueue, messages: list[Pulled]) -> None:
        super().refused(process_queue, messages)
        due, batch, refused = self.later.pop()
        self.later.append((due + LOCAL_DELAY, batch, refused))


@_mutant("D166", "What is refused again is given a third time.")
class RefusedIsKeptOn(Consume):
    def execute_again(self, batch: Batch) -> None:
        if not self.execute(batch):
            self.refused(batch.process_queue, batch.messages)


@_mutant("D95", "The timer sends nothing back.")
class NeverLate(Consume):
    def is_late(self, started_at: int) -> bool:
        return False


@_mutant("D87", "Exactly 15 minutes are too long.")
class LateAtLimit(Consume):
    def is_late(self, started_at: int) -> bool:
        return self.now - started_at >= 900_000


@_mutant("D87", "A listener may take 900 ms.")
class LateInSeconds(Consume):
    def is_late(self, started_at: int) -> bool:
        return self.now - started_at > 900


@_mutant("D84", "What timed out is sent back and kept.")
class CleanedStays(Consume):
    def cleaned(self, process_queue: ProcessQueue, message: Pulled) -> None:
        message.started_at = None


@_mutant("D84", "The timer commits.")
class CleanedIsCommitted(Consume):
    def cleaned(self, process_queue: ProcessQueue, message: Pulled) -> None:
        self.commit(process_queue.queue, process_queue.remove((message,)))


@_mutant("D94", "What timed out stays counted.")
class CleanedStaysCounted(Consume):
    def cleaned(self, process_queue: ProcessQueue, message: Pulled) -> None:
        process_queue.messages.pop(message.offset)
