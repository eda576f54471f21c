"""junit.xml: the report of a run for CI servers.

One test suite per suite. Its test cases are the rules that the suite can reach, so that a CI server's history is the
history of a rule, and two more: ``verdict``, the suite as a whole, and ``control``, the planted wrong answer.

=========== ========================================================================================
failure     a divergence; a suite that diverges
error       undecided, could not run, not finished, a control that stayed silent: nothing is known
skipped     unsupported; a rule that was not reached, with the reason; a control that no case could carry
=========== ========================================================================================

One more test suite, ``rules not reached``, has the rules that no suite of the run can reach, and another one, ``run``,
the verdict of the whole run. The file is written when the run begins and again
whenever a suite ends: a killed run leaves neither an old pass nor no file at all, but one in which each suite that has
not ended is an error.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from rocketmq_conformance.reports.divergence_block import plain_text, what_differs
from rocketmq_conformance.reports.event import (
    CONFORMS,
    DIVERGES,
    HOLDS,
    NOT_REACHED,
    UNSUPPORTED,
    DivergenceFound,
    Event,
    RuleResult,
    RunStarted,
    SuiteEnded,
)
from rocketmq_conformance.reports.kinds import harm_rank
from rocketmq_conformance.reports.rule_results import rule_results
from rocketmq_conformance.reports.run_summary import RunSummary
from rocketmq_conformance.reports.text import clean, count, profile
from rocketmq_conformance.reports.whole_file import write_whole

#: Name of the file in the folder of a run.
NAME = "junit.xml"

_PACKAGE = "rocketmq-conformance"
#: Columns of the failure blocks inside the file.
_WIDTH = 100
_OUTCOMES = ("failure", "error", "skipped")
#: Longer messages spoil a CI server's overview; the text below them has it all.
_MESSAGE = 300


@dataclass(frozen=True)
class _TestCase:
    """A test case; ``outcome`` is one of ``_OUTCOMES`` or "" for a pass."""

    name: str
    outcome: str = ""
    message: str = ""
    body: str = ""
    seconds: float = 0.0


class JunitReport:
    """Writes the JUnit XML file of a run."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._summary = RunSummary()

    def __call__(self, event: Event) -> None:
        """Enter the event; the header and the end of a suite rewrite the file."""
        self._summary.add(event)
        if isinstance(event, RunStarted | SuiteEnded):
            self._write()

    def close(self) -> None:
        """Write the file for the last time."""
        self._write()

    def _write(self) -> None:
        write_whole(self._path, document(self._summary))


def document(summary: RunSummary) -> str:
    """The XML file of the events that a summary has collected."""
    root = ElementTree.Element("testsuites", name=_PACKAGE)
    # until the run says what became of rules, a suite alone says it of its own
    rules = summary.rules if summary.judged else []
    reasons = {one.rule: one.reason for one in rules}
    suites = [(summary.part_name(*part), _suite_cases(summary, *part, reasons)) for part in summary.parts]
    others = _other_rules(rules, {case.name for _, cases in suites for case in cases})
    suites += [("rules not reached", others)] if others else []
    everything = [case for _, cases in suites for case in cases] + _run_cases(summary)
    for name, number in _numbers(everything).items():
        # "skipped" is no attribute of the root.
        if name != "skipped":
            root.set(name, str(number))
    root.set("time", f"{sum(case.seconds for case in everything):.3f}")
    for suite, cases in suites:
        root.append(_element(summary, suite, cases))
    root.append(_element(summary, "run", _run_cases(summary)))
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _run_cases(summary: RunSummary) -> list[_TestCase]:
    conclusion = summary.conclusion()
    message = f"{conclusion.verdict}: {conclusion.reason}" if conclusion.reason else conclusion.verdict
    if conclusion.passed:
        return [_TestCase("verdict")]
    return [_TestCase("verdict", "failure" if conclusion.verdict == DIVERGES else "error", message)]


def _suite_cases(summary: RunSummary, suite: str, address: str, reasons: Mapping[str, str]) -> list[_TestCase]:
    """The test cases of a suite; ``reasons`` are why rules were not reached."""
    # A divergence without an address counts against every implementation.
    others = set(summary.addresses) - {address}
    found = [one for one in summary.divergences if one.suite == suite and one.address not in others]
    ended = summary.ended.get((suite, address))
    if ended is None:
        error = _TestCase("verdict", "error", "the suite did not end, so nothing is known of it")
        return [*_rule_cases(summary, found, [], reasons), error]
    rules = _rule_cases(summary, found, [ended], reasons)
    return [
        *rules,
        _verdict_case(summary, ended),
        *([] if ended.verdict == UNSUPPORTED else [_control_case(ended)]),
    ]


