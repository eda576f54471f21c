"""The suite ``rebalance-broker``: a group of three members whose queues the broker assigns."""

from functools import partial
from typing import Annotated

from rocketmq_conformance.models.client.plan_words import ASSIGN_FAULTS
from rocketmq_conformance.models.client.rebalance_broker import (
    RebalanceBrokerModel,
    RebalanceBrokerState,
    initial_state,
)
from rocketmq_conformance.models.client.rebalance_broker_round import ODDITIES
from rocketmq_conformance.models.client.start import FIRST, LAST
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites import rebalance
from rocketmq_conformance.suites.declare.domain import Duration, Fault, Requests, Values
from rocketmq_conformance.suites.declare.operation import Operation, Side, operation
from rocketmq_conformance.suites.declare.rule_limit import RuleLimit
from rocketmq_conformance.suites.declare.suite import BoundModel, Suite
from rocketmq_conformance.suites.declare.topologies import NEXT_TOPIC, ORDINARY, OTHER_TOPIC, RETRY_TOPIC, TOPIC
from rocketmq_conformance.suites.declare.wording import OFFSETS, bare, fields, keyed, listed, numbers, plain, text
from rocketmq_conformance.suites.rebalance import CommitElsewhere, Leave, ListMembers, Persist, Refresh
from rocketmq_conformance.suites.values import environment
from rocketmq_conformance.suites.values import rebalance as rules
from rocketmq_conformance.suites.values.words import ASKED

MEMBER = Values(*range(len(ORDINARY.clients)), weights=(6, 2, 1))
#: Topics that a plan subscribes to.
TOPICS = Values(TOPIC, OTHER_TOPIC, NEXT_TOPIC, weights=(2, 1, 3))
QUEUE = Values(0, 1, 3, 5, 9, 10, 12, weights=(3, 2, 1, 1, 2, 2, 1))
OFFSET = Values(1, 5, 6, 12)


_POPPED = keyed(lambda topic, queue: f"{topic} queue {queue}", lambda *first: bare(*first), size=3, keys=2)
_ROUND = fields(
    {
        "pulled": numbers,
        "popped": listed(lambda one: f"{one[0]} queue {one[1]}"),
        "begun": OFFSETS,
        "pops begun": _POPPED,
        "balanced": plain,
        "commits and requests": OFFSETS,
    }
)


@operation(
    "A member rebalances: `list_fault` is how the broker plays the member list, `assign_fault` how it plays the "
    "assignment, `fault` how it plays queries and commits, `bound_fault` how it plays max. Answers the queues that it "
    "pulls, the queues that it pops (topic and queue id), the pull requests that begin (queue and offset), the pop "
    "requests that begin (topic, queue id, 0 for the first message and 1 for the last), whether it calls itself "
    "balanced (null: it does not say), and what reached the broker: commits (queue and offset), and behind them "
    "requests for assignments (topic, and how many).",
    weight=24,
    commits=True,
    sets=(0, 1, 2, 3),
    words=_ROUND,
)
class Rebalance(Operation):
    member: Annotated[int, MEMBER]
    list_fault: Annotated[str, Fault(Requests.MEMBERS, "answer", "SYSTEM_ERROR", weights=(14, 1))]
    assign_fault: Annotated[str, Fault(Requests.ASSIGNMENTS, *ASSIGN_FAULTS, weights=(40, 2, 3, 2, 1, 2, 2, 2, 2, 2))]
    fault: Annotated[str, Fault(Requests.OFFSETS, "answer", "QUERY_NOT_FOUND", "SYSTEM_BUSY", weights=(8, 1, 1))]
    bound_fault: Annotated[str, Fault(Requests.BOUNDS, "answer", "SYSTEM_BUSY", weights=(3, 1))]


@operation(
    "A member begins, a `twin` under the client id of the next one; what it was before is gone at once.", weight=2
)
class Join(rebalance.Join):
    where: Annotated[str, Values(LAST, FIRST)]
    strategy: Annotated[str, Values("AVG", "AVG_BY_CIRCLE", weights=(3, 1))]


@operation("A member subscribes to a topic.", weight=3)
class Subscribe(Operation):
    member: Annotated[int, MEMBER]
    topic: Annotated[str, TOPICS]


@operation("A member unsubscribes from a topic.", weight=2)
class Unsubscribe(Operation):
    member: Annotated[int, MEMBER]
    topic: Annotated[str, TOPICS]


@operation(
    "A member's pull loop comes to a queue: answers the offset that it asks for, the offset that the pull carries, and "
    "whether its flag says to commit that; null when it does not ask.",
    weight=3,
    words=ASKED,
)
class Pull(Operation):
    member: Annotated[int, MEMBER]
    queue: Annotated[int, QUEUE]


@operation("A member's loop of pops comes to a queue of a topic: answers whether it asks for messages.", weight=5)
class Pop(Operation):
    member: Annotated[int, MEMBER]
    topic: Annotated[str, Values(TOPIC, OTHER_TOPIC, NEXT_TOPIC, weights=(4, 1, 2))]
    queue: Annotated[int, Values(0, -1, 1, weights=(3, 2, 1))]


