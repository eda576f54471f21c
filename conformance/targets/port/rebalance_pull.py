"""The port's lite pull consumers: they rebalance as others do, pull by tasks, and applications poll the messages.

A queue is owned while it is in the table of process queues, by which the timer commits. It is pulled by a task, which
starts and ends when a round has changed the table. The state of a task (next offset to pull, consumed offset) starts
again with each assignment.
"""

from __future__ import annotations

from rocketmq_conformance.conformance.adapter import Methods
from rocketmq_conformance.conformance.targets.port.group_member import Consumer, OwnedQueue
from rocketmq_conformance.conformance.targets.port.offset_table import NO_OFFSET
from rocketmq_conformance.conformance.targets.port.rebalance import Rebalance
from rocketmq_conformance.conformance.targets.port.start import NoStartError, StartPosition
from rocketmq_conformance.models.client.member_settings import MEMBER_TIMESTAMP
from rocketmq_conformance.models.outcome import Result
from rocketmq_conformance.suites import rebalance as group
from rocketmq_conformance.suites import rebalance_pull as operations
from rocketmq_conformance.suites.declare.topologies import ORDINARY


class LiteQueue(OwnedQueue):
    """A process queue and its messages."""

    __slots__ = ("last", "messages")

    def __init__(self, offset: int, now: int) -> None:
        super().__init__(offset, now)
        #: Offsets of messages that were pulled and not polled.
        self.messages: set[int] = set()
        #: The last of them that was new.
        self.last = NO_OFFSET

    def put(self, offset: int) -> None:
        """A message arrives."""
        if offset not in self.messages:
            self.messages.add(offset)
            self.last = offset

    def take(self, offset: int) -> int:
        """A message is polled: the next offset to consume."""
        if not self.messages:
            return NO_OFFSET
        self.messages.discard(offset)
        return min(self.messages) if self.messages else self.last + 1


class Assignment:
    """The state of a queue's pull task."""

    __slots__ = ("consumed", "owned", "pulls")

    def __init__(self, owned: LiteQueue) -> None:
        self.owned = owned
        #: The next offset to pull.
        self.pulls = NO_OFFSET
        #: The offset that a commit writes.
        self.consumed = NO_OFFSET


class LiteConsumer(Consumer):
    """One member of the group."""

    def __init__(self, positions: StartPosition, client: str, mode: str, where: str, strategy: str) -> None:
        super().__init__(positions, client, mode, where, strategy)
        self.topics = ["T", "U"]
        self.assigned: dict[int, Assignment] = {}
        #: Pulled messages, in order: queue, its process queue, offset.
        self.pulled: list[tuple[int, LiteQueue, int]] = []


