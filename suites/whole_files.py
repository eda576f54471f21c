"""The suite ``whole-files``: a whole broadcasting consumer and what becomes of its offset file, judged from traffic and
listeners."""

from functools import partial
from typing import Annotated

from rocketmq_conformance.models.client import whole_end
from rocketmq_conformance.models.client.plan_words import EVERY, NOTHING
from rocketmq_conformance.models.client.start import FIRST, LAST
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.client.whole_files import FOUND, RULES, WholeFilesModel, WholeFilesState
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites import whole_broadcast, whole_push
from rocketmq_conformance.suites.declare.domain import Values
from rocketmq_conformance.suites.declare.operation import Operation, Side
from rocketmq_conformance.suites.declare.suite import BoundModel, Suite
from rocketmq_conformance.suites.declare.topologies import ORDINARY
from rocketmq_conformance.suites.values import whole

_FILES = tuple(rule.id for rule in RULES)
_MEMBER = Values(0)
MOVES = whole.Moves(
    seen=(
        f"{whole.seen(*whole.TRAFFIC, whole.LOCKS, 'the messages that listeners were given')} Everybody that waits in "
        "a queue is shown, as a list."
    ),
    parts={
        "places": (*_FILES, "START-BC-1", "REB-BC-1"),
        "brought": (*_FILES, "WHOLE-FIRST"),
        "stored": ("REB-BC-STORE",),
        "locks": ("REB-BC-1",),
        "given": (*_FILES, "WHOLE-FIRST"),
    },
    unsaid=("given",),
)


@whole.beginning(
    "Before the consumer joins: the topic has so many young queues, the group has stored nothing, and the consumer is "
    "configured with ConsumeFromWhere. Later nothing happens.",
    weight=2,
)
class Prepare(whole_push.Prepare):
    queues: Annotated[int, Values(2, 1)]
    shape: Annotated[str, Values("young")]
    stored: Annotated[int, Values(NOTHING)]
    where: Annotated[str, Values(LAST, FIRST)]


@MOVES.move("The consumer is started, unless it runs.", weight=5)
class Join(whole_push.Join):
    member: Annotated[int, _MEMBER]


@MOVES.end("The consumer is shut down, if it runs.", weight=1)
class Leave(whole_push.Leave):
    member: Annotated[int, _MEMBER]


@MOVES.move("A message arrives in a queue, if there is one, or in every queue (-1).", weight=2)
class Send(whole_push.Send):
    queue: Annotated[int, Values(EVERY, 0)]


@MOVES.move("Time passes, a round of rebalance at least.")
class Look(whole_push.Look):
    pass


@MOVES.move(
    "If the consumer runs, it is given a message of every queue, writes its file and is shut down. Another message "
    "arrives in every queue, its file and the backup become what they are found as, and it is started again. File or "
    "backup are cut off in the middle, emptied or deleted; are older, as before the first of these messages; or are "
    "longer, with an entry that no client knows. What it was given before it ended is not shown.",
    weight=8,
)
class ComeBack(Operation):
    member: Annotated[int, _MEMBER]
    found: Annotated[str, Values(*FOUND)]


def _bind(topology: Topology, profile: Profile) -> BoundModel:
    model = WholeFilesModel(profile, topology)
    return BoundModel(
        model.initial(),
        {
            Prepare: model.prepare,
            Join: model.join,
            Leave: model.leave,
            Send: model.send,
            Look: model.look,
            ComeBack: model.come_back,
        },
        model.learn,
    )


def _show(state: WholeFilesState) -> str:
    damaged = [f"{client} finds {file} and backup {backup}" for client, (_, (file, backup)) in state.damaged.items()]
    return "; ".join([whole_broadcast.SUITE.show(state.life), *damaged])


SUITE = Suite(
    name="whole-files",
    sentence="A broadcasting consumer whose offset file is cut, lost, older or longer: where it goes on.",
    side=Side.WHOLE,
    bind=partial(_bind, ORDINARY),
    steps=8,
    cases=30,
    show=_show,
    rules=(
        *_FILES,
        *("REB-BC-1", "REB-BC-STORE", "START-BC-1", "WHOLE-FIRST"),
        *whole_end.RULES_OF_BROADCAST_ENDS,
    ),
    beneath=("START-PUSH-1", "API-ADM-1", "OFF-L-READ", "OFF-L-PALL", "OFF-L-LOAD"),
    beginning="A topic of four young queues, a group that has stored nothing, no member, and no file.",
    confirmations=2,
    case_seconds=90,
)
