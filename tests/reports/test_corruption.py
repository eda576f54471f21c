"""The report of corrupted answers: what was not noticed is listed, and what was cut off claims nothing."""

from __future__ import annotations

import dataclasses
import io

import pytest
from places import GOLDEN

from rocketmq_conformance.reports.corruption import LISTED, CorruptionReport
from rocketmq_conformance.reports.event import Event
from rocketmq_conformance.reports.jsonl import read
from rocketmq_conformance.reports.measurement_event import CorruptionEnded, CorruptionJudged

EVENTS = read(GOLDEN / "corruption.events.jsonl").events


@pytest.fixture(autouse=True)
def _no_terminal_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FORCE_COLOR", "COLUMNS", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)


def printed(stream: list[Event], *, verbose: bool = False) -> str:
    out = io.StringIO()
    report = CorruptionReport(out, width=100, verbose=verbose)
    for event in stream:
        report(event)
    report.close()
    return out.getvalue()


def test_everything_is_printed_as_it_was() -> None:
    expected = (GOLDEN / "corruption.console.txt").read_text("utf-8")
    assert printed(EVENTS, verbose=True) == expected


def test_what_nothing_explains_is_said() -> None:
    out = printed(EVENTS)
    assert "RocketMQ promises no answer there\n" in out
    assert "nothing explains it\n" in out
    assert out.splitlines()[-1].startswith(
        "Power: 6 of 10 corrupted answers noticed (60.0%), 3 of the others explained"
    )


def test_many_cells_are_counted_unless_all_are_asked_for() -> None:
    missed = next(one for one in EVENTS if isinstance(one, CorruptionJudged) and one.reason)
    many = [dataclasses.replace(missed, rule=f"R-{number}") for number in range(LISTED + 2)]
    stream = [EVENTS[0], *many, EVENTS[-1]]
    assert "2 more cells: --verbose prints them\n" in printed(stream)
    assert "more cells" not in printed(stream, verbose=True)


def test_what_was_cut_off_claims_nothing() -> None:
    end = EVENTS[-1]
    assert isinstance(end, CorruptionEnded)
    assert printed(EVENTS[:-1]).splitlines()[-1] == "Power: unknown, cut off. Seed 1."
    stopped = dataclasses.replace(end, stopped="interrupted")
    assert printed([*EVENTS[:-1], stopped]).splitlines()[-1] == "Power: unknown, interrupted. Seed 1."
    nothing = dataclasses.replace(end, tried=0, noticed=0, explained=0)
    assert printed([EVENTS[0], nothing]).splitlines()[-1] == "Power: unknown, no answer could be corrupted. Seed 1."
