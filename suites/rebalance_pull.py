"""The suite ``rebalance-pull``: a group of three lite pull consumers."""

from functools import partial
from typing import Annotated

from rocketmq_conformance.models.client.group_state import owners
from rocketmq_conformance.models.client.member import CONFIG, LATER_STRATEGIES, STRATEGIES
from rocketmq_conformance.models.client.rebalance_pull import RebalancePullModel, RebalancePullState, initial_state
from rocketmq_conformance.models.client.start import FIRST, LAST, TIMESTAMP
from rocketmq_conformance.models.client.switches import LITE_PULL
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites import rebalance
from rocketmq_conformance.suites.declare.domain import Fault, Requests, Values
from rocketmq_conformance.suites.declare.operation import Operation, Side, operation
from rocketmq_conformance.suites.declare.rule_limit import RuleLimit
from rocketmq_conformance.suites.declare.suite import BoundModel, Suite
from rocketmq_conformance.suites.declare.topologies import ORDINARY
from rocketmq_conformance.suites.declare.wording import OFFSETS
from rocketmq_conformance.suites.values import environment
from rocketmq_conformance.suites.values import rebalance as rules
from rocketmq_conformance.suites.values.words import ROUND

MEMBER = Values(*range(len(ORDINARY.clients)), weights=(6, 3, 1))
QUEUE = Values(0, 5, 1, 2, 6, 8, weights=(4, 4, 2, 2, 1, 1))
TOPIC = Values("T", "U", weights=(3, 1))
OFFSET = Values(1, 5, 6, 12)
#: Not CONFIG, which gives topics the queues of others: some releases pull these when they are dropped already.
STRATEGY = Values(*(name for name in (*STRATEGIES, *LATER_STRATEGIES) if name != CONFIG), weights=(9, 3, 1, 1, 1))
#: Lists that move queues to and fro between the first two members, mostly.
LISTS = Values(
    (0, 1, 2), (0, 1), (0,), (1,), (1, 2), (2,), (2, 1, 0), (0, 0, 1), (), weights=(6, 5, 5, 3, 1, 1, 1, 1, 1)
)
LIST_FAULT = Fault(Requests.MEMBERS, "answer", "SYSTEM_ERROR", "empty", "silent", weights=(24, 1, 1, 1))
FAULT = Fault(Requests.OFFSETS, "answer", "QUERY_NOT_FOUND", "SYSTEM_BUSY", "silent", weights=(12, 3, 1, 1))
BOUND_FAULT = Fault(Requests.BOUNDS, "answer", "SYSTEM_BUSY", weights=(3, 1))


def _offered(profile: Profile) -> bool:
    return LITE_PULL.on(profile.client)


@operation(
    "A member rebalances: `list_fault` is how the broker plays the member list, `fault` how it plays queries and "
    "commits, `bound_fault` how it plays max. Answers the queues that it owns, those that it pulls, whether it calls "
    "itself balanced (null: it does not say), and the commits that reached the broker.",
    weight=18,
    commits=True,
    offered=_offered,
    sets=(0, 1),
    answer={"owned": (), "pulled": (), "balanced": ("REB-RET-1",), "commits": ()},
    unsaid=("balanced",),
    idle=("balanced",),
    words=ROUND,
)
class Rebalance(Operation):
    member: Annotated[int, MEMBER]
    list_fault: Annotated[str, LIST_FAULT]
    fault: Annotated[str, FAULT]
    bound_fault: Annotated[str, BOUND_FAULT]


@operation(
    "A member begins, a `twin` under the client id of the next one; what it was before is gone at once. 4.6.0 has no "
    "`where`. Timestamp and strategies are set as those of push consumers.",
    weight=2,
    offered=_offered,
)
class Join(Operation):
    member: Annotated[int, MEMBER]
    twin: Annotated[bool, Values(False, True, weights=(4, 1))]
    mode: Annotated[str, Values("CLUSTERING", "BROADCASTING", weights=(1, 1))]
    where: Annotated[str, Values(LAST, FIRST, TIMESTAMP, weights=(2, 2, 1))]
    strategy: Annotated[str, STRATEGY]


@operation(
    "A member's process ends without a shutdown, and one that is set up like it begins.", weight=3, offered=_offered
)
class Restart(Operation):
    member: Annotated[int, MEMBER]


@operation("A member shuts down: answers the commits that reached the broker.", effect=True, offered=_offered)
class Leave(Operation):
    member: Annotated[int, MEMBER]


@operation(
    "A member's timer persists its offsets: answers the commits that arrived.", weight=5, effect=True, offered=_offered
)
class Persist(Operation):
    member: Annotated[int, MEMBER]


@operation("A member subscribes to a topic, and learns the routes of its topics.", weight=3, offered=_offered)
class Subscribe(Operation):
    member: Annotated[int, MEMBER]
    topic: Annotated[str, TOPIC]


@operation("A member unsubscribes from a topic.", weight=3, offered=_offered)
class Unsubscribe(Operation):
    member: Annotated[int, MEMBER]
    topic: Annotated[str, TOPIC]


