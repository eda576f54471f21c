"""A group of push consumers: its members' steps, in any order, and how they see one another (REB-*).

Members never talk to each other. Each of them sees the name server's routes when it asks for them, the broker's member
list when it rebalances, and the offsets that others committed. List and routes are the environment's to change, and
need not be true: a member that has died may still be listed, a new one may not be. So both are changed by operations,
and the order in which members take their turns is part of the plan.

When all members have seen the same list and the same routes, and each has rebalanced since, every queue has exactly
one owner (see :func:`owners`), with one exception: members with the same client id take the same share, and the
queues of the second place in the list have no owner. Messages sent to these pile up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

from rocketmq_conformance.models.broker.state import BrokerState
from rocketmq_conformance.models.client.fixtures import CLIENTS, GROUP, QUEUES, ROUND_QUEUES, TOPIC_QUEUES
from rocketmq_conformance.models.client.initial_broker import initial_broker
from rocketmq_conformance.models.client.member import (
    BROADCASTING,
    CLUSTERING,
    TOPICS,
    Member,
    new_member,
    with_memory,
    with_topics,
)
from rocketmq_conformance.models.client.offset_table import UNFROZEN, updated
from rocketmq_conformance.models.client.process_queue import (
    DROPPED_REASONS,
    PULL_REASONS,
    RESULT_REASONS,
    TAKE_REASONS,
    UPDATE_REASONS,
)
from rocketmq_conformance.models.client.rebalance_round import NO_MEMBER, NO_ROUTE, RebalanceRound, RebalanceRoundModel
from rocketmq_conformance.models.client.remote_store import RemoteStore, remote_store
from rocketmq_conformance.models.client.start import LAST, StartModel
from rocketmq_conformance.models.fast_tuples import maker, replaced
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Answer, Reason, Rule, reasons_by_kind

RULES = (
    Rule(
        "REB-BEGIN-1",
        "A member that begins learns the routes of its topics, owns nothing and remembers nothing; one that ends "
        "without a shutdown sends nothing.",
        "DefaultMQPushConsumerImpl#start, #updateTopicSubscribeInfoWhenSubscriptionChanged @ 4.0.0, 4.9.8, 5.5.0",
    ),
    Rule(
        "REB-END-1",
        "A member that shuts down sends the offsets of all queues in its table, and drops them.",
        "DefaultMQPushConsumerImpl#shutdown, #persistConsumerOffset, RebalanceImpl#destroy @ 4.0.0, 4.9.8, 5.5.0",
    ),
    Rule(
        "REB-PERSIST-1",
        "The timer that persists offsets sends those of the queues in the table, one way, and forgets all others; with "
        "an empty table it does nothing.",
        "DefaultMQPushConsumerImpl#persistConsumerOffset @ 4.0.0, 4.9.8, 5.5.0",
    ),
    Rule(
        "REB-SUB-1",
        "Subscribing and unsubscribing change no queues; the next round does.",
        "DefaultMQPushConsumerImpl#subscribe, #unsubscribe @ 4.0.0, 4.9.8, 5.5.0",
    ),
    Rule(
        "REB-ROUTE-1",
        "A member learns the readable queues of the topics that it subscribes to from their routes; without a route it "
        "keeps what it knew.",
        "MQClientInstance#updateTopicRouteInfoFromNameServer, DefaultMQPushConsumerImpl#updateTopicSubscribeInfo "
        "@ 4.0.0, 4.9.8, 5.5.0",
    ),
)

#: Routes in the initial state: readable queues by topic.
ROUTES: Mapping[str, int] = {topic: len(queues) for topic, queues in TOPIC_QUEUES.items()}


class RebalanceState(NamedTuple):
    """A group and its environment. Queues are indexes of the fixtures, times ms of the case's clock."""

    broker: BrokerState
    routes: Mapping[str, int] = ROUTES
    #: The client ids that brokers list, in their order.
    listed: tuple[str, ...] = CLIENTS
    now: int = 0
    members: tuple[Member | None, ...] = ()


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


def initial_state() -> RebalanceState:
    """The initial state: three new members."""
    return RebalanceState(
        initial_broker(), members=tuple(_new_member(client, CLUSTERING, LAST, "AVG", ROUTES) for client in CLIENTS)
    )


