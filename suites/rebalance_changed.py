"""The suite ``rebalance-changed``: the notifications of a group's members when a round changed their queues."""

from functools import partial
from typing import Annotated, Any

from rocketmq_conformance.models.client.member import BROADCASTING, CLUSTERING
from rocketmq_conformance.models.client.rebalance_changed import (
    RebalanceChangedModel,
    RebalanceChangedState,
    initial_state,
)
from rocketmq_conformance.models.client.rebalance_changed_round import NO_LIMIT
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.domain import Duration, Fault, Requests, Values
from rocketmq_conformance.suites.declare.operation import Operation, Side, operation
from rocketmq_conformance.suites.declare.rule_limit import RuleLimit
from rocketmq_conformance.suites.declare.suite import BoundModel, Suite
from rocketmq_conformance.suites.declare.topologies import ORDINARY, OTHER_TOPIC, RETRY_TOPIC, TOPIC
from rocketmq_conformance.suites.declare.wording import bare, fields, keyed, listed, numbers, plain
from rocketmq_conformance.suites.rebalance import ListMembers, Refresh, Unsubscribe
from rocketmq_conformance.suites.values import environment
from rocketmq_conformance.suites.values import rebalance as rules

MEMBER = Values(*range(len(ORDINARY.clients)), weights=(4, 1, 1))
BEAT_FAULT = Fault(Requests.HEARTBEATS, "answer", "SYSTEM_ERROR", "silent", weights=(8, 1, 1))


def _reported(brief: Any, given: Any) -> str:
    """What a listener was given of a topic, and whether a heartbeat went before."""
    said = "no listener" if given is None else f"queues {numbers(given[0])}, of the member {numbers(given[1])}"
    return f"{said}, {'behind' if brief else 'without'} a heartbeat"


_ROUND = fields(
    {
        "owned": numbers,
        "balanced": plain,
        "thresholds": fields({"messages": plain, "MiB": plain}),
        "topics": keyed(bare, _reported, size=3),
    }
)


@operation(
    "A member rebalances: `list_fault` is how the broker plays the member list, `fault` how it plays queries, "
    "`beat_fault` how it plays heartbeats; `fails`: the listener of changed queues fails whenever it is called. The "
    "application gives `given_up` up while the member's strategy divides the queues of that topic (empty: nothing). "
    "Answers the queues that the member owns, whether it calls itself balanced (null: it does not say), the thresholds "
    "of a queue (messages and MiB; null: it has none that depend on a topic's), and of each topic whose change it "
    "reports: the topic, whether a heartbeat took its new version to the brokers before the listener was called, and "
    "what the listener was given: all queues of the topic and those of the member (null: there is no such listener).",
    weight=12,
    sets=(0,),
    words=_ROUND,
)
class Rebalance(Operation):
    member: Annotated[int, MEMBER]
    list_fault: Annotated[str, Fault(Requests.MEMBERS, "answer", "SYSTEM_ERROR", "empty", weights=(16, 1, 1))]
    fault: Annotated[str, Fault(Requests.OFFSETS, "answer", "SYSTEM_BUSY", weights=(8, 1))]
    beat_fault: Annotated[str, BEAT_FAULT]
    fails: Annotated[bool, Values(False, True, weights=(3, 1))]
    given_up: Annotated[str, Values("", TOPIC, OTHER_TOPIC, weights=(16, 1, 1))]


@operation(
    "A member begins, without thresholds of a topic; `brief`: its heartbeats may leave out what the broker knows.",
    weight=2,
)
class Join(Operation):
    member: Annotated[int, MEMBER]
    mode: Annotated[str, Values(CLUSTERING, BROADCASTING, weights=(2, 1))]
    brief: Annotated[bool, Values(False, True)]


