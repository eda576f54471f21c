"""The suite ``start-broadcast``: the offset at which a broadcasting consumer starts a queue."""

from functools import partial
from typing import Annotated

from rocketmq_conformance.models.client.local_store import BACKUP, MAIN
from rocketmq_conformance.models.client.start_broadcast import (
    StartBroadcastModel,
    StartBroadcastState,
    initial_state,
)
from rocketmq_conformance.models.client.switches import LITE_PULL
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.domain import Subset, Values
from rocketmq_conformance.suites.declare.operation import Operation, Side, arguments, operation
from rocketmq_conformance.suites.declare.rule_limit import RuleLimit
from rocketmq_conformance.suites.declare.suite import BoundModel, Suite
from rocketmq_conformance.suites.declare.topologies import LOST_QUEUE, ORDINARY
from rocketmq_conformance.suites.values import start as values

OFFSET = Values(0, 1, 6, 12, 100)


def _has_lite_pull(profile: Profile) -> bool:
    return LITE_PULL.on(profile.client)


@operation("A broadcasting push consumer begins, and loads its file; what was before is gone.", weight=4)
class BeginPush(Operation):
    pass


@operation(
    "A broadcasting lite pull consumer begins, and loads its file; what was before is gone.",
    weight=4,
    offered=_has_lite_pull,
)
class BeginLitePull(Operation):
    pass


@arguments
class _WhereArguments(values.WhereArguments):
    where: Annotated[str, values.LITE_WHERE]


@operation(
    "Compute where to start (4.6.0 has no `where` for lite pull): `fault` is how the broker plays a query, which "
    "should not come, `bound_fault` how it plays max and search.",
    weight=8,
)
class Start(_WhereArguments):
    pass


@operation("Compute where to start, and report what fails.", weight=6, offered=values.checked)
class StartChecked(_WhereArguments):
    pass


@operation("Start at a time: `timestamp` is read in time zone `zone`.", weight=3)
class StartAtTime(values.TimeArguments):
    pass


@operation("Update the offset of a queue in memory.", weight=6)
class Update(Operation):
    queue: Annotated[int, values.QUEUE]
    offset: Annotated[int, OFFSET]
    increase_only: Annotated[bool, Values(False, True)]


@operation("Forget the offset of a queue.", weight=3)
class Remove(Operation):
    queue: Annotated[int, values.QUEUE]


@operation("Read the offset of a queue; `fault` is how the broker plays a query, which should not come.", weight=3)
class Read(values.Read):
    pass


@operation("Persist a set of queues to the file.", weight=5)
class PersistAll(Operation):
    queues: Annotated[tuple[int, ...], Subset((0, 1, 2, 3, LOST_QUEUE))]


@operation(
    "Delete or empty the file offsets.json (main) or offsets.json.bak (backup). The adapter does this itself, in "
    "<directory>/<client id>/<group>.",
    weight=2,
)
class Damage(Operation):
    which: Annotated[str, Values(MAIN, BACKUP, weights=(2, 1))]
    how: Annotated[str, Values("delete", "empty")]


def _bind(topology: Topology, profile: Profile) -> BoundModel:
    model = StartBroadcastModel(profile, topology)
    return BoundModel(
        initial_state(topology),
        {
            BeginPush: model.begin_push,
            BeginLitePull: model.begin_lite_pull,
            Start: partial(model.begins_at, False),
            StartChecked: partial(model.begins_at, True),
            StartAtTime: partial(model.begins_at_time, False),
            Update: model.update,
            Remove: model.remove,
            Read: model.read,
            PersistAll: model.persist_all,
            Damage: model.damage,
            values.Shape: model.shape,
            values.CommitElsewhere: model.commit_elsewhere,
        },
    )


def _show(state: StartBroadcastState) -> str:
    _, store, broker = state
    main, backup = (file if isinstance(file, str) else str(dict(file)) for file in (store.main, store.backup))
    logs = {f"{topic}/{queue}": f"{log.min}..{log.max}" for (topic, queue), log in broker.logs.items()}
    kind = "lite pull" if state.lite else "push"
    return f"{kind}, memory {dict(store.memory)}, file {main}, backup {backup}, queues {logs}"


SUITE = Suite(
    name="start-broadcast",
    sentence="Where a broadcasting consumer starts to pull: at the offset in its file.",
    side=Side.CLIENT,
    bind=partial(_bind, ORDINARY),
    steps=40,
    show=_show,
    rules=(
        "START-BC-1",
        "REB-BC-STORE",
        "START-PUSH-1",
        "START-PUSH-ERROR",
        "START-LITE-0",
        "START-LITE-1",
        "START-LITE-MAX",
        "START-CHECKED",
        "START-TS-1",
        "API-ADM-1",
        "OFF-UPD-1",
        "OFF-L-PATH",
        "OFF-L-SAVE",
        "OFF-L-LOAD",
        "OFF-L-READ",
        "OFF-L-PALL",
        "OFF-L-REM",
        "BQ-STORE-MAX",
        "BQ-STORE-MIN",
        "BQ-UPDATE-2",
    ),
    limits=(
        RuleLimit(
            rules=("START-LITE-MAX",),
            client="4.9.0, 5.0.0-PREVIEW",
            because="the checked variant, which shows it, is there from 4.9.0 on",
        ),
    ),
)
