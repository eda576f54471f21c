"""The rules of a verbose console report: the result of each, and those that were not reached by their reasons."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from rocketmq_conformance.reports.event import DIFFERS, NOT_REACHED, RuleResult
from rocketmq_conformance.reports.rule_results import by_reason, clauses_of
from rocketmq_conformance.reports.text import clean
from rocketmq_conformance.reports.text_table import text_table


def rule_lines(results: Sequence[RuleResult]) -> Iterator[RenderableType]:
    """A row for each rule that differs or holds, then a paragraph for each reason why others were not reached."""
    reached = [one for one in results if one.result != NOT_REACHED]
    if reached:
        yield _table(sorted(reached, key=lambda one: one.result != DIFFERS))
    for reason, rules in by_reason(results).items():
        yield Text(clean(f"not reached, {len(rules)}: {reason or 'no reason is known'}"), style="yellow")
        yield Padding(Text(clean(", ".join(one.rule for one in rules))), (0, 0, 0, 2))


def _table(results: Sequence[RuleResult]) -> Table:
    made = text_table(("rule", "level", "result", "steps", "clauses", "suites"), numbers={"steps"}, folded={"suites"})
    for one in results:
        where = ", ".join(one.suites) + (f" ({one.reason})" if one.reason else "")
        cells = (one.rule, one.level, one.result, f"{one.times:,}", clauses_of(one), where)
        made.add_row(*(Text(clean(cell)) for cell in cells), style="red" if one.result == DIFFERS else "")
    return made
