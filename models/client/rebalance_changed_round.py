"""A round of rebalance of a push consumer that announces changed queues (REB-MQC-*).

The round itself is that of every member. For each topic whose queues came or went, in the middle of the round,

1. the topic's subscription gets a new version, and a heartbeat takes all subscriptions to every broker that the client
   knows, so that no broker filters by an older one;
2. the thresholds of a queue are computed again from those of a topic, if there are any: by the number of process queues
   of *all* topics at that moment, the retry topic's and those of topics that are about to be given up included;
3. the listener of the application is called with all queues of the topic and those that the member has.

When the listener throws, the topic counts as not balanced, although its table has changed already. So does a topic that
the application gave up while its queues were divided: the table changes without a call, and the end of the round drops
the queues again.

From 5.0.0-PREVIEW a subscribed topic whose queues are unknown counts as changed in every round.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from rocketmq_conformance.models.broker.state import BrokerState
from rocketmq_conformance.models.client.member import CLUSTERING, Member
from rocketmq_conformance.models.client.rebalance_round import RebalanceRound, RebalanceRoundModel, round_reason
from rocketmq_conformance.models.client.start import StartModel
from rocketmq_conformance.models.outcome import Value
from rocketmq_conformance.models.rule import Reason, Rule

RULES = (
    Rule(
        "REB-MQC-VERSION",
        "When a round changed the queues of a topic, the topic's subscription gets a new version, and then a heartbeat "
        "with all subscriptions goes to every broker that the client knows; whether it arrives changes nothing.",
        "RebalancePushImpl#messageQueueChanged @ 4.1.0, 4.9.8, 5.1.4, 5.3.3",
        releases="4.1.0+",
    ),
    Rule(
        "REB-MQC-SHARE",
        "The thresholds of a queue become those of a topic, if the consumer has any, divided by the process queues of "
        "all topics, rounded down, and at least 1; without process queues they stay as they are.",
        "RebalancePushImpl#messageQueueChanged @ 4.2.0, 4.9.8, 5.3.3",
        releases="4.2.0+",
    ),
    Rule(
        "REB-MQC-HEARD",
        "At last the listener of the application hears of the topic's queues and of the share. What it throws ends "
        "the topic's turn, which then is not balanced; one that it throws for the retry topic counts for nothing.",
        "RebalancePushImpl#messageQueueChanged, RebalanceImpl#doRebalance @ 5.2.0, 5.3.3",
        releases="5.2.0+",
    ),
    Rule(
        "REB-MQC-GONE",
        "A topic that was given up while its queues were divided is rebalanced to the end, but no one is "
        "notified of its change, and it is not balanced; the end of the round drops its queues.",
        "RebalancePushImpl#messageQueueChanged, RebalanceImpl#doRebalance @ 4.1.0, 4.9.8, 5.3.3",
        releases="4.1.0+",
    ),
    Rule(
        "REB-MQC-NONE",
        "A subscribed topic without known queues counts as changed in every round, with no queues: a new version, a "
        "heartbeat, thresholds, the listener. The retry topic of a cluster does not.",
        "RebalanceImpl#rebalanceByTopic @ 4.9.8, 5.0.0-PREVIEW, 5.3.3, 5.5.0",
        releases="5.0.0-PREVIEW+",
    ),
    Rule(
        "REB-MQC-BRIEF",
        "A client that may be brief leaves the subscriptions out of a heartbeat when the broker has heard the same "
        "ones, whatever their versions; not of one that tells of changed queues.",
        "MQClientInstance#sendHeartbeatToAllBrokerV2 @ 5.1.3, 5.3.3; #sendHeartbeatToBrokerV2 @ 5.3.3",
        releases="5.1.3+",
    ),
)

#: "No threshold": the default of a topic.
NO_LIMIT = -1
#: Events of these rounds beside those of every round, by bit.
_EXTRA_EVENTS = (
    ("the topic is gone", ("REB-MQC-GONE",)),
    ("the listener fails", ("REB-MQC-HEARD",)),
    ("the listener fails for the retry topic", ("REB-MQC-HEARD",)),
    ("no queues, as every round", ("REB-MQC-NONE",)),
    ("thresholds divided", ("REB-MQC-SHARE",)),
    ("no broker known", ("REB-MQC-VERSION",)),
    ("heartbeat lost", ("REB-MQC-VERSION",)),
    ("listener called", ("REB-MQC-HEARD",)),
    ("changed", ("REB-MQC-VERSION",)),
    ("brief until now", ("REB-MQC-BRIEF",)),
)
_GONE, _FAILED, _RETRY_FAILED, _NONE, _DIVIDED, _ALONE, _LOST, _LISTENED, _CHANGED, _BRIEF = (
    1 << at for at in range(len(_EXTRA_EVENTS))
)


class RebalanceChangedMember(NamedTuple):
    """A push consumer's additional state."""

    #: Thresholds of a topic: messages, and MiB.
    limits: tuple[int, int] = (NO_LIMIT, NO_LIMIT)
    #: Thresholds of each queue.
    thresholds: tuple[int, int] = (1000, 100)
    #: May its heartbeats be brief?
    brief: bool = False
    #: The topics of the last full heartbeat that a brief one may refer to; None before one.
    announced: frozenset[str] | None = None


@cache
def rebalance_changed_reason(met: int, events: int, mode: str, reports: bool) -> Reason:
    """The one reason of rounds with these events, by bits of _MET and of the events of every round."""
    every = round_reason(events, mode, reports)
    if not met:
        return every
    found = [name for at, name in enumerate(_EXTRA_EVENTS) if met & 1 << at]
    rules = [rule for _, named in found for rule in named]
    return Reason(tuple(dict.fromkeys((*rules, *every.rules))), found[0][0])


