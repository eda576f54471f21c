"""The page as plain data for its template: every text cleaned, every list bounded, every omission counted."""

from __future__ import annotations

from dataclasses import dataclass

from rocketmq_conformance.reports.event import RunStarted
from rocketmq_conformance.reports.html_curve import Chart, charts
from rocketmq_conformance.reports.html_rules import Rules, rules
from rocketmq_conformance.reports.html_story import Stories, stories
from rocketmq_conformance.reports.html_text import clipped, count, figure, first_items, memory, seconds
from rocketmq_conformance.reports.html_verdict import (
    Headline,
    Number,
    SuiteRow,
    VerdictReasons,
    headline,
    numbers,
    suites,
    totals,
    verdict_reasons,
)
from rocketmq_conformance.reports.repeats import once
from rocketmq_conformance.reports.run_summary import RunSummary
from rocketmq_conformance.reports.text import rate
from rocketmq_conformance.reports.tiers import CORPUS, COVER, HYPOTHESIS, SEEDED
from rocketmq_conformance.reports.voices import sides, since

#: Tiers whose cases are a fact of their own.
_TIERS = {
    COVER: "Covering plans",
    CORPUS: "Plans of the corpus",
    SEEDED: "Cases from the seed",
    HYPOTHESIS: "Cases that Hypothesis drew",
}
#: Notes, lost cases and ways in which implementations part that are listed.
NOTES, LOST, VOICES = 40, 200, 200


@dataclass(frozen=True)
class Fact:
    """A label and what it names."""

    label: str
    value: str


@dataclass(frozen=True)
class Lost:
    """A case that ended the implementation's process twice."""

    suite: str
    case: str
    address: str
    reason: str


@dataclass(frozen=True)
class VoiceRow:
    """A way in which implementations part."""

    suite: str
    cases: str
    first: str
    voices: list[str]
    since: str


@dataclass(frozen=True, kw_only=True)
class View:
    """The whole page."""

    title: str
    subject: str
    head: Headline
    numbers: list[Number]
    #: Is the run over, so that the numbers are its numbers?
    whole: bool
    facts: list[Fact]
    notes: list[str]
    more_notes: int
    suites: list[SuiteRow]
    reasons: list[VerdictReasons]
    more_suites: int
    several: bool
    #: Of several implementations: each, and its five numbers over all suites.
    implementations: list[tuple[str, list[Number]]]
    #: From the model.
    stories: Stories
    #: Between two implementations.
    differences: Stories
    #: From the model, and undecided.
    doubtful: Stories
    rules: Rules
    charts: list[Chart]
    more_charts: int
    voices: list[VoiceRow]
    more_voices: int
    lost: list[Lost]
    more_lost: int
    resources: list[Fact]


def view(summary: RunSummary) -> View:
    """The page of the events that a summary has collected."""
    divergences = stories(summary, summary.divergences)
    differences = stories(summary, summary.differences)
    head = headline(summary, divergences.kinds, differences.kinds)
    header = summary.header
    notes, more_notes = first_items(once(header.notes) if header else [], NOTES)
    rows, more_suites = suites(summary)
    drawn, more_charts = charts(summary.discoveries)
    lost, more_lost = first_items(summary.lost, LOST)
    spoken, more_voices = first_items(summary.voices, VOICES)
    subject = clipped(f"{header.implementation} {header.version}".strip(), 200) if header else "no run"
    if len(summary.addresses) > 1:
        subject = count(len(summary.addresses), "implementation")
    return View(
        title=f"{head.verdict} · {subject}" + (f" · seed {figure(header.seed).replace(',', '')}" if header else ""),
        subject=subject,
        head=head,
        numbers=numbers(totals(summary)),
        whole=summary.footer is not None,
        facts=_facts(header) if header else [],
        notes=[clipped(note, 600) for note in notes],
        more_notes=more_notes,
        suites=rows,
        reasons=verdict_reasons(rows),
        more_suites=more_suites,
        several=len(summary.addresses) > 1,
        implementations=_implementations(summary),
        stories=divergences,
        differences=differences,
        doubtful=stories(summary, summary.doubtful),
        rules=rules(summary),
        charts=drawn,
        more_charts=more_charts,
        voices=[
            VoiceRow(
                clipped(one.suite, 120),
                figure(one.cases),
                figure(one.case),
                [clipped(side, 600) for side in sides(one, summary.addresses)],
                clipped(since(one), 600),
            )
            for one in spoken
        ],
        more_voices=more_voices,
        lost=[
            Lost(
                clipped(x.suite, 120),
                clipped(summary.case_name(x.suite, x.case).removeprefix("case "), 300),
                clipped(x.address, 200),
                clipped(x.reason, 600),
            )
            for x in lost
        ],
        more_lost=more_lost,
        resources=_resources(summary),
    )


def _facts(header: RunStarted) -> list[Fact]:
    releases = list(header.profile.items())[:8]
    return [
        Fact("Address", clipped(header.address, 1000)),
        Fact("Judged by", ", ".join(f"{clipped(side, 40)} {clipped(release, 60)}" for side, release in releases)),
        Fact("Rule book", clipped(header.rulebook, 100)),
        Fact("Seed", str(header.seed) if abs(header.seed) < 10**21 else figure(header.seed)),
        Fact("Kit", clipped(header.kit, 100)),
        Fact("Started", clipped(header.started, 100)),
        Fact("Kept in", clipped(header.out, 1000) or "nothing is kept"),
        *(Fact("Configured", clipped(one.get("sentence", ""), 600)) for one in header.properties[:NOTES]),
    ]


def _implementations(summary: RunSummary) -> list[tuple[str, list[Number]]]:
    if len(summary.addresses) < 2:
        return []
    found = []
    for address in summary.addresses[:NOTES]:
        cases: dict[str, int] = {}
        for (_, whose), ended in summary.ended.items():
            for verdict, number in ended.cases.items() if whose == address else ():
                cases[verdict] = cases.get(verdict, 0) + number
        found.append((clipped(address, 200) or "unnamed", numbers(cases)))
    return found


def _resources(summary: RunSummary) -> list[Fact]:
    footer, ended = summary.footer, summary.ended.values()
    steps = footer.steps if footer else sum(part.steps for part in ended)
    took = footer.seconds if footer else sum(part.seconds for part in ended)
    noticed = footer.controls_noticed if footer else sum(part.control is True for part in ended)
    planted = footer.controls if footer else sum(part.control is not None for part in ended)
    facts = [
        Fact("Steps", figure(steps)),
        Fact("Time", seconds(took)),
        Fact("Controls noticed", f"{figure(noticed)} of {figure(planted)}"),
    ]
    if steps and seconds(took) != "?" and took > 0:
        facts.insert(2, Fact("Steps per second", rate(steps, took)))
    if footer and footer.workers:
        facts.append(Fact("Workers", figure(footer.workers)))
        facts.append(Fact("Most memory of a worker", memory(footer.peak_memory)))
    elif footer and footer.peak_memory:
        facts.append(Fact("Most memory", memory(footer.peak_memory)))
    for tier, title in _TIERS.items():
        verdicts = list(summary.several_tiers.get(tier, {}).items())[:8]
        if verdicts:
            alone = summary.kinds_alone(tier)
            said = [f"{clipped(verdict, 40)} {figure(n)}" for verdict, n in verdicts]
            said += [f"{count(alone, 'kind')} shown by these alone"] if alone else []
            facts.append(Fact(title, ", ".join(said)))
    if footer and (footer.left or footer.workers):
        facts.append(Fact("Cases not played", count(footer.left, "case") if footer.left else "none"))
    return facts
