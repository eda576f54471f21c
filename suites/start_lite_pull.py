"""The suite ``start-lite-pull``: where a lite pull consumer starts to read a queue that it has just been given."""

from __future__ import annotations

from typing import Annotated

from rocketmq_conformance.models.client import start
from rocketmq_conformance.models.client.remote_store import RemoteStore
from rocketmq_conformance.models.client.start import FIRST_OFFSET, LAST_OFFSET, StartModel
from rocketmq_conformance.models.client.switches import LITE_PULLS
from rocketmq_conformance.models.client.world import world
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.domain import Values
from rocketmq_conformance.suites.operation import Operation, Side, operation
from rocketmq_conformance.suites.remote_store import CommitElsewhere, Read, Update
from rocketmq_conformance.suites.start_values import (
    BOUND_FAULT,
    BOUND_FAULT_AT_TIME,
    CHECKED,
    FAULT,
    FAULT_AT_TIME,
    QUEUE,
    QUEUE_AT_TIME,
    TIMESTAMP,
    ZONE,
    Shape,
    show,
)
from rocketmq_conformance.suites.suite import Bound, Suite


def _offered(profile: Profile) -> bool:
    return LITE_PULLS.on(profile.client)


@operation(
    "Where does a lite pull consumer with this consumeFromWhere start? `checked` asks computePullFromWhereWithException, "
    "else (and where that is missing) computePullFromWhere; `fault` plays the query, `bound_fault` max and search.",
    weight=12,
    offered=_offered,
)
class Start(Operation):
    queue: Annotated[int, QUEUE]
    from_where: Annotated[str, Values(LAST_OFFSET, FIRST_OFFSET)]
    checked: Annotated[bool, CHECKED]
    fault: Annotated[str, FAULT]
    bound_fault: Annotated[str, BOUND_FAULT]


@operation(
    "Where does a lite pull consumer with CONSUME_FROM_TIMESTAMP and this consumeTimestamp start, on a machine of this "
    "time zone? `checked` and faults as in start.",
    weight=12,
    offered=_offered,
)
class StartAtTime(Operation):
    queue: Annotated[int, QUEUE_AT_TIME]
    timestamp: Annotated[str | None, TIMESTAMP]
    zone: Annotated[str, ZONE]
    checked: Annotated[bool, CHECKED]
    fault: Annotated[str, FAULT_AT_TIME]
    bound_fault: Annotated[str, BOUND_FAULT_AT_TIME]


def _bind(profile: Profile) -> Bound:
    model = StartModel(profile)
    store = model.store
    return Bound(
        RemoteStore(broker=world()),
        (model.lite_pull, model.lite_pull_at_time, store.update, store.read, model.shape, store.commit_elsewhere),
    )


SUITE = Suite(
    name="start-lite-pull",
    sentence="Where a lite pull consumer starts to read a queue that it has just been given.",
    side=Side.CLIENT,
    operations=(Start, StartAtTime, Update, Read, Shape, CommitElsewhere),
    bind=_bind,
    steps=40,
    show=show,
    rules=start.LITE_RULES,
)
