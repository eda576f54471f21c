"""Mutants of the port's orderly listener, after real defects of clients."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from rocketmq_conformance.conformance.targets.mutant import Mutant, declared
from rocketmq_conformance.conformance.targets.port.consume import Returns
from rocketmq_conformance.conformance.targets.port.consume_orderly import ConsumeOrderly
from rocketmq_conformance.conformance.targets.port.mutants.consume import with_queues
from rocketmq_conformance.conformance.targets.port.process_queue import ProcessQueue, Pulled
from rocketmq_conformance.models.outcome import Result

MUTANTS: list[Mutant] = []
_mutant = declared(MUTANTS, "consume-orderly")


_queues = declared(MUTANTS, "consume-orderly").of(partial(with_queues, ConsumeOrderly))


class _Misread(ConsumeOrderly):
    """Takes a result of the listener for another one."""

    def result(
        self, process_queue: ProcessQueue, messages: list[Pulled], status: str, automatic: bool, suspension: int
    ) -> bool:
        status, automatic = self.read(status, automatic)
        return super().result(process_queue, messages, status, automatic, suspension)

    def read(self, status: str, automatic: bool) -> tuple[str, bool]:
        """The status, and whether commits are automatic, as the mutant has them."""
        return status, automatic


# --- process queues ------------------------------------------------------------------------------------------


@_queues("D94", "Messages that are taken are not counted.")
class AsideIsNotCounted(ProcessQueue):
    def take(self, most: int) -> list[Pulled]:
        taken = super().take(most)
        self.count -= len(taken)
        return taken

    def commit(self) -> int:
        self.count += len(self.aside)
        return super().commit()

    def rollback(self) -> None:
        self.count += len(self.aside)
        super().rollback()

    def put_back(self, messages: Sequence[Pulled]) -> None:
        self.count += len(messages)
        super().put_back(messages)


@_queues("D95", "A queue that was emptied never begins another run.")
class StaysBusy(ProcessQueue):
    def take(self, most: int) -> list[Pulled]:
        taken = super().take(most)
        self.consuming = True
        return taken


@_queues("D78", "Batches are taken in the order of the pulls.")
class TakesInPulledOrder(ProcessQueue):
    def take(self, most: int) -> list[Pulled]:
        taken = [self.messages.pop(offset) for offset in list(self.messages)[:most]]
        self.aside.update({message.offset: message for message in taken})
        self.consuming = bool(taken)
        return taken


@_queues("D78", "The batch size is ignored.")
class TakesOneByOne(ProcessQueue):
    def take(self, most: int) -> list[Pulled]:
        return super().take(1)


@_queues("D36", "A commit of nothing commits 0.")
class EmptyCommitIs0(ProcessQueue):
    def commit(self) -> int:
        return super().commit() if self.aside else 0


@_queues("D43", "A commit answers the last offset, not the next.")
class CommitsLastTaken(ProcessQueue):
    def commit(self) -> int:
        return super().commit() - 1


@_queues("D93", "A commit answers the first offset that was taken.")
class CommitsFirstTaken(ProcessQueue):
    def commit(self) -> int:
        first = min(self.aside) + 1
        super().commit()
        return first


@_queues("D94", "A commit does not take bytes off.")
class CommitKeepsBytes(ProcessQueue):
    def commit(self) -> int:
        before = self.bytes
        offset = super().commit()
        self.bytes = before
        return offset


@_queues("D93", "What is put back stays aside and is committed.")
class PutBackTwice(ProcessQueue):
    def put_back(self, messages: Sequence[Pulled]) -> None:
        for message in messages:
            self.messages[message.offset] = message


@_queues("D40", "A suspension rolls back earlier batches too.")
class PutsAllBack(ProcessQueue):
    def put_back(self, messages: Sequence[Pulled]) -> None:
        super().put_back(messages)
        self.rollback()


@_queues("D60", "A reset lets a second run begin.")
class ClearWakes(ProcessQueue):
    def clear(self) -> None:
        super().clear()
        self.consuming = False


@_queues("D60", "A reset leaves what the listener has to be committed.")
class ClearLeavesAside(ProcessQueue):
    def clear(self) -> None:
        aside = dict(self.aside)
        super().clear()
        self.aside = aside


# --- results -------------------------------------------------------------------------------------------------


@_mutant("D41", "An orderly commit never lowers the offset.")
class OrderlyIncreases(ConsumeOrderly):
    def commit(self, process_queue: ProcessQueue, offset: int) -> None:
        if not process_queue.dropped:
            self.store.update(process_queue.queue, offset, True)


@_mutant("D41", "A commit of a dropped process queue counts.")
class LateCommitCounts(ConsumeOrderly):
    def commit(self, process_queue: ProcessQueue, offset: int) -> None:
        self.store.update(process_queue.queue, offset, False)


@_mutant("D40", "Every success commits.")
class AlwaysAutomatic(_Misread):
    def read(self, status: str, automatic: bool) -> tuple[str, bool]:
        return status, True


@_mutant("D40", "Nothing commits but COMMIT.")
class NeverAutomatic(_Misread):
    def read(self, status: str, automatic: bool) -> tuple[str, bool]:
        return status, False


@_mutant("D40", "ROLLBACK rolls back with automatic commit too.")
class RollsBackAlways(_Misread):
    def read(self, status: str, automatic: bool) -> tuple[str, bool]:
        return status, automatic and status != "ROLLBACK"


@_mutant("D40", "A rollback puts back the last batch only.")
class RollsBackBatch(ConsumeOrderly):
    def roll_back(self, process_queue: ProcessQueue, messages: Sequence[Pulled]) -> None:
        process_queue.put_back(messages)


@_mutant("D40", "A rollback puts nothing back.")
class RollbackDrops(ConsumeOrderly):
    def roll_back(self, process_queue: ProcessQueue, messages: Sequence[Pulled]) -> None:
        pass


@_mutant("D93", "No status and exceptions are successes.")
class FailuresGoOn(_Misread):
    def read(self, status: str, automatic: bool) -> tuple[str, bool]:
        return "SUCCESS" if status in ("null", "raise") else status, automatic


@_mutant("D31", "A message that was tried too often is sent nowhere.")
class SpentIsLost(ConsumeOrderly):
    def send_on(self, message: Pulled) -> bool:
        return True


@_mutant("D43", "A message is tried once more than allowed.")
class SpentTriesOnceMore(ConsumeOrderly):
    def is_spent(self, message: Pulled) -> bool:
        return message.times > self.limit


@_mutant("D95", "A message is tried without end.")
class NeverSpent(ConsumeOrderly):
    def is_spent(self, message: Pulled) -> bool:
        return False


@_mutant("D93", "One message that is sent on ends its batch.")
class OneSpentEndsBatch(ConsumeOrderly):
    def is_tried_again(self, messages: Sequence[Pulled]) -> bool:
        spent = any(self.is_spent(message) for message in messages)
        return super().is_tried_again(messages) and not spent


@_mutant("D95", "A suspension is not counted as a try.")
class OrderlyTriesUncounted(ConsumeOrderly):
    def is_tried_again(self, messages: Sequence[Pulled]) -> bool:
        before = [message.times for message in messages]
        again = super().is_tried_again(messages)
        for message, times in zip(messages, before, strict=True):
            message.times = times
        return again


@_mutant("D31", "Without a limit of tries no message is tried again.")
class NoLimitIsNone(ConsumeOrderly):
    def begin(self, mode: str, max_times: int, batch: int) -> Result:
        return super().begin(mode, 0 if max_times == -1 else max_times, batch)


class OldTimes(Returns):
    def send_copy(self, message: Pulled, most: int) -> bool:
        message.times -= 1
        try:
            return super().send_copy(message, most)
        finally:
            message.times += 1


@_mutant("D31", "A copy is counted as tried as often as the message.")
class SentOnUntried(ConsumeOrderly):
    returns_class = OldTimes


# --- waiting -------------------------------------------------------------------------------------------------


@_mutant("D95", "Another run begins at once.")
class NoPause(ConsumeOrderly):
    def pause(self, suspension: int) -> int:
        return 0


@_mutant("D95", "The listener's pause is ignored.")
class OwnPauseOnly(ConsumeOrderly):
    def pause(self, suspension: int) -> int:
        return 1_000


@_mutant("D95", "A pause may be 0.")
class NoShortestPause(ConsumeOrderly):
    def pause(self, suspension: int) -> int:
        return 1_000 if suspension == -1 else min(30_000, suspension)


@_mutant("D95", "A pause may be any time.")
class NoLongestPause(ConsumeOrderly):
    def pause(self, suspension: int) -> int:
        return 1_000 if suspension == -1 else max(10, suspension)


@_mutant("D95", "No run follows a suspension.")
class NeverWakes(ConsumeOrderly):
    def wait(self, process_queue: ProcessQueue, suspension: int) -> None:
        pass


@_mutant("D166", "A run that a pull begins waits while others run.")
class RefusedRunComesLater(ConsumeOrderly):
    def refused(self, process_queue: ProcessQueue) -> Result:
        self.wait(process_queue, 5_000)
        return True, *process_queue.look()


@_mutant("D166", "A pull whose run is refused ends well.")
class RefusedRunIsHidden(ConsumeOrderly):
    def refused(self, process_queue: ProcessQueue) -> Result:
        return False, *process_queue.look()


@_mutant("D166", "The next pull begins the run that was refused.")
class RefusedLeavesQueueIdle(ConsumeOrderly):
    def refused(self, process_queue: ProcessQueue) -> Result:
        process_queue.consuming = False
        return super().refused(process_queue)


@_mutant("D166", "A run that is refused after a pause is tried again.")
class RefusedPauseGoesOn(ConsumeOrderly):
    def refused_again(self, process_queue: ProcessQueue) -> None:
        self.wait(process_queue, -1)
