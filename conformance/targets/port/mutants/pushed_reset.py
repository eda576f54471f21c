"""Mutants of the port's handling of pushed resets, after real defects of clients."""

from __future__ import annotations

import json
from functools import partial

from rocketmq_conformance.conformance.targets.mutant import Mutant
from rocketmq_conformance.conformance.targets.port.group_member import OwnedQueue
from rocketmq_conformance.conformance.targets.port.pushed_reset import SLEEP, PendingReset, PushedReset
from rocketmq_conformance.conformance.targets.port.remote_store import RemoteStore
from rocketmq_conformance.models.client.fixtures import QUEUES, TOPIC_OF
from rocketmq_conformance.models.message_queue import MessageQueue

# --- when --------------------------------------------------------------------------------------------------------


class SecondLate(PushedReset):
    def sleep_time(self) -> int:
        wait = super().sleep_time()
        return wait + 1_000 if wait else 0


class MillisecondEarly(PushedReset):
    def sleep_time(self) -> int:
        return max(super().sleep_time() - 1, 0)


class SleepsNot(PushedReset):
    def sleep_time(self) -> int:
        return 0


class OrderlySleeps(PushedReset):
    def sleep_time(self) -> int:
        return SLEEP


class ListenerNotWaitedFor(PushedReset):
    def listener_limit(self) -> int:
        return 0


class ListenerGivenUpEarly(PushedReset):
    def listener_limit(self) -> int:
        return SLEEP - 1_000


class ListenerWaitedForTwice(PushedReset):
    def unlock_limit(self) -> int:
        return SLEEP


class UnlockWaitsASecond(PushedReset):
    def unlock_limit(self) -> int:
        return 1_000


class UnlocksByForce(PushedReset):
    def has_lock(self, queue: int, owned: OwnedQueue) -> bool:
        return super().has_lock(queue, owned) and not (self.pending and self.pending[0].committed)


class ListenersEndIsMissed(PushedReset):
    def listener_ends(self, owned: OwnedQueue) -> None:
        pass


# --- what is dropped and committed -------------------------------------------------------------------------------


class NotDropped(PushedReset):
    def queues_to_drop(self, reset: PendingReset) -> list[int]:
        return []


class AllDropped(PushedReset):
    def queues_to_drop(self, reset: PendingReset) -> list[int]:
        return [queue for queue in self.member.table if TOPIC_OF[queue] == reset.topic]


class AnyTopic(PushedReset):
    def named_queues(self, reset: PendingReset) -> list[int]:
        return [queue for queue in sorted(reset.offsets) if queue in self.member.table]


class LastQueueMissing(PushedReset):
    def named_queues(self, reset: PendingReset) -> list[int]:
        queues = super().named_queues(reset)
        return queues[:-1] if len(queues) > 1 else queues


class UnownedCommitted(PushedReset):
    def commit_all(self, reset: PendingReset) -> None:
        for queue, offset in reset.offsets.items():
            if queue not in self.member.table and TOPIC_OF[queue] == reset.topic:
                self.commit_queue(queue, offset)
        super().commit_all(reset)


class CommitsBefore(PushedReset):
    def queues_to_drop(self, reset: PendingReset) -> list[int]:
        queues = super().queues_to_drop(reset)
        if self.sleep_time():
            for queue in queues:
                self.commit_queue(queue, reset.offsets[queue])
        return queues


class NeverLower(PushedReset):
    def commit_queue(self, queue: int, offset: int) -> None:
        self.member.store.update(queue, offset, True)
        self.member.store.persist(queue)


class NotCommitted(PushedReset):
    def commit_queue(self, queue: int, offset: int) -> None:
        self.member.store.update(queue, offset, False)


class OldOffsetCommitted(PushedReset):
    def commit_queue(self, queue: int, offset: int) -> None:
        self.member.store.persist(queue)
        self.member.store.update(queue, offset, False)


class CommitWaits(PushedReset):
    def commit_queue(self, queue: int, offset: int) -> None:
        store = self.member.store
        store.update(queue, offset, False)
        if isinstance(store, RemoteStore):
            store.commit(queue, offset, False)
        else:
            store.persist(queue)


