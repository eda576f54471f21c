"""Mutants of the port's handling of pushed resets, after real defects of clients."""

from __future__ import annotations

import json

from rocketmq_conformance.conformance.targets.mutant import Mutant, declared
from rocketmq_conformance.conformance.targets.port.group_member import Consumer, OwnedQueue
from rocketmq_conformance.conformance.targets.port.pushed_reset import SLEEP, PendingReset, PushedReset
from rocketmq_conformance.conformance.targets.port.rebalance_orderly import RebalanceOrderly
from rocketmq_conformance.conformance.targets.port.remote_store import RemoteStore
from rocketmq_conformance.models.message_queue import MessageQueue
from rocketmq_conformance.models.outcome import Result, Value
from rocketmq_conformance.suites.declare.topologies import GROUP, ORDINARY

MUTANTS: list[Mutant] = []
_mutant = declared(MUTANTS, "pushed-reset")


# --- when --------------------------------------------------------------------------------------------------------


@_mutant("D118", "A reset takes eleven seconds.")
class ResetASecondLate(PushedReset):
    def sleep_time(self) -> int:
        wait = super().sleep_time()
        return wait + 1_000 if wait else 0


@_mutant("D119", "A reset takes one ms less than ten seconds.")
class ResetTooEarly(PushedReset):
    def sleep_time(self) -> int:
        return max(super().sleep_time() - 1, 0)


@_mutant("D119", "A reset gives concurrent listeners no time.")
class ResetSleepsNot(PushedReset):
    def sleep_time(self) -> int:
        return 0


@_mutant("D118", "A reset of an orderly consumer sleeps, too.")
class ResetOrderlySleeps(PushedReset):
    def sleep_time(self) -> int:
        return SLEEP


@_mutant("D119", "A reset does not wait for orderly listeners.")
class ResetIgnoresListener(PushedReset):
    def listener_limit(self) -> int:
        return 0


@_mutant("D119", "Orderly listeners get nine seconds.")
class ResetGivesUpListener(PushedReset):
    def listener_limit(self) -> int:
        return SLEEP - 1_000


@_mutant("D118", "A reset waits ten seconds after the commit, too.")
class ResetWaitsAgain(PushedReset):
    def unlock_limit(self) -> int:
        return SLEEP


@_mutant("D118", "A reset waits for a second after the commit.")
class ResetUnlocksLate(PushedReset):
    def unlock_limit(self) -> int:
        return 1_000


@_mutant("D119", "A reset does not wait after the commit.")
class ResetUnlocksByForce(PushedReset):
    def has_lock(self, queue: int, owned: OwnedQueue) -> bool:
        return super().has_lock(queue, owned) and not (self.pending and self.pending[0].committed)


@_mutant("D118", "A reset waits ten seconds though the listener is done.")
class ResetMissesListener(PushedReset):
    def listener_ends(self, owned: OwnedQueue) -> None:
        pass


# --- what is dropped and committed -------------------------------------------------------------------------------


@_mutant("D119", "A reset drops its process queues when it commits.")
class ResetNotDropped(PushedReset):
    def queues_to_drop(self, reset: PendingReset) -> list[int]:
        return []


@_mutant("D61", "A reset drops all queues of the topic.")
class ResetDropsAll(PushedReset):
    def queues_to_drop(self, reset: PendingReset) -> list[int]:
        return [queue for queue in self.member.table if ORDINARY.topic_of[queue] == reset.topic]


@_mutant("D61", "A reset moves queues of other topics than its own.")
class ResetAnyTopic(PushedReset):
    def named_queues(self, reset: PendingReset) -> list[int]:
        return [queue for queue in sorted(reset.offsets) if queue in self.member.table]


@_mutant("D61", "A reset of several queues leaves the last one out.")
class ResetMissesQueue(PushedReset):
    def named_queues(self, reset: PendingReset) -> list[int]:
        queues = super().named_queues(reset)
        return queues[:-1] if len(queues) > 1 else queues


