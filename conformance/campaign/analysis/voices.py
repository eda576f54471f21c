"""The voices of a campaign over several addresses: which of them part from which, in how many cases, and since when."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from rocketmq_conformance.conformance.campaign.analysis.parts import IN_PROCESS, Engine, Part, joined, parts_of
from rocketmq_conformance.conformance.campaign.tables.reading import Campaign
from rocketmq_conformance.reports import event

_COLUMNS = ("case", "address", "voice", "rules_voice")
#: The voice of every address, then that of the rules of each.
_Numbers = tuple[int, ...]
#: Cases with these, and the first of them.
_Counts = dict[_Numbers, tuple[int, int]]


def voices(campaign: Campaign, engine: Engine = IN_PROCESS) -> list[event.Voices]:
    """Every way in which addresses, or their rules, have different voices: by suite, the most frequent first."""
    parts = parts_of(campaign, engine.size)
    found = engine.by_suite([campaign], parts, ["cases"], _count, _both)
    return [
        _event(suite, campaign.addresses, numbers, *counted)
        for suite in campaign.suites
        for numbers, counted in sorted(found.get(suite, {}).items(), key=lambda one: (-one[1][0], one[1][1]))
    ]


def _count(part: Part, campaign: Campaign) -> _Counts:
    found: _Counts = {}
    for block in part.blocks[0]:
        _both(found, _of_block(campaign, part.suite, block))
    return found


def _of_block(campaign: Campaign, suite: str, block: int) -> _Counts:
    rows = campaign.read("cases", _COLUMNS, suite, block)
    several = campaign.addresses
    begin = block * campaign.block
    numbers = np.zeros((campaign.block, 2 * len(several)), np.int16)
    names = rows["address"].combine_chunks()
    place = np.array([several.index(name) for name in names.dictionary.to_pylist()], np.int64)
    column = place[names.indices.to_numpy()] if len(rows) else np.zeros(0, np.int64)
    case = rows["case"].to_numpy() - begin
    numbers[case, column] = rows["voice"].to_numpy()
    numbers[case, column + len(several)] = rows["rules_voice"].to_numpy()
    parting = np.flatnonzero((numbers > 1).any(axis=1))
    kinds, first, counts = np.unique(numbers[parting], axis=0, return_index=True, return_counts=True)
    return {
        tuple(kind): (count, int(begin + parting[at]))
        for kind, count, at in zip(kinds.tolist(), counts.tolist(), first.tolist(), strict=True)
    }


def _both(one: _Counts, other: _Counts) -> _Counts:
    return joined(one, other, lambda a, b: (a[0] + b[0], min(a[1], b[1])))


def _event(suite: str, addresses: Sequence[str], numbers: _Numbers, cases: int, first: int) -> event.Voices:
    own, rules = numbers[: len(addresses)], numbers[len(addresses) :]
    every = range(1, max(numbers) + 1)
    return event.Voices(
        suite=suite,
        cases=cases,
        case=first,
        addresses=[[name for name, voice in zip(addresses, own, strict=True) if voice == one] for one in every],
        rules=[[name for name, voice in zip(addresses, rules, strict=True) if voice == one] for one in every],
        since=list(_since(addresses, own)),
    )


def _since(addresses: Sequence[str], own: Sequence[int]) -> Iterator[list[str]]:
    """Neighbours with different voices, the later one first; those that decided nothing are left out."""
    known = [(name, voice) for name, voice in zip(addresses, own, strict=True) if voice]
    for (before, one), (name, other) in pairwise(known):
        if one != other:
            yield [name, before]
