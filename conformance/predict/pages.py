"""Pages of predictions, for people: what stands on them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Protocol, TypeVar

from rocketmq_conformance.conformance.predict.facts import GRPC, PULL, GroupFacts, QueueFacts, retry_topic
from rocketmq_conformance.conformance.predict.pop_start import LAST_MESSAGE, SMALLEST
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
    refuses_name,
)
from rocketmq_conformance.models import rulebook
from rocketmq_conformance.reports.prediction import BAD, CODE, DOUBTFUL, GOOD, PLAIN, Cell, Page, Section
from rocketmq_conformance.reports.text import count

_NUMBERS = frozenset({"queue", "stored", "min", "max", "answer", "starts at", "lag"})
#: Topics of more queues than this show those that behave alike in one line.
_EACH = 16
_PLACES = {
    STORED: "goes on where it was",
    ZERO: "begins with the first message",
    MAX: "begins with the next message",
    TIME: "begins at the time",
    LAST_MESSAGE: "begins with the last message",
    SMALLEST: "begins with the first message",
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
    if consumer.kind == GRPC:
        return "a client behind the gRPC proxy"
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
            f"Other releases of the {'broker' if consumer.pops else 'client'}",
            lines=tuple(Cell(others_text(prediction, topic)) for topic in facts.topics if not is_retry(facts, topic)),
        )
    )
    sections += [_remedy(remedy) for remedy in every_remedy(facts, consumer)]
    sections += notes_sections(prediction.notes)
    return Page(
        title, start_answer(prediction), tuple(section for section in sections if section.columns or section.lines)
    )


def notes_sections(notes: Sequence[str]) -> tuple[Section, ...]:
    """The section of what limits a prediction, if anything does."""
    return (Section("Notes", lines=tuple(Cell(note, DOUBTFUL) for note in notes)),) if notes else ()


def others_text(prediction: StartPrediction, topic: str) -> str:
    """What other releases of the client, or of the broker, do in a topic: "4.0.0–4.9.8: 0 · 5.0.0: max"."""
    ranges = dict(prediction.others)[topic]
    text = " · ".join(f"{releases}: {where}" for releases, where in ranges)
    return text if len(prediction.facts.topics) == 1 else f"{topic}: {text}"


def start_answer(prediction: StartPrediction) -> Cell:
    """The prediction in one line."""
    if refused := refuses_name(prediction.consumer.client, prediction.facts.group):
        return Cell(refused, BAD)
    if any(queue.source == UNKNOWN for queue in prediction.queues):
        return Cell("Not known for every queue: see below.", DOUBTFUL)
    parts = []
    kinds: tuple[tuple[str, Callable[[QueueStart], bool]], ...] = (
        (
            "existing messages"
            if prediction.consumer.kind == GRPC
            else f"messages that {prediction.consumer.where} leaves out",
            lambda queue: not queue.from_stored,
        ),
        ("messages again", lambda queue: queue.from_stored and not queue.beyond),
        ("existing messages where its stored offset is beyond max", lambda queue: bool(queue.beyond)),
    )
    for what, is_so in kinds:
        queues = [queue for queue in prediction.queues if queue.repeats and is_so(queue)]
        if queues:
            known = [queue.since for queue in queues if queue.since is not None]
            since = f", the first of {time_text(min(known))}" if known else ""
            parts.append(f"It consumes {sum(queue.repeats for queue in queues):,} {what}{since}.")
    if prediction.skips:
        parts.append(f"It skips {prediction.skips:,} messages.")
    expired = sum(queue.expired for queue in prediction.queues)
    if expired:
        parts.append(f"{expired:,} messages expired before it consumed them.")
    beyond = [queue for queue in prediction.queues if queue.beyond]
    if beyond:
        parts.append(
            f"Beyond max: {count(len(beyond), 'stored offset')}. Was a queue made anew, or has a broker lost messages?"
        )
    for why in dict.fromkeys(queue.unserved for queue in prediction.queues if queue.unserved):
        parts.append(f"It gets nothing where {why}.")
    if any(queue.source == NONE for queue in prediction.queues):
        parts.append("It does not start in every queue.")
    if parts:
        return Cell(" ".join(parts), BAD if prediction.repeats or prediction.skips or beyond else DOUBTFUL)
    return Cell("It consumes nothing again and skips nothing.", GOOD)


def is_retry(facts: GroupFacts, topic: str) -> bool:
    """Do messages come to this topic again?"""
    return topic == retry_topic(facts.group) or topic in facts.came_back


def _topic(prediction: StartPrediction, topic: str) -> Section:
    queues = [queue for queue in prediction.queues if queue.facts.topic == topic]
    several = len({queue.facts.broker for queue in queues}) > 1
    columns = ("queue", "stored", "min", "max", "answer", "starts at", "lag", "so it …")
    known = [queue.lag for queue in queues if queue.lag is not None]
    lag = f"{sum(known):,}{'' if len(known) == len(queues) else ' where it is known'}" if known else "not known"
    total = (Cell(f"{count(len(queues), 'queue')}, lag {lag}."),) if len(queues) > 1 else ()
    rows = tuple(_row(alike, several) for alike in gathered(queues, _behaviour))
    return Section(f"Topic {topic}", columns, rows, total, _NUMBERS)


class OfQueue(Protocol):
    """Something that is said of one queue."""

    @property
    def facts(self) -> QueueFacts:
        """The queue."""
        ...


Said = TypeVar("Said", bound=OfQueue)


def gathered(queues: Sequence[Said], behaviour: Callable[[Said], Hashable]) -> list[list[Said]]:
    """The rows of a table: each queue alone or, where they are many, those of a broker that behave alike together."""
    if len(queues) <= _EACH:
        return [[queue] for queue in queues]
    found: dict[Hashable, list[Said]] = {}
    for queue in queues:
        found.setdefault((queue.facts.broker, behaviour(queue)), []).append(queue)
    return list(found.values())


def names_of(queues: Sequence[OfQueue], several: bool) -> str:
    """The queues of one row, by their ids: "0–3, 7"; with their broker where there are ``several``."""
    runs: list[list[int]] = []
    for number in sorted(queue.facts.queue for queue in queues):
        if runs and runs[-1][-1] == number - 1:
            runs[-1] = [runs[-1][0], number]
        else:
            runs.append([number])
    text = ", ".join("–".join(map(str, run)) for run in runs)
    return f"{queues[0].facts.broker}:{text}" if several else text


def span(numbers: Sequence[int | None], none: str = "–") -> str:
    """The least and the greatest of the numbers of one row, of which all are None or none is."""
    known = [number for number in numbers if number is not None]
    if not known:
        return none
    return " … ".join(f"{number:,}" for number in sorted({min(known), max(known)}))


def _behaviour(start: QueueStart) -> Hashable:
    """Queues with the same one may stand in one row."""
    counted = (start.repeats, start.skips, start.expired, start.beyond)
    facts = (start.facts.stored is None, start.facts.answer is None)
    return (start.source, start.rule, start.moved_by, start.unknown, start.unserved, *facts, *map(bool, counted))


def _row(alike: Sequence[QueueStart], several: bool) -> tuple[Cell, ...]:
    """The row of queues that behave alike."""
    known = [queue.since for queue in alike if queue.since is not None]
    start = replace(
        alike[0],
        repeats=sum(queue.repeats for queue in alike),
        skips=sum(queue.skips for queue in alike),
        expired=sum(queue.expired for queue in alike),
        beyond=max(queue.beyond for queue in alike),
        since=min(known, default=None),
    )
    bad = BAD if start.repeats or start.skips or start.beyond else PLAIN
    place = span([queue.start for queue in alike], "?")
    if start.moved_by:
        place += f" → {span([queue.first for queue in alike])}"
    return (
        Cell(names_of(alike, several)),
        Cell(span([queue.facts.stored for queue in alike])),
        Cell(span([queue.facts.min for queue in alike])),
        Cell(span([queue.facts.max for queue in alike])),
        Cell(span([queue.facts.answer for queue in alike], "none")),
        Cell(place, bad),
        Cell("–" if start.lag is None else f"{sum(queue.lag or 0 for queue in alike):,}"),
        Cell(_consequence(start), DOUBTFUL if start.source in {UNKNOWN, NONE} else bad),
    )


def _consequence(start: QueueStart) -> str:
    """What it means for one queue, or for those that behave alike."""
    if start.unknown:
        return f"is not known: {start.unknown}"
    if start.unserved:
        return f"gets nothing: {start.unserved}"
    if start.source == NONE:
        return "does not start"
    parts = []
    if start.beyond:
        parts.append(f"stands {start.beyond:,} beyond max, and is sent elsewhere ({start.moved_by})")
    if start.repeats:
        since = "" if start.since is None else f", from {time_text(start.since)} on"
        again = "again" if start.from_stored and not start.beyond else "existing messages"
        parts.append(f"consumes {start.repeats:,} {again}{since}")
    if start.skips:
        parts.append(f"skips {start.skips:,}")
    if start.expired:
        parts.append(f"misses {start.expired:,} that expired")
    if not parts and start.moved_by:
        parts.append(f"is sent to the next message ({start.moved_by})")
    return "; ".join(parts) or _PLACES[start.source]


def _why(prediction: StartPrediction) -> list[Section]:
    counted = Counter(name for queue in prediction.queues for name in (queue.rule, queue.moved_by) if name)
    lines = []
    for name, times in counted.most_common():
        rule = rulebook.RULES[name]
        queues = "" if len(counted) == 1 else f" ({times} of {len(prediction.queues)} queues)"
        lines.append(Cell(f"{rule.id}{queues}: {rule.sentence} [{rule.source}]"))
    return [Section("Why", lines=tuple(lines))]


def _remedy(remedy: Remedy) -> Section:
    lines: list[Cell] = []
    for command, effect in remedy.commands:
        lines += [Cell(command, CODE), Cell(effect)]
    lines.append(Cell(f"Running consumers: {remedy.running}."))
    return Section(f"To start {_TARGETS[remedy.target]} of {remedy.topic}", lines=tuple(lines))
