"""The pull loop of a push consumer: one request per owned queue, and its place (PULL-*, REB-RPQ-1).

A request is always in one of four places:

============  =====================================================================
ready         the pull service takes it when it has time
under way     a broker was asked, and has not answered
put off       a timer brings it back after a while
to correct    its offset is illegal; a task writes the right one, and ends the queue
============  =====================================================================

A request whose process queue was dropped ends when the pull service takes it, and nowhere else. An answer that arrives
after its queue was lost is still processed: its messages go to the listener, and one without messages may still raise
the offset in memory, of a queue that is not owned any more or was gained again. A correction that runs late takes the
queue away from its owner of that moment.

The plan decides which request the pull service takes, which answer arrives and which timer runs. The listener is busy
with its messages until the plan finishes it.
"""

from __future__ import annotations

from rocketmq_conformance.models.client.client_rules import ClientRules
from rocketmq_conformance.models.client.offset_table import updated
from rocketmq_conformance.models.client.pull_request import NO_BROKER, TOO_OLD, UNREACHED, ask, locate
from rocketmq_conformance.models.client.pull_state import (
    LARGE,
    MAX_MESSAGES,
    MAX_SPAN,
    Commits,
    PullRequest,
    PullState,
    TaggedOffset,
    position_of,
    take_answer,
    with_suggestion,
    without_item,
)
from rocketmq_conformance.models.client.remote_store import RemoteStore, RemoteStoreModel
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Answer, Reason, Rule, reasons_by_kind

RULES = (
    Rule(
        "PULL-PRE-1",
        "Before a broker is asked, in this order: a dropped process queue ends the request; then the pull counts, and "
        "is put off when the consumer does not run (3 s, 1 s from 4.6.0), is paused (1 s), has too many messages "
        "cached, too many MiB of them (from 4.2.0) or too far apart (50 ms each), or does not subscribe to the topic "
        "(as when it does not run). What is exactly at a limit is not over it.",
        "DefaultMQPushConsumerImpl#pullMessage @ 4.0.0, 4.2.0, 4.9.8, 5.3.3; ClientConfig @ 4.6.0",
    ),
    Rule(
        "PULL-RES-1",
        "A pull that fails (any response code but the four of an answer, no answer, an answer without its fields) is "
        "put off as an exception is; FLOW_CONTROL for 20 ms from 4.9.5 and 5.1.0 on. The offset stays.",
        "MQClientAPIImpl#processPullResponse, DefaultMQPushConsumerImpl#pullMessage @ 4.0.0, 4.9.5, 5.0.0, "
        "5.1.0, 5.3.3",
    ),
    Rule(
        "PULL-FND-1",
        "Of the messages found only those with a tag of the subscription that the pull was made with are kept. If any "
        "are, they are cached and given to the listener, and the next pull waits for the pull interval; if none is, it "
        "does not wait, and no offset is written.",
        "PullAPIWrapper#processPullResult, DefaultMQPushConsumerImpl#pullMessage @ 4.0.0, 4.9.8, 5.3.3",
    ),
    Rule(
        "PULL-NEXT-1",
        "The next pull asks for the offset that the answer says, be it smaller than the one asked for; messages with "
        "offsets below the one asked for are taken all the same.",
        "DefaultMQPushConsumerImpl#pullMessage @ 4.0.0, 4.9.8, 5.3.3",
    ),
    Rule(
        "PULL-NON-1",
        "No new message and no matching message are one: if the process queue caches nothing, the next offset is "
        "written to memory (increase-only), and the queue is pulled again at once.",
        "DefaultMQPushConsumerImpl#pullMessage, #correctTagsOffset @ 4.0.0, 4.8.0, 5.3.3",
    ),
    Rule(
        "PULL-LATE-1",
        "An answer that comes after its process queue was dropped is taken like any other; the request ends later.",
        "DefaultMQPushConsumerImpl#pullMessage @ 4.0.0, 4.9.8, 5.3.3",
    ),
    Rule(
        "PULL-ILL-1",
        "An illegal offset drops the process queue; a task, 10 s later, from 5.2.0 on at once, writes the next offset "
        "that the answer says to memory (from 5.2.0 frozen), sends it, and ends the queue.",
        "DefaultMQPushConsumerImpl#pullMessage @ 4.0.0, 5.1.4, 5.2.0, 5.3.3",
    ),
    Rule(
        "PULL-ILL-2",
        "From 5.2.0 on the correction asks for a rebalance; before, the queue waits for the next one.",
        "DefaultMQPushConsumerImpl#pullMessage @ 5.1.4, 5.2.0, 5.3.3",
    ),
    Rule(
        "REB-RPQ-1",
        "Ending a corrected queue drops whatever process queue it has by then, sends the offset again, and forgets "
        "it; of a queue that is not owned any more, the corrected offset stays in memory.",
        "RebalanceImpl#removeProcessQueue @ 4.0.0, 4.9.8, 5.3.3",
    ),
    Rule(
        "PULL-OWN-1",
        "A queue that is gained forgets its offset in memory and begins with a request that is ready; one that is lost "
        "sends its offset, forgets it, and drops its process queue, as does one that begins anew because nobody "
        "pulled it.",
        "RebalanceImpl#updateProcessQueueTableInRebalance @ 4.0.0, 4.9.8, 5.3.3",
    ),
)

