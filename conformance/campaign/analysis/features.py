"""Features of steps: what can be said of a step before it is played, in words that separate some steps from others.

A feature is about the operation, its arguments, what the model expects and why, the model's state before the step, or
the history of the case. Values are told by themselves when they are small, and by sign, size or shape otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations
from typing import Any, NamedTuple

from rocketmq_conformance.models.outcome import Err, outcome_class
from rocketmq_conformance.suites.declare.operation import Side
from rocketmq_conformance.suites.declare.step import Step
from rocketmq_conformance.suites.declare.suite import Suite


class Feature(NamedTuple):
    """Something that is true or false of a step. Of two that say the same the one with the lower rank is simpler."""

    rank: int
    text: str
    #: The text of its opposite.
    opposite: str


#: Ranks: the operation; its arguments, their shapes, relations and members; what the model says; its state; history.
OPERATION, ARGUMENT, SHAPE, RELATION, MEMBER, KIND, EXPECTED, STATE, HISTORY, PAST = range(10)
#: Longer texts and larger numbers are not features by themselves.
_LONG, _LARGE = 24, 100
#: Bounds that implementations are known to trip over: 32 bits, and what floating point holds exactly.
_BOUNDS = ((2**31, "2**31"), (2**53, "2**53"))

#: The parts of a queue.
_PARTS = ("topic", "broker", "id")

Arguments = tuple[tuple[str, Any], ...]
#: Numbers that a state holds under an argument: its name, the field, the number.
StateNumbers = list[tuple[str, str, int]]


def features(suite: Suite, steps: Sequence[Step], at: int) -> set[Feature]:
    """The features of step ``at`` (0 is the first) of a case. Steps without states have none of the state's."""
    step = steps[at]
    arguments = _arguments(suite, step)
    found = {_operation(suite.operations[step.row[0]].spec.name)}
    for name, value in arguments:
        found.update(_of_argument(name, value))
    found.update(_relations(arguments))
    found.add(_simple(KIND, "kind of state", step.why.kind))
    found.update(_expected(step))
    if step.before is not None:
        held: StateNumbers = []
        found.update(_state(suite, arguments, step.before, "", held))
        found.update(_compared(arguments, held))
    found.update(_history(suite, steps[:at], arguments))
    return found


def _arguments(suite: Suite, step: Step) -> Arguments:
    return tuple(zip((name for name, _ in suite.operations[step.row[0]].spec.domains), step.row[1], strict=True))


# --- words ------------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=1 << 12)
def _operation(name: str) -> Feature:
    return Feature(OPERATION, f"operation {name}", f"another operation than {name}")


@lru_cache(maxsize=1 << 14)
def _simple(rank: int, what: str, value: Any) -> Feature:
    text = value if rank in (KIND, EXPECTED) and isinstance(value, str) else repr(value)
    return Feature(rank, f"{what} = {text}", f"{what} is not {text}")


@lru_cache(maxsize=1 << 14)
def _yes(rank: int, text: str, opposite: str) -> Feature:
    return Feature(rank, text, opposite)


# --- values -----------------------------------------------------------------------------------------------------------


def _of_argument(name: str, value: Any) -> Iterator[Feature]:
    if _is_queue(value):
        for part, inside in zip(_PARTS, value, strict=True):
            yield from _of_scalar(ARGUMENT, f"{part} of {name}", inside)
            if isinstance(inside, str):
                yield from _of_text(f"{part} of {name}", inside)
    elif isinstance(value, tuple):
        yield from _of_list(name, value)
    else:
        yield from _of_scalar(ARGUMENT, name, value)
        if isinstance(value, str):
            yield from _of_text(name, value)


def _is_queue(value: Any) -> bool:
    return isinstance(value, tuple) and tuple(map(type, value)) == (str, str, int)


def _of_scalar(rank: int, name: str, value: Any) -> Iterator[Feature]:
    if isinstance(value, bool) or value is None:
        yield _yes(rank, f"{name} = {value}", f"{name} is not {value}")
    elif isinstance(value, int):
        if abs(value) <= _LARGE:
            yield _simple(rank, name, value)
        if value < 0:
            yield _yes(rank, f"{name} < 0", f"{name} >= 0")
        elif value:
            yield _yes(rank, f"{name} > 0", f"{name} <= 0")
        for bound, text in _BOUNDS:
            if value >= bound:
                yield _yes(rank, f"{name} >= {text}", f"{name} < {text}")
    elif isinstance(value, str) and len(value) <= _LONG:
        yield _simple(rank, name, value)


def _of_text(name: str, text: str) -> Iterator[Feature]:
    if not text.isascii():
        yield _yes(SHAPE, f"{name} has characters beyond ASCII", f"{name} is ASCII")
    if any(ord(character) > 0xFFFF or 0xD800 <= ord(character) < 0xE000 for character in text):
        yield _yes(SHAPE, f"{name} has surrogates", f"{name} has no surrogates")
    if text.count("@") > 1:
        yield _yes(SHAPE, f'{name} has more than one "@"', f'{name} has at most one "@"')
    elif "@" not in text:
        yield _yes(SHAPE, f'{name} has no "@"', f'{name} has an "@"')
    if text.endswith("@") or text.startswith("@"):
        yield _yes(SHAPE, f'{name} has an "@" at an end', f'{name} has no "@" at an end')
    if text != text.strip():
        yield _yes(SHAPE, f"{name} has blanks at an end", f"{name} has no blanks at an end")


