"""The suite ``whole-broadcast``: whole broadcasting consumers of one group, judged from traffic and listeners."""

from functools import partial
from typing import Annotated

from rocketmq_conformance.models.client import whole_end
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.client.whole_broadcast import WholeBroadcastModel, WholeBroadcastState
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites import whole_push as group
from rocketmq_conformance.suites.declare.domain import Values
from rocketmq_conformance.suites.declare.operation import Operation, Side
from rocketmq_conformance.suites.declare.suite import BoundModel, Suite
from rocketmq_conformance.suites.declare.topologies import ORDINARY
from rocketmq_conformance.suites.values import whole


@group.MOVES.move(
    "If a member runs, it is shut down or killed, a message arrives in every queue, and it is started again.", weight=3
)
class ComeBack(Operation):
    member: Annotated[int, whole.MEMBER]
    crashes: Annotated[bool, Values(False, True)]


def _bind(topology: Topology, profile: Profile) -> BoundModel:
    model = WholeBroadcastModel(profile, topology)
    return BoundModel(
        model.initial(),
        {
            group.Prepare: model.prepare,
            group.Join: model.join,
            group.Leave: model.leave,
            group.Crash: model.crash,
            group.Send: model.send,
            group.Look: model.look,
            group.Freeze: model.freeze,
            ComeBack: model.come_back,
        },
        model.learn,
    )


def show(state: WholeBroadcastState) -> str:
    """The state of a case, in words."""
    members = [f"{name} waits at {dict(waits)}" for name, waits in state.members.items()]
    files = [f"file of {name} {dict(file)}" for name, file in state.files.items()]
    return "; ".join([str(state.setting), *(members or ["no member"]), *files])


SUITE = Suite(
    name="whole-broadcast",
    sentence="Broadcasting consumers as their users start them: every member gets all, and goes on by its own file.",
    side=Side.WHOLE,
    bind=partial(_bind, ORDINARY),
    steps=8,
    cases=40,
    show=show,
    rules=(
        *("REB-BC-1", "REB-BC-STORE", "START-BC-1", "WHOLE-FIRST", "WHOLE-MOVED"),
        *whole_end.RULES_OF_BROADCAST_ENDS,
    ),
    beneath=(
        *("START-PUSH-1", "START-TS-1", "API-ADM-1"),
        *("OFF-L-READ", "OFF-L-PALL", "OFF-L-PATH"),
    ),
    beginning="A topic of four young queues, a group that has stored nothing, no member, and no file.",
    confirmations=2,
    case_seconds=41,
)
