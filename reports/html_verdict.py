"""The verdicts of the page: the run's and each suite's, each with the tone in which it is shown.

A *tone* is how a verdict looks: "ok", "bad", "open" (undecided), "broken" (could not run) or "none" (unsupported).
A verdict is "ok" only when no event contradicts it.
"""

from __future__ import annotations

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
from rocketmq_conformance.reports.html_text import capped, count, figure, seconds, shown
from rocketmq_conformance.reports.run_summary import Conclusion, Ledger

TONES = {CONFORMS: "ok", DIVERGES: "bad", UNDECIDED: "open", COULD_NOT_RUN: "broken", UNSUPPORTED: "none"}
#: What each number counts.
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
    #: What a reader must know before relying on the verdict.
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
    silent: list[str]


@dataclass(frozen=True)
class Why:
    """The reasons behind the verdicts on a suite, for the implementations that share them."""

    suite: str
    #: "" when it is the same for all of them.
    addresses: str
    reasons: list[str]
    more_reasons: int
    silent: list[str]


def numbers(cases: dict[str, int]) -> list[Number]:
    """The five numbers, then those of unknown verdicts."""
    others = [verdict for verdict in cases if verdict not in TONES]
    return [
        Number(shown(verdict, 40), tone_of(verdict), figure(n), not n, MEANINGS.get(verdict, ""))
        for verdict in (*TONES, *others[:REASONS])
        for n in [cases.get(verdict, 0)]
    ]


def tone_of(verdict: str) -> str:
    """The tone of a verdict that nothing contradicts."""
    return TONES.get(verdict, "open")


def totals(ledger: Ledger) -> dict[str, int]:
    """Cases by verdict: the footer's, or without one those of suites that ended and of single cases."""
    if ledger.footer:
        return ledger.footer.cases
    ended = {suite for suite, _ in ledger.ended}
    parts = [part.cases for part in ledger.ended.values()]
    parts += [counts for suite, counts in ledger.counted.items() if suite not in ended]
    return _sum(parts)


def _sum(parts: list[dict[str, int]]) -> dict[str, int]:
    total: dict[str, int] = {}
    for part in parts:
        for verdict, number in part.items():
            total[verdict] = total.get(verdict, 0) + number
    return total


def headline(ledger: Ledger, kinds: int, differences: int) -> Headline:
    """The headline; ``kinds`` of divergences from the model, and of ``differences`` between implementations."""
    conclusion = ledger.conclusion()
    tone = "ok" if conclusion.passed else tone_of(conclusion.verdict)
    if tone == "ok" and not conclusion.passed:
        tone = "open"
    sentence = _sentence(ledger, conclusion, kinds)
    if differences:
        sentence += f" The implementations differ from one another in {count(differences, 'way')}."
    return Headline(shown(conclusion.verdict, 60) or "no verdict", tone, sentence, _warnings(ledger))


def _sentence(ledger: Ledger, conclusion: Conclusion, kinds: int) -> str:
    footer = ledger.footer
    if ledger.header is None or footer is None:
        # "nothing ran", "the run was cut off before its end"
        return f"{conclusion.reason[:1].upper()}{conclusion.reason[1:]}: nothing can be concluded from it."
    if conclusion.passed:
        cases = count(footer.cases.get(CONFORMS, 0), "case")
        words = f"Every answer in {cases} ({count(footer.steps, 'step')}) is one that RocketMQ gives"
        return words + (", until the time limit stopped it." if footer.stopped == TIME_LIMIT else ".")
    if conclusion.verdict == DIVERGES:
        cases = count(footer.cases.get(DIVERGES, 0), "case")
        return f"{cases} with an answer that RocketMQ does not give, in {count(kinds, 'way')}."
    if conclusion.reason:
        known = {INTERRUPTED: "the run was interrupted", TIME_LIMIT: "the time limit stopped the run"}
        said = known.get(conclusion.reason, shown(conclusion.reason, 400))
        return f"{said[:1].upper()}{said[1:]}."
    return {
        UNDECIDED: "The results are inconclusive; the suites below say why.",
        COULD_NOT_RUN: "Cases could not be run; the suites below say why.",
        UNSUPPORTED: "The implementation supports nothing that was tried.",
    }.get(conclusion.verdict, "The suites below say what is known.")


