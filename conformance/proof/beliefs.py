"""What is easily believed of a rule, and what real brokers and clients did: for ``explain``, and ``list beliefs``.

``beliefs.jsonl`` has a line for each: ``rule``, ``about`` (the heading above it), ``believed`` and ``found``.
"""

from __future__ import annotations

import json
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from rocketmq_conformance.reports.markdown_table import markdown_table

FILE = Path(__file__).with_name("beliefs.jsonl")
_INTRODUCTION = """# What is easily believed, and wrong

Rules are first written down while the source of RocketMQ is read. Then they are compared with real brokers and clients,
which corrected them in these points. `rocketmq-conformance explain RULE` shows those of a rule.
"""


class Belief(NamedTuple):
    """A sentence that is easily believed of a rule, and what the real thing does."""

    about: str
    rule: str
    believed: str
    found: str


@cache
def beliefs() -> tuple[Belief, ...]:
    """All of them, in their order."""
    return tuple(Belief(**json.loads(line)) for line in FILE.read_text("utf-8").splitlines())


def beliefs_of(rule: str) -> list[Belief]:
    """Those of the rule with this id."""
    return [one for one in beliefs() if one.rule == rule]


def page() -> str:
    """The page of all beliefs, as Markdown that ends with a line break; those about one thing stand together."""
    lines = [_INTRODUCTION]
    for about, group in groupby(sorted(beliefs(), key=lambda one: one.about), key=lambda one: one.about):
        rows = [(one.rule, one.believed, one.found) for one in group]
        columns = ("rule", "what is easily believed", "what the real thing does")
        lines += [f"## {about}", "", *markdown_table(columns, rows), ""]
    return "\n".join(lines)
