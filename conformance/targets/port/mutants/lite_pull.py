"""Mutants of the port's lite pull consumer in the hands of its application, after real defects of clients."""

from __future__ import annotations

from collections.abc import Callable

from rocketmq_conformance.conformance.targets.mutant import Mutant, declared
from rocketmq_conformance.conformance.targets.port.lite_pull import AUTO_EVERY, MAX_CACHED, REFUSED, LitePull, Task
from rocketmq_conformance.conformance.targets.port.offset_table import NO_OFFSET
from rocketmq_conformance.conformance.targets.port.rebalance_pull import LiteQueue
from rocketmq_conformance.models.outcome import Result

MUTANTS: list[Mutant] = []
_mutant = declared(MUTANTS, "lite-pull")


# --- life ----------------------------------------------------------------------------------------------------


@_mutant("D237", "A start that fails leaves the consumer running.")
class ManualStartRuns(LitePull):
    def start_failed(self) -> Result:
        return REFUSED


@_mutant("D33", "A shutdown sends nothing.")
class ManualEndSendsNothing(LitePull):
    def last_persist(self) -> None:
        pass


@_mutant("D39", "A shutdown commits what was polled.")
class ManualEndCommits(LitePull):
    def last_persist(self) -> None:
        self.commit()
        super().last_persist()


@_mutant("D237", "A consumer that does not run polls nothing, without an error.")
class ManualPollsBeforeItRuns(LitePull):
    def poll(self, patience: int) -> Result:
        return super().poll(patience) if self.runs() or patience < 0 else ((),)


# --- queues --------------------------------------------------------------------------------------------------


@_mutant("D237", "A consumer that subscribed can assign, and the other way round.")
class ManualMixesModes(LitePull):
    def may(self, mode: str) -> bool:
        return True


@_mutant("D38", "An assignment leaves the queues of the one before.")
class ManualAssignsMore(LitePull):
    def have(self, queues: tuple[int, ...]) -> None:
        super().have((*queues, *(queue for queue in self.tasks if queue not in queues)))


@_mutant("D237", "An assignment begins the queues anew that it names again.")
class ManualAssignsAllAnew(LitePull):
    def have(self, queues: tuple[int, ...]) -> None:
        for queue in [*self.tasks]:
            self.forget(queue)
        super().have(queues)


@_mutant("D237", "A queue that is assigned again goes on where its polls were.")
class ManualRemembersPolls(LitePull):
    def forget(self, queue: int) -> None:
        self.commit_one(queue)
        super().forget(queue)


@_mutant("D92", "An assignment forgets the offsets of other queues in memory.")
class ManualForgetsOffsets(LitePull):
    def forget(self, queue: int) -> None:
        super().forget(queue)
        self.store.remove(queue)


@_mutant("D38", "Messages of a queue that is not assigned any more are polled.")
class ManualPollsForgotten(LitePull):
    def is_gone(self, owned: LiteQueue) -> bool:
        return False

    def consumed(self, queue: int, owned: LiteQueue, offsets: tuple[int, ...]) -> None:
        if queue in self.tasks:
            super().consumed(queue, owned, offsets)


@_mutant("D38", "The answer to a pull of an earlier assignment moves the new one.")
class ManualLateAnswerCounts(LitePull):
    def is_late(self, task: Task, queue: int) -> bool:
        if super().is_late(task, queue) and task is not self.tasks[queue] and task.pulls == NO_OFFSET:
            self.tasks[queue].pulls = self.beginning(queue) + 1
        return super().is_late(task, queue)


@_mutant("D234", "A listener that is given with a subscription takes the place of what assigns.")
class ManualListenerAlone(LitePull):
    def subscribed(self, topic: str, listens: bool) -> Result:
        result = super().subscribed(topic, listens)
        if result is None and listens:
            self.assigns = False
        return result


@_mutant("D234", "A listener that is given with a subscription is never called.")
class ManualListenerUnheard(LitePull):
    def subscribed(self, topic: str, listens: bool) -> Result:
        return super().subscribed(topic, False)


@_mutant("D234", "A listener that is set after a subscription is called as well, and queues are assigned.")
class ManualListenerAsWell(LitePull):
    def listen(self) -> Result:
        assigns = self.assigns
        super().listen()
        self.assigns = assigns
        return None


# --- seeks ---------------------------------------------------------------------------------------------------


@_mutant("D237", "A seek to max is refused.")
class ManualRefusesMax(LitePull):
    def allows(self, offset: int, low: int, high: int) -> bool:
        return low <= offset < high


@_mutant("D237", "A seek goes anywhere.")
class ManualSeeksAnywhere(LitePull):
    def allows(self, offset: int, low: int, high: int) -> bool:
        return True


@_mutant("D237", "A seek leaves what is cached.")
class ManualSeekLeavesCache(LitePull):
    def clear(self, queue: int) -> None:
        pass


@_mutant("D237", "A seek clears the cache of all queues.")
class ManualSeekClearsAll(LitePull):
    def clear(self, queue: int) -> None:
        for mine in self.tasks:
            super().clear(mine)


