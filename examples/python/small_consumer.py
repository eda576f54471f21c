"""A small consumer of its own: two allocation strategies and an offset store. It knows nothing of the kit.

A ``transport`` asks brokers: ``transport(topic, broker, code, fields, one_way)`` returns (response code, fields), and
raises LookupError when the topic has no route, OSError when no response comes.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

Queue = tuple[str, str, int]  # topic, broker name, queue id
Transport = Callable[[str, str, int, dict[str, str], bool], tuple[int, dict[str, str]]]
QUERY_CONSUMER_OFFSET, UPDATE_CONSUMER_OFFSET = 14, 15
SUCCESS, QUERY_NOT_FOUND = 0, 22
NOT_FOUND, BROKEN, NO_QUEUE = -1, -2, -3


class RefusedError(Exception):
    """The broker answered with an error code."""


def averagely(me: str, queues: list[Queue], members: list[str]) -> list[Queue]:
    """Blocks of neighbours; the first members get one queue more."""
    check(me, queues, members)
    if me not in members:
        return []
    at, share, more = members.index(me), *divmod(len(queues), len(members))
    begin = at * share + min(at, more)
    return queues[begin : begin + share + (at < more)]


def by_circle(me: str, queues: list[Queue], members: list[str]) -> list[Queue]:
    """Every member takes the next queue in turn."""
    check(me, queues, members)
    return queues[members.index(me) :: len(members)] if me in members else []


def check(me: str, queues: list[Queue], members: list[str]) -> None:
    """Refuse what cannot be divided."""
    if not (me and queues and members):
        raise ValueError("an id, queues and members are needed")


class OffsetStore:
    """Offsets of a group, in memory until they are committed to the brokers."""

    def __init__(self, group: str, transport: Transport) -> None:
        self.group = group
        self.transport = transport
        self.offsets: dict[Queue, int] = {}
        self.frozen: set[Queue] = set()

    def update(self, queue: Queue | None, offset: int, increase_only: bool) -> None:
        """Keep an offset; with ``increase_only`` not a smaller one."""
        if queue is None or queue in self.frozen:
            return
        known = self.offsets.get(queue)
        if known is None or offset > known or not increase_only:
            self.offsets[queue] = offset

    def freeze(self, queue: Queue | None, offset: int) -> None:
        """Keep an offset that no update changes."""
        if queue is not None:
            self.offsets[queue] = offset
            self.frozen.add(queue)

    def read(self, queue: Queue | None, kind: str) -> int:
        """The offset in memory, at the broker ("store"), or in memory first ("memory-then-store")."""
        if queue is None:
            return NO_QUEUE
        if kind != "store" and queue in self.offsets:
            return self.offsets[queue]
        if kind == "memory":
            return NOT_FOUND
        topic, broker, _ = queue
        try:
            code, fields = self.transport(topic, broker, QUERY_CONSUMER_OFFSET, self.fields(queue), False)
            if code == QUERY_NOT_FOUND:
                return NOT_FOUND
            if code != SUCCESS:
                return BROKEN
            offset = int(fields["offset"])
        except (LookupError, OSError):
            return BROKEN
        self.update(queue, offset, False)
        return offset

    def persist(self, queue: Queue) -> None:
        """Commit one queue, one way."""
        if queue in self.offsets:
            self.commit_quietly(queue, self.offsets[queue])

    def persist_all(self, queues: list[Queue]) -> None:
        """Commit these queues, one way, and forget the others."""
        for queue in list(self.offsets) if queues else []:
            if queue in queues:
                self.commit_quietly(queue, self.offsets[queue])
            else:
                self.remove(queue)

    def remove(self, queue: Queue) -> None:
        """Forget a queue."""
        self.offsets.pop(queue, None)
        self.frozen.discard(queue)

    def clone(self, topic: str) -> dict[Queue, int]:
        """The offsets of a topic, or all."""
        return {queue: offset for queue, offset in self.offsets.items() if topic in ("", queue[0])}

    def commit(self, queue: Queue, offset: int, one_way: bool) -> None:
        """Commit an offset; RefusedError with the code when the broker refuses it."""
        topic, broker, _ = queue
        fields = {**self.fields(queue), "commitOffset": str(offset)}
        code, _ = self.transport(topic, broker, UPDATE_CONSUMER_OFFSET, fields, one_way)
        if code != SUCCESS and not one_way:
            raise RefusedError(code)

    def commit_quietly(self, queue: Queue, offset: int) -> None:
        """Commit one way, whatever comes of it."""
        with suppress(LookupError, OSError):  # the next round commits again
            self.commit(queue, offset, True)

    def fields(self, queue: Queue) -> dict[str, str]:
        """The header fields that name the group and a queue."""
        return {"consumerGroup": self.group, "topic": queue[0], "queueId": str(queue[2])}
