"""The suite ``whole-lite``: whole lite pull consumers of one group, judged from traffic and what is polled."""

from dataclasses import replace
from functools import partial
from typing import Annotated

from rocketmq_conformance.models.client import whole_end
from rocketmq_conformance.models.client.switches import LITE_STARTS
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.client.whole_lite import WholeLiteModel
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites import whole_push as group
from rocketmq_conformance.suites.declare.domain import Values
from rocketmq_conformance.suites.declare.operation import Operation, Side
from rocketmq_conformance.suites.declare.rule_limit import RuleLimit
from rocketmq_conformance.suites.declare.suite import BoundModel, Suite
from rocketmq_conformance.suites.declare.topologies import ORDINARY
from rocketmq_conformance.suites.values import whole


def _has_starts(profile: Profile) -> bool:
    return LITE_STARTS.on(profile.client)


_STARTS = replace(group.MOVES, offered=_has_starts)


@_STARTS.move("A member is started and polled all the time, unless it runs.", weight=5)
class Join(group.Join):
    member: Annotated[int, whole.MEMBER]


@group.MOVES.move(
    "A member seeks to an offset of a queue, if it runs; that fails where it does not have the queue, or the offset is "
    "below min or beyond max.",
    weight=3,
)
class Seek(Operation):
    member: Annotated[int, whole.MEMBER]
    queue: Annotated[int, Values(0, 1, 3)]
    offset: Annotated[int, Values(3, 0, 12, 99)]


def _bind(topology: Topology, profile: Profile) -> BoundModel:
    model = WholeLiteModel(profile, topology)
    return BoundModel(
        model.initial(),
        {
            group.Prepare: model.prepare,
            Join: model.join,
            group.Leave: model.leave,
            group.Crash: model.crash,
            group.Send: model.send,
            group.Look: model.look,
            group.Reset: model.reset,
            group.Freeze: model.freeze,
            Seek: model.seek,
        },
        model.learn,
    )


SUITE = Suite(
    name="whole-lite",
    sentence="Lite pull consumers as their users poll them: who pulls which queue, from where, and what is committed.",
    side=Side.WHOLE,
    bind=partial(_bind, ORDINARY),
    steps=8,
    cases=40,
    show=group.show,
    rules=(
        *("WHOLE-FIRST", "WHOLE-MOVED-LITE", "WHOLE-SHARE", "WHOLE-UNREAD"),
        *("WHOLE-RESET-LITE", "WHOLE-SEEK", "LITE-POLL", "LITE-COMMIT"),
        *whole_end.RULES_OF_ENDS,
    ),
    beneath=(
        *("START-LITE-1", "START-TS-1", "API-ADM-1", "OFF-R-READ", "BQ-QUERY-1"),
        *("LITE-PULL", "REB-DROP-1", "REB-VAR-REM", "RST-OTHERS"),
    ),
    limits=(
        RuleLimit(
            rules=("WHOLE-FIRST", "LITE-POLL", "LITE-COMMIT", *whole_end.RULES_OF_ENDS),
            client="4.6.1+",
            because="the lite pull consumer of 4.6.0 always starts at 0 (START-LITE-0); before there was none",
        ),
        whole.UNREAD_LIMIT,
    ),
    beginning="A topic of four young queues, a group that has stored nothing, and no member.",
    confirmations=2,
    case_seconds=41,
)
