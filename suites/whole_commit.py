"""The suite ``whole-commit``: whole lite pull consumers that commit on demand alone, judged from traffic and polls."""

from typing import Annotated

from rocketmq_conformance.models import rulebook
from rocketmq_conformance.models.client import whole_end
from rocketmq_conformance.models.client.fixtures import EVERY, NOTHING
from rocketmq_conformance.models.client.start import FIRST, LAST
from rocketmq_conformance.models.client.switches import LITE_KEEPS_OTHERS
from rocketmq_conformance.models.client.whole_commit import WholeCommitModel
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites import whole_lite
from rocketmq_conformance.suites import whole_push as group
from rocketmq_conformance.suites.declare.domain import Values
from rocketmq_conformance.suites.declare.operation import Operation, Side, operation
from rocketmq_conformance.suites.declare.rule_limit import RuleLimit
from rocketmq_conformance.suites.declare.suite import BoundModel, Suite

SEEN = (
    "Answers, once everything has come to rest, for each queue the member that pulls it and the offset from which that "
    "member waits (-1, -1: none does), then the messages that pulls brought since the step before (member, queue, "
    "first offset, messages), then the stored offset of each queue (-1: none), then the member that has the lock of "
    "each queue (-1: none), and the messages that were polled (null: the program does not say)."
)
_MEMBER = Values(0, 1, 2, weights=(10, 10, 1))
#: The parts of an answer, and the rules that decide each.
PARTS = {
    "places": ("WHOLE-SEEK", "WHOLE-SHARE", "WHOLE-DEMAND", "WHOLE-MOVED-LITE", "WHOLE-FIRST"),
    "brought": ("WHOLE-SEEK", "WHOLE-SHARE", "WHOLE-DEMAND", "WHOLE-FIRST"),
    "stored": ("WHOLE-DEMAND",),
    "locks": ("WHOLE-LOCK",),
    "given": ("LITE-POLL", "WHOLE-FIRST"),
}


def _commits(profile: Profile) -> bool:
    """Do lite pull consumers have a commit that reaches the broker at once? It came with this release, too."""
    return LITE_KEEPS_OTHERS.on(profile.client)


@operation(
    "Before the first member joins: the topic has so many queues of a shape, the group has stored an offset in each "
    "(-1: none), and consumers are configured with ConsumeFromWhere. Later nothing happens.",
    side=Side.WHOLE,
    weight=6,
)
class Prepare(group.Prepare):
    queues: Annotated[int, Values(4, 2)]
    shape: Annotated[str, Values("young", "expired")]
    stored: Annotated[int, Values(7, NOTHING)]
    where: Annotated[str, Values(LAST, FIRST)]


@operation(
    f"A member is started and polled all the time, unless it runs; it commits on demand alone. {SEEN}",
    side=Side.WHOLE,
    weight=8,
    answer=PARTS,
    unsaid=("given",),
    offered=_commits,
)
class Join(group.Join):
    member: Annotated[int, _MEMBER]


@operation(
    f"A member is shut down, if it runs. {SEEN} {group.ENDS}",
    side=Side.WHOLE,
    weight=3,
    answer=group.with_end(PARTS),
    unsaid=("given", *group.ENDS_UNSAID),
    idle=tuple(whole_end.PARTS),
    offered=_commits,
)
class Leave(group.Leave):
    member: Annotated[int, _MEMBER]


@operation(
    f"A member's process is killed, if it runs. {SEEN}",
    side=Side.WHOLE,
    weight=3,
    answer=PARTS,
    unsaid=("given",),
    offered=_commits,
)
class Crash(group.Crash):
    member: Annotated[int, _MEMBER]


@operation(
    f"A message arrives in a queue, if there is one, or in every queue (-1). {SEEN}",
    side=Side.WHOLE,
    weight=8,
    answer=PARTS,
    unsaid=("given",),
    offered=_commits,
)
class Send(group.Send):
    queue: Annotated[int, Values(EVERY, 0, 3, weights=(4, 1, 1))]


@operation(
    f"Time passes, a round of rebalance at least. {SEEN}",
    side=Side.WHOLE,
    answer=PARTS,
    unsaid=("given",),
    offered=_commits,
)
class Look(group.Look):
    pass


@operation(
    "A member seeks to an offset of a queue, if it runs; that fails where it does not have the queue, or the offset is "
    f"below min or beyond max. {SEEN}",
    side=Side.WHOLE,
    weight=3,
    answer=PARTS,
    unsaid=("given",),
    offered=_commits,
)
class Seek(whole_lite.Seek):
    member: Annotated[int, _MEMBER]
    queue: Annotated[int, Values(0, 1)]
    offset: Annotated[int, Values(9, 12, 99)]


@operation(
    f"A member that runs is asked to commit its queues. {SEEN}",
    side=Side.WHOLE,
    weight=12,
    answer=PARTS,
    unsaid=("given",),
    offered=_commits,
)
class Commit(Operation):
    member: Annotated[int, _MEMBER]


def _bind(profile: Profile) -> BoundModel:
    model = WholeCommitModel(profile)
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
    )


SUITE = Suite(
    name="whole-commit",
    sentence="Lite pull consumers that commit on demand alone: what is stored, and who is given what again.",
    side=Side.WHOLE,
    bind=_bind,
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
