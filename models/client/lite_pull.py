"""A lite pull consumer in the hands of its application: assign, seek, pause, poll and commit (LP-*).

Of each assigned queue the consumer keeps a process queue and three numbers: where the next pull goes on, what a commit
would write, and a seek that no pull has taken yet. They are not the offset table: a commit copies one of them into
the table, and a timer or the shutdown sends the table to the broker.

The turn of a pull task is a step of its own, so that the time between a seek and the next pull is a state; what the
application does while a pull is under way is a part of that step.
"""

from __future__ import annotations

from rocketmq_conformance.models.client.lite_pull_commits import NOT_RUNNING, NOT_THERE, REFUSED
from rocketmq_conformance.models.client.lite_pull_state import (
    ASSIGN,
    ASSIGNS,
    AUTO_EVERY,
    BOTH,
    ENDED,
    NEW,
    OWN,
    RUNNING,
    SUBSCRIBE,
    UNHEARD,
    LitePullState,
    tidied,
    with_queues,
    without_topic,
)
from rocketmq_conformance.models.client.lite_pull_turns import LitePullTurns
from rocketmq_conformance.models.client.rebalance_pull_round import cache_of
from rocketmq_conformance.models.client.remote_store import RemoteStore
from rocketmq_conformance.models.outcome import Value
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
        "LP-UNSUB",
        "An unsubscription ends the pull tasks of its topic at once, however its queues came, with what was polled of "
        "them and not committed. What is cached of them is polled all the same. Brokers do not hear of it, and "
        "offsets in memory stay.",
        "DefaultLitePullConsumerImpl#unsubscribe, #removePullTask @ 4.6.0, 4.9.8, 5.3.3; "
        "AssignedMessageQueue#removeAssignedMessageQueue @ 4.6.0, 4.9.8, 5.3.3",
        releases="4.6.0+",
    ),
    Rule(
        "LP-UNSUB-ROUND",
        "The next round drops the queues of a topic that is not subscribed to, and sends nothing: a commit that no "
        "timer has sent before is never sent.",
        "RebalanceImpl#truncateMessageQueueNotMyTopic @ 4.6.0, 4.9.8, 5.3.3",
        releases="4.6.0+",
    ),
    Rule(
        "LP-UNSUB-BACK",
        "A round that finds all queues of the share owned assigns none: a topic that was given up and subscribed to "
        "again without a round between is not pulled, until a round gains or loses one of its queues.",
        "RebalanceImpl#updateProcessQueueTableInRebalance, RebalanceLitePullImpl#messageQueueChanged "
        "@ 4.6.0, 4.9.8, 5.3.3",
        releases="4.6.0+",
    ),
    Rule(
        "LP-EXPRESSION-SET",
        "The expression of assigned queues is set before the start, which makes the consumer one that assigns; after "
        "a subscription, or once it has started, it is refused, as a blank one always is.",
        "DefaultLitePullConsumerImpl#setSubExpressionForAssign @ 4.9.5, 5.0.0, 5.3.3",
        releases="4.9.5+, 5.0.0+",
    ),
    Rule(
        "LP-NULL",
        "A null topic, listener of a topic, or expression is refused, and so are null queues but by commits, which "
        "pass over them. Asked what is committed of no queue, a consumer answers that nothing is. A listener "
        "of queues that is null takes the place of what assigns, as any other does.",
        "DefaultLitePullConsumerImpl#assign, #subscribe, #seek, #committed, "
        "#registerTopicMessageQueueChangeListener @ 4.6.0, 4.9.8, 5.3.3; AssignedMessageQueue#pause, #resume "
        "@ 4.6.0, 4.9.8, 5.3.3; RebalanceLitePullImpl#messageQueueChanged @ 4.6.0, 4.9.8, 5.3.3",
        releases="4.6.0+",
    ),
    Rule(
        "LP-NULL-QUEUE",
        "An assignment of a null among queues raises, and has forgotten the queues that it does not name; their tasks "
        "stay behind, and ask for nothing.",
        "AssignedMessageQueue#updateAssignedMessageQueue, DefaultLitePullConsumerImpl#assign @ 4.6.0, 4.9.8, 5.3.3",
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
_POLL = reasons_by_kind(("LP-POLL", "LITE-POLL"), "polled", "polled, others wait", "polled again", "nothing to poll")
_POLL |= reasons_by_kind(("LP-PAUSE", "LITE-POLL"), "polled, paused")
_POLL |= reasons_by_kind(("LP-POLL",), "negative time")
_POLL |= reasons_by_kind(("LP-UNSUB", "LITE-POLL"), "polled, given up")
_AUTO = reasons_by_kind(("LP-AUTO", "LITE-POLL"), "polled, not yet", "polled, committed")
_AUTO |= reasons_by_kind(("LP-AUTO",), "not yet", "committed", "switched")
_AUTO_0 = Reason(("LP-AUTO", "LITE-COMMIT-0"), "sent at once")
_PAUSE = reasons_by_kind(("LP-PAUSE",), "pauses", "resumes", "not assigned")
_ROUND = reasons_by_kind(("REB-MQC-LITE", "REB-VAR-START"), "gained")
_ROUND |= reasons_by_kind(("REB-MQC-LITE", "REB-VAR-REM"), "lost", "lost and gained")
_ROUND |= reasons_by_kind(("REB-MQC-SAME",), "same")
_ROUND |= reasons_by_kind(("LP-LISTEN",), "listener of its own", "listener as well", "listener set")
_ROUND |= reasons_by_kind(("LP-MODE",), "not subscribed")
_ROUND |= reasons_by_kind(("LP-UNSUB-ROUND",), "given up", "nothing to give up")
_ROUND |= reasons_by_kind(("LP-NULL", "LP-LISTEN"), "no listener")
_ROUND |= reasons_by_kind(("LP-UNSUB-BACK", "REB-MQC-SAME"), "same, not pulled")
_UNSUB = reasons_by_kind(("LP-UNSUB",), "gives up", "gives up, cached", "not pulled")
_EXPRESSION = reasons_by_kind(("LP-EXPRESSION-SET",), "set", "blank", "subscribed", "started")
_NULL = reasons_by_kind(("LP-NULL",), "refused", "passed over", "none", "no listener")
_NULL |= reasons_by_kind(("LP-NULL-QUEUE",), "forgotten", "nothing to forget")
_LIMIT = reasons_by_kind(("LP-FLOW",), "another threshold")
#: What a call that is given null raises, for those that need no state.
_NULLS = {
    "assign": NOT_RUNNING,
    "subscribe": REFUSED,
    "unsubscribe": NOT_RUNNING,
    "pause": NOT_RUNNING,
    "resume": NOT_RUNNING,
    "seek": NOT_RUNNING,
    "offset for time": NOT_RUNNING,
    "topic of a listener": REFUSED,
}
_TOPIC = reasons_by_kind(
    ("LP-LISTEN-TOPIC",), "registers", "no route", "before it runs", "same", "changed", "no listener"
)
_ELAPSES = Reason(("LP-AUTO",), "time passes")
_ROUTE = Reason(("LP-LISTEN-TOPIC",), "another route")


class LitePullModel(LitePullTurns):
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
        return state._replace(mode=SUBSCRIBE, calls=calls, subscribed=True), None, why

    def unsubscribe(self, state: LitePullState) -> Answer[LitePullState]:
        """LP-UNSUB: the topic is given up."""
        after = without_topic(state, self.topology)
        if len(after.assigned) == len(state.assigned):
            return after, None, _UNSUB["not pulled"]
        numbers = {held.number for held in after.assigned.values()}
        cached = any(batch[1] not in numbers and batch[1] not in state.dropped for batch in state.pulled)
        return after, None, _UNSUB["gives up, cached" if cached else "gives up"]

    def set_expression(self, state: LitePullState, expression: str) -> Answer[LitePullState]:
        """LP-EXPRESSION-SET."""
        if not expression.strip():
            return state, NOT_RUNNING, _EXPRESSION["blank"]
        if state.phase != NEW:
            return state, NOT_RUNNING, _EXPRESSION["started"]
        if state.mode == SUBSCRIBE:
            return state, NOT_RUNNING, _EXPRESSION["subscribed"]
        return state._replace(mode=ASSIGN, expression=expression), None, _EXPRESSION["set"]

    def limit(self, state: LitePullState, threshold: str, value: int) -> Answer[LitePullState]:
        """LP-FLOW and the like: a threshold becomes another one."""
        return state._replace(limits=state.limits._replace(**{threshold: value})), None, _LIMIT["another threshold"]

    def give_null(self, state: LitePullState, call: str) -> Answer[LitePullState]:
        """LP-NULL, LP-NULL-QUEUE."""
        if call == "a queue to assign" and state.mode != SUBSCRIBE:
            left = {**state.left, **{queue: held.waits for queue, held in state.assigned.items()}}
            after = with_queues(state._replace(mode=ASSIGN), ())._replace(left=left if state.phase == RUNNING else {})
            return after, NOT_RUNNING, _NULL["forgotten" if state.assigned else "nothing to forget"]
        if call == "listener":
            return state._replace(calls=UNHEARD), None, _NULL["no listener"]
        if call == "committed" and state.phase == RUNNING:
            return state, -3 if self.client.not_found_only else -1, _NULL["none"]
        if call == "commit":
            return state, None, _NULL["passed over"]
        return state, _NULLS.get(call, NOT_RUNNING), _NULL["refused"]

    def listen(self, state: LitePullState) -> Answer[LitePullState]:
        """LP-LISTEN: a listener is set."""
        return state._replace(calls=OWN), None, _ROUND["listener set"]

    def rebalance(self, state: LitePullState, share: tuple[int, ...]) -> Answer[LitePullState]:
        """REB-MQC-LITE, LP-LISTEN: (owned, assigned, what the application's listener hears or None, commits)."""
        if state.phase != RUNNING:
            return state, None, NOT_THERE[state.phase]
        if state.mode != SUBSCRIBE:
            return state, ((), tuple(sorted(state.assigned)), None, ()), _ROUND["not subscribed"]
        if not state.subscribed:
            after = tidied(state._replace(table={}, dropped=state.dropped.union(state.table.values())))
            why = _ROUND["given up" if state.table else "nothing to give up"]
            return after, ((), tuple(sorted(after.assigned)), None, ()), why
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
            store, begins = self._start_of(self.store.remove(store, queue)[0], queue, False, "answer", "answer")
            if isinstance(begins, int) and begins >= 0:
                gained = True
                made += 1
                table[queue] = made
        after = state._replace(store=store, table=table, dropped=dropped, made=made)
        heard = None
        if not lost and not gained:
            why = _ROUND[
                "same" if state.calls in (OWN, UNHEARD) or table.keys() <= after.assigned.keys() else "same, not pulled"
            ]
        elif state.calls == UNHEARD:
            after, why = tidied(after), _ROUND["no listener"]
        elif state.calls == OWN:
            heard, why = share, _ROUND["listener of its own"]
            after = tidied(after)
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
        alive = [at for at, (_, number, _) in enumerate(state.pulled) if number not in state.dropped]
        if not alive:
            state = tidied(state._replace(pulled=state.pulled[1:]))
            if sent:
                return state, ((), sent), _AUTO_0
            return state, ((), sent), _AUTO[auto] if auto else _POLL["nothing to poll"]
        queue, number, offsets = state.pulled[alive[0]]
        waiting, last = state.caches[number]
        left = tuple([offset for offset in waiting if offset not in offsets])
        held = state.assigned.get(queue)
        consumed = -1 if not waiting else left[0] if left else last + 1
        after = tidied(
            state._replace(
                assigned=state.assigned
                if held is None
                else {**state.assigned, queue: held._replace(consumed=consumed)},
                caches={**state.caches, number: cache_of((left, last))},
                pulled=state.pulled[alive[0] + 1 :],
            )
        )
        if held is None or held.number != number:
            why = _POLL["polled, given up"]
        elif not waiting:
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
