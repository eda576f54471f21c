"""Proof of queue allocation: the model against the allocation strategies of real Java clients.

The exhaustive part covers every small input: up to 6 members and 12 queues, every member list up to renaming (so
every pattern of repeated ids), every own id, one missing and the empty one. The sampled part draws unusual inputs from
the suite's own domains.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import product
from typing import Any

from rocketmq_conformance.conformance.adapter import Methods
from rocketmq_conformance.conformance.proof.evidence import Tally
from rocketmq_conformance.models.allocation.nearby import INNER_STRATEGIES
from rocketmq_conformance.models.outcome import Result
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.reports.proof import ProofRow
from rocketmq_conformance.suites.allocation import SUITE
from rocketmq_conformance.suites.declare.sampler import sampler
from rocketmq_conformance.suites.declare.suite import Row

MEMBERS = 6
QUEUES = 12
#: Queues in each of the three rooms of a nearby world: 12 in all.
_ROOM_QUEUES = 4
_SEED = 1

Case = tuple[str, tuple[Any, ...]]


def member_lists(most: int = MEMBERS) -> Iterator[tuple[str, ...]]:
    """Every list of up to ``most`` ids, up to renaming: a new id is always the next unused one."""
    grown: list[tuple[int, ...]] = [()]
    for size in range(most + 1):
        for numbers in grown:
            yield tuple(f"c{number}" for number in numbers)
        if size < most:
            grown = [(*numbers, n) for numbers in grown for n in range(max(numbers, default=-1) + 2)]


def seats(members: tuple[str, ...]) -> Iterator[str]:
    """Every own id to try: each member's, a missing one and the empty one."""
    yield from dict.fromkeys(members)
    yield from ("absent", "")


def plain_worlds() -> Iterator[Case]:
    """Cases of the strategies without machine rooms."""
    lists = [tuple(("T", "b0", number) for number in range(count)) for count in range(QUEUES + 1)]
    configured = (("OTHER", "b9", 1), ("OTHER", "b9", 0))
    for members in member_lists():
        for me in seats(members):
            for queues in lists:
                yield "allocate_averagely", (me, queues, members)
                yield "allocate_by_circle", (me, queues, members)
                yield "allocate_by_config", (me, queues, members, configured)
                for nodes in (10, 1, 3, 0):
                    yield "allocate_by_consistent_hash", (me, queues, members, nodes)


def machine_room_worlds() -> Iterator[Case]:
    """Every pattern of own and foreign queues with distinct ids, and repeated ids with some patterns."""
    brokers = ("own@b0", "other@b0")
    distinct = [tuple(f"c{number}" for number in range(size)) for size in range(MEMBERS + 1)]
    for count in range(QUEUES + 1):
        for pattern in product((0, 1), repeat=count):
            queues = tuple(("T", brokers[foreign], number) for number, foreign in enumerate(pattern))
            for members in distinct:
                for me in seats(members):
                    yield "allocate_by_machine_room", (me, queues, members, ("own",))
        for members in member_lists():
            for step in (1, 2, 3):
                queues = tuple(("T", brokers[number % step != step - 1], number) for number in range(count))
                for me in seats(members):
                    yield "allocate_by_machine_room", (me, queues, members, ("own",))


def broker_name_worlds() -> Iterator[Case]:
    """Every broker name of up to 5 characters, "a" or "@"."""
    for size in range(6):
        for letters in product("a@", repeat=size):
            queues = (("T", "".join(letters), 0),)
            for rooms in (("",), ("a",), ("aa",), ()):
                yield "allocate_by_machine_room", ("c0", queues, ("c0",), rooms)


