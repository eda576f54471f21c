"""The short block of a divergence: what it does, its rule, the minimal plan and both answers, in 14 lines."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console, ConsoleOptions, RenderResult
from rich.rule import Rule
from rich.text import Text

from rocketmq_conformance.reports.cut import LABEL, Cut
from rocketmq_conformance.reports.divergence_block import LONG, diverging_step, excerpt, noun, replay_line, three
from rocketmq_conformance.reports.event import MODEL, DivergenceFound, DivergenceStep, Separator
from rocketmq_conformance.reports.kinds import Kind
from rocketmq_conformance.reports.run_summary import RunSummary
from rocketmq_conformance.reports.screen import Screen
from rocketmq_conformance.reports.text import clean, common_ends, count, first_names
from rocketmq_conformance.reports.timeline import chart

#: Lines of a block, with its headline, its replay line and the blank line behind it.
LINES = 14
#: Lines between the headline and the replay line.
_BODY = LINES - 3
#: Lines of the rule and of the operation that was answered differently: the first pair with which the whole plan
#: fits, else the last one and the end of the plan.
_ROOM = ((5, 5), (4, 3), (3, 2), (2, 2), (2, 1))
#: Other parts that differ and are named.
_NAMED = 2
#: Requests of a history that are drawn, at least.
_CHART = 4
#: Lines of each answer.
_ANSWER = 2


def show_kinds(screen: Screen, summary: RunSummary, kinds: Sequence[Kind]) -> None:
    """Print a block for each kind."""
    for number, kind in enumerate(kinds, start=1):
        one = kind.exemplar
        where = f"{one.suite}, {summary.case_name(one.suite, one.case)}"
        of = f" of {one.address}" if one.address else ""
        more = f" and {kind.cases - 1:,} more" if kind.cases > 1 else ""
        screen.gap()
        screen.show(ShortBlock(one, f"{noun(one)} {number}: {where}{of}{more}"))
        screen.show(replay_line(one), wrap=False)
        screen.gap()


class ShortBlock:
    """The block without its replay line, which must not be broken into lines."""

    def __init__(self, divergence: DivergenceFound, title: str) -> None:
        self._divergence = divergence
        self._title = title

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Rule(Text(clean(self._title), style="bold red"), style="red", align="left")
        one, width = self._divergence, options.max_width
        does = Cut(Text(clean(one.consequence), style="bold"), 2, label=clean(one.harm)) if one.consequence else None
        first = does.lines(console, width) if does else []
        facts = [line for cut in _facts(one) for line in cut.lines(console, width)]
        requests = len(chart(one.history, _BODY))  # which have the answers
        answers = [line for cut in _answers(one) for line in cut.lines(console, width)] if not requests else []
        for rule_lines, operation_lines in _ROOM:
            rule = Cut(_rules(one.rules), rule_lines, label="rule").lines(console, width) if one.rules else []
            room = _BODY - len(first) - len(rule) - len(facts) - len(answers)
            plan = [cut.lines(console, width) for cut in _plan(one.steps, operation_lines)]
            if requests:  # which say what most of the steps before do
                plan = _end_of(plan, len(plan[-1]) + min(len(plan) - 1, 1))
            if sum(map(len, plan)) + min(requests, _CHART) <= room:
                break
        else:
            plan = _end_of(plan, room) if sum(map(len, plan)) > room else plan
        drawn = [line for cut in _drawn(one, room - sum(map(len, plan))) for line in cut.lines(console, width)]
        yield from (*first, *rule, *facts, *(line for lines in plan for line in lines), *drawn, *answers)


def _facts(divergence: DivergenceFound) -> list[Cut]:
    """What is known of a kind of divergences as a whole."""
    found = []
    if divergence.against != MODEL:
        found.append(Cut(Text(clean(divergence.against)), 1, label="compared with"))
    if divergence.doubt:
        found.append(Cut(Text(clean(divergence.doubt), style="yellow"), 3, label="undecided"))
    if divergence.warning:
        found.append(Cut(Text(clean(divergence.warning), style="yellow"), 2, label="warning"))
    if divergence.separates:
        found.append(Cut(separator(divergence.separates[0]), 1, label="separates"))
    return found


def separator(one: Separator) -> Text:
    """How many of the diverging steps have a feature, and how many of the others."""
    return Text(f"{clean(one.feature)}: {one.diverging:.0%} of those that diverge, {one.others:.0%} of the others")


def _rules(rules: Sequence[dict[str, str]]) -> Text:
    """The responsible rule; how many others are at work."""
    first, others = rules[0], len(rules) - 1
    text = Text.assemble((clean(first.get("id", "?")), "bold"), f" ({clean(first.get('level', '?'))})")
    if others:
        text.append(f" and {count(others, 'other')}")
    return text.append(f": {clean(first.get('sentence', ''))}")


def _answers(divergence: DivergenceFound) -> list[Cut]:
    name, also = "", ""
    expected, observed = clean(divergence.expected), clean(divergence.observed)
    if divergence.parts:
        (part, wanted, given), *others = map(three, divergence.parts)
        also = f" (and {first_names((one[0] for one in others), _NAMED)})" if others else ""
        name, expected, observed = clean(f"{part}: "), clean(wanted), clean(given)
    # of two implementations, what was expected is what the other one did
    label = "expected" if divergence.against == MODEL else "the other"
    if max(len(expected), len(observed)) <= LONG:
        texts = Text(name + expected, style="bold green"), Text(name + observed + also, style="bold red")
    else:
        begin, end = common_ends(expected, observed)
        texts = (
            Text(name + excerpt(expected, begin, end), style="green"),
            Text(name + excerpt(observed, begin, end) + also, style="red"),
        )
    return [Cut(text, _ANSWER, label=name) for name, text in zip((label, "observed"), texts, strict=True)]


def _plan(steps: Sequence[DivergenceStep], operation_lines: int) -> list[Cut]:
    """A line per step up to the one that diverges, which may take more."""
    last = diverging_step(steps)
    if last is None:
        return [Cut(Text("the events hold no steps of it", style="dim"), 1, label="plan")]
    before = [Cut(Text(clean(one.operation)), 1, label=f"step {one.number}") for one in steps if one is not last]
    operation = Text.assemble((clean(last.operation), "bold"), (f"  {clean(last.state_kind)}", "dim"))
    return [*before, Cut(operation, operation_lines, label=f"step {last.number} of {len(steps)}")]


def _drawn(divergence: DivergenceFound, room: int) -> list[Cut]:
    """The requests that were sent at the same time, a line for each."""
    lines = chart(divergence.history, room)
    return [
        Cut(Text(line, style="bold red" if differs else ""), 1, label="" if at else "time")
        for at, (line, differs) in enumerate(lines)
    ]


def _end_of(plan: list[list[Text]], room: int) -> list[list[Text]]:
    """The end of a plan in ``room`` lines, and how many steps are before it; the step that diverges is always there."""
    *before, last = plan
    room -= len(last)
    if room == 0:
        return [last]
    listed = before[len(before) - room + 1 :]
    earlier = Text.assemble(f"{'plan':<{LABEL}}", count(len(before) - len(listed), "earlier step"), style="dim")
    return [[earlier], *listed, last]
