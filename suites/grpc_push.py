"""The suite ``grpc-push``: push consumers of the gRPC protocol, judged by what they call at a proxy."""

from typing import Annotated

from rocketmq_conformance.models.client.grpc_push import (
    ASSIGNMENTS,
    MEMBERS,
    QUEUES,
    GrpcPushModel,
    GrpcPushState,
)
from rocketmq_conformance.models.client.plan_words import EVERY, FAILS, SUCCEEDS
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.domain import Values
from rocketmq_conformance.suites.declare.operation import Operation, Side
from rocketmq_conformance.suites.declare.suite import BoundModel, Suite
from rocketmq_conformance.suites.values import grpc

RULES = (
    *("GP-TEL-1", "GP-TEL-2", "GP-HB-1", "GP-ASG-1", "GP-ASG-2", "GP-RCV-1", "GP-ACK-1", "GP-ACK-2"),
    *("GP-END-1", "GP-END-2"),
)
MOVES = grpc.Moves(RULES)
MEMBER = Values(*MEMBERS, weights=(3, 1))
QUEUE = Values(EVERY, *QUEUES, weights=(2, 1, 1))


@grpc.beginning(
    "Before the first member joins: the queues that the proxy assigns to every member, how many messages a receive may "
    "take by its settings, and how long messages wait that failed. Later nothing happens.",
    weight=2,
)
class Prepare(Operation):
    assigned: Annotated[str, Values("any", "both")]
    batch: Annotated[int, Values(32, 3, 1)]
    backoff: Annotated[str, Values("customized", "exponential")]


@MOVES.move("A member is started, unless it runs.", weight=6)
class Join(Operation):
    member: Annotated[int, MEMBER]


@MOVES.end("A member is shut down, if it runs.", weight=2)
class Leave(Operation):
    member: Annotated[int, MEMBER]


@MOVES.move("A member's process is killed, if it runs.")
class Crash(Operation):
    member: Annotated[int, MEMBER]


@MOVES.move("A message arrives in a queue, or in every queue (-1).", weight=6)
class Send(Operation):
    queue: Annotated[int, QUEUE]


@MOVES.move("From now on the listeners of all members succeed, or fail.", weight=3)
class Listen(Operation):
    listener: Annotated[str, Values(FAILS, SUCCEEDS, weights=(2, 1))]


@MOVES.move("The time of the messages is over that were given back.", weight=3)
class ComeAgain(Operation):
    pass


@MOVES.move("The proxy assigns these queues to every member from now on.", weight=3)
class Assign(Operation):
    assigned: Annotated[str, Values(*ASSIGNMENTS)]


@MOVES.move("Time passes: every timer of a member is due once.")
class Look(Operation):
    pass


def show(state: GrpcPushState) -> str:
    """The state of the model for a reader."""
    members = (
        "; ".join(f"member {member} has {grpc.queues(queues)}" for member, queues in state.members.items())
        or "no member"
    )
    messages = ", ".join(f"{one.queue}/{one.offset} {one.place} after {one.attempts}" for one in state.messages)
    refused = f"; refused: {' as '.join(state.refused)}" if state.refused else ""
    return f"{members}; listeners: {state.listener}; messages: {messages or 'none'}{refused}"


def _bind(profile: Profile) -> BoundModel:
    model = GrpcPushModel()
    return BoundModel(
        model.initial(),
        {
            Prepare: model.prepare,
            Join: model.join,
            Leave: model.leave,
            Crash: model.crash,
            Send: model.send,
            Listen: model.listen,
            ComeAgain: model.come_again,
            Assign: model.assign,
            Look: model.look,
        },
    )


SUITE = Suite(
    name="grpc-push",
    sentence="Push consumers of the gRPC protocol: what they receive from, acknowledge and give back.",
    side=Side.GRPC,
    bind=_bind,
    steps=16,
    cases=40,
    show=show,
    rules=RULES,
    beginning="A topic of two queues, all of which the proxy assigns to every member, and no member.",
    confirmations=2,
    case_seconds=60,
)
