"""The suite ``rebalance``: a group of three members, whose rounds are steps of the plan."""

from functools import partial
from typing import Annotated

from rocketmq_conformance.models.client.group_state import (
    RebalanceState,
    initial_state,
    owners,
    unowned_messages,
)
from rocketmq_conformance.models.client.member import BROADCASTING, CLUSTERING, LATER_STRATEGIES, STRATEGIES
from rocketmq_conformance.models.client.rebalance import RebalanceModel
from rocketmq_conformance.models.client.start import FIRST, LAST, TIMESTAMP
from rocketmq_conformance.models.client.switches import NEARBY
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.domain import Duration, Fault, Requests, Values
from rocketmq_conformance.suites.declare.operation import Operation, Side, operation
from rocketmq_conformance.suites.declare.suite import BoundModel, Suite
from rocketmq_conformance.suites.declare.topologies import ORDINARY, OTHER_TOPIC, RETRY_TOPIC, TOPIC
from rocketmq_conformance.suites.values import environment
from rocketmq_conformance.suites.values import rebalance as rules
from rocketmq_conformance.suites.values.words import ASKED, ROUND

MEMBER = Values(*range(len(ORDINARY.clients)))
QUEUE = Values(0, 1, 2, 3, 5, 6, 7, 8, weights=(3, 3, 2, 2, 2, 1, 1, 1))
#: Queues that listeners are slow with.
SLOW = Values(0, 1)
OFFSET = Values(1, 5, 6, 12)
#: Lists that a broker may give: everybody, in any order and twice, some of them, none.
LISTS = Values(
    *((0, 1, 2), (2, 1, 0), (0, 1), (0, 2), (1, 2), (0,), (1,), (2,)),
    *((0, 0), (0, 0, 1), (0, 0, 0), (1, 0, 2, 0), ()),
    weights=(6, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1),
)
#: How a broker plays queries and commits, and max.
FAULT = Fault(Requests.OFFSETS, "answer", "QUERY_NOT_FOUND", "SYSTEM_BUSY", "silent", weights=(12, 3, 1, 1))
BOUND_FAULT = Fault(Requests.BOUNDS, "answer", "SYSTEM_BUSY", weights=(3, 1))


@operation(
    "A member rebalances: `list_fault` is how the broker plays the member list, `fault` how it plays queries and "
    "commits, `bound_fault` how it plays max. Answers the queues that it owns, the pull requests that begin (queue and "
    "offset), whether it calls itself balanced (null: it does not say), and the commits that reached the broker.",
    weight=18,
    commits=True,
    sets=(0, 1),
    answer={"owned": (), "begun": (), "balanced": ("REB-RET-1",), "commits": ()},
    unsaid=("balanced",),
    idle=("balanced",),
    words=ROUND,
)
class Rebalance(Operation):
    member: Annotated[int, MEMBER]
    list_fault: Annotated[
        str, Fault(Requests.MEMBERS, "answer", "SYSTEM_ERROR", "empty", "no-body", "silent", weights=(14, 1, 1, 1, 1))
    ]
    fault: Annotated[str, FAULT]
    bound_fault: Annotated[str, BOUND_FAULT]


@operation(
    "A member begins, a `twin` under the client id of the next one; what it was before is gone at once. Its timestamp "
    "is 20240301000000 (UTC), CONFIG has queues 1 and 2, and MACHINE_ROOM a room without brokers.",
)
class Join(Operation):
    member: Annotated[int, MEMBER]
    twin: Annotated[bool, Values(False, True, weights=(4, 1))]
    mode: Annotated[str, Values(CLUSTERING, BROADCASTING, weights=(1, 1))]
    where: Annotated[str, Values(LAST, FIRST, TIMESTAMP, weights=(2, 2, 1))]
    strategy: Annotated[str, Values(*STRATEGIES, weights=(4, 1, 1, 1))]


def _has_later_strategies(profile: Profile) -> bool:
    return NEARBY.on(profile.client)


@operation(
    "A member begins, with a strategy that the first releases do not have: CONSISTENT_HASH with 10 virtual nodes, or "
    "MACHINE_ROOM_NEARBY around AVG: a client's room is its id up to the `@`, a queue's is 10.0.0.1 when its id is even"
    " and 10.0.0.3 when it is odd.",
    offered=_has_later_strategies,
)
class JoinLaterStrategy(Join):
    strategy: Annotated[str, Values(*LATER_STRATEGIES)]


@operation("A member's process ends without a shutdown, and one that is set up like it begins.", weight=3)
class Restart(Operation):
    member: Annotated[int, MEMBER]


@operation("A member shuts down: answers the commits that reached the broker.", effect=True)
class Leave(Operation):
    member: Annotated[int, MEMBER]


@operation("A member's timer persists its offsets: answers the commits that arrived.", weight=4, effect=True)
class Persist(Operation):
    member: Annotated[int, MEMBER]


@operation("A member subscribes to a topic.", weight=1)
class Subscribe(Operation):
    member: Annotated[int, MEMBER]
    topic: Annotated[str, Values(TOPIC, OTHER_TOPIC)]