def _warnings(ledger: Ledger) -> list[str]:
    found = []
    footer = ledger.footer
    if ledger.header is not None and footer is None:
        found.append("The events end before the run does: the numbers are those recorded by then.")
    if ledger.unfinished:
        names, more = capped(ledger.unfinished, REASONS)
        rest = f" and {figure(more)} more" if more else ""
        found.append(f"Did not end: {', '.join(shown(name, 120) for name in names)}{rest}.")
    if footer and footer.stopped:
        found.append(f"Stopped early: {shown(footer.stopped, 400)}.")
    if footer and footer.left:
        found.append(f"{count(footer.left, 'case')} requested but not played.")
    if ledger.disorder:
        found.append(f"The stream of events {ledger.disorder}: it was not written by one whole run.")
    deaf = [ledger.part_name(*part) for part, ended in ledger.ended.items() if ended.control is False]
    if deaf:
        names, more = capped(deaf, REASONS)
        rest = f" and {figure(more)} more" if more else ""
        words = ", ".join(shown(name, 120) for name in names)
        found.append(f"A planted wrong answer was not noticed in {words}{rest}: the verdicts there prove nothing.")
    elif footer and footer.controls_noticed < footer.controls:
        found.append(
            f"{figure(footer.controls - footer.controls_noticed)} of {count(footer.controls, 'control')} stayed silent."
        )
    if ledger.lost:
        found.append(
            f"{count(len(ledger.lost), 'case')} lost: the implementation crashed, hung or exceeded its memory limit."
        )
    return found


def suites(ledger: Ledger) -> tuple[list[SuiteRow], int]:
    """A row per suite and implementation, and how many are left out."""
    parts, more = capped(ledger.parts, SUITES)
    return [_row(ledger, suite, address) for suite, address in parts], more


def whys(rows: list[SuiteRow]) -> list[Why]:
    """The reasons behind verdicts; implementations with the same reasons share an entry."""
    groups: dict[tuple[str, tuple[str, ...], int, tuple[str, ...]], list[str]] = {}
    sizes: dict[str, int] = {}
    for row in rows:
        sizes[row.suite] = sizes.get(row.suite, 0) + 1
        if row.reasons or row.silent:
            key = (row.suite, tuple(row.reasons), row.more_reasons, tuple(row.silent))
            groups.setdefault(key, []).append(row.address)
    return [
        Why(suite, "" if len(whose) == sizes[suite] else ", ".join(whose), list(reasons), more, list(silent))
        for (suite, reasons, more, silent), whose in groups.items()
    ]


def _row(ledger: Ledger, suite: str, address: str) -> SuiteRow:
    span = max(1, len(ledger.addresses)) if address == (ledger.addresses or [""])[0] else 0
    ended = ledger.ended.get((suite, address))
    started = ledger.started.get(suite)
    sentence = shown(started.sentence, 300) if started else ""
    shown_address = shown(address, 200) if len(ledger.addresses) > 1 or address else ""
    told, more = capped(_case_reasons(ledger, suite), REASONS)
    if ended is None:
        counts = ledger.counted.get(suite, {}) if not ledger.addresses or address == ledger.addresses[0] else {}
        return SuiteRow(
            *(shown(suite, 120), shown_address, span, sentence, "did not end", "open", numbers(counts), "", "", ""),
            *(["nothing can be concluded from it", *told], more, []),
        )
    verdict, tone, doubt = judged(ledger, ended)
    reasons = [*([doubt] if doubt else []), *([shown(ended.reason, 400)] if ended.reason else []), *told]
    unsupported, further = capped(list(ended.unsupported.items()), REASONS)
    reasons += [f"unsupported: {shown(operation, 80)}: {shown(why, 300)}" for operation, why in unsupported]
    control = {True: "noticed", False: "silent", None: "none"}[ended.control]
    return SuiteRow(
        *(shown(suite, 120), shown_address, span, sentence, verdict, tone, numbers(ended.cases)),
        *(figure(ended.steps), seconds(ended.seconds), control, reasons, more + further),
        [shown(rule, 80) for rule in ended.silent_rules],
    )


def judged(ledger: Ledger, ended: SuiteEnded) -> tuple[str, str, str]:
    """A suite's verdict, its tone, and what contradicts a good one ("" when nothing does)."""
    if ended.verdict != CONFORMS:
        return shown(ended.verdict, 60) or "no verdict", tone_of(ended.verdict), ""
    others = set(ledger.addresses) - {ended.address}
    worse = [verdict for verdict, n in ended.cases.items() if n > 0 and verdict not in (CONFORMS, UNSUPPORTED)]
    doubts = (
        (ended.control is False, "the planted wrong answer was not noticed"),
        (any(one.suite == ended.suite and one.address not in others for one in ledger.divergences), "it diverges"),
        (bool(worse), "a case did not conform"),
        (ended.cases.get(CONFORMS, 0) <= 0, "no case conformed"),
        (any(one.suite == ended.suite and one.address not in others for one in ledger.lost), "a case was lost"),
    )
    doubt = next((text for doubtful, text in doubts if doubtful), "")
    return (UNDECIDED, "open", f"it claims to conform, but {doubt}") if doubt else (CONFORMS, "ok", "")


def _case_reasons(ledger: Ledger, suite: str) -> list[str]:
    reasons = []
    for (of, verdict, reason), (times, first) in ledger.reasons.items():
        if of == suite and reason:
            name = shown(ledger.case_name(suite, first), 300)
            where = name if times == 1 else f"{figure(times)} cases, first {name}"
            reasons.append(f"{shown(verdict, 60)}: {shown(reason, 400)} ({where})")
    return reasons
