"""The live view of ``serve``: who is connected, offsets and locks of groups, and the latest requests and responses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from rocketmq_conformance.reports.text import clean, count
from rocketmq_conformance.reports.text_table import text_table

#: Rows of queues that are shown at most; the others are counted.
_QUEUES = 24
#: Lines around the tables: title, headings and spaces.
_FRAME = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueRow:
    """A queue of a topic for a group: stored offset (None: none), max offset, and the client id that holds its lock."""

    group: str
    topic: str
    queue: int
    stored: int | None
    max: int
    locked_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """A broker at one moment. ``members`` are client ids by group."""

    address: str
    connections: int
    requests: int
    members: Mapping[str, Sequence[str]]
    queues: Sequence[QueueRow]


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageRow:
    """A request or response on the wire; ``to_broker`` is its direction, ``detail`` its fields in short."""

    time: str
    client: str
    to_broker: bool
    text: str
    detail: str


def render(snapshot: Snapshot, messages: Sequence[MessageRow], height: int) -> RenderableType:
    """Everything that fits into ``height`` lines; of the messages the latest."""
    connections, requests = count(snapshot.connections, "connection"), count(snapshot.requests, "request")
    title = Text(f"{snapshot.address} · {connections} · {requests} · Ctrl-C ends it", style="bold")
    parts: list[RenderableType] = [title]
    for group, clients in snapshot.members.items():
        parts.append(_line(f"group {group}: {', '.join(clients)}"))
    shown = snapshot.queues[:_QUEUES]
    if shown:
        parts.append(_queues(shown))
    if len(snapshot.queues) > len(shown):
        parts.append(_line(f"and {count(len(snapshot.queues) - len(shown), 'queue')} more"))
    room = max(3, height - _FRAME - len(parts) - len(shown))
    if messages:
        parts.append(_messages(messages[-room:]))
    return Group(*parts)


def _line(text: str) -> Text:
    return Text(clean(text), no_wrap=True, overflow="ellipsis")


def _queues(rows: Sequence[QueueRow]) -> Table:
    columns = ("group", "topic", "locked by", "queue", "stored", "max", "lag")
    table = text_table(columns, numbers=columns[3:])
    for row in rows:
        stored, lag = ("–", "–") if row.stored is None else (str(row.stored), str(row.max - row.stored))
        names = (_line(row.group), _line(row.topic), _line(row.locked_by))
        table.add_row(*names, str(row.queue), stored, str(row.max), lag)
    return table


def _messages(rows: Sequence[MessageRow]) -> Table:
    table = Table(box=None, pad_edge=False, show_header=False)
    for most, texts in (
        (12, [row.time for row in rows]),
        (24, [row.client for row in rows]),
        (46, [row.text for row in rows]),
        (0, []),
    ):
        width = min(most, max(map(len, texts), default=0))
        table.add_column(no_wrap=True, overflow="ellipsis", min_width=width)
    for row in rows:
        arrow = "→" if row.to_broker else "←"
        table.add_row(row.time, _line(row.client), _line(f"{arrow} {row.text}"), _line(row.detail))
    return table
