"""The suite ``broker-upgrade``: a broker that ends, another release that goes on with its store, and back.

Slow: a gentle stop takes seconds, of young releases 20. The profile says which release the store is of; every operation
observes, because a killed broker may be in one of several states.
"""

from typing import Annotated

from rocketmq_conformance.models.broker.broker_upgrade import BrokerUpgradeModel, UpgradedBroker
from rocketmq_conformance.models.broker.configuration import LIGHT
from rocketmq_conformance.models.broker.lifecycle import KILL, STOP
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites import broker_restart
from rocketmq_conformance.suites.declare.domain import Values
from rocketmq_conformance.suites.declare.operation import Operation, Side, operation
from rocketmq_conformance.suites.declare.rule_limit import RuleLimit
from rocketmq_conformance.suites.declare.suite import BoundModel, Suite
from rocketmq_conformance.suites.values import broker as values


@operation(
    "Stop or kill the broker, and start the other release on its store.", side=Side.BROKER, weight=10, observes=True
)
class Change(Operation):
    how: Annotated[str, Values(STOP, KILL)]


def _bind(profile: Profile) -> BoundModel:
    model = BrokerUpgradeModel(profile)
    return BoundModel(
        model.initial(),
        {
            Change: model.change,
            broker_restart.Save: model.save,
            broker_restart.Memory: model.memory,
            **broker_restart.on_store(model),
        },
    )


def _show(state: UpgradedBroker) -> str:
    return f"{'newer' if state.newer else 'older'} release: {broker_restart.SUITE.show(state.broker)}"


#: The rules of restarts that no step here meets.
_NOT_ASKED = {"RUN-RESTART-1", *broker_restart.FILTERS}

SUITE = Suite(
    name="broker-upgrade",
    sentence="A broker that is upgraded and taken back, each release on the store that the other one left.",
    side=Side.BROKER,
    bind=_bind,
    steps=150,
    cases=2,
    show=_show,
    rules=("RUN-UPGRADE-1", "BQ-COM-LMQ", *(rule for rule in broker_restart.SUITE.rules if rule not in _NOT_ASKED)),
    ordinary=False,
    case_seconds=10,
    limits=(
        values.NO_TIMER,
        RuleLimit(
            rules=("BQ-COM-LMQ",),
            setting=LIGHT,
            values=("true",),
            because="the broker has no light message queues: enableLmq is off, the default",
        ),
    ),
)
