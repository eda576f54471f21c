"""The suite ``broker-concurrent``: requests of several clients reach one broker at the same time.

Requests are named first, and then sent together, over a connection for each client. The answers must follow from some
order of the requests that keeps to time.
"""

from collections.abc import Mapping
from typing import Annotated, Any

from rocketmq_conformance.models.broker import overlapping
from rocketmq_conformance.models.broker.broker_concurrent import (
    MOST,
    MOST_AT_ONCE,
    BrokerConcurrentModel,
    ConcurrentState,
)
from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.broker.configuration import STRICT_LOCKS
from rocketmq_conformance.models.broker.overlapping import CLIENTS, Request
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Answer
from rocketmq_conformance.suites.declare.domain import Values
from rocketmq_conformance.suites.declare.operation import Operation, Side, operation
from rocketmq_conformance.suites.declare.rule_limit import RuleLimit
from rocketmq_conformance.suites.declare.suite import BoundModel, Handler, Suite
from rocketmq_conformance.suites.declare.wording import Exchange
from rocketmq_conformance.suites.values import broker as values

_BY = Values(0, 1, 2, weights=(3, 3, 2))
_QUEUE = Values(0, 1, weights=(3, 1))
_OFFSET = Values(1, 2, 3, 4, 5)
_FROM = Values(0, 1, 2)
_QUEUES = Values((0,), (1,), (0, 1), weights=(3, 1, 3))


def has_room(state: ConcurrentState) -> bool:
    """May more be asked?"""
    return not state.lost and len(state.asked) < MOST_AT_ONCE and len(state.played) + len(state.asked) < MOST


def _asks(state: ConcurrentState) -> bool:
    return bool(state.asked) and not state.lost


def _resets(profile: Profile) -> bool:
    return BrokerRules.of(profile).server_reset


def _locks_at_once(profile: Profile) -> bool:
    return not BrokerRules.of(profile).strict_locks


@operation(
    "Commit an offset, with others; one that is not `heard` is sent over a connection that is cut then.",
    side=Side.BROKER,
    weight=8,
    guard=has_room,
)
class CommitBeside(Operation):
    by: Annotated[int, _BY]
    queue: Annotated[int, _QUEUE]
    offset: Annotated[int, _OFFSET]
    heard: Annotated[bool, Values(True, False, weights=(7, 1))]


@operation("Query an offset, with others.", side=Side.BROKER, weight=9, guard=has_room)
class QueryBeside(Operation):
    by: Annotated[int, _BY]
    queue: Annotated[int, _QUEUE]


@operation(
    "Reset the group in a queue to an offset, with others.",
    side=Side.BROKER,
    weight=4,
    guard=has_room,
    offered=_resets,
)
class ResetBeside(Operation):
    by: Annotated[int, _BY]
    queue: Annotated[int, _QUEUE]
    offset: Annotated[int, Values(0, 1, 2, weights=(3, 2, 1))]


@operation("Pull from a queue, with others.", side=Side.BROKER, weight=4, guard=has_room)
class PullBeside(Operation):
    by: Annotated[int, _BY]
    queue: Annotated[int, _QUEUE]
    offset: Annotated[int, _FROM]


@operation("Send a message to a queue, with others.", side=Side.BROKER, weight=4, guard=has_room)
class SendBeside(Operation):
    by: Annotated[int, _BY]
    queue: Annotated[int, _QUEUE]


@operation("Ask for max, with others.", side=Side.BROKER, weight=3, guard=has_room)
class MaxBeside(Operation):
    by: Annotated[int, _BY]
    queue: Annotated[int, _QUEUE]


@operation(
    "Ask for the locks of queues, with others.", side=Side.BROKER, weight=6, guard=has_room, offered=_locks_at_once
)
class LockBeside(Operation):
    by: Annotated[int, _BY]
    queues: Annotated[tuple[int, ...], _QUEUES]


@operation("Give locks back, with others.", side=Side.BROKER, weight=3, guard=has_room, offered=_locks_at_once)
class UnlockBeside(Operation):
    by: Annotated[int, _BY]
    queues: Annotated[tuple[int, ...], _QUEUES]


