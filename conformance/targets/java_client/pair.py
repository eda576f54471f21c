"""A client of one release on a real broker, for the client-broker matrix: its own network code, no threads, no timers.

Used by ``proof/client_broker_matrix.py`` alone; a pair cannot be judged in a run.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jpype

from rocketmq_conformance.conformance.adapter import Case
from rocketmq_conformance.conformance.targets.java_client.consumer import returning_errors
from rocketmq_conformance.conformance.targets.java_client.release import JavaRelease
from rocketmq_conformance.conformance.targets.java_client.start import JavaStart
from rocketmq_conformance.conformance.targets.java_client.start_lite_pull import JavaStartLitePull
from rocketmq_conformance.conformance.targets.java_client.start_push import JavaStartPush
from rocketmq_conformance.models.outcome import Result
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites import start_lite_pull, start_push
from rocketmq_conformance.suites.declare.suite import Suite


class _PairedStart(JavaStart):
    """A consumer with the queries that an application may send to a broker."""

    suite: Suite

    def begin_on(self, name_server: str) -> None:
        """Begin again on a broker that is found by a name server."""
        self.begin(Case(self.suite, 0, Profile(), lambda: name_server, _no_exchange, Path))

    @returning_errors
    def commit(self, queue: int, offset: int, one_way: bool) -> Result:
        """Commit an offset; a one-way commit is not waited for."""
        self.store.updateConsumeOffsetToBroker(self.queues[queue], offset, one_way)
        return None

    @returning_errors
    def max(self, queue: int) -> Result:
        """``maxOffset``."""
        return int(self.factory.getMQAdminImpl().maxOffset(self.queues[queue]))

    @returning_errors
    def min(self, queue: int) -> Result:
        """``minOffset``."""
        return int(self.factory.getMQAdminImpl().minOffset(self.queues[queue]))

    @returning_errors
    def search(self, queue: int, timestamp: int) -> Result:
        """``searchOffset`` of a time (ms since the epoch)."""
        return int(self.factory.getMQAdminImpl().searchOffset(self.queues[queue], jpype.JLong(timestamp)))


class _PairedPush(_PairedStart, JavaStartPush):
    suite = start_push.SUITE


class _PairedLitePull(_PairedStart, JavaStartLitePull):
    suite = start_lite_pull.SUITE


class PairedClient:
    """A client that finds its broker by a name server; queues are indexes of the layout. Errors are returned."""

    def __init__(self, release: JavaRelease, name_server: str) -> None:
        self._name_server = name_server
        made: tuple[_PairedStart, ...] = (_PairedPush(release, "tcp"), _PairedLitePull(release, "tcp"))
        self._starts = {start.suite.name: start for start in made}
        self._open_suites: set[str] = set()
        self._current = made[0]

    def join(self, group: str, suite: str) -> None:
        """Be a consumer of a group, with an empty offset store; ``suite`` is "start-push" or "start-lite-pull"."""
        self._current = self._starts[suite]
        if suite not in self._open_suites:
            self._current.begin_on(self._name_server)
            self._open_suites.add(suite)
        self._current.open_store(group)

    def read(self, queue: int, kind: str) -> Result:
        """Read the offset of a queue; ``kind`` as the operation ``read`` has it."""
        return self._current.step(JavaStart.read, queue, kind)

    def start(self, queue: int, where: str, timestamp: str | None, zone: str, checked: bool) -> Result:
        """The consumer's start offset."""
        return self._current.step(JavaStart.position, queue, where, timestamp, zone, checked)

    def commit(self, queue: int, offset: int, one_way: bool) -> Result:
        """Commit an offset; a one-way commit is not waited for."""
        return self._current.commit(queue, offset, one_way)

    def max(self, queue: int) -> Result:
        """Max, as the client asks for it."""
        return self._current.max(queue)

    def min(self, queue: int) -> Result:
        """Min, as the client asks for it."""
        return self._current.min(queue)

    def search(self, queue: int, timestamp: int) -> Result:
        """The offset that a time leads to (ms since the epoch)."""
        return self._current.search(queue, timestamp)

    def close(self) -> None:
        """Close connections."""
        for start in self._starts.values():
            start.close()


def _no_exchange(address: str, code: int, ext: dict[str, str], body: bytes, one_way: bool) -> Any:
    """Over sockets no exchange happens in this process."""
    raise ConnectionError("a client over sockets has no exchange")
