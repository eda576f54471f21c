"""Mutants of the port's lite pull consumer in the hands of its application, after real defects of clients."""

from __future__ import annotations

from collections.abc import Callable

from rocketmq_conformance.conformance.targets.mutant import Mutant, declared
from rocketmq_conformance.conformance.targets.port.lite_pull import (
    AUTO_EVERY,
    BATCH,
    FAILED,
    MIB,
    NEW,
    NOT_RUNNING,
    REFUSED,
    CachedQueue,
    LitePull,
    Task,
)
from rocketmq_conformance.conformance.targets.port.offset_table import NO_OFFSET
from rocketmq_conformance.conformance.targets.port.rebalance_pull import LiteQueue
from rocketmq_conformance.models.outcome import Result, Value

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
        mine = self.tasks.get(queue, task)
        if super().is_late(task, queue) and task is not mine and task.pulls == NO_OFFSET:
            mine.pulls = self.beginning(queue) + 1
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


@_mutant("D305", "An unsubscription drops what is cached of its topic.")
class ManualUnsubDropsCached(LitePull):
    def give_up(self, queue: int) -> None:
        self.forget(queue)


@_mutant("D305", "An unsubscription commits what was polled of its topic.")
class ManualUnsubCommits(LitePull):
    def give_up(self, queue: int) -> None:
        self.commit_one(queue)
        super().give_up(queue)


@_mutant("D305", "An unsubscription leaves the queues of its topic assigned.")
class ManualUnsubKeepsPulling(LitePull):
    def give_up(self, queue: int) -> None:
        pass


@_mutant("D306", "The round that drops the queues of a topic without a subscription sends their offsets.")
class ManualUnsubSends(LitePull):
    def drop_all(self) -> None:
        for queue in self.table:
            self.store.persist(queue)
        super().drop_all()


@_mutant("D305", "A topic that is subscribed to again is pulled by the next round.")
class ManualBackIsPulled(LitePull):
    def own(self, share: tuple[int, ...]) -> bool:
        return super().own(share) or (self.assigns and not self.table.keys() <= self.tasks.keys())


@_mutant("D38", "Messages of a pull that was under way at an unsubscription are polled.")
class ManualUnsubTakesLateAnswer(LitePull):
    def is_late(self, task: Task, queue: int) -> bool:
        return super().is_late(task, queue) and queue in self.tasks


@_mutant("D308", "Pulls of assigned queues ask for all messages, whatever expression was set.")
class ManualExpressionUnsent(LitePull):
    def expression_of(self, queue: int) -> str:
        return "*"


@_mutant("D308", "An expression can be set while the consumer runs.")
class ManualExpressionAnyTime(LitePull):
    def set_expression(self, expression: str) -> Result:
        phase, self.phase = self.phase, NEW
        result = super().set_expression(expression)
        self.phase = phase
        return result


@_mutant("D309", "An assignment of a null among queues changes nothing.")
class ManualNullQueueIsRefused(LitePull):
    def give_null(self, call: str) -> Result:
        return NOT_RUNNING if call == "a queue to assign" else super().give_null(call)


@_mutant("D309", "Nothing is refused because it is null.")
class ManualNullsAreNothing(LitePull):
    def give_null(self, call: str) -> Result:
        result = super().give_null(call)
        return None if result in (REFUSED, NOT_RUNNING) else result


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
        return task is not self.tasks.get(queue)


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
    def pauses(self, task: Task) -> bool:
        return False


@_mutant("D237", "A paused queue is pulled to take a seek.")
class ManualPauseTakesSeek(LitePull):
    def pauses(self, task: Task) -> bool:
        return task.paused and task.seeks == NO_OFFSET


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
    def cached(self, threshold: str, owned: CachedQueue) -> int:
        return super().cached(threshold, owned) + (threshold == "messages")


@_mutant("D237", "Any number of messages is cached.")
class ManualCachesAll(LitePull):
    def cached(self, threshold: str, owned: CachedQueue) -> int:
        return -1 if threshold == "messages" else super().cached(threshold, owned)


@_mutant("D307", "The threshold for all counts the messages that wait.")
class ManualCountsMessages(LitePull):
    def cached(self, threshold: str, owned: CachedQueue) -> int:
        if threshold == "every":
            return sum([len(offsets) for _, _, offsets in self.batches])
        return super().cached(threshold, owned)


