"""summary.md and badge.json: a run for the summary page of a CI server, and for a README.

The summary holds the verdict, a line per suite that does not simply conform, the suites that do, the results of rules,
and the first kinds of divergences with their replay lines. The badge is an endpoint of shields.io: a label, a message
and a colour. Both are written when the run begins and again when it ends, so that a killed run never shows an old pass.
"""

from __future__ import annotations

import json
from html import escape
from pathlib import Path

from rocketmq_conformance.reports.divergence_block import noun, what_differs
from rocketmq_conformance.reports.event import (
    CONFORMS,
    COULD_NOT_RUN,
    DIFFERS,
    DIVERGES,
    NOT_REACHED,
    UNDECIDED,
    UNSUPPORTED,
    Event,
    RuleResult,
    RunStarted,
    SuiteEnded,
)
from rocketmq_conformance.reports.kinds import Kind, by_rule, first_kinds, kinds_of
from rocketmq_conformance.reports.markdown_table import markdown_table
from rocketmq_conformance.reports.repeats import alike, case_reasons, once, with_place
from rocketmq_conformance.reports.repeats import by_reason as operations
from rocketmq_conformance.reports.rule_results import by_reason, clauses_of, counted, result_counts
from rocketmq_conformance.reports.run_summary import RunSummary
from rocketmq_conformance.reports.text import clean, count, duration, first_names, profile
from rocketmq_conformance.reports.whole_file import write_whole

#: Names of the files in the folder of a run.
SUMMARY, BADGE = "summary.md", "badge.json"

_COLOURS = {CONFORMS: "brightgreen", DIVERGES: "red", UNDECIDED: "yellow", COULD_NOT_RUN: "lightgrey"}
#: Characters of Markdown that an answer must not be read as.
_MARKS = str.maketrans({mark: f"\\{mark}" for mark in "\\`*_{}[]<>#!~"})
#: Longest answer in the summary.
_LONG = 200


