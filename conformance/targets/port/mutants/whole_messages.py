"""Mutants of the port's whole push consumers that read messages, after real defects of clients."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from dataclasses import replace

from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.remoting.message import Message
from rocketmq_conformance.conformance.targets.mutant import Mutant, declared
from rocketmq_conformance.conformance.targets.port.group_member import Consumer, OwnedQueue
from rocketmq_conformance.conformance.targets.port.whole_messages import Read, WholeMessages
from rocketmq_conformance.conformance.targets.port.whole_push import Line

MUTANTS: list[Mutant] = []
_mutant = declared(MUTANTS, "whole-messages")


@_mutant("D224", "Every compressed body counts as zlib's; what that cannot read is given as it is.")
class WholeMessagesZlibAlone(WholeMessages):
    def uncompressed(self, kind: int, body: bytes) -> bytes:
        try:
            return zlib.decompress(body)
        except zlib.error:
            return body


@_mutant("D224", "A body that cannot be read is given as it is.")
class WholeMessagesGivesBroken(WholeMessages):
    def uncompressed(self, kind: int, body: bytes) -> bytes:
        try:
            return super().uncompressed(kind, body)
        except ValueError:
            return body


@_mutant("D224", "Bodies are given as they are stored.")
class WholeMessagesNeverUncompresses(WholeMessages):
    def uncompressed(self, kind: int, body: bytes) -> bytes:
        if kind not in range(4):
            raise ValueError("no way to compress")
        return body


@_mutant("D224", "Where nothing says how it is compressed, a body is given as it is.")
class WholeMessagesNeedsType(WholeMessages):
    def uncompressed(self, kind: int, body: bytes) -> bytes:
        return super().uncompressed(kind, body) if kind else body


@_mutant("D225", "A batch in one message is given as one.")
class WholeMessagesWholeBatch(WholeMessages):
    def taken_apart(self, message: Message, body: bytes) -> list[Read]:
        return [(message.offset, body, "")]


@_mutant("D225", "Messages of a batch have the same offset.")
class WholeMessagesOneOffset(WholeMessages):
    def taken_apart(self, message: Message, body: bytes) -> list[Read]:
        return [(message.offset, *one[1:]) for one in super().taken_apart(message, body)]


@_mutant("D226", "Addresses of hosts have four bytes: what has others is passed over.")
class WholeMessagesShortHosts(WholeMessages):
    def decoded(self, body: bytes) -> list[Message]:
        return [message for message in super().decoded(body) if message.born_host.startswith("127.")]


@_mutant("D227", "The length of a topic's name has one byte: what has two is passed over.")
class WholeMessagesShortNames(WholeMessages):
    def decoded(self, body: bytes) -> list[Message]:
        return [message for message in super().decoded(body) if not message.long_name]


@_mutant("D228", "Keys are not read.")
class WholeMessagesNoKeys(WholeMessages):
    def keys(self, properties: str) -> str:
        return ""


@_mutant("D228", "A body is cut after 65,536 bytes.")
class WholeMessagesCutsBodies(WholeMessages):
    def decoded(self, body: bytes) -> list[Message]:
        return [replace(message, body=message.body[:65_536]) for message in super().decoded(body)]


@_mutant("D229", "A message that cannot be read ends its queue.")
class WholeMessagesStops(WholeMessages):
    def answered(self, consumer: Consumer, line: Line, queue: int, owned: OwnedQueue, response: Command) -> None:
        read = self.readable(self.decoded(response.body))
        if len(read) >= len(self.decoded(response.body)):
            super().answered(consumer, line, queue, owned, response)


@_mutant("D229", "What was read before a message that cannot be read is passed over, too.")
class WholeMessagesLosesAll(WholeMessages):
    def readable(self, messages: Iterable[Message]) -> list[Read]:
        found = list(messages)
        read = super().readable(found)
        return read if len(read) >= len(found) else []


@_mutant("D229", "The offset of a message that was not given is never committed.")
class WholeMessagesCommitsGiven(WholeMessages):
    def found_nothing(self, consumer: Consumer, queue: int, owned: OwnedQueue, following: int) -> None:
        pass
