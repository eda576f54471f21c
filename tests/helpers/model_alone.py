"""Plays a suite's model alone: every expected answer counts as observed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Reason
from rocketmq_conformance.suites.declare.sampler import Sampler
from rocketmq_conformance.suites.declare.suite import Suite


def reasons(suite: Suite, profile: Profile, cases: int, seed: int = 7) -> Iterator[Reason]:
    """The reason of every step of so many cases."""
    bound, drawn = suite.bind(profile), Sampler(suite, profile)
    specs = [op.spec for op in suite.operations]
    clock = 10
    for case in range(cases):
        state = bound.initial
        for at, args in drawn.case(seed, case, suite.steps):
            spec = specs[at]
            if spec.guard is not None and not spec.guard(state):
                continue
            clock += args[0] if spec.name == "wait" else case % 3
            given = (observed(spec.name, args, clock), *args) if spec.observes else args
            state, _, why = bound.by_position[at](state, *given)
            yield why


def observed(name: str, args: tuple[Any, ...], clock: int) -> Any:
    """What a broker would show of an operation whose answer depends on it."""
    match name:
        case "send_timed":
            return tuple((offset, clock + args[3] * offset) for offset in range(args[2]))
        case "lock":
            return args[2], clock, clock + 5
        case "lock_for_nobody":
            return (), clock, clock + 5
        case "query_pages":  # message 0 is in memory at times
            return 0, clock % 3 > 0
    return None
