"""The suite ``start-push``: where a push consumer starts to pull."""

from __future__ import annotations

from typing import Annotated

from rocketmq_conformance.models.client.remote_store import RemoteStore
from rocketmq_conformance.models.client.start import StartModel
from rocketmq_conformance.models.client.world import world
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites import start_values as values
from rocketmq_conformance.suites.operation import Operation, Side, operation
from rocketmq_conformance.suites.start_values import CommitElsewhere, Read, Remove, Shape, Update
from rocketmq_conformance.suites.suite import Bound, Suite


@operation(
    "Compute where to start: `fault` is how the broker plays the query, `bound_fault` how it plays max and search.",
    weight=6,
)
class Start(Operation):
    queue: Annotated[int, values.QUEUE]
    where: Annotated[str, values.WHERE]
    fault: Annotated[str, values.FAULT]
    bound_fault: Annotated[str, values.BOUND_FAULT]


@operation("Compute where to start, and report what fails.", weight=6, offered=values.checked)
class StartChecked(Operation):
    queue: Annotated[int, values.QUEUE]
    where: Annotated[str, values.WHERE]
    fault: Annotated[str, values.FAULT]
    bound_fault: Annotated[str, values.BOUND_FAULT]


@operation("Start at a time: `timestamp` is read in time zone `zone`.", weight=8)
class StartAtTime(Operation):
    queue: Annotated[int, values.TIMED_QUEUE]
    timestamp: Annotated[str | None, values.TIME]
    zone: Annotated[str, values.ZONE]
    fault: Annotated[str, values.TIMED_FAULT]
    bound_fault: Annotated[str, values.TIMED_BOUND_FAULT]


@operation("Start at a time, and report what fails.", weight=4, offered=values.checked)
class StartAtTimeChecked(Operation):
    queue: Annotated[int, values.TIMED_QUEUE]
    timestamp: Annotated[str | None, values.TIME]
    zone: Annotated[str, values.ZONE]
    fault: Annotated[str, values.TIMED_FAULT]
    bound_fault: Annotated[str, values.TIMED_BOUND_FAULT]


def _bind(profile: Profile) -> Bound:
    model = StartModel(profile)
    store = model.store
    return Bound(
        RemoteStore(broker=world()),
        (*values.handlers(model.push), store.update, store.remove, store.read, model.shape, store.commit_elsewhere),
    )


SUITE = Suite(
    name="start-push",
    sentence="Where a push consumer starts to pull, and what it does when nobody can tell.",
    operations=(Start, StartChecked, StartAtTime, StartAtTimeChecked, Update, Remove, Read, Shape, CommitElsewhere),
    side=Side.CLIENT,
    bind=_bind,
    steps=40,
    show=values.show,
    rules=("START-PUSH-1", "START-PUSH-ERROR", "START-CHECKED", "START-TS-1", "API-ADM-1"),
)
