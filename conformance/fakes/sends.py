"""Sends: storing messages (BQ-SEND-1, BQ-TOPIC-2, BQ-NAME-SEND)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from rocketmq_conformance.conformance.adapter import Answered
from rocketmq_conformance.conformance.fakes.record import Record
from rocketmq_conformance.conformance.fakes.responses import (
    CODES,
    ConnectionHandler,
    PlainHandler,
    command,
    refused,
)
from rocketmq_conformance.conformance.fakes.retries import Retries
from rocketmq_conformance.conformance.fakes.send_backs import copied
from rocketmq_conformance.conformance.fakes.storage import Storage
from rocketmq_conformance.conformance.fakes.stored_properties import StoredProperties
from rocketmq_conformance.conformance.remoting import message as messages
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.remoting.frame import VERSION, Command
from rocketmq_conformance.conformance.remoting.message import Message
from rocketmq_conformance.conformance.remoting.server import Peer
from rocketmq_conformance.models.broker.names import ILLEGAL, is_too_long
from rocketmq_conformance.models.broker.own_names import DEFAULT_TOPIC
from rocketmq_conformance.models.broker.send_back import DELAY
from rocketmq_conformance.models.broker.state import RETRY
from rocketmq_conformance.models.java_text import parse_number
from rocketmq_conformance.models.outcome import Err

#: Longest body of a message, as in a broker with its default settings.
MAX_MESSAGE = 4 * 1024 * 1024
#: System flag of a message that is part of a transaction.
_TRANSACTION = 0b1100
#: Names of the header fields in SEND_MESSAGE, and their short forms in SEND_MESSAGE_V2.
_SHORT = {
    "topic": "b",
    "defaultTopic": "c",
    "defaultTopicQueueNums": "d",
    "queueId": "e",
    "sysFlag": "f",
    "bornTimestamp": "g",
    "flag": "h",
    "properties": "i",
    "reconsumeTimes": "j",
    "maxReconsumeTimes": "l",
}
_LONG = {name: name for name in _SHORT}
_SEND_SHORT = int(Request.SEND_MESSAGE_V2)
#: The property with the id that a client gives to its message.
_OWN_ID = "UNIQ_KEY"
#: Where messages are born that come by the door in process.
_HERE = "127.0.0.1:0"
_SENT = "topic[{topic}] not exist, it has no queue {queue}, or a time that cannot be waited for"
#: The response to a message that is taken down, not stored.
_RECORDED: Answered = 0, "", {"msgId": "7F00000100002A9F0000000000000000", "queueId": "0", "queueOffset": "0"}, b""


class Sends:
    """Stores what is sent. ``stored`` is called with every message; ``address`` is the broker's.

    Transactions are refused. What is sent to retry topics, and delayed messages, go to ``retries``. ``properties`` says
    what is stored of a message's.
    """

    def __init__(
        self,
        storage: Storage,
        retries: Retries,
        address: Callable[[], str],
        stored: Callable[[Message], None],
        properties: StoredProperties,
    ) -> None:
        self._storage = storage
        self._retries = retries
        self._address = address
        self._stored = stored
        self._properties = properties
        #: Takes down the messages that are sent back, in a client case; these are not stored.
        self.record: Record | None = None
        #: Does the release answer with the id that the client gave to its message?
        self.tells_ids = False
        #: Does it take no batch for a retry topic?
        self.copies_come_alone = False

    def handlers(self) -> Mapping[int, PlainHandler]:
        """The handlers, by request code."""
        return {
            int(Request.SEND_MESSAGE): lambda code, ext, body: self._send(_HERE, code, ext, body),
            int(Request.SEND_MESSAGE_V2): lambda code, ext, body: self._send(_HERE, code, ext, body),
            int(Request.SEND_BATCH_MESSAGE): lambda code, ext, body: self._send_batch(_HERE, ext, body),
        }

    def connection_handlers(self) -> Mapping[int, ConnectionHandler]:
        """The same over a connection, whose other end is where the message was born."""
        return {
            int(Request.SEND_MESSAGE): self._send_from,
            int(Request.SEND_MESSAGE_V2): self._send_from,
            int(Request.SEND_BATCH_MESSAGE): self._send_batch_from,
        }

    def _send_from(self, peer: Peer, request: Command) -> Command:
        return command(self._send(peer.address, request.code, request.ext, request.body, request.version))

    def _send_batch_from(self, peer: Peer, request: Command) -> Command:
        return command(self._send_batch(peer.address, request.ext, request.body))

    def _send(self, born_host: str, code: int, ext: dict[str, str], body: bytes, version: int = VERSION) -> Answered:
        if self.record is not None:
            recorded = copied(code, ext)
            if recorded is not None:
                self.record.sent_back.append(recorded)
                return _RECORDED
        names = _SHORT if code == _SEND_SHORT else _LONG
        draft = self._draft(born_host, ext, names, body)
        if isinstance(draft, Err):
            return refused(draft, f"the topic [{ext[names['topic']]}] takes no message")
        if draft.topic.startswith(RETRY):
            most = ext.get(names["maxReconsumeTimes"])
            copy = self._retries.copied(draft, None if most is None else int(most), version)
            if isinstance(copy, Err):
                return refused(copy)
            draft = copy
        return self.store([draft])

    def _send_batch(self, born_host: str, ext: dict[str, str], body: bytes) -> Answered:
        whole = self._draft(born_host, ext, _SHORT, b"")
        if isinstance(whole, Err):
            return refused(whole, f"the topic [{ext[_SHORT['topic']]}] takes no message")
        delayed = parse_number(messages.parse_properties(whole.properties).get(DELAY), 32) or 0
        if delayed > 0 or (self.copies_come_alone and whole.topic.startswith(RETRY)):
            return refused(Err("MESSAGE_ILLEGAL"), "batch request does not support retry group, nor a delay")
        parts = messages.split_batch(body)
        if not parts:
            return refused(Err("SYSTEM_ERROR"), "a batch without messages")
        drafts = [replace(whole, flag=flag, body=body, properties=text) for flag, body, text in parts]
        return self.store(drafts, at_once=True)

    def _draft(self, born_host: str, ext: dict[str, str], names: Mapping[str, str], body: bytes) -> Message | Err:
        topic, default = ext[names["topic"]], ext.get(names["defaultTopic"], DEFAULT_TOPIC)
        unwanted = self._storage.unwanted(topic)
        if unwanted is not None:
            return unwanted
        self._storage.know_topic(topic, default, int(ext.get(names["defaultTopicQueueNums"], 4)))
        return Message(
            topic=topic,
            queue=int(ext[names["queueId"]]),
            offset=0,
            physical=0,
            body=body,
            properties=ext.get(names["properties"], ""),
            flag=int(ext.get(names["flag"], 0)),
            sys_flag=int(ext.get(names["sysFlag"], 0)),
            born_time=int(ext.get(names["bornTimestamp"], 0)),
            born_host=born_host,
            reconsume_times=int(ext.get(names["reconsumeTimes"], 0)),
        )

    def _text(self, draft: Message, at_once: bool) -> str | None:
        """The text of its properties, None if it is too long; that of one in a batch cannot be."""
        return draft.properties if at_once else self._properties.text(draft.properties, self._retries.added(draft))

    def store(self, drafts: list[Message], at_once: bool = False) -> Answered:
        """Store messages, and answer where the first one went; ``at_once``: whatever times they have."""
        if any(draft.sys_flag & _TRANSACTION for draft in drafts):
            return CODES["NO_PERMISSION"], "sending transaction message is forbidden", {}, b""
        if not drafts or any(len(draft.body) > MAX_MESSAGE for draft in drafts):
            return CODES["MESSAGE_ILLEGAL"], "the message is illegal, maybe msg body is too long", {}, b""
        topics = {draft.topic for draft in drafts}
        if any(is_too_long(topic) and topic in self._storage.state.topics for topic in topics):
            return refused(ILLEGAL, "the message is illegal, its topic's name is too long")
        texts = [self._text(draft, at_once) for draft in drafts]
        if None in texts:
            return CODES["MESSAGE_ILLEGAL"], "the message is illegal, maybe msg properties are too long", {}, b""
        host = self._address()
        stored: list[Message] = []
        for draft, text in zip(drafts, texts, strict=True):
            placed = replace(draft, store_host=host, properties=text or "")
            message = (None if at_once else self._retries.delayed(placed)) or self._storage.append(placed)
            if isinstance(message, Err):
                return refused(message, _SENT.format(topic=draft.topic, queue=draft.queue))
            stored.append(message)
            if message.topic == draft.topic:
                self._stored(message)
        first = stored[0]
        ids = ",".join(messages.message_id(host, message.physical) for message in stored)
        place = {"msgId": ids, "queueId": str(first.queue), "queueOffset": str(first.offset)}
        more = {"MSG_REGION": "DefaultRegion", "TRACE_ON": "true"}
        own = _OWN_ID in first.properties and messages.parse_properties(first.properties).get(_OWN_ID)
        if own and self.tells_ids:
            more["transactionId"] = own
        return 0, "", place | more, b""
