"""A group of plain pull consumers: their queues, the calls of their listeners, and their commits (REB-VAR-PLAIN-*).

A plain pull consumer rebalances as a push consumer does, but it pulls nothing by itself: its application looks at the
queues that it owns, pulls from any of them, and keeps the offsets. So a round computes no start, begins no pulls, and
takes no queue away for want of pulls. The listener of the application is called with changed queues; its exceptions are
logged.

When a round adds a queue, the offset that the application has set for it in memory is forgotten.

Its client instance asks for the routes of the topics that the application registered, subscribed to or not, and passes
on to the consumer only changes of its own knowledge. So a consumer that was not subscribed at that time never learns
the route.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from rocketmq_conformance.models.broker.state import BrokerState
from rocketmq_conformance.models.client import group_state as group
from rocketmq_conformance.models.client.broadcast import NO_FILES
from rocketmq_conformance.models.client.group_state import (
    RebalanceState,
    known_routes,
    widen,
    with_member,
)
from rocketmq_conformance.models.client.member import BROADCASTING, Member, subscribed_topics, with_topics
from rocketmq_conformance.models.client.process_queue import ProcessQueue
from rocketmq_conformance.models.client.rebalance import RebalanceModel
from rocketmq_conformance.models.client.rebalance_round import (
    NO_MEMBER,
    RebalanceRound,
    RebalanceRoundModel,
    listed_members,
    round_reason,
)
from rocketmq_conformance.models.client.start import LAST, StartModel
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.fast_tuples import maker, replaced
from rocketmq_conformance.models.outcome import Value
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Answer, Reason, Rule, reasons_by_kind

RULES = (
    Rule(
        "REB-VAR-PLAIN",
        "A plain pull consumer adds the queues of its share without asking for a start, and begins no pulls; whatever "
        "memory held of a queue that is added is forgotten. A queue that nobody pulls never expires.",
        "RebalancePullImpl#computePullFromWhere, #dispatchPullRequest, #removeDirtyOffset, #consumeType "
        "@ 4.0.0, 4.9.8, 5.3.3",
    ),
    Rule(
        "REB-VAR-PLAIN-REM",
        "A plain pull consumer sends the offset of a queue that it loses, if memory holds one, and forgets it.",
        "RebalancePullImpl#removeUnnecessaryMessageQueue @ 4.0.0, 4.9.8, 5.3.3",
    ),
    Rule(
        "REB-VAR-PLAIN-MQC",
        "When a round changed the queues of a topic, the listener of the application hears of all queues of the topic "
        "and of those of the consumer; what it throws changes nothing.",
        "RebalancePullImpl#messageQueueChanged @ 4.0.0, 4.9.8, 5.3.3",
    ),
    Rule(
        "REB-VAR-PLAIN-NONE",
        "A topic without known queues is reported in every round, with no queues.",
        "RebalanceImpl#rebalanceByTopic @ 4.9.8, 5.0.0-PREVIEW, 5.3.3, 5.5.0",
        releases="5.0.0-PREVIEW+",
    ),
    Rule(
        "REB-VAR-PLAIN-ROUTE",
        "A plain pull consumer's client asks for the routes of all registered topics, and takes one for news when it "
        "differs from the last one, or when the consumer is subscribed and knows none. The consumer learns news of "
        "topics that it is subscribed to then: what it missed, it does not learn until the route changes again.",
        "DefaultMQPullConsumerImpl#subscriptions, #updateTopicSubscribeInfo, #isSubscribeTopicNeedUpdate, "
        "MQClientInstance#updateTopicRouteInfoFromNameServer @ 4.0.0, 4.9.8, 5.3.3",
    ),
)

#: Time of the last pull of a process queue that does not expire.
_NEVER_EXPIRES = 1 << 62
_EXTRA_EVENTS = (
    ("the listener fails", ("REB-VAR-PLAIN-MQC",)),
    ("no queues, as every round", ("REB-VAR-PLAIN-NONE",)),
    ("the listener hears", ("REB-VAR-PLAIN-MQC",)),
)
_FAILED, _NONE, _LISTENED = (1 << at for at in range(len(_EXTRA_EVENTS)))
_REFRESHED = reasons_by_kind(("REB-VAR-PLAIN-ROUTE", "REB-ROUTE-1"), "learned", "missed", "nothing new", "no member")
#: The rules of a push consumer, and what a plain pull consumer has instead.
_INSTEAD = {
    "REB-REM-1": "REB-VAR-PLAIN-REM",
    "REB-ADD-1": "REB-VAR-PLAIN",
    **dict.fromkeys(("START-PUSH-1", "START-BC-1"), "REB-VAR-PLAIN"),
}


@cache
def rebalance_plain_reason(met: int, events: int, mode: str, reports: bool) -> Reason:
    """The one reason of rounds with these events, by bits of _MET and of the events of every round."""
    every = round_reason(events, mode, reports)
    found = [name for at, name in enumerate(_EXTRA_EVENTS) if met & 1 << at]
    rules = [rule for _, named in found for rule in named] + [_INSTEAD.get(rule, rule) for rule in every.rules]
    return Reason(tuple(dict.fromkeys(rules)), found[0][0] if met & (_FAILED | _NONE) else every.kind)


class RebalancePlainRound(RebalanceRound):
    """A round, and the listener's calls as it goes on."""

    __slots__ = ("client", "extra_events", "fails", "listener_calls")

    def __init__(
        self, member: Member, client: Mapping[str, int], broker: BrokerState, now: int, fault: str, fails: bool
    ) -> None:
        super().__init__(member, broker, now, fault, "answer")
        #: The client instance's knowledge of routes.
        self.client = client
        self.fails = fails
        #: (topic, all queues, those of the consumer).
        self.listener_calls: list[tuple[str, tuple[int, ...], tuple[int, ...]]] = []
        self.extra_events = 0