@operation("The application sets the thresholds of a topic: messages, and MiB; -1 for none.", weight=8)
class Limit(Operation):
    member: Annotated[int, MEMBER]
    messages: Annotated[int, Values(1000, 100, 5, 3, 1, NO_LIMIT)]
    size: Annotated[int, Values(100, 20, 7, 2, NO_LIMIT, weights=(1, 1, 1, 1, 2))]


@operation(
    "A member's timer sends a heartbeat: answers whether it is brief, and the topics that it names (null: none).",
    weight=6,
    words=fields({"brief": plain, "topics": listed()}),
)
class Beat(Operation):
    member: Annotated[int, MEMBER]
    beat_fault: Annotated[str, BEAT_FAULT]


@operation(
    "A member subscribes to a topic, or did so before: answers the heartbeat that goes at once, as `beat` does.",
    weight=2,
    words=fields({"brief": plain, "topics": listed()}),
)
class Subscribe(Operation):
    member: Annotated[int, MEMBER]
    topic: Annotated[str, Values(TOPIC, OTHER_TOPIC)]
    beat_fault: Annotated[str, BEAT_FAULT]


@operation("Time passes, in ms: a round's 20 s, or more than a queue may go without a pull.", weight=1)
class Tick(Operation):
    millis: Annotated[int, Duration(20_000, 130_000)]


@operation(
    "The route of a topic has so many readable queues, or as many as there are; -1: there is no route.",
    side=Side.WORLD,
    weight=5,
)
class Route(environment.Route):
    topic: Annotated[str, Values(TOPIC, OTHER_TOPIC, RETRY_TOPIC, weights=(2, 1, 2))]
    queues: Annotated[int, Values(5, 2, 1, 0, -1, weights=(2, 1, 1, 1, 2))]


def _bind(topology: Topology, profile: Profile) -> BoundModel:
    model = RebalanceChangedModel(profile, topology)
    group, of_group = model.group, model.of_group
    return BoundModel(
        initial_state(topology),
        {
            Rebalance: model.rebalance,
            Join: model.join,
            Limit: model.limit,
            Beat: model.beat,
            Subscribe: model.subscribe,
            Unsubscribe: of_group(group.unsubscribe),
            Refresh: of_group(group.refresh),
            Tick: of_group(group.tick),
            ListMembers: of_group(group.list_members),
            Route: of_group(group.route),
        },
    )


def _limits(limits: Any) -> str:
    messages, size = limits
    return f"{messages} messages, {size} MiB"


def _show(state: RebalanceChangedState) -> str:
    shown = [
        f"{number}: {who.client} owns {sorted(who.table)}, subscribes to {sorted(who.topics)}, knows "
        f"{dict(who.seen)}, thresholds of a topic {_limits(side.limits)}, of a queue {_limits(side.thresholds)}, "
        f"announced {None if side.announced is None else sorted(side.announced)}"
        for number, (who, side) in enumerate(zip(state.group.members, state.sides, strict=True))
        if who is not None
    ]
    group = state.group
    return f"members {'; '.join(shown)}; listed {list(group.listed)}, routes {dict(group.routes)}, clock {group.now}"


SUITE = Suite(
    name="rebalance-changed",
    sentence="A group whose queues come and go: who is notified, and what becomes of the thresholds of a queue.",
    side=Side.CLIENT,
    bind=partial(_bind, ORDINARY),
    steps=60,
    show=_show,
    rules=(
        "REB-MQC-VERSION",
        "REB-MQC-SHARE",
        "REB-MQC-HEARD",
        "REB-MQC-GONE",
        "REB-MQC-NONE",
        "REB-MQC-BRIEF",
        "REB-SUB-BEAT",
        *rules.ROUND,
        *rules.PUSH,
    ),
    limits=(
        *rules.LIMITS,
        RuleLimit(
            rules=("REB-ADD-START", "START-PUSH-ERROR", "START-CHECKED"),
            client="5.0.0-ALPHA+",
            because="before 5.0.0-ALPHA a refusal reads as no offset, and a start position is found",
        ),
    ),
)