def nearby_worlds() -> Iterator[Case]:
    """Up to 4 queues in each of three rooms, up to 6 members spread over them in every way, every inner strategy."""
    rooms = ("east", "north", "west")
    spreads = [spread for spread in product(range(MEMBERS + 1), repeat=3) if sum(spread) <= MEMBERS]
    for housed in product(range(_ROOM_QUEUES + 1), repeat=3):
        queues = tuple(("T", f"{room}@b0", n) for room, count in zip(rooms, housed, strict=True) for n in range(count))
        for spread in spreads:
            members = tuple(f"{room}@c{n}" for room, count in zip(rooms, spread, strict=True) for n in range(count))
            for me in (*members, "absent"):
                for inner in INNER_STRATEGIES:
                    yield "allocate_nearby", (me, queues, members, inner)


def order_worlds() -> Iterator[Case]:
    """Every pair of queues from a small alphabet of names and ids."""
    names = ("", "T", "TT", "t", "U", "\U0001f600", "\uff5e")
    ids = (0, 1, 2, 10, 2**31 - 1, -1, -(2**31))
    queues = [*product(names, ("b0", "b1"), (0, 10)), *product(("T",), names, (0, 10)), *product(("T",), ("b0",), ids)]
    for left in queues:
        yield "identify_queue", (left,)
        for right in queues:
            yield "compare_queues", (left, right)
            yield "sort_queues", ((left, right),)
    for one, other in product(names, repeat=2):
        yield "sort_members", ((one, other, "T"),)


def worlds() -> Iterator[Case]:
    """The exhaustive part, as (operation, arguments)."""
    yield from plain_worlds()
    yield from machine_room_worlds()
    yield from broker_name_worlds()
    yield from nearby_worlds()
    yield from order_worlds()


def exhaust(tally: Tally, profile: Profile, calls: Methods, cases: Iterable[Case]) -> None:
    """Compare one release with the model in every case whose operation it has."""
    handlers = SUITE.bind(profile).by_position
    offered = {SUITE.operations[at].spec.name for at in SUITE.offered(profile)}
    model = {name: handlers[at] for name, at in SUITE.index.items() if name in offered}
    for name, args in cases:
        if name in model:
            _, expected, why = model[name](None, *args)
            observed = calls[SUITE.operations[SUITE.index[name]]](*args)
            tally.add(expected, why, observed, partial(_described, name, args))


def _described(name: str, args: tuple[Any, ...]) -> str:
    return str(SUITE.operation((SUITE.index[name], args)))


def sampled(profile: Profile, cases: int) -> Iterator[list[Row]]:
    """So many cases of unusual inputs."""
    drawn = sampler(SUITE, profile)
    return (drawn.case(_SEED, case, SUITE.steps) for case in range(cases))


def sample(tally: Tally, profile: Profile, calls: Methods, cases: int) -> None:
    """Compare one release with the model in so many cases of unusual inputs."""
    handlers = SUITE.bind(profile).by_position
    named = [calls.get(op) for op in SUITE.operations]
    for rows in sampled(profile, cases):
        for row in rows:
            _ask(tally, handlers, named, row)


def _ask(tally: Tally, handlers: tuple[Any, ...], named: list[Callable[..., Result] | None], row: Row) -> None:
    at, args = row
    call = named[at]
    assert call is not None, f"{SUITE.operations[at].spec.name} is offered by the profile, but the release lacks it"
    _, expected, why = handlers[at](None, *args)
    tally.add(expected, why, call(*args), lambda: str(SUITE.operation(row)))


def prove(
    releases: Iterable[tuple[str, Methods]], exhaustive: bool, sampled: int, tallies: list[Tally] | None = None
) -> list[ProofRow]:
    """Prove the model against each release, given as (release, its calls).

    ``sampled`` is the number of cases of unusual inputs per release; the exhaustive part is always complete.
    ``tallies`` receives the counts and examples behind the rows.
    """
    rows: list[ProofRow] = []
    for release, calls in releases:
        profile = Profile.of(client=release)
        tally = Tally(SUITE.side.value, release)
        if exhaustive:
            exhaust(tally, profile, calls, worlds())
        sample(tally, profile, calls, sampled)
        rows += tally.rows()
        if tallies is not None:
            tallies.append(tally)
    return rows