class RebalanceChangedRound(RebalanceRound):
    """A round, and the changes it announces as it goes on."""

    __slots__ = (
        "announced",
        "beats",
        "brief",
        "changes",
        "extra_events",
        "fails",
        "given_up",
        "limits",
        "thresholds",
        "topics",
    )

    def __init__(
        self,
        member: Member,
        side: RebalanceChangedMember,
        broker: BrokerState,
        now: int,
        fault: str,
        beats: bool,
        fails: bool,
    ) -> None:
        RebalanceRound.__init__(self, member, broker, now, fault, "answer")
        #: Do brokers answer heartbeats?
        self.beats = beats
        #: Does the listener fail?
        self.fails = fails
        #: The topic that the application gives up while its queues are divided.
        self.given_up = ""
        self.topics = member.topics
        self.limits, self.thresholds, self.brief, self.announced = side
        #: (topic, was a heartbeat sent?, the listener's arguments) of every announced change.
        self.changes: list[tuple[str, bool, Value]] = []
        self.extra_events = 0

    def after(self) -> Member:
        """The member after the round."""
        member = RebalanceRound.after(self)
        return member if self.topics is member.topics else member._replace(topics=self.topics, table=self.table)


class RebalanceChangedRoundModel(RebalanceRoundModel[RebalanceChangedRound]):
    """The rounds of push consumers that announce changes, for one profile; pure but for the round under way."""

    __slots__ = ("announces", "brief", "divides", "notifies_listener", "notifies_of_unknown")

    def __init__(self, start: StartModel) -> None:
        super().__init__(start)
        self.announces = start.client.announces_changes
        self.divides = start.client.divides_thresholds
        self.notifies_listener = start.client.notifies_listener
        self.notifies_of_unknown = start.client.notifies_of_unknown
        self.brief = start.client.brief_heartbeats

    def turn(
        self, current: RebalanceChangedRound, routes: Mapping[str, int], members: tuple[str, ...] | None
    ) -> tuple[Value, bool | None]:
        """Run a round that has begun: (owned queues, is it balanced?, None when the client does not report it)."""
        balanced = self.balance_topics(current, routes, members)
        if current.topics is not current.member.topics:
            self.truncate(current, current.topics)
        return tuple(sorted(current.table)), balanced

    def why(self, current: RebalanceChangedRound) -> Reason:
        """The reason of a round."""
        return rebalance_changed_reason(current.extra_events, current.events, current.member.mode, self.reports)

    def refused(self, current: RebalanceChangedRound, topic: str) -> bool:
        """REB-CLU-3: a strategy has no members to divide queues among; the topic may be given up meanwhile."""
        if current.seen[topic]:
            self._divided(current, topic)
        return RebalanceRoundModel.refused(self, current, topic)

    def _divided(self, current: RebalanceChangedRound, topic: str) -> None:
        """The strategy was asked for a share, and meanwhile the application may have given the topic up."""
        if topic == current.given_up and current.member.mode == CLUSTERING:
            current.topics -= {topic}

    def unknown(self, current: RebalanceChangedRound, topic: str) -> bool:
        """REB-MQC-NONE."""
        even = super().unknown(current, topic)
        if not self.notifies_of_unknown or topic == self.topology.retry_topic:
            return even
        current.extra_events |= _NONE
        return self._call_listener(current, topic, (), ())

    def _align(self, current: RebalanceChangedRound, topic: str, target: tuple[int, ...]) -> bool:
        """Bring the table in line with the share: is the topic balanced?"""
        if topic == current.given_up:
            self._divided(current, topic)
        return RebalanceRoundModel._align(self, current, topic, target)

    def changed(self, current: RebalanceChangedRound, topic: str, target: tuple[int, ...], even: bool) -> bool:
        """REB-MQC-VERSION: is the topic balanced?"""
        if self._call_listener(current, topic, self.topic_queues[topic][: current.member.seen[topic]], target):
            return even
        return (
            topic == self.topology.retry_topic
        )  # the listener's exception is swallowed for it, but it counts as not balanced

    def _call_listener(
        self, current: RebalanceChangedRound, topic: str, every: tuple[int, ...], mine: tuple[int, ...]
    ) -> bool:
        """Announce changed queues of a topic, both in the topic's order: does the topic go on to its end?"""
        if not self.announces:
            return True
        if topic not in current.topics:
            current.extra_events |= _GONE
            return False
        current.extra_events |= _CHANGED
        count = len(current.table)
        if self.divides and count:
            current.thresholds = self._shares(current, count)
        beat = bool(current.seen)
        if beat:
            current.extra_events |= 0 if current.beats else _LOST
            if current.brief:
                current.extra_events |= _BRIEF if current.announced is not None else 0
                current.announced = current.topics if current.beats else None
        else:
            current.extra_events |= _ALONE
        if not self.notifies_listener:
            current.changes.append((topic, beat, None))
            return True
        current.changes.append((topic, beat, (every, mine)))
        current.extra_events |= _LISTENED
        if current.fails:
            current.extra_events |= _RETRY_FAILED if topic == self.topology.retry_topic else _FAILED
        return not current.fails

    def _shares(self, current: RebalanceChangedRound, count: int) -> tuple[int, int]:
        """REB-MQC-SHARE: the thresholds of each of so many queues."""
        (messages, size), (queue_messages, queue_size) = current.limits, current.thresholds
        if messages == NO_LIMIT and size == NO_LIMIT:
            return current.thresholds
        current.extra_events |= _DIVIDED
        return (
            queue_messages if messages == NO_LIMIT else max(1, messages // count),
            queue_size if size == NO_LIMIT else max(1, size // count),
        )
