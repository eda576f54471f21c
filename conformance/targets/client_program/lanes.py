"""The lanes in which cases are played side by side; all streams of an adapter share them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")


class Lanes:
    """So many threads, each for a case at a time. Who waits for a lane has the next one."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._pool = ThreadPoolExecutor(count)
        self._changed = threading.Condition()
        self._taken = self._awaited = 0
        self._under_way: set[Future[Any]] = set()

    @property
    def under_way(self) -> frozenset[Future[Any]]:
        """The cases that are being played."""
        with self._changed:
            self._under_way = {one for one in self._under_way if not one.done()}
            return frozenset(self._under_way)

    def take(self, *, waits: bool) -> bool:
        """Take a lane: wait for one, or say whether one is free."""
        with self._changed:
            if waits:
                self._awaited += 1
                self._changed.wait_for(lambda: self._taken < self.count)
                self._awaited -= 1
            elif self._taken + self._awaited >= self.count:
                return False
            self._taken += 1
            return True

    def leave(self) -> None:
        """Give a lane back."""
        with self._changed:
            self._taken -= 1
            self._changed.notify_all()

    def begin(self, work: Callable[[], T]) -> Future[T]:
        """Begin a case in the lane that was taken, which is free again once the case has ended."""

        def played() -> T:
            try:
                return work()
            finally:
                self.leave()  # before it counts as ended: who waits for that finds the lane free

        with self._changed:
            future = self._pool.submit(played)
            self._under_way.add(future)
        return future

    def close(self) -> None:
        """Wait for the cases that are being played."""
        self._pool.shutdown(cancel_futures=True)
