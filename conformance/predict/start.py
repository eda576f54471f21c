"""Where a consumer of a group starts in each queue, what it consumes again or skips, and which rules decide that.

Every answer is the models': the broker's to the group's query, the client's decision, and the first pull.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rocketmq_conformance.conformance.predict.facts import (
    BROADCASTING,
    CLUSTERING,
    GRPC,
    LITE,
    ORDERLY,
    POP,
    POPPING,
    PULL,
    PUSH,
    BrokerFacts,
    GroupFacts,
    QueueFacts,
    retry_topic,
)
from rocketmq_conformance.conformance.predict.facts_notes import facts_notes
from rocketmq_conformance.conformance.predict.model_state import (
    broker_profile,
    is_hot,
    model_queue,
    topology_of,
)
from rocketmq_conformance.conformance.predict.other_brokers import JAVA, on_release
from rocketmq_conformance.conformance.predict.pop_start import pop_start, refused_pops, unknown_pops
from rocketmq_conformance.conformance.predict.releases import RELEASES, grouped
from rocketmq_conformance.conformance.predict.unserved import (
    UNCORRECTED,
    UNKNOWN_PULLS,
    uncorrected_by,
    unserved_pulls,
)
from rocketmq_conformance.models.broker.names import LONGEST_GROUP, LONGEST_NEW_GROUP, allowed
from rocketmq_conformance.models.broker.query import query_offset
from rocketmq_conformance.models.broker.switches import NEW_GROUP_NAMES, POPS
from rocketmq_conformance.models.client import whole
from rocketmq_conformance.models.client.local_store import LocalStore
from rocketmq_conformance.models.client.offset_table import MEMORY_THEN_STORE, STORE
from rocketmq_conformance.models.client.remote_store import RemoteStore
from rocketmq_conformance.models.client.start import FIRST, LAST, TIMESTAMP, StartModel
from rocketmq_conformance.models.client.switches import LITE_PULL
from rocketmq_conformance.models.client.timestamp import parse_timestamp
from rocketmq_conformance.models.outcome import Expected
from rocketmq_conformance.models.release import KNOWN, NEWEST, Release, newer_than_known
from rocketmq_conformance.models.rule import Reason

#: What decides a start: the stored offset, 0, max, or a search by time; or that there is none, or that it is not known.
STORED, ZERO, MAX, TIME, NONE, UNKNOWN = "stored", "0", "max", "by time", "none", "unknown"
_WHOLE = {PUSH: whole.PUSH, ORDERLY: whole.ORDERLY, LITE: whole.LITE, PULL: whole.LITE, POP: whole.PUSH}


class PredictError(ValueError):
    """What is asked for cannot be predicted; one sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Consumer:
    """The consumer whose start is predicted."""

    client: Release = NEWEST
    #: "push", "orderly", "lite", "pull", "pop" or "grpc".
    kind: str = PUSH
    #: "clustering" or "broadcasting".
    model: str = CLUSTERING
    #: A name of ConsumeFromWhere.
    where: str = LAST
    #: The consume timestamp as Java reads it, and its time zone; for CONSUME_FROM_TIMESTAMP.
    timestamp: str | None = None
    zone: str = "UTC"

    @property
    def pops(self) -> bool:
        """Does it pop? A push consumer before 5.0.0 pulls whatever mode is set."""
        return self.kind in POPPING and (self.kind != POP or POPS.on(self.client))


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueStart:
    """The prediction for one queue. Offsets in messages; None where there is none or it is not known."""

    facts: QueueFacts
    #: Where the consumer starts, and the first message that it is given.
    start: int | None
    first: int | None
    #: STORED, ZERO, MAX, TIME, NONE or UNKNOWN; of pops also those of pop_start.py.
    source: str
    #: Messages that it consumes again, and retained ones that it skips, compared with where it was to start.
    repeats: int = 0
    skips: int = 0
    #: Was it to start at an offset that the group stored, not where ConsumeFromWhere says?
    from_stored: bool = False
    #: Messages that have expired before the group consumed them.
    expired: int = 0
    #: How far the stored offset is beyond max: the queue was made anew, or its broker lost messages.
    beyond: int = 0
    #: Messages that are there to be consumed once it has started; None where it does not start, or that is not known.
    lag: int | None = None
    #: Store time of the first message that it takes again (ms since the epoch); None when not known.
    since: int | None = None
    #: The rule that decides, the one by which the first pull is sent elsewhere ("" when it is not), and all that take
    #: part.
    rule: str = ""
    moved_by: str = ""
    rules: tuple[str, ...] = ()
    #: Why it is not known; "" when it is.
    unknown: str = ""
    #: Why the broker gives it nothing; "" when it does.
    unserved: str = ""

    @property
    def served(self) -> bool:
        """Does the broker give it messages?"""
        return not self.unserved


