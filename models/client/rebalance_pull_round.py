"""A round of rebalance of a lite pull consumer, and the reaction of its listener (REB-VAR-*, REB-MQC-LITE).

A lite pull consumer keeps its queues twice. The table of process queues lists the ones it owns: a round brings it in
line, as for a push consumer, and the timer persists by it. The assignment lists the ones that are pulled, and from
where; it is changed by the listener of the rebalance, and only when the round changed the table. Two things follow:

* a queue of the share that has no start is not owned, but pulled all the same when another queue of the topic came or
  went: it gets a process queue that is not in the table;
* a topic that is given up and taken back between two rounds is owned as before and not pulled: the table did not
  change, so the listener is not called. That lasts until a queue of the topic comes or goes.

From 5.0.0-PREVIEW the listener is also called for a topic whose queues are unknown, with no queues.

Queues do not expire for want of pulls, and the start that a round computes only decides whether the queue is owned:
each pull task computes it again.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from rocketmq_conformance.models.broker.state import BrokerState
from rocketmq_conformance.models.client.local_store import LocalStore
from rocketmq_conformance.models.client.member import Member, after_round
from rocketmq_conformance.models.client.member_settings import MEMBER_TIME
from rocketmq_conformance.models.client.process_queue import ProcessQueue, process_queue
from rocketmq_conformance.models.client.rebalance_round import (
    ALIGNED,
    RebalanceRound,
    RebalanceRoundModel,
    round_reason,
)
from rocketmq_conformance.models.client.remote_store import RemoteStore
from rocketmq_conformance.models.client.start import StartModel
from rocketmq_conformance.models.fast_tuples import maker
from rocketmq_conformance.models.outcome import Expected, Value
from rocketmq_conformance.models.rule import Reason, Rule

RULES = (
    Rule(
        "REB-VAR-REM",
        "A lite pull consumer sends the offset of a queue that it loses, and forgets it, as a push consumer does "
        "(broadcasting: REB-BC-REM); a queue that nobody pulls never expires.",
        "RebalanceLitePullImpl#removeUnnecessaryMessageQueue, #consumeType @ 4.6.0, 4.9.8, 5.5.0",
        releases="4.6.0+",
    ),
    Rule(
        "REB-VAR-START",
        "A round asks where a lite pull consumer starts only to decide whether the queue is owned: no pull begins "
        "there. What was stored stays in memory.",
        "RebalanceLitePullImpl#dispatchPullRequest, RebalanceImpl#updateProcessQueueTableInRebalance "
        "@ 4.6.0, 4.9.8, 5.5.0",
        releases="4.6.0+",
    ),
    Rule(
        "REB-MQC-LITE",
        "When a round changed the table of a topic, the assigned queues of the topic become the share (broadcasting: "
        "all queues), owned or not; what is not in it is pulled no more, and what is new is pulled from the start.",
        "RebalanceLitePullImpl#messageQueueChanged, DefaultLitePullConsumerImpl.MessageQueueListenerImpl, "
        "AssignedMessageQueue#updateAssignedMessageQueue @ 4.6.0, 4.9.8, 5.3.3",
        releases="4.6.0+",
    ),
    Rule(
        "REB-MQC-SAME",
        "A round that changes nothing in the table of a topic leaves the assigned queues of the topic as they are, "
        "even when they are not the owned ones.",
        "RebalanceImpl#rebalanceByTopic @ 4.6.0, 4.9.8, 5.5.0",
        releases="4.6.0+",
    ),
    Rule(
        "REB-MQC-UNKNOWN",
        "While no queues of a subscribed topic are known the listener hears that there are none, and nothing of the "
        "topic is pulled, whatever the table has: from 5.5.0 that includes a route without readable queues. What the "
        "table has is dropped all the same, so that it is not in balance and never pulled again.",
        "RebalanceImpl#rebalanceByTopic @ 4.9.8, 5.0.0-PREVIEW, 5.3.3, 5.5.0",
        releases="5.0.0-PREVIEW+",
    ),
)

#: Time of the last pull of a process queue that does not expire.
_NEVER_EXPIRES = 1 << 62

#: Events of these rounds beside those of every round, by bit.
_EXTRA_EVENTS = (
    ("pulled, not owned", ("REB-MQC-LITE", "REB-VAR-START")),
    ("owned, not pulled", ("REB-MQC-SAME",)),
    ("hears of no queues", ("REB-MQC-UNKNOWN",)),
    ("assigned", ("REB-MQC-LITE",)),
    ("taken away", ("REB-MQC-LITE",)),
)
_UNOWNED, _UNPULLED, _EMPTIED, _ASSIGNED, _AWAY = (1 << at for at in range(len(_EXTRA_EVENTS)))
#: The rules of a push consumer, and what a lite pull consumer has instead.
_INSTEAD = {
    "REB-REM-1": ("REB-VAR-REM",),
    "REB-BC-REM": ("REB-VAR-REM", "REB-BC-REM"),
    "START-PUSH-1": ("REB-VAR-START", "START-LITE-1"),
    "START-PUSH-ERROR": ("REB-VAR-START", "START-LITE-1"),
    "START-BC-1": ("REB-VAR-START", "START-LITE-1", "START-BC-1"),
}
_INSTEAD_0 = {**_INSTEAD, **dict.fromkeys(("START-PUSH-1", "START-BC-1"), ("REB-VAR-START", "START-LITE-0"))}


class AssignedQueue(NamedTuple):
    """An assigned queue: a lite pull consumer's knowledge of it beside the table."""

    #: Its process queue: the one of the table, or one of its own. The first that the member makes has number 1.
    number: int
    #: The offset of the next pull; -1: not yet known.
    pulls: int = -1
    #: The offset that a commit would write; -1: none.
    consumed: int = -1


