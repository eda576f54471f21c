"""Resets that brokers push to consumers: RESET_CONSUMER_CLIENT_OFFSET and GET_CONSUMER_STATUS (RST-*).

When an administrator resets a group that has members, the broker sends each of them the offsets of the topic's queues.
A push consumer then pauses, drops the process queues that are named, and gives their listeners time to end: it sleeps
for ten seconds. After that it commits the offsets that it was sent, removes the queues from its table, goes on, and
rebalances at once, which adds the queues anew from what the broker has stored by then.

From 5.5.0 an orderly consumer does not sleep: it waits for the listener of each queue instead, ten seconds at most.

The consumer of this suite is the second member of the group, in the order of their ids the first: it owns queues 0, 1,
2 and 3. Its pull loops come to all of its queues all the time, so that none of them expires.
"""

from __future__ import annotations

from functools import cache

from rocketmq_conformance.models.client.client_rules import ClientRules
from rocketmq_conformance.models.client.offset_table import UNFROZEN, cloned, updated
from rocketmq_conformance.models.client.pushed_reset_stages import (
    COMMITS,
    COMMITTED,
    CONSUMED,
    CONSUMES,
    CPP,
    LISTENER,
    LITE,
    LOCK_EXPIRY,
    NO_BODY,
    ORDERLY,
    PULL,
    PUSH,
    QUEUED,
    SLEEPING,
    UNLOCKING,
    PendingReset,
    PushedResetState,
    ResetConsumer,
    waits_for,
)
from rocketmq_conformance.models.client.running_info import NOBODY, REASONS
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Answer, Reason, Rule, reasons_by_kind

RULES = (
    Rule(
        "RST-PUSH",
        "A push consumer of the group that RESET_CONSUMER_CLIENT_OFFSET names drops the process queues of the topic "
        "that the body names, and empties them; later it sets and commits the offset of each that it still has, lower "
        "or not, one way, and forgets it; then it removes the queue. Queues that it does not have are passed over.",
        "ClientRemotingProcessor#resetOffset, MQClientInstance#resetOffset @ 4.0.0, 4.9.8, 5.5.0",
    ),
    Rule(
        "RST-RESUME",
        "When all queues are done the consumer goes on and rebalances at once: the queues are added anew, from what "
        "the broker has stored.",
        "MQClientInstance#resetOffset, DefaultMQPushConsumerImpl#resume @ 4.0.0, 4.9.8, 5.5.0",
    ),
    Rule(
        "RST-WAIT",
        "Between dropping and committing ten seconds pass, also when none of its queues is named; from 5.5.0 only if "
        "its listener is a concurrent one.",
        "MQClientInstance#resetOffset @ 4.0.0, 4.9.8, 5.4.0, 5.5.0",
    ),
    Rule(
        "RST-LISTENER",
        "Before an orderly consumer commits the offset of a queue it waits until the listener of that queue is done, "
        "ten seconds at most; it does not sleep.",
        "MQClientInstance#resetOffset, #waitResetOffsetReady @ 5.5.0",
        releases="5.5.0+",
    ),
    Rule(
        "RST-UNLOCK",
        "An orderly consumer waits after the commit, too, while the listener is busy: for a second up to 5.1.4, for "
        "half a second from 5.2.0, unless the lock was granted more than 20 s ago. Done or not, it then goes on.",
        "RebalancePushImpl#removeUnnecessaryMessageQueue @ 4.0.0, 4.9.8, 5.2.0, 5.5.0; "
        "#tryRemoveOrderMessageQueue @ 5.2.0, 5.5.0",
    ),
    Rule(
        "RST-TWICE",
        "An orderly consumer commits an offset twice: before it waits, and when it has the lock of the listener.",
        "RebalancePushImpl#tryRemoveOrderMessageQueue @ 5.2.0, 5.5.0",
        releases="5.2.0+",
    ),
    Rule(
        "RST-PAUSE",
        "From the request on until it goes on the consumer pulls from none of its queues, named or not.",
        "MQClientInstance#resetOffset, DefaultMQPushConsumerImpl#pullMessage @ 4.0.0, 4.9.8, 5.5.0",
    ),
    Rule(
        "RST-QUEUE",
        "A client handles one reset after the other: the next one begins when the consumer went on. Up to 4.8.0 they "
        "run side by side, and the first to end lets the consumer go on.",
        "MQClientInstance#resetOffset @ 4.0.0, 4.8.0, 4.9.0, 5.5.0",
    ),
    Rule(
        "RST-OTHERS",
        "Pull and lite pull consumers, and clients without a consumer of the group, ignore the request.",
        "MQClientInstance#resetOffset @ 4.0.0, 4.6.0, 4.9.8, 5.5.0",
    ),
    Rule(
        "RST-BODY",
        "A request without a body names no queue, but is handled. One with the list of offsets that brokers send to "
        "clients in C++ cannot be read, and changes nothing.",
        "ClientRemotingProcessor#resetOffset, ResetOffsetBody, ResetOffsetBodyForC @ 4.0.0, 4.9.8, 5.5.0",
    ),
    Rule(
        "RST-RESULT",
        "What a listener returns for a process queue that a reset dropped is ignored.",
        "ConsumeMessageConcurrentlyService#processConsumeResult, ConsumeMessageOrderlyService#processConsumeResult "
        "@ 4.0.0, 4.9.8, 5.5.0",
    ),
    Rule(
        "REB-TWICE",
        "Of two rounds of one member at once, such as that after a reset and that of the timer, the one that is done "
        "with a queue first begins it, by one pull request; the other finds it owned.",
        "RebalanceImpl#updateProcessQueueTableInRebalance @ 4.0.0, 4.9.8, 5.3.3",
    ),
    Rule(
        "REB-TWICE-LATE",
        "The answer that comes to the other round goes to memory all the same, over what was consumed since or "
        "committed by another member, and the timer sends it.",
        "RemoteBrokerOffsetStore#readOffset, RebalanceImpl#updateProcessQueueTableInRebalance @ 4.0.0, 4.9.8, 5.3.3",
    ),
    Rule(
        "RST-STATUS",
        "GET_CONSUMER_STATUS is answered with the offsets in memory of the topic's queues, of all when the topic is "
        "blank, owned or not. Lite pull consumers, and clients without a consumer of the group, answer none.",
        "ClientRemotingProcessor#getConsumeStatus, MQClientInstance#getConsumerStatus @ 4.0.0, 4.6.0, 4.9.8, 5.5.0",
    ),
)

