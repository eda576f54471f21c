"""Fixture: the group, topics and queues of every client case, and the faults that requests can meet."""

from __future__ import annotations

from rocketmq_conformance.models.message_queue import MessageQueue

GROUP = "G"
#: The group of another consumer on the same client instance; its members are those of GROUP.
OTHER_GROUP = f"{GROUP}-pull"
TOPIC = "T"
OTHER_TOPIC = "U"
RETRY_TOPIC = f"%RETRY%{GROUP}"
#: A topic that members subscribe to only when a plan says so.
NEXT_TOPIC = "NEXT"
#: The prefix that makes a group's name the name of its retry topic.
RETRY_PREFIX = "%RETRY%"
#: A topic without a route at the name server.
LOST_TOPIC = "LOST"
BROKER = "broker-a"


def pop_retry_topic(topic: str) -> str:
    """The retry topic of a topic's popped messages."""
    return f"{RETRY_TOPIC}_{topic}"


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
    # queues of groups whose broker assigns them
    MessageQueue(NEXT_TOPIC, BROKER, 0),
    MessageQueue(pop_retry_topic(TOPIC), BROKER, 0),
    MessageQueue(pop_retry_topic(OTHER_TOPIC), BROKER, 0),
    MessageQueue(pop_retry_topic(NEXT_TOPIC), BROKER, 0),
)
#: The topic of each queue, and the key of the group's stored offset.
TOPIC_OF = tuple(queue.topic for queue in QUEUES)
STORED_KEYS = tuple((GROUP, queue.topic, queue.id) for queue in QUEUES)
#: Index of the queue whose broker has no address.
LOST_QUEUE = 4
#: The queues of the topics that have a route, in the order of their ids.
TOPIC_QUEUES: dict[str, tuple[int, ...]] = {
    topic: tuple(at for at, queue in enumerate(QUEUES) if queue.topic == topic)
    for topic in (TOPIC, OTHER_TOPIC, RETRY_TOPIC)
}
#: The same with the topics of groups whose broker assigns queues.
ROUND_QUEUES: dict[str, tuple[int, ...]] = TOPIC_QUEUES | {
    topic: tuple(at for at, queue in enumerate(QUEUES) if queue.topic == topic)
    for topic in (NEXT_TOPIC, pop_retry_topic(TOPIC), pop_retry_topic(OTHER_TOPIC), pop_retry_topic(NEXT_TOPIC))
}
#: "No queue": the null that a caller may pass.
NO_QUEUE = -1

#: How the fake broker plays a request. "answer" is the correct answer; a name in capitals is that response
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

#: How the fake broker plays max, min and search: the same, and "negative" is SUCCESS with this offset.
BOUND_FAULTS = (*FAULTS, "negative")
NEGATIVE_OFFSET = -3

#: How the fake broker plays a request for the members of the group: "empty" is an empty list, "no-body" is
#: SUCCESS without a list.
LIST_FAULTS = ("answer", "SYSTEM_ERROR", "empty", "no-body", "silent", "cut")

#: How the fake broker plays requests to lock and unlock queues.
LOCK_FAULTS = ("answer", "SYSTEM_ERROR", "silent", "cut")

#: How the fake broker plays heartbeats.
BEAT_FAULTS = ("answer", "SYSTEM_ERROR", "silent", "cut")

#: How the fake broker plays requests for an assignment: "no-body" is SUCCESS without a body, "null" one whose body
#: has no assignments; "silent-once" and "silent-twice" lose the first requests of a topic, "answer-once" answers the
#: first and refuses the others, "error-once" refuses the first.
ASSIGN_FAULTS = (
    "answer",
    "SYSTEM_ERROR",
    "silent",
    "cut",
    "no-body",
    "null",
    "silent-once",
    "silent-twice",
    "answer-once",
    "error-once",
)


def nth_assignment_fault(fault: str, nth: int) -> str:
    """How the nth request for the assignment of one topic is played: one of the first six ASSIGN_FAULTS."""
    if fault == "silent-once":
        return "silent" if nth == 1 else "answer"
    if fault == "silent-twice":
        return "silent" if nth <= 2 else "answer"
    if fault == "answer-once":
        return "answer" if nth == 1 else "SYSTEM_ERROR"
    if fault == "error-once":
        return "SYSTEM_ERROR" if nth == 1 else "answer"
    return fault


#: The instance names of whole consumers, which are also their client ids where those that were seen are not known.
MEMBERS = ("member-0", "member-1", "member-2")
#: The consumer timestamp of whole consumers: 2024-07-01T00:00Z, the time of offset 6.
TIMESTAMP_TEXT = "20240701000000"
#: "Every queue" and "no stored offset" in operations on whole consumers.
EVERY, NOTHING = -1, -1

#: What members are set up with, beside what a plan says: the ConsumeTimestamp (between two messages, in every time
#: zone), the queues of CONFIG, the rooms of MACHINE_ROOM, and the number of a client's virtual nodes.
MEMBER_TIMESTAMP = "20240301000000"
MEMBER_TIME = MEMBER_TIMESTAMP, "UTC"
CONFIGURED = (1, 2)
ALLOWED_ROOMS = ("room",)
VIRTUAL_NODES = 10
#: The rooms of queues, to MACHINE_ROOM_NEARBY: of those with even ids that of the first member, of the others one
#: without a member.
QUEUE_ROOMS = ("10.0.0.1", "10.0.0.3")


#: Client ids of the members of a group. Java sorts the second before the first: "0" comes before "@".
CLIENTS = ("10.0.0.1@a", "10.0.0.10@a", "10.0.0.2@a")

#: What the listener of a whole consumer does with the messages that it is given; it HOLDS them by not returning.
SUCCEEDS, FAILS, HOLDS = "succeeds", "fails", "holds"
