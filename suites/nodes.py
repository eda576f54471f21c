"""The suite ``nodes``: which node of a broker each request goes to, master or slave, and what is learned for it."""

from functools import partial
from typing import Annotated

from rocketmq_conformance.models.client.nodes import NodesModel, NodesState
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.domain import Values
from rocketmq_conformance.suites.declare.operation import Operation, Side, arguments, operation
from rocketmq_conformance.suites.declare.suite import BoundModel, Suite
from rocketmq_conformance.suites.declare.topologies import ORDINARY
from rocketmq_conformance.suites.declare.wording import numbers

#: The nodes of the broker that the name server has in the topic's route, in its order; none: it has no route.
ROUTE = Values((0, 1), (1,), (0,), (16, 0), (), weights=(3, 4, 2, 2, 2))
_ASKED = {"route asked for": ("NODE-ROUTE",), "node": ()}
_ANSWERS = (
    " `route` is what the name server has: the nodes of the queue's broker in its order, the master being 0, and none "
    "where it has no route. Answers whether the topic's route is asked for first, and the node that is asked, null for "
    "none."
)


@arguments
class Asking(Operation):
    route: Annotated[tuple[int, ...], ROUTE]


@operation("The client learns the topic's route, as it does every 30 s.", weight=5)
class Learn(Asking):
    pass


@operation("The stored offset of queue 0 is read." + _ANSWERS, weight=4, answer=_ASKED)
class ReadStored(Asking):
    pass


@operation("An offset of queue 0 is committed, one way." + _ANSWERS, weight=4, answer=_ASKED)
class Commit(Asking):
    pass


@operation(
    "A bound of queue 0 is asked for: the lowest offset, the highest, that of a time, or the time of the first message."
    + _ANSWERS,
    weight=4,
    answer=_ASKED,
)
class Bound(Operation):
    which: Annotated[str, Values("min", "max", "search", "earliest")]
    route: Annotated[tuple[int, ...], ROUTE]


@operation("An orderly consumer locks queue 0." + _ANSWERS, weight=2, answer=_ASKED)
class Lock(Asking):
    pass


@operation("The members of the group are asked for, for queue 0's topic." + _ANSWERS, weight=3, answer=_ASKED)
class Members(Asking):
    pass


@operation(
    "The client sends its heartbeats: answers the nodes that get one, in order.",
    words=numbers,
)
class Heartbeat(Operation):
    pass


@operation(
    "The consumer is unregistered, and registered again: answers the nodes at which it is unregistered, in order.",
    words=numbers,
)
class Unregister(Operation):
    pass


def _bind(topology: Topology, profile: Profile) -> BoundModel:
    model = NodesModel(profile)
    return BoundModel(
        NodesState(),
        {
            Learn: model.learn,
            ReadStored: model.read,
            Commit: model.commit,
            Bound: model.bounds,
            Lock: model.lock,
            Members: model.members,
            Heartbeat: model.all,
            Unregister: model.all,
        },
    )


def _show(state: NodesState) -> str:
    return f"nodes {list(state.known)}"


SUITE = Suite(
    name="nodes",
    sentence="Which node of a broker each request goes to while a slave is known, or the master is not.",
    beginning="When a case begins, a push consumer of group G runs that has learned no route.",
    side=Side.CLIENT,
    bind=partial(_bind, ORDINARY),
    steps=20,
    cases=200,  # every answer is decided by what was learned last
    show=_show,
    rules=(
        "NODE-OFFSETS",
        "NODE-ROUTE",
        "NODE-BOUNDS",
        "NODE-LOCK",
        "NODE-MEMBERS",
        "NODE-ALL",
        "NODE-LEARN",
    ),
)
