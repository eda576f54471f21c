"""The verdicts of the page: the run's and each suite's, each with the tone in which it is shown.

A *tone* is how a verdict looks: "ok", "bad", "open" (undecided), "broken" (could not run) or "none" (unsupported).
A verdict is "ok" only when no event contradicts it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from rocketmq_conformance.reports.event import (
    CONFORMS,
    COULD_NOT_RUN,
    DIVERGES,
    INTERRUPTED,
    TIME_LIMIT,
    UNDECIDED,
    UNSUPPORTED,
    SuiteEnded,
)
from rocketmq_conformance.reports.html_text import clipped, count, figure, first_items, seconds
from rocketmq_conformance.reports.repeats import alike, by_reason, case_reasons, with_place
from rocketmq_conformance.reports.run_summary import Conclusion, RunSummary
from rocketmq_conformance.reports.text import first_names

TONES = {CONFORMS: "ok", DIVERGES: "bad", UNDECIDED: "open", COULD_NOT_RUN: "broken", UNSUPPORTED: "none"}
#: The meaning of each number.
MEANINGS = {
    CONFORMS: "every answer was the expected one",
    DIVERGES: "an answer was different",
    UNDECIDED: "nothing can be concluded",
    COULD_NOT_RUN: "it did not start, or crashed",
    UNSUPPORTED: "it does not offer this",
}
#: Rows of suites, and reasons per suite, that are listed.
SUITES, REASONS = 400, 12


@dataclass(frozen=True)
class Number:
    """How many cases got a verdict."""

    verdict: str
    tone: str
    value: str
    zero: bool
    meaning: str = ""


@dataclass(frozen=True)
class Headline:
    """The verdict of the whole, in words."""

    verdict: str
    tone: str
    #: One sentence.
    sentence: str
    #: Caveats to read before relying on the verdict.
    warnings: list[str]


@dataclass(frozen=True)
class SuiteRow:
    """One suite of one implementation."""

    suite: str
    address: str
    #: Rows of the same suite from here on; 0 when the row is not its first one.
    span: int
    sentence: str
    verdict: str
    tone: str
    numbers: list[Number]
    steps: str
    took: str
    #: "noticed", "silent", "none" or "" when the suite did not end.
    control: str
    reasons: list[str]
    more_reasons: int


@dataclass(frozen=True)
class VerdictReasons:
    """The reasons behind the verdicts on a suite, for the implementations that share them."""

    suite: str
    #: "" when it is the same for all of them.
    addresses: str
    reasons: list[str]
    more_reasons: int


def numbers(cases: dict[str, int]) -> list[Number]:
    """The five numbers, then those of unknown verdicts."""
    others = [verdict for verdict in cases if verdict not in TONES]
    return [
        Number(clipped(verdict, 40), tone_of(verdict), figure(n), not n, MEANINGS.get(verdict, ""))
        for verdict in (*TONES, *others[:REASONS])
        for n in [cases.get(verdict, 0)]
    ]


def tone_of(verdict: str) -> str:
    """The tone of a verdict that nothing contradicts."""
    return TONES.get(verdict, "open")


def totals(summary: RunSummary) -> dict[str, int]:
    """Cases by verdict: the footer's, or without one those of suites that ended and of single cases."""
    if summary.footer:
        return summary.footer.cases
    ended = {suite for suite, _ in summary.ended}
    parts = [part.cases for part in summary.ended.values()]
    parts += [counts for suite, counts in summary.counted.items() if suite not in ended]
    return _sum(parts)


def _sum(parts: list[dict[str, int]]) -> dict[str, int]:
    total: dict[str, int] = {}
    for part in parts:
        for verdict, number in part.items():
            total[verdict] = total.get(verdict, 0) + number
    return total


