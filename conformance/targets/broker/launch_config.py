"""Launch configuration of brokers and name servers, by release: Java, flags, properties and logging files (RUN-*)."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.models.broker.delay_level import LEVELS_PROPERTY, SHORT_LEVELS
from rocketmq_conformance.models.broker.state import FILE_ENTRIES
from rocketmq_conformance.models.release import Release

#: Size of a commit log file in bytes; the aged store begins with the second one.
COMMIT_LOG_FILE = 1 << 20
#: Size of a consume queue file in bytes; an entry has 20.
QUEUE_FILE = 20 * FILE_ENTRIES
#: How often the broker writes stored offsets to disk, and cleans expired files (ms).
FLUSH_INTERVAL = 1000
CLEAN_INTERVAL = 1000
#: First release with services that write transaction metrics and timers. The first of them spins on a CPU for its
#: whole interval after every start (ten seconds by default), the second writes 40 MB in every interval (a second).
_FLUSHES_MORE = Release(5, 0, 0)
_METRICS_INTERVAL, _TIMER_INTERVAL = 500, 60_000

#: Enough for a broker with thousands of small topics; the shipped scripts ask for 8 GB. Every thread that stores
#: messages keeps 4 MB of direct memory, one for each level of delay among them: a timer that gets none ends in silence,
#: and the messages of its level never come.
_BROKER_MEMORY = ("-Xms64m", "-Xmx256m", "-XX:MaxDirectMemorySize=512m", "-XX:+UseSerialGC", "-Xss512k")
_NAME_SERVER_MEMORY = ("-Xms32m", "-Xmx64m", "-XX:MaxDirectMemorySize=64m", "-XX:+UseSerialGC", "-Xss512k")
#: A broker lives for minutes, and many of them begin: to compile it well would take longer than it saves.
SHORT_LIVED = ("-XX:TieredStopAtLevel=1",)
#: By default servers take TLS beside plain text, with a certificate that they make at each start: most of its CPU time.
NO_TLS = ("-Dtls.server.mode=disabled",)

#: Up to 5.1.4 brokers unmap files by reflection that Java 16 forbids; without these flags they start once, but not
#: a second time on the same store. Old name servers do not start without them: their netty reaches into buffers.
_OPENED = (
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
    "--add-opens=java.base/jdk.internal.ref=ALL-UNNAMED",
    "--add-exports=java.base/sun.nio.ch=ALL-UNNAMED",
)
_NEEDS_NO_FLAGS = Release(5, 2, 0)
_SPELLED_MAPPED = Release(4, 5, 2)
_OWN_LOGBACK = Release(5, 1, 0)
#: Folders in which Java installations are usually found.
_JAVA_FOLDERS = (
    "/usr/lib/jvm/*",
    "/usr/java/*",
    "/opt/java/*",
    "/opt/*",
    "~/.jdk/*",
    "~/.jdks/*",
    "~/.sdkman/candidates/java/*",
    "/Library/Java/JavaVirtualMachines/*/Contents/Home",
)
#: Javas on which a broker sees which pages are in memory, the likeliest to be found first.
_JAVAS_SHOWING_PAGES = (11, 8, 13, 12, 10, 9)
#: The first two releases of Apache kept the suffix of their incubation.
_INCUBATING = ("4.0.0", "4.1.0")
#: How much of the disk may be full: brokers refuse messages, or delete files, on a disk that is nearly full.
_DISK = ("-Drocketmq.broker.diskSpaceWarningLevelRatio=0.99", "-Drocketmq.broker.diskSpaceCleanForciblyRatio=0.99")

#: Properties that say where a broker is, and how it is called.
PLACES = (
    *("brokerClusterName", "brokerName", "brokerId", "brokerIP1", "brokerIP2", "bindAddress", "listenPort"),
    *("storePathRootDir", "storePathCommitLog"),
)

_LOGBACK = """<configuration>
  <appender name="FILE" class="{package}.core.FileAppender">
    <file>{file}</file>
    <encoder><pattern>%d %p %logger{{0}} - %m%n</pattern></encoder>
  </appender>
  <root level="WARN"><appender-ref ref="FILE"/></root>
