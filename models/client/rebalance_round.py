"""A round of rebalance: one member of a group brings its process queue table in line with its share (REB-*).

For every topic that it subscribes to, the member takes the queues that it knows of (from the name server) and the
members that a broker lists, both of which may be out of date, computes its share, and then

1. drops each queue that is not in the share, or that was not pulled for too long: its offset is sent to the broker,
   one way, and forgotten;
2. adds each queue of the share that it does not have: its offset in memory is forgotten, the start position is
   computed (START-PUSH-1), and a pull request begins there. Without a start the queue is left for the next round.

There is no handover: the old owner commits and drops a queue in one of its own rounds, the new owner asks the broker in
another. Between the two a queue may have two owners, or none.

A failure keeps what the member has: no member list, no known queues, or a strategy that refuses because there are no
queues or no members (5.5.0 does not call it in that case). A member that is not on the list is no failure. Its share is
empty, and it drops everything.

A broadcasting member owns every queue that it knows of and asks for no member list; when it knows that there are none,
it drops them all, where a member of a cluster keeps them. Its offsets are in a file (see ``broadcast``).

When all topics are done, queues of topics that are not subscribed to any more are dropped without a request to the
broker.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Generic, TypeVar

from rocketmq_conformance.models.broker.state import BrokerState, QueueLog
from rocketmq_conformance.models.client.broadcast import NO_FILES, file_store, files_of, offset_in
from rocketmq_conformance.models.client.local_store import LocalStore
from rocketmq_conformance.models.client.member import BROADCASTING, CLUSTERING, CONFIG, Member, after_round, division_of
from rocketmq_conformance.models.client.member_settings import MEMBER_TIME
from rocketmq_conformance.models.client.offset_table import UNFROZEN
from rocketmq_conformance.models.client.process_queue import PULL_EXPIRY, ProcessQueue
from rocketmq_conformance.models.client.remote_store import RemoteStore, remote_store
from rocketmq_conformance.models.client.start import StartModel
from rocketmq_conformance.models.java_text import string_hash
from rocketmq_conformance.models.outcome import Expected, Value
from rocketmq_conformance.models.rule import Reason, Rule

RULES = (
    Rule(
        "REB-DO-1",
        "A round rebalances every subscribed topic on its own, and then drops the queues of topics that are not "
        "subscribed; what fails for one topic does not touch the others.",
        "RebalanceImpl#doRebalance @ 4.0.0, 4.9.8, 5.5.0",
    ),
    Rule(
        "REB-CLU-1",
        "A member of a cluster takes the member list from a broker of the topic; without a list, for whatever reason, "
        "and while it knows no queues of the topic, it keeps what it has.",
        "RebalanceImpl#rebalanceByTopic, MQClientInstance#findConsumerIdList @ 4.0.0, 4.9.8, 5.5.0",
    ),
    Rule(
        "REB-CLU-ROUTE",
        "Looking for a broker to ask for the list makes a member of a cluster learn a route that it does not know, but "
        "the round that does so goes by what was known before. From 5.5.0 nobody is asked while no queues are known.",
        "RebalanceImpl#rebalanceByTopic, MQClientInstance#findConsumerIdList @ 4.0.0, 4.9.8, 5.4.0, 5.5.0",
    ),
    Rule(
        "REB-CLU-3",
        "When the strategy refuses (no readable queues, an empty member list), the member keeps what it has; from "
        "5.5.0 such a topic counts as one whose queues or list are unknown.",
        "RebalanceImpl#rebalanceByTopic @ 4.0.0, 4.9.8, 5.4.0, 5.5.0",
    ),
    Rule(
        "REB-CLU-4",
        "The member's table becomes its share of the topic; one that is not on the list has an empty share, and drops "
        "every queue of the topic.",
        "RebalanceImpl#rebalanceByTopic @ 4.0.0, 4.9.8, 5.5.0",
    ),
    Rule(
        "REB-CLU-CONFIG",
        "A share with queues of another topic (strategy CONFIG) is taken as it is: the topic's round adds them, and "
        "the topic is never balanced.",
        "RebalanceImpl#rebalanceByTopic, #updateProcessQueueTableInRebalance @ 4.0.0, 4.9.8, 5.5.0",
    ),
    Rule(
        "REB-BC-1",
        "A broadcasting member owns every readable queue of the topic that it knows of, none if it knows that there "
        "are none; while it knows nothing of the topic it keeps what it has.",
        "RebalanceImpl#rebalanceByTopic @ 4.0.0, 4.9.8, 5.5.0",
    ),
    Rule(
        "REB-DROP-1",
        "A queue of the topic that is not in the share leaves the table, and its process queue is dropped.",
        "RebalanceImpl#updateProcessQueueTableInRebalance @ 4.0.0, 4.9.8, 5.5.0",
    ),
    Rule(
        "REB-REM-1",
        "Dropping a queue sends its offset in memory, if there is one, to the broker, one way, and then forgets it "
        "(broadcasting: REB-BC-REM).",
        "RebalancePushImpl#removeUnnecessaryMessageQueue @ 4.0.0, 4.9.8, 5.5.0",
    ),
    Rule(
        "REB-ADD-1",
        "A queue of the share that is not in the table is added: its offset in memory is forgotten (broadcasting: "
        "REB-BC-REM), then the start position is asked for, and a pull request begins there.",
        "RebalanceImpl#updateProcessQueueTableInRebalance @ 4.0.0, 4.9.8, 5.5.0",
    ),
    Rule(
        "REB-ADD-START",
        "A queue without a start position is not added in this round; what memory held of it is forgotten all the "
        "same, and the other queues are added.",
        "RebalanceImpl#updateProcessQueueTableInRebalance @ 4.0.0, 4.9.8, 5.5.0",
    ),
    Rule(
        "REB-TRUNC-1",
        "Queues of a topic that is not subscribed any more are dropped after a round, and their offsets in memory are "
        "neither sent nor forgotten.",
        "RebalanceImpl#truncateMessageQueueNotMyTopic @ 4.0.0, 4.9.8, 5.5.0",
    ),
    Rule(
        "REB-RET-1",
        "A round is balanced when every topic's table is its share; a topic without list or known queues counts as "
        "balanced, one whose strategy refused does not. Before 5.2.0 only the topic that comes last in the client's "
        "hash table counts.",
        "RebalanceImpl#doRebalance, #rebalanceByTopic @ 5.0.0, 5.1.4, 5.2.0, 5.5.0",
        releases="5.0.0-PREVIEW+",
    ),
)

#: A topic that the name server has no route for.
NO_ROUTE = -1

#: Events of a round: name and rules. The first one that occurred names the round.
EVENTS = (
    ("topic given up", ("REB-TRUNC-1",)),
    ("pull expired", ("REB-DROP-EXPIRY", "REB-REM-1", "REB-ADD-1")),
    ("no start", ("REB-ADD-START", "START-PUSH-ERROR", "START-CHECKED")),
    ("strategy refuses", ("REB-CLU-3",)),
    ("queues of another topic", ("REB-CLU-CONFIG",)),
    ("dropped with offset", ("REB-DROP-1", "REB-REM-1")),
    ("dropped", ("REB-DROP-1",)),
    ("added", ("REB-ADD-1", "START-PUSH-1")),
    ("no list", ("REB-CLU-1",)),
    ("route learned", ("REB-CLU-ROUTE",)),
    ("no queues known", ()),
)
_TRUNCATED, _EXPIRED, _UNSTARTED, _REFUSED, _FOREIGN, _COMMITTED, _DROPPED, _ADDED, _UNLISTED, _ROUTED, _UNKNOWN = (
    1 << at for at in range(len(EVENTS))
)
#: Beside these: a topic's table was brought in line with the share. Rules of that, and of unknown queues, by mode.
ALIGNED = 1 << len(EVENTS)
_ALIGNED_BY = {CLUSTERING: ("REB-CLU-4", "REB-CLU-1"), BROADCASTING: ("REB-BC-1",)}
_UNKNOWN_BY = {CLUSTERING: ("REB-CLU-1",), BROADCASTING: ("REB-BC-1",)}
#: The rules of a member of a cluster, and what a broadcasting one has instead.
_BY_FILE = {"REB-REM-1": "REB-BC-REM", "START-PUSH-1": "START-BC-1", "START-PUSH-ERROR": "START-BC-1"}
NO_MEMBER = Reason(("REB-DO-1",), "no member")


@cache
def round_reason(events: int, mode: str, reports: bool) -> Reason:
    """The one reason of rounds with these events; EVENTS[i] is bit i, BROUGHT the one above."""
    met = [event for at, event in enumerate(EVENTS) if events & 1 << at]
    rules = [rule for _, named in met for rule in named]
    rules += _ALIGNED_BY[mode] if events & ALIGNED else ()
    rules += _UNKNOWN_BY[mode] if events & _UNKNOWN else ()
    rules += ["REB-DO-1", "REB-RET-1"] if reports else ["REB-DO-1"]
    if mode == BROADCASTING:
        rules = [_BY_FILE.get(rule, rule) for rule in rules]
    return Reason(tuple(dict.fromkeys(rules)), met[0][0] if met else "nothing to do")


@lru_cache(maxsize=64)
def in_hash_order(topics: frozenset[str]) -> tuple[str, ...]:
    """Topics in the order of the client's hash table: 16 bins, by Java's hash of the name (REB-RET-1)."""

    def place(topic: str) -> int:
        hashed = string_hash(topic) & 0xFFFF_FFFF
        return (hashed ^ hashed >> 16) & 15

    return tuple(sorted(topics, key=place))


def listed_members(listed: tuple[str, ...], fault: str) -> tuple[str, ...] | None:
    """REB-CLU-1: the broker's answer for the member list; None when it answers none, as for an empty group."""
    if fault == "empty":
        return ()
    return listed if fault == "answer" and listed else None


