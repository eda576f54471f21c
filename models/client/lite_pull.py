"""A lite pull consumer in the hands of its application: assign, seek, pause, poll and commit (LP-*).

Of each assigned queue the consumer keeps a process queue and three numbers: where the next pull goes on, what a commit
would write, and a seek that no pull has taken yet. They are not the offset table: a commit copies one of them into
the table, and a timer or the shutdown sends the table to the broker.

The turn of a pull task is a step of its own, so that the time between a seek and the next pull is a state; what the
application does while a pull is under way is a part of that step.
"""

from __future__ import annotations

from rocketmq_conformance.models.broker.search import max_offset, min_offset
from rocketmq_conformance.models.client.lite_pull_commits import NOT_RUNNING, NOT_THERE, REFUSED, LitePullCommits
from rocketmq_conformance.models.client.lite_pull_state import (
    ANEW,
    ASSIGN,
    ASSIGNS,
    AUTO_EVERY,
    BETWEEN,
    BOTH,
    ENDED,
    MAX_CACHED,
    NEW,
    OWN,
    RUNNING,
    SEEKS,
    SOUGHT,
    SUBSCRIBE,
    LitePullState,
    with_queues,
    without_dropped,
)
from rocketmq_conformance.models.client.member_settings import MEMBER_TIME
from rocketmq_conformance.models.client.offset_table import MEMORY_THEN_STORE
from rocketmq_conformance.models.client.rebalance_pull_round import EMPTY_CACHE, cache_of
from rocketmq_conformance.models.client.remote_store import RemoteStore
from rocketmq_conformance.models.client.start import LAST
from rocketmq_conformance.models.outcome import Expected, Value
from rocketmq_conformance.models.rule import Answer, Reason, Rule, reasons_by_kind

RULES = (
    Rule(
        "LP-STATE",
        "A lite pull consumer that does not run refuses to poll, to seek, and to tell offsets; queues can be assigned, "
        "paused and resumed all the same, and a commit of everything does nothing.",
        "DefaultLitePullConsumerImpl#checkServiceState, #commitAll @ 4.6.1, 4.9.8, 5.3.3",
        releases="4.6.0+",
    ),
    Rule(
        "LP-START",
        "A consumer starts once: not when it runs, nor after a shutdown. When it starts, what was assigned before is "
        "pulled from then on.",
        "DefaultLitePullConsumerImpl#start, #operateAfterRunning @ 4.6.0, 4.9.8, 5.3.3",
        releases="4.6.0+",
    ),
    Rule(
        "LP-START-LISTENED",
        "A start that cannot learn the queues of a topic with a listener fails. The consumer runs all the same; from "
        "5.3.2 on it is shut down.",
        "DefaultLitePullConsumerImpl#start, #operateAfterRunning @ 4.9.8, 5.3.1, 5.3.2",
        releases="4.6.0+",
    ),
    Rule(
        "LP-END",
        "A shutdown sends the offsets in memory, as the timer does, and nothing of what was polled and not committed. "
        "A process that ends without one sends nothing.",
        "DefaultLitePullConsumerImpl#shutdown @ 4.6.0, 4.9.8, 5.3.3",
        releases="4.6.0+",
    ),
    Rule(
        "LP-MODE",
        "A consumer assigns or subscribes: after one of them the other is refused for good. No queues cannot be "
        "assigned, and no topic cannot be subscribed to; what is refused changes nothing.",
        "DefaultLitePullConsumerImpl#assign, #subscribe, #setSubscriptionType @ 4.6.0, 4.9.8, 5.3.3",
        releases="4.6.0+",
    ),
    Rule(
        "LP-ASSIGN",
        "An assignment keeps the queues that it names as they are, and forgets all others, with their messages, what "
        "was polled of them, and a seek; the offset table keeps theirs. A queue that is assigned again begins anew: "
        "in memory, then at the broker.",
        "AssignedMessageQueue#updateAssignedMessageQueue, DefaultLitePullConsumerImpl#updateAssignPullTask "
        "@ 4.6.0, 4.9.8, 5.3.3",
        releases="4.6.0+",
    ),
    Rule(
        "LP-ASSIGN-LATE",
        "The answer to a pull of an earlier assignment counts for nothing. Up to 4.8.0 its messages are dropped, but "
        "the new assignment of the queue goes on behind them: they are never polled.",
        "DefaultLitePullConsumerImpl.PullTaskImpl#run @ 4.8.0, 4.9.0, 5.3.3; AssignedMessageQueue#updatePullOffset "
        "@ 4.8.0, 4.9.0, 5.3.3",
        releases="4.6.0+",
    ),
    Rule(
        "LP-POLL",
        "poll hands out the messages of one pull, of the oldest one first, whichever queue they are of; none of a "
        "process queue that was dropped. A time below 0 is refused.",
        "DefaultLitePullConsumerImpl#poll @ 4.6.0, 4.9.8, 5.3.3",
        releases="4.6.0+",
    ),
    Rule(
        "LP-AUTO",
        "A commit by itself comes at the beginning of a poll, when its interval has passed since the last one, or "
        "there was none: what a poll hands out is committed by a later poll, and by no timer.",
        "DefaultLitePullConsumerImpl#poll, #maybeAutoCommit @ 4.6.0, 4.9.8, 5.3.3",
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
        "LP-LISTEN",
        "A listener of queues that is given with the subscription is called after the queues were assigned. One that "
        "is set after a subscription takes the place of what assigns: rounds change nothing of what is pulled any "
        "more, and what they drop is never pulled again.",
        "DefaultLitePullConsumerImpl#subscribe @ 4.6.0, 4.9.5, 5.0.0, 5.3.3; RebalanceLitePullImpl#messageQueueChanged "
        "@ 4.6.0, 4.9.8, 5.3.3",
        releases="4.6.0+",
    ),
    Rule(
        "LP-LISTEN-TOPIC",
        "A listener of a topic is called when the queues of the topic are others than at the last look, which a timer "
        "takes. The first look is at the registration or the start: while there is no route it fails, and the "
        "listener is called by the first look that succeeds.",
        "DefaultLitePullConsumerImpl#registerTopicMessageQueueChangeListener, #fetchTopicMessageQueuesAndCompare "
        "@ 4.6.0, 4.9.8, 5.3.3",
        releases="4.6.0+",
    ),
)

