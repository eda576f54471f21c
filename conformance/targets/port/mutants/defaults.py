"""Mutants of what the port's consumers have that set nothing, after real defects of clients."""

from __future__ import annotations

from collections.abc import Mapping

from rocketmq_conformance.conformance.targets.mutant import Mutant, declared
from rocketmq_conformance.conformance.targets.port.defaults import SECOND, Defaults
from rocketmq_conformance.models.outcome import Result, Value

MUTANTS: list[Mutant] = []
_mutant = declared(MUTANTS, "defaults")


def _but(settings: Mapping[str, Value], **changed: Value) -> Mapping[str, Value]:
    return {**settings, **changed}


def _shortened(setting: str, value: Value) -> Value:
    """A setting in thousandths, if it is a time."""
    is_time = any(word in setting for word in ("Millis", "Mills", "Interval", "Timeout", "InvisibleTime"))
    return value // SECOND if type(value) is int and is_time else value


@_mutant("D274", "A push consumer stops pulling at 500 messages of a queue.")
class StopsAtHalf(Defaults):
    PUSH = _but(Defaults.PUSH, pullThresholdForQueue=500)


@_mutant("D274", "A push consumer stops pulling at 50 MiB of a queue.")
class StopsAtHalfTheBytes(Defaults):
    PUSH = _but(Defaults.PUSH, pullThresholdSizeForQueue=50)


@_mutant("D274", "A push consumer allows 16 deliveries, whatever the broker has of the group.")
class NamesDeliveries(Defaults):
    PUSH = _but(Defaults.PUSH, maxReconsumeTimes=16)


@_mutant("D274", "A push consumer sends its expression with every pull.")
class SendsExpressionUnasked(Defaults):
    PUSH = _but(Defaults.PUSH, postSubscriptionWhenPull=True)


@_mutant("D275", "A push consumer has up to 64 threads, as before 4.5.1.")
class ManyThreads(Defaults):
    PUSH = _but(Defaults.PUSH, consumeThreadMax=64)


@_mutant("D275", "Times are taken to be in thousandths of what they are in.")
class SmallUnits(Defaults):
    def push(self, setting: str) -> Result:
        return _shortened(setting, self.PUSH[setting])

    def pull(self, setting: str) -> Result:
        return _shortened(setting, self.PULL[setting])

    def lite(self, setting: str) -> Result:
        return _shortened(setting, self.LITE[setting])

    def wait(self, request: str) -> Result:
        return self.WAITS[request] // SECOND


@_mutant("D276", "A push consumer lets brokers divide its queues.")
class LetsBrokersDivide(Defaults):
    PUSH = _but(Defaults.PUSH, clientRebalance=False)


@_mutant("D277", "A consumer starts at the first message.")
class StartsAtFirstUnasked(Defaults):
    PUSH = _but(Defaults.PUSH, consumeFromWhere="CONSUME_FROM_FIRST_OFFSET")
    LITE = _but(Defaults.LITE, consumeFromWhere="CONSUME_FROM_FIRST_OFFSET")


@_mutant("D277", "A lite pull consumer asks for as many messages as a push consumer.")
class LiteAsksForMore(Defaults):
    LITE = _but(Defaults.LITE, pullBatchSize=32)


@_mutant("D277", "A lite pull consumer does not commit by itself.")
class LiteLeavesCommitsToItsUser(Defaults):
    LITE = _but(Defaults.LITE, autoCommit=False)


@_mutant("D278", "The VIP channel is on, as it was before 4.5.1.")
class VipUnasked(Defaults):
    PUSH = _but(Defaults.PUSH, vipChannelEnabled=True)


@_mutant("D278", "Pulls and heartbeats use the VIP channel, too.")
class EverythingByVip(Defaults):
    ORDINARY = frozenset({"UNLOCK_BATCH_MQ, one way", "UNREGISTER_CLIENT"})


@_mutant("D278", "A one-way unlock uses the VIP channel, as one that is waited for does.")
class UnlocksByVip(Defaults):
    ORDINARY = Defaults.ORDINARY - {"UNLOCK_BATCH_MQ, one way"}


@_mutant("D278", "The VIP channel is looked for two ports above the broker's.")
class VipAbove(Defaults):
    VIP = 2


@_mutant("D279", "Every answer is waited for as long.")
class WaitsAlike(Defaults):
    WAITS = dict.fromkeys(Defaults.WAITS, 3 * SECOND)


@_mutant("D279", "An answer about an offset is waited for until it comes, or as long as that of a pull.")
class WaitsForOffsets(Defaults):
    def wait(self, request: str) -> Result:
        return 30 * SECOND if "CONSUMER_OFFSET" in request else self.WAITS[request]