class RebalanceRound:
    """A round under way: its member, and its changes so far."""

    __slots__ = (
        "bound_fault",
        "commits",
        "dispatched",
        "events",
        "fault",
        "files",
        "made",
        "member",
        "now",
        "seen",
        "store",
        "table",
        "table_changed",
    )

    def __init__(self, member: Member, broker: BrokerState, now: int, fault: str, bound_fault: str) -> None:
        self.member = member
        self.now = now
        self.fault = fault
        self.bound_fault = bound_fault
        self.seen = member.seen
        self.store = remote_store((member.memory, UNFROZEN, broker))
        #: Of a broadcasting member: its file and the backup.
        self.files = NO_FILES
        self.table = member.table
        self.made = member.made
        self.dispatched: list[tuple[int, int]] = []
        self.commits: list[tuple[int, int]] = []
        self.events = 0
        #: Did the current topic's queues in the table change?
        self.table_changed = False

    def own_table(self) -> dict[int, ProcessQueue]:
        """The table as a copy that the round may change."""
        if self.table is self.member.table:
            self.table = dict(self.table)
        return self.table  # type: ignore[return-value]  # a copy

    def own_memory(self) -> dict[int, int]:
        """The store's memory, as a copy that the round may change."""
        memory, frozen, broker = self.store
        if memory is self.member.memory:
            memory = dict(memory)
            self.store = remote_store((memory, frozen, broker))
        return memory  # type: ignore[return-value]  # a copy

    def after(self) -> Member:
        """The member after the round."""
        if not self.events & (ALIGNED - 1):
            return self.member
        return after_round(self.member, self.seen, self.store.memory, self.table, self.made)


