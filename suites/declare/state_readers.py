"""What a step's arguments and the model's state before it say of the queue or the member that its answer is about.

Each is by the name of what a reader takes beside the two answers; a state without such a thing says nothing of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rocketmq_conformance.models.client.member import BROADCASTING, Member

if TYPE_CHECKING:
    from rocketmq_conformance.suites.declare.step import Step
    from rocketmq_conformance.suites.declare.suite import Suite


def log(suite: Suite, step: Step) -> dict[str, Any]:
    """The log of the queue that is named, by its key."""
    queue = _arguments(suite, step).get("queue")
    return {"log": logs(suite, step)["logs"].get(queue)}


def logs(suite: Suite, step: Step) -> dict[str, Any]:
    """The logs of all queues, by their keys."""
    group = _group(step)
    found = getattr(getattr(group, "broker", None), "logs", {})
    return {"logs": {at: found[place] for at, place in enumerate(suite.topology.places) if place in found}}


def queues(suite: Suite, step: Step) -> dict[str, Any]:
    """The queues of the topology, by their keys."""
    return {"queues": suite.topology.queues}


def dividing(suite: Suite, step: Step) -> dict[str, Any]:
    """Does the member divide queues with others? Not if it broadcasts, or is listed alone."""
    who = _member(suite, step)
    if who is None:
        return {}
    return {"divides": who.mode != BROADCASTING and set(_group(step).listed) != {who.client}}


def sharing(suite: Suite, step: Step) -> dict[str, Any]:
    """That, and of a member with locks the queues in its table, each with whether the broker holds its lock for it."""
    who, locks = _member(suite, step), getattr(step.before, "locks", None)
    if who is None or locks is None:
        return dividing(suite, step)
    holders = {queue: locks.get((suite.topology.group, suite.topology.queues[queue])) for queue in who.table}
    kept = {queue: held is not None and held.client == who.client for queue, held in holders.items()}
    return dividing(suite, step) | {"kept": kept}


def topics(suite: Suite, step: Step) -> dict[str, Any]:
    """The topics of two queues that are compared."""
    named = _arguments(suite, step)
    return {"topics": [named[name][0] for name in ("left", "right") if isinstance(named.get(name), tuple)]}


def _arguments(suite: Suite, step: Step) -> dict[str, Any]:
    return dict(zip(suite.operations[step.row[0]].spec.names, step.row[1], strict=False))


def _group(step: Step) -> Any:
    return getattr(step.before, "group", step.before)


def _member(suite: Suite, step: Step) -> Member | None:
    number, members = _arguments(suite, step).get("member"), getattr(_group(step), "members", ())
    who = members[number] if type(number) is int and number < len(members) else None
    return who if isinstance(who, Member) else None