_START = reasons_by_kind(("REB-BEGIN-1", "START-PUSH-1"), PUSH, ORDERLY)
_START |= reasons_by_kind(("REB-BEGIN-1",), PULL, LITE)
_TWICE = reasons_by_kind(("REB-TWICE", "START-PUSH-1"), "owned already")
_TWICE |= reasons_by_kind(("REB-TWICE-LATE", "REB-TWICE", "START-PUSH-1"), "over memory")
_UPDATE = Reason(("OFF-UPD-1",), "the application sets an offset")
_OTHERS = reasons_by_kind(("RST-OTHERS",), "unknown group", PULL, LITE)
_UNREAD = Reason(("RST-BODY",), "the body of another language")
_BEGUN = {
    NO_BODY: Reason(("RST-BODY", "RST-WAIT", "RST-PAUSE"), "without body"),
    QUEUED: Reason(("RST-QUEUE",), "behind another one"),
    "side by side": Reason(("RST-QUEUE", "RST-PUSH"), "beside another one"),
    SLEEPING: Reason(("RST-PUSH", "RST-WAIT", "RST-PAUSE"), "sleeps"),
    LISTENER: Reason(("RST-PUSH", "RST-LISTENER"), "waits for the listener"),
    UNLOCKING: Reason(("RST-PUSH", "RST-UNLOCK"), "waits after the commit"),
    "at once": Reason(("RST-PUSH", "RST-LISTENER", "RST-RESUME"), "at once"),
}
_PASSED = reasons_by_kind(("RST-WAIT",), "nothing pends", "still pending")
_PULLED = reasons_by_kind(("PULL-PRE-DROP",), "pulled", "not owned")
_PULLED |= reasons_by_kind(("RST-PUSH", "PULL-PRE-DROP"), "dropped")
_PULLED |= reasons_by_kind(("RST-PAUSE",), "paused")
_PULLED |= reasons_by_kind(("PULL-PRE-LOCK",), "not locked", "start asked again")
_TAKEN = reasons_by_kind(("CONS-DROP",), "taken", "not owned", "dropped", "a listener is busy")
_FINISHED = reasons_by_kind(("CONS-DROP", "OFF-UPD-1"), "stored", "nothing taken")
_LATE = Reason(("RST-RESULT",), "dropped meanwhile")
_PERSISTED = reasons_by_kind(("OFF-R-PALL", "REB-PERSIST-1"), "sent", "nothing to send")
_STATUS = reasons_by_kind(("RST-STATUS",), "unknown group", LITE)
_STATUS |= reasons_by_kind(("RST-STATUS", "OFF-R-CLONE"), "all topics", "one topic")


