"""The life of the broker that is judged: it is ended, frozen and started again, and its memory is taken.

One of somebody else is left alone.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Protocol

from rocketmq_conformance.conformance.adapter import AdapterError, CannotRunError
from rocketmq_conformance.conformance.remoting.client import Connection
from rocketmq_conformance.conformance.targets.broker import requests
from rocketmq_conformance.conformance.targets.broker.broker_location import Own
from rocketmq_conformance.models.broker.broker_process import DOWN, FROZEN, RUNNING
from rocketmq_conformance.models.broker.lifecycle import KILL, STOP
from rocketmq_conformance.models.outcome import Err, Ok, Outcome, Unsupported
from rocketmq_conformance.suites.broker_offsets import Query
from rocketmq_conformance.suites.declare.operation import Operation

#: Seconds after which a topic is surely on disk that was acknowledged before it was there.
_LATE = 0.5
#: How often a query is asked again because its message came into memory, or went, just then.
_LOOKS = 5
_RATIO = "accessMessageInMemoryMaxRatio"
_ORDINARY_RATIO = "40"
_NO_RESTART = "a broker that the kit did not start cannot be restarted"
_NO_FREEZING = "a broker that the kit did not start cannot be frozen"
#: Why an operation is not done to a broker of somebody else.
_LEFT_ALONE = {
    "restart": _NO_RESTART,
    "stop": _NO_RESTART,
    "kill": _NO_RESTART,
    "start": _NO_RESTART,
    "pause": _NO_FREEZING,
    "resume": _NO_FREEZING,
    "save": "the offsets file of a broker that the kit did not start cannot be seen",
    "memory": "the settings of a broker that the kit did not start are left alone",
    "evict": "a broker that the kit did not start as a program here is left its memory",
    "query_pages": "what a broker that the kit did not start has in memory cannot be seen",
}


class Line(Protocol):
    """The line to the broker."""

    def ask(self, request: requests.Ask) -> bytes:
        """One request for the broker as a whole; the body of its answer."""
        ...

    def disconnect(self) -> None:
        """Close all connections."""
        ...

    def late_topics(self) -> bool:
        """Does the broker acknowledge a topic before it is there?"""
        ...

    def first(self, operation: Operation) -> Outcome:
        """Do one operation in the first lane."""
        ...

    def topic_name(self, lane: int, topic: int) -> str:
        """The broker's name of a topic of the case in a lane."""
        ...


class Life:
    """What is done to the broker as a whole; ``own`` is None for one of somebody else."""

    def __init__(self, own: Own | None, line: Line) -> None:
        self._line = line
        #: RUNNING, FROZEN or DOWN: what was done to the broker.
        self.place = RUNNING
        self._own = own
        #: The memory ratio was changed and not yet set back.
        self._cold = False
        self._operations: dict[str, Callable[..., Outcome]] = {}
        if own is not None:
            self._operations = {
                "restart": partial(self._restart, own),
                "stop": partial(self._end, own, STOP),
                "kill": partial(self._end, own, KILL),
                "start": partial(self._start, own),
                "pause": partial(self._pause, own),
                "resume": partial(self._resume, own),
                "save": partial(self._save, own),
                "memory": self._memory,
                "evict": partial(self._evict, own),
                "query_pages": partial(self._query_pages, own),
            }

    def do(self, operation: Operation) -> Outcome | None:
        """Do an operation on the broker as a whole; None when it is none."""
        name = operation.spec.name
        if name not in _LEFT_ALONE:
            return None
        if self._own is None:
            return Unsupported(_LEFT_ALONE[name])
        return self._operations[name](*operation.args)

    def patience(self, ordinary: float) -> float:
        """How long to wait for an answer (s)."""
        return self._own.silence if self._own is not None and self.place == FROZEN else ordinary

    def revive(self) -> None:
        """A case begins with a broker that runs."""
        if self._own is not None and self.place == FROZEN:
            self._resume(self._own)
        elif self._own is not None and self.place == DOWN:
            self._start(self._own)

    def warm(self) -> None:
        """A case begins with the ordinary memory ratio."""
        if self._cold:
            self._set_ratio(hot=True)

    def reached(self) -> Outcome:
        """Does anybody listen where the broker did that is down?"""
        assert self._own is not None
        try:
            Connection("127.0.0.1", self._own.port, self._own.silence).close()
        except OSError:
            return Err("UNREACHABLE")
        return Err("REACHABLE", detail="somebody listens on the port of a broker that was ended")

    def _restart(self, own: Own, how: str) -> Outcome:
        self._end(own, how)
        return self._start(own, how)

    def _end(self, own: Own, how: str) -> Outcome:
        if self.place == RUNNING and self._line.late_topics():
            time.sleep(_LATE)  # a topic that is there may not be on disk yet
        self._line.disconnect()
        (own.kill if how == KILL else own.stop)()
        self.place = DOWN
        self._cold = False
        return Ok()

    def _start(self, own: Own, how: str = STOP) -> Outcome:
        try:
            own.start()
        except CannotRunError as error:
            raise AdapterError(f"The broker did not come back after a {how}: {error}") from error
        self.place = RUNNING
        return Ok()

    def _pause(self, own: Own) -> Outcome:
        own.pause()
        self.place = FROZEN
        return Ok()

    def _resume(self, own: Own) -> Outcome:
        """Let the broker go on, and wait until it has caught up."""
        own.resume()
        self.place = RUNNING
        self._line.ask(requests.runtime_info())
        time.sleep(own.settled)
        return Ok()

    def _save(self, own: Own) -> Outcome:
        own.save(lambda: self._line.ask(requests.stored_offsets()))
        return Ok()

    def _memory(self, hot: bool) -> Outcome:
        """Set the memory ratio to 0, or back."""
        self._set_ratio(hot)
        return Ok()

    def _evict(self, own: Own) -> Outcome:
        reason = own.evict()
        return Unsupported(reason) if reason else Ok()

    def _query_pages(self, own: Own, group: int, topic: int, queue: int, set_zero: bool | None) -> Outcome:
        """Query an offset in the first lane, while message 0 is in memory all the time, or out of it."""
        name = self._line.topic_name(0, topic)
        for _ in range(_LOOKS):
            before = own.in_memory(name, queue)
            outcome = self._line.first(Query(group, topic, queue, set_zero))
            if own.in_memory(name, queue) == before:
                break
        else:
            return Err("RESTLESS", definite=False, detail="message 0 is put in and out of memory all the time")
        if isinstance(outcome, Ok):
            return Ok((outcome.value, before))
        return Ok((outcome.code, before)) if isinstance(outcome, Err) and outcome.definite else outcome

    def _set_ratio(self, hot: bool) -> None:
        self._line.ask(requests.set_property(_RATIO, _ORDINARY_RATIO if hot else "0"))
        self._cold = not hot
