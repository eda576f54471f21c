"""The command ``report``: pages of stored events, whole or cut off, and one sentence for everything else."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from page_tree import checked
from places import GOLDEN

from rocketmq_conformance.conformance.cli.main import cli


def report(*words: object) -> Result:
    return CliRunner().invoke(cli, ["report", *map(str, words)], catch_exceptions=False)


def tone(path: Path) -> str:
    return checked(path.read_text("utf-8")).one("header").attributes["data-tone"]


def test_a_run_writes_a_page_and_names_it(tmp_path: Path) -> None:
    arguments = ["run", "port", "-k", "start-pull", "--cases", "3", "--seed", "1", "--out", str(tmp_path / "out")]
    ran = CliRunner().invoke(cli, arguments)
    assert ran.exit_code == 0
    assert f"page           {tmp_path / 'out' / 'report.html'}" in ran.output
    assert tone(tmp_path / "out" / "report.html") == "ok"


def test_a_divergence_reaches_the_page_with_its_messages(tmp_path: Path) -> None:
    arguments = ["run", "mutant:not-found-is-zero", "-k", "remote-store", "--cases", "30", "--tier", "seeded"]
    ran = CliRunner().invoke(cli, [*arguments, "--seed", "7", "--out", str(tmp_path)])
    assert ran.exit_code == 1
    root = checked((tmp_path / "report.html").read_text("utf-8"))
    assert root.one("header").attributes["data-tone"] == "bad"
    drawn = root.all("svg", class_="seq")[0]
    assert [who.words for who in drawn.all("svg", class_="who")] == ["member", "broker", "name server"]
    assert "QUERY_NOT_FOUND" in drawn.words


def test_the_folder_of_a_run_gives_the_page_that_the_run_gave(tmp_path: Path) -> None:
    CliRunner().invoke(cli, ["run", "port", "-k", "start-pull", "--cases", "2", "--out", str(tmp_path)])
    page = tmp_path / "report.html"
    before = page.read_text("utf-8")
    page.unlink()
    shown_report = report(tmp_path)
    assert (shown_report.exit_code, shown_report.output) == (0, f"{page}  (conforms)\n")
    assert page.read_text("utf-8") == before


def test_a_file_of_events_gives_a_page_beside_it(tmp_path: Path) -> None:
    events = tmp_path / "nightly.jsonl"
    shutil.copy(GOLDEN / "diverges.events.jsonl", events)
    assert report(events).output == f"{tmp_path / 'report.html'}  (diverges)\n"
    assert tone(tmp_path / "report.html") == "bad"


def test_the_page_goes_where_it_is_told_to(tmp_path: Path) -> None:
    out = tmp_path / "page.html"
    assert report(GOLDEN / "conforms.events.jsonl", "--out", out).exit_code == 0
    assert tone(out) == "ok"
    assert not (GOLDEN / "report.html").exists()


def test_events_that_end_in_the_middle_of_a_line_give_a_page_that_says_so(tmp_path: Path) -> None:
    events = tmp_path / "events.jsonl"
    events.write_bytes((GOLDEN / "conforms.events.jsonl").read_bytes()[:-100])
    shown_report = report(tmp_path)
    assert shown_report.output.endswith("(undecided: the run was cut off before its end)\n")
    assert tone(tmp_path / "report.html") == "open"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (None, "There is no "),
        ("", "has no whole event: there is nothing to show."),
        ('{"event": "run-started", "form', "has no whole event: there is nothing to show."),
        ("<html>\n", "is not JSON."),
        ('{"event": "case-ended"}\n', "lacks the field 'suite'."),
        ('{"event": "run-started", "format": 99}\n', "update rocketmq-conformance."),
        ('{"event": "run-ended", "verdict": NaN}\n', "is not JSON."),
        ("[1]\n", "is not a JSON object."),
        (b"\xff\xfe\x00\n", "is not JSON."),
    ],
)
def test_what_is_no_stream_of_events_is_one_sentence(tmp_path: Path, text: str | bytes | None, sentence: str) -> None:
    if text is not None:
        (tmp_path / "events.jsonl").write_bytes(text.encode() if isinstance(text, str) else text)
    shown_report = report(tmp_path)
    assert shown_report.exit_code == 2
    error = shown_report.output.splitlines()[-1]
    assert error.startswith("Error: ")
    assert sentence in error
    assert not (tmp_path / "report.html").exists()


def test_a_measurement_of_mutants_is_no_run() -> None:
    shown_report = report(GOLDEN / "power.events.jsonl", "--out", "never.html")
    assert shown_report.exit_code == 2
    assert "is a measurement of mutants: a page shows a run or a campaign." in shown_report.output


def test_the_events_are_never_written_over(tmp_path: Path) -> None:
    events = tmp_path / "events.jsonl"
    shutil.copy(GOLDEN / "conforms.events.jsonl", events)
    shown_report = report(tmp_path, "--out", events)
    assert shown_report.exit_code == 2
    assert "holds the events themselves" in shown_report.output
    assert events.read_bytes() == (GOLDEN / "conforms.events.jsonl").read_bytes()


def test_a_page_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    events = GOLDEN / "conforms.events.jsonl"
    assert report(events, "--out", tmp_path).exit_code == 2
    shown_report = report(events, "--out", tmp_path / "nowhere" / "page.html")
    assert shown_report.exit_code == 4
    assert shown_report.output.startswith("Error: Nothing can be written to ")


@pytest.mark.parametrize("name", ["diverges", "campaign"])
def test_everything_that_a_run_or_campaign_found_is_printed_when_asked_for(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    shutil.copy(GOLDEN / f"{name}.events.jsonl", tmp_path / "events.jsonl")
    shown_report = report(tmp_path, "--verbose")
    page, printed = shown_report.output.split("\n", 1)
    assert (shown_report.exit_code, page) == (0, f"{tmp_path / 'report.html'}  (diverges)")
    assert printed == (GOLDEN / f"{name}.verbose.txt").read_text("utf-8")


def test_the_command_that_a_run_names_prints_what_it_left_out(tmp_path: Path) -> None:
    arguments = ["run", "port", "-k", "start-pull", "--cases", "3", "--seed", "1", "--out", str(tmp_path)]
    ran = CliRunner().invoke(cli, arguments)
    assert (
        f"\nleft out       the result of each rule\nall of it      rocketmq-conformance report {tmp_path} "
        in ran.output
    )
    assert "Coverage ─" not in ran.output
    assert "Coverage ─" in report(tmp_path, "--verbose").output
    assert "Coverage ─" in CliRunner().invoke(cli, [*arguments, "--verbose"]).output
