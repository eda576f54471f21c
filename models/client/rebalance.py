"""A group of push consumers: its members' steps, in any order, and how they see one another (REB-*).

Members never talk to each other. Each of them sees the name server's routes when it asks for them, the broker's member
list when it rebalances, and the offsets that others committed. List and routes are the environment's to change, and
need not be true: a member that has died may still be listed, a new one may not be. So both are changed by operations,
and the order in which members take their turns is part of the plan.

When all members have seen the same list and the same routes, and each has rebalanced since, every queue has exactly
one owner (see ``group_state.owners``), with one exception: members with the same client id take the same share, and the
queues of the second place in the list have no owner. Messages sent to these pile up.
"""

from __future__ import annotations

from collections.abc import Mapping

from rocketmq_conformance.models.client.broadcast import (
    NO_FILES,
    file_store,
    files_of,
)
from rocketmq_conformance.models.client.group_state import (
    RebalanceState,
    begun_member,
    client_id,
    files_after,
    known_routes,
    readable_queues,
    rebalance_state,
    with_broker,
    with_member,
)
from rocketmq_conformance.models.client.member import (
    BROADCASTING,
    Member,
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
from rocketmq_conformance.models.client.pull_request import carried
from rocketmq_conformance.models.client.rebalance_round import (
    NO_MEMBER,
    NO_ROUTE,
    RebalanceRound,
    RebalanceRoundModel,
    listed_members,
    round_reason,
)
from rocketmq_conformance.models.client.remote_store import RemoteStore, remote_store
from rocketmq_conformance.models.client.start import StartModel
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.fast_tuples import replaced
from rocketmq_conformance.models.outcome import Err, Value
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Answer, Reason, Rule, reasons_by_kind

RULES = (
    Rule(
        "REB-BEGIN-1",
        "A member that begins learns the routes of its topics, owns nothing and remembers nothing (broadcasting: what "
        "its file holds); one that ends without a shutdown sends nothing.",
        "DefaultMQPushConsumerImpl#start, #updateTopicSubscribeInfoWhenSubscriptionChanged @ 4.0.0, 4.9.8, 5.5.0",
    ),
    Rule(
        "REB-END-1",
        "A member that shuts down sends the offsets of all queues in its table (broadcasting: writes them into its "
        "file), and drops them.",
        "DefaultMQPushConsumerImpl#shutdown, #persistConsumerOffset, RebalanceImpl#destroy @ 4.0.0, 4.9.8, 5.5.0",
    ),
    Rule(
        "REB-PERSIST-1",
        "The timer that persists offsets sends those of the queues in the table, one way, and forgets all others "
        "(broadcasting: writes them into the file, and forgets none); with an empty table it does nothing.",
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


def begin_reason(state: RebalanceState, member: int, twin: bool) -> Reason:
    """REB-BEGIN-1: the reason of a member that begins."""
    return _JOIN["begins anew" if state.members[member] else "a twin begins" if twin else "begins"]


_JOIN = reasons_by_kind(("REB-BEGIN-1",), "begins", "begins anew", "a twin begins", "no member")
_LOAD = {
    source: Reason(("REB-BEGIN-1", "REB-BC-STORE", "OFF-L-LOAD"), f"broadcasting, {source}")
    for source in ("main", "no file")
}
_LEAVE = reasons_by_kind(("REB-END-1", "OFF-R-PALL"), "offsets sent", "nothing to send", "no member")
_LEAVE |= reasons_by_kind(("REB-END-1", "REB-BC-STORE", "OFF-L-PALL"), "file written", "nothing to write")
_PERSIST = reasons_by_kind(
    ("REB-PERSIST-1", "OFF-R-PALL"), "offsets sent", "nothing to send", "some forgotten", "no member"
)
_PERSIST |= reasons_by_kind(("REB-PERSIST-1", "REB-BC-STORE", "OFF-L-PALL"), "file written", "nothing to write")
_SUBSCRIBE = reasons_by_kind(
    ("REB-SUB-1",), "subscribed", "subscribed already", "unsubscribed", "not subscribed", "no member"
)
_REFRESH = reasons_by_kind(("REB-ROUTE-1",), "learned", "nothing new", "no member")
_LISTED = Reason(("REB-CLU-1",), "the list changes")
_ROUTED = reasons_by_kind(("REB-ROUTE-1",), "the route changes", "the route is lost")
_TICK = Reason(("REB-DROP-EXPIRY",), "time passes")


class RebalanceModel:
    """The operations of a group for one profile and topology; every method is pure. Members are given by number."""

    __slots__ = ("rebalancing", "start", "store", "topology")

    def __init__(self, profile: Profile, topology: Topology) -> None:
        self.topology = topology
        self.start = StartModel(profile, topology)
        self.rebalancing: RebalanceRoundModel[RebalanceRound] = RebalanceRoundModel(self.start)
        self.store = self.rebalancing.store

    # --- operations of members ----------------------------------------------------------------------------

    def rebalance(
        self, state: RebalanceState, member: int, list_fault: str, fault: str, bound_fault: str
    ) -> Answer[RebalanceState]:
        """REB-DO-1: (owned queues, dispatched (queue, offset), balanced or None, commits (queue, offset)), or None
        for no member."""
        broker, routes, listed, now, members, files = state
        who = members[member]
        if who is None:
            return state, None, NO_MEMBER
        model = self.rebalancing
        current = RebalanceRound(who, broker, now, fault, bound_fault)
        current.files = files.get(who.client, NO_FILES)
        answer = model.run(current, routes, listed_members(listed, list_fault))
        why = round_reason(current.events, who.mode, model.reports)
        after = current.after()
        if after is who:
            return state, answer, why
        members = replaced(members, member, after)
        return (
            rebalance_state((current.store.broker, routes, listed, now, members, files_after(files, current))),
            answer,
            why,
        )

    def join(
        self, state: RebalanceState, member: int, twin: bool, mode: str, where: str, strategy: str
    ) -> Answer[RebalanceState]:
        """REB-BEGIN-1: the member begins, a twin with the next member's client id; a running one is gone at once."""
        began = begun_member(self.topology, client_id(self.topology, member, twin), mode, where, strategy, state.routes)
        return self.begin(state, member, began, twin)

    def begin(self, state: RebalanceState, member: int, began: Member, twin: bool) -> Answer[RebalanceState]:
        """REB-BEGIN-1, REB-BC-STORE: a new member begins; a broadcasting one loads its file."""
        if began.mode != BROADCASTING:
            return with_member(state, member, began), None, begin_reason(state, member, twin)
        table, source = self.start.local.stored(file_store({}, state.files.get(began.client, NO_FILES)))
        assert not isinstance(table, Err)  # no file of a group is damaged
        return with_member(state, member, with_memory(began, table)), None, _LOAD[source]

    def restart(self, state: RebalanceState, member: int) -> Answer[RebalanceState]:
        """REB-BEGIN-1: the member's process ends without a shutdown, and one that is set up like it begins."""
        who = state.members[member]
        if who is None:
            return state, None, _JOIN["no member"]
        began = begun_member(self.topology, who.client, who.mode, who.where, who.strategy, state.routes)
        return self.begin(state, member, began, False)

    def leave(self, state: RebalanceState, member: int) -> Answer[RebalanceState]:
        """REB-END-1: the commits that reach the broker."""
        who = state.members[member]
        if who is None:
            return state, (), _LEAVE["no member"]
        after, _, sent = self._persisted(state, who)
        if who.mode == BROADCASTING:
            why = _LEAVE["file written" if who.table else "nothing to write"]
        else:
            why = _LEAVE["offsets sent" if sent else "nothing to send"]
        return after._replace(members=replaced(state.members, member, None)), sent, why

    def persist(self, state: RebalanceState, member: int) -> Answer[RebalanceState]:
        """REB-PERSIST-1: the commits that reach the broker."""
        who = state.members[member]
        if who is None:
            return state, (), _PERSIST["no member"]
        after, memory, sent = self._persisted(state, who)
        if who.mode == BROADCASTING:
            return after, sent, _PERSIST["file written" if who.table else "nothing to write"]
        if len(memory) < len(who.memory):
            why = _PERSIST["some forgotten"]
        else:
            why = _PERSIST["offsets sent" if sent else "nothing to send"]
        return with_member(after, member, with_memory(who, memory)), sent, why

    def _persisted(
        self, state: RebalanceState, who: Member
    ) -> tuple[RebalanceState, Mapping[int, int], tuple[tuple[int, int], ...]]:
        """The broker and the files afterwards, the member's memory, and the commits."""
        if who.mode == BROADCASTING:
            before = file_store(who.memory, state.files.get(who.client, NO_FILES))
            written = files_of(self.start.local.persist_all(before, tuple(who.table))[0])
            broker, routes, listed, now, members, files = state
            after_writing = rebalance_state((broker, routes, listed, now, members, {**files, who.client: written}))
            return after_writing, who.memory, ()
        store = remote_store((who.memory, UNFROZEN, state.broker))
        after, sent, _ = self.store.persist_all(store, tuple(who.table))
        return with_broker(state, after.broker), after.memory, sent  # type: ignore[return-value]

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
        """PULL-PRE-DROP: (offset that the member asks for, offset that the pull carries, is it to be committed?), or
        None when it does not ask."""
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
        if self.topology.topic_of[queue] not in who.topics:
            return after, None, PULL_REASONS["no subscription"]
        return after, *pulled(who, queue, owned.offset)

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
        broker, routes, listed, now, members, files = state
        return rebalance_state((broker, routes, listed, now + millis, members, files)), None, _TICK

    # --- operations of the environment --------------------------------------------------------------------

    def list_members(self, state: RebalanceState, members: tuple[int, ...]) -> Answer[RebalanceState]:
        """The brokers list the client ids of these members from now on."""
        broker, routes, _, now, who, files = state
        listed = tuple([self.topology.clients[member] for member in members])
        return rebalance_state((broker, routes, listed, now, who, files)), None, _LISTED

    def route(self, state: RebalanceState, topic: str, queues: int) -> Answer[RebalanceState]:
        """The name server's route of a topic has so many readable queues, or all it has; -1: there is no route."""
        why = _ROUTED["the route is lost" if queues == NO_ROUTE else "the route changes"]
        queues = readable_queues(self.topology, topic, queues)
        broker, routes, listed, now, members, files = state
        return rebalance_state((broker, {**routes, topic: queues}, listed, now, members, files)), None, why

    def commit_elsewhere(self, state: RebalanceState, queue: int, offset: int) -> Answer[RebalanceState]:
        """Another client commits for the group."""
        after, result, why = self.store.commit_elsewhere(RemoteStore(broker=state.broker), queue, offset)
        return with_broker(state, after.broker), result, why


def pulled(who: Member, queue: int, offset: int) -> tuple[Value, Reason]:
    """PULL-COM-1, PULL-COM-BC: the answer of a pull from an offset."""
    broadcasting = who.mode == BROADCASTING
    carries, commits = carried(broadcasting, who.memory.get(queue, -1))
    kind = "broadcasting" if broadcasting else "commits" if commits else "nothing to commit"
    return (offset, carries, commits), PULL_REASONS[f"pulled, {kind}"]