def client_id(member: int, twin: bool) -> str:
    """The client id of a member, or that of the next one."""
    return CLIENTS[(member + twin) % len(CLIENTS)]


@lru_cache(maxsize=256)
def listed_ids(members: tuple[int, ...]) -> tuple[str, ...]:
    """The client ids of these members, in this order."""
    return tuple([CLIENTS[member] for member in members])


def readable_queues(topic: str, queues: int) -> int:
    """Readable queues of a route that should have so many."""
    return min(queues, len(ROUND_QUEUES[topic]))


def _new_member(client: str, mode: str, where: str, strategy: str, routes: Mapping[str, int]) -> Member:
    topics = TOPICS[mode]
    return new_member(client, mode, where, strategy, topics, known_routes(topics, routes))


def known_routes(topics: frozenset[str], routes: Mapping[str, int]) -> dict[str, int]:
    """REB-ROUTE-1: readable queues of the topics that have a route."""
    return {topic: routes[topic] for topic in topics if routes[topic] != NO_ROUTE}


def begin_reason(state: RebalanceState, member: int, twin: bool) -> Reason:
    """REB-BEGIN-1: the reason of a member that begins."""
    return _JOIN["begins anew" if state.members[member] else "a twin begins" if twin else "begins"]


_JOIN = reasons_by_kind(("REB-BEGIN-1",), "begins", "begins anew", "a twin begins")
_LEAVE = reasons_by_kind(("REB-END-1", "OFF-R-PALL"), "offsets sent", "nothing to send", "no member")
_PERSIST = reasons_by_kind(
    ("REB-PERSIST-1", "OFF-R-PALL"), "offsets sent", "nothing to send", "some forgotten", "no member"
)
_SUBSCRIBE = reasons_by_kind(
    ("REB-SUB-1",), "subscribed", "subscribed already", "unsubscribed", "not subscribed", "no member"
)
_REFRESH = reasons_by_kind(("REB-ROUTE-1",), "learned", "nothing new", "no member")
_LISTED = Reason(("REB-CLU-1",), "the list changes")
_ROUTED = reasons_by_kind(("REB-ROUTE-1",), "the route changes", "the route is lost")
_TICK = Reason(("REB-DROP-EXPIRY",), "time passes")


