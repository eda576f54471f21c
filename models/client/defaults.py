"""What a consumer has whose application sets nothing, and which port of a broker its requests go to (DEFAULT-*, VIP-*).

Most consumers set a group, a name server, and nothing else. What they are then is a table by release:

=================================  ========  =========  ============
setting                            push      lite pull  pull
=================================  ========  =========  ============
messages of a pull                 32        10         as asked for
messages of a queue, their span    1000      1000       none
                                   2000      2000
MiB of a queue, from 4.2.0         100       100        none
messages of a listener's call      1         none       none
threads                            20, and   20         none
                                   up to 64
                                   before
                                   4.5.1
=================================  ========  =========  ============

A setting that the release has not, or that the kind of consumer has not, is None.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from rocketmq_conformance.models.client.client_rules import ClientRules
from rocketmq_conformance.models.outcome import Value
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.models.rule import Answer, Reason, Rule

RULES = (
    Rule(
        "DEFAULT-PUSH",
        "A push consumer that sets nothing asks for 32 messages at a time and without a pause, pulls no queue of which "
        "it has more than 1000 messages or a span of more than 2000 offsets, and gives a listener one message at a "
        "time.",
        "DefaultMQPushConsumer#pullBatchSize, #pullInterval, #pullThresholdForQueue, #consumeConcurrentlyMaxSpan, "
        "#consumeMessageBatchMaxSize @ 4.0.0, 4.9.8, 5.5.0",
    ),
    Rule(
        "DEFAULT-LISTENER",
        "A push consumer that sets nothing gives a listener 15 minutes, repeats after 1 s what an orderly one "
        "suspends, names no number of deliveries (-1), and from 4.7.1 waits for no listener when it is shut down.",
        "DefaultMQPushConsumer#consumeTimeout, #suspendCurrentQueueTimeMillis, #maxReconsumeTimes @ 4.0.0, 4.9.8, "
        "5.5.0; #awaitTerminationMillisWhenShutdown @ 4.7.1, 5.5.0",
    ),
    Rule(
        "DEFAULT-THREADS",
        "Listeners of a push consumer that sets nothing have 20 threads, orderly ones, too; before 4.5.1 the most is "
        "64.",
        "DefaultMQPushConsumer#consumeThreadMin, #consumeThreadMax, ConsumeMessageConcurrentlyService#consumeExecutor, "
        "ConsumeMessageOrderlyService#consumeExecutor @ 4.0.0, 4.5.0, 4.5.1, 5.5.0",
    ),
    Rule(
        "DEFAULT-BYTES",
        "From 4.2.0 a push consumer that sets nothing pulls no queue of which it has more than 100 MiB, has no limits "
        "for a topic (-1), and from 5.0.0-ALPHA takes 256 KiB with a pull.",
        "DefaultMQPushConsumer#pullThresholdSizeForQueue, #pullThresholdForTopic, #pullThresholdSizeForTopic @ 4.2.0, "
        "4.9.8, 5.5.0; #pullBatchSizeInBytes @ 5.0.0-ALPHA, 5.5.0",
    ),
    Rule(
        "DEFAULT-GROUP",
        "A consumer that sets nothing is one of a cluster, and divides queues by AVG; a push consumer, and from 4.6.1 "
        "a lite pull consumer, starts at the end (CONSUME_FROM_LAST_OFFSET).",
        "DefaultMQPushConsumer#messageModel, #consumeFromWhere, DefaultMQPullConsumer#messageModel, "
        "#allocateMessageQueueStrategy @ 4.0.0, 4.9.8, 5.5.0; DefaultLitePullConsumer#consumeFromWhere @ 4.6.1, 5.5.0",
    ),
    Rule(
        "DEFAULT-LITE",
        "A lite pull consumer that sets nothing asks for 10 messages at a time in 20 threads, until it has more than "
        "1000 messages or 100 MiB of a queue, a span of more than 2000, or 10000 messages of all; it polls for 5 s, "
        "and commits every 5 s by itself.",
        "DefaultLitePullConsumer#pullBatchSize, #pullThreadNums, #pullThresholdForQueue, #pullThresholdSizeForQueue, "
        "#consumeMaxSpan, #pullThresholdForAll, #pollTimeoutMillis, #autoCommit, #autoCommitIntervalMillis "
        "@ 4.6.0, 4.9.8, 5.5.0",
        releases="4.6.0+",
    ),
    Rule(
        "DEFAULT-PULL",
        "A pull consumer that sets nothing lets a broker hold its pulls for 20 s, waits 10 s for an answer, or 30 s "
        "when the broker may hold it, and counts 16 deliveries; a lite pull consumer has the same times.",
        "DefaultMQPullConsumer#brokerSuspendMaxTimeMillis, #consumerPullTimeoutMillis, "
        "#consumerTimeoutMillisWhenSuspend, #maxReconsumeTimes @ 4.0.0, 4.9.8, 5.5.0; "
        "DefaultLitePullConsumer#consumerPullTimeoutMillis @ 4.6.0, 5.5.0",
    ),
    Rule(
        "DEFAULT-CLIENT",
        "A consumer that sets nothing persists offsets every 5 s, and asks for routes and sends heartbeats every 30 s; "
        "it waits 3 s for answers about the group (a setting from 4.9.2 and 5.0.0-ALPHA), and 1 s after a pull that "
        "failed (one from 4.6.0).",
        "ClientConfig#persistConsumerOffsetInterval, #heartbeatBrokerInterval @ 4.0.0, 4.9.8, 5.5.0; "
        "#pollNameServerInterval @ 4.1.0, 5.5.0; #mqClientApiTimeout @ 4.9.2, 5.0.0-ALPHA, 5.5.0; "
        "DefaultMQPushConsumer#pullTimeDelayMillsWhenException @ 4.6.0, 5.5.0",
    ),
    Rule(
        "DEFAULT-POP",
        "From 5.0.0-PREVIEW a push consumer that sets nothing divides queues itself; where the broker does, and has it "
        "pop, it pops 32 messages at a time, for 60 s, up to 96 of a queue.",
        "DefaultMQPushConsumer#clientRebalance, #popBatchNums, #popInvisibleTime, #popThresholdForQueue "
        "@ 5.0.0-PREVIEW, 5.5.0",
    ),
    Rule(
        "DEFAULT-OFF",
        "Unless it is set, no expression is sent with a pull, no consumer is of a unit, and from 5.1.3 no heartbeat is "
        "brief. Consumers whose applications pull ask for the type STREAM from 4.9.4 and 5.0.0, and may rebalance.",
        "DefaultMQPushConsumer#postSubscriptionWhenPull, ClientConfig#unitMode @ 4.0.0, 4.9.8, 5.5.0; #useHeartbeatV2 "
        "@ 5.1.3, 5.5.0; #enableStreamRequestType @ 4.9.4, 5.0.0, 5.5.0; DefaultMQPullConsumer#enableRebalance "
        "@ 5.3.2, 5.5.0",
    ),
    Rule(
        "VIP-DEFAULT",
        "Unless it is set, the VIP channel is on up to 4.5.0, and off from 4.5.1.",
        "ClientConfig#vipChannelEnabled @ 4.0.0, 4.5.0, 4.5.1, 5.5.0",
    ),
    Rule(
        "VIP-PORT",
        "With the VIP channel on, what a consumer asks a broker goes to the broker's port less 2; pulls, heartbeats, "
        "one-way unlocks and the end of a client go to the port itself.",
        "MixAll#brokerVIPChannel, MQClientAPIImpl#queryConsumerOffset, #updateConsumerOffset, "
        "#updateConsumerOffsetOneway, #getMaxOffset, #getMinOffset, #searchOffset, #getConsumerIdListByGroup, "
        "#lockBatchMQ, #unlockBatchMQ, #consumerSendMessageBack, #pullMessage, #unregisterClient @ 4.0.0, 4.9.8, 5.5.0",
    ),
    Rule(
        "WAIT-ANSWER",
        "A consumer waits 5 s for the answer to a query or commit of an offset, 6 s for max, min and the offset of a "
        "time, 3 s for the members of its group, and 1 s for locks and unlocks.",
        "RemoteBrokerOffsetStore#fetchConsumeOffsetFromBroker, #updateConsumeOffsetToBroker, "
        "MQAdminImpl#timeoutMillis, MQClientInstance#findConsumerIdList, RebalanceImpl#lock, #unlock "
        "@ 4.0.0, 4.9.8, 5.5.0",
    ),
)

PUSH, PULL, LITE = "push", "pull", "lite pull"
KINDS = (PUSH, PULL, LITE)
#: What has threads.
CONCURRENT, ORDERLY = "concurrent", "orderly"
#: How the VIP channel is set.
UNSET, ON, OFF = "unset", "on", "off"
#: Requests that never go over the VIP channel, and those that do; the last two are not of every release.
ONE_WAY_COMMIT, ONE_WAY_UNLOCK = "UPDATE_CONSUMER_OFFSET, one way", "UNLOCK_BATCH_MQ, one way"
PLAIN_REQUESTS = ("PULL_MESSAGE", "HEART_BEAT", ONE_WAY_UNLOCK, "UNREGISTER_CLIENT")
VIP_REQUESTS = (
    *("QUERY_CONSUMER_OFFSET", "UPDATE_CONSUMER_OFFSET", ONE_WAY_COMMIT, "GET_MAX_OFFSET", "GET_MIN_OFFSET"),
    *("SEARCH_OFFSET_BY_TIMESTAMP", "GET_CONSUMER_LIST_BY_GROUP", "LOCK_BATCH_MQ", "UNLOCK_BATCH_MQ"),
    *("CONSUMER_SEND_MSG_BACK", "CHECK_CLIENT_CONFIG", "QUERY_ASSIGNMENT"),
)
#: How long a consumer waits for the answer to each request that it makes itself (ms).
WAITS: Mapping[str, int] = {
    **dict.fromkeys(("QUERY_CONSUMER_OFFSET", "UPDATE_CONSUMER_OFFSET", ONE_WAY_COMMIT), 5_000),
    **dict.fromkeys(("GET_MAX_OFFSET", "GET_MIN_OFFSET", "SEARCH_OFFSET_BY_TIMESTAMP"), 6_000),
    "GET_CONSUMER_LIST_BY_GROUP": 3_000,
    **dict.fromkeys(("LOCK_BATCH_MQ", "UNLOCK_BATCH_MQ", ONE_WAY_UNLOCK), 1_000),
}
#: How far below its port a broker listens for the requests of the VIP channel.
VIP_DISTANCE = 2


class Default(NamedTuple):
    """The default of a setting: its value in the releases of ``has``, and ``before`` in the others."""

    rule: str
    value: Value
    has: Callable[[ClientRules], bool] = lambda rules: True
    before: Value = None


def _of(rule: str, **values: Value) -> dict[str, Default]:
    return {name: Default(rule, value) for name, value in values.items()}


_ALL = {
    **_of("DEFAULT-GROUP", messageModel="CLUSTERING", allocateMessageQueueStrategy="AVG"),
    **_of(
        "DEFAULT-CLIENT",
        persistConsumerOffsetInterval=5_000,
        heartbeatBrokerInterval=30_000,
        pollNameServerInterval=30_000,
    ),
    "mqClientApiTimeout": Default("DEFAULT-CLIENT", 3_000, lambda rules: rules.sets_api_timeout),
    "pullTimeDelayMillsWhenException": Default("DEFAULT-CLIENT", 1_000, lambda rules: rules.retries_sooner),
    **_of("DEFAULT-OFF", unitMode=False),
    "useHeartbeatV2": Default("DEFAULT-OFF", False, lambda rules: rules.brief_heartbeats),
    "enableStreamRequestType": Default("DEFAULT-OFF", False, lambda rules: rules.streams),
    "vipChannelEnabled": Default("VIP-DEFAULT", False, lambda rules: rules.leaves_vip_off, True),
}
_PUSH = {
    **_of(
        "DEFAULT-PUSH",
        pullBatchSize=32,
        consumeMessageBatchMaxSize=1,
        pullThresholdForQueue=1_000,
        consumeConcurrentlyMaxSpan=2_000,
        pullInterval=0,
    ),
    **_of("DEFAULT-LISTENER", consumeTimeout=15, suspendCurrentQueueTimeMillis=1_000, maxReconsumeTimes=-1),
    "awaitTerminationMillisWhenShutdown": Default("DEFAULT-LISTENER", 0, lambda rules: rules.awaits_listeners),
    **_of("DEFAULT-THREADS", consumeThreadMin=20),
    "consumeThreadMax": Default("DEFAULT-THREADS", 20, lambda rules: rules.has_20_threads, 64),
    **{
        name: Default("DEFAULT-BYTES", value, lambda rules: rules.weighs)
        for name, value in (
            ("pullThresholdSizeForQueue", 100),
            ("pullThresholdForTopic", -1),
            ("pullThresholdSizeForTopic", -1),
        )
    },
    "pullBatchSizeInBytes": Default("DEFAULT-BYTES", 1 << 18, lambda rules: rules.limits_bytes),
    **_of("DEFAULT-GROUP", consumeFromWhere="CONSUME_FROM_LAST_OFFSET"),
    **{
        name: Default("DEFAULT-POP", value, lambda rules: rules.assigned)
        for name, value in (
            ("clientRebalance", True),
            ("popBatchNums", 32),
            ("popInvisibleTime", 60_000),
            ("popThresholdForQueue", 96),
        )
    },
    **_of("DEFAULT-OFF", postSubscriptionWhenPull=False),
}
_TIMES = _of("DEFAULT-PULL", consumerPullTimeoutMillis=10_000, consumerTimeoutMillisWhenSuspend=30_000)
_PULL = {
    **_TIMES,
    **_of("DEFAULT-PULL", brokerSuspendMaxTimeMillis=20_000, maxReconsumeTimes=16),
    "enableStreamRequestType": Default("DEFAULT-OFF", True, lambda rules: rules.streams),
    "enableRebalance": Default("DEFAULT-OFF", True, lambda rules: rules.skips_disabled),
}
_LITE = {
    **_TIMES,
    **_of(
        "DEFAULT-LITE",
        pullBatchSize=10,
        pullThreadNums=20,
        pullThresholdForQueue=1_000,
        pullThresholdSizeForQueue=100,
        consumeMaxSpan=2_000,
        pullThresholdForAll=10_000,
        pollTimeoutMillis=5_000,
        autoCommit=True,
        autoCommitIntervalMillis=5_000,
    ),
    "consumeFromWhere": Default("DEFAULT-GROUP", "CONSUME_FROM_LAST_OFFSET", lambda rules: rules.lite_starts),
    "enableStreamRequestType": Default("DEFAULT-OFF", True, lambda rules: rules.streams),
}
#: The settings of each kind of consumer, by the names that the Java client gives them.
DEFAULTS: Mapping[str, Mapping[str, Default]] = {PUSH: _ALL | _PUSH, PULL: _ALL | _PULL, LITE: _ALL | _LITE}
_WHY = {
    (kind, name): {
        there: Reason((one.rule,), f"{kind}, {name}" + ("" if there else ", another value or none"))
        for there in (True, False)
    }
    for kind, settings in DEFAULTS.items()
    for name, one in settings.items()
}
_THREADS = {there: Reason(("DEFAULT-THREADS",), "20" if there else "up to 64") for there in (True, False)}
_WAITS = {request: Reason(("WAIT-ANSWER",), f"waits for {request}") for request in WAITS}
_UNKNOWN = Reason(("VIP-PORT",), "not a request of the release")
_PORT = {
    (vip, over, unset): Reason(
        ("VIP-PORT", *(("VIP-DEFAULT",) if unset else ())),
        f"{'one' if vip else 'none'} of the VIP channel, which is {'on' if over else 'off'}{' unset' if unset else ''}",
    )
    for vip in (False, True)
    for over in (False, True)
    for unset in (False, True)
}


def defaults(profile: Profile, kind: str) -> dict[str, Value]:
    """What a consumer of a kind has of which nothing is set, by the name of each setting."""
    rules = ClientRules.of(profile)
    return {name: _value(rules, one)[0] for name, one in DEFAULTS[kind].items()}


def _value(rules: ClientRules, default: Default) -> tuple[Value, bool]:
    """The default in a release, and whether that is the newest releases'."""
    there = default.has(rules)
    return default.value if there else default.before, there