class QueueCache(NamedTuple):
    """The messages of one process queue."""

    #: Offsets that are not polled yet, in order.
    waiting: tuple[int, ...]
    #: The last offset that was new when it arrived.
    last: int


class RebalancePullMember(NamedTuple):
    """A lite pull consumer's additional state."""

    assigned: Mapping[int, AssignedQueue]
    #: Messages that were pulled, in order: queue, number of the process queue, offset. Of no dropped process queue.
    pulled: tuple[tuple[int, int, int], ...]
    #: By the number of the process queue.
    caches: Mapping[int, QueueCache]


assigned_queue, cache_of, pull_member = maker(AssignedQueue), maker(QueueCache), maker(RebalancePullMember)
NEW_PULL_MEMBER = RebalancePullMember({}, (), {})
#: The cache of a new process queue.
EMPTY_CACHE = QueueCache((), -1)


@cache
def rebalance_pull_reason(met: int, events: int, mode: str, reports: bool, starts: bool) -> Reason:
    """The one reason of rounds with these events, by bits of _MET and of the events of every round."""
    every = round_reason(events, mode, reports)
    instead = _INSTEAD if starts else _INSTEAD_0
    found = [name for at, name in enumerate(_EXTRA_EVENTS) if met & 1 << at]
    rules = [rule for _, named in found for rule in named]
    for rule in every.rules:
        rules += instead.get(rule, (rule,))
    kind = found[0][0] if met & (_UNOWNED | _UNPULLED | _EMPTIED) else every.kind
    return Reason(tuple(dict.fromkeys(rules)), kind)


def without_dropped(lite: RebalancePullMember, dropped: frozenset[int]) -> RebalancePullMember:
    """Forget the messages of process queues that were dropped: they are never polled."""
    if dropped.isdisjoint(lite.caches):
        return lite
    pulled = tuple([message for message in lite.pulled if message[1] not in dropped])
    caches = {number: kept for number, kept in lite.caches.items() if number not in dropped}
    return pull_member((lite.assigned, pulled, caches))


class RebalancePullRound(RebalanceRound):
    """A round, and the assignment as it goes on."""

    __slots__ = ("assigned", "extra_events", "gone")

    def __init__(
        self,
        member: Member,
        broker: BrokerState,
        now: int,
        fault: str,
        bound_fault: str,
        assigned: Mapping[int, AssignedQueue],
    ) -> None:
        RebalanceRound.__init__(self, member, broker, now, fault, bound_fault)
        self.assigned = assigned
        self.gone: list[int] = []
        self.extra_events = 0

    def after(self) -> Member:
        """The member after the round; it may have made process queues that it does not own."""
        who = self.member
        if self.events & (ALIGNED - 1) or self.table is not who.table or self.made != who.made:
            return after_round(who, self.seen, self.store.memory, self.table, self.made)
        return who


