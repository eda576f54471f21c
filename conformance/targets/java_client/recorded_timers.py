"""Loads a release's classes so that their timers are recorded, and come when the adapter says so.

The classes of a client make their timers by ``Executors.newSingleThreadScheduledExecutor``. The class files that hold
the behaviour of consumers and clients are copied with this call pointed at a class of the adapter's own, which has the
same method. What is scheduled, when it comes first and how often is the release's own.
"""

from __future__ import annotations

import struct
from functools import lru_cache
from pathlib import Path
from typing import Any

import jpype

from rocketmq_conformance.conformance.targets.java_client import jvm
from rocketmq_conformance.conformance.targets.java_client.class_file import (
    FIELD,
    INTERFACE_METHOD,
    METHOD,
    PUBLIC,
    STATIC,
    Constants,
    class_of,
    method,
    pool_of,
    variable,
)
from rocketmq_conformance.conformance.targets.java_client.recording_executor import RecordingExecutor
from rocketmq_conformance.conformance.targets.java_client.redirected_classes import redirected_classes
from rocketmq_conformance.conformance.targets.java_client.release import JavaRelease

#: The class that is called instead.
_TIMERS = "RecordedTimers"
_EXECUTOR = "java/util/concurrent/ScheduledExecutorService"
_MAKE, _KIND = "newSingleThreadScheduledExecutor", f"(Ljava/util/concurrent/ThreadFactory;)L{_EXECUTOR};"
_SUPPLIER = "java/util/function/Supplier"


class _Executor(RecordingExecutor):
    """One executor of a client: its periodic tasks, until it is shut down."""

    def __init__(self, timers: Timers) -> None:
        super().__init__()
        self._timers = timers

    def scheduleAtFixedRate(self, task: Any, first: Any, period: Any, unit: Any) -> None:  # noqa: N802 - Java's name
        """Record a periodic task."""
        due = self._timers.now + int(unit.toMillis(first))
        self._timers.add(self, due, int(unit.toMillis(period)), task)

    def shutdown(self) -> None:
        """Its tasks end."""
        self._timers.end(self)

    def shutdownNow(self) -> Any:  # noqa: N802 - Java's name
        """Its tasks end."""
        self._timers.end(self)
        return super().shutdownNow()


class Timers:
    """The periodic tasks of all clients of a release, on a clock that the adapter sets (ms)."""

    def __init__(self) -> None:
        self.now = 0
        #: [when it is due, its period, the task, its executor], in the order in which they were scheduled.
        self._tasks: list[list[Any]] = []

    def make(self) -> Any:
        """An executor for the classes."""
        return _Executor(self).proxy

    def add(self, executor: Any, due: int, period: int, task: Any) -> None:
        """A task is scheduled."""
        self._tasks.append([due, period, task, executor])

    def end(self, executor: Any) -> None:
        """The tasks of an executor end."""
        self._tasks = [task for task in self._tasks if task[3] is not executor]

    def forget(self) -> None:
        """All tasks end, and the clock begins again."""
        self._tasks.clear()
        self.now = 0

    def run_next(self, until: int) -> bool:
        """Turn the clock to the next task that is due by then, and run it; False when there is none."""
        due = min(self._tasks, key=lambda task: int(task[0]), default=None)
        if due is None or due[0] > until:
            return False
        self.now = due[0]
        due[0] += due[1]
        due[2].run()
        return True


def redirected(data: bytes) -> bytes:
    """A class file whose timers are made by ``RecordedTimers``."""
    pool, end = pool_of(data)
    makes = pool.find_method("java/util/concurrent/Executors", _MAKE, _KIND)
    if makes is None:
        return data
    pool.entries[makes - 1] = pool.member_entry(METHOD, _TIMERS, _MAKE, _KIND)
    return bytes(data[:8]) + pool.written() + bytes(data[end:])


def timers_class() -> bytes:
    """The class that is called: its ``maker`` supplies the executors."""
    pool = Constants()
    maker = pool.member(FIELD, _TIMERS, "maker", f"L{_SUPPLIER};")
    get = pool.member(INTERFACE_METHOD, _SUPPLIER, "get", "()Ljava/lang/Object;")
    executor = pool.named(_EXECUTOR)
    # return (ScheduledExecutorService) maker.get();
    code = struct.pack(">BHBHBBBHB", 0xB2, maker, 0xB9, get, 1, 0, 0xC0, executor, 0xB0)
    make = method(pool, PUBLIC | STATIC, _MAKE, _KIND, 1, 1, code)
    maker_field = variable(pool, PUBLIC | STATIC, "maker", f"L{_SUPPLIER};")
    return class_of(pool, _TIMERS, "java/lang/Object", [maker_field], [make])


@lru_cache(maxsize=64)
def _folder(version: str) -> Path:
    return redirected_classes(version, _TIMERS, timers_class(), redirected)


class TimedRelease(JavaRelease):
    """A release whose timers are recorded in ``timers``."""

    def __init__(self, version: str) -> None:
        jvm.start()
        super().__init__(version, before=(_folder(version),))
        self.timers = Timers()
        made = jpype.JClass(self.loader.loadClass(_TIMERS))
        made.maker = jpype.JProxy(_SUPPLIER.replace("/", "."), dict={"get": self.timers.make})