@dataclass(frozen=True, slots=True, kw_only=True)
class StartPrediction:
    """The starts of a group's consumer, and what other releases of the client do."""

    facts: GroupFacts
    consumer: Consumer
    queues: tuple[QueueStart, ...]
    #: (range of releases, where they start) of each topic: of clients, or of brokers where the consumer pops.
    others: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]
    notes: tuple[str, ...] = ()

    @property
    def repeats(self) -> int:
        """Messages that are consumed again, in all queues."""
        return sum(queue.repeats for queue in self.queues)

    @property
    def skips(self) -> int:
        """Retained messages that are skipped, in all queues."""
        return sum(queue.skips for queue in self.queues)

    @property
    def lag(self) -> int:
        """Messages that are there to be consumed once it has started, in all queues where that is known."""
        return sum(queue.lag or 0 for queue in self.queues)


def predict_start(facts: GroupFacts, consumer: Consumer) -> StartPrediction:
    """The prediction; PredictError when there is no such consumer or nothing to start in."""
    if not facts.queues:
        raise PredictError(f"The group {facts.group} has no topic: name one with --topic.")
    if consumer.kind == LITE and not LITE_PULL.on(consumer.client):
        raise PredictError(f"Client {consumer.client} has no lite pull consumer: there is one from 4.6.0 on.")
    if consumer.kind == PULL and consumer.model == BROADCASTING:
        raise PredictError("A pull consumer starts at 0 in either message model: leave --model away.")
    if consumer.kind in POPPING and consumer.model == BROADCASTING:
        raise PredictError("A broadcasting consumer pulls: leave --model away, or --kind.")
    if consumer.kind in POPPING and not consumer.pops:
        raise PredictError(f"Client {consumer.client} does not pop: clients do from 5.0.0 on.")
    known, facts = facts, consumed(facts, consumer)
    if consumer.where == TIMESTAMP and parse_timestamp(consumer.timestamp, consumer.zone) != facts.time:
        facts = replace(facts, time=None, queues=tuple(replace(queue, found=None) for queue in facts.queues))
    starts = queue_starts(facts, consumer)
    return StartPrediction(
        facts=facts,
        consumer=consumer,
        queues=starts,
        others=tuple((topic, _others(facts.only(topic), consumer)) for topic in facts.topics),
        notes=_notes(known, consumer, starts),
    )


def consumed(facts: GroupFacts, consumer: Consumer) -> GroupFacts:
    """The same without the queues that a consumer of this kind leaves alone: what came back to pops, and the retry
    topic of a group of gRPC clients."""
    left = {retry_topic(facts.group)} if consumer.kind == GRPC else set() if consumer.pops else set(facts.came_back)
    return replace(facts, queues=tuple(queue for queue in facts.queues if queue.topic not in left))


def refuses_name(client: Release, group: str) -> str:
    """Why a client does not start with a group of this name; "" when it does.

    Validators#checkGroup @ 4.0.0, 4.9.8, 5.3.3, 5.4.0, 5.5.0.
    """
    most = LONGEST_NEW_GROUP if NEW_GROUP_NAMES.on(client) else LONGEST_GROUP
    if group and allowed(group, most):
        return ""
    return f"Client {client} does not start with this group: a name has up to {most} letters, digits and % | - _."


def queue_starts(facts: GroupFacts, consumer: Consumer) -> tuple[QueueStart, ...]:
    """The start of each queue."""
    if refuses_name(consumer.client, facts.group):
        return tuple(QueueStart(facts=queue, start=None, first=None, source=NONE) for queue in facts.queues)
    topology, client = topology_of(facts), min(consumer.client, KNOWN)
    models = {broker.name: StartModel(broker_profile(broker, client), topology) for broker in facts.brokers}
    return tuple(
        _pop_start(facts, queue, consumer)
        if consumer.pops and queue.topic != retry_topic(facts.group)
        else _queue_start(models[queue.broker], facts, at, consumer)
        for at, queue in enumerate(facts.queues)
    )


