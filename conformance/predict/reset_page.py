"""What a reset does, as a page and as a document."""

from __future__ import annotations

from typing import Any

from rocketmq_conformance.conformance.predict.documents import head
from rocketmq_conformance.conformance.predict.pages import releases_text
from rocketmq_conformance.conformance.predict.remedies import REFUSALS, command_of, effect_on_members
from rocketmq_conformance.conformance.predict.reset import REFUSED, ResetPrediction
from rocketmq_conformance.conformance.predict.start import Consumer
from rocketmq_conformance.reports.prediction import BAD, CODE, GOOD, PLAIN, Cell, Page, Section


def reset_page(prediction: ResetPrediction, consumer: Consumer) -> Page:
    """What a reset does."""
    facts = prediction.facts
    members = f"{len(facts.members)} members" if prediction.online else "no members"
    title = (
        f"Reset of {facts.group} in {prediction.topic} to its {prediction.target}: {releases_text(facts)}, {members}"
    )
    refused = [queue for queue in prediction.queues if queue.way == REFUSED]
    if refused:
        errors = dict.fromkeys(queue.error for queue in refused)
        reasons = (f"{error}, {REFUSALS[error]}" if error in REFUSALS else error for error in errors)
        answer = Cell(f"It is refused: {'; '.join(reasons)}.", BAD)
    else:
        answer = Cell(f"Moved by {' and '.join(prediction.ways)}.", GOOD)
    rows = tuple(
        (
            Cell(f"{queue.facts.broker}:{queue.facts.queue}"),
            Cell("–" if queue.facts.stored is None else f"{queue.facts.stored:,}"),
            Cell("–" if queue.after is None else f"{queue.after:,}", BAD if queue.moved < 0 else PLAIN),
            Cell(_moved(queue.moved)),
        )
        for queue in prediction.queues
    )
    others = " · ".join(f"{releases}: {what}" for releases, what in prediction.others)
    effect = effect_on_members(prediction.ways, consumer)
    return Page(
        title,
        answer,
        (
            Section(
                f"Topic {prediction.topic}",
                ("queue", "stored", "after", "so it …"),
                rows,
                numbers=frozenset({"stored", "after"}),
            ),
            Section("Members", lines=(Cell(f"{effect[:1].upper()}{effect[1:]}."),)),
            Section("Other releases of the broker", lines=(Cell(others),)),
            Section("Asked for by", lines=(Cell(command_of(facts, prediction.topic, prediction.target), CODE),)),
        ),
    )


def _moved(count: int) -> str:
    return f"consumes {-count:,} again" if count < 0 else f"skips {count:,}" if count else ""


def reset_document(prediction: ResetPrediction, consumer: Consumer) -> dict[str, Any]:
    """What a reset does."""
    return {
        **head("reset", prediction.facts),
        "topic": prediction.topic,
        "target": prediction.target,
        "online": prediction.online,
        "members": effect_on_members(prediction.ways, consumer),
        "queues": [
            {
                "broker": queue.facts.broker,
                "queue": queue.facts.queue,
                "stored": queue.facts.stored,
                "after": queue.after,
                "way": queue.way,
                "error": queue.error,
                "rules": list(queue.rules),
            }
            for queue in prediction.queues
        ],
        "others": [{"releases": releases, "does": what} for releases, what in prediction.others],
    }
