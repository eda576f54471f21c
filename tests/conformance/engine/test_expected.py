"""Expected divergences: stepped over and counted, checked for being up to date, and read with one clear sentence."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from command_line import kit

from rocketmq_conformance import run
from rocketmq_conformance.conformance.cli.expect import _in_any_folder
from rocketmq_conformance.conformance.engine import expected_file
from rocketmq_conformance.conformance.engine.expected_divergences import GONE
from rocketmq_conformance.reports.event import (
    CONFORMS,
    DIVERGES,
    DivergenceFound,
    Event,
    ExpectedDivergence,
    RunEnded,
)
from rocketmq_conformance.reports.jsonl import read
from rocketmq_conformance.suites.declare.discovery import SUITES

MUTANT = "mutant:keeps-smaller"
SEEDED = ("-k", "remote-store", "--seed", "1", "--tier", "seeded")
SIGNED = ("--reason", "known", "--owner", "us", "--releases", "all")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A file with every divergence of the mutant, as ``expect add`` writes it."""
    folder = tmp_path_factory.mktemp("expected")
    ran = kit("run", MUTANT, *SEEDED, "--cases", "40", "--out", "first", cwd=folder)
    assert ran.returncode == 1, ran.stdout
    added = kit("expect", "add", "known.toml", "first", *SIGNED, cwd=folder)
    assert added.returncode == 0, added.stderr
    return (folder / "known.toml").read_text("utf-8")


@pytest.fixture
def play(whole: str, tmp_path: Path) -> Callable[..., list[Event]]:
    """Run an address with the file, after ``change`` to its text."""

    def played(change: Callable[[str], str] = str, address: str = MUTANT, suite: str = "remote-store") -> list[Event]:
        (tmp_path / "known.toml").write_text(change(whole), "utf-8")
        return [*run(address, suites=[suite], cases=10, seed=2, tiers=["seeded"], expected=tmp_path / "known.toml")]

    return played


def end(events: list[Event]) -> RunEnded:
    last = events[-1]
    assert isinstance(last, RunEnded)
    return last


def entries(events: list[Event]) -> list[ExpectedDivergence]:
    return [one for one in events if isinstance(one, ExpectedDivergence)]


def test_what_is_signed_for_is_counted_and_no_failure(play: Callable[..., list[Event]]) -> None:
    events = play()
    assert (end(events).verdict, end(events).exit_code) == (CONFORMS, 0)
    assert end(events).signed == len(entries(events)) >= 3
    assert not [one for one in events if isinstance(one, DivergenceFound)]
    assert all(one.cases and not one.fault and not one.aside for one in entries(events))
    assert (end(events).controls_noticed, end(events).controls) == (1, 1)


def test_what_is_not_in_the_file_still_diverges(play: Callable[..., list[Event]]) -> None:
    events = play(lambda text: text[text.index("[[expected]]", 1) :])
    found = {one.fingerprint for one in events if isinstance(one, DivergenceFound)}
    assert end(events).verdict == DIVERGES
    assert found
    assert not found & {one.fingerprint for one in entries(events)}


FAULTS: dict[str, tuple[Callable[[str], str], str]] = {
    "expired": (
        lambda text: re.sub("expires = .*", "expires = 2020-02-02", text),
        "it expired on 2020-02-02: us has to renew or mend it",
    ),
    "gone": (lambda text: text.replace('"increase_only": true', '"increase_only": false'), GONE),
    "another rule": (lambda text: text.replace('"OFF-R-P"', '"OFF-R-REM"'), "it is a divergence from OFF-R-P, not OFF"),
    "no such rule": (lambda text: text.replace('"OFF-R-P"', '"OFF-R-X"'), "has no rule 'OFF-R-X'"),
    "no such step": (lambda text: text.replace('{"update"', '{"upgrade"'), "has no operation 'upgrade'"),
}


@pytest.mark.parametrize("what", [name for name in FAULTS if name != "gone"])
def test_an_entry_that_is_out_of_date_fails_the_run_with_its_line(what: str, play: Callable[..., list[Event]]) -> None:
    change, sentence = FAULTS[what]
    events = play(change)
    (fault, *_) = [one for one in entries(events) if one.fault]
    assert sentence in fault.fault
    assert fault.line % 16 == 1
    assert end(events).exit_code == 1


def test_an_entry_that_conforms_again_fails_the_run(whole: str, tmp_path: Path) -> None:
    file = tmp_path / "known.toml"
    file.write_text(whole.replace('"mutant keeps-smaller"', '"port"'), "utf-8")
    ran = kit("run", "port", "-k", "remote-store", "--cases", "5", "--expected", "known.toml", cwd=tmp_path)
    assert ran.returncode == 1
    assert "known.toml, line 1: " in ran.stdout
    assert "it does not diverge any more" in ran.stdout
    assert "out of date" in ran.stdout.splitlines()[-1]


def test_entries_that_were_not_asked_are_listed_and_never_fail(play: Callable[..., list[Event]]) -> None:
    def expired(text: str) -> str:
        return text.replace("expires = 2", "expires = 1")

    for events in (play(expired, suite="allocation"), play(expired, address="port")):
        assert end(events).exit_code == 0
        assert all(one.aside and not one.fault for one in entries(events))


