"""What a client does by itself, and when (TIMER-*).

The consumers of one client id in a process share a client, and the client has the timers: one asks the name server for
routes, one sends heartbeats, and one persists the offsets of all consumers. They begin with the client, that is with
its first consumer, have the intervals of that consumer's configuration, and end with the last consumer. A consumer that
joins later finds them running: its first offsets may be persisted sooner than 10 s after its start.

An orderly consumer has one more timer, of its own, which locks its queues again and again.

A start and a shutdown do some of it at once: a push consumer asks for its routes and sends a heartbeat, and whoever
ends persists once more before it leaves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.broker.query import query_offset
from rocketmq_conformance.models.broker.state import RETRY
from rocketmq_conformance.models.client.client_rules import ClientRules
from rocketmq_conformance.models.client.initial_broker import initial_broker
from rocketmq_conformance.models.client.member import BROADCASTING, CLUSTERING
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.outcome import Value
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Answer, Reason, Rule, reasons_by_kind

RULES = (
    Rule(
        "TIMER-PERSIST",
        "10 s after it began, and then every persistConsumerOffsetInterval (5 s), a client persists the offsets of all "
        "its consumers: of every queue that one owns, changed or not, by one one-way commit a queue; a broadcasting "
        "consumer writes its file, with or without an offset.",
        "MQClientInstance#startScheduledTask, #persistAllConsumerOffset @ 4.0.0, 4.9.7, 5.0.0, 5.3.3",
    ),
    Rule(
        "TIMER-BEAT",
        "1 s after it began, and then every heartbeatBrokerInterval (30 s), a client sends each broker one heartbeat "
        "for all its groups.",
        "MQClientInstance#startScheduledTask, #sendHeartbeatToAllBrokerWithLock @ 4.0.0, 4.9.7, 5.0.0, 5.3.3",
    ),
    Rule(
        "TIMER-ROUTE",
        "10 ms after it began, and then every pollNameServerInterval (30 s), a client asks the name server for the "
        "route of each topic that a consumer has subscribed to, once a topic.",
        "MQClientInstance#startScheduledTask, #updateTopicRouteInfoFromNameServer @ 4.0.0, 4.9.7, 5.0.0, 5.3.3",
    ),
    Rule(
        "TIMER-LOCK",
        "An orderly clustering consumer locks the queues that it owns again 1 s after its own start, and then every "
        "20 s: by one request up to 4.9, by two equal ones in 5.x, where the service for popped messages has a timer, "
        "too; without queues it sends none.",
        "ConsumeMessageOrderlyService#start, RebalanceImpl#lockAll @ 4.0.0, 4.9.7, 5.0.0-PREVIEW, 5.3.3; "
        "ConsumeMessagePopOrderlyService#start @ 5.0.0-PREVIEW, 5.3.3",
    ),
    Rule(
        "TIMER-SHARED",
        "The timers are the client's: a consumer that joins a client that runs does not begin them anew, and its "
        "intervals do not count.",
        "MQClientInstance#start @ 4.0.0, 5.3.3; MQClientManager#getAndCreateMQClientInstance @ 4.0.0; "
        "#getOrCreateMQClientInstance @ 5.3.3",
    ),
    Rule(
        "TIMER-START",
        "When it starts, a push consumer asks for the routes of its topics and then sends the heartbeat of its client; "
        "a lite pull consumer asks for routes alone; a pull consumer leaves both to the timers, or to who starts next.",
        "DefaultMQPushConsumerImpl#start, DefaultMQPullConsumerImpl#start @ 4.0.0, 4.6.0, 5.3.3; "
        "DefaultLitePullConsumerImpl#operateAfterRunning @ 4.6.0, 5.3.3",
    ),
    Rule(
        "TIMER-END",
        "A consumer that is shut down unlocks its queues (an orderly one, by a request that is answered), then "
        "persists, then unregisters at the brokers that its client knows; with its last consumer the client's timers "
        "end.",
        "DefaultMQPushConsumerImpl#shutdown, ConsumeMessageOrderlyService#shutdown, "
        "MQClientInstance#unregisterConsumer, #shutdown @ 4.0.0, 4.9.7, 5.3.3",
    ),
)

PUSH, ORDERLY, PULL, LITE = "push", "orderly", "pull", "lite pull"
#: What happens, as answers name it.
ROUTE, BEAT, COMMIT, FILE, LOCK, UNLOCK, LEAVE = "route", "heartbeat", "commit", "file", "lock", "unlock", "unregister"
#: Intervals of persisting, heartbeats and routes without a setting (ms).
PERSIST_EVERY, BEAT_EVERY, ROUTE_EVERY = 5_000, 30_000, 30_000
#: When each of them comes first (ms).
FIRST_PERSIST, FIRST_BEAT, FIRST_ROUTE = 10_000, 1_000, 10
#: The same of locks.
LOCK_EVERY, FIRST_LOCK = 20_000, 1_000
#: The offset of a queue that has none.
NONE = -1

Event = tuple[str, tuple[Value, ...]]


class Client(NamedTuple):
    """What the consumers share: when it began (ms), and its intervals (ms)."""

    began: int
    persist: int
    heartbeat: int
    route: int
    #: Has it learnt of a broker?
    knows_broker: bool = False


class Member(NamedTuple):
    """A consumer that runs."""

    group: str
    kind: str
    mode: str
    began: int
    #: Does it know the route of its topic, and does it own queue 0 of it?
    routed: bool
    owns: bool = False
    #: The offset of that queue in memory.
    offset: int = NONE

    @property
    def locks(self) -> bool:
        """Does it hold locks of queues?"""
        return self.kind == ORDERLY and self.mode == CLUSTERING and self.owns


class TimersState(NamedTuple):
    """A process with two consumers of one client id; ``now`` is the clock of the case (ms)."""

    now: int = 0
    #: Intervals that consumers are configured with.
    persist: int = PERSIST_EVERY
    heartbeat: int = BEAT_EVERY
    route: int = ROUTE_EVERY
    client: Client | None = None
    members: tuple[Member | None, Member | None] = (None, None)
    #: Offsets at the broker, and in the files that were written, by group.
    stored: Mapping[str, int] = MappingProxyType({})
    files: Mapping[str, int] = MappingProxyType({})


_EVENT_RULES = {
    ROUTE: "TIMER-ROUTE",
    BEAT: "TIMER-BEAT",
    COMMIT: "TIMER-PERSIST",
    FILE: "TIMER-PERSIST",
    LOCK: "TIMER-LOCK",
}
_IDLE = Reason(("TIMER-END",), "no client")
_QUIET = Reason(("TIMER-PERSIST", "TIMER-BEAT", "TIMER-ROUTE"), "nothing is due")
_CONFIGURED = reasons_by_kind(("TIMER-SHARED",), "configured", "configured beside a client")
_STARTED = {kind: Reason(("TIMER-START",), f"the first consumer: {kind}") for kind in (PUSH, ORDERLY, PULL, LITE)}
_JOINED = {
    kind: Reason(("TIMER-START", "TIMER-SHARED"), f"joins a client: {kind}") for kind in (PUSH, ORDERLY, PULL, LITE)
}
_RUNS = Reason(("TIMER-START",), "runs already")
_ROUNDS = reasons_by_kind(("TIMER-START",), "takes queues", "waits for its route", "nothing to take")
_UPDATED = reasons_by_kind(("TIMER-PERSIST",), "an offset", "owns no queue")
_ENDED = reasons_by_kind(("TIMER-END",), "the last", "another runs", "no consumer")
_REASONS: dict[tuple[frozenset[str], bool], Reason] = {}


def timer_reason(whats: frozenset[str], shared: bool) -> Reason:
    """The one reason of times in which these things happened, to a client that is shared or not."""
    key = whats, shared
    if key not in _REASONS:
        rules = [
            rule for rule in dict.fromkeys(_EVENT_RULES.values()) if rule in {_EVENT_RULES[what] for what in whats}
        ]
        _REASONS[key] = Reason(tuple(rules + ["TIMER-SHARED"] * shared), " and ".join(sorted(whats)))
    return _REASONS[key]


def occurrences(first: int, every: int, now: int, until: int) -> range:
    """When a timer comes after ``now``, until ``until`` (ms)."""
    begin = first if first > now else first + ((now - first) // every + 1) * every
    return range(begin, until + 1, every)


class TimersModel:
    """The operations of such a process for one profile; every method is pure."""

    __slots__ = ("client", "topology", "unstored")

    def __init__(self, profile: Profile, topology: Topology) -> None:
        self.client = ClientRules.of(profile)
        self.topology = topology
        set_zero = False if self.client.asks_no_zero else None
        _, answered, _ = query_offset(
            BrokerRules.of(profile), initial_broker(topology), topology.group, topology.topic, 0, set_zero
        )
        #: What a store keeps of a queue without a stored offset.
        self.unstored = answered if isinstance(answered, int) else NONE

    def _topics(self, member: Member) -> tuple[str, ...]:
        """What a consumer has subscribed to."""
        if member.kind in (PUSH, ORDERLY) and member.mode == CLUSTERING:
            return RETRY + member.group, self.topology.topic
        return (self.topology.topic,)

    def configure(self, state: TimersState, persist: int, heartbeat: int, route: int) -> Answer[TimersState]:
        """TIMER-SHARED: the intervals of consumers that start from now on."""
        why = _CONFIGURED["configured" if state.client is None else "configured beside a client"]
        return state._replace(persist=persist, heartbeat=heartbeat, route=route), None, why

    def start(self, state: TimersState, consumer: int, kind: str, mode: str) -> Answer[TimersState]:
        """TIMER-START: what the start of a consumer sends at once, in order."""
        if state.members[consumer] is not None:
            return state, (), _RUNS
        group = (self.topology.group, self.topology.other_group)[consumer]
        client = state.client
        why = (_STARTED if client is None else _JOINED)[kind]
        if client is None:
            client = Client(state.now, state.persist, state.heartbeat, state.route)
        member = Member(group, kind, mode, state.now, kind != PULL)
        members = _with(state.members, consumer, member)
        events: tuple[Event, ...] = ()
        if kind != PULL:
            client, members = client._replace(knows_broker=True), _routed(members)
            events = ((ROUTE, self._topics(member)),)
        if kind in (PUSH, ORDERLY):
            events = (*events, (BEAT, _groups(members)))
        return state._replace(client=client, members=members), events, why

    def start_lite(self, state: TimersState, consumer: int, mode: str) -> Answer[TimersState]:
        """TIMER-START, of a lite pull consumer."""
        return self.start(state, consumer, LITE, mode)

    def rebalance(self, state: TimersState) -> Answer[TimersState]:
        """TIMER-START: consumers that know their route take their queues."""
        members = state.members
        why = _ROUNDS["nothing to take"]
        for at in range(len(members)):
            member = members[at]
            if member is None or member.owns:
                continue
            if member.routed:
                members, why = _with(members, at, self._taking(state, member)), _ROUNDS["takes queues"]
            elif why is _ROUNDS["nothing to take"]:
                why = _ROUNDS["waits for its route"]
        return state._replace(members=members), None, why

    def _taking(self, state: TimersState, member: Member) -> Member:
        """A consumer that takes its queues: what it keeps in memory of the one that it looks at."""
        looks = member.kind != PULL and (member.kind != LITE or self.client.lite_starts)
        if member.mode == CLUSTERING:
            return member._replace(owns=True, offset=state.stored.get(member.group, self.unstored) if looks else NONE)
        forgets = self.client.file_merges and not looks
        return member._replace(owns=True, offset=NONE if forgets else state.files.get(member.group, NONE))

    def update(self, state: TimersState, consumer: int, offset: int) -> Answer[TimersState]:
        """TIMER-PERSIST: an offset changes in memory, of a queue that is owned."""
        member = state.members[consumer]
        if member is None or not member.owns:
            return state, False, _UPDATED["owns no queue"]
        members = _with(state.members, consumer, member._replace(offset=offset))
        return state._replace(members=members), True, _UPDATED["an offset"]

    def elapse(self, state: TimersState, elapses: int) -> Answer[TimersState]:
        """What the timers do in this time: sorted (ms since it began, what, of what)."""
        now, client, members = state.now, state.client, state.members
        until = now + elapses
        if client is None:
            return state._replace(now=until), (), _IDLE
        events = sorted((when - now, *event) for when, event in self._due(state, client, until))
        if not events:
            return state._replace(now=until), (), _QUIET
        whats = frozenset(what for _, what, _ in events)
        if ROUTE in whats:
            client, members = client._replace(knows_broker=True), _routed(members)
        stored, files = state.stored, state.files
        if COMMIT in whats or FILE in whats:
            stored, files = self._persisted(state)
        after = state._replace(now=until, client=client, members=members, stored=stored, files=files)
        return after, tuple(events), timer_reason(whats, None not in members)

    def _due(self, state: TimersState, client: Client, until: int) -> Iterator[tuple[int, Event]]:
        """What is due, and when (ms of the case's clock)."""
        now, began = state.now, client.began
        running = [member for member in state.members if member is not None]
        topics = tuple(sorted({topic for member in running for topic in self._topics(member)}))
        for when in occurrences(began + FIRST_ROUTE, client.route, now, until):
            yield when, (ROUTE, topics)
        for when in occurrences(began + FIRST_BEAT, client.heartbeat, now, until):
            yield when, (BEAT, _groups(state.members))
        for when in occurrences(began + FIRST_PERSIST, client.persist, now, until):
            for event in self._persists(state):
                yield when, event
        for member in running:
            if member.locks:
                for when in occurrences(member.began + FIRST_LOCK, LOCK_EVERY, now, until):
                    yield from [(when, (LOCK, (member.group,)))] * (2 if self.client.locks_twice else 1)

    def _persists(self, state: TimersState) -> Iterator[Event]:
        """What persisting sends or writes, by consumer."""
        for member in state.members:
            if member is not None:
                yield from self._persist(state, member)

    def _persist(self, state: TimersState, member: Member) -> tuple[Event, ...]:
        if not member.owns:
            return ()
        if member.mode == BROADCASTING:
            return ((FILE, (member.group, self._in_file(state, member))),)
        return ((COMMIT, (member.group, member.offset, True)),) if member.offset != NONE else ()

    def _in_file(self, state: TimersState, member: Member) -> int:
        """OFF-L-PALL: the offset that a file has once it was written."""
        if member.offset != NONE or not self.client.file_merges:
            return member.offset
        return state.files.get(member.group, NONE)

    def _persisted(self, state: TimersState) -> tuple[Mapping[str, int], Mapping[str, int]]:
        """Offsets at the broker and in files, after all consumers persisted."""
        stored, files = dict(state.stored), dict(state.files)
        for what, of in self._persists(state):
            (stored if what == COMMIT else files)[str(of[0])] = int(of[1])  # type: ignore[arg-type]  # an offset
        return stored, files

    def shutdown(self, state: TimersState, consumer: int) -> Answer[TimersState]:
        """TIMER-END: what the end of a consumer sends and writes, in order."""
        member, client = state.members[consumer], state.client
        if member is None or client is None:
            return state, (), _ENDED["no consumer"]
        events: list[Event] = [(UNLOCK, (member.group, False))] if member.locks else []
        events.extend(self._persist(state, member))
        if client.knows_broker:
            events.append((LEAVE, (member.group,)))
        members = _with(state.members, consumer, None)
        stored, files = self._persisted(state._replace(members=_with((None, None), consumer, member)))
        last = members == (None, None)
        after = state._replace(client=None if last else client, members=members, stored=stored, files=files)
        return after, tuple(events), _ENDED["the last" if last else "another runs"]


def _groups(members: tuple[Member | None, Member | None]) -> tuple[str, ...]:
    return tuple(sorted(member.group for member in members if member is not None))


def _routed(members: tuple[Member | None, Member | None]) -> tuple[Member | None, Member | None]:
    """The same consumers, which know the route of their topic."""
    first, second = (None if member is None else member._replace(routed=True) for member in members)
    return first, second


def _with(
    members: tuple[Member | None, Member | None], consumer: int, member: Member | None
) -> tuple[Member | None, Member | None]:
    return (member, members[1]) if consumer == 0 else (members[0], member)
