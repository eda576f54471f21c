"""The suite ``remote-store``: an offset store against a broker that answers, refuses and fails."""

from functools import partial
from typing import Annotated

from rocketmq_conformance.models.client.initial_broker import initial_broker as initial_broker
from rocketmq_conformance.models.client.remote_store import RemoteStore, RemoteStoreModel
from rocketmq_conformance.models.client.switches import FREEZES
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.domain import Fault, Requests, Subset, Values
from rocketmq_conformance.suites.declare.operation import Operation, Side, operation
from rocketmq_conformance.suites.declare.rule_limit import RuleLimit
from rocketmq_conformance.suites.declare.suite import BoundModel, Suite
from rocketmq_conformance.suites.declare.topologies import ORDINARY, OTHER_TOPIC, TOPIC
from rocketmq_conformance.suites.declare.wording import OFFSETS
from rocketmq_conformance.suites.values import environment
from rocketmq_conformance.suites.values.client import ANY_QUEUE, FAULT, OFFSET, QUEUE, READ_KIND, ROUTED

_FLAG = Values(False, True)


@operation("Update the offset of a queue in memory.", weight=6)
class Update(Operation):
    queue: Annotated[int, ANY_QUEUE]
    offset: Annotated[int, OFFSET]
    increase_only: Annotated[bool, _FLAG]


@operation("Set and freeze the offset of a queue.", offered=lambda profile: FREEZES.on(profile.client))
class Freeze(Operation):
    queue: Annotated[int, ANY_QUEUE]
    offset: Annotated[int, OFFSET]


@operation("Read the offset of a queue; `fault` is how the broker plays the query.", weight=8)
class Read(Operation):
    queue: Annotated[int, ANY_QUEUE]
    kind: Annotated[str, READ_KIND]
    fault: Annotated[str, FAULT]


@operation("Persist one queue: answers the commits that reached the broker.", weight=2, effect=True)
class Persist(Operation):
    queue: Annotated[int, QUEUE]


@operation("Persist a set of queues: answers the commits that reached the broker.", weight=3, effect=True)
class PersistAll(Operation):
    queues: Annotated[tuple[int, ...], Subset((0, 1, 2, 3))]


@operation("Forget the offset of a queue.", weight=2)
class Remove(Operation):
    queue: Annotated[int, QUEUE]


@operation(
    "Copy the entries of a topic; blank means all.",
    weight=2,
    sets=(-1,),
    words=OFFSETS,
)
class Clone(Operation):
    topic: Annotated[str, Values(TOPIC, "", OTHER_TOPIC)]


@operation("Commit an offset straight to the broker: answers the commits that reached it.", weight=2, effect=True)
class Commit(Operation):
    queue: Annotated[int, QUEUE]
    offset: Annotated[int, OFFSET]
    one_way: Annotated[bool, _FLAG]
    fault: Annotated[
        str, Fault(Requests.OFFSETS, "answer", "SYSTEM_BUSY", "TOPIC_NOT_EXIST", "silent", weights=(6, 1, 1, 1))
    ]


@operation("Another member of the group commits.", side=Side.WORLD, weight=3)
class CommitElsewhere(environment.CommitElsewhere):
    queue: Annotated[int, ROUTED]
    offset: Annotated[int, OFFSET]


def bind(topology: Topology, profile: Profile) -> BoundModel:
    """The model on a topology, for a profile."""
    model = RemoteStoreModel(profile, topology)
    return BoundModel(
        RemoteStore(broker=initial_broker(topology)),
        {
            Update: model.update,
            Freeze: model.freeze,
            Read: model.read,
            Persist: model.persist,
            PersistAll: model.persist_all,
            Remove: model.remove,
            Clone: model.clone,
            Commit: model.commit,
            CommitElsewhere: model.commit_elsewhere,
        },
    )


def _show(state: RemoteStore) -> str:
    stored = {f"{topic}/{queue}": offset for (_, topic, queue), offset in state.broker.stored.items()}
    return f"memory {dict(state.memory)}, frozen {sorted(state.frozen)}, broker {stored}"


SUITE = Suite(
    name="remote-store",
    sentence="A consumer's offset store against a broker that answers, refuses and fails.",
    side=Side.CLIENT,
    bind=partial(bind, ORDINARY),
    steps=40,
    show=_show,
    rules=(
        "OFF-UPD-1",
        "OFF-FRZ-1",
        "OFF-VAL-1",
        "OFF-R-CLONE",
        "OFF-R-READ",
        "OFF-R-READ-ERROR",
        "API-QCO-1",
        "OFF-R-FETCH",
        "OFF-R-PALL",
        "OFF-R-P",
        "OFF-R-REM",
        "OFF-R-UPD",
        "BQ-QUERY-1",
        "BQ-UPDATE-2",
    ),
    limits=(
        RuleLimit(
            rules=("OFF-R-FETCH",),
            broker="5.0.0-ALPHA+",
            because="older brokers do not look at setZeroIfNotFound",
        ),
    ),
)
