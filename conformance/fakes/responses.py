"""Responses of the fake broker, and the two kinds of functions that make them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from rocketmq_conformance.conformance.adapter import Answered
from rocketmq_conformance.conformance.remoting.codes import Response
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.remoting.server import Peer
from rocketmq_conformance.models.java_text import parse_number
from rocketmq_conformance.models.outcome import Err

#: Answers a request that needs no connection, given by its code, header fields and body; both doors call it.
PlainHandler = Callable[[int, dict[str, str], bytes], Answered]
#: Answers a request of one connection; None when the response comes later or never. The TCP door alone calls it.
ConnectionHandler = Callable[[Peer, Command], Command | None]

#: Response codes by name.
CODES: dict[str, int] = {response.name: int(response) for response in Response}


def succeed(code: int, ext: dict[str, str], body: bytes) -> Answered:
    """SUCCESS and nothing else, to any request."""
    return 0, "", {}, b""


def refused(error: Err, remark: str = "") -> Answered:
    """The response code that an error of the model names."""
    return CODES[error.code], remark or error.code, {}, b""


def offset(result: object) -> Answered:
    """An offset that the model answered, or its error."""
    if type(result) is Err:
        return CODES[result.code], result.code, {}, b""
    return 0, "", {"offset": str(result)}, b""


def command(answered: Answered) -> Command:
    """A response as the TCP door sends it."""
    code, remark, ext, body = answered
    return Command(code, ext, body, remark=remark)


def document(value: Any) -> bytes:
    """A body in JSON, written as Java writes it."""
    return json.dumps(value, separators=(",", ":")).encode()


def required(ext: dict[str, str], name: str, bits: int = 64) -> int:
    """A number without which a request fails: ValueError, which makes a SYSTEM_ERROR (BQ-FIELD)."""
    number = parse_number(ext.get(name), bits)
    if number is None:
        raise ValueError(f"the field {name} is missing, or is no number of {bits} bits")
    return number


def place(ext: dict[str, str]) -> tuple[str, int]:
    """Topic and queue id that a request names."""
    return ext["topic"], required(ext, "queueId", 32)
