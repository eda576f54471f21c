"""The fake broker's answers to administrators: resets, clones and corrections of offsets."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import cast

from rocketmq_conformance.conformance.adapter import Answered
from rocketmq_conformance.conformance.fakes import routes
from rocketmq_conformance.conformance.fakes.consumers import Consumers
from rocketmq_conformance.conformance.fakes.responses import ConnectionHandler, PlainHandler, command, refused
from rocketmq_conformance.conformance.fakes.storage import Storage
from rocketmq_conformance.conformance.remoting.client_requests import reset_body, reset_body_for_cpp
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.conformance.remoting.frame import Command
from rocketmq_conformance.conformance.remoting.server import Peer
from rocketmq_conformance.models.broker.clone import clone_offsets
from rocketmq_conformance.models.broker.consumption import topics_of
from rocketmq_conformance.models.broker.correction import correction_offsets
from rocketmq_conformance.models.broker.group_stats import QueueStats, group_stats
from rocketmq_conformance.models.broker.reset import LIST, OffsetPairs, ResetRequest, form, reset
from rocketmq_conformance.models.java_text import parse_number
from rocketmq_conformance.models.message_queue import MessageQueue
from rocketmq_conformance.models.outcome import Err, Result

#: What a refusal of a reset says, which mqadmin prints.
_REMARKS = {
    "SYSTEM_ERROR": "THe consumer group <{group}> not exist",
    "SUBSCRIPTION_GROUP_NOT_EXIST": "Group {group} does not exist",
    "TOPIC_NOT_EXIST": "Topic {topic} does not exist",
}


class Resets:
    """Moves groups to other offsets. ``name`` is the broker's, as message queues have it."""

    def __init__(self, storage: Storage, consumers: Consumers, name: str) -> None:
        self._storage = storage
        self._consumers = consumers
        self._name = name
        #: The language of the client that asks, as far as it is known.
        self._language = ""

    def connection_handlers(self) -> Mapping[int, ConnectionHandler]:
        """The handler that replaces that of a reset over a connection."""
        return {Request.INVOKE_BROKER_TO_RESET_OFFSET: self._reset_over}

    def handlers(self) -> Mapping[int, PlainHandler]:
        """The handlers, by request code."""
        return {
            Request.INVOKE_BROKER_TO_RESET_OFFSET: self._reset,
            Request.CLONE_GROUP_OFFSET: self._clone,
            Request.QUERY_CORRECTION_OFFSET: self._correction,
            Request.GET_CONSUME_STATS: self._stats,
            Request.GET_BROKER_CONSUME_STATS: self._all_stats,
        }

    # --- what is decided --------------------------------------------------------------------------------------

    def reset(self, asked: ResetRequest) -> Result:
        """BQ-RESET-*: (the reset offsets, those that the members are notified of), or the error."""
        online = asked.group in self._consumers.groups
        self._storage.state, result, _ = reset(self._storage.rules, self._storage.state, asked, online)
        return cast(Result, result)

    def clone(self, source: str, destination: str, topic: str, offline: bool) -> None:
        """BQ-CLONE-*; the topic may be blank."""
        passed_over = not offline and self._consumers.elsewhere(source, topic)
        self._storage.state = clone_offsets(self._storage.state, source, destination, topic, passed_over)[0]

    def correction(self, topic: str, left_out: frozenset[str], compared: str) -> Result:
        """BQ-CORRECT-*, BQ-COM-10: the (queue, offset) pairs, or the error."""
        storage = self._storage
        storage.state, result, _ = correction_offsets(storage.rules, storage.state, topic, left_out, compared)
        return cast(Result, result)

    def stats(self, group: str, topic: str) -> tuple[QueueStats, ...]:
        """BQ-STATS-*: the statistics of a group's queues; a blank topic stands for all."""
        storage = self._storage
        topics = {topic} if topic else {name for one, name, _ in storage.state.stored if one == group}
        elsewhere = [name for name in topics if self._consumers.elsewhere(group, name)]
        answer = group_stats(storage.rules, storage.state, storage.gone_on, group, topic, elsewhere)
        return cast("tuple[QueueStats, ...]", answer[1])

    # --- how it is asked --------------------------------------------------------------------------------------

    def _reset_over(self, peer: Peer, request: Command) -> Command:
        self._language = request.language
        return command(self._reset(request.code, request.ext, request.body))

    def form(self, notified: OffsetPairs | None) -> str | None:
        """BQ-RESET-CPP: the form of what members get."""
        return form(self._language, notified)

    def _reset(self, code: int, ext: dict[str, str], body: bytes) -> Answered:
        group, topic, queue = ext["group"], ext["topic"], parse_number(ext.get("queueId"), 64)
        # a missing time is 0: Java's numbers are never missing
        timestamp, force = parse_number(ext.get("timestamp"), 64) or 0, ext.get("isForce") == "true"
        result = self.reset(
            ResetRequest(
                group, topic, timestamp, force, -1 if queue is None else queue, parse_number(ext.get("offset"), 64)
            )
        )
        if isinstance(result, Err):
            return refused(result, _REMARKS.get(result.code, "").format(group=group, topic=topic))
        pairs, notified = cast(tuple[OffsetPairs, OffsetPairs | None], result)
        if notified is not None:
            fields = {"group": group, "topic": topic, "timestamp": str(timestamp), "isForce": "false"}
            body = self._written(topic, notified, self.form(notified))
            self._consumers.send_to_members(group, Command(int(Request.RESET_CONSUMER_CLIENT_OFFSET), fields, body))
        return 0, "", {}, self._written(topic, pairs, self.answer_form(notified))

    def answer_form(self, notified: OffsetPairs | None) -> str | None:
        """The form of the answer."""
        return None

    def _written(self, topic: str, pairs: OffsetPairs, how: str | None) -> bytes:
        """A body whose keys are objects (WIRE-JSON-2), or one with a list."""
        offsets = [(MessageQueue(topic, self._name, queue), offset) for queue, offset in pairs]
        return reset_body_for_cpp(offsets) if how == LIST else reset_body(offsets)

    def _clone(self, code: int, ext: dict[str, str], body: bytes) -> Answered:
        self.clone(ext["srcGroup"], ext["destGroup"], ext.get("topic", "").strip(), ext.get("offline") == "true")
        return 0, "", {}, b""

    def _stats(self, code: int, ext: dict[str, str], body: bytes) -> Answered:
        found = self.stats(ext["consumerGroup"], ext.get("topic", "").strip())
        return 0, "", {}, routes.group_stats(self._name, found)

    def _all_stats(self, code: int, ext: dict[str, str], body: bytes) -> Answered:
        """The statistics of every group that exists, topic by topic; no topic here is ordered."""
        state, entries, behind = self._storage.state, [], 0
        for group in sorted(state.groups):
            topics = topics_of(state, group)[1] if ext.get("isOrder") != "true" else ()
            found = [self.stats(group, topic) for topic in cast("tuple[str, ...]", topics)]
            behind += sum(high - offset for one in found for _, _, high, offset, *_ in one)
            tables = ",".join(routes.group_stats(self._name, one).decode() for one in found if one)
            entries.append(f"{{{json.dumps(group)}:[{tables}]}}")
        return 0, "", {}, f'{{"consumeStatsList":[{",".join(entries)}],"totalDiff":{behind}}}'.encode()

    def _correction(self, code: int, ext: dict[str, str], body: bytes) -> Answered:
        left_out = frozenset(ext.get("filterGroups", "").split(","))
        result = self.correction(ext["topic"], left_out, ext["compareGroup"])
        if isinstance(result, Err):
            return refused(result)
        members = ",".join(f"{queue}:{offset}" for queue, offset in cast(OffsetPairs, result))
        return 0, "", {}, f'{{"correctionOffsets":{{{members}}}}}'.encode()
