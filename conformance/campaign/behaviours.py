"""Behaviours: what a case showed of the model, as numbers that are the same on every machine.

An *answer* is a rule (or several), a kind of state and an outcome class; a *transition* is a pair of kinds of state
that followed one another in a case.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Sequence
from functools import reduce
from hashlib import blake2b
from itertools import pairwise
from operator import or_
from typing import Any, NamedTuple

from rocketmq_conformance.conformance.judge import Coverage
from rocketmq_conformance.models import rulebook
from rocketmq_conformance.models.outcome import Expected, outcome_class
from rocketmq_conformance.models.rule import Why
from rocketmq_conformance.suites.suite import Suite

ANSWER, TRANSITION = "answer", "transition"
#: Rules by bit: the same in every process.
RULES = tuple(rulebook.RULES)
_BITS = {rule: 1 << bit for bit, rule in enumerate(RULES)}
#: (id, kind, rules, kind of state, outcome class, next rules, next kind of state)
Behaviour = tuple[int, str, tuple[str, ...], str, str, tuple[str, ...], str]


class Shown(NamedTuple):
    """What one case showed: a bit for every rule (see ``RULES``), and the ids of its behaviours, sorted."""

    rules: int
    answers: array[int]
    transitions: array[int]


NOTHING = Shown(0, array("q"), array("q"))


class Behaviours(Coverage):
    """Coverage that remembers what each single case showed; a judge is given it instead of the ordinary one."""

    def __init__(self, suite: Suite) -> None:
        super().__init__()
        self._suite = suite.name
        #: Behaviours met for the first time since :meth:`take_fresh`.
        self._fresh: list[Behaviour] = []
        self._told: set[int] = set()
        self._waiting: deque[tuple[Sequence[Why], Sequence[Expected]]] = deque()
        self._answer = _Table(self._new_answer)
        self._transition = _Table(self._new_transition)
        self._bits = _Table(_bits)

    def add(self, whys: Sequence[Why], results: Sequence[Expected]) -> None:
        """Take the answers of a case; :meth:`next` gives them back in the same order."""
        self._waiting.append((whys, results))

    def next(self) -> Shown:
        """What the next case showed."""
        whys, results = self._waiting.popleft()
        if not whys:
            return NOTHING
        if len(self._answer) > self._MOST:
            self._answer.clear()
        answers = sorted(set(map(self._answer.__getitem__, zip(whys, results, strict=True))))
        transitions = sorted(set(map(self._transition.__getitem__, pairwise(whys))))
        return Shown(reduce(or_, map(self._bits.__getitem__, set(whys))), array("q", answers), array("q", transitions))

    def forget(self) -> None:
        """Forget cases that nobody asked about."""
        self._waiting.clear()

    def take_fresh(self) -> list[Behaviour]:
        """Behaviours that were met for the first time since the last call."""
        taken, self._fresh = self._fresh, []
        return taken

    def _new_answer(self, key: tuple[Why, Expected]) -> int:
        why, result = key
        return self._named(ANSWER, why.rules, why.kind, outcome_class(result), (), "")

    def _new_transition(self, key: tuple[Why, Why]) -> int:
        first, second = key
        return self._named(TRANSITION, first.rules, first.kind, "", second.rules, second.kind)

    def _named(self, *what: Any) -> int:
        mark = blake2b(repr((self._suite, *what)).encode(), digest_size=8).digest()
        number = int.from_bytes(mark, "big", signed=True)
        if number not in self._told:
            self._told.add(number)
            self._fresh.append((number, *what))
        return number


def _bits(why: Why) -> int:
    return reduce(or_, map(_BITS.__getitem__, why.rules))


class _Table(dict[Any, int]):
    """A dictionary that makes what it misses."""

    def __init__(self, make: Any) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, key: Any) -> int:
        made: int = self._make(key)
        self[key] = made
        return made
