"""Messages that come back to the scripted broker: the requests that bring them, read and answered."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from rocketmq_conformance.conformance.remoting.codes import Request, Response
from rocketmq_conformance.models.client.fixtures import RETRY_TOPIC
from rocketmq_conformance.models.client.sent_back import LIES_APART, Gone, refused

Answered = tuple[int, str, dict[str, str], bytes]

_BACK, _SEND, _SEND_SHORT = (
    int(request) for request in (Request.CONSUMER_SEND_MSG_BACK, Request.SEND_MESSAGE, Request.SEND_MESSAGE_V2)
)
#: Requests that bring a message back.
RETURNS = frozenset({_BACK, _SEND, _SEND_SHORT})
#: Names of a send's fields, long and as SEND_MESSAGE_V2 has them.
_TOPIC, _PROPERTIES, _TIMES, _MOST = (
    ("topic", "b"),
    ("properties", "i"),
    ("reconsumeTimes", "j"),
    ("maxReconsumeTimes", "l"),
)
_REFUSED: Answered = int(Response.SYSTEM_ERROR), "scripted", {}, b""
_ACCEPTED: Answered = 0, "", {}, b""
_STORED: Answered = 0, "", {"msgId": "7F00000100002A9F0000000000000000", "queueId": "0", "queueOffset": "0"}, b""


def taken_back(code: int, ext: dict[str, str], fault: str) -> tuple[Gone | None, Answered]:
    """What is told of the message if it is taken, and the response.

    ``fault`` is one of ``models.client.sent_back.BACK_FAULTS``.
    """
    if code == _BACK:
        place = int(ext["offset"])
        if fault == "copy" or (fault != "answer" and refused(fault, place % LIES_APART)):
            return None, _REFUSED
        level, most = int(ext["delayLevel"]), int(ext["maxReconsumeTimes"])
        return ("back", place, ext["originTopic"], level, ext["originMsgId"], most), _ACCEPTED
    short = code == _SEND_SHORT
    properties = properties_of(ext[_PROPERTIES[short]])
    place = int(properties["KEYS"])
    if refused(fault, place % LIES_APART):
        return None, _REFUSED
    how = "copy" if ext[_TOPIC[short]] == RETRY_TOPIC else ext[_TOPIC[short]]
    level, most, times = int(properties["DELAY"]), int(ext[_MOST[short]]), int(ext[_TIMES[short]])
    origin = properties.get("ORIGIN_MESSAGE_ID", "")
    return (how, place, properties["RETRY_TOPIC"], level, origin, most, times), _STORED


@lru_cache(maxsize=1024)
def properties_of(text: str) -> Mapping[str, str]:
    """A message's properties, as a request writes them."""
    pairs = (entry.partition("\x01") for entry in text.split("\x02") if entry)
    return {name: value for name, _, value in pairs}
