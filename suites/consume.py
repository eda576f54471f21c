"""The suite ``consume``: a concurrent listener whose consume requests end in the order of the plan."""

from functools import partial
from typing import Annotated

from rocketmq_conformance.models.client.consume import (
    CALM,
    DURATIONS,
    IN_TIME,
    LATER,
    LOSES,
    NOTHING,
    OWNED,
    RAISES,
    SUCCESS,
    TIMES_OUT,
    ConsumeModel,
    ConsumeState,
)
from rocketmq_conformance.models.client.member import BROADCASTING, CLUSTERING
from rocketmq_conformance.models.client.send_back import BACK_FAULTS
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.domain import Duration, Fault, Requests, Values
from rocketmq_conformance.suites.declare.operation import Operation, Side, operation
from rocketmq_conformance.suites.declare.suite import BoundModel, Suite
from rocketmq_conformance.suites.declare.topologies import ORDINARY
from rocketmq_conformance.suites.declare.wording import numbers
from rocketmq_conformance.suites.values.words import CONSUMED

QUEUE = Values(*OWNED, weights=(3, 1, 1))
#: The messages of a pull: in order, with gaps, again, backwards, twice.
PULLED = Values(
    *((0, 1, 2), (3, 4, 5, 6), (0,), (3,), (2, 3), (10, 12, 15), (7, 8), (9,), (1, 0), (4, 4), (20, 21, 22, 23, 24)),
    weights=(3, 3, 1, 1, 2, 2, 2, 1, 1, 1, 1),
)
SIZE = Values(10, 1, 0, weights=(6, 3, 1))
TIMES = Values(0, 2, weights=(3, 1))
BACK = Fault(Requests.SEND_BACK, *BACK_FAULTS, weights=(8, 3, 2, 3))


@operation(
    "A consumer begins: its message model, most tries (-1: it does not say), and messages of a request.", weight=1
)
class Begin(Operation):
    mode: Annotated[str, Values(CLUSTERING, BROADCASTING, weights=(4, 1))]
    max_times: Annotated[int, Values(-1, 2)]
    batch: Annotated[int, Values(3, 1, 2, 32, weights=(3, 1, 2, 1))]


@operation(
    "A pull brings messages of a queue with bodies of `size` bytes, tried `times` before. Answers whether consumption "
    "is to be started, then the look of the process queue: messages, bytes (null: not counted), span of offsets, "
    "whether any is there.",
    weight=12,
    answer={"starts": (), "messages": (), "bytes": (), "span": (), "any left": ()},
    unsaid=("starts",),
    idle=("starts",),
)
class Put(Operation):
    queue: Annotated[int, QUEUE]
    offsets: Annotated[tuple[int, ...], PULLED]
    size: Annotated[int, SIZE]
    times: Annotated[int, TIMES]


@operation(
    "A listener takes the request that waits at a place, else the last one, and ends with a status, with the index of "
    "the last message that went well (null: it gives none) and the delay level of the others; `meanwhile` is what "
    "happens while it has the messages, `back_fault` how the broker plays messages that come back. Answers the offsets "
    "that it saw (null: it was not asked), the offset in memory (-1: none), the look of the process queue, and what "
    "was sent back.",
    weight=12,
    commits=True,
    lasts=lambda *args: DURATIONS.get(args[-1], 0),
    answer={
        "given": (),
        "offset in memory": (),
        "messages": (),
        "bytes": (),
        "span": (),
        "any left": (),
        "sent back": (),
    },
    words=CONSUMED,
)
class Consume(Operation):
    at: Annotated[int, Values(0, 1, 2, weights=(4, 2, 1))]
    status: Annotated[str, Values(SUCCESS, LATER, NOTHING, RAISES, weights=(8, 4, 1, 1))]
    ack: Annotated[int | None, Values(None, 0, 1, -1, 2, 7, -2, weights=(6, 3, 2, 2, 1, 1, 1))]
    level: Annotated[int, Values(0, 5, -1, weights=(3, 1, 1))]
    back_fault: Annotated[str, BACK]
    meanwhile: Annotated[str, Values(CALM, LOSES, TIMES_OUT, IN_TIME, weights=(13, 1, 3, 1))]


