"""The suite ``start-lite-pull``: the offset at which a lite pull consumer starts a queue."""

from functools import partial
from typing import Annotated

from rocketmq_conformance.models.client.start import StartModel
from rocketmq_conformance.models.client.switches import LITE_PULL, LITE_STARTS
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.operation import Side, arguments, operation
from rocketmq_conformance.suites.declare.rule_limit import RuleLimit
from rocketmq_conformance.suites.declare.suite import BoundModel, Suite
from rocketmq_conformance.suites.declare.topologies import ORDINARY
from rocketmq_conformance.suites.values import start as values


def _offered(profile: Profile) -> bool:
    return LITE_PULL.on(profile.client)


def _checked(profile: Profile) -> bool:
    return _offered(profile) and values.checked(profile)


def _timed(profile: Profile) -> bool:
    """4.6.0 has no ConsumeFromWhere for lite pull, and no timestamp."""
    return LITE_STARTS.on(profile.client)


@arguments
class _WhereArguments(values.WhereArguments):
    where: Annotated[str, values.LITE_WHERE]


@operation(
    "Compute where to start (4.6.0 has no `where`): `fault` is how the broker plays the query, `bound_fault` how it "
    "plays max and search.",
    weight=6,
    offered=_offered,
)
class Start(_WhereArguments):
    pass


@operation("Compute where to start, and report what fails.", weight=6, offered=_checked)
class StartChecked(_WhereArguments):
    pass


@operation("Start at a time: `timestamp` is read in time zone `zone`.", weight=8, offered=_timed)
class StartAtTime(values.TimeArguments):
    pass


@operation("Start at a time, and report what fails.", weight=4, offered=_checked)
class StartAtTimeChecked(values.TimeArguments):
    pass


def _bind(topology: Topology, profile: Profile) -> BoundModel:
    model = StartModel(profile, topology)
    return values.bound(model, values.starts(model.lite_pull, Start, StartChecked, StartAtTime, StartAtTimeChecked))


SUITE = Suite(
    name="start-lite-pull",
    sentence="Where a lite pull consumer starts to pull, and what it does when that cannot be determined.",
    side=Side.CLIENT,
    bind=partial(_bind, ORDINARY),
    steps=40,
    show=values.show,
    rules=(
        "START-LITE-0",
        "START-LITE-1",
        "START-LITE-MAX",
        "START-CHECKED",
        "START-TS-1",
        "API-ADM-1",
        *values.STORE,
    ),
    limits=(
        RuleLimit(
            rules=("START-CHECKED", "START-TS-1", "API-ADM-1"),
            client="4.6.1+",
            because="a lite pull consumer of 4.6.0 starts at 0 and asks nobody",
        ),
        RuleLimit(
            rules=("START-LITE-MAX",),
            client="4.9.0, 5.0.0-PREVIEW",
            because="the checked variant, which shows it, is there from 4.9.0 on",
        ),
    ),
)
