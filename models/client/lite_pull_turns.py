"""The turns of a lite pull consumer's pull tasks: what they ask for, what stops them, how long they wait (LP-*).

A task has a turn, asks for messages or does not, and waits for its next one. What the application seeks in between is
taken by the next turn.
"""

from __future__ import annotations

from collections.abc import Sequence

from rocketmq_conformance.models.broker.search import max_offset, min_offset
from rocketmq_conformance.models.client.lite_pull_commits import NOT_RUNNING, NOT_THERE, REFUSED, LitePullCommits
from rocketmq_conformance.models.client.lite_pull_state import (
    ANEW,
    ASSIGN,
    BATCH,
    BETWEEN,
    EVERYTHING,
    MIB,
    RUNNING,
    SEEKS,
    SOUGHT,
    TAGS,
    UNSUBSCRIBES,
    Assigned,
    LitePullState,
    cached_bytes,
    tidied,
    waiting,
    with_queues,
    without_topic,
)
from rocketmq_conformance.models.client.member_settings import MEMBER_TIME
from rocketmq_conformance.models.client.offset_table import MEMORY_THEN_STORE
from rocketmq_conformance.models.client.rebalance_pull_round import EMPTY_CACHE, cache_of
from rocketmq_conformance.models.client.remote_store import RemoteStore
from rocketmq_conformance.models.client.start import LAST
from rocketmq_conformance.models.outcome import Expected
from rocketmq_conformance.models.rule import Answer, Reason, Rule, reasons_by_kind

