"""The fault script: a layer over the fake broker that plays kinds of requests by faults, the same at both doors.

A kind of fault covers one or more request codes. While it is armed the script stands in the place of their handlers,
and asks these only for what the fault lets through. ``silent`` raises TimeoutError, ``cut`` ConnectionError, and the
door does what these mean.
"""

from __future__ import annotations

from collections.abc import Mapping

from rocketmq_conformance.conformance.fakes.assignments import topic_of
from rocketmq_conformance.conformance.fakes.record import Record
from rocketmq_conformance.conformance.fakes.responses import CODES, Answered, PlainHandler, document
from rocketmq_conformance.conformance.fakes.send_backs import SEND, SEND_BACK, SEND_SHORT, place_of
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.models.client.fixtures import NEGATIVE, assignment_played
from rocketmq_conformance.models.client.sent_back import LIES_APART, refused

#: The honest answer.
ANSWER = "answer"
#: The requests of each kind of fault.
KINDS: Mapping[str, tuple[int, ...]] = {
    "fault": (int(Request.QUERY_CONSUMER_OFFSET), int(Request.UPDATE_CONSUMER_OFFSET)),
    "bound_fault": (
        int(Request.GET_MAX_OFFSET),
        int(Request.GET_MIN_OFFSET),
        int(Request.SEARCH_OFFSET_BY_TIMESTAMP),
    ),
    "list_fault": (int(Request.GET_CONSUMER_LIST_BY_GROUP),),
    "back_fault": (SEND_BACK, SEND, SEND_SHORT),
    "lock_fault": (int(Request.LOCK_BATCH_MQ), int(Request.UNLOCK_BATCH_MQ)),
    "assign_fault": (int(Request.QUERY_ASSIGNMENT),),
    "beat_fault": (int(Request.HEART_BEAT),),
}
_SEND_BACKS = frozenset(KINDS["back_fault"])
_ASSIGNMENT = int(Request.QUERY_ASSIGNMENT)
_NO_MEMBERS = document({"consumerIdList": []})


class FaultScript:
    """The faults that are armed, over the handlers of a broker. ``record`` counts the requests for assignments."""

    def __init__(self, honest: Mapping[int, PlainHandler], record: Record) -> None:
        self._honest = honest
        self._record = record
        self._armed: dict[int, str] = {}
        #: Who answers, by request code: the honest handlers, and the script where a fault is armed.
        self.handlers: dict[int, PlainHandler] = {}

    def arm(self, kind: str, fault: str) -> None:
        """Play the requests of a kind by ``fault`` from now on (``models.client.fixtures`` has those of each kind)."""
        for code in KINDS[kind]:
            if fault != ANSWER:
                self._armed[code] = fault
                self.handlers[code] = self._play
            elif code in self._armed:
                del self._armed[code]
                self.handlers[code] = self._honest[code]

    def calm(self) -> None:
        """Answer everything honestly."""
        for code in self._armed:
            self.handlers[code] = self._honest[code]
        self._armed.clear()

    def armed(self, kind: str) -> str:
        """The fault by which the requests of a kind are played."""
        return self._armed.get(KINDS[kind][0], ANSWER)

    def plays(self, code: int) -> bool:
        """Does the script answer requests of this code?"""
        return code in self._armed

    def _play(self, code: int, ext: dict[str, str], body: bytes) -> Answered:
        """TimeoutError: nobody answers; ConnectionError: the connection is cut."""
        fault = self._armed[code]
        if code in _SEND_BACKS:
            if _refuses(fault, code, ext):
                return faulty("SYSTEM_ERROR")
            fault = ANSWER
        elif code == _ASSIGNMENT:
            topic = topic_of(body)
            fault = assignment_played(fault, self._record.assignments.get(topic, 0) + 1)
            if fault != ANSWER:
                self._record.ask_assignment(topic)
        return self._honest[code](code, ext, body) if fault == ANSWER else faulty(fault)


def _refuses(fault: str, code: int, ext: dict[str, str]) -> bool:
    """Is a message refused that is sent back, or sent as a copy?"""
    if fault == "copy":
        return code == SEND_BACK
    place = place_of(code, ext)
    return place is not None and refused(fault, place % LIES_APART)


def faulty(fault: str) -> Answered:
    """The response that a fault makes of any request; TimeoutError or ConnectionError when it is none."""
    if fault == "silent":
        raise TimeoutError("the fault script keeps the broker silent")
    if fault == "cut":
        raise ConnectionError("the fault script cuts the connection")
    if fault in ("no-field", "no-body"):
        return 0, "", {}, b""
    if fault == "negative":
        return 0, "", {"offset": str(NEGATIVE)}, b""
    if fault == "null":
        return 0, "", {}, b"{}"
    if fault == "empty":
        return 0, "", {}, _NO_MEMBERS
    return CODES[fault], "scripted", {}, b""
