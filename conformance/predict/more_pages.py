"""Pages and documents of allocations, resets and upgrades."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from rocketmq_conformance.conformance.predict.allocation import AllocationPrediction, Share
from rocketmq_conformance.conformance.predict.documents import FORMAT, head
from rocketmq_conformance.conformance.predict.pages import consumer_text, releases_text
from rocketmq_conformance.conformance.predict.remedies import REFUSALS, command_of, effect_on_members
from rocketmq_conformance.conformance.predict.reset import REFUSED, ResetPrediction
from rocketmq_conformance.conformance.predict.start import Consumer
from rocketmq_conformance.conformance.predict.upgrade import TopicUpgrade, UpgradePrediction
from rocketmq_conformance.models.message_queue import Queue
from rocketmq_conformance.reports.prediction import BAD, CODE, DOUBTFUL, GOOD, PLAIN, Cell, Page, Section


def allocation_page(prediction: AllocationPrediction) -> Page:
    """Who gets which queues."""
    group = prediction.group
    title = f"{len(group.members)} members, {len(group.queues)} queues: {group.strategy}, client {group.client}"
    problems = []
    if prediction.equal:
        problems.append(f"Members share a client id: {', '.join(prediction.equal)}.")
    if prediction.unowned:
        problems.append(f"{len(prediction.unowned)} queues have no owner: {queues_text(prediction.unowned)}.")
    if prediction.shared:
        problems.append(f"More than one process gets {queues_text(prediction.shared)}.")
    answer = Cell(" ".join(problems), BAD) if problems else Cell("Every queue has one owner.", GOOD)
    shares = tuple(
        (Cell(share.member), Cell(str(len(share.queues))), Cell(share.error or queues_text(share.queues)))
        for share in prediction.shares
    )
    moves = tuple(
        (
            Cell(f"{move.member} {'joins' if move.joins else 'leaves'}"),
            Cell(str(len(move.moved))),
            Cell(", ".join(f"{share.member}: {len(share.queues)}" for share in move.after) or "no member is left"),
        )
        for move in prediction.moves
    )
    others = " · ".join(f"{releases}: {what}" for releases, what in prediction.others)
    return Page(
        title,
        answer,
        (
            Section("Who gets what", ("member", "queues", "which"), shares, numbers=frozenset({"queues"})),
            Section("What moves", ("when", "moves", "then"), moves, numbers=frozenset({"moves"})),
            Section("Other releases of the client", lines=(Cell(others),)),
        ),
    )


def queues_text(queues: Sequence[Queue]) -> str:
    """Queues in a few words: "broker-a 0-3, broker-b 0"; their topics only when there are several."""
    several = len({topic for topic, _, _ in queues}) > 1
    parts = []
    for (topic, broker), same in groupby(queues, lambda queue: (queue[0], queue[1])):
        name = f"{topic} {broker}" if several else broker
        parts.append(f"{name} {_runs([number for _, _, number in same])}")
    return ", ".join(parts) or "none"


def _runs(numbers: Sequence[int]) -> str:
    runs: list[tuple[int, int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1] = runs[-1][0], number
        else:
            runs.append((number, number))
    return " ".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


def allocation_document(prediction: AllocationPrediction) -> dict[str, Any]:
    """Who gets which queues."""

    def shares(every: Sequence[Share]) -> list[dict[str, Any]]:
        return [
            {"member": share.member, "queues": list(map(list, share.queues)), "error": share.error} for share in every
        ]

    return {
        "format": FORMAT,
        "prediction": "allocation",
        "strategy": prediction.group.strategy,
        "client": str(prediction.group.client),
        "shares": shares(prediction.shares),
        "unowned": list(map(list, prediction.unowned)),
        "shared": list(map(list, prediction.shared)),
        "equal": list(prediction.equal),
        "moves": [
            {
                "member": move.member,
                "joins": move.joins,
                "moved": list(map(list, move.moved)),
                "after": shares(move.after),
            }
            for move in prediction.moves
        ],
        "others": [{"releases": releases, "allocates": what} for releases, what in prediction.others],
    }


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
