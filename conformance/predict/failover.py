"""What a fail-over does to a group: its master is gone and a slave serves, then the master is back.

A slave has the offsets that its master had when it asked last, and those that clients committed to it. The master comes
back with what it had itself. So whatever consumers committed meanwhile is lost, and its messages come again, unless the
master takes the table of its slave first (``enableSlaveActingMaster`` with ``totalReplicas`` above 1, from 5.0.0).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from rocketmq_conformance.conformance.predict.facts import BROADCASTING, BrokerFacts, GroupFacts, QueueFacts
from rocketmq_conformance.conformance.predict.facts_notes import facts_notes
from rocketmq_conformance.conformance.predict.model_state import broker_profile, is_hot, model_queue
from rocketmq_conformance.conformance.predict.other_brokers import JAVA, on_release
from rocketmq_conformance.conformance.predict.releases import RELEASES, grouped
from rocketmq_conformance.conformance.predict.start import (
    NONE,
    STORED,
    UNKNOWN,
    ZERO,
    Consumer,
    PredictError,
    QueueStart,
    queue_starts,
)
from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.broker.query import query_offset
from rocketmq_conformance.models.broker.slave import merged
from rocketmq_conformance.models.release import Release

#: The first release whose masters may take the table of their slave (BrokerPreOnlineService#syncMetadataReverse).
ACTING_SINCE = Release(5, 0, 0)
#: The first release whose table of offsets has those of pulls, too, which no broker can read from another one: their
#: queues are numbers without quotes (ConsumerOffsetManager#getPullOffsetTable, SlaveSynchronize#syncConsumerOffset).
UNREADABLE_SINCE = Release(5, 5, 0)
#: Why a master gives nothing once it is started again.
OFFLINE = "its master cannot read the table of a slave that has answered a pull, and stays offline"
#: The properties that are of a pair, and known of it.
_OF_PAIRS = (
    "brokerId=",
    "brokerRole=",
    "enableSlaveActingMaster=",
    "totalReplicas=",
    "inSyncReplicas=",
    "haListenPort=",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PairFacts:
    """A group as the masters of its brokers show it, and as their slaves do."""

    master: GroupFacts
    #: The brokers that have a slave, and their queues.
    slave: GroupFacts
    #: Brokers whose master counted more commits than its slave, since that one asked last.
    newer: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueFailover:
    """What a fail-over does to one queue. Offsets in messages."""

    #: As the master and the slave show it; None for a broker without a slave.
    facts: QueueFacts
    slave: QueueFacts | None
    #: Where a consumer starts at the slave; None without one.
    gone: QueueStart | None
    #: What the slave has stored when the master is back; None for nothing.
    reached: int | None
    #: What the master has stored once it is back.
    after: int | None
    #: Where a consumer starts then.
    back: QueueStart

    @property
    def served(self) -> bool:
        """Is a consumer given messages while the master is gone?"""
        return self.gone is not None and self.gone.first is not None

    @property
    def given(self) -> int:
        """Messages that a consumer is given while the master is gone."""
        return self.gone.lag or 0 if self.gone is not None and self.served else 0

    @property
    def offline(self) -> bool:
        """Does the master stay offline?"""
        return self.back.unserved == OFFLINE

    @property
    def again(self) -> int:
        """Messages that the slave gives a second time: the master stored a later offset."""
        return self._between(self.gone.first if self.gone is not None else None, self.facts.stored)

    @property
    def skips(self) -> int:
        """Messages that the slave leaves out: the master stored an earlier offset."""
        return self._between(self.facts.stored, self.gone.first if self.gone is not None else None)

    @property
    def again_then(self) -> int:
        """Messages that come again once the master is back."""
        return self._between(self.back.first, self._stood)

    @property
    def skips_then(self) -> int:
        """Messages that nothing was given of, and that are left out once the master is back."""
        return self._between(self._stood, self.back.first)

    @property
    def lost(self) -> bool:
        """Is an offset that the slave stored lost? An older copy of what the master has is no loss."""
        return self.reached is not None and (self.after is None or self.after < self.reached)

    @property
    def _stood(self) -> int | None:
        """How far the group had come, at either of the two."""
        known = [each for each in (self.facts.stored, self.reached) if each is not None]
        return max(known, default=None)

    def _between(self, begin: int | None, end: int | None) -> int:
        return 0 if begin is None or end is None else self.facts.kept(begin, end)


@dataclass(frozen=True, slots=True, kw_only=True)
class FailoverPrediction:
    """What a fail-over of the brokers of a group does."""

    facts: PairFacts
    consumer: Consumer
    #: The brokers whose master takes the table of its slave when it is back.
    acting: frozenset[str]
    queues: tuple[QueueFailover, ...]
    #: (range of broker releases, what happens), without and with enableSlaveActingMaster.
    others: tuple[tuple[str, str], ...]
    acting_others: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]

    @property
    def repeats(self) -> int:
        """Messages that come again, from the slave and once the master is back."""
        return sum(queue.again + queue.again_then for queue in self.queues)

    @property
    def skips(self) -> int:
        """Messages that are left out, by the slave and once the master is back."""
        return sum(queue.skips + queue.skips_then for queue in self.queues)


def pair_of(release: Release, queues: Sequence[tuple[int | None, int | None, int]]) -> PairFacts:
    """A pair of a release by hand: what the master and the slave have stored of each queue, and its max."""
    pair = []
    for at, slave in enumerate((False, True)):
        broker = BrokerFacts(name="broker", release=str(release), slave=slave)
        facts = GroupFacts(group="group", brokers=(broker,), queues=())
        bare = (
            QueueFacts(
                topic="topic",
                broker="broker",
                queue=number,
                min=0,
                max=most,
                earliest=0 if most else -1,
                answer=0,
                stored=0,
            )
            for number, (*_, most) in enumerate(queues)
        )
        stored = [queue[at] for queue in queues]
        made = (_then(facts, queue, offset) for queue, offset in zip(bare, stored, strict=True))
        pair.append(replace(facts, queues=tuple(made)))
    return PairFacts(master=pair[0], slave=pair[1])


def predict_failover(
    facts: PairFacts,
    consumer: Consumer,
    acting: bool | None = None,
    meanwhile: int | None = None,
    others: bool = True,
) -> FailoverPrediction:
    """The prediction for consumers that start while the master is gone and take ``meanwhile`` messages of each queue,
    all unless given; ``acting`` as the masters are configured unless given. ``others``: for brokers of other releases,
    too. PredictError when a fail-over is nothing to this group, or the release has no such property."""
    if not facts.master.queues:
        raise PredictError(f"The group {facts.master.group} has no topic: name one with --topic.")
    if consumer.model == BROADCASTING:
        raise PredictError("A broadcasting group keeps its offsets at its members: a fail-over changes none of them.")
    old = [broker for broker in facts.master.brokers if Release.parse(broker.release) < ACTING_SINCE]
    if acting and old:
        raise PredictError(f"Broker {old[0].name} is {old[0].release}: enableSlaveActingMaster is there from 5.0.0 on.")
    names = frozenset(broker.name for broker in facts.master.brokers)
    acts = frozenset(broker.name for broker in facts.master.brokers if (_acts(broker) if acting is None else acting))
    every = [release for release in RELEASES if not release.stage] if others else []
    since = [release for release in every if release >= ACTING_SINCE]

    def on(release: Release, acting: frozenset[str] = frozenset()) -> str:
        moved = replace(facts, master=_on(facts.master, release), slave=_on(facts.slave, release))
        return summary(tuple(_failovers(moved, consumer, acting, meanwhile)))

    queues = tuple(_failovers(facts, consumer, acts, meanwhile))
    return FailoverPrediction(
        facts=facts,
        consumer=consumer,
        acting=acts,
        queues=queues,
        others=grouped(every, on),
        acting_others=grouped(since, lambda release: on(release, names)),
        notes=tuple(_notes(facts, acts, queues)),
    )


def summary(queues: tuple[QueueFailover, ...]) -> str:
    """What happens, in a few words."""
    parts = []
    if not any(queue.served for queue in queues):
        parts.append("nothing is given")
    again, then = sum(queue.again for queue in queues), sum(queue.again_then for queue in queues)
    skips = sum(queue.skips + queue.skips_then for queue in queues)
    parts += [f"{again:,} again"] if again else []
    parts += [f"{then:,} again once the master is back"] if then else []
    parts += [f"{skips:,} left out"] if skips else []
    parts += ["the master stays offline"] if any(queue.offline for queue in queues) else []
    return ", ".join(parts) or "nothing comes again"


def _acts(broker: BrokerFacts) -> bool:
    """Does the master take the table of its slave when it is back?"""
    known = {**broker.configuration, **dict(doubt.split("=", 1) for doubt in broker.doubts if "=" in doubt)}
    several = known.get("totalReplicas", "1")
    return known.get("enableSlaveActingMaster") == "true" and several.isdecimal() and int(several) > 1


def _on(facts: GroupFacts, release: Release) -> GroupFacts:
    """The same on brokers of another release with its default configuration."""
    moved = on_release(facts, release, JAVA)
    return replace(moved, brokers=tuple(replace(broker, configuration={}) for broker in moved.brokers))


def _failovers(
    facts: PairFacts, consumer: Consumer, acts: frozenset[str], meanwhile: int | None
) -> Iterator[QueueFailover]:
    """What happens to each queue, where the masters of these brokers take the table of their slave."""
    starts = {_key(start.facts): start for start in queue_starts(facts.slave, consumer)} if facts.slave.queues else {}
    reached = {key: _reached(start, meanwhile) for key, start in starts.items()}
    theirs = {key: offset for key, offset in reached.items() if offset is not None}
    own = {_key(queue): queue.stored for queue in facts.master.queues if queue.stored is not None}
    offline = {
        broker.name
        for broker in facts.slave.brokers
        if broker.name in acts and Release.parse(broker.release) >= UNREADABLE_SINCE and meanwhile != 0
        if any(start.first is not None for (name, *_), start in starts.items() if name == broker.name)
    }
    own = merged(own, {key: offset for key, offset in theirs.items() if key[0] in acts - facts.newer - offline})
    queues = (_then(facts.master, queue, own.get(_key(queue))) for queue in facts.master.queues)
    then = replace(facts.master, queues=tuple(queues))
    for queue, back in zip(facts.master.queues, queue_starts(then, consumer), strict=True):
        start = starts.get(_key(queue))
        if queue.broker in offline:
            back = replace(back, start=None, first=None, lag=None, unserved=OFFLINE)
        yield QueueFailover(
            facts=queue,
            slave=None if start is None else start.facts,
            gone=start,
            reached=reached.get(_key(queue)),
            after=own.get(_key(queue)),
            back=back,
        )


def _key(queue: QueueFacts) -> tuple[str, str, int]:
    return queue.broker, queue.topic, queue.queue


def _reached(start: QueueStart, meanwhile: int | None) -> int | None:
    """What the slave has stored once consumers took ``meanwhile`` messages of a queue, or all."""
    stored = start.facts.stored
    if meanwhile == 0 or start.source in {NONE, UNKNOWN}:
        return stored
    if start.first is None or (start.source not in {STORED, ZERO} and not start.lag):
        # a client commits what it was answered, and nothing where it found its start by itself
        return start.start if start.source in {STORED, ZERO} else stored
    lag = start.lag or 0
    return (
        start.facts.max if lag and (meanwhile is None or meanwhile >= lag) else start.first + min(lag, meanwhile or 0)
    )


def _then(facts: GroupFacts, queue: QueueFacts, stored: int | None) -> QueueFacts:
    """A queue of the master once it has another stored offset."""
    if stored == queue.stored:
        return queue
    if stored is not None:
        return replace(queue, stored=stored, answer=stored)
    before, key = model_queue(queue), (facts.group, queue.topic, queue.queue)
    rules = BrokerRules.of(broker_profile(facts.broker(queue.broker)))
    hot = is_hot(rules, before, key, facts.time) is not False
    bare = model_queue(replace(queue, stored=None))
    answer = query_offset(rules, bare.broker(key, facts.time, hot), *key)[1]
    return replace(queue, stored=None, answer=bare.offset(answer) if isinstance(answer, int) else None)


def _notes(facts: PairFacts, acts: frozenset[str], queues: tuple[QueueFailover, ...]) -> Iterator[str]:
    """What limits the prediction, in sentences."""
    known = replace(facts.master, brokers=tuple(_of_pair(broker) for broker in facts.master.brokers))
    yield from facts_notes(known)
    for broker in facts.slave.brokers:
        others = [doubt for doubt in broker.doubts if not doubt.startswith(_OF_PAIRS)]
        if others:
            yield (
                f"The slave of {broker.name} has {', '.join(others)}, off the default: the model does not know what "
                "that changes."
            )
    alone = dict.fromkeys(queue.facts.broker for queue in queues if queue.slave is None)
    if alone:
        yield f"No slave: {', '.join(alone)}. Its queues give nothing while it is gone, and stay as they are."
    missing = [queue for queue in queues if queue.slave is not None and queue.slave.max < queue.facts.max]
    if missing:
        count = sum(queue.facts.max - queue.slave.max for queue in missing if queue.slave is not None)
        yield f"{count:,} messages have not come to the slave yet: they are not given until the master is back."
    for name in sorted(facts.newer & acts):
        yield (
            f"The master of {name} counts more commits than its slave: it keeps its own offsets, unless the slave "
            "counts more meanwhile."
        )
    if offline := dict.fromkeys(queue.facts.broker for queue in queues if queue.offline):
        yield f"{', '.join(offline)}: {OFFLINE}."
    unread = [one.name for one in facts.slave.brokers if Release.parse(one.release) >= UNREADABLE_SINCE]
    if unread:
        yield (
            f"{', '.join(unread)}: from 5.5.0 on a slave cannot read the offsets of a master that has answered a pull, "
            "and keeps those that it has."
        )
    yield "These are the offsets of this moment: a slave asks its master every 10 s, or every minute."
    yield "A master that is killed may have lost its last commits, which it writes every 5 s by default."
    yield "Members that run through a fail-over go on where they are, and commit that to whichever broker they reach."


def _of_pair(broker: BrokerFacts) -> BrokerFacts:
    return replace(broker, doubts=tuple(doubt for doubt in broker.doubts if not doubt.startswith(_OF_PAIRS)))
