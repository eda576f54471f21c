"""Consumers in Python that say on standard error what they are asked, and factories that make none."""

from __future__ import annotations

import asyncio
import sys
import threading
from typing import Any


def note(*what: object) -> None:
    """Write a line on standard error."""
    print(*what, file=sys.stderr, flush=True)


class Threads:
    """A consumer with a thread, which is given messages as its listener does with the one before."""

    def __init__(self, settings: Any, listener: Any = None) -> None:
        self.settings, self.listener = settings, listener

    def start(self) -> None:
        print("no line")  # the kit reads lines from standard output
        if self.listener:
            threading.Thread(target=self.work, daemon=True).start()
        else:
            note("started", self.settings.instance, self.settings.kind, self.settings.offsets.name)

    def work(self) -> None:
        for offset in range(3):
            note(offset, self.listener.consume("T", 1, offset))

    def seek(self, topic: str, queue: int, offset: int) -> None:
        if offset < 0:
            raise ValueError(offset)
        note("seek", topic, queue, offset)

    def shutdown(self) -> None:
        note("shut down")


class Asyncio:
    """The same on an event loop; its start goes on until it is shut down."""

    takes = ("strategy",)

    def __init__(self, listener: Any) -> None:
        self.listener, self.ends = listener, asyncio.Event()

    async def start(self) -> None:
        for offset in range(3):
            note(offset, await self.listener.consume_async("T", 1, offset))
        await self.ends.wait()

    async def shutdown(self) -> None:
        self.ends.set()
        note("shut down")


class Owner(Threads):
    """It has two queues, and a third one after it has sought."""

    queues = 2

    def owned(self) -> list[tuple[str, int]]:
        return [("T", number) for number in reversed(range(self.queues))]

    def seek(self, topic: str, queue: int, offset: int) -> None:
        self.queues = 3


class Unready(Owner):
    """It cannot say which queues it has before it has sought."""

    ready = False

    def owned(self) -> list[tuple[str, int]]:
        if not self.ready:
            raise ValueError("it has not sought")
        return super().owned()

    def seek(self, topic: str, queue: int, offset: int) -> None:
        self.ready = True


class Subscriber(Threads):
    """It subscribes to other topics."""

    def subscribe(self, topic: str) -> None:
        note("subscribe", topic)

    async def unsubscribe(self, topic: str) -> None:
        note("unsubscribe", topic)


class Committer(Threads):
    """It commits on demand."""

    def commit(self, topic: str) -> None:
        note("commit", topic, self.settings.commit)


class Assigner(Threads):
    """It assigns queues by hand, and seeks to the begin of one."""

    def assign(self, queues: list[list[Any]]) -> None:
        note("assign", *queues, self.settings.queues)

    def seek_to_begin(self, topic: str, queue: int) -> None:
        note("seek to begin", topic, queue)


def assigner(settings: Any) -> Assigner:
    return Assigner(settings)


def subscriber(settings: Any) -> Subscriber:
    return Subscriber(settings)


def committer(settings: Any) -> Committer:
    return Committer(settings)


def committer_of_another_module(settings: Any) -> Committer:
    """What it inherits comes from elsewhere, where ``commit`` may mean something else."""
    parts = {name: _elsewhere(getattr(Committer, name)) for name in ("seek", "commit")}
    return type("Client", (Committer,), parts)(settings)


def committer_that_says_so(settings: Any) -> Committer:
    made = committer_of_another_module(settings)
    made.takes = ("commit",)  # type: ignore[attr-defined]
    return made


def _elsewhere(method: Any) -> Any:
    def copied(*arguments: Any) -> Any:
        return method(*arguments)

    copied.__module__ = "its_client"
    return copied


def owner(settings: Any) -> Owner:
    return Owner(settings)


def unready(settings: Any) -> Unready:
    return Unready(settings)


def plain(settings: Any) -> Threads:
    return Threads(settings)


def listening(settings: Any, listener: Any) -> Threads:
    return Threads(settings, listener)


async def on_a_loop(settings: Any, listener: Any, word: str = "") -> Asyncio:
    note("made", word)
    return Asyncio(listener)


def none_of_this_kind(settings: Any) -> object:
    raise NotImplementedError(f"it is no {settings.kind} consumer")


def nothing(settings: Any) -> object:
    return object()


def fails_to_start(settings: Any) -> Threads:
    consumer = Threads(settings)
    consumer.start = lambda: 1 / 0  # type: ignore[method-assign, assignment, return-value]
    return consumer


def without_settings() -> Threads:
    return Threads(None)


def forgetful(settings: Any, pace: str = "1") -> Any:
    """The push consumer of the examples, which never says that it has let go of a queue."""
    import push_consumer

    consumer = push_consumer.make(settings, pace)
    had: dict[Any, None] = {}
    owned = consumer.owned

    def ever_owned() -> list[Any]:
        had.update(dict.fromkeys(owned()))
        return list(had)

    consumer.owned = ever_owned
    return consumer
