"""What the listeners of an orderly consumer are at, by queue, and the order in which they were given messages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

#: The number of a member, and of a queue.
MemberQueue = tuple[int, int]
#: Member, queue, first offset and messages, one after the other.
Given = tuple[tuple[int, int, int, int], ...]


class OrderlyWork(NamedTuple):
    """The listeners of one member. Queues are given by key."""

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
    latest: Mapping[MemberQueue, int], lines: Iterable[tuple[int, int, int]]
) -> tuple[Given, Given, dict[MemberQueue, int]]:
    """The messages that listeners were given, from lines of (member, queue, offset): those that came after another one,
    joined where they follow each other, by member and queue; those that were given once more right after they had been
    given; and the latest of each member and queue now.

    How often a message is given once more depends on time, and is left out. ``latest`` is what was given before.
    """
    found = dict(latest)
    runs: dict[MemberQueue, list[tuple[int, int]]] = {}
    again: set[tuple[int, int, int, int]] = set()
    for member, queue, offset in lines:
        member_queue = member, queue
        if found.get(member_queue) == offset:
            again.add((member, queue, offset, 1))
            continue
        found[member_queue] = offset
        mine = runs.setdefault(member_queue, [])
        if mine and sum(mine[-1]) == offset:
            mine[-1] = mine[-1][0], mine[-1][1] + 1
        else:
            mine.append((offset, 1))
    given = tuple((*member_queue, first, count) for member_queue in sorted(runs) for first, count in runs[member_queue])
    return given, tuple(sorted(again)), found
