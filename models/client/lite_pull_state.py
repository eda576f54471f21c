"""The state of a lite pull consumer in the hands of its application."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from rocketmq_conformance.models.client.initial_broker import initial_broker
from rocketmq_conformance.models.client.rebalance_pull_round import QueueCache
from rocketmq_conformance.models.client.remote_store import RemoteStore
from rocketmq_conformance.models.client.topology import Topology

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


def with_queues(state: LitePullState, queues: tuple[int, ...]) -> LitePullState:
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
    return without_dropped(state._replace(assigned=assigned, dropped=dropped, made=made))


def without_dropped(state: LitePullState) -> LitePullState:
    """Forget the messages of process queues that were dropped, and what no assigned queue has any more."""
    mine = {held.number for held in state.assigned.values()}
    return state._replace(
        pulled=tuple([batch for batch in state.pulled if batch[1] not in state.dropped]),
        caches={number: kept for number, kept in state.caches.items() if number in mine},
        dropped=state.dropped & mine,
    )
