"""The state of a group and its environment, and what can be read off it.

The list of members and the routes are the environment's to change, and need not be true (``rebalance``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar

from rocketmq_conformance.models.broker.state import BrokerState
from rocketmq_conformance.models.client.broadcast import NO_FILES, NOTHING_PERSISTED, FilesById
from rocketmq_conformance.models.client.initial_broker import initial_broker
from rocketmq_conformance.models.client.member import BROADCASTING, CLUSTERING, Member, new_member, subscribed_topics
from rocketmq_conformance.models.client.rebalance_round import NO_ROUTE, RebalanceRound
from rocketmq_conformance.models.client.start import LAST
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.fast_tuples import maker, replaced
from rocketmq_conformance.models.rule import Answer


class RebalanceState(NamedTuple):
    """A group and its environment. Queues are given by key, times ms of the case's clock."""

    broker: BrokerState
    #: Readable queues by topic.
    routes: Mapping[str, int]
    #: The client ids that brokers list, in their order.
    listed: tuple[str, ...]
    now: int = 0
    members: tuple[Member | None, ...] = ()
    #: Of broadcasting members, by client id.
    files: FilesById = NOTHING_PERSISTED


rebalance_state = maker(RebalanceState)


#: A state whose first item is a group: the other items are the additions of a kind of member.
WiderState = TypeVar("WiderState", bound=tuple[Any, ...])


def widen(
    make: Callable[[tuple[Any, ...]], WiderState],
) -> Callable[[Callable[..., Answer[RebalanceState]]], Callable[..., Answer[WiderState]]]:
    """Make an operation of a plain group one of a wider state, whose other items it leaves alone; ``make`` makes a
    wider state from its items."""

    def of_group(handler: Callable[..., Answer[RebalanceState]]) -> Callable[..., Answer[WiderState]]:
        def handle(state: WiderState, *args: Any) -> Answer[WiderState]:
            before = state[0]
            after, result, why = handler(before, *args)
            return (state if after is before else make((after, *state[1:]))), result, why

        return handle

    return of_group


def initial_state(topology: Topology) -> RebalanceState:
    """The initial state: new members."""
    routes, clients = topology.routes, topology.clients
    members = tuple(begun_member(topology, client, CLUSTERING, LAST, "AVG", routes) for client in clients)
    return RebalanceState(initial_broker(topology), routes, clients, members=members)


def client_id(topology: Topology, member: int, twin: bool) -> str:
    """The client id of a member, or that of the next one."""
    return topology.clients[(member + twin) % len(topology.clients)]


def readable_queues(topology: Topology, topic: str, queues: int) -> int:
    """Readable queues of a route that should have so many."""
    return min(queues, len(topology.topic_queues[topic]))


def begun_member(
    topology: Topology, client: str, mode: str, where: str, strategy: str, routes: Mapping[str, int]
) -> Member:
    """A push consumer that has begun: it knows these routes."""
    topics = subscribed_topics(topology, mode)
    return new_member(client, mode, where, strategy, topics, known_routes(topics, routes))


def known_routes(topics: frozenset[str], routes: Mapping[str, int]) -> dict[str, int]:
    """REB-ROUTE-1: readable queues of the topics that have a route."""
    return {topic: routes[topic] for topic in topics if routes[topic] != NO_ROUTE}


# --- other states from a state ----------------------------------------------------------------------------------


def with_member(state: RebalanceState, number: int, member: Member) -> RebalanceState:
    """The state with another member of this number."""
    broker, routes, listed, now, members, files = state
    return rebalance_state((broker, routes, listed, now, replaced(members, number, member), files))


def with_broker(state: RebalanceState, broker: BrokerState) -> RebalanceState:
    """The state with another broker."""
    _, routes, listed, now, members, files = state
    return rebalance_state((broker, routes, listed, now, members, files))


def files_after(files: FilesById, current: RebalanceRound) -> FilesById:
    """The files when a round has dropped queues of a broadcasting member."""
    client = current.member.client
    return files if current.files is files.get(client, NO_FILES) else {**files, client: current.files}


# --- the group as a whole ---------------------------------------------------------------------------------------


def owners(topology: Topology, state: RebalanceState) -> dict[int, tuple[int, ...]]:
    """The members, by number, that own each queue of the topics that have a route."""
    return {
        queue: tuple(number for number, who in enumerate(state.members) if who is not None and queue in who.table)
        for topic in topology.routes
        for queue in topology.topic_queues[topic][: max(0, state.routes[topic])]
    }


def unowned_messages(topology: Topology, state: RebalanceState) -> dict[int, int]:
    """Number of messages that wait in queues without owner: from the group's stored offset, or from min, to max."""
    found = {}
    for queue, members in owners(topology, state).items():
        if not members:
            log = state.broker.logs[topology.places[queue]]
            found[queue] = log.max - max(log.min, state.broker.stored.get(topology.stored_keys[queue], log.min))
    return found


def broadcasts(state: RebalanceState) -> bool:
    """Is any member broadcasting?"""
    return any(who is not None and who.mode == BROADCASTING for who in state.members)