def _rule_cases(
    summary: RunSummary, divergences: list[DivergenceFound], ended: list[SuiteEnded], reasons: Mapping[str, str]
) -> list[_TestCase]:
    """A test case per rule of a suite; a divergence fails the rule that is responsible for it."""
    cases = []
    for one in rule_results((), ended, divergences):
        # Divergences with the same fingerprint differ only in values: the first one represents them.
        failed = [found for found in divergences if found.rules and found.rules[0].get("id", "") == one.rule]
        if failed:
            by_fingerprint = {divergence.fingerprint: divergence for divergence in reversed(failed)}
            worst = min(failed, key=harm_rank)
            does = f"{worst.harm}: {worst.consequence} " if worst.consequence else ""
            expected, observed = what_differs(worst)
            message = f"{does}expected {expected}, observed {observed}"
            bodies = [
                plain_text(divergence, _WIDTH, summary.case_name(divergence.suite, divergence.case))
                for divergence in reversed(by_fingerprint.values())
            ]
            cases.append(_TestCase(one.rule, "failure", message, "\n\n".join(bodies)))
        elif one.result == HOLDS:
            cases.append(_TestCase(one.rule))
        else:
            cases.append(_TestCase(one.rule, "skipped", _not_reached(reasons.get(one.rule) or one.reason)))
    return sorted(cases, key=lambda case: case.outcome != "failure")


def _other_rules(rules: list[RuleResult], named: set[str]) -> list[_TestCase]:
    """The rules that are no test case of a suite."""
    others = [one for one in rules if one.rule not in named]
    return [_TestCase(one.rule, "skipped", _not_reached(one.reason)) for one in others]


def _not_reached(reason: str) -> str:
    return f"{NOT_REACHED}: {reason}" if reason else NOT_REACHED


def _verdict_case(summary: RunSummary, ended: SuiteEnded) -> _TestCase:
    reasons = [
        f"{verdict}: {reason} ({count(times, 'case')}, first {summary.case_name(suite, first)})"
        for (suite, verdict, reason), (times, first) in summary.reasons.items()
        if suite == ended.suite and reason
    ]
    reasons += [f"unsupported: {operation}: {why}" for operation, why in ended.unsupported.items()]
    counts = ", ".join(f"{verdict} {number}" for verdict, number in ended.cases.items())
    message = f"{ended.verdict}: {ended.reason or counts}"
    body = "\n".join(clean(line) for line in reasons)
    outcome = {CONFORMS: "", DIVERGES: "failure", UNSUPPORTED: "skipped"}.get(ended.verdict, "error")
    if outcome == "" and ended.cases.get(CONFORMS, 0) == 0:
        outcome, message = "error", "no case conformed, so nothing is known of the suite"
    return _TestCase("verdict", outcome, message, body, ended.seconds)


def _control_case(ended: SuiteEnded) -> _TestCase:
    if ended.control:
        return _TestCase("control")
    if ended.control is None:
        return _TestCase("control", "skipped", "no case could carry a planted wrong answer")
    return _TestCase(
        "control", "error", "the planted wrong answer was not noticed: the suite's verdict rests on nothing"
    )


def _numbers(cases: list[_TestCase]) -> dict[str, int]:
    outcomes = [case.outcome for case in cases]
    return {
        "tests": len(cases),
        "failures": outcomes.count("failure"),
        "errors": outcomes.count("error"),
        "skipped": outcomes.count("skipped"),
    }


def _element(summary: RunSummary, suite: str, cases: list[_TestCase]) -> ElementTree.Element:
    element = ElementTree.Element("testsuite", name=_name(suite))
    for name, number in _numbers(cases).items():
        element.set(name, str(number))
    element.set("time", f"{sum(case.seconds for case in cases):.3f}")
    if summary.header:
        element.set("timestamp", clean(summary.header.started))
        element.append(_properties(summary.header))
    for case in cases:
        child = ElementTree.SubElement(
            element,
            "testcase",
            classname=f"{_PACKAGE}.{_name(suite)}",
            name=_name(case.name),
            time=f"{case.seconds:.3f}",
        )
        if case.outcome:
            message = clean(case.message)
            message = message if len(message) <= _MESSAGE else message[: _MESSAGE - 3] + "..."
            inner = ElementTree.SubElement(child, case.outcome, message=message)
            inner.text = case.body or None
    return element


def _name(text: str) -> str:
    """A name that a CI server can make a link of."""
    return clean(text) or "nameless"


def _properties(header: RunStarted) -> ElementTree.Element:
    element = ElementTree.Element("properties")
    values = {
        "implementation": f"{header.implementation} {header.version}",
        "address": header.address,
        "profile": profile(header.profile),
        "seed": str(header.seed),
        "kit": header.kit,
        "rulebook": header.rulebook,
    }
    for name, value in values.items():
        ElementTree.SubElement(element, "property", name=name, value=clean(value))
    return element
