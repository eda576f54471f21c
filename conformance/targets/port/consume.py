"""The port's concurrent listener: consumes pulled messages, sends failed ones back, and commits offsets."""

from __future__ import annotations

from collections.abc import Sequence

from rocketmq_conformance.conformance.adapter import Case, Methods
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.targets.port.offset_table import NO_OFFSET, OffsetTable
from rocketmq_conformance.conformance.targets.port.process_queue import ProcessQueue, Pulled
from rocketmq_conformance.conformance.targets.port.transport import NoRouteError, Transport
from rocketmq_conformance.models.outcome import Err, Result
from rocketmq_conformance.suites import consume as operations
from rocketmq_conformance.suites.declare.topologies import BROKER, GROUP, ORDINARY

RETRY_TOPIC = f"%RETRY%{GROUP}"
#: The consumer's queues.
OWNED = (0, 1, 3)
#: Timeout of a listener, and delay until a message that could not be sent back is retried (ms).
TIMEOUT, LOCAL_DELAY = 15 * 60_000, 5_000
#: Ms that a slow listener takes.
SLOW = {"in time": 15 * 60_000, "times out": 16 * 60_000}

#: Properties of a message besides its offset, by queue: where the queue's messages are in the commit log,
#: how their ids begin, the topic that they were first sent to, and how the ids begin that they had then, if they are
#: copies.
_PLACES = {queue: (queue + 1) * 1000 for queue in OWNED}
_IDS = {queue: f"ID-{queue}-" for queue in OWNED}
_TOPICS = {
    queue: "T" if ORDINARY.queues[queue].topic == RETRY_TOPIC else ORDINARY.queues[queue].topic for queue in OWNED
}
_ORIGINS = {queue: "ORIGIN-" if ORDINARY.queues[queue].topic == RETRY_TOPIC else _IDS[queue] for queue in OWNED}

_BACK, _SEND = int(Request.CONSUMER_SEND_MSG_BACK), int(Request.SEND_MESSAGE_V2)
#: Fields of a send that are the same for every copy.
_COPY = {
    "a": "CLIENT_INNER_PRODUCER",
    "b": RETRY_TOPIC,
    "c": "TBW102",
    "d": "4",
    "e": "0",
    "f": "0",
    "g": "0",
    "h": "0",
    "k": "false",
}
_UNREACHABLE = (TimeoutError, ConnectionError, NoRouteError)


class Returns:
    """Sends messages back to the broker."""

    def __init__(self, transport: Transport, max_times: int) -> None:
        self.transport = transport
        self.most = 16 if max_times == -1 else max_times
        self.most_text = str(self.most)

    def send_back(self, message: Pulled, level: int) -> bool:
        """By a request, else as a copy; did the broker accept one of them?"""
        return self.ask(_BACK, self.request(message, level)) or self.send_copy(message, self.most)

    def request(self, message: Pulled, level: int) -> dict[str, str]:
        """The fields that name a message."""
        return {
            "group": GROUP,
            "originTopic": self.topic(message),
            "offset": str(_PLACES[message.queue] + message.offset),
            "delayLevel": str(level),
            "originMsgId": f"{_IDS[message.queue]}{message.offset}",
            "maxReconsumeTimes": self.most_text,
        }

    def topic(self, message: Pulled) -> str:
        """The topic that a message was first sent to."""
        return _TOPICS[message.queue]

    def send_copy(self, message: Pulled, most: int) -> bool:
        """Send a copy to the group's retry topic; brokers reject a message without a body."""
        if not message.size:
            return False
        properties = (
            f"KEYS\x01{_PLACES[message.queue] + message.offset}\x02RETRY_TOPIC\x01{self.topic(message)}\x02"
            f"ORIGIN_MESSAGE_ID\x01{self.origin(message)}\x02DELAY\x01{self.delay(message)}\x02"
        )
        return self.ask(_SEND, {**_COPY, "i": properties, "j": str(message.times + 1), "l": str(most)})

    def delay(self, message: Pulled) -> int:
        """The delay level of a copy."""
        return 3 + message.times

    def origin(self, message: Pulled) -> str:
        """The id that a message had when it was first sent."""
        return f"{_ORIGINS[message.queue]}{message.offset}"

    def ask(self, code: int, fields: dict[str, str]) -> bool:
        """Did the broker accept the request?"""
        try:
            return self.transport.ask(RETRY_TOPIC, BROKER, code, fields)[0] == 0
        except _UNREACHABLE:
            return False


