"""The port's process queue: messages of one queue that were pulled and are not done with, by offset.

Bodies are known by their size only: what the port sends back it names, or copies without them.
"""

from __future__ import annotations

from collections.abc import Sequence


class Pulled:
    """A message."""

    __slots__ = ("begun", "offset", "queue", "size", "times")

    def __init__(self, queue: int, offset: int, size: int, times: int) -> None:
        self.queue = queue
        self.offset = offset
        self.size = size
        self.times = times
        #: When a listener began with it, ms of the case's clock.
        self.begun: int | None = None


class Backlog:
    """A process queue. Queues are given by their position in the layout."""

    __slots__ = ("aside", "bytes", "consuming", "count", "dropped", "messages", "queue", "top")

    def __init__(self, queue: int) -> None:
        self.queue = queue
        self.messages: dict[int, Pulled] = {}
        #: Messages that an orderly listener has taken.
        self.aside: dict[int, Pulled] = {}
        self.consuming = False
        self.dropped = False
        self.count = 0
        self.bytes = 0
        self.top = 0

    def put(self, pulled: Sequence[Pulled]) -> bool:
        """Keep messages; is a listener to be woken up?"""
        for message in pulled:
            self.insert(message)
        woken, self.consuming = not self.consuming, True
        return woken

    def insert(self, message: Pulled) -> None:
        """Keep one message."""
        offset = message.offset
        if offset not in self.messages:
            self.count += 1
            self.bytes += message.size
            self.top = offset
        self.messages[offset] = message

    def remove(self, done: Sequence[Pulled]) -> int:
        """Forget messages; the offset to commit, -1 for none."""
        if not self.messages:
            return -1
        for message in done:
            if self.messages.pop(message.offset, None) is not None:
                self.count -= 1
                self.bytes -= message.size
        self.settle()
        return self.lowest()

    def lowest(self) -> int:
        """The offset below which everything is done."""
        return min(self.messages) if self.messages else self.top + 1

    def settle(self) -> None:
        """Where nothing is, there are no bytes."""
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
        """Forget what is aside; the offset to commit. ValueError when nothing is."""
        offset = max(self.aside) + 1
        self.count -= len(self.aside)
        self.bytes -= sum(message.size for message in self.aside.values())
        self.settle()
        self.aside.clear()
        return offset

    def rollback(self) -> None:
        """Put back what is aside."""
        self.messages.update(self.aside)
        self.aside.clear()

    def put_back(self, messages: Sequence[Pulled]) -> None:
        """Put these messages back."""
        for message in messages:
            self.aside.pop(message.offset, None)
            self.messages[message.offset] = message

    def clear(self) -> None:
        """Forget everything."""
        self.messages.clear()
        self.aside.clear()
        self.count = self.bytes = self.top = 0

    def look(self) -> tuple[int, int, int, bool]:
        """Messages, bytes, the span of offsets, and whether any is there."""
        messages = self.messages
        if not messages:
            return self.count, self.bytes, 0, False
        return self.count, self.bytes, max(messages) - min(messages), True
