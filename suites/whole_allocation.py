"""The suite ``whole-allocation``: which queues whole push consumers take, among members that do not exist."""

from functools import partial
from typing import Annotated

from rocketmq_conformance.models.client import whole_end
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.client.whole_allocation import RULE_OF, WholeAllocationModel
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites import whole_push as group
from rocketmq_conformance.suites.declare.domain import Values
from rocketmq_conformance.suites.declare.operation import Operation, Side
from rocketmq_conformance.suites.declare.suite import BoundModel, Suite
from rocketmq_conformance.suites.declare.topologies import ORDINARY
from rocketmq_conformance.suites.values import whole


@whole.beginning(
    "Before the first member joins: the topic has so many queues, and consumers divide them by a strategy. Later "
    "nothing happens.",
    weight=3,
)
class Divide(Operation):
    queues: Annotated[int, Values(4, 1, 3, 5)]
    strategy: Annotated[str, Values(*RULE_OF)]


@group.MOVES.move(
    "From now on the broker lists so many more members, whose client ids sort before and after those of real ones, and "
    "tells its members that the group has changed.",
    weight=6,
)
class Crowd(Operation):
    before: Annotated[int, Values(0, 1, 2, 4)]
    after: Annotated[int, Values(0, 1, 3)]


def _bind(topology: Topology, profile: Profile) -> BoundModel:
    model = WholeAllocationModel(profile, topology)
    return BoundModel(
        model.initial(),
        {
            Divide: model.divide,
            group.Join: model.join,
            group.Leave: model.leave,
            group.Crash: model.crash,
            group.Send: model.send,
            Crowd: model.crowd,
        },
        model.learn,
    )


SUITE = Suite(
    name="whole-allocation",
    sentence="The share of a topic's queues that push consumers take, among members that do not exist.",
    side=Side.WHOLE,
    bind=partial(_bind, ORDINARY),
    steps=8,
    cases=40,
    show=group.show,
    rules=(*RULE_OF.values(), "REB-CLU-2", "REB-CLU-4", *whole_end.RULES_OF_ENDS),
    beneath=("START-PUSH-1", "OFF-R-READ", "REB-ADD-1"),
    beginning="A topic of four young queues, in each of which a group has stored 7, and no member.",
    confirmations=2,
    case_seconds=41,
)
