"""The fault script: a layer over the fake broker that plays kinds of requests by faults, the same at both doors.

A kind of fault covers one or more request codes. While it is armed the broker does not see these requests, unless the
fault lets one through. ``silent`` raises TimeoutError, ``cut`` ConnectionError, and the door does what these mean.
"""

from __future__ import annotations

from collections.abc import Mapping

from rocketmq_conformance.conformance.fakes.assignments import topic_of
from rocketmq_conformance.conformance.fakes.record import Record
from rocketmq_conformance.conformance.fakes.responses import CODES, Answered, document
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
    """The faults that are armed. ``record`` counts the requests for assignments."""

    def __init__(self, record: Record) -> None:
        self._record = record
        #: Faults by request code. Changed in place, so that a door can look at it without a call.
        self.armed: dict[int, str] = {}

    def arm(self, kind: str, fault: str) -> None:
        """Play the requests of a kind by ``fault`` from now on (``models.client.fixtures`` has those of each kind)."""
        for code in KINDS[kind]:
            if fault != ANSWER:
                self.armed[code] = fault
            else:
                self.armed.pop(code, None)

    def calm(self) -> None:
        """Answer everything honestly."""
        self.armed.clear()

    def play(self, code: int, ext: dict[str, str], body: bytes) -> Answered | None:
        """The response that the script gives to a request; None when the broker answers. TimeoutError: nobody answers;
        ConnectionError: the connection is cut."""
        fault = self.armed.get(code)
        if fault is None:
            return None
        if code in _SEND_BACKS:
            return faulty("SYSTEM_ERROR") if _refuses(fault, code, ext) else None
        if code == _ASSIGNMENT:
            topic = topic_of(body)
            fault = assignment_played(fault, self._record.assignments.get(topic, 0) + 1)
            if fault == ANSWER:
                return None
            self._record.ask_assignment(topic)
        return faulty(fault)


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
