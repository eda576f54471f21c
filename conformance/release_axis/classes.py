"""Classes of implementations that behave alike, and the steps at which they part.

A plan is followed by all implementations together for as long as they answer the same. Where they part, each class
goes on by itself: what comes later is compared only between those that agreed so far, so that one difference is not
counted again in everything that follows from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rocketmq_conformance.conformance.release_axis.records import OPEN, CaseRecord, SuiteRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class Parting:
    """A step at which implementations that had agreed so far did different things."""

    suite: str
    case: int
    #: Position of the step in the plan, 0 for the first.
    at: int
    #: The rules that any of them goes by there.
    rules: tuple[str, ...]
    #: (what was observed, by which implementations), in the order of the implementations.
    answers: tuple[tuple[str, tuple[str, ...]], ...]
    #: The rules that any of them went by in the steps before, one of which may have made the difference.
    earlier: tuple[str, ...] = ()

    def parts(self, one: str, other: str) -> bool:
        """Did these two do different things?"""
        mine = [answer for answer, names in self.answers if one in names]
        theirs = [answer for answer, names in self.answers if other in names]
        return bool(mine and theirs) and mine != theirs


def partings(suite: str, records: Mapping[str, SuiteRecord]) -> Iterator[Parting]:
    """The partings in all cases of a suite, by its records of every implementation that played it."""
    numbers = dict.fromkeys(number for record in records.values() for number in record.cases)
    for number in numbers:
        cases = {name: record.cases[number] for name, record in records.items() if number in record.cases}
        yield from _of_case(suite, number, cases, tuple(cases), 0)


def _of_case(
    suite: str, number: int, cases: Mapping[str, CaseRecord], names: Sequence[str], start: int
) -> Iterator[Parting]:
    at = start
    while True:
        going = [name for name in names if at < len(cases[name].steps)]
        if len(going) < 2:
            return
        steps = {name: cases[name].steps[at] for name in going}
        same_plan = _grouped({name: steps[name].at for name in going})
        if len(same_plan) > 1:  # some left a step out: they are compared among themselves
            for group in same_plan.values():
                yield from _of_case(suite, number, cases, group, at)
            return
        answers: dict[object, list[str]] = {}
        if not any(step.observed == OPEN for step in steps.values()):
            answers = _grouped({name: steps[name].observed for name in going})
        if len(answers) > 1:
            before = (step for name in going for step in cases[name].steps[:at])
            yield Parting(
                suite=suite,
                case=number,
                at=steps[going[0]].at,
                rules=tuple(dict.fromkeys(rule for step in steps.values() for rule in step.rules)),
                answers=tuple((steps[group[0]].shown, tuple(group)) for group in answers.values()),
                earlier=tuple(dict.fromkeys(rule for step in before for rule in step.rules)),
            )
            for group in answers.values():
                yield from _of_case(suite, number, cases, group, at + 1)
            return
        names, at = going, at + 1


def classes(names: Iterable[str], found: Sequence[Parting]) -> tuple[tuple[str, ...], ...]:
    """Implementations that no parting tells from each other, in their order; the largest class has no precedence."""
    made: list[list[str]] = []
    for name in names:
        for group in made:
            if not any(parting.parts(name, other) for parting in found for other in group):
                group.append(name)
                break
        else:
            made.append([name])
    return tuple(map(tuple, made))


def _grouped(keys: Mapping[str, object]) -> dict[object, list[str]]:
    """The names of each key."""
    found: dict[object, list[str]] = {}
    for name, key in keys.items():
        found.setdefault(key, []).append(name)
    return found