@_mutant("D61", "A reset commits queues of other members.")
class ResetCommitsUnowned(PushedReset):
    def commit_all(self, reset: PendingReset) -> None:
        for queue, offset in reset.offsets.items():
            if queue not in self.member.table and ORDINARY.topic_of[queue] == reset.topic:
                self.commit_queue(queue, offset)
        super().commit_all(reset)


@_mutant("D119", "A reset commits before it sleeps, too.")
class ResetCommitsBefore(PushedReset):
    def queues_to_drop(self, reset: PendingReset) -> list[int]:
        queues = super().queues_to_drop(reset)
        if self.sleep_time():
            for queue in queues:
                self.commit_queue(queue, reset.offsets[queue])
        return queues


@_mutant("D58", "A reset moves no queue back.")
class ResetNeverLower(PushedReset):
    def commit_queue(self, queue: int, offset: int) -> None:
        self.member.store.update(queue, offset, True)
        self.member.store.persist(queue)


@_mutant("D61", "A reset changes memory alone.")
class ResetNotCommitted(PushedReset):
    def commit_queue(self, queue: int, offset: int) -> None:
        self.member.store.update(queue, offset, False)


@_mutant("D61", "A reset commits what was in memory before.")
class ResetCommitsOld(PushedReset):
    def commit_queue(self, queue: int, offset: int) -> None:
        self.member.store.persist(queue)
        self.member.store.update(queue, offset, False)


@_mutant("D151", "A reset waits for the answer to each commit.")
class ResetCommitWaits(PushedReset):
    def commit_queue(self, queue: int, offset: int) -> None:
        store = self.member.store
        store.update(queue, offset, False)
        if isinstance(store, RemoteStore):
            store.commit(queue, offset, False)
        else:
            store.persist(queue)


@_mutant("D61", "A reset sends each offset three times.")
class ResetCommitsThrice(PushedReset):
    def commit_queue(self, queue: int, offset: int) -> None:
        super().commit_queue(queue, offset)
        self.member.store.persist(queue)
        self.member.store.persist(queue)


@_mutant("D61", "An orderly consumer commits once.")
class ResetCommitsOnce(PushedReset):
    def commit_queue(self, queue: int, offset: int) -> None:
        self.member.store.update(queue, offset, False)
        if self.kind != "orderly":
            self.member.store.persist(queue)


@_mutant("D61", "Queues are added again before the offsets are committed.")
class ResetResumesFirst(PushedReset):
    def commit_all(self, reset: PendingReset) -> None:
        for queue in self.named_queues(reset):
            del self.member.table[queue]
        self.resume()
        super().commit_all(reset)


@_mutant("D119", "What a listener returns after a reset is stored.")
class ResetLateResult(PushedReset):
    def is_late(self, taken: OwnedQueue) -> bool:
        return False


# --- going on ----------------------------------------------------------------------------------------------------


@_mutant("D119", "Other queues are pulled during a reset.")
class ResetNotPaused(PushedReset):
    def pause(self) -> None:
        pass


@_mutant("D118", "After a reset nothing is pulled.")
class ResetStaysPaused(PushedReset):
    def resume(self) -> None:
        self.rebalance(self.member)


@_mutant("D118", "Queues come back with the next round.")
class ResetNextRound(PushedReset):
    def resume(self) -> None:
        self.paused = False


@_mutant("D60", "Two resets run at once.")
class ResetSideBySide(PushedReset):
    def begin_next(self) -> None:
        for reset in [reset for reset in self.pending if not reset.begun]:
            self.begin_reset(reset)


@_mutant("D60", "A reset during another one is forgotten.")
class ResetSecondForgotten(PushedReset):
    def begin_next(self) -> None:
        del self.pending[1:]
        super().begin_next()


@_mutant("D60", "A reset during another one ends that.")
class ResetSecondReplaces(PushedReset):
    def begin_next(self) -> None:
        del self.pending[:-1]
        super().begin_next()


# --- requests ----------------------------------------------------------------------------------------------------


