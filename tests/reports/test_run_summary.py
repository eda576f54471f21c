"""What may be concluded from events: a good verdict is believed only when the events bear it out."""

from __future__ import annotations

import dataclasses
from typing import Any

from every import every
from places import GOLDEN

from rocketmq_conformance.reports.event import (
    CaseEnded,
    CaseLost,
    Event,
    RunEnded,
    RunStarted,
    SuiteEnded,
    SuiteStarted,
)
from rocketmq_conformance.reports.jsonl import read
from rocketmq_conformance.reports.run_summary import Conclusion, RunSummary

GOOD = read(GOLDEN / "conforms.events.jsonl").events


def concluded(stream: list[Event]) -> Conclusion:
    summary = RunSummary()
    for event in stream:
        summary.add(event)
    return summary.conclusion()


def changed(kind: type[Event], **changes: Any) -> list[Event]:
    """The good run with fields changed in every event of a kind."""
    return [dataclasses.replace(event, **changes) if isinstance(event, kind) else event for event in GOOD]


def test_a_good_run_passes() -> None:
    assert concluded(GOOD) == Conclusion("conforms", 0)
    assert concluded(GOOD).passed


def test_cases_of_the_corpus_are_counted_and_named_by_their_files() -> None:
    summary = RunSummary()
    for event in read(GOLDEN / "corpus.events.jsonl").events:
        summary.add(event)
    assert summary.tiers["corpus"] == {"conforms": 1, "diverges": 1, "unsupported": 1}
    assert [summary.case_name("remote-store", case) for case in (1, -1, -2, -3, -4)] == [
        "case 1",
        "corpus plan remote-store.0b2c6f1d",
        "corpus plan remote-store.5f0de8a1, case 17",
        "corpus plan remote-store.5f0de8a1, case 18",
        "case -4",
    ]
    assert summary.case_name("allocation", -1) == "case -1"


def test_nothing_is_undecided() -> None:
    assert concluded([]) == Conclusion("undecided", 3, "nothing ran")


def test_a_run_without_its_footer_is_undecided() -> None:
    assert concluded(GOOD[:-1]) == Conclusion("undecided", 3, "the run was cut off before its end")


@every(
    ("stream", "doubt"),
    [
        (changed(RunEnded, exit_code=1), "its exit code is 1"),
        (changed(RunEnded, verdict="undecided"), 'its verdict is "undecided"'),
        (changed(RunEnded, stopped="interrupted"), "it was stopped: interrupted"),
        (changed(RunEnded, divergences=1), "divergences were found"),
        (changed(RunEnded, cases={"conforms": 400, "undecided": 1}), "a case did not conform"),
        (changed(RunEnded, cases={}), "no case conformed"),
        (changed(RunEnded, steps=0), "no step was done"),
        (changed(RunEnded, controls_noticed=1), "a control stayed silent"),
        (changed(SuiteEnded, control=False), "a control stayed silent"),
        (changed(SuiteEnded, verdict="could not run"), "allocation, remote-store did not conform"),
        (changed(SuiteEnded, cases={"conforms": 5, "diverges": 1}), "a case did not conform"),
        (changed(SuiteEnded, cases={"unsupported": 5}), "no case conformed"),
        (changed(CaseEnded, verdict="undecided"), "a case did not conform"),
        (changed(RunStarted, suites=["allocation", "remote-store", "start"]), "start did not end"),
        (changed(SuiteStarted, suite="start"), "start did not end"),
        (GOOD[1:], "its stream"),
        ([*GOOD, GOOD[2]], "its stream goes on after its end"),
        ([GOOD[0], *GOOD], "its stream begins twice"),
        ([*GOOD[:-1], GOOD[-3], GOOD[-1]], "its stream ends a suite twice"),
    ],
)
def test_a_footer_that_the_events_speak_against_is_not_believed(stream: list[Event], doubt: str) -> None:
    conclusion = concluded(stream)
    assert not conclusion.passed
    if isinstance(stream[0], RunStarted):
        assert conclusion.verdict == "undecided"
        assert conclusion.exit_code == 5
        assert conclusion.reason == f"the run claims to conform, but {doubt}"


def test_a_run_that_used_up_its_time_may_pass() -> None:
    assert concluded(changed(RunEnded, stopped="time limit")) == Conclusion("conforms", 0, "time limit")


def test_an_unsupported_suite_beside_a_conforming_one_may_pass() -> None:
    *before, last, _, footer = GOOD
    assert isinstance(last, SuiteEnded)
    unsupported = dataclasses.replace(last, verdict="unsupported", cases={"unsupported": 200}, control=None)
    assert concluded([*before, unsupported, footer]).passed


def test_a_bad_verdict_is_believed_as_it_stands() -> None:
    stream = changed(RunEnded, verdict="diverges", exit_code=1, stopped="interrupted")
    assert concluded(stream) == Conclusion("diverges", 1, "interrupted")


def test_reasons_are_counted_with_their_first_case() -> None:
    summary = RunSummary()
    for case in (7, 9):
        summary.add(
            CaseEnded(
                suite="allocation", case=case, verdict="undecided", steps=1, seconds=0.1, digest="", reason="timed out"
            )
        )
    assert summary.reasons == {("allocation", "undecided", "timed out"): (2, 7)}


def of_two(*, without: str = "") -> list[Event]:
    """The good run as a campaign of two implementations; ``without`` the end of one suite for the second."""
    stream: list[Event] = []
    for event in GOOD:
        if isinstance(event, SuiteEnded):
            stream.append(dataclasses.replace(event, address="port"))
            if event.suite != without:
                stream.append(dataclasses.replace(event, address="mutant:x"))
        else:
            stream.append(event)
    return stream


def test_a_suite_ends_once_for_each_implementation() -> None:
    assert concluded(of_two()).passed


def test_a_suite_that_did_not_end_for_one_implementation_is_no_pass() -> None:
    reason = concluded(of_two(without="allocation")).reason
    assert reason == "the run claims to conform, but allocation (mutant:x) did not end"


def test_one_implementation_that_diverges_is_seen_behind_another_that_does_not() -> None:
    stream = of_two()
    first = next(at for at, event in enumerate(stream) if isinstance(event, SuiteEnded))
    stream[first] = dataclasses.replace(stream[first], verdict="diverges")  # type: ignore[call-arg]
    assert concluded(stream).reason == "the run claims to conform, but allocation did not conform"


def test_a_lost_case_is_no_pass() -> None:
    lost = CaseLost(suite="allocation", case=3, address="port", reason="ended with signal 9, twice")
    assert concluded([*GOOD[:-1], lost, GOOD[-1]]).reason == "the run claims to conform, but a case was lost"
