"""What a step's arguments and the model's state before it say of the queue or the member that its answer is about.

Each is by the name of what a reader takes beside the two answers; a state without such a thing says nothing of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rocketmq_conformance.models.client.fixtures import GROUP, QUEUES
from rocketmq_conformance.models.client.member import BROADCASTING, Member

if TYPE_CHECKING:
    from rocketmq_conformance.suites.declare.operation import OperationSpec
    from rocketmq_conformance.suites.declare.step import Step


def log(spec: OperationSpec, step: Step) -> dict[str, Any]:
    """The log of the queue that is named, by its index."""
    queue = _arguments(spec, step).get("queue")
    return {"log": logs(spec, step)["logs"].get(queue)}


def logs(spec: OperationSpec, step: Step) -> dict[str, Any]:
    """The logs of all queues, by their indexes in the fixtures."""
    group = _group(step)
    found = getattr(getattr(group, "broker", None), "logs", {})
    return {"logs": {at: found[one.topic, one.id] for at, one in enumerate(QUEUES) if (one.topic, one.id) in found}}


def dividing(spec: OperationSpec, step: Step) -> dict[str, Any]:
    """Does the member divide queues with others? Not if it broadcasts, or is listed alone."""
    who = _member(spec, step)
    if who is None:
        return {}
    return {"divides": who.mode != BROADCASTING and set(_group(step).listed) != {who.client}}


def sharing(spec: OperationSpec, step: Step) -> dict[str, Any]:
    """That, and of a member with locks the queues in its table, each with whether the broker holds its lock for it."""
    who, locks = _member(spec, step), getattr(step.before, "locks", None)
    if who is None or locks is None:
        return dividing(spec, step)
    holders = {queue: locks.get((GROUP, QUEUES[queue])) for queue in who.table}
    kept = {queue: held is not None and held.client == who.client for queue, held in holders.items()}
    return dividing(spec, step) | {"kept": kept}


def topics(spec: OperationSpec, step: Step) -> dict[str, Any]:
    """The topics of two queues that are compared."""
    named = _arguments(spec, step)
    return {"topics": [named[name][0] for name in ("left", "right") if isinstance(named.get(name), tuple)]}


def _arguments(spec: OperationSpec, step: Step) -> dict[str, Any]:
    return dict(zip(spec.names, step.row[1], strict=False))


def _group(step: Step) -> Any:
    return getattr(step.before, "group", step.before)


def _member(spec: OperationSpec, step: Step) -> Member | None:
    number, members = _arguments(spec, step).get("member"), getattr(_group(step), "members", ())
    who = members[number] if type(number) is int and number < len(members) else None
    return who if isinstance(who, Member) else None
