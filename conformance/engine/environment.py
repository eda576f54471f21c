"""Maps each operation of a client case's environment to the method that plays it on the fake broker."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from rocketmq_conformance.conformance.fakes.client_case import ClientCase
from rocketmq_conformance.models.outcome import Result
from rocketmq_conformance.suites.declare.operation import Operation
from rocketmq_conformance.suites.values import environment

#: What each operation of the environment does.
PLAYS: Mapping[type[Operation], Callable[..., Result]] = {
    environment.CommitElsewhere: ClientCase.commit_elsewhere,
    environment.Shape: ClientCase.shape,
    environment.ListMembers: ClientCase.list_members,
    environment.Route: ClientCase.route,
    environment.Assign: ClientCase.assign,
    environment.ForgetLocks: ClientCase.forget_locks,
    environment.LockElsewhere: ClientCase.lock_elsewhere,
}


def played_by(case: ClientCase, operation: type[Operation]) -> Callable[..., Result]:
    """How a client case plays an operation of the environment; TypeError when it cannot."""
    for kind in operation.__mro__:
        if kind in PLAYS:
            return partial(PLAYS[kind], case)
    raise TypeError(
        f"{operation.__module__}.{operation.__name__} is an operation of the environment that a client case does not "
        f"know: derive it from a class of {environment.__name__}"
    )
