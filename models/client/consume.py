"""A consumer with a concurrent listener: batches in, results out in any order, one offset per queue (CONS-1, PQ-4).

What a pull brings is cached in the queue's process queue and cut into *requests*. Listeners take requests in any
order; each ends with a status and the index of the last message that was consumed successfully. Messages after that one
are sent back to the broker, to be retried by way of the group's retry topic; sent back counts as done. A message that
cannot be sent back is kept, and retried here after five seconds.

The committed offset is the one below which everything is done: however requests finish, it never passes a message that
is still to do. It is written increase-only, into the consumer's offset table, and only while the process queue that the
messages came from is still owned.

A timer sends back messages that a listener has had for more than 15 minutes, lowest offset first, while the listener
is still busy with them; nothing is committed then.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import NamedTuple

from rocketmq_conformance.models.client.client_rules import ClientRules
from rocketmq_conformance.models.client.member import BROADCASTING
from rocketmq_conformance.models.client.process_queue_contents import (
    FAILED,
    CachedMessage,
    ProcessQueueContents,
    broken_by_body,
    dropped,
    flow_control_counts,
    put,
    remove,
    with_newer,
    with_odd_bytes,
)
from rocketmq_conformance.models.client.send_back import SentBackMessage, send_back
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.outcome import Err, having_sent
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Answer, Reason, Rule, accident, reasons_by_kind

RULES = (
    Rule(
        "CONS-1",
        "The result of a listener removes its messages from the process queue; the offset that this answers, if it is "
        "none below 0, is written to the consumer's memory, increase-only.",
        "ConsumeMessageConcurrentlyService#processConsumeResult @ 4.0.0, 4.9.8, 5.5.0",
    ),
    Rule(
        "CONS-1-SPLIT",
        "What a pull brings is cut into requests of at most the batch size, in order.",
        "ConsumeMessageConcurrentlyService#submitConsumeRequest @ 4.0.0, 4.9.8, 5.5.0",
    ),
    Rule(
        "CONS-1-FULL",
        "An executor that refuses a request of what a pull brought is given it again 5 s later, and with it, in one "
        "request, all messages of the pull that were to come after it. What is refused again then is given to no "
        "listener: its messages stay in the process queue.",
        "ConsumeMessageConcurrentlyService#submitConsumeRequest, #submitConsumeRequestLater @ 4.0.0, 4.9.8, 5.3.3",
    ),
    Rule(
        "CONS-1-ACK",
        "Of a success, the messages up to the index that the listener gave went well: all when it gives none or one "
        "beyond the end, none when it gives -1. An index below -1 is an error that leaves everything as it is.",
        "ConsumeMessageConcurrentlyService#processConsumeResult @ 4.0.0, 4.9.8, 5.5.0",
    ),
    Rule(
        "CONS-1-LATER",
        "Of a failure, no message went well, whatever index the listener gave; no status at all and an exception are "
        "failures.",
        "ConsumeMessageConcurrentlyService#processConsumeResult, "
        "ConsumeMessageConcurrentlyService.ConsumeRequest#run @ 4.0.0, 4.9.8, 5.5.0",
    ),
    Rule(
        "CONS-1-BACK",
        "In a cluster, messages that did not go well are sent back with the delay level that the listener gave, and "
        "count as done.",
        "ConsumeMessageConcurrentlyService#processConsumeResult, #sendMessageBack @ 4.0.0, 4.9.8, 5.5.0",
    ),
    Rule(
        "CONS-1-LOCAL",
        "A message that could not be sent back stays in the process queue, counts as tried once more, and is given to "
        "a listener again after 5 s.",
        "ConsumeMessageConcurrentlyService#processConsumeResult, #submitConsumeRequestLater @ 4.0.0, 4.9.8, 5.5.0",
    ),
    Rule(
        "CONS-1-GONE",
        "From 5.1.0 on, a message that is not in the process queue any more is not sent back.",
        "ConsumeMessageConcurrentlyService#processConsumeResult @ 5.0.0, 5.1.0, 5.5.0",
        releases="5.1.0+",
    ),
    Rule(
        "CONS-1-BROADCAST",
        "A broadcasting consumer sends nothing back: messages that did not go well are dropped, as if they had.",
        "ConsumeMessageConcurrentlyService#processConsumeResult @ 4.0.0, 4.9.8, 5.5.0",
    ),
    Rule(
        "CONS-1-DROPPED",
        "Messages of a process queue that was dropped are not given to a listener; if it was dropped while a listener "
        "had them, the result is discarded, and nothing is sent back.",
        "ConsumeMessageConcurrentlyService.ConsumeRequest#run @ 4.0.0, 4.9.8, 5.5.0",
    ),
    Rule(
        "PQ-4",
        "The timer sends back, at delay level 3, the lowest message as long as a listener began with it more than 15 "
        "minutes ago, and removes it, up to 16 of them, of a broadcasting consumer too; nothing is committed. One that "
        "cannot be sent back stays, and keeps those above it.",
        "ProcessQueue#cleanExpiredMsg @ 4.0.0, 4.9.8, 5.5.0",
    ),
    Rule(
        "PQ-4-COUNT",
        "Before 4.2.0 the timer does not take what it removes off the count of messages.",
        "ProcessQueue#cleanExpiredMsg @ 4.1.0, 4.2.0",
        releases="4.0.0, 4.1.0",
        quirk="the timer sends back",
    ),
    Rule(
        "PQ-4-BEGUN",
        "A lowest message that no listener began with ends the timer's turn; before 4.9.3 and 5.0.0-ALPHA by an error.",
        "ProcessQueue#cleanExpiredMsg @ 4.9.2, 4.9.3, 5.0.0-PREVIEW, 5.0.0-ALPHA",
        quirk="it ends by an error",
    ),
)

SUCCESS, LATER, NOTHING, RAISES = "CONSUME_SUCCESS", "RECONSUME_LATER", "null", "raise"
#: Ms after which a listener's time for a message is over.
TIMEOUT = 900_000
#: Events while a listener has the messages: none, its queue is lost and won again, or it takes so many ms and then the
#: timer runs.
CALM, LOSES, IN_TIME, TIMES_OUT = "nothing", "loses", "in time", "times out"
DURATIONS = {IN_TIME: TIMEOUT, TIMES_OUT: 960_000}
#: Ms until a message that was not sent back is retried here.
LOCAL_DELAY = 5_000
#: Messages that the timer cleans up in a turn at most, and their delay level.
MAX_CLEANED, CLEAN_LEVEL = 16, 3
#: The queues of the case: two of a topic, and one of the retry topic.
OWNED = (0, 1, 3)
NO_OFFSET = -1
#: The error of a timer that meets a message without a time of beginning.
NOT_BEGUN = Err("ILLEGAL_ARGUMENT")

ConsumeRequest = tuple[int, tuple[CachedMessage, ...]]
#: What will be given to the executor: when, in ms of the case's clock, the messages, and whether they were refused
#: before, and go as one request.
DelayedRequest = tuple[int, ConsumeRequest, bool]
#: The first process queues: numbers by queue, and what is in them.
QUEUE_NUMBERS: Mapping[int, int] = {queue: number for number, queue in enumerate(OWNED)}
NEW_QUEUES: Mapping[int, ProcessQueueContents] = {
    number: ProcessQueueContents(queue) for number, queue in enumerate(OWNED)
}
NO_OFFSETS: Mapping[int, int] = {}


class ConsumeState(NamedTuple):
    """One consumer. Process queues have numbers, in the order in which they were made."""

    broadcasts: bool = False
    #: The most tries of a message; -1: not set.
    max_times: int = -1
    #: The most messages of a request.
    batch: int = 3
    #: The process queue of each queue.
    owned: Mapping[int, int] = QUEUE_NUMBERS
    cached: Mapping[int, ProcessQueueContents] = NEW_QUEUES
    #: Requests that wait for a listener.
    requests: tuple[ConsumeRequest, ...] = ()
    #: Requests that will wait again.
    later: tuple[DelayedRequest, ...] = ()
    #: Offsets by queue.
    memory: Mapping[int, int] = NO_OFFSETS
    now: int = 0
    #: Messages that were pulled so far.
    pulled: int = 0
    #: How many requests more the executor takes; None for all.
    room: int | None = None


BEGIN = Reason(("CONS-1-SPLIT",), "begins")
TICK = reasons_by_kind(("CONS-1-LOCAL", "CONS-1-SPLIT"), "nothing due", "given again")
TICK_REFUSED = reasons_by_kind(("CONS-1-FULL",), "refused before", "refused before and refused now", "refused now")
FILL = reasons_by_kind(("CONS-1-FULL",), "takes all", "takes some", "takes none")
DROP = Reason(("CONS-DROP",), "queue lost and won again")
UPDATE = Reason(("OFF-UPD-1",), "set by the application")
REMOVE = reasons_by_kind(("PQ-2", "PQ-SIZE"), "nothing there", "none left", "some left")
_REMOVE_ODD = {kind: accident(why, "bytes") for kind, why in REMOVE.items()}
_NONE = Reason(("CONS-1-SPLIT",), "nothing waits")
_DROPPED = reasons_by_kind(("CONS-1-DROPPED",), "before", "meanwhile")
_INDEX = Reason(("CONS-1-ACK",), "index below -1")
_CLEANED = Reason(("PQ-4",), "nothing there")
_ACCIDENTS = ("sent back, still counted", "not begun, error")
_CLEAN_KINDS = {
    kind: Reason(rules, kind, quirk=kind in _ACCIDENTS, either=kind in _ACCIDENTS)
    for kind, rules in (
        ("too young", ("PQ-4",)),
        ("sent back", ("PQ-4", "CONS-BACK")),
        ("sent back as a copy", ("PQ-4", "CONS-BACK-COPY", "CONS-BACK-ORIGIN")),
        ("sent back, still counted", ("PQ-4", "PQ-4-COUNT", "CONS-BACK")),
        ("not sent back", ("PQ-4", "CONS-BACK-COPY", "CONS-BACK-BODY")),
        ("not begun", ("PQ-4-BEGUN",)),
        ("not begun, error", ("PQ-4-BEGUN",)),
    )
}
#: Reasons of results by (status, fate of the messages that failed, kind of commit).
_ENDS = {
    "all went well": (),
    "sent back": ("CONS-1-BACK", "CONS-BACK"),
    "copied": ("CONS-1-BACK", "CONS-BACK-COPY", "CONS-BACK-ORIGIN"),
    "kept": ("CONS-1-LOCAL", "CONS-BACK-COPY", "CONS-BACK-BODY"),
    "some kept": ("CONS-1-LOCAL", "CONS-1-BACK", "CONS-BACK"),
    "gone before": ("CONS-1-GONE",),
    "dropped by broadcast": ("CONS-1-BROADCAST",),
}
_COMMITS = {"nothing there": (), "first": (), "raised": (), "not raised": ("OFF-UPD-1",)}
_RESULTS = {
    (success, end, commit): Reason(
        (
            "CONS-1",
            "CONS-1-ACK" if success else "CONS-1-LATER",
            *by,
            *(() if commit == "nothing there" else ("PQ-2", "PQ-SIZE", "PQ-BODY")),
            *also,
        ),
        f"{'success' if success else 'failure'}, {end}, {commit}",
    )
    for success in (True, False)
    for end, by in _ENDS.items()
    for commit, also in _COMMITS.items()
}


def submitted(
    parts: tuple[ConsumeRequest, ...], room: int | None
) -> tuple[tuple[ConsumeRequest, ...], ConsumeRequest | None]:
    """CONS-1-FULL: the requests that an executor with room for so many takes, and what it refuses, as one request."""
    if room is None or len(parts) <= room:
        return parts, None
    number = parts[room][0]
    return parts[:room], (number, tuple([message for _, messages in parts[room:] for message in messages]))


def split(number: int, messages: tuple[CachedMessage, ...], batch: int) -> tuple[ConsumeRequest, ...]:
    """CONS-1-SPLIT: the requests that pulled messages are cut into."""
    if len(messages) <= batch:
        return ((number, messages),)
    return tuple([(number, messages[at : at + batch]) for at in range(0, len(messages), batch)])


@cache
def _refused(why: Reason) -> Reason:
    """The reason of a pull some of whose messages are refused."""
    return replace(why, rules=(*why.rules, "CONS-1-FULL"), kind=f"{why.kind}, refused")


def _when(entry: DelayedRequest) -> int:
    return entry[0]


def with_begin_time(messages: tuple[CachedMessage, ...], now: int) -> tuple[CachedMessage, ...]:
    """The messages with the time at which a listener got them."""
    return tuple(
        [CachedMessage(serial, queue, offset, size, times, now) for serial, queue, offset, size, times, _ in messages]
    )


class ConsumeModel:
    """The rules for one profile and topology; every method is pure."""

    __slots__ = ("rules", "topology")

    def __init__(self, profile: Profile, topology: Topology) -> None:
        self.rules = ClientRules.of(profile)
        self.topology = topology

    def begin(self, state: ConsumeState, mode: str, max_times: int, batch: int) -> Answer[ConsumeState]:
        """A new consumer with new process queues."""
        return ConsumeState(mode == BROADCASTING, max_times, batch), None, BEGIN

    def put(
        self, state: ConsumeState, queue: int, offsets: tuple[int, ...], size: int, times: int
    ) -> Answer[ConsumeState]:
        """PQ-1, CONS-1-SPLIT: (is consumption to be started?, the counts of the process queue)."""
        broadcasts, max_times, batch, owned, cached, requests, later, memory, now, pulled, room = state
        number = owned[queue]
        messages = tuple(
            [CachedMessage(serial, queue, offset, size, times) for serial, offset in enumerate(offsets, pulled + 1)]
        )
        after, starts, why = put(self.rules, cached[number], messages)
        if starts is not None:
            given, refused = submitted(split(number, messages, batch), room)
            requests += given
            if room is not None:
                room -= len(given)
            if refused is not None:
                later = (*later, (now + LOCAL_DELAY, refused, True))
                why = _refused(why)
        cached, pulled = {**cached, number: after}, pulled + len(offsets)
        state = ConsumeState(broadcasts, max_times, batch, owned, cached, requests, later, memory, now, pulled, room)
        if starts is None:
            return state, FAILED, why
        count, held, span, some = flow_control_counts(self.rules, after)
        return state, (starts, count, held, span, some), why

    def consume(
        self, state: ConsumeState, at: int, status: str, ack: int | None, level: int, back_fault: str, meanwhile: str
    ) -> Answer[ConsumeState]:
        """CONS-1: the offsets that the listener saw (None: it was not called), the offset in memory, the counts of the
        process queue, and the requests that reached the broker."""
        broadcasts, max_times, batch, owned, caches, requests, later, memory, now, pulled, room = state
        if not requests:
            return state, None, _NONE
        place = min(at, len(requests) - 1)
        number, messages = requests[place]
        requests = requests[:place] + requests[place + 1 :]
        cached = caches[number]
        queue = cached.queue
        if cached.dropped:
            state = state._replace(requests=requests)
            return (
                state,
                (None, memory.get(queue, NO_OFFSET), *flow_control_counts(self.rules, cached), ()),
                with_odd_bytes(_DROPPED["before"], cached),
            )
        seen = tuple([message.offset for message in messages])
        began = now
        if meanwhile != CALM or not self.rules.allows_no_body:  # else the loop below replaces what stays in the queue
            cached = with_newer(cached, with_begin_time(messages, began))
        gone: list[SentBackMessage] = []
        success = status == SUCCESS
        failed, timer = False, _CLEANED
        if meanwhile == LOSES:
            cached = dropped(cached)
            owned, caches = {**owned, queue: len(caches)}, {**caches, len(caches): ProcessQueueContents(queue)}
            memory = {other: offset for other, offset in memory.items() if other != queue}
            why = _DROPPED["meanwhile"]
        else:
            if meanwhile in DURATIONS:
                now += DURATIONS[meanwhile]
                cached, _, timer = self._clean(max_times, now, cached, back_fault, gone)
            last = -1
            if success:
                last = len(messages) - 1 if ack is None else min(ack, len(messages) - 1)
            if last < -1:
                failed, why = True, _INDEX
                cached = with_newer(cached, with_begin_time(messages, began))
            else:
                bad = messages[last + 1 :]
                end = "all went well"
                if bad and broadcasts:
                    end = "dropped by broadcast"
                elif bad:
                    kept, end = self._send_back(max_times, cached, bad, began, level, back_fault, gone)
                    if kept:
                        serials = {message.serial for message in kept}
                        messages = tuple([message for message in messages if message.serial not in serials])
                        cached = with_newer(cached, kept)
                        later = (*later, (now + LOCAL_DELAY, (number, kept), False))
                cached, offset, broken = remove(self.rules, cached, messages)
                old = memory.get(queue)
                if offset < 0:
                    commit = "nothing there"
                elif old is not None and offset <= old:
                    commit = "not raised"
                else:
                    commit = "first" if old is None else "raised"
                    memory = {**memory, queue: offset}
                why = broken_by_body(_RESULTS[success, end, commit]) if broken else _RESULTS[success, end, commit]
            if timer.quirk is True and not why.quirk:
                why = accident(why)
        state = ConsumeState(
            broadcasts, max_times, batch, owned, {**caches, number: cached}, requests, later, memory, now, pulled, room
        )
        back = tuple(sorted(gone)) if gone else ()
        if failed:
            return state, having_sent(FAILED, back), why
        count, size, span, some = flow_control_counts(self.rules, cached)
        answer = seen, memory.get(queue, NO_OFFSET), count, size, span, some, back
        return state, answer, why if why.quirk else with_odd_bytes(why, cached)

    def _send_back(
        self,
        max_times: int,
        cached: ProcessQueueContents,
        bad: tuple[CachedMessage, ...],
        began: int,
        level: int,
        fault: str,
        gone: list[SentBackMessage],
    ) -> tuple[tuple[CachedMessage, ...], str]:
        """CONS-1-BACK: the messages that are kept, tried once more, and what happened."""
        rules = self.rules
        kept: list[CachedMessage] = []
        end = "gone before"
        for message in bad:
            if rules.skips_uncached and message.offset not in cached.tree:
                continue
            back = send_back(self.topology, message, level, max_times, fault, rules.copies_origin)
            if back is None:
                serial, queue, offset, size, times, _ = message
                kept.append(CachedMessage(serial, queue, offset, size, times + 1, began))
            else:
                end = "copied" if back[0] == "copy" else "sent back"
                gone.append(back)
        if kept:
            end = "some kept" if gone and end != "gone before" else "kept"
        return tuple(kept), end

    def clean(self, state: ConsumeState, queue: int, back_fault: str) -> Answer[ConsumeState]:
        """PQ-4: the counts of the process queue, and the requests that reached the broker."""
        number = state.owned[queue]
        gone: list[SentBackMessage] = []
        cached, failed, why = self._clean(state.max_times, state.now, state.cached[number], back_fault, gone)
        state = _with_contents(state, number, cached)
        if failed:
            return state, having_sent(NOT_BEGUN, tuple(sorted(gone))), why
        answer = (*flow_control_counts(self.rules, cached), tuple(sorted(gone)))
        return state, answer, why if why.quirk else with_odd_bytes(why, cached)

    def _clean(
        self, max_times: int, now: int, cached: ProcessQueueContents, fault: str, gone: list[SentBackMessage]
    ) -> tuple[ProcessQueueContents, bool, Reason]:
        """The process queue afterwards, and whether the timer failed."""
        kind = ""
        failed = broken = False
        for _ in range(min(len(cached.tree), MAX_CLEANED)):
            lowest = min(cached.tree)
            message = cached.tree[lowest]
            if message.began is None:
                failed = not self.rules.cleans_guarded
                kind = "not begun, error" if failed else "not begun"
                break
            if now - message.began <= TIMEOUT:
                kind = kind or "too young"
                break
            back = send_back(self.topology, message, CLEAN_LEVEL, max_times, fault, self.rules.copies_origin)
            if back is None:
                kind = kind or "not sent back"
                continue
            gone.append(back)
            if self.rules.cleans_counted:
                kind = "sent back as a copy" if back[0] == "copy" else "sent back"
                cached, _, fails = remove(self.rules, cached, (message,))
                broken |= fails
            else:
                kind = "sent back, still counted"
                cached = cached._replace(tree={at: kept for at, kept in cached.tree.items() if at != lowest})
        why = _CLEAN_KINDS[kind] if kind else _CLEANED
        return cached, failed, broken_by_body(why) if broken else why

    def tick(self, state: ConsumeState, millis: int) -> Answer[ConsumeState]:
        """CONS-1-LOCAL, CONS-1-FULL: the number of requests that wait."""
        broadcasts, max_times, batch, owned, cached, requests, later, memory, now, pulled, room = state
        now += millis
        why = TICK["nothing due"]
        if later and min(later, key=_when)[0] <= now:
            why = TICK["given again"]
            due = [entry for entry in sorted(later, key=_when) if entry[0] <= now]
            later = tuple([entry for entry in later if entry[0] > now])
            before = refuses = False
            for _, (number, messages), whole in due:
                parts = ((number, messages),) if whole else split(number, messages, batch)
                given, refused = submitted(parts, room)
                requests += given
                if room is not None:
                    room -= len(given)
                before |= whole
                refuses |= refused is not None
                if refused is not None and not whole:
                    later = (*later, (now + LOCAL_DELAY, refused, True))
            if before or refuses:
                why = TICK_REFUSED[" and ".join(["refused before"] * before + ["refused now"] * refuses)]
        state = ConsumeState(broadcasts, max_times, batch, owned, cached, requests, later, memory, now, pulled, room)
        return state, len(requests), why

    def fill(self, state: ConsumeState, room: int | None) -> Answer[ConsumeState]:
        """CONS-1-FULL: from now on the executor takes so many requests, or all."""
        kind = "takes all" if room is None else "takes some" if room else "takes none"
        return state._replace(room=room), None, FILL[kind]

    def drop(self, state: ConsumeState, queue: int) -> Answer[ConsumeState]:
        """A rebalance takes a queue away and another one gives it back: the process queue is a new one, and the queue's
        offset in memory is forgotten."""
        number = len(state.cached)
        old = state.owned[queue]
        cached = {**state.cached, old: dropped(state.cached[old]), number: ProcessQueueContents(queue)}
        memory = {other: offset for other, offset in state.memory.items() if other != queue}
        return state._replace(owned={**state.owned, queue: number}, cached=cached, memory=memory), None, DROP

    def update(self, state: ConsumeState, queue: int, offset: int) -> Answer[ConsumeState]:
        """An application sets an offset."""
        return state._replace(memory={**state.memory, queue: offset}), None, UPDATE

    def remove(self, state: ConsumeState, queue: int, offsets: tuple[int, ...], size: int) -> Answer[ConsumeState]:
        """PQ-2: the offset to commit, and the counts of the process queue."""
        number = state.owned[queue]
        messages = [CachedMessage(0, queue, offset, size, 0) for offset in offsets]
        there = bool(state.cached[number].tree)
        cached, offset, broken = remove(self.rules, state.cached[number], messages)
        kind = "nothing there" if not there else "some left" if cached.tree else "none left"
        why = broken_by_body(REMOVE[kind]) if broken else (_REMOVE_ODD if cached.odd else REMOVE)[kind]
        return _with_contents(state, number, cached), (offset, *flow_control_counts(self.rules, cached)), why


def _with_contents(state: ConsumeState, number: int, now_held: ProcessQueueContents) -> ConsumeState:
    """The consumer with another state of one of its process queues."""
    broadcasts, max_times, batch, owned, cached, requests, later, memory, now, pulled, room = state
    if now_held is cached[number]:
        return state
    cached = {**cached, number: now_held}
    return ConsumeState(broadcasts, max_times, batch, owned, cached, requests, later, memory, now, pulled, room)
