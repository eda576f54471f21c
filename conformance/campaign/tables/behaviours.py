"""Behaviours: which of the model's answers and transitions cases reached, with ids that are the same on every machine.

An *answer* is a rule (or several), a kind of state and an outcome class; a *transition* is a pair of kinds of state
that followed one another in a case. A player only records which answers were given, one number per step; its worker
makes behaviours of them (``behaviour_columns.py``).
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

from rocketmq_conformance.conformance.engine.judge import Coverage
from rocketmq_conformance.models.outcome import Expected, outcome_class
from rocketmq_conformance.models.rule import Reason
from rocketmq_conformance.suites.declare.discovery import rules

ANSWER, TRANSITION = "answer", "transition"
#: Rules by bit: the same in every process.
RULES = tuple(rules())
#: (id, kind, rules, kind of state, outcome class, next rules, next kind of state)
Behaviour = tuple[int, str, tuple[str, ...], str, str, tuple[str, ...], str]
#: Rules and kind of state.
ReasonKey = tuple[tuple[str, ...], str]
#: What a player recorded: numbers of answers, and the reasons and answers that are new since the last record.
RecordedAnswers = dict[str, Any]
NO_ANSWERS: RecordedAnswers = {"answers": b"", "known": 0, "reasons": [], "meanings": []}


def answer(suite: str, why: ReasonKey, outcome: str) -> Behaviour:
    """An answer."""
    return _numbered(suite, ANSWER, *why, outcome, (), "")


def transition(suite: str, why: ReasonKey, after: ReasonKey) -> Behaviour:
    """A transition."""
    return _numbered(suite, TRANSITION, *why, "", *after)


def _numbered(suite: str, *what: Any) -> Behaviour:
    digest = blake2b(repr((suite, *what)).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True), *what


class AnswerRecorder(Coverage):
    """Records the answers of cases; a judge gets it in place of the ordinary coverage."""

    def __init__(self) -> None:
        super().__init__()
        self._given = array("i")
        self._numbers = _Numbers(self._number)
        self._whys: dict[Reason, int] = {}
        self._answers: dict[tuple[int, str], int] = {}
        #: How many of the reasons and answers were taken before.
        self._taken = 0, 0

    def add(self, whys: Sequence[Reason], results: Sequence[Expected]) -> None:
        """Record the answers of a case."""
        self._given.extend(map(self._numbers.__getitem__, zip(whys, results, strict=True)))

    def forget(self) -> None:
        """Drop the recorded cases."""
        del self._given[:]

    def take(self) -> RecordedAnswers:
        """The answers since the last call, in the order of steps and cases, and what their numbers mean."""
        whys, answers = self._taken
        taken = {
            "answers": self._given.tobytes(),
            "known": whys,
            "reasons": [(why.rules, why.kind) for why in list(self._whys)[whys:]],
            "meanings": list(self._answers)[answers:],
        }
        self._taken = len(self._whys), len(self._answers)
        self.forget()
        if len(self._numbers) > self._MOST:
            self._numbers.clear()
        return taken

    def _number(self, key: tuple[Reason, Expected]) -> int:
        why, result = key
        reason = self._whys.setdefault(why, len(self._whys))
        return self._answers.setdefault((reason, outcome_class(result)), len(self._answers))


class _Numbers(dict[Any, int]):
    """A dictionary that computes missing values from their keys."""

    def __init__(self, make: Any) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, key: Any) -> int:
        made: int = self._make(key)
        self[key] = made
        return made
