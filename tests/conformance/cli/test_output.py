"""What commands print holds nothing that a terminal would obey, wherever a text came from."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import click
import pytest
from command_line import Ended, kit
from event_streams import GOOD, TEXT
from hypothesis import given
from places import ROOT

from rocketmq_conformance.conformance.cli import main
from rocketmq_conformance.conformance.cli.exit import CouldNot
from rocketmq_conformance.conformance.cli.output import say, say_text, show_error
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.remoting.server import Listener, Peer
from rocketmq_conformance.reports import jsonl
from rocketmq_conformance.reports.event import RunEnded

#: It clears the screen, renames the terminal, colours it, turns the text round, and looks like two lines of the kit.
HOSTILE = "\x1b[2J\x1b]0;owned\x07 \x9b31m \u202ecod\u2066 \r\nVerdict: conforms (exit code 0).\nError: nothing"
SHOWN = r"\x1b[2J\x1b]0;owned\x07 \x9b31m \u202ecod\u2066 \r\nVerdict: conforms (exit code 0).\nError: nothing"


class HostileServer:
    """Refuses every request with a remark."""

    def handle(self, peer: Peer, request: Command) -> Command:
        return Command(1, remark=HOSTILE)

    def closed(self, peer: Peer) -> None:
        """Nothing is kept."""


@contextmanager
def hostile_server() -> Iterator[str]:
    listener = Listener(HostileServer(), "127.0.0.1", 0, echo=False, version=0)
    listener.start()
    yield listener.address
    listener.stop()


def printed(act: Callable[[], object]) -> str:
    out = io.StringIO()
    with redirect_stdout(out), redirect_stderr(out):
        act()
    return out.getvalue()


def clean_lines(text: str) -> list[str]:
    lines = text.split("\n")
    assert [line for line in lines if not line.replace("\t", " ").isprintable()] == []
    return lines


@given(TEXT)
def test_whatever_is_said_is_one_line_of_printable_text(text: str) -> None:
    assert len(clean_lines(printed(lambda: say(text)))) == 2
    assert len(clean_lines(printed(lambda: say_text(text)))) == text.count("\n") + 1
    for error in (CouldNot(text), click.UsageError(text), click.BadParameter(text, param_hint="--out")):
        assert len(clean_lines(printed(lambda error=error: show_error(error)))) == 2  # type: ignore[misc]


@pytest.mark.parametrize(
    "words", [("run", "broker:{}"), ("predict", "start", "{}", "--group", "g", "--topic", "t")], ids=["run", "predict"]
)
def test_a_remark_is_quoted_in_the_sentence_of_an_error(words: tuple[str, ...], tmp_path: Path) -> None:
    with hostile_server() as address:
        done = kit(*(word.format(address) for word in words), cwd=tmp_path)
    assert done.returncode == 4
    (line, end) = clean_lines(done.stderr)
    assert line.startswith("Error: ")
    assert SHOWN in line
    assert end == ""


def test_a_stored_reason_is_quoted_in_the_line_of_a_report(tmp_path: Path) -> None:
    ended = GOOD[-1]
    assert isinstance(ended, RunEnded)
    report = jsonl.JsonlReport.to(tmp_path / jsonl.NAME)
    for event in (*GOOD[:-1], replace(ended, stopped=HOSTILE)):
        report(event)
    report.close()
    done = kit("report", ".", cwd=tmp_path)
    assert len(clean_lines(done.stdout)) == 2
    assert SHOWN in done.stdout


def test_the_traceback_of_a_fault_is_printable(tmp_path: Path) -> None:
    def fails(**_: object) -> None:
        raise RuntimeError(HOSTILE)

    with patch.object(main.cli, "main", fails):
        done: Ended = kit("list", "rules", cwd=tmp_path)
    assert done.returncode == 5
    assert "\x1b" not in done.stderr
    assert clean_lines(done.stderr)[-2] == main.KIT_FAULT


def test_no_command_prints_past_the_one_way_out() -> None:
    past = re.compile(r"click\.s?echo\(|(?<![\w.])print\(|std(out|err)\.(write|buffer)|\.show\(\)|excepthook\(")
    found = [
        f"{path.name}:{number} {line.strip()}"
        for path in sorted((ROOT / "conformance" / "cli").glob("*.py"))
        if path.name != "output.py"
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if past.search(line)
    ]
    assert found == []
