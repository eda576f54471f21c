"""The suite ``pushed-reset``: a consumer that a broker resets, what it does then, and when."""

from functools import partial
from typing import Annotated

from rocketmq_conformance.models.client.pushed_reset import PushedResetModel
from rocketmq_conformance.models.client.pushed_reset_stages import (
    COMMITS,
    CONSUMES,
    CPP,
    JAVA,
    LITE,
    NO_BODY,
    ORDERLY,
    PULL,
    PUSH,
    ROUND,
    PushedResetState,
)
from rocketmq_conformance.models.client.switches import LITE_PULL
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Answer
from rocketmq_conformance.suites.declare.domain import Values
from rocketmq_conformance.suites.declare.operation import Operation, Side, operation
from rocketmq_conformance.suites.declare.rule_limit import RuleLimit
from rocketmq_conformance.suites.declare.suite import BoundModel, Suite
from rocketmq_conformance.suites.declare.topologies import GROUP, LOST_TOPIC, ORDINARY, OTHER_GROUP, OTHER_TOPIC, TOPIC
from rocketmq_conformance.suites.declare.wording import OFFSET_OR_NONE, OFFSETS, fields, keyed, text, worded

#: Queues 0 to 3 are the consumer's, 5 is that of another member.
QUEUE = Values(0, 1, 2, 5, weights=(8, 4, 1, 1))
OFFSET = Values(3, 0, 8, weights=(3, 1, 2))
TOPIC_NAMES = Values(TOPIC, OTHER_TOPIC, LOST_TOPIC, weights=(12, 2, 1))
GROUPS = Values(GROUP, OTHER_GROUP, weights=(8, 1))
BODY = Values(JAVA, CPP, NO_BODY, weights=(10, 1, 1))


_BEGIN = keyed(lambda at: f"after {at} ms", OFFSETS)


def _none_pending(state: PushedResetState) -> bool:
    return not state.resets


def _may_reset(state: PushedResetState) -> bool:
    return len(state.resets) < 2


def _may_reset_many(state: PushedResetState) -> bool:
    # which queue comes first matters while one of them has to be waited for, and no release promises an order
    return _may_reset(state) and not state.busy


def _pulls(state: PushedResetState) -> bool:
    return state.kind in {PUSH, ORDERLY}


def _may_take(state: PushedResetState) -> bool:
    return _pulls(state) and not state.resets


@operation(
    "Another consumer takes the place of the one that runs, which is gone at once: answers the pull requests that "
    "begin.",
    weight=5,
    guard=_none_pending,
    sets=(-1,),
    words=OFFSETS,
)
class Start(Operation):
    kind: Annotated[str, Values(PUSH, ORDERLY, PULL, weights=(3, 9, 1))]


@operation(
    "A lite pull consumer takes the place of the one that runs.",
    weight=1,
    guard=_none_pending,
    offered=lambda profile: LITE_PULL.on(profile.client),
    words=OFFSETS,
)
class StartLite(Operation):
    pass


@operation(
    "A push consumer takes the place of the one that runs, and two of its rounds run at once: while the answer about "
    "what is stored of a queue is on its way to the first, the second one begins and ends. Before it another member "
    "may commit 9, or after it two messages of the queue be consumed. Answers the pull requests that begin, and the "
    "commits that reached the broker.",
    weight=3,
    guard=_none_pending,
    commits=True,
    words=fields({"begin": OFFSETS, "commits": OFFSETS}),
)
class StartTwice(Operation):
    queue: Annotated[int, Values(0, 1, 3)]
    meanwhile: Annotated[str, Values(ROUND, COMMITS, CONSUMES)]


@operation("The application sets the offset of a queue in memory, owned or not.", weight=4)
class Update(Operation):
    queue: Annotated[int, QUEUE]
    offset: Annotated[int, Values(5, 1, 11)]


@operation(
    "The broker resets one queue: the client's request processor is given RESET_CONSUMER_CLIENT_OFFSET, with a body as "
    "for Java clients, as for clients in C++, or without one. Answers the pull requests that begin, by the ms since "
    "then, and the commits that reached the broker.",
    weight=14,
    guard=_may_reset,
    commits=True,
    words=fields({"begin": _BEGIN, "commits": OFFSETS}),
)
class ResetQueue(Operation):
    queue: Annotated[int, QUEUE]
    offset: Annotated[int, OFFSET]
    topic: Annotated[str, TOPIC_NAMES]
    body: Annotated[str, BODY]


@operation(
    "The broker resets several queues, the first to an offset and each of the others to one higher than the one "
    "before; while no listener is busy. Answers what ResetQueue does.",
    weight=6,
    guard=_may_reset_many,
    commits=True,
    words=fields({"begin": _BEGIN, "commits": OFFSETS}),
)
class Reset(Operation):
    group: Annotated[str, GROUPS]
    queues: Annotated[tuple[int, ...], Values((0, 1), (1, 5), (0, 1, 2), (1, 0, 5), ())]
    offset: Annotated[int, OFFSET]
    topic: Annotated[str, TOPIC_NAMES]
    body: Annotated[str, BODY]


