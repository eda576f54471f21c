"""Ways in which an answer can be corrupted on its way from an implementation to the judge."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rocketmq_conformance.models.outcome import Err, Result, Value

#: Stands for "this answer cannot be corrupted in this way".
UNFIT = Err("UNFIT")

#: A corruption of a result, given the previous result of the same operation in the case (``UNFIT`` without one).
Corrupt = Callable[[Result, Result], Result]

#: The ways that need no answer to change: the operation is done twice, and the answer comes too late.
TWICE, LATE = "twice", "late"


def off_by_one(result: Result, previous: Result) -> Result:
    """The first number is one more."""
    return _first(result, lambda value: value + 1 if type(value) is int else UNFIT)


def minus_one_for_zero(result: Result, previous: Result) -> Result:
    """The first 0 is -1."""
    return _first(result, lambda value: -1 if type(value) is int and value == 0 else UNFIT)


def negated(result: Result, previous: Result) -> Result:
    """The first boolean is its opposite."""
    return _first(result, lambda value: not value if type(value) is bool else UNFIT)


def stale(result: Result, previous: Result) -> Result:
    """The previous answer to the same operation."""
    return previous if repr(previous) != repr(result) else UNFIT


def dropped(result: Result, previous: Result) -> Result:
    """The first innermost list lacks its last item."""
    return _first_list(result, lambda items: items[:-1])


def swapped(result: Result, previous: Result) -> Result:
    """The first two items of the first innermost list that differ stand in each other's place."""

    def swap(items: tuple[Value, ...]) -> Value | Err:
        for at in range(len(items) - 1):
            if repr(items[at]) != repr(items[at + 1]):
                return (*items[:at], items[at + 1], items[at], *items[at + 2 :])
        return UNFIT

    return _first_list(result, swap)


def other_code(result: Result, previous: Result) -> Result:
    """Another error, or an error in place of an answer."""
    return Err("NO_PERMISSION" if result == Err("SYSTEM_ERROR") else "SYSTEM_ERROR")


#: The ways that change the answer, by name.
ANSWERS: Mapping[str, Corrupt] = {
    "off by one": off_by_one,
    "-1 for 0": minus_one_for_zero,
    "negated": negated,
    "stale": stale,
    "dropped": dropped,
    "swapped": swapped,
    "other code": other_code,
}
#: All ways, in the order of the matrix.
WAYS = (*ANSWERS, TWICE, LATE)


def _first(result: Result, change: Callable[[Value], Value | Err]) -> Result:
    """The result with the first value changed that can be; ``UNFIT`` without one."""
    if isinstance(result, Err):
        return UNFIT
    if not isinstance(result, tuple):
        return change(result)
    for at, item in enumerate(result):
        changed = _first(item, change)
        if not isinstance(changed, Err):
            return (*result[:at], changed, *result[at + 1 :])
    return UNFIT


def _first_list(result: Result, change: Callable[[tuple[Value, ...]], Value | Err]) -> Result:
    """The result with the first list changed that holds no list and can be changed; ``UNFIT`` without one."""
    if not isinstance(result, tuple) or not result:
        return UNFIT
    for at, item in enumerate(result):
        changed = _first_list(item, change)
        if not isinstance(changed, Err):
            return (*result[:at], changed, *result[at + 1 :])
    return UNFIT if any(isinstance(item, tuple) and item for item in result) else change(result)