class PushedResetModel:
    """The operations of such a consumer for one profile and topology; every method is pure."""

    __slots__ = ("rules", "topology")

    def __init__(self, profile: Profile, topology: Topology) -> None:
        self.rules = ClientRules.of(profile)
        self.topology = topology

    def initial(self) -> PushedResetState:
        """A push consumer that was just started."""
        return self.start(PushedResetState(), PUSH)[0]

    def start(self, state: PushedResetState, kind: str) -> Answer[PushedResetState]:
        """REB-BEGIN-1: another consumer takes the place: the pull requests that begin."""
        consumer = ResetConsumer(self.rules, PushedResetState(kind, state.now, stored=state.stored))
        if kind in {PUSH, ORDERLY}:
            consumer.rebalance()
        return consumer.state(), tuple(consumer.pulls.get(0, ())), _START[kind]

    def start_twice(self, state: PushedResetState, queue: int, meanwhile: str) -> Answer[PushedResetState]:
        """REB-TWICE: (pull requests that begin, commits) of two rounds at once; the first one waits for an answer."""
        consumer = ResetConsumer(self.rules, PushedResetState(PUSH, state.now, stored=state.stored))
        late = state.stored.get(queue)
        commits = ((queue, COMMITTED),) if meanwhile == COMMITS else ()
        consumer.stored.update(commits)
        consumer.rebalance()
        if meanwhile == CONSUMES:
            consumer.memory[queue] = consumer.table[queue].offset + CONSUMED
        before = consumer.memory.get(queue)
        if late is not None or not self.rules.asks_no_zero:
            consumer.memory[queue] = late or 0
        why = _TWICE["over memory" if consumer.memory.get(queue) != before else "owned already"]
        return consumer.state(), (tuple(consumer.pulls.get(0, ())), commits), why

    def update(self, state: PushedResetState, queue: int, offset: int) -> Answer[PushedResetState]:
        """OFF-UPD-1."""
        memory, _ = updated(state.memory, UNFROZEN, queue, offset, False)
        return state._replace(memory=memory), None, _UPDATE

    def reset_queue(
        self, state: PushedResetState, queue: int, offset: int, topic: str, body: str
    ) -> Answer[PushedResetState]:
        """RST-*: a request for one queue."""
        return self.reset(state, self.topology.group, (queue,), offset, topic, body)

    def reset(
        self, state: PushedResetState, group: str, queues: tuple[int, ...], offset: int, topic: str, body: str
    ) -> Answer[PushedResetState]:
        """RST-*: (pull requests that began, by the ms since then; commits). Each queue gets an offset one higher than
        the one before."""
        if body == CPP:
            return state, ((), ()), _UNREAD
        named = () if body == NO_BODY else tuple((queue, offset + at) for at, queue in enumerate(queues))
        offsets = tuple(sorted((queue, to) for queue, to in named if self.topology.topic_of[queue] == topic))
        applies = group == self.topology.group and state.kind in {PUSH, ORDERLY}
        consumer = ResetConsumer(self.rules, state)
        consumer.resets.append(PendingReset(offsets, applies=applies))
        at = len(consumer.resets) - 1
        if at and self.rules.serial_resets:
            return consumer.state(), ((), ()), _BEGUN[QUEUED]
        consumer.begin(at)
        why = self._begun(consumer, at, group, body)
        return consumer.state(), consumer.answer(), why

    def _begun(self, consumer: ResetConsumer, at: int, group: str, body: str) -> Reason:
        if group != self.topology.group:
            return _OTHERS["unknown group"]
        if consumer.kind in {PULL, LITE}:
            return _OTHERS[consumer.kind]
        if at:
            return _BEGUN["side by side"]
        why = _BEGUN[consumer.resets[0].stage] if consumer.resets else _BEGUN["at once"]
        rules = (*why.rules, *_BEGUN[NO_BODY].rules) if body == NO_BODY else why.rules
        return reset_reason((*rules, *consumer.rules), why.kind)

    def elapse(self, state: PushedResetState, elapses: int) -> Answer[PushedResetState]:
        """RST-WAIT, RST-LISTENER, RST-UNLOCK: (pull requests that began, by the ms since then; commits)."""
        until = state.now + elapses
        waiting = [pending for pending in state.resets if pending.stage != QUEUED]
        if not waiting or min(pending.due for pending in waiting) > until:
            return state._replace(now=until), ((), ()), _PASSED["still pending" if waiting else "nothing pends"]
        consumer = ResetConsumer(self.rules, state)
        while due := [
            (pending.due, at)
            for at, pending in enumerate(consumer.resets)
            if pending.stage != QUEUED and pending.due <= until
        ]:
            consumer.now, at = min(due)
            consumer.wake(at, done=False)
        consumer.now = until
        return consumer.state(), consumer.answer(), reset_reason(tuple(consumer.rules), "time is up")

    # --- listeners, pulls and timers --------------------------------------------------------------------------

    def take(self, state: PushedResetState, queue: int, offset: int) -> Answer[PushedResetState]:
        """A message arrives, and a listener is busy with it: was it taken?"""
        owned = state.table.get(queue)
        if owned is None or queue in state.busy:
            return state, False, _TAKEN["not owned" if owned is None else "a listener is busy"]
        if state.kind == ORDERLY and (not owned.locked or state.now - owned.confirmed > LOCK_EXPIRY):
            owned = owned._replace(locked=True, confirmed=state.now)
        after = state._replace(table={**state.table, queue: owned}, busy={**state.busy, queue: (owned.number, offset)})
        return after, True, _TAKEN["taken"]

    def finish(self, state: PushedResetState, queue: int) -> Answer[PushedResetState]:
        """RST-RESULT: the listener is done: (the offset in memory, -1 for none; pull requests that began; commits)."""
        busy, owned = state.busy.get(queue), state.table.get(queue)
        if busy is None:
            return state, (state.memory.get(queue, -1), (), ()), _FINISHED["nothing taken"]
        consumer = ResetConsumer(self.rules, state)
        del consumer.busy[queue]
        number, offset = busy
        on_time = owned is not None and owned.number == number and not owned.dropped
        if on_time:
            old = consumer.memory.get(queue, -1)
            consumer.memory[queue] = offset + 1 if state.kind == ORDERLY else max(old, offset + 1)
        for waits in [pending for pending in state.resets if waits_for(pending, queue)]:
            consumer.wake(consumer.resets.index(waits), done=True)
        answer = (consumer.memory.get(queue, -1), *consumer.answer())
        why = _FINISHED["stored"] if on_time else reset_reason((*_LATE.rules, *consumer.rules), _LATE.kind)
        return consumer.state(), answer, why

    def pull(self, state: PushedResetState, queue: int) -> Answer[PushedResetState]:
        """RST-PAUSE: the offset that the pull loop asks for, or None."""
        owned = state.table.get(queue)
        if owned is None or owned.dropped or state.paused:
            kind = "not owned" if owned is None else "dropped" if owned.dropped else "paused"
            return state, None, _PULLED[kind]
        if state.kind != ORDERLY or owned.corrected:
            return state, owned.offset, _PULLED["pulled"]
        if not owned.locked:
            return state, None, _PULLED["not locked"]
        consumer = ResetConsumer(self.rules, state)
        offset = consumer.start_of(queue)
        consumer.table[queue] = owned._replace(offset=offset, corrected=True)
        after = consumer.state()
        return after, offset, _PULLED["start asked again"]

    def persist(self, state: PushedResetState) -> Answer[PushedResetState]:
        """OFF-R-PALL: the timer sends the offsets of the queues in the table, and forgets the others."""
        memory = {queue: offset for queue, offset in state.memory.items() if queue in state.table}
        sent = tuple(sorted(memory.items()))
        why = _PERSISTED["sent" if sent else "nothing to send"]
        return state._replace(memory=memory, stored={**state.stored, **memory}), sent, why

    def running_info(self, state: PushedResetState, group: str) -> Answer[PushedResetState]:
        """INFO-QUEUES: of each queue: its number, its offset, whether it is locked, and dropped."""
        if group != self.topology.group:
            return state, NOBODY, REASONS["unknown group"]
        if state.kind in {PULL, LITE}:
            return state, (), REASONS["pull" if state.kind == PULL else "no queues"]
        memory = {**state.memory}
        rows = []
        for queue, owned in sorted(state.table.items()):
            offset = memory.get(queue, state.stored.get(queue))
            if offset is None:
                offset = -1 if self.rules.asks_no_zero else 0
            if offset != -1:
                memory[queue] = offset
            locked = owned.locked if state.kind == ORDERLY else self.rules.born_locked
            rows.append((queue, offset, locked, owned.dropped))
        asks = not state.table.keys() <= state.memory.keys()
        return state._replace(memory=memory), tuple(rows), REASONS["owned, asks the broker" if asks else "owned"]

    def status(self, state: PushedResetState, group: str, topic: str) -> Answer[PushedResetState]:
        """RST-STATUS: the (queue, offset) pairs that the client answers, sorted."""
        if group != self.topology.group or state.kind == LITE:
            return state, (), _STATUS["unknown group" if group != self.topology.group else LITE]
        pairs, _ = cloned(state.memory, topic, self.topology)
        return state, pairs, _STATUS["one topic" if topic else "all topics"]


@cache
def reset_reason(rules: tuple[str, ...], kind: str) -> Reason:
    """The one reason of answers that these rules decided."""
    return Reason(tuple(dict.fromkeys(rules)), kind)
