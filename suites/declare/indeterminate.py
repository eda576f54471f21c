"""Doubt: what may be so when nobody knows whether something was done.

A request whose answer never came may have been handled, may be handled yet, or may never be. From then on there is
more than one *possibility*: the model goes on with all of them. A later answer rules out those that do not allow it;
when none is left, no order of events explains what was seen, and that is a divergence.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, NamedTuple

from rocketmq_conformance.models.outcome import Expected, agrees
from rocketmq_conformance.models.rule import Reason
from rocketmq_conformance.suites.declare.suite import BoundModel, Row

#: Possibilities beyond which a case is given up: so many open requests are no test any more.
MOST = 1024
#: Why a step that nobody knows the outcome of is neither right nor wrong.
UNKNOWN = Reason((), "nobody knows whether it was done")


class Possibility(NamedTuple):
    """A state of the model, and the requests that may still change it."""

    state: Any
    open: tuple[Row, ...] = ()


class Answered(NamedTuple):
    """What a possibility says of a step."""

    before: Possibility
    after: Possibility
    expected: Expected
    why: Reason


class TooMany(Exception):  # noqa: N818 - nobody's error: the plan leaves too much open
    """There are more possibilities than anybody can follow."""


def unanswered(bound: BoundModel, possible: Iterable[Possibility], row: Row) -> list[Possibility]:
    """What is possible after a request whose answer never came; TooMany beyond ``MOST``."""
    return _at_any_time(bound, [Possibility(one.state, (*one.open, row)) for one in possible])


def answers(
    bound: BoundModel, possible: Iterable[Possibility], row: Row, observed: Expected, *, observes: bool
) -> list[Answered]:
    """What every possibility says of a step, whenever the open requests are handled; TooMany beyond ``MOST``."""
    at, args = row
    given = (observed, *args) if observes else args
    said = []
    for one in _at_any_time(bound, possible):
        state, expected, why = bound.by_position[at](one.state, *given)
        said.append(Answered(one, one._replace(state=state), expected, why))
    return said


def allowing(said: Iterable[Answered], observed: Expected) -> list[Answered]:
    """Those that allow what was observed."""
    return [one for one in said if agrees(one.expected, observed)]


def left(allowed: Iterable[Answered]) -> list[Possibility]:
    """What is possible after a step, each once."""
    after = [one.after for one in allowed]
    return after if len(after) == 1 else list({_key(one): one for one in after}.values())


def narrowed(
    bound: BoundModel, possible: Iterable[Possibility], row: Row, observed: Expected, *, observes: bool
) -> tuple[list[Answered], list[Possibility]]:
    """What an answer leaves of the possibilities: those that allow it, and what is possible after it.

    When none allows it, what every one of them says, and nothing. TooMany beyond ``MOST``.
    """
    said = answers(bound, possible, row, observed, observes=observes)
    allowed = allowing(said, observed)
    return allowed or said, left(allowed)


def _at_any_time(bound: BoundModel, possible: Iterable[Possibility]) -> list[Possibility]:
    """Each possibility, and those where some of its open requests were handled meanwhile, in any order."""
    waiting = list(possible)
    if not any(one.open for one in waiting):
        return waiting
    found: dict[Hashable, Possibility] = {}
    for one in waiting:  # grows while it is gone through
        key = _key(one)
        if key in found:
            continue
        found[key] = one
        if len(found) > MOST:
            raise TooMany
        for place, (at, args) in enumerate(one.open):
            state, _, _ = bound.by_position[at](one.state, *args)
            waiting.append(Possibility(state, one.open[:place] + one.open[place + 1 :]))
    return list(found.values())


def _key(one: Possibility) -> Hashable:
    """Equal for possibilities that are the same; states hold mappings, which cannot be hashed."""
    return repr(one.state), one.open
