"""What people read: golden output, colours, live progress, strange terminals and strange names.

REWRITE_GOLDEN=1 writes the golden files anew; read the difference before it is kept.
"""

from __future__ import annotations

import dataclasses
import io
import os
import re

import pytest
from every import every
from places import GOLDEN

from rocketmq_conformance.reports.console import BLOCKS, ConsoleReport
from rocketmq_conformance.reports.event import DivergenceFound, Event, Progress, RunEnded, RunStarted, SuiteEnded
from rocketmq_conformance.reports.jsonl import read
from rocketmq_conformance.reports.power import PowerReport

RUNS = ("conforms", "diverges", "corpus", "undecided", "interrupted", "killed", "empty")


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def _no_terminal_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")


def events(name: str) -> list[Event]:
    return read(GOLDEN / f"{name}.events.jsonl").events


def printed(stream: list[Event], terminal: io.StringIO | None = None, *, width: int = 80) -> str:
    out = terminal or io.StringIO()
    report = ConsoleReport(out, width=width)
    for event in stream:
        report(event)
    report.close()
    return out.getvalue()


def found(name: str = "diverges") -> DivergenceFound:
    return [event for event in events(name) if isinstance(event, DivergenceFound)][1]


def same_as_golden(name: str, text: str) -> None:
    path = GOLDEN / name
    if os.environ.get("REWRITE_GOLDEN"):
        path.write_text(text, "utf-8")
    assert text == path.read_text("utf-8")


@every("name", RUNS)
def test_a_run_prints_the_golden_text(name: str) -> None:
    same_as_golden(f"{name}.console.txt", printed(events(name)))


def test_a_kill_matrix_prints_the_golden_text() -> None:
    out = io.StringIO()
    report = PowerReport(out, width=80)
    for event in events("power"):
        report(event)
    report.close()
    same_as_golden("power.console.txt", out.getvalue())


def test_the_documented_block_is_what_is_printed() -> None:
    documented = (GOLDEN.parents[1] / "docs" / "failure.md").read_text("utf-8").split("```\n")[1]
    assert documented.startswith("Divergence 2: ")
    assert documented in printed(events("diverges"))


@every("name", RUNS)
def test_plain_output_has_no_control_codes_and_no_trailing_blanks(name: str) -> None:
    text = printed(events(name))
    assert all(line == line.rstrip() and line.isprintable() for line in text.split("\n"))


@pytest.mark.parametrize("width", [40, 80, 200])
def test_only_lines_to_be_copied_are_wider_than_the_screen(width: int) -> None:
    text = printed(events("diverges"), width=width)
    wide = [line for line in text.splitlines() if len(line) > width]
    assert all(
        re.match(r"(replay|events|junit|page|Verdict:|Kinds of state one by one:) |  again: ", line) for line in wide
    )


def test_the_replay_line_stays_one_line_on_a_narrow_screen() -> None:
    assert found().replay in {line.removeprefix("replay").strip() for line in printed([found()], width=40).splitlines()}


def test_a_run_that_never_began_prints_nothing() -> None:
    assert printed([]) == ""


def test_a_repeated_fingerprint_is_told_once() -> None:
    text = printed(events("diverges"))
    assert text.count("Divergence 2:") == 1
    assert "Divergence 3:" not in text
    assert "again: fingerprint 9b1c2d3ea7f04456, remote-store, case 63" in text


def test_many_different_divergences_are_not_all_told_in_full() -> None:
    many = [dataclasses.replace(found(), fingerprint=f"{number:016x}") for number in range(BLOCKS + 3)]
    text = printed([events("diverges")[0], *many])
    assert text.count("model before") == BLOCKS
    assert text.count("one more divergence") == 3
    assert f"{BLOCKS + 3}, {BLOCKS + 3} different" in text


def test_long_answers_are_told_apart_by_an_excerpt() -> None:
    text = printed(events("diverges"))
    assert "difference     ...t', 'broker-a', 3))\n               ...t', 'broker-a', 4))\n" in text


@pytest.mark.parametrize("full", [True, False])
def test_a_rule_that_never_fired_says_so(full: bool) -> None:
    out = io.StringIO()
    report = ConsoleReport(out, width=80, full_coverage=full)
    for event in events("conforms"):
        report(event)
    assert re.search(r"^  OFF-R-FETCH +0  never fired$", out.getvalue(), re.MULTILINE)
    assert ("memory miss" in out.getvalue()) is full
    assert ("Kinds of state one by one: conformance-out/" in out.getvalue()) is not full


