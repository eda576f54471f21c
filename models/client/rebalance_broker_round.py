"""A round of rebalance of a member whose queues the broker assigns (REB-BRK-*).

Such a member asks a broker of each topic for its assignment: queues to pull from as usual, and queues to pop from, for
which the client keeps no offset. For pulled queues the round is that of every member, with the broker's queues in place
of the share. Of popped queues the member only knows when it last popped.

The broker's answer decides even when it assigns nothing; only the lack of an answer keeps what the member has. The
answer does not name the topics of popped messages that are to be retried: the member subscribes to that topic itself as
long as all its assigned queues are pulled, and unsubscribes when all are popped. The client iterates over its topics in
the order of its hash table while it changes them: a retry topic that comes later is dealt with in the same round, one
that comes earlier in the next.

Up to 5.3.1 a client does not rely on an assignment before it knows whether the broker assigns at all. It asks up to
three times only to see whether there is an answer, and notes the outcome for as long as it subscribes to the topic.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache, lru_cache
from types import MappingProxyType
from typing import NamedTuple

from rocketmq_conformance.models.broker.state import RETRY, BrokerState
from rocketmq_conformance.models.client.member import CLUSTERING, Member, after_round, with_topics
from rocketmq_conformance.models.client.plan_words import nth_assignment_fault
from rocketmq_conformance.models.client.process_queue import PULL_EXPIRY, is_expired
from rocketmq_conformance.models.client.rebalance_round import (
    ALIGNED,
    NO_ROUTE,
    RebalanceRound,
    RebalanceRoundModel,
    in_hash_order,
    round_reason,
)
from rocketmq_conformance.models.client.start import FIRST, StartModel
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.outcome import Value
from rocketmq_conformance.models.rule import Reason, Rule

RULES = (
    Rule(
        "REB-BRK-1",
        "A member of a cluster whose client does not rebalance itself asks a broker of the topic for its assignment, "
        "and takes it, an empty one too; without an answer, or with one that has no assignments, it keeps what it has "
        "and is not balanced.",
        "RebalanceImpl#getRebalanceResultFromBroker @ 5.0.0-PREVIEW, 5.5.0",
        releases="5.0.0-PREVIEW+",
    ),
    Rule(
        "REB-BRK-ROUTE",
        "Looking for a broker to ask makes the member learn a route that it does not know; while there is none, nobody "
        "is asked, which counts as an answer without assignments.",
        "MQClientInstance#queryAssignment @ 5.0.0-PREVIEW, 5.5.0",
        releases="5.0.0-PREVIEW+",
    ),
    Rule(
        "REB-BRK-MODE",
        "A queue that is assigned to be popped goes into a table of its own; one that is assigned otherwise, or in no "
        "mode, is pulled; an assignment without queue is ignored. A queue can be in both tables.",
        "RebalanceImpl#updateMessageQueueAssignment @ 5.0.0-PREVIEW, 5.5.0",
        releases="5.0.0-PREVIEW+",
    ),
    Rule(
        "REB-BRK-POP",
        "A queue to pop from is added without asking for a start: the request says where a new group begins, at the "
        "first message for CONSUME_FROM_FIRST_OFFSET, else at the last. It is dropped without a word to the broker "
        "when it is not assigned any more, and anew begun when it was not popped for more than 120 s. Before 5.2.0 "
        "one that was never popped counts as such, however young it is.",
        "RebalanceImpl#updateMessageQueueAssignment, RebalancePushImpl#getConsumeInitMode, "
        "PopProcessQueue#isPullExpired @ 5.0.0-PREVIEW, 5.1.4, 5.2.0, 5.5.0",
        releases="5.0.0-PREVIEW+",
    ),
    Rule(
        "REB-BRK-RETRY",
        "When all that is assigned of a topic is pulled, the member subscribes to the topic's retry topic of popped "
        "messages; when all is popped, it unsubscribes; else nothing changes. A round goes through the topics in the "
        "order of the client's hash table, while they change.",
        "RebalanceImpl#updateMessageQueueAssignment, #doRebalance @ 5.0.0-PREVIEW, 5.5.0",
        releases="5.0.0-PREVIEW+",
    ),
    Rule(
        "REB-BRK-PROBE",
        "A topic of which nothing is noted is asked for up to three times, as long as requests time out. An answer, "
        "whatever it says, notes that the broker assigns it, three timeouts that the client does, and the topic is "
        "rebalanced so until it is unsubscribed. Another error notes that the client does; in 5.0.0-PREVIEW and "
        "5.0.0-ALPHA it notes nothing, and the broker is asked in earnest. From 5.3.2 nothing is noted.",
        "RebalanceImpl#tryQueryAssignment @ 5.0.0-PREVIEW, 5.0.0, 5.3.1; #truncateMessageQueueNotMyTopic @ "
        "5.0.0-PREVIEW, 5.0.0, 5.3.1, 5.3.2",
        releases="5.0.0-PREVIEW – 5.3.1",
    ),
    Rule(
        "REB-BRK-LEFT",
        "A topic that the client rebalances keeps the queues that it pops from, and they count as queues that it has.",
        "RebalanceImpl#updateProcessQueueTableInRebalance, #getWorkingMessageQueue @ 5.0.0-PREVIEW, 5.0.0-ALPHA",
        releases="5.0.0-PREVIEW, 5.0.0-ALPHA",
    ),
)

#: A queue to pop from: its topic and its id. Id -1 stands for all queues of the broker.
PoppedQueue = tuple[str, int]
#: Where a new group begins to pop, as a value of the request.
FROM_MIN, FROM_MAX = 0, 1
#: How often a client asks whether the broker assigns a topic.
MAX_PROBES = 3
#: Time of the last pop of a queue that was never popped, in ms of the case's clock: expired at any time.
NEVER_POPPED = -PULL_EXPIRY - 1


class TopicAssignment(NamedTuple):
    """The broker's assignment of a topic, by queue ids."""

    pull: tuple[int, ...] = ()
    pop: tuple[int, ...] = ()
    #: Does the assignment have an entry without queue as well, or pulled queues without mode?
    oddity: str = ""
    #: The pulled ones by their keys.
    pulled: tuple[int, ...] = ()


