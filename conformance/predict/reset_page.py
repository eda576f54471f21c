"""What a reset does, as a page and as a document."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from rocketmq_conformance.conformance.predict.documents import head
from rocketmq_conformance.conformance.predict.facts_notes import facts_notes
from rocketmq_conformance.conformance.predict.pages import gathered, names_of, notes_sections, releases_text, span
from rocketmq_conformance.conformance.predict.remedies import command_of, effects_on_members, refusal
from rocketmq_conformance.conformance.predict.reset import (
    IGNORED,
    IGNORING,
    NOT_ASKED,
    REFUSED,
    QueueReset,
    ResetPrediction,
)
from rocketmq_conformance.conformance.predict.start import Consumer
from rocketmq_conformance.reports.prediction import BAD, CODE, GOOD, PLAIN, Cell, Page, Section
from rocketmq_conformance.reports.text import count


def reset_page(prediction: ResetPrediction, consumer: Consumer) -> Page:
    """What a reset does."""
    facts = prediction.facts
    connected = f"{len(facts.members)} members" if facts.members else "members assumed"
    members = connected if prediction.online else "no members"
    title = (
        f"Reset of {facts.group} in {prediction.topic} to its {prediction.target}: {releases_text(facts)}, {members}"
    )
    rows = tuple(_row(alike) for alike in gathered(prediction.queues, _behaviour))
    repeats, skips, lag = prediction.repeats, prediction.skips, prediction.lag
    total = f"{count(len(prediction.queues), 'queue')}: {repeats:,} again, {skips:,} skipped, lag {lag:,}."
    others = " · ".join(f"{releases}: {what}" for releases, what in prediction.others)
    effect = effects_on_members(prediction.queues, consumer)
    return Page(
        title,
        _answer(prediction),
        (
            Section(
                f"Topic {prediction.topic}",
                ("queue", "stored", "max", "after", "lag", "so it …"),
                rows,
                (Cell(total),) if any(queue.after is not None for queue in prediction.queues) else (),
                frozenset({"stored", "max", "after", "lag"}),
            ),
            Section("Members", lines=(Cell(f"{effect[:1].upper()}{effect[1:]}."),)),
            Section("Other releases of the broker", lines=(Cell(others),)),
            Section("Asked for by", lines=(Cell(command_of(facts, prediction.topic, prediction.target), CODE),)),
            *notes_sections(facts_notes(facts)),
        ),
    )


def _answer(prediction: ResetPrediction) -> Cell:
    """Who moves the group, or who does not: by broker, where brokers differ, in the order in which they are asked."""
    group = prediction.facts.group
    said: dict[str, list[str]] = {}
    for queue in prediction.queues:
        if queue.way == REFUSED:
            text = f"is refused: {refusal(queue.error, group)}"
        elif queue.way == NOT_ASKED:
            text = "is not asked for, as mqadmin ends at the first broker that refuses"
        elif queue.way == IGNORED:
            text = f"is ignored by its {IGNORING[queue.kind]}, and nothing is moved"
        else:
            text = f"is made by {queue.way}"
        said.setdefault(text, []).append(queue.facts.broker)
    style = GOOD if prediction.made else BAD
    if len(said) == 1:
        return Cell(f"It {next(iter(said))}.", style)
    parts = [f"On {', '.join(dict.fromkeys(brokers))} it {text}." for text, brokers in said.items()]
    return Cell(" ".join(parts), style)


def _behaviour(queue: QueueReset) -> Hashable:
    """Queues with the same one may stand in one row."""
    nothing = queue.facts.stored is None, queue.after is None, queue.after == queue.facts.stored
    return (queue.way, queue.error, bool(queue.repeats), bool(queue.skips), *nothing)


def _row(alike: Sequence[QueueReset]) -> tuple[Cell, ...]:
    """The row of queues that a reset does the same to."""
    first = alike[0]
    repeats, skips = sum(queue.repeats for queue in alike), sum(queue.skips for queue in alike)
    lag = sum(queue.lag or 0 for queue in alike)
    if repeats or skips:
        said = f"consumes {repeats:,} again" if repeats else f"skips {skips:,}"
    elif first.after is None or first.after == first.facts.stored:
        said = "stays where it is"
    elif first.facts.stored is None:
        said = "begins there"
    else:
        said = "is moved; nothing comes again, nothing is skipped"
    return (
        Cell(names_of(alike, True)),
        Cell(span([queue.facts.stored for queue in alike])),
        Cell(span([queue.facts.max for queue in alike])),
        Cell(span([queue.after for queue in alike]), BAD if repeats else PLAIN),
        Cell("–" if first.lag is None else f"{lag:,}"),
        Cell(said),
    )


def reset_document(prediction: ResetPrediction, consumer: Consumer) -> dict[str, Any]:
    """What a reset does."""
    return {
        **head("reset", prediction.facts),
        "topic": prediction.topic,
        "target": prediction.target,
        "online": prediction.online,
        "repeats": prediction.repeats,
        "skips": prediction.skips,
        "lag": prediction.lag,
        "members": effects_on_members(prediction.queues, consumer),
        "queues": [
            {
                "broker": queue.facts.broker,
                "queue": queue.facts.queue,
                "stored": queue.facts.stored,
                "after": queue.after,
                "repeats": queue.repeats,
                "skips": queue.skips,
                "lag": queue.lag,
                "way": queue.way,
                "error": queue.error,
                "rules": list(queue.rules),
            }
            for queue in prediction.queues
        ],
        "others": [{"releases": releases, "does": what} for releases, what in prediction.others],
        "notes": facts_notes(prediction.facts),
    }
