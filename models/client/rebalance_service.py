"""When the consumers of a client instance rebalance (REB-SVC-*).

One timer serves all consumers of a client instance. It lets all of them rebalance every 20 s, and when it is woken up:
a broker does so when the members of a group changed. A consumer that is paused, or that may not rebalance, takes no
part.

From 5.2.0 the timer looks at its last round. The next one never comes sooner than a second after that: an earlier
wake-up waits for the rest of the second. And it comes after one second, not 20, when some consumer is not balanced,
which a paused one never is.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from rocketmq_conformance.models.client.client_rules import ClientRules
from rocketmq_conformance.models.outcome import Value
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Answer, Reason, Rule, reasons_by_kind

RULES = (
    Rule(
        "REB-SVC-1",
        "All consumers of a client instance rebalance 20 s after the last round, and 20 s after the timer began.",
        "RebalanceService#run, MQClientInstance#doRebalance @ 4.0.0, 4.9.8, 5.2.0, 5.3.3",
    ),
    Rule(
        "REB-SVC-WAKE",
        "When a broker tells that the members of a group changed, all consumers rebalance at once, and 20 s later "
        "again.",
        "ClientRemotingProcessor#notifyConsumerIdsChanged, ServiceThread#wakeup @ 4.0.0, 4.9.8, 5.3.3",
    ),
    Rule(
        "REB-SVC-MIN",
        "Less than a second after the last round, or after the timer began, nobody rebalances: what would wake the "
        "timer up then does so when the second is over, however often it was woken up.",
        "RebalanceService#run @ 5.2.0, 5.3.3",
        releases="5.2.0+",
    ),
    Rule(
        "REB-SVC-SOON",
        "After a round in which a consumer was not balanced the next one comes after a second.",
        "RebalanceService#run, MQClientInstance#doRebalance @ 5.2.0, 5.3.3",
        releases="5.2.0+",
    ),
    Rule(
        "REB-SVC-PAUSE",
        "A paused push consumer takes no part in a round; from 5.2.0 it counts as not balanced. When it is resumed, "
        "paused or not, it rebalances at once, alone, and the timer goes on as before.",
        "DefaultMQPushConsumerImpl#doRebalance, #resume @ 4.0.0, 4.9.8, 5.2.0, 5.3.3; #tryRebalance @ 5.2.0, 5.3.3",
    ),
    Rule(
        "REB-SVC-PULL",
        "A pull consumer that may not rebalance takes no part in a round, and counts as balanced.",
        "DefaultMQPullConsumerImpl#doRebalance, #tryRebalance @ 5.3.2, 5.3.3",
        releases="5.3.2+",
    ),
)

PUSH, PULL = "push", "pull"
CONSUMERS = (PULL, PUSH)
#: Ms between rounds, and their minimum.
ROUND_INTERVAL, MIN_INTERVAL = 20_000, 1_000

_EVENTS = (
    ("not balanced", ("REB-SVC-SOON",)),
    ("paused", ("REB-SVC-PAUSE",)),
    ("may not rebalance", ("REB-SVC-PULL",)),
    ("postponed", ("REB-SVC-MIN",)),
    ("a round", ()),
)
_SOON, _PAUSED, _DISABLED, _POSTPONED, _ROUND = (1 << at for at in range(len(_EVENTS)))

_SUSPENDED = Reason(("REB-SVC-PAUSE",), "paused")
_RESUMED = reasons_by_kind(("REB-SVC-PAUSE",), "resumed", "was not paused")
_REFUSES = Reason(("REB-CLU-3",), "the strategy refuses, or does not any more")
_ENABLED = reasons_by_kind(("REB-SVC-1",), "is allowed to rebalance", "is forbidden to rebalance")


@cache
def rebalance_service_reason(trigger: str, met: int) -> Reason:
    """The one reason of rounds with these events, by bits of _MET."""
    found = [name for at, name in enumerate(_EVENTS) if met & 1 << at]
    rules = [trigger, *(rule for _, named in found for rule in named)]
    return Reason(tuple(dict.fromkeys(rules)), found[0][0] if found else "nothing is due")


class RebalanceServiceState(NamedTuple):
    """A client instance with a push and a pull consumer; times are ms of the case's clock."""

    now: int = 0
    #: When the timer comes, unless it is woken up.
    due: int = ROUND_INTERVAL
    #: Its last round, or when it began.
    last: int = 0
    paused: bool = False
    enabled: bool = True
    #: Consumers whose strategy refuses to divide queues.
    refusing: frozenset[str] = frozenset()


