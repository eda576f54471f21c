"""The folklore of new groups: what the model expects, and what is made of what is seen."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner
from every import every
from places import GOLDEN, ROOT

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.cli.main import cli
from rocketmq_conformance.conformance.proof.folklore import Open, play_folklore
from rocketmq_conformance.models import new_group_start
from rocketmq_conformance.models.new_group_start import (
    STEPS,
    ProfileRules,
    consumption_answer,
    deciding_switches,
    format_answer,
    predict,
)
from rocketmq_conformance.models.outcome import Value
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.release import Release
from rocketmq_conformance.models.rulebook import RULES
from rocketmq_conformance.reports import jsonl
from rocketmq_conformance.reports.event import Event
from rocketmq_conformance.reports.folklore import FolklorePage, FolkloreReport, folklore_page, tables
from rocketmq_conformance.reports.measurement_event import (
    FolkloreDifference,
    FolkloreEnded,
    FolkloreStarted,
    FolkloreStep,
)

#: The answers of a run of the four releases on real brokers.
KEPT = GOLDEN / "folklore.events.jsonl"
DOCUMENT = ROOT / "docs" / "explanation" / "claims.md"
START, END = consumption_answer(0, 76, 76), consumption_answer(75, 1, 76)
ALL_AT_75 = tuple((queue, 75) for queue in range(4))
REFUSED = ("CONSUMER_NOT_ONLINE", ALL_AT_75)
EXPECTED: dict[str, dict[str, Value]] = {
    "4.9.7": {"new group": START, "expired": END, "reset alone": "SYSTEM_ERROR", "remedy": REFUSED, "remedied": END},
    "5.0.0": {"new group": END, "expired": END, "reset alone": "SYSTEM_ERROR", "remedy": REFUSED, "remedied": END},
    "5.1.4": {"new group": START, "expired": END, "reset alone": "SYSTEM_ERROR", "remedy": REFUSED, "remedied": END},
    "5.5.0": {
        "new group": START,
        "expired": END,
        "reset alone": ALL_AT_75,
        "remedy": (ALL_AT_75, ALL_AT_75),
        "remedied": END,
    },
}


@pytest.fixture(autouse=True)
def _no_terminal_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FORCE_COLOR", "COLUMNS", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)


def rules_of(release: str) -> ProfileRules:
    return ProfileRules.of(Profile.of(release, release))


# --- what is expected -----------------------------------------------------------------------------------------


@every("release", EXPECTED)
@every("step", [step.name for step in STEPS])
def test_the_expected_answers_of_each_release_are_the_observed_ones(release: str, step: str) -> None:
    prediction = predict(rules_of(release), step)
    assert prediction.expected == EXPECTED[release][step]
    assert set(prediction.rules) <= set(RULES)


def test_the_rules_name_the_cause_of_a_new_groups_start() -> None:
    old, special, new = (predict(rules_of(release), "new group").rules for release in ("4.9.7", "5.0.0", "5.5.0"))
    assert "BQ-QUERY-4" in old
    assert {"BQ-QUERY-SETZERO", "OFF-R-FETCH"} <= set(special)
    assert "BQ-QUERY-G3" in new


@pytest.mark.parametrize(
    ("release", "other", "step", "switches"),
    [
        ("5.0.0", "4.9.7", "new group", {"S17", "BQ-SETZERO"}),
        ("5.5.0", "5.0.0", "new group", {"S17"}),
        ("5.5.0", "4.9.7", "new group", set()),
        ("5.5.0", "5.1.4", "reset alone", {"BQ-RESET-2"}),
        ("5.5.0", "5.1.4", "remedied", set()),
    ],
)
def test_what_decides_between_releases_is_found_by_turning_it(
    release: str, other: str, step: str, switches: set[str]
) -> None:
    assert {switch.id for switch in deciding_switches(rules_of(release), rules_of(other), step)} == switches


def test_a_release_before_the_reset_is_stored_stays_at_max_all_the_same() -> None:
    """5.2.0 stores a reset only for a group with offsets, which the clone gave it (BQ-COM-5)."""
    assert predict(rules_of("5.2.0"), "remedied").expected == END


@every(
    ("answer", "words"),
    [
        (START, "every queue from 0: 76, commits 76"),
        (((0, 75, 1, 76), (1, 0, 76, 76)), "queue 0 from 75: 1, commits 76, queue 1 from 0: 76, commits 76"),
        ("SYSTEM_ERROR", "SYSTEM_ERROR"),
        (ALL_AT_75, "every queue 75"),
        (REFUSED, "CONSUMER_NOT_ONLINE; the group stands at every queue 75"),
        (((0, 75, 1, "QUERY_NOT_FOUND"),), "every queue from 75: 1, commits QUERY_NOT_FOUND"),
        (((0, "QUERY_NOT_FOUND"),), "every queue QUERY_NOT_FOUND"),
        (7, "7"),
        ((), "()"),
    ],
)
def test_answers_are_formatted_in_words(answer: Value, words: str) -> None:
    assert format_answer(answer) == words


# --- what is made of what is seen -------------------------------------------------------------------------------


class ScriptedBroker:
    """A release that answers as expected, but for what is changed."""

    def __init__(self, release: Release, changed: dict[tuple[str, str], object]) -> None:
        self.release = release
        self.changed = changed

    def play(self, step: str) -> Value:
        usual = predict(ProfileRules.of(Profile(self.release, self.release)), step).expected
        found = self.changed.get((str(self.release), step), usual)
        if isinstance(found, BaseException):
            raise found
        return found  # type: ignore[return-value]


def scripted(changed: dict[tuple[str, str], object]) -> Open:
    @contextmanager
    def opened(release: Release) -> Iterator[ScriptedBroker]:
        yield ScriptedBroker(release, changed)

    return opened


def played(changed: dict[tuple[str, str], object] | None = None, *releases: str) -> tuple[int, list[Event]]:
    events: list[Event] = []
    chosen = [Release.parse(text) for text in releases or EXPECTED]
    return play_folklore(scripted(changed or {}), 17, chosen, events.append), events


def console(events: list[Event]) -> str:
    out = io.StringIO()
    report = FolkloreReport(out, width=100)
    for event in events:
        report(event)
    report.close()
    return out.getvalue()


def test_releases_that_do_as_expected_conform_and_their_differences_are_explained() -> None:
    code, events = played()
    assert code == 0
    steps = [event for event in events if isinstance(event, FolkloreStep)]
    assert [(step.release, step.step) for step in steps] == [
        (release, step.name) for release in EXPECTED for step in STEPS
    ]
    assert {step.verdict for step in steps} == {"conforms"}
    differences = {event.step: event for event in events if isinstance(event, FolkloreDifference)}
    assert set(differences) == {"new group", "reset alone", "remedy"}
    first = differences["new group"]
    assert (first.releases, first.others) == (["5.0.0"], ["4.9.7", "5.1.4", "5.5.0"])
    assert "OFF-R-FETCH" in first.rules
    assert [switch.split(":")[0] for switch in first.switches] == ["S17", "BQ-SETZERO"]
    assert "Folklore: conforms (20 conforms)" in console(events)


def test_a_release_that_does_otherwise_diverges() -> None:
    code, events = played({("5.5.0", "new group"): END})
    assert code == 1
    wrong = [event for event in events if isinstance(event, FolkloreStep) and event.verdict != "conforms"]
    assert [(step.release, step.step, step.verdict) for step in wrong] == [("5.5.0", "new group", "diverges")]
    assert wrong[0].expected == "every queue from 0: 76, commits 76"
    said_so = console(events)
    assert "Folklore: diverges (19 conforms, 1 diverges)" in said_so
    assert "BQ-QUERY-G3" in said_so


def test_an_unavailable_release_is_reported_and_the_others_go_on() -> None:
    code, events = played({("4.9.7", "expired"): CannotRunError("There is no such broker.")}, "4.9.7", "5.5.0")
    assert code == 4
    steps = [(event.release, event.verdict) for event in events if isinstance(event, FolkloreStep)]
    assert steps == [("4.9.7", "conforms"), ("4.9.7", "could not run"), *[("5.5.0", "conforms")] * 5]
    assert "There is no such broker." in console(events)
    assert "There is no such broker." in folklore_page(events)


def test_a_divergence_counts_more_than_a_release_that_cannot_be_had() -> None:
    code, _ = played({("4.9.7", "new group"): END, ("4.9.7", "expired"): CannotRunError("It is gone.")}, "4.9.7")
    assert code == 1


def test_an_interrupted_play_is_undecided() -> None:
    code, events = played({("5.0.0", "expired"): KeyboardInterrupt()})
    assert code == 3
    footer = events[-1]
    assert isinstance(footer, FolkloreEnded)
    assert (footer.verdict, footer.stopped) == ("undecided", "interrupted")


def test_a_release_newer_than_the_newest_is_judged_by_it() -> None:
    changed: dict[tuple[str, str], object] = {("5.9.0", step): answer for step, answer in EXPECTED["5.5.0"].items()}
    assert played(changed, "5.9.0")[0] == 0


# --- what is written ----------------------------------------------------------------------------------------------


def test_events_are_written_and_read_again(tmp_path: Path) -> None:
    events = played()[1]
    report = jsonl.JsonlReport.to(tmp_path / "events.jsonl")
    for event in events:
        report(event)
    report.close()
    recording = jsonl.read(tmp_path / "events.jsonl")
    assert recording.complete
    assert recording.events == events


def test_the_page_marks_where_the_common_belief_is_wrong(tmp_path: Path) -> None:
    report = FolklorePage(tmp_path / "folklore.md")
    for event in played()[1]:
        report(event)
    report.close()
    lines = (tmp_path / "folklore.md").read_text("utf-8").splitlines()
    rows = [line for line in lines if line.startswith("| 4.9.7 | every queue from 0: 76")]
    assert len(rows) == 1
    assert "| **wrong** |" in rows[0]
    (special,) = [
        line for line in lines if line.startswith("| 5.0.0 |") and "OFF-R-FETCH" in line and "wrong" not in line
    ][:1]
    assert "| holds |" in special
    assert any("S17: The client asks the broker not to answer 0" in line for line in lines)


def test_events_that_were_cut_off_make_no_page_and_no_verdict(tmp_path: Path) -> None:
    events = played()[1][:-1]
    with pytest.raises(ValueError, match="incomplete"):
        folklore_page(events)
    assert "Folklore: undecided, cut off after 20 steps." in console(events)
    report = FolklorePage(tmp_path / "folklore.md")
    for event in events:
        report(event)
    report.close()
    assert not (tmp_path / "folklore.md").exists()


def test_the_document_shows_the_run_that_is_kept() -> None:
    """``REWRITE_GOLDEN=1`` writes its tables anew."""
    recording = jsonl.read(KEPT)
    assert recording.complete
    header, footer = recording.events[0], recording.events[-1]
    assert isinstance(header, FolkloreStarted)
    assert isinstance(footer, FolkloreEnded)
    assert (header.releases, footer.verdict) == (list(EXPECTED), "conforms")
    written = re.sub("^## ", "### ", "\n".join(tables(recording.events)).rstrip("\n") + "\n", flags=re.MULTILINE)
    text = DOCUMENT.read_text("utf-8")
    before = text[: text.index("### new group")]
    if os.environ.get("REWRITE_GOLDEN"):
        DOCUMENT.write_text(before + written, "utf-8")
    assert DOCUMENT.read_text("utf-8") == before + written


def test_the_run_that_is_kept_was_judged_by_the_rules_of_today() -> None:
    for event in jsonl.read(KEPT).events:
        if isinstance(event, FolkloreStep):
            prediction = predict(rules_of(event.release), event.step)
            assert (event.expected, event.rules) == (format_answer(prediction.expected), list(prediction.rules))


# --- the command --------------------------------------------------------------------------------------------------


def test_bad_input_gets_one_sentence() -> None:
    done = CliRunner().invoke(cli, ["prove", "folklore", "--releases", "4.9.7,latest"])
    assert done.exit_code == 2
    assert "'latest' is not a RocketMQ release" in done.output


def test_the_page_of_a_run_is_not_made_of_the_folklore() -> None:
    done = CliRunner().invoke(cli, ["report", str(KEPT)])
    assert done.exit_code == 2
    assert "is the folklore" in done.output


def test_the_story_spreads_300_messages_evenly() -> None:
    assert new_group_start.MESSAGES_EACH * new_group_start.QUEUE_COUNT == 300
