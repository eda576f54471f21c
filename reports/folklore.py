"""The reports of the folklore: on the console a line per step as it is judged, and a page in Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from rich.console import RenderableType
from rich.rule import Rule
from rich.text import Text

from rocketmq_conformance.reports.divergence_block import grid, three
from rocketmq_conformance.reports.event import CONFORMS, DIVERGES, Event
from rocketmq_conformance.reports.markdown_table import markdown_table
from rocketmq_conformance.reports.measurement_event import (
    FolkloreDifference,
    FolkloreEnded,
    FolkloreStarted,
    FolkloreStep,
)
from rocketmq_conformance.reports.screen import Screen
from rocketmq_conformance.reports.text import clean, count, duration

#: Name of the page in its folder.
PAGE = "folklore.md"
_STYLES = {CONFORMS: "green", DIVERGES: "bold red"}


class FolkloreReport:
    """Prints it for people."""

    def __init__(self, stream: TextIO, *, width: int | None = None) -> None:
        self._screen = Screen(stream, width)
        self._header: FolkloreStarted | None = None
        self._steps = 0
        self._differences: list[FolkloreDifference] = []
        self._ended = False

    def __call__(self, event: Event) -> None:
        """Print what the event adds."""
        match event:
            case FolkloreStarted():
                self._header = event
                self._screen.show(*_header(event))
                self._screen.gap()
            case FolkloreStep():
                self._steps += 1
                style = _STYLES.get(event.verdict, "yellow")
                line = Text.assemble(
                    f"{clean(event.release):<6} {clean(event.step):<12} ",
                    (f"{clean(event.verdict):<14}", style),
                    clean(event.observed or event.reason),
                )
                self._screen.show(line, wrap=False)
                if event.verdict == DIVERGES:
                    self._screen.show(grid([("expected", Text(clean(event.expected))), ("rules", _names(event.rules))]))
            case FolkloreDifference():
                self._differences.append(event)
            case FolkloreEnded():
                self._end(event)

    def close(self) -> None:
        """Finish; what was cut off says so."""
        if self._header and not self._ended:
            self._screen.show("", Text(f"Folklore: undecided, cut off after {count(self._steps, 'step')}."))

    def _end(self, footer: FolkloreEnded) -> None:
        self._ended = True
        if self._differences:
            self._screen.gap()
            self._screen.show(Rule(Text("What releases do differently", style="bold"), style="dim", align="left"))
        for difference in self._differences:
            rows: list[tuple[str, RenderableType]] = [
                (clean(difference.step), Text(f"{_names(difference.releases)}: {clean(difference.observed)}")),
                ("", Text(f"{_names(difference.others)}: {clean(difference.others_observed)}")),
                ("rules", Text(_names(difference.rules) or "-")),
                ("decided by", Text("\n".join(map(clean, difference.switches)) or "-")),
            ]
            self._screen.show(grid(rows))
        style = _STYLES.get(footer.verdict, "yellow")
        self._screen.show("", Text.assemble("Folklore: ", (clean(footer.verdict), style), f" {_numbers(footer)}."))


class FolklorePage:
    """Writes the page once all has ended; one that was cut off leaves none."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._events: list[Event] = []

    def __call__(self, event: Event) -> None:
        """Keep the event; write the page at the footer."""
        self._events.append(event)
        if isinstance(event, FolkloreEnded):
            self._path.write_text(folklore_page(self._events), "utf-8")

    def close(self) -> None:
        """Nothing is open."""


def folklore_page(events: Sequence[Event]) -> str:
    """The whole page, as Markdown that ends with a line break; ValueError for events without header or footer."""
    header = next((event for event in events if isinstance(event, FolkloreStarted)), None)
    footer = next((event for event in events if isinstance(event, FolkloreEnded)), None)
    if header is None or footer is None:
        raise ValueError("the events are incomplete: there is no verdict to write")
    lines = [
        "# Folklore",
        "",
        clean(header.sentence),
        "",
        f"**{clean(footer.verdict)}** {_numbers(footer)}. "
        f"Kit {clean(header.kit)}, rule book `{clean(header.rulebook)}`.",
        "",
        *tables(events),
    ]
    return "\n".join(lines).rstrip("\n") + "\n"


def tables(events: Sequence[Event]) -> list[str]:
    """The lines of the page's tables: each step by release, then what releases do differently."""
    header = next(event for event in events if isinstance(event, FolkloreStarted))
    steps = [event for event in events if isinstance(event, FolkloreStep)]
    lines: list[str] = []
    for name, sentence, claim in header.steps:
        lines += [f"## {clean(name)}", "", clean(sentence) + (f" Folklore: {clean(claim)}." if claim else ""), ""]
        rows = (_row(step, claim) for step in steps if step.step == name)
        lines += [*markdown_table(("release", "expected", "seen", "folklore", "verdict", "rules"), rows), ""]
    differences = [event for event in events if isinstance(event, FolkloreDifference)]
    if differences:
        lines += ["## What releases do differently", ""]
        columns = ("step", "releases", "do", "others", "do", "rules", "decided by")
        lines += [*markdown_table(columns, map(_difference, differences)), ""]
    return lines


def _header(event: FolkloreStarted) -> list[RenderableType]:
    title = Text.assemble(("rocketmq-conformance", "bold"), f" {clean(event.kit)}, rule book {clean(event.rulebook)}")
    rows: list[tuple[str, RenderableType]] = [
        ("folklore", Text(clean(event.sentence))),
        ("releases", Text(f"{_names(event.releases)}, of broker and client alike")),
    ]
    rows += [(clean(name), Text(clean(sentence))) for name, sentence, _ in map(three, event.steps)]
    return [title, "", grid(rows)]


def _names(names: Sequence[str]) -> str:
    return ", ".join(map(clean, names))


def _numbers(footer: FolkloreEnded) -> str:
    counts = ", ".join(f"{number} {clean(verdict)}" for verdict, number in footer.steps.items()) or "no step"
    stopped = f", {clean(footer.stopped)}" if footer.stopped else ""
    return f"({counts}{stopped}) in {duration(footer.seconds)}"


def _row(step: FolkloreStep, claim: str) -> list[str]:
    holds = "" if not claim or not step.observed else "holds" if step.observed == claim else "**wrong**"
    verdict = step.verdict if step.verdict == CONFORMS else f"**{step.verdict}**"
    seen = step.observed or step.reason
    return [*map(clean, (step.release, step.expected, seen, holds, verdict, ", ".join(step.rules)))]


def _difference(found: FolkloreDifference) -> list[str]:
    releases, others = ", ".join(found.releases), ", ".join(found.others)
    rules, switches = ", ".join(found.rules), "; ".join(found.switches)
    return [*map(clean, (found.step, releases, found.observed, others, found.others_observed, rules, switches))]