def headline(summary: RunSummary, kinds: int, differences: int) -> Headline:
    """The headline; ``kinds`` of divergences from the model, and of ``differences`` between implementations."""
    conclusion = summary.conclusion()
    tone = "ok" if conclusion.passed else tone_of(conclusion.verdict)
    if tone == "ok" and not conclusion.passed:
        tone = "open"
    sentence = _sentence(summary, conclusion, kinds)
    if differences:
        sentence += f" The implementations differ from one another in {count(differences, 'way')}."
    return Headline(clipped(conclusion.verdict, 60) or "no verdict", tone, sentence, _warnings(summary))


def _sentence(summary: RunSummary, conclusion: Conclusion, kinds: int) -> str:
    footer = summary.footer
    if summary.header is None or footer is None:
        # "nothing ran", "the run was cut off before its end"
        return f"{_capitalized(conclusion.reason)}: nothing can be concluded from it."
    if conclusion.passed:
        cases = count(footer.cases.get(CONFORMS, 0), "case")
        words = f"Every answer in {cases} ({count(footer.steps, 'step')}) is one that RocketMQ gives"
        if footer.signed:
            words += f", except for {count(footer.signed, 'kind')} of divergences that someone signed for"
        return words + (", until the time limit stopped it." if footer.stopped == TIME_LIMIT else ".")
    if conclusion.verdict == DIVERGES:
        if conclusion.reason and not footer.divergences:
            return f"{_capitalized(conclusion.reason)}."
        cases = count(footer.cases.get(DIVERGES, 0), "case")
        return f"{cases} with an answer that RocketMQ does not give, in {count(kinds, 'way')}."
    if conclusion.reason:
        known = {INTERRUPTED: "the run was interrupted", TIME_LIMIT: "the time limit stopped the run"}
        return f"{_capitalized(known.get(conclusion.reason, conclusion.reason))}."
    return {
        UNDECIDED: "The results are inconclusive; the suites below say why.",
        COULD_NOT_RUN: "Cases could not be run; the suites below say why.",
        UNSUPPORTED: "The implementation supports nothing that was tried.",
    }.get(conclusion.verdict, "The suites below say what is known.")


def _capitalized(reason: str) -> str:
    """A reason, which may be of any length and anybody's, as the beginning of a sentence."""
    text = clipped(reason, 400)
    return text[:1].upper() + text[1:]


def _warnings(summary: RunSummary) -> list[str]:
    found = []
    footer = summary.footer
    if summary.header is not None and footer is None:
        found.append("The events end before the run does: the numbers are those recorded by then.")
    if summary.unfinished:
        names, more = first_items(summary.unfinished, REASONS)
        rest = f" and {figure(more)} more" if more else ""
        found.append(f"Did not end: {', '.join(clipped(name, 120) for name in names)}{rest}.")
    if footer and footer.stopped:
        found.append(f"Stopped early: {clipped(footer.stopped, 400)}.")
    if footer and footer.left:
        found.append(f"{count(footer.left, 'case')} requested but not played.")
    if summary.disorder:
        found.append(f"The stream of events {summary.disorder}: it was not written by one whole run.")
    silent_controls = [summary.part_name(*part) for part, ended in summary.ended.items() if ended.control is False]
    if silent_controls:
        names, more = first_items(silent_controls, REASONS)
        rest = f" and {figure(more)} more" if more else ""
        words = ", ".join(clipped(name, 120) for name in names)
        found.append(f"A planted wrong answer was not noticed in {words}{rest}: the verdicts there prove nothing.")
    elif footer and footer.controls_noticed < footer.controls:
        found.append(
            f"{figure(footer.controls - footer.controls_noticed)} of {count(footer.controls, 'control')} stayed silent."
        )
    if summary.lost:
        found.append(
            f"{count(len(summary.lost), 'case')} lost: the implementation crashed, hung or exceeded its memory limit."
        )
    return found


def suites(summary: RunSummary) -> tuple[list[SuiteRow], int]:
    """A row per suite and implementation, and how many are left out."""
    parts, more = first_items(summary.parts, SUITES)
    return [_row(summary, suite, address) for suite, address in parts], more


