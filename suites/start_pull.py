"""The suite ``start-pull``: the offset at which a plain pull consumer starts a queue."""

from functools import partial
from typing import Annotated

from rocketmq_conformance.models.client.start import StartModel
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.operation import Operation, Side, operation
from rocketmq_conformance.suites.declare.suite import BoundModel, Suite
from rocketmq_conformance.suites.declare.topologies import ORDINARY
from rocketmq_conformance.suites.values import start as values


@operation("Compute where to start: `fault` is how the broker would play a query.", weight=4)
class Start(Operation):
    queue: Annotated[int, values.QUEUE]
    fault: Annotated[str, values.FAULT]


@operation("Compute where to start, and report what fails.", weight=4, offered=values.checked)
class StartChecked(Operation):
    queue: Annotated[int, values.QUEUE]
    fault: Annotated[str, values.FAULT]


def _bind(topology: Topology, profile: Profile) -> BoundModel:
    model = StartModel(profile, topology)
    return values.bound(model, {Start: model.pull, StartChecked: model.pull})


SUITE = Suite(
    name="start-pull",
    sentence="Where a pull consumer starts to pull: at 0, even if an offset is stored.",
    side=Side.CLIENT,
    bind=partial(_bind, ORDINARY),
    steps=20,
    show=values.show,
    rules=(
        "START-PULL-1",
        *values.STORE,
    ),
)
