"""Broker mutants that the suite ``broker-stats`` kills: wrong answers to operators' tools.

Each repeats a real defect.
"""

from __future__ import annotations

from rocketmq_conformance.conformance.fakes.consumers import Consumers
from rocketmq_conformance.conformance.fakes.resets import Resets
from rocketmq_conformance.conformance.fakes.statistics import Statistics
from rocketmq_conformance.conformance.targets.broker.mutant import BrokerMutant, declared
from rocketmq_conformance.models.broker.consumption import GONE, QueueSpan, TopicStats
from rocketmq_conformance.models.broker.group_stats import QueueStats
from rocketmq_conformance.models.broker.members import Consumer
from rocketmq_conformance.models.broker.state import ABSENT, RETRY
from rocketmq_conformance.models.outcome import Err

MUTANTS: list[BrokerMutant] = []
_statistics = declared(MUTANTS, "statistics", "broker-stats")
_consumers = declared(MUTANTS, "consumers", "broker-stats")
_resets = declared(MUTANTS, "resets", "broker-stats")


# --- topics --------------------------------------------------------------------------------------------------


@_statistics("D258", "Statistics of a topic have the time of the first message.")
class TopicStatsFirst(Statistics):
    def topic_stats(self, topic: str) -> TopicStats | Err:
        found, logs = super().topic_stats(topic), self._storage.state.logs
        if isinstance(found, Err):
            return found
        return tuple((*one[:3], next(iter(logs.get((topic, one[0]), ABSENT).times), 0)) for one in found)


@_statistics("D258", "Statistics of a topic have -1 as the time of a queue that was never written.")
class TopicStatsUnwritten(Statistics):
    def topic_stats(self, topic: str) -> TopicStats | Err:
        found = super().topic_stats(topic)
        return found if isinstance(found, Err) else tuple((*one[:3], one[3] or GONE) for one in found)


@_statistics("D258", "Statistics of a topic that does not exist are empty, and no error.")
class TopicStatsOfNone(Statistics):
    def topic_stats(self, topic: str) -> TopicStats | Err:
        found = super().topic_stats(topic)
        return () if isinstance(found, Err) else found


@_statistics("D258", "The last message of a queue is at max.")
class TopicStatsLast(Statistics):
    def topic_stats(self, topic: str) -> TopicStats | Err:
        found = super().topic_stats(topic)
        return found if isinstance(found, Err) else tuple((q, low, max(high - 1, 0), at) for q, low, high, at in found)


# --- who consumes --------------------------------------------------------------------------------------------


@_statistics("D259", "A topic is consumed by groups with members alone.")
class WhoOnline(Statistics):
    def consumed_by(self, topic: str) -> tuple[str, ...]:
        stored = {group for group, name, _ in self._storage.state.stored if name == topic}
        online = self._consumers.groups
        return tuple(name for name in super().consumed_by(topic) if name not in stored or name in online)


@_statistics("D259", "A topic is consumed by groups with offsets alone.")
class WhoStored(Statistics):
    def consumed_by(self, topic: str) -> tuple[str, ...]:
        stored = self._storage.state.stored
        return tuple(name for name in super().consumed_by(topic) if any(key[:2] == (name, topic) for key in stored))


@_statistics("D259", "A topic is consumed by groups that exist alone.")
class WhoKnown(Statistics):
    def consumed_by(self, topic: str) -> tuple[str, ...]:
        return tuple(name for name in super().consumed_by(topic) if name in self._storage.state.groups)


@_statistics("D259", "A topic that does not exist is consumed by no group.")
class WhoOfNone(Statistics):
    def consumed_by(self, topic: str) -> tuple[str, ...]:
        return super().consumed_by(topic) if topic in self._storage.state.topics else ()


@_consumers("D259", "The index of subscribers forgets what a group gave up.")
class WhoGaveUp(Consumers):
    def register(self, number: int, client: str, consumer: Consumer, known: bool) -> tuple[int, ...]:
        self.index = frozenset(one for one in self.index if one[1] != consumer.group)
        return super().register(number, client, consumer, known)


@_consumers("D259", "The index of subscribers keeps groups without members.")
class WhoLeft(Consumers):
    def unregister(self, number: int, group: str) -> tuple[int, ...]:
        known = self.index
        notified = super().unregister(number, group)
        self.index = known
        return notified


@_consumers("D260", "The index of subscribers has the name of the topic in the place of the group's.")
class WhoTopics(Consumers):
    def register(self, number: int, client: str, consumer: Consumer, known: bool) -> tuple[int, ...]:
        before = self.index
        notified = super().register(number, client, consumer, known)
        self.index = before | {(topic, topic) for topic, _ in self.index - before}
        return notified


