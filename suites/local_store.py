"""The suite ``local-store``: an offset store on a file of its own, with restarts and damaged files."""

from functools import partial
from typing import Annotated

from rocketmq_conformance.models.client.local_store import BACKUP, DAMAGES, MAIN, LocalStore, LocalStoreModel
from rocketmq_conformance.models.client.plan_words import NO_QUEUE
from rocketmq_conformance.models.client.switches import FREEZES
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.domain import Subset, Values
from rocketmq_conformance.suites.declare.operation import Operation, Side, operation
from rocketmq_conformance.suites.declare.suite import BoundModel, Suite
from rocketmq_conformance.suites.declare.topologies import ORDINARY, OTHER_TOPIC, TOPIC
from rocketmq_conformance.suites.declare.wording import OFFSETS
from rocketmq_conformance.suites.values.client import OFFSET, READ_KIND

#: The local store asks no broker: every queue is like any other. Null now and then.
_QUEUE = Values(0, 1, 2, 3, NO_QUEUE, weights=(6, 4, 3, 2, 1))


@operation("Update the offset of a queue in memory.", weight=7)
class Update(Operation):
    queue: Annotated[int, _QUEUE]
    offset: Annotated[int, OFFSET]
    increase_only: Annotated[bool, Values(False, True)]


@operation("Set and freeze the offset of a queue.", weight=2, offered=lambda profile: FREEZES.on(profile.client))
class Freeze(Operation):
    queue: Annotated[int, _QUEUE]
    offset: Annotated[int, OFFSET]


@operation("Read the offset of a queue.", weight=8)
class Read(Operation):
    queue: Annotated[int, _QUEUE]
    kind: Annotated[str, READ_KIND]


@operation("Persist one queue to the file.", weight=3)
class Persist(Operation):
    queue: Annotated[int, _QUEUE]


@operation("Persist a set of queues to the file.", weight=4)
class PersistAll(Operation):
    queues: Annotated[tuple[int, ...], Subset((0, 1, 2, 3))]


@operation("Forget the offset of a queue.", weight=3)
class Remove(Operation):
    queue: Annotated[int, _QUEUE]


@operation(
    "Copy the entries of a topic; blank means all.",
    weight=3,
    sets=(-1,),
    words=OFFSETS,
)
class Clone(Operation):
    topic: Annotated[str, Values(TOPIC, "", OTHER_TOPIC)]


@operation("Make a new store on the same file and load it.", weight=3)
class Restart(Operation):
    pass


@operation(
    "Do to the file offsets.json (main) or offsets.json.bak (backup) what a crash or a full disk does: delete it, "
    "empty it, or cut its table off in the middle. The adapter does this itself, in <directory>/<client id>/<group>.",
    weight=3,
)
class Damage(Operation):
    which: Annotated[str, Values(MAIN, BACKUP, weights=(2, 1))]
    how: Annotated[str, Values(*DAMAGES)]


def bind(topology: Topology, profile: Profile) -> BoundModel:
    """The model on a topology, for a profile."""
    model = LocalStoreModel(profile, topology)
    return BoundModel(
        LocalStore(),
        {
            Update: model.update,
            Freeze: model.freeze,
            Read: model.read,
            Persist: model.persist,
            PersistAll: model.persist_all,
            Remove: model.remove,
            Clone: model.clone,
            Restart: model.restart,
            Damage: model.damage,
        },
    )


def _show(state: LocalStore) -> str:
    main, backup = (file if isinstance(file, str) else str(dict(file)) for file in (state.main, state.backup))
    return f"memory {dict(state.memory)}, frozen {sorted(state.frozen)}, file {main}, backup {backup}"


SUITE = Suite(
    name="local-store",
    sentence="A broadcasting consumer's offset store on its file, with restarts and damaged files.",
    side=Side.CLIENT,
    bind=partial(bind, ORDINARY),
    steps=40,
    show=_show,
    rules=(
        "OFF-L-PATH",
        "OFF-L-SAVE",
        "OFF-L-LOAD",
        "OFF-L-INT",
        "OFF-L-READ",
        "OFF-L-PALL",
        "OFF-L-P",
        "OFF-L-REM",
        "OFF-UPD-1",
        "OFF-FRZ-1",
        "OFF-VAL-1",
        "OFF-R-CLONE",
    ),
)
