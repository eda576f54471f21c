"""The rules that show when whole consumers are answered in an unusual way about one thing alone, by what that is; their
sentences are in ``whole_answers``, and in ``whole_listener`` those about one message alone."""

from __future__ import annotations

from collections.abc import Sequence

from rocketmq_conformance.models.client.whole_moves import (
    EMPTY,
    LATE,
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

#: How the request to take one message back is answered that is taken all the same.
TAKEN = frozenset({LATE, TWICE})
_BACK = Reason(("WHOLE-BACK-ALONE",), "not taken back"), Reason(("WHOLE-BACK-ONCE",), "taken back once")


def back_reasons(move: Fail | None) -> tuple[Reason, ...]:
    """What becomes of the request to take one message back that is answered in an unusual way, if it is."""
    return (_BACK[move.fault in TAKEN],) if move is not None and move.queue is not None else ()


def lone_reasons(move: Fail | None, why: Reason) -> tuple[Reason, ...]:
    """The reasons of a request that fails, if one does, where ``why`` says what becomes of that: in which way it fails
    comes first, if it is one about one thing alone."""
    # a refusal that is taken for an answer is none to the client
    if move is None or not move.is_alone or "WHOLE-MISTAKEN" in why.rules:
        return (why,)
    return way_of(move), why


def beside(reasons: Sequence[Reason]) -> str:
    """The end of a kind of state: was a queue taken over behind one that could not be read?"""
    unread = next((at for at, why in enumerate(reasons) if "WHOLE-UNREAD" in why.rules), len(reasons))
    taken = any(why.kind == "taken over" for why in reasons[unread:])
    return ", others are taken" if taken else ""


def way_of(move: Fail) -> Reason:
    """In which way a request about one thing alone fails."""
    lacks = move.fault in (NO_FIELD, NO_BODY) or (move.request == PULL and move.fault in STATUSES)
    way = () if move.fault == SILENT else (LIST,) if move.fault in (EMPTY, NULL) else (FIELD if lacks else CODE,)
    scope = () if move.request in (MEMBERS, ROUTE) else (ALONE,)
    return Reason((*way, *scope), move.fault)
