"""The suite ``identity``: client ids, the clients that consumers share, the first timestamp, and offset files."""

from functools import partial
from typing import Annotated

from rocketmq_conformance.models.client.identity import (
    BROADCASTING,
    CLUSTERING,
    DEFAULT,
    LITE,
    MODES,
    PULL,
    PUSH,
    ZONES,
    IdentityModel,
    IdentityState,
)
from rocketmq_conformance.models.client.switches import LITE_PULL, STREAMS
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.domain import Values
from rocketmq_conformance.suites.declare.operation import Operation, Side, arguments, operation
from rocketmq_conformance.suites.declare.suite import BoundModel, Suite
from rocketmq_conformance.suites.declare.topologies import GROUP, ORDINARY, OTHER_GROUP
from rocketmq_conformance.suites.declare.wording import bare, keyed, listed

_CONSUMER = Values(*range(len(MODES)))
_ANOTHER = " One that runs in its place is shut down."


@arguments
class _OfConsumer(Operation):
    consumer: Annotated[int, _CONSUMER]


@arguments
class _Made(_OfConsumer):
    group: Annotated[str, Values(GROUP, OTHER_GROUP, weights=(3, 1))]
    mode: Annotated[str, Values(CLUSTERING, BROADCASTING, weights=(2, 3))]


@operation(
    "The process is gone, and another one begins: with two push consumers of group G, broadcasting and not "
    "started; without rocketmq.client.name; with the folder of offset files set by its property, or "
    "unset (an empty text).",
    weight=3,
)
class BeginProcess(Operation):
    folder: Annotated[str, Values("", "SET")]


@operation("The property rocketmq.client.name is set, or unset (null).", weight=2)
class NameClients(Operation):
    name: Annotated[str | None, Values(None, "blue", DEFAULT, "")]


@operation(
    "The property of the offset files' folder changes, if a broadcasting consumer was started in this process.",
    weight=1,
)
class MoveFolder(Operation):
    folder: Annotated[str, Values("MOVED")]


@operation("The process is in another time zone.", weight=2)
class SetZone(Operation):
    zone: Annotated[str, Values(*ZONES)]


@operation(
    "Ten minutes pass. No timer of a consumer depends on them: on a clock that cannot be set, add them to the age of "
    "what was made before.",
    weight=1,
)
class Later(Operation):
    pass


@operation("Make a push consumer, with a listener and a topic." + _ANOTHER, weight=4)
class MakePush(_Made):
    pass


@operation("Make a pull consumer." + _ANOTHER, weight=2)
class MakePull(_Made):
    pass


@operation("Make a lite pull consumer." + _ANOTHER, weight=8, offered=lambda profile: LITE_PULL.on(profile.client))
class MakeLitePull(_Made):
    pass


@operation("Give the consumer a client address.", weight=1)
class SetAddress(_OfConsumer):
    address: Annotated[str, Values("10.0.0.7", "10.0.0.8")]


@operation("Name the consumer's instance.", weight=5)
class SetInstance(_OfConsumer):
    name: Annotated[str, Values("blue", DEFAULT, "", "default", weights=(3, 2, 1, 1))]


@operation("Name the consumer's unit.", weight=2)
class SetUnit(_OfConsumer):
    unit: Annotated[str | None, Values("east", None, "", " ", weights=(2, 1, 1, 1))]


@operation("Ask for the request type STREAM, or do not.", weight=1, offered=lambda profile: STREAMS.on(profile.client))
class SetStream(_OfConsumer):
    stream: Annotated[bool, Values(True, False)]


@operation("Give the consumer a timestamp to start at; of a consumer that has none: nothing.", weight=2)
class SetTimestamp(_OfConsumer):
    timestamp: Annotated[str | None, Values("20240101001500", "yesterday", None)]


@operation("Start the consumer.", weight=16)
class Start(_OfConsumer):
    pass


@operation("Shut the consumer down.", weight=4)
class Shutdown(_OfConsumer):
    pass


@operation(
    "The client id by the consumer's configuration. Of what the machine chooses, write ADDRESS for its address, PID "
    "for the number of the process, and N for a number that no other start has.",
    weight=6,
)
class TellId(_OfConsumer):
    pass


@operation(
    "The clients of the process, by what their heartbeats say: sorted pairs of a client id, written as TellId writes "
    "it, and sorted consumer groups.",
    weight=4,
    sets=(-1,),
    words=keyed(bare, listed()),
)
class ListClients(Operation):
    pass


@operation(
    "The consumer's timestamp: how many seconds ago that is, read now in the zone of the process; the text itself, "
    "when it is no time, or not one of the last day; null of a consumer that has none.",
    weight=5,
)
class ReadTimestamp(_OfConsumer):
    pass


@operation(
    "Keep an offset of queue 0, and persist it. Answers the offset file that was written, with its folder as HOME/… "
    "(in the user's home), SET or MOVED and the client id as TellId writes it; null when none was, or when the "
    "consumer does not run.",
    weight=5,
)
class Save(_OfConsumer):
    offset: Annotated[int, Values(7, 8, 9)]


@operation("The offset of queue 0 in memory, or -1; null when the consumer does not run.", weight=3)
class ReadOffset(_OfConsumer):
    pass


def _bind(topology: Topology, profile: Profile) -> BoundModel:
    model = IdentityModel(profile, topology)
    return BoundModel(
        model.initial(),
        {
            BeginProcess: model.begin_process,
            NameClients: model.name_clients,
            MoveFolder: model.move_folder,
            SetZone: model.set_zone,
            Later: model.later,
            MakePush: partial(model.make, PUSH),
            MakePull: partial(model.make, PULL),
            MakeLitePull: partial(model.make, LITE),
            SetAddress: model.set_address,
            SetInstance: model.set_instance,
            SetUnit: model.set_unit,
            SetStream: model.set_stream,
            SetTimestamp: model.set_timestamp,
            Start: model.start,
            Shutdown: model.shutdown,
            TellId: model.tell_id,
            ListClients: model.list_clients,
            ReadTimestamp: model.read_timestamp,
            Save: model.save,
            ReadOffset: model.read_offset,
        },
    )


def show(state: IdentityState) -> str:
    """The consumers, and the offset files."""
    consumers = [f"{one.kind} {one.mode} {one.group} {one.instance} {one.status}" for one in state.consumers]
    return f"consumers {consumers}, files {dict(state.files)}, {state.zone}"


SUITE = Suite(
    name="identity",
    sentence="Who a consumer is: its client id, the client that it shares, its first timestamp, and its offset file.",
    side=Side.CLIENT,
    bind=partial(_bind, ORDINARY),
    steps=40,
    cases=200,  # a start of a real client takes milliseconds, and a case has many
    show=show,
    beginning="Two push consumers of group G, broadcasting and not started; no property is set, and the zone is UTC.",
    rules=(
        "CID-PARTS",
        "CID-STREAM",
        "CID-NAME",
        "CID-PID",
        "CID-SHARE",
        "CID-TAKEN",
        "CID-ONCE",
        "START-TS-DEFAULT",
        "START-TS-CHECK",
        "OFF-L-DIR",
        "OFF-L-PATH",
        "OFF-L-KEPT",
    ),
)
