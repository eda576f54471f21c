"""Plays the suite ``start-broadcast`` with the release's own consumers, and the local stores that they make."""

from __future__ import annotations

import shutil
from collections.abc import Callable

import jpype

from rocketmq_conformance.conformance.adapter import Case, Methods
from rocketmq_conformance.conformance.targets.java_client.consumer import CLIENT_ID
from rocketmq_conformance.conformance.targets.java_client.offset_folder import offset_folder
from rocketmq_conformance.conformance.targets.java_client.part import Part
from rocketmq_conformance.conformance.targets.java_client.release import LITE_PULL, JavaRelease
from rocketmq_conformance.conformance.targets.java_client.start import JavaStart, MakeCalls
from rocketmq_conformance.conformance.targets.java_client.start_lite_pull import JavaStartLitePull
from rocketmq_conformance.conformance.targets.java_client.start_push import JavaStartPush
from rocketmq_conformance.conformance.targets.offset_file_damage import damage_offset_file
from rocketmq_conformance.models.outcome import Result
from rocketmq_conformance.suites.declare.topologies import GROUP
from rocketmq_conformance.suites.start_broadcast import (
    BeginLitePull,
    BeginPush,
    Damage,
    PersistAll,
    Read,
    Remove,
    Start,
    StartAtTime,
    StartChecked,
    Update,
)


class JavaStartBroadcast(Part):
    """A consumer of either kind; both have the same client id and group, and so the same file."""

    over_sockets = True

    def __init__(self, release: JavaRelease, via: str = "call") -> None:
        self.folder = offset_folder(release) / CLIENT_ID / GROUP
        self._push = JavaStartPush(release, via)
        self._lite = JavaStartLitePull(release, via) if release.release >= LITE_PULL else None
        for consumer in filter(None, (self._push, self._lite)):
            consumer.store_class = release.load("client.consumer.store.LocalFileOffsetStore")
        self._consumer: JavaStart = self._push
        self._hash_set = jpype.JClass("java.util.HashSet")

    def begin(self, case: Case) -> None:
        """A push consumer without a file."""
        shutil.rmtree(self.folder, ignore_errors=True)
        for consumer in filter(None, (self._push, self._lite)):
            consumer.begin(case)
        self.begin_push()

    def close(self) -> None:
        """Close connections."""
        for consumer in filter(None, (self._push, self._lite)):
            consumer.close()

    def begin_push(self) -> Result:
        """A push consumer begins."""
        return self._begin(self._push)

    def begin_lite_pull(self) -> Result:
        """A lite pull consumer begins."""
        assert self._lite is not None  # the operation is offered to releases that have it
        return self._begin(self._lite)

    def _begin(self, consumer: JavaStart) -> Result:
        self._consumer = consumer
        consumer.open_store(GROUP)
        consumer.store.load()
        return None

    def persist_all(self, queues: tuple[int, ...]) -> Result:
        """``persistAll``."""
        chosen = self._hash_set()
        for queue in queues:
            chosen.add(self._consumer.queues[queue])
        self._consumer.store.persistAll(chosen)
        return None

    def damage(self, which: str, how: str) -> Result:
        """Delete or empty a file."""
        damage_offset_file(self.folder, which, how)
        return None

    def _step(self, make: MakeCalls) -> Callable[..., Result]:
        """A step of the consumer of the moment."""
        return lambda *args: self._consumer.step(make, *args)

    def calls(self) -> Methods:
        """One callable per operation."""
        return {
            BeginPush: self.begin_push,
            BeginLitePull: self.begin_lite_pull,
            Start: self._step(JavaStart.start),
            StartChecked: self._step(JavaStart.start_checked),
            StartAtTime: self._step(JavaStart.start_at_time),
            Update: self._step(JavaStart.update),
            Remove: self._step(JavaStart.remove),
            Read: self._step(JavaStart.read),
            PersistAll: self.persist_all,
            Damage: self.damage,
        }


PART = JavaStartBroadcast
