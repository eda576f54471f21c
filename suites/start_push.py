"""The suite ``start-push``: the offset at which a push consumer starts a queue."""

from __future__ import annotations

from functools import partial

from rocketmq_conformance.models.client.start import StartModel
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.operation import Side, operation
from rocketmq_conformance.suites.declare.rule_limit import RuleLimit
from rocketmq_conformance.suites.declare.suite import BoundModel, Suite
from rocketmq_conformance.suites.declare.topologies import ORDINARY
from rocketmq_conformance.suites.values import start as values


@operation(
    "Compute where to start: `fault` is how the broker plays the query, `bound_fault` how it plays max and search.",
    weight=6,
)
class Start(values.WhereArguments):
    pass


@operation("Compute where to start, and report what fails.", weight=6, offered=values.checked)
class StartChecked(values.WhereArguments):
    pass


@operation("Start at a time: `timestamp` is read in time zone `zone`.", weight=8)
class StartAtTime(values.TimeArguments):
    pass


@operation("Start at a time, and report what fails.", weight=4, offered=values.checked)
class StartAtTimeChecked(values.TimeArguments):
    pass


def _bind(topology: Topology, profile: Profile) -> BoundModel:
    model = StartModel(profile, topology)
    return values.bound(model, values.starts(model.push, Start, StartChecked, StartAtTime, StartAtTimeChecked))


SUITE = Suite(
    name="start-push",
    sentence="Where a push consumer starts to pull, and what it does when that cannot be determined.",
    side=Side.CLIENT,
    bind=partial(_bind, ORDINARY),
    steps=40,
    show=values.show,
    rules=(
        "START-PUSH-1",
        "START-PUSH-ERROR",
        "START-CHECKED",
        "START-TS-1",
        "API-ADM-1",
        *values.STORE,
    ),
    limits=(
        RuleLimit(
            rules=("START-TS-1",),
            client="up to 5.0.0-PREVIEW, 5.0.0+",
            because="5.0.0-ALPHA takes no response of the broker for one without an offset (API-QCO-1)",
        ),
    ),
)
