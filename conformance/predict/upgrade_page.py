"""What an upgrade changes for groups, as a page and as a document."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rocketmq_conformance.conformance.predict.documents import head
from rocketmq_conformance.conformance.predict.pages import consumer_text, releases_text
from rocketmq_conformance.conformance.predict.upgrade import TopicUpgrade, UpgradePrediction
from rocketmq_conformance.reports.prediction import BAD, DOUBTFUL, GOOD, Cell, Page, Section


def upgrade_page(predictions: Sequence[UpgradePrediction]) -> Page:
    """What other releases change for groups."""
    changed = [
        f"{prediction.facts.group} ({topic.topic})"
        for prediction in predictions
        for topic in prediction.topics
        if topic.changed
    ]
    facts = predictions[0].facts
    title = f"Upgrade of {releases_text(facts)}: " + (
        f"group {facts.group}, {consumer_text(predictions[0].consumer)}"
        if len(predictions) == 1
        else f"{len(predictions)} groups"
    )
    answer = Cell(f"Starts change for {', '.join(changed)}.", BAD) if changed else Cell("No start changes.", GOOD)
    sections = []
    for prediction in predictions:
        for topic in prediction.topics:
            name = topic.topic if len(predictions) == 1 else f"{prediction.facts.group}: {topic.topic}"
            sections.append(Section(f"{name}, where it starts now: {topic.now}", lines=_upgraded(topic)))
    return Page(title, answer, tuple(sections))


def _upgraded(topic: TopicUpgrade) -> tuple[Cell, ...]:
    lines = [Cell(f"client {clients} starts on broker {_ranges(ranges)}") for clients, ranges in topic.starts]
    lines.append(Cell(f"a reset to the end on broker {_ranges(topic.resets)}"))
    for release, switches in topic.changes:
        lines += [
            Cell(f"{release}, switch {each.id} ({', '.join(each.rules)}): {each.change} [{each.source}]", DOUBTFUL)
            for each in switches
        ]
    return tuple(lines)


def _ranges(ranges: Sequence[tuple[str, str]]) -> str:
    return " · ".join(f"{releases}: {what}" for releases, what in ranges)


def upgrade_document(prediction: UpgradePrediction) -> dict[str, Any]:
    """What other releases change for a group."""
    return {
        **head("upgrade", prediction.facts),
        "topics": [
            {
                "topic": topic.topic,
                "now": topic.now,
                "changed": topic.changed,
                "starts": [
                    {"clients": clients, "brokers": [{"releases": one, "start": where} for one, where in ranges]}
                    for clients, ranges in topic.starts
                ],
                "resets": [{"releases": one, "does": what} for one, what in topic.resets],
                "changes": [
                    {"release": release, "switches": [{"id": each.id, "change": each.change} for each in switches]}
                    for release, switches in topic.changes
                ],
            }
            for topic in prediction.topics
        ],
    }
