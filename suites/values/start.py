"""Operations and value domains that the suites ``start-push``, ``-lite-pull`` and ``-pull`` share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Annotated

from rocketmq_conformance.models.client.initial_broker import SHAPES
from rocketmq_conformance.models.client.initial_broker import initial_broker as initial_broker
from rocketmq_conformance.models.client.plan_words import FAULTS
from rocketmq_conformance.models.client.remote_store import RemoteStore
from rocketmq_conformance.models.client.start import DEPRECATED, FIRST, LAST, TIMESTAMP, StartModel
from rocketmq_conformance.models.client.switches import CHECKED_START
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Answer
from rocketmq_conformance.suites.declare.domain import Fault, Requests, Values
from rocketmq_conformance.suites.declare.operation import Operation, Side, arguments, operation
from rocketmq_conformance.suites.declare.suite import BoundModel, Handler
from rocketmq_conformance.suites.declare.topologies import LOST_QUEUE
from rocketmq_conformance.suites.values import environment
from rocketmq_conformance.suites.values.client import OFFSET, READ_KIND, ROUTED

QUEUE = Values(0, 1, 2, 3, LOST_QUEUE, weights=(2, 1, 1, 2, 1))
WHERE = Values(LAST, FIRST, *DEPRECATED, weights=(2, 1, 1, 1, 1))
#: Lite pull consumers refuse the deprecated values.
LITE_WHERE = Values(LAST, FIRST, weights=(2, 1))
FAULT = Fault(Requests.OFFSETS, *FAULTS, weights=(4, 3, 1, 1, 1, 1, 1, 1))
BOUND_FAULT = Fault(
    Requests.BOUNDS, "answer", "SYSTEM_BUSY", "no-field", "silent", "cut", "negative", weights=(2, 1, 1, 1, 1, 1)
)

TIMED_QUEUE = Values(0, 1, 2, 3)
#: Times among the messages in one zone, and elsewhere in the others; then what Java forgives, and what it does not.
TIME = Values(
    "20240101001500",  # between the first two messages in UTC
    "20240101081500",  # in Shanghai
    "20240101054500",  # in Kolkata
    "20231231191500",  # in New York
    "20240101111500",  # on Lord Howe Island, in its summer
    "20240701001500",  # between messages 6 and 7 in UTC
    "20240630201500",  # in New York, in its summer
    "20240701104500",  # on Lord Howe Island
    "20240310013000",  # in New York, before the clocks go forward
    "20240310020000",  # the beginning of an hour that New York skips
    "20240310023000",  # the middle of it
    "20240310033000",  # and after it
    "20241103003000",  # in New York, before the clocks go back
    "20241103013000",  # in an hour that New York has twice
    "20241103020000",  # and after it
    "19700101000000",
    "20380119031408",  # beyond 32 bits of seconds
    "20231301001500",  # month 13
    "20231231241460",  # hour 24, second 60
    "2024010100155",  # seconds of one digit
    "2024010100002700 UTC",  # seconds of four digits, and a zone that is ignored
    "2024010100",
    "yesterday",
    None,
)
ZONE = Values("UTC", "Asia/Shanghai", "Asia/Kolkata", "America/New_York", "Australia/Lord_Howe")
TIMED_FAULT = Fault(Requests.OFFSETS, "QUERY_NOT_FOUND", "answer")
TIMED_BOUND_FAULT = Fault(Requests.BOUNDS, "answer", "SYSTEM_BUSY", "negative", weights=(2, 1, 1))
#: Rules of the offset store, and of the broker, that every start asks.
STORE = (
    "OFF-UPD-1",
    "OFF-R-READ",
    "OFF-R-READ-ERROR",
    "OFF-R-FETCH",
    "OFF-R-REM",
    "API-QCO-1",
    "BQ-QUERY-1",
    "BQ-STORE-MAX",
    "BQ-STORE-MIN",
    "BQ-UPDATE-2",
)


def checked(profile: Profile) -> bool:
    """Does the client have the checked variant?"""
    return CHECKED_START.on(profile.client)


def starts(
    decide: Callable[..., Answer[RemoteStore]],
    plain: type[Operation],
    checked: type[Operation],
    timed: type[Operation],
    timed_checked: type[Operation],
) -> dict[type[Operation], Handler]:
    """The handlers of starts, and of starts at a time; those that are checked report what fails.

    ``decide`` takes (state, queue, where, timestamp, zone, checked, fault, bound_fault).
    """

    def start(
        checked: bool, state: RemoteStore, queue: int, where: str, fault: str, bound_fault: str
    ) -> Answer[RemoteStore]:
        return decide(state, queue, where, None, "UTC", checked, fault, bound_fault)

    def start_at_time(
        checked: bool, state: RemoteStore, queue: int, timestamp: str | None, zone: str, fault: str, bound_fault: str
    ) -> Answer[RemoteStore]:
        return decide(state, queue, TIMESTAMP, timestamp, zone, checked, fault, bound_fault)

    return {
        plain: partial(start, False),
        checked: partial(start, True),
        timed: partial(start_at_time, False),
        timed_checked: partial(start_at_time, True),
    }


@arguments
class WhereArguments(Operation):
    """The arguments of a start, whether it is checked or not."""

    queue: Annotated[int, QUEUE]
    where: Annotated[str, WHERE]
    fault: Annotated[str, FAULT]
    bound_fault: Annotated[str, BOUND_FAULT]


@arguments
class TimeArguments(Operation):
    """The arguments of a start at a time, whether it is checked or not."""

    queue: Annotated[int, TIMED_QUEUE]
    timestamp: Annotated[str | None, TIME]
    zone: Annotated[str, ZONE]
    fault: Annotated[str, TIMED_FAULT]
    bound_fault: Annotated[str, TIMED_BOUND_FAULT]


@operation("Update the offset of a queue in memory.", weight=2)
class Update(Operation):
    queue: Annotated[int, QUEUE]
    offset: Annotated[int, OFFSET]
    increase_only: Annotated[bool, Values(False, True)]


@operation("Forget the offset of a queue.", weight=3)
class Remove(Operation):
    queue: Annotated[int, QUEUE]


@operation("Read the offset of a queue; `fault` is how the broker plays the query.", weight=2)
class Read(Operation):
    queue: Annotated[int, QUEUE]
    kind: Annotated[str, READ_KIND]
    fault: Annotated[str, FAULT]


@operation("Another member of the group commits.", side=Side.WORLD, weight=2)
class CommitElsewhere(environment.CommitElsewhere):
    queue: Annotated[int, ROUTED]
    offset: Annotated[int, OFFSET]


@operation("The log of a queue becomes another one.", side=Side.WORLD, weight=2)
class Shape(environment.Shape):
    queue: Annotated[int, ROUTED]
    shape: Annotated[str, Values(*SHAPES)]


def bound(model: StartModel, starts: Mapping[type[Operation], Handler]) -> BoundModel:
    """The handlers of a suite's starts, and of what happens to a consumer besides starting."""
    store = model.store
    around: dict[type[Operation], Handler] = {
        Update: store.update,
        Remove: store.remove,
        Read: store.read,
        Shape: model.shape,
        CommitElsewhere: store.commit_elsewhere,
    }
    return BoundModel(RemoteStore(broker=initial_broker(model.topology)), {**starts, **around})


def show(state: RemoteStore) -> str:
    """Memory, logs as min..max, and stored offsets."""
    logs = {f"{topic}/{queue}": f"{log.min}..{log.max}" for (topic, queue), log in state.broker.logs.items()}
    stored = {f"{topic}/{queue}": offset for (_, topic, queue), offset in state.broker.stored.items()}
    return f"memory {dict(state.memory)}, queues {logs}, stored {stored}"
