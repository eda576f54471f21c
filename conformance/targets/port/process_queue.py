"""The port's process queue: the in-flight messages of one queue, that is, pulled and not yet consumed, by offset.

Only the size of a body is kept: the port sends messages back by their id, or copies them without a body.
"""

from __future__ import annotations

from collections.abc import Sequence


class Pulled:
    """A message."""

    __slots__ = ("offset", "queue", "size", "started_at", "times")

    def __init__(self, queue: int, offset: int, size: int, times: int) -> None:
        self.queue = queue
        self.offset = offset
        self.size = size
        self.times = times
        #: When its listener started, in ms of the case's clock.
        self.started_at: int | None = None


class ProcessQueue:
    """A process queue. Queues are given by their position in the layout."""

    __slots__ = ("aside", "bytes", "consuming", "count", "dropped", "messages", "queue", "top")

    def __init__(self, queue: int) -> None:
        self.queue = queue
        self.messages: dict[int, Pulled] = {}
        #: Messages set aside: an orderly listener has taken them.
        self.aside: dict[int, Pulled] = {}
        self.consuming = False
        self.dropped = False
        self.count = 0
        self.bytes = 0
        self.top = 0

    def put(self, pulled: Sequence[Pulled]) -> bool:
        """Put messages; must a consume request be submitted?"""
        for message in pulled:
            self.insert(message)
        woken, self.consuming = not self.consuming, True
        return woken

    def insert(self, message: Pulled) -> None:
        """Put one message."""
        offset = message.offset
        if offset not in self.messages:
            self.count += 1
            self.bytes += message.size
            self.top = offset
        self.messages[offset] = message

    def remove(self, done: Sequence[Pulled]) -> int:
        """Remove messages; the answer is the offset to commit, -1 for none."""
        if not self.messages:
            return -1
        for message in done:
            if self.messages.pop(message.offset, None) is not None:
                self.count -= 1
                self.bytes -= message.size
        self.settle()
        return self.lowest()

    def lowest(self) -> int:
        """The offset below which every message is consumed."""
        return min(self.messages) if self.messages else self.top + 1

    def settle(self) -> None:
        """An empty queue has no bytes."""
        if self.count == 0:
            self.bytes = 0

    def take(self, most: int) -> list[Pulled]:
        """Set the lowest messages aside."""
        taken = [self.messages.pop(offset) for offset in sorted(self.messages)[:most]]
        for message in taken:
            self.aside[message.offset] = message
        if not taken:
            self.consuming = False
        return taken

    def commit(self) -> int:
        """Remove the messages set aside; the answer is the offset to commit. ValueError when there are none."""
        offset = max(self.aside) + 1
        self.count -= len(self.aside)
        self.bytes -= sum(message.size for message in self.aside.values())
        self.settle()
        self.aside.clear()
        return offset

    def rollback(self) -> None:
        """Put back the messages set aside."""
        self.messages.update(self.aside)
        self.aside.clear()

    def put_back(self, messages: Sequence[Pulled]) -> None:
        """Put these messages back."""
        for message in messages:
            self.aside.pop(message.offset, None)
            self.messages[message.offset] = message

    def clear(self) -> None:
        """Remove all messages."""
        self.messages.clear()
        self.aside.clear()
        self.count = self.bytes = self.top = 0

    def look(self) -> tuple[int, int, int, bool]:
        """(messages, bytes, span of offsets, is there any message?)."""
        messages = self.messages
        if not messages:
            return self.count, self.bytes, 0, False
        return self.count, self.bytes, max(messages) - min(messages), True