@operation("A member unsubscribes from a topic.", weight=1)
class Unsubscribe(Operation):
    member: Annotated[int, MEMBER]
    topic: Annotated[str, Values(TOPIC, OTHER_TOPIC)]


@operation("A member's timer asks the name server for the routes of its topics.", weight=3)
class Refresh(Operation):
    member: Annotated[int, MEMBER]


@operation(
    "A member's pull loop comes to a queue: answers the offset that it asks for, the offset that the pull carries, and "
    "whether its flag says to commit that; null when it does not ask.",
    weight=3,
    words=ASKED,
)
class Pull(Operation):
    member: Annotated[int, MEMBER]
    queue: Annotated[int, QUEUE]


@operation(
    "A member's listener takes messages of a queue and is done with them, and the next offset to consume is `offset`: "
    "answers what the offset table then holds of the queue, -1 for nothing.",
    weight=8,
)
class Consume(Operation):
    member: Annotated[int, MEMBER]
    queue: Annotated[int, QUEUE]
    offset: Annotated[int, OFFSET]


@operation("A member's listener takes messages of a queue: answers whether the member owns it.", weight=3)
class Take(Operation):
    member: Annotated[int, MEMBER]
    queue: Annotated[int, SLOW]


@operation(
    "The listener is done with what it took of a queue, and the next offset to consume is `offset`: answers what the "
    "offset table then holds of the queue, -1 for nothing.",
    weight=3,
)
class Finish(Operation):
    member: Annotated[int, MEMBER]
    queue: Annotated[int, SLOW]
    offset: Annotated[int, OFFSET]


@operation("An application sets the offset of a queue in a member's memory, owned or not.", weight=4)
class Update(Operation):
    member: Annotated[int, MEMBER]
    queue: Annotated[int, QUEUE]
    offset: Annotated[int, OFFSET]


@operation("Time passes, in ms: a round's 20 s, or more than a queue may go without a pull.", weight=3)
class Tick(Operation):
    millis: Annotated[int, Duration(20_000, 60_000, 130_000)]


@operation("The broker lists other members: their client ids, in this order.", side=Side.WORLD, weight=4)
class ListMembers(environment.ListMembers):
    members: Annotated[tuple[int, ...], LISTS]


@operation(
    "The route of a topic has so many readable queues, or as many as there are; -1: there is no route.",
    side=Side.WORLD,
    weight=3,
)
class Route(environment.Route):
    topic: Annotated[str, Values(TOPIC, OTHER_TOPIC, RETRY_TOPIC, weights=(2, 1, 1))]
    queues: Annotated[int, Values(5, 4, 2, 1, 0, -1)]


@operation("Another client commits for the group.", side=Side.WORLD, weight=1)
class CommitElsewhere(environment.CommitElsewhere):
    queue: Annotated[int, QUEUE]
    offset: Annotated[int, OFFSET]


def bind(topology: Topology, profile: Profile) -> BoundModel:
    """The model on a topology, for a profile."""
    model = RebalanceModel(profile, topology)
    return BoundModel(
        initial_state(topology),
        {
            Rebalance: model.rebalance,
            Join: model.join,
            JoinLaterStrategy: model.join,
            Restart: model.restart,
            Leave: model.leave,
            Persist: model.persist,
            Subscribe: model.subscribe,
            Unsubscribe: model.unsubscribe,
            Refresh: model.refresh,
            Pull: model.pull,
            Consume: model.consume,
            Take: model.take,
            Finish: model.finish,
            Update: model.update,
            Tick: model.tick,
            ListMembers: model.list_members,
            Route: model.route,
            CommitElsewhere: model.commit_elsewhere,
        },
    )


def show(topology: Topology, state: RebalanceState) -> str:
    """The state to a reader."""
    shown = [
        f"{number}: no member"
        if who is None
        else f"{number}: {who.client} owns {sorted(who.table)}, remembers {dict(who.memory)}"
        for number, who in enumerate(state.members)
    ]
    stored = {f"{topic}/{queue}": offset for (_, topic, queue), offset in state.broker.stored.items()}
    twice = sorted(queue for queue, members in owners(topology, state).items() if len(members) > 1)
    return (
        f"members {'; '.join(shown)}; listed {list(state.listed)}, routes {dict(state.routes)}, stored {stored}, "
        f"owned twice {twice}, messages without owner {unowned_messages(topology, state)}, clock {state.now}"
    )


SUITE = Suite(
    name="rebalance",
    sentence="A group of consumers: who owns which queue, where it goes on, and what is committed when a queue moves.",
    side=Side.CLIENT,
    bind=partial(bind, ORDINARY),
    steps=60,
    show=partial(show, ORDINARY),
    rules=(
        *rules.ROUND,
        "REB-CLU-CONFIG",
        *rules.PUSH,
        *rules.OFFSETS,
        "PULL-PRE-DROP",
        "PULL-COM-1",
        "PULL-COM-BC",
        "CONS-DROP",
        "BQ-UPDATE-2",
    ),
    limits=rules.LIMITS,
)
