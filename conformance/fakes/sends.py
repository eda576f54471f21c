"""Sends: storing messages (BQ-SEND-1, BQ-TOPIC-2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from rocketmq_conformance.conformance.fakes.responses import Answering, refused
from rocketmq_conformance.conformance.fakes.storage import DEFAULT_TOPIC, Storage
from rocketmq_conformance.conformance.remoting import message as messages
from rocketmq_conformance.conformance.remoting.codes import Request, Response
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.remoting.message import Message
from rocketmq_conformance.conformance.remoting.server import Peer
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
}
_LONG = {name: name for name in _SHORT}


class Sends:
    """Stores what is sent. ``stored`` is told of every message; ``address`` says where the broker is.

    Delayed messages are delivered at once, and transactions are refused.
    """

    def __init__(self, storage: Storage, address: Callable[[], str], stored: Callable[[Message], None]) -> None:
        self._storage = storage
        self._address = address
        self._stored = stored

    def handlers(self) -> Mapping[int, Answering]:
        """What it answers, by request code."""
        return {
            Request.SEND_MESSAGE: lambda peer, request: self._send(peer, request, _LONG),
            Request.SEND_MESSAGE_V2: lambda peer, request: self._send(peer, request, _SHORT),
            Request.SEND_BATCH_MESSAGE: self._send_batch,
        }

    def _send(self, peer: Peer, request: Command, names: Mapping[str, str]) -> Command:
        return self.store([self._draft(peer.address, request, names, request.body)])

    def _send_batch(self, peer: Peer, request: Command) -> Command:
        whole = self._draft(peer.address, request, _SHORT, b"")
        parts = messages.split_batch(request.body)
        return self.store([replace(whole, flag=flag, body=body, properties=text) for flag, body, text in parts])

    def _draft(self, born_host: str, request: Command, names: Mapping[str, str], body: bytes) -> Message:
        ext = request.ext
        topic, default = ext[names["topic"]], ext.get(names["defaultTopic"], DEFAULT_TOPIC)
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

    def store(self, drafts: list[Message]) -> Command:
        """Store messages, and answer where the first one went."""
        if any(draft.sys_flag & _TRANSACTION for draft in drafts):
            return Command(int(Response.NO_PERMISSION), remark="sending transaction message is forbidden")
        if not drafts or any(len(draft.body) > MAX_MESSAGE for draft in drafts):
            return Command(int(Response.MESSAGE_ILLEGAL), remark="the message is illegal, maybe msg body is too long")
        host = self._address()
        stored: list[Message] = []
        for draft in drafts:
            message = self._storage.append(replace(draft, store_host=host))
            if isinstance(message, Err):
                return refused(message, f"topic[{draft.topic}] not exist, or it has no queue {draft.queue}")
            stored.append(message)
        for message in stored:
            self._stored(message)
        first = stored[0]
        ids = ",".join(messages.message_id(host, message.physical) for message in stored)
        place = {"msgId": ids, "queueId": str(first.queue), "queueOffset": str(first.offset)}
        return Command(0, place | {"MSG_REGION": "DefaultRegion", "TRACE_ON": "true"})