class DefaultsModel:
    """The handlers of one profile; there is no state."""

    __slots__ = ("_rules", "_values")

    def __init__(self, profile: Profile) -> None:
        self._rules = rules = ClientRules.of(profile)
        self._values: dict[tuple[str, str], tuple[Value, Reason]] = {}
        for (kind, name), why in _WHY.items():
            value, there = _value(rules, DEFAULTS[kind][name])
            self._values[kind, name] = value, why[there]

    def leave_unset(self, kind: str, state: None, setting: str) -> Answer[None]:
        """DEFAULT-*: the value of a setting."""
        value, why = self._values[kind, setting]
        return state, value, why

    def count_threads(self, state: None, listener: str) -> Answer[None]:
        """DEFAULT-THREADS: the fewest and the most threads; of both kinds of listeners the same."""
        there = self._rules.has_20_threads
        return state, (20, 20 if there else 64), _THREADS[there]

    def wait_for(self, state: None, request: str) -> Answer[None]:
        """WAIT-ANSWER: ms until the answer to a request counts as none."""
        return state, WAITS[request], _WAITS[request]

    def ask_port(self, state: None, request: str, channel: str, port: int) -> Answer[None]:
        """VIP-PORT: the port that a request goes to; None where the release does not know the request."""
        rules = self._rules
        known = {"CHECK_CLIENT_CONFIG": rules.selects, "QUERY_ASSIGNMENT": rules.assigned}
        if not known.get(request, True):
            return state, None, _UNKNOWN
        on = not rules.leaves_vip_off if channel == UNSET else channel == ON
        vip = request in VIP_REQUESTS
        return state, port - VIP_DISTANCE if vip and on else port, _PORT[vip, on, channel == UNSET]
