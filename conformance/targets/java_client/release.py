"""One release of the Java client: its classes in a loader of their own, so that many releases share one JVM."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.targets.broker.launch_config import maven_version
from rocketmq_conformance.conformance.targets.java_client import jvm
from rocketmq_conformance.conformance.targets.maven import class_path, is_snapshot
from rocketmq_conformance.models.release import Release, nearest_published

#: The first release with a lite pull consumer.
LITE_PULL = Release(4, 6, 0)
_ROOT = "org.apache.rocketmq."
#: System properties that set the timers of a client, with their standard in ms. Classes read them when they are
#: initialized, and never again.
TIMERS = {
    "rocketmq.client.rebalance.waitInterval": 20_000,
    "rocketmq.client.rebalance.lockInterval": 20_000,
    "rocketmq.client.rebalance.lockMaxLiveTime": 30_000,
    "rocketmq.client.unlockDelayTimeMills": 20_000,
    "rocketmq.client.pull.pullMaxIdleTime": 120_000,
}
#: The classes that read them; the last one exists from 5.0.0 on.
_TIMED = ("RebalanceService", "ProcessQueue", "RebalancePushImpl", "PopProcessQueue")
#: Common divisor of all timers (ms).
_UNIT = 10_000


class JavaRelease:
    """The classes of one client release."""

    def __init__(self, version: str, pace: float | None = None, before: Sequence[Path] = ()) -> None:
        """Resolve and load; CannotRunError with a sentence when the release or Java cannot be had.

        Classes in the folders and jars ``before`` are loaded instead of the release's own.

        With a ``pace`` its clock is real, and its timers are so many times faster than standard; ValueError when they
        cannot be.
        """
        if pace is not None and _UNIT / pace % 1:
            raise ValueError(
                f"At the pace {pace:g} the timers of the Java client are no whole ms: write one that divides {_UNIT}, "
                "such as pace=100."
            )
        self.pace = pace
        self.release = release_of(version)
        self.version = published_version(version)
        jars = class_path(("rocketmq-client",), self.version)
        jpype = jvm.start()
        file, loader = jpype.JClass("java.io.File"), jpype.JClass("java.lang.ClassLoader")
        urls = [file(str(path)).toURI().toURL() for path in (*before, *jars)]
        array = jpype.JArray(jpype.JClass("java.net.URL"))(urls)
        self.loader = jpype.JClass("java.net.URLClassLoader")(array, loader.getPlatformClassLoader())
        self._jpype = jpype
        self._classes: dict[str, Any] = {}
        self._fields: dict[tuple[type, str], Any] = {}
        if pace is not None:
            self._set_timers(pace)

    @property
    def made_any_time(self) -> bool:
        """Does it make no difference to a consumer when exactly it was made? Not where its clock is the case's."""
        return self.pace is None

    def _set_timers(self, pace: float) -> None:
        """Initialize the classes that have timers while the system properties say how fast these are."""
        system = self._jpype.JClass("java.lang.System")
        before = {name: system.getProperty(name) for name in TIMERS}
        try:
            for name, millis in TIMERS.items():
                system.setProperty(name, str(int(millis / pace)))
            for name in _TIMED:
                if self.has("client.impl.consumer." + name):
                    whole = _ROOT + "client.impl.consumer." + name
                    self._jpype.JClass("java.lang.Class").forName(whole, True, self.loader)
        finally:
            for name, value in before.items():
                if value is None:
                    system.clearProperty(name)
                else:
                    system.setProperty(name, value)

    def load(self, name: str) -> Any:
        """The class ``org.apache.rocketmq.<name>``, wherever the release keeps it; raises what Java raises."""
        found = self._classes.get(name)
        if found is None:
            try:
                found = self._jpype.JClass(self.loader.loadClass(_ROOT + name))
            except self._jpype.JException:
                older = name.replace("remoting.protocol.", "common.protocol.")
                if older == name:
                    raise
                found = self._jpype.JClass(self.loader.loadClass(_ROOT + older))
            self._classes[name] = found
        return found

    def has(self, name: str) -> bool:
        """Does the release have the class?"""
        try:
            self.load(name)
        except self._jpype.JException:
            return False
        return True

    def get(self, owner: Any, field: str) -> Any:
        """The value of a private field."""
        return self._field(owner, field).get(owner)

    def put(self, owner: Any, field: str, value: Any) -> None:
        """Set a private field."""
        self._field(owner, field).set(owner, value)

    def has_field(self, owner: Any, field: str) -> bool:
        """Does the class of an object, not one of its bases, have the field?"""
        try:
            owner.getClass().getDeclaredField(field)
        except self._jpype.JException:
            return False
        return True

    def _field(self, owner: Any, field: str) -> Any:
        # a class of Java has one class of Python, which is known without a call of Java
        key = type(owner), field
        found = self._fields.get(key)
        if found is not None:
            return found
        kind = owner.getClass()
        while found is None:
            if kind is None:
                raise CannotRunError(
                    f"Client {self.version} has no field {owner.getClass().getName()}.{field}: it is not known to the "
                    f"kit."
                )
            try:
                found = kind.getDeclaredField(field)
            except self._jpype.JException:
                kind = kind.getSuperclass()
        found.setAccessible(True)
        self._fields[key] = found
        return found


def release_of(version: str) -> Release:
    """The release that a version of the client has the rules of: itself, or of a snapshot the nearest published one.

    ValueError with a sentence for anything else.
    """
    return nearest_published(version) if is_snapshot(version) else Release.parse(version)


def published_version(version: str) -> str:
    """How Maven spells a version of the client: 4.0.0 is 4.0.0-incubating. ValueError with a sentence for none."""
    return version if is_snapshot(version) else maven_version(release_of(version))


@lru_cache(maxsize=64)
def java_release(version: str, pace: float | None = None, before: tuple[Path, ...] = ()) -> JavaRelease:
    """The classes of a release, loaded once per process, pace and places that come before its own."""
    return JavaRelease(version, pace, before)


def built(text: str) -> tuple[Path, ...]:
    """The jars and folders of classes that a class path names; a folder with jars stands for these.

    CannotRunError with a sentence when there are none.
    """
    found: list[Path] = []
    for part in filter(None, text.split(os.pathsep)):
        place = Path(part).expanduser().absolute()
        if not place.exists():
            raise CannotRunError(f"There is no {part}: name jars, or folders of classes or of jars.")
        found += sorted(place.glob("*.jar")) or [place] if place.is_dir() else [place]
    if not found:
        raise CannotRunError("The class path is empty: name jars, or folders of classes or of jars.")
    return tuple(found)
