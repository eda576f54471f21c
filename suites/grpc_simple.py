"""The suite ``grpc-simple``: simple consumers of the gRPC protocol, which do what their caller asks for."""

from typing import Annotated

from rocketmq_conformance.models.client.grpc_push import ACK, CHANGE, QUEUES, RECEIVE
from rocketmq_conformance.models.client.grpc_simple import GrpcSimpleModel, GrpcSimpleState
from rocketmq_conformance.models.client.plan_words import EVERY
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites import grpc_answers
from rocketmq_conformance.suites.declare.domain import Values
from rocketmq_conformance.suites.declare.operation import Operation, Side
from rocketmq_conformance.suites.declare.suite import BoundModel, Suite
from rocketmq_conformance.suites.values import grpc_simple as moves

RULES = ("GP-TEL-1", "GP-HB-1", "GP-SIM-1", "GP-SIM-2", "GP-SIM-3", "GP-SIM-4", "GP-END-1")
QUEUE, OFFSET = Values(*QUEUES), Values(0, 1, weights=(3, 1))


def _runs(state: GrpcSimpleState) -> bool:
    return state.runs


def _has(state: GrpcSimpleState) -> bool:
    return any(one.counts is not None for one in state.messages)


@moves.move("The member is started, unless it runs.", weight=5)
class Join(Operation):
    pass


@moves.end("The member is shut down, if it runs.")
class Leave(Operation):
    pass


@moves.move("A message arrives in a queue, or in every queue (-1).", weight=4)
class Send(Operation):
    queue: Annotated[int, Values(EVERY, *QUEUES, weights=(2, 1, 1))]


@moves.move(
    "The member receives up to so many messages once, which are hidden for so many seconds.", weight=7, guard=_runs
)
class Receive(Operation):
    most: Annotated[int, Values(1, 2, 32)]
    seconds: Annotated[int, Values(20, 60)]


@moves.move("The member acknowledges a message, if it has it.", weight=5, guard=_has)
class Acknowledge(Operation):
    queue: Annotated[int, QUEUE]
    offset: Annotated[int, OFFSET]


@moves.move("The member has a message hidden for so many seconds from now on, if it has it.", weight=6, guard=_has)
class Change(Operation):
    queue: Annotated[int, QUEUE]
    offset: Annotated[int, OFFSET]
    seconds: Annotated[int, Values(30, 90)]


@moves.move("The time of all messages is over that were given, and not acknowledged.", weight=2, guard=_has)
class TimeIsUp(Operation):
    pass


@moves.move("From now on a call is refused with a code, and no other one.", weight=3, guard=_runs)
class Refuse(Operation):
    call: Annotated[str, Values(CHANGE, ACK, RECEIVE, weights=(2, 1, 1))]
    code: Annotated[str, Values(grpc_answers.ERROR, grpc_answers.BUSY)]


@moves.move("Every call is answered again.", weight=4, guard=lambda state: state.refused is not None)
class Mend(Operation):
    pass


@moves.move("Time passes: a heartbeat of the member is due.")
class Look(Operation):
    pass


def _show(state: GrpcSimpleState) -> str:
    messages = ", ".join(f"{one.queue}/{one.offset} {one.place} after {one.attempts}" for one in state.messages)
    refused = f"; refused: {' as '.join(state.refused)}" if state.refused else ""
    return f"{'a member' if state.runs else 'no member'}; messages: {messages or 'none'}{refused}"


def _bind(profile: Profile) -> BoundModel:
    model = GrpcSimpleModel()
    return BoundModel(
        model.initial(),
        {
            Join: model.join,
            Leave: model.leave,
            Send: model.send,
            Receive: model.receive,
            Acknowledge: model.acknowledge,
            Change: model.change,
            TimeIsUp: model.time_is_up,
            Refuse: model.refuse,
            Mend: model.mend,
            Look: model.look,
        },
    )


SUITE = Suite(
    name="grpc-simple",
    sentence="Simple consumers of the gRPC protocol: what they ask for, and by which handles messages end.",
    side=Side.GRPC,
    bind=_bind,
    steps=20,
    cases=40,
    show=_show,
    rules=RULES,
    beginning="A topic of two queues, and no member.",
    confirmations=2,
    case_seconds=40,
)