@operation(
    "The timer sends back messages of a queue that listeners have had for too long. Answers the look of the process "
    "queue, and what was sent back.",
    weight=3,
    commits=True,
    answer={"messages": (), "bytes": (), "span": (), "any left": (), "sent back": ()},
    words=CONSUMED,
)
class Clean(Operation):
    queue: Annotated[int, QUEUE]
    back_fault: Annotated[str, BACK]


@operation("Time passes, in ms. Answers how many requests wait.", weight=4)
class Tick(Operation):
    millis: Annotated[int, Duration(5_000, 2_500, 900_000, 960_000, weights=(3, 1, 1, 2))]


@operation(
    "The executor of listeners takes so many requests more, and refuses those after them (null: it takes all).",
    weight=2,
)
class Fill(Operation):
    room: Annotated[int | None, Values(None, 0, 1, 2, weights=(3, 2, 2, 1))]


@operation("A queue is lost and won again: its process queue is dropped, and a new one made.", weight=1)
class Drop(Operation):
    queue: Annotated[int, QUEUE]


@operation("An application sets the offset of a queue in memory.", weight=1)
class Update(Operation):
    queue: Annotated[int, QUEUE]
    offset: Annotated[int, Values(0, 3, 30)]


@operation(
    "Messages are removed from a process queue. Answers the offset to commit (-1: none), and the look of the process "
    "queue.",
    weight=1,
    answer={"offset to commit": (), "messages": (), "bytes": (), "span": (), "any left": ()},
    words=CONSUMED,
)
class Remove(Operation):
    queue: Annotated[int, QUEUE]
    offsets: Annotated[tuple[int, ...], Values((), (0,), (1, 2), (99,))]
    size: Annotated[int, SIZE]


def _bind(topology: Topology, profile: Profile) -> BoundModel:
    model = ConsumeModel(profile, topology)
    return BoundModel(
        ConsumeState(),
        {
            Begin: model.begin,
            Put: model.put,
            Consume: model.consume,
            Clean: model.clean,
            Tick: model.tick,
            Fill: model.fill,
            Drop: model.drop,
            Update: model.update,
            Remove: model.remove,
        },
    )


def _show(state: ConsumeState) -> str:
    queues = []
    for queue, number in state.owned.items():
        held = state.cached[number]
        queues.append(f"{queue}: {sorted(held.tree)}, {held.total} messages, {held.size} bytes, top {held.top}")
    waiting = [
        ("dropped " if state.cached[number].dropped else "")
        + f"{state.cached[number].queue}/{[message.offset for message in messages]}"
        for number, messages in state.requests
    ]
    later = [
        f"at {due} {'refused' if refused else 'kept'} {numbers(tuple(message.offset for message in messages))}"
        for due, (_, messages), refused in state.later
    ]
    room = "" if state.room is None else f", room for {state.room}"
    mode = BROADCASTING if state.broadcasts else CLUSTERING
    return (
        f"{mode}, most tries {state.max_times}, batch {state.batch}; {'; '.join(queues)}; waiting {waiting}, "
        f"later {later}, memory {dict(state.memory)}, clock {state.now}{room}"
    )


SUITE = Suite(
    name="consume",
    sentence="A concurrent listener: what is cached, sent back and committed when its requests end in any order.",
    side=Side.CLIENT,
    bind=partial(_bind, ORDINARY),
    steps=50,
    show=_show,
    rules=(
        "PQ-1",
        "PQ-BODY",
        "PQ-2",
        "PQ-SIZE",
        "CONS-BACK",
        "CONS-BACK-COPY",
        "CONS-BACK-BODY",
        "CONS-BACK-ORIGIN",
        "CONS-1",
        "CONS-1-SPLIT",
        "CONS-1-FULL",
        "CONS-1-ACK",
        "CONS-1-LATER",
        "CONS-1-BACK",
        "CONS-1-LOCAL",
        "CONS-1-GONE",
        "CONS-1-BROADCAST",
        "CONS-1-DROPPED",
        "CONS-DROP",
        "PQ-4",
        "PQ-4-COUNT",
        "PQ-4-BEGUN",
        "OFF-UPD-1",
    ),
)