_ASSIGN = reasons_by_kind(("LP-ASSIGN",), "first", "kept", "forgotten", "assigned again")
_MODE = reasons_by_kind(("LP-MODE",), "no queues", "subscribed", "no topic", "assigned", "subscribes", "again")
_START = reasons_by_kind(("LP-START",), "starts", "starts with queues", "started already", "ended")
_START |= reasons_by_kind(("LP-START-LISTENED",), "no route, runs", "no route, shut down")
_END = reasons_by_kind(("LP-END",), "nothing held", "sends", "does not run", "restarts", "restarts, memory lost")
_PULL = reasons_by_kind(("LITE-PULL",), "goes on", "first pull", "nothing assigned")
_PULL |= reasons_by_kind(("LITE-PULL", "START-LITE-1"), "no start")
_PULL |= reasons_by_kind(("LP-PAUSE",), "paused", "paused, seek waits")
_PULL |= reasons_by_kind(("LP-LISTEN",), "dropped", "dropped, goes on")
_PULL |= reasons_by_kind(("LP-FLOW",), "too many cached")
_PULL |= reasons_by_kind(("LP-SEEK-PULL",), "takes the seek")
_PULL |= reasons_by_kind(("LP-SEEK-LATE",), "seek meanwhile")
_PULL |= reasons_by_kind(("LP-ASSIGN-LATE",), "assigned anew meanwhile", "assigned anew meanwhile, goes on behind")
_PULL |= reasons_by_kind(("LP-ILLEGAL",), "illegal offset")
_PULL |= reasons_by_kind(("LP-FAIL",), "fails")
_PULL |= reasons_by_kind(("LP-SEEK-LOST",), "seek lost")
_PULL_0 = reasons_by_kind(("LITE-PULL-0",), "first pull", "no start")
_POLL = reasons_by_kind(("LP-POLL", "LITE-POLL"), "polled", "polled, others wait", "polled again", "nothing to poll")
_POLL |= reasons_by_kind(("LP-PAUSE", "LITE-POLL"), "polled, paused")
_POLL |= reasons_by_kind(("LP-POLL",), "negative time")
_AUTO = reasons_by_kind(("LP-AUTO", "LITE-POLL"), "polled, not yet", "polled, committed")
_AUTO |= reasons_by_kind(("LP-AUTO",), "not yet", "committed", "switched")
_AUTO_0 = Reason(("LP-AUTO", "LITE-COMMIT-0"), "sent at once")
_SEEK = reasons_by_kind(("LP-SEEK",), "not assigned", "no bounds", "below min", "beyond max")
_SEEK |= reasons_by_kind(("LP-SEEK-CLEARS", "LP-SEEK"), "clears", "nothing cached", "again")
_SEEK |= reasons_by_kind(("LP-ENDS", "LP-SEEK-CLEARS"), "to begin", "to end")
_PAUSE = reasons_by_kind(("LP-PAUSE",), "pauses", "resumes", "not assigned")
_ROUND = reasons_by_kind(("REB-MQC-LITE", "REB-VAR-START"), "gained")
_ROUND |= reasons_by_kind(("REB-MQC-LITE", "REB-VAR-REM"), "lost", "lost and gained")
_ROUND |= reasons_by_kind(("REB-MQC-SAME",), "same")
_ROUND |= reasons_by_kind(("LP-LISTEN",), "listener of its own", "listener as well", "listener set")
_ROUND |= reasons_by_kind(("LP-MODE",), "not subscribed")
_TOPIC = reasons_by_kind(
    ("LP-LISTEN-TOPIC",), "registers", "no route", "before it runs", "same", "changed", "no listener"
)
_ELAPSES = Reason(("LP-AUTO",), "time passes")
_ROUTE = Reason(("LP-LISTEN-TOPIC",), "another route")


