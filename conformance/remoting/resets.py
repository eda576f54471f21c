"""The embedded broker's answers to administrators: resets and clones of offsets (BQ-RESET-*, BQ-CLONE-*)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import cast

from rocketmq_conformance.conformance.remoting.answer import Answering, optional, refused
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.remoting.consumers import Consumers
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.remoting.listener import Peer
from rocketmq_conformance.conformance.remoting.storage import Storage
from rocketmq_conformance.models.broker.clone import clone_offsets
from rocketmq_conformance.models.broker.reset import Pairs, Reset, reset
from rocketmq_conformance.models.outcome import Err


class Resets:
    """Moves groups to other offsets. ``name`` is the broker's, as message queues have it."""

    def __init__(self, storage: Storage, consumers: Consumers, name: str) -> None:
        self._storage = storage
        self._consumers = consumers
        self._name = name

    def handlers(self) -> Mapping[int, Answering]:
        """What it answers, by request code."""
        return {
            Request.INVOKE_BROKER_TO_RESET_OFFSET: self._reset,
            Request.CLONE_GROUP_OFFSET: self._clone,
        }

    def _reset(self, peer: Peer, request: Command) -> Command:
        ext, storage = request.ext, self._storage
        group, topic, queue = ext["group"], ext["topic"], optional(ext, "queueId")
        force = ext.get("isForce") == "true"
        # a missing time is 0: Java's numbers are never missing
        asked = Reset(
            group,
            topic,
            optional(ext, "timestamp") or 0,
            force,
            -1 if queue is None else queue,
            optional(ext, "offset"),
        )
        online = group in self._consumers.groups
        storage.state, result, _ = reset(storage.rules, storage.state, asked, online)
        if isinstance(result, Err):
            return refused(result)
        pairs, told = cast(tuple[Pairs, Pairs | None], result)
        if told is not None:
            fields = {"group": group, "topic": topic, "timestamp": str(asked.timestamp), "isForce": "false"}
            push = Command(int(Request.RESET_CONSUMER_CLIENT_OFFSET), fields, self._table(topic, told))
            self._consumers.tell(group, push)
        return Command(0, body=self._table(topic, pairs))

    def _table(self, topic: str, pairs: Pairs) -> bytes:
        """A body whose keys are objects (WIRE-JSON-2)."""
        members = [
            json.dumps({"brokerName": self._name, "queueId": queue, "topic": topic}, separators=(",", ":"))
            + f":{offset}"
            for queue, offset in pairs
        ]
        return f'{{"offsetTable":{{{",".join(members)}}}}}'.encode()

    def _clone(self, peer: Peer, request: Command) -> Command:
        ext, storage = request.ext, self._storage
        source, topic = ext["srcGroup"], ext.get("topic", "").strip()
        passed_over = ext.get("offline") != "true" and self._consumers.elsewhere(source, topic)
        storage.state, _, _ = clone_offsets(storage.state, source, ext["destGroup"], topic, passed_over)
        return Command(0)
