"""The page as plain data for its template: every text cleaned, every list bounded, every omission counted."""

from __future__ import annotations

from dataclasses import dataclass

from rocketmq_conformance.reports.event import RunStarted
from rocketmq_conformance.reports.html_curve import Chart, charts
from rocketmq_conformance.reports.html_rules import Rules, rules
from rocketmq_conformance.reports.html_story import Stories, stories
from rocketmq_conformance.reports.html_text import capped, count, figure, memory, seconds, shown
from rocketmq_conformance.reports.html_verdict import (
    Headline,
    Number,
    SuiteRow,
    Why,
    headline,
    numbers,
    suites,
    totals,
    whys,
)
from rocketmq_conformance.reports.run_summary import Ledger
from rocketmq_conformance.reports.text import rate

#: Notes and lost cases that are listed.
NOTES, LOST = 40, 200


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
    whys: list[Why]
    more_suites: int
    several: bool
    #: Of several implementations: each, and its five numbers over all suites.
    implementations: list[tuple[str, list[Number]]]
    #: From the model.
    stories: Stories
    #: Between two implementations.
    differences: Stories
    rules: Rules
    charts: list[Chart]
    more_charts: int
    lost: list[Lost]
    more_lost: int
    resources: list[Fact]


def view(ledger: Ledger) -> View:
    """The page of the events that a summary has collected."""
    told = stories(ledger, ledger.divergences)
    differences = stories(ledger, ledger.differences)
    head = headline(ledger, told.kinds, differences.kinds)
    header = ledger.header
    notes, more_notes = capped(header.notes if header else [], NOTES)
    rows, more_suites = suites(ledger)
    drawn, more_charts = charts(ledger.discoveries)
    lost, more_lost = capped(ledger.lost, LOST)
    subject = shown(f"{header.implementation} {header.version}".strip(), 200) if header else "no run"
    if len(ledger.addresses) > 1:
        subject = count(len(ledger.addresses), "implementation")
    return View(
        f"{head.verdict} · {subject}" + (f" · seed {figure(header.seed).replace(',', '')}" if header else ""),
        subject,
        head,
        numbers(totals(ledger)),
        ledger.footer is not None,
        _facts(header) if header else [],
        [shown(note, 600) for note in notes],
        more_notes,
        rows,
        whys(rows),
        more_suites,
        len(ledger.addresses) > 1,
        _implementations(ledger),
        told,
        differences,
        rules(ledger),
        drawn,
        more_charts,
        [
            Lost(
                shown(x.suite, 120),
                shown(ledger.case_name(x.suite, x.case).removeprefix("case "), 300),
                shown(x.address, 200),
                shown(x.reason, 600),
            )
            for x in lost
        ],
        more_lost,
        _resources(ledger),
    )


def _facts(header: RunStarted) -> list[Fact]:
    releases = list(header.profile.items())[:8]
    return [
        Fact("Address", shown(header.address, 1000)),
        Fact("Judged by", ", ".join(f"{shown(side, 40)} {shown(release, 60)}" for side, release in releases)),
        Fact("Rule book", shown(header.rulebook, 100)),
        Fact("Seed", str(header.seed) if abs(header.seed) < 10**21 else figure(header.seed)),
        Fact("Kit", shown(header.kit, 100)),
        Fact("Started", shown(header.started, 100)),
        Fact("Kept in", shown(header.out, 1000) or "nothing is kept"),
    ]


def _implementations(ledger: Ledger) -> list[tuple[str, list[Number]]]:
    if len(ledger.addresses) < 2:
        return []
    found = []
    for address in ledger.addresses[:NOTES]:
        cases: dict[str, int] = {}
        for (_, whose), ended in ledger.ended.items():
            for verdict, number in ended.cases.items() if whose == address else ():
                cases[verdict] = cases.get(verdict, 0) + number
        found.append((shown(address, 200) or "unnamed", numbers(cases)))
    return found


def _resources(ledger: Ledger) -> list[Fact]:
    footer, ended = ledger.footer, ledger.ended.values()
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
    if footer and (footer.workers or footer.peak_memory):
        facts.append(Fact("Workers", figure(footer.workers)))
        facts.append(Fact("Most memory of a worker", memory(footer.peak_memory)))
    if ledger.corpus:
        played = ", ".join(f"{shown(verdict, 40)} {figure(n)}" for verdict, n in list(ledger.corpus.items())[:8])
        facts.append(Fact("Plans of the corpus", played))
    if footer and (footer.left or footer.workers):
        facts.append(Fact("Cases not played", count(footer.left, "case") if footer.left else "none"))
    return facts