RULES = (
    Rule(
        "LP-ASSIGN-LATE",
        "The answer to a pull of an earlier assignment counts for nothing. Up to 4.8.0 its messages are dropped, but "
        "the new assignment of the queue goes on behind them: they are never polled.",
        "DefaultLitePullConsumerImpl.PullTaskImpl#run @ 4.8.0, 4.9.0, 5.3.3; AssignedMessageQueue#updatePullOffset "
        "@ 4.8.0, 4.9.0, 5.3.3",
        releases="4.6.0+",
    ),
    Rule(
        "LP-SEEK",
        "A seek to an offset below min or beyond max is refused, and one of a queue that is not assigned; max itself "
        "is allowed. The broker is asked for both each time.",
        "DefaultLitePullConsumerImpl#seek, #minOffset, #maxOffset @ 4.6.0, 4.9.8, 5.3.3",
        releases="4.6.0+",
    ),
    Rule(
        "LP-SEEK-CLEARS",
        "A seek drops what is cached of its queue, and changes neither the offset table nor what a commit writes: a "
        "commit before the next pull writes what was polled before the seek. The last one of several counts.",
        "DefaultLitePullConsumerImpl#seek, #clearMessageQueueInCache @ 4.6.0, 4.9.8, 5.3.3",
        releases="4.6.0+",
    ),
    Rule(
        "LP-SEEK-PULL",
        "The next pull takes the seek: it asks for that offset, and from then on a commit writes it, although nothing "
        "was polled.",
        "DefaultLitePullConsumerImpl#nextPullOffset @ 4.6.0, 4.9.8, 5.3.3",
        releases="4.6.0+",
    ),
    Rule(
        "LP-SEEK-LOST",
        "When the pull that takes a seek fails, the seek is forgotten: the next pull goes on where the pulls before it "
        "were, or at the start, while a commit writes the offset of the seek.",
        "DefaultLitePullConsumerImpl#nextPullOffset, DefaultLitePullConsumerImpl.PullTaskImpl#run @ 4.6.0, 4.9.8, "
        "5.3.3",
        releases="4.6.0+",
    ),
    Rule(
        "LP-SEEK-LATE",
        "The answer to a pull that was under way at a seek is thrown away.",
        "DefaultLitePullConsumerImpl.PullTaskImpl#run @ 4.6.0, 4.9.2, 5.3.3",
        releases="4.6.0+",
    ),
    Rule(
        "LP-ENDS",
        "seekToBegin and seekToEnd are seeks to min and to max, as the broker has them at that moment.",
        "DefaultLitePullConsumerImpl#seekToBegin, #seekToEnd @ 4.6.1, 4.9.8, 5.3.3",
        releases="4.6.1+",
    ),
    Rule(
        "LP-PAUSE",
        "A paused queue is not pulled, but what is cached of it is polled. A seek waits for the end of the pause. "
        "Queues that are not assigned are not paused, and an assignment that forgets a queue forgets its pause.",
        "DefaultLitePullConsumerImpl.PullTaskImpl#run, AssignedMessageQueue#pause, #resume @ 4.6.0, 4.9.8, 5.3.3",
        releases="4.6.0+",
    ),
    Rule(
        "LP-FLOW",
        "A queue of which more messages are cached than the threshold is not pulled; at the threshold it still is.",
        "DefaultLitePullConsumerImpl.PullTaskImpl#run @ 4.6.0, 4.9.8, 5.3.3",
        releases="4.6.0+",
    ),
    Rule(
        "LP-FLOW-ALL",
        "No queue is pulled while the answers that wait to be polled, those of all queues and of dropped ones, times "
        "the batch size are more than the threshold for all: it counts answers, not messages.",
        "DefaultLitePullConsumerImpl.PullTaskImpl#run @ 4.6.0, 4.9.8, 5.3.3",
        releases="4.6.0+",
    ),
    Rule(
        "LP-FLOW-SIZE",
        "A queue of which more whole MiB are cached than the threshold of size is not pulled; with a threshold below 0 "
        "it never is.",
        "DefaultLitePullConsumerImpl.PullTaskImpl#run @ 4.6.0, 4.9.8, 5.3.3",
        releases="4.6.0+",
    ),
    Rule(
        "LP-FLOW-SPAN",
        "A queue is not pulled while its first and its last cached offset are further apart than the threshold.",
        "DefaultLitePullConsumerImpl.PullTaskImpl#run @ 4.6.0, 4.9.8, 5.3.3; ProcessQueue#getMaxSpan @ 4.6.0, 4.9.8, "
        "5.3.3",
        releases="4.6.0+",
    ),
    Rule(
        "LP-ILLEGAL",
        "An illegal offset is corrected for the next pull alone: neither memory nor what a commit writes changes.",
        "DefaultLitePullConsumerImpl.PullTaskImpl#run @ 4.6.0, 4.9.8, 5.3.3",
        releases="4.6.0+",
    ),
    Rule(
        "LP-FAIL",
        "A pull that fails leaves its queue where it was.",
        "DefaultLitePullConsumerImpl.PullTaskImpl#run @ 4.6.0, 4.9.8, 5.3.3",
        releases="4.6.0+",
    ),
    Rule(
        "LP-WAIT",
        "After a pull that was answered, the next turn of the task comes at once, after a threshold in 50 ms, after a "
        "pause or a failure in 1 s, however soon the queue is resumed. A dropped queue has no further turn.",
        "DefaultLitePullConsumerImpl.PullTaskImpl#run @ 4.6.0, 4.9.8, 5.3.3",
        releases="4.6.0+",
    ),
    Rule(
        "LP-WAIT-START",
        "When the broker does not say where a queue begins of which nothing was committed, the next turn comes 3 s "
        "later. Where it does not say what was committed, that is a failure like any other.",
        "DefaultLitePullConsumerImpl.PullTaskImpl#run @ 4.9.0, 4.9.1, 5.3.3; "
        "RebalanceLitePullImpl#computePullFromWhereWithException @ 4.9.0, 4.9.1, 5.3.3",
        releases="4.9.1+, 5.0.0+",
    ),
    Rule(
        "LP-WAIT-BUSY",
        "After a pull that the broker refused as too many, the next turn comes in 20 ms.",
        "DefaultLitePullConsumerImpl.PullTaskImpl#run @ 4.9.4, 4.9.5, 5.0.0, 5.1.0, 5.3.3",
        releases="4.9.5+, 5.1.0+",
    ),
    Rule(
        "LP-SEEK-AT-ONCE",
        "A seek gives its queue a new task, whose turn comes at once. Up to 4.9.1 the seek waits for the next turn of "
        "the old one.",
        "DefaultLitePullConsumerImpl#seek @ 4.9.1, 4.9.2, 5.0.0-ALPHA, 5.3.3",
        releases="4.6.0+",
    ),
    Rule(
        "LP-UNSUB-LATE",
        "The answer to a pull that was under way at an unsubscription is dropped. Up to 4.8.0 its messages are polled.",
        "DefaultLitePullConsumerImpl.PullTaskImpl#run @ 4.8.0, 4.9.0, 5.3.3",
        releases="4.6.0+",
    ),
    Rule(
        "LP-EXPRESSION",
        "Pulls of assigned queues send the expression that was set for their topic, or that of all messages.",
        "DefaultLitePullConsumerImpl.PullTaskImpl#run @ 4.9.5, 5.0.0, 5.3.3",
        releases="4.9.5+, 5.0.0+",
    ),
    Rule(
        "LP-TAGS",
        "A message whose tag the expression does not have, or that has none, is passed over when it arrives. When it "
        "is the last one no commit gets beyond it before a later one is polled; when all are, none is committed.",
        "PullAPIWrapper#processPullResult @ 4.9.5, 5.0.0, 5.3.3; DefaultLitePullConsumerImpl.PullTaskImpl#run "
        "@ 4.9.5, 5.0.0, 5.3.3",
        releases="4.9.5+, 5.0.0+",
    ),
)

