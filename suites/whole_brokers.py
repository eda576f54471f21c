"""The suite ``whole-brokers``: whole push consumers of a topic on two brokers, judged from the traffic at both."""

from functools import partial
from typing import Annotated

from rocketmq_conformance.models.client.plan_words import EVERY, NOTHING
from rocketmq_conformance.models.client.start import FIRST, LAST
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.client.whole_brokers import (
    MOST,
    WholeBrokersModel,
    WholeBrokersState,
    is_mended,
    may_fail,
)
from rocketmq_conformance.models.client.whole_moves import COMMIT, PULL, QUERY
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites import whole_push as group
from rocketmq_conformance.suites.declare.domain import Values
from rocketmq_conformance.suites.declare.operation import Operation, Side
from rocketmq_conformance.suites.declare.suite import BoundModel, Suite
from rocketmq_conformance.suites.declare.topologies import ORDINARY
from rocketmq_conformance.suites.values import whole


def _queue(number: int) -> str:
    """A queue by its broker."""
    first, _ = MOST
    return f"first broker, queue {number}" if number < first else f"second broker, queue {number - first}"


_FAILS = "WHOLE-ANS-ALONE", "WHOLE-ANS-CODE"
MOVES = whole.Moves(
    words=whole.words(_queue),
    said=whole.arguments(_queue),
    seen=(
        f"{whole.seen(*whole.TRAFFIC)} "
        "Queues 0 to 2 are those of the first broker, 3 and 4 the queues 0 and 1 of the second one."
    ),
    parts={
        "places": (*_FAILS, "REB-ROUTE-1", "WHOLE-SHARE", "WHOLE-MOVED", "REB-CLU-2"),
        "brought": (*_FAILS, "REB-ROUTE-1", "WHOLE-FIRST", "WHOLE-SHARE", "REB-CLU-2"),
        "stored": (*_FAILS, "WHOLE-REPEAT", "WHOLE-COMMIT", "WHOLE-MOVED", "REB-ROUTE-1"),
    },
)
_A, _B = Values(2, 1, 3), Values(2, 1)


@whole.beginning(
    "Before the first member joins: the brokers have so many queues each of a shape, the group has stored an offset in "
    "each (-1: none), and consumers are configured with ConsumeFromWhere. Later nothing happens.",
    weight=3,
)
class Prepare(Operation):
    first: Annotated[int, _A]
    second: Annotated[int, _B]
    shape: Annotated[str, Values("young", "empty", "expired", "gone", weights=(4, 1, 1, 1))]
    stored: Annotated[int, Values(NOTHING, 7, 2, weights=(2, 3, 1))]
    where: Annotated[str, Values(LAST, FIRST)]


@MOVES.move("A member is started, unless it runs.", weight=5)
class Join(group.Join):
    member: Annotated[int, whole.MEMBER]


@MOVES.move("A member is shut down, if it runs.", weight=2)
class Leave(group.Leave):
    member: Annotated[int, whole.MEMBER]


@MOVES.move("A member's process is killed, if it runs.")
class Crash(group.Crash):
    member: Annotated[int, whole.MEMBER]


@MOVES.move("A message arrives in a queue that the route names, or in every one (-1).", weight=5)
class Send(Operation):
    queue: Annotated[int, Values(EVERY, 0, 3, 4, weights=(4, 1, 1, 1))]


@MOVES.move("Time passes, a round of rebalance at least.")
class Look(group.Look):
    pass


@MOVES.move(
    "The brokers have so many queues each from now on, unless one is away, and the route names them; queues that one "
    "loses keep their messages and offsets.",
    weight=3,
    guard=is_mended,
)
class Route(Operation):
    first: Annotated[int, _A]
    second: Annotated[int, _B]


@MOVES.move(
    "The second broker goes away, if a member runs: it answers nothing, and the route names it no more.",
    weight=3,
    guard=is_mended,
)
class GoAway(Operation):
    pass


@MOVES.move("The second broker comes back with its messages and offsets, if it was away.", weight=3)
class ComeBack(Operation):
    pass


@MOVES.move(
    "While a member runs, of young queues: from now on pulls, questions for stored offsets or commits are refused by "
    "one broker, by SYSTEM_ERROR; while commits are, its pulls commit nothing. Everything else is answered as ever.",
    weight=2,
    guard=may_fail,
)
class FailAt(Operation):
    broker: Annotated[int, Values(0, 1)]
    request: Annotated[str, Values(PULL, QUERY, COMMIT)]


@MOVES.move("Every request is answered as ever, if one was not.")
class Mend(group.Mend):
    pass


def _bind(topology: Topology, profile: Profile) -> BoundModel:
    model = WholeBrokersModel(profile, topology)
    return BoundModel(
        model.initial(),
        {
            Prepare: model.prepare,
            Join: model.join,
            Leave: model.leave,
            Crash: model.crash,
            Send: model.send,
            Look: model.look,
            Route: model.route,
            GoAway: model.go_away,
            ComeBack: model.come_back,
            FailAt: model.fail_at,
            Mend: model.mend,
        },
        model.learn,
    )


def _show(state: WholeBrokersState) -> str:
    members = whole.pulling(state.group.members)
    away = ", the second one is away" if state.away else ""
    first, second = state.queues
    stored = whole.stored(state.group.broker.stored)
    return f"{state.setting}; queues {first} and {second}{away}; {members}; {stored}"


SUITE = Suite(
    name="whole-brokers",
    sentence="Push consumers of a topic on two brokers: who pulls which queue of which, and where offsets are stored.",
    side=Side.WHOLE,
    bind=partial(_bind, ORDINARY),
    steps=10,
    cases=40,
    show=_show,
    rules=(
        *("REB-CLU-2", "REB-ROUTE-1"),
        *("WHOLE-FIRST", "WHOLE-MOVED", "WHOLE-COMMIT", "WHOLE-SHARE"),
        *(*_FAILS, "WHOLE-PULL", "WHOLE-UNREAD", "WHOLE-MISTAKEN", "WHOLE-LOST", "WHOLE-REPEAT"),
    ),
    beneath=(
        *("START-PUSH-1", "API-ADM-1", "OFF-R-READ", "BQ-QUERY-1"),
        *("MQ-ORD-1", "PULL-ILL-1", "REB-ADD-1", "REB-DROP-1", "REB-REM-1"),
        *("OFF-R-PALL", "OFF-R-READ-ERROR", "START-PUSH-ERROR", "REB-ADD-START"),
    ),
    limits=whole.QUERY_LIMITS,
    beginning="A topic of two young queues on each of two brokers, a group that has stored nothing, and no member.",
    confirmations=2,
    case_seconds=80,
)
