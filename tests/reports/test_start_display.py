"""The display of a start: nothing for a quick one, a line now and then elsewhere, one changing line on a terminal."""

from __future__ import annotations

import io

import pytest

from rocketmq_conformance.reports.start_display import AGAIN, PATIENT, StartDisplay


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Display(StartDisplay):
    """A display whose clock is set, and that looks when it is asked to."""

    def __init__(self, stream: io.StringIO) -> None:
        super().__init__(stream, lambda: self.now)
        self.now = 0.0

    def _watch(self) -> None:
        pass

    def after(self, seconds: float) -> None:
        self.now += seconds
        self.look()


def test_a_quick_start_prints_nothing() -> None:
    stream = io.StringIO()
    with Display(stream) as display:
        display("starting Broker 5.5.0", "")
        display.after(PATIENT / 2)
        display("starting a Java machine", "")
        display.after(PATIENT / 2)
        display("", "")
        display.after(60)
    assert stream.getvalue() == ""


def test_what_takes_longer_is_a_plain_line_now_and_then() -> None:
    stream = io.StringIO()
    with Display(stream) as display:
        display("downloading jars", "")
        display.after(PATIENT)
        display("downloading jars", "12 jars, 3.4 MB")
        display.after(AGAIN - 1)
        display.after(1)
        display("starting Broker 5.5.0", "")
        display.after(PATIENT)
    assert stream.getvalue().splitlines() == [
        "downloading jars (1 s)",
        "downloading jars: 12 jars, 3.4 MB (16 s)",
        "starting Broker 5.5.0 (1 s)",
    ]


def test_on_a_terminal_one_line_changes_and_goes_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    for variable in ("NO_COLOR", "FORCE_COLOR", "TTY_INTERACTIVE"):
        monkeypatch.delenv(variable, raising=False)
    stream = Terminal()
    with Display(stream) as display:
        display("downloading jars", "")
        display.after(PATIENT)
        display("downloading jars", "1 jars, 3.4 MB")
        display.after(1)
        shown = stream.getvalue()
        display("", "")
        after = stream.getvalue().removeprefix(shown)
    assert "downloading jars (1 s)" in shown
    assert "downloading jars: 1 jars, 3.4 MB (2 s)" in shown
    assert "\x1b[2K" in after, "the line is not erased"
