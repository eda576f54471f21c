"""The suite ``whole-orderly``: whole orderly consumers of one group, judged from traffic, locks and listeners."""

from functools import partial
from typing import Annotated

from rocketmq_conformance.models.client import whole_end
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.client.whole_orderly import WholeOrderlyModel
from rocketmq_conformance.models.client.whole_push import has_no_members
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites import whole_push as group
from rocketmq_conformance.suites.declare.domain import Values
from rocketmq_conformance.suites.declare.operation import Operation, Side
from rocketmq_conformance.suites.declare.suite import BoundModel, Suite
from rocketmq_conformance.suites.declare.topologies import ORDINARY
from rocketmq_conformance.suites.values import whole


@group.MOVES.move(
    "The broker loses all locks, as at a restart, and a client outside the group takes those of the topic before the "
    "members ask again. Pulls that were held fail.",
    weight=2,
)
class TakeLocks(Operation):
    pass


@group.MOVES.move(
    "A minute passes at the broker: the locks of clients that are gone, or outside the group, expire.", weight=3
)
class ExpireLocks(Operation):
    pass


@group.MOVES.move(
    "While no member runs: from now on the broker answers every request for locks by a response code, or by SUCCESS "
    "without the queues that it grants (no-field).",
    weight=2,
    guard=has_no_members,
)
class RefuseLocks(Operation):
    code: Annotated[str, Values("SYSTEM_ERROR", "SYSTEM_BUSY", "no-field")]


def _bind(topology: Topology, profile: Profile) -> BoundModel:
    model = WholeOrderlyModel(profile, topology)
    return BoundModel(
        model.initial(),
        {
            group.Prepare: model.prepare,
            group.Join: model.join,
            group.Leave: model.leave,
            group.Crash: model.crash,
            group.Send: model.send,
            group.Look: model.look,
            group.Reset: model.reset,
            group.Freeze: model.freeze,
            TakeLocks: model.take_locks,
            ExpireLocks: model.expire_locks,
            RefuseLocks: model.refuse_locks,
            group.Mend: model.mend,
        },
        model.learn,
    )


SUITE = Suite(
    name="whole-orderly",
    sentence="Orderly consumers as their users start them: who has which lock and queue, and the order of consumption.",
    side=Side.WHOLE,
    bind=partial(_bind, ORDINARY),
    steps=8,
    cases=40,
    show=group.show,
    rules=(
        *("WHOLE-FIRST", "WHOLE-MOVED", "WHOLE-COMMIT", "WHOLE-SHARE", "WHOLE-UNREAD", "WHOLE-LOCK", "WHOLE-RESET"),
        *("REB-LOCK-3", "REB-LOCK-4", "PULL-PRE-LOCK", "CONS-ORDER-1", "BQ-LOCK-3"),
        *whole_end.RULES_OF_ENDS,
    ),
    beneath=(
        *("START-PUSH-1", "START-TS-1", "API-ADM-1", "OFF-R-READ", "BQ-QUERY-1"),
        *("PULL-ILL-1", "PULL-NON-1", "REB-ADD-1", "REB-ADD-LOCK", "REB-DROP-1", "RST-PUSH", "RST-RESUME"),
        "TIMER-LOCK",
    ),
    limits=(whole.UNREAD_LIMIT,),
    beginning="A topic of four young queues, a group that has stored nothing, no member, and no lock.",
    confirmations=2,
    case_seconds=41,
)
