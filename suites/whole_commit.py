"""The suite ``whole-commit``: whole lite pull consumers that commit on demand alone, judged from traffic and polls."""

from functools import partial
from typing import Annotated

from rocketmq_conformance.models import rulebook
from rocketmq_conformance.models.client import whole_end
from rocketmq_conformance.models.client.plan_words import EVERY, NOTHING
from rocketmq_conformance.models.client.start import FIRST, LAST
from rocketmq_conformance.models.client.switches import LITE_KEEPS_OTHERS
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.client.whole_commit import WholeCommitModel
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites import whole_lite
from rocketmq_conformance.suites import whole_push as group
from rocketmq_conformance.suites.declare.domain import Values
from rocketmq_conformance.suites.declare.operation import Operation, Side
from rocketmq_conformance.suites.declare.rule_limit import RuleLimit
from rocketmq_conformance.suites.declare.suite import BoundModel, Suite
from rocketmq_conformance.suites.declare.topologies import ORDINARY
from rocketmq_conformance.suites.values import whole


def _commits(profile: Profile) -> bool:
    """Do lite pull consumers have a commit that reaches the broker at once? It came with this release, too."""
    return LITE_KEEPS_OTHERS.on(profile.client)


_MEMBER = Values(0, 1, 2, weights=(10, 10, 1))
MOVES = whole.Moves(
    seen=whole.seen(*whole.TRAFFIC, whole.LOCKS, "the messages that were polled (null: the program does not say)"),
    parts={
        "places": ("WHOLE-SEEK", "WHOLE-SHARE", "WHOLE-DEMAND", "WHOLE-MOVED-LITE", "WHOLE-FIRST"),
        "brought": ("WHOLE-SEEK", "WHOLE-SHARE", "WHOLE-DEMAND", "WHOLE-FIRST"),
        "stored": ("WHOLE-DEMAND",),
        "locks": ("WHOLE-LOCK",),
        "given": ("LITE-POLL", "WHOLE-FIRST"),
    },
    unsaid=("given",),
    offered=_commits,
)


@whole.beginning(
    "Before the first member joins: the topic has so many queues of a shape, the group has stored an offset in each "
    "(-1: none), and consumers are configured with ConsumeFromWhere. Later nothing happens.",
    weight=6,
)
class Prepare(group.Prepare):
    queues: Annotated[int, Values(4, 2)]
    shape: Annotated[str, Values("young", "expired")]
    stored: Annotated[int, Values(7, NOTHING)]
    where: Annotated[str, Values(LAST, FIRST)]


@MOVES.move("A member is started and polled all the time, unless it runs; it commits on demand alone.", weight=8)
class Join(group.Join):
    member: Annotated[int, _MEMBER]


@MOVES.end("A member is shut down, if it runs.", weight=3)
class Leave(group.Leave):
    member: Annotated[int, _MEMBER]


@MOVES.move("A member's process is killed, if it runs.", weight=3)
class Crash(group.Crash):
    member: Annotated[int, _MEMBER]


@MOVES.move("A message arrives in a queue, if there is one, or in every queue (-1).", weight=8)
class Send(group.Send):
    queue: Annotated[int, Values(EVERY, 0, 3, weights=(4, 1, 1))]


@MOVES.move("Time passes, a round of rebalance at least.")
class Look(group.Look):
    pass


@MOVES.move(
    "A member seeks to an offset of a queue, if it runs; that fails where it does not have the queue, or the offset is "
    "below min or beyond max.",
    weight=3,
)
class Seek(whole_lite.Seek):
    member: Annotated[int, _MEMBER]
    queue: Annotated[int, Values(0, 1)]
    offset: Annotated[int, Values(9, 12, 99)]


@MOVES.move("A member that runs is asked to commit its queues.", weight=12)
class Commit(Operation):
    member: Annotated[int, _MEMBER]


def _bind(topology: Topology, profile: Profile) -> BoundModel:
    model = WholeCommitModel(profile, topology)
    return BoundModel(
        model.initial(),
        {
            Prepare: model.prepare,
            Join: model.join,
            Leave: model.leave,
            Crash: model.crash,
            Send: model.send,
            Look: model.look,
            Seek: model.seek,
            Commit: model.commit,
        },
        model.learn,
    )


SUITE = Suite(
    name="whole-commit",
    sentence="Lite pull consumers that commit on demand alone: what is stored, and who is given what again.",
    side=Side.WHOLE,
    bind=partial(_bind, ORDINARY),
    steps=12,
    cases=40,
    show=group.show,
    rules=(
        *("WHOLE-DEMAND", "WHOLE-FIRST", "WHOLE-MOVED-LITE", "WHOLE-SHARE", "WHOLE-SEEK", "LITE-POLL"),
        *whole_end.RULES_OF_ENDS,
    ),
    beneath=(
        *("START-LITE-1", "API-ADM-1", "OFF-R-READ", "BQ-QUERY-1"),
        *("LITE-PULL", "REB-DROP-1", "REB-VAR-REM"),
    ),
    limits=(
        RuleLimit(
            rules=("WHOLE-FIRST", "WHOLE-MOVED-LITE", "WHOLE-SEEK", "LITE-POLL", *whole_end.RULES_OF_ENDS),
            client=rulebook.RULES["WHOLE-DEMAND"].releases,
            because="clients of other releases have no commit that sends at once",
        ),
    ),
    beginning="A topic of four young queues, a group that has stored nothing, and no member.",
    confirmations=2,
    case_seconds=41,
)