@_mutant("D307", "The threshold for all does not count what was dropped.")
class ManualCountsTheLiving(LitePull):
    def cached(self, threshold: str, owned: CachedQueue) -> int:
        if threshold == "every":
            return sum([BATCH for _, gone, _ in self.batches if not gone.dropped])
        return super().cached(threshold, owned)


@_mutant("D307", "The threshold of size counts messages that are larger than a MiB, and no others.")
class ManualCountsLargeOnes(LitePull):
    def cached(self, threshold: str, owned: CachedQueue) -> int:
        if threshold == "size":
            return sum([owned.sizes[offset] >= MIB for offset in owned.messages])
        return super().cached(threshold, owned)


@_mutant("D307", "The threshold of size is one of bytes.")
class ManualSizeIsOfBytes(LitePull):
    def cached(self, threshold: str, owned: CachedQueue) -> int:
        if threshold == "size":
            return sum([owned.sizes[offset] for offset in owned.messages])
        return super().cached(threshold, owned)


@_mutant("D307", "The span of a queue is the number of its offsets.")
class ManualSpanIsTheCount(LitePull):
    def cached(self, threshold: str, owned: CachedQueue) -> int:
        return super().cached(threshold, owned) + (threshold == "span" and bool(owned.messages))


@_mutant("D307", "Offsets may be any span apart.")
class ManualSpansAll(LitePull):
    def cached(self, threshold: str, owned: CachedQueue) -> int:
        return -1 if threshold == "span" else super().cached(threshold, owned)


@_mutant("D307", "A queue that was resumed has its turn at once.")
class ManualResumesAtOnce(LitePull):
    def set_paused(self, queues: tuple[int, ...], paused: bool) -> Result:
        for queue in queues if not paused else ():
            if queue in self.tasks and self.tasks[queue].paused:
                self.tasks[queue].next_turn = 0
        return super().set_paused(queues, paused)


@_mutant("D307", "A queue of which too much is cached has its next turn after 1 s.")
class ManualFullIsAFailure(LitePull):
    def stopped(self, task: Task) -> int:
        return FAILED if super().stopped(task) > 0 else super().stopped(task)


@_mutant("D307", "A pull that failed is tried again at once.")
class ManualFailsAtOnce(LitePull):
    def failure_wait(self, failure: str) -> int:
        return 0


@_mutant("D307", "A broker that has too many pulls is asked again after 1 s.")
class ManualFlowControlIsAFailure(LitePull):
    def failure_wait(self, failure: str) -> int:
        return FAILED


@_mutant("D307", "A start that is unknown is looked for again after 1 s.")
class ManualStartIsAFailure(LitePull):
    def start_wait(self) -> int:
        return FAILED


@_mutant("D307", "A seek waits for the turn of the task before it.")
class ManualSeekWaits(LitePull):
    def sought(self, task: Task, queue: int, offset: int) -> None:
        before = task.next_turn
        super().sought(task, queue, offset)
        task.next_turn = before


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
        task = self.tasks.get(queue)
        if task is not None and task.consumed == offsets[-1] + 1:
            task.consumed -= 1


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


@_mutant("D310", "Tools see no queue of a lite pull consumer.")
class ManualInfoHidesQueues(LitePull):
    def running_info(self) -> Result:
        result = super().running_info()
        return (result[0], ()) if isinstance(result, tuple) else result


@_mutant("D311", "What a broker answers for a tool does not go to memory.")
class ManualInfoRemembersNothing(LitePull):
    def running_info(self) -> Result:
        known = {queue for queue in self.tasks if self.store.read(queue, "memory") != NO_OFFSET}
        result = super().running_info()
        for queue in self.tasks.keys() - known:
            self.store.remove(queue)
        return result


@_mutant("D310", "Tools see what was polled of a queue, not what is committed of it.")
class ManualInfoShowsThePolled(LitePull):
    def shown(self, queue: int, task: Task) -> tuple[Value, ...]:
        number, offset, *cached = super().shown(queue, task)
        return (number, task.consumed if task.consumed != NO_OFFSET else offset, *cached)


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
