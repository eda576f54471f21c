"""The suite ``broker-locks``: clients of a group lock and unlock queues while time passes.

A case takes as long as its waits: they last a share of the broker's lease, which brokers that the kit starts have
much shorter than the usual minute.
"""

from typing import Annotated

from rocketmq_conformance.models.broker import broker_locks, broker_locks_strict
from rocketmq_conformance.models.broker.broker_locks import OWNERLESS, BrokerLocksState
from rocketmq_conformance.models.broker.broker_locks_strict import BrokerLocksStrictState
from rocketmq_conformance.models.broker.broker_rules import BrokerRules
from rocketmq_conformance.models.broker.configuration import STRICT_LOCKS
from rocketmq_conformance.models.outcome import Result
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Answer
from rocketmq_conformance.suites.declare.domain import Values
from rocketmq_conformance.suites.declare.operation import Operation, Side, operation
from rocketmq_conformance.suites.declare.rule_limit import RuleLimit
from rocketmq_conformance.suites.declare.suite import BoundModel, Suite
from rocketmq_conformance.suites.declare.wording import fields, numbers, plain

_GROUP = Values(0, 1, weights=(4, 1))
_CLIENT = Values(0, 1, 2, weights=(3, 3, 1))
_ANY_CLIENT = Values(0, 1, 2, None, weights=(6, 6, 2, 1))
#: Queues that are asked for at once.
_SEVERAL = Values((0,), (1,), (2,), (0, 1), (0, 2), (0, 1, 2), (), (OWNERLESS,), weights=(6, 2, 2, 3, 2, 3, 1, 2))


_LOCKED = fields({"granted": numbers, "sent": plain, "answered": plain})


@operation(
    "Ask for locks: answers the queues granted, and when it was sent and answered, in thousandths of the lease.",
    side=Side.BROKER,
    weight=24,
    observes=True,
    words=_LOCKED,
)
class Lock(Operation):
    group: Annotated[int, _GROUP]
    client: Annotated[int, _CLIENT]
    queues: Annotated[tuple[int, ...], _SEVERAL]


@operation("Ask for a lock without saying for whom.", side=Side.BROKER, observes=True, words=_LOCKED)
class LockForNobody(Operation):
    group: Annotated[int, _GROUP]
    queue: Annotated[int, Values(OWNERLESS)]


@operation("Give locks back.", side=Side.BROKER, weight=8)
class Unlock(Operation):
    group: Annotated[int, _GROUP]
    client: Annotated[int | None, _ANY_CLIENT]
    queues: Annotated[tuple[int, ...], _SEVERAL]


@operation("Wait for some thousandths of the lease.", side=Side.BROKER, weight=3)
class Wait(Operation):
    share: Annotated[int, Values(100, 300, 600, 1050, weights=(2, 2, 2, 3))]


def bind(profile: Profile) -> BoundModel:
    """The model."""
    if BrokerRules.of(profile).strict_locks:
        return BoundModel(
            BrokerLocksStrictState(),
            {
                Lock: broker_locks_strict.lock_queues,
                LockForNobody: _for_nobody_late,
                Unlock: broker_locks_strict.unlock_queues,
                Wait: broker_locks_strict.pass_time,
            },
        )
    return BoundModel(
        BrokerLocksState(),
        {
            Lock: broker_locks.lock_queues,
            LockForNobody: _for_nobody,
            Unlock: broker_locks.unlock_queues,
            Wait: broker_locks.pass_time,
        },
    )


def _for_nobody(state: BrokerLocksState, observed: Result, group: int, queue: int) -> Answer[BrokerLocksState]:
    return broker_locks.lock_queues(state, observed, group, None, (queue,))


def _for_nobody_late(
    state: BrokerLocksStrictState, observed: Result, group: int, queue: int
) -> Answer[BrokerLocksStrictState]:
    return broker_locks_strict.lock_queues(state, observed, group, None, (queue,))


def _show(state: BrokerLocksState | BrokerLocksStrictState) -> str:
    if isinstance(state, BrokerLocksStrictState):
        return broker_locks_strict.show(state)
    held = {
        f"{group}:{topic}/{broker}/{number}": f"{entry.client} at {state.early[group, queue].confirmed}"
        for (group, queue), entry in state.late.items()
        for topic, broker, number in [queue]
    }
    return f"at {state.since}: {held}" if held else f"at {state.since}: no locks"


SUITE = Suite(
    name="broker-locks",
    sentence="Queues that clients of a group lock and unlock, while time passes.",
    side=Side.BROKER,
    bind=bind,
    steps=40,
    cases=256,
    show=_show,
    rules=("BQ-LOCK-1", "BQ-LOCK-2", "BQ-LOCK-3", "BQ-LOCK-4", "BQ-LOCK-STRICT"),
    limits=(
        RuleLimit(
            rules=("BQ-LOCK-3",),
            setting=STRICT_LOCKS,
            values=("false",),
            because="what becomes of an unlock is not answered with lockInStrictMode",
        ),
        RuleLimit(
            rules=("BQ-LOCK-STRICT",),
            setting=STRICT_LOCKS,
            values=("true",),
            because="lockInStrictMode is off, the default",
        ),
    ),
)
