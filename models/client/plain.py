"""A group of plain pull consumers: what they own, who hears of it, and what is committed (REB-VAR-PLAIN-*).

A plain pull consumer rebalances as a push consumer does, but nobody pulls for it: its application looks at the queues
that it owns, pulls wherever it likes, and keeps the offsets. So a round asks nobody for a start, begins no pulls, and
takes no queue away because it was not pulled. The listener of the application hears of changed queues; what it throws
is logged.

What the application has set in memory for a queue is forgotten when a round adds the queue.
"""

from __future__ import annotations

from functools import cache

from rocketmq_conformance.models.broker.state import BrokerState
from rocketmq_conformance.models.client import group
from rocketmq_conformance.models.client.group import GroupModel, GroupState, changed
from rocketmq_conformance.models.client.layout import OTHER_TOPIC, RETRY_TOPIC, ROUND_QUEUES, TOPIC
from rocketmq_conformance.models.client.member import Member
from rocketmq_conformance.models.client.process_queue import ProcessQueue
from rocketmq_conformance.models.client.rebalance import NO_MEMBER, RebalanceModel, Round, answered, reason
from rocketmq_conformance.models.client.start import LAST, StartModel
from rocketmq_conformance.models.outcome import Value
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Answer, Rule, Why
from rocketmq_conformance.models.tuples import replaced

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
        "A topic without known queues is heard of in every round, with no queues.",
        "RebalanceImpl#rebalanceByTopic @ 4.9.8, 5.0.0-PREVIEW, 5.3.3, 5.5.0",
        releases="5.x",
    ),
)

#: What a plain pull consumer subscribes to when it begins; it has no retry topic.
TOPICS = frozenset({TOPIC, OTHER_TOPIC})
#: When a process queue was pulled last: nobody asks.
_NEVER_EXPIRES = 1 << 62
_MET = (
    ("the listener fails", ("REB-VAR-PLAIN-MQC",)),
    ("no queues, as every round", ("REB-VAR-PLAIN-NONE",)),
    ("the listener hears", ("REB-VAR-PLAIN-MQC",)),
)
_FAILED, _NONE, _HEARD = (1 << at for at in range(len(_MET)))
#: The rules of a push consumer, and what a plain pull consumer has instead.
_INSTEAD = {"REB-REM-1": "REB-VAR-PLAIN-REM", "REB-ADD-1": "REB-VAR-PLAIN", "START-PUSH-1": "REB-VAR-PLAIN"}


@cache
def plain_reason(met: int, events: int, mode: str, reports: bool) -> Why:
    """The one reason of rounds that met these, by bits of _MET and of the events that every round can meet."""
    every = reason(events, mode, reports)
    found = [name for at, name in enumerate(_MET) if met & 1 << at]
    rules = [rule for _, named in found for rule in named] + [_INSTEAD.get(rule, rule) for rule in every.rules]
    return Why(tuple(dict.fromkeys(rules)), found[0][0] if met & (_FAILED | _NONE) else every.kind)


class PlainRound(Round):
    """A round, and what the listener hears as it goes on."""

    __slots__ = ("fails", "heard", "met")

    def __init__(self, member: Member, broker: BrokerState, now: int, fault: str, fails: bool) -> None:
        super().__init__(member, broker, now, fault, "answer")
        self.fails = fails
        #: (topic, all queues, those of the consumer).
        self.heard: list[tuple[str, tuple[int, ...], tuple[int, ...]]] = []
        self.met = 0


class PlainRebalanceModel(RebalanceModel):
    """The rounds of plain pull consumers, for one profile; pure but for the round that is under way."""

    __slots__ = ("hears_unknown",)

    def __init__(self, start: StartModel) -> None:
        super().__init__(start)
        self.hears_unknown = start.client.hears_unknown

    def unknown(self, done: Round, topic: str) -> bool:
        """REB-VAR-PLAIN-NONE."""
        assert isinstance(done, PlainRound)
        if self.hears_unknown:
            done.met |= _NONE
            self._tell(done, topic, (), ())
        return super().unknown(done, topic)

    def _bring(self, done: Round, topic: str, target: tuple[int, ...]) -> bool:
        """REB-VAR-PLAIN-MQC."""
        assert isinstance(done, PlainRound)
        even, changed = self.brought(done, topic, target)
        if changed:
            self._tell(done, topic, ROUND_QUEUES[topic][: done.member.seen[topic]], target)
        return even

    def _tell(self, done: PlainRound, topic: str, every: tuple[int, ...], mine: tuple[int, ...]) -> None:
        done.met |= _FAILED if done.fails else _HEARD
        done.heard.append((topic, every, mine))  # both are in the topic's order

    def beginning(self, done: Round, queue: int) -> tuple[int, int | None]:
        """REB-VAR-PLAIN: nobody is asked."""
        return 0, None

    def process_queue(self, done: Round, offset: int) -> ProcessQueue:
        """REB-VAR-PLAIN: it does not grow old."""
        return ProcessQueue(done.made, offset, _NEVER_EXPIRES)


class PlainModel(GroupModel):
    """The operations of a group of plain pull consumers, for one profile; every method is pure."""

    __slots__ = ("plain",)

    def __init__(self, profile: Profile) -> None:
        super().__init__(profile)
        self.plain = PlainRebalanceModel(self.rebalancing.start)

    def plain_round(
        self, state: GroupState, member: int, list_fault: str, fault: str, fails: bool
    ) -> Answer[GroupState]:
        """REB-DO-1: (owned queues, balanced or None, what the listener heard: (topic, all queues, its queues), commits
        (queue, offset)), all sorted, or None for no member."""
        broker, routes, listed, now, members = state
        who = members[member]
        if who is None:
            return state, None, NO_MEMBER
        done = PlainRound(who, broker, now, fault, fails)
        owned, _, balanced, commits = self.plain.go(done, routes, answered(listed, list_fault))
        said: Value = owned, balanced, tuple(sorted(done.heard)), commits
        why = plain_reason(done.met, done.events, who.mode, self.plain.reports)
        after = done.after()
        if after is who:
            return state, said, why
        return GroupState(done.store.broker, routes, listed, now, replaced(members, member, after)), said, why

    def plain_join(self, state: GroupState, member: int, twin: bool, mode: str) -> Answer[GroupState]:
        """REB-BEGIN-1."""
        after, result, why = self.join(state, member, twin, mode, LAST, "AVG")
        who = after.members[member]
        assert who is not None  # it has just begun
        return changed(after, member, _plain(who)), result, why


def beginning() -> GroupState:
    """Three plain pull consumers that have just begun."""
    state = group.beginning()
    return state._replace(members=tuple(None if who is None else _plain(who) for who in state.members))


def _plain(who: Member) -> Member:
    """A member that has just begun, without the retry topic."""
    seen = {topic: count for topic, count in who.seen.items() if topic != RETRY_TOPIC}
    return who._replace(topics=TOPICS, seen=seen)
