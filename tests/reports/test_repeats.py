"""Reasons and notes that repeat are one line with a count: on the console, on the page and in the summary."""

from __future__ import annotations

import dataclasses
import io

from event_streams import run_of_suites

from rocketmq_conformance.reports.console import ConsoleReport
from rocketmq_conformance.reports.event import CaseEnded, Event, RunStarted, SuiteEnded
from rocketmq_conformance.reports.html import html_page
from rocketmq_conformance.reports.markdown import summary_page
from rocketmq_conformance.reports.repeats import alike, case_reasons, once
from rocketmq_conformance.reports.run_summary import RunSummary


def stream() -> list[Event]:
    """A run of three suites, no case of which could be run, for reasons that differ in numbers and operations."""
    found: list[Event] = []
    for event in run_of_suites(3):
        if isinstance(event, CaseEnded):
            continue
        if isinstance(event, RunStarted):
            event = dataclasses.replace(event, notes=["takes 3 s longer", "takes 5 s longer", "is old"])
        if isinstance(event, SuiteEnded):
            for case in (1, 2):
                found.append(
                    CaseEnded(
                        suite=event.suite,
                        case=case,
                        verdict="could not run",
                        steps=1,
                        seconds=0.1,
                        digest="",
                        reason=f"it did not answer at port {case} in read(queue={case}).",
                    )
                )
            event = dataclasses.replace(event, verdict="could not run", cases={"could not run": 2}, unsupported={})
        found.append(event)
    return found


def summed() -> RunSummary:
    """The summary of the run."""
    summary = RunSummary()
    for event in stream():
        summary.add(event)
    return summary


def test_reasons_that_differ_in_numbers_or_places_are_alike() -> None:
    assert alike("no answer at 127.0.0.1:80 in read(queue=0). (case 3)") == alike("no answer at 127.0.0.1:9 in look().")
    assert alike("no answer") != alike("no route")
    assert once(["takes 3 s", "is old", "takes 5 s"]) == ["takes 3 s (and 1 note like it)", "is old"]


def test_reasons_of_cases_are_counted_together() -> None:
    summary = summed()
    (suite, _), *_ = summary.parts
    assert [(times, first) for _, _, times, first in case_reasons(summary, suite)] == [(2, 1)]


def test_what_several_suites_have_in_common_stands_once() -> None:
    out = io.StringIO()
    report = ConsoleReport(out, width=100)
    for event in stream():
        report(event)
    summary = summary_page(summed())
    page = html_page(stream())
    assert out.getvalue().count("it did not answer at port") == 2  # below the first suite, and with the others' number
    assert "2 more suites: could not run: it did not answer at port 1" in out.getvalue()
    assert summary.count("it did not answer at port") == 1
    assert page.count("it did not answer at port") == 1
    assert "(3 suites)" in page
    for shown in (out.getvalue(), summary, page):
        assert "takes 3 s longer (and 1 note like it)" in shown
        assert "takes 5 s longer" not in shown