@operation(
    "A member's listener takes messages of a queue that is pulled and is done with them, and the next offset to "
    "consume is `offset`: answers what the offset table then holds of the queue, -1 for nothing.",
    weight=6,
)
class Consume(Operation):
    member: Annotated[int, MEMBER]
    queue: Annotated[int, QUEUE]
    offset: Annotated[int, OFFSET]


@operation("An application sets the offset of a queue in a member's memory, owned or not.", weight=2)
class Update(Operation):
    member: Annotated[int, MEMBER]
    queue: Annotated[int, QUEUE]
    offset: Annotated[int, OFFSET]


@operation("Time passes, in ms: a round's 20 s, or more than a queue may go without a pull or a pop.", weight=4)
class Tick(Operation):
    millis: Annotated[int, Duration(20_000, 60_000, 130_000)]


@operation(
    "The broker assigns queues of a topic from now on, by their ids: some are pulled, some are popped, -1 for all at "
    "once; it leaves out queues that the topic does not have. `oddity` is what else its answer has: an assignment "
    "without queue, or pulled queues without a mode.",
    side=Side.WORLD,
    weight=16,
)
class Assign(environment.Assign):
    topic: Annotated[
        str,
        Values(
            TOPIC,
            OTHER_TOPIC,
            NEXT_TOPIC,
            RETRY_TOPIC,
            ORDINARY.pop_retry_topic(TOPIC),
            ORDINARY.pop_retry_topic(NEXT_TOPIC),
            weights=(6, 2, 3, 1, 2, 2),
        ),
    ]
    pull: Annotated[tuple[int, ...], Values((), (0,), (0, 1, 2, 3, 4), (1, 2), weights=(4, 3, 2, 1))]
    pop: Annotated[tuple[int, ...], Values((), (-1,), (0,), (0, 1, 2, 3, 4), (1,), weights=(5, 2, 3, 1, 1))]
    oddity: Annotated[str, Values(*ODDITIES, weights=(6, 1, 1))]


@operation(
    "The route of a topic has so many readable queues, or as many as there are; -1: there is no route.",
    side=Side.WORLD,
    weight=2,
)
class Route(environment.Route):
    topic: Annotated[
        str,
        Values(
            TOPIC,
            OTHER_TOPIC,
            NEXT_TOPIC,
            ORDINARY.pop_retry_topic(TOPIC),
            ORDINARY.pop_retry_topic(NEXT_TOPIC),
            weights=(1, 1, 2, 1, 2),
        ),
    ]
    queues: Annotated[int, Values(5, 1, 0, -1, weights=(2, 1, 1, 2))]


def _bind(topology: Topology, profile: Profile) -> BoundModel:
    model = RebalanceBrokerModel(profile, topology)
    group, of_group = model.group, model.of_group
    return BoundModel(
        initial_state(topology),
        {
            Rebalance: model.rebalance,
            Join: model.join,
            Leave: model.leave,
            Persist: of_group(group.persist),
            Subscribe: of_group(group.subscribe),
            Unsubscribe: of_group(group.unsubscribe),
            Refresh: of_group(group.refresh),
            Pull: of_group(group.pull),
            Pop: model.pop,
            Consume: of_group(group.consume),
            Update: of_group(group.update),
            Tick: of_group(group.tick),
            Assign: model.assign,
            ListMembers: of_group(group.list_members),
            Route: of_group(group.route),
            CommitElsewhere: of_group(group.commit_elsewhere),
        },
    )


def _show(state: RebalanceBrokerState) -> str:
    shown = []
    for number, (who, side) in enumerate(zip(state.group.members, state.sides, strict=True)):
        if who is None:
            shown.append(f"{number}: no member")
            continue
        pops = [f"{topic} queue {queue}" for topic, queue in sorted(side.pops)]
        shown.append(
            f"{number}: {who.client} pulls {sorted(who.table)}, pops {pops}, subscribes to {sorted(who.topics)}, "
            f"remembers {dict(who.memory)}, noted {dict(side.marks)}"
        )
    given = {topic: f"pulled {numbers(of.pull)}, popped {numbers(of.pop)}" for topic, of in state.assignments.items()}
    return f"members {'; '.join(shown)}; assigned [{text(given)}], clock {state.group.now}"


SUITE = Suite(
    name="rebalance-broker",
    sentence="A group that leaves it to the broker who gets which queue: what is pulled, what is popped, who is asked.",
    side=Side.CLIENT,
    bind=partial(_bind, ORDINARY),
    steps=60,
    show=_show,
    rules=(
        "REB-BRK-1",
        "REB-BRK-ROUTE",
        "REB-BRK-MODE",
        "REB-BRK-POP",
        "REB-BRK-RETRY",
        "REB-BRK-PROBE",
        "REB-BRK-LEFT",
        "POP-PRE-DROP",
        *rules.ROUND,
        *rules.PUSH,
        *rules.OFFSETS,
        "PULL-PRE-DROP",
        "PULL-COM-1",
        "PULL-COM-BC",
        "CONS-DROP",
        "BQ-UPDATE-2",
    ),
    limits=(
        RuleLimit(
            rules=("REB-CLU-3", "REB-CLU-4"),
            client="up to 5.3.1",
            because="from 5.3.2 on the broker divides the queues of every topic of a cluster",
        ),
        RuleLimit(
            rules=("REB-CLU-ROUTE",),
            client="up to 4.9.8",
            because="clients of 5.x learn the route when they ask for the assignment",
        ),
    ),
)