def _of_list(name: str, items: tuple[Any, ...]) -> Iterator[Feature]:
    if not items:
        yield _yes(SHAPE, f"{name} is empty", f"{name} is not empty")
        return
    size = len(items)
    yield _yes(SHAPE, f"number of {name} = {size}", f"number of {name} is not {size}")
    if size > 1:
        yield _yes(SHAPE, f"{name} has more than one", f"{name} has at most one")
    if len(set(items)) < size:
        yield _yes(SHAPE, f"{name} has duplicates", f"{name} has no duplicates")
    if all(isinstance(item, (int, str)) for item in items):
        for item in set(items):
            if not isinstance(item, str) or len(item) <= _LONG:
                yield _yes(MEMBER, f"{name} has {item!r}", f"{name} lacks {item!r}")
    yield from _of_parts(name, items)


def _of_parts(name: str, items: tuple[Any, ...]) -> Iterator[Feature]:
    """Of lists of texts, or of queues: what their parts have in common."""
    if all(isinstance(item, tuple) for item in items):
        parts = list(zip(_PARTS, zip(*items, strict=False), strict=False))
    else:
        parts = [("", items)]
    for part, values in parts:
        what = f"{part} of {name}" if part else name
        if part and len(set(values)) > 1:
            yield _yes(SHAPE, f"{name} has more than one {part}", f"{name} has one {part} at most")
        if any(type(value) is int and value >= 10 for value in values):
            yield _yes(SHAPE, f"some {what} >= 10", f"every {what} < 10")
        if any(type(value) is int and value < 0 for value in values):
            yield _yes(SHAPE, f"some {what} < 0", f"no {what} < 0")
        texts = [value for value in values if isinstance(value, str)]
        yield from {feature for text in texts for feature in _of_text(f"some {what}", text)}
        if any(text != text.lower() for text in texts) and any(text == text.lower() for text in texts):
            yield _yes(SHAPE, f"some {what} has capitals, and some has none", f"all or no {what} have capitals")


def _relations(arguments: Arguments) -> Iterator[Feature]:
    queues = [(name, value) for name, value in arguments if _is_queue(value)]
    for (one, first), (other, second) in combinations(queues, 2):
        for part, left, right in zip(_PARTS, first, second, strict=True):
            if left == right:
                yield _yes(RELATION, f"{one} and {other} have one {part}", f"{one} and {other} differ in {part}")
    lists = [(name, value) for name, value in arguments if isinstance(value, tuple) and not _is_queue(value)]
    scalars = [(name, value) for name, value in arguments if not isinstance(value, tuple)]
    for (one, first), (other, second) in combinations(lists, 2):
        if len(first) < len(second):
            yield _yes(RELATION, f"fewer {one} than {other}", f"no fewer {one} than {other}")
        if second and len(first) % len(second) == 0:
            yield _yes(RELATION, f"{one} divide evenly by {other}", f"{one} do not divide evenly by {other}")
    for name, value in scalars:
        for other, items in lists:
            if isinstance(value, str) and any(
                isinstance(item, str) and item != value and item.startswith(value) for item in items
            ):
                yield _yes(RELATION, f"others of {other} begin with {name}", f"no other of {other} begins with {name}")
            if value in items:
                yield _yes(RELATION, f"{name} is among {other}", f"{name} is not among {other}")
                place = items.index(value)
                if place == 0:
                    yield _yes(RELATION, f"{name} is first of {other}", f"{name} is not first of {other}")
                if items.count(value) > 1:
                    yield _yes(RELATION, f"{name} is in {other} twice", f"{name} is not in {other} twice")
                if place == len(items) - 1:
                    yield _yes(RELATION, f"{name} is last of {other}", f"{name} is not last of {other}")


# --- the model --------------------------------------------------------------------------------------------------------


def _expected(step: Step) -> Iterator[Feature]:
    expected = step.expected
    yield _simple(EXPECTED, "expected", outcome_class(expected))
    if isinstance(expected, Err):
        return
    if isinstance(expected, int) and not isinstance(expected, bool):
        yield from _of_scalar(EXPECTED, "expected", expected)
    elif isinstance(expected, tuple):
        numbers = [part for item in expected for part in (item if isinstance(item, tuple) else (item,))]
        if any(type(number) is int and number < 0 for number in numbers):
            yield _yes(EXPECTED, "a number < 0 is expected", "no number < 0 is expected")
        for bound, text in _BOUNDS:
            if any(type(number) is int and number >= bound for number in numbers):
                yield _yes(EXPECTED, f"a number >= {text} is expected", f"no number >= {text} is expected")
        if 0 < len(expected) <= 4:
            yield _yes(EXPECTED, f"number expected = {len(expected)}", f"number expected is not {len(expected)}")


