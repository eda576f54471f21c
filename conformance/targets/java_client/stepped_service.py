"""Generates a subclass of a release's rebalance service whose waits the adapter controls.

``RebalanceService#run`` waits by a protected method of its base class, which no proxy can replace. So here is a
subclass that overrides it: it reports how long it is about to wait, goes on when the wait is over, and
then lets the method of the release find out, without waiting, whether it was woken up. The class is written as a class
file, so that no compiler is needed; it has one field and two methods.
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
    PROTECTED,
    PUBLIC,
    Constants,
    class_of,
    method,
    variable,
)
from rocketmq_conformance.conformance.targets.java_client.release import JavaRelease

_NAME = "SteppedRebalanceService"
_BASE = "org/apache/rocketmq/client/impl/consumer/RebalanceService"
_FACTORY = "Lorg/apache/rocketmq/client/impl/factory/MQClientInstance;"
_CONSUMER = "java/util/function/LongConsumer"


def class_file() -> bytes:
    """The subclass."""
    pool = Constants()
    waits_field = pool.member(FIELD, _NAME, "waits", f"L{_CONSUMER};")
    made = pool.member(METHOD, _BASE, "<init>", f"({_FACTORY})V")
    # super(factory); this.waits = waits;
    begin = struct.pack(">BBBHBBBHB", 0x2A, 0x2B, 0xB7, made, 0x2A, 0x2C, 0xB5, waits_field, 0xB1)
    accept = pool.member(INTERFACE_METHOD, _CONSUMER, "accept", "(J)V")
    wait_for_running = pool.member(METHOD, _BASE, "waitForRunning", "(J)V")
    # waits.accept(millis); super.waitForRunning(0);
    code = (0x2A, 0xB4, waits_field, 0x1F, 0xB9, accept, 3, 0, 0x2A, 0x09, 0xB7, wait_for_running, 0xB1)
    wait = struct.pack(">BBHBBHBBBBBHB", *code)
    methods = [
        method(pool, PUBLIC, "<init>", f"({_FACTORY}L{_CONSUMER};)V", 2, 3, begin),
        method(pool, PROTECTED, "waitForRunning", "(J)V", 3, 3, wait),
    ]
    return class_of(pool, _NAME, _BASE, [variable(pool, PUBLIC, "waits", f"L{_CONSUMER};")], methods)


@lru_cache(maxsize=1)
def _folder() -> Path:
    folder = jvm.folder() / "stepped"
    folder.mkdir(exist_ok=True)
    (folder / f"{_NAME}.class").write_bytes(class_file())
    return folder


def stepped_service(release: JavaRelease) -> Any:
    """The subclass in a release; its instances take a client instance and a LongConsumer of ms."""
    url = jpype.JClass("java.io.File")(str(_folder())).toURI().toURL()
    array = jpype.JArray(jpype.JClass("java.net.URL"))([url])
    parent = release.load("client.impl.consumer.RebalanceService").class_.getClassLoader()
    return jpype.JClass(jpype.JClass("java.net.URLClassLoader")(array, parent).loadClass(_NAME))
