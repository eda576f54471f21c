"""The operations of ``broker-doubt`` as jobs: commits and queries, and commits whose answer nobody waits for."""

from __future__ import annotations

import socket
from collections.abc import Callable

from rocketmq_conformance.conformance.remoting.frame import Command, encode
from rocketmq_conformance.conformance.targets.broker import requests
from rocketmq_conformance.conformance.targets.broker.jobs import Names, Requests
from rocketmq_conformance.suites.broker_doubt import MIDDLE

#: Seconds that a broker may take to accept a connection.
_PATIENCE = 5.0


def send_and_cut(host: str, port: int, ask: requests.Ask, cut: str) -> None:
    """Send a request, or the first half of it, over a connection of its own, and close that."""
    frame = encode(Command(ask.code, ask.ext, ask.body, opaque=1))
    with socket.create_connection((host, port), timeout=_PATIENCE) as connection:
        connection.sendall(frame[: len(frame) // 2] if cut == MIDDLE else frame)


def _commit_unheard(names: Names, group: int, topic: int, queue: int, offset: int | None, cut: str) -> Requests:
    names.cut(requests.commit(names.used_group(group), names.topic(topic), queue, offset), cut)
    yield 0.0  # others go on first: the broker may or may not have seen it by the next request
    raise TimeoutError("the connection was cut before the answer came")


#: By the operation's name; the others are those of the other suites.
OPERATIONS: dict[str, Callable[..., Requests]] = {"commit_unheard": _commit_unheard}
