"""The small world of a client case: one group, a few queues, and the faults that its requests can meet."""

from __future__ import annotations

from rocketmq_conformance.models.message_queue import MessageQueue

GROUP = "G"
TOPIC = "T"
OTHER_TOPIC = "U"
RETRY_TOPIC = f"%RETRY%{GROUP}"
#: The name server knows no route for this topic.
LOST_TOPIC = "LOST"
BROKER = "broker-a"

#: Queues of a client case by index; operations name queues by this index.
QUEUES = (
    MessageQueue(TOPIC, BROKER, 0),
    MessageQueue(TOPIC, BROKER, 1),
    MessageQueue(OTHER_TOPIC, BROKER, 0),
    MessageQueue(RETRY_TOPIC, BROKER, 0),
    MessageQueue(LOST_TOPIC, "broker-lost", 0),
    # queues that only groups rebalance
    MessageQueue(TOPIC, BROKER, 2),
    MessageQueue(TOPIC, BROKER, 3),
    MessageQueue(TOPIC, BROKER, 4),
    MessageQueue(OTHER_TOPIC, BROKER, 1),
)
#: Index of the queue whose broker nobody knows.
LOST = 4
#: The queues of the topics that have a route, in the order of their ids.
TOPIC_QUEUES: dict[str, tuple[int, ...]] = {
    topic: tuple(at for at, queue in enumerate(QUEUES) if queue.topic == topic)
    for topic in (TOPIC, OTHER_TOPIC, RETRY_TOPIC)
}
#: "No queue": the null that a caller may pass.
NO_QUEUE = -1

#: How the scripted broker plays a request. "answer" is the honest answer; a name in capitals is that response
#: code; "no-field" is SUCCESS without the field; "silent" lets the caller time out; "cut" closes the connection.
FAULTS = (
    "answer",
    "QUERY_NOT_FOUND",
    "SYSTEM_ERROR",
    "SYSTEM_BUSY",
    "PULL_NOT_FOUND",
    "no-field",
    "silent",
    "cut",
)

#: How the scripted broker plays max, min and search: the same, and "negative" is SUCCESS with this offset.
BOUND_FAULTS = (*FAULTS, "negative")
NEGATIVE = -3

#: How the scripted broker plays a request for the members of the group: "empty" is a list of nobody, "no-body" is
#: SUCCESS without a list.
LIST_FAULTS = ("answer", "SYSTEM_ERROR", "empty", "no-body", "silent", "cut")

#: How the scripted broker plays requests to lock and unlock queues.
LOCK_FAULTS = ("answer", "SYSTEM_ERROR", "silent", "cut")

#: Client ids of the members of a group. Java sorts the second before the first: "0" comes before "@".
CLIENTS = ("10.0.0.1@a", "10.0.0.10@a", "10.0.0.2@a")