@operation("A member's timer asks the name server for the routes of its topics.", weight=2, offered=_offered)
class Refresh(Operation):
    member: Annotated[int, MEMBER]


@operation(
    "All pull tasks of a member have their turns: answers for each queue which offset is asked for, -1 for none; the "
    "broker answers the message of that offset when they are `found`. `fault` is how the broker plays queries, "
    "`bound_fault` max.",
    weight=16,
    offered=_offered,
    sets=(-1,),
    words=OFFSETS,
)
class Pull(Operation):
    member: Annotated[int, MEMBER]
    found: Annotated[bool, Values(True, False, weights=(3, 1))]
    fault: Annotated[str, FAULT]
    bound_fault: Annotated[str, BOUND_FAULT]


@operation(
    "A member's application polls for so many messages: answers queue and offset of those that it gets.",
    weight=14,
    offered=_offered,
    words=OFFSETS,
)
class Poll(Operation):
    member: Annotated[int, MEMBER]
    messages: Annotated[int, Values(1, 2, 8)]


@operation(
    "A member's application commits what it polled: answers the commits that reached the broker.",
    weight=8,
    effect=True,
    offered=_offered,
)
class Commit(Operation):
    member: Annotated[int, MEMBER]


@operation("An application sets the offset of a queue in a member's memory, owned or not.", weight=2, offered=_offered)
class Update(Operation):
    member: Annotated[int, MEMBER]
    queue: Annotated[int, QUEUE]
    offset: Annotated[int, OFFSET]


@operation("The broker lists other members: their client ids, in this order.", side=Side.WORLD, weight=6)
class ListMembers(environment.ListMembers):
    members: Annotated[tuple[int, ...], LISTS]


def _bind(topology: Topology, profile: Profile) -> BoundModel:
    model = RebalancePullModel(profile, topology)
    group, of_group = model.group, model.of_group
    return BoundModel(
        initial_state(topology),
        {
            Rebalance: model.rebalance,
            Join: model.join,
            Restart: model.restart,
            Leave: model.leave,
            Persist: of_group(group.persist),
            Subscribe: model.subscribe,
            Unsubscribe: model.unsubscribe,
            Refresh: of_group(group.refresh),
            Pull: model.pull,
            Poll: model.poll,
            Commit: model.commit,
            Update: of_group(group.update),
            rebalance.Tick: of_group(group.tick),
            ListMembers: of_group(group.list_members),
            rebalance.Route: of_group(group.route),
            rebalance.CommitElsewhere: of_group(group.commit_elsewhere),
        },
    )


def _show(topology: Topology, state: RebalancePullState) -> str:
    shown = []
    for number, (who, kept) in enumerate(zip(state.group.members, state.kept, strict=True)):
        if who is None:
            shown.append(f"{number}: no member")
            continue
        pulls = ", ".join(
            f"{queue} from {'its start' if held.pulls < 0 else held.pulls}, consumed {held.consumed}"
            for queue, held in sorted(kept.assigned.items())
        )
        waiting = [f"{offset} of {queue}" for queue, _, offset in kept.pulled]
        shown.append(
            f"{number}: {who.client} {who.mode} owns {sorted(who.table)}, pulls [{pulls}], to be polled {waiting}, "
            f"remembers {dict(who.memory)}"
        )
    group = state.group
    stored = {f"{topic}/{queue}": offset for (_, topic, queue), offset in group.broker.stored.items()}
    twice = sorted(queue for queue, members in owners(topology, group).items() if len(members) > 1)
    return (
        f"members {'; '.join(shown)}; listed {list(group.listed)}, routes {dict(group.routes)}, stored {stored}, "
        f"owned twice {twice}, clock {group.now}"
    )


SUITE = Suite(
    name="rebalance-pull",
    sentence="A group of lite pull consumers: what they own, what they pull all the same, and what they commit.",
    side=Side.CLIENT,
    bind=partial(_bind, ORDINARY),
    steps=60,
    show=partial(_show, ORDINARY),
    rules=(
        "REB-VAR-SUB",
        "REB-VAR-UNSUB",
        "LITE-PULL",
        "LITE-PULL-0",
        "LITE-POLL",
        "LITE-COMMIT",
        "LITE-COMMIT-0",
        "LITE-COMMIT-BC",
        "REB-VAR-REM",
        "REB-VAR-START",
        "REB-MQC-LITE",
        "REB-MQC-SAME",
        "REB-MQC-UNKNOWN",
        *rules.ROUND,
        *rules.OFFSETS,
        "REB-ADD-1",
        "REB-ADD-START",
        "START-LITE-0",
        "START-LITE-1",
        "START-BC-1",
        "REB-BC-REM",
        "START-CHECKED",
        "BQ-UPDATE-2",
    ),
    limits=(
        *rules.LIMITS,
        RuleLimit(
            rules=("REB-ADD-START", "START-BC-1", "START-CHECKED"),
            client="4.6.1+",
            because="a lite pull consumer of 4.6.0 starts at 0 and asks nobody",
        ),
    ),
)
