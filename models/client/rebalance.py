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
from rocketmq_conformance.models.client.initial_broker import world
from rocketmq_conformance.models.client.member import (
    BROADCASTING,
    CLUSTERING,
    TOPICS,
    Member,
    begun,
    remembering,
    subscribing,
)
from rocketmq_conformance.models.client.offset_table import UNFROZEN, updated
from rocketmq_conformance.models.client.process_queue import DROPPED, PULL, RESULT, TAKE, UPDATE
from rocketmq_conformance.models.client.rebalance_round import NO_MEMBER, NO_ROUTE, RebalanceModel, Round
from rocketmq_conformance.models.client.remote_store import RemoteStore, remote_store
from rocketmq_conformance.models.client.start import LAST, StartModel
from rocketmq_conformance.models.fast_tuples import maker, replaced
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Answer, Rule, Why, whys

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


class GroupState(NamedTuple):
    """A group and its environment. Queues are indexes of the fixtures, times ms of the case's clock."""

    broker: BrokerState
    routes: Mapping[str, int] = ROUTES
    #: The client ids that brokers list, in their order.
    listed: tuple[str, ...] = CLIENTS
    now: int = 0
    members: tuple[Member | None, ...] = ()


group_state = maker(GroupState)

#: A state whose first item is a group: the other items are the additions of a kind of member.
Wider = TypeVar("Wider", bound=tuple[Any, ...])


def within(
    make: Callable[[tuple[Any, ...]], Wider],
) -> Callable[[Callable[..., Answer[GroupState]]], Callable[..., Answer[Wider]]]:
    """Make an operation of a plain group one of a wider state, whose other items it leaves alone; ``make`` makes a
    wider state from its items."""

    def of_group(handler: Callable[..., Answer[GroupState]]) -> Callable[..., Answer[Wider]]:
        def handle(state: Wider, *args: Any) -> Answer[Wider]:
            before = state[0]
            after, result, why = handler(before, *args)
            return (state if after is before else make((after, *state[1:]))), result, why

        return handle

    return of_group


def beginning() -> GroupState:
    """The initial state: three new members."""
    return GroupState(world(), members=tuple(_begun(client, CLUSTERING, LAST, "AVG", ROUTES) for client in CLIENTS))


def client_id(member: int, twin: bool) -> str:
    """The client id of a member, or that of the next one."""
    return CLIENTS[(member + twin) % len(CLIENTS)]


@lru_cache(maxsize=256)
def listed_ids(members: tuple[int, ...]) -> tuple[str, ...]:
    """The client ids of these members, in this order."""
    return tuple([CLIENTS[member] for member in members])


def readable(topic: str, queues: int) -> int:
    """Readable queues of a route that should have so many."""
    return min(queues, len(ROUND_QUEUES[topic]))


def _begun(client: str, mode: str, where: str, strategy: str, routes: Mapping[str, int]) -> Member:
    topics = TOPICS[mode]
    return begun(client, mode, where, strategy, topics, heard(topics, routes))


def heard(topics: frozenset[str], routes: Mapping[str, int]) -> dict[str, int]:
    """REB-ROUTE-1: readable queues of the topics that have a route."""
    return {topic: routes[topic] for topic in topics if routes[topic] != NO_ROUTE}


def why_begun(state: GroupState, member: int, twin: bool) -> Why:
    """REB-BEGIN-1: the reason of a member that begins."""
    return _JOIN["begins anew" if state.members[member] else "a twin begins" if twin else "begins"]


_JOIN = whys(("REB-BEGIN-1",), "begins", "begins anew", "a twin begins")
_LEAVE = whys(("REB-END-1", "OFF-R-PALL"), "offsets sent", "nothing to send", "no member")
_PERSIST = whys(("REB-PERSIST-1", "OFF-R-PALL"), "offsets sent", "nothing to send", "some forgotten", "no member")
_SUBSCRIBE = whys(("REB-SUB-1",), "subscribed", "subscribed already", "unsubscribed", "not subscribed", "no member")
_REFRESH = whys(("REB-ROUTE-1",), "learned", "nothing new", "no member")
_LISTED = Why(("REB-CLU-1",), "the list changes")
_ROUTED = whys(("REB-ROUTE-1",), "the route changes", "the route is lost")
_TICK = Why(("REB-DROP-EXPIRY",), "time passes")


