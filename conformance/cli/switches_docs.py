"""The page of the switches, made from their declarations: ``list switches``."""

from __future__ import annotations

import re
from types import ModuleType

from rocketmq_conformance.models.broker import switches as broker_switches
from rocketmq_conformance.models.client import switches as client_switches
from rocketmq_conformance.models.release import Switch, switches_of
from rocketmq_conformance.reports.markdown_table import markdown_table

_INTRODUCTION = """# Switches

A switch is a change of behaviour between releases: "from this release on it is so". The models ask switches, never
release numbers, so that one model answers for every release. They are declared in `models/client/switches.py` and
`models/broker/switches.py`, and `rocketmq-conformance list switches` makes this page from the declarations. It says
what each number means and where the change can be read.

- The lines 4.x and 5.x were developed side by side, so that a change has a first release in each. "Never" means that
  the line did not get it. "5.0.0 to before 5.1.0" was taken back in 5.1.0. The previews of 5.0.0 left the main line
  around 4.9.1: what is in all of 5.x is there since 5.0.0-PREVIEW.
- One number can stand for several changes that belong together.
- `rocketmq-conformance switches 5.3.3..5.5.0` shows those between two releases, and `explain RULE` what a rule demands
  and in which releases it was read.
- Sources name the class and the method of the Java source of RocketMQ.
"""
_COLUMNS = ("number", "what changed", "4.x since", "5.x since", "rule", "source")
_DIGITS = re.compile(r"(\d+)")


def page() -> str:
    """The page, as Markdown that ends with a line break."""
    parts = [
        _INTRODUCTION,
        "## Clients\n",
        _table(client_switches),
        "\n## Brokers\n\nA broker's switch is named after the rule that it changes.\n",
        _table(broker_switches),
    ]
    return "\n".join(parts) + "\n"


def by_number(module: ModuleType) -> list[Switch]:
    """The switches that a module declares, by number; those of one number in the order of their declaration."""
    return sorted(switches_of(module), key=lambda switch: _natural(switch.id))


def _natural(number: str) -> list[tuple[str, int]]:
    """A sort key by which BQ-PULL-7 comes before BQ-PULL-12."""
    words = [*_DIGITS.split(number), ""]
    return [(text, int(digits or 0)) for text, digits in zip(words[::2], words[1::2], strict=True)]


def _table(module: ModuleType) -> str:
    return "\n".join(markdown_table(_COLUMNS, map(_row, by_number(module))))


def _row(switch: Switch) -> tuple[str, ...]:
    taken_back = f" to before {switch.until_v5}" if switch.until_v5 else ""
    return (
        switch.id,
        f"{switch.change}.",
        switch.v4 or "never",
        f"{switch.v5 or 'never'}{taken_back}",
        ", ".join(switch.rules),
        ", ".join(f"`{place}`" for place in switch.source.split(", ")),
    )