@_statistics("D259", "The topics of a group are also those that its members subscribe to.")
class TopicsSubscribed(Statistics):
    def topics_of(self, group: str) -> tuple[str, ...]:
        registered = self._consumers.groups.get(group)
        subscribed = registered.subscriptions.keys() if registered else set()
        return tuple(sorted({*super().topics_of(group), *subscribed}))


@_statistics("D259", "The topics of a group are without its retry topic.")
class TopicsWithoutRetry(Statistics):
    def topics_of(self, group: str) -> tuple[str, ...]:
        return tuple(name for name in super().topics_of(group) if not name.startswith(RETRY))


@_statistics("D259", "Only topics that the group got on with are its topics.")
class TopicsBegun(Statistics):
    def topics_of(self, group: str) -> tuple[str, ...]:
        stored = self._storage.state.stored
        begun = {topic for (name, topic, _), offset in stored.items() if name == group and offset > 0}
        return tuple(name for name in super().topics_of(group) if name in begun)


@_resets("D222", "Statistics of a group for all topics are without its retry topic.")
class StatsWithoutRetry(Resets):
    def stats(self, group: str, topic: str) -> tuple[QueueStats, ...]:
        found = super().stats(group, topic)
        return found if topic else tuple(one for one in found if not one[0].startswith(RETRY))


# --- time spans and indexes ----------------------------------------------------------------------------------


class _Spans(Statistics):
    """Time spans with something else in them: what ``changed`` makes of each, with the group's offset."""

    def changed(self, group: str, topic: str, span: QueueSpan) -> QueueSpan:
        raise NotImplementedError

    def time_span(self, group: str, topic: str) -> tuple[QueueSpan, ...] | Err:
        found = super().time_span(group, topic)
        return found if isinstance(found, Err) else tuple(self.changed(group, topic, span) for span in found)


@_statistics("D258", "A group without an offset has consumed nothing: the time is 0.")
class SpanOfNewcomer(_Spans):
    def changed(self, group: str, topic: str, span: QueueSpan) -> QueueSpan:
        known = (group, topic, span.queue) in self._storage.state.stored
        return span if known else span._replace(consumed=0)


@_statistics("D258", "A group without an offset has no delay.")
class SpanWithoutDelay(_Spans):
    def changed(self, group: str, topic: str, span: QueueSpan) -> QueueSpan:
        return span._replace(since_1970=False)


@_statistics("D258", "A group beyond max has consumed the last message.")
class SpanBeyond(_Spans):
    def changed(self, group: str, topic: str, span: QueueSpan) -> QueueSpan:
        beyond = self._storage.state.stored.get((group, topic, span.queue), 0) > 0 and span.consumed == GONE
        return span._replace(consumed=span.last) if beyond else span


@_statistics("D258", "An empty queue has the time 0.")
class SpanOfEmpty(_Spans):
    def changed(self, group: str, topic: str, span: QueueSpan) -> QueueSpan:
        return span._replace(first=max(span.first, 0), last=max(span.last, 0))


@_statistics("D258", "The time span of a topic that does not exist is empty, and no error.")
class SpanOfNone(Statistics):
    def time_span(self, group: str, topic: str) -> tuple[QueueSpan, ...] | Err:
        found = super().time_span(group, topic)
        return () if isinstance(found, Err) else found


@_statistics("D258", "The index of a queue is asked from max on: no entries, and a body.")
class IndexAtMax(Statistics):
    def queue_index(self, topic: str, queue: int, position: int, count: int) -> tuple[int, int, int] | None:
        log = self._storage.state.logs[topic, queue]
        return super().queue_index(topic, queue, position, count) or (log.min, log.max, 0)


@_statistics("D258", "The index of a queue has one entry at least.")
class IndexOneAtLeast(Statistics):
    def queue_index(self, topic: str, queue: int, position: int, count: int) -> tuple[int, int, int] | None:
        return super().queue_index(topic, queue, position, max(count, 1))


@_statistics("D258", "Bounds of the index of a queue are those of the entries that are answered.")
class IndexOfEntries(Statistics):
    def queue_index(self, topic: str, queue: int, position: int, count: int) -> tuple[int, int, int] | None:
        found = super().queue_index(topic, queue, position, count)
        return None if found is None else (position, position + found[2], found[2])


@_statistics("D261", "The answer about the index of a queue is written before it is filled in.")
class IndexUnfilled(Statistics):
    def queue_index(self, topic: str, queue: int, position: int, count: int) -> tuple[int, int, int] | None:
        return 0, 0, 0
