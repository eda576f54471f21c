"""The port's whole lite pull consumers: those of ``whole_push``, polled in every turn instead of calling a listener."""

from __future__ import annotations

from collections.abc import Mapping

from rocketmq_conformance.conformance.adapter import Methods
from rocketmq_conformance.conformance.remoting.codes import Request, Response
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.targets.port.group_member import Consumer, OwnedQueue
from rocketmq_conformance.conformance.targets.port.whole_push import Line, WholePush
from rocketmq_conformance.models.client.member_settings import TIMESTAMP_TEXT
from rocketmq_conformance.models.message_queue import MessageQueue
from rocketmq_conformance.models.outcome import Result, Value
from rocketmq_conformance.suites import whole_lite as operations
from rocketmq_conformance.suites import whole_push as group
from rocketmq_conformance.suites.declare.topologies import BROKER, ORDINARY, TOPIC


class WholeLite(WholePush):
    """The members that run."""

    kind = "CONSUME_ACTIVELY"

    def beginning(self, consumer: Consumer, queue: int) -> int:
        """The start offset of a queue; NoStartError."""
        return consumer.positions.lite_pull(queue, consumer.where, TIMESTAMP_TEXT, "UTC")

    def answered(self, consumer: Consumer, line: Line, queue: int, owned: OwnedQueue, response: Command) -> None:
        """A pull was answered: go on where it says, wherever that is."""
        if response.code == Response.PULL_OFFSET_MOVED:
            owned.offset = int(response.ext["nextBeginOffset"])
            self.ask(consumer, line, queue, owned)
        else:
            super().answered(consumer, line, queue, owned, response)

    def found_nothing(self, consumer: Consumer, queue: int, owned: OwnedQueue, following: int) -> None:
        """Offsets are written for what was polled alone."""

    def handle_reset(self, consumer: Consumer, offsets: Mapping[MessageQueue, int]) -> None:
        """Resets are for push consumers."""

    def seek(self, member: int, queue: int, offset: int) -> Result:
        """A member seeks to an offset of a queue, if it runs."""
        consumer, line = self.members[member], self._lines[member]
        place = ORDINARY.queues.index(MessageQueue(TOPIC, BROKER, queue))
        owned = None if consumer is None else consumer.table.get(place)
        if consumer is not None and line is not None and owned is not None:
            self._line = line
            if self.may_seek(consumer, place, offset):
                self.seek_to(consumer, line, place, offset)
        return self.look()

    def may_seek(self, consumer: Consumer, queue: int, offset: int) -> bool:
        """Is an offset between the bounds of a queue?"""
        return self.min_offset(consumer, queue) <= offset <= consumer.positions.max(queue)

    def min_offset(self, consumer: Consumer, queue: int) -> int:
        """The first offset of a queue."""
        return consumer.positions.bound(queue, int(Request.GET_MIN_OFFSET), consumer.positions.header(queue))

    def seek_to(self, consumer: Consumer, line: Line, queue: int, offset: int) -> None:
        """Pull there, and commit from there on; the answer to the pull under way does not count any more."""
        before = consumer.table[queue]
        self.drop(before)
        after = consumer.table[queue] = self.new_queue(offset)
        self.result(consumer, queue, after, offset)
        self.ask(consumer, line, queue, after)

    def result(self, consumer: Consumer, queue: int, owned: OwnedQueue, offset: int) -> None:
        """Messages were polled: commit the offset after them, lower or not."""
        consumer.store.update(queue, offset, False)

    def observed(self, running: dict[str, int]) -> Value:
        """What the traffic shows, the holders of locks, and what was polled."""
        return self.observed_of_all(running)

    def calls(self) -> Methods:
        """The method that does each operation of the suite, by its class."""
        methods = dict(super().calls())
        return {**methods, operations.Join: methods.pop(group.Join), operations.Seek: self.seek}


PART = WholeLite
