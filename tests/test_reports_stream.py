"""What holds for any stream of events: no report makes a pass of a run that did not pass."""

from __future__ import annotations

import dataclasses
import io
import json
import tempfile
from pathlib import Path
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints
from xml.etree import ElementTree

import pytest
import xmlschema
from hypothesis import event as note
from hypothesis import given, settings
from hypothesis import strategies as st
from rocketmq_conformance.reports.console import ConsoleReport
from rocketmq_conformance.reports.decode import event_of
from rocketmq_conformance.reports.event import (
    EVENTS,
    CaseEnded,
    DivergenceFound,
    Event,
    Progress,
    RunEnded,
    RunStarted,
    SuiteEnded,
    SuiteStarted,
)
from rocketmq_conformance.reports.jsonl import JsonlReport, read
from rocketmq_conformance.reports.junit import document
from rocketmq_conformance.reports.ledger import Ledger

HERE = Path(__file__).parent
SCHEMA = xmlschema.XMLSchema(HERE / "data" / "junit.xsd")
GOOD = read(HERE / "golden" / "conforms.events.jsonl").events
FOUND = [e for e in read(HERE / "golden" / "diverges.events.jsonl").events if isinstance(e, DivergenceFound)]

VERDICTS = ("conforms", "diverges", "undecided", "could not run", "unsupported")
#: Names and verdicts that mean something, and text that only means harm.
TEXT = st.one_of(
    st.sampled_from(("", *VERDICTS, "allocation", "remote-store", "interrupted", "time limit", "Verdict: conforms")),
    st.text(st.characters(codec=None, categories=None), max_size=12),
    st.text("<>&]\"'\x00\x1b\r\n\t\ud800\ufffe\U0001f600[/]", max_size=12),
)
NUMBER = st.one_of(st.integers(0, 3), st.integers(0, 2**63))
CASE = st.one_of(st.integers(-3, 3), st.integers(0, 2**63))
COVERAGE = st.lists(st.tuples(TEXT, TEXT, TEXT, NUMBER).map(list), max_size=3)


def values(hint: Any, name: str) -> st.SearchStrategy[Any]:
    """Values of an event's field."""
    if name == "coverage":
        return COVERAGE
    if name == "format":
        return st.just(1)
    if name == "case":
        return CASE
    if get_origin(hint) is list:
        return st.lists(values(get_args(hint)[0], ""), max_size=3)
    if get_origin(hint) is dict:
        return st.dictionaries(TEXT, values(get_args(hint)[1], ""), max_size=3)
    if get_origin(hint) is UnionType:
        return st.one_of(*(values(arg, "") for arg in get_args(hint)))
    if dataclasses.is_dataclass(hint):
        return built(hint)
    plain = {str: TEXT, int: NUMBER, bool: st.booleans(), float: st.floats(0, 1e6), type(None): st.none()}
    return plain[hint]


def built(cls: Any) -> st.SearchStrategy[Any]:
    """Events of one kind."""
    hints = get_type_hints(cls)
    return st.builds(cls, **{item.name: values(hints[item.name], item.name) for item in dataclasses.fields(cls)})


ANY_EVENT = st.one_of(*(built(cls) for cls in EVENTS))


@st.composite
def nearly_good(draw: st.DrawFn) -> list[Event]:
    """A conforming run with up to three things wrong."""
    stream = list(GOOD)
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(stream) - 1)) if stream else 0
        match draw(st.sampled_from(("drop", "cut", "again", "insert", "edit"))):
            case "drop" if stream:
                del stream[at]
            case "cut":
                del stream[at:]
            case "again" if stream:
                stream.insert(at, stream[draw(st.integers(0, len(stream) - 1))])
            case "insert":
                stream.insert(at, draw(st.one_of(st.sampled_from(FOUND), ANY_EVENT)))
            case "edit" if stream:
                item = draw(st.sampled_from(dataclasses.fields(stream[at])))  # type: ignore[arg-type]
                hints = get_type_hints(type(stream[at]))
                change = {item.name: draw(values(hints[item.name], item.name))}
                stream[at] = dataclasses.replace(stream[at], **change)
    return stream


