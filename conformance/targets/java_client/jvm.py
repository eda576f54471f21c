"""Starts and ends the Java virtual machine of this process; client files go to a home folder of its own."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.engine.memory_folder import temporary_folder
from rocketmq_conformance.conformance.startup import phase

#: Old netty opens buffers by reflection (up to 4.9.0); the rest keeps clients quiet and small.
FLAGS = (
    "-Xss512k",
    "-Xmx1g",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    # a client raises and takes an exception for each refusal: most of its frames are those of the kit
    "-XX:MaxJavaStackTraceDepth=8",
    "-Djava.awt.headless=true",
    # every consumer lists the addresses of the machine when it is made, which takes half as long without those of IPv6
    "-Djava.net.preferIPv4Stack=true",
    "-Dfile.encoding=UTF-8",
    "-Duser.timezone=UTC",
    "-Drocketmq.client.logUseSlf4j=true",
    "-Drocketmq.log.level=OFF",
    # a consumer that was started rebalances every half second (read when a release's classes are loaded)
    "-Drocketmq.client.rebalance.waitInterval=500",
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
    "--add-opens=java.base/java.util.concurrent=ALL-UNNAMED",
)

_home: Path | None = None
#: Where its clients keep their offsets: in memory, where there is a disk in memory.
_offsets: Path | None = None


def start() -> Any:
    """Start the JVM unless it runs, and return the jpype module; CannotRunError when there is none.

    Client threads are no daemons: a process that used the machine ends with ``end`` (the command line does).
    """
    global _home, _offsets
    try:
        import jpype
        import jpype.config
    except ImportError as error:
        raise CannotRunError(
            "The real Java client needs JPype: install it with `pip install rocketmq-conformance[java]`."
        ) from error
    if jpype.isJVMStarted():
        return jpype
    jpype.config.destroy_jvm = False
    _home = Path(tempfile.mkdtemp(prefix="rocketmq-conformance-java-"))
    _offsets = temporary_folder()
    atexit.register(clean_up)
    flags = (
        *FLAGS,
        f"-Duser.home={_home}",
        f"-Drocketmq.log.root={_home}",
        f"-Drocketmq.client.logRoot={_home}",
        f"-Drocketmq.client.localOffsetStoreDir={_offsets}",
    )
    try:
        with phase("starting a Java machine"):
            jpype.startJVM(*flags, convertStrings=True)
    except (jpype.JVMNotFoundException, jpype.JVMNotSupportedException, OSError, ValueError) as error:
        clean_up()
        raise CannotRunError(
            f"No Java machine can be started ({error}): install a JDK of 11 or later, or set JAVA_HOME."
        ) from error
    return jpype


def folder() -> Path:
    """The home folder that clients see; the machine must run."""
    if _home is None:
        raise CannotRunError("The Java machine of this process was not started by the kit.")
    return _home


def clean_up() -> None:
    """Remove the home folder, and that of offsets."""
    for made in (_home, _offsets):
        if made is not None:
            shutil.rmtree(made, ignore_errors=True)


def end(code: int) -> None:
    """End the process at once when a machine runs in it, whose threads would keep it alive; its folder goes with it."""
    jpype = sys.modules.get("jpype")
    if jpype is not None and jpype.isJVMStarted():
        clean_up()
        os._exit(code)
