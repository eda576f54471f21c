"""A consumer with an orderly listener: one batch of a queue at a time, lowest first, until none is left (CONS-2).

A pull that finds a queue idle starts its *run*. A run takes batches, one after the other, and gives each to the
listener, until the queue is empty or the listener wants to wait: then its batch is put back, and another run is
planned. With automatic commit every batch that is not put back is committed when it is done with; without it, batches
pile up aside until the listener returns COMMIT or ROLLBACK.

A commit overwrites the offset in memory, downwards too.

A message that was tried as often as the consumer allows goes to the group's retry topic, where the broker makes it a
dead letter; a batch is done with instead of being retried only if it consists of such messages.

The queues of this consumer are locked; ``rebalance_orderly`` has the rules of locks.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import NamedTuple

from rocketmq_conformance.models.client.client_rules import ClientRules
from rocketmq_conformance.models.client.consume import NEW_QUEUES, NO_OFFSET, QUEUE_NUMBERS
from rocketmq_conformance.models.client.member import BROADCASTING
from rocketmq_conformance.models.client.process_queue_contents import (
    FAILED,
    CachedMessage,
    ProcessQueueContents,
    cleared,
    commit,
    dropped,
    flow_control_counts,
    put,
    put_back,
    rollback,
    take,
    with_odd_bytes,
)
from rocketmq_conformance.models.client.send_back import SentBackMessage, copy_of, first_topic, is_refused
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.outcome import having_sent
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Answer, Reason, Rule, reasons_by_kind

RULES = (
    Rule(
        "CONS-2",
        "A run gives a queue's messages to the listener in order, a batch at a time, until none is left, the listener "
        "suspends or rolls back, or the process queue is dropped; no other run of the queue begins before that.",
        "ConsumeMessageOrderlyService.ConsumeRequest#run @ 4.0.0, 4.9.8, 5.5.0",
    ),
    Rule(
        "CONS-2-AUTO",
        "With automatic commit SUCCESS commits, and COMMIT and ROLLBACK do the same.",
        "ConsumeMessageOrderlyService#processConsumeResult @ 4.0.0, 4.9.8, 5.5.0",
    ),
    Rule(
        "CONS-2-MANUAL",
        "Without automatic commit SUCCESS leaves the batch aside, COMMIT commits all that is aside, and ROLLBACK puts "
        "it back and suspends.",
        "ConsumeMessageOrderlyService#processConsumeResult @ 4.0.0, 4.9.8, 5.5.0",
    ),
    Rule(
        "CONS-2-SUSPEND",
        "SUSPEND, no status and an exception put the batch back, and another run begins after as many ms as the "
        "listener gave: 1000 for -1, at least 10 and at most 30000.",
        "ConsumeMessageOrderlyService#processConsumeResult, #submitConsumeRequestLater @ 4.0.0, 4.9.8, 5.5.0",
    ),
    Rule(
        "CONS-2-TIMES",
        "Suspending counts every message of the batch as tried once more, but one that was tried as often as allowed "
        "is sent to the retry topic; unless that fails it is not counted. When all of a batch went there the batch "
        "is not put back: it is committed, or left aside without automatic commit. Without a limit none goes there.",
        "ConsumeMessageOrderlyService#checkReconsumeTimes, #getMaxReconsumeTimes @ 4.0.0, 4.9.8, 5.5.0",
    ),
    Rule(
        "CONS-2-COPY",
        "The copy that goes to the retry topic has the delay level 3 plus the times that the message was tried. Before "
        "5.1.1 it is counted as tried no more often than the message, before 4.9.4 and 5.0.0 the id of a message that "
        "is no copy itself is lost, and before 4.5.1 one of the retry topic names that topic as its first.",
        "ConsumeMessageOrderlyService#sendMessageBack @ 4.5.0, 4.5.1, 4.9.3, 4.9.4, 5.0.0-ALPHA, 5.0.0, 5.1.0, 5.1.1",
    ),
    Rule(
        "CONS-2-COMMIT",
        "What a commit answers is written to memory, over a larger offset too, unless the process queue was dropped. A "
        "commit with nothing aside, as after a reset, ends the run with an error: no other run begins, whatever is "
        "pulled.",
        "ConsumeMessageOrderlyService#processConsumeResult, ProcessQueue#commit @ 4.0.0, 4.9.8, 5.5.0",
        quirk="nothing is aside",
    ),
    Rule(
        "CONS-2-FULL",
        "A run that the executor refuses is lost. A pull that was to begin it ends with an error, its messages stay in "
        "the process queue, and no other run of the queue begins until it is lost and won again.",
        "ConsumeMessageOrderlyService#submitConsumeRequest, #submitConsumeRequestLater @ 4.0.0, 4.9.8, 5.5.0",
    ),
)

SUCCESS, COMMIT, ROLLBACK = "SUCCESS", "COMMIT", "ROLLBACK"
SUSPEND, NOTHING, RAISES = "SUSPEND_CURRENT_QUEUE_A_MOMENT", "null", "raise"
#: Events while the listener has the first batch of a run: none, its queue is lost and won again, or its messages are
#: cleared for a reset.
CALM, LOSES, CLEARS = "nothing", "loses", "clears"
#: Ms of a suspension: when the listener does not set it, at least, at most.
SUSPENSION, SHORTEST, LONGEST = 1_000, 10, 30_000
#: The most tries when the consumer does not set them.
UNLIMITED = (1 << 31) - 1


class ConsumeOrderlyState(NamedTuple):
    """One consumer. Process queues have numbers, in the order in which they were made."""

    broadcasts: bool = False
    #: The most tries of a message; -1: not set.
    max_times: int = -1
    #: The most messages of a batch.
    batch: int = 2
    #: The process queue of each queue.
    owned: Mapping[int, int] = QUEUE_NUMBERS
    cached: Mapping[int, ProcessQueueContents] = NEW_QUEUES
    #: Runs that begin, by the number of the process queue.
    runs: tuple[int, ...] = ()
    #: Runs that begin later: when, in ms of the case's clock, and the number.
    later: tuple[tuple[int, int], ...] = ()
    #: Offsets by queue.
    memory: Mapping[int, int] = MappingProxyType({})
    now: int = 0
    #: Messages that were pulled so far.
    pulled: int = 0
    #: How many runs more the executor takes; None for all.
    room: int | None = None


BEGIN = Reason(("CONS-2",), "begins")
TICK = reasons_by_kind(("CONS-2-SUSPEND",), "no run due", "another run")
TICK_REFUSED = Reason(("CONS-2-FULL", "CONS-2-SUSPEND"), "another run is refused")
FILL = reasons_by_kind(("CONS-2-FULL",), "takes all", "takes some", "takes none")
DROP = Reason(("CONS-DROP",), "orderly queue lost and won again")
CLEAR = Reason(("PQ-3",), "cleared")
UPDATE = Reason(("OFF-UPD-1",), "set by the application")
_NONE = Reason(("CONS-2",), "no run")
_DROPPED = Reason(("CONS-2",), "dropped before the run")
_EMPTY = Reason(("CONS-2", "PQ-3"), "run of nothing")
#: How a run ends, and by which rules beside those of its statuses.
_ENDS = {
    "emptied": (),
    "dropped": (),
    "waits": ("CONS-2-SUSPEND",),
    "waits, sent on": ("CONS-2-SUSPEND", "CONS-2-TIMES", "CONS-2-COPY"),
    "sent on": ("CONS-2-TIMES", "CONS-2-COPY"),
    "error": ("PQ-BODY",),
}
_RUNS = {
    (automatic, end): Reason(
        ("CONS-2", "PQ-3", "CONS-2-COMMIT", "CONS-2-AUTO" if automatic else "CONS-2-MANUAL", *by),
        f"{'automatic' if automatic else 'manual'}, {end}",
        quirk=end == "error",
        either=end == "error",
    )
    for automatic in (True, False)
    for end, by in _ENDS.items()
}


@cache
def _refused(why: Reason) -> Reason:
    """The reason of a pull whose run is refused."""
    return Reason(("CONS-2-FULL", *why.rules), f"{why.kind}, refused")


class ConsumeOrderlyModel:
    """The rules for one profile and topology; every method is pure."""

    __slots__ = ("rules", "topology")

    def __init__(self, profile: Profile, topology: Topology) -> None:
        self.rules = ClientRules.of(profile)
        self.topology = topology

    def begin(self, state: ConsumeOrderlyState, mode: str, max_times: int, batch: int) -> Answer[ConsumeOrderlyState]:
        """A new consumer with new process queues."""
        return ConsumeOrderlyState(mode == BROADCASTING, max_times, batch), None, BEGIN

    def put(
        self, state: ConsumeOrderlyState, queue: int, offsets: tuple[int, ...], size: int, times: int
    ) -> Answer[ConsumeOrderlyState]:
        """PQ-1, CONS-2-FULL: (does a run begin?, the counts of the process queue)."""
        broadcasts, max_times, batch, owned, cached, runs, later, memory, now, pulled, room = state
        number = owned[queue]
        messages = [
            CachedMessage(pulled + at, queue, offset, size, times) for at, offset in enumerate(offsets, start=1)
        ]
        after, starts, why = put(self.rules, cached[number], messages)
        refused = bool(starts) and room == 0
        if starts and not refused:
            runs = (*runs, number)
            if room is not None:
                room -= 1
        cached, pulled = {**cached, number: after}, pulled + len(offsets)
        state = ConsumeOrderlyState(broadcasts, max_times, batch, owned, cached, runs, later, memory, now, pulled, room)
        if starts is None or refused:
            return state, FAILED, _refused(why) if refused else why
        return state, (starts, *flow_control_counts(self.rules, after)), why

    def consume(
        self,
        state: ConsumeOrderlyState,
        at: int,
        first: str,
        then: str,
        automatic: bool,
        suspension: int,
        back_fault: str,
        meanwhile: str,
    ) -> Answer[ConsumeOrderlyState]:
        """CONS-2: the batches that the listener saw (None: it was not called), the offset in memory, the counts of the
        process queue, and the requests that reached the broker."""
        broadcasts, max_times, batch, owned, caches, runs, later, memory, now, pulled, room = state
        if not runs:
            return state, None, _NONE
        place = min(at, len(runs) - 1)
        number = runs[place]
        runs = runs[:place] + runs[place + 1 :]
        cached = caches[number]
        queue = cached.queue
        seen: list[tuple[int, ...]] = []
        gone: list[SentBackMessage] = []
        end = "dropped"
        while not cached.dropped:
            cached, messages = take(cached, batch)
            if not messages:
                end = "sent on" if gone else "emptied"
                break
            status = then if seen else first
            if not seen:
                if meanwhile == LOSES:
                    cached = dropped(cached)
                    owned, caches = {**owned, queue: len(caches)}, {**caches, len(caches): ProcessQueueContents(queue)}
                    memory = {other: offset for other, offset in memory.items() if other != queue}
                elif meanwhile == CLEARS:
                    cached = cleared(cached)
            seen.append(tuple([message.offset for message in messages]))
            waits = False
            if status == ROLLBACK and not automatic:
                cached, waits = rollback(cached), True
            elif status not in (SUCCESS, COMMIT, ROLLBACK):
                tried, waits = self._tried(max_times, messages, back_fault, gone)
                if waits:
                    cached = put_back(cached, tried)
            if waits:
                later = (*later, (now + suspension_of(suspension), number))
                end = "waits, sent on" if gone else "waits"
                break
            if (automatic or status == COMMIT) and (cached.taken or self.rules.commits_nothing):
                cached, offset = commit(self.rules, cached)
                if offset is None:
                    end = "error"
                    break
                if not cached.dropped:
                    memory = {**memory, queue: offset}
        state = ConsumeOrderlyState(
            broadcasts, max_times, batch, owned, {**caches, number: cached}, runs, later, memory, now, pulled, room
        )
        if end == "error":
            return state, having_sent(FAILED, tuple(sorted(gone))), _RUNS[automatic, end]
        why = with_odd_bytes(_RUNS[automatic, end] if seen else _DROPPED if cached.dropped else _EMPTY, cached)
        batches = tuple(seen) if seen or not cached.dropped else None
        answer = (batches, memory.get(queue, NO_OFFSET), *flow_control_counts(self.rules, cached), tuple(sorted(gone)))
        return state, answer, why

    def _tried(
        self, max_times: int, messages: tuple[CachedMessage, ...], fault: str, gone: list[SentBackMessage]
    ) -> tuple[tuple[CachedMessage, ...], bool]:
        """CONS-2-TIMES: the messages with new counts of tries, and whether they are retried."""
        rules = self.rules
        most = UNLIMITED if max_times == -1 else max_times
        tried: list[CachedMessage] = []
        waits = False
        for message in messages:
            serial, queue, offset, size, times, began = message
            if times >= most and size and not is_refused(fault, offset):
                topic = first_topic(self.topology, queue) if rules.orderly_topic else self.topology.topic_of[queue]
                copy_times = times + 1 if rules.orderly_times else times
                gone.append(copy_of(self.topology, message, topic, most, copy_times, rules.orderly_origin))
                tried.append(message)
            else:
                waits = True
                tried.append(CachedMessage(serial, queue, offset, size, times + 1, began))
        return tuple(tried), waits

    def tick(self, state: ConsumeOrderlyState, millis: int) -> Answer[ConsumeOrderlyState]:
        """CONS-2-SUSPEND, CONS-2-FULL: the number of runs that are to begin."""
        now, room = state.now + millis, state.room
        due = sorted((entry for entry in state.later if entry[0] <= now), key=lambda entry: entry[0])
        if not due:
            return state._replace(now=now), len(state.runs), TICK["no run due"]
        later = tuple([entry for entry in state.later if entry[0] > now])
        why = TICK["another run"]
        if room is not None:
            if len(due) > room:
                why = TICK_REFUSED
            due = due[:room]
            room -= len(due)
        runs = (*state.runs, *[number for _, number in due])
        return state._replace(now=now, runs=runs, later=later, room=room), len(runs), why

    def fill(self, state: ConsumeOrderlyState, room: int | None) -> Answer[ConsumeOrderlyState]:
        """CONS-2-FULL: from now on the executor takes so many runs, or all."""
        kind = "takes all" if room is None else "takes some" if room else "takes none"
        return state._replace(room=room), None, FILL[kind]

    def drop(self, state: ConsumeOrderlyState, queue: int) -> Answer[ConsumeOrderlyState]:
        """A rebalance takes a queue away and another one gives it back: the process queue is a new one, and the queue's
        offset in memory is forgotten."""
        number = len(state.cached)
        old = state.owned[queue]
        cached = {**state.cached, old: dropped(state.cached[old]), number: ProcessQueueContents(queue)}
        memory = {other: offset for other, offset in state.memory.items() if other != queue}
        return state._replace(owned={**state.owned, queue: number}, cached=cached, memory=memory), None, DROP

    def clear(self, state: ConsumeOrderlyState, queue: int) -> Answer[ConsumeOrderlyState]:
        """A reset forgets the messages of a queue; answers the counts of the process queue."""
        number = state.owned[queue]
        cached = cleared(state.cached[number])
        return state._replace(cached={**state.cached, number: cached}), flow_control_counts(self.rules, cached), CLEAR

    def update(self, state: ConsumeOrderlyState, queue: int, offset: int) -> Answer[ConsumeOrderlyState]:
        """An application sets an offset."""
        return state._replace(memory={**state.memory, queue: offset}), None, UPDATE


def suspension_of(millis: int) -> int:
    """CONS-2-SUSPEND: ms until another run begins."""
    return min(max(SUSPENSION if millis == -1 else millis, SHORTEST), LONGEST)