@operation("Register as a member, with others.", side=Side.BROKER, weight=3, guard=has_room)
class JoinBeside(Operation):
    by: Annotated[int, _BY]


@operation("Leave the group, with others.", side=Side.BROKER, weight=2, guard=has_room)
class LeaveBeside(Operation):
    by: Annotated[int, _BY]


@operation("Ask for the members of the group, with others.", side=Side.BROKER, weight=3, guard=has_room)
class ListBeside(Operation):
    by: Annotated[int, _BY]


def _text(said: Any) -> str:
    return "done" if said is None else "none" if said == () else str(said)


def history(value: Any) -> list[Exchange]:
    """Who sent each request of a history, what it was, when it was sent and answered, and the answer."""
    return [(CLIENTS[by], what, sent, answered, _text(said)) for by, what, sent, answered, said in value]


def timeline(value: Any) -> dict[str, str]:
    """A history in words."""
    shown = {}
    for place, (who, what, sent, answered, said) in enumerate(history(value), 1):
        came = "no answer" if answered is None else f"answered at {answered}: {said}"
        shown[f"{place} {who} {what}"] = f"sent at {sent}, {came}"
    return shown


@operation(
    "Send all these requests at the same time, each client its own in their order: answers the history.",
    side=Side.BROKER,
    weight=6,
    guard=_asks,
    observes=True,
    words=timeline,
    history=history,
)
class AtOnce(Operation):
    pass


def asking(model: BrokerConcurrentModel, kinds: Mapping[type[Operation], str]) -> dict[type[Operation], Handler]:
    """The handler of each operation that is asked for together with others."""

    def beside(kind: str) -> Handler:
        def ask(state: ConcurrentState, by: int, *args: Any) -> Answer[ConcurrentState]:
            return model.ask(state, Request(kind, by, args))

        return ask

    return {made: beside(kind) for made, kind in kinds.items()}


def _bind(profile: Profile) -> BoundModel:
    model = BrokerConcurrentModel(profile)
    return BoundModel(ConcurrentState(), {**asking(model, KINDS), AtOnce: model.at_once})


#: The kind of request that each operation asks for.
KINDS: dict[type[Operation], str] = {
    CommitBeside: overlapping.COMMIT,
    QueryBeside: overlapping.QUERY,
    ResetBeside: overlapping.RESET,
    PullBeside: overlapping.PULL,
    SendBeside: overlapping.SEND,
    MaxBeside: overlapping.MAX,
    LockBeside: overlapping.LOCK,
    UnlockBeside: overlapping.UNLOCK,
    JoinBeside: overlapping.JOIN,
    LeaveBeside: overlapping.LEAVE,
    ListBeside: overlapping.LIST,
}


def _show(state: ConcurrentState) -> str:
    asked = ", ".join(f"{CLIENTS[one.by]} {one}" for one in state.asked)
    return f"{len(state.played)} requests played, to be sent: {asked or 'none'}"


SUITE = Suite(
    name="broker-concurrent",
    sentence="Requests of several clients that reach a broker at the same time.",
    side=Side.BROKER,
    bind=_bind,
    steps=30,
    cases=256,
    show=_show,
    rules=(
        "BQ-ONCE-OFFSET",
        "BQ-ONCE-FIRST",
        "BQ-ONCE-RESET",
        "BQ-ONCE-TORN",
        "BQ-ONCE-SEND",
        "BQ-ONCE-SHOWN",
        "BQ-ONCE-LOCK",
        "BQ-ONCE-MEMBERS",
        "BQ-ONCE-LEAVE",
    ),
    limits=(
        values.brokers_reset("BQ-ONCE-RESET", "BQ-ONCE-TORN"),
        RuleLimit(
            rules=("BQ-ONCE-LOCK",),
            setting=STRICT_LOCKS,
            values=("false",),
            because="locks are given up later with lockInStrictMode",
        ),
    ),
    repeatable=False,
    tries=5,
)
