"""The page of brokers' properties, made from the lists: ``list properties``."""

from __future__ import annotations

from collections.abc import Iterable

from rocketmq_conformance.conformance.properties.defaults import defaults_of, releases_of
from rocketmq_conformance.conformance.properties.harmless import AT_LEAST, COUNTS, HARMLESS, Bound
from rocketmq_conformance.conformance.properties.listed import LISTED
from rocketmq_conformance.conformance.properties.unmodelled import UNMODELLED
from rocketmq_conformance.models.broker.configuration import SETTINGS
from rocketmq_conformance.models.release import KNOWN
from rocketmq_conformance.reports.markdown_table import markdown_table

_INTRODUCTION = """# Properties

What the properties of a broker mean to the one that judges it; docs/guides/configuration.md says what becomes of
each list.

## Modelled

Each was compared with real brokers of every release that has it, by all suites that its rules are in
(`conformance/proof/broker.py`).
"""
_HARMLESS = """
## Cannot matter here

`*` stands for any characters.
"""
_AT_LEAST = """
Numbers that cannot matter where they are large enough:
"""
_UNCLASSIFIED = """
## Unclassified

What these are about may change an answer, and no model has it. Every property that a known release does not have is
unclassified, too.
"""


def page() -> str:
    """The page, as Markdown that ends with a line break."""
    columns = ("property", "default", "releases", "off its default")
    modelled = (_row(name, one.effect, one.rules) for name, one in sorted(SETTINGS.items()))
    listed = (_row(name, one.effect, one.rules) for name, one in sorted(LISTED.items()))
    harmless = ((why, _code(patterns)) for why, patterns in HARMLESS.items())
    unmodelled = ((about, _code(patterns)) for about, patterns in UNMODELLED.items())
    parts = [
        _INTRODUCTION,
        *markdown_table((*columns, "rules"), modelled),
        "\n## Listed\n",
        *markdown_table((*columns, "unsupported rules"), listed),
        _HARMLESS,
        *markdown_table(("why", "properties"), harmless),
        _AT_LEAST,
        *markdown_table(("property", "at least", "why"), map(_bound, AT_LEAST, AT_LEAST.values())),
        f"\nOf {_code(COUNTS)} a number below 1 is unclassified: a broker divides by it, or has none of what it needs.",
        _UNCLASSIFIED,
        *markdown_table(("about", "properties"), unmodelled),
    ]
    return "\n".join(parts) + "\n"


def _row(name: str, effect: str, rules: Iterable[str]) -> tuple[str, ...]:
    by_release = releases_of(name)
    default = defaults_of(KNOWN)[name]
    others = [f"`{value}` in {releases}" for releases, value in by_release if value != default]
    since = by_release[0][0]
    releases = "all" if since == "all" else f"{since.split(' ')[0].rstrip('+')}+"
    shown = ", ".join([f"`{default}`", *others])
    return f"`{name}`", shown, releases, effect, _code(rules)


def _bound(name: str, bound: Bound) -> tuple[str, ...]:
    return f"`{name}`", f"{bound.least}{', or 0 for never' if bound.off else ''}", bound.why


def _code(words: Iterable[str]) -> str:
    return ", ".join(f"`{word}`" for word in words)