class Batch:
    """Messages that a listener is given in one call."""

    __slots__ = ("messages", "process_queue")

    def __init__(self, process_queue: ProcessQueue, messages: list[Pulled]) -> None:
        self.process_queue = process_queue
        self.messages = messages


class Consumption:
    """The state and operations that all consumers with a listener share."""

    queue_class = ProcessQueue
    returns_class = Returns
    first_batch = 3

    def __init__(self, transport: Transport) -> None:
        self.transport = transport
        self.store = OffsetTable()
        self.forget()

    def begin_case(self, case: Case) -> None:
        """Begin a case."""
        self.transport.begin(case)
        self.forget()

    def forget(self) -> None:
        """A new consumer."""
        self.begin("CLUSTERING", -1, self.first_batch)

    def begin(self, mode: str, max_times: int, batch: int) -> Result:
        """A new consumer with new process queues."""
        self.broadcasts = mode == "BROADCASTING"
        self.max_times = max_times
        self.batch = batch
        self.returns = self.returns_class(self.transport, max_times)
        self.store.forget()
        self.owned = {queue: self.queue_class(queue) for queue in OWNED}
        self.now = 0
        return None

    def held(self, queue: int) -> int:
        """The offset in memory."""
        entry = self.store.table.get(queue)
        return NO_OFFSET if entry is None else entry.offset

    def drop(self, queue: int) -> Result:
        """A queue is lost and gained again."""
        self.owned[queue].dropped = True
        self.owned[queue] = self.queue_class(queue)
        return self.store.remove(queue)

    def update(self, queue: int, offset: int) -> Result:
        """An application sets an offset."""
        return self.store.update(queue, offset, False)


