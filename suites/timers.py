"""The suite ``timers``: what a client does by itself, and when, on the clock of the case."""

from functools import partial
from typing import Annotated, Any

from rocketmq_conformance.models.client.member import BROADCASTING, CLUSTERING
from rocketmq_conformance.models.client.switches import LITE_PULL
from rocketmq_conformance.models.client.timers import (
    BEAT_EVERY,
    ORDERLY,
    PERSIST_EVERY,
    PULL,
    PUSH,
    ROUTE_EVERY,
    TimersModel,
    TimersState,
)
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.domain import Values
from rocketmq_conformance.suites.declare.operation import Operation, Side, arguments, operation
from rocketmq_conformance.suites.declare.suite import BoundModel, Suite
from rocketmq_conformance.suites.declare.topologies import ORDINARY
from rocketmq_conformance.suites.declare.wording import bare, listed

_CONSUMER = Values(0, 1, weights=(2, 1))
_MODE = Values(CLUSTERING, BROADCASTING, weights=(3, 1))
_SENT = (
    " Answers what it sends and writes meanwhile, in order, as pairs: route with the sorted topics that the name "
    "server is asked for; heartbeat with the sorted groups; commit (of queue 0 of topic T) with group, offset and "
    "one-way flag; file with group and the queue's offset in the file, or -1; unlock with group and one-way flag; "
    "unregister with the group. A consumer that runs is not started again: nothing."
)


@arguments
class _OfConsumer(Operation):
    consumer: Annotated[int, _CONSUMER]


def _sent(one: Any) -> str:
    """What a consumer sends or writes: what it is, and what that names."""
    what, names = one
    ways = {True: "one way", False: "awaited"}
    return f"{what} ({', '.join(ways[name] if type(name) is bool else bare(name) for name in names)})"


@operation(
    "Consumers that are made from now on are configured with these intervals (ms): of persisting, of heartbeats, and "
    "of asking for routes.",
    weight=1,
)
class Configure(Operation):
    persist: Annotated[int, Values(PERSIST_EVERY, 1_000, 7_000)]
    heartbeat: Annotated[int, Values(BEAT_EVERY, 3_000)]
    route: Annotated[int, Values(ROUTE_EVERY, 4_000)]


@operation(
    "Make and start a consumer: the first one of group G, the second one of another group; both subscribe to topic T, "
    "and have the same client id." + _SENT,
    weight=6,
    words=listed(_sent),
)
class Start(_OfConsumer):
    kind: Annotated[str, Values(PUSH, ORDERLY, PULL, weights=(2, 2, 1))]
    mode: Annotated[str, _MODE]


@operation(
    "Make and start a lite pull consumer. Answers as Start does.",
    weight=2,
    offered=lambda profile: LITE_PULL.on(profile.client),
    words=listed(_sent),
)
class StartLite(_OfConsumer):
    mode: Annotated[str, _MODE]


@operation("The consumers that know the route of topic T rebalance: they take its queue 0.", weight=4)
class Rebalance(Operation):
    pass


@operation(
    "A consumer's offset of queue 0 of topic T changes in memory. Answers false, and does nothing, when it does not "
    "own the queue.",
    weight=4,
)
class Update(_OfConsumer):
    offset: Annotated[int, Values(7, 8, 9)]


@operation(
    "Time passes, in ms: answers what the timers sent and wrote, sorted, each as the ms since the time began to pass, "
    "and then as in the answer of Start; lock with the group.",
    weight=8,
    words=listed(lambda one: f"after {one[0]} ms {_sent(one[1:])}"),
)
class Elapse(Operation):
    elapses: Annotated[int, Values(10, 9, 989, 990, 1_000, 4_000, 5_000, 20_000, 31_000)]


@operation("Shut a consumer down. Answers as Start does.", weight=2, words=listed(_sent))
class Shutdown(_OfConsumer):
    pass


def _bind(topology: Topology, profile: Profile) -> BoundModel:
    model = TimersModel(profile, topology)
    return BoundModel(
        TimersState(),
        {
            Configure: model.configure,
            Start: model.start,
            StartLite: model.start_lite,
            Rebalance: model.rebalance,
            Update: model.update,
            Elapse: model.elapse,
            Shutdown: model.shutdown,
        },
    )


def _show(state: TimersState) -> str:
    runs = [f"{one.group} {one.kind} {one.mode} offset {one.offset}" for one in state.members if one is not None]
    began = "no client" if state.client is None else f"client since {state.client.began}"
    return f"clock {state.now}, {began}, consumers {runs}, stored {dict(state.stored)}, files {dict(state.files)}"


SUITE = Suite(
    name="timers",
    sentence="What a client does by itself: when it persists, sends heartbeats, asks for routes, and locks queues.",
    side=Side.CLIENT,
    bind=partial(_bind, ORDINARY),
    steps=30,
    cases=200,  # a start of a real client takes milliseconds, and a case has many
    show=_show,
    beginning="No consumer runs, nothing is stored, and all intervals are the standard ones.",
    rules=(
        "TIMER-PERSIST",
        "TIMER-BEAT",
        "TIMER-ROUTE",
        "TIMER-LOCK",
        "TIMER-SHARED",
        "TIMER-START",
        "TIMER-END",
    ),
)