class LitePullModel(LitePullCommits):
    """The operations of one lite pull consumer, for one profile; every method is pure."""

    __slots__ = ()

    # --- life ----------------------------------------------------------------------------------------------

    def starts(self, state: LitePullState) -> Answer[LitePullState]:
        """LP-START."""
        if state.phase != NEW:
            return state, REFUSED, _START["ended" if state.phase == ENDED else "started already"]
        if not state.listens:
            why = _START["starts with queues" if state.assigned else "starts"]
            return state._replace(phase=RUNNING), None, why
        known = self._queues(state)
        if known is None:
            if self.client.lite_start_ends:
                return state._replace(phase=ENDED), REFUSED, _START["no route, shut down"]
            return state._replace(phase=RUNNING), REFUSED, _START["no route, runs"]
        return state._replace(phase=RUNNING, known=known), None, _START["starts"]

    def shut_down(self, state: LitePullState) -> Answer[LitePullState]:
        """LP-END: the commits that reach the broker."""
        if state.phase != RUNNING:
            return state, (), _END["does not run"]
        store, sent, _ = self.store.persist_all(state.store, self.persisted(state))
        return state._replace(phase=ENDED, store=store), sent, _END["sends" if sent else "nothing held"]

    def restart(self, state: LitePullState) -> Answer[LitePullState]:
        """LP-END: the process ends, and a new consumer is made that does not run yet."""
        why = _END["restarts, memory lost" if state.store.memory else "restarts"]
        store = RemoteStore(broker=state.store.broker)
        return LitePullState(store, NEW, now=state.now, route=state.route), None, why

    # --- queues --------------------------------------------------------------------------------------------

    def assign(self, state: LitePullState, queues: tuple[int, ...]) -> Answer[LitePullState]:
        """LP-ASSIGN, LP-MODE."""
        if not queues:
            return state, NOT_RUNNING, _MODE["no queues"]
        if state.mode == SUBSCRIBE:
            return state, NOT_RUNNING, _MODE["subscribed"]
        before = state.assigned
        after = with_queues(state._replace(mode=ASSIGN), queues)
        if not before:
            why = _ASSIGN["first"]
        elif not before.keys() <= {*queues}:
            why = _ASSIGN["forgotten"]
        else:
            why = _ASSIGN["kept" if len(before) < len(queues) else "assigned again"]
        return after, None, why

    def subscribe(self, state: LitePullState, topic: str) -> Answer[LitePullState]:
        """LP-MODE; its listener is the one that assigns."""
        return self._subscribe(state, topic, ASSIGNS)

    def subscribe_listening(self, state: LitePullState, topic: str) -> Answer[LitePullState]:
        """LP-LISTEN: the same with a listener of the application."""
        return self._subscribe(state, topic, BOTH)

    def _subscribe(self, state: LitePullState, topic: str, calls: str) -> Answer[LitePullState]:
        if not topic:
            return state, REFUSED, _MODE["no topic"]
        if state.mode == ASSIGN:
            return state, REFUSED, _MODE["assigned"]
        why = _MODE["again" if state.mode else "subscribes"]
        return state._replace(mode=SUBSCRIBE, calls=calls), None, why

    def listen(self, state: LitePullState) -> Answer[LitePullState]:
        """LP-LISTEN: a listener is set."""
        return state._replace(calls=OWN), None, _ROUND["listener set"]

    def rebalance(self, state: LitePullState, share: tuple[int, ...]) -> Answer[LitePullState]:
        """REB-MQC-LITE, LP-LISTEN: (owned, assigned, what the application's listener hears or None, commits)."""
        if state.phase != RUNNING:
            return state, None, NOT_THERE[state.phase]
        if state.mode != SUBSCRIBE:
            return state, ((), tuple(sorted(state.assigned)), None, ()), _ROUND["not subscribed"]
        table, store, dropped, made = {**state.table}, state.store, state.dropped, state.made
        sent: tuple[Value, ...] = ()
        lost = [queue for queue in table if queue not in share]
        for queue in lost:
            store, commits, _ = self.store.persist(store, queue)
            store = self.store.remove(store, queue)[0]
            sent += commits  # type: ignore[operator]
            dropped |= {table.pop(queue)}
        gained = False
        for queue in [queue for queue in share if queue not in table]:
            store, begins = self._start_of(self.store.remove(store, queue)[0], queue, "answer", "answer")
            if isinstance(begins, int) and begins >= 0:
                gained = True
                made += 1
                table[queue] = made
        after = state._replace(store=store, table=table, dropped=dropped, made=made)
        heard = None
        if not lost and not gained:
            why = _ROUND["same"]
        elif state.calls == OWN:
            heard, why = share, _ROUND["listener of its own"]
            after = without_dropped(after)
        else:
            after = with_queues(after, share)
            why = _ROUND["lost and gained" if lost and gained else "lost" if lost else "gained"]
            if state.calls == BOTH:
                heard, why = share, _ROUND["listener as well"]
        return after, (tuple(sorted(table)), tuple(sorted(after.assigned)), heard, tuple(sorted(sent))), why  # type: ignore[type-var]

    def pause(self, state: LitePullState, queues: tuple[int, ...]) -> Answer[LitePullState]:
        """LP-PAUSE."""
        return self._paused(state, queues, True, "pauses")

    def resume(self, state: LitePullState, queues: tuple[int, ...]) -> Answer[LitePullState]:
        """LP-PAUSE."""
        return self._paused(state, queues, False, "resumes")

    def _paused(self, state: LitePullState, queues: tuple[int, ...], paused: bool, kind: str) -> Answer[LitePullState]:
        mine = {queue: held._replace(paused=paused) for queue, held in state.assigned.items() if queue in queues}
        if not mine:
            return state, None, _PAUSE["not assigned"]
        return state._replace(assigned={**state.assigned, **mine}), None, _PAUSE[kind]

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
        assigned = {**state.assigned, queue: held._replace(seeks=offset)}
        return state._replace(assigned=assigned, pulled=left, caches=caches), None, why

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

    # --- pulls ---------------------------------------------------------------------------------------------

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
                return after, asked, _PULL["seek meanwhile"]
        elif meanwhile == ANEW and state.mode == ASSIGN:
            return self._anew(state, queue, asked + messages), asked, _PULL[self._late]
        held = state.assigned[queue]
        assigned = {**state.assigned, queue: held._replace(pulls=asked + messages)}
        if not messages:
            return state._replace(assigned=assigned), asked, why
        waiting, last = state.caches.get(held.number, EMPTY_CACHE)
        offsets = tuple(range(asked, asked + messages))
        new = [offset for offset in offsets if offset not in waiting]
        cache = cache_of((tuple(sorted((*waiting, *new))), new[-1] if new else last))
        after = state._replace(assigned=assigned, caches={**state.caches, held.number: cache})
        if held.number in state.dropped:
            return after, asked, _PULL["dropped, goes on"]
        return after._replace(pulled=(*state.pulled, (queue, held.number, offsets))), asked, why

    @property
    def _late(self) -> str:
        """The kind of LP-ASSIGN-LATE."""
        return "assigned anew meanwhile" + ("" if self.client.lite_late_ends else ", goes on behind")

    def _anew(self, state: LitePullState, queue: int, following: int) -> LitePullState:
        """LP-ASSIGN-LATE."""
        before = tuple(state.assigned)
        between = BETWEEN[queue == BETWEEN[0]]
        state = with_queues(state, (between,))
        state = with_queues(state, before)
        if self.client.lite_late_ends:
            return state
        held = state.assigned[queue]
        return state._replace(assigned={**state.assigned, queue: held._replace(pulls=following)})

    def illegal(
        self, state: LitePullState, queue: int, following: int, fault: str, bound_fault: str
    ) -> Answer[LitePullState]:
        """LP-ILLEGAL: the same; the broker says where to go on."""
        state, asked, why = self._ask(state, queue, fault, bound_fault)
        if asked is None or asked == -1:
            return state, asked, why
        assigned = {**state.assigned, queue: state.assigned[queue]._replace(pulls=following)}
        return state._replace(assigned=assigned), asked, _PULL["illegal offset"]

    def fail(
        self, state: LitePullState, queue: int, failure: str, fault: str, bound_fault: str
    ) -> Answer[LitePullState]:
        """LP-FAIL, LP-SEEK-LOST: the same; there is no usable answer."""
        state, asked, why = self._ask(state, queue, fault, bound_fault)
        if asked is None or asked == -1:
            return state, asked, why
        return state, asked, _PULL["seek lost" if why is _PULL["takes the seek"] else "fails"]

    def _ask(
        self, state: LitePullState, queue: int, fault: str, bound_fault: str
    ) -> tuple[LitePullState, int | None, Reason]:
        """The offset that the task asks for; -1: nothing; None: there is no task."""
        if state.phase != RUNNING:
            return state, None, NOT_THERE[state.phase]
        held = state.assigned.get(queue)
        if held is None:
            return state, None, _PULL["nothing assigned"]
        number, pulls, _, seeks, paused = held
        if paused:
            return state, -1, _PULL["paused" if seeks == -1 else "paused, seek waits"]
        if number in state.dropped and self.client.lite_ends_dropped:
            return state, -1, _PULL["dropped"]
        if len(state.caches.get(number, EMPTY_CACHE).waiting) > MAX_CACHED:
            return state, -1, _PULL["too many cached"]
        if seeks != -1:
            taken = held._replace(consumed=seeks, seeks=-1)
            return state._replace(assigned={**state.assigned, queue: taken}), seeks, _PULL["takes the seek"]
        if pulls != -1:
            return state, pulls, _PULL["goes on"]
        reasons = _PULL if self.client.lite_starts else _PULL_0
        if self.client.lite_starts:
            store, asked = self._start_of(state.store, queue, fault, bound_fault)
        else:
            store, asked, _ = self.store.read(state.store, queue, MEMORY_THEN_STORE, fault)
        assert isinstance(asked, int)  # neither reports errors
        if store is not state.store:
            state = state._replace(store=store)
        if asked < 0:
            return state, -1, reasons["no start"]
        return state, asked, reasons["first pull"]

    def _start_of(self, store: RemoteStore, queue: int, fault: str, bound_fault: str) -> tuple[RemoteStore, Expected]:
        """START-LITE-1."""
        return self.start.lite_pull(store, queue, LAST, *MEMBER_TIME, False, fault, bound_fault)[:2]

    # --- messages ------------------------------------------------------------------------------------------

    def poll(self, state: LitePullState, patience: int) -> Answer[LitePullState]:
        """LP-POLL, LP-AUTO: (queue and offset of each message, commits that reach the broker)."""
        if state.phase != RUNNING:
            return state, NOT_RUNNING, NOT_THERE[state.phase]
        if patience < 0:
            return state, NOT_RUNNING, _POLL["negative time"]
        sent: tuple[Value, ...] = ()
        auto = ""
        if state.commits:
            auto = "not yet"
            if state.now >= state.due:
                auto = "committed"
                state, sent, _ = self.commit_all(state._replace(due=state.now + AUTO_EVERY), True)
        if not state.pulled:
            if sent:
                return state, ((), sent), _AUTO_0
            return state, ((), sent), _AUTO[auto] if auto else _POLL["nothing to poll"]
        queue, number, offsets = state.pulled[0]
        waiting, last = state.caches[number]
        left = tuple([offset for offset in waiting if offset not in offsets])
        held = state.assigned[queue]
        consumed = -1 if not waiting else left[0] if left else last + 1
        after = state._replace(
            assigned={**state.assigned, queue: held._replace(consumed=consumed)},
            caches={**state.caches, number: cache_of((left, last))},
            pulled=state.pulled[1:],
        )
        if not waiting:
            why = _POLL["polled again"]
        elif held.paused:
            why = _POLL["polled, paused"]
        elif sent:
            why = _AUTO_0
        elif auto:
            why = _AUTO[f"polled, {auto}"]
        else:
            why = _POLL["polled, others wait" if after.pulled else "polled"]
        return after, (tuple([(queue, offset) for offset in offsets]), sent), why

    def commit_by_itself(self, state: LitePullState, commits: bool) -> Answer[LitePullState]:
        """LP-AUTO: whether it does."""
        return state._replace(commits=commits), None, _AUTO["switched"]

    # --- the topic's listener, and the world ---------------------------------------------------------------

    def listen_to_topic(self, state: LitePullState) -> Answer[LitePullState]:
        """LP-LISTEN-TOPIC: a listener of the other topic is registered."""
        after = state._replace(listens=True)
        if state.phase != RUNNING:
            return after, None, _TOPIC["before it runs"]
        known = self._queues(state)
        if known is None:
            return after, REFUSED, _TOPIC["no route"]
        return after._replace(known=known), None, _TOPIC["registers"]

    def look(self, state: LitePullState) -> Answer[LitePullState]:
        """LP-LISTEN-TOPIC: the timer looks at the topic; the queues that its listener is given, None for no call."""
        if state.phase != RUNNING:
            return state, None, NOT_THERE[state.phase]
        if not state.listens:
            return state, None, _TOPIC["no listener"]
        known = self._queues(state)
        if known is None:
            return state, None, _TOPIC["no route"]
        if known == state.known:
            return state, None, _TOPIC["same"]
        return state._replace(known=known), known, _TOPIC["changed"]

    def _queues(self, state: LitePullState) -> tuple[int, ...] | None:
        """The queues of the other topic, as a route has them."""
        if state.route == -1:
            return None
        return self.topology.topic_queues[self.topology.other_topic][: state.route]

    def elapse(self, state: LitePullState, elapses: int) -> Answer[LitePullState]:
        """Time passes."""
        return state._replace(now=state.now + elapses), None, _ELAPSES

    def route(self, state: LitePullState, topic: str, queues: int) -> Answer[LitePullState]:
        """The name server has another route of the other topic."""
        return state._replace(route=queues), None, _ROUTE

    def commit_elsewhere(self, state: LitePullState, queue: int, offset: int) -> Answer[LitePullState]:
        """Another member of the group commits."""
        store, result, why = self.store.commit_elsewhere(state.store, queue, offset)
        return state._replace(store=store), result, why
