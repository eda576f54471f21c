"""The live view of ``serve``."""

from __future__ import annotations

import io

from rich.console import Console

from rocketmq_conformance.reports.serve_view import MessageRow, QueueRow, Snapshot, render


def shown(queues: int, messages: int, height: int = 20, width: int = 100) -> list[str]:
    snapshot = Snapshot(
        address="127.0.0.1:9876",
        connections=2,
        requests=1234,
        members={"G": ["c1", "c\x1b[2J2"]},
        queues=[
            QueueRow(group="G", topic="orders", queue=n, stored=n or None, max=7, locked_by="c1" if n == 1 else "")
            for n in range(queues)
        ],
    )
    rows = [
        MessageRow(time="10:00:00.000", client="c1", to_broker=not n % 2, text=f"PULL {n}", detail="queueId=0")
        for n in range(messages)
    ]
    console = Console(file=io.StringIO(), width=width, color_system=None)
    console.print(render(snapshot, rows, height))
    output = console.file
    assert isinstance(output, io.StringIO)
    return output.getvalue().splitlines()


def test_it_shows_members_offsets_locks_and_the_latest_messages() -> None:
    lines = shown(2, 100)
    assert lines[0] == "127.0.0.1:9876 · 2 connections · 1,234 requests · Ctrl-C ends it"
    assert lines[1].startswith("group G: c1, c")
    assert "\x1b" not in lines[1]
    assert [line.split() for line in lines[2:5]] == [
        ["group", "topic", "locked", "by", "queue", "stored", "max", "lag"],
        ["G", "orders", "0", "–", "7", "–"],
        ["G", "orders", "c1", "1", "1", "7", "6"],
    ]
    assert lines[-1].split() == ["10:00:00.000", "c1", "←", "PULL", "99", "queueId=0"]
    assert "→ PULL 98" in lines[-2]
    assert len(lines) <= 20


def test_many_queues_are_counted_and_long_lines_are_cut() -> None:
    lines = shown(100, 3, width=60)
    assert "and 76 queues more" in lines
    assert max(map(len, lines)) <= 60


def test_a_broker_without_clients_is_one_line() -> None:
    console = Console(file=io.StringIO(), width=100)
    console.print(render(Snapshot(address="h:1", connections=0, requests=0, members={}, queues=[]), [], 5))
    output = console.file
    assert isinstance(output, io.StringIO)
    assert output.getvalue().splitlines() == ["h:1 · 0 connections · 0 requests · Ctrl-C ends it"]
