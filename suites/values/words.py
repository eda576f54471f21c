"""The words of answers that several suites have in common."""

from __future__ import annotations

from typing import Any

from rocketmq_conformance.suites.declare.wording import (
    OFFSET_OR_NONE,
    OFFSETS,
    bare,
    fields,
    keyed,
    listed,
    numbers,
    plain,
)


def message_queue(one: Any) -> str:
    """A queue by its topic, its broker and its id."""
    topic, broker, number_of_queue = one
    return f"{topic}/{broker}/{number_of_queue}"


#: What a round of rebalance shows: the queues that are owned, and those that begin to be pulled.
ROUND = {"owned": numbers, "pulled": numbers, "begun": OFFSETS}
#: An answer to a pull: the response code, the next offset and the offsets of the messages; and with the bounds.
PULLED = fields({"status": bare, "next offset": plain, "messages": numbers})
BOUNDED = fields({"status": bare, "next offset": plain, "min": plain, "max": plain, "messages": numbers})
#: Min and max of a queue.
BOUNDS = fields({"min": plain, "max": plain})
#: Messages with the times at which they were stored.
STORED_AT = keyed(lambda at: f"message {at}", lambda at: f"stored at {at}")
#: A reset: the offsets, and those that members were notified of.
_RESET = {"reset": OFFSETS, "members are notified of": OFFSETS}
RESET = fields(_RESET)
#: The same, and the form in which members get theirs.
RESET_FORM = fields({**_RESET, "as": bare})
#: What a pull of a group's member asks for.
ASKED = fields({"offset": plain, "offset to commit": OFFSET_OR_NONE, "commits": plain})
#: Messages (offset, tag).
TAGGED = keyed(lambda at: f"message {at}", lambda tag: f"tag {tag}" if tag else "no tag")
#: A list of queues with topic and broker.
MESSAGE_QUEUES = listed(message_queue)


def _request(how: str, at: int) -> str:
    return f"{'message' if how == 'back' else how} at {at}"


def _sent_back(topic: Any, level: Any, message: Any, most: Any, *tried: Any) -> str:
    again = f", tries so far: {tried[0]}" if tried else ""
    return f"{message} of {topic} with delay level {level}, {most} tries at most{again}"


#: What consumers make of messages: those that were sent back, and the offset in memory.
CONSUMED = {
    "offset in memory": OFFSET_OR_NONE,
    "offset to commit": OFFSET_OR_NONE,
    "given": numbers,
    "sent back": keyed(_request, _sent_back, size=6, keys=2),
}