class RebalancePullRoundModel(RebalanceRoundModel[RebalancePullRound]):
    """The rounds of lite pull consumers, for one profile; pure but for the round that is under way."""

    __slots__ = ("notifies_of_unknown", "starts")

    def __init__(self, start: StartModel) -> None:
        super().__init__(start)
        self.notifies_of_unknown = start.client.notifies_of_unknown
        self.starts = start.client.lite_starts

    def pull_round(
        self,
        current: RebalancePullRound,
        lite: RebalancePullMember,
        routes: Mapping[str, int],
        members: tuple[str, ...] | None,
    ) -> tuple[RebalancePullMember, Value, Reason]:
        """Run a round: the assignment afterwards, and (owned queues, assigned queues, balanced or None, commits)."""
        before = current.table
        owned, _, balanced, commits = self.run(current, routes, members)
        if before and before is not current.table:
            kept = {mine.number for mine in current.table.values()}
            current.gone += [mine.number for mine in before.values() if mine.number not in kept]
        pulled = tuple(sorted(current.assigned))
        if owned != pulled and not current.table.keys() <= current.assigned.keys():
            current.extra_events |= _UNPULLED
        if current.assigned is not lite.assigned:
            lite = pull_member((current.assigned, lite.pulled, lite.caches))
        if current.gone:
            lite = without_dropped(lite, frozenset(current.gone))
        why = rebalance_pull_reason(
            current.extra_events, current.events, current.member.mode, self.reports, self.starts
        )
        return lite, (owned, pulled, balanced, commits), why

    def unknown(self, current: RebalancePullRound, topic: str) -> bool:
        """REB-MQC-UNKNOWN."""
        if self.notifies_of_unknown:
            self._assign(current, topic, ())
            current.extra_events |= _EMPTIED
        return super().unknown(current, topic)

    def changed(self, current: RebalancePullRound, topic: str, target: tuple[int, ...], even: bool) -> bool:
        """REB-MQC-LITE, REB-MQC-SAME."""
        self._assign(current, topic, target)
        return even

    def started(
        self, store: RemoteStore, queue: int, where: str, fault: str, bound_fault: str
    ) -> tuple[RemoteStore, Expected]:
        """REB-VAR-START."""
        return self.start.lite_pull(store, queue, where, *MEMBER_TIME, False, fault, bound_fault)[:2]

    def started_by_file(
        self, store: LocalStore, broker: BrokerState, queue: int, where: str, bound_fault: str
    ) -> tuple[LocalStore, Expected]:
        """REB-VAR-START, START-BC-1."""
        return self.start.lite_pull_from_file(store, broker, queue, where, *MEMBER_TIME, False, bound_fault)[:2]

    def process_queue(self, current: RebalancePullRound, offset: int) -> ProcessQueue:
        """REB-VAR-REM: it does not expire."""
        return process_queue((current.made, offset, _NEVER_EXPIRES, True, 0, False, False, (), -1))

    def _assign(self, current: RebalancePullRound, topic: str, target: tuple[int, ...]) -> None:
        """The assigned queues of the topic become these."""
        assigned = dict(current.assigned)
        for queue, held in current.assigned.items():
            if self.topic_of[queue] == topic and queue not in target:
                current.extra_events |= _AWAY
                current.gone.append(held.number)
                del assigned[queue]
                kept = current.table.get(queue)
                if kept is not None and kept.number == held.number:
                    current.own_table()[queue] = kept._replace(dropped=True)
        for queue in target:
            if queue not in assigned:
                current.extra_events |= _ASSIGNED
                owned = current.table.get(queue)
                if owned is None:
                    current.extra_events |= _UNOWNED
                    current.made += 1
                assigned[queue] = assigned_queue((current.made if owned is None else owned.number, -1, -1))
        current.assigned = assigned
