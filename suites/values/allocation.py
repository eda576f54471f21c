"""Value domains of the suite ``allocation``: queue lists, member lists, and how they become simpler.

Bugs of allocators need odd lists, and odd lists drawn at random are rare: so the lists are written down, simplest
first, and a draw is one choice among all combinations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rocketmq_conformance.models.message_queue import Queue
from rocketmq_conformance.suites.declare.choices import Choices
from rocketmq_conformance.suites.declare.domain import Drawn, Schema
from rocketmq_conformance.suites.declare.wording import Wording
from rocketmq_conformance.suites.values.words import MESSAGE_QUEUES, message_queue

Queues = tuple[Queue, ...]
Members = tuple[str, ...]

#: U+1F600 sorts before U+FF5E by UTF-16 code unit, and after it by code point.
ASTRAL, TILDE = "\U0001f600", "\uff5e"
#: White for Python, but not for Java.
NO_BREAK_SPACE = "\u00a0"
#: An id that no list has.
ABSENT = "absent"


def queues(topic: str, broker: str, *ids: int) -> Queues:
    """Queues of one topic on one broker."""
    return tuple((topic, broker, number) for number in ids)


def _numbered(count: int) -> Queues:
    return queues("T", "b0", *range(count))


_TWO_BROKERS = queues("T", "b0", 0, 1, 2, 3) + queues("T", "b1", 0, 1, 2, 3)
_UNEVEN_BROKERS = queues("T", "b0", 0, 1, 2) + queues("T", "b1", 0) + queues("T", "broker-a", 0, 1, 2, 3, 4)

#: Lists for every strategy: none, fewer than members, multiples of the members and not, many; several brokers and
#: topics; out of order; ids of two digits.
PLAIN_QUEUES: tuple[Queues, ...] = (
    *(_numbered(count) for count in (1, 2, 3, 4, 5, 6, 7, 8, 0, 9, 10, 11, 12, 16, 17)),
    _TWO_BROKERS,
    _UNEVEN_BROKERS,
    _TWO_BROKERS[::-1],
    queues("T", "b0", 2, 10, 1, 0, 11),
    queues("T", "b1", 0, 1) + queues("T", "b0", 0, 1) + queues("U", "b0", 0),
    queues("%RETRY%G", "b0", 0),
    queues("T", ASTRAL, 0, 1) + queues("T", TILDE, 0, 1),
    queues(ASTRAL, "b0", 0, 1) + queues(TILDE, "b0", 0, 1),
    queues("topic", "broker-a", *range(16)),
)

#: Room east, room west and no room, foreign rooms before, between and after the own one; every number of "@".
HOUSED_QUEUES: tuple[Queues, ...] = (
    queues("T", "east@b0", 0, 1),
    queues("T", "east@b0", 0, 1, 2, 3) + queues("T", "west@b0", 0, 1, 2),
    queues("T", "west@b0", 0, 1) + queues("T", "east@b0", 0, 1),
    queues("T", "east@b0", 0, 1, 2) + queues("T", "north@b0", 0, 1, 2, 3, 4) + queues("T", "west@b0", 0, 1),
    queues("T", "east@b0", 0) + queues("T", "west@b0", 0) + queues("T", "east@b1", 0) + queues("T", "west@b0", 1),
    queues("T", "west@b0", *range(7)),
    queues("T", "a@b0", 0, 1, 2) + queues("T", "z@b0", 0, 1, 2) + queues("T", "east@b0", 0, 1, 2, 3, 4),
    queues("T", "z@b0", 0, 1, 2, 3) + queues("T", "a@b0", 0, 1, 2, 3),
    queues("T", f"{TILDE}@b0", 0, 1) + queues("T", f"{ASTRAL}@b0", 0, 1) + queues("T", "east@b0", 0),
    queues("T", "b0", 0, 1) + queues("T", "east@b0", 0, 1, 2),
    queues("T", "@b0", 0, 1) + queues("T", "east@b0", 0, 1),
    queues("T", "@b0", 0, 1, 2),
    queues("T", "east@", 0, 1) + queues("T", "east@b0", 0, 1),
    queues("T", "east@b0@", 0, 1, 2) + queues("T", "west@b0@", 0),
    queues("T", "east@b0@@", 0) + queues("T", "east@b0", 0),
    queues("T", "east@b0@c", 0, 1) + queues("T", "east@b0", 0, 1),
    queues("T", "@", 0) + queues("T", "@@b0", 0) + queues("T", "east@b0", 0),
    queues("T", "", 0) + queues("T", "east@@b0", 0, 1) + queues("T", "east@b0", 0, 1),
    (),
)

#: Ids as clients make them, prefixes of one another: "10.0.0.2@1" before "10.0.0.2@1#5" before "10.0.0.2@1@STREAM".
_CLIENTS = ("10.0.0.10@1", "10.0.0.2@1", "10.0.0.2@1#5", "10.0.0.2@1@STREAM")

PLAIN_MEMBERS: tuple[Members, ...] = (
    *(tuple(f"c{k}" for k in range(count)) for count in (1, 2, 3, 4, 5, 6, 0, 13)),
    ("a", "a"),
    ("a", "a", "b"),
    ("a", "b", "a"),
    ("b", "a", "a", "c"),
    ("a", "b", "b", "b", "c", "c"),
    _CLIENTS,
    _CLIENTS[::-1],
    ("192.168.0.1@1#1", "192.168.0.1@1#2", "192.168.0.1@1#3"),
    ("c2", "c10", "c1"),
    (" ", "a", "\t"),
    (NO_BREAK_SPACE, "a"),
    ("", "a"),
    (ASTRAL, TILDE, "a"),
)

#: Pairs that share a place on the ring: c601-6 with c1081-3, c2702-3 with c5355-1, c5078-3 with c17593-7.
COLLIDING_MEMBERS: tuple[Members, ...] = (
    ("c601", "c1081"),
    ("c1081", "c601"),
    ("c601", "c1081", "c601"),
    ("c2702", "c5355", "a"),
    ("c5355", "c2702", "c2702"),
    ("c17593", "c5078"),
)

#: Queues that stand exactly where virtual nodes stand: c7659-9 and c3929-0.
_MET = queues("T", "b0", 5470, 87840)
_MEETING = ("c3929", "a", "c7659")

RING_QUEUES = (*PLAIN_QUEUES[::2], _MET, _MET)
RING_MEMBERS = (*PLAIN_MEMBERS[::2], *COLLIDING_MEMBERS, _MEETING, _MEETING)

HOUSED_MEMBERS: tuple[Members, ...] = (
    ("east@c0",),
    ("east@c0", "west@c0"),
    ("east@c0", "east@c1", "west@c0"),
    ("west@c0", "east@c0", "west@c1"),
    ("west@c0", "west@c1"),
    ("north@c0", "south@c0"),
    ("a@c0", "east@c0", "z@c0", "east@c1"),
    ("east@c0", "east@c0", "west@c0"),
    ("east@c1", "west@c0", "east@c0", "east@c2", "west@c1", "east@c3", "north@c0"),
    ("east@c0@1", "east@c0", "west@@c0"),
    (f"{TILDE}@c0", f"{ASTRAL}@c0"),
    ("east@c0", "c1"),
    ("@c0", "east@c0"),
    (),
)

ROOMS: tuple[tuple[str, ...] | None, ...] = (
    ("east",),
    ("east", "west"),
    ("west",),
    (),
    ("", "east"),
    ("east", "west", "a", "north", "z"),
    ("a", "z"),
    ("b0",),
    None,
)


def seats(lists: Sequence[Members]) -> tuple[tuple[str, Members], ...]:
    """Own ids with each member list: each of its ids three times, one that it lacks; the empty id with a few."""
    found: list[tuple[str, Members]] = []
    for at, members in enumerate(lists):
        ids = tuple(dict.fromkeys(members)) * 3
        found += [(me, members) for me in (*ids, ABSENT, *(("",) if at % 4 == 0 else ()))]
    return tuple(found)


#: Stocks of prime size: every stride but 0 visits them without repeating.
PLAIN_STOCK = tuple((topic, broker, number) for topic in "TU" for broker in ("b0", "b1", "B2") for number in range(7))[
    :41
]
HOUSED_STOCK = tuple(
    ("T", broker, number)
    for broker in ("east@b0", "west@b0", "north@b0", "east@b1", "a@b0", "b0")
    for number in range(7)
)[:41]
PLAIN_NAMES = (*(f"c{k}" for k in range(9)), "c10", "10.0.0.1@1", "10.0.0.1@1#5", "C1")
HOUSED_NAMES = tuple(f"{room}@c{k}" for k in range(4) for room in ("east", "west", "south"))[:11]


def strided(stock: tuple[Any, ...], size: int, start: int, stride: int) -> tuple[Any, ...]:
    """``size`` items of the stock, ``stride`` apart from ``start`` on; stride 0 repeats one item."""
    count = len(stock)
    return tuple([stock[(start + stride * k) % count] for k in range(size)])


def allocations(
    lists: tuple[Queues, ...],
    members: tuple[Members, ...],
    more: Sequence[Any] = (),
    stock: Queues = PLAIN_STOCK,
    names: Members = PLAIN_NAMES,
) -> Callable[[Choices], tuple[Any, ...]]:
    """A draw of (me, queues, members) and one of ``more``, if any.

    Seven of eight combine the written lists; the others are lists of any length and order from the stocks, with an
    id twice now and then. One choice pays for all of it.
    """
    seated = seats(members)
    free = 8 - 1

    def draw(choices: Choices) -> tuple[Any, ...]:
        rest, kind = divmod(choices.below(1 << 62), 8)
        if kind == free:
            rest, a = divmod(rest, len(stock))
            rest, b = divmod(rest, len(stock) - 1)
            rest, count = divmod(rest, 24)
            given = strided(stock, count, a, b + 1)
            rest, a = divmod(rest, len(names))
            rest, b = divmod(rest, len(names))
            rest, count = divmod(rest, len(names) + 5)
            group = strided(names, count, a, b)
            rest, at = divmod(rest, count + 1)
            me = group[at] if at < count else ABSENT
        else:
            rest, at = divmod(rest, len(seated))
            me, group = seated[at]
            rest, at = divmod(rest, len(lists))
            given = lists[at]
        return (me, given, group, more[rest % len(more)]) if more else (me, given, group)

    return draw


# --- simpler values ------------------------------------------------------------------------------------------


def shorter(items: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    """The list without its halves, quarters and so on down to its single items."""
    found = []
    size = len(items)
    while size > 1:
        size = (size + 1) // 2
        found += [items[:at] + items[at + size :] for at in range(0, len(items), size)]
    return found or ([()] if items else [])


def simpler_text(text: str) -> list[str]:
    """Shorter texts: one half, one character less. Two characters are short enough, unless one is an "@"."""
    if len(text) <= 2 and "@" not in text:
        return []
    half = len(text) // 2
    return [t for t in dict.fromkeys((text[:half], text[half:], text[1:], text[:-1])) if len(t) < len(text)]


def _renamed(old: Queue, new: Queue) -> bool:
    return (len(new[0]) + len(new[1]), abs(new[2])) < (len(old[0]) + len(old[1]), abs(old[2]))


def simpler_queue(queue: Queue) -> list[Queue]:
    """Short plain names and a small id."""
    topic, broker, number = queue
    names = [("T", broker, number), (topic, "b0", number), *((topic, name, number) for name in simpler_text(broker))]
    ids = [(topic, broker, value) for value in (0, 1, number // 2)]
    return [simple for simple in (*names, *ids) if _renamed(queue, simple)]


def simpler_queues(value: Queues) -> list[Queues]:
    """Fewer queues, then each of them simpler; never one queue twice."""
    found: list[Queues] = list(shorter(value))
    for at, queue in enumerate(value):
        found += [(*value[:at], q, *value[at + 1 :]) for q in simpler_queue(queue) if q not in value]
    return found


def simpler_members(value: Members) -> list[Members]:
    """Fewer members, then each id shorter, wherever it occurs."""
    found: list[Members] = list(shorter(value))
    for member in dict.fromkeys(value):
        found += [tuple(t if m == member else m for m in value) for t in simpler_text(member) if t and t not in value]
    return found


def simpler_seat(me: str, members: Members) -> list[tuple[str, Members]]:
    """Simpler members of whom ``me`` is still one, or still none; then the first member as ``me``."""
    found = [(me, fewer) for fewer in simpler_members(members) if (me in fewer) == (me in members)]
    for text in simpler_text(me):
        if text and text not in members:
            found.append((text, tuple(text if member == me else member for member in members)))
    if me in members[1:] and me != members[0]:
        found.append((members[0], members))
    return found


def shrink_allocation(*rest: Callable[[Any], Sequence[Any]]) -> Callable[[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """Simpler (me, queues, members, …); ``rest`` names simpler values of the further arguments."""

    def simpler(args: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        me, given, members, *more = args
        found = [(me, fewer, members, *more) for fewer in simpler_queues(given)]
        found += [(one, given, others, *more) for one, others in simpler_seat(me, members)]
        for at, simpler_rest in enumerate(rest):
            for value in simpler_rest(more[at]):
                found.append((me, given, members, *more[:at], value, *more[at + 1 :]))
        return found

    return simpler


# --- domains of the fields -----------------------------------------------------------------------------------

_TEXT: Schema = {"type": "string"}
_QUEUE: Schema = {
    "type": "array",
    "description": "topic, broker name, queue id",
    "prefixItems": [_TEXT, _TEXT, {"type": "integer", "minimum": -(2**31), "maximum": 2**31 - 1}],
    "minItems": 3,
    "maxItems": 3,
}


def _list_of(item: Schema) -> Schema:
    return {"type": "array", "items": item}


def listed(
    pool: Sequence[Any], schema: Schema, simpler: Callable[[Any], Sequence[Any]], words: Wording | None = None
) -> Drawn:
    return Drawn(lambda choices: pool[choices.below(len(pool))], schema, simpler, words)


def queues_of(pool: Sequence[Queues | None]) -> Drawn:
    """A list of queues; null where the pool has None."""
    schema = _list_of(_QUEUE)
    if None in pool:
        schema = {"anyOf": [schema, {"type": "null"}]}
    return listed(pool, schema, lambda value: simpler_queues(value) if value else [], MESSAGE_QUEUES)


def members_of(pool: Sequence[Members]) -> Drawn:
    """A list of client ids."""
    return listed(pool, _list_of(_TEXT), simpler_members)


def queue_of(pool: Sequence[Queue]) -> Drawn:
    """One queue."""
    return listed(pool, _QUEUE, simpler_queue, message_queue)


def text_of(pool: Sequence[str]) -> Drawn:
    """One text."""
    return listed(pool, _TEXT, simpler_text)


def rooms_of(pool: Sequence[tuple[str, ...] | None]) -> Drawn:
    """A set of rooms, or null."""
    return listed(pool, {"anyOf": [_list_of(_TEXT), {"type": "null"}]}, lambda value: shorter(value) if value else [])