#: Ms by which pulls are put off.
PAUSED_DELAY, CACHED_DELAY, FLOW_CONTROL_DELAY, CORRECTION_DELAY = 1_000, 50, 20, 10_000

_GATES = reasons_by_kind(
    ("PULL-PRE-1",), "no request", "not running", "paused", "too many", "too large", "too far apart"
)
_DROPPED = Reason(("PULL-PRE-DROP", "PULL-PRE-1"), "dropped")
_UNSUBSCRIBED = Reason(("PULL-PRE-1", "PULL-PRE-DROP"), "no subscription")
_NOTHING_ASKED = Reason(("PULL-RES-1",), "nothing under way")
_FAILED = reasons_by_kind(("PULL-RES-1",), "flow control", "failed")
_FOUND = reasons_by_kind(
    ("PULL-FND-1", "PULL-NEXT-1"), "kept", "some kept", "none kept", "no message", "below the offset asked for"
)
_EMPTY = reasons_by_kind(("PULL-NON-1", "PULL-NEXT-1"), "offset written", "offset kept", "messages cached")
_ILLEGAL = Reason(("PULL-ILL-1",), "illegal")
_LATE = reasons_by_kind(("PULL-LATE-1",), "found", "nothing", "illegal")
_TIMER = reasons_by_kind(("PULL-PRE-1",), "nothing put off", "put off")
_CORRECTED = reasons_by_kind(
    ("PULL-ILL-1", "PULL-ILL-2", "REB-RPQ-1"), "corrected", "not sent", "owned anew", "not owned"
)
_DONE = reasons_by_kind(("CONS-DROP",), "not owned", "nothing cached", "dropped", "some", "all")
_GAIN = reasons_by_kind(("PULL-OWN-1",), "gained", "anew", "owned already")
_LOSE = reasons_by_kind(("PULL-OWN-1",), "lost", "lost, offset sent", "not owned")


