"""The suite ``rebalance-orderly``: a group of three members whose listeners take messages in order."""

from functools import partial
from typing import Annotated

from rocketmq_conformance.models.client.group_state import owners
from rocketmq_conformance.models.client.rebalance_orderly import (
    RebalanceOrderlyModel,
    RebalanceOrderlyState,
    initial_state,
    lock_holders,
    relying_members,
)
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.domain import Duration, Fault, Requests, Values
from rocketmq_conformance.suites.declare.operation import Operation, Side, operation
from rocketmq_conformance.suites.declare.rule_limit import RuleLimit
from rocketmq_conformance.suites.declare.suite import BoundModel, Suite
from rocketmq_conformance.suites.declare.topologies import ORDINARY
from rocketmq_conformance.suites.declare.wording import OFFSET_OR_NONE, fields, numbers
from rocketmq_conformance.suites.rebalance import (
    BOUND_FAULT,
    FAULT,
    CommitElsewhere,
    Join,
    JoinLaterStrategy,
    Persist,
    Refresh,
    Route,
    Subscribe,
    Unsubscribe,
    Update,
)
from rocketmq_conformance.suites.values import environment
from rocketmq_conformance.suites.values import rebalance as rules
from rocketmq_conformance.suites.values.words import ASKED, ROUND

MEMBER = Values(*range(len(ORDINARY.clients)), weights=(3, 3, 1))
QUEUE = Values(0, 5, 1, 2, 3, weights=(6, 4, 1, 1, 1))
#: Queues that listeners are slow with.
SLOW = Values(0, 5, weights=(2, 1))
OFFSET = Values(0, 4, 5, 11)
#: Lists that move queues 0 and 5 to and fro between the first two members, mostly.
LISTS = Values((0, 1, 2), (0,), (1,), (0, 1), (1, 2), (2,), (0, 0, 1), (), weights=(4, 4, 4, 2, 1, 1, 1, 1))
LOCK_FAULT = Fault(Requests.LOCKS, "answer", "SYSTEM_ERROR", "silent", weights=(10, 1, 1))


@operation(
    "A member rebalances: `list_fault` is how the broker plays the member list, `fault` how it plays queries and "
    "commits, `bound_fault` how it plays max, `lock_fault` how it plays locks and unlocks. Answers the queues in the "
    "member's table, the pull requests that begin (queue and offset), whether it calls itself balanced (null: it does "
    "not say), whether it asks for another round, and the commits that reached the broker.",
    weight=20,
    commits=True,
    sets=(0, 1),
    answer={"owned": (), "begun": (), "balanced": ("REB-RET-1",), "another round": (), "commits": ()},
    unsaid=("balanced", "another round"),
    idle=("balanced", "another round"),
    words=ROUND,
)
class Rebalance(Operation):
    member: Annotated[int, MEMBER]
    list_fault: Annotated[str, Fault(Requests.MEMBERS, "answer", "SYSTEM_ERROR", "silent", weights=(14, 1, 1))]
    fault: Annotated[str, FAULT]
    bound_fault: Annotated[str, BOUND_FAULT]
    lock_fault: Annotated[str, LOCK_FAULT]


@operation(
    "A member shuts down: answers the commits that reached the broker, and (unlock, awaited) for each request to "
    "unlock that is not one way.",
    effect=True,
)
class Leave(Operation):
    member: Annotated[int, MEMBER]
    lock_fault: Annotated[str, LOCK_FAULT]


@operation(
    "A member's timer renews its locks: answers the queues of its table that count as locked then.",
    weight=8,
    sets=(-1,),
    words=numbers,
)
class Renew(Operation):
    member: Annotated[int, MEMBER]
    lock_fault: Annotated[str, LOCK_FAULT]


@operation(
    "A member's pull loop comes to a queue: answers the offset that it asks for, the offset that the pull carries, and "
    "whether its flag says to commit that; null when it does not ask.",
    weight=6,
    words=ASKED,
)
class Pull(Operation):
    member: Annotated[int, MEMBER]
    queue: Annotated[int, QUEUE]
    fault: Annotated[str, FAULT]
    bound_fault: Annotated[str, BOUND_FAULT]


@operation("A message arrives in a member's process queue: answers whether there is one.", weight=6)
class Receive(Operation):
    member: Annotated[int, MEMBER]
    queue: Annotated[int, QUEUE]
    offset: Annotated[int, OFFSET]


@operation(
    "A message arrives, and a member's listener has its turn with the queue, and is not slow; what is due within a "
    "second is done at once, asking for the lock too. Answers the offsets consumed, and what the offset table then "
    "holds of the queue, -1 for nothing.",
    weight=10,
    words=fields({"consumed": numbers, "offset in memory": OFFSET_OR_NONE}),
)
class Consume(Operation):
    member: Annotated[int, MEMBER]
    queue: Annotated[int, QUEUE]
    offset: Annotated[int, OFFSET]
    lock_fault: Annotated[str, LOCK_FAULT]


@operation(
    "A message arrives, and a member's listener has its turn with the queue, and is busy with the first message that "
    "waits: answers its offset, if it may be taken.",
    weight=10,
)
class Take(Operation):
    member: Annotated[int, MEMBER]
    queue: Annotated[int, SLOW]
    offset: Annotated[int, OFFSET]
    lock_fault: Annotated[str, LOCK_FAULT]


