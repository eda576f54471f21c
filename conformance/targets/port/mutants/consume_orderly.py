"""Mutants of the port's orderly listener, after real defects of clients."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from rocketmq_conformance.conformance.targets.mutant import Mutant
from rocketmq_conformance.conformance.targets.port.consume import Returns
from rocketmq_conformance.conformance.targets.port.consume_orderly import ConsumeOrderly
from rocketmq_conformance.conformance.targets.port.mutants.consume import with_queues
from rocketmq_conformance.conformance.targets.port.process_queue import ProcessQueue, Pulled
from rocketmq_conformance.models.outcome import Result


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


class StaysBusy(ProcessQueue):
    def take(self, most: int) -> list[Pulled]:
        taken = super().take(most)
        self.consuming = True
        return taken


class TakesInPulledOrder(ProcessQueue):
    def take(self, most: int) -> list[Pulled]:
        taken = [self.messages.pop(offset) for offset in list(self.messages)[:most]]
        self.aside.update({message.offset: message for message in taken})
        self.consuming = bool(taken)
        return taken


class TakesOneByOne(ProcessQueue):
    def take(self, most: int) -> list[Pulled]:
        return super().take(1)


class EmptyCommitIsNone(ProcessQueue):
    def commit(self) -> int:
        return super().commit() if self.aside else 0


class CommitsLastTaken(ProcessQueue):
    def commit(self) -> int:
        return super().commit() - 1


class CommitsFirstTaken(ProcessQueue):
    def commit(self) -> int:
        first = min(self.aside) + 1
        super().commit()
        return first


class CommitKeepsBytes(ProcessQueue):
    def commit(self) -> int:
        before = self.bytes
        offset = super().commit()
        self.bytes = before
        return offset


class PutBackTwice(ProcessQueue):
    def put_back(self, messages: Sequence[Pulled]) -> None:
        for message in messages:
            self.messages[message.offset] = message


class PutsAllBack(ProcessQueue):
    def put_back(self, messages: Sequence[Pulled]) -> None:
        super().put_back(messages)
        self.rollback()


class ClearWakes(ProcessQueue):
    def clear(self) -> None:
        super().clear()
        self.consuming = False


class ClearLeavesAside(ProcessQueue):
    def clear(self) -> None:
        aside = dict(self.aside)
        super().clear()
        self.aside = aside


# --- results -------------------------------------------------------------------------------------------------


class OrderlyIncreases(ConsumeOrderly):
    def commit(self, process_queue: ProcessQueue, offset: int) -> None:
        if not process_queue.dropped:
            self.store.update(process_queue.queue, offset, True)


class LateCommitCounts(ConsumeOrderly):
    def commit(self, process_queue: ProcessQueue, offset: int) -> None:
        self.store.update(process_queue.queue, offset, False)


class AlwaysAutomatic(_Misread):
    def read(self, status: str, automatic: bool) -> tuple[str, bool]:
        return status, True


class NeverAutomatic(_Misread):
    def read(self, status: str, automatic: bool) -> tuple[str, bool]:
        return status, False


class RollsBackAlways(_Misread):
    def read(self, status: str, automatic: bool) -> tuple[str, bool]:
        return status, automatic and status != "ROLLBACK"


class RollsBackBatch(ConsumeOrderly):
    def roll_back(self, process_queue: ProcessQueue, messages: Sequence[Pulled]) -> None:
        process_queue.put_back(messages)


class RollbackDrops(ConsumeOrderly):
    def roll_back(self, process_queue: ProcessQueue, messages: Sequence[Pulled]) -> None:
        pass


class SuspendsOn(_Misread):
    def read(self, status: str, automatic: bool) -> tuple[str, bool]:
        return "SUCCESS" if status in ("null", "raise") else status, automatic


class SpentIsNotSentOn(ConsumeOrderly):
    def send_on(self, message: Pulled) -> bool:
        return True


class SpentTriesOnce(ConsumeOrderly):
    def is_spent(self, message: Pulled) -> bool:
        return message.times > self.limit


class NeverSpent(ConsumeOrderly):
    def is_spent(self, message: Pulled) -> bool:
        return False


class OneSpentEndsBatch(ConsumeOrderly):
    def is_tried_again(self, messages: Sequence[Pulled]) -> bool:
        spent = any(self.is_spent(message) for message in messages)
        return super().is_tried_again(messages) and not spent


class TriesUncounted(ConsumeOrderly):
    def is_tried_again(self, messages: Sequence[Pulled]) -> bool:
        before = [message.times for message in messages]
        again = super().is_tried_again(messages)
        for message, times in zip(messages, before, strict=True):
            message.times = times
        return again


class SixteenTries(ConsumeOrderly):
    def begin(self, mode: str, max_times: int, batch: int) -> Result:
        return super().begin(mode, 0 if max_times == -1 else max_times, batch)


class OldTimes(Returns):
    def send_copy(self, message: Pulled, most: int) -> bool:
        message.times -= 1
        try:
            return super().send_copy(message, most)
        finally:
            message.times += 1


class SentOnAtOnce(ConsumeOrderly):
    returns_class = OldTimes


# --- waiting -------------------------------------------------------------------------------------------------


class NoPause(ConsumeOrderly):
    def pause(self, suspension: int) -> int:
        return 0


class OwnPauseOnly(ConsumeOrderly):
    def pause(self, suspension: int) -> int:
        return 1_000


class NoShortest(ConsumeOrderly):
    def pause(self, suspension: int) -> int:
        return 1_000 if suspension == -1 else min(30_000, suspension)


class NoLongest(ConsumeOrderly):
    def pause(self, suspension: int) -> int:
        return 1_000 if suspension == -1 else max(10, suspension)


class NeverWakes(ConsumeOrderly):
    def wait(self, process_queue: ProcessQueue, suspension: int) -> None:
        pass


class RefusedRunComesLater(ConsumeOrderly):
    def refused(self, process_queue: ProcessQueue) -> Result:
        self.wait(process_queue, 5_000)
        return True, *process_queue.look()


class RefusedRunIsNotMissed(ConsumeOrderly):
    def refused(self, process_queue: ProcessQueue) -> Result:
        return False, *process_queue.look()


class RefusedQueueIsIdle(ConsumeOrderly):
    def refused(self, process_queue: ProcessQueue) -> Result:
        process_queue.consuming = False
        return super().refused(process_queue)


class RefusedPauseGoesOn(ConsumeOrderly):
    def refused_again(self, process_queue: ProcessQueue) -> None:
        self.wait(process_queue, -1)


_with = partial(with_queues, ConsumeOrderly)
_mutant = partial(Mutant.of, "consume-orderly")

MUTANTS = (
    _mutant("aside-is-not-counted", "D94", "Messages that are taken are not counted.", _with(AsideIsNotCounted)),
    _mutant("stays-busy", "D95", "A queue that was emptied never begins another run.", _with(StaysBusy)),
    _mutant("takes-in-pulled-order", "D78", "Batches are taken in the order of the pulls.", _with(TakesInPulledOrder)),
    _mutant("takes-one-by-one", "D78", "The batch size is ignored.", _with(TakesOneByOne)),
    _mutant("empty-commit-is-0", "D36", "A commit of nothing commits 0.", _with(EmptyCommitIsNone)),
    _mutant("commits-last-taken", "D43", "A commit answers the last offset, not the next.", _with(CommitsLastTaken)),
    _mutant(
        "commits-first-taken", "D93", "A commit answers the first offset that was taken.", _with(CommitsFirstTaken)
    ),
    _mutant("commit-keeps-bytes", "D94", "A commit does not take bytes off.", _with(CommitKeepsBytes)),
    _mutant("put-back-twice", "D93", "What is put back stays aside and is committed.", _with(PutBackTwice)),
    _mutant("puts-all-back", "D40", "A suspension rolls back earlier batches too.", _with(PutsAllBack)),
    _mutant("clear-wakes", "D60", "A reset lets a second run begin.", _with(ClearWakes)),
    _mutant(
        "clear-leaves-aside", "D60", "A reset leaves what the listener has to be committed.", _with(ClearLeavesAside)
    ),
    _mutant("orderly-increases", "D41", "An orderly commit never lowers the offset.", OrderlyIncreases),
    _mutant("late-commit-counts", "D41", "A commit of a dropped process queue counts.", LateCommitCounts),
    _mutant("always-automatic", "D40", "Every success commits.", AlwaysAutomatic),
    _mutant("never-automatic", "D40", "Nothing commits but COMMIT.", NeverAutomatic),
    _mutant("rolls-back-always", "D40", "ROLLBACK rolls back with automatic commit too.", RollsBackAlways),
    _mutant("rolls-back-batch", "D40", "A rollback puts back the last batch only.", RollsBackBatch),
    _mutant("rollback-drops", "D40", "A rollback puts nothing back.", RollbackDrops),
    _mutant("failures-go-on", "D93", "No status and exceptions are successes.", SuspendsOn),
    _mutant("spent-is-lost", "D31", "A message that was tried too often is sent nowhere.", SpentIsNotSentOn),
    _mutant("spent-tries-once-more", "D43", "A message is tried once more than allowed.", SpentTriesOnce),
    _mutant("never-spent", "D95", "A message is tried without end.", NeverSpent),
    _mutant("one-spent-ends-batch", "D93", "One message that is sent on ends its batch.", OneSpentEndsBatch),
    _mutant("orderly-tries-uncounted", "D95", "A suspension is not counted as a try.", TriesUncounted),
    _mutant("no-limit-is-none", "D31", "Without a limit of tries no message is tried again.", SixteenTries),
    _mutant("sent-on-untried", "D31", "A copy is counted as tried as often as the message.", SentOnAtOnce),
    _mutant("no-pause", "D95", "Another run begins at once.", NoPause),
    _mutant("own-pause-only", "D95", "The listener's pause is ignored.", OwnPauseOnly),
    _mutant("no-shortest-pause", "D95", "A pause may be 0.", NoShortest),
    _mutant("no-longest-pause", "D95", "A pause may be any time.", NoLongest),
    _mutant("never-wakes", "D95", "No run follows a suspension.", NeverWakes),
    _mutant(
        "refused-run-comes-later", "D166", "A run that a pull begins waits while others run.", RefusedRunComesLater
    ),
    _mutant("refused-run-is-hidden", "D166", "A pull whose run is refused ends well.", RefusedRunIsNotMissed),
    _mutant("refused-leaves-queue-idle", "D166", "The next pull begins the run that was refused.", RefusedQueueIsIdle),
    _mutant("refused-pause-goes-on", "D166", "A run that is refused after a pause is tried again.", RefusedPauseGoesOn),
)