class PullModel:
    """The operations of the loop for one profile and topology; every method is pure."""

    __slots__ = ("client", "failure", "store", "topic_of")

    def __init__(self, profile: Profile, topology: Topology) -> None:
        self.client = ClientRules.of(profile)
        self.store = RemoteStoreModel(profile, topology)
        self.topic_of = topology.topic_of
        #: Ms by which a failed pull is put off.
        self.failure = 1_000 if self.client.retries_sooner else 3_000

    # --- the pull service ---------------------------------------------------------------------------------

    def pull(self, state: PullState, place: int, reachable: bool) -> Answer[PullState]:
        """PULL-PRE-1: the queue, and ("asked", node, offset, commit offset, flag, expression, type), ("later", ms) or
        ("dropped",), and whether it counts as a pull; None without a ready request."""
        if not state.ready:
            return state, None, _GATES["no request"]
        position = position_of(state.ready, place)
        number = state.ready[position]
        request = state.requests[number]
        queue = request.queue
        state = state._replace(ready=without_item(state.ready, position))
        if request.dropped:
            return state, (queue, "dropped", False), _DROPPED
        gate = self._gate(state, request)
        if gate is not None:
            return self._put_off(state, number, *gate)
        topic = self.topic_of[queue]
        subscription = state.subscriptions[topic]
        broker = locate(state.broker, topic)
        if broker is None:
            return self._put_off(state, number, self.failure, NO_BROKER)
        learned = broker is not state.broker
        held = state.store.memory.get(queue, -1)
        answer, why = ask(self.client, broker, learned, queue, request.next, held, subscription, state.settings.posts)
        if learned:
            state = state._replace(broker=broker)
        if answer is None or not reachable:
            return self._put_off(state, number, self.failure, TOO_OLD if answer is None else UNREACHED)
        asked = (*state.in_flight, (number, subscription.tags))
        return state._replace(in_flight=asked), (queue, *answer, True), why

    def _gate(self, state: PullState, request: PullRequest) -> tuple[int, Reason] | None:
        """The ms by which a pull is put off before a broker is looked for, and the reason."""
        settings, cached = state.settings, request.cached
        if not settings.running:
            return self.failure, _GATES["not running"]
        if settings.paused:
            return PAUSED_DELAY, _GATES["paused"]
        if len(cached) > MAX_MESSAGES:
            return CACHED_DELAY, _GATES["too many"]
        if LARGE in cached and self.client.weighs:
            return CACHED_DELAY, _GATES["too large"]
        if cached and cached[-1] - cached[0] > MAX_SPAN:
            return CACHED_DELAY, _GATES["too far apart"]
        if self.topic_of[request.queue] not in state.subscriptions:
            return self.failure, _UNSUBSCRIBED
        return None

    def _put_off(self, state: PullState, number: int, delay: int, why: Reason) -> Answer[PullState]:
        answer = state.requests[number].queue, "later", delay, True
        return state._replace(timers=(*state.timers, (number, False))), answer, why

    # --- answers ------------------------------------------------------------------------------------------
    #
    # All answer: queue, what comes next, in ms, next offset, offsets given to the listener, offset in memory, dropped?
    # ----

    def found(
        self,
        state: PullState,
        place: int,
        next_offset: int,
        messages: tuple[TaggedOffset, ...],
        suggested: int,
    ) -> Answer[PullState]:
        """PULL-FND-1."""
        arrived = take_answer(state, place)
        if arrived is None:
            return state, None, _NOTHING_ASKED
        number, tags, request, in_flight = arrived
        queue = request.queue
        kept = tuple([offset for offset, tag in messages if not tags or tag in tags])
        new = [offset for offset in kept if offset not in request.cached]
        why = _FOUND["kept" if len(kept) == len(messages) else "some kept" if kept else "none kept"]
        if not messages:
            why = _FOUND["no message"]
        elif kept and kept[0] < request.next:
            why = _FOUND["below the offset asked for"]
        if request.dropped:
            why = _LATE["found"]
        cached = tuple(sorted({*request.cached, *new})) if new else request.cached
        last = new[-1] if new else request.last
        after = PullRequest(queue, next_offset, cached, last, request.dropped)
        broker = with_suggestion(state.broker, queue, suggested)
        state = state._replace(broker=broker, requests={**state.requests, number: after}, in_flight=in_flight)
        held = state.store.memory.get(queue, -1)
        interval = state.settings.interval
        if kept and interval:
            answer = queue, "later", interval, next_offset, kept, held, request.dropped
            return state._replace(timers=(*state.timers, (number, False))), answer, why
        return (
            state._replace(ready=(*state.ready, number)),
            (queue, "pull", 0, next_offset, kept, held, request.dropped),
            why,
        )

    def nothing(self, state: PullState, place: int, code: str, next_offset: int, suggested: int) -> Answer[PullState]:
        """PULL-NON-1; both codes mean the same."""
        arrived = take_answer(state, place)
        if arrived is None:
            return state, None, _NOTHING_ASKED
        number, _, request, in_flight = arrived
        queue = request.queue
        store = state.store
        why = _EMPTY["messages cached"]
        if not request.cached:
            memory, _ = updated(store.memory, store.frozen, queue, next_offset, True)
            why = _EMPTY["offset kept" if memory is store.memory else "offset written"]
            store = RemoteStore(memory, store.frozen, store.broker)
        if request.dropped:
            why = _LATE["nothing"]
        after = state._replace(
            store=store,
            broker=with_suggestion(state.broker, queue, suggested),
            requests={**state.requests, number: request._replace(next=next_offset)},
            ready=(*state.ready, number),
            in_flight=in_flight,
        )
        return after, (queue, "pull", 0, next_offset, (), store.memory.get(queue, -1), request.dropped), why

    def illegal(
        self, state: PullState, place: int, next_offset: int, low: int, high: int, suggested: int
    ) -> Answer[PullState]:
        """PULL-ILL-1; the bounds in the answer are not used."""
        arrived = take_answer(state, place)
        if arrived is None:
            return state, None, _NOTHING_ASKED
        number, _, request, in_flight = arrived
        queue = request.queue
        after = state._replace(
            broker=with_suggestion(state.broker, queue, suggested),
            requests={**state.requests, number: request._replace(next=next_offset, dropped=True)},
            in_flight=in_flight,
            timers=(*state.timers, (number, True)),
        )
        delay = 0 if self.client.corrects_at_once else CORRECTION_DELAY
        answer = queue, "correct", delay, next_offset, (), state.store.memory.get(queue, -1), True
        return after, answer, _LATE["illegal"] if request.dropped else _ILLEGAL

    def fail(self, state: PullState, place: int, failure: str) -> Answer[PullState]:
        """PULL-RES-1."""
        arrived = take_answer(state, place)
        if arrived is None:
            return state, None, _NOTHING_ASKED
        number, _, request, in_flight = arrived
        queue = request.queue
        controlled = failure == "FLOW_CONTROL" and self.client.flow_controlled
        delay = FLOW_CONTROL_DELAY if controlled else self.failure
        after = state._replace(in_flight=in_flight, timers=(*state.timers, (number, False)))
        answer = queue, "later", delay, request.next, (), state.store.memory.get(queue, -1), request.dropped
        return after, answer, _FAILED["flow control" if controlled else "failed"]

    # --- timers -------------------------------------------------------------------------------------------

    def fire(self, state: PullState, place: int) -> Answer[PullState]:
        """A timer runs: the queue, "pull" or "correct", whether the queue is owned, the offset in memory, whether a
        rebalance is asked for, and the commits; None without one."""
        if not state.timers:
            return state, None, _TIMER["nothing put off"]
        position = position_of(state.timers, place)
        number, corrects = state.timers[position]
        queue = state.requests[number].queue
        state = state._replace(timers=without_item(state.timers, position))
        if corrects:
            return self._correct(state, queue, number)
        answer = queue, "pull", queue in state.table, state.store.memory.get(queue, -1), False, ()
        return state._replace(ready=(*state.ready, number)), answer, _TIMER["put off"]

    def _correct(self, state: PullState, queue: int, number: int) -> Answer[PullState]:
        """PULL-ILL-1, REB-RPQ-1."""
        at_once = self.client.corrects_at_once
        offset = state.requests[number].next
        write = self.store.freeze if at_once else self._overwrite
        state = state._replace(store=write(state.store, queue, offset)[0])
        state, commits = self._send(state, queue)
        owner = state.table.get(queue)
        why = _CORRECTED["not owned" if owner is None else "corrected" if owner == number else "owned anew"]
        if owner is not None:
            state, again = self._end(state, queue, owner)
            why = why if commits else _CORRECTED["not sent"]
            commits += again
        return state, (queue, "correct", False, state.store.memory.get(queue, -1), at_once, commits), why

    def _overwrite(self, store: RemoteStore, queue: int, offset: int) -> Answer[RemoteStore]:
        return self.store.update(store, queue, offset, False)

    def _send(self, state: PullState, queue: int) -> tuple[PullState, Commits]:
        """Send a queue's offset in memory, if there is one, to the broker, if it can be found."""
        if queue not in state.store.memory:
            return state, ()
        broker = locate(state.broker, self.topic_of[queue])
        if broker is None:
            return state, ()
        store, sent, _ = self.store.persist(state.store, queue)
        return state._replace(store=store, broker=broker), sent  # type: ignore[return-value]

    def _end(self, state: PullState, queue: int, number: int) -> tuple[PullState, Commits]:
        """Drop an owned queue's process queue, send its offset and forget it."""
        state, sent = self._send(state, queue)
        after = state._replace(
            store=self.store.remove(state.store, queue)[0],
            requests={**state.requests, number: state.requests[number]._replace(dropped=True)},
            table={other: kept for other, kept in state.table.items() if other != queue},
        )
        return after, sent

    # --- the listener, the rebalance and the application --------------------------------------------------

    def consume(self, state: PullState, queue: int, everything: bool) -> Answer[PullState]:
        """The listener is done with the first message of an owned queue, or with all: the offset in memory."""
        held = state.store.memory.get(queue, -1)
        number = state.table.get(queue)
        if number is None:
            return state, held, _DONE["not owned"]
        request = state.requests[number]
        if not request.cached:
            return state, held, _DONE["nothing cached"]
        left = () if everything else request.cached[1:]
        state = state._replace(requests={**state.requests, number: request._replace(cached=left)})
        if request.dropped:
            return state, held, _DONE["dropped"]
        store = self.store.update(state.store, queue, left[0] if left else request.last + 1, True)[0]
        return state._replace(store=store), store.memory[queue], _DONE["some" if left else "all"]

    def gain(self, state: PullState, queue: int, offset: int, anew: bool) -> Answer[PullState]:
        """PULL-OWN-1: (does the queue begin?, commits); one that is owned does with ``anew``."""
        owner = state.table.get(queue)
        sent: Commits = ()
        if owner is not None:
            if not anew:
                return state, (False, ()), _GAIN["owned already"]
            state, sent = self._end(state, queue, owner)
        number = len(state.requests)
        after = state._replace(
            store=self.store.remove(state.store, queue)[0],
            requests={**state.requests, number: PullRequest(queue, offset)},
            table={**state.table, queue: number},
            ready=(*state.ready, number),
        )
        return after, (True, sent), _GAIN["gained" if owner is None else "anew"]

    def lose(self, state: PullState, queue: int) -> Answer[PullState]:
        """PULL-OWN-1: (was the queue owned?, commits)."""
        number = state.table.get(queue)
        if number is None:
            return state, (False, ()), _LOSE["not owned"]
        state, sent = self._end(state, queue, number)
        return state, (True, sent), _LOSE["lost, offset sent" if sent else "lost"]

    def update(self, state: PullState, queue: int, offset: int) -> Answer[PullState]:
        """OFF-UPD-1: the application sets the offset of a queue; answers the offset in memory afterwards."""
        store, _, why = self.store.update(state.store, queue, offset, False)
        return state._replace(store=store), store.memory[queue], why
