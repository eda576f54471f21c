"""The kill matrix: it never says more than was measured."""

from __future__ import annotations

import dataclasses
import io

import pytest
from places import GOLDEN

from rocketmq_conformance.reports.event import Event
from rocketmq_conformance.reports.jsonl import read
from rocketmq_conformance.reports.measurement_event import MutantJudged, PowerEnded, PowerStarted
from rocketmq_conformance.reports.power import EACH, SURVIVORS, PowerReport

EVENTS = read(GOLDEN / "power.events.jsonl").events
HEADER, FIRST, SECOND, SURVIVOR, SAME, FOOTER = EVENTS
ALL_KILLED = "Power: every mutant that is not equivalent is killed"


@pytest.fixture(autouse=True)
def _no_terminal_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FORCE_COLOR", "COLUMNS", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)


def printed(stream: list[Event], *, verbose: bool = False) -> str:
    out = io.StringIO()
    report = PowerReport(out, width=100, verbose=verbose)
    for event in stream:
        report(event)
    report.close()
    return out.getvalue()


def last_line(stream: list[Event]) -> str:
    return printed(stream).splitlines()[-1]


def of(mutants: int) -> Event:
    assert isinstance(HEADER, PowerStarted)
    return dataclasses.replace(HEADER, mutants=mutants)


def test_a_survivor_is_reported_with_what_is_wrong_with_it() -> None:
    out = io.StringIO()
    report = PowerReport(out, width=120)
    for event in EVENTS:
        report(event)
    assert "survived       forgets-frozen (D31): A frozen offset is overwritten by the broker's.\n" in out.getvalue()
    assert "No test can distinguish it: the second commit stores what the first one stored\n" in out.getvalue()
    assert last_line(EVENTS).startswith("Power: 1 mutant not killed in 41.7 s")


def test_killed_and_equivalent_ones_are_full_power() -> None:
    assert last_line([of(3), FIRST, SECOND, SAME, FOOTER]).startswith(ALL_KILLED)


def test_a_matrix_that_is_not_whole_says_nothing() -> None:
    assert isinstance(FOOTER, PowerEnded)
    for stream in (
        [of(3), FIRST, SECOND, SAME],
        [of(3), FIRST, SECOND, FOOTER],
        [of(3), FIRST, SECOND, SAME, dataclasses.replace(FOOTER, stopped="interrupted")],
        [of(0), FOOTER],
    ):
        assert last_line(stream).startswith("Power: unknown, ")


def test_a_status_that_is_none_of_the_three_is_no_kill() -> None:
    assert isinstance(FIRST, MutantJudged)
    assert "1 mutant not killed" in last_line([of(1), dataclasses.replace(FIRST, status="could not run"), FOOTER])


def test_of_many_mutants_those_that_survive_are_listed_and_the_others_counted() -> None:
    mutants = [*[FIRST] * 500, *[SAME] * 60, *[SURVIVOR] * 40]
    stream = [of(len(mutants)), *mutants, FOOTER]
    short, verbose = (printed(stream, verbose=verbose) for verbose in (False, True))
    assert len(short.splitlines()) <= 60
    assert short.count("forgets-frozen (D31)") == SURVIVORS
    assert "persist-twice" not in short
    assert " 60/600  killed 60\n" in short
    assert "600/600  killed 500, equivalent 60, survived 40\n" in short
    assert f"left out       {40 - SURVIVORS} survivors, the matrix of all mutants: --verbose prints them\n" in short
    assert verbose.count("avg-remainder-to-last") == 2 * 500
    assert "Kill matrix" in printed([of(EACH), *[FIRST] * EACH, FOOTER])
