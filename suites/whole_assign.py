"""The suite ``whole-assign``: a whole lite pull consumer that assigns queues, pauses and seeks, judged from traffic and
polls."""

from functools import partial
from typing import Annotated

from rocketmq_conformance.models import rulebook
from rocketmq_conformance.models.client import whole_end
from rocketmq_conformance.models.client.plan_words import EVERY, NOTHING
from rocketmq_conformance.models.client.start import FIRST, LAST
from rocketmq_conformance.models.client.switches import LITE_STARTS
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.client.whole_assign import WholeAssignModel
from rocketmq_conformance.models.client.whole_push import WholePushState
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites import whole_lite
from rocketmq_conformance.suites import whole_push as group
from rocketmq_conformance.suites.declare.domain import Values
from rocketmq_conformance.suites.declare.operation import Operation, Side, arguments
from rocketmq_conformance.suites.declare.rule_limit import RuleLimit
from rocketmq_conformance.suites.declare.suite import BoundModel, Suite
from rocketmq_conformance.suites.declare.topologies import ORDINARY
from rocketmq_conformance.suites.values import whole


def _offered(profile: Profile) -> bool:
    return LITE_STARTS.on(profile.client)


#: There is one consumer: no other one has a part in what it does.
_ALONE = Values(0)
_QUEUES = Values((0, 1), (0,), (1,), (0, 1, 3), weights=(4, 2, 4, 1))
_SOME = Values((0,), (0, 1), (1,), weights=(4, 2, 1))
_SHOWN = ("WHOLE-SEEK", "WHOLE-SEEK-PAUSED", "WHOLE-SEEK-ENDS", "WHOLE-PAUSE-QUEUES", "WHOLE-ASSIGN")
MOVES = whole.Moves(
    seen=whole.seen(*whole.TRAFFIC, whole.LOCKS, "the messages that were polled (null: the program does not say)"),
    parts={
        "places": (*_SHOWN, "WHOLE-MOVED-LITE", "WHOLE-FIRST"),
        "brought": (*_SHOWN, "WHOLE-FIRST"),
        "stored": (*_SHOWN, "LITE-COMMIT"),
        "locks": ("WHOLE-LOCK",),
        "given": ("LITE-POLL", "WHOLE-FIRST"),
    },
    unsaid=("given",),
    offered=_offered,
)


@whole.beginning(
    "Before the consumer starts for the first time: the topic has four queues of a shape, the group has stored an "
    "offset in each (-1: none), and the consumer is configured with ConsumeFromWhere. Later nothing happens.",
    weight=4,
)
class Prepare(group.Prepare):
    queues: Annotated[int, Values(4)]
    shape: Annotated[str, Values("young", "expired")]
    stored: Annotated[int, Values(7, NOTHING, 99, weights=(4, 4, 1))]
    where: Annotated[str, Values(LAST, FIRST)]


@MOVES.move(
    "The consumer is started, unless it runs, assigns queues by their ids, and is polled all the time.", weight=8
)
class Join(group.Join):
    member: Annotated[int, _ALONE]
    queues: Annotated[tuple[int, ...], _QUEUES]


@MOVES.end("The consumer is shut down, if it runs.", weight=2)
class Leave(group.Leave):
    member: Annotated[int, _ALONE]


@MOVES.move("The consumer's process is killed, if it runs.", weight=1)
class Crash(group.Crash):
    member: Annotated[int, _ALONE]


@MOVES.move("A message arrives in a queue, if there is one, or in every queue (-1).", weight=8)
class Send(group.Send):
    queue: Annotated[int, Values(EVERY, 0, 1, weights=(4, 1, 1))]


@MOVES.move("Time passes, 20 s at least.")
class Look(group.Look):
    pass


@MOVES.move("The consumer assigns queues, if it runs: no others are assigned then.", weight=14)
class Assign(Operation):
    member: Annotated[int, _ALONE]
    queues: Annotated[tuple[int, ...], _QUEUES]


@MOVES.move(
    "The consumer pauses queues, if it runs. Its pulls of them that the broker holds are answered, as if their time "
    "was up: otherwise it would be given one more message by each.",
    weight=12,
)
class Pause(Operation):
    member: Annotated[int, _ALONE]
    queues: Annotated[tuple[int, ...], _SOME]


@MOVES.move("The consumer resumes queues, if it runs.", weight=8)
class Resume(Operation):
    member: Annotated[int, _ALONE]
    queues: Annotated[tuple[int, ...], _SOME]


@MOVES.move(
    "The consumer seeks to an offset of a queue, if it runs; that fails where the queue is not assigned, or the offset "
    "is below min or beyond max.",
    weight=10,
)
class Seek(whole_lite.Seek):
    member: Annotated[int, _ALONE]
    queue: Annotated[int, Values(0, 1)]
    offset: Annotated[int, Values(9, 12, 3, 99)]


@arguments
class _OfQueue(Operation):
    member: Annotated[int, _ALONE]
    queue: Annotated[int, Values(0, 1)]


@MOVES.move("The consumer seeks to the begin of a queue, if it runs and the queue is assigned.", weight=4)
class SeekToBegin(_OfQueue):
    pass


@MOVES.move("The consumer seeks to the end of a queue, if it runs and the queue is assigned.", weight=4)
class SeekToEnd(_OfQueue):
    pass


def _bind(topology: Topology, profile: Profile) -> BoundModel:
    model = WholeAssignModel(profile, topology)
    return BoundModel(
        model.initial(),
        {
            Prepare: model.prepare,
            Join: model.start,
            Leave: model.leave,
            Crash: model.crash,
            Send: model.send,
            Look: model.look,
            Assign: model.assign,
            Pause: model.pause,
            Resume: model.resume,
            Seek: model.seek,
            SeekToBegin: model.seek_to_begin,
            SeekToEnd: model.seek_to_end,
        },
        model.learn,
    )


def _show(state: WholePushState) -> str:
    members = [
        f"assigned {sorted(member.assigned)}, paused {sorted(member.paused)}, seeks {dict(member.sought)}"
        for member in state.group.members.values()
    ]
    return "; ".join([group.show(state), *members])


SUITE = Suite(
    name="whole-assign",
    sentence="A lite pull consumer that assigns queues, pauses and seeks: what it pulls, and what is stored.",
    side=Side.WHOLE,
    bind=partial(_bind, ORDINARY),
    steps=12,
    cases=40,
    show=_show,
    rules=(
        *("WHOLE-ASSIGN", "WHOLE-PAUSE-QUEUES", "WHOLE-SEEK", "WHOLE-SEEK-PAUSED", "WHOLE-SEEK-ENDS", "WHOLE-FIRST"),
        *("WHOLE-MOVED-LITE", "WHOLE-UNREAD", "LITE-POLL", "LITE-COMMIT"),
        *whole_end.RULES_OF_ENDS,
    ),
    beneath=("START-LITE-1", "API-ADM-1", "OFF-R-READ", "BQ-QUERY-1", "LITE-PULL"),
    limits=(
        RuleLimit(
            rules=("WHOLE-FIRST", "WHOLE-MOVED-LITE", "LITE-POLL", "LITE-COMMIT", *whole_end.RULES_OF_ENDS),
            client=rulebook.RULES["WHOLE-ASSIGN"].releases,
            because="the lite pull consumer of 4.6.0 always starts at 0 (START-LITE-0); before there was none",
        ),
        whole.UNREAD_LIMIT,
    ),
    beginning="A topic of four young queues, a group that has stored nothing, and no consumer.",
    confirmations=2,
    case_seconds=60,
)
