"""Stored campaigns, analysed in parts: what some blocks show, and how what two parts show becomes one.

An analysis is two functions, one that looks at a part and one that joins what was found, in any order. An engine says
where parts are looked at: ``InProcess`` here, one after the other, ``on_spark`` in tasks of Spark.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np
import pandas as pd

from rocketmq_conformance.conformance.campaign.tables.reading import Campaign

#: Cases of a kind that separating features are looked for in, and conforming cases that these are compared with.
SAMPLE = 200
#: Blocks of a part of chosen cases: each is a few files to be read.
_BLOCKS = 256
Key = TypeVar("Key", bound=Hashable)
Found = TypeVar("Found")
Joins = Callable[[Found, Found], Found]


class Part(NamedTuple):
    """What is looked at together."""

    suite: str
    #: Finished blocks, of each of the campaigns that are looked at.
    blocks: tuple[Sequence[int], ...]
    #: The cases that are meant, where these are not all of the blocks: the first one and the first one behind them, or
    #: the number of each.
    cases: Sequence[int] = ()


class Engine(ABC):
    """Where parts are looked at."""

    #: As outputs say it.
    name: str
    #: Cases of a part, and chosen cases of one.
    size: int
    chosen: int

    def reading_again(self, campaign: Campaign) -> Campaign:
        """The campaign, for several looks at the same parts of it."""
        return campaign

    @abstractmethod
    def by_suite(
        self,
        campaigns: Sequence[Campaign],
        parts: Iterable[Part],
        tables: Sequence[str],
        look: Callable[..., Found],
        join: Joins[Found],
    ) -> dict[str, Found]:
        """What ``look(part, *campaigns)`` finds in the parts of every suite, joined; it reads ``tables`` alone.

        ``join`` may change the first of the two.
        """


class InProcess(Engine):
    """This process."""

    name = "in one process"
    size = chosen = 1 << 20

    def reading_again(self, campaign: Campaign) -> Campaign:
        """One that keeps what it reads."""
        return replace(campaign, kept={})

    def by_suite(
        self,
        campaigns: Sequence[Campaign],
        parts: Iterable[Part],
        tables: Sequence[str],
        look: Callable[..., Found],
        join: Joins[Found],
    ) -> dict[str, Found]:
        found: dict[str, Found] = {}
        for part in parts:
            joined(found, {part.suite: look(part, *campaigns)}, join)
        return found


IN_PROCESS = InProcess()


def joined(one: dict[Key, Found], other: dict[Key, Found], join: Joins[Found]) -> dict[Key, Found]:
    """``one`` with what ``other`` has."""
    for key, found in other.items():
        one[key] = join(one[key], found) if key in one else found
    return one


def parts_of(campaign: Campaign, size: int) -> Iterator[Part]:
    """All finished blocks, in parts of at least so many cases."""
    some = -(-size // campaign.block)
    for suite in campaign.suites:
        numbers = campaign.finished(suite)
        yield from (Part(suite, (numbers[at : at + some],)) for at in range(0, len(numbers), some))


def ranges(suite: str, campaigns: Sequence[Campaign], size: int) -> Iterator[Part]:
    """The same range of numbers of all campaigns to a part, and the finished blocks that have some of them."""
    found: dict[int, tuple[list[int], ...]] = defaultdict(lambda: tuple([] for _ in campaigns))
    for at, campaign in enumerate(campaigns):
        for number in campaign.finished(suite):
            for place in range(number * campaign.block // size, -(-(number + 1) * campaign.block // size)):
                found[place][at].append(number)
    for place, both in sorted(found.items()):
        yield Part(suite, both, (place * size, (place + 1) * size))


def chosen_parts(suite: str, cases: Iterable[int], campaigns: Sequence[Campaign], most: int) -> Iterator[Part]:
    """Chosen cases, at most so many to a part, of few blocks."""
    some: list[int] = []
    for case in sorted(cases):
        if some and (len(some) == most or case - some[0] > _BLOCKS * campaigns[0].block):
            yield _chosen(suite, some, campaigns)
            some = []
        some.append(case)
    if some:
        yield _chosen(suite, some, campaigns)


def _chosen(suite: str, cases: Sequence[int], campaigns: Sequence[Campaign]) -> Part:
    return Part(suite, tuple(sorted({case // one.block for case in cases}) for one in campaigns), cases)


@dataclass(frozen=True, kw_only=True)
class Kind:
    """Cases that differ alike."""

    #: Cases.
    count: int
    #: The exemplar: the case that differs after the fewest steps, the smallest of them.
    case: int
    #: Its first step that differs; 1 is the first one judged.
    step: int
    #: [case, step] of the smallest cases, SAMPLE at most.
    some: tuple[tuple[int, int], ...] = ()

    def joined(self, other: Self) -> Self:
        """Those of another part as well."""
        first = min(self, other, key=lambda one: (one.step, one.case))
        some = tuple(sorted({*self.some, *other.some})[:SAMPLE])
        return replace(first, count=self.count + other.count, some=some)


def kinds(rows: pd.DataFrame, key: list[str]) -> Iterator[tuple[int, Kind]]:
    """The kinds of rows with ``case`` and ``step``, those with the same under ``key``, each after its exemplar's row.

    A case counts once.
    """
    kind = rows.groupby(key, sort=False, observed=True).ngroup().to_numpy()
    case, step = rows["case"].to_numpy(np.int64), rows["step"].to_numpy(np.int64)
    order = np.lexsort((step, case, kind))
    order = order[(np.diff(kind[order], prepend=-1) != 0) | (np.diff(case[order], prepend=-1) != 0)]
    shortest = order[np.lexsort((case[order], step[order], kind[order]))]
    begins = np.flatnonzero(np.diff(kind[order], prepend=-1))
    for begin, count in zip(begins.tolist(), np.diff(begins, append=len(order)).tolist(), strict=True):
        first, some = shortest[begin], order[begin : begin + min(count, SAMPLE)]
        smallest = tuple(zip(case[some].tolist(), step[some].tolist(), strict=True))
        yield int(first), Kind(count=count, case=int(case[first]), step=int(step[first]), some=smallest)


def smallest(one: Any, other: Any, most: int) -> Any:
    """The smallest of the numbers of two parts."""
    return np.sort(np.concatenate([one, other]))[:most]