class MarkdownReport:
    """Writes both files into the folder of a run."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._summary = RunSummary()

    def __call__(self, event: Event) -> None:
        """Enter the event; the header writes the files."""
        self._summary.add(event)
        if isinstance(event, RunStarted):
            self.close()

    def close(self) -> None:
        """Write the files for the last time."""
        write_whole(self._folder / SUMMARY, summary_page(self._summary))
        write_whole(self._folder / BADGE, json.dumps(badge(self._summary)) + "\n")


def badge(summary: RunSummary) -> dict[str, object]:
    """The endpoint of a badge: the verdict, and by which releases."""
    conclusion = summary.conclusion()
    found = len(kinds_of(summary.divergences))
    message = f"{conclusion.verdict} ({found})" if conclusion.verdict == DIVERGES and found else conclusion.verdict
    colour = _COLOURS.get(conclusion.verdict, "lightgrey")
    return {"schemaVersion": 1, "label": "RocketMQ conformance", "message": message, "color": colour}


def summary_page(summary: RunSummary) -> str:
    """The summary as Markdown."""
    header, footer, conclusion = summary.header, summary.footer, summary.conclusion()
    reason = f": {_text(conclusion.reason)}" if conclusion.reason else ""
    lines = [f"## RocketMQ conformance: {_text(conclusion.verdict)}{reason}", ""]
    if header is not None:
        lines += [f"{_code(header.address)}, judged as {_text(profile(header.profile))}; seed {header.seed}.", ""]
    if footer is not None:
        cases = count(sum(footer.cases.values()), "case")
        lines += [f"{cases}, {count(footer.steps, 'step')}, {duration(footer.seconds)}.", ""]
    if header is not None and header.notes:
        lines += [*(f"- {_text(note)}" for note in once(header.notes)), ""]
    lines += _suites(summary)
    lines += _rules(summary.rules)
    kinds = kinds_of(summary.divergences + summary.doubtful + summary.differences)
    shown = first_kinds(kinds)
    for kind in shown:
        lines += _divergence(summary, kind)
    if len(kinds) > len(shown):
        rest = _text(by_rule(kind for kind in kinds if kind not in shown))
        more = count(len(kinds) - len(shown), "more kind")
        lines += [f"{more} of divergences ({rest}): `report.html` has them all.", ""]
    return "\n".join(lines)


def _suites(summary: RunSummary) -> list[str]:
    conforming = [part for part in summary.parts if part in summary.ended and summary.ended[part].verdict == CONFORMS]
    others = [part for part in summary.parts if part not in conforming]
    lines = []
    if others:
        together: dict[tuple[str, str], list[tuple[str, str]]] = {}
        for part in others:
            ended = summary.ended.get(part)
            why = ("undecided", "it did not end") if ended is None else (ended.verdict, _why(summary, ended))
            together.setdefault((why[0], alike(why[1])), []).append(part)
        rows = []
        for (verdict, _), parts in together.items():
            names = _text(first_names(summary.part_name(*part) for part in parts))
            ends = [summary.ended[part] for part in parts if part in summary.ended]
            cases = f"{sum(sum(one.cases.values()) for one in ends):,}" if ends else ""
            why_of_first = _why(summary, ends[0]) if ends else "it did not end"
            rows.append((names, _text(verdict), cases, _text(why_of_first)))
        lines += [*markdown_table(("suite", "verdict", "cases", "why"), rows, {"cases"}), ""]
    if conforming:
        names = ", ".join(_text(summary.part_name(*part)) for part in conforming)
        lines += [f"Conforming: {names}.", ""]
    return lines


def _rules(results: list[RuleResult]) -> list[str]:
    """How many rules hold, differ and were not reached, and behind it each of them, or its reason."""
    if not results:
        return []
    reached = sorted((one for one in results if one.result != NOT_REACHED), key=lambda one: one.result != DIFFERS)
    lines = [f"<details><summary>Rules: {counted(result_counts(results))}</summary>", ""]
    if reached:
        cells = (
            (one.rule, one.level, one.result, f"{one.times:,}", clauses_of(one), one.reason or one.sentence)
            for one in reached
        )
        columns = ("rule", "level", "result", "steps", "clauses", "")
        lines += [*markdown_table(columns, (map(_text, row) for row in cells), {"steps"}), ""]
    missed = by_reason(results)
    if missed:
        reasons = ((_text(", ".join(one.rule for one in rules)), _text(reason)) for reason, rules in missed.items())
        lines += [*markdown_table(("not reached", "why"), reasons), ""]
    return [*lines, "</details>", ""]


def _why(summary: RunSummary, ended: SuiteEnded) -> str:
    if ended.reason:
        return ended.reason
    if ended.verdict == UNSUPPORTED:
        return "; ".join(f"{first_names(names)}: {reason}" for reason, names in operations(ended.unsupported).items())
    if ended.verdict == DIVERGES:  # its divergences are below
        return ""
    return first_names((with_place(summary, ended.suite, *one) for one in case_reasons(summary, ended.suite)), 2)


def _divergence(summary: RunSummary, kind: Kind) -> list[str]:
    one = kind.exemplar
    of = f" of {one.address}" if one.address else ""
    more = f", and {kind.cases - 1:,} more" if kind.cases > 1 else ""
    # inside an element of HTML that begins a line nothing is read as Markdown
    where = escape(clean(f"{one.suite}, {summary.case_name(one.suite, one.case)}{of}{more}"), quote=False)
    lines = [f"<details><summary>{noun(one)}: {where}</summary>", ""]
    lines += [f"**{_text(one.harm)}**: {_text(one.consequence)}", ""] if one.consequence else []
    lines += [f"- {_text(rule.get('id', '?'))}: {_text(rule.get('sentence', ''))}" for rule in one.rules]
    if one.steps:
        steps = ((str(step.number), _code(step.operation)) for step in one.steps)
        lines += ["", *markdown_table(("step", ""), steps, {"step"})]
    expected, observed = what_differs(one)
    lines += ["", f"Expected {_code(expected)}, observed {_code(observed)}.", ""]
    lines += [f"Undecided: {_text(one.doubt)}.", ""] if one.doubt else []
    lines += [f"    {clean(one.replay)}", "", "</details>", ""]
    return lines


def _text(text: str) -> str:
    return clean(text).translate(_MARKS)


def _code(text: str) -> str:
    """Text in code marks that no character of it ends, cut where it is long."""
    shown = clean(text)
    shown = shown if len(shown) <= _LONG else shown[:_LONG] + "…"
    fence = "`"
    while fence in shown:
        fence += "`"
    space = " " if shown[:1] == "`" or shown[-1:] == "`" else ""
    return f"{fence}{space}{shown}{space}{fence}"
