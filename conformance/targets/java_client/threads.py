"""A thread factory that makes none: tasks of the real classes wait until the adapter runs them."""

from __future__ import annotations

from typing import Any

import jpype


class _NoThreads:
    """A factory of threads that makes none."""

    def newThread(self, task: Any) -> None:  # noqa: N802 - Java's name
        """No thread: tasks wait until they are called."""


def no_threads() -> Any:
    """A ``ThreadFactory`` for pools of Java."""
    return jpype.JProxy(jpype.JClass("java.util.concurrent.ThreadFactory"), inst=_NoThreads())