class RebalancePull(Rebalance):
    """The members of the group, by number."""

    consumer = LiteConsumer

    # --- a round ------------------------------------------------------------------------------------------

    def round(self, consumer: LiteConsumer) -> Result:
        """One round: (owned queues, queues that are pulled, is it balanced?)."""
        result = self.rebalance(consumer)
        assert isinstance(result, tuple)
        return result[0], tuple(sorted(consumer.assigned)), result[2]

    def without_route(self, consumer: Consumer, topic: str) -> bool:
        """A topic without a route is not pulled, broadcasting or not."""
        return self.without_queues(consumer, topic)

    def without_queues(self, consumer: Consumer, topic: str) -> bool:
        """A topic without a route: keep the owned queues, but pull none."""
        self.listen(lite(consumer), topic, ())
        return True

    def own(self, consumer: Consumer, topic: str, wanted: tuple[int, ...], new_pulls: list[tuple[int, int]]) -> bool:
        """Own exactly these queues of a topic; on a change, pull exactly these."""
        before = dict(consumer.table)
        complete = super().own(consumer, topic, wanted, new_pulls)
        if self.has_changed(before, consumer):
            self.listen(lite(consumer), topic, wanted)
        return complete

    def has_changed(self, before: dict[int, OwnedQueue], consumer: Consumer) -> bool:
        """Did the round change the table?"""
        return before != consumer.table

    def listen(self, consumer: LiteConsumer, topic: str, wanted: tuple[int, ...]) -> None:
        """Pull exactly these queues of a topic."""
        for queue in [queue for queue in consumer.assigned if ORDINARY.topic_of[queue] == topic]:
            if queue not in wanted:
                self.end_pull(consumer, queue)
        for queue in wanted:
            if queue not in consumer.assigned:
                self.begin_pull(consumer, queue)

    def begin_pull(self, consumer: LiteConsumer, queue: int) -> None:
        """Start pulling a queue; it has a process queue even when it is not owned."""
        owned = consumer.table.get(queue)
        if owned is None:
            owned = LiteQueue(NO_OFFSET, self.now)
        assert isinstance(owned, LiteQueue)
        consumer.assigned[queue] = Assignment(owned)

    def end_pull(self, consumer: LiteConsumer, queue: int) -> None:
        """Stop pulling a queue, and drop its process queue."""
        self.drop(consumer.assigned.pop(queue).owned)

    def new_queue(self, offset: int) -> OwnedQueue:
        """A new process queue."""
        return LiteQueue(offset, self.now)

    def is_forgotten(self, owned: OwnedQueue) -> bool:
        """Queues do not expire: applications may poll as late as they like."""
        return False

    def beginning(self, consumer: Consumer, queue: int) -> int:
        """The start offset of a queue; NoStartError."""
        offset = consumer.positions.lite_pull(queue, consumer.where, MEMBER_TIMESTAMP, "UTC")
        if offset < 0:
            raise NoStartError
        return offset

    # --- messages -----------------------------------------------------------------------------------------

    def pull_all(self, consumer: LiteConsumer, found: bool) -> Result:
        """Every pull task runs once: the offsets that they pull."""
        return tuple([(queue, self.pull_one(consumer, queue, found)) for queue in sorted(consumer.assigned)])

    def pull_one(self, consumer: LiteConsumer, queue: int, found: bool) -> int:
        """Pull one queue: the offset of the request."""
        assignment = consumer.assigned[queue]
        if assignment.owned.dropped:
            return NO_OFFSET
        offset = assignment.pulls
        if offset == NO_OFFSET:
            try:
                offset = self.first_pull(consumer, queue)
            except NoStartError:
                return NO_OFFSET
        if found:
            self.arrive(consumer, queue, assignment.owned, offset)
        assignment.pulls = offset + found
        return offset

    def first_pull(self, consumer: LiteConsumer, queue: int) -> int:
        """The offset of the first pull; NoStartError."""
        return self.beginning(consumer, queue)

    def arrive(self, consumer: LiteConsumer, queue: int, owned: LiteQueue, offset: int) -> None:
        """A message was pulled."""
        owned.put(offset)
        consumer.pulled.append((queue, owned, offset))

    def poll(self, consumer: LiteConsumer, messages: int) -> Result:
        """The next messages."""
        polled: list[tuple[int, int]] = []
        while consumer.pulled and len(polled) < messages:
            queue, owned, offset = consumer.pulled.pop(0)
            if not self.is_late(owned):
                self.consumed(consumer, queue, owned.take(offset))
                polled.append((queue, offset))
        return tuple(polled)

    def is_late(self, owned: LiteQueue) -> bool:
        """Was the queue dropped since the message was pulled?"""
        return owned.dropped

    def consumed(self, consumer: LiteConsumer, queue: int, offset: int) -> None:
        """A message was polled: the next commit writes this offset."""
        assignment = consumer.assigned.get(queue)
        if assignment is not None:
            assignment.consumed = offset

    def commit(self, consumer: LiteConsumer) -> Result:
        """Write the consumed offsets into the table of offsets."""
        for queue, assignment in consumer.assigned.items():
            if assignment.consumed != NO_OFFSET and not assignment.owned.dropped:
                self.commit_one(consumer, queue, assignment.consumed)
        return None

    def commit_one(self, consumer: LiteConsumer, queue: int, offset: int) -> None:
        """Write an offset, lower or not."""
        consumer.store.update(queue, offset, False)

    # --- the rest of a consumer's life --------------------------------------------------------------------

    def subscribe(self, consumer: Consumer, topic: str) -> Result:
        """Subscribe to a topic, from the next round on; its route is fetched now."""
        super().subscribe(consumer, topic)
        return self.refresh(consumer)

    def unsubscribe(self, consumer: Consumer, topic: str) -> Result:
        """Unsubscribe from a topic: stop its pull tasks; the next round drops its queues."""
        super().unsubscribe(consumer, topic)
        self.forget_pulls(lite(consumer), topic)
        return None

    def forget_pulls(self, consumer: LiteConsumer, topic: str) -> None:
        """End the pulls of a topic; what has arrived can still be polled."""
        consumer.assigned = {
            queue: kept for queue, kept in consumer.assigned.items() if ORDINARY.topic_of[queue] != topic
        }

    # --- operations ---------------------------------------------------------------------------------------

    def calls(self) -> Methods:
        """The method that does each operation of the suite, by its class."""
        none, one, two = self.of_none, self.of_one, self.of_two
        return {
            operations.Rebalance: none(self.round),
            operations.Join: self.join,
            operations.Restart: self.restart,
            operations.Leave: self.leave,
            operations.Persist: none(self.persist),
            operations.Subscribe: one(self.subscribe),
            operations.Unsubscribe: one(self.unsubscribe),
            operations.Refresh: none(self.refresh),
            operations.Pull: one(self.pull_all),
            operations.Poll: one(self.poll),
            operations.Commit: none(self.commit),
            operations.Update: two(self.update),
            group.Tick: self.tick,
        }


def lite(consumer: Consumer) -> LiteConsumer:
    """A member as what it is here, a lite pull consumer."""
    assert isinstance(consumer, LiteConsumer)
    return consumer


PART = RebalancePull
