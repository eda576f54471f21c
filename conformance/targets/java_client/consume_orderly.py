"""Plays the suite ``consume-orderly``: a real push consumer with an orderly listener, stepped operation by operation.

Its process queues are locked, as they are once the broker has granted their locks.
"""

from __future__ import annotations

from typing import Any

from rocketmq_conformance.conformance.adapter import Methods
from rocketmq_conformance.conformance.targets.java_client.consumption import JavaConsumption, returning_errors
from rocketmq_conformance.models.client.consume_orderly import CLEARS, LOSES, NOTHING, RAISES
from rocketmq_conformance.models.outcome import Result
from rocketmq_conformance.suites.consume_orderly import Begin, Clear, Consume, Drop, Fill, Put, Tick, Update

#: Ms by which the grant of locks is dated ahead: this suite is not about locks, and they must not expire within a run,
#: however fast the timers of the classes are and however slow the machine is.
LOCKED_FOR = 3_600_000


class JavaConsumeOrderly(JavaConsumption):
    """A consumer with an orderly listener."""

    service_class = "impl.consumer.ConsumeMessageOrderlyService"
    listener_class = "consumer.listener.MessageListenerOrderly"
    status_class = "consumer.listener.ConsumeOrderlyStatus"
    first_batch = 2

    def new_queue(self) -> Any:
        """A new process queue, locked."""
        made = super().new_queue()
        made.setLocked(True)
        return made

    @returning_errors
    def consume(
        self,
        at: int,
        first: str,
        then: str,
        automatic: bool,
        suspension: int,
        meanwhile: str,
    ) -> Result:
        """A consume request runs."""
        taken = self.take_request(at)
        if taken is None:
            return None
        task, owned, queue = taken
        owned.setLastLockTimestamp(self.millis() + LOCKED_FOR)
        dropped = bool(owned.isDropped())
        self._queue = queue
        self._batches: list[tuple[int, ...]] = []
        self._play = first, then, automatic, suspension, meanwhile
        self.run(task)
        return None if dropped else tuple(self._batches), self.held(queue), *self.look(owned)

    def consumeMessage(self, messages: Any, context: Any) -> Any:  # noqa: N802 - Java's name
        """The listener."""
        try:
            first, then, automatic, suspension, meanwhile = self._play
            status = then if self._batches else first
            if not self._batches:
                if meanwhile == LOSES:
                    self.drop(self._queue)
                elif meanwhile == CLEARS:
                    self.process_queues[self._queue].clear()
            self._batches.append(tuple([int(message.getQueueOffset()) for message in messages]))
            context.setAutoCommit(automatic)
            context.setSuspendCurrentQueueTimeMillis(suspension)
            found = None if status in (NOTHING, RAISES) else getattr(self.statuses, status)
        except Exception as error:
            self.broken = error
            raise
        if status == RAISES:
            raise self.raised("a listener that fails")
        return found

    def clear(self, queue: int) -> Result:
        """A reset clears the process queue."""
        self.process_queues[queue].clear()
        return self.look(self.process_queues[queue])

    def calls(self) -> Methods:
        """One callable per operation."""
        return {
            Begin: self.start,
            Put: self.put,
            Consume: self.consume,
            Tick: self.tick,
            Fill: self.fill,
            Drop: self.drop,
            Clear: self.clear,
            Update: self.update,
        }


PART = JavaConsumeOrderly
