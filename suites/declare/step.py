"""A judged step: what was done, expected and observed."""

from __future__ import annotations

from typing import Any, NamedTuple

from rocketmq_conformance.models.outcome import Expected
from rocketmq_conformance.models.rule import Reason
from rocketmq_conformance.suites.declare.suite import Row


class Step(NamedTuple):
    """One judged step: the model's state around it, what was expected and what was observed."""

    row: Row
    before: Any
    after: Any
    expected: Expected
    observed: Expected
    why: Reason
    #: The same step in the other states that are possible while an earlier outcome is indeterminate.
    others: tuple[Step, ...] = ()
    #: Parts of the answer that the implementation left open.
    left: tuple[str, ...] = ()
    #: Rules that would not have shown if they had been broken.
    unshown: frozenset[str] = frozenset()
