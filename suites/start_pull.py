"""The suite ``start-pull``: where a pull consumer starts, which is 0 whatever is stored."""

from __future__ import annotations

from typing import Annotated

from rocketmq_conformance.models.client import start
from rocketmq_conformance.models.client.remote_store import RemoteStore
from rocketmq_conformance.models.client.start import StartModel
from rocketmq_conformance.models.client.world import world
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.operation import Operation, Side, operation
from rocketmq_conformance.suites.remote_store import CommitElsewhere, Read, Update
from rocketmq_conformance.suites.start_values import CHECKED, FAULT, QUEUE, Shape, show
from rocketmq_conformance.suites.suite import Bound, Suite


@operation(
    "Where does a pull consumer start? `checked` asks computePullFromWhereWithException, else (and where that is "
    "missing) computePullFromWhere; `fault` would play the query that nobody sends.",
    weight=12,
)
class Start(Operation):
    queue: Annotated[int, QUEUE]
    checked: Annotated[bool, CHECKED]
    fault: Annotated[str, FAULT]


def _bind(profile: Profile) -> Bound:
    model = StartModel(profile)
    store = model.store
    return Bound(
        RemoteStore(broker=world()), (model.pull, store.update, store.read, model.shape, store.commit_elsewhere)
    )


SUITE = Suite(
    name="start-pull",
    sentence="Where a pull consumer starts, which is 0 whatever is stored.",
    side=Side.CLIENT,
    operations=(Start, Update, Read, Shape, CommitElsewhere),
    bind=_bind,
    show=show,
    rules=start.PULL_RULES,
)
