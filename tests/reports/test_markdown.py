"""summary.md and badge.json: never kinder than the run, and nothing of an answer is read as Markdown."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path

from event_streams import STREAM, may_pass
from every import every
from hypothesis import given
from places import GOLDEN

from rocketmq_conformance.reports.event import CONFORMS, DivergenceFound, Event, RunStarted
from rocketmq_conformance.reports.jsonl import read
from rocketmq_conformance.reports.kinds import kinds_of
from rocketmq_conformance.reports.markdown import BADGE, SUMMARY, MarkdownReport, badge, summary_page
from rocketmq_conformance.reports.run_summary import RunSummary


def events(name: str) -> list[Event]:
    return read(GOLDEN / f"{name}.events.jsonl").events


def summary_of(stream: list[Event]) -> RunSummary:
    summary = RunSummary()
    for event in stream:
        summary.add(event)
    return summary


def test_a_conforming_run_is_a_few_lines() -> None:
    summary = summary_of(events("conforms"))
    page = summary_page(summary)
    assert page.startswith("## RocketMQ conformance: conforms\n")
    assert "Conforming: " in page
    assert "| suite |" not in page
    assert len(page.partition("<details>")[0].splitlines()) < 12
    assert badge(summary) == {
        "schemaVersion": 1,
        "label": "RocketMQ conformance",
        "message": "conforms",
        "color": "brightgreen",
    }


def test_a_divergence_has_its_rule_its_plan_both_answers_and_its_replay_line() -> None:
    summary = summary_of(events("diverges"))
    page = summary_page(summary)
    one = kinds_of(summary.divergences)[0].exemplar
    assert page.startswith("## RocketMQ conformance: diverges")
    assert all(rule["id"] in page for rule in one.rules)
    assert f"    {one.replay}" in page.splitlines()
    assert all(f"| {step.number} | `{step.operation[:200]}" in page for step in one.steps)
    assert f"Expected `{one.expected[:200]}" in page
    assert f"observed `{one.observed[:200]}" in page
    assert badge(summary)["color"] == "red"
    assert re.fullmatch(r"diverges \(\d+\)", str(badge(summary)["message"]))


@every("name", ["undecided", "interrupted", "killed", "empty"])
def test_what_did_not_pass_is_not_green(name: str) -> None:
    summary = summary_of(events(name))
    assert badge(summary)["color"] != "brightgreen"
    assert not summary_page(summary).startswith("## RocketMQ conformance: conforms")


@given(STREAM)
def test_green_only_for_a_pass_whatever_the_events(stream: list[Event]) -> None:
    summary = summary_of(stream)
    page, shown = summary_page(summary), badge(summary)
    page.encode()
    json.dumps(shown).encode()
    if shown["color"] == "brightgreen":
        assert may_pass(stream)
        assert page.startswith(f"## RocketMQ conformance: {CONFORMS}\n")


def test_answers_are_no_markdown() -> None:
    stream = events("diverges")
    nasty = "|<b>`x``\n# y"
    changed = [
        dataclasses.replace(event, observed=nasty, rules=[{"id": "*A*", "sentence": "<i>|"}])
        if isinstance(event, DivergenceFound)
        else event
        for event in stream
    ]
    page = summary_page(summary_of(changed))
    assert "observed ```|<b>`x``\\n# y```." in page
    assert "- \\*A\\*: \\<i\\>|" in page


def test_what_stands_in_code_marks_and_in_html_has_no_marks_of_markdown() -> None:
    divergence = next(event for event in events("diverges") if isinstance(event, DivergenceFound))
    step = dataclasses.replace(divergence.steps[0], operation="do(how='a|b_c')")
    nasty = dataclasses.replace(divergence, address="client:./my_<client>", expected="a|b_c", steps=[step])
    page = summary_page(summary_of([*events("conforms")[:1], nasty]))
    assert "Expected `a|b_c`, observed" in page
    assert "| `do(how='a\\|b_c')` |" in page  # in a cell a bar is escaped everywhere
    assert " of client:./my_&lt;client&gt;</summary>" in page


def test_a_run_that_has_just_begun_has_no_old_verdict(tmp_path: Path) -> None:
    (tmp_path / BADGE).write_text("old")
    report = MarkdownReport(tmp_path)
    header = next(event for event in events("conforms") if isinstance(event, RunStarted))
    report(header)
    assert json.loads((tmp_path / BADGE).read_text())["color"] == "yellow"
    assert "undecided: the run was cut off before its end" in (tmp_path / SUMMARY).read_text()
    for event in events("conforms")[1:]:
        report(event)
    report.close()
    assert json.loads((tmp_path / BADGE).read_text())["message"] == CONFORMS
    assert sorted(path.name for path in tmp_path.iterdir()) == [BADGE, SUMMARY]