@operation(
    "The listener is done with the message, and goes on with those that wait: answers what `consume` does.",
    weight=10,
    words=fields({"consumed": numbers, "offset in memory": OFFSET_OR_NONE}),
)
class Finish(Operation):
    member: Annotated[int, MEMBER]
    queue: Annotated[int, SLOW]
    lock_fault: Annotated[str, LOCK_FAULT]


@operation("Time passes, in ms, for the broker's locks as well.", weight=10)
class Tick(Operation):
    millis: Annotated[int, Duration(10_000, 20_000, 30_000, 60_000, 130_000, weights=(3, 3, 3, 2, 2))]


@operation("The broker lists other members: their client ids, in this order.", side=Side.WORLD, weight=8)
class ListMembers(environment.ListMembers):
    members: Annotated[tuple[int, ...], LISTS]


@operation("The broker restarts: it remembers no locks.", side=Side.WORLD, weight=1)
class ForgetLocks(environment.ForgetLocks):
    pass


@operation(
    "A client of the group that is no member asks for the lock of a queue; `restarted`: right after the broker did.",
    side=Side.WORLD,
    weight=4,
)
class LockElsewhere(environment.LockElsewhere):
    queue: Annotated[int, SLOW]
    restarted: Annotated[bool, Values(False, True)]


def _bind(topology: Topology, profile: Profile) -> BoundModel:
    model = RebalanceOrderlyModel(profile, topology)
    group, of_group = model.group, model.of_group
    return BoundModel(
        initial_state(topology),
        {
            Rebalance: model.rebalance,
            Join: model.join,
            JoinLaterStrategy: model.join,
            Leave: model.leave,
            Renew: model.renew,
            Persist: of_group(group.persist),
            Subscribe: of_group(group.subscribe),
            Unsubscribe: of_group(group.unsubscribe),
            Refresh: of_group(group.refresh),
            Pull: model.pull,
            Receive: model.receive,
            Consume: model.consume,
            Take: model.take,
            Finish: model.finish,
            Update: of_group(group.update),
            Tick: model.tick,
            ListMembers: of_group(group.list_members),
            Route: of_group(group.route),
            CommitElsewhere: of_group(group.commit_elsewhere),
            ForgetLocks: model.forget_locks,
            LockElsewhere: model.lock_elsewhere,
        },
    )


def _show(topology: Topology, state: RebalanceOrderlyState) -> str:
    shown = []
    for number, who in enumerate(state.group.members):
        if who is None:
            shown.append(f"{number}: no member")
            continue
        queues = [
            f"{queue}{'' if owned.locked else ' unlocked'}{' dropped' if owned.dropped else ''} confirmed "
            f"{owned.confirmed} waiting {list(owned.waiting)}"
            for queue, owned in sorted(who.table.items())
        ]
        shown.append(
            f"{number}: {who.client} {who.mode} owns [{', '.join(queues)}], remembers {dict(who.memory)}, busy with "
            f"{sorted(who.taken)}"
        )
    group = state.group
    stored = {f"{topic}/{queue}": offset for (_, topic, queue), offset in group.broker.stored.items()}
    later = [f"queue {queue} of {number} at {due}" for number, of in enumerate(state.later) for due, queue in of]
    twice = sorted(queue for queue, members in relying_members(state).items() if len(members) > 1)
    unowned = sorted(queue for queue, members in owners(topology, group).items() if not members)
    return (
        f"members {'; '.join(shown)}; listed {list(group.listed)}, routes {dict(group.routes)}, stored {stored}, "
        f"locks {lock_holders(topology, state)}, unlocked later {later}, relied on twice {twice}, "
        f"without owner {unowned}, clock {group.now}"
    )


SUITE = Suite(
    name="rebalance-orderly",
    sentence="A group of orderly consumers: who locks which queue, who may consume, and when a lock is given back.",
    side=Side.CLIENT,
    bind=partial(_bind, ORDINARY),
    steps=60,
    show=partial(_show, ORDINARY),
    rules=(
        "REB-LOCK-1",
        "REB-LOCK-2",
        "REB-LOCK-3",
        "REB-LOCK-4",
        "REB-LOCK-DELAY",
        "PULL-PRE-LOCK",
        "CONS-ORDER-1",
        "REB-ADD-LOCK",
        "REB-ADD-BORN",
        "REB-BC-LOCK",
        "REB-REM-2",
        "REB-REM-3",
        "REB-DROP-KEPT",
        *rules.ROUND,
        "REB-CLU-CONFIG",
        *rules.PUSH,
        *rules.OFFSETS,
        "PULL-PRE-DROP",
        "PULL-COM-1",
        "PULL-COM-BC",
        "BQ-LOCK-1",
        "BQ-LOCK-2",
        "BQ-LOCK-3",
        "BQ-UPDATE-2",
    ),
    limits=(
        *rules.LIMITS,
        RuleLimit(
            rules=("PULL-COM-BC",),
            client="4.9.5+",
            because="before 4.9.5 no process queue of a broadcasting member counts as locked, and none is pulled",
        ),
    ),
)
