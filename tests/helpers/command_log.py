"""A program in whose place commands are kept."""

from __future__ import annotations

from collections import deque
from typing import Any


class CommandLog:
    """A program that keeps its commands."""

    code, last_words = None, ""

    def __init__(self, *_: Any) -> None:
        self.commands: list[dict[str, object]] = []
        self.got: deque[Any] = deque()

    def send(self, command: dict[str, object]) -> None:
        self.commands.append(command)

    def stop(self, limit: float) -> bool:
        return True

    def kill(self) -> None:
        pass
