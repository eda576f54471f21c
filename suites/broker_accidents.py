"""The suite ``broker-accidents``: a broker is frozen or killed, and connections are cut, while requests are under way.

The requests are those of ``broker-concurrent``. What was asked and never answered may have been done or not; whatever
was answered must have been done, as far as a kill leaves it.
"""

from typing import Annotated

from rocketmq_conformance.models.broker.broker_concurrent import BrokerConcurrentModel, ConcurrentState
from rocketmq_conformance.models.broker.overlapping import FAULTS, FREEZE, KILL
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites import broker_concurrent
from rocketmq_conformance.suites.broker_concurrent import KINDS, asking, has_room, history, timeline
from rocketmq_conformance.suites.declare.domain import Values
from rocketmq_conformance.suites.declare.operation import Operation, Side, operation
from rocketmq_conformance.suites.declare.suite import BoundModel, Suite

_BY = Values(0, 1, 2, weights=(3, 3, 2))


def _is_whole(state: ConcurrentState) -> bool:
    """One thing at a time befalls a broker, and not all it is asked is that."""
    return has_room(state) and bool(state.asked) and not any(one.kind in FAULTS for one in state.asked)


def _asks(state: ConcurrentState) -> bool:
    return any(one.kind not in FAULTS for one in state.asked) and not state.lost


@operation(
    "Freeze the broker (SIGSTOP) for a moment, when it is this client's turn.",
    side=Side.BROKER,
    weight=4,
    guard=_is_whole,
)
class FreezeBeside(Operation):
    by: Annotated[int, _BY]


@operation(
    "Kill the broker (SIGKILL) when it is this client's turn, and start it again.",
    side=Side.BROKER,
    weight=3,
    guard=_is_whole,
)
class KillBeside(Operation):
    by: Annotated[int, _BY]


@operation(
    "Send this client's last request over a connection that is cut then.", side=Side.BROKER, weight=5, guard=_asks
)
class CutBeside(Operation):
    by: Annotated[int, _BY]


@operation(
    "Send all these requests at the same time, each client its own in their order, and let happen what befalls the "
    "broker: answers the history.",
    side=Side.BROKER,
    weight=9,
    guard=_asks,
    observes=True,
    words=timeline,
    history=history,
)
class AtOnceBefallen(Operation):
    pass


def _bind(profile: Profile) -> BoundModel:
    model = BrokerConcurrentModel(profile)
    asked = asking(model, {**KINDS, **FAULTS_OF})
    return BoundModel(ConcurrentState(), {**asked, CutBeside: model.cut, AtOnceBefallen: model.at_once})


#: What each operation has befall the broker.
FAULTS_OF: dict[type[Operation], str] = {FreezeBeside: FREEZE, KillBeside: KILL}

SUITE = Suite(
    name="broker-accidents",
    sentence="A broker that is frozen or killed, and connections that are cut, while requests of several clients are "
    "under way.",
    side=Side.BROKER,
    bind=_bind,
    steps=24,
    cases=12,
    show=broker_concurrent.SUITE.show,
    rules=(*broker_concurrent.SUITE.rules, "BQ-ONCE-CUT", "BQ-ONCE-FREEZE", "BQ-ONCE-KILL"),
    limits=broker_concurrent.SUITE.limits,
    repeatable=False,
    tries=5,
    ordinary=False,
    case_seconds=8,
)
