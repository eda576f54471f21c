"""What is in flight after a pop: acknowledgements, changes of the invisible time, and what comes back (POP-ACK-*).

A pop hides what it hands out for a while, and writes that down as a check point. An acknowledgement names one message
of a check point by its *handle*. What is not acknowledged until the time is over comes back through a retry topic, as a
copy with an offset of its own. A change of the time is a new check point, and acknowledges by the old handle.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from types import MappingProxyType
from typing import NamedTuple, TypeVar

from rocketmq_conformance.models.outcome import Err
from rocketmq_conformance.models.rule import Level, Reason, Rule, reasons_by_kind

_SOURCE = "AckMessageProcessor#appendAck, PopReviveService#mergeAndRevive @ 5.1.4, 5.3.3"
RULES = (
    Rule(
        "POP-HIDDEN",
        "A message that was popped is not handed out to its group again before its invisible time is over.",
        "PopMessageProcessor#popMsgFromQueue, PopReviveService#mergeAndRevive @ 5.0.0, 5.3.3",
        releases="5.0.0+",
    ),
    Rule(
        "POP-BACK",
        "A message that is not acknowledged comes back to its group after its invisible time, and its reconsumeTimes "
        "has grown by one; the broker itself never gives it up.",
        "PopReviveService#reviveRetry, #mergeAndRevive @ 5.0.0, 5.3.3",
        releases="5.0.0+",
    ),
    Rule(
        "POP-ACK-0",
        "A message that is acknowledged by the handle of its last pop, before its time is over, does not come back.",
        _SOURCE,
        releases="5.0.0+",
    ),
    Rule(
        "POP-ACK-1",
        "An acknowledgement is answered SUCCESS whatever it hits. One by an older handle, with another pop time or of "
        "another group acknowledges nothing: the message comes back all the same. So does one whose handle names "
        "another broker, from 5.3.1 on.",
        _SOURCE,
        releases="5.0.0+",
        level=Level.SHOULD,
    ),
    Rule(
        "POP-ACK-5",
        "A message that comes back has the name of its own topic, and its handle as the property POP_CK. In 5.0.0, and "
        "with popResponseReturnActualRetryTopic, it has the name of the retry topic.",
        "PopMessageProcessor#popMsgFromQueue @ 5.0.0, 5.1.0, 5.3.3",
        releases="5.0.0+",
        level=Level.SHOULD,
    ),
    Rule(
        "POP-ACK-8",
        "A change of the invisible time counts from the change, longer or shorter, and gives a new handle; the old one "
        "acknowledges nothing any more. A message that was acknowledged before comes back after it, too.",
        "ChangeInvisibleTimeProcessor#appendCheckPoint, #ackOrigin @ 5.1.4; "
        "ChangeInvisibleTimeProcessor#appendCheckPointThenAckOrigin @ 5.3.3",
        releases="5.0.0+",
        level=Level.SHOULD,
    ),
    Rule(
        "POP-ACK-12",
        "A batch of acknowledgements names messages by bits from the beginning of a pop. Bits of messages that the pop "
        "did not bring, and of offsets that the queue does not have, are passed over.",
        "AckMessageProcessor#appendAck @ 5.1.3, 5.3.3",
        releases="5.1.3+",
        level=Level.SHOULD,
    ),
    Rule(
        "POP-ACK-BAD",
        "An acknowledgement, or a change, is refused with TOPIC_NOT_EXIST, with MESSAGE_ILLEGAL for a queue that is "
        "not read, with NO_MESSAGE for an offset out of range, and with SYSTEM_ERROR for a handle that cannot be read, "
        "in this order. The offset of the next message is in range for an acknowledgement, for a change up to 5.3.1.",
        "AckMessageProcessor#processRequest @ 5.0.0, 5.3.3; ChangeInvisibleTimeProcessor#processRequest @ 5.0.0, 5.1.4",
        releases="5.0.0+",
        level=Level.SHOULD,
    ),
)

#: What identifies a handle.
Key = TypeVar("Key", bound=Hashable)


class Flight(NamedTuple):
    """A message in flight: when it is visible again, and how often it had come back when it was handed out."""

    visible: int
    times: int = 0


NOTHING_IN_FLIGHT: Mapping[Hashable, Flight] = MappingProxyType({})


def acknowledge(flights: Mapping[Key, Flight], key: Key | None) -> Mapping[Key, Flight]:
    """POP-ACK-0, POP-ACK-1: what is in flight after an acknowledgement by a handle, or by none that there is."""
    return {other: flight for other, flight in flights.items() if other != key}


def change(flights: Mapping[Key, Flight], key: Key, new: Key, visible: int, times: int) -> Mapping[Key, Flight]:
    """POP-ACK-8: what is in flight after a change by a handle, which makes a new one."""
    return {**acknowledge(flights, key), new: Flight(visible, times)}


def due(flights: Mapping[Key, Flight], now: int) -> list[Key]:
    """POP-BACK: the handles whose time is over, the oldest one first."""
    return sorted((key for key, flight in flights.items() if flight.visible <= now), key=lambda key: flights[key])


#: Requests about what is in flight, and what is wrong with one.
ACK, CHANGE, BATCH = "ack", "change", "batch"
NO_TOPIC, NO_QUEUE, NEGATIVE_QUEUE = "unknown topic", "no such queue", "negative queue"
BEYOND, NEXT, BEFORE, GARBAGE, SHORT = "beyond", "next offset", "before", "garbage", "short handle"
NO_ACKS, NO_BODY = "no acknowledgements", "no body"
FAULTS = (NO_TOPIC, NO_QUEUE, NEGATIVE_QUEUE, BEYOND, NEXT, BEFORE, GARBAGE, SHORT)
OF_BATCHES = (NO_ACKS, NO_BODY, GARBAGE, NO_TOPIC)

_CODES = {
    NO_TOPIC: Err("TOPIC_NOT_EXIST"),
    NO_QUEUE: Err("MESSAGE_ILLEGAL"),
    NEGATIVE_QUEUE: Err("MESSAGE_ILLEGAL"),
    BEYOND: Err("NO_MESSAGE"),
    BEFORE: Err("NO_MESSAGE"),
    GARBAGE: Err("SYSTEM_ERROR"),
    SHORT: Err("SYSTEM_ERROR"),
    NO_ACKS: Err("NO_MESSAGE"),
    NO_BODY: Err("NO_MESSAGE"),
}
_BAD = {
    request: reasons_by_kind(("POP-ACK-BAD",), *(f"{request}: {fault}" for fault in faults))
    for request, faults in ((ACK, FAULTS), (CHANGE, FAULTS))
}
_BAD[BATCH] = reasons_by_kind(("POP-ACK-12",), *(f"{BATCH}: {fault}" for fault in OF_BATCHES))


def refuses(request: str, fault: str, refuses_next: bool) -> tuple[Err | None, Reason]:
    """POP-ACK-BAD, POP-ACK-12: the answer to a request with a fault; ``refuses_next`` is whether a change of the next
    offset is refused."""
    why = _BAD[request][f"{request}: {fault}"]
    if request == BATCH and fault == NO_TOPIC:
        return None, why
    if fault == NEXT:
        return (_CODES[BEYOND] if request == CHANGE and refuses_next else None), why
    return _CODES[fault], why
