"""The fake broker's answers to operators' tools: topics by queue, who consumes them, and how old that is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import cast

from rocketmq_conformance.conformance.adapter import Answered
from rocketmq_conformance.conformance.fakes import routes
from rocketmq_conformance.conformance.fakes.consumers import Consumers
from rocketmq_conformance.conformance.fakes.responses import PlainHandler, document, refused, required
from rocketmq_conformance.conformance.fakes.storage import Storage
from rocketmq_conformance.conformance.remoting.codes import Request
from rocketmq_conformance.models.broker import consumption
from rocketmq_conformance.models.broker.consumption import QueueSpan, TopicStats
from rocketmq_conformance.models.broker.state import ABSENT
from rocketmq_conformance.models.outcome import Err


class Statistics:
    """What is known of topics and groups. ``clock`` gives ms since the epoch; ``name`` is the broker's."""

    def __init__(self, storage: Storage, consumers: Consumers, name: str, clock: Callable[[], int]) -> None:
        self._storage = storage
        self._consumers = consumers
        self._name = name
        self._clock = clock

    def handlers(self) -> Mapping[int, PlainHandler]:
        """The handlers, by request code; a release has no handler for what it does not know."""
        rules = self._storage.rules
        known: dict[int, PlainHandler] = {
            Request.GET_TOPIC_STATS_INFO: self._topic,
            Request.QUERY_TOPIC_CONSUME_BY_WHO: self._groups,
            Request.QUERY_CONSUME_TIME_SPAN: self._span,
        }
        if rules.lists_topics:
            known[Request.QUERY_TOPICS_BY_CONSUMER] = self._topics
        if rules.shows_index:
            known[Request.QUERY_CONSUME_QUEUE] = self._entries
        return known

    # --- what is decided --------------------------------------------------------------------------------------

    def topic_stats(self, topic: str) -> TopicStats | Err:
        """BQ-STATS-TOPIC: the queues of a topic, or the error."""
        found = consumption.topic_stats(self._storage.rules, self._storage.state, topic)[1]
        return cast("TopicStats | Err", found)

    def consumed_by(self, topic: str) -> tuple[str, ...]:
        """BQ-WHO-TOPIC, BQ-WHO-INDEX: the groups that consume a topic."""
        storage, consumers = self._storage, self._consumers
        answer = consumption.consumed_by(storage.rules, storage.state, consumers.groups, consumers.index, topic)
        return cast("tuple[str, ...]", answer[1])

    def topics_of(self, group: str) -> tuple[str, ...]:
        """BQ-WHO-GROUP: the topics of a group."""
        return cast("tuple[str, ...]", consumption.topics_of(self._storage.state, group)[1])

    def time_span(self, group: str, topic: str) -> tuple[QueueSpan, ...] | Err:
        """BQ-SPAN: the time span of a group, or the error."""
        return cast("tuple[QueueSpan, ...] | Err", consumption.time_span(self._storage.state, group, topic)[1])

    def queue_index(self, topic: str, queue: int, position: int, count: int) -> tuple[int, int, int] | None:
        """BQ-INDEX, BQ-INDEX-ZERO: min, max and the number of entries; None without a body."""
        storage = self._storage
        answer = consumption.queue_index(storage.rules, storage.state, topic, queue, position, count)
        return cast("tuple[int, int, int] | None", answer[1])

    # --- how it is asked --------------------------------------------------------------------------------------

    def _topic(self, code: int, ext: dict[str, str], body: bytes) -> Answered:
        topic = ext["topic"]
        found = self.topic_stats(topic)
        if isinstance(found, Err):
            return refused(found, f"topic[{topic}] not exist")
        return 0, "", {}, routes.topic_stats(self._name, topic, found)

    def _groups(self, code: int, ext: dict[str, str], body: bytes) -> Answered:
        return 0, "", {}, document({"groupList": self.consumed_by(ext["topic"])})

    def _topics(self, code: int, ext: dict[str, str], body: bytes) -> Answered:
        return 0, "", {}, document({"topicList": self.topics_of(ext["group"])})

    def _span(self, code: int, ext: dict[str, str], body: bytes) -> Answered:
        group, topic = ext["group"], ext["topic"]
        found = self.time_span(group, topic)
        if isinstance(found, Err):
            return refused(found, f"topic[{topic}] not exist")
        spans = [
            {
                "consumeTimeStamp": span.consumed,
                "delayTime": self._delay(group, topic, span),
                "maxTimeStamp": span.last,
                "messageQueue": {"brokerName": self._name, "queueId": span.queue, "topic": topic},
                "minTimeStamp": span.first,
            }
            for span in found
        ]
        return 0, "", {}, document({"consumeTimeSpanSet": spans})

    def _delay(self, group: str, topic: str, span: QueueSpan) -> int:
        """How long the next message has waited for the group (ms), 0 where there is none."""
        if span.since_1970:
            return self._clock() + 1
        state, key = self._storage.state, (group, topic, span.queue)
        offset = state.pending.get(key, state.stored.get(key, 0))
        waits = consumption.stored_at(state.logs.get((topic, span.queue), ABSENT), offset)
        return max(self._clock() - waits, 0) if waits != consumption.GONE else 0

    def _entries(self, code: int, ext: dict[str, str], body: bytes) -> Answered:
        topic, queue = ext["topic"], required(ext, "queueId", 32)
        position, count = required(ext, "index"), required(ext, "count", 32)
        if (topic, queue) not in self._storage.state.logs:
            return refused(Err("SYSTEM_ERROR"), f"{queue}@{topic} is not exist!")
        found = self.queue_index(topic, queue, position, count)
        if found is None:
            return 0, f"Index {position} of {queue}@{topic} is not exist!", {}, b""
        low, high, entries = found
        index: dict[str, object] = {"maxQueueIndex": high, "minQueueIndex": low}
        if self._storage.rules.fills_index:
            index["queueData"] = self._storage.index(topic, queue, position, entries)
        return 0, "", {}, document(index)