@cache
def taking_part(
    paused: bool, enabled: bool, refusing: frozenset[str], retries_round: bool, skips_disabled: bool
) -> tuple[tuple[str, ...], int, int]:
    """A round: the consumers that take part, the ms until the next one, and its events, by bits of _MET."""
    met = _ROUND
    took_part = []
    if skips_disabled and not enabled:
        met |= _DISABLED
    else:
        took_part.append(PULL)
    if paused:
        met |= _PAUSED
    else:
        took_part.append(PUSH)
    if retries_round and (paused or not refusing.isdisjoint(took_part)):
        return tuple(took_part), MIN_INTERVAL, met | _SOON
    return tuple(took_part), ROUND_INTERVAL, met


class RebalanceServiceModel:
    """The operations of such an instance for one profile; every method is pure."""

    __slots__ = ("retries_round", "skips_disabled")

    def __init__(self, profile: Profile) -> None:
        rules = ClientRules.of(profile)
        self.retries_round = rules.retries_round
        self.skips_disabled = rules.skips_disabled

    def elapse(self, state: RebalanceServiceState, elapses: int) -> Answer[RebalanceServiceState]:
        """REB-SVC-1, REB-SVC-SOON: the rounds of this time: (ms since its beginning, consumers that rebalanced)."""
        now, due, last, paused, enabled, refusing = state
        until = now + elapses
        if due > until:
            return (
                RebalanceServiceState(until, due, last, paused, enabled, refusing),
                (),
                rebalance_service_reason("REB-SVC-1", 0),
            )
        took_part, wait, met = taking_part(paused, enabled, refusing, self.retries_round, self.skips_disabled)
        rounds: list[Value] = []
        while due <= until:
            if took_part:
                rounds.append((due - now, took_part))
            last = due
            due += wait
        after = RebalanceServiceState(until, due, last, paused, enabled, refusing)
        return after, tuple(rounds), rebalance_service_reason("REB-SVC-1", met)

    def notify(self, state: RebalanceServiceState) -> Answer[RebalanceServiceState]:
        """REB-SVC-WAKE, REB-SVC-MIN: the consumers that rebalance at once."""
        now, _, last, paused, enabled, refusing = state
        if self.retries_round and now - last < MIN_INTERVAL:
            after = RebalanceServiceState(now, last + MIN_INTERVAL, last, paused, enabled, refusing)
            return after, (), rebalance_service_reason("REB-SVC-WAKE", _POSTPONED)
        took_part, wait, met = taking_part(paused, enabled, refusing, self.retries_round, self.skips_disabled)
        after = RebalanceServiceState(now, now + wait, now, paused, enabled, refusing)
        return after, took_part, rebalance_service_reason("REB-SVC-WAKE", met)

    def suspend(self, state: RebalanceServiceState) -> Answer[RebalanceServiceState]:
        """REB-SVC-PAUSE: the push consumer is paused."""
        return state._replace(paused=True), None, _SUSPENDED

    def resume(self, state: RebalanceServiceState) -> Answer[RebalanceServiceState]:
        """REB-SVC-PAUSE: the push consumer goes on: the consumers that rebalance at once."""
        why = _RESUMED["resumed" if state.paused else "was not paused"]
        return state._replace(paused=False), (PUSH,), why

    def refuse(self, state: RebalanceServiceState, consumer: str, refuses: bool) -> Answer[RebalanceServiceState]:
        """REB-CLU-3: a strategy refuses from now on (rounds of its consumer are then not balanced), or not any more."""
        refusing = state.refusing | {consumer} if refuses else state.refusing - {consumer}
        return state._replace(refusing=refusing), None, _REFUSES

    def enable(self, state: RebalanceServiceState, enabled: bool) -> Answer[RebalanceServiceState]:
        """REB-SVC-PULL: may the pull consumer rebalance?"""
        why = _ENABLED["is allowed to rebalance" if enabled else "is forbidden to rebalance"]
        return state._replace(enabled=enabled), None, why
