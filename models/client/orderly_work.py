"""What the listeners of an orderly consumer are at, by queue, and the order in which they were given messages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

#: The number of a member, and of a queue.
Place = tuple[int, int]
#: Member, queue, first offset and messages, one after the other.
Given = tuple[tuple[int, int, int, int], ...]


class OrderlyWork(NamedTuple):
    """The listeners of one member. Queues are indexes of the fixtures."""

    #: The queues of which a listener holds the first message.
    inside: frozenset[int] = frozenset()
    #: Those that it has lost while a listener held a message of them, which has not returned yet.
    lost: frozenset[int] = frozenset()
    #: The lost ones that no member has taken since.
    clings: frozenset[int] = frozenset()
    #: The queue and offset of each message that was given since the last look, in order.
    lines: tuple[tuple[int, int], ...] = ()
    #: The offset of the message that was given last, by queue id.
    latest: Mapping[int, int] = MappingProxyType({})


def given_in_order(
    latest: Mapping[Place, int], lines: Iterable[tuple[int, int, int]]
) -> tuple[Given, Given, dict[Place, int]]:
    """The messages that listeners were given, from lines of (member, queue, offset): those that came after another one,
    joined where they follow each other, by member and queue; those that were given once more right after they had been
    given; and the latest of each place now.

    How often a message is given once more depends on time, and is left out. ``latest`` is what was given before.
    """
    found = dict(latest)
    runs: dict[Place, list[tuple[int, int]]] = {}
    again: set[tuple[int, int, int, int]] = set()
    for member, queue, offset in lines:
        place = member, queue
        if found.get(place) == offset:
            again.add((member, queue, offset, 1))
            continue
        found[place] = offset
        mine = runs.setdefault(place, [])
        if mine and sum(mine[-1]) == offset:
            mine[-1] = mine[-1][0], mine[-1][1] + 1
        else:
            mine.append((offset, 1))
    given = tuple((*place, first, count) for place in sorted(runs) for first, count in runs[place])
    return given, tuple(sorted(again)), found