</configuration>
"""


def maven_version(release: Release) -> str:
    """The Maven version of a release."""
    text = str(release)
    return f"{text}-incubating" if text in _INCUBATING else text


def java(feature: int = 0) -> str:
    """The Java launcher, of a feature release such as 11 if one is named; CannotRunError when there is none."""
    if feature:
        return _java_of(feature)
    home = os.environ.get("JAVA_HOME")
    if home and (Path(home) / "bin" / "java").is_file():
        return str(Path(home) / "bin" / "java")
    found = shutil.which("java")
    if not found:
        raise CannotRunError("A broker needs Java, and there is none: install a Java runtime (17 is known to work).")
    return found


def _java_of(feature: int) -> str:
    """The launcher of a feature release: the usual one, that of a variable, or one in a usual folder."""
    usual = shutil.which("java")
    homes = [home for name, home in sorted(os.environ.items()) if _names_java(name, feature)]
    launchers = [Path(home) / "bin" / "java" for home in (os.environ.get("JAVA_HOME"), *homes) if home]
    launchers += [Path(usual)] if usual else []
    for pattern in _JAVA_FOLDERS:
        folder, _, rest = pattern.partition("/*")
        launchers += sorted(Path(folder).expanduser().glob(f"*{rest}/bin/java"))
    for launcher in launchers:
        if launcher.is_file() and _is_java(str(launcher), feature):
            return str(launcher)
    raise CannotRunError(
        f"There is no Java {feature} here: install one, and set JAVA_HOME_{feature} to its folder (looked at variables "
        f"such as JAVA_HOME and JAVA_HOME_{feature}, at the path, and into {', '.join(_JAVA_FOLDERS)})."
    )


def java_showing_pages() -> int:
    """A feature release that is here and on which a broker sees which pages are in memory (BQ-MEM-2); 0 for none."""
    for feature in _JAVAS_SHOWING_PAGES:
        with suppress(CannotRunError):
            java(feature)
            return feature
    return 0


def _names_java(variable: str, feature: int) -> bool:
    """JAVA_HOME_11_X64, JAVA_11_HOME, JAVA11_HOME, JDK_11 and the like."""
    name = variable.upper()
    return name.startswith(("JAVA", "JDK", "JRE")) and re.findall(r"\d+", name)[:1] == [str(feature)]


def _is_java(launcher: str, feature: int) -> bool:
    try:
        return java_feature(launcher) == feature
    except CannotRunError:
        return False


@cache
def java_feature(launcher: str) -> int:
    """The feature release of a Java launcher, such as 17."""
    try:
        output = subprocess.run([launcher, "-version"], capture_output=True, text=True, timeout=60, check=False).stderr
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CannotRunError(f"{launcher} does not start ({error}): install a Java runtime.") from error
    found = re.search(r'version "(?:1\.)?(\d+)', output)
    if not found:
        raise CannotRunError(f"{launcher} does not say which Java it is: install a Java runtime.")
    return int(found.group(1))


def broker_flags(release: Release, feature: int, lease: float | None = None) -> tuple[str, ...]:
    """Flags of the Java runtime for a broker whose locks have a lease of so many seconds (None: a minute)."""
    lives = () if lease is None else (f"-Drocketmq.broker.rebalance.lockMaxLiveTime={lease * 1000:.0f}",)
    return (*_BROKER_MEMORY, *SHORT_LIVED, *_opened(release, feature), *_DISK, *lives)


def name_server_flags(release: Release, feature: int) -> tuple[str, ...]:
    """Flags of the Java runtime for a name server."""
    return (*_NAME_SERVER_MEMORY, *SHORT_LIVED, *NO_TLS, *_opened(release, feature))


def _opened(release: Release, feature: int) -> tuple[str, ...]:
    return _OPENED if release < _NEEDS_NO_FLAGS and feature >= 9 else ()


def broker_configuration(release: Release, home: Path, port: int, name_server: str = "") -> dict[str, str]:
    """The broker's properties; ``name_server`` is host:port, or nothing for a broker by itself."""
    mapped = "mapped" if release >= _SPELLED_MAPPED else "maped"
    properties = {
        "brokerClusterName": "conformance",
        "brokerName": "broker-a",
        "brokerId": "0",
        "brokerIP1": "127.0.0.1",
        "brokerIP2": "127.0.0.1",
        "bindAddress": "127.0.0.1",
        "listenPort": str(port),
        "storePathRootDir": str(home / "store"),
        "storePathCommitLog": str(home / "store" / "commitlog"),
        "autoCreateTopicEnable": "false",
        f"{mapped}FileSizeCommitLog": str(COMMIT_LOG_FILE),
        f"{mapped}FileSizeConsumeQueue": str(QUEUE_FILE),
        # the defaults make sparse index files of 400 MB
        "maxHashSlotNum": "1000",
        "maxIndexNum": "4000",
        "cleanResourceInterval": str(CLEAN_INTERVAL),
        "flushConsumerOffsetInterval": str(FLUSH_INTERVAL),
        # nothing expires unless a proof requests it
        "fileReservedTime": "100000",
        "diskMaxUsedSpaceRatio": "95",
        "cleanFileForciblyEnable": "false",
        # a case waits for messages that come back
        LEVELS_PROPERTY: SHORT_LEVELS,
        # a slow machine is no reason to answer SYSTEM_BUSY
        "brokerFastFailureEnable": "false",
        "osPageCacheBusyTimeOutMills": "600000",
    }
    if release >= _FLUSHES_MORE:
        properties["transactionMetricFlushInterval"] = str(_METRICS_INTERVAL)
        properties["timerFlushIntervalMs"] = str(_TIMER_INTERVAL)
    if name_server:
        properties["namesrvAddr"] = name_server
    return properties


def name_server_configuration(home: Path, port: int) -> dict[str, str]:
    """The name server's properties."""
    return {
        "listenPort": str(port),
        "bindAddress": "127.0.0.1",
        "kvConfigPath": str(home / "kvConfig.json"),
        "configStorePath": str(home / "namesrv.properties"),
    }


def write_properties(path: Path, properties: Mapping[str, str]) -> None:
    """Write a properties file."""
    path.write_text("".join(f"{name}={value}\n" for name, value in properties.items()))


def write_logging(release: Release, home: Path, kind: str) -> Path:
    """Write the logging configuration of a "broker" or "namesrv"; the result is the log file.

    Up to 5.0.0 the files have fixed names below ``conf``; from 5.1.0 a property names the file, and logback moved
    into a package of RocketMQ's own.
    """
    log = home / f"{kind}.log"
    folder = home / "conf"
    folder.mkdir(parents=True, exist_ok=True)
    plain = _LOGBACK.format(package="ch.qos.logback", file=log)
    for name in ("broker", "namesrv"):
        (folder / f"logback_{name}.xml").write_text(plain)
    own = _LOGBACK.format(package="org.apache.rocketmq.logging.ch.qos.logback", file=log)
    logging_file(home).write_text(own if release >= _OWN_LOGBACK else plain)
    return log


def logging_file(home: Path) -> Path:
    """The file that ``rmq.logback.configurationFile`` names."""
    return home / "conf" / "rmq.logback.xml"
