"""Messages sent back to the broker: a request that names them, and a copy of them when that fails (CONS-BACK-*).

Requests that reach the broker are reported as tuples that begin with "back" or "copy":

==== ==========================================================================================
back commit log offset of the message, its topic, delay level, its id, most tries
copy the same, the id that it had when it was first sent ("" for none), and the number of tries
==== ==========================================================================================
"""

from __future__ import annotations

from functools import lru_cache

from rocketmq_conformance.models.client.process_queue_contents import CachedMessage
from rocketmq_conformance.models.client.topology import Topology
from rocketmq_conformance.models.outcome import Value
from rocketmq_conformance.models.rule import Rule

RULES = (
    Rule(
        "CONS-BACK",
        "A message is sent back by a request that names where it lies, its id, the topic that it was first sent to, "
        "the delay level, the group and how often it may be tried: 16 times unless the consumer says otherwise.",
        "DefaultMQPushConsumerImpl#sendMessageBack, MQClientAPIImpl#consumerSendMessageBack @ 4.0.0, 4.9.8, 5.5.0",
    ),
    Rule(
        "CONS-BACK-COPY",
        "When the request fails for any reason, a copy of the message is sent to the group's retry topic, at delay "
        "level 3 plus the times that it was tried, and counted as tried once more. Only when that fails too was it not "
        "sent back.",
        "DefaultMQPushConsumerImpl#sendMessageBack @ 4.0.0, 4.9.8, 5.0.0, 5.5.0",
    ),
    Rule(
        "CONS-BACK-BODY",
        "A message without a body cannot go back as a copy: the client's own producer sends nothing without a body.",
        "DefaultMQPushConsumerImpl#sendMessageBack, Validators#checkMessage @ 4.0.0, 4.9.8, 5.5.0",
    ),
    Rule(
        "CONS-BACK-ORIGIN",
        "A copy names the id of the message that it stands for if that was a copy itself; the id of a message that is "
        "none is lost before 5.4.0.",
        "DefaultMQPushConsumerImpl#sendMessageBack @ 4.9.8, 5.3.3, 5.4.0, 5.5.0; "
        "#sendMessageBackAsNormalMessage @ 5.3.3, 5.4.0, 5.5.0",
    ),
)

#: How the broker plays messages that come back: it takes them; refuses the request and takes the copy; refuses both;
#: refuses both of messages at odd offsets, as if these were too large.
BACK_FAULTS = ("answer", "copy", "refuse", "odd")
#: Distance of the queues' messages in the commit log.
LOG_DISTANCE = 1000
#: The most tries when the consumer does not set them.
DEFAULT_TRIES = 16
#: The delay level of a copy that was never tried before.
FIRST_LEVEL = 3

SentBackMessage = tuple[Value, ...]


def log_offset(queue: int, offset: int) -> int:
    """The offset of a message in the commit log, in bytes as far as the client knows."""
    return (queue + 1) * LOG_DISTANCE + offset


@lru_cache
def message_id(queue: int, offset: int) -> str:
    """The id of a message."""
    return f"ID-{queue}-{offset}"


def origin_id(topology: Topology, queue: int, offset: int) -> str:
    """The id that a message of the retry topic had when it was first sent; "" for other messages."""
    return f"ORIGIN-{offset}" if topology.topic_of[queue] == topology.retry_topic else ""


def first_topic(topology: Topology, queue: int) -> str:
    """The topic that messages of a queue were first sent to."""
    topic = topology.topic_of[queue]
    return topology.topic if topic == topology.retry_topic else topic


def is_refused(fault: str, offset: int) -> bool:
    """Does the broker refuse both forms of this message?"""
    return fault == "refuse" or (fault == "odd" and offset % 2 == 1)


def send_back(
    topology: Topology, message: CachedMessage, level: int, max_times: int, fault: str, keeps_origin: bool
) -> SentBackMessage | None:
    """CONS-BACK: the request of a message that the broker accepts, at a delay level; None when it accepts none.
    ``max_times`` -1: not set by the consumer."""
    _, queue, offset, size, times, _ = message
    if fault != "answer" and (is_refused(fault, offset) or (fault == "copy" and not size)):
        return None
    most, first = DEFAULT_TRIES if max_times == -1 else max_times, first_topic(topology, queue)
    if fault != "copy":
        return "back", log_offset(queue, offset), first, level, message_id(queue, offset), most
    return copy_of(topology, message, first, most, times + 1, keeps_origin)


def copy_of(
    topology: Topology, message: CachedMessage, topic: str, most: int, times: int, keeps_origin: bool
) -> SentBackMessage:
    """A copy of a message, as it reaches the retry topic."""
    _, queue, offset, _, tried, _ = message
    origin = origin_id(topology, queue, offset) or (message_id(queue, offset) if keeps_origin else "")
    return "copy", log_offset(queue, offset), topic, FIRST_LEVEL + tried, origin, most, times
