"""The columns rules, answers and transitions of ``cases``, computed from the answers that players recorded."""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import Any, NamedTuple

import numpy as np

from rocketmq_conformance.conformance.campaign.tables.behaviours import (
    RULES,
    Behaviour,
    ReasonKey,
    RecordedAnswers,
    answer,
    transition,
)

_BITS = {rule: 1 << bit for bit, rule in enumerate(RULES)}
#: Numbers of 64 bits that it takes to hold a bit for every rule.
_WORDS = -(-len(RULES) // 64)


class Lists(NamedTuple):
    """A list of numbers for every case: all of them, end to end, and where those of each case end."""

    values: Any
    ends: Any


class CaseBehaviours(NamedTuple):
    """Rules and behaviours of the cases of a part."""

    #: [cases, words]: a bit for every rule.
    rules: Any
    #: Ids, each once per case, ascending.
    answers: Lists
    transitions: Lists


class BehaviourColumns:
    """Makes behaviours of the answers on one address in one suite."""

    def __init__(self, suite: str) -> None:
        self._suite = suite
        #: Every behaviour that was met, by id.
        self.met: dict[int, Behaviour] = {}
        self._forget()

    def _forget(self) -> None:
        self._reasons: list[ReasonKey] = []
        #: By number of the answer: its id, its reason, and its rules as bits.
        self._ids, self._whys = np.zeros(0, np.int64), np.zeros(0, np.int64)
        self._rules = np.zeros((0, _WORDS), np.uint64)
        #: Ids of transitions, by the numbers of both reasons.
        self._pairs: dict[tuple[int, int], int] = {}

    def take(self, steps: Any, taken: RecordedAnswers) -> CaseBehaviours:
        """Rules and behaviours of cases of so many ``steps``; ``taken`` is what the player recorded of them, in order.

        ValueError when it has more or fewer answers than that.
        """
        self._learn(taken)
        given = np.frombuffer(taken["answers"], np.int32)
        if len(given) != steps.sum():
            raise ValueError(f"{steps.sum()} steps have {len(given)} answers")
        cases = np.repeat(np.arange(len(steps)), steps)
        distinct, place = _distinct(given, len(self._ids))
        answers = _lists(cases, place, self._ids[distinct], len(steps))
        whys, size = self._whys[given], len(self._reasons)
        within = cases[1:] == cases[:-1]
        distinct, place = _distinct((whys[:-1] * size + whys[1:])[within], size**2)
        ids = np.array([self._transition(*divmod(pair, size)) for pair in distinct.tolist()], np.int64)
        transitions = _lists(cases[1:][within], place, ids, len(steps))
        return CaseBehaviours(self._bits(given, steps), answers, transitions)

    def _learn(self, taken: RecordedAnswers) -> None:
        """Learn the meaning of numbers; every new player starts its numbers again."""
        if not taken["known"]:
            self._forget()
        self._reasons += [(tuple(rules), kind) for rules, kind in taken["reasons"]]
        meanings = taken["meanings"]
        if not meanings:
            return
        ids = [self._meet(answer(self._suite, self._reasons[why], outcome)) for why, outcome in meanings]
        # a step in doubt has no rule
        bits = [reduce(or_, (_BITS[rule] for rule in self._reasons[why][0]), 0) for why, _ in meanings]
        words = [[one >> 64 * word & (1 << 64) - 1 for word in range(_WORDS)] for one in bits]
        self._ids = np.concatenate([self._ids, np.array(ids, np.int64)])
        self._whys = np.concatenate([self._whys, np.array([why for why, _ in meanings], np.int64)])
        self._rules = np.concatenate([self._rules, np.array(words, np.uint64)])

    def _meet(self, behaviour: Behaviour) -> int:
        self.met.setdefault(behaviour[0], behaviour)
        return behaviour[0]

    def _transition(self, first: int, second: int) -> int:
        """The id of a pair of reasons, by their numbers."""
        key = first, second
        if key not in self._pairs:
            self._pairs[key] = self._meet(transition(self._suite, self._reasons[first], self._reasons[second]))
        return self._pairs[key]

    def _bits(self, given: Any, steps: Any) -> Any:
        """The rules of every case."""
        found = np.zeros((len(steps), _WORDS), np.uint64)
        if len(given):
            some = steps > 0
            begins = (np.cumsum(steps) - steps)[some]
            found[some] = np.bitwise_or.reduceat(self._rules[given], begins, axis=0)
        return found


def _distinct(numbers: Any, size: int) -> tuple[Any, Any]:
    """The distinct ones of some numbers below ``size``, ascending, and the place of each number among them."""
    if size > 4 * len(numbers):
        return np.unique(numbers, return_inverse=True)
    met = np.zeros(size, bool)
    met[numbers] = True
    distinct = np.flatnonzero(met)
    places = np.zeros(size, np.int64)
    places[distinct] = np.arange(len(distinct))
    return distinct, places[numbers]


def _lists(cases: Any, place: Any, ids: Any, count: int) -> Lists:
    """The ids at places of ``ids``, each once per case and ascending."""
    distinct, rank = np.unique(ids, return_inverse=True)
    size = max(1, len(distinct))
    # sorting is faster than np.unique, which may hash, and faster still with short numbers
    narrow = np.int32 if count * size < 1 << 31 else np.int64
    keys = np.sort(cases.astype(narrow) * narrow(size) + rank[place].astype(narrow))
    shown = keys[np.diff(keys, prepend=-1) > 0]
    return Lists(distinct[shown % size], np.searchsorted(shown, np.arange(1, count + 1) * size).astype(np.int32))
