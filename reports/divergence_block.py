"""The full block of a divergence, on the console and in JUnit: it can be understood without another file.

docs/reference/report.md explains it part by part. ``short_block`` makes the short one.
"""

from __future__ import annotations

from collections.abc import Sequence
from io import StringIO

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from rocketmq_conformance.reports.event import MODEL, DivergenceFound, DivergenceStep
from rocketmq_conformance.reports.text import clean, common_ends, count
from rocketmq_conformance.reports.text_table import text_table
from rocketmq_conformance.reports.timeline import chart

#: Answers longer than this are hard to compare by eye, so what differs is shown by itself.
LONG = 60
#: Characters shown on either side of what differs.
_AROUND = 16
#: Parts of an answer that differ and are shown, and messages of a step.
_PARTS, _MESSAGES = 12, 12
#: Requests of a history that are drawn.
_CHART = 24
#: Longer answers are not written into the plan once more.
_SHORT = 24


def grid(rows: list[tuple[str, RenderableType]]) -> Table:
    """A table without borders: labels on the left, values on the right."""
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style="dim", no_wrap=True, min_width=13)
    table.add_column(overflow="fold")
    for label, value in rows:
        table.add_row(label, value)
    return table


def block(divergence: DivergenceFound, title: str, about: Sequence[tuple[str, RenderableType]] = ()) -> RenderableType:
    """The whole block, except for the replay line, which must not be broken into lines.

    ``about`` comes first: labelled facts about the divergence as a whole.
    """
    parts: list[RenderableType] = [
        Rule(Text(clean(title), style="bold red"), style="red", align="left"),
    ]
    if about:
        parts += [grid(list(about)), ""]
    if divergence.consequence:
        parts += [grid([(clean(divergence.harm), Text(clean(divergence.consequence), style="bold"))]), ""]
    parts += [grid(_rules(divergence)), "", grid(_answers(divergence)), ""]
    drawn = chart(divergence.history, _CHART)
    if drawn:
        lines = [Text(line, style="bold red" if differs else "") for line, differs in drawn]
        parts += [grid([("time", lines[0]), *(("", line) for line in lines[1:])]), ""]
    states = _states(divergence)
    if states:
        parts += [grid(states), ""]
    parts.append(Text(shrinking(divergence)))
    if len(divergence.steps) > 1 or any(step.messages for step in divergence.steps):
        parts.append(Padding(_plan(divergence.steps), (0, 0, 0, 2)))
    if divergence.doubt:
        parts.append(Text(f"Undecided: {clean(divergence.doubt)}.", style="yellow"))
    if divergence.warning:
        parts.append(Text(f"Warning: {clean(divergence.warning)}.", style="yellow"))
    names: list[tuple[str, RenderableType]] = [
        ("fingerprint", Text(clean(divergence.fingerprint))),
        ("plan", Text(clean(divergence.plan))),
    ]
    return Group(*parts, "", grid(names))


def noun(divergence: DivergenceFound) -> str:
    """What a difference is called."""
    if divergence.doubt:
        return "Undecided difference"
    return "Divergence" if divergence.against == MODEL else "Difference"


def replay_line(divergence: DivergenceFound) -> Text:
    """The command that replays it, on one line so that it can be copied."""
    return Text.assemble(("replay", "dim"), " " * 9, (clean(divergence.replay), "bold"))


def plain_text(divergence: DivergenceFound, width: int, where: str = "") -> str:
    """The block as plain text; ``where`` names the case."""
    screen = Console(file=StringIO(), width=width, force_terminal=False, color_system=None, highlight=False)
    with screen.capture() as capture:
        screen.print(block(divergence, f"{divergence.suite}, {where or f'case {divergence.case}'}"))
        screen.print(replay_line(divergence), soft_wrap=True)
    return "\n".join(line.rstrip() for line in capture.get().splitlines())


def _rules(divergence: DivergenceFound) -> list[tuple[str, RenderableType]]:
    rows: list[tuple[str, RenderableType]] = []
    for rule in divergence.rules[:1]:
        name = Text.assemble((clean(rule.get("id", "?")), "bold"), f" ({clean(rule.get('level', '?'))})")
        rows.append(("rule", name))
        rows.append(("", Text(clean(rule.get("sentence", "")))))
        rows.append(("Java source", Text(clean(rule.get("source", "")))))
    if len(divergence.rules) > 1:
        rows.append(("at work too", Text(clean(", ".join(rule.get("id", "?") for rule in divergence.rules[1:])))))
    return rows


def diverging_step(steps: Sequence[DivergenceStep]) -> DivergenceStep | None:
    """The step that was answered differently; None when the events do not have it."""
    return next((step for step in steps if step.diverges), None)


