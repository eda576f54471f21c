"""Small parts that the embedded broker's answers are made of."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from rocketmq_conformance.conformance.remoting.codes import Response
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.remoting.server import Peer
from rocketmq_conformance.models.outcome import Err

#: Answers one request of one connection; None when the answer comes later or never.
Answering = Callable[[Peer, Command], Command | None]


def done(peer: Peer, request: Command) -> Command:
    """SUCCESS and nothing else."""
    return Command(0)


def refused(error: Err, remark: str = "") -> Command:
    """The response code that an error of the model names."""
    return Command(int(Response[error.code]), remark=remark or error.code)


def offset(result: object) -> Command:
    """An offset that the model answered, or its error."""
    return refused(result) if isinstance(result, Err) else Command(0, {"offset": str(result)})


def document(value: Any) -> bytes:
    """A body in JSON."""
    return json.dumps(value, separators=(",", ":")).encode()


def optional(ext: dict[str, str], name: str) -> int | None:
    """A number that may be missing."""
    value = ext.get(name)
    return None if value is None else int(value)


def place(request: Command) -> tuple[str, int]:
    """Topic and queue id that a request names."""
    return request.ext["topic"], int(request.ext["queueId"])