class RebalancePlainRoundModel(RebalanceRoundModel[RebalancePlainRound]):
    """The rounds of plain pull consumers, for one profile; pure but for the round that is under way."""

    __slots__ = ("notifies_of_unknown",)

    def __init__(self, start: StartModel) -> None:
        super().__init__(start)
        self.notifies_of_unknown = start.client.notifies_of_unknown

    def learn(self, current: RebalancePlainRound, topic: str, queues: int) -> None:
        """REB-VAR-PLAIN-ROUTE: a client that knows a broker of the topic does not look for one."""
        if topic not in current.client:
            current.client = {**current.client, topic: queues}
            super().learn(current, topic, queues)

    def unknown(self, current: RebalancePlainRound, topic: str) -> bool:
        """REB-VAR-PLAIN-NONE."""
        if self.notifies_of_unknown:
            current.extra_events |= _NONE
            self._call_listener(current, topic, (), ())
        return super().unknown(current, topic)

    def changed(self, current: RebalancePlainRound, topic: str, target: tuple[int, ...], even: bool) -> bool:
        """REB-VAR-PLAIN-MQC."""
        self._call_listener(current, topic, self.topic_queues[topic][: current.member.seen[topic]], target)
        return even

    def _call_listener(
        self, current: RebalancePlainRound, topic: str, every: tuple[int, ...], mine: tuple[int, ...]
    ) -> None:
        current.extra_events |= _FAILED if current.fails else _LISTENED
        current.listener_calls.append((topic, every, mine))  # both are in the topic's order

    def beginning(self, current: RebalancePlainRound, queue: int) -> tuple[int, int | None]:
        """REB-VAR-PLAIN: no start is computed."""
        return 0, None

    def beginning_by_file(self, current: RebalancePlainRound, queue: int) -> tuple[int, int | None]:
        """REB-VAR-PLAIN: nor is one of a broadcasting consumer."""
        return 0, None

    def process_queue(self, current: RebalancePlainRound, offset: int) -> ProcessQueue:
        """REB-VAR-PLAIN: it does not expire."""
        return ProcessQueue(current.made, offset, _NEVER_EXPIRES)


