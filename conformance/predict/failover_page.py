"""What a fail-over does, as a page and as a document."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from rocketmq_conformance.conformance.predict.documents import head
from rocketmq_conformance.conformance.predict.failover import FailoverPrediction, QueueFailover
from rocketmq_conformance.conformance.predict.pages import (
    consumer_text,
    gathered,
    names_of,
    notes_sections,
    releases_text,
    span,
)
from rocketmq_conformance.reports.prediction import BAD, DOUBTFUL, GOOD, PLAIN, Cell, Page, Section
from rocketmq_conformance.reports.text import count

#: Stored at the master and at the slave; where a consumer starts at the slave, what is stored there when it has
#: consumed, and where one starts once the master is back.
_COLUMNS = ("queue", "stored", "slave", "max", "starts at", "then", "back at", "so it …")
_NO_NUMBERS = frozenset({"queue", "so it …"})


def failover_page(prediction: FailoverPrediction) -> Page:
    """What a fail-over does."""
    facts = prediction.facts.master
    title = f"Fail-over of {facts.group}: {consumer_text(prediction.consumer)}, {releases_text(facts)}"
    sections = [_topic(prediction, topic) for topic in facts.topics]
    for name, others in (
        ("Other releases of the broker", prediction.others),
        ("With enableSlaveActingMaster, and totalReplicas above 1", prediction.acting_others),
    ):
        if others:
            sections.append(
                Section(name, lines=(Cell(" · ".join(f"{releases}: {what}" for releases, what in others)),))
            )
    return Page(title, _answer(prediction), (*sections, *notes_sections(prediction.notes)))


def _answer(prediction: FailoverPrediction) -> Cell:
    """The prediction in one line: while the master is gone, and once it is back."""
    queues = prediction.queues
    again, skips = sum(queue.again for queue in queues), sum(queue.skips for queue in queues)
    then, skips_then = sum(queue.again_then for queue in queues), sum(queue.skips_then for queue in queues)
    if not any(queue.served for queue in queues):
        gone = "nothing is given"
    else:
        gone = _counted(again, skips) or "nothing comes again"
    lost = sum(queue.lost for queue in queues)
    back = [_counted(then, skips_then) or "nothing comes again"]
    if lost:
        back.append(f"{count(lost, 'offset')} of the slave {'is' if lost == 1 else 'are'} lost")
    if any(queue.offline for queue in queues):
        return Cell(f"While the master is gone {gone}. It stays offline when it is started again.", BAD)
    bad = BAD if prediction.repeats or prediction.skips else GOOD if any(queue.served for queue in queues) else DOUBTFUL
    return Cell(f"While the master is gone {gone}. Once it is back {', and '.join(back)}.", bad)


def _counted(again: int, skips: int) -> str:
    parts = [f"{count(again, 'message')} {'comes' if again == 1 else 'come'} again"] if again else []
    parts += [f"{count(skips, 'message')} {'is' if skips == 1 else 'are'} left out"] if skips else []
    return ", ".join(parts)


def _topic(prediction: FailoverPrediction, topic: str) -> Section:
    queues = [queue for queue in prediction.queues if queue.facts.topic == topic]
    several = len({queue.facts.broker for queue in queues}) > 1
    rows = tuple(_row(alike, several) for alike in gathered(queues, _behaviour))
    return Section(f"Topic {topic}", _COLUMNS, rows, numbers=frozenset(_COLUMNS) - _NO_NUMBERS)


def _behaviour(queue: QueueFailover) -> Hashable:
    """Queues with the same one may stand in one row."""
    counted = (queue.again, queue.skips, queue.again_then, queue.skips_then)
    known = (queue.facts.stored, queue.slave and queue.slave.stored, queue.reached, queue.after)
    gone = queue.gone and (queue.gone.source, queue.gone.unserved, queue.gone.unknown)
    return (gone, queue.back.source, queue.offline, queue.lost, *map(bool, counted), *(one is None for one in known))


def _row(alike: Sequence[QueueFailover], several: bool) -> tuple[Cell, ...]:
    """The row of queues to which it does the same."""
    bad = BAD if any(queue.again or queue.skips or queue.again_then or queue.skips_then for queue in alike) else PLAIN
    return (
        Cell(names_of(alike, several)),
        Cell(span([queue.facts.stored for queue in alike])),
        Cell(span([None if queue.slave is None else queue.slave.stored for queue in alike])),
        Cell(span([queue.facts.max for queue in alike])),
        Cell(span([None if queue.gone is None else queue.gone.start for queue in alike])),
        Cell(span([queue.reached for queue in alike])),
        Cell(span([queue.back.start for queue in alike]), bad),
        Cell(_consequence(alike), bad),
    )


def _consequence(alike: Sequence[QueueFailover]) -> str:
    """What it means for one queue, or for those to which it does the same."""
    first = alike[0]
    parts = []
    if first.gone is not None and first.gone.unknown:
        parts.append(f"is not known at the slave: {first.gone.unknown}")
    elif not first.served:
        parts.append("gets nothing at the slave")
    again, skips = sum(queue.again for queue in alike), sum(queue.skips for queue in alike)
    then, skips_then = sum(queue.again_then for queue in alike), sum(queue.skips_then for queue in alike)
    parts += ["gets nothing from the master, which stays offline"] if first.offline else []
    parts += [f"consumes {again:,} again"] if again else []
    parts += [f"leaves out {skips:,}"] if skips else []
    parts += [f"{then:,} again once it is back"] if then else []
    parts += [f"leaves out {skips_then:,} once it is back"] if skips_then else []
    return "; ".join(parts) or "goes on"


def failover_document(prediction: FailoverPrediction) -> dict[str, Any]:
    """What a fail-over does."""
    return {
        **head("failover", prediction.facts.master),
        "client": str(prediction.consumer.client),
        "acting": sorted(prediction.acting),
        "repeats": prediction.repeats,
        "skips": prediction.skips,
        "queues": [_queue(queue) for queue in prediction.queues],
        "others": _ranges(prediction.others),
        "acting_others": _ranges(prediction.acting_others),
        "notes": list(prediction.notes),
    }


def _queue(queue: QueueFailover) -> dict[str, Any]:
    return {
        "topic": queue.facts.topic,
        "broker": queue.facts.broker,
        "queue": queue.facts.queue,
        "stored": queue.facts.stored,
        "slave": queue.slave and {"stored": queue.slave.stored, "max": queue.slave.max},
        "gone": {
            "start": queue.gone and queue.gone.start,
            "served": queue.served,
            "given": queue.given,
            "repeats": queue.again,
            "skips": queue.skips,
            "stored": queue.reached,
        },
        "back": {
            "stored": queue.after,
            "start": queue.back.start,
            "repeats": queue.again_then,
            "skips": queue.skips_then,
            "lost": queue.lost,
            "offline": queue.offline,
        },
    }


def _ranges(others: Sequence[tuple[str, str]]) -> list[dict[str, str]]:
    return [{"releases": releases, "does": what} for releases, what in others]