def summary(starts: Sequence[QueueStart]) -> str:
    """Where queues start, in a few words: "0", or "stored (3 queues), max (1)"."""
    sources = Counter(start.source if start.served else f"{start.source}, but gets nothing" for start in starts)
    if len(sources) == 1:
        return next(iter(sources))
    return ", ".join(f"{source} ({count})" for source, count in sources.most_common())


def _others(facts: GroupFacts, consumer: Consumer) -> tuple[tuple[str, str], ...]:
    """(range of client releases, where they start); of broker releases where the consumer pops."""
    if consumer.pops:
        brokers = [release for release in RELEASES if POPS.on(release)]
        return grouped(brokers, lambda release: summary(queue_starts(on_release(facts, release, JAVA), consumer)))
    every = [release for release in RELEASES if consumer.kind != LITE or LITE_PULL.on(release)]
    return grouped(every, lambda release: summary(queue_starts(facts, replace(consumer, client=release))))


def _pop_start(facts: GroupFacts, queue: QueueFacts, consumer: Consumer) -> QueueStart:
    broker = facts.broker(queue.broker)
    unserved, rule = refused_pops(broker)
    nowhere = QueueStart(facts=queue, start=None, first=None, source=NONE, rule=rule, unserved=unserved)
    if unserved:
        return nowhere
    found = None
    if not (unknown := unknown_pops(broker)):
        found = pop_start(broker, facts.group, queue, consumer.kind == POP and consumer.where == FIRST, facts.time)
    if found is None:
        return replace(nowhere, source=UNKNOWN, unknown=unknown or _unexpected(broker, queue))
    made = QueueStart(facts=queue, **found._asdict())
    return _compared(made, facts.group, consumer)


def _unexpected(broker: BrokerFacts, queue: QueueFacts) -> str:
    """Why it is not known whether a broker takes message 0 to be in memory."""
    beside = f"; off its default: {', '.join(broker.doubts)}" if broker.doubts else ""
    answer = "QUERY_NOT_FOUND" if queue.answer is None else queue.answer
    return f"{broker.name} ({broker.release}) answers {answer}, which the model does not expect{beside}"


def _queue_start(model: StartModel, facts: GroupFacts, at: int, consumer: Consumer) -> QueueStart:
    queue, key = facts.queues[at], model.topology.stored_keys[at]
    mapped, broker = model_queue(queue), facts.broker(queue.broker)
    hot = is_hot(model.store.broker, mapped, key, facts.time)
    if hot is None and consumer.model == CLUSTERING and consumer.kind != PULL:
        return QueueStart(facts=queue, start=None, first=None, source=UNKNOWN, unknown=_unexpected(broker, queue))
    state = RemoteStore(broker=mapped.broker(key, facts.time, hot is not False))
    found, whys = _decide(model, state, at, consumer)
    if not isinstance(found, int) or found < 0:
        return QueueStart(
            facts=queue,
            start=None,
            first=None,
            source=NONE,
            rule=whys[-1].rules[0],
            rules=_rules(whys),
        )
    if queue.found is None and queue.max > queue.min and _source(queue, whys[-1]) == TIME:
        why = "no search for this time was made"
        return QueueStart(facts=queue, start=None, first=None, source=UNKNOWN, unknown=why)
    uncorrected = uncorrected_by(broker, state.broker, key, found)
    if unserved := unserved_pulls(broker, consumer.kind, consumer.client) or (UNCORRECTED if uncorrected else ""):
        rule = "BQ-PULL-LITE" if unserved == UNKNOWN_PULLS else uncorrected or _deciding_rule(queue, whys)
        return QueueStart(
            facts=queue,
            start=mapped.offset(found),
            first=None,
            source=_source(queue, whys[-1]),
            rule=rule,
            rules=tuple(dict.fromkeys((*_rules(whys), rule))),
            lag=queue.kept(mapped.offset(found), queue.max),
            unserved=unserved,
        )
    first, pulls = whole.first_message(model, state.broker, _WHOLE[consumer.kind], at, found)[1:]
    return _compared(
        QueueStart(
            facts=queue,
            start=mapped.offset(found),
            first=mapped.offset(first),
            source=_source(queue, whys[-1]),
            rule=_deciding_rule(queue, whys),
            moved_by=pulls[0].rules[-1] if first != found else "",
            rules=_rules((*whys, *pulls)),
        ),
        facts.group,
        consumer,
    )