@_mutant("D121", "The list for clients in C++ is taken, too.")
class ResetReadsCpp(PushedReset):
    def named(self, body: bytes) -> dict[int, int]:
        if b'"offsetTable":[' not in body:
            return super().named(body)
        listed = json.loads(body)["offsetTable"]
        queues = [MessageQueue(one["topic"], one["brokerName"], one["queueId"]) for one in listed]
        return {ORDINARY.queues.index(queue): one["offset"] for queue, one in zip(queues, listed, strict=True)}


@_mutant("D121", "The list for clients in C++ counts as an empty reset.")
class ResetCppPauses(PushedReset):
    def named(self, body: bytes) -> dict[int, int]:
        return {} if b'"offsetTable":[' in body else super().named(body)


@_mutant("D120", "A reset without body is ignored.")
class ResetNeedsBody(PushedReset):
    def without_body(self) -> dict[MessageQueue, int]:
        raise ValueError("a reset has no body")


@_mutant("D120", "A consumer is reset for another group.")
class ResetAnyGroup(PushedReset):
    def concerns(self, reset: PendingReset) -> bool:
        return self.pushes()


@_mutant("D120", "Pull consumers are reset, in memory.")
class ResetAnyKind(PushedReset):
    def begin_reset(self, reset: PendingReset) -> None:
        if not self.pushes():
            for queue, offset in reset.offsets.items():
                self.member.store.update(queue, offset, False)
        super().begin_reset(reset)


@_mutant("D120", "A lite pull consumer answers its offsets.")
class StatusOfLite(PushedReset):
    def tells_state(self) -> bool:
        return True


@_mutant("D120", "Offsets of queues that are not owned are left out.")
class StatusOwnedAlone(PushedReset):
    def state_of(self, topic: str) -> dict[int, int]:
        return {queue: offset for queue, offset in super().state_of(topic).items() if queue in self.member.table}


@_mutant("D120", "The offsets of all topics are answered.")
class StatusAllTopics(PushedReset):
    def state_of(self, topic: str) -> dict[int, int]:
        return super().state_of("")


@_mutant("D120", "A blank topic has no offsets.")
class StatusBlankTopic(PushedReset):
    def state_of(self, topic: str) -> dict[int, int]:
        return super().state_of(topic) if topic else {}


@_mutant("D120", "The offsets of another group's consumer are answered.")
class StatusAnyGroup(PushedReset):
    def handle_status(self, ext: dict[str, str]) -> bytes:
        return super().handle_status({**ext, "group": "G"})


@_mutant("D310", "Tools do not see the queues that a reset dropped.")
class InfoHidesDropped(PushedReset):
    def running_info(self, group: str) -> Result:
        rows = super().running_info(group)
        return tuple([row for row in rows if not row[-1]]) if isinstance(rows, tuple) else rows  # type: ignore[index]


@_mutant("D310", "Tools see no queue as locked.")
class InfoLocksNone(PushedReset):
    def shown(self, queue: int, owned: OwnedQueue) -> tuple[Value, ...]:
        number, offset, _, dropped = super().shown(queue, owned)
        return number, offset, False, dropped


@_mutant("D310", "Tools see the offset that the broker has, not that in memory.")
class InfoFromTheBroker(PushedReset):
    def shown_offset(self, queue: int) -> int:
        return self.member.store.read_stored(queue)


@_mutant("D310", "Tools see the queues of a consumer of another group.")
class InfoOfAnyGroup(PushedReset):
    def running_info(self, group: str) -> Result:
        return super().running_info(GROUP)


@_mutant("D312", "Two rounds at once begin a queue twice.")
class TwiceBegun(PushedReset):
    def begin(self, consumer: Consumer, queue: int, offset: int, new_pulls: list[tuple[int, int]]) -> None:
        RebalanceOrderly.begin(self, consumer, queue, offset, new_pulls)


@_mutant("D312", "An answer that comes late is given up.")
class TwiceLateAnswerIsDropped(PushedReset):
    def answered_late(self, store: RemoteStore, queue: int, offset: int) -> None:
        pass
