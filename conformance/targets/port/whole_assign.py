"""The port's whole lite pull consumer that assigns queues, pauses and seeks."""

from __future__ import annotations

from rocketmq_conformance.conformance.adapter import Case, Methods
from rocketmq_conformance.conformance.targets.port.group_member import Consumer, OwnedQueue
from rocketmq_conformance.conformance.targets.port.transport import Transport
from rocketmq_conformance.conformance.targets.port.whole_lite import WholeLite
from rocketmq_conformance.conformance.targets.port.whole_push import Line
from rocketmq_conformance.models.message_queue import MessageQueue
from rocketmq_conformance.models.outcome import Result
from rocketmq_conformance.suites import whole_assign as operations
from rocketmq_conformance.suites.declare.topologies import BROKER, ORDINARY, TOPIC


def _keys(queues: tuple[int, ...]) -> set[int]:
    """The keys of queues of the topic, by their ids."""
    return {ORDINARY.queues.index(MessageQueue(TOPIC, BROKER, queue)) for queue in queues}


class WholeAssign(WholeLite):
    """The consumer, if it runs."""

    def __init__(self, transport: Transport) -> None:
        super().__init__(transport)
        #: The queues that are assigned, those that are paused, and the offsets that seeks in these wait for.
        self.assigned: set[int] = set()
        self.paused: set[int] = set()
        self.sought: dict[int, int] = {}
        #: The pulls of paused queues that are put off.
        self.put_off: dict[int, OwnedQueue] = {}

    def begin_case(self, case: Case) -> None:
        """Begin a case: nothing is assigned."""
        self.forget_all()
        super().begin_case(case)

    def forget_all(self) -> None:
        """A consumer has ended, and with it what it assigned."""
        self.assigned, self.paused, self.sought, self.put_off = set(), set(), {}, {}

    def hang_up(self, member: int) -> None:
        """The consumer's connection is closed."""
        self.forget_all()
        super().hang_up(member)

    # --- turns ----------------------------------------------------------------------------------------------

    def rebalance(self, consumer: Consumer) -> Result:
        """Begin the queues that are assigned; nothing else is asked."""
        for queue in sorted(self.assigned - consumer.table.keys()):
            self.gain(consumer, queue, [])
        return None

    def ask(self, consumer: Consumer, line: Line, queue: int, owned: OwnedQueue) -> None:
        """Pull a queue from where its owner is, or put that off while it is paused."""
        if queue in self.paused:
            self.put_off[queue] = owned
        else:
            super().ask(consumer, line, queue, owned)

    # --- operations -----------------------------------------------------------------------------------------

    def start_assigned(self, member: int, queues: tuple[int, ...]) -> Result:
        """The consumer starts and assigns queues, unless it runs."""
        if self.members[member] is None:
            self.assigned = _keys(queues)
        return self.join_group(member)

    def assign(self, member: int, queues: tuple[int, ...]) -> Result:
        """The consumer assigns queues, if it runs."""
        consumer = self.members[member]
        if consumer is not None:
            for queue in self.forgotten(_keys(queues)):
                self.forget_queue(consumer, queue)
            self.assigned = self.now_assigned(_keys(queues))
        return self.look()

    def forgotten(self, queues: set[int]) -> set[int]:
        """The queues that an assignment does not name any more."""
        return self.assigned - queues

    def now_assigned(self, queues: set[int]) -> set[int]:
        """The queues that are assigned after an assignment."""
        return queues

    def forget_queue(self, consumer: Consumer, queue: int) -> None:
        """A queue is not assigned any more."""
        owned = consumer.table.pop(queue, None)
        if owned is not None:
            self.drop(owned)
        consumer.store.remove(queue)
        self.end_pause(queue)
        self.forget_seek(queue)
        self.put_off.pop(queue, None)

    def end_pause(self, queue: int) -> None:
        """A queue is not paused any more."""
        self.paused.discard(queue)

    def forget_seek(self, queue: int) -> None:
        """A seek that waits is forgotten."""
        self.sought.pop(queue, None)

    def pause(self, member: int, queues: tuple[int, ...]) -> Result:
        """The consumer pauses queues, if it runs."""
        if self.members[member] is not None:
            self.paused |= self.paused_by(_keys(queues))
        return self.look()

    def paused_by(self, queues: set[int]) -> set[int]:
        """The queues that a pause of some is one of."""
        return self.assigned & queues

    def resume(self, member: int, queues: tuple[int, ...]) -> Result:
        """The consumer resumes queues, if it runs."""
        consumer, line = self.members[member], self._lines[member]
        if consumer is not None and line is not None:
            self._line = line
            for queue in sorted(self.paused & _keys(queues)):
                self.end_pause(queue)
                self.go_on(consumer, line, queue)
        return self.look()

    def go_on(self, consumer: Consumer, line: Line, queue: int) -> None:
        """Pull a queue on that was paused, from where a seek waits for it, if one does."""
        waiting = self.put_off.pop(queue, None)
        if queue in self.sought:
            super().seek_to(consumer, line, queue, self.sought.pop(queue))
        elif waiting is not None:
            self.ask(consumer, line, queue, waiting)

    def seek_to(self, consumer: Consumer, line: Line, queue: int, offset: int) -> None:
        """Pull there, or wait for the end of a pause."""
        if queue in self.paused:
            self.sought[queue] = offset
        else:
            super().seek_to(consumer, line, queue, offset)

    def seek_to_begin(self, member: int, queue: int) -> Result:
        """The consumer seeks to the begin of a queue, if it runs."""
        consumer = self.members[member]
        return self.look() if consumer is None else self.seek(member, queue, self.begin_of(consumer, *_keys((queue,))))

    def seek_to_end(self, member: int, queue: int) -> Result:
        """The consumer seeks to the end of a queue, if it runs."""
        consumer = self.members[member]
        return self.look() if consumer is None else self.seek(member, queue, self.end_of(consumer, *_keys((queue,))))

    def begin_of(self, consumer: Consumer, queue: int) -> int:
        """The offset of the first message of a queue."""
        return self.min_offset(consumer, queue)

    def end_of(self, consumer: Consumer, queue: int) -> int:
        """The offset behind the last message of a queue."""
        return consumer.positions.max(queue)

    def calls(self) -> Methods:
        """The method that does each operation of the suite, by its class."""
        return {
            operations.Prepare: self.prepare,
            operations.Join: self.start_assigned,
            operations.Leave: self.leave_group,
            operations.Crash: self.crash,
            operations.Send: self.send,
            operations.Look: self.look,
            operations.Assign: self.assign,
            operations.Pause: self.pause,
            operations.Resume: self.resume,
            operations.Seek: self.seek,
            operations.SeekToBegin: self.seek_to_begin,
            operations.SeekToEnd: self.seek_to_end,
        }


PART = WholeAssign
