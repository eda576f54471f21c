"""Voices in words: which addresses of a campaign did the same, and which of them went against their rules."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from rocketmq_conformance.reports.event import Voices

#: Neighbours that are written as a range.
_RANGE = 3


def spans(names: Iterable[str], order: Iterable[str]) -> str:
    """Addresses in few words: neighbours of a kind in ``order`` are one range, ``a … c (3)``."""
    chosen = list(names)
    runs: list[list[str]] = [[]]
    for name in dict.fromkeys([*order, *chosen]):
        if name not in chosen:
            runs.append([])
        elif runs[-1] and _kind(runs[-1][0]) != _kind(name):
            runs.append([name])
        else:
            runs[-1].append(name)
    return ", ".join(_run(run) for run in runs if run)


def _kind(address: str) -> str:
    return re.split("[:?]", address, maxsplit=1)[0]


def _run(run: Sequence[str]) -> str:
    return f"{run[0]} … {run[-1]} ({len(run)})" if len(run) >= _RANGE else ", ".join(run)


def sides(voices: Voices, order: Sequence[str]) -> Iterator[str]:
    """What each voice is, in words."""
    for addresses, rules in zip(voices.addresses, voices.rules, strict=False):
        against = [name for name in addresses if name not in rules]
        if not addresses:
            yield f"the rules of {spans(rules, order)}"
        elif not against:
            yield spans(addresses, order)
        elif len(against) == len(addresses):
            yield f"{spans(addresses, order)}, against {'its' if len(addresses) == 1 else 'their'} rules"
        else:
            yield f"{spans(addresses, order)}, of which {spans(against, order)} against the rules"


def since(voices: Voices, most: int = 4) -> str:
    """The addresses from which on another voice speaks, in the order of the addresses."""
    names = [pair[0] for pair in voices.since if pair]
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
