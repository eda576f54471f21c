"""The fault script: a layer over the fake broker that plays kinds of requests by faults, the same at both doors.

A kind of fault covers one or more request codes. While it is armed the script stands in the place of their handlers,
and asks these only for what the fault lets through. ``silent`` raises TimeoutError, ``cut`` ConnectionError, and the
door does what these mean.

The faults of ``remoting/fault.py`` are another layer, around the TCP door alone: bytes that are no frame, an answer
that is late, a fault that is played so many times. They are for clients that run by themselves. These here are part of
a plan, the models know what they lead to, and so they are the same without a wire: ``no-field`` here is a response
without its field to a request that was not done, there the broker's own response, of which a field is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from rocketmq_conformance.conformance.adapter import Answered
from rocketmq_conformance.conformance.fakes.assignments import topic_of
from rocketmq_conformance.conformance.fakes.record import Record
from rocketmq_conformance.conformance.fakes.responses import CODES, PlainHandler, document
from rocketmq_conformance.conformance.fakes.send_backs import SEND, SEND_BACK, SEND_SHORT, place_of
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.models.client.plan_words import NEGATIVE_OFFSET, nth_assignment_fault
from rocketmq_conformance.models.client.send_back import LOG_DISTANCE, is_refused
from rocketmq_conformance.models.client.whole_moves import NO_BODY, NO_FIELD, STATUSES, UNKNOWN
from rocketmq_conformance.suites.declare.domain import ANSWER, Requests

_UPDATE = int(Request.UPDATE_CONSUMER_OFFSET)
#: The requests of each kind of fault.
KINDS: Mapping[Requests, tuple[int, ...]] = {
    Requests.OFFSETS: (int(Request.QUERY_CONSUMER_OFFSET), _UPDATE),
    Requests.BOUNDS: (
        int(Request.GET_MAX_OFFSET),
        int(Request.GET_MIN_OFFSET),
        int(Request.SEARCH_OFFSET_BY_TIMESTAMP),
    ),
    Requests.MEMBERS: (int(Request.GET_CONSUMER_LIST_BY_GROUP),),
    Requests.SEND_BACK: (SEND_BACK, SEND, SEND_SHORT),
    Requests.LOCKS: (int(Request.LOCK_BATCH_MQ), int(Request.UNLOCK_BATCH_MQ)),
    Requests.ASSIGNMENTS: (int(Request.QUERY_ASSIGNMENT),),
    Requests.HEARTBEATS: (int(Request.HEART_BEAT),),
}
_KIND_OF = {code: kind for kind, codes in KINDS.items() for code in codes}
#: The responses of the other faults: any response code by its name, and these.
_RESPONSES: Mapping[str, Answered] = {name: (code, "scripted", {}, b"") for name, code in CODES.items()} | {
    UNKNOWN: (int(UNKNOWN), "scripted", {}, b""),
    "no-field": (0, "", {}, b""),
    "no-body": (0, "", {}, b""),
    "negative": (0, "", {"offset": str(NEGATIVE_OFFSET)}, b""),
    "null": (0, "", {}, b"{}"),
    "empty": (0, "", {}, document({"consumerIdList": []})),
}


class Overlay(NamedTuple):
    """Handlers by request code: while faults are armed, and those in whose place they stand."""

    armed: dict[int, PlainHandler]
    honest: dict[int, PlainHandler]


class FaultScript:
    """The faults that are armed, over the handlers of a broker. ``record`` is given the commits and the requests for
    assignments that they meet."""

    def __init__(self, honest: Mapping[int, PlainHandler], record: Record) -> None:
        self._honest = honest
        self._record = record
        #: Handlers by request code: the honest ones, and the script's where a fault is armed.
        self.handlers: dict[int, PlainHandler] = {}
        #: The honest handlers of all kinds.
        self._calm: dict[int, PlainHandler] = {}
        #: The handlers of each kind, by fault, as soon as they were wanted once.
        self._players: dict[Requests, dict[str, dict[int, PlainHandler]]] = {kind: {} for kind in KINDS}

    def add(self, handlers: Mapping[int, PlainHandler]) -> None:
        """Add honest handlers, over which faults can be armed."""
        self.handlers.update(handlers)
        self._calm.update({code: handler for code, handler in handlers.items() if code in _KIND_OF})

    def arm(self, kind: Requests, fault: str) -> None:
        """Play the requests of a kind by ``fault`` from now on (``plan_words`` has those of each kind)."""
        self.handlers.update(self._play(kind, fault))

    def overlay(self, faults: Iterable[tuple[Requests, str]]) -> Overlay:
        """The handlers of several kinds that are played by faults: to be put over the others, and taken away again."""
        armed: dict[int, PlainHandler] = {}
        for kind, fault in faults:
            armed.update(self._play(kind, fault))
        return Overlay(armed, {code: self._honest[code] for code in armed})

    def _play(self, kind: Requests, fault: str) -> dict[int, PlainHandler]:
        """The handlers of a kind while its requests are played by a fault."""
        found = self._players[kind].get(fault)
        if found is None:
            player = self._player(kind, fault)
            found = self._players[kind][fault] = {code: player or self._honest[code] for code in KINDS[kind]}
        return found

    def calm(self) -> None:
        """Answer everything honestly."""
        self.handlers.update(self._calm)

    def armed(self, kind: Requests) -> str:
        """The fault by which the requests of a kind are played."""
        now = self.handlers[KINDS[kind][0]]
        played = [fault for fault, players in self._players[kind].items() if now in players.values()]
        return played[0] if played else ANSWER

    def plays(self, code: int) -> bool:
        """Does the script answer requests of this code?"""
        return code in self._calm and self.handlers[code] is not self._calm[code]

    def _player(self, kind: Requests, fault: str) -> PlainHandler | None:
        """The handler that plays the requests of a kind by a fault; None when they are answered honestly."""
        honest, record = self._honest, self._record

        def refuse(code: int, ext: dict[str, str], body: bytes) -> Answered:
            return faulty("SYSTEM_ERROR") if _refuses(fault, code, ext) else honest[code](code, ext, body)

        def assign(code: int, ext: dict[str, str], body: bytes) -> Answered:
            topic = topic_of(body)
            played = nth_assignment_fault(fault, record.assignments.get(topic, 0) + 1)
            if played == ANSWER:
                return honest[code](code, ext, body)
            record.ask_assignment(topic)
            return faulty(played)

        def play(code: int, ext: dict[str, str], body: bytes) -> Answered:
            if code == _UPDATE:
                record.commit(ext)
            return faulty(fault)

        if fault == ANSWER:
            return None
        return refuse if kind is Requests.SEND_BACK else assign if kind is Requests.ASSIGNMENTS else play


def _refuses(fault: str, code: int, ext: dict[str, str]) -> bool:
    """Is a message refused that is sent back, or sent as a copy?"""
    if fault == "copy":
        return code == SEND_BACK
    place = place_of(code, ext)
    return place is not None and is_refused(fault, place % LOG_DISTANCE)


def faulty(fault: str) -> Answered:
    """The response that a fault makes of any request; TimeoutError or ConnectionError when it is none."""
    if fault == "silent":
        raise TimeoutError("the fault script keeps the broker silent")
    if fault == "cut":
        raise ConnectionError("the fault script cuts the connection")
    code, remark, ext, body = _RESPONSES[fault]
    return code, remark, {**ext}, body


def faulty_pull(fault: str, asked: str) -> Answered:
    """The same for a pull from an offset, which may also have no messages where it has found some (no-body), and else
    does not say where to go on (a status, no-field)."""
    if fault not in (NO_BODY, NO_FIELD, *STATUSES):
        return faulty(fault)
    following = str(int(asked) + 1)
    ext = {"suggestWhichBrokerId": "0", "minOffset": "0", "maxOffset": following}
    if fault == NO_BODY:
        ext["nextBeginOffset"] = following
    return CODES.get(fault, 0), "scripted", ext, b""