class CommittedThreeTimes(PushedReset):
    def commit_queue(self, queue: int, offset: int) -> None:
        super().commit_queue(queue, offset)
        self.member.store.persist(queue)
        self.member.store.persist(queue)


class OrderlyCommittedOnce(PushedReset):
    def commit_queue(self, queue: int, offset: int) -> None:
        self.member.store.update(queue, offset, False)
        if self.kind != "orderly":
            self.member.store.persist(queue)


class ResumesFirst(PushedReset):
    def commit_all(self, reset: PendingReset) -> None:
        for queue in self.named_queues(reset):
            del self.member.table[queue]
        self.resume()
        super().commit_all(reset)


class LateResultStored(PushedReset):
    def is_late(self, taken: OwnedQueue) -> bool:
        return False


# --- going on ----------------------------------------------------------------------------------------------------


class NotPaused(PushedReset):
    def pause(self) -> None:
        pass


class StaysPaused(PushedReset):
    def resume(self) -> None:
        self.rebalance(self.member)


class NextRoundStarts(PushedReset):
    def resume(self) -> None:
        self.paused = False


class ResetsSideBySide(PushedReset):
    def begin_next(self) -> None:
        for reset in [reset for reset in self.pending if not reset.begun]:
            self.begin_reset(reset)


class SecondForgotten(PushedReset):
    def begin_next(self) -> None:
        del self.pending[1:]
        super().begin_next()


class SecondReplaces(PushedReset):
    def begin_next(self) -> None:
        del self.pending[:-1]
        super().begin_next()


# --- requests ----------------------------------------------------------------------------------------------------


class BodyForCppRead(PushedReset):
    def named(self, body: bytes) -> dict[int, int]:
        if b'"offsetTable":[' not in body:
            return super().named(body)
        listed = json.loads(body)["offsetTable"]
        queues = [MessageQueue(one["topic"], one["brokerName"], one["queueId"]) for one in listed]
        return {QUEUES.index(queue): one["offset"] for queue, one in zip(queues, listed, strict=True)}


class BodyForCppEmpty(PushedReset):
    def named(self, body: bytes) -> dict[int, int]:
        return {} if b'"offsetTable":[' in body else super().named(body)


class NoBodyIgnored(PushedReset):
    def without_body(self) -> dict[MessageQueue, int]:
        raise ValueError("a reset has no body")


class AnyGroup(PushedReset):
    def concerns(self, reset: PendingReset) -> bool:
        return self.pushes()


class AnyKind(PushedReset):
    def begin_reset(self, reset: PendingReset) -> None:
        if not self.pushes():
            for queue, offset in reset.offsets.items():
                self.member.store.update(queue, offset, False)
        super().begin_reset(reset)


class LiteTells(PushedReset):
    def tells_state(self) -> bool:
        return True


class OwnedAlone(PushedReset):
    def state_of(self, topic: str) -> dict[int, int]:
        return {queue: offset for queue, offset in super().state_of(topic).items() if queue in self.member.table}


class AllTopics(PushedReset):
    def state_of(self, topic: str) -> dict[int, int]:
        return super().state_of("")


class BlankTopicUnknown(PushedReset):
    def state_of(self, topic: str) -> dict[int, int]:
        return super().state_of(topic) if topic else {}


class StateOfAnyGroup(PushedReset):
    def handle_status(self, ext: dict[str, str]) -> bytes:
        return super().handle_status({**ext, "group": "G"})


_mutant = partial(Mutant.of, "pushed-reset")

