"""Indeterminate outcomes: which states of the model are possible after a request whose response was lost.

Such a request may have been handled, may still be handled later, or may never be. From then on there is more than one
*possibility*, and the model follows all of them. A later response rules out those that do not allow it; when none is
left, no order of events explains what was observed, and that is a divergence.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, NamedTuple

from rocketmq_conformance.models.outcome import Expected, agrees
from rocketmq_conformance.models.rule import Reason
from rocketmq_conformance.suites.declare.suite import BoundModel, Row

#: Possibilities beyond which a case is given up: with so many, almost any answer would be allowed.
MOST = 1024
#: So many requests without a response never make more: each was handled or not, in any order, 326 ways in all.
FEW_REQUESTS = 5
#: The reason of a step with an indeterminate outcome, which is neither right nor wrong.
UNKNOWN = Reason((), "nobody knows whether it was done")


class Possibility(NamedTuple):
    """A possible state of the model, and the in-flight requests that may still change it."""

    state: Any
    open: tuple[Row, ...] = ()


class Answered(NamedTuple):
    """A step as one possibility has it: the states around it, the expected answer and the reason."""

    before: Possibility
    after: Possibility
    expected: Expected
    why: Reason
    #: Is it the answer without an accident of Java?
    mended: bool = False


class TooMany(Exception):  # noqa: N818 - not an error of the program: the plan leaves too much open
    """There are more possibilities than ``MOST``."""


def unanswered(bound: BoundModel, possible: Iterable[Possibility], row: Row) -> list[Possibility]:
    """The possibilities after a request whose response was lost; TooMany beyond ``MOST``."""
    return _at_any_time(bound, [Possibility(one.state, (*one.open, row)) for one in possible])


def answers(
    bound: BoundModel,
    possible: Iterable[Possibility],
    row: Row,
    observed: Expected,
    *,
    observes: bool,
    mended: BoundModel | None = None,
) -> list[Answered]:
    """A step in every possibility, whenever the in-flight requests are handled; TooMany beyond ``MOST``.

    An accident of Java is answered by the ``mended`` model, too.
    """
    at, args = row
    given = (observed, *args) if observes else args
    answered = []
    for one in _at_any_time(bound, possible):
        state, expected, why = bound.by_position[at](one.state, *given)
        answered.append(Answered(one, one._replace(state=state), expected, why))
        if mended is not None and why.quirk is True:
            state, expected, why = mended.by_position[at](one.state, *given)
            answered.append(Answered(one, one._replace(state=state), expected, why, mended=True))
    return answered


def allowing(answered: Iterable[Answered], observed: Expected) -> list[Answered]:
    """The answers that allow what was observed."""
    return [one for one in answered if agrees(one.expected, observed)]


def after_step(allowed: Iterable[Answered]) -> list[Possibility]:
    """The possibilities after a step, each once."""
    after = [one.after for one in allowed]
    return after if len(after) == 1 else list({_key(one): one for one in after}.values())


def narrowed(
    bound: BoundModel,
    possible: Iterable[Possibility],
    row: Row,
    observed: Expected,
    *,
    observes: bool,
) -> tuple[list[Answered], list[Possibility]]:
    """The answers that allow what was observed, as :func:`allowing`, and the possibilities after it.

    When none allows it: the answers of every possibility, and no possibilities. TooMany beyond ``MOST``.
    """
    answered = answers(bound, possible, row, observed, observes=observes)
    allowed = allowing(answered, observed)
    return allowed or answered, after_step(allowed)


def _at_any_time(bound: BoundModel, possible: Iterable[Possibility]) -> list[Possibility]:
    """Each possibility, and those in which some of its in-flight requests were handled meanwhile, in any order."""
    waiting = list(possible)
    if not any(one.open for one in waiting):
        return waiting
    found: dict[Hashable, Possibility] = {}
    for one in waiting:  # the list grows while it is iterated
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
    """A key that is equal for equal possibilities: states hold mappings, which cannot be hashed."""
    return repr(one.state), one.open
