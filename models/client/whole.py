"""A whole consumer: the first message of its listener, and the offset that it commits in the end (WHOLE-*).

A running consumer computes the start of a queue (START-*), pulls from there, and is redirected when the offset is
invalid: below min, beyond max, or while a reset is pending. The two kinds of consumer handle that differently:

======================  ==============================================================================
push                    the queue is dropped, the other offset stored, and the queue begins again there
lite pull               the next pull asks there, and nothing is stored
======================  ==============================================================================

Either way the first message is the same, and so is the committed offset once everything is consumed.
"""

from __future__ import annotations

from typing import NamedTuple, cast

from rocketmq_conformance.models.broker.commit import commit_offset
from rocketmq_conformance.models.broker.pull import PullMessageRequest, PullResult, pull, response_code
from rocketmq_conformance.models.broker.query import query_offset
from rocketmq_conformance.models.broker.state import ABSENT, BrokerState
from rocketmq_conformance.models.broker.subscription import StoredEntry
from rocketmq_conformance.models.client.offset_table import MEMORY_THEN_STORE, STORE
from rocketmq_conformance.models.client.remote_store import RemoteStore
from rocketmq_conformance.models.client.start import StartModel
from rocketmq_conformance.models.rule import Reason, Rule

RULES = (
    Rule(
        "WHOLE-FIRST",
        "The first message that a consumer is given is the one that its pulls find first, beginning where it starts; "
        "when nothing is there yet, the next one to arrive.",
        "DefaultMQPushConsumerImpl#pullMessage, DefaultLitePullConsumerImpl.PullTaskImpl#run @ 4.9.7, 5.5.0",
    ),
    Rule(
        "WHOLE-MOVED",
        "A push consumer whose pull is answered PULL_OFFSET_MOVED drops the queue, stores the offset that it is sent "
        "to, and begins there once the queue is its own again: 10 s later up to 5.1.4, at once from 5.2.0.",
        "DefaultMQPushConsumerImpl#pullMessage @ 4.9.7, 5.1.4, 5.2.0, 5.5.0",
    ),
    Rule(
        "WHOLE-MOVED-LITE",
        "A lite pull consumer whose pull is answered PULL_OFFSET_MOVED goes on where it is sent, and stores nothing.",
        "DefaultLitePullConsumerImpl.PullTaskImpl#run @ 4.6.1, 5.5.0",
        releases="4.6.1+",
    ),
    Rule(
        "WHOLE-COMMIT",
        "A consumer that consumed everything and is shut down has committed the offset after the last message, in "
        "each of its queues.",
        "DefaultMQPushConsumerImpl#shutdown, DefaultLitePullConsumerImpl#shutdown @ 4.9.7, 5.5.0",
    ),
)

PUSH, ORDERLY, LITE, BROADCAST = "push", "orderly", "lite pull", "broadcasting"

_FIRST_THERE = Reason(("WHOLE-FIRST",), "a message is there")
_FIRST_AWAITED = Reason(("WHOLE-FIRST",), "nothing is there yet")
_MOVED = {
    PUSH: Reason(("WHOLE-MOVED",), "sent elsewhere", beneath=("PULL-ILL-1",)),
    ORDERLY: Reason(("WHOLE-MOVED",), "sent elsewhere, orderly", beneath=("PULL-ILL-1",)),
    LITE: Reason(("WHOLE-MOVED-LITE",), "sent elsewhere"),
    BROADCAST: Reason(("WHOLE-MOVED",), "sent elsewhere, broadcasting"),
}
#: Nothing but what has expired: brokers up to 4.9.8 offer it after a restart, when nothing else is left.
SENT_ON = Reason(("PULL-NON-1",), "sent on, whole")
_COMMITTED = Reason(("WHOLE-COMMIT",), "everything is consumed")


class Consumption(NamedTuple):
    """A consumer's work on one queue. Offsets are in messages."""

    #: The start, and the first message that the listener gets.
    start: int
    first: int
    #: Number of messages it gets, including those that arrive while it runs.
    messages: int
    committed: int
    #: The reasons of every step, in order.
    reasons: tuple[Reason, ...]


def start(
    model: StartModel, state: RemoteStore, kind: str, queue: int, where: str, timestamp: str | None, zone: str
) -> tuple[RemoteStore, int, tuple[Reason, ...]]:
    """The start of a queue, with the reasons of the broker, the store and the decision; the store
    remembers its reads. Every broker answers: no fault is played."""
    set_zero = False if model.client.asks_no_zero else None
    asked = query_offset(model.store.broker, state.broker, *model.topology.stored_keys[queue], set_zero)[2]
    read = model.store.read(state, queue, MEMORY_THEN_STORE if kind == LITE else STORE, "answer")[2]
    decide = model.lite_pull if kind == LITE else model.push
    state, found, why = decide(state, queue, where, timestamp, zone, True, "answer", "answer")
    assert isinstance(found, int)  # nothing fails where every broker answers
    return state, found, (asked, read, why)


def consume(
    model: StartModel,
    state: RemoteStore,
    kind: str,
    queue: int,
    where: str,
    arriving: int,
    timestamp: str | None = None,
    zone: str = "UTC",
) -> Consumption:
    """The whole run of a consumer of ``kind`` in one queue, in which ``arriving`` messages arrive after
    it has begun. ``timestamp`` and ``zone`` count for CONSUME_FROM_TIMESTAMP only."""
    state, began, whys = start(model, state, kind, queue, where, timestamp, zone)
    _, first, pulls = first_message(model, state.broker, kind, queue, began)
    last = state.broker.logs.get(model.topology.places[queue], ABSENT).max + arriving
    return Consumption(began, first, last - first, last, (*whys, *pulls, _COMMITTED))


def first_message(
    model: StartModel, broker: BrokerState, kind: str, queue: int, offset: int
) -> tuple[BrokerState, int, tuple[Reason, ...]]:
    """The first message of a queue that a consumer of ``kind`` gets, or the next one to arrive, when it
    pulls from ``offset``; with the broker as it is then, and the reasons of every step."""
    key = model.topology.stored_keys[queue]
    entries = [StoredEntry(1)] * len(broker.logs.get(key[1:], ABSENT).times)
    whys: tuple[Reason, ...] = ()
    while True:
        request = PullMessageRequest(*key, offset)
        broker, answer, why = pull(model.store.broker, broker, request, None, entries)
        # no error: the group, the topic and its queue are there
        status, following, _, _, found = cast(PullResult, answer)
        whys += (why,)
        if found:
            return broker, found[0], (*whys, _FIRST_THERE)
        code = response_code(status, offset)
        offset = following
        if code == "PULL_RETRY_IMMEDIATELY":
            whys += (SENT_ON,)
        if code == "PULL_NOT_FOUND":
            return broker, offset, (*whys, _FIRST_AWAITED)
        if code == "PULL_OFFSET_MOVED":
            whys += (_MOVED[kind],)
            if kind in (PUSH, ORDERLY):
                broker = commit_offset(model.store.broker, broker, *key, offset)[0]