#: Ms to the next turn of a task; no further turn.
AT_ONCE, FULL, FAILED, NO_START_WAIT, FLOW_CONTROLLED, NEVER = 0, 50, 1_000, 3_000, 20, -1

_PULL = reasons_by_kind(("LITE-PULL",), "goes on", "first pull", "nothing assigned")
_PULL |= reasons_by_kind(("LITE-PULL", "START-LITE-1"), "no start", "no start, not reported")
_PULL |= reasons_by_kind(("LP-PAUSE",), "paused", "paused, seek waits")
_PULL |= reasons_by_kind(("LP-LISTEN",), "dropped", "dropped, goes on")
_PULL |= reasons_by_kind(("LP-FLOW",), "too many cached")
_PULL |= reasons_by_kind(("LP-FLOW-ALL",), "too many answers")
_PULL |= reasons_by_kind(("LP-FLOW-SIZE",), "too large")
_PULL |= reasons_by_kind(("LP-FLOW-SPAN",), "too far apart")
_PULL |= reasons_by_kind(("LP-SEEK-PULL",), "takes the seek")
_PULL |= reasons_by_kind(("LP-SEEK-LATE",), "seek meanwhile")
_PULL |= reasons_by_kind(("LP-ASSIGN-LATE",), "assigned anew meanwhile", "assigned anew meanwhile, goes on behind")
_PULL |= reasons_by_kind(("LP-UNSUB-LATE",), "unsubscribed meanwhile", "unsubscribed meanwhile, polled")
_PULL |= reasons_by_kind(("LP-NULL-QUEUE",), "left behind")
_PULL |= reasons_by_kind(("LP-ILLEGAL",), "illegal offset")
_PULL |= reasons_by_kind(("LP-FAIL",), "fails")
_PULL |= reasons_by_kind(("LP-SEEK-LOST",), "seek lost")
_PULL_0 = reasons_by_kind(("LITE-PULL-0",), "first pull", "no start, not reported")
_TAGS = reasons_by_kind(("LP-EXPRESSION",), "all tags")
_TAGS |= reasons_by_kind(("LP-TAGS", "LP-EXPRESSION"), "some tags", "no tag")
_SEEK = reasons_by_kind(("LP-SEEK",), "not assigned", "no bounds", "below min", "beyond max")
_SEEK |= reasons_by_kind(("LP-SEEK-CLEARS", "LP-SEEK"), "clears", "nothing cached", "again")
_SEEK |= reasons_by_kind(("LP-ENDS", "LP-SEEK-CLEARS"), "to begin", "to end")
_WAITS = reasons_by_kind(("LP-WAIT",), "at once", "full", "failed", "no further turn", "no task")
_WAITS |= reasons_by_kind(("LP-WAIT-START",), "no start")
_WAITS |= reasons_by_kind(("LP-WAIT-BUSY",), "flow control")
_WAITS |= reasons_by_kind(("LP-SEEK-AT-ONCE",), "seek at once", "seek waits")
_WAITED = {
    AT_ONCE: _WAITS["at once"],
    FULL: _WAITS["full"],
    FAILED: _WAITS["failed"],
    NO_START_WAIT: _WAITS["no start"],
    FLOW_CONTROLLED: _WAITS["flow control"],
    NEVER: _WAITS["no further turn"],
}


