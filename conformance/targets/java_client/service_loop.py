"""Runs a rebalance service from one wait to the next: compiled, or in a thread where Java has no compiler."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

import jpype

from rocketmq_conformance.conformance.targets.java_client.java_source import compiled
from rocketmq_conformance.conformance.targets.java_client.release import JavaRelease

#: The factor from times of the case to those of the service.
STRETCH = 100_000
#: Timeout of a round of the service (s).
PATIENCE = 60.0
SERVICE = "client.impl.consumer.RebalanceService"
#: The rounds in which consumers rebalanced: ms since the beginning, and these consumers.
Rounds = tuple[tuple[int, tuple[str, ...]], ...]


class Loop(Protocol):
    """Runs a service from one wait to the next, on the clock of the case."""

    def strategy(self, consumer: str) -> Any:
        """A strategy that records the rebalances of a consumer."""
        ...

    def refuse(self, consumer: str, refuses: bool) -> None:
        """A strategy refuses, or not."""
        ...

    def begin(self, factory: Any) -> Any:
        """The service of a client instance begins; it."""
        ...

    def end(self) -> None:
        """Let the service end."""
        ...

    def go_on(self) -> tuple[str, ...]:
        """End the service's wait: which consumers rebalance?"""
        ...

    def asked(self) -> tuple[str, ...]:
        """The consumers that rebalanced since ``forget``."""
        ...

    def forget(self) -> None:
        """Forget which consumers rebalanced."""
        ...

    def elapse(self, millis: int) -> Rounds:
        """Time passes: the rounds in which consumers rebalanced."""
        ...


def service_loop(release: JavaRelease, made: Any, keeps_time: bool) -> Loop:
    """The faster of the two that there is; ``made`` makes a service that waits by a LongConsumer."""
    kind = compiled("ServiceLoop")
    return ThreadedLoop(release, made, keeps_time) if kind is None else CompiledLoop(release, made, keeps_time, kind)


