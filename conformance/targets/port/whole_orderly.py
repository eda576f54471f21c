"""The port's whole orderly consumers: those of ``whole_push`` with the locks of ``rebalance_orderly``."""

from __future__ import annotations

from rocketmq_conformance.conformance.adapter import Methods
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.targets.port.group_member import Consumer, OwnedQueue
from rocketmq_conformance.conformance.targets.port.rebalance_orderly import OrderlyQueue, RebalanceOrderly, orderly
from rocketmq_conformance.conformance.targets.port.start import NoStartError
from rocketmq_conformance.conformance.targets.port.whole_push import Line, WholePush
from rocketmq_conformance.models.outcome import Result, Value
from rocketmq_conformance.suites import whole_orderly as operations
from rocketmq_conformance.suites.declare.topologies import ORDINARY


class WholeOrderly(WholePush, RebalanceOrderly):
    """The members that run, each of which consumes a queue's messages one after the other."""

    # --- turns ----------------------------------------------------------------------------------------------

    def turn(self, consumer: Consumer, line: Line) -> None:
        """The lock timer, pulls that were put off, and then what a push consumer does."""
        self._line = line
        self.renew_locks(consumer)
        for queue, owned in consumer.table.items():
            if owned not in line.asked.values():
                self.ask(consumer, line, queue, owned)
        super().turn(consumer, line)

    def ask(self, consumer: Consumer, line: Line, queue: int, owned: OwnedQueue) -> None:
        """Pull a queue whose lock is there, the first time from where it begins by now."""
        mine = orderly(owned)
        if not self.may_pull(mine):
            return
        if not mine.corrected:
            try:
                mine.offset = self.corrected(consumer, queue, mine)
            except NoStartError:
                return
            mine.corrected = True
        super().ask(consumer, line, queue, owned)

    def answered(self, consumer: Consumer, line: Line, queue: int, owned: OwnedQueue, response: Command) -> None:
        """A pull was answered; one that failed is tried again in the next turn."""
        if "nextBeginOffset" in response.ext:
            super().answered(consumer, line, queue, owned, response)

    def give(self, consumer: Consumer, queue: int, owned: OwnedQueue, following: int) -> None:
        """Messages were pulled: the listener is given one after the other."""
        orderly(owned).messages += self.in_order(range(owned.offset, following))
        self.consume_available(consumer, queue)

    def in_order(self, offsets: range) -> list[int]:
        """The offsets of messages in the order in which a listener is given them."""
        return list(offsets)

    def consumed(self, consumer: Consumer, queue: int, offset: int) -> None:
        """The listener was given the message at an offset, and consumed it."""
        self.given.append((consumer.client, ORDINARY.queues[queue].id, offset, 1))
        super().consumed(consumer, queue, offset)

    def moved_to(self, consumer: Consumer, queue: int, offset: int) -> None:
        """The broker sent the consumer elsewhere: the lock is given back, too."""
        super().moved_to(consumer, queue, offset)
        self.give_back(consumer, queue)

    # --- operations -----------------------------------------------------------------------------------------

    def take_locks(self) -> Result:
        """The broker loses all locks to a client outside the group, which members notice."""
        self.world.take_locks()
        return self.look()

    def expire_locks(self) -> Result:
        """A minute passes at the broker."""
        self.world.expire_locks()
        return self.look()

    def refuse_locks(self, code: str) -> Result:
        """From now on requests for locks are refused."""
        return self.fail(Request.LOCK_BATCH_MQ.name, code)

    def observed(self, running: dict[str, int]) -> Value:
        """What the traffic shows, the holders of locks, and what listeners were given."""
        return self.observed_of_all(running)

    def new_queue(self, offset: int) -> OrderlyQueue:
        """A process queue that counts as locked."""
        return OrderlyQueue(offset, self.now)

    def calls(self) -> Methods:
        """The method that does each operation of the suite, by its class."""
        return {
            **WholePush.calls(self),
            operations.TakeLocks: self.take_locks,
            operations.ExpireLocks: self.expire_locks,
            operations.RefuseLocks: self.refuse_locks,
        }


PART = WholeOrderly
