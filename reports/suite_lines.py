"""The lines of suites in the console report: in full, or folded so that many suites take few lines."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from rocketmq_conformance.reports.cut import Cut
from rocketmq_conformance.reports.event import (
    CONFORMS,
    COULD_NOT_RUN,
    DIVERGES,
    UNDECIDED,
    UNSUPPORTED,
    SuiteEnded,
)
from rocketmq_conformance.reports.repeats import alike, by_reason, case_reasons, with_place, without_case
from rocketmq_conformance.reports.run_summary import RunSummary
from rocketmq_conformance.reports.text import clean, count, duration, first_names

STYLES = {CONFORMS: "green", DIVERGES: "red", UNDECIDED: "yellow", COULD_NOT_RUN: "magenta", UNSUPPORTED: "cyan"}

#: Verdicts of suites that need no attention.
QUIET = (CONFORMS, UNSUPPORTED)
#: Suites that get a line each; of more, those that conform and stand together share lines.
EACH = 22
#: Reasons of cases that are shown below a suite.
REASONS = 5
#: Short reports: reasons of cases below a suite, and texts below all suites that conform or are unsupported, and
#: below all others.
SHORT_REASONS, QUIET_TEXTS, OTHER_TEXTS = 3, 3, 30
#: Suites of a run so short that texts below those that conform may take two lines.
FEW = 12

INDENT = 2


class FullSuiteLines:
    """A line per suite, with everything that its end says below it."""

    def __init__(self, summary: RunSummary) -> None:
        self._summary = summary

    def add(self, ended: SuiteEnded) -> Iterator[RenderableType]:
        """What the end of a suite adds."""
        yield _line(ended, _width(self._summary.suites))
        below = [*_numbers(ended), *_reasons(self._summary, ended, REASONS)]
        below += [clean(f"unsupported: {operation}: {why}") for operation, why in ended.unsupported.items()]
        below += [*_unsaid(ended), *_consequences(ended), *_control(ended)]
        for text in below:
            yield Padding(Text(text), (0, 0, 0, INDENT))


class ShortSuiteLines:
    """A line per suite, or of many suites one for several that conform; below it what fits, and the rest is counted."""

    def __init__(self, summary: RunSummary) -> None:
        self._summary = summary
        #: Suites of the same verdict that share the next line.
        self._together: list[SuiteEnded] = []
        #: Texts that may still be shown below suites, by whether these conform or are unsupported.
        self._room = {True: QUIET_TEXTS, False: OTHER_TEXTS}
        #: Texts that were not shown.
        self.left_out = 0
        #: Reasons that were shown below a suite, and how many more suites have one like it.
        self._said: dict[str, tuple[str, int]] = {}

    def add(self, ended: SuiteEnded) -> Iterator[RenderableType]:
        """What the end of a suite adds."""
        if self._together and (ended.verdict not in QUIET or ended.verdict != self._together[0].verdict):
            yield from self.end()
        self._together.append(ended)
        if ended.verdict not in QUIET or len(self._together) >= self._share():
            yield from self.end()

    def end(self) -> Iterator[RenderableType]:
        """What is left to print after the last suite."""
        together, self._together = self._together, []
        if not together:
            return
        if self._share() > 1:
            yield Cut(_shared_line(together, _width(self._summary.suites)), 1, indent=0)
        else:
            yield _line(together[0], _width(self._summary.suites))
        for ended in together:
            name = f"{clean(ended.suite)}: " if len(together) > 1 else ""
            yield from self.below(ended, name)

    def below(self, ended: SuiteEnded, name: str = "") -> Iterator[RenderableType]:
        """The lines below the line of a suite, each behind ``name``."""
        quiet = ended.verdict in QUIET
        reasons = _reasons(self._summary, ended, SHORT_REASONS, ended.unsupported.values())
        texts = [
            *(reasons if quiet else self._new(reasons)),
            *_operations(ended),
            *_unsaid(ended),
            *_consequences(ended),
            *_control(ended),
        ]
        if texts or ended.verdict != UNSUPPORTED:
            texts = [*_numbers(ended), *texts]
        if quiet and texts:
            texts = ["; ".join(texts)]
        shown = texts[: self._room[quiet]]
        self._room[quiet] -= len(shown)
        self.left_out += len(texts) - len(shown)
        for text in shown:
            yield Cut(Text(name + text), 1 if quiet and len(self._summary.suites) > FEW else 2, indent=INDENT)

    def repeated(self) -> Iterator[RenderableType]:
        """The reasons that more suites have than the one below which they stand."""
        for text, more in self._said.values():
            if more:
                yield Cut(Text(f"{count(more, 'more suite')}: {without_case(text)}"), 2, indent=0)

    def _new(self, reasons: Sequence[str]) -> list[str]:
        """The reasons that are not like one below another suite; the others are counted."""
        found = []
        for reason in reasons:
            text, more = self._said.get(alike(reason), (reason, -1))
            self._said[alike(reason)] = text, more + 1
            if more < 0:
                found.append(reason)
        return found

    def _share(self) -> int:
        """How many suites that conform share a line."""
        return -(-len(self._summary.suites) // EACH)


def _line(ended: SuiteEnded, width: int) -> Text:
    numbers = f"{count(sum(ended.cases.values()), 'case'):>12}  {count(ended.steps, 'step'):>15}"
    return _named(f"{clean(ended.suite):<{width}}", ended.verdict, f"{numbers}  {duration(ended.seconds):>9}")


def _shared_line(together: Sequence[SuiteEnded], width: int) -> Text:
    """The line of suites that have the same verdict, in fewer columns."""
    first, others = together[0], len(together) - 1
    cases = sum(sum(one.cases.values()) for one in together)
    steps, seconds = sum(one.steps for one in together), sum(one.seconds for one in together)
    numbers = f"{count(cases, 'case')}, {count(steps, 'step')}, {duration(seconds)}"
    return _named(f"{clean(first.suite):<{width}} {f'+{others}' if others else '':<3}", first.verdict, numbers)


def _named(name: str, verdict: str, numbers: str) -> Text:
    return Text.assemble((name, "bold"), "  ", (f"{clean(verdict):<13}", STYLES.get(verdict, "")), f"  {numbers}")


def _width(suites: Sequence[str]) -> int:
    return max([12, *(len(clean(suite)) for suite in suites)])


def _numbers(ended: SuiteEnded) -> list[str]:
    """Cases by verdict, unless all conform."""
    numbers = {verdict: number for verdict, number in ended.cases.items() if number}
    if list(numbers) in ([], [CONFORMS]):
        return []
    return [", ".join(f"{clean(verdict)} {number:,}" for verdict, number in numbers.items())]


def _reasons(summary: RunSummary, ended: SuiteEnded, most: int, leave: Collection[str] = ()) -> list[str]:
    """Why the suite, and cases of it, do not conform; ``leave`` are reasons of unsupported cases that are said
    elsewhere."""
    found = [clean(ended.reason)] if ended.reason else []
    reasons = case_reasons(summary, ended.suite, leave)
    found += [clean(with_place(summary, ended.suite, *reason)) for reason in reasons[:most]]
    if len(reasons) > most:
        found.append(f"and {count(len(reasons) - most, 'more reason')}")
    return found


def _operations(ended: SuiteEnded) -> list[str]:
    """The unsupported operations by name, those of a reason together."""
    return [
        clean(f"unsupported: {first_names(operations)}{f': {reason}' if reason else ''}")
        for reason, operations in by_reason(ended.unsupported).items()
    ]


def _unsaid(ended: SuiteEnded) -> list[str]:
    """Parts of answers that were not compared, since the implementation left them open."""
    parts = [f"{clean(name)} {times:,} times" for name, times in ended.unsaid.items()]
    return [f"left open, not compared: {', '.join(parts)}"] if parts else []


def _consequences(ended: SuiteEnded) -> list[str]:
    """Kinds of divergences that are not reported, since they only showed after others."""
    if not ended.consequences:
        return []
    return [f"{count(ended.consequences, 'kind')} of divergences showed only after another one and may follow from it"]


def _control(ended: SuiteEnded) -> list[str]:
    return ["control silent: a planted wrong answer was not noticed"] if ended.control is False else []