@operation(
    "Time passes, in ms: answers the pull requests that begin, by the ms since the time began to pass, and the commits "
    "that reached the broker.",
    weight=16,
    commits=True,
    words=fields({"begin": _BEGIN, "commits": OFFSETS}),
)
class Elapse(Operation):
    elapses: Annotated[int, Values(10_000, 1, 9_999, 500, 499, 1_000, 4_000, weights=(7, 3, 4, 2, 1, 1, 1))]


@operation(
    "A message arrives, and a listener takes it and is busy with it: answers whether it did.",
    weight=14,
    guard=_may_take,
)
class Take(Operation):
    queue: Annotated[int, Values(0, 1, weights=(3, 1))]
    offset: Annotated[int, Values(6, 2, 10)]


@operation(
    "The listener of a queue is done with its message: answers the offset that memory then holds of the queue, -1 for "
    "none, the pull requests that begin then, and the commits that reached the broker.",
    weight=5,
    guard=_pulls,
    commits=True,
    words=fields({"offset in memory": OFFSET_OR_NONE, "begin": _BEGIN, "commits": OFFSETS}),
)
class Finish(Operation):
    queue: Annotated[int, Values(0, 1, weights=(3, 1))]


@operation("The pull loop comes to a queue: answers the offset that it asks for, if it asks.", weight=6, guard=_pulls)
class Pull(Operation):
    queue: Annotated[int, Values(0, 1, 2)]


@operation("The timer that persists offsets runs: answers the commits.", weight=4, guard=_pulls, effect=True)
class Persist(Operation):
    pass


@operation(
    "A broker asks the client for the state of a consumer (GET_CONSUMER_STATUS): answers its offsets, as sorted pairs "
    "of a queue and an offset. The topic may be blank.",
    weight=5,
    sets=(-1,),
    words=OFFSETS,
)
class Status(Operation):
    group: Annotated[str, GROUPS]
    topic: Annotated[str, Values(TOPIC, "", OTHER_TOPIC, LOST_TOPIC)]


@operation(
    "A broker asks the client for the running information of a consumer. Answers of each queue its number, its offset "
    "(-1: none), whether its process queue is locked, and whether it is dropped.",
    weight=5,
    sets=(-1,),
    words=keyed(
        lambda queue: f"queue {queue}",
        lambda offset, locked, dropped: f"offset {OFFSET_OR_NONE(offset)}, locked {locked}, dropped {dropped}",
        size=4,
    ),
)
class RunningInfo(Operation):
    group: Annotated[str, GROUPS]


def _bind(topology: Topology, profile: Profile) -> BoundModel:
    model = PushedResetModel(profile, topology)

    def start_lite(state: PushedResetState) -> Answer[PushedResetState]:
        return model.start(state, LITE)

    return BoundModel(
        model.initial(),
        {
            Start: model.start,
            StartLite: start_lite,
            StartTwice: model.start_twice,
            Update: model.update,
            ResetQueue: model.reset_queue,
            Reset: model.reset,
            Elapse: model.elapse,
            Take: model.take,
            Finish: model.finish,
            Pull: model.pull,
            Persist: model.persist,
            Status: model.status,
            RunningInfo: model.running_info,
        },
    )


def _show(state: PushedResetState) -> str:
    queues = [
        f"{queue}{' dropped' if owned.dropped else ''}{'' if owned.locked else ' unlocked'} from {owned.offset}"
        for queue, owned in sorted(state.table.items())
    ]
    return (
        f"{state.kind} consumer{', paused' if state.paused else ''}, owns [{', '.join(queues)}], remembers "
        f"{dict(state.memory)}, busy with {sorted(state.busy)}; stored {dict(state.stored)}; resets "
        f"[{text({f'until {one.due}': text(worded(OFFSETS, one.offsets)) for one in state.resets})}], clock {state.now}"
    )


SUITE = Suite(
    name="pushed-reset",
    sentence="A consumer that a broker resets: what it drops and commits, when it goes on, and what it says about it.",
    side=Side.CLIENT,
    bind=partial(_bind, ORDINARY),
    steps=40,
    show=_show,
    beginning="A push consumer with a concurrent listener and CONSUME_FROM_FIRST_OFFSET, to which the group's queues "
    "0, 1, 2 and 3 belong.",
    limits=(
        RuleLimit(
            rules=("INFO-OFFSET",),
            client="up to 5.1.4",
            because="from 5.2.0 on memory has the offset of every owned queue",
        ),
    ),
    rules=(
        "RST-PUSH",
        "RST-RESUME",
        "RST-WAIT",
        "RST-LISTENER",
        "RST-UNLOCK",
        "RST-TWICE",
        "RST-PAUSE",
        "RST-QUEUE",
        "RST-OTHERS",
        "RST-BODY",
        "RST-RESULT",
        "RST-STATUS",
        "INFO-QUEUES",
        "INFO-OFFSET",
        "INFO-LITE",
        "INFO-OTHERS",
        "REB-TWICE",
        "REB-TWICE-LATE",
        "REB-BEGIN-1",
        "START-PUSH-1",
        "OFF-UPD-1",
        "OFF-R-PALL",
        "REB-PERSIST-1",
        "OFF-R-CLONE",
        "PULL-PRE-DROP",
        "PULL-PRE-LOCK",
        "CONS-DROP",
    ),
)
