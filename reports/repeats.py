"""Texts that repeat: each once, with how many of them there are."""

from __future__ import annotations

import re
from collections.abc import Iterable

from rocketmq_conformance.reports.event import UNSUPPORTED
from rocketmq_conformance.reports.run_summary import RunSummary
from rocketmq_conformance.reports.text import count

#: What does not make texts different: numbers, the operation in which something was seen, and at the end the case.
_CASE = re.compile(r" \([^()]*\)$")
_LESS = _CASE, re.compile(r" in \w+\([^()]*\)"), re.compile(r"\d+")


def alike(text: str) -> str:
    """Equal for texts that differ in numbers alone, or in where something was seen."""
    for pattern in _LESS:
        text = pattern.sub("", text)
    return text


def without_case(text: str) -> str:
    """A reason without the case where it was seen first."""
    return _CASE.sub("", text)


def once(texts: Iterable[str]) -> list[str]:
    """The first of the texts that are alike, with the number of the others."""
    found: dict[str, tuple[str, int]] = {}
    for text in texts:
        first, more = found.get(alike(text), (text, -1))
        found[alike(text)] = first, more + 1
    return [f"{text} (and {count(more, 'note')} like it)" if more else text for text, more in found.values()]


def case_reasons(summary: RunSummary, suite: str, leave: Iterable[str] = ()) -> list[tuple[str, str, int, int]]:
    """Why cases of a suite do not conform: verdict, reason, how many cases have it or one like it, and the first one.

    ``leave`` are reasons of unsupported cases that are said elsewhere.
    """
    left = {*leave}
    found: dict[tuple[str, str], tuple[str, int, int]] = {}
    for (of, verdict, reason), (times, first) in summary.reasons.items():
        if of == suite and reason and not (verdict == UNSUPPORTED and reason in left):
            key = verdict, alike(reason)
            same, before, at = found.get(key, (reason, 0, first))
            found[key] = same, before + times, at
    return [(verdict, *rest) for (verdict, _), rest in found.items()]


def with_place(summary: RunSummary, suite: str, verdict: str, reason: str, times: int, first: int) -> str:
    """A reason with where it was seen."""
    where = summary.case_name(suite, first)
    where = where if times == 1 else f"{times:,} cases, first {where}"
    return f"{verdict}: {reason} ({where})"


def by_reason(unsupported: dict[str, str]) -> dict[str, list[str]]:
    """The unsupported operations of each reason."""
    found: dict[str, list[str]] = {}
    for operation, reason in unsupported.items():
        found.setdefault(reason, []).append(operation)
    return found