class LitePullTurns(LitePullCommits):
    """The seeks and the turns of the tasks of one consumer, for one profile; every method is pure."""

    __slots__ = ()

    # --- seeks ---------------------------------------------------------------------------------------------

    def seek(self, state: LitePullState, queue: int, offset: int, bound_fault: str) -> Answer[LitePullState]:
        """LP-SEEK, LP-SEEK-CLEARS."""
        held = state.assigned.get(queue)
        if held is None:
            return state, REFUSED, _SEEK["not assigned"]
        if state.phase != RUNNING:
            return state, NOT_RUNNING, NOT_THERE[state.phase]
        bounds = self._bounds(state, queue, bound_fault)
        if bounds is None:
            return state, REFUSED, _SEEK["no bounds"]
        low, high = bounds
        if offset < low:
            return state, REFUSED, _SEEK["below min"]
        if offset > high:
            return state, REFUSED, _SEEK["beyond max"]
        left = tuple([batch for batch in state.pulled if batch[0] != queue])
        caches = {number: kept for number, kept in state.caches.items() if number != held.number}
        why = _SEEK["again" if held.seeks != -1 else "clears" if len(left) < len(state.pulled) else "nothing cached"]
        sought = held._replace(seeks=offset, waits=0 if self.client.lite_seeks_at_once else held.waits)
        after = state._replace(assigned={**state.assigned, queue: sought}, pulled=left, caches=caches)
        return tidied(after), None, why

    def seek_to_begin(self, state: LitePullState, queue: int, bound_fault: str) -> Answer[LitePullState]:
        """LP-ENDS."""
        return self._seek_to(state, queue, bound_fault, 0, "to begin")

    def seek_to_end(self, state: LitePullState, queue: int, bound_fault: str) -> Answer[LitePullState]:
        """LP-ENDS."""
        return self._seek_to(state, queue, bound_fault, 1, "to end")

    def _seek_to(
        self, state: LitePullState, queue: int, bound_fault: str, end: int, kind: str
    ) -> Answer[LitePullState]:
        if state.phase != RUNNING:
            return state, NOT_RUNNING, NOT_THERE[state.phase]
        bounds = self._bounds(state, queue, bound_fault)
        if bounds is None:
            return state, REFUSED, _SEEK["no bounds"]
        after, result, why = self.seek(state, queue, bounds[end], bound_fault)
        return after, result, why if result is not None else _SEEK[kind]

    def _bounds(self, state: LitePullState, queue: int, fault: str) -> tuple[int, int] | None:
        """Min and max of a queue; None when they cannot be had."""
        if queue in self.topology.unrouted or fault != "answer":
            return None
        place = self.topology.places[queue]
        low, high = min_offset(state.store.broker, *place)[1], max_offset(state.store.broker, *place)[1]
        assert isinstance(low, int)  # bounds are always known
        assert isinstance(high, int)
        return low, high

    # --- turns ---------------------------------------------------------------------------------------------

    def pull(
        self, state: LitePullState, queue: int, messages: int, meanwhile: str, fault: str, bound_fault: str
    ) -> Answer[LitePullState]:
        """The task of a queue has its turn, and so many messages are found: the offset that is asked for, -1 for no
        request; None without a task."""
        state, asked, why = self._ask(state, queue, fault, bound_fault)
        if asked is None or asked == -1:
            return state, asked, why
        if meanwhile == SEEKS:
            after, refused, _ = self.seek(state, queue, SOUGHT, bound_fault)
            if refused is None:
                held = after.assigned[queue]  # its answer comes: a task that is not a new one waits no longer
                return _with(after, queue, held._replace(waits=AT_ONCE)), asked, _PULL["seek meanwhile"]
        elif meanwhile == ANEW and state.mode == ASSIGN:
            return self._anew(state, queue, asked, messages), asked, _PULL[self._late]
        elif meanwhile == UNSUBSCRIBES and self.topology.topic_of[queue] == self.topology.topic:
            return self._given_up(state, queue, asked, messages), asked, _PULL[self._unsubscribed]
        if messages and state.assigned[queue].number in state.dropped:
            why = _PULL["dropped, goes on"]
        return self._found(state, queue, asked, messages), asked, why

    def _found(self, state: LitePullState, queue: int, asked: int, messages: int, size: int = 1) -> LitePullState:
        """Messages without a tag arrive."""
        wanted = self._expression(state, queue) == EVERYTHING
        offsets = tuple(range(asked, asked + messages)) if wanted else ()
        return _arrived(state, queue, offsets, asked + messages, size)

    def _expression(self, state: LitePullState, queue: int) -> str:
        """What a pull sends."""
        return state.expression if self.topology.topic_of[queue] == self.topology.topic else EVERYTHING

    def pull_large(
        self, state: LitePullState, queue: int, size: int, fault: str, bound_fault: str
    ) -> Answer[LitePullState]:
        """LP-FLOW-SIZE: the same; one message of so many bytes is found."""
        state, asked, why = self._ask(state, queue, fault, bound_fault)
        if asked is None or asked == -1:
            return state, asked, why
        return self._found(state, queue, asked, 1, size), asked, why

    def pull_tagged(self, state: LitePullState, queue: int, fault: str, bound_fault: str) -> Answer[LitePullState]:
        """LP-TAGS: (the offset that is asked for, the expression); messages with these tags are found."""
        state, asked, why = self._ask(state, queue, fault, bound_fault)
        if asked is None or asked == -1:
            return state, None if asked is None else (asked, None), why
        expression = self._expression(state, queue)
        wanted = expression.split(" || ")
        mine = tuple([asked + at for at, tag in enumerate(TAGS) if expression == EVERYTHING or tag in wanted])
        kind = "all tags" if len(mine) == len(TAGS) else "some tags" if mine else "no tag"
        return _arrived(state, queue, mine, asked + len(TAGS), 1), (asked, expression), _TAGS[kind]

    @property
    def _late(self) -> str:
        """The kind of LP-ASSIGN-LATE."""
        return "assigned anew meanwhile" + ("" if self.client.lite_late_ends else ", goes on behind")

    @property
    def _unsubscribed(self) -> str:
        """The kind of LP-UNSUB-LATE."""
        return "unsubscribed meanwhile" + ("" if self.client.lite_late_ends else ", polled")

    def _anew(self, state: LitePullState, queue: int, asked: int, messages: int) -> LitePullState:
        """LP-ASSIGN-LATE."""
        before = tuple(state.assigned)
        if not self.client.lite_late_ends:
            state = self._found(state, queue, asked, messages)
        between = BETWEEN[queue == BETWEEN[0]]
        state = with_queues(state, (between,))
        state = with_queues(state, before)
        if self.client.lite_late_ends:
            return state
        return _with(state, queue, state.assigned[queue]._replace(pulls=asked + messages))

    def _given_up(self, state: LitePullState, queue: int, asked: int, messages: int) -> LitePullState:
        """LP-UNSUB-LATE."""
        if not self.client.lite_late_ends:
            state = self._found(state, queue, asked, messages)
        return without_topic(state, self.topology)

    def illegal(
        self, state: LitePullState, queue: int, following: int, fault: str, bound_fault: str
    ) -> Answer[LitePullState]:
        """LP-ILLEGAL: the same; the broker says where to go on."""
        state, asked, why = self._ask(state, queue, fault, bound_fault)
        if asked is None or asked == -1:
            return state, asked, why
        held = state.assigned[queue]._replace(pulls=following, waits=AT_ONCE)
        return _with(state, queue, held), asked, _PULL["illegal offset"]

    def fail(
        self, state: LitePullState, queue: int, failure: str, fault: str, bound_fault: str
    ) -> Answer[LitePullState]:
        """LP-FAIL, LP-SEEK-LOST: the same; there is no usable answer."""
        state, asked, why = self._ask(state, queue, fault, bound_fault)
        if asked is None or asked == -1:
            return state, asked, why
        waits = FLOW_CONTROLLED if failure == "FLOW_CONTROL" and self.client.lite_flow_controlled else FAILED
        kind = "seek lost" if why is _PULL["takes the seek"] else "fails"
        return _with(state, queue, state.assigned[queue]._replace(waits=waits)), asked, _PULL[kind]

    def waits(self, state: LitePullState, queue: int) -> Answer[LitePullState]:
        """LP-WAIT: ms to the next turn of the task of a queue, -1 for no further turn; None without a task."""
        held = state.assigned.get(queue)
        waits = state.left.get(queue) if held is None else held.waits
        if waits is None or state.phase != RUNNING:
            return state, None, _WAITS["no task"]
        if held is not None and held.seeks != -1:
            return state, waits, _WAITS["seek waits" if waits else "seek at once"]
        return state, waits, _WAITED[waits]

    def _ask(
        self, state: LitePullState, queue: int, fault: str, bound_fault: str
    ) -> tuple[LitePullState, int | None, Reason]:
        """The offset that the task asks for; -1: nothing; None: there is no task."""
        if state.phase != RUNNING:
            return state, None, NOT_THERE[state.phase]
        held = state.assigned.get(queue)
        if held is None:
            if queue in state.left:
                return state._replace(left={**state.left, queue: FAILED}), -1, _PULL["left behind"]
            return state, None, _PULL["nothing assigned"]
        stopped = self._stopped(state, held)
        if stopped is not None:
            kind, waits = stopped
            return _with(state, queue, held._replace(waits=waits)), -1, _PULL[kind]
        if held.seeks != -1:
            taken = held._replace(consumed=held.seeks, seeks=-1)
            return _with(state, queue, taken), held.seeks, _PULL["takes the seek"]
        if held.pulls != -1:
            return state, held.pulls, _PULL["goes on"]
        reasons = _PULL if self.client.lite_starts else _PULL_0
        if self.client.lite_starts:
            store, asked = self._start_of(state.store, queue, self.client.lite_max_throws, fault, bound_fault)
        else:
            store, asked, _ = self.store.read(state.store, queue, MEMORY_THEN_STORE, fault)
        if store is not state.store:
            state = state._replace(store=store)
        if isinstance(asked, int) and asked >= 0:
            return state, asked, reasons["first pull"]
        waits, kind = (FAILED, "no start, not reported") if isinstance(asked, int) else (NO_START_WAIT, "no start")
        return _with(state, queue, held._replace(waits=waits)), -1, reasons[kind]

    def _stopped(self, state: LitePullState, held: Assigned) -> tuple[str, int] | None:
        """Why a task asks for nothing, and ms to its next turn; None: it asks."""
        limits = state.limits
        if held.paused:
            return "paused" if held.seeks == -1 else "paused, seek waits", FAILED
        if held.number in state.dropped and self.client.lite_ends_dropped:
            return "dropped", NEVER
        if len(state.pulled) * BATCH > limits.every:
            return "too many answers", FULL
        cached = waiting(state, held.number)
        if len(cached) > limits.messages:
            return "too many cached", FULL
        if cached_bytes(state, held.number) // MIB > limits.size:
            return "too large", FULL
        if (cached[-1] - cached[0] if cached else 0) > limits.span:
            return "too far apart", FULL
        return None

    def _start_of(
        self, store: RemoteStore, queue: int, checked: bool, fault: str, bound_fault: str
    ) -> tuple[RemoteStore, Expected]:
        """START-LITE-1."""
        return self.start.lite_pull(store, queue, LAST, *MEMBER_TIME, checked, fault, bound_fault)[:2]


def _with(state: LitePullState, queue: int, held: Assigned) -> LitePullState:
    """An assigned queue becomes another one."""
    return state._replace(assigned={**state.assigned, queue: held})


def _arrived(state: LitePullState, queue: int, offsets: Sequence[int], following: int, size: int) -> LitePullState:
    """Messages of so many bytes each arrive, and the next pull goes on behind."""
    held = state.assigned[queue]
    state = _with(state, queue, held._replace(pulls=following, waits=AT_ONCE))
    if not offsets:
        return state
    before, last = state.caches.get(held.number, EMPTY_CACHE)
    new = [offset for offset in offsets if offset not in before]
    cache = cache_of((tuple(sorted((*before, *new))), new[-1] if new else last))
    large = {**state.large, **{(held.number, offset): size for offset in new if size > 1}}
    caches = {**state.caches, held.number: cache}
    return state._replace(caches=caches, large=large, pulled=(*state.pulled, (queue, held.number, tuple(offsets))))