@_mutant("D236", "A commit writes the offset of a seek at once.")
class ManualSeekCommits(LitePull):
    def sought(self, task: Task, queue: int, offset: int) -> None:
        super().sought(task, queue, offset)
        task.consumed = offset


@_mutant("D237", "A seek writes its offset into memory.")
class ManualSeekWrites(LitePull):
    def sought(self, task: Task, queue: int, offset: int) -> None:
        super().sought(task, queue, offset)
        self.write(queue, offset)


@_mutant("D236", "The pull that takes a seek changes nothing of what a commit writes.")
class ManualSeekIsNotConsumed(LitePull):
    def take_seek(self, task: Task) -> int:
        consumed = task.consumed
        offset = super().take_seek(task)
        task.consumed = consumed
        return offset


@_mutant("D236", "A seek whose pull fails is tried again.")
class ManualKeepsSeek(LitePull):
    def failed(self, task: Task, asked: int) -> None:
        if task.consumed == asked:
            task.seeks = asked


@_mutant("D38", "The answer to a pull that was under way at a seek is polled.")
class ManualSeekTakesLateAnswer(LitePull):
    def is_late(self, task: Task, queue: int) -> bool:
        return task is not self.tasks[queue]


@_mutant("D237", "The end is the last message.")
class ManualEndIsTheLast(LitePull):
    def seek_to(self, queue: int, bound: Callable[[int], int]) -> Result:
        if bound == self.positions.max:
            return super().seek_to(queue, lambda mine: bound(mine) - 1)
        return super().seek_to(queue, bound)


@_mutant("D237", "The begin is 0, whatever has expired.")
class ManualBeginIsZero(LitePull):
    def seek_to(self, queue: int, bound: Callable[[int], int]) -> Result:
        if bound == self.min:
            return super().seek_to(queue, lambda mine: min(bound(mine), 0))
        return super().seek_to(queue, bound)


# --- pulls and polls -----------------------------------------------------------------------------------------


@_mutant("D237", "What is cached of a paused queue is not polled.")
class ManualPauseHoldsBack(LitePull):
    def poll(self, patience: int) -> Result:
        held = [batch for batch in self.batches if self.is_paused(batch[0])]
        self.batches = [batch for batch in self.batches if batch not in held]
        result = super().poll(patience)
        self.batches = held + self.batches
        return result

    def is_paused(self, queue: int) -> bool:
        return queue in self.tasks and self.tasks[queue].paused


@_mutant("D237", "A paused queue is pulled.")
class ManualPausePulls(LitePull):
    def may_pull(self, task: Task) -> bool:
        return not task.owned.dropped and len(task.owned.messages) <= MAX_CACHED


@_mutant("D237", "A paused queue is pulled to take a seek.")
class ManualPauseTakesSeek(LitePull):
    def may_pull(self, task: Task) -> bool:
        return super().may_pull(task) or (task.paused and task.seeks != NO_OFFSET and not task.owned.dropped)


@_mutant("D237", "An assignment that forgets a queue leaves its pause.")
class ManualPauseStays(LitePull):
    def forget(self, queue: int) -> None:
        self.still_paused.discard(queue)
        if self.tasks[queue].paused:
            self.still_paused.add(queue)
        super().forget(queue)

    def new_task(self, queue: int) -> Task:
        task = super().new_task(queue)
        task.paused = queue in self.still_paused
        return task

    def make(self, phase: str) -> None:
        super().make(phase)
        self.still_paused: set[int] = set()


@_mutant("D237", "A queue is not pulled at the threshold.")
class ManualStopsAtTheThreshold(LitePull):
    def may_pull(self, task: Task) -> bool:
        return super().may_pull(task) and len(task.owned.messages) < MAX_CACHED


@_mutant("D237", "Any number of messages is cached.")
class ManualCachesAll(LitePull):
    def may_pull(self, task: Task) -> bool:
        return not task.paused and not task.owned.dropped


@_mutant("D44", "The correction of an illegal offset is committed.")
class ManualCorrectionIsConsumed(LitePull):
    def correct(self, queue: int, task: Task, following: int) -> None:
        super().correct(queue, task, following)
        task.consumed = following


@_mutant("D44", "A pull goes on at the illegal offset that it asked for.")
class ManualNeverCorrects(LitePull):
    def correct(self, queue: int, task: Task, following: int) -> None:
        pass


@_mutant("D74", "A pull that fails begins at the start again.")
class ManualFailBeginsAgain(LitePull):
    def failed(self, task: Task, asked: int) -> None:
        task.pulls = NO_OFFSET


@_mutant("D237", "A poll takes the newest messages first.")
class ManualPollsNewest(LitePull):
    def poll(self, patience: int) -> Result:
        self.batches.reverse()
        result = super().poll(patience)
        self.batches.reverse()
        return result


@_mutant("D44", "A commit writes the offset of the last message that was polled.")
class ManualCommitsTheLast(LitePull):
    def consumed(self, queue: int, owned: LiteQueue, offsets: tuple[int, ...]) -> None:
        super().consumed(queue, owned, offsets)
        if self.tasks[queue].consumed == offsets[-1] + 1:
            self.tasks[queue].consumed -= 1


