"""The suite ``grpc-fifo``: gRPC push consumers of a FIFO group, which consume messages in order."""

from typing import Annotated

from rocketmq_conformance.models.client.grpc_fifo import GrpcFifoModel
from rocketmq_conformance.models.client.grpc_push import ACK, FORWARD
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites import grpc_answers, grpc_push
from rocketmq_conformance.suites.declare.domain import Values
from rocketmq_conformance.suites.declare.operation import Operation, Side
from rocketmq_conformance.suites.declare.suite import BoundModel, Suite
from rocketmq_conformance.suites.values import grpc

RULES = (
    *("GP-TEL-1", "GP-TEL-2", "GP-HB-1", "GP-ASG-1", "GP-RCV-1", "GP-ACK-1", "GP-ACK-3", "GP-END-1", "GP-END-2"),
    *("GP-FIFO-1", "GP-FIFO-2", "GP-FIFO-3", "GP-FIFO-4", "GP-FIFO-5"),
)
MOVES = grpc.Moves(RULES, fifo=True)


@grpc.beginning(
    "Before the first member joins: how many messages a receive may take by its settings, how long messages wait that "
    "failed, and how often a message is tried. Later nothing happens.",
    weight=9,
    guard=lambda state: not state.begun,
)
class Prepare(Operation):
    batch: Annotated[int, Values(32, 3, 1)]
    backoff: Annotated[str, Values("short", "growing")]
    attempts: Annotated[int, Values(3, 2, 1, weights=(2, 2, 1))]


@MOVES.move("A member is started, unless it runs.", weight=6)
class Join(grpc_push.Join):
    pass


@MOVES.end("A member is shut down, if it runs, unless the end of a message is refused.")
class Leave(grpc_push.Leave):
    pass


@MOVES.move("So many messages arrive at once in a queue, or in every queue (-1).", weight=8)
class Send(grpc_push.Send):
    form: Annotated[str, Values("ordinary", "corrupted", weights=(6, 1))]
    messages: Annotated[int, Values(1, 3)]


@MOVES.move("From now on the listeners of all members succeed, or fail.", weight=3)
class Listen(grpc_push.Listen):
    pass


@MOVES.move("From now on a call is refused with a code, and no other one.", weight=4)
class Refuse(Operation):
    call: Annotated[str, Values(ACK, FORWARD)]
    code: Annotated[str, Values(grpc_answers.ERROR, grpc_answers.BUSY)]


@MOVES.move("Every call is answered again.", weight=4)
class Mend(Operation):
    pass


@MOVES.move("Time passes: every timer of a member is due once.")
class Look(grpc_push.Look):
    pass


def _bind(profile: Profile) -> BoundModel:
    model = GrpcFifoModel()
    return BoundModel(
        model.initial(),
        {
            Prepare: model.prepare_fifo,
            Join: model.join,
            Leave: model.leave,
            Send: model.send,
            Listen: model.listen,
            Refuse: model.refuse,
            Mend: model.mend,
            Look: model.look,
        },
    )


SUITE = Suite(
    name="grpc-fifo",
    sentence="gRPC push consumers of a FIFO group: the order of messages, and what becomes of those that fail.",
    side=Side.GRPC,
    bind=_bind,
    steps=16,
    cases=40,
    show=grpc_push.show,
    rules=RULES,
    beginning="A topic of two queues, all of which the proxy assigns to every member, and no member. All messages of a "
    "queue are of one message group.",
    confirmations=2,
    case_seconds=60,
)
