"""The port's whole push consumers, which read messages as producers send them."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable

from rocketmq_conformance.conformance.adapter import Case, Methods
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.remoting.message import BATCH as INNER_BATCH
from rocketmq_conformance.conformance.remoting.message import (
    COMPRESSED,
    UNWRAPPED,
    Message,
    decode_all,
    parse_properties,
    split_batch,
)
from rocketmq_conformance.conformance.targets.port.decompression import lz4, zstd
from rocketmq_conformance.conformance.targets.port.group_member import Consumer, OwnedQueue
from rocketmq_conformance.conformance.targets.port.transport import Transport
from rocketmq_conformance.conformance.targets.port.whole_push import Line, WholePush
from rocketmq_conformance.models.client.plan_words import EVERY
from rocketmq_conformance.models.message_forms import BATCH, LONG_HOSTS, LONG_NAME
from rocketmq_conformance.models.outcome import Result, Value
from rocketmq_conformance.suites import whole_messages as operations
from rocketmq_conformance.suites import whole_push as group
from rocketmq_conformance.suites.declare.topologies import ORDINARY

#: How bodies are uncompressed, by bits 8 to 10 of the flag.
_READERS: dict[int, Callable[[bytes], bytes]] = {0: zlib.decompress, 1: lz4, 2: zstd, 3: zlib.decompress}
#: Offset, body and keys of a message as its listener is given it.
Read = tuple[int, bytes, str]


class WholeMessages(WholePush):
    """The members that run."""

    def __init__(self, transport: Transport) -> None:
        super().__init__(transport)
        #: The messages of the answer to a pull that is being consumed.
        self.pulled: list[Message] = []
        #: What listeners read, as answers show it; and the messages of which it is asked for.
        self.read: list[tuple[int, int, int, int, str]] = []
        self.formed: set[tuple[int, int]] = set()

    def begin_case(self, case: Case) -> None:
        """Begin a case: no member runs, and nothing was read."""
        self.read.clear()
        self.formed.clear()
        super().begin_case(case)

    # --- messages -------------------------------------------------------------------------------------------

    def answered(self, consumer: Consumer, line: Line, queue: int, owned: OwnedQueue, response: Command) -> None:
        """A pull was answered: read its messages."""
        self.pulled = self.decoded(response.body)
        super().answered(consumer, line, queue, owned, response)

    def decoded(self, body: bytes) -> list[Message]:
        """The messages of an answer."""
        return decode_all(body)

    def give(self, consumer: Consumer, queue: int, owned: OwnedQueue, following: int) -> None:
        """The listener is given what can be read, and what was given is committed."""
        member = ORDINARY.members.index(consumer.client)
        for offset, body, keys in self.readable(self.pulled):
            self.listen_to(consumer, queue, offset, offset + 1)
            self.read.append((member, self.said_queue(queue), offset, len(body), keys))
            self.result(consumer, queue, owned, offset + 1)

    def readable(self, messages: Iterable[Message]) -> list[Read]:
        """What a listener is given of messages: as in Java, nothing from one on that cannot be read."""
        found: list[Read] = []
        for message in messages:
            try:
                found += self.opened(message)
            except ValueError:
                break
        return found

    def opened(self, message: Message) -> list[Read]:
        """A message as its producer sent it, or those of a batch; ValueError when it cannot be read."""
        body = message.body
        if message.sys_flag & COMPRESSED:
            body = self.uncompressed(message.sys_flag >> 8 & 7, body)
        if message.sys_flag & UNWRAPPED and message.sys_flag & INNER_BATCH:
            return self.taken_apart(message, body)
        return [(message.offset, body, self.keys(message.properties))]

    def taken_apart(self, message: Message, body: bytes) -> list[Read]:
        """The messages of a batch."""
        one_by_one = enumerate(split_batch(body))
        return [(message.offset + at, inner, self.keys(properties)) for at, (_, inner, properties) in one_by_one]

    def uncompressed(self, kind: int, body: bytes) -> bytes:
        """A body that was compressed in some way; ValueError."""
        if kind not in _READERS:
            raise ValueError(f"{kind} is no way to compress")
        try:
            return _READERS[kind](body)
        except zlib.error as error:
            raise ValueError(str(error)) from None

    def keys(self, properties: str) -> str:
        """The keys among a message's properties."""
        return parse_properties(properties).get("KEYS", "")

    # --- operations -----------------------------------------------------------------------------------------

    def send_as(self, queue: int, form: str) -> Result:
        """A message of a form arrives in a queue, or in every queue."""
        for number in range(self.world.queues):
            if queue in (number, EVERY):
                self.formed.update((number, offset) for offset in self.world.send_as(form, number))
        return self.look()

    def send_batch(self, queue: int) -> Result:
        """A batch arrives."""
        return self.send_as(queue, BATCH)

    def send_from_afar(self, queue: int) -> Result:
        """A message arrives whose hosts have long addresses."""
        return self.send_as(queue, LONG_HOSTS)

    def send_named(self, queue: int) -> Result:
        """A message arrives that is stored as one with a long topic name."""
        return self.send_as(queue, LONG_NAME)

    def observed(self, running: dict[str, int]) -> Value:
        """What the traffic shows, and what was read of the messages that are not plain."""
        seen, read = super().observed(running), sorted(one for one in self.read if one[1:3] in self.formed)
        assert isinstance(seen, tuple)
        self.read.clear()
        return (*seen, tuple(read))

    def calls(self) -> Methods:
        """The method that does each operation of the suite, by its class."""
        methods = dict(super().calls())
        return {
            operations.Join: methods[group.Join],
            operations.Leave: methods[group.Leave],
            operations.Look: methods[group.Look],
            operations.SendAs: self.send_as,
            operations.SendTyped: self.send_as,
            operations.SendBatch: self.send_batch,
            operations.SendFromAfar: self.send_from_afar,
            operations.SendNamed: self.send_named,
        }


PART = WholeMessages