#: The type of rounds of a kind of members.
RoundT = TypeVar("RoundT", bound=RebalanceRound)


class RebalanceRoundModel(Generic[RoundT]):
    """The rounds of a member for one profile and topology; pure, but for a cache of starts."""

    __slots__ = (
        "_file_starts",
        "_logs",
        "_starts",
        "balances_all",
        "local",
        "nothing_is_unknown",
        "reports",
        "share_of",
        "start",
        "store",
        "stored_keys",
        "topic_of",
        "topic_queues",
        "topology",
    )

    def __init__(self, start: StartModel) -> None:
        self.start = start
        self.store = start.store
        self.local = start.local
        self.reports = start.client.reports_balance
        self.balances_all = start.client.balances_all
        self.nothing_is_unknown = start.client.nothing_is_unknown
        self.topology = start.topology
        self.topic_of, self.topic_queues = start.topology.topic_of, start.topology.topic_queues
        self.stored_keys = start.topology.stored_keys
        self.share_of = division_of(start.client, start.topology)
        #: Starts computed so far, while queues have these logs: by queue, ConsumeFromWhere, faults, stored offset.
        self._logs: Mapping[tuple[str, int], QueueLog] = {}
        self._starts: dict[tuple[int, str, str, str, int | None], tuple[int, int | None]] = {}
        #: The same by queue, ConsumeFromWhere, fault, the file's offset and the offset in memory.
        self._file_starts: dict[tuple[int, str, str, int | None, int | None], tuple[int, int | None]] = {}

    def run(
        self, current: RoundT, routes: Mapping[str, int], members: tuple[str, ...] | None
    ) -> tuple[Value, Value, Value, Value]:
        """Run a round that has begun: its answer. ``members`` are the client ids that a broker answers, if it does."""
        balanced = self.balance_topics(current, routes, members)
        return (
            tuple(sorted(current.table)),
            tuple(sorted(current.dispatched)) if current.dispatched else (),
            balanced,
            tuple(sorted(current.commits)) if current.commits else (),
        )

    def balance_topics(
        self, current: RoundT, routes: Mapping[str, int], members: tuple[str, ...] | None
    ) -> bool | None:
        """REB-DO-1: every topic in its turn; is the member balanced? None when the client does not report it."""
        member = current.member
        balanced = True
        for topic in in_hash_order(member.topics):
            even = self._topic(current, topic, routes, members)
            balanced = even and (balanced or not self.balances_all)
        if len(member.topics) < len(self.topology.routes):
            self.truncate(current, member.topics)
        return balanced if self.reports else None

    def _topic(self, current: RoundT, topic: str, routes: Mapping[str, int], listed: tuple[str, ...] | None) -> bool:
        """One topic; is it balanced?"""
        member = current.member
        count = current.seen.get(topic)
        if member.mode == BROADCASTING:
            if count is None:
                return self.unknown(current, topic)
            return self._align(current, topic, self.topic_queues[topic][:count])
        if count is None or (count == 0 and self.nothing_is_unknown):
            if not self.nothing_is_unknown and routes[topic] != NO_ROUTE:
                self.learn(current, topic, routes[topic])
            return self.unknown(current, topic)
        if listed is None or (not listed and self.nothing_is_unknown):
            current.events |= _UNLISTED
            return True
        target = self.share_of(member.strategy, member.client, topic, count, listed)
        if target is None:
            return self.refused(current, topic)
        if member.strategy != CONFIG or all(self.topic_of[queue] == topic for queue in target):
            return self._align(current, topic, target)
        current.events |= _FOREIGN
        self._align(current, topic, target)
        return False

    def refused(self, current: RoundT, topic: str) -> bool:
        """REB-CLU-3: the strategy refuses to divide a topic; is it balanced?"""
        current.events |= _REFUSED
        return False

    def learn(self, current: RoundT, topic: str, queues: int) -> None:
        """REB-CLU-ROUTE: a client that looks for a broker of a topic learns its route."""
        current.seen = {**current.seen, topic: queues}
        current.events |= _ROUTED

    def unknown(self, current: RoundT, topic: str) -> bool:
        """REB-CLU-1, REB-BC-1: the queues of a topic were unknown to the member; is it balanced?"""
        current.events |= _UNKNOWN
        return True

    def _align(self, current: RoundT, topic: str, target: tuple[int, ...]) -> bool:
        """Bring the table in line with the share of a topic; is the topic balanced?"""
        current.table_changed = False
        table = current.table
        current.events |= ALIGNED
        if table:
            # as `is_expired` says, without a call for each queue: every step of a group comes here
            overdue = current.now - PULL_EXPIRY
            for queue in self.topic_queues[topic]:
                if queue not in table:
                    continue
                if queue not in target:
                    self.drop(current, queue)
                elif table[queue].pulled < overdue:
                    current.events |= _EXPIRED
                    self.drop(current, queue)
        complete = True
        for queue in target:
            owned = current.table.get(queue)
            complete &= self.add(current, queue) if owned is None else not owned.dropped
        return self.changed(current, topic, target, complete) if current.table_changed else complete

    def changed(self, current: RoundT, topic: str, target: tuple[int, ...], even: bool) -> bool:
        """Queues of a topic came, went, or came again, and the table is its share or not: is the topic balanced?"""
        return even

    def drop(self, current: RoundT, queue: int) -> None:
        """REB-DROP-1, REB-REM-1."""
        if self.send(current, queue):
            del current.own_memory()[queue]
        self.remove(current, queue)

    def send(self, current: RoundT, queue: int) -> bool:
        """A queue is dropped: send its offset in memory, if there is one; is there one to forget?"""
        held = current.store.memory.get(queue)
        current.events |= _DROPPED
        current.table_changed = True
        if held is None:
            return False
        current.events |= _COMMITTED
        if current.member.mode == BROADCASTING:
            current.files = files_of(self.local.persist(file_store(current.store.memory, current.files), queue)[0])
            return self.local.client.file_merges
        current.store, _, _ = self.store.commit(current.store, queue, held, True, current.fault)
        current.commits.append((queue, held))
        return True

    def remove(self, current: RoundT, queue: int) -> None:
        """A dropped queue leaves the table."""
        del current.own_table()[queue]

    def add(self, current: RoundT, queue: int) -> bool:
        """REB-ADD-1; False without a start."""
        by_file = current.member.mode == BROADCASTING
        if queue in current.store.memory and (not by_file or self.local.client.file_merges):
            del current.own_memory()[queue]
        offset, answered = self.beginning_by_file(current, queue) if by_file else self.beginning(current, queue)
        if answered is not None:
            current.own_memory()[queue] = answered
        if offset < 0:
            current.events |= _UNSTARTED
            return False
        current.events |= _ADDED
        current.table_changed = True
        current.made += 1
        current.own_table()[queue] = self.process_queue(current, offset)
        current.dispatched.append((queue, offset))
        return True

    def beginning(self, current: RoundT, queue: int) -> tuple[int, int | None]:
        """The start of a queue that is added, and its offset in memory from then on: the broker's, if it answers
        one. Both depend on the broker's data of the queue and not on anything a round does, so that each start is
        computed once."""
        broker = current.store.broker
        if broker.logs is not self._logs:
            self._forget_starts(broker)
        where, fault, bound_fault = current.member.where, current.fault, current.bound_fault
        key = queue, where, fault, bound_fault, broker.stored.get(self.stored_keys[queue])
        found = self._starts.get(key)
        if found is None:
            store, offset = self.started(RemoteStore(broker=broker), queue, where, fault, bound_fault)
            assert isinstance(offset, int)  # the unchecked start reports no errors
            found = self._starts[key] = offset, store.memory.get(queue)
        return found

    def started(
        self, store: RemoteStore, queue: int, where: str, fault: str, bound_fault: str
    ) -> tuple[RemoteStore, Expected]:
        """START-PUSH-1: the start of a queue without an offset in memory."""
        return self.start.push(store, queue, where, *MEMBER_TIME, False, fault, bound_fault)[:2]

    def beginning_by_file(self, current: RoundT, queue: int) -> tuple[int, int | None]:
        """START-BC-1: the same of a broadcasting member, whose store has its file behind it."""
        memory, _, broker = current.store
        if broker.logs is not self._logs:
            self._forget_starts(broker)
        where, bound_fault = current.member.where, current.bound_fault
        key = queue, where, bound_fault, offset_in(current.files, queue), memory.get(queue)
        found = self._file_starts.get(key)
        if found is None:
            store = file_store(memory, current.files)
            store, offset = self.started_by_file(store, broker, queue, where, bound_fault)
            assert isinstance(offset, int)  # the unchecked start reports no errors
            found = self._file_starts[key] = offset, store.memory.get(queue)
        return found

    def _forget_starts(self, broker: BrokerState) -> None:
        """The queues have other logs now."""
        self._logs, self._starts, self._file_starts = broker.logs, {}, {}

    def started_by_file(
        self, store: LocalStore, broker: BrokerState, queue: int, where: str, bound_fault: str
    ) -> tuple[LocalStore, Expected]:
        """START-BC-1: the start of a queue, of which an older client may remember an offset."""
        return self.start.push_from_file(store, broker, queue, where, *MEMBER_TIME, False, bound_fault)[:2]

    def process_queue(self, current: RoundT, offset: int) -> ProcessQueue:
        """The process queue of a queue that is added."""
        return ProcessQueue(current.made, offset, current.now)

    def truncate(self, current: RoundT, topics: frozenset[str]) -> None:
        """REB-TRUNC-1: only these topics are subscribed to."""
        lost = [queue for queue in current.table if self.topic_of[queue] not in topics]
        if lost:
            current.events |= _TRUNCATED
            current.table = {queue: kept for queue, kept in current.table.items() if queue not in lost}