def verdict_reasons(rows: list[SuiteRow]) -> list[VerdictReasons]:
    """The reasons behind verdicts; implementations and suites whose reasons are alike share an entry."""
    sizes = Counter(row.suite for row in rows)
    groups: dict[tuple[object, ...], list[SuiteRow]] = {}
    for row in rows:
        if row.reasons:
            groups.setdefault((tuple(map(alike, row.reasons)), row.more_reasons), []).append(row)
    found = []
    for whose in groups.values():
        names = list(dict.fromkeys(row.suite for row in whose))
        all_of_them = all(sum(row.suite == name for row in whose) == sizes[name] for name in names)
        addresses = "" if all_of_them else ", ".join(dict.fromkeys(row.address for row in whose))
        title = first_names(names) + (f" ({count(len(names), 'suite')})" if len(names) > 1 else "")
        found.append(VerdictReasons(title, addresses, list(whose[0].reasons), whose[0].more_reasons))
    return found


def _row(summary: RunSummary, suite: str, address: str) -> SuiteRow:
    span = max(1, len(summary.addresses)) if address == (summary.addresses or [""])[0] else 0
    ended = summary.ended.get((suite, address))
    started = summary.started.get(suite)
    sentence = clipped(started.sentence, 300) if started else ""
    shown_address = clipped(address, 200) if len(summary.addresses) > 1 or address else ""
    reasons_of_cases, more = first_items(_case_reasons(summary, suite), REASONS)
    if ended is None:
        counts = summary.counted.get(suite, {}) if not summary.addresses or address == summary.addresses[0] else {}
        return SuiteRow(
            *(clipped(suite, 120), shown_address, span, sentence, "did not end", "open", numbers(counts), "", "", ""),
            *(["nothing can be concluded from it", *reasons_of_cases], more),
        )
    verdict, tone, contradiction = verdict_and_tone(summary, ended)
    reasons = [contradiction] if contradiction else []
    reasons += [*([clipped(ended.reason, 400)] if ended.reason else []), *reasons_of_cases]
    unsupported, further = first_items(list(by_reason(ended.unsupported).items()), REASONS)
    reasons += [f"unsupported: {first_names(operations)}: {clipped(why, 300)}" for why, operations in unsupported]
    control = {True: "noticed", False: "silent", None: "none"}[ended.control]
    return SuiteRow(
        *(clipped(suite, 120), shown_address, span, sentence, verdict, tone, numbers(ended.cases)),
        *(figure(ended.steps), seconds(ended.seconds), control, reasons, more + further),
    )


def verdict_and_tone(summary: RunSummary, ended: SuiteEnded) -> tuple[str, str, str]:
    """A suite's verdict, its tone, and what contradicts a good one ("" when nothing does)."""
    if ended.verdict != CONFORMS:
        return clipped(ended.verdict, 60) or "no verdict", tone_of(ended.verdict), ""
    others = set(summary.addresses) - {ended.address}
    worse = [verdict for verdict, n in ended.cases.items() if n > 0 and verdict not in (CONFORMS, UNSUPPORTED)]
    checks = (
        (ended.control is False, "the planted wrong answer was not noticed"),
        (any(one.suite == ended.suite and one.address not in others for one in summary.divergences), "it diverges"),
        (bool(worse), "a case did not conform"),
        (ended.cases.get(CONFORMS, 0) <= 0, "no case conformed"),
        (any(one.suite == ended.suite and one.address not in others for one in summary.lost), "a case was lost"),
    )
    contradiction = next((text for contradicts, text in checks if contradicts), "")
    return (UNDECIDED, "open", f"it claims to conform, but {contradiction}") if contradiction else (CONFORMS, "ok", "")


def _case_reasons(summary: RunSummary, suite: str) -> list[str]:
    return [
        clipped(with_place(summary, suite, clipped(verdict, 60), clipped(reason, 400), times, first), 800)
        for verdict, reason, times, first in case_reasons(summary, suite)
    ]