def test_verify_and_prune_replay_the_plans_only(whole: str, tmp_path: Path) -> None:
    file = tmp_path / "known.toml"
    gone = whole[: whole.index("[[expected]]", 5)].replace("mutant keeps-smaller", "*").replace(": true", ": false")
    file.write_text("# ours\n" + gone + whole, "utf-8")
    before = kit("expect", "verify", "known.toml", MUTANT, cwd=tmp_path)
    assert before.returncode == 1
    assert f"known.toml, line 2: OFF-R-PALL in remote-store: {GONE}" in before.stdout
    assert "it diverges as expected" in before.stdout
    pruned = kit("expect", "prune", "known.toml", MUTANT, cwd=tmp_path)
    assert pruned.returncode == 0, pruned.stderr
    assert file.read_text("utf-8") == "# ours\n" + whole
    assert kit("expect", "verify", "known.toml", MUTANT, cwd=tmp_path).returncode == 0


def test_a_fingerprint_is_explained_from_the_run_that_found_it(tmp_path: Path) -> None:
    kit("run", MUTANT, *SEEDED, "--cases", "20", "--out", "out/first", cwd=tmp_path)
    found = [one for one in read(tmp_path / "out/first/events.jsonl").events if isinstance(one, DivergenceFound)]
    shown = kit("explain", found[0].fingerprint, "--in", "out", cwd=tmp_path)
    assert shown.returncode == 0, shown.stderr
    assert found[0].rules[0]["sentence"][:40] in shown.stdout
    assert "member > broker: UPDATE_CONSUMER_OFFSET" in shown.stdout
    missing = kit("explain", "00000000", "--in", "out", cwd=tmp_path)
    assert (missing.returncode, "has a divergence 00000000" in missing.stderr) == (2, True)


def test_what_is_in_the_file_is_not_added_again(whole: str, tmp_path: Path) -> None:
    (tmp_path / "known.toml").write_text(whole, "utf-8")
    kit("run", MUTANT, *SEEDED, "--cases", "40", "--out", "first", cwd=tmp_path)
    assert kit("expect", "add", "known.toml", "first", *SIGNED, cwd=tmp_path).stdout == "known.toml: 0 added\n"
    assert (tmp_path / "known.toml").read_text("utf-8") == whole


BARE = 'rule=""\nsuite=""\nfingerprint=""\nowner=""\nplan=""\n'
WRONG = {
    "[[expected]\n": "is not TOML: ",
    "[expected]\n": "must consist of [[expected]] tables",
    "a = 1\n": "must consist of [[expected]] tables, and not 'a'",
    "\n[[expected]]\nrules = 1\n": "line 2: an entry has no 'rules'; it has suite, rule,",
    '\n\n[[expected]]\nrule = "A"\n': "line 3: the entry has no suite, fingerprint, reason, owner, plan, expires.",
    f"[[expected]]\n{BARE}reason=1\nexpires=2027-01-01\n": "line 1: reason must be text in quotes",
    f'[[expected]]\n{BARE}reason=""\nexpires="soon"\n': "line 1: expires must be a date such as 2027-06-30",
}


def test_a_file_that_cannot_be_read_is_wrong_usage(tmp_path: Path) -> None:
    file, wrong = tmp_path / "known.toml", []
    for text, sentence in WRONG.items():
        file.write_text(text, "utf-8")
        done = kit("run", "port", "-k", "allocation", "--expected", "known.toml", cwd=tmp_path, COLUMNS="400")
        if done.returncode != 2 or sentence not in done.stderr or done.stderr.count("Error: ") != 1:
            wrong.append((text, done.stderr))
    done = kit("run", "port", "--expected", "nothing.toml", cwd=tmp_path)
    assert (done.returncode, "cannot be read" in done.stderr) == (2, True)
    assert not wrong


def test_lines_are_counted_past_texts_that_look_like_entries(tmp_path: Path) -> None:
    file = tmp_path / "known.toml"
    one = 'suite="allocation"\nrule="MQ-ID-1"\nfingerprint="00000000"\nowner="us"\nplan=""\nexpires=2027-01-01\n'
    file.write_text(f'[[expected]]\n{one}reason = """\n[[expected]]\n"""\n[[expected]]\n{one}reason="b"\n', "utf-8")
    assert [entry.line for entry in expected_file.read(file)] == [1, 11]


def test_ranges_of_versions() -> None:
    assert expected_file.in_range("2.1.2", "all")
    assert expected_file.in_range("v2.1.2", "2.1.2")
    assert not expected_file.in_range("2.1.10", "2.1.2")
    assert expected_file.in_range("2.1.10", "2.1.2..2.2")
    assert expected_file.in_range("2.1.2", "2.1.0..")
    assert not expected_file.in_range("2.0.9", "2.1.0..2.2")
    assert not expected_file.in_range("5.0.0-ALPHA", "5.0.0..")


def test_entries_are_written_as_they_are_read(whole: str, tmp_path: Path) -> None:
    file = tmp_path / "known.toml"
    file.write_text(whole, "utf-8")
    read = expected_file.read(file)
    assert expected_file.text_of(read) == whole
    assert all(entry.expires > date(2026, 1, 1) and entry.rows and entry.suite in SUITES for entry in read)


def test_an_entry_is_read_back_whatever_names_hold(whole: str, tmp_path: Path) -> None:
    file = tmp_path / "known.toml"
    file.write_text(whole, "utf-8")
    hostile = [replace(entry, implementation="a\x1b[2J\x7f\u202eb", reason="\n") for entry in expected_file.read(file)]
    file.write_text(expected_file.text_of(hostile), "utf-8")
    assert {entry.implementation for entry in expected_file.read(file)} == {r"a\x1b[2J\x7f\u202eb"}


def test_an_entry_for_a_program_holds_in_any_folder() -> None:
    assert _in_any_folder("/home/me/consumer --fast /x") == "*/consumer --fast /x"
    assert _in_any_folder("target/consumer") == "target/consumer"
    assert _in_any_folder("rocketmq-client-go") == "rocketmq-client-go"
