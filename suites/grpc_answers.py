"""The suite ``grpc-answers``: gRPC push consumers that are refused, or given messages of other forms."""

from typing import Annotated

from rocketmq_conformance.models.client.grpc_forms import FORMS
from rocketmq_conformance.models.client.grpc_push import (
    ACK,
    ASSIGN,
    CHANGE,
    HEARTBEAT,
    RECEIVE,
    STALE_HANDLE,
    GrpcPushModel,
)
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites import grpc_push
from rocketmq_conformance.suites.declare.domain import Values
from rocketmq_conformance.suites.declare.operation import Operation, Side
from rocketmq_conformance.suites.declare.suite import BoundModel, Suite
from rocketmq_conformance.suites.values import grpc

RULES = (
    *("GP-TEL-1", "GP-TEL-2", "GP-HB-1", "GP-ASG-1", "GP-ASG-2", "GP-ASG-3", "GP-RCV-1", "GP-RCV-2"),
    *("GP-ACK-1", "GP-ACK-2", "GP-ACK-3", "GP-ACK-4", "GP-BODY-1", "GP-BODY-2", "GP-END-1", "GP-END-2"),
)
MOVES = grpc.Moves(RULES)
MEMBER = Values(0)
ERROR, BUSY = "INTERNAL_SERVER_ERROR", "TOO_MANY_REQUESTS"


@grpc.beginning(grpc_push.Prepare.spec.sentence)
class Prepare(grpc_push.Prepare):
    batch: Annotated[int, Values(32)]
    backoff: Annotated[str, Values("customized")]


@MOVES.move("The member is started, unless it runs.", weight=6)
class Join(grpc_push.Join):
    member: Annotated[int, MEMBER]


@MOVES.end("The member is shut down, if it runs, unless the end of a message is refused.")
class Leave(grpc_push.Leave):
    member: Annotated[int, MEMBER]


@MOVES.move("A message of a form arrives in a queue, or in every queue (-1).", weight=6)
class Send(grpc_push.Send):
    form: Annotated[str, Values(*FORMS, weights=(5, 1, 1, 1, 2))]


@MOVES.move("From now on the listener succeeds, or fails.", weight=2)
class Listen(grpc_push.Listen):
    pass


@MOVES.move("The time of the messages is over that were given back, or whose handle was refused.", weight=2)
class ComeAgain(grpc_push.ComeAgain):
    pass


@MOVES.move("The proxy assigns these queues from now on.", weight=2)
class Assign(grpc_push.Assign):
    pass


@MOVES.move("From now on a call is refused with a code, and no other one.", weight=6)
class Refuse(Operation):
    call: Annotated[str, Values(ACK, RECEIVE, CHANGE, ASSIGN, HEARTBEAT, weights=(3, 3, 3, 2, 1))]
    code: Annotated[str, Values(ERROR, BUSY, STALE_HANDLE, weights=(2, 1, 1))]


@MOVES.move("Every call is answered again.", weight=4)
class Mend(Operation):
    pass


@MOVES.move("Time passes: every timer of the member is due once.")
class Look(grpc_push.Look):
    pass


def _bind(profile: Profile) -> BoundModel:
    model = GrpcPushModel()
    return BoundModel(
        model.initial(),
        {
            Prepare: model.prepare,
            Join: model.join,
            Leave: model.leave,
            Send: model.send,
            Listen: model.listen,
            ComeAgain: model.come_again,
            Assign: model.assign,
            Refuse: model.refuse,
            Mend: model.mend,
            Look: model.look,
        },
    )


SUITE = Suite(
    name="grpc-answers",
    sentence="gRPC push consumers whose calls are refused, and messages of all forms: what is sent again, and when.",
    side=Side.GRPC,
    bind=_bind,
    steps=16,
    cases=40,
    show=grpc_push.show,
    rules=RULES,
    beginning="A topic of two queues, all of which the proxy assigns to the member, which does not run.",
    confirmations=2,
    case_seconds=60,
)
