"""The start of an implementation: what it is doing, who sees that, and how long all of it may take.

Whatever gets an implementation ready runs inside :func:`starting`, which is one for the whole start, and names what it
does by :func:`phase`, or by :func:`report_progress` where it has no end of its own. Outside of a start these do
nothing, so that a broker that is started again in the middle of a case prints no lines.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from rocketmq_conformance.conformance.adapter import CannotRunError
from rocketmq_conformance.conformance.alarm import Alarm, Overdue

#: Seconds by which the alarm comes late: phases that look at the clock themselves end with a sentence that says more.
_LATER = 2.0

#: Called with what is under way, and with what is known about it; both are "" once nothing is.
Listener = Callable[[str, str], None]


@dataclass(slots=True)
class _Phase:
    text: str
    since: float
    detail: str = ""


class _Start:
    """A start that is under way."""

    def __init__(self, seconds: float | None, listener: Listener, clock: Callable[[], float]) -> None:
        self.seconds = seconds
        self._listener = listener
        self._clock = clock
        self.began = clock()
        self._phases: list[_Phase] = []
        #: What an adapter reported last.
        self._reported: _Phase | None = None
        #: The phase in which it failed.
        self._failed: _Phase | None = None

    @property
    def left(self) -> float | None:
        """Seconds that are left; None when it may take as long as it likes."""
        return None if self.seconds is None else self.began + self.seconds - self._clock()

    def report(self, text: str) -> None:
        """An adapter begins something."""
        self._reported, self._failed = _Phase(text, self._clock()), None
        self._show()

    @contextmanager
    def phase(self, text: str) -> Iterator[Callable[[str], None]]:
        mine = _Phase(text, self._clock())

        def describe(detail: str) -> None:
            mine.detail = detail
            self._show()

        self._phases.append(mine)
        self._failed = None  # whatever failed before was got over
        self._show()
        try:
            yield describe
        except BaseException:
            self._failed = self._failed or mine
            raise
        finally:
            self._phases.remove(mine)
            self._show()

    def _show(self) -> None:
        now = self._phases[-1] if self._phases else self._reported
        self._listener(now.text if now else "", now.detail if now else "")

    def end(self) -> None:
        """Nothing is under way any more."""
        self._listener("", "")

    def overdue(self) -> str:
        """A sentence on what took so long, and what to do."""
        last = self._failed or self._reported
        if last is None:
            doing = "its adapter did not return from hello(), and reported no progress"
        else:
            detail = f" ({last.detail})" if last.detail else ""
            doing = f"for the last {self._clock() - last.since:.0f} s it was {last.text}{detail}"
        return (
            f"The implementation was not ready after {self.seconds:g} s: {doing}. See what keeps it, or allow more "
            "time with --start-timeout."
        )


#: Seconds that a start may take which is part of no other; None for what is usual.
_allowed: float | None = None
_CURRENT: ContextVar[_Start | None] = ContextVar("start", default=None)


def unseen(text: str, detail: str) -> None:
    """A listener of starts that are not shown."""


@contextmanager
def starting(
    seconds: float | None, listener: Listener = unseen, clock: Callable[[], float] = time.monotonic
) -> Iterator[None]:
    """Everything inside is one start; inside another start it is part of that one.

    CannotRunError when it takes longer than ``seconds`` (None: as long as it likes), with what it was doing. In another
    thread than the main one only phases that look at the clock can notice that.
    """
    if _CURRENT.get() is not None:
        yield
        return
    start, alarm = _Start(seconds, listener, clock), Alarm()
    token = _CURRENT.set(start)
    try:
        if seconds is not None:
            alarm.set(seconds + _LATER)
        yield
    except Overdue:
        raise CannotRunError(start.overdue()) from None
    finally:
        alarm.unset()
        alarm.remove()
        _CURRENT.reset(token)
        start.end()


@contextmanager
def phase(text: str) -> Iterator[Callable[[str], None]]:
    """A phase of the start that is under way, such as "downloading jars"; what it yields takes details of it."""
    start = _CURRENT.get()
    if start is None:
        yield lambda detail: None
        return
    with start.phase(text) as describe:
        yield describe


def report_progress(text: str) -> None:
    """Say what an adapter does to get ready, such as "building the client": in its factory, or in ``hello``."""
    start = _CURRENT.get()
    if start is not None:
        start.report(text)


def time_left(usual: float) -> float:
    """Seconds that a phase may take: what is left of the start's time, or ``usual`` where there is no such limit."""
    start = _CURRENT.get()
    left = None if start is None else start.left
    return usual if left is None else max(0.0, left)


def start_limit(usual: float) -> float:
    """Seconds that a whole start may take, also when it is repeated later: those of the one that is under way, those
    that were allowed for this process, or ``usual``."""
    start = _CURRENT.get()
    given = _allowed if start is None or start.seconds is None else start.seconds
    return usual if given is None else given


def allow(seconds: float | None) -> None:
    """Allow so many seconds to each start in this process that is part of no other (None: what is usual)."""
    global _allowed
    _allowed = seconds


def allowed() -> float | None:
    """What was allowed, for processes that this one starts."""
    return _allowed


def more_time() -> str:
    """How to allow a start more time, to be appended to a sentence; "" when that would not help."""
    start = _CURRENT.get()
    if start is None or start.seconds is None:
        return ""
    return f" (the whole start may take {start.seconds:g} s: --start-timeout allows more)"
