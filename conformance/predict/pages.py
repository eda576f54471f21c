"""Pages of predictions, for people: what stands on them."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime

from rocketmq_conformance.conformance.predict.facts import PULL, GroupFacts, retry_topic
from rocketmq_conformance.conformance.predict.remedies import Remedy, every_remedy
from rocketmq_conformance.conformance.predict.start import (
    MAX,
    NONE,
    STORED,
    TIME,
    UNKNOWN,
    ZERO,
    Consumer,
    QueueStart,
    StartPrediction,
)
from rocketmq_conformance.models import rulebook
from rocketmq_conformance.reports.prediction import BAD, CODE, DOUBTFUL, GOOD, PLAIN, Cell, Page, Section

_NUMBERS = frozenset({"queue", "stored", "min", "max", "answer", "starts at"})
_PLACES = {
    STORED: "goes on where it was",
    ZERO: "begins with the first message",
    MAX: "begins with the next message",
    TIME: "begins at the time",
}
_TARGETS = {"end": "at the end", "beginning": "at the beginning", "time": "at the time"}


def time_text(millis: int) -> str:
    """A time (ms since the epoch) as people read it."""
    return datetime.fromtimestamp(millis / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def releases_text(facts: GroupFacts) -> str:
    """The brokers' releases, once each."""
    counted = Counter(broker.release for broker in facts.brokers)
    return ", ".join(
        f"{count} brokers {release}" if count > 1 else f"broker {release}" for release, count in counted.items()
    )


def consumer_text(consumer: Consumer) -> str:
    """The client: "client 5.5.0 (push, clustering, CONSUME_FROM_LAST_OFFSET)"."""
    how = "" if consumer.kind == PULL else f", {consumer.where}"
    when = f" {consumer.timestamp} {consumer.zone}" if consumer.timestamp else ""
    return f"client {consumer.client} ({consumer.kind}, {consumer.model}{how}{when})"


def start_page(prediction: StartPrediction) -> Page:
    """Where a group starts."""
    consumer, facts = prediction.consumer, prediction.facts
    title = f"Group {facts.group}: {consumer_text(consumer)}, {releases_text(facts)}"
    sections = [_topic(prediction, topic) for topic in facts.topics]
    sections += _why(prediction)
    sections.append(
        Section(
            "Other releases of the client",
            lines=tuple(Cell(others_text(prediction, topic)) for topic in facts.topics if not _is_retry(facts, topic)),
        )
    )
    sections += [_remedy(remedy) for remedy in every_remedy(facts, consumer)]
    if prediction.notes:
        sections.append(Section("Notes", lines=tuple(Cell(note, DOUBTFUL) for note in prediction.notes)))
    return Page(
        title, start_answer(prediction), tuple(section for section in sections if section.columns or section.lines)
    )


def others_text(prediction: StartPrediction, topic: str) -> str:
    """What other releases of the client do in a topic: "4.0.0–4.9.8: 0 · 5.0.0: max"."""
    ranges = dict(prediction.others)[topic]
    text = " · ".join(f"{releases}: {where}" for releases, where in ranges)
    return text if len(prediction.facts.topics) == 1 else f"{topic}: {text}"


def start_answer(prediction: StartPrediction) -> Cell:
    """The prediction in one line."""
    if any(queue.source == UNKNOWN for queue in prediction.queues):
        return Cell("Not known for every queue: see below.", DOUBTFUL)
    parts = []
    for from_stored, what in (
        (False, f"messages that {prediction.consumer.where} leaves out"),
        (True, "messages again"),
    ):
        queues = [queue for queue in prediction.queues if queue.repeats and queue.from_stored is from_stored]
        if queues:
            known = [queue.since for queue in queues if queue.since is not None]
            since = f", the first of {time_text(min(known))}" if known else ""
            parts.append(f"It consumes {sum(queue.repeats for queue in queues):,} {what}{since}.")
    if prediction.skips:
        parts.append(f"It skips {prediction.skips:,} messages.")
    expired = sum(queue.expired for queue in prediction.queues)
    if expired:
        parts.append(f"{expired:,} messages expired before it consumed them.")
    if any(not queue.served for queue in prediction.queues):
        parts.append("It gets nothing from brokers that do not know its pulls.")
    if any(queue.source == NONE for queue in prediction.queues):
        parts.append("It does not start in every queue.")
    if parts:
        return Cell(" ".join(parts), BAD if prediction.repeats or prediction.skips else DOUBTFUL)
    return Cell("It consumes nothing again and skips nothing.", GOOD)


def _is_retry(facts: GroupFacts, topic: str) -> bool:
    return topic == retry_topic(facts.group)


def _topic(prediction: StartPrediction, topic: str) -> Section:
    queues = [queue for queue in prediction.queues if queue.facts.topic == topic]
    several = len({queue.facts.broker for queue in queues}) > 1
    columns = ("queue", "stored", "min", "max", "answer", "starts at", "so it …")
    return Section(f"Topic {topic}", columns, tuple(_row(queue, several) for queue in queues), numbers=_NUMBERS)


def _row(start: QueueStart, several: bool) -> tuple[Cell, ...]:
    facts = start.facts
    bad = BAD if start.repeats or start.skips else PLAIN
    place = "?" if start.start is None else f"{start.start:,}"
    if start.first != start.start and start.first is not None:
        place += f" → {start.first:,}"
    return (
        Cell(f"{facts.broker}:{facts.queue}" if several else str(facts.queue)),
        Cell("–" if facts.stored is None else f"{facts.stored:,}"),
        Cell(f"{facts.min:,}"),
        Cell(f"{facts.max:,}"),
        Cell("none" if facts.answer is None else f"{facts.answer:,}"),
        Cell(place, bad),
        Cell(_consequence(start), DOUBTFUL if start.source in {UNKNOWN, NONE} else bad),
    )


def _consequence(start: QueueStart) -> str:
    """What it means for one queue."""
    if start.unknown:
        return f"is not known: {start.unknown}"
    if start.source == NONE:
        return "does not start"
    if not start.served:
        return "gets nothing: the broker does not know its pulls"
    parts = []
    if start.repeats:
        since = "" if start.since is None else f", from {time_text(start.since)} on"
        again = "again" if start.from_stored else "existing messages"
        parts.append(f"consumes {start.repeats:,} {again}{since}")
    if start.skips:
        parts.append(f"skips {start.skips:,}")
    if start.expired:
        parts.append(f"misses {start.expired:,} that expired")
    return "; ".join(parts) or _PLACES[start.source]


def _why(prediction: StartPrediction) -> list[Section]:
    counted = Counter(queue.rule for queue in prediction.queues if queue.rule)
    lines = []
    for name, count in counted.most_common():
        rule = rulebook.RULES[name]
        queues = "" if len(counted) == 1 else f" ({count} of {len(prediction.queues)} queues)"
        lines.append(Cell(f"{rule.id}{queues}: {rule.sentence} [{rule.source}]"))
    return [Section("Why", lines=tuple(lines))]


def _remedy(remedy: Remedy) -> Section:
    lines: list[Cell] = []
    for command, effect in remedy.commands:
        lines += [Cell(command, CODE), Cell(effect)]
    lines.append(Cell(f"Running consumers: {remedy.running}."))
    return Section(f"To start {_TARGETS[remedy.target]} of {remedy.topic}", lines=tuple(lines))
