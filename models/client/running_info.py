"""What a client answers to GET_CONSUMER_RUNNING_INFO, which brokers send on for tools (INFO-*).

Of each queue a tool learns the offset, what is cached, and whether its process queue is locked or dropped. The offset
is read as a start is: from memory, then from the broker, whose answer goes to memory.
"""

from __future__ import annotations

from rocketmq_conformance.models.outcome import Err
from rocketmq_conformance.models.rule import Rule, reasons_by_kind

RULES = (
    Rule(
        "INFO-QUEUES",
        "A push consumer answers GET_CONSUMER_RUNNING_INFO with the queues that it owns, dropped ones too, and of each "
        "whether it is locked: in releases whose process queues are made locked, those of all consumers are.",
        "DefaultMQPushConsumerImpl#consumerRunningInfo, ProcessQueue#fillProcessQueueInfo @ 4.0.0, 4.9.8, 5.3.3",
    ),
    Rule(
        "INFO-OFFSET",
        "The offset of a queue is the one in memory, else the broker's, which goes to memory: a tool that asks has the "
        "timer send an offset that the consumer did not know. -1 stands for none, and -2 for one that cannot be read.",
        "DefaultMQPushConsumerImpl#consumerRunningInfo @ 4.0.0, 4.9.8, 5.3.3; RemoteBrokerOffsetStore#readOffset "
        "@ 4.0.0, 4.9.8, 5.3.3",
    ),
    Rule(
        "INFO-LITE",
        "A lite pull consumer names the topics that it is subscribed to, and from 5.1.1 on the queues that are "
        "assigned, with what is cached of each. Before, tools see no queue of it.",
        "DefaultLitePullConsumerImpl#consumerRunningInfo @ 4.6.0, 4.9.8, 5.1.0, 5.1.1, 5.3.3",
        releases="4.6.0+",
    ),
    Rule(
        "INFO-OTHERS",
        "A pull consumer names no queues. A client without a consumer of the group answers an error.",
        "DefaultMQPullConsumerImpl#consumerRunningInfo @ 4.0.0, 4.9.8, 5.3.3; MQClientInstance#consumerRunningInfo "
        "@ 4.0.0, 4.7.1, 4.8.0, 5.3.3",
    ),
)

#: The answer of a client without a consumer of the group.
NOBODY = Err("CLIENT")
REASONS = reasons_by_kind(("INFO-OTHERS",), "unknown group", "pull")
REASONS |= reasons_by_kind(("INFO-LITE",), "no queues", "assigned", "not shown")
REASONS |= reasons_by_kind(("INFO-LITE", "INFO-OFFSET"), "assigned, asks the broker")
REASONS |= reasons_by_kind(("INFO-QUEUES",), "owned")
REASONS |= reasons_by_kind(("INFO-QUEUES", "INFO-OFFSET"), "owned, asks the broker")