def test_the_coverage_table_gets_short_when_there_is_much_of_it() -> None:
    stream = events("conforms")
    kinds = [["ALLOC-AVG-1", f"kind {number}", "items", 1] for number in range(100)]
    stream = [dataclasses.replace(e, coverage=kinds) if isinstance(e, SuiteEnded) else e for e in stream]
    assert re.search(r"^  ALLOC-AVG-1 +100  100 +items 100$", printed(stream), re.MULTILINE)


def test_escapes_of_the_implementation_do_not_reach_the_terminal() -> None:
    hostile = "\x1b[2J\x1b]0;title\x07 [bold]x[/] \r\n\u202e\ud800 \U0001f600"
    step = dataclasses.replace(found().steps[2], operation=hostile, observed=hostile, before=hostile)
    event = dataclasses.replace(found(), observed=hostile, steps=[*found().steps[:2], step], replay=hostile)
    text = printed([event])
    assert "\x1b" not in text
    assert r"\x1b[2J\x1b]0;title\x07 [bold]x[/] \r\n\u202e\ud800 " + "\U0001f600" in text


def test_an_ascii_stream_is_no_reason_to_stop() -> None:
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, encoding="ascii")
    report = ConsoleReport(out, width=80)
    header = events("conforms")[0]
    assert isinstance(header, RunStarted)
    report(dataclasses.replace(header, implementation="Портъ"))
    report(found())
    report.close()
    out.flush()
    assert rb"\u041f\u043e" in raw.getvalue()
    assert b"Divergence 1: remote-store, case 17 ----" in raw.getvalue()


def test_a_terminal_gets_colours() -> None:
    assert re.search("\x1b\\[(1;)?31m", printed(events("diverges"), Terminal()))


def test_no_color_is_respected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    codes = re.findall("\x1b\\[([0-9;]*)m", printed(events("diverges"), Terminal()))
    assert not [code for code in codes if re.search(r"(^|;)(3|4|9|10)[0-7](;|$)", code)]


def test_a_terminal_gets_live_progress_that_goes_away() -> None:
    out = Terminal()
    report = ConsoleReport(out, width=100)
    header, suite = events("conforms")[:2]
    report(header)
    report(suite)
    report(Progress(suite="allocation", cases=50, of=200, steps=500, seconds=0.25))
    assert "50 of 200 cases" in out.getvalue()
    assert "200 cases/s, 2,000 steps/s" in out.getvalue()
    before = len(out.getvalue())
    report(events("conforms")[3])
    ended = out.getvalue()[before:]
    assert "\x1b[2K" in ended
    assert "\x1b[?25h" in ended


def test_progress_is_not_for_plain_streams() -> None:
    header, suite = events("conforms")[:2]
    assert "50 of 200" not in printed(
        [header, suite, Progress(suite="allocation", cases=50, of=200, steps=500, seconds=0.25)]
    )


def test_a_run_that_breaks_off_gives_the_cursor_back() -> None:
    text = printed(events("conforms")[:2], Terminal())
    assert text.rindex("\x1b[?25h") > text.rindex("\x1b[?25l")


@every("name", RUNS)
def test_the_last_line_has_verdict_and_seed(name: str) -> None:
    last = printed(events(name)).splitlines()[-1]
    assert last.startswith("Verdict: ")
    assert last.endswith(" Seed 1729.")


def test_a_footer_that_claims_too_much_is_not_believed() -> None:
    claim = [
        dataclasses.replace(event, verdict="conforms", exit_code=0) if isinstance(event, RunEnded) else event
        for event in events("diverges")
    ]
    last = printed(claim).splitlines()[-1]
    assert last.startswith("Verdict: undecided (exit code 5): the run claims to conform, but ")


def test_an_interrupted_run_says_so_and_where_it_is_kept() -> None:
    last = printed(events("interrupted")).splitlines()[-1]
    assert last.startswith("Verdict: undecided (exit code 3): interrupted, what did run is kept in conformance-out/")


def test_the_time_limit_is_told() -> None:
    stream = [
        dataclasses.replace(e, stopped="time limit") if isinstance(e, RunEnded) else e for e in events("conforms")
    ]
    assert printed(stream).endswith("Verdict: conforms (exit code 0): stopped by the time limit. Seed 1729.\n")
