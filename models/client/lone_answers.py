"""The rules that show when whole consumers are answered in an unusual way about one thing alone, by what that is; their
sentences are in ``whole_answers``."""

from __future__ import annotations

from rocketmq_conformance.models.client.whole_moves import (
    EMPTY,
    MEMBERS,
    NO_BODY,
    NO_FIELD,
    NULL,
    PULL,
    ROUTE,
    SILENT,
    STATUSES,
    TOO_LATE,
    TWICE,
    Fail,
)
from rocketmq_conformance.models.rule import Reason

ALONE, CODE, FIELD, LIST = "WHOLE-ANS-ALONE", "WHOLE-ANS-CODE", "WHOLE-ANS-FIELD", "WHOLE-ANS-LIST"
#: By how an answer comes that is too many.
AGAIN = {TWICE: Reason(("WHOLE-ANS-TWICE",), TWICE), TOO_LATE: Reason(("WHOLE-ANS-LATE",), TOO_LATE)}


def lone_reasons(move: Fail | None, why: Reason) -> tuple[Reason, ...]:
    """The reasons of a request that fails, if one does, where ``why`` says what becomes of that: in which way it fails
    comes first, if it is one about one thing alone."""
    # a refusal that is taken for an answer is none to the client
    if move is None or move.queue is None or "WHOLE-MISTAKEN" in why.rules:
        return (why,)
    return way_of(move), why


def way_of(move: Fail) -> Reason:
    """In which way a request about one thing alone fails."""
    lacks = move.fault in (NO_FIELD, NO_BODY) or (move.request == PULL and move.fault in STATUSES)
    way = () if move.fault == SILENT else (LIST,) if move.fault in (EMPTY, NULL) else (FIELD if lacks else CODE,)
    scope = () if move.request in (MEMBERS, ROUTE) else (ALONE,)
    return Reason((*way, *scope), move.fault)
