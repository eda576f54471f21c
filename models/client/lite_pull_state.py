"""The state of a lite pull consumer in the hands of its application."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from rocketmq_conformance.models.client.initial_broker import initial_broker
from rocketmq_conformance.models.client.rebalance_pull_round import EMPTY_CACHE, QueueCache
from rocketmq_conformance.models.client.remote_store import RemoteStore
from rocketmq_conformance.models.client.topology import Topology

#: The states of a consumer.
NEW, RUNNING, ENDED = "new", "running", "ended"
#: How it gets queues.
ASSIGN, SUBSCRIBE = "assign", "subscribe"
#: Who is called by a round: nobody, what assigns, that and the application's listener, the latter alone.
UNHEARD, ASSIGNS, BOTH, OWN = "nobody", "assigns", "both", "own"
#: What the application does while a pull is under way: nothing, seek to the offset, assign others and these again, or
#: give up topic T.
NOTHING, SEEKS, ANEW, UNSUBSCRIBES = "nothing", "seeks", "assigns anew", "unsubscribes"
SOUGHT = 6
#: The queue that is assigned in between, and instead of it.
BETWEEN = (2, 0)
#: Messages of a queue that may be cached before it is not pulled any more.
MAX_CACHED = 5
#: Ms between two commits of a consumer that commits by itself.
AUTO_EVERY = 5_000
#: Messages that a pull asks for.
BATCH = 10
MIB = 1 << 20
#: The tags of messages that are found by a pull of tagged ones; the expression of all.
TAGS, EVERYTHING = ("A", "B", "C"), "*"


class Limits(NamedTuple):
    """Beyond which a queue is not pulled."""

    #: Cached messages and whole MiB of a queue, its offsets from the first to the last.
    messages: int = MAX_CACHED
    size: int = 100
    span: int = 2_000
    #: Answers that wait to be polled, of all queues, times the batch size.
    every: int = 10_000


class Assigned(NamedTuple):
    """An assigned queue."""

    #: Of its process queue.
    number: int
    #: Where the next pull goes on, what a commit writes, and where a seek wants to go; -1 for none.
    pulls: int = -1
    consumed: int = -1
    seeks: int = -1
    paused: bool = False
    #: Ms to the next turn of its task; -1 for no further turn.
    waits: int = 0


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
    #: The messages of each pull that wait to be polled, of dropped process queues, too: queue, process queue, offsets.
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
    #: Is there a subscription to the topic, and the expression for its assigned queues?
    subscribed: bool = False
    expression: str = EVERYTHING
    limits: Limits = Limits()
    #: The bytes of cached messages that have more than one, by process queue and offset.
    large: Mapping[tuple[int, int], int] = MappingProxyType({})
    #: Tasks of queues that are not assigned any more: ms to their next turn.
    left: Mapping[int, int] = MappingProxyType({})
    #: How many queues the route of the other topic has; -1: there is none.
    route: int = 2


def initial_state(topology: Topology) -> LitePullState:
    """A consumer that runs, and has no queues."""
    return LitePullState(RemoteStore(broker=initial_broker(topology)), route=topology.routes[topology.other_topic])


def with_queues(state: LitePullState, queues: tuple[int, ...]) -> LitePullState:
    """LP-ASSIGN: the assigned queues become these, and what was left behind is gone."""
    dropped = state.dropped | {held.number for queue, held in state.assigned.items() if queue not in queues}
    assigned, made = {}, state.made
    for queue in queues:
        held = state.assigned.get(queue)
        if held is None:
            number = state.table.get(queue)
            if number is None:
                number = made = made + 1
            held = Assigned(number, waits=state.left.get(queue, 0))
        assigned[queue] = held
    return tidied(state._replace(assigned=assigned, dropped=dropped, made=made, left={}))


def without_topic(state: LitePullState, topology: Topology) -> LitePullState:
    """LP-UNSUB: the queues of the topic are not assigned any more, and not dropped."""
    topic, topic_of = topology.topic, topology.topic_of
    assigned = {queue: held for queue, held in state.assigned.items() if topic_of[queue] != topic}
    left = {queue: waits for queue, waits in state.left.items() if topic_of[queue] != topic}
    return tidied(state._replace(assigned=assigned, left=left, subscribed=False))


def waiting(state: LitePullState, number: int) -> tuple[int, ...]:
    """The offsets that are cached of a process queue, in order."""
    return state.caches.get(number, EMPTY_CACHE).waiting


def cached_bytes(state: LitePullState, number: int) -> int:
    """The bytes that are cached of a process queue."""
    return sum([state.large.get((number, offset), 1) for offset in waiting(state, number)])


def tidied(state: LitePullState) -> LitePullState:
    """Forget the messages of process queues that nothing asks about any more."""
    owned = {held.number for held in state.assigned.values()} | {*state.table.values()}
    mine = owned | {batch[1] for batch in state.pulled if batch[1] not in state.dropped}
    caches = {number: kept for number, kept in state.caches.items() if number in mine}
    return state._replace(
        caches=caches,
        dropped=state.dropped & (owned | {batch[1] for batch in state.pulled}),
        large={key: size for key, size in state.large.items() if key[0] in caches and key[1] in caches[key[0]].waiting},
    )
