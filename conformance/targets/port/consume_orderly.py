"""The port's orderly listener: consumes the batches of a queue one after the other."""

from __future__ import annotations

from collections.abc import Sequence

from rocketmq_conformance.conformance.adapter import Methods
from rocketmq_conformance.conformance.targets.port.consume import Consumption
from rocketmq_conformance.conformance.targets.port.process_queue import ProcessQueue, Pulled
from rocketmq_conformance.models.outcome import Err, Result
from rocketmq_conformance.suites import consume_orderly as operations

#: Most retries of a message when the consumer sets no limit.
NO_LIMIT = (1 << 31) - 1


class ConsumeOrderly(Consumption):
    """A consumer with an orderly listener."""

    first_batch = 2

    def begin(self, mode: str, max_times: int, batch: int) -> Result:
        """Begin without pending consume requests."""
        self.runs: list[ProcessQueue] = []
        self.later: list[tuple[int, ProcessQueue]] = []
        self.limit = NO_LIMIT if max_times == -1 else max_times
        #: How many runs more the executor takes, None for any number.
        self.room: int | None = None
        return super().begin(mode, max_times, batch)

    def put(self, queue: int, offsets: tuple[int, ...], size: int, times: int) -> Result:
        """Put the messages of a pull response, and submit a consume request."""
        process_queue = self.owned[queue]
        woken = process_queue.put([Pulled(queue, offset, size, times) for offset in offsets])
        if woken and not self.execute(process_queue):
            return self.refused(process_queue)
        return woken, *process_queue.look()

    def execute(self, process_queue: ProcessQueue) -> bool:
        """Hand a run to the executor: does it take it?"""
        if self.room is not None:
            if not self.room:
                return False
            self.room -= 1
        self.runs.append(process_queue)
        return True

    def refused(self, process_queue: ProcessQueue) -> Result:
        """The executor is full when a pull is to begin a run: the pull fails."""
        return Err("RUNTIME")

    def refused_again(self, process_queue: ProcessQueue) -> None:
        """The executor is full when a run is to begin after a pause: nothing follows."""

    def fill(self, room: int | None) -> Result:
        """The executor takes so many runs more, or any number."""
        self.room = room
        return None

    def consume(
        self,
        at: int,
        first: str,
        then: str,
        automatic: bool,
        suspension: int,
        meanwhile: str,
    ) -> Result:
        """Run a consume request."""
        if not self.runs:
            return None
        process_queue = self.runs.pop(min(at, len(self.runs) - 1))
        if process_queue.dropped:
            return None, self.held(process_queue.queue), *process_queue.look()
        seen: list[tuple[int, ...]] = []
        goes_on = True
        while goes_on and not process_queue.dropped:
            messages = process_queue.take(self.batch)
            if not messages:
                break
            if not seen:
                self.meanwhile(process_queue, meanwhile)
            status = then if seen else first
            seen.append(tuple([message.offset for message in messages]))
            try:
                goes_on = self.result(process_queue, messages, status, automatic, suspension)
            except ValueError:
                return Err("RUNTIME")
        return tuple(seen), self.held(process_queue.queue), *process_queue.look()

    def meanwhile(self, process_queue: ProcessQueue, what: str) -> None:
        """Events that happen while the listener has the first batch."""
        if what == "loses":
            self.drop(process_queue.queue)
        elif what == "clears":
            process_queue.clear()

    def result(
        self, process_queue: ProcessQueue, messages: list[Pulled], status: str, automatic: bool, suspension: int
    ) -> bool:
        """Process the listener's result for a batch; does the run go on?"""
        if status == "ROLLBACK" and not automatic:
            self.roll_back(process_queue, messages)
            self.wait(process_queue, suspension)
            return False
        if status not in ("SUCCESS", "COMMIT", "ROLLBACK") and self.is_tried_again(messages):
            process_queue.put_back(messages)
            self.wait(process_queue, suspension)
            return False
        if automatic or status == "COMMIT":
            self.commit(process_queue, process_queue.commit())
        return True

    def roll_back(self, process_queue: ProcessQueue, messages: Sequence[Pulled]) -> None:
        """Roll back every message that is not committed."""
        process_queue.rollback()

    def is_tried_again(self, messages: Sequence[Pulled]) -> bool:
        """Is any message of a batch to be retried locally? The others were sent to the retry topic."""
        again = False
        for message in messages:
            if not (self.is_spent(message) and self.send_on(message)):
                message.times += 1
                again = True
        return again

    def is_spent(self, message: Pulled) -> bool:
        """Has the message used up its retries?"""
        return message.times >= self.limit

    def send_on(self, message: Pulled) -> bool:
        """Send a message to the retry topic."""
        return self.returns.send_copy(message, self.limit)

    def commit(self, process_queue: ProcessQueue, offset: int) -> None:
        """Update the offset in memory."""
        if not process_queue.dropped:
            self.store.update(process_queue.queue, offset, False)

    def wait(self, process_queue: ProcessQueue, suspension: int) -> None:
        """Schedule another run."""
        self.later.append((self.now + self.pause(suspension), process_queue))

    def pause(self, suspension: int) -> int:
        """Ms until the next run."""
        return 1_000 if suspension == -1 else max(10, min(30_000, suspension))

    def tick(self, millis: int) -> Result:
        """Time passes."""
        self.now += millis
        if self.later:
            due = sorted((entry for entry in self.later if entry[0] <= self.now), key=lambda entry: entry[0])
            self.later = [entry for entry in self.later if entry[0] > self.now]
            for _, process_queue in due:
                if not self.execute(process_queue):
                    self.refused_again(process_queue)
        return len(self.runs)

    def clear(self, queue: int) -> Result:
        """A reset clears the process queue."""
        self.owned[queue].clear()
        return self.owned[queue].look()

    def calls(self) -> Methods:
        """The method that does each operation of the suite, by its class."""
        return {
            operations.Begin: self.begin,
            operations.Put: self.put,
            operations.Consume: self.consume,
            operations.Tick: self.tick,
            operations.Fill: self.fill,
            operations.Drop: self.drop,
            operations.Clear: self.clear,
            operations.Update: self.update,
        }


PART = ConsumeOrderly