@_mutant("D39", "A poll commits what it hands out.")
class ManualPollCommits(LitePull):
    def before_poll(self) -> None:
        pass

    def after_poll(self, queue: int, offsets: tuple[int, ...]) -> tuple[tuple[int, int], ...]:
        self.maybe_commit()
        return super().after_poll(queue, offsets)


@_mutant("D40", "A consumer that commits by itself does so by each poll.")
class ManualCommitsEachPoll(LitePull):
    def maybe_commit(self) -> None:
        self.due = -1
        super().maybe_commit()


@_mutant("D40", "A consumer commits by itself although that is switched off.")
class ManualCommitsUnasked(LitePull):
    def commit_by_itself(self, commits: bool) -> Result:
        return None


@_mutant("D40", "The first commit by itself comes 5 s after the start.")
class ManualCommitsLater(LitePull):
    def maybe_commit(self) -> None:
        if self.due == -1:
            self.due = self.now + AUTO_EVERY
        super().maybe_commit()


# --- offsets -------------------------------------------------------------------------------------------------


@_mutant("D41", "A commit of polled messages never lowers the offset in memory.")
class ManualCommitsOnlyUp(LitePull):
    def write(self, queue: int, offset: int) -> None:
        self.store.update(queue, offset, True)


@_mutant("D198", "A commit is sent at once, and waits for no timer.")
class ManualCommitsAtOnce(LitePull):
    def write(self, queue: int, offset: int) -> None:
        super().write(queue, offset)
        self.store.persist(queue)


@_mutant("D199", "A commit of some queues that persists leaves the offsets of others in memory.")
class ManualKeepsOthers(LitePull):
    def persist_some(self, queues: tuple[int, ...], persist: bool) -> None:
        for queue in queues if persist else ():
            self.store.persist(queue)


@_mutant("D25", "A commit of some queues writes what was polled of all.")
class ManualCommitsAllQueues(LitePull):
    def commit_queues(self, queues: tuple[int, ...], persist: bool) -> Result:
        if queues:
            self.commit()
        return super().commit_queues(queues, persist)


@_mutant("D33", "A commit of some queues never persists.")
class ManualNeverPersists(LitePull):
    def persist_some(self, queues: tuple[int, ...], persist: bool) -> None:
        pass


@_mutant("D237", "Offsets of queues that are not assigned can be committed.")
class ManualCommitsAnyQueue(LitePull):
    def takes(self, queue: int, offset: int) -> bool:
        return offset != NO_OFFSET


@_mutant("D237", "The offset -1 can be committed.")
class ManualCommitsMinusOne(LitePull):
    def takes(self, queue: int, offset: int) -> bool:
        return queue in self.tasks and not self.tasks[queue].owned.dropped


@_mutant("D237", "Polls go on where offsets were committed.")
class ManualCommitMovesPolls(LitePull):
    def commit_offsets(self, offsets: tuple[tuple[int, int], ...], persist: bool) -> Result:
        result = super().commit_offsets(offsets, persist)
        for queue, offset in offsets:
            if result is None and self.takes(queue, offset):
                self.tasks[queue].pulls = offset
        return result


@_mutant("D235", "What is committed is asked of the broker each time, over memory.")
class ManualAsksEachTime(LitePull):
    def read_committed(self, queue: int) -> int:
        return self.store.read_stored(queue)


@_mutant("D30", "What is committed is known from memory alone.")
class ManualNeverAsks(LitePull):
    def read_committed(self, queue: int) -> int:
        return self.store.read(queue, "memory")


@_mutant("D34", "The timer sends by what is owned, after an assignment, too.")
class ManualPersistsTheOwned(LitePull):
    def persist(self) -> Result:
        if self.runs():
            self.store.persist_all(tuple(self.table))
        return None


@_mutant("D237", "A time is looked up for queues that are assigned alone.")
class ManualTimesOfMine(LitePull):
    def offset_for_time(self, queue: int, time: int) -> Result:
        return super().offset_for_time(queue, time) if queue in self.tasks or not self.runs() else REFUSED


# --- the topic's listener ------------------------------------------------------------------------------------


@_mutant("D237", "The listener of a topic is called at each look.")
class ManualHearsEachLook(LitePull):
    def changed(self, before: tuple[int, ...] | None, queues: tuple[int, ...]) -> Result:
        return queues


@_mutant("D237", "The listener of a topic is not called by the first look that succeeds.")
class ManualFirstLookIsSilent(LitePull):
    def changed(self, before: tuple[int, ...] | None, queues: tuple[int, ...]) -> Result:
        return None if before is None else super().changed(before, queues)


@_mutant("D237", "The listener of a topic is called when queues come, not when they go.")
class ManualHearsOfMore(LitePull):
    def changed(self, before: tuple[int, ...] | None, queues: tuple[int, ...]) -> Result:
        return None if before is not None and {*before} >= {*queues} else queues
