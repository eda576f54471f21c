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
        self._ids: list[int] = []
        self._whys: list[int] = []
        self._rules: list[list[int]] = []
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
        ids = np.array(self._ids, np.int64)
        answers = _lists(cases, given, ids, len(steps))
        whys = np.array(self._whys, np.int64)[given]
        within = cases[1:] == cases[:-1]
        pairs = (whys[:-1] * len(self._reasons) + whys[1:])[within]
        transitions = _lists(cases[1:][within], pairs, self._transitions(pairs), len(steps))
        return CaseBehaviours(self._bits(given, steps), answers, transitions)

    def _learn(self, taken: RecordedAnswers) -> None:
        """Learn the meaning of numbers; every new player starts its numbers again."""
        if not taken["known"]:
            self._forget()
        self._reasons += [(tuple(rules), kind) for rules, kind in taken["reasons"]]
        for why, outcome in taken["meanings"]:
            reason = self._reasons[why]
            self._ids.append(self._meet(answer(self._suite, reason, outcome)))
            self._whys.append(why)
            bits = reduce(or_, (_BITS[rule] for rule in reason[0]), 0)  # a step in doubt has no rule
            self._rules.append([bits >> 64 * word & (1 << 64) - 1 for word in range(_WORDS)])

    def _meet(self, behaviour: Behaviour) -> int:
        self.met.setdefault(behaviour[0], behaviour)
        return behaviour[0]

    def _transitions(self, pairs: Any) -> Any:
        """The ids of pairs of reasons, by number of the pair; those of other pairs are 0."""
        ids = np.zeros(len(self._reasons) ** 2, np.int64)
        met = np.zeros(len(ids), bool)
        met[pairs] = True
        for pair in np.flatnonzero(met).tolist():
            key = divmod(pair, len(self._reasons))
            if key not in self._pairs:
                first, second = (self._reasons[at] for at in key)
                self._pairs[key] = self._meet(transition(self._suite, first, second))
            ids[pair] = self._pairs[key]
        return ids

    def _bits(self, given: Any, steps: Any) -> Any:
        """The rules of every case."""
        found = np.zeros((len(steps), _WORDS), np.uint64)
        if len(given):
            some = steps > 0
            begins = (np.cumsum(steps) - steps)[some]
            found[some] = np.bitwise_or.reduceat(np.array(self._rules, np.uint64)[given], begins, axis=0)
        return found


def _lists(cases: Any, numbers: Any, ids: Any, count: int) -> Lists:
    """The ids of ``numbers``, each once per case and ascending."""
    distinct, rank = np.unique(ids, return_inverse=True)
    size = max(1, len(distinct))
    # sorting is faster than np.unique, which may hash, and faster still with short numbers
    narrow = np.int32 if count * size < 1 << 31 else np.int64
    keys = np.sort(cases.astype(narrow) * narrow(size) + rank[numbers].astype(narrow))
    shown = keys[np.diff(keys, prepend=-1) > 0]
    return Lists(distinct[shown % size], np.searchsorted(shown, np.arange(1, count + 1) * size).astype(np.int32))
