"""Linearizability: could calls that overlap in time have taken effect one after the other?

A *history* has calls, each with the moment at which it was invoked, the moment at which it was answered, or none, and
what was answered. It is *linearizable* by a model if every call can be given one moment between the two, so that the
model answers the same when the calls are done in that order (Herlihy and Wing). A call without an answer may have
taken effect at any moment after it was invoked, or never.

The search is the one of Wing and Gong with the memory of Lowe: it goes through the history moment by moment and follows
all *configurations*, a state and what is under way, each once. A call takes effect no sooner than the next answer needs
it. Calls that have nothing in common are checked apart (:func:`apart`), as a history is linearizable if its parts are.

A call may be made of several steps, each of which has a moment of its own. That is how an implementation is described
whose calls do not take effect at once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from typing import Any, NamedTuple

#: Configurations beyond which a history is given up.
MOST = 20_000

#: One step of a call: the states that may follow, with what the call remembers then. None follows where the answer that
#: was observed is impossible. A call begins by remembering None.
Effect = Callable[[Any, Any], Iterable[tuple[Any, Any]]]


class Call(NamedTuple):
    """A call of a history; moments are whole numbers. It takes all its effects, in their order."""

    invoked: int
    #: None when no answer came.
    answered: int | None
    effects: tuple[Effect, ...]


class UnderWay(NamedTuple):
    """A call that was invoked and not answered yet: how many effects it has taken, and what it remembers."""

    call: int
    taken: int = 0
    memory: Any = None


class Configuration(NamedTuple):
    """A state that is possible at some moment; ``noted`` is what calls that are followed remembered at their end."""

    state: Any
    open: tuple[UnderWay, ...] = ()
    noted: tuple[tuple[int, Any], ...] = ()


class Linearized(NamedTuple):
    """What came of a search: the configurations at the end, or the last ones before the call whose answer fits none."""

    configurations: list[Configuration]
    #: The number of that call; None for a linearizable history.
    stuck: int | None = None


class TooManyConfigurations(Exception):  # noqa: N818 - the history leaves too much open
    """There are more configurations than ``MOST``."""


def linearize(
    initial: Any,
    calls: Sequence[Call],
    key: Callable[[Any], Hashable] = lambda state: state,
    followed: Collection[int] = (),
) -> Linearized:
    """Search an order; ``key`` tells states apart. TooManyConfigurations beyond ``MOST``.

    What the ``followed`` calls remember at their end is noted in the configurations.
    """
    found = [Configuration(initial)]
    for _, answered, number in _moments(calls):
        if not answered:
            found = [one._replace(open=(*one.open, UnderWay(number))) for one in found]
            continue
        before, found = found, _answered(found, calls, number, key, number in followed)
        if not found:
            return Linearized(before, number)
    return Linearized(found)


def apart(touched: Sequence[Collection[Hashable]]) -> list[list[int]]:
    """Numbers of calls by parts: two calls are in one part if they touch the same thing, directly or by others."""
    part_of: dict[Hashable, list[int]] = {}
    for number, things in enumerate(touched):
        joined = {id(part): part for thing in things if (part := part_of.get(thing)) is not None}
        whole = sorted([number, *(one for part in joined.values() for one in part)])
        for thing in [*things, *(thing for thing, part in part_of.items() if id(part) in joined)]:
            part_of[thing] = whole
    return sorted({id(part): part for part in part_of.values()}.values())


def _moments(calls: Sequence[Call]) -> list[tuple[int, bool, int]]:
    """(moment, is it the answer?, number of the call), in their order; what happens at once overlaps."""
    invoked = [(call.invoked, False, number) for number, call in enumerate(calls)]
    answered = [(call.answered, True, number) for number, call in enumerate(calls) if call.answered is not None]
    return sorted([*invoked, *answered])


def _answered(
    before: Sequence[Configuration], calls: Sequence[Call], number: int, key: Callable[[Any], Hashable], followed: bool
) -> list[Configuration]:
    """The configurations once a call has taken effect, alone or after others that are under way."""
    after: dict[Hashable, Configuration] = {}
    seen = {_key(one, key): None for one in before}
    waiting = [*before]
    for one in waiting:  # the list grows while it is iterated
        mine = next(call for call in one.open if call.call == number)
        if mine.taken == len(calls[number].effects):
            left = tuple([call for call in one.open if call is not mine])
            noted = (*one.noted, (number, mine.memory)) if followed else one.noted
            ended = Configuration(one.state, left, noted)
            after.setdefault(_key(ended, key), ended)
            continue
        for place, call in enumerate(one.open):
            effects = calls[call.call].effects
            if call.taken == len(effects):
                continue
            for state, memory in effects[call.taken](one.state, call.memory):
                moved = UnderWay(call.call, call.taken + 1, memory)
                then = one._replace(state=state, open=(*one.open[:place], moved, *one.open[place + 1 :]))
                known = _key(then, key)
                if known not in seen:
                    seen[known] = None
                    waiting.append(then)
        if len(waiting) > MOST:
            raise TooManyConfigurations
    return [*after.values()]


def _key(one: Configuration, key: Callable[[Any], Hashable]) -> Hashable:
    return key(one.state), one.open, one.noted
