"""The suite ``rebalance-service``: when the consumers of a client instance rebalance, on the clock of the case."""

from typing import Annotated

from rocketmq_conformance.models.client.rebalance_service import CONSUMERS, RebalanceServiceModel, RebalanceServiceState
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.domain import Values
from rocketmq_conformance.suites.declare.operation import Operation, Side, operation
from rocketmq_conformance.suites.declare.suite import BoundModel, Suite
from rocketmq_conformance.suites.declare.wording import keyed, listed


@operation(
    "Time passes, in ms: answers the rounds that the timer lets happen, each by the ms since the time began to pass "
    "and the consumers that rebalanced, by name; rounds without any are left out.",
    weight=10,
    words=keyed(lambda at: f"after {at} ms", listed()),
)
class Elapse(Operation):
    elapses: Annotated[int, Values(300, 700, 1_000, 19_000, 20_000, 41_000, weights=(3, 3, 3, 2, 2, 1))]


@operation(
    "A broker notifies the client that the members of a group changed: answers the consumers that rebalance at once.",
    weight=6,
    sets=(-1,),
    words=listed(),
)
class Notify(Operation):
    pass


@operation("The push consumer is paused.", weight=1)
class Suspend(Operation):
    pass


@operation(
    "The push consumer goes on, paused or not: answers the consumers that rebalance at once.", weight=2, words=listed()
)
class Resume(Operation):
    pass


@operation(
    "The strategy of a consumer refuses to divide queues from now on, so that it is not balanced, or it does not.",
    weight=4,
)
class Refuse(Operation):
    consumer: Annotated[str, Values(*CONSUMERS)]
    refuses: Annotated[bool, Values(True, False, weights=(1, 2))]


@operation("The application says whether the pull consumer may rebalance.", weight=2)
class Enable(Operation):
    enabled: Annotated[bool, Values(False, True)]


def _bind(profile: Profile) -> BoundModel:
    model = RebalanceServiceModel(profile)
    return BoundModel(
        RebalanceServiceState(),
        {
            Elapse: model.elapse,
            Notify: model.notify,
            Suspend: model.suspend,
            Resume: model.resume,
            Refuse: model.refuse,
            Enable: model.enable,
        },
    )


def _show(state: RebalanceServiceState) -> str:
    return (
        f"clock {state.now}, last round {state.last}, next {state.due}; push consumer "
        f"{'paused' if state.paused else 'runs'}, pull consumer {'may' if state.enabled else 'may not'} rebalance, "
        f"refusing strategies {sorted(state.refusing)}"
    )


SUITE = Suite(
    name="rebalance-service",
    sentence="A client instance with a push and a pull consumer: who rebalances when, and who is left out.",
    side=Side.CLIENT,
    bind=_bind,
    steps=40,
    show=_show,
    rules=(
        "REB-SVC-1",
        "REB-SVC-WAKE",
        "REB-SVC-MIN",
        "REB-SVC-SOON",
        "REB-SVC-PAUSE",
        "REB-SVC-PULL",
        "REB-CLU-3",
    ),
)