ODDITIES = ("", "no-queue", "no-mode")
NO_ASSIGNMENT = TopicAssignment()


class RebalanceBrokerMember(NamedTuple):
    """A member's additional state for assigned queues."""

    #: Queues that it pops from, and when it last did, or began: ms of the case's clock.
    pops: Mapping[PoppedQueue, int] = MappingProxyType({})
    #: Topics of which it is noted that the broker (True) or the client (False) rebalances them.
    marks: Mapping[str, bool] = MappingProxyType({})


#: Events of these rounds beside those of every round, by bit; the first one that occurred names the round.
_EXTRA_EVENTS = (
    ("marked for the client", ("REB-BRK-PROBE",)),
    ("marked for the broker", ("REB-BRK-PROBE",)),
    ("not marked", ("REB-BRK-PROBE",)),
    ("pops are left", ("REB-BRK-LEFT",)),
    ("pop expired", ("REB-BRK-POP",)),
    ("pop given up", ("REB-TRUNC-1",)),
    ("pop dropped", ("REB-BRK-POP",)),
    ("pop added", ("REB-BRK-POP", "REB-BRK-MODE")),
    ("retry subscribed", ("REB-BRK-RETRY",)),
    ("retry unsubscribed", ("REB-BRK-RETRY",)),
    ("route learned to ask", ("REB-BRK-ROUTE",)),
    ("nobody to ask", ("REB-BRK-ROUTE", "REB-BRK-1")),
    ("assignment unknown", ("REB-BRK-1",)),
    ("assigned", ("REB-BRK-1", "REB-BRK-MODE")),
)
(
    _TO_CLIENT,
    _TO_BROKER,
    _UNMARKED,
    _LEFT,
    _POP_EXPIRED,
    _POP_TRUNCATED,
    _POP_DROPPED,
    _POP_ADDED,
    _SUBSCRIBED,
    _UNSUBSCRIBED,
    _LEARNED,
    _NOBODY,
    _UNANSWERED,
    _ASSIGNED,
) = (1 << at for at in range(len(_EXTRA_EVENTS)))


@cache
def rebalance_broker_reason(met: int, events: int, mode: str, reports: bool) -> Reason:
    """The one reason of rounds with these events, by bits of _MET and of the events of every round."""
    every = round_reason(events, mode, reports)
    if not met:
        return every
    found = [name for at, name in enumerate(_EXTRA_EVENTS) if met & 1 << at]
    rules = [rule for _, named in found for rule in named]
    kind = every.kind if met & ~(_ASSIGNED | _UNANSWERED) == 0 and events & (ALIGNED - 1) else found[0][0]
    return Reason(tuple(dict.fromkeys((*rules, *every.rules))), kind)


#: An assignment of those queues that a topic has, of these to pull and to pop, and what is odd in it.
Assign = Callable[[str, tuple[int, ...], tuple[int, ...], str], TopicAssignment]


@lru_cache(maxsize=8)
def assignments_of(topology: Topology) -> Assign:
    """How the queues of a topology are assigned, which plans do over and over."""

    @lru_cache(maxsize=1 << 12)
    def assign(topic: str, pull: tuple[int, ...], pop: tuple[int, ...], oddity: str) -> TopicAssignment:
        queues = topology.topic_queues[topic]
        kept = tuple([queue for queue in pull if queue < len(queues)])
        popped = tuple([queue for queue in pop if queue < len(queues)])
        return TopicAssignment(kept, popped, oddity, tuple([queues[queue] for queue in kept]))

    return assign


