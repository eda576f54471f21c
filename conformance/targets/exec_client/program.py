"""A running program: requests with numbers, the exchanges inside them, and time limits."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from rocketmq_conformance.conformance.adapter import Exchange
from rocketmq_conformance.conformance.targets.child_process import LONGEST_LINE, ChildProcess, ErrorLog, TooLongError
from rocketmq_conformance.conformance.targets.exec_client import lines
from rocketmq_conformance.conformance.targets.exec_client.lines import Json, ProtocolError

#: Called with every line: ">" for what is sent, "<" for what comes back; and the line.
ShowLine = Callable[[str, str], None]
#: Called when a program reaches a step of a whole case, by its position.
Reached = Callable[[int], None]
#: What is returned to the sender of a one-way request.
NOTHING = 0, "", dict[str, str](), b""


class Program:
    """A program that was started. OSError when it cannot be."""

    def __init__(self, command: Sequence[str], log: ErrorLog, show: ShowLine | None) -> None:
        self._process = ChildProcess(command, log)
        self._show = show
        self._number = -1

    def ask(
        self, request: Json, seconds: float, exchange: Exchange | None = None, reached: Reached | None = None
    ) -> Json:
        """Send a request, serve its exchanges, and return the answer.

        EndedError and SilentError as of ``ChildProcess``, ProtocolError for an answer that is none.
        """
        deadline = time.monotonic() + seconds
        self._number += 1
        self._send({"id": self._number, **request}, deadline)
        while True:
            message = self._receive(deadline)
            if "exchange" in message:
                if exchange is None:
                    raise ProtocolError("it asks a broker before a case has begun")
                self._send(_served(message["exchange"], exchange, reached), deadline)
                continue
            number = message.get("id")
            if type(number) is not int or number != self._number:
                raise ProtocolError(
                    f"it answered with id {number!r} what was asked with id {self._number}: each request is answered "
                    "once, with its own id"
                )
            return message

    def show(self, show: ShowLine | None) -> None:
        """Show every line from now on."""
        self._show = show

    def end(self) -> None:
        """End it."""
        self._process.end()

    def kill(self) -> None:
        """End it at once."""
        self._process.kill()

    def _send(self, message: Json, deadline: float) -> None:
        line = lines.packed(message)
        if self._show:
            self._show(">", line.decode().rstrip())
        self._process.send(line, deadline)

    def _receive(self, deadline: float) -> Json:
        try:
            line = self._process.line(deadline)
        except TooLongError:
            raise ProtocolError(
                f"it wrote more than {LONGEST_LINE >> 20} MiB without a line break: every message is one line"
            ) from None
        if self._show:
            self._show("<", line.decode("utf-8", "replace"))
        return lines.unpacked(line)


def _served(asked: Any, exchange: Exchange, reached: Reached | None) -> Json:
    """Serve one exchange."""
    number, request, step = lines.exchange(asked)
    if reached:
        if step < lines.BEGINNING:
            raise ProtocolError(
                'its exchange in a whole case does not name its step: add "step", counted from 0, or -1 while the case '
                "begins"
            )
        reached(step)
    one_way = request[4]
    try:
        answer = exchange(*request)
    except (TimeoutError, ConnectionError) as error:
        if not one_way:
            return lines.unanswered(number, "silent" if isinstance(error, TimeoutError) else "cut")
    return lines.exchanged(number, NOTHING if one_way else answer)  # what became of it no sender can know
