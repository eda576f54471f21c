"""What other releases of brokers change for a group in its present state: where its consumers start, and resets.

A queue is taken along as it is: what its broker is known to have in memory stays so, its messages stay what they are,
and the broker is started once, with its default configuration.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from rocketmq_conformance.conformance.predict.facts import GroupFacts, QueueFacts
from rocketmq_conformance.conformance.predict.other_brokers import JAVA, on_release
from rocketmq_conformance.conformance.predict.releases import grouped
from rocketmq_conformance.conformance.predict.reset import END, predict_reset, summary_of_reset
from rocketmq_conformance.conformance.predict.start import NONE, UNKNOWN, Consumer, QueueStart, consumed, queue_starts
from rocketmq_conformance.models.broker import switches
from rocketmq_conformance.models.release import Release, Switch, changes, switches_of

#: What consumers do that are not known to start.
_SILENT = {NONE: "does not start", UNKNOWN: "is not known"}
_SWITCHES = switches_of(switches)


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueMove:
    """A queue in which consumers get another first message than they get now."""

    facts: QueueFacts
    #: Its offset, or why they get none; now and then.
    now: int | str
    then: int | str

    @property
    def repeats(self) -> int:
        """Messages that they get then, and would not get now."""
        now, then = self.now, self.then
        return self.facts.kept(then, now) if isinstance(now, int) and isinstance(then, int) else 0

    @property
    def skips(self) -> int:
        """Messages that they get now, and would not get then."""
        now, then = self.now, self.then
        return self.facts.kept(now, then) if isinstance(now, int) and isinstance(then, int) else 0


#: The queues whose consumers get another first message; none where all start as now.
Moves = tuple[QueueMove, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicUpgrade:
    """What broker releases do with one topic of a group."""

    topic: str
    #: Where consumers start now.
    now: tuple[QueueStart, ...]
    #: (range of client releases, (range of broker releases, the queues that change)).
    starts: tuple[tuple[str, tuple[tuple[str, Moves], ...]], ...]
    #: (range of broker releases, what a reset to the end does).
    resets: tuple[tuple[str, str], ...]
    #: (first release, the switches that take part in what changes there), by the group's own client.
    changes: tuple[tuple[str, tuple[Switch, ...]], ...]

    @property
    def moves(self) -> tuple[Moves, ...]:
        """What changes, of every pair of releases."""
        return tuple(moves for _, ranges in self.starts for _, moves in ranges if moves)

    @property
    def changed(self) -> bool:
        """Do consumers on any of the releases get another first message in any queue?"""
        return bool(self.moves)

    @property
    def repeats(self) -> int:
        """Messages that are consumed again, at most, on any of the releases."""
        return max((sum(move.repeats for move in moves) for moves in self.moves), default=0)

    @property
    def skips(self) -> int:
        """Messages that are skipped, at most, on any of the releases."""
        return max((sum(move.skips for move in moves) for moves in self.moves), default=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class UpgradePrediction:
    """What changes for a group, topic by topic."""

    facts: GroupFacts
    consumer: Consumer
    topics: tuple[TopicUpgrade, ...]

    @property
    def changed(self) -> bool:
        """Does any start change?"""
        return any(topic.changed for topic in self.topics)

    @property
    def repeats(self) -> int:
        """Messages that are consumed again, at most, in all topics."""
        return sum(topic.repeats for topic in self.topics)

    @property
    def skips(self) -> int:
        """Messages that are skipped, at most, in all topics."""
        return sum(topic.skips for topic in self.topics)


def predict_upgrade(
    facts: GroupFacts, consumer: Consumer, brokers: Sequence[Release], clients: Sequence[Release], java: int = JAVA
) -> UpgradePrediction:
    """The prediction for brokers of these releases on a Java, and for clients of those."""
    facts = replace(consumed(facts, consumer), kind=facts.kind or consumer.kind)
    return UpgradePrediction(
        facts=facts,
        consumer=consumer,
        topics=tuple(_topic(facts.only(topic), topic, consumer, brokers, clients, java) for topic in facts.topics),
    )


def _topic(
    facts: GroupFacts, topic: str, consumer: Consumer, brokers: Sequence[Release], clients: Sequence[Release], java: int
) -> TopicUpgrade:
    present = {Release.parse(broker.release) for broker in facts.brokers}
    # brokers of one release are the first step of the way, whether they are asked for or not
    steps = sorted({*brokers, *(present if len(present) == 1 else ())})
    after = {release: on_release(facts, release, java) for release in steps}

    now = queue_starts(facts, consumer)

    def where(client: Release) -> tuple[tuple[str, Moves], ...]:
        made = replace(consumer, client=client)
        return grouped(brokers, lambda release: _moves(now, queue_starts(after[release], made)))

    return TopicUpgrade(
        topic=topic,
        now=now,
        starts=grouped(clients, where),
        resets=grouped(
            brokers,
            lambda release: summary_of_reset(predict_reset(after[release], topic, END, others=False).queues, END),
        ),
        changes=_changes(after, consumer),
    )


def _moves(now: Sequence[QueueStart], then: Sequence[QueueStart]) -> Moves:
    moves = (
        QueueMove(facts=one.facts, now=_place(one), then=_place(other)) for one, other in zip(now, then, strict=True)
    )
    return tuple(move for move in moves if move.now != move.then)


def _place(start: QueueStart) -> int | str:
    """The offset of the first message that a consumer gets or awaits; why it gets none, where it does not."""
    if start.first is None:
        return _SILENT[start.source] if start.served else "gets nothing"
    return max(start.first, start.facts.oldest)


def _changes(after: dict[Release, GroupFacts], consumer: Consumer) -> tuple[tuple[str, tuple[Switch, ...]], ...]:
    """The switches at every release at which the starts change: those of rules that take part before or after it."""
    found = []
    starts = {release: queue_starts(facts, consumer) for release, facts in after.items()}
    for one, next_ in pairwise(after):
        if list(map(_place, starts[one])) == list(map(_place, starts[next_])):
            continue
        rules = {rule for release in (one, next_) for start in starts[release] for rule in start.rules}
        found.append((str(next_), changes(_SWITCHES, one, next_, rules)))
    return tuple(found)
