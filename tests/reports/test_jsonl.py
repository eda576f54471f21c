"""events.jsonl: what was written is read again; what was cut off says so; what is broken is named by its line."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path

import pytest
from places import GOLDEN

from rocketmq_conformance.reports.decode import EVENTS
from rocketmq_conformance.reports.event import (
    FORMAT,
    CaseEnded,
    Event,
    Progress,
    RunEnded,
    RunStarted,
    SuiteEnded,
)
from rocketmq_conformance.reports.jsonl import JsonlReport, read
from rocketmq_conformance.reports.measurement_event import MutantJudged, PowerEnded, PowerStarted

WHOLE = (
    "conforms",
    "diverges",
    "undecided",
    "interrupted",
    "empty",
    "power",
    "corruption",
    "campaign",
    "folklore",
    "voices",
)


def write(path: Path, *events: Event) -> Path:
    report = JsonlReport.to(path)
    for event in events:
        report(event)
    report.close()
    return path


HEADER, FOOTER = (read(GOLDEN / "conforms.events.jsonl").events[at] for at in (0, -1))
CASE = CaseEnded(
    suite="allocation",
    case=0,
    verdict="undecided",
    steps=3,
    seconds=0.5,
    digest="54612808ee8ed668",
    reason="\ud800\n\u2028\x00\U0001f600",
)


def lines_of(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines(keepends=True)


@pytest.mark.parametrize("name", WHOLE)
def test_what_is_written_is_read_again(name: str, tmp_path: Path) -> None:
    recording = read(GOLDEN / f"{name}.events.jsonl")
    assert recording.complete
    again = write(tmp_path / "again.jsonl", *recording.events)
    assert again.read_bytes() == (GOLDEN / f"{name}.events.jsonl").read_bytes()
    assert read(again) == recording


def test_the_golden_files_hold_every_kind_of_event_that_is_written() -> None:
    kinds = {type(event) for name in (*WHOLE, "corpus") for event in read(GOLDEN / f"{name}.events.jsonl").events}
    assert kinds == set(EVENTS) - {Progress}


def test_strange_characters_survive_in_ascii(tmp_path: Path) -> None:
    path = write(tmp_path / "events.jsonl", HEADER, CASE)
    assert path.read_bytes().isascii()
    assert read(path).events == [HEADER, CASE]


def test_every_line_is_on_disk_before_the_next_event(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    report = JsonlReport.to(path)
    for number, event in enumerate((HEADER, CASE, CASE), 1):
        report(event)
        assert len(read(path).events) == number
    report.close()


def test_progress_is_not_written(tmp_path: Path) -> None:
    path = write(
        tmp_path / "events.jsonl", HEADER, Progress(suite="allocation", cases=1, of=2, steps=3, seconds=0.1), FOOTER
    )
    assert read(path).events == [HEADER, FOOTER]


@pytest.mark.parametrize("name", ["conforms", "power"])
def test_a_file_cut_at_any_byte_is_not_complete_and_never_a_pass(name: str, tmp_path: Path) -> None:
    # Less coverage, so that a cut of every line, at its ends and at every seventh byte, can be tried.
    events = [
        dataclasses.replace(event, coverage=event.coverage[:2]) if isinstance(event, SuiteEnded) else event
        for event in read(GOLDEN / f"{name}.events.jsonl").events
    ]
    path = write(tmp_path / "cut.jsonl", *events)
    whole = path.read_bytes()
    assert read(path).complete
    # Only the very last byte, a line end, may be missing.
    ends = {match.end() for match in re.finditer(rb"\n", whole)}
    tried = {*range(0, len(whole), 7), *(end + near for end in ends for near in (-2, -1, 0, 1))}
    for length in sorted(length for length in tried if length < len(whole) - 1):
        path.write_bytes(whole[:length])
        recording = read(path)
        assert not recording.complete
        assert not recording.conclusion().passed
        lines = whole[:length].count(b"\n")
        assert recording.events in (events[:lines], events[: lines + 1])
    path.write_bytes(whole[:-1])
    assert read(path).complete


@pytest.mark.parametrize("name", ["empty", "power"])
def test_a_flipped_bit_and_a_missing_line_are_noticed(name: str, tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    whole = (GOLDEN / f"{name}.events.jsonl").read_bytes()
    path.write_bytes(whole)
    events = read(path).events
    lines = whole.splitlines(keepends=True)
    damaged = [b"".join(lines[:at] + lines[at + 1 :]) for at in range(len(lines) - 1)]
    damaged += [bytes([*whole[:at], whole[at] ^ 1 << at % 8, *whole[at + 1 :]]) for at in range(len(whole))]
    unnoticed = 0
    for data in damaged:
        path.write_bytes(data)
        try:
            recording = read(path)
        except ValueError:
            continue
        # a line end that is none any more: the file was cut off
        assert recording.events == events or not recording.complete
        unnoticed += recording.complete
    assert unnoticed <= len("digest")  # without its key the digest is a field of a newer kit


def test_line_ends_of_another_system_are_no_damage(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_bytes((GOLDEN / "power.events.jsonl").read_bytes().replace(b"\n", b"\r\n"))
    assert read(path) == read(GOLDEN / "power.events.jsonl")


def test_events_of_an_older_kit_have_no_digest(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_text("".join(f"{json.dumps(event.json())}\n" for event in (HEADER, CASE, FOOTER)))
    assert read(path).events == [HEADER, CASE, FOOTER]


def test_only_the_whole_good_run_is_a_pass() -> None:
    passed = {name for name in (*WHOLE, "killed") if read(GOLDEN / f"{name}.events.jsonl").conclusion().passed}
    assert passed == {"conforms", "voices"}


def test_a_malformed_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    lines = lines_of(GOLDEN / "conforms.events.jsonl")
    path.write_bytes(b"".join([*lines[:2], b"{oops\n", *lines[2:]]))
    with pytest.raises(ValueError, match=r"^Line 3 of .*events\.jsonl is not JSON\.$"):
        read(path)


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (b"[]", "is not a JSON object"),
        (b"\xff\xfe", "is not JSON"),
        (b"[" * 100_000, "is not JSON"),
        (b"{}", "has the unknown event kind None"),
        (b'{"event": "party"}', "has the unknown event kind 'party'"),
        (b'{"event": ["party"]}', r"has the unknown event kind \['party'\]"),
        (b'{"event": "case-ended", "suite": "a"}', "lacks the field 'case'"),
        (json.dumps(CASE.json() | {"steps": "3"}).encode(), "has a wrong value in the field 'steps': '3'"),
        (json.dumps(CASE.json() | {"steps": True}).encode(), "has a wrong value in the field 'steps': True"),
        (json.dumps(FOOTER.json() | {"silent_rules": [1]}).encode(), "has a wrong value in the field 'silent_rules'"),
        (json.dumps(HEADER.json()).encode(), "is a second header"),
    ],
)
def test_a_line_that_is_no_event_is_named_with_what_is_wrong(line: bytes, sentence: str, tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_bytes(json.dumps(HEADER.json()).encode() + b"\n" + line + b"\n")
    with pytest.raises(ValueError, match=f"^Line 2 of .* {sentence}.*\\.$"):
        read(path)


def test_events_without_a_header_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"Line 1 of .* comes before any header"):
        read(write(tmp_path / "events.jsonl", CASE))


@pytest.mark.parametrize("end", ["\n", ""])
def test_events_after_the_footer_are_refused(end: str, tmp_path: Path) -> None:
    path = write(tmp_path / "events.jsonl", HEADER, FOOTER, CASE)
    path.write_bytes(path.read_bytes().removesuffix(b"\n") + end.encode())
    with pytest.raises(ValueError, match=r"Line 3 of .* comes after the footer"):
        read(path)


@pytest.mark.parametrize("header", [HEADER, read(GOLDEN / "power.events.jsonl").events[0]])
def test_a_newer_format_is_refused_whatever_else_it_holds(header: Event, tmp_path: Path) -> None:
    assert isinstance(header, RunStarted | PowerStarted)
    path = tmp_path / "events.jsonl"
    path.write_text(json.dumps({"event": header.kind, "format": FORMAT + 1}) + "\n")
    with pytest.raises(ValueError, match=f"is of format {FORMAT + 1}, .* up to {FORMAT}: update rocketmq-conformance"):
        read(path)


def test_a_field_of_a_newer_kit_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_text(json.dumps(HEADER.json() | {"weather": "fine"}) + "\n" + json.dumps(FOOTER.json()) + "\n")
    assert read(path).events == [HEADER, FOOTER]


def test_a_missing_field_with_a_default_gets_it(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    short = {name: value for name, value in CASE.json().items() if name != "reason"}
    path.write_text(json.dumps(HEADER.json()) + "\n" + json.dumps(short) + "\n")
    read_case = read(path).events[1]
    assert isinstance(read_case, CaseEnded)
    assert read_case.reason == ""


def test_a_number_without_a_fraction_is_a_time(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_text(json.dumps(HEADER.json()) + "\n" + json.dumps(CASE.json() | {"seconds": 2}) + "\n")
    read_case = read(path).events[1]
    assert isinstance(read_case, CaseEnded)
    assert isinstance(read_case.seconds, float)


def test_a_measurement_of_power_has_its_own_header_and_footer(tmp_path: Path) -> None:
    events = read(GOLDEN / "power.events.jsonl").events
    assert [type(event) for event in events] == [PowerStarted, *[MutantJudged] * 4, PowerEnded]
    assert not read(write(tmp_path / "cut.jsonl", *events[:-1])).complete


def test_a_stream_that_is_not_its_own_stays_open(tmp_path: Path) -> None:
    with (tmp_path / "events.jsonl").open("w") as stream:
        report = JsonlReport(stream)
        report(HEADER)
        report.close()
        assert not stream.closed


def test_a_footer_is_complete_whatever_its_verdict() -> None:
    recording = read(GOLDEN / "interrupted.events.jsonl")
    assert recording.complete
    footer = recording.events[-1]
    assert isinstance(footer, RunEnded)
    assert (recording.conclusion().verdict, recording.conclusion().reason) == ("undecided", "interrupted")