class ThreadedLoop:
    """A service that runs in a thread of Python's from one wait to the next: where Java has no compiler."""

    def __init__(self, release: JavaRelease, made: Any, keeps_time: bool) -> None:
        self.release = release
        self._made = made
        self._keeps_time = keeps_time
        self._strategies: dict[str, _Strategy] = {}
        self._asked: list[str] = []
        self.service: Any = None
        self.now = self._last = self._due = 0

    def strategy(self, consumer: str) -> Any:
        """A strategy that records the rebalances of a consumer."""
        made = self._strategies[consumer] = _Strategy(self.release, partial(self._asked.append, consumer))
        return made.proxy

    def refuse(self, consumer: str, refuses: bool) -> None:
        """A strategy refuses, or not."""
        self._strategies[consumer].refuses = refuses

    def begin(self, factory: Any) -> Any:
        """The service of a client instance begins; it."""
        self.now = self._last = 0
        self._asked.clear()
        self.service = self._made(factory, jpype.JProxy("java.util.function.LongConsumer", inst=self))
        self._waits = threading.Semaphore(0)
        self._goes_on = threading.Semaphore(0)
        #: How long the service waits, in ms of the case's clock.
        self._wait = 0
        # a daemon, so that a process that was interrupted can end
        self._thread = threading.Thread(target=self.service.run, name="rebalance service", daemon=True)
        self._thread.start()
        self._until_it_waits()
        self._due = self._wait
        return self.service

    def end(self) -> None:
        """Let the service end."""
        if self.service is not None:
            self.release.put(self.service, "stopped", True)
            self._goes_on.release()
            self._thread.join(PATIENCE)
            self.service = None

    def accept(self, millis: int) -> None:
        """The service is about to wait."""
        self._wait = -(-int(millis) // STRETCH)
        self._waits.release()
        self._goes_on.acquire()

    def go_on(self) -> tuple[str, ...]:
        """End the service's wait: which consumers rebalance?"""
        self._asked.clear()
        stamp = 0
        if self._keeps_time:
            stamp = int(jpype.java.lang.System.currentTimeMillis()) - (self.now - self._last) * STRETCH
            self.release.put(self.service, "lastRebalanceTimestamp", stamp)
        self._goes_on.release()
        self._until_it_waits()
        if self._keeps_time and int(self.release.get(self.service, "lastRebalanceTimestamp")) != stamp:
            self._last = self.now
        self._due = self.now + self._wait
        return self.asked()

    def asked(self) -> tuple[str, ...]:
        """The consumers that rebalanced since ``forget``."""
        return tuple(sorted(self._asked))

    def forget(self) -> None:
        """Forget which consumers rebalanced."""
        self._asked.clear()

    def elapse(self, millis: int) -> Rounds:
        """Time passes: the rounds in which consumers rebalanced."""
        began, until = self.now, self.now + millis
        rounds = []
        while self._due <= until:
            self.now = self._due
            took_part = self.go_on()
            if took_part:
                rounds.append((self.now - began, took_part))
        self.now = until
        return tuple(rounds)

    def _until_it_waits(self) -> None:
        if not self._waits.acquire(timeout=PATIENCE):
            raise TimeoutError(f"the rebalance service did not come to a wait within {PATIENCE:g} s")


class CompiledLoop:
    """The same by ``ServiceLoop.java``, in the thread of the caller."""

    def __init__(self, release: JavaRelease, made: Any, keeps_time: bool, kind: Any) -> None:
        self.release = release
        self._made = made
        field = None
        if keeps_time:
            field = release.load(SERVICE).class_.getDeclaredField("lastRebalanceTimestamp")
            field.setAccessible(True)
        self._loop = kind(STRETCH, field)
        self._strategy = release.load("client.consumer.rebalance.AllocateMessageQueueAveragely")
        self._kind = release.load("client.consumer.AllocateMessageQueueStrategy").class_
        self._strategies: dict[str, Any] = {}

    def strategy(self, consumer: str) -> Any:
        """A strategy that records the rebalances of a consumer."""
        made = self._strategies[consumer] = self._loop.strategy(consumer, self._strategy(), self._kind)
        return made.proxy

    def refuse(self, consumer: str, refuses: bool) -> None:
        """A strategy refuses, or not."""
        self._strategies[consumer].refuses = refuses

    def begin(self, factory: Any) -> Any:
        """The service of a client instance begins; it."""
        service = self._made(factory, self._loop)
        self._loop.begin(service)
        return service

    def end(self) -> None:
        """Nothing runs."""

    def go_on(self) -> tuple[str, ...]:
        """End the service's wait: which consumers rebalance?"""
        return _names(str(self._loop.goOn()))

    def asked(self) -> tuple[str, ...]:
        """The consumers that rebalanced since ``forget``."""
        return _names(str(self._loop.asked()))

    def forget(self) -> None:
        """Forget which consumers rebalanced."""
        self._loop.forget()

    def elapse(self, millis: int) -> Rounds:
        """Time passes: the rounds in which consumers rebalanced."""
        rounds = (line.split(" ") for line in str(self._loop.elapse(millis)).splitlines())
        return tuple((int(after), _names(consumers)) for after, consumers in rounds)


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split(",")[:-1])


class _Strategy:
    """A strategy of the release that records its calls, and may refuse."""

    def __init__(self, release: JavaRelease, asked: Callable[[], None]) -> None:
        self.real = release.load("client.consumer.rebalance.AllocateMessageQueueAveragely")()
        self.asked = asked
        self.refuses = False
        self.proxy = jpype.JProxy(release.load("client.consumer.AllocateMessageQueueStrategy"), inst=self)

    def getName(self) -> str:  # noqa: N802 - Java's name
        return "AVG"

    def allocate(self, group: Any, client: Any, queues: Any, clients: Any) -> Any:
        """The share of a client."""
        if not str(queues[0].getTopic()).startswith("%RETRY%"):
            self.asked()
        if self.refuses:
            raise jpype.JClass("java.lang.IllegalStateException")("the strategy refuses")
        return self.real.allocate(group, client, queues, clients)