MUTANTS = (
    _mutant("reset-a-second-late", "D118", "A reset takes eleven seconds.", SecondLate),
    _mutant("reset-too-early", "D119", "A reset takes one ms less than ten seconds.", MillisecondEarly),
    _mutant("reset-sleeps-not", "D119", "A reset gives concurrent listeners no time.", SleepsNot),
    _mutant("reset-orderly-sleeps", "D118", "A reset of an orderly consumer sleeps, too.", OrderlySleeps),
    _mutant("reset-ignores-listener", "D119", "A reset does not wait for orderly listeners.", ListenerNotWaitedFor),
    _mutant(
        "reset-gives-up-listener",
        "D119",
        "Orderly listeners get nine seconds.",
        ListenerGivenUpEarly,
    ),
    _mutant(
        "reset-waits-again",
        "D118",
        "A reset waits ten seconds after the commit, too.",
        ListenerWaitedForTwice,
    ),
    _mutant("reset-unlocks-late", "D118", "A reset waits for a second after the commit.", UnlockWaitsASecond),
    _mutant("reset-unlocks-by-force", "D119", "A reset does not wait after the commit.", UnlocksByForce),
    _mutant(
        "reset-misses-listener", "D118", "A reset waits ten seconds though the listener is done.", ListenersEndIsMissed
    ),
    _mutant("reset-not-dropped", "D119", "A reset drops its process queues when it commits.", NotDropped),
    _mutant("reset-drops-all", "D61", "A reset drops all queues of the topic.", AllDropped),
    _mutant("reset-any-topic", "D61", "A reset moves queues of other topics than its own.", AnyTopic),
    _mutant("reset-misses-queue", "D61", "A reset of several queues leaves the last one out.", LastQueueMissing),
    _mutant("reset-commits-unowned", "D61", "A reset commits queues of other members.", UnownedCommitted),
    _mutant("reset-commits-before", "D119", "A reset commits before it sleeps, too.", CommitsBefore),
    _mutant("reset-never-lower", "D58", "A reset moves no queue back.", NeverLower),
    _mutant("reset-not-committed", "D61", "A reset changes memory alone.", NotCommitted),
    _mutant("reset-commits-old", "D61", "A reset commits what was in memory before.", OldOffsetCommitted),
    _mutant("reset-commit-waits", "D151", "A reset waits for the answer to each commit.", CommitWaits),
    _mutant("reset-commits-thrice", "D61", "A reset sends each offset three times.", CommittedThreeTimes),
    _mutant("reset-commits-once", "D61", "An orderly consumer commits once.", OrderlyCommittedOnce),
    _mutant("reset-resumes-first", "D61", "Queues are added again before the offsets are committed.", ResumesFirst),
    _mutant("reset-late-result", "D119", "What a listener returns after a reset is stored.", LateResultStored),
    _mutant("reset-not-paused", "D119", "Other queues are pulled during a reset.", NotPaused),
    _mutant("reset-stays-paused", "D118", "After a reset nothing is pulled.", StaysPaused),
    _mutant("reset-next-round", "D118", "Queues come back with the next round.", NextRoundStarts),
    _mutant("reset-side-by-side", "D60", "Two resets run at once.", ResetsSideBySide),
    _mutant("reset-second-forgotten", "D60", "A reset during another one is forgotten.", SecondForgotten),
    _mutant("reset-second-replaces", "D60", "A reset during another one ends that.", SecondReplaces),
    _mutant("reset-reads-cpp", "D121", "The list for clients in C++ is taken, too.", BodyForCppRead),
    _mutant("reset-cpp-pauses", "D121", "The list for clients in C++ counts as an empty reset.", BodyForCppEmpty),
    _mutant("reset-needs-body", "D120", "A reset without body is ignored.", NoBodyIgnored),
    _mutant("reset-any-group", "D120", "A consumer is reset for another group.", AnyGroup),
    _mutant("reset-any-kind", "D120", "Pull consumers are reset, in memory.", AnyKind),
    _mutant("status-of-lite", "D120", "A lite pull consumer answers its offsets.", LiteTells),
    _mutant("status-owned-alone", "D120", "Offsets of queues that are not owned are left out.", OwnedAlone),
    _mutant("status-all-topics", "D120", "The offsets of all topics are answered.", AllTopics),
    _mutant("status-blank-topic", "D120", "A blank topic has no offsets.", BlankTopicUnknown),
    _mutant("status-any-group", "D120", "The offsets of another group's consumer are answered.", StateOfAnyGroup),
)
