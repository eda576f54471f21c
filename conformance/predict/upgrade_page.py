"""What an upgrade changes for groups, as a page and as a document."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from rocketmq_conformance.conformance.predict.documents import head
from rocketmq_conformance.conformance.predict.facts import GRPC
from rocketmq_conformance.conformance.predict.facts_notes import facts_notes
from rocketmq_conformance.conformance.predict.pages import (
    consumer_text,
    gathered,
    names_of,
    notes_sections,
    releases_text,
    span,
)
from rocketmq_conformance.conformance.predict.start import Consumer, summary
from rocketmq_conformance.conformance.predict.upgrade import Moves, QueueMove, TopicUpgrade, UpgradePrediction
from rocketmq_conformance.models.release import Release, Switch
from rocketmq_conformance.reports.prediction import BAD, DOUBTFUL, GOOD, PLAIN, Cell, Page, Section
from rocketmq_conformance.reports.text import count


def upgrade_page(
    predictions: Sequence[UpgradePrediction],
    unused: int = 0,
    failed: Sequence[tuple[str, str]] = (),
) -> Page:
    """What other releases change for groups; with ``unused`` ones counted, and those that could not be read."""
    sections = []
    for prediction in predictions:
        alone = len(predictions) == 1
        # of many groups those that change are shown
        for topic in prediction.topics:
            if alone or topic.changed:
                name = topic.topic if alone else f"{prediction.facts.group}: {topic.topic}"
                now = f"{name}, where it starts now: {summary(topic.now)}"
                sections.append(Section(now, lines=_upgraded(topic, prediction.consumer)))
    noted = [(prediction.facts.group, note) for prediction in predictions for note in facts_notes(prediction.facts)]
    sections += notes_sections([note if len(predictions) == 1 else f"{group}: {note}" for group, note in noted])
    if failed:
        lines = tuple(Cell(f"{name}: {why}", DOUBTFUL) for name, why in failed)
        sections.append(Section("Groups that could not be read", lines=lines))
    return Page(_title(predictions, unused), _answer(predictions, len(failed)), tuple(sections))


def _title(predictions: Sequence[UpgradePrediction], unused: int) -> str:
    if len(predictions) == 1 and not unused:
        one = predictions[0]
        return f"Upgrade of {releases_text(one.facts)}: group {one.facts.group}, {consumer_text(one.consumer)}"
    named = dict.fromkeys(f"broker {broker.release}" for one in predictions for broker in one.facts.brokers)
    releases = ", ".join(named) or "a cluster"
    idle = f", {unused:,} more consume nothing" if unused else ""
    return f"Upgrade of {releases}: {count(len(predictions), 'group')}{idle}"


def _answer(predictions: Sequence[UpgradePrediction], failed: int) -> Cell:
    changed = [
        f"{prediction.facts.group} ({topic.topic})"
        for prediction in predictions
        for topic in prediction.topics
        if topic.changed
    ]
    lacking = f" {count(failed, 'group')} could not be read." if failed else ""
    if not changed:
        return Cell(f"No start changes.{lacking}", DOUBTFUL if failed else GOOD)
    repeats = sum(prediction.repeats for prediction in predictions)
    skips = sum(prediction.skips for prediction in predictions)
    what = f"{repeats:,} messages are consumed again and {skips:,} skipped, at most"
    return Cell(f"Starts change for {', '.join(changed)}: {what}.{lacking}", BAD if repeats or skips else DOUBTFUL)


def _upgraded(topic: TopicUpgrade, consumer: Consumer) -> tuple[Cell, ...]:
    lines: list[Cell] = []
    for clients, ranges in topic.starts:
        for brokers, moves in ranges:
            who = "gRPC clients" if consumer.kind == GRPC else f"client {clients}"
            pair = f"{who} on broker {brokers}:"
            if not moves:
                lines.append(Cell(f"{pair} as now"))
                continue
            lines.append(Cell(f"{pair} {_counted(moves)}", BAD if _some(moves) else DOUBTFUL))
            lines += [Cell(f"  {_moved(alike)}", PLAIN) for alike in gathered(moves, _behaviour)]
    lines.append(Cell(f"a reset to the end on broker {' · '.join(f'{one}: {what}' for one, what in topic.resets)}"))
    for release, switches in topic.changes:
        for each in switches:
            change = each.change_at(Release.parse(release))
            lines.append(Cell(f"{release}, switch {_named(each)}: {change} [{each.source}]", DOUBTFUL))
    return tuple(lines)


def _named(switch: Switch) -> str:
    """A switch with its rules, but for one of its own name."""
    rules = [rule for rule in switch.rules if rule != switch.id]
    return f"{switch.id} ({', '.join(rules)})" if rules else switch.id


def _some(moves: Moves) -> bool:
    return any(move.repeats or move.skips for move in moves)


def _counted(moves: Moves) -> str:
    repeats, skips = sum(move.repeats for move in moves), sum(move.skips for move in moves)
    return f"{count(len(moves), 'queue')} changed; {repeats:,} messages are consumed again, {skips:,} skipped"


def _behaviour(move: QueueMove) -> Hashable:
    """Queues with the same one may stand in one line."""
    words = (place if isinstance(place, str) else "" for place in (move.now, move.then))
    return (*words, bool(move.repeats), bool(move.skips))


def _moved(alike: Sequence[QueueMove]) -> str:
    """Queues that change alike: where they start, instead of where they start now."""
    now, then = _places([move.now for move in alike]), _places([move.then for move in alike])
    repeats, skips = sum(move.repeats for move in alike), sum(move.skips for move in alike)
    counted = f", {repeats:,} again" if repeats else f", {skips:,} skipped" if skips else ""
    return f"{names_of(alike, True)} {then} (now {now}){counted}"


def _places(places: Sequence[int | str]) -> str:
    words = [place for place in places if isinstance(place, str)]
    return words[0] if words else f"starts at {span([place for place in places if isinstance(place, int)])}"


def upgrade_document(prediction: UpgradePrediction) -> dict[str, Any]:
    """What other releases change for a group."""
    return {
        **head("upgrade", prediction.facts),
        "changed": prediction.changed,
        "repeats": prediction.repeats,
        "skips": prediction.skips,
        "topics": [
            {
                "topic": topic.topic,
                "now": summary(topic.now),
                "changed": topic.changed,
                "repeats": topic.repeats,
                "skips": topic.skips,
                "starts": [
                    {
                        "clients": clients,
                        "brokers": [{"releases": one, "queues": list(map(_queue, moves))} for one, moves in ranges],
                    }
                    for clients, ranges in topic.starts
                ],
                "resets": [{"releases": one, "does": what} for one, what in topic.resets],
                "changes": [
                    {
                        "release": release,
                        "switches": [
                            {"id": each.id, "on": each.on(Release.parse(release)), "change": each.change}
                            for each in switches
                        ],
                    }
                    for release, switches in topic.changes
                ],
            }
            for topic in prediction.topics
        ],
        "notes": facts_notes(prediction.facts),
    }


def _queue(move: QueueMove) -> dict[str, Any]:
    return {
        "broker": move.facts.broker,
        "queue": move.facts.queue,
        "now": move.now,
        "then": move.then,
        "repeats": move.repeats,
        "skips": move.skips,
    }
