"""The suite ``whole-clusters``: two whole push consumers in one process, of two clusters or of one group, judged from
the traffic at both clusters."""

from functools import partial
from typing import Annotated

from rocketmq_conformance.models.client.plan_words import EVERY, NOTHING
from rocketmq_conformance.models.client.start import FIRST, LAST
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.client.whole_brokers import MOST
from rocketmq_conformance.models.client.whole_clusters import WholeClustersModel
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites import whole_brokers, whole_push
from rocketmq_conformance.suites.declare.domain import Values
from rocketmq_conformance.suites.declare.operation import Operation, Side
from rocketmq_conformance.suites.declare.suite import BoundModel, Suite
from rocketmq_conformance.suites.declare.topologies import ORDINARY
from rocketmq_conformance.suites.values import whole


def _queue(number: int) -> str:
    """A queue by its cluster."""
    first, _ = MOST
    return f"first cluster, queue {number}" if number < first else f"second cluster, queue {number - first}"


MOVES = whole.Moves(
    words=whole.words(_queue),
    said=whole.arguments(_queue),
    seen=(
        f"{whole.seen(*whole.TRAFFIC)} "
        "Queues 0 to 2 are those of the first cluster, 3 and 4 the queues 0 and 1 of the second one."
    ),
    parts={
        "places": ("CID-SHARE", "CID-TAKEN", "WHOLE-SHARE", "REB-CLU-2"),
        "brought": ("CID-SHARE", "CID-TAKEN", "WHOLE-FIRST", "REB-CLU-2"),
        "stored": ("WHOLE-COMMIT", "CID-TAKEN"),
    },
)
_MEMBER = Values(0)


@whole.beginning(
    "Before the process starts: each cluster has the topic with so many young queues, the group has stored an offset "
    "in each (-1: none), and consumers are configured with ConsumeFromWhere. Later nothing happens.",
    weight=2,
)
class Prepare(Operation):
    first: Annotated[int, Values(2, 1)]
    second: Annotated[int, Values(2, 1)]
    stored: Annotated[int, Values(NOTHING, 7)]
    where: Annotated[str, Values(LAST, FIRST)]


@MOVES.move("The process starts with a consumer of the first cluster, unless it runs.", weight=5)
class Join(whole_push.Join):
    member: Annotated[int, _MEMBER]


@MOVES.move("The process is shut down, if it runs.")
class Leave(whole_push.Leave):
    member: Annotated[int, _MEMBER]


@MOVES.move(
    "A message arrives in a queue, or in every one (-1); in the second cluster if a consumer of it runs.", weight=4
)
class Send(whole_brokers.Send):
    queue: Annotated[int, Values(EVERY, 0, 3)]


@MOVES.move("Time passes, a round of rebalance at least.")
class Look(whole_push.Look):
    pass


@MOVES.move(
    "If the process runs, a consumer of the other cluster starts in it, unless one runs: with another instance name, "
    "and a group and a topic of the same names.",
    weight=5,
)
class Also(Operation):
    pass


@MOVES.move(
    "If the process runs, another consumer of the first cluster is to start in it, with the same group and the same "
    "instance name.",
    weight=4,
)
class Twin(Operation):
    pass


def _bind(topology: Topology, profile: Profile) -> BoundModel:
    model = WholeClustersModel(profile, topology)
    return BoundModel(
        model.initial(),
        {
            Prepare: model.choose,
            Join: model.join,
            Leave: model.leave,
            Send: model.send,
            Look: model.look,
            Also: model.also,
            Twin: model.twin,
        },
        model.learn,
    )


SUITE = Suite(
    name="whole-clusters",
    sentence="Two push consumers in one process: of two clusters, and of one group, which the second is refused.",
    side=Side.WHOLE,
    bind=partial(_bind, ORDINARY),
    steps=8,
    cases=30,
    show=whole_brokers.SUITE.show,
    rules=("CID-SHARE", "CID-TAKEN", "REB-CLU-2", "WHOLE-FIRST", "WHOLE-COMMIT", "WHOLE-SHARE"),
    beneath=(
        *("START-PUSH-1", "API-ADM-1", "OFF-R-READ", "BQ-QUERY-1"),
        *("MQ-ORD-1", "REB-ADD-1", "REB-DROP-1", "REB-REM-1"),
    ),
    beginning="Two clusters with a topic of two young queues each, a group that has stored nothing, and no member.",
    confirmations=2,
    case_seconds=60,
)