def _decide(model: StartModel, state: RemoteStore, at: int, consumer: Consumer) -> tuple[Expected, tuple[Reason, ...]]:
    """The start in the numbers of the models, with the reasons of the broker, the store and the decision."""
    broker = state.broker
    how = (consumer.where, consumer.timestamp, consumer.zone, model.client.checked_start)
    if consumer.kind == PULL:
        _, found, why = model.pull(state, at, "answer")
        return found, (why,)
    if consumer.model == BROADCASTING:
        decide = model.lite_pull_from_file if consumer.kind == LITE else model.push_from_file
        _, found, why = decide(LocalStore(), broker, at, *how, "answer")
        return found, (why,)
    set_zero = False if model.client.asks_no_zero else None
    asked = query_offset(model.store.broker, broker, *model.topology.stored_keys[at], set_zero)[2]
    read = model.store.read(state, at, MEMORY_THEN_STORE if consumer.kind == LITE else STORE, "answer")[2]
    start = model.lite_pull if consumer.kind == LITE else model.push
    _, found, why = start(state, at, *how, "answer", "answer")
    return found, (asked, read, why)


def _deciding_rule(queue: QueueFacts, whys: Sequence[Reason]) -> str:
    """The rule that decides: the broker's when it answers 0 to a group that stored nothing, else the client's."""
    answered_zero = len(whys) == 3 and queue.stored is None and whys[-1].kind.startswith("stored")
    return whys[0].rules[0] if answered_zero else whys[-1].rules[0]


def _rules(whys: Sequence[Reason]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(rule for why in whys for rule in why.rules))


def _source(queue: QueueFacts, why: Reason) -> str:
    """What decided a start, by the model's reason."""
    if why.kind.startswith("stored"):
        return ZERO if queue.stored is None else STORED
    if why.kind.endswith("search"):
        return TIME
    if why.kind.endswith("max") or (why.kind.endswith("timestamp, retry topic")):
        return MAX
    return ZERO


def _compared(start: QueueStart, group: str, consumer: Consumer) -> QueueStart:
    """The same with what is consumed again, skipped and expired, compared with where the consumer was to start.

    That is the stored offset; without one it is what ConsumeFromWhere says literally, except in a retry topic.
    """
    queue = start.facts
    assert start.first is not None
    stored = queue.stored if consumer.model == CLUSTERING else None
    if stored is not None:
        wanted = stored
    elif queue.topic.startswith(retry_topic(group)) or consumer.kind == PULL:
        wanted = start.first
    elif consumer.where == FIRST:
        wanted = queue.oldest
    elif consumer.where == TIMESTAMP:
        wanted = queue.max if queue.found is None else queue.found
    else:
        wanted = queue.max
    repeats = queue.kept(start.first, wanted)
    return replace(
        start,
        repeats=repeats,
        skips=queue.kept(wanted, start.first),
        from_stored=stored is not None,
        expired=max(queue.oldest - wanted, 0),
        beyond=max((stored or 0) - queue.max, 0),
        lag=queue.kept(start.first, queue.max),
        since=queue.earliest if repeats and start.first <= queue.oldest else None,
    )


def _notes(facts: GroupFacts, consumer: Consumer, starts: Sequence[QueueStart]) -> tuple[str, ...]:
    """What limits the prediction, in sentences."""
    notes = [f"{newer}." for newer in newer_than_known("Client", consumer.client, "predicted as")]
    if consumer.model == BROADCASTING:
        notes.append("A broadcasting member that has an offset file of the group starts at the offsets in it instead.")
    if consumer.kind == PULL:
        notes.append("A pull consumer starts where its application says; 0 is what the client itself computes.")
    notes += facts_notes(facts)
    if any(start.unserved == UNKNOWN_PULLS for start in starts):
        notes.append(
            "A lite pull consumer from 5.0.0 on asks by LITE_PULL_MESSAGE, which brokers before 5.0.0 do not know: it "
            "gets no message from them."
        )
    if any(start.source == NONE and start.rule and start.served for start in starts):
        notes.append("A queue without a start is not pulled until the client can tell one.")
    if consumer.kind == POP and consumer.where == TIMESTAMP:
        notes.append("A consumer that pops knows no start by time: it starts as with CONSUME_FROM_LAST_OFFSET.")
    if consumer.pops:
        notes.append("What is handed out and not acknowledged is behind the stored offset: it comes back by itself.")
    elif facts.came_back:
        notes.append(
            f"What was popped and came back stays in {', '.join(facts.came_back)}: consumers that pull do not get it."
        )
    return tuple(notes)
