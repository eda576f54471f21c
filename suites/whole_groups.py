"""The suite ``whole-groups``: programs with whole push consumers of two groups, judged from the traffic at their
broker."""

from functools import partial
from typing import Annotated

from rocketmq_conformance.models.client.plan_words import EVERY, NOTHING
from rocketmq_conformance.models.client.start import FIRST, LAST
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.client.whole_groups import BOTH, QUEUES, WholeGroupsModel, WholeGroupsState
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites import whole_push
from rocketmq_conformance.suites.declare.domain import Values
from rocketmq_conformance.suites.declare.operation import Operation, Side
from rocketmq_conformance.suites.declare.suite import BoundModel, Suite
from rocketmq_conformance.suites.declare.topologies import ORDINARY
from rocketmq_conformance.suites.declare.wording import OFFSET_OR_NONE, number
from rocketmq_conformance.suites.values import whole

_NAMES = ("first group", "second group")


def _queue(number: int) -> str:
    """A queue by the group that pulls it."""
    return f"{_NAMES[number // QUEUES]}, queue {number % QUEUES}"


MOVES = whole.Moves(
    words=whole.words(_queue),
    said={**whole.ARGUMENTS, "group": number(dict(zip(BOTH, _NAMES, strict=True)))},
    seen=(
        f"{whole.seen(*whole.TRAFFIC)} Queues 0 and 1 are those of the topic as the first group consumes them, 2 and 3 "
        "the same ones as the second group does."
    ),
    parts={
        "places": ("CID-SHARE", "WHOLE-SHARE", "REB-SVC-WAKE"),
        "brought": ("CID-SHARE", "WHOLE-FIRST", "WHOLE-SHARE"),
        "stored": ("CID-SHARE", "WHOLE-COMMIT", "TIMER-PERSIST"),
    },
)
_MEMBER = Values(0, 1, weights=(3, 1))


@whole.beginning(
    "Before the first program starts: the first group has stored an offset in each of the two young queues (-1: none), "
    "and so has the second one; consumers are configured with ConsumeFromWhere. Later nothing happens.",
    weight=3,
    said={**whole.ARGUMENTS, "first": OFFSET_OR_NONE, "second": OFFSET_OR_NONE},
)
class Prepare(Operation):
    first: Annotated[int, Values(NOTHING, 7)]
    second: Annotated[int, Values(2, NOTHING, 7)]
    where: Annotated[str, Values(LAST, FIRST)]


@MOVES.move("A program starts with a consumer of the first group, unless it runs.", weight=5)
class Join(whole_push.Join):
    member: Annotated[int, _MEMBER]


@MOVES.move(
    "If a program has a consumer of one group alone, another one starts in it: of the other group, with the same "
    "instance name.",
    weight=6,
)
class Also(Operation):
    member: Annotated[int, _MEMBER]


@MOVES.move("If a program has consumers of both groups, that of one group is shut down.", weight=2)
class End(Operation):
    member: Annotated[int, _MEMBER]
    group: Annotated[int, Values(*BOTH)]


@MOVES.move("A program is shut down, if it runs, with all that it has.")
class Leave(whole_push.Leave):
    member: Annotated[int, _MEMBER]


@MOVES.move("A message arrives in a queue of the topic, or in both (-1).", weight=5)
class Send(whole_push.Send):
    queue: Annotated[int, Values(EVERY, 0)]


@MOVES.move("Time passes, a round of rebalance at least.")
class Look(whole_push.Look):
    pass


def _bind(topology: Topology, profile: Profile) -> BoundModel:
    model = WholeGroupsModel(profile, topology)
    return BoundModel(
        model.initial(),
        {
            Prepare: model.prepare,
            Join: model.join,
            Also: model.also,
            End: model.end,
            Leave: model.leave,
            Send: model.send,
            Look: model.look,
        },
        model.learn,
    )


def show(state: WholeGroupsState) -> str:
    """The state of the model to a reader."""
    return "; ".join(f"{name}: {whole_push.show(one)}" for name, one in zip(_NAMES, state, strict=True))


SUITE = Suite(
    name="whole-groups",
    sentence="Push consumers of two groups in one program: each has all for itself, and goes on when the other ends.",
    side=Side.WHOLE,
    bind=partial(_bind, ORDINARY),
    steps=8,
    cases=30,
    show=show,
    rules=("CID-SHARE", "WHOLE-FIRST", "WHOLE-COMMIT", "WHOLE-SHARE", "REB-SVC-WAKE", "TIMER-PERSIST"),
    beneath=(
        *("START-PUSH-1", "API-ADM-1", "OFF-R-READ", "BQ-QUERY-1"),
        *("REB-CLU-1", "REB-ADD-1", "REB-DROP-1", "REB-REM-1"),
    ),
    beginning="A topic of two young queues, two groups that have stored nothing, and no program.",
    confirmations=2,
    case_seconds=60,
)