class GroupModel:
    """The operations of a group for one profile; every method is pure. Members are given by number."""

    __slots__ = ("rebalancing", "store")

    def __init__(self, profile: Profile) -> None:
        self.rebalancing: RebalanceModel[Round] = RebalanceModel(StartModel(profile))
        self.store = self.rebalancing.store

    # --- operations of members ----------------------------------------------------------------------------

    def rebalance(
        self, state: GroupState, member: int, list_fault: str, fault: str, bound_fault: str
    ) -> Answer[GroupState]:
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
        return group_state((broker, routes, listed, now, replaced(members, member, after))), answer, why

    def join(
        self, state: GroupState, member: int, twin: bool, mode: str, where: str, strategy: str
    ) -> Answer[GroupState]:
        """REB-BEGIN-1: the member begins, a twin with the next member's client id; a running one is gone at once."""
        began = _begun(client_id(member, twin), mode, where, strategy, state.routes)
        return changed(state, member, began), None, why_begun(state, member, twin)

    def leave(self, state: GroupState, member: int) -> Answer[GroupState]:
        """REB-END-1: the commits that reach the broker."""
        who = state.members[member]
        if who is None:
            return state, (), _LEAVE["no member"]
        after, sent = self._persisted(state, who)
        why = _LEAVE["offsets sent" if sent else "nothing to send"]
        return state._replace(broker=after.broker, members=replaced(state.members, member, None)), sent, why

    def persist(self, state: GroupState, member: int) -> Answer[GroupState]:
        """REB-PERSIST-1: the commits that reach the broker."""
        who = state.members[member]
        if who is None:
            return state, (), _PERSIST["no member"]
        after, sent = self._persisted(state, who)
        if len(after.memory) < len(who.memory):
            why = _PERSIST["some forgotten"]
        else:
            why = _PERSIST["offsets sent" if sent else "nothing to send"]
        members = replaced(state.members, member, remembering(who, after.memory))
        return group_state((after.broker, state.routes, state.listed, state.now, members)), sent, why

    def _persisted(self, state: GroupState, who: Member) -> tuple[RemoteStore, tuple[tuple[int, int], ...]]:
        store = remote_store((who.memory, UNFROZEN, state.broker))
        after, sent, _ = self.store.persist_all(store, tuple(who.table))
        return after, sent  # type: ignore[return-value]

    def subscribe(self, state: GroupState, member: int, topic: str) -> Answer[GroupState]:
        """REB-SUB-1."""
        who = state.members[member]
        if who is None:
            return state, None, _SUBSCRIBE["no member"]
        if topic in who.topics:
            return state, None, _SUBSCRIBE["subscribed already"]
        return changed(state, member, subscribing(who, who.topics | {topic}, who.seen)), None, _SUBSCRIBE["subscribed"]

    def unsubscribe(self, state: GroupState, member: int, topic: str) -> Answer[GroupState]:
        """REB-SUB-1."""
        who = state.members[member]
        if who is None:
            return state, None, _SUBSCRIBE["no member"]
        if topic not in who.topics:
            return state, None, _SUBSCRIBE["not subscribed"]
        return (
            changed(state, member, subscribing(who, who.topics - {topic}, who.seen)),
            None,
            _SUBSCRIBE["unsubscribed"],
        )

    def refresh(self, state: GroupState, member: int) -> Answer[GroupState]:
        """REB-ROUTE-1."""
        who = state.members[member]
        if who is None:
            return state, None, _REFRESH["no member"]
        seen = {**who.seen, **heard(who.topics, state.routes)}
        if seen == who.seen:
            return state, None, _REFRESH["nothing new"]
        return changed(state, member, subscribing(who, who.topics, seen)), None, _REFRESH["learned"]

    def pull(self, state: GroupState, member: int, queue: int) -> Answer[GroupState]:
        """PULL-PRE-DROP: the offset that the member asks for, or None when it does not ask."""
        who = state.members[member]
        if who is None:
            return state, None, PULL["no member"]
        owned = who.table.get(queue)
        if owned is None:
            return state, None, PULL["dropped"]
        after = state
        if owned.pulled != state.now:
            table = {**who.table, queue: owned._replace(pulled=state.now)}
            after = changed(state, member, who._replace(table=table))
        if QUEUES[queue].topic not in who.topics:
            return after, None, PULL["no subscription"]
        return after, owned.offset, PULL["pulled"]

    def take(self, state: GroupState, member: int, queue: int) -> Answer[GroupState]:
        """A listener takes messages of the queue's process queue: were there any to take?"""
        who = state.members[member]
        if who is None:
            return state, None, TAKE["no such member"]
        owned = who.table.get(queue)
        if owned is None:
            return state, False, TAKE["not owned"]
        return changed(state, member, who._replace(taken={**who.taken, queue: owned.number})), True, TAKE["taken"]

    def consume(self, state: GroupState, member: int, queue: int, offset: int) -> Answer[GroupState]:
        """CONS-DROP: a listener takes messages and finishes them; the offset in memory afterwards, -1 for none."""
        who = state.members[member]
        if who is None:
            return state, None, DROPPED["no member"]
        held = who.memory.get(queue, -1)
        if queue not in who.table:
            return state, held, DROPPED["nothing taken"]
        return self._result(state, member, who, queue, held, offset)

    def finish(self, state: GroupState, member: int, queue: int, offset: int) -> Answer[GroupState]:
        """CONS-DROP: the listener finishes the messages it took; the offset in memory afterwards, -1 for none."""
        who = state.members[member]
        if who is None:
            return state, None, DROPPED["no member"]
        held = who.memory.get(queue, -1)
        number = who.taken.get(queue)
        if number is None:
            return state, held, DROPPED["nothing taken"]
        who = who._replace(taken={other: kept for other, kept in who.taken.items() if other != queue})
        owned = who.table.get(queue)
        if owned is None or owned.number != number:
            why = DROPPED["dropped" if owned is None else "dropped and added anew"]
            return changed(state, member, who), held, why
        return self._result(state, member, who, queue, held, offset)

    def _result(
        self, state: GroupState, member: int, who: Member, queue: int, held: int, offset: int
    ) -> Answer[GroupState]:
        memory, _ = updated(who.memory, UNFROZEN, queue, offset, True)
        why = RESULT["first" if held == -1 else "raised" if offset > held else "kept"]
        return changed(state, member, remembering(who, memory)), memory[queue], why

    def update(self, state: GroupState, member: int, queue: int, offset: int) -> Answer[GroupState]:
        """OFF-UPD-1: the application sets the offset of a queue in memory, whether or not the member owns it."""
        who = state.members[member]
        if who is None:
            return state, None, UPDATE["no member"]
        memory, _ = updated(who.memory, UNFROZEN, queue, offset, False)
        why = UPDATE["owned" if queue in who.table else "not owned"]
        return changed(state, member, remembering(who, memory)), None, why

    def tick(self, state: GroupState, millis: int) -> Answer[GroupState]:
        """Time passes for every member."""
        broker, routes, listed, now, members = state
        return group_state((broker, routes, listed, now + millis, members)), None, _TICK

    # --- operations of the environment --------------------------------------------------------------------

    def list_members(self, state: GroupState, members: tuple[int, ...]) -> Answer[GroupState]:
        """The brokers list the client ids of these members from now on."""
        return group_state((state.broker, state.routes, listed_ids(members), state.now, state.members)), None, _LISTED

    def route(self, state: GroupState, topic: str, queues: int) -> Answer[GroupState]:
        """The name server's route of a topic has so many readable queues, or all it has; -1: there is no route."""
        why = _ROUTED["the route is lost" if queues == NO_ROUTE else "the route changes"]
        queues = readable(topic, queues)
        routes = {**state.routes, topic: queues}
        return group_state((state.broker, routes, state.listed, state.now, state.members)), None, why

    def commit_elsewhere(self, state: GroupState, queue: int, offset: int) -> Answer[GroupState]:
        """Another client commits for the group."""
        after, result, why = self.store.commit_elsewhere(RemoteStore(broker=state.broker), queue, offset)
        return group_state((after.broker, state.routes, state.listed, state.now, state.members)), result, why


def changed(state: GroupState, number: int, member: Member) -> GroupState:
    broker, routes, listed, now, members = state
    return group_state((broker, routes, listed, now, replaced(members, number, member)))


# --- the group as a whole ---------------------------------------------------------------------------------------


def owners(state: GroupState) -> dict[int, tuple[int, ...]]:
    """The members, by number, that own each queue of the topics that have a route."""
    return {
        queue: tuple(number for number, who in enumerate(state.members) if who is not None and queue in who.table)
        for topic, queues in TOPIC_QUEUES.items()
        for queue in queues[: max(0, state.routes[topic])]
    }


def piled_up(state: GroupState) -> dict[int, int]:
    """Number of messages that wait in queues without owner: from the group's stored offset, or from min, to max."""
    found = {}
    for queue, members in owners(state).items():
        if not members:
            topic, _, number = QUEUES[queue]
            log = state.broker.logs[topic, number]
            found[queue] = log.max - max(log.min, state.broker.stored.get((GROUP, topic, number), log.min))
    return found


def broadcasts(state: GroupState) -> bool:
    """Is any member broadcasting?"""
    return any(who is not None and who.mode == BROADCASTING for who in state.members)
