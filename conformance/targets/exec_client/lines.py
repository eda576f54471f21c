"""The lines between the kit and a program: what is sent, and what an answer has to be.

docs/reference/exec.md explains every line. Everything that is wrong with a line is a ProtocolError with one sentence.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from typing import Any

from rocketmq_conformance import __version__
from rocketmq_conformance.conformance.adapter import Answered, Case
from rocketmq_conformance.models import rulebook
from rocketmq_conformance.models.outcome import Err, Ok, Outcome, Unsupported, Value
from rocketmq_conformance.suites.declare.discovery import SUITES
from rocketmq_conformance.suites.declare.operation import Operation

#: The version of the protocol.
PROTOCOL = 1

#: The place of the answer itself among those of its parts that are sets.
WHOLE = -1

Json = dict[str, Any]
#: No message contains itself: none is searched for that.
_encoded = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode


class ProtocolError(Exception):
    """The program does not keep to the protocol; one sentence."""


def packed(message: Json) -> bytes:
    """A line, with its line break. It is pure ASCII."""
    return _encoded(message).encode() + b"\n"


def unpacked(line: bytes) -> Json:
    """The object in a line."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        raise ProtocolError(
            f"it wrote a line that is not JSON ({_excerpt(line)}): standard output carries the protocol alone, all "
            "else belongs on standard error"
        ) from None
    if not isinstance(message, dict):
        raise ProtocolError(f"it wrote a line that is no JSON object ({_excerpt(line)})")
    return message


# --- what is sent -----------------------------------------------------------------------------------------------


def hello() -> Json:
    """The first line."""
    return {"hello": {"protocol": PROTOCOL, "kit": __version__, "rulebook": rulebook.digest(), "suites": list(SUITES)}}


def reset(case: Case, *, pure: bool, sockets: bool) -> Json:
    """A case begins: of a pure suite its name and number are all that matters."""
    profile = case.profile
    begun: Json = {
        "suite": case.suite.family,
        "case": case.number,
        "profile": {"client": str(profile.client), "broker": str(profile.broker), "java": profile.java},
    }
    if not pure:
        begun |= {
            "group": case.group,
            "clients": case.clients,
            "queues": [[queue.topic, queue.broker, queue.id] for queue in case.queues],
            "directory": str(case.directory),
        }
        if sockets:
            begun["name_server"] = case.name_server()
    return begun


def step(operation: Operation) -> Json:
    """One operation, its arguments by name."""
    return {"do": operation.spec.name, "args": vars(operation)}


# --- what comes back --------------------------------------------------------------------------------------------


def outcome(message: Mapping[str, Any], sets: Sequence[int] = ()) -> Outcome:
    """The outcome in an answer; of its parts the ``sets`` are sorted, -1 being the answer itself."""
    if "ok" in message:
        value = value_of(message["ok"])
        return Ok(_sorted(value, sets) if sets else value)
    if "err" in message:
        code, definite = message["err"], message.get("definite", True)
        if not isinstance(code, str) or not code or not isinstance(definite, bool):
            raise ProtocolError(
                f'it answered {_shown(message)}: write {{"err": CODE}}, with "definite" true or false where it matters'
            )
        return Err(code, definite, str(message.get("detail", "")))
    if isinstance(message.get("unsupported"), str):
        return Unsupported(message["unsupported"] or "its program says so")
    raise ProtocolError(f'it answered {_shown(message)}, which has no "ok", "err" or "unsupported"')


def value_of(given: Any) -> Value:
    """A value as outcomes have it: tuples for lists."""
    kind = type(given)
    if kind is list:
        return tuple(map(value_of, given))
    if kind is int or kind is str or kind is bool or given is None:
        return given  # type: ignore[no-any-return]
    if kind is float:
        raise ProtocolError(f"it answered the number {given!r}: numbers are whole, of up to 64 bits, without a point")
    raise ProtocolError(
        f"it answered the object {_shown(given)}: a value is null, true, false, a number, text or a list"
    )


#: The step of an exchange that names none, and of one that belongs to the beginning of a case.
NO_STEP, BEGINNING = -2, -1
#: Address, code, header fields, body, one way.
Request = tuple[str, int, dict[str, str], bytes, bool]


def exchange(asked: Any) -> tuple[Any, Request, int]:
    """The id of an exchange, its request, and its step of a whole case, or NO_STEP."""
    try:
        body = base64.b64decode(asked.get("body") or "", validate=True)
        ext = asked.get("ext") or {}
        request = asked.get("address") or "", asked["code"], dict(ext), body, asked.get("one_way", False)
        number, at = asked["id"], asked.get("step", NO_STEP)
    except (AttributeError, KeyError, TypeError, ValueError, binascii.Error):
        raise ProtocolError(f"its exchange cannot be read ({_shown(asked)}): it needs an id and a code") from None
    right = (
        type(request[0]) is str
        and type(request[1]) is int
        and all(type(name) is str and type(text) is str for name, text in ext.items())
        and type(request[4]) is bool
        and type(number) in (int, str)
        and type(at) is int
    )
    if not right:
        raise ProtocolError(
            f"its exchange cannot be read ({_shown(asked)}): id is a number or a text, code a number, ext has texts, "
            "one_way is true or false"
        )
    return number, request, at


def exchanged(number: Any, answer: Answered) -> Json:
    """The answer to an exchange."""
    code, remark, ext, body = answer
    shown = base64.b64encode(body).decode()
    return {"exchanged": {"id": number, "code": code, "remark": remark, "ext": ext, "body": shown}}


def unanswered(number: Any, fault: str) -> Json:
    """No answer to an exchange: ``fault`` is "silent" or "cut"."""
    return {"exchanged": {"id": number, "fault": fault}}


def _sorted(value: Value, sets: Sequence[int]) -> Value:
    if not isinstance(value, tuple):
        return value
    if WHOLE in sets:
        return tuple(sorted(value, key=_order))
    return tuple(
        tuple(sorted(part, key=_order)) if at in sets and isinstance(part, tuple) else part
        for at, part in enumerate(value)
    )


def _order(value: Any) -> Any:
    """A key by which values of any kinds can be sorted: numbers by size, null first."""
    if value is None:
        return (0,)
    if isinstance(value, (bool, int)):
        return (1, value)
    return (2, value) if isinstance(value, str) else (3, tuple(map(_order, value)))


def _shown(value: Any) -> str:
    text = json.dumps(value, default=str)
    return text if len(text) <= 120 else text[:119] + "…"


def _excerpt(line: bytes) -> str:
    text = repr(line[:80].decode("utf-8", "replace"))
    return text if len(line) <= 80 else f"{text[:-1]}…'"
