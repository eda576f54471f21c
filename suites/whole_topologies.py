"""The suite ``whole-topologies``: whole push consumers of a topic that gets to another broker, and whose queues are not
read and written alike, judged from the traffic at both brokers."""

from functools import partial
from typing import Annotated

from rocketmq_conformance.models.client.plan_words import EVERY, NOTHING
from rocketmq_conformance.models.client.start import FIRST, LAST
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.client.whole_topologies import WRITTEN, WholeTopologiesModel
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites import whole_brokers, whole_push
from rocketmq_conformance.suites.declare.domain import Values
from rocketmq_conformance.suites.declare.operation import Operation, Side
from rocketmq_conformance.suites.declare.suite import BoundModel, Suite
from rocketmq_conformance.suites.declare.topologies import ORDINARY
from rocketmq_conformance.suites.values import whole

MOVES = whole_brokers.MOVES


@whole.beginning(
    "Before the first member joins: the topic has so many young queues at the first broker, the group has stored an "
    "offset in each (-1: none), and consumers are configured with ConsumeFromWhere. The second broker, which is to "
    "have so many, is not there yet, and no route names it. Later nothing happens.",
    weight=2,
)
class Prepare(Operation):
    first: Annotated[int, Values(2, 1)]
    second: Annotated[int, Values(1, 2)]
    stored: Annotated[int, Values(NOTHING, 7)]
    where: Annotated[str, Values(LAST, FIRST)]


@MOVES.move("A member is started, unless it runs.", weight=5)
class Join(whole_push.Join):
    member: Annotated[int, whole.MEMBER]


@MOVES.move("A member is shut down, if it runs.")
class Leave(whole_push.Leave):
    member: Annotated[int, whole.MEMBER]


@MOVES.move("A message arrives in a queue that the route names, or in every one (-1).", weight=4)
class Send(whole_brokers.Send):
    queue: Annotated[int, Values(EVERY, 0, 3)]


@MOVES.move("Time passes, a round of rebalance at least.")
class Look(whole_push.Look):
    pass


@MOVES.move("The second broker comes with the topic, if it is not there: it begins, or comes back.", weight=5)
class Appear(Operation):
    pass


@MOVES.move(
    "The second broker goes away, if a member runs: it answers nothing, and the route names it no more.", weight=2
)
class GoAway(Operation):
    pass


@MOVES.move(
    "Of the topic so many queues are read at each broker from now on, unless the second one is away, and as many are "
    "written, or one more or fewer; the route says so. Without any at the second one the topic may not be read there, "
    "though it has a queue. Queues that are not read any more keep their messages and offsets.",
    weight=5,
)
class Route(Operation):
    first: Annotated[int, Values(2, 1)]
    second: Annotated[int, Values(1, 0)]
    written: Annotated[int, Values(*WRITTEN)]


def _bind(topology: Topology, profile: Profile) -> BoundModel:
    model = WholeTopologiesModel(profile, topology)
    return BoundModel(
        model.initial(),
        {
            Prepare: model.choose,
            Join: model.join,
            Leave: model.leave,
            Send: model.send,
            Look: model.look,
            Appear: model.appear,
            GoAway: model.go_away,
            Route: model.route_as,
        },
        model.learn,
    )


SUITE = Suite(
    name="whole-topologies",
    sentence="Push consumers by what routes say: a broker that comes, queues that are not read and written alike.",
    side=Side.WHOLE,
    bind=partial(_bind, ORDINARY),
    steps=8,
    cases=30,
    show=whole_brokers.SUITE.show,
    rules=("REB-CLU-2", "REB-ROUTE-1", "WHOLE-FIRST", "WHOLE-COMMIT", "WHOLE-SHARE"),
    beneath=(
        *("START-PUSH-1", "API-ADM-1", "OFF-R-READ", "BQ-QUERY-1"),
        *("MQ-ORD-1", "REB-ADD-1", "REB-DROP-1", "REB-REM-1"),
    ),
    beginning="A topic of two young queues on one broker, a group that has stored nothing, and no member.",
    confirmations=2,
    case_seconds=100,
)
