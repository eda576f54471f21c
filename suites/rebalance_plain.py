"""The suite ``rebalance-plain``: a group of three plain pull consumers."""

from functools import partial
from typing import Annotated, Any

from rocketmq_conformance.models.client.member import BROADCASTING, CLUSTERING
from rocketmq_conformance.models.client.rebalance_plain import RebalancePlainModel, RebalancePlainState, initial_state
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.domain import Duration, Fault, Requests, Values
from rocketmq_conformance.suites.declare.operation import Operation, Side, operation
from rocketmq_conformance.suites.declare.suite import BoundModel, Suite
from rocketmq_conformance.suites.declare.topologies import ORDINARY, OTHER_TOPIC, TOPIC
from rocketmq_conformance.suites.declare.wording import bare, keyed, numbers, text, worded
from rocketmq_conformance.suites.rebalance import Leave, ListMembers, Persist
from rocketmq_conformance.suites.values import environment
from rocketmq_conformance.suites.values import rebalance as rules
from rocketmq_conformance.suites.values.words import ROUND

MEMBER = Values(*range(len(ORDINARY.clients)), weights=(4, 1, 1))
TOPICS = Values(TOPIC, OTHER_TOPIC)
QUEUE = Values(5, 0, 6, 8, 2, weights=(3, 2, 2, 2, 1))


def _divided(queues: Any, owned: Any) -> str:
    """What a listener was called with."""
    return f"queues {text(worded(numbers, queues))}, of the member {text(worded(numbers, owned))}"


@operation(
    "A member rebalances: `list_fault` is how the broker plays the member list, `fault` how it plays queries and "
    "commits; `fails`: the listener fails whenever it is called. Answers the queues that the member owns, whether it "
    "calls itself balanced (null: it does not say), of each topic that the listener was called for: the topic, all its "
    "queues and those of the member; and the commits that reached the broker.",
    weight=16,
    commits=True,
    sets=(0, 2),
    answer={"owned": (), "balanced": ("REB-RET-1",), "calls": (), "commits": ()},
    unsaid=("balanced",),
    idle=("balanced",),
    words={**ROUND, "calls": keyed(bare, _divided, size=3)},
)
class Rebalance(Operation):
    member: Annotated[int, MEMBER]
    list_fault: Annotated[
        str, Fault(Requests.MEMBERS, "answer", "SYSTEM_ERROR", "empty", "silent", weights=(24, 1, 1, 1))
    ]
    fault: Annotated[str, Fault(Requests.OFFSETS, "answer", "SYSTEM_BUSY", weights=(4, 1))]
    fails: Annotated[bool, Values(False, True, weights=(4, 1))]


@operation("A member begins, a `twin` under the client id of the next one; what it was before is gone.", weight=2)
class Join(Operation):
    member: Annotated[int, MEMBER]
    twin: Annotated[bool, Values(False, True, weights=(4, 1))]
    mode: Annotated[str, Values(CLUSTERING, BROADCASTING, weights=(2, 1))]


@operation("The application pulls from a queue of a topic for the first time, which subscribes to the topic.", weight=4)
class Subscribe(Operation):
    member: Annotated[int, MEMBER]
    topic: Annotated[str, TOPICS]


@operation("A member unsubscribes from a topic, which stays registered.", weight=3)
class Unsubscribe(Operation):
    member: Annotated[int, MEMBER]
    topic: Annotated[str, TOPICS]


@operation(
    "A member's timer asks the name server for the routes of all registered topics, subscribed or not.", weight=5
)
class Refresh(Operation):
    member: Annotated[int, MEMBER]


@operation("The application sets the offset of a queue in a member's memory, owned or not.", weight=8)
class Update(Operation):
    member: Annotated[int, MEMBER]
    queue: Annotated[int, QUEUE]
    offset: Annotated[int, Values(1, 5, 6, 12)]


@operation("Time passes, in ms.", weight=2)
class Tick(Operation):
    millis: Annotated[int, Duration(20_000, 130_000)]


@operation(
    "The route of a topic has so many readable queues, or as many as there are; -1: there is no route.",
    side=Side.WORLD,
    weight=3,
)
class Route(environment.Route):
    topic: Annotated[str, TOPICS]
    queues: Annotated[int, Values(5, 2, 1, 0, -1)]


def _bind(topology: Topology, profile: Profile) -> BoundModel:
    model = RebalancePlainModel(profile, topology)
    group, of_group = model.group, model.of_group
    return BoundModel(
        initial_state(topology),
        {
            Rebalance: model.rebalance,
            Join: model.join,
            Leave: of_group(group.leave),
            Persist: of_group(group.persist),
            Subscribe: of_group(group.subscribe),
            Unsubscribe: of_group(group.unsubscribe),
            Refresh: model.refresh,
            Update: of_group(group.update),
            Tick: of_group(group.tick),
            ListMembers: of_group(group.list_members),
            Route: of_group(group.route),
        },
    )


def _show(state: RebalancePlainState) -> str:
    group = state.group
    shown = [
        f"{number}: no member"
        if who is None
        else f"{number}: {who.client} {who.mode} owns {sorted(who.table)}, remembers {dict(who.memory)}, subscribes to "
        f"{sorted(who.topics)}, knows {dict(who.seen)}, its client {dict(client)}"
        for number, (who, client) in enumerate(zip(group.members, state.clients, strict=True))
    ]
    return f"members {'; '.join(shown)}; listed {list(group.listed)}, routes {dict(group.routes)}, clock {group.now}"


SUITE = Suite(
    name="rebalance-plain",
    sentence="A group of plain pull consumers: what they own, whose listeners are called, and what is committed.",
    side=Side.CLIENT,
    bind=partial(_bind, ORDINARY),
    steps=60,
    show=_show,
    rules=(
        "REB-VAR-PLAIN",
        "REB-VAR-PLAIN-REM",
        "REB-BC-REM",
        "REB-VAR-PLAIN-MQC",
        "REB-VAR-PLAIN-NONE",
        "REB-VAR-PLAIN-ROUTE",
        *rules.ROUND,
        *rules.OFFSETS,
        "REB-SUB-1",
    ),
    limits=rules.LIMITS,
)
