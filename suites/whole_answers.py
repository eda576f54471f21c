"""The suite ``whole-answers``: whole push consumers that are answered in an unusual way about one thing alone, judged
from the traffic at their broker."""

from functools import partial
from typing import Annotated

from rocketmq_conformance.models.client import whole_end
from rocketmq_conformance.models.client.plan_words import EVERY, NOTHING
from rocketmq_conformance.models.client.start import LAST, TIMESTAMP
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.client.whole_answers import RULES, WholeAnswersModel, has_members, may_join
from rocketmq_conformance.models.client.whole_moves import (
    COMMIT,
    EMPTY,
    MAX,
    MEMBERS,
    NO_BODY,
    NO_FIELD,
    NULL,
    PULL,
    QUERY,
    ROUTE,
    SEARCH,
    SILENT,
    STATUSES,
    TOO_LATE,
    TWICE,
    UNKNOWN,
)
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites import whole_push as group
from rocketmq_conformance.suites.declare.domain import Values
from rocketmq_conformance.suites.declare.operation import Operation, Side
from rocketmq_conformance.suites.declare.suite import BoundModel, Suite
from rocketmq_conformance.suites.declare.topologies import ORDINARY
from rocketmq_conformance.suites.values import whole

_ANSWERS = tuple(rule.id for rule in RULES)
MOVES = whole.Moves(
    seen=whole.seen(*whole.TRAFFIC),
    parts={
        "places": (*_ANSWERS, "WHOLE-SHARE", "REB-SVC-WAKE"),
        "brought": (*_ANSWERS, "WHOLE-FIRST", "WHOLE-SHARE"),
        "stored": (*_ANSWERS, "WHOLE-REPEAT", "WHOLE-COMMIT", "TIMER-PERSIST"),
    },
)
#: Two members are enough to hand a queue over.
_MEMBER = Values(0, 1, weights=(3, 2))
_QUEUE = Values(0, 3, 1, weights=(3, 2, 1))
_AS_EVER = "Everything else is answered as ever, what failed before, too."
_REFUSED = ("SYSTEM_ERROR", "NO_PERMISSION", "TOPIC_NOT_EXIST", "SUBSCRIPTION_GROUP_NOT_EXIST", UNKNOWN)


@whole.beginning(
    "Before the first member joins: the topic has so many queues of a shape, the group has stored an offset in each "
    "(-1: none), and consumers are configured with ConsumeFromWhere. Later nothing happens.",
    weight=3,
)
class Prepare(group.Prepare):
    queues: Annotated[int, Values(4, 2)]
    #: where nothing is stored, a queue whose first messages have expired begins as ConsumeFromWhere says
    shape: Annotated[str, Values("expired", "young", weights=(3, 1))]
    stored: Annotated[int, Values(7, NOTHING, weights=(1, 1))]
    where: Annotated[str, Values(LAST, TIMESTAMP)]


@MOVES.move("A member is started, unless it runs.", weight=8, guard=may_join)
class Join(group.Join):
    member: Annotated[int, _MEMBER]


@MOVES.end("A member is shut down, if it runs.", weight=2)
class Leave(group.Leave):
    member: Annotated[int, _MEMBER]


@MOVES.move("A member's process is killed, if it runs.")
class Crash(group.Crash):
    member: Annotated[int, _MEMBER]


@MOVES.move("A message arrives in a queue, if there is one, or in every queue (-1).", weight=5)
class Send(group.Send):
    queue: Annotated[int, Values(EVERY, 0, 3, weights=(4, 1, 1))]


@MOVES.move("Time passes, a round of rebalance at least.")
class Look(group.Look):
    pass


@MOVES.move(
    "From now on pulls of one queue, if there is one, are refused by a code, not answered (silent), answered with a "
    "status that does not say where to go on (no-field is SUCCESS), or found messages and have none (no-body). "
    f"{_AS_EVER}",
    weight=5,
)
class FailPulls(Operation):
    queue: Annotated[int, _QUEUE]
    answer: Annotated[str, Values(*_REFUSED, SILENT, *STATUSES, NO_FIELD, NO_BODY)]


