"""The coverage table of a verbose console report: which rules fired, in which kinds of state, with which outcomes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from rocketmq_conformance.reports.event import SuiteEnded
from rocketmq_conformance.reports.rule_results import is_row
from rocketmq_conformance.reports.text import clean
from rocketmq_conformance.reports.text_table import text_table


def table(suites: Sequence[SuiteEnded]) -> Table:
    """The table: a row per rule and kind of state."""
    columns = ("rule", "times", "kind of state", "outcomes")
    made = text_table(columns, numbers=columns[1:2], folded=columns[2:])
    for suite in suites:
        if not suite.coverage:
            continue
        made.add_row(Text(clean(suite.suite), style="bold"))
        for rule, kinds in _by_rule(suite.coverage).items():
            name = Text("  " + clean(rule))
            for kind, outcomes in kinds.items():
                made.add_row(name, f"{sum(outcomes.values()):,}", Text(clean(kind)), _outcomes(outcomes))
                name = Text("")
    return made


def _by_rule(coverage: list[list[Any]]) -> dict[str, dict[str, dict[str, int]]]:
    """Rows [rule, kind, outcome class, times] as rule -> kind -> outcome class -> times, in their own order.

    Those that are malformed are left out, as in the page.
    """
    rules: dict[str, dict[str, dict[str, int]]] = {}
    for rule, kind, outcome, times in filter(is_row, coverage):
        outcomes = rules.setdefault(rule, {}).setdefault(kind, {})
        outcomes[outcome] = outcomes.get(outcome, 0) + times
    return rules


def _outcomes(outcomes: dict[str, int]) -> Text:
    """``negative 3, zero 12``, the most frequent first."""
    ordered = sorted(outcomes.items(), key=lambda item: (-item[1], item[0]))
    return Text(", ".join(f"{clean(outcome)} {times:,}" for outcome, times in ordered))
