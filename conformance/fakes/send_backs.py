"""Messages that clients send back because they were not consumed: the requests, read.

A client names the message (CONSUMER_SEND_MSG_BACK), or sends a copy of it to the group's retry topic.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from rocketmq_conformance.conformance.fakes.record import SentBackMessage
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.suites.declare.topologies import RETRY_TOPIC

SEND_BACK, SEND, SEND_SHORT = (
    int(request) for request in (Request.CONSUMER_SEND_MSG_BACK, Request.SEND_MESSAGE, Request.SEND_MESSAGE_V2)
)
#: Names of a send's fields, long and as SEND_MESSAGE_V2 has them.
_TOPIC, _PROPERTIES, _TIMES, _MOST = (
    ("topic", "b"),
    ("properties", "i"),
    ("reconsumeTimes", "j"),
    ("maxReconsumeTimes", "l"),
)


def sent_back(ext: Mapping[str, str]) -> SentBackMessage:
    """The message that a request to send it back names."""
    level, most = int(ext["delayLevel"]), int(ext["maxReconsumeTimes"])
    return "back", int(ext["offset"]), ext["originTopic"], level, ext["originMsgId"], most


def copied(code: int, ext: Mapping[str, str]) -> SentBackMessage | None:
    """The message that is sent as a copy of one that was not consumed; None for any other message."""
    short = code == SEND_SHORT
    properties = properties_of(ext.get(_PROPERTIES[short], ""))
    origin = properties.get("RETRY_TOPIC")
    if origin is None:
        return None
    how = "copy" if ext[_TOPIC[short]] == RETRY_TOPIC else ext[_TOPIC[short]]
    level, most, times = int(properties["DELAY"]), int(ext[_MOST[short]]), int(ext[_TIMES[short]])
    return how, int(properties["KEYS"]), origin, level, properties.get("ORIGIN_MESSAGE_ID", ""), most, times


def place_of(code: int, ext: Mapping[str, str]) -> int | None:
    """Where the message lies that a request sends back, in either way; None for any other message."""
    if code == SEND_BACK:
        return int(ext["offset"])
    properties = properties_of(ext.get(_PROPERTIES[code == SEND_SHORT], ""))
    return int(properties["KEYS"]) if "RETRY_TOPIC" in properties else None


@lru_cache(maxsize=1024)
def properties_of(text: str) -> Mapping[str, str]:
    """A message's properties, as a request writes them."""
    pairs = (entry.partition("\x01") for entry in text.split("\x02") if entry)
    return {name: value for name, _, value in pairs}
