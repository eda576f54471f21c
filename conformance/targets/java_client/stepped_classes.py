"""Loads a release's classes so that they go by a clock of the adapter: no time passes unless the adapter says so.

The classes of a client read the clock of the machine (``System.currentTimeMillis``) and sleep by it
(``TimeUnit.sleep``), both of which no proxy can replace. So the class files that hold the behaviour of consumers are
copied with these two calls pointed elsewhere: to a class with the same methods that reads a number, and that lets the
adapter know how long it would sleep. Nothing else of them changes: no instruction is added, moved or left out.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
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
    code_of_methods,
    method,
    pool_of,
    variable,
)
from rocketmq_conformance.conformance.targets.java_client.redirected_classes import redirected_classes
from rocketmq_conformance.conformance.targets.java_client.release import JavaRelease

#: The class that is called instead.
_CLOCK = "SteppedClock"
_UNIT = "java/util/concurrent/TimeUnit"
_NUMBER, _SLEEPER = "java/util/concurrent/atomic/AtomicLong", "java/util/function/LongConsumer"
_INVOKE_VIRTUAL, _INVOKE_STATIC = 0xB6, 0xB8


def redirected(data: bytes) -> bytes:
    """A class file whose calls of the clock and of sleeps are calls of ``SteppedClock``."""
    pool, end = pool_of(data)
    reads = pool.find_method("java/lang/System", "currentTimeMillis", "()J")
    sleeps = pool.find_method(_UNIT, "sleep", "(J)V")
    if reads is None and sleeps is None:
        return data
    rest = bytearray(data)
    if sleeps is not None:
        call = struct.pack(">BH", _INVOKE_VIRTUAL, sleeps)
        for start, length in code_of_methods(data, pool, end):
            at = rest.find(call, start, start + length)
            while at >= 0:
                rest[at] = _INVOKE_STATIC
                at = rest.find(call, at + 1, start + length)
        pool.entries[sleeps - 1] = pool.member_entry(METHOD, _CLOCK, "sleep", f"(L{_UNIT};J)V")
    if reads is not None:
        pool.entries[reads - 1] = pool.member_entry(METHOD, _CLOCK, "currentTimeMillis", "()J")
    return bytes(data[:8]) + pool.written() + bytes(rest[end:])


def clock_class() -> bytes:
    """The class that is called: ``now`` is its time, and ``sleeper`` gets the ms of each sleep."""
    pool = Constants()
    now = pool.member(FIELD, _CLOCK, "now", f"L{_NUMBER};")
    sleeper = pool.member(FIELD, _CLOCK, "sleeper", f"L{_SLEEPER};")
    get = pool.member(METHOD, _NUMBER, "get", "()J")
    to_millis = pool.member(METHOD, _UNIT, "toMillis", "(J)J")
    accept = pool.member(INTERFACE_METHOD, _SLEEPER, "accept", "(J)V")
    # return now.get();
    read = struct.pack(">BHBHB", 0xB2, now, 0xB6, get, 0xAD)
    # sleeper.accept(unit.toMillis(time));
    sleep = struct.pack(">BHBBBHBHBBB", 0xB2, sleeper, 0x2A, 0x1F, 0xB6, to_millis, 0xB9, accept, 3, 0, 0xB1)
    methods = [
        method(pool, PUBLIC | STATIC, "currentTimeMillis", "()J", 2, 0, read),
        method(pool, PUBLIC | STATIC, "sleep", f"(L{_UNIT};J)V", 4, 3, sleep),
    ]
    fields = [
        variable(pool, PUBLIC | STATIC, name, f"L{kind};") for name, kind in (("now", _NUMBER), ("sleeper", _SLEEPER))
    ]
    return class_of(pool, _CLOCK, "java/lang/Object", fields, methods)


@lru_cache(maxsize=64)
def _folder(version: str) -> Path:
    return redirected_classes(version, _CLOCK, clock_class(), redirected)


class SteppedRelease(JavaRelease):
    """A release whose consumers go by ``clock`` (ms), and whose sleeps are calls of ``sleep`` with their ms."""

    def __init__(self, version: str, sleep: Callable[[int], None]) -> None:
        jvm.start()
        super().__init__(version, before=(_folder(version),))
        made = jpype.JClass(self.loader.loadClass(_CLOCK))
        self.clock: Any = jpype.JClass("java.util.concurrent.atomic.AtomicLong")(0)
        made.now = self.clock
        made.sleeper = jpype.JProxy("java.util.function.LongConsumer", dict={"accept": sleep})

    @property
    def made_any_time(self) -> bool:
        """A consumer reads the case's clock when it is made."""
        return False
