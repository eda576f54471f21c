"""Plays the suite ``consume``: a real push consumer with a concurrent listener, stepped operation by operation.

Start times of listeners are kept in ms of the case's clock. The classes compare them with the clock of the machine:
before the timer runs they are made as old as the case says, less half of the smallest step that matters. When the
client's clock is real, they are in ms of the machine, and are aged by the pace: the listener timeout of 15 minutes
is in whole minutes of a consumer's settings, and cannot be made shorter.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import jpype

from rocketmq_conformance.conformance.adapter import Methods
from rocketmq_conformance.conformance.targets.java_client.consumption import JavaConsumption, returning_errors
from rocketmq_conformance.models.client.consume import DURATIONS, LOSES, NOTHING, RAISES
from rocketmq_conformance.models.outcome import Result
from rocketmq_conformance.suites.consume import Begin, Clean, Consume, Drop, Fill, Put, Remove, Tick, Update

#: Ms by which messages are made younger than they are: less than the difference of any two ages.
SLACK = 1_250


class JavaConsume(JavaConsumption):
    """A consumer with a concurrent listener."""

    @returning_errors
    def consume(self, at: int, status: str, ack: int | None, level: int, meanwhile: str) -> Result:
        """A consume request runs."""
        taken = self.take_request(at)
        if taken is None:
            return None
        task, owned, self._queue = taken
        self._seen: tuple[int, ...] | None = None
        self._play = status, ack, level, meanwhile
        queue = self._queue
        self.run(task)
        return self._seen, self.held(queue), *self.look(owned)

    def consumeMessage(self, messages: Any, context: Any) -> Any:  # noqa: N802 - Java's name
        """The listener."""
        try:
            status, ack, level, meanwhile = self._play
            self._seen = tuple([int(message.getQueueOffset()) for message in messages])
            for message in messages:
                if self.release.pace is None and self.accessor.getConsumeStartTimeStamp(message) is not None:
                    self.accessor.setConsumeStartTimeStamp(message, str(self.later.now))
            if meanwhile == LOSES:
                self.drop(self._queue)
            elif meanwhile in DURATIONS:
                self.later.now += DURATIONS[meanwhile]
                with suppress(jpype.JException):  # the timer swallows errors
                    self._clean(self.process_queues[self._queue])
            if ack is not None:
                context.setAckIndex(ack)
            context.setDelayLevelWhenNextConsume(level)
            found = None if status in (NOTHING, RAISES) else getattr(self.statuses, status)
        except Exception as error:
            self.broken = error
            raise
        if status == RAISES:
            raise self.raised("a listener that fails")
        return found

    @returning_errors
    def clean(self, queue: int) -> Result:
        """The clean-up timer runs."""
        owned = self.process_queues[queue]
        self._clean(owned)
        return self.look(owned)

    def _clean(self, owned: Any) -> None:
        machine, now = int(self.millis()), self.later.now
        pace, slack = (1.0, SLACK) if self.release.pace is None else (self.release.pace, 0)
        if self.release.pace is not None:
            now = machine
        starts = []
        for message in owned.getMsgTreeMap().values():
            at = self.accessor.getConsumeStartTimeStamp(message)
            if at is not None:
                starts.append((message, at))
        for message, at in starts:
            self.accessor.setConsumeStartTimeStamp(message, str(machine - int((now - int(str(at))) * pace) + slack))
        try:
            owned.cleanExpiredMsg(self.consumer)
        finally:
            for message, at in starts:
                self.accessor.setConsumeStartTimeStamp(message, at)

    def remove(self, queue: int, offsets: Sequence[int], size: int) -> Result:
        """Messages are removed."""
        owned = self.process_queues[queue]
        offset = owned.removeMessage(self.list([self.message(queue, at, size, 0) for at in offsets]))
        return int(offset), *self.look(owned)

    def calls(self) -> Methods:
        """One callable per operation."""
        return {
            Begin: self.start,
            Put: self.put,
            Consume: self.consume,
            Clean: self.clean,
            Tick: self.tick,
            Fill: self.fill,
            Drop: self.drop,
            Update: self.update,
            Remove: self.remove,
        }


PART = JavaConsume