class Consume(Consumption):
    """A consumer with a concurrent listener."""

    def begin(self, mode: str, max_times: int, batch: int) -> Result:
        """Begin without pending batches."""
        self.waiting: list[Batch] = []
        #: When batches are submitted again (ms), and whether the executor refused them before.
        self.later: list[tuple[int, Batch, bool]] = []
        #: How many batches more the executor takes, None for any number.
        self.room: int | None = None
        return super().begin(mode, max_times, batch)

    def put(self, queue: int, offsets: tuple[int, ...], size: int, times: int) -> Result:
        """Put the messages of a pull response, and submit them to the listener."""
        process_queue = self.owned[queue]
        pulled = [Pulled(queue, offset, size, times) for offset in offsets]
        woken = process_queue.put(pulled)
        self.submit(process_queue, pulled)
        return woken, *process_queue.look()

    def submit(self, process_queue: ProcessQueue, messages: list[Pulled]) -> None:
        """Submit messages to the listener, in batches."""
        most = self.batch
        if len(messages) <= most:
            if not self.execute(Batch(process_queue, messages)):
                self.refused(process_queue, messages)
            return
        for at in range(0, len(messages), most):
            if not self.execute(Batch(process_queue, messages[at : at + most])):
                self.refused(process_queue, messages[at:])
                return

    def execute(self, batch: Batch) -> bool:
        """Hand a batch to the executor: does it take it?"""
        if self.room is not None:
            if not self.room:
                return False
            self.room -= 1
        self.waiting.append(batch)
        return True

    def refused(self, process_queue: ProcessQueue, messages: list[Pulled]) -> None:
        """The executor is full: hand over what is left, as one batch, later."""
        self.later.append((self.now + LOCAL_DELAY, Batch(process_queue, messages), True))

    def fill(self, room: int | None) -> Result:
        """The executor takes so many batches more, or any number."""
        self.room = room
        return None

    def consume(self, at: int, status: str, ack: int | None, level: int, meanwhile: str) -> Result:
        """A listener consumes a batch."""
        if not self.waiting:
            return None
        batch = self.waiting.pop(min(at, len(self.waiting) - 1))
        process_queue = batch.process_queue
        if process_queue.dropped:
            return None, self.held(process_queue.queue), *process_queue.look()
        for message in batch.messages:
            message.started_at = self.now
        seen = tuple([message.offset for message in batch.messages])
        if meanwhile == "loses":
            self.drop(process_queue.queue)
        elif meanwhile in SLOW:
            self.now += SLOW[meanwhile]
            self.clean_up(process_queue)
        if self.counts(process_queue):
            count = len(batch.messages)
            succeeded = self.successes(status, ack, count)
            if succeeded < 0:
                return Err("RUNTIME")
            self.result(batch, succeeded, level)
        return seen, self.held(process_queue.queue), *process_queue.look()

    def counts(self, process_queue: ProcessQueue) -> bool:
        """Does the listener's result still matter?"""
        return not process_queue.dropped

    def successes(self, status: str, ack: int | None, count: int) -> int:
        """The number of successfully consumed messages, by the listener's ack index; negative when impossible."""
        if status != "CONSUME_SUCCESS":
            return 0
        return count if ack is None else min(ack + 1, count)

    def result(self, batch: Batch, succeeded: int, level: int) -> None:
        """Process the listener's result for a batch."""
        kept = [] if self.broadcasts else self.give_back(batch, batch.messages[succeeded:], level)
        if kept:
            self.keep(batch.process_queue, kept)
        done = [message for message in batch.messages if message not in kept] if kept else batch.messages
        offset = batch.process_queue.remove(done)
        if offset >= 0:
            self.commit(batch.process_queue.queue, offset)

    def give_back(self, batch: Batch, bad: Sequence[Pulled], level: int) -> list[Pulled]:
        """Send messages back to the broker; the answer is those that could not be."""
        return [
            message
            for message in bad
            if self.is_cached(batch.process_queue, message) and not self.returns.send_back(message, level)
        ]

    def is_cached(self, process_queue: ProcessQueue, message: Pulled) -> bool:
        """Is the message still in the process queue?"""
        return message.offset in process_queue.messages

    def keep(self, process_queue: ProcessQueue, kept: list[Pulled]) -> None:
        """Retry messages locally, later."""
        for message in kept:
            message.times += 1
        self.later.append((self.now + LOCAL_DELAY, Batch(process_queue, kept), False))

    def commit(self, queue: int, offset: int) -> None:
        """Update the offset in memory."""
        self.store.update(queue, offset, True)

    def clean(self, queue: int) -> Result:
        """The clean-up timer runs."""
        self.clean_up(self.owned[queue])
        return self.owned[queue].look()

    def clean_up(self, process_queue: ProcessQueue) -> None:
        """Send back messages whose listener timed out."""
        for _ in range(min(len(process_queue.messages), 16)):
            message = process_queue.messages[min(process_queue.messages)]
            if message.started_at is None or not self.is_late(message.started_at):
                return
            if self.returns.send_back(message, 3):
                self.cleaned(process_queue, message)

    def is_late(self, started_at: int) -> bool:
        """Has the listener timed out?"""
        return self.now - started_at > TIMEOUT

    def cleaned(self, process_queue: ProcessQueue, message: Pulled) -> None:
        """The timer sent a message back: remove it, but commit nothing."""
        process_queue.remove((message,))

    def tick(self, millis: int) -> Result:
        """Time passes."""
        self.now += millis
        if self.later:
            due = sorted((entry for entry in self.later if entry[0] <= self.now), key=lambda entry: entry[0])
            self.later = [entry for entry in self.later if entry[0] > self.now]
            for _, batch, was_refused in due:
                if was_refused:
                    self.execute_again(batch)
                else:
                    self.submit(batch.process_queue, batch.messages)
        return len(self.waiting)

    def execute_again(self, batch: Batch) -> None:
        """Hand over a batch that was refused before; what is refused again is given to nobody."""
        self.execute(batch)

    def remove(self, queue: int, offsets: tuple[int, ...], size: int) -> Result:
        """Messages are removed."""
        process_queue = self.owned[queue]
        return process_queue.remove([Pulled(queue, offset, size, 0) for offset in offsets]), *process_queue.look()

    def calls(self) -> Methods:
        """The method that does each operation of the suite, by its class."""
        return {
            operations.Begin: self.begin,
            operations.Put: self.put,
            operations.Consume: self.consume,
            operations.Clean: self.clean,
            operations.Tick: self.tick,
            operations.Fill: self.fill,
            operations.Drop: self.drop,
            operations.Update: self.update,
            operations.Remove: self.remove,
        }


PART = Consume