class RebalanceBrokerRound(RebalanceRound):
    """A round, and the state of popped queues as it goes on."""

    __slots__ = ("asked", "assign_fault", "assignments", "extra_events", "marks", "pop_requests", "pops", "topics")

    def __init__(
        self,
        member: Member,
        side: RebalanceBrokerMember,
        broker: BrokerState,
        now: int,
        fault: str,
        bound_fault: str,
        assign_fault: str,
        assignments: Mapping[str, TopicAssignment],
    ) -> None:
        super().__init__(member, broker, now, fault, bound_fault)
        self.assign_fault = assign_fault
        self.assignments = assignments
        self.pops, self.marks = side
        self.topics = member.topics
        #: Number of requests for assignments, by topic.
        self.asked: dict[str, int] = {}
        #: (topic, queue id, where it begins) of requests to pop.
        self.pop_requests: list[tuple[str, int, int]] = []
        self.extra_events = 0

    def after(self) -> Member:
        """The member after the round."""
        before, memory = self.member, self.store.memory
        # the round works on copies of the things that it changes
        if self.table is not before.table or memory is not before.memory or self.seen is not before.seen:
            before = after_round(before, self.seen, memory, self.table, self.made)
        return before if self.topics is before.topics else with_topics(before, self.topics, self.seen)


