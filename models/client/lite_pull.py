"""A lite pull consumer in the hands of its application: assign, seek, pause, poll and commit (LP-*).

Of each assigned queue the consumer keeps a process queue and three numbers: where the next pull goes on, what a commit
would write, and a seek that no pull has taken yet. They are not the offset table: a commit copies one of them into
the table, and a timer or the shutdown sends the table to the broker.

The turn of a pull task is a step of its own, so that the time between a seek and the next pull is a state; what the
application does while a pull is under way is a part of that step.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from rocketmq_conformance.models.broker.search import max_offset, min_offset, search
from rocketmq_conformance.models.client.initial_broker import initial_broker
from rocketmq_conformance.models.client.member_settings import MEMBER_TIME
from rocketmq_conformance.models.client.offset_table import MEMORY_THEN_STORE, STORE
from rocketmq_conformance.models.client.rebalance_pull_round import EMPTY_CACHE, QueueCache, cache_of
from rocketmq_conformance.models.client.remote_store import RemoteStore, remote_store
from rocketmq_conformance.models.client.start import LAST, StartModel
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.outcome import Err, Expected, Value
from rocketmq_conformance.models.profile import Profile
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
        "A commit by itself comes at the beginning of a poll, when 5 s have passed since the last one, or there was "
        "none: what a poll hands out is committed by a later poll, and by no timer.",
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
        "A pull that fails is tried again from where it was.",
        "DefaultLitePullConsumerImpl.PullTaskImpl#run @ 4.6.0, 4.9.8, 5.3.3",
        releases="4.6.0+",
    ),
    Rule(
        "LP-COMMIT-OFFSETS",
        "A commit of given offsets writes any offset but -1 of a queue that is assigned into memory, others it passes "
        "over in silence. Polls go on where they were, and the next commit of the queue writes over it.",
        "DefaultLitePullConsumerImpl#commit @ 4.9.5, 5.0.0, 5.3.3",
        releases="4.9.5+, 5.0.0+",
    ),
    Rule(
        "LP-COMMIT-QUEUES",
        "A commit of some queues writes what was polled of these alone.",
        "DefaultLitePullConsumerImpl#commit @ 4.9.4, 5.0.0, 5.3.3",
        releases="4.9.4+, 5.0.0+",
    ),
    Rule(
        "LP-COMMIT-PERSIST",
        "A commit of some queues that persists sends their offsets one way, and forgets the offsets of all other "
        "queues in memory, unsent: a commit of these that no timer has sent yet is lost.",
        "DefaultLitePullConsumerImpl#commit @ 4.9.4, 5.0.0, 5.3.3; RemoteBrokerOffsetStore#persistAll @ 4.9.4, 5.3.3",
        releases="4.9.4+, 5.0.0+",
    ),
    Rule(
        "LP-COMMITTED",
        "committed is the offset in memory, else that of the broker, which goes to memory then; -1 when there is none. "
        "What cannot be read is refused.",
        "DefaultLitePullConsumerImpl#committed @ 4.7.1, 4.9.8, 5.3.3",
        releases="4.6.0+",
    ),
    Rule(
        "LP-COMMITTED-0",
        "Up to 4.7.0 committed asks the broker each time, whose answer goes over memory: a commit that no timer has "
        "sent yet is lost by asking.",
        "DefaultLitePullConsumerImpl#committed @ 4.6.0, 4.7.0, 4.7.1",
        releases="4.6.0 – 4.7.0",
    ),
    Rule(
        "LP-TIME",
        "offsetForTimestamp is the broker's search; a queue need not be assigned.",
        "DefaultLitePullConsumerImpl#searchOffset @ 4.6.0, 4.9.8, 5.3.3",
        releases="4.6.0+",
    ),
    Rule(
        "LP-PERSIST",
        "The timer sends the offsets in memory of the queues that are assigned, or, after a subscription, owned, and "
        "forgets those of all others. In 4.6.0 it sends those of owned queues alone: none after an assignment.",
        "DefaultLitePullConsumerImpl#persistConsumerOffset @ 4.6.0, 4.6.1, 4.9.8, 5.3.3",
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

#: The states of a consumer.
NEW, RUNNING, ENDED = "new", "running", "ended"
#: How it gets queues.
ASSIGN, SUBSCRIBE = "assign", "subscribe"
#: Who is called by a round: nobody, what assigns, that and the application's listener, the latter alone.
UNHEARD, ASSIGNS, BOTH, OWN = "nobody", "assigns", "both", "own"
#: What the application does while a pull is under way: nothing, seek to the offset, or assign others and these again.
NOTHING, SEEKS, ANEW = "nothing", "seeks", "assigns anew"
SOUGHT = 6
#: The queue that is assigned in between, and instead of it.
BETWEEN = (2, 0)
#: Messages of a queue that may be cached before it is not pulled any more.
MAX_CACHED = 5
#: Ms between two commits of a consumer that commits by itself.
AUTO_EVERY = 5_000

REFUSED, NOT_RUNNING = Err("CLIENT"), Err("RUNTIME")

_ASSIGN = reasons_by_kind(("LP-ASSIGN",), "first", "kept", "forgotten", "assigned again")
_MODE = reasons_by_kind(("LP-MODE",), "no queues", "subscribed", "no topic", "assigned", "subscribes", "again")
_START = reasons_by_kind(("LP-START",), "starts", "starts with queues", "started already", "ended")
_START |= reasons_by_kind(("LP-START-LISTENED",), "no route, runs", "no route, shut down")
_END = reasons_by_kind(("LP-END",), "nothing held", "sends", "does not run", "restarts", "restarts, memory lost")
_STATE = reasons_by_kind(("LP-STATE",), "new", "ended")
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
_COMMIT = reasons_by_kind(("LITE-COMMIT",), "into memory", "nothing consumed")
_COMMIT |= reasons_by_kind(("LP-SEEK-CLEARS", "LITE-COMMIT"), "into memory, seek waits")
_COMMIT |= reasons_by_kind(("LITE-COMMIT-0",), "sent at once", "known already")
_OFFSETS = reasons_by_kind(("LP-COMMIT-OFFSETS",), "into memory", "passed over", "nothing")
_QUEUES = reasons_by_kind(("LP-COMMIT-QUEUES",), "into memory", "nothing consumed", "nothing")
_PERSISTED = reasons_by_kind(("LP-COMMIT-PERSIST",), "sent", "sent, others lost", "none held")
_COMMITTED = reasons_by_kind(("LP-COMMITTED",), "memory", "broker", "none", "unreadable")
_COMMITTED_0 = reasons_by_kind(("LP-COMMITTED-0",), "broker", "over memory", "none", "unreadable")
_TIME = reasons_by_kind(("LP-TIME",), "found", "fails")
_PERSIST = reasons_by_kind(("LP-PERSIST", "OFF-R-PALL"), "sends", "others forgotten", "nothing held")
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


class Assigned(NamedTuple):
    """An assigned queue."""

    #: Of its process queue.
    number: int
    #: Where the next pull goes on, what a commit writes, and where a seek wants to go; -1 for none.
    pulls: int = -1
    consumed: int = -1
    seeks: int = -1
    paused: bool = False


class LitePullState(NamedTuple):
    """A consumer, and the broker behind it."""

    store: RemoteStore
    phase: str = RUNNING
    mode: str = ""
    assigned: Mapping[int, Assigned] = MappingProxyType({})
    #: The process queues that rounds made, by queue.
    table: Mapping[int, int] = MappingProxyType({})
    #: Of these and of all others that wait for messages, or were dropped while their queue is assigned.
    caches: Mapping[int, QueueCache] = MappingProxyType({})
    dropped: frozenset[int] = frozenset()
    #: The messages of each pull that wait to be polled: queue, process queue, offsets.
    pulled: tuple[tuple[int, int, tuple[int, ...]], ...] = ()
    #: Process queues made so far.
    made: int = 0
    calls: str = UNHEARD
    commits: bool = True
    #: When the next commit by itself is due; -1: at once.
    due: int = -1
    now: int = 0
    #: Is there a listener of the other topic, and what it knows; None: nothing.
    listens: bool = False
    known: tuple[int, ...] | None = None
    #: How many queues the route of the other topic has; -1: there is none.
    route: int = 2


def initial_state(topology: Topology) -> LitePullState:
    """A consumer that runs, and has no queues."""
    return LitePullState(RemoteStore(broker=initial_broker(topology)), route=topology.routes[topology.other_topic])


class LitePullModel:
    """The operations of one lite pull consumer, for one profile; every method is pure."""

    __slots__ = ("client", "start", "store", "topology")

    def __init__(self, profile: Profile, topology: Topology) -> None:
        self.topology = topology
        self.start = StartModel(profile, topology)
        self.store = self.start.store
        self.client = self.start.client

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
        store, sent, _ = self.store.persist_all(state.store, self._persisted(state))
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
        after = _with_queues(state._replace(mode=ASSIGN), queues)
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
            return state, None, _STATE[state.phase]
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
        gained = [queue for queue in share if queue not in table]
        for queue in gained:
            store = self.store.remove(store, queue)[0]
            store = self._start_of(store, queue, "answer", "answer")[0]
            made += 1
            table[queue] = made
        after = state._replace(store=store, table=table, dropped=dropped, made=made)
        heard = None
        if not lost and not gained:
            why = _ROUND["same"]
        elif state.calls == OWN:
            heard, why = share, _ROUND["listener of its own"]
            after = _without_dropped(after)
        else:
            after = _with_queues(after, share)
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
            return state, NOT_RUNNING, _STATE[state.phase]
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
            return state, NOT_RUNNING, _STATE[state.phase]
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
        state = _with_queues(state, (between,))
        state = _with_queues(state, before)
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
            return state, None, _STATE[state.phase]
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
            return state, NOT_RUNNING, _STATE[state.phase]
        if patience < 0:
            return state, NOT_RUNNING, _POLL["negative time"]
        sent: tuple[Value, ...] = ()
        auto = ""
        if state.commits:
            auto = "not yet"
            if state.now >= state.due:
                auto = "committed"
                state, sent, _ = self._commit_all(state._replace(due=state.now + AUTO_EVERY), True)
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

    # --- offsets -------------------------------------------------------------------------------------------

    def commit(self, state: LitePullState) -> Answer[LitePullState]:
        """LITE-COMMIT: the commits that reach the broker."""
        if state.phase != RUNNING:
            return state, (), _STATE[state.phase]
        return self._commit_all(state, False)

    def _commit_all(self, state: LitePullState, one_way: bool) -> tuple[LitePullState, tuple[Value, ...], Reason]:
        consumed = self._consumed(state, tuple(state.assigned))
        if not consumed:
            return state, (), _COMMIT["nothing consumed"]
        store, sent = state.store, []
        seeks = any(state.assigned[queue].seeks != -1 for queue in consumed)
        why = _COMMIT["into memory, seek waits" if seeks else "into memory"]
        if not self.client.lite_commits_later:
            for queue, offset in consumed.items():
                if offset != store.memory.get(queue):
                    store, stored, _ = self.store.commit(store, queue, offset, one_way, "answer")
                    sent += stored  # type: ignore[operator]
            why = _COMMIT["sent at once" if sent else "known already"]
        store = remote_store(({**store.memory, **consumed}, store.frozen, store.broker))
        return state._replace(store=store), tuple(sorted(sent)), why

    def _consumed(self, state: LitePullState, queues: tuple[int, ...]) -> dict[int, int]:
        """What a commit of these queues writes."""
        assigned = state.assigned
        return {
            queue: assigned[queue].consumed
            for queue in queues
            if queue in assigned and assigned[queue].consumed != -1 and assigned[queue].number not in state.dropped
        }

    def commit_offsets(
        self, state: LitePullState, offsets: tuple[tuple[int, int], ...], persist: bool
    ) -> Answer[LitePullState]:
        """LP-COMMIT-OFFSETS: the commits that reach the broker."""
        given = {
            queue: offset
            for queue, offset in offsets
            if offset != -1 and queue in state.assigned and state.assigned[queue].number not in state.dropped
        }
        why = _OFFSETS["into memory" if given else "passed over" if offsets else "nothing"]
        return self._committed(state, given, tuple([queue for queue, _ in offsets]), persist, why)

    def commit_queues(self, state: LitePullState, queues: tuple[int, ...], persist: bool) -> Answer[LitePullState]:
        """LP-COMMIT-QUEUES: the commits that reach the broker."""
        given = self._consumed(state, queues)
        why = _QUEUES["into memory" if given else "nothing consumed" if queues else "nothing"]
        return self._committed(state, given, queues, persist, why)

    def _committed(
        self, state: LitePullState, given: Mapping[int, int], queues: tuple[int, ...], persist: bool, why: Reason
    ) -> Answer[LitePullState]:
        """LP-COMMIT-PERSIST."""
        if state.phase == NEW and (given or (persist and queues)):
            return state, NOT_RUNNING, _STATE["new"]
        memory, frozen, broker = state.store
        store = remote_store(({**memory, **given}, frozen, broker)) if given else state.store
        if not persist or not queues:
            return state._replace(store=store), (), why
        held = len(store.memory)
        store, sent, _ = self.store.persist_all(store, queues)
        kind = "none held" if not held else "sent, others lost" if len(store.memory) < held else "sent"
        return state._replace(store=store), sent, _PERSISTED[kind]

    def persist(self, state: LitePullState) -> Answer[LitePullState]:
        """LP-PERSIST: the commits that reach the broker."""
        if state.phase != RUNNING:
            return state, (), _STATE[state.phase]
        store, sent, _ = self.store.persist_all(state.store, self._persisted(state))
        forgotten = len(store.memory) < len(state.store.memory)
        why = _PERSIST["others forgotten" if forgotten else "sends" if sent else "nothing held"]
        return state._replace(store=store), sent, why

    def _persisted(self, state: LitePullState) -> tuple[int, ...]:
        """The queues whose offsets a timer sends."""
        return tuple(state.assigned if state.mode == ASSIGN and self.client.lite_commits_later else state.table)

    def committed(self, state: LitePullState, queue: int, fault: str) -> Answer[LitePullState]:
        """LP-COMMITTED."""
        if state.phase != RUNNING:
            return state, NOT_RUNNING, _STATE[state.phase]
        held = queue in state.store.memory
        remembers = self.client.lite_remembers
        store, found, _ = self.store.read(state.store, queue, MEMORY_THEN_STORE if remembers else STORE, fault)
        reasons = _COMMITTED if remembers else _COMMITTED_0
        after = state._replace(store=store)
        if found == -2:
            return after, REFUSED, reasons["unreadable"]
        if found == -1:
            return after, found, reasons["none"]
        if remembers:
            return after, found, reasons["memory" if held else "broker"]
        return after, found, reasons["over memory" if held else "broker"]

    def offset_for_time(self, state: LitePullState, queue: int, time: int, bound_fault: str) -> Answer[LitePullState]:
        """LP-TIME."""
        if state.phase != RUNNING:
            return state, NOT_RUNNING, _STATE[state.phase]
        if queue in self.topology.unrouted or bound_fault != "answer":
            return state, REFUSED, _TIME["fails"]
        place = self.topology.places[queue]
        return state, search(self.store.broker, state.store.broker, *place, time)[1], _TIME["found"]

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
            return state, None, _STATE[state.phase]
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


def _with_queues(state: LitePullState, queues: tuple[int, ...]) -> LitePullState:
    """LP-ASSIGN: the assigned queues become these."""
    dropped = state.dropped | {held.number for queue, held in state.assigned.items() if queue not in queues}
    assigned, made = {}, state.made
    for queue in queues:
        held = state.assigned.get(queue)
        if held is None:
            number = state.table.get(queue)
            if number is None:
                number = made = made + 1
            held = Assigned(number)
        assigned[queue] = held
    return _without_dropped(state._replace(assigned=assigned, dropped=dropped, made=made))


def _without_dropped(state: LitePullState) -> LitePullState:
    """Forget the messages of process queues that were dropped, and what no assigned queue has any more."""
    mine = {held.number for held in state.assigned.values()}
    return state._replace(
        pulled=tuple([batch for batch in state.pulled if batch[1] not in state.dropped]),
        caches={number: kept for number, kept in state.caches.items() if number in mine},
        dropped=state.dropped & mine,
    )