STREAM = st.one_of(nearly_good(), st.lists(ANY_EVENT, max_size=6))


def may_pass(stream: list[Event]) -> bool:
    """The least that a pass needs, said without the ledger."""
    stream = [event for event in stream if not isinstance(event, Progress)]
    if len(stream) < 2 or not isinstance(stream[0], RunStarted) or not isinstance(stream[-1], RunEnded):
        return False
    header, footer = stream[0], stream[-1]
    if any(isinstance(event, RunStarted | RunEnded) for event in stream[1:-1]):
        return False
    ended = {event.suite: event for event in stream if isinstance(event, SuiteEnded)}
    begun = {*header.suites, *(event.suite for event in stream if isinstance(event, SuiteStarted))}
    return (
        begun <= set(ended)
        and all(suite.verdict in ("conforms", "unsupported") and suite.control is not False for suite in ended.values())
        and any(suite.cases.get("conforms", 0) > 0 for suite in ended.values())
        and not any(isinstance(event, DivergenceFound) for event in stream)
        and not any(isinstance(e, CaseEnded) and e.verdict not in ("conforms", "unsupported") for e in stream)
        and (footer.verdict, footer.exit_code, footer.divergences) == ("conforms", 0, 0)
        and footer.stopped in ("", "time limit")
        and footer.controls_noticed >= footer.controls
    )


def printed(stream: list[Event], width: int) -> str:
    out = io.StringIO()
    report = ConsoleReport(out, width=width)
    for event in stream:
        report(event)
    report.close()
    return out.getvalue()


def ledger_of(stream: list[Event]) -> Ledger:
    ledger = Ledger()
    for event in stream:
        ledger.add(event)
    return ledger


@pytest.fixture(autouse=True)
def _no_terminal_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)


def test_the_good_run_is_a_pass_everywhere() -> None:
    assert may_pass(GOOD)
    assert printed(GOOD, 80).splitlines()[-1].startswith("Verdict: conforms")
    assert ledger_of(GOOD).conclusion().passed


@settings(max_examples=300, deadline=None)
@given(STREAM)
def test_no_report_makes_a_pass_of_what_did_not_pass(stream: list[Event]) -> None:
    passable = may_pass(stream)
    note(f"may pass: {passable}")
    last = (printed(stream, 80).splitlines() or [""])[-1]
    root = ElementTree.fromstring(document(ledger_of(stream)))
    assert passable or not ledger_of(stream).conclusion().passed
    assert passable or not last.startswith("Verdict: conforms")
    assert passable or root.get("failures") != "0" or root.get("errors") != "0"


@settings(max_examples=200, deadline=None)
@given(STREAM)
def test_junit_is_valid_for_any_stream(stream: list[Event]) -> None:
    SCHEMA.validate(ElementTree.fromstring(document(ledger_of(stream))))


@settings(max_examples=200, deadline=None)
@given(STREAM, st.sampled_from((20, 60, 80, 200)))
def test_plain_output_is_lines_of_printable_text_for_any_stream(stream: list[Event], width: int) -> None:
    text = printed(stream, width)
    assert all(line.isprintable() and line == line.rstrip(" ") for line in text.split("\n"))


@settings(max_examples=200, deadline=None)
@given(ANY_EVENT)
def test_any_event_survives_json(event: Event) -> None:
    assert event_of(json.loads(json.dumps(event.json()))) == event


@settings(max_examples=100, deadline=None)
@given(built(RunStarted), st.lists(st.one_of(built(CaseEnded), built(DivergenceFound), built(SuiteEnded))), st.data())
def test_a_file_cut_anywhere_gives_what_was_whole(header: RunStarted, events: list[Event], data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "events.jsonl")
        report = JsonlReport.to(path)
        for event in (header, *events, GOOD[-1]):
            report(event)
        report.close()
        whole = path.read_bytes()
        assert read(path).events == [header, *events, GOOD[-1]]
        cut = whole[: data.draw(st.integers(0, len(whole) - 2))]
        path.write_bytes(cut)
        recording = read(path)
    assert not recording.complete
    assert not recording.conclusion().passed
    assert recording.events == [header, *events][: len(recording.events)]
    assert len(recording.events) >= cut.count(b"\n")