class RebalanceModel:
    """The operations of a group for one profile; every method is pure. Members are given by number."""

    __slots__ = ("rebalancing", "store")

    def __init__(self, profile: Profile) -> None:
        self.rebalancing: RebalanceRoundModel[RebalanceRound] = RebalanceRoundModel(StartModel(profile))
        self.store = self.rebalancing.store

    # --- operations of members ----------------------------------------------------------------------------

    def rebalance(
        self, state: RebalanceState, member: int, list_fault: str, fault: str, bound_fault: str
    ) -> Answer[RebalanceState]:
        """REB-DO-1: (owned queues, dispatched (queue, offset), balanced or None, commits (queue, offset)), or None
        for no member."""
        broker, routes, listed, now, members = state
        who = members[member]
        if who is None:
            return state, None, NO_MEMBER
        after, broker, answer, why = self.rebalancing.round(
            who, broker, routes, listed, now, list_fault, fault, bound_fault
        )
        if after is who:
            return state, answer, why
        return rebalance_state((broker, routes, listed, now, replaced(members, member, after))), answer, why

    def join(
        self, state: RebalanceState, member: int, twin: bool, mode: str, where: str, strategy: str
    ) -> Answer[RebalanceState]:
        """REB-BEGIN-1: the member begins, a twin with the next member's client id; a running one is gone at once."""
        began = _new_member(client_id(member, twin), mode, where, strategy, state.routes)
        return with_member(state, member, began), None, begin_reason(state, member, twin)

    def leave(self, state: RebalanceState, member: int) -> Answer[RebalanceState]:
        """REB-END-1: the commits that reach the broker."""
        who = state.members[member]
        if who is None:
            return state, (), _LEAVE["no member"]
        after, sent = self._persisted(state, who)
        why = _LEAVE["offsets sent" if sent else "nothing to send"]
        return state._replace(broker=after.broker, members=replaced(state.members, member, None)), sent, why

    def persist(self, state: RebalanceState, member: int) -> Answer[RebalanceState]:
        """REB-PERSIST-1: the commits that reach the broker."""
        who = state.members[member]
        if who is None:
            return state, (), _PERSIST["no member"]
        after, sent = self._persisted(state, who)
        if len(after.memory) < len(who.memory):
            why = _PERSIST["some forgotten"]
        else:
            why = _PERSIST["offsets sent" if sent else "nothing to send"]
        members = replaced(state.members, member, with_memory(who, after.memory))
        return rebalance_state((after.broker, state.routes, state.listed, state.now, members)), sent, why

    def _persisted(self, state: RebalanceState, who: Member) -> tuple[RemoteStore, tuple[tuple[int, int], ...]]:
        store = remote_store((who.memory, UNFROZEN, state.broker))
        after, sent, _ = self.store.persist_all(store, tuple(who.table))
        return after, sent  # type: ignore[return-value]

    def subscribe(self, state: RebalanceState, member: int, topic: str) -> Answer[RebalanceState]:
        """REB-SUB-1."""
        who = state.members[member]
        if who is None:
            return state, None, _SUBSCRIBE["no member"]
        if topic in who.topics:
            return state, None, _SUBSCRIBE["subscribed already"]
        return (
            with_member(state, member, with_topics(who, who.topics | {topic}, who.seen)),
            None,
            _SUBSCRIBE["subscribed"],
        )

    def unsubscribe(self, state: RebalanceState, member: int, topic: str) -> Answer[RebalanceState]:
        """REB-SUB-1."""
        who = state.members[member]
        if who is None:
            return state, None, _SUBSCRIBE["no member"]
        if topic not in who.topics:
            return state, None, _SUBSCRIBE["not subscribed"]
        return (
            with_member(state, member, with_topics(who, who.topics - {topic}, who.seen)),
            None,
            _SUBSCRIBE["unsubscribed"],
        )

    def refresh(self, state: RebalanceState, member: int) -> Answer[RebalanceState]:
        """REB-ROUTE-1."""
        who = state.members[member]
        if who is None:
            return state, None, _REFRESH["no member"]
        seen = {**who.seen, **known_routes(who.topics, state.routes)}
        if seen == who.seen:
            return state, None, _REFRESH["nothing new"]
        return with_member(state, member, with_topics(who, who.topics, seen)), None, _REFRESH["learned"]

    def pull(self, state: RebalanceState, member: int, queue: int) -> Answer[RebalanceState]:
        """PULL-PRE-DROP: the offset that the member asks for, or None when it does not ask."""
        who = state.members[member]
        if who is None:
            return state, None, PULL_REASONS["no member"]
        owned = who.table.get(queue)
        if owned is None:
            return state, None, PULL_REASONS["dropped"]
        after = state
        if owned.pulled != state.now:
            table = {**who.table, queue: owned._replace(pulled=state.now)}
            after = with_member(state, member, who._replace(table=table))
        if QUEUES[queue].topic not in who.topics:
            return after, None, PULL_REASONS["no subscription"]
        return after, owned.offset, PULL_REASONS["pulled"]

    def take(self, state: RebalanceState, member: int, queue: int) -> Answer[RebalanceState]:
        """A listener takes messages of the queue's process queue: were there any to take?"""
        who = state.members[member]
        if who is None:
            return state, None, TAKE_REASONS["no such member"]
        owned = who.table.get(queue)
        if owned is None:
            return state, False, TAKE_REASONS["not owned"]
        return (
            with_member(state, member, who._replace(taken={**who.taken, queue: owned.number})),
            True,
            TAKE_REASONS["taken"],
        )

    def consume(self, state: RebalanceState, member: int, queue: int, offset: int) -> Answer[RebalanceState]:
        """CONS-DROP: a listener takes messages and finishes them; the offset in memory afterwards, -1 for none."""
        who = state.members[member]
        if who is None:
            return state, None, DROPPED_REASONS["no member"]
        held = who.memory.get(queue, -1)
        if queue not in who.table:
            return state, held, DROPPED_REASONS["nothing taken"]
        return self._result(state, member, who, queue, held, offset)

    def finish(self, state: RebalanceState, member: int, queue: int, offset: int) -> Answer[RebalanceState]:
        """CONS-DROP: the listener finishes the messages it took; the offset in memory afterwards, -1 for none."""
        who = state.members[member]
        if who is None:
            return state, None, DROPPED_REASONS["no member"]
        held = who.memory.get(queue, -1)
        number = who.taken.get(queue)
        if number is None:
            return state, held, DROPPED_REASONS["nothing taken"]
        who = who._replace(taken={other: kept for other, kept in who.taken.items() if other != queue})
        owned = who.table.get(queue)
        if owned is None or owned.number != number:
            why = DROPPED_REASONS["dropped" if owned is None else "dropped and added anew"]
            return with_member(state, member, who), held, why
        return self._result(state, member, who, queue, held, offset)

    def _result(
        self, state: RebalanceState, member: int, who: Member, queue: int, held: int, offset: int
    ) -> Answer[RebalanceState]:
        memory, _ = updated(who.memory, UNFROZEN, queue, offset, True)
        why = RESULT_REASONS["first" if held == -1 else "raised" if offset > held else "kept"]
        return with_member(state, member, with_memory(who, memory)), memory[queue], why

    def update(self, state: RebalanceState, member: int, queue: int, offset: int) -> Answer[RebalanceState]:
        """OFF-UPD-1: the application sets the offset of a queue in memory, whether or not the member owns it."""
        who = state.members[member]
        if who is None:
            return state, None, UPDATE_REASONS["no member"]
        memory, _ = updated(who.memory, UNFROZEN, queue, offset, False)
        why = UPDATE_REASONS["owned" if queue in who.table else "not owned"]
        return with_member(state, member, with_memory(who, memory)), None, why

    def tick(self, state: RebalanceState, millis: int) -> Answer[RebalanceState]:
        """Time passes for every member."""
        broker, routes, listed, now, members = state
        return rebalance_state((broker, routes, listed, now + millis, members)), None, _TICK

    # --- operations of the environment --------------------------------------------------------------------

    def list_members(self, state: RebalanceState, members: tuple[int, ...]) -> Answer[RebalanceState]:
        """The brokers list the client ids of these members from now on."""
        return (
            rebalance_state((state.broker, state.routes, listed_ids(members), state.now, state.members)),
            None,
            _LISTED,
        )

    def route(self, state: RebalanceState, topic: str, queues: int) -> Answer[RebalanceState]:
        """The name server's route of a topic has so many readable queues, or all it has; -1: there is no route."""
        why = _ROUTED["the route is lost" if queues == NO_ROUTE else "the route changes"]
        queues = readable_queues(topic, queues)
        routes = {**state.routes, topic: queues}
        return rebalance_state((state.broker, routes, state.listed, state.now, state.members)), None, why

    def commit_elsewhere(self, state: RebalanceState, queue: int, offset: int) -> Answer[RebalanceState]:
        """Another client commits for the group."""
        after, result, why = self.store.commit_elsewhere(RemoteStore(broker=state.broker), queue, offset)
        return rebalance_state((after.broker, state.routes, state.listed, state.now, state.members)), result, why


def with_member(state: RebalanceState, number: int, member: Member) -> RebalanceState:
    broker, routes, listed, now, members = state
    return rebalance_state((broker, routes, listed, now, replaced(members, number, member)))


# --- the group as a whole ---------------------------------------------------------------------------------------


def owners(state: RebalanceState) -> dict[int, tuple[int, ...]]:
    """The members, by number, that own each queue of the topics that have a route."""
    return {
        queue: tuple(number for number, who in enumerate(state.members) if who is not None and queue in who.table)
        for topic, queues in TOPIC_QUEUES.items()
        for queue in queues[: max(0, state.routes[topic])]
    }


def unowned_messages(state: RebalanceState) -> dict[int, int]:
    """Number of messages that wait in queues without owner: from the group's stored offset, or from min, to max."""
    found = {}
    for queue, members in owners(state).items():
        if not members:
            topic, _, number = QUEUES[queue]
            log = state.broker.logs[topic, number]
            found[queue] = log.max - max(log.min, state.broker.stored.get((GROUP, topic, number), log.min))
    return found


def broadcasts(state: RebalanceState) -> bool:
    """Is any member broadcasting?"""
    return any(who is not None and who.mode == BROADCASTING for who in state.members)
