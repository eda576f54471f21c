"""What the engine does to the scripted broker of a client case: it arms faults, and plays operations of the world."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from rocketmq_conformance.conformance.fakes.scripted_broker import World
from rocketmq_conformance.models.outcome import Result
from rocketmq_conformance.suites.declare.domain import Requests
from rocketmq_conformance.suites.declare.operation import Operation
from rocketmq_conformance.suites.values import world


def _offsets(broker: World, fault: str) -> None:
    broker.fault = fault


def _bounds(broker: World, fault: str) -> None:
    broker.bound_fault = fault


def _members(broker: World, fault: str) -> None:
    broker.list_fault = fault


def _send_back(broker: World, fault: str) -> None:
    broker.back_fault = fault


def _locks(broker: World, fault: str) -> None:
    broker.lock_fault = fault


def _assignments(broker: World, fault: str) -> None:
    broker.assign_fault = fault


def _heartbeats(broker: World, fault: str) -> None:
    broker.beat_fault = fault


#: Plays requests of a kind by a fault from now on.
ARM: Mapping[Requests, Callable[[World, str], None]] = {
    Requests.OFFSETS: _offsets,
    Requests.BOUNDS: _bounds,
    Requests.MEMBERS: _members,
    Requests.SEND_BACK: _send_back,
    Requests.LOCKS: _locks,
    Requests.ASSIGNMENTS: _assignments,
    Requests.HEARTBEATS: _heartbeats,
}

#: What plays an operation of the world.
PLAYS: Mapping[type[Operation], Callable[..., Result]] = {
    world.CommitElsewhere: World.commit_elsewhere,
    world.Shape: World.shape,
    world.ListMembers: World.list_members,
    world.Route: World.route,
    world.Assign: World.assign,
    world.ForgetLocks: World.forget_locks,
    world.LockElsewhere: World.lock_elsewhere,
}


def played_by(broker: World, operation: type[Operation]) -> Callable[..., Result]:
    """How a broker plays an operation of the world; TypeError when it cannot."""
    for kind in operation.__mro__:
        if kind in PLAYS:
            return partial(PLAYS[kind], broker)
    raise TypeError(
        f"{operation.__module__}.{operation.__name__} is an operation of the world that the scripted broker does not "
        f"know: derive it from a class of {world.__name__}"
    )