class RebalancePlainState(NamedTuple):
    """A group, and the routes that its members' client instances know."""

    group: RebalanceState
    #: Of each member: readable queues of the registered topics, from the name server's last answer to its client.
    clients: tuple[Mapping[str, int], ...]


_state = maker(RebalancePlainState)


class RebalancePlainModel:
    """The operations of a group of plain pull consumers, for one profile; every method is pure."""

    __slots__ = ("group", "rebalancing", "topics", "topology")
    #: Wraps an operation that is the same for every kind of group.
    of_group = staticmethod(widen(_state))

    def __init__(self, profile: Profile, topology: Topology) -> None:
        self.topology = topology
        self.topics = subscribed_topics(topology, BROADCASTING)
        self.group = RebalanceModel(profile, topology)
        self.rebalancing = RebalancePlainRoundModel(self.group.rebalancing.start)

    def rebalance(
        self, state: RebalancePlainState, member: int, list_fault: str, fault: str, fails: bool
    ) -> Answer[RebalancePlainState]:
        """REB-DO-1: (owned queues, balanced or None, the listener's calls: (topic, all queues, its queues), commits
        (queue, offset)), all sorted, or None for no member."""
        before, clients = state
        broker, routes, listed, now, members, files = before
        who = members[member]
        if who is None:
            return state, None, NO_MEMBER
        current = RebalancePlainRound(who, clients[member], broker, now, fault, fails)
        current.files = files.get(who.client, NO_FILES)
        owned, _, balanced, commits = self.rebalancing.run(current, routes, listed_members(listed, list_fault))
        answer: Value = owned, balanced, tuple(sorted(current.listener_calls)), commits
        why = rebalance_plain_reason(current.extra_events, current.events, who.mode, self.rebalancing.reports)
        after = current.after()
        if after is who:
            return state, answer, why
        members = replaced(members, member, after)
        files = group.files_after(files, current)
        before = RebalanceState(current.store.broker, routes, listed, now, members, files)
        return _state((before, replaced(clients, member, current.client))), answer, why

    def join(self, state: RebalancePlainState, member: int, twin: bool, mode: str) -> Answer[RebalancePlainState]:
        """REB-BEGIN-1."""
        after, result, why = self.group.join(state.group, member, twin, mode, LAST, "AVG")
        who = after.members[member]
        assert who is not None  # it has just begun
        clients = replaced(state.clients, member, known_routes(self.topics, after.routes))
        return _state((with_member(after, member, _without_retry_topic(self.topology, who)), clients)), result, why

    def refresh(self, state: RebalancePlainState, member: int) -> Answer[RebalancePlainState]:
        """REB-VAR-PLAIN-ROUTE."""
        before, clients = state
        who = before.members[member]
        if who is None:
            return state, None, _REFRESHED["no member"]
        client = clients[member]
        unknown = who.topics.difference(who.seen)
        answers = known_routes(self.topics, before.routes)
        news = {topic: queues for topic, queues in answers.items() if client.get(topic) != queues or topic in unknown}
        if not news:
            return state, None, _REFRESHED["nothing new"]
        learned = {topic: queues for topic, queues in news.items() if topic in who.topics}
        if learned:
            before = with_member(before, member, with_topics(who, who.topics, {**who.seen, **learned}))
        why = _REFRESHED["learned" if learned == news else "missed"]
        return _state((before, replaced(clients, member, {**client, **news}))), None, why


def initial_state(topology: Topology) -> RebalancePlainState:
    """The initial state: new plain pull consumers."""
    state, known = (
        group.initial_state(topology),
        known_routes(subscribed_topics(topology, BROADCASTING), topology.routes),
    )
    members = tuple(None if who is None else _without_retry_topic(topology, who) for who in state.members)
    return RebalancePlainState(state._replace(members=members), (known,) * len(members))


def _without_retry_topic(topology: Topology, who: Member) -> Member:
    """A new member without the retry topic: a plain pull consumer subscribes as a broadcasting one does."""
    seen = {topic: count for topic, count in who.seen.items() if topic != topology.retry_topic}
    return who._replace(topics=subscribed_topics(topology, BROADCASTING), seen=seen)
