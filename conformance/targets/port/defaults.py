"""What consumers of the port have that set nothing, and the port of a broker that they send a request to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from rocketmq_conformance.conformance.adapter import Case, Methods
from rocketmq_conformance.conformance.targets.port.transport import Transport
from rocketmq_conformance.models.outcome import Result, Value
from rocketmq_conformance.suites import defaults as operations

SECOND = 1_000
MINUTES_PER_MESSAGE = 15
#: Settings of every consumer; times are in ms.
EVERY: Mapping[str, Value] = {
    "messageModel": "CLUSTERING",
    "allocateMessageQueueStrategy": "AVG",
    "persistConsumerOffsetInterval": 5 * SECOND,
    "heartbeatBrokerInterval": 30 * SECOND,
    "pollNameServerInterval": 30 * SECOND,
    "mqClientApiTimeout": 3 * SECOND,
    "pullTimeDelayMillsWhenException": SECOND,
    "unitMode": False,
    "useHeartbeatV2": False,
    "enableStreamRequestType": False,
    "vipChannelEnabled": False,
}
#: Settings of consumers whose application pulls.
WAITS: Mapping[str, Value] = {
    "consumerPullTimeoutMillis": 10 * SECOND,
    "consumerTimeoutMillisWhenSuspend": 30 * SECOND,
}


class Defaults:
    """The settings of new consumers."""

    PUSH: ClassVar[Mapping[str, Value]] = {
        **EVERY,
        "pullBatchSize": 32,
        "consumeMessageBatchMaxSize": 1,
        "pullThresholdForQueue": 1_000,
        "consumeConcurrentlyMaxSpan": 2_000,
        "pullInterval": 0,
        "consumeTimeout": MINUTES_PER_MESSAGE,
        "suspendCurrentQueueTimeMillis": SECOND,
        "maxReconsumeTimes": -1,
        "awaitTerminationMillisWhenShutdown": 0,
        "consumeThreadMin": 20,
        "consumeThreadMax": 20,
        "pullThresholdSizeForQueue": 100,
        "pullThresholdForTopic": -1,
        "pullThresholdSizeForTopic": -1,
        "pullBatchSizeInBytes": 256 * 1024,
        "consumeFromWhere": "CONSUME_FROM_LAST_OFFSET",
        "clientRebalance": True,
        "popBatchNums": 32,
        "popInvisibleTime": 60 * SECOND,
        "popThresholdForQueue": 96,
        "postSubscriptionWhenPull": False,
    }
    PULL: ClassVar[Mapping[str, Value]] = {
        **EVERY,
        **WAITS,
        "brokerSuspendMaxTimeMillis": 20 * SECOND,
        "maxReconsumeTimes": 16,
        "enableStreamRequestType": True,
        "enableRebalance": True,
    }
    LITE: ClassVar[Mapping[str, Value]] = {
        **EVERY,
        **WAITS,
        "pullBatchSize": 10,
        "pullThreadNums": 20,
        "pullThresholdForQueue": 1_000,
        "pullThresholdSizeForQueue": 100,
        "consumeMaxSpan": 2_000,
        "pullThresholdForAll": 10_000,
        "pollTimeoutMillis": 5 * SECOND,
        "autoCommit": True,
        "autoCommitIntervalMillis": 5 * SECOND,
        "consumeFromWhere": "CONSUME_FROM_LAST_OFFSET",
        "enableStreamRequestType": True,
    }
    #: How long the answer to each request is waited for (ms).
    WAITS: ClassVar[Mapping[str, int]] = {
        "QUERY_CONSUMER_OFFSET": 5 * SECOND,
        "UPDATE_CONSUMER_OFFSET": 5 * SECOND,
        "UPDATE_CONSUMER_OFFSET, one way": 5 * SECOND,
        "GET_MAX_OFFSET": 6 * SECOND,
        "GET_MIN_OFFSET": 6 * SECOND,
        "SEARCH_OFFSET_BY_TIMESTAMP": 6 * SECOND,
        "GET_CONSUMER_LIST_BY_GROUP": 3 * SECOND,
        "LOCK_BATCH_MQ": SECOND,
        "UNLOCK_BATCH_MQ": SECOND,
        "UNLOCK_BATCH_MQ, one way": SECOND,
    }
    #: Requests that leave the VIP channel alone.
    ORDINARY = frozenset({"PULL_MESSAGE", "HEART_BEAT", "UNLOCK_BATCH_MQ, one way", "UNREGISTER_CLIENT"})
    #: Where the VIP channel is, seen from the broker's port.
    VIP = -2

    def __init__(self, transport: Transport) -> None:
        """Defaults need no broker."""

    def begin_case(self, case: Case) -> None:
        """There is no state between operations."""

    def push(self, setting: str) -> Result:
        """A setting of a push consumer."""
        return self.PUSH[setting]

    def pull(self, setting: str) -> Result:
        """A setting of a pull consumer."""
        return self.PULL[setting]

    def lite(self, setting: str) -> Result:
        """A setting of a lite pull consumer."""
        return self.LITE[setting]

    def threads(self, listener: str) -> Result:
        """The threads for a listener, the fewest and the most."""
        return self.PUSH["consumeThreadMin"], self.PUSH["consumeThreadMax"]

    def uses_vip(self, channel: str) -> bool:
        """Is the VIP channel on?"""
        return bool(self.PUSH["vipChannelEnabled"]) if channel == "unset" else channel == "on"

    def ask(self, request: str, channel: str, port: int) -> Result:
        """The port that a request goes to."""
        return port + self.VIP if self.uses_vip(channel) and request not in self.ORDINARY else port

    def wait(self, request: str) -> Result:
        """How long the answer to a request is waited for (ms)."""
        return self.WAITS[request]

    def calls(self) -> Methods:
        """The method that does each operation of the suite, by its class."""
        return {
            operations.UnsetPush: self.push,
            operations.UnsetPull: self.pull,
            operations.UnsetLite: self.lite,
            operations.CountThreads: self.threads,
            operations.AskPort: self.ask,
            operations.WaitFor: self.wait,
        }


PART = Defaults