class RebalanceBrokerRoundModel(RebalanceRoundModel[RebalanceBrokerRound]):
    """The rounds of members whose queues the broker assigns, for one profile; pure but for the round under way."""

    __slots__ = ("_order", "_retries", "assigned", "pops_born", "probes", "probes_once")

    def __init__(self, start: StartModel) -> None:
        super().__init__(start)
        #: All topics in the order of a round. No topic that a round adds or takes away is next to the one that causes
        #: it: a hash table would have gone on to the neighbour already.
        self._order = in_hash_order(frozenset(self.topic_queues))
        #: The retry topics of popped messages, by topic; these have none themselves.
        self._retries = {
            topic: self.topology.pop_retry_topic(topic) for topic in self.topic_queues if not topic.startswith(RETRY)
        }
        self.assigned = start.client.assigned
        self.probes = start.client.probes
        self.probes_once = start.client.probes_once
        self.pops_born = start.client.pops_born

    def why(self, current: RebalanceBrokerRound) -> Reason:
        """The reason of a round."""
        return rebalance_broker_reason(current.extra_events, current.events, current.member.mode, self.reports)

    def turn(
        self, current: RebalanceBrokerRound, routes: Mapping[str, int], members: tuple[str, ...] | None
    ) -> bool | None:
        """Run a round that has begun: is it balanced? None when the client does not report it."""
        by_broker = self.assigned and current.member.mode == CLUSTERING
        balanced = True
        for topic in self._order:
            if topic not in current.topics:
                continue
            if by_broker and (not self.probes or self._broker_assigns(current, topic, routes)):
                even = self._take_assignment(current, topic, routes)
            else:
                even = self._topic(current, topic, routes, members)
            balanced = even and (balanced or not self.balances_all)
        self._give_up(current)
        return balanced if self.reports else None

    # --- asking -------------------------------------------------------------------------------------------

    def _ask(self, current: RebalanceBrokerRound, topic: str, routes: Mapping[str, int]) -> str:
        """REB-BRK-ROUTE: the outcome of a request for the assignment, "null" also when no request is sent."""
        if topic not in current.seen:
            if routes[topic] == NO_ROUTE:
                current.extra_events |= _NOBODY
                return "null"
            current.seen = {**current.seen, topic: routes[topic]}
            current.extra_events |= _LEARNED
        nth = current.asked[topic] = current.asked.get(topic, 0) + 1
        return "answer" if current.assign_fault == "answer" else nth_assignment_fault(current.assign_fault, nth)

    def _broker_assigns(self, current: RebalanceBrokerRound, topic: str, routes: Mapping[str, int]) -> bool:
        """REB-BRK-PROBE: does the broker assign the topic, as far as the client knows?"""
        mark = current.marks.get(topic)
        if mark is not None:
            return mark
        mark = False
        for _ in range(MAX_PROBES):
            ended = self._ask(current, topic, routes)
            if ended != "silent":
                if ended not in ("answer", "null") and not self.probes_once:
                    current.extra_events |= _UNMARKED
                    return True
                mark = ended in ("answer", "null")
                break
        current.extra_events |= _TO_BROKER if mark else _TO_CLIENT
        current.marks = {**current.marks, topic: mark}
        return mark

    # --- the broker's assignment --------------------------------------------------------------------------

    def _take_assignment(self, current: RebalanceBrokerRound, topic: str, routes: Mapping[str, int]) -> bool:
        """REB-BRK-1: one topic; is it balanced?"""
        if self._ask(current, topic, routes) != "answer":
            current.extra_events |= _UNANSWERED
            return False
        current.extra_events |= _ASSIGNED
        pull, pop, _, wanted = current.assignments.get(topic, NO_ASSIGNMENT)
        retry = self._retries.get(topic)
        if retry is not None and bool(pull) != bool(pop):
            self._subscribe(current, retry, all_pulled=not pop)
        table, now = current.table, current.now
        for queue in self.topic_queues[topic] if table else ():
            if queue in table and (queue not in wanted or is_expired(table[queue], now)):
                self.drop(current, queue)
        if current.pops:
            self._drop_pops(current, topic, pop)
        even = True
        for queue in wanted:
            if queue not in current.table and not self.add(current, queue):
                even = even and self.topology.places[queue][1] in pop  # a popped queue is no missing queue
        if pop:
            self._add_pops(current, topic, pop)
        return even

    def _subscribe(self, current: RebalanceBrokerRound, retry: str, *, all_pulled: bool) -> None:
        """REB-BRK-RETRY."""
        if all_pulled and retry not in current.topics:
            current.topics |= {retry}
            current.extra_events |= _SUBSCRIBED
        elif not all_pulled and retry in current.topics:
            current.topics -= {retry}
            current.extra_events |= _UNSUBSCRIBED

    def _drop_pops(self, current: RebalanceBrokerRound, topic: str, wanted: tuple[int, ...]) -> None:
        """REB-BRK-POP."""
        for queue, popped in current.pops.items():
            if queue[0] != topic:
                continue
            if queue[1] not in wanted:
                current.extra_events |= _POP_DROPPED
            elif current.now - popped > PULL_EXPIRY:
                current.extra_events |= _POP_EXPIRED
            else:
                continue
            current.pops = {other: kept for other, kept in current.pops.items() if other != queue}

    def _add_pops(self, current: RebalanceBrokerRound, topic: str, wanted: tuple[int, ...]) -> None:
        """REB-BRK-POP."""
        for number in wanted:
            if (topic, number) not in current.pops:
                current.extra_events |= _POP_ADDED
                current.pops = {**current.pops, (topic, number): current.now if self.pops_born else NEVER_POPPED}
                current.pop_requests.append((topic, number, FROM_MIN if current.member.where == FIRST else FROM_MAX))

    # --- what the client does without the broker ----------------------------------------------------------

    def _align(self, current: RebalanceBrokerRound, topic: str, target: tuple[int, ...]) -> bool:
        """REB-BRK-LEFT: as in every round, but popped queues count."""
        even = super()._align(current, topic, target)
        popped = {number for name, number in current.pops if name == topic}
        if not popped:
            return even
        current.extra_events |= _LEFT
        places = self.topology.places
        pulled = {places[queue][1] for queue in self.topic_queues[topic] if queue in current.table}
        return pulled | popped == {places[queue][1] for queue in target}

    def _give_up(self, current: RebalanceBrokerRound) -> None:
        """REB-TRUNC-1, REB-BRK-PROBE: give up the queues of topics that are not subscribed to any more."""
        self.truncate(current, current.topics)
        topics = current.topics
        if not topics.issuperset([topic for topic, _ in current.pops]):
            current.extra_events |= _POP_TRUNCATED
            current.pops = {queue: popped for queue, popped in current.pops.items() if queue[0] in topics}
        if not topics.issuperset(current.marks):
            current.marks = {topic: mark for topic, mark in current.marks.items() if topic in topics}


def assignment_body(
    given: TopicAssignment, topic: str, broker: str
) -> dict[str, list[dict[str, Value | dict[str, Value]]]]:
    """The body of an assignment, as a JSON object."""

    def queue(number: int) -> dict[str, Value]:
        return {"brokerName": broker, "queueId": number, "topic": topic}

    def listed(numbers: Iterable[int], mode: str) -> list[dict[str, Value | dict[str, Value]]]:
        return [{"messageQueue": queue(number), "mode": mode} for number in numbers]

    entries = listed(given.pull, "PULL") + listed(given.pop, "POP")
    if given.oddity == "no-mode":
        entries = [{"messageQueue": entry["messageQueue"]} if entry["mode"] == "PULL" else entry for entry in entries]
    if given.oddity == "no-queue":
        entries += [{"mode": "POP"}]
    return {"messageQueueAssignments": entries}


def initial_assignments(topology: Topology) -> dict[str, TopicAssignment]:
    """The broker's assignments in the initial state."""
    return {
        topic: NO_ASSIGNMENT
        if topic == topology.pop_retry_topic(topology.topic)
        else assignments_of(topology)(topic, tuple(range(len(queues))), (), "")
        for topic, queues in topology.topic_queues.items()
    }
