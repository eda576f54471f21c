"""The classes of one client release on a real broker: its own network code, and neither threads nor timers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import jpype

from rocketmq_conformance.conformance.adapter import Case
from rocketmq_conformance.conformance.targets.java_client.consumer import JavaConsumer
from rocketmq_conformance.conformance.targets.java_client.release import JavaRelease
from rocketmq_conformance.models.outcome import Result
from rocketmq_conformance.models.profile import Profile
from rocketmq_conformance.suites.declare.discovery import SUITES


class PairedClient(JavaConsumer):
    """A client that finds its broker by a name server; queues are indexes of the layout."""

    def __init__(self, release: JavaRelease, name_server: str) -> None:
        super().__init__(release, "tcp")
        self._name_server = name_server

    def join(self, group: str, kind: str) -> None:
        """Be a consumer of a group, with an empty offset store; ``kind`` is "start-push" or "start-lite-pull"."""
        self.begin(Case(SUITES[kind], 0, Profile(), lambda: self._name_server, _nobody, Path()))
        self.store = self._store_class(self.factory, group)
        self._begin_consumer(kind)

    def commit_only(self, queue: int, offset: int, one_way: bool) -> Result:
        """Commit an offset, without waiting for a commit that nobody answers."""
        self.store.updateConsumeOffsetToBroker(self._queues[queue], offset, one_way)
        return None

    def max(self, queue: int) -> Result:
        """Max, as the client asks for it."""
        return self._admin("maxOffset", queue)

    def min(self, queue: int) -> Result:
        """Min, as the client asks for it."""
        return self._admin("minOffset", queue)

    def search(self, queue: int, timestamp: int) -> Result:
        """The offset that a time leads to (ms since the epoch)."""
        return self._admin("searchOffset", queue, jpype.JLong(timestamp))

    def guarded(self, call: Callable[..., Result]) -> Callable[..., Result]:
        """The call with errors returned instead of raised."""
        return self._returning_errors(call)

    def _admin(self, method: str, queue: int, *more: Any) -> Result:
        return int(getattr(self.factory.getMQAdminImpl(), method)(self._queues[queue], *more))


def _nobody(address: str, code: int, ext: dict[str, str], body: bytes, one_way: bool) -> Any:
    """Over sockets nothing is exchanged in this process."""
    raise ConnectionError("a client over sockets has no exchange")
