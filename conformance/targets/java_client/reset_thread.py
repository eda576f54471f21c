"""A thread of the real client in which a reset runs: it stands still where it would wait, until the plan goes on."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import jpype

from rocketmq_conformance.conformance.targets.java_client.orderly_consumer import ConsumeLock

#: Timeout of what threads of the client do between two waits (s), and time between two looks at them.
PATIENCE, LOOK = 60.0, 0.0002


class ResetThread:
    """A reset under way, in a thread of its own; ``on_timeout`` is called when its wait was not ended in time."""

    def __init__(self, work: Callable[[], None], on_timeout: Callable[[], None]) -> None:
        self._work, self._on_timeout = work, on_timeout
        self._goes_on = threading.Event()
        self.waits = self.ended = False
        #: When it wants to go on (ms of the case's clock), and what it waits for, if not for the time alone.
        self.due = 0
        self.lock: ConsumeLock | None = None
        self.java: Any = None
        self.error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="reset", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def _run(self) -> None:
        try:
            self.java = jpype.JClass("java.lang.Thread").currentThread()
            self._work()
        except BaseException as error:  # shown to the step that looks for it
            self.error = error
        finally:
            # or Java keeps the thread for ever, with buffers of 128 KiB that fastjson 1 gives to each
            jpype.JClass("java.lang.Thread").detach()
            self.ended = True

    def is_current(self) -> bool:
        """Is this the thread that asks?"""
        return threading.current_thread() is self._thread

    def wait_until(self, due: int, lock: ConsumeLock | None = None) -> None:
        """Stand still until the adapter says that the time has come, or that the lock is free."""
        self.due, self.lock = due, lock
        self._goes_on.clear()
        self.waits = True
        if not self._goes_on.wait(PATIENCE):
            self._on_timeout()

    def go_on(self) -> None:
        """End its wait."""
        self.waits = False
        self._goes_on.set()

    def waits_for(self, instance: Any) -> bool:
        """Does it wait for the monitor of this object? For those of others it may wait for a moment."""
        if self.java is None or str(self.java.getState()) != "BLOCKED":
            return False
        threads = jpype.JClass("java.lang.management.ManagementFactory").getThreadMXBean()
        seen = threads.getThreadInfo(self.java.getId())
        monitor = None if seen is None else seen.getLockInfo()
        # who has it is not told for sure: threads of Python that have ended may stand for those that have their stacks
        return monitor is not None and int(monitor.getIdentityHashCode()) == int(
            jpype.JClass("java.lang.System").identityHashCode(instance)
        )
