"""The suite ``consume-orderly``: an orderly listener whose runs begin by steps of the plan."""

from functools import partial
from typing import Annotated

from rocketmq_conformance.models.client.consume import OWNED
from rocketmq_conformance.models.client.consume_orderly import (
    CALM,
    CLEARS,
    COMMIT,
    LOSES,
    NOTHING,
    RAISES,
    ROLLBACK,
    SUCCESS,
    SUSPEND,
    ConsumeOrderlyModel,
    ConsumeOrderlyState,
)
from rocketmq_conformance.models.client.member import BROADCASTING, CLUSTERING
from rocketmq_conformance.models.client.send_back import BACK_FAULTS
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.domain import Duration, Fault, Requests, Values
from rocketmq_conformance.suites.declare.operation import Operation, Side, operation
from rocketmq_conformance.suites.declare.suite import BoundModel, Suite
from rocketmq_conformance.suites.declare.topologies import ORDINARY
from rocketmq_conformance.suites.declare.wording import listed, numbers
from rocketmq_conformance.suites.values.words import CONSUMED

QUEUE = Values(*OWNED, weights=(4, 1, 2))
#: The messages of a pull: in order, with gaps, again, backwards, twice.
PULLED = Values(
    *((0, 1, 2), (3, 4, 5, 6), (0,), (3,), (2, 3), (10, 12, 15), (1, 0), (4, 4)),
    weights=(3, 3, 1, 1, 2, 2, 1, 1),
)
_STATUSES = (SUCCESS, SUSPEND, COMMIT, ROLLBACK, NOTHING, RAISES)


@operation("A consumer begins: its message model, most tries (-1: it does not say), and messages of a batch.", weight=2)
class Begin(Operation):
    mode: Annotated[str, Values(CLUSTERING, BROADCASTING, weights=(3, 1))]
    max_times: Annotated[int, Values(-1, 2, 0, weights=(1, 3, 1))]
    batch: Annotated[int, Values(2, 1, 3, 32, weights=(3, 2, 2, 1))]


@operation(
    "A pull brings messages of a queue with bodies of `size` bytes, tried `times` before. Answers whether a run is to "
    "begin, then the look of the process queue: messages, bytes (null: not counted), span of offsets, whether any is "
    "there.",
    weight=10,
    answer={"starts": (), "messages": (), "bytes": (), "span": (), "any left": ()},
    unsaid=("starts",),
    idle=("starts",),
)
class Put(Operation):
    queue: Annotated[int, QUEUE]
    offsets: Annotated[tuple[int, ...], PULLED]
    size: Annotated[int, Values(10, 1, 0, weights=(7, 3, 1))]
    times: Annotated[int, Values(0, 1, 2, weights=(3, 1, 2))]


@operation(
    "The run that waits at a place, else the last one, begins: the listener ends the first batch with one status and "
    "the others with another, commits automatically or not, and wants to wait `suspension` ms (-1: it does not say); "
    "`meanwhile` is what happens while it has the first batch, `back_fault` how the broker plays messages that come "
    "back. Answers the offsets of each batch that it saw (null: the queue was dropped), the offset in memory (-1: "
    "none), the look of the process queue, and what was sent to the retry topic.",
    weight=10,
    commits=True,
    answer={
        "given": (),
        "offset in memory": (),
        "messages": (),
        "bytes": (),
        "span": (),
        "any left": (),
        "sent back": (),
    },
    words={**CONSUMED, "given": listed(numbers)},
)
class Consume(Operation):
    at: Annotated[int, Values(0, 1, weights=(3, 1))]
    first: Annotated[str, Values(*_STATUSES, weights=(5, 4, 3, 3, 1, 1))]
    then: Annotated[str, Values(*_STATUSES, weights=(5, 4, 3, 3, 1, 1))]
    automatic: Annotated[bool, Values(True, False, weights=(3, 2))]
    suspension: Annotated[int, Values(-1, 0, 5_000, 60_000, weights=(3, 1, 1, 1))]
    back_fault: Annotated[
        str, Fault(Requests.SEND_BACK, *(fault for fault in BACK_FAULTS if fault != "copy"), weights=(4, 1, 2))
    ]
    meanwhile: Annotated[str, Values(CALM, LOSES, CLEARS, weights=(16, 1, 1))]


@operation("Time passes, in ms. Answers how many runs are to begin.", weight=7)
class Tick(Operation):
    millis: Annotated[int, Duration(1_000, 9, 10, 999, 5_000, 30_000, weights=(4, 1, 1, 1, 2, 4))]


@operation(
    "The executor of listeners takes so many runs more, and refuses those after them (null: it takes all).", weight=2
)
class Fill(Operation):
    room: Annotated[int | None, Values(None, 0, 1, weights=(3, 2, 2))]


@operation("A queue is lost and won again: its process queue is dropped, and a new one made.", weight=1)
class Drop(Operation):
    queue: Annotated[int, QUEUE]


@operation("The messages of a queue are cleared for a reset. Answers the look of the process queue.", weight=1)
class Clear(Operation):
    queue: Annotated[int, QUEUE]


@operation("An application sets the offset of a queue in memory.", weight=1)
class Update(Operation):
    queue: Annotated[int, QUEUE]
    offset: Annotated[int, Values(0, 3, 30)]


def _bind(topology: Topology, profile: Profile) -> BoundModel:
    model = ConsumeOrderlyModel(profile, topology)
    return BoundModel(
        ConsumeOrderlyState(),
        {
            Begin: model.begin,
            Put: model.put,
            Consume: model.consume,
            Tick: model.tick,
            Fill: model.fill,
            Drop: model.drop,
            Clear: model.clear,
            Update: model.update,
        },
    )


def _show(state: ConsumeOrderlyState) -> str:
    queues = []
    for queue, number in state.owned.items():
        held = state.cached[number]
        queues.append(
            f"{queue}: {sorted(held.tree)}, aside {sorted(held.taken)}, {held.total} messages, {held.size} bytes, "
            f"{'busy' if held.consuming else 'idle'}"
        )
    runs = [
        ("dropped " if state.cached[number].dropped else "") + str(state.cached[number].queue) for number in state.runs
    ]
    later = [f"at {due} queue {state.cached[number].queue}" for due, number in state.later]
    mode = BROADCASTING if state.broadcasts else CLUSTERING
    return (
        f"{mode}, most tries {state.max_times}, batch {state.batch}; {'; '.join(queues)}; runs {runs}, later {later}, "
        f"memory {dict(state.memory)}, clock {state.now}, room {'for all' if state.room is None else state.room}"
    )


SUITE = Suite(
    name="consume-orderly",
    sentence="An orderly listener: batches in order, put back, sent on or committed, automatically or when it says so.",
    side=Side.CLIENT,
    bind=partial(_bind, ORDINARY),
    steps=50,
    show=_show,
    rules=(
        "PQ-1",
        "PQ-BODY",
        "PQ-3",
        "CONS-2",
        "CONS-2-AUTO",
        "CONS-2-MANUAL",
        "CONS-2-SUSPEND",
        "CONS-2-TIMES",
        "CONS-2-COPY",
        "CONS-2-COMMIT",
        "CONS-2-FULL",
        "CONS-DROP",
        "OFF-UPD-1",
    ),
)
