"""Who gets which queues, as a page and as a document."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from rocketmq_conformance.conformance.predict.allocation import AllocationPrediction, Share
from rocketmq_conformance.conformance.predict.documents import FORMAT
from rocketmq_conformance.models.message_queue import Queue
from rocketmq_conformance.reports.prediction import BAD, GOOD, Cell, Page, Section
from rocketmq_conformance.reports.text import count


def allocation_page(prediction: AllocationPrediction) -> Page:
    """Who gets which queues."""
    group = prediction.group
    title = f"{len(group.members)} members, {len(group.queues)} queues: {group.strategy}, client {group.client}"
    problems = []
    if prediction.equal:
        problems.append(f"Members share a client id: {', '.join(prediction.equal)}.")
    if prediction.unowned:
        which = count(len(prediction.unowned), "queue")
        have = "has" if len(prediction.unowned) == 1 else "have"
        problems.append(f"{which} {have} no owner: {queues_text(prediction.unowned)}.")
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