@MOVES.move(
    "From now on a question where one queue begins, that for its stored offset, for max or a search by time, is "
    f"refused by a code, or answered by SUCCESS without an offset (no-field). {_AS_EVER}",
    weight=5,
)
class FailStart(Operation):
    queue: Annotated[int, _QUEUE]
    request: Annotated[str, Values(QUERY, MAX, SEARCH, weights=(4, 1, 1))]
    answer: Annotated[str, Values(*_REFUSED, "SYSTEM_BUSY", "QUERY_NOT_FOUND", "PULL_NOT_FOUND", NO_FIELD)]


@MOVES.move(
    "From now on commits of one queue are refused by a code, or not answered (silent); its pulls commit nothing. "
    f"{_AS_EVER}",
    weight=2,
)
class FailCommits(Operation):
    queue: Annotated[int, _QUEUE]
    answer: Annotated[str, Values("SYSTEM_ERROR", UNKNOWN, SILENT)]


@MOVES.move(
    "From now on the list of the group's members is refused by a code, or it is one without a body (no-field), without "
    f"members (empty), or null. {_AS_EVER}",
    weight=2,
)
class FailList(Operation):
    answer: Annotated[str, Values(EMPTY, NULL, NO_FIELD, "SYSTEM_ERROR", "SUBSCRIPTION_GROUP_NOT_EXIST", UNKNOWN)]


@MOVES.move(
    "While a member runs: from now on the route of the topic, not that of the group's retry topic, is refused by a "
    f"code, or comes without a body (no-field). {_AS_EVER}",
    guard=has_members,
)
class FailRoute(Operation):
    answer: Annotated[str, Values("TOPIC_NOT_EXIST", "SYSTEM_ERROR", UNKNOWN, NO_FIELD)]


@MOVES.move(
    "While a member runs: a message arrives in one queue, if there is one. The answer to the pull that waits there "
    "comes twice, or it comes only when its client has sent the pull again, and is answered that, too (too late).",
    weight=2,
    guard=has_members,
)
class SendAgain(Operation):
    queue: Annotated[int, _QUEUE]
    how: Annotated[str, Values(TWICE, TOO_LATE)]


@MOVES.move("Every request is answered as ever, if one was not.", weight=3)
class Mend(group.Mend):
    pass


def request_of(operation: Operation) -> str:
    """The request that fails from an operation on, or ""."""
    match operation:
        case FailPulls():
            return PULL
        case FailStart(_, request, _):
            return request
        case FailCommits():
            return COMMIT
        case FailList():
            return MEMBERS
        case FailRoute():
            return ROUTE
        case _:
            return ""


def _bind(topology: Topology, profile: Profile) -> BoundModel:
    model = WholeAnswersModel(profile, topology)
    return BoundModel(
        model.initial(),
        {
            Prepare: model.prepare,
            Join: model.join,
            Leave: model.leave,
            Crash: model.crash,
            Send: model.send,
            Look: model.look,
            FailPulls: model.fail_pulls,
            FailStart: model.fail_start,
            FailCommits: model.fail_commits,
            FailList: model.fail_list,
            FailRoute: model.fail_route,
            SendAgain: model.send_again,
            Mend: model.mend,
        },
        model.learn,
    )


SUITE = Suite(
    name="whole-answers",
    sentence="Push consumers that are answered in an unusual way about one thing alone: what becomes of that, and of "
    "everything else.",
    side=Side.WHOLE,
    bind=partial(_bind, ORDINARY),
    steps=8,
    cases=40,
    show=group.show,
    rules=(
        *_ANSWERS,
        *("WHOLE-FIRST", "WHOLE-COMMIT", "WHOLE-SHARE", "WHOLE-UNREAD", "WHOLE-MISTAKEN", "WHOLE-PULL", "WHOLE-LIST"),
        *("WHOLE-LOST", "WHOLE-REPEAT", "WHOLE-SILENT", "WHOLE-UNHEARD", "REB-SVC-WAKE", "REB-SVC-1", "TIMER-PERSIST"),
        *whole_end.RULES_OF_ENDS,
    ),
    beneath=(
        *("START-PUSH-1", "START-TS-1", "API-ADM-1", "OFF-R-READ", "BQ-QUERY-1"),
        *("OFF-R-PALL", "OFF-R-READ-ERROR", "START-PUSH-ERROR", "PULL-NON-1", "PULL-RES-1", "REB-ADD-1"),
        *("REB-ADD-START", "REB-CLU-1", "REB-DROP-1", "REB-REM-1"),
    ),
    beginning="A topic of four young queues, a group that has stored nothing, and no member.",
    confirmations=2,
    case_seconds=60,
)