def _state(suite: Suite, arguments: Arguments, state: Any, prefix: str, numbers: StateNumbers) -> Iterator[Feature]:
    """Fields of the state, and what they hold under the values of the arguments; numbers go into ``numbers``."""
    if not hasattr(state, "_fields"):
        return
    for name, value in zip(state._fields, state, strict=True):
        what = f"{prefix}{name}"
        if hasattr(value, "_fields"):
            if not prefix:
                yield from _state(suite, arguments, value, f"{what}.", numbers)
        elif isinstance(value, (Mapping, tuple, frozenset)):
            if not value:
                yield _yes(STATE, f"state: {what} is empty", f"state: {what} is not empty")
            yield from _held(suite, arguments, what, value, numbers)
        else:
            yield from _of_scalar(STATE, f"state: {what}", value)


def _held(suite: Suite, arguments: Arguments, what: str, held: Any, numbers: StateNumbers) -> Iterator[Feature]:
    if not isinstance(held, (Mapping, frozenset)):
        return
    for name, value in arguments:
        if isinstance(value, tuple):
            if any(not isinstance(item, tuple) and item in held for item in value):
                yield _yes(STATE, f"state: {what} has some of {name}", f"state: {what} has none of {name}")
            if any(item not in value for item in held if not isinstance(item, tuple)):
                yield _yes(STATE, f"state: {what} has others than {name}", f"state: {what} has none but {name}")
            continue
        key = next((key for key in _keys(suite, name, value) if key in held), None)
        if key is None:
            continue
        yield _yes(STATE, f"state: {what} has the {name}", f"state: {what} lacks the {name}")
        if isinstance(held, Mapping) and isinstance(held[key], int):
            numbers.append((name, f"{what} of the {name}", held[key]))


def _keys(suite: Suite, name: str, value: Any) -> Iterator[Any]:
    """What a state may have an argument under. Client suites name queues by their position in the topology."""
    yield value
    places = suite.topology.places
    if name == "queue" and suite.side is Side.CLIENT and type(value) is int and 0 <= value < len(places):
        yield places[value]
        yield suite.topology.stored_keys[value]


def _compared(arguments: Arguments, held: StateNumbers) -> Iterator[Feature]:
    """Numbers that the state holds: by themselves, against an offset that is given, and against one another."""
    for _, what, number in held:
        yield from _of_scalar(STATE, f"state: {what}", number)
        for name, value in arguments:
            if name == "offset" and isinstance(value, int):
                yield _order(name, value, what, number)
    for (name, one, first), (other, two, second) in combinations(held, 2):
        if name == other:
            yield _order(one, first, two, second)


def _order(one: str, first: int, other: str, second: int) -> Feature:
    if first < second:
        return _yes(STATE, f"{one} < {other}", f"{one} >= {other}")
    if first > second:
        return _yes(STATE, f"{one} > {other}", f"{one} <= {other}")
    return _yes(STATE, f"{one} = {other}", f"{one} is not {other}")


# --- history ----------------------------------------------------------------------------------------------------------


def _history(suite: Suite, earlier: Sequence[Step], arguments: Arguments) -> Iterator[Feature]:
    now = {name: value for name, value in arguments if not isinstance(value, tuple)}
    last: dict[str, Step] = {}
    for step in earlier:
        name = suite.operations[step.row[0]].spec.name
        yield _yes(HISTORY, f"earlier {name}", f"no earlier {name}")
        for argument, value in _arguments(suite, step):
            if isinstance(value, tuple):
                for mine, own in now.items():
                    if mine + "s" == argument:
                        has, lacks = f"earlier {name} with the {mine}", f"earlier {name} without the {mine}"
                        yield _yes(HISTORY, has, f"no {has}") if own in value else _yes(HISTORY, lacks, f"no {lacks}")
                if not value:
                    yield _yes(PAST, f"earlier {name}({argument} empty)", f"no earlier {name}({argument} empty)")
                continue
            if argument in now and type(now[argument]) is type(value) and now[argument] == value:
                same = f"earlier {name} of the same {argument}"
                yield _yes(HISTORY, same, f"no {same}")
                last[argument] = step
            for feature in _of_scalar(PAST, argument, value):
                text = f"earlier {name}({feature.text})"
                yield _yes(PAST, text, f"no {text}")
    for argument, step in last.items():
        name = suite.operations[step.row[0]].spec.name
        text = f"last of the same {argument}: {name}"
        yield _yes(HISTORY, text, f"not {text}")
        for other, value in _arguments(suite, step):
            if other != argument and not isinstance(value, tuple):
                for feature in _of_scalar(PAST, other, value):
                    yield _yes(PAST, f"{text}({feature.text})", f"not {text}({feature.text})")


def is_absence(suite: Suite, feature: Feature, positive: bool) -> bool:
    """Does it name nothing but what a step lacks, where that explains nothing?

    What is not among the members of a list, and in suites that remember nothing what was not done before.
    """
    return not positive and (feature.rank == MEMBER or (suite.side is Side.PURE and feature.rank >= HISTORY))
