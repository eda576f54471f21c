"""What the command ``serve`` shows on a terminal while it runs."""

from __future__ import annotations

import sys
import threading

from rich.console import Console, RenderableType
from rich.live import Live

from rocketmq_conformance.conformance.fakes.broker import FakeBroker
from rocketmq_conformance.conformance.fakes.wire_log import WireLog
from rocketmq_conformance.reports.serve_view import MessageRow, QueueRow, Snapshot, render

#: Seconds between two pictures.
_PERIOD = 0.25


def snapshot(broker: FakeBroker) -> Snapshot:
    """The broker at this moment."""
    consumers, state, locks = broker.consumers, broker.state, broker.locks()
    rows = [
        QueueRow(
            group=group,
            topic=topic,
            queue=queue,
            stored=state.stored.get((group, topic, queue)),
            max=state.logs[topic, queue].max if (topic, queue) in state.logs else 0,
            locked_by=locks.get((group, topic, queue), ""),
        )
        for group, topic, queue in sorted({*state.stored, *locks})
    ]
    members = {group: sorted(entry.members.values()) for group, entry in sorted(consumers.groups.items())}
    return Snapshot(
        address=broker.address,
        connections=broker.connections,
        requests=broker.requests,
        members=members,
        queues=rows,
    )


def watch(
    broker: FakeBroker, log: WireLog, ended: threading.Event | None = None, console: Console | None = None
) -> None:
    """Show the broker until ``ended`` is set, or without end."""
    console, ended = console or Console(file=sys.stdout), ended or threading.Event()

    def picture() -> RenderableType:
        messages = [
            MessageRow(time=one.time, client=one.client, to_broker=one.by_client, text=one.text, detail=one.detail)
            for one in tuple(log.latest)
        ]
        return render(snapshot(broker), messages, console.height)

    with Live(console=console, auto_refresh=False, transient=True) as live:
        while not ended.wait(_PERIOD):
            live.update(picture(), refresh=True)
