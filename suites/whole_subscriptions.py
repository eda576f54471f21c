"""The suite ``whole-subscriptions``: whole push consumers that subscribe to another topic while they run, judged from
the traffic alone."""

from functools import partial
from typing import Annotated

from rocketmq_conformance.models.client import whole_end
from rocketmq_conformance.models.client.plan_words import EVERY, NOTHING
from rocketmq_conformance.models.client.start import LAST
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.client.whole_moves import COMMIT, OTHER_QUEUES, PULL, QUERY, ROUTE
from rocketmq_conformance.models.client.whole_push import WholePushState
from rocketmq_conformance.models.client.whole_subscriptions import (
    WholeSubscriptionsModel,
    is_mended,
    is_subscribed,
    may_fail,
    may_join,
)
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites import whole_push as group
from rocketmq_conformance.suites.declare.domain import Values
from rocketmq_conformance.suites.declare.operation import Operation, Side
from rocketmq_conformance.suites.declare.suite import BoundModel, Suite
from rocketmq_conformance.suites.declare.topologies import ORDINARY
from rocketmq_conformance.suites.values import whole

_FAILS = "WHOLE-ANS-ALONE", "WHOLE-ANS-CODE"
_TOPICS = "for each member the topics that its last heartbeat named"
_MEMBER = Values(0, 1, 2, weights=(6, 6, 1))


def _queue(number: int) -> str:
    """A queue by its topic."""
    other = number - OTHER_QUEUES
    return f"topic 0, queue {number}" if other < 0 else f"topic 1, queue {other}"


MOVES = whole.Moves(
    words=whole.words(_queue),
    said=whole.arguments(_queue),
    seen=(
        f"{whole.seen(*whole.TRAFFIC, _TOPICS)} "
        "Queues 0 to 3 are those of the first topic, 4 and 5 the queues 0 and 1 of the other one, whose number is 1."
    ),
    parts={
        "places": (*_FAILS, "WHOLE-SUBSCRIBE", "REB-SUB-1", "REB-TRUNC-1", "WHOLE-SHARE", "REB-SVC-WAKE"),
        "brought": (*_FAILS, "WHOLE-SUBSCRIBE", "WHOLE-FIRST", "WHOLE-SHARE"),
        "stored": (*_FAILS, "WHOLE-SUBSCRIBE", "WHOLE-REPEAT", "WHOLE-COMMIT", "WHOLE-SHARE"),
        "subscriptions": ("REB-SUB-BEAT", "TIMER-BEAT"),
    },
)


@whole.beginning(
    "Before the first member joins: the queues of both topics have a shape, the group has stored an offset in each "
    "(-1: none), and consumers are configured with ConsumeFromWhere. Later nothing happens.",
    weight=10,
)
class Prepare(Operation):
    shape: Annotated[str, Values("expired", "young", weights=(4, 1))]
    stored: Annotated[int, Values(NOTHING, 7, weights=(4, 1))]
    where: Annotated[str, Values(LAST)]


@MOVES.move(
    "A member is started, unless it runs; while others are subscribed to the other topic, so is this one.",
    weight=10,
    guard=may_join,
)
class Join(group.Join):
    member: Annotated[int, _MEMBER]


@MOVES.end("A member is shut down, if it runs.", weight=3)
class Leave(group.Leave):
    member: Annotated[int, _MEMBER]


@MOVES.move("A member's process is killed, if it runs.", weight=3)
class Crash(group.Crash):
    member: Annotated[int, _MEMBER]


@MOVES.move("A message arrives in a queue, or in every queue of both topics (-1).", weight=8)
class Send(group.Send):
    queue: Annotated[int, Values(EVERY, 0, 4, 5, weights=(4, 1, 1, 1))]


@MOVES.move("Time passes, a round of rebalance at least.")
class Look(group.Look):
    pass


@MOVES.move("All members that run subscribe to the other topic, too, unless they do.", weight=8, guard=is_mended)
class Subscribe(Operation):
    pass


@MOVES.move(
    "All members that run unsubscribe from the other topic, if they are subscribed. The pulls of it that the broker "
    "holds are answered, as if their time was up: otherwise one more message would be given by each.",
    weight=6,
    guard=is_mended,
)
class Unsubscribe(Operation):
    pass


@MOVES.move(
    "While members are subscribed to both topics: from now on pulls, questions for stored offsets, commits or routes "
    "of one topic are refused by SYSTEM_ERROR; while commits are, its pulls commit nothing. Everything else is "
    "answered as ever.",
    weight=8,
    guard=may_fail,
)
class FailOf(Operation):
    topic: Annotated[int, Values(0, 1)]
    request: Annotated[str, Values(PULL, QUERY, COMMIT, ROUTE)]


@MOVES.move("Every request is answered as ever, if one was not.", weight=2)
class Mend(group.Mend):
    pass


def _bind(topology: Topology, profile: Profile) -> BoundModel:
    model = WholeSubscriptionsModel(profile, topology)
    return BoundModel(
        model.initial(),
        {
            Prepare: model.choose,
            Join: model.join,
            Leave: model.leave,
            Crash: model.crash,
            Send: model.send,
            Look: model.look,
            Subscribe: model.subscribe,
            Unsubscribe: model.unsubscribe,
            FailOf: model.fail_of,
            Mend: model.mend,
        },
        model.learn,
    )


def _show(state: WholePushState) -> str:
    return f"{group.show(state)}; subscribed to the other topic: {'yes' if is_subscribed(state.group) else 'no'}"


SUITE = Suite(
    name="whole-subscriptions",
    sentence="Push consumers that subscribe to another topic while they run: who has its queues, and what is given.",
    side=Side.WHOLE,
    bind=partial(_bind, ORDINARY),
    steps=16,
    cases=40,
    show=_show,
    rules=(
        *("WHOLE-SUBSCRIBE", "REB-SUB-1", "REB-SUB-BEAT", "REB-TRUNC-1"),
        *("WHOLE-FIRST", "WHOLE-COMMIT", "WHOLE-SHARE", "WHOLE-UNREAD", "REB-SVC-WAKE"),
        *(*_FAILS, "WHOLE-PULL", "WHOLE-MISTAKEN", "WHOLE-LOST", "WHOLE-REPEAT", "WHOLE-UNHEARD", "REB-SVC-1"),
        *whole_end.RULES_OF_ENDS,
    ),
    beneath=(
        *("START-PUSH-1", "API-ADM-1", "OFF-R-READ", "BQ-QUERY-1"),
        *("PULL-NON-1", "REB-ADD-1", "REB-DO-1", "REB-DROP-1", "REB-REM-1"),
        *("OFF-R-PALL", "OFF-R-READ-ERROR", "START-PUSH-ERROR", "PULL-RES-1", "REB-ADD-START"),
    ),
    limits=whole.QUERY_LIMITS,
    beginning="Two topics of four and of two young queues, a group that has stored nothing, and no member.",
    confirmations=2,
    case_seconds=120,
)