def _answers(divergence: DivergenceFound) -> list[tuple[str, RenderableType]]:
    rows: list[tuple[str, RenderableType]] = []
    step = diverging_step(divergence.steps)
    if step:
        where = f"step {step.number} of {len(divergence.steps)}"
        rows.append((where, Text(clean(step.operation), style="bold")))
        if step.state_kind:
            rows.append(("kind of state", Text(clean(step.state_kind))))
    if divergence.parts:
        whole = zip(("all expected", "all observed"), (divergence.expected, divergence.observed), strict=True)
        return [*rows, *_differing(divergence), *((label, Text(clean(text), style="dim")) for label, text in whole)]
    expected, observed = clean(divergence.expected), clean(divergence.observed)
    long = max(len(expected), len(observed)) > LONG
    begin, end = common_ends(expected, observed) if long else (0, 0)
    # of two implementations, what was expected is what the other one did
    rows.append(
        ("expected" if divergence.against == MODEL else "the other", _marked(expected, begin, end, "bold green"))
    )
    rows.append(("observed", _marked(observed, begin, end, "bold red")))
    if long:
        rows.append(("difference", Text(excerpt(expected, begin, end), style="green")))
        rows.append(("", Text(excerpt(observed, begin, end), style="red")))
    return rows


def three(texts: Sequence[str]) -> tuple[str, str, str]:
    """Three texts of an event, however many it has."""
    first, second, third, *_ = (*texts, "?", "?", "?")
    return first, second, third


def what_differs(one: DivergenceFound) -> tuple[str, str]:
    """What was expected and observed: of an answer with named parts those that differ."""
    if not one.parts:
        return one.expected, one.observed
    parts = [three(part) for part in one.parts]
    return "; ".join(f"{name}: {expected}" for name, expected, _ in parts), "; ".join(
        f"{name}: {observed}" for name, _, observed in parts
    )


def _differing(divergence: DivergenceFound) -> list[tuple[str, RenderableType]]:
    """The parts of the answer that differ, by name."""
    rows: list[tuple[str, RenderableType]] = []
    wanted = "expected" if divergence.against == MODEL else "the other"
    for name, expected, observed in map(three, divergence.parts[:_PARTS]):
        rows.append((wanted, Text.assemble((f"{clean(name)}: ", "dim"), (clean(expected), "bold green"))))
        rows.append(("observed", Text.assemble((f"{clean(name)}: ", "dim"), (clean(observed), "bold red"))))
    if len(divergence.parts) > _PARTS:
        rows.append(("", Text(f"and {count(len(divergence.parts) - _PARTS, 'more part')} that differ", style="dim")))
    return rows


def _marked(text: str, begin: int, end: int, style: str) -> Text:
    marked = Text(text)
    marked.stylize(style, begin, len(text) - end)
    return marked


def excerpt(text: str, begin: int, end: int) -> str:
    """The part of a long answer that differs, with a little of what stands around it."""
    start = max(0, begin - _AROUND)
    stop = min(max(len(text) - end, begin) + _AROUND, begin + 3 * _AROUND, len(text))
    return ("..." if start else "") + text[start:stop] + ("..." if stop < len(text) else "")


def _states(divergence: DivergenceFound) -> list[tuple[str, RenderableType]]:
    step = diverging_step(divergence.steps)
    if step is None:
        return []
    before, after = clean(step.before), clean(step.after)
    rows: list[tuple[str, RenderableType]] = [("model before", Text(before))]
    rows.append(("model after", Text("the same" if after == before else after)))
    return rows


def shrinking(divergence: DivergenceFound) -> str:
    """How many steps the plan had when the divergence was found, and after shrinking: a sentence."""
    found = f"Found in {count(divergence.found_steps, 'step')}"
    if divergence.unshrunk:
        return f"{found}, not shrunk: {clean(divergence.unshrunk)}."
    if divergence.shrink_executions == 0:
        return f"{found}; it cannot be shorter."
    executions = count(divergence.shrink_executions, "execution")
    return f"{found}, shrunk to {len(divergence.steps):,} in {executions}."


def _plan(steps: list[DivergenceStep]) -> Table:
    columns = ("", "step", "operation", "answer")
    table = text_table(columns, numbers=columns[1:2], folded=columns[2:])
    for step in steps:
        if step.diverges:
            table.add_row(">", str(step.number), Text(clean(step.operation)), _diverging_answer(step), style="bold")
        else:
            table.add_row("", str(step.number), Text(clean(step.operation)), Text(clean(step.observed)))
        for sender, receiver, text in map(three, step.messages[:_MESSAGES]):
            table.add_row("", "", Text(f"  {clean(sender)} > {clean(receiver)}: {clean(text)}", style="dim"), "")
        if len(step.messages) > _MESSAGES:
            more = count(len(step.messages) - _MESSAGES, "more message")
            table.add_row("", "", Text(f"  and {more}", style="dim"), "")
    return table


def _diverging_answer(step: DivergenceStep) -> Text:
    expected, observed = clean(step.expected), clean(step.observed)
    if max(len(expected), len(observed)) > _SHORT:
        return Text("diverges, see above", style="red")
    return Text.assemble("expected ", (expected, "green"), "\nobserved ", (observed, "red"))
