"""Replaces the threads and timers of the real classes: tasks are recorded, and wait until the adapter runs them."""

from __future__ import annotations

from typing import Any

import jpype

from rocketmq_conformance.conformance.targets.java_client.java_source import compiled


class _NoThreads:
    """A factory of threads that makes none."""

    def newThread(self, task: Any) -> None:  # noqa: N802 - Java's name
        """No thread: tasks wait until they are called."""


def no_threads() -> Any:
    """A ``ThreadFactory`` for pools of Java."""
    return jpype.JProxy(jpype.JClass("java.util.concurrent.ThreadFactory"), inst=_NoThreads())


class RecordingExecutor:
    """A ``ScheduledExecutorService`` that records its tasks and runs none; the class behind a Java proxy."""

    def __init__(self) -> None:
        #: (delay in ms, task) of one-shot tasks, in the order of their submission.
        self.tasks: list[tuple[int, Any]] = []
        #: (period in ms, task) of periodic tasks.
        self.periodic: list[tuple[int, Any]] = []
        self.proxy = jpype.JProxy(jpype.JClass("java.util.concurrent.ScheduledExecutorService"), inst=self)

    def take(self) -> list[tuple[int, Any]]:
        """Take the one-shot tasks."""
        taken, self.tasks = self.tasks, []
        return taken

    def schedule(self, task: Any, delay: Any, unit: Any) -> None:
        """Record a task with a delay."""
        self.tasks.append((int(unit.toMillis(delay)), task))

    def execute(self, task: Any) -> None:
        """Record a task without delay."""
        self.tasks.append((0, task))

    def scheduleAtFixedRate(self, task: Any, first: Any, period: Any, unit: Any) -> None:  # noqa: N802 - Java's name
        """Record a periodic task."""
        self.periodic.append((int(unit.toMillis(period)), task))

    def shutdown(self) -> None:
        """Nothing to stop."""

    def shutdownNow(self) -> Any:  # noqa: N802
        """Nothing to stop."""
        return jpype.JClass("java.util.ArrayList")()

    def awaitTermination(self, *time: Any) -> bool:  # noqa: N802
        """Nothing runs."""
        return True

    def isShutdown(self) -> bool:  # noqa: N802
        return False


class PostponedTasks:
    """One-shot tasks that wait until all of them are run or forgotten: compiled, where Java has a compiler."""

    def __init__(self) -> None:
        java = compiled("PostponedTasks")
        self._java = None if java is None else java()
        self._called = RecordingExecutor()
        #: The ``ScheduledExecutorService``.
        self.proxy = self._called.proxy if java is None else self._java

    def run(self) -> None:
        """Run the tasks that wait, in the order in which they came."""
        if self._java is not None:
            self._java.run()
            return
        for _, task in self._called.take():
            task.run()

    def forget(self) -> None:
        """Forget the tasks that wait."""
        if self._java is not None:
            self._java.forget()
        else:
            self._called.tasks.clear()
